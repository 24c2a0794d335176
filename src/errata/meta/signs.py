"""Signs: which of two outputs people put first against which the metric does, in nine counts.

Everything at sentence level follows from a table of the sign of the human comparison against the
sign of the metric's difference: each convention of the field is a function of it, and so are
chance level, human ceiling and bootstrap. Ties are data; names and order of systems never decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.data import Scores
from errata.errors import InputError
from errata.human.comparisons import Comparisons, Unit
from errata.numbers import Floats, Ints, Seed, bootstrap_weights, ratio, settled
from errata.parameters import require

__all__ = [
    "CONVENTIONS",
    "Convention",
    "SignMeanings",
    "SignTables",
    "chance",
    "confusion",
    "differences",
    "equal_signs",
    "human_ceiling",
    "sign_meanings",
    "sign_tables",
    "signs_of",
    "tabulate",
]

Convention = Callable[[Floats], Floats]

# Position in the 3x3 table: human and metric say -1 (second better), 0 (tie), +1 (first better).
SECOND, TIE, FIRST = 0, 1, 2


class SignMeanings(NamedTuple):
    """What the conventions weigh: the nine counts by their meaning."""

    agree: Floats
    disagree: Floats
    metric_tie: Floats
    human_tie: Floats
    both_tie: Floats


def sign_meanings(table: Floats) -> SignMeanings:
    """The nine counts ``[..., 3, 3]`` added up by what they mean."""
    return SignMeanings(
        table[..., SECOND, SECOND] + table[..., FIRST, FIRST],
        table[..., SECOND, FIRST] + table[..., FIRST, SECOND],
        table[..., SECOND, TIE] + table[..., FIRST, TIE],
        table[..., TIE, SECOND] + table[..., TIE, FIRST],
        table[..., TIE, TIE],
    )


def no_ties(table: Floats) -> Floats:
    """Chollampatt & Ng's NoTies, the WMT 2014 tau: human ties are left out, metric ties count 0."""
    p = sign_meanings(table)
    return ratio(p.agree - p.disagree, p.agree + p.disagree + p.metric_tie)


def human_ties(table: Floats) -> Floats:
    """Chollampatt & Ng's HTies: a tie on both sides counts +1, on one side 0."""
    p = sign_meanings(table)
    return ratio(p.agree + p.both_tie - p.disagree, table.sum((-1, -2)))


def wmt12(table: Floats) -> Floats:
    """WMT 2012: human ties are left out, a metric tie counts as wrong.

    This is the Kendall-like τ of the WMT from 2017 to 2020 too (``kendall_like``), where pairs
    whose human scores lie closer than 25 points are no pairs; in rankings only ties are so close.
    """
    p = sign_meanings(table)
    return ratio(p.agree - p.disagree - p.metric_tie, p.agree + p.disagree + p.metric_tie)


def wmt13(table: Floats) -> Floats:
    """WMT 2013: ties on either side are left out."""
    p = sign_meanings(table)
    return ratio(p.agree - p.disagree, p.agree + p.disagree)


def tau_b(table: Floats) -> Floats:
    """Kendall's tau-b over all pairs, corrected for ties on either side."""
    p = sign_meanings(table)
    decided = p.agree + p.disagree
    return ratio(p.agree - p.disagree, np.sqrt((decided + p.metric_tie) * (decided + p.human_tie)))


def equal_signs(table: Floats) -> Floats:
    """Share of pairs with the same sign; a tie must be a tie on both sides (acc_eq)."""
    p = sign_meanings(table)
    return ratio(p.agree + p.both_tie, table.sum((-1, -2)))


def tau_23(table: Floats) -> Floats:
    """τ with ties rewarded and punished (Deutsch et al. 2023): 2 accuracy - 1."""
    return 2 * equal_signs(table) - 1


CONVENTIONS: dict[str, Convention] = {
    "noties": no_ties,
    "hties": human_ties,
    "wmt12": wmt12,
    "wmt13": wmt13,
    "wmt14": no_ties,
    "tau_b": tau_b,
    "tau_23": tau_23,
    "accuracy": equal_signs,
    "kendall_like": wmt12,
}


def differences(comparisons: Comparisons, scores: Scores) -> Floats:
    """The metric's score of the first output minus that of the second, for every comparison.

    It is 0 where the two differ by rounding only (`errata.numbers.settled`).
    """
    if scores.sentences is None:
        raise InputError(
            f"{scores.scorer} has no sentence scores",
            remedy="use a metric or a score file that has them",
        )
    unknown = sorted(set(comparisons.systems) - set(scores.systems))
    if unknown:
        raise InputError(
            f"{scores.scorer} has no scores for {', '.join(unknown)}",
            remedy="score these systems or leave them out of the judgments",
        )
    if comparisons.sentence is None:
        raise InputError(
            "the sentences of these comparisons were not kept",
            remedy="compare(..., keep='everything')",
        )
    n = scores.sentences.shape[1]
    if len(comparisons) and int(comparisons.sentence.max()) >= n:
        raise InputError(
            f"a judgment is about sentence {int(comparisons.sentence.max())} (from "
            f"0), but {scores.scorer} has {n} sentences",
            remedy="check whether sentence numbers start at 0 or 1",
        )
    row = np.array([scores.systems.index(name) for name in comparisons.systems], np.intp)
    # What the metric's scores of one sentence differ in by rounding is no difference.
    table = settled(scores.sentences.T)
    first = table[comparisons.sentence, row[comparisons.first]]
    second = table[comparisons.sentence, row[comparisons.second]]
    with np.errstate(invalid="ignore"):
        difference = first - second
    # Equal infinities are a tie; a missing score is not.
    difference[first == second] = 0.0
    if np.isnan(difference).any():
        i = int(np.flatnonzero(np.isnan(difference))[0])
        raise InputError(
            f"{scores.scorer} has no score for sentence "
            f"{int(comparisons.sentence[i])} (from 0) of one of the systems",
            remedy="score every judged sentence",
        )
    return difference


def _cells(human: NDArray[np.int8], metric: NDArray[np.int8]) -> NDArray[np.int64]:
    return (human.astype(np.int64) + 1) * 3 + metric + 1


def tabulate(
    comparisons: Comparisons, metric: NDArray[np.int8], units: tuple[Ints, int] | None = None
) -> Floats:
    """The nine counts of people's outcomes against a metric's, ``[3, 3]``, or of every unit."""
    cell = _cells(comparisons.outcome, metric)
    if units is None:
        flat = np.bincount(cell, comparisons.weight, minlength=9)
        return flat.astype(np.float64).reshape(3, 3)
    number, many = units
    sums = np.bincount(number * 9 + cell, comparisons.weight, minlength=9 * many)
    return sums.astype(np.float64).reshape(many, 3, 3)


def signs_of(difference: Floats, threshold: float = 0.0) -> NDArray[np.int8]:
    """What the metric says of each pair: 1, -1, or 0 where the difference is small."""
    return np.where(np.abs(difference) <= threshold, 0, np.sign(difference)).astype(np.int8)


def confusion(
    comparisons: Comparisons, scores: Scores, *, threshold: float = 0.0, unit: Unit | None = None
) -> Floats:
    """How often people said (rows: second, tie, first) and the metric said (columns) what.

    A difference of at most ``threshold`` is a metric tie. With a ``unit`` ("rankings",
    "sentences", "judges") there is one table for each of them: ``[unit, 3, 3]``.
    """
    signs = signs_of(differences(comparisons, scores), threshold)
    return tabulate(comparisons, signs, None if unit is None else comparisons.units(unit))


def chance(table: Floats) -> Floats:
    """The table to expect of a metric that knows nothing, with the same share of ties.

    It says tie as often as the metric does and otherwise tosses a coin, whoever stands first.
    """
    total = table.sum((-1, -2), keepdims=True)
    metric = table.sum(-2, keepdims=True)
    tie = metric[..., 1:2]
    fair = np.concatenate([(total - tie) / 2, tie, (total - tie) / 2], axis=-1)
    return np.asarray(table.sum(-1, keepdims=True) * fair / np.where(total > 0, total, 1))


def human_ceiling(comparisons: Comparisons) -> Floats:
    """What one judge would reach as a metric for another on the same pair and sentence.

    All pairs of judgments by different judges of the same two systems on the same sentence, both
    ways round, as a table like that of `confusion`.
    """
    if comparisons.judge is None or comparisons.sentence is None:
        raise InputError(
            "judges or sentences of these comparisons were not kept",
            remedy="compare(..., keep='everything')",
        )
    n = len(comparisons.systems)
    rows = comparisons.turned()
    sign = rows.outcome.astype(np.int64)
    key = (comparisons.sentence.astype(np.int64) * n + rows.first) * n + rows.second
    _, item = np.unique(key, return_inverse=True)
    judges = len(comparisons.judges)
    said = np.bincount(item * 3 + sign + 1, comparisons.weight).astype(np.float64)
    said = np.pad(said, (0, -len(said) % 3)).reshape(-1, 3)
    own, where = np.unique(item * judges + comparisons.judge, return_inverse=True)
    each = np.bincount(where * 3 + sign + 1, comparisons.weight)
    each = np.pad(each, (0, -len(each) % 3)).reshape(-1, 3)
    others = said[own // judges] - each  # of the same item, by other judges
    table: Floats = np.einsum("ia,ib->ab", each, others)
    # Which system stands first is no one's choice: count both orientations alike.
    return (table + table[::-1, ::-1]) / 2


@dataclass(frozen=True, eq=False)
class SignTables:
    """A metric against people in tables of nine counts, from which every convention is read.

    ``observed`` is the table of the data, ``resampled[b]`` that of bootstrap resample b (None
    without), ``ceiling`` what one judge is for another. ``difference`` is the metric's score of
    the first output less that of the second, for every comparison.
    """

    observed: Floats
    ceiling: Floats
    resampled: Floats | None
    difference: Floats


def sign_tables(
    comparisons: Comparisons,
    results: Sequence[Scores],
    *,
    unit: Unit = "sentences",
    resamples: int = 1000,
    rng: Seed = 0,
) -> list[SignTables]:
    """The tables of every metric, resampled by rankings, sentences, judges or single pairs.

    ``"pairs"`` is what Chollampatt & Ng (2018) did; pairs of one ranking depend on each other,
    so their intervals are too narrow. Other units are drawn once for all metrics.
    """
    require("unit", unit, Unit)
    apart = [differences(comparisons, scores) for scores in results]
    signs = [signs_of(difference) for difference in apart]
    observed = [tabulate(comparisons, sign) for sign in signs]
    resampled: list[Floats] | list[None] = [None] * len(results)
    if resamples and unit == "pairs":
        resampled = [_resampled_pairs(table, resamples, rng) for table in observed]
    elif resamples:
        units = comparisons.units(unit)
        said = [tabulate(comparisons, sign, units).reshape(-1, 9) for sign in signs]
        blocks: list[list[Floats]] = [[] for _ in results]
        for weights in bootstrap_weights(units[1], resamples, rng):
            for block, tables in zip(blocks, said, strict=True):
                block.append(weights @ tables)
        resampled = [np.concatenate(block).reshape(resamples, 3, 3) for block in blocks]
    ceiling = human_ceiling(comparisons)
    return [
        SignTables(table, ceiling, drawn, difference)
        for table, drawn, difference in zip(observed, resampled, apart, strict=True)
    ]


def _resampled_pairs(table: Floats, resamples: int, rng: Seed) -> Floats:
    total = table.sum()
    generator = np.random.default_rng(rng)
    draws = generator.multinomial(round(total), table.ravel() / total, resamples)
    return draws.reshape(resamples, 3, 3).astype(np.float64)
