"""Sign tables, tau conventions, weighted pairwise accuracy.

Everything at sentence level follows from a table of the sign of the human comparison against the
sign of the metric's difference: each convention of the field is a function of it, and so are
chance level, human ceiling and bootstrap. Ties are data; names and order of systems never decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from errata.core.errors import InputError
from errata.core.parameters import require
from errata.core.stats import (
    Bools,
    Floats,
    Ints,
    Seed,
    bootstrap_weights,
    merge_ties,
    percentiles,
    ratio,
)
from errata.data import Scores
from errata.human.comparisons import Comparisons, Unit
from errata.meta.significance import EXACT, both_directions

# ---- Accuracy pair by pair: right or wrong, with weights, so that rankings count alike and
# swap.


@dataclass(frozen=True, eq=False)
class PairOutcomes:
    """Which comparisons a metric got right, and how much each counts: ``Σ w right / Σ w``.

    ``threshold`` is the largest difference that was called a tie. ``in_sample`` says that it was
    chosen on the very pairs that are judged.
    """

    right: Bools
    weight: Floats
    threshold: float = 0.0
    in_sample: bool = False

    @property
    def value(self) -> float:
        """Return the share of correct pairs."""
        return float(ratio((self.weight * self.right).sum(), self.weight.sum()))

    def chance(self, comparisons: Comparisons, ties: float) -> float:
        """What a metric reaches that says tie with this share, and otherwise tosses a coin."""
        expected = np.where(comparisons.outcome == 0, ties, (1 - ties) / 2)
        return float(ratio((self.weight * expected).sum(), self.weight.sum()))

    def interval(
        self, comparisons: Comparisons, unit: Unit, resamples: int, confidence: float, rng: Seed
    ) -> tuple[float, float]:
        """Bootstrap interval over whole units; pairs have none where rankings are averaged."""
        if not resamples or unit == "pairs":
            return float("nan"), float("nan")
        number, many = comparisons.units(unit)
        top, bottom = (
            _sums_by_number(number, column, many)
            for column in (self.weight * self.right, self.weight)
        )
        return _interval(top, bottom, resamples, confidence, rng)


def _sums_by_number(number: Ints, column: ArrayLike, many: int) -> Floats:
    """The sum of a column over the rows of each number."""
    return np.bincount(number, np.asarray(column, np.float64), minlength=many).astype(np.float64)


def _interval(
    top: Floats, bottom: Floats, resamples: int, confidence: float, rng: Seed
) -> tuple[float, float]:
    drawn = [
        ratio(weights @ top, weights @ bottom)
        for weights in bootstrap_weights(len(top), resamples, rng)
    ]
    low, high = percentiles(np.concatenate(drawn), confidence).tolist()
    return low, high


def pair_outcomes(
    comparisons: Comparisons, difference: Floats, *, rows: bool = False, calibrate: bool = False
) -> PairOutcomes:
    """Marks by equal signs (acc_eq; Deutsch et al. 2023): a tie must be a tie on both sides.

    With ``rows`` every ranking counts alike, however many pairs it has: the mean over rankings of
    their accuracies, as the WMT averages over segments. ``calibrate`` calls differences up to the
    threshold ties that makes the value highest on these same pairs, which flatters the metric.
    """
    weight = comparisons.weight
    if rows:
        number, many = comparisons.units("rankings")
        weight = weight / np.bincount(number, weight, minlength=many)[number]
    tied = comparisons.outcome == 0
    agree = np.sign(difference) == comparisons.outcome
    if not calibrate:
        return PairOutcomes(agree, weight)
    size = merge_ties(np.abs(difference))
    order = np.argsort(size, kind="stable")
    best = best_threshold(size[order], (weight * (tied.astype(np.float64) - agree))[order])
    return PairOutcomes(np.where(size <= best, tied, agree), weight, best, in_sample=True)


def best_threshold(size: Floats, gain: Floats) -> float:
    """The threshold with the most right pairs; of equally good ones the smallest.

    ``size`` are differences in ascending order, ``gain`` what a pair wins by being called a tie.
    """
    if not len(size):
        return 0.0
    # Sums of weights that are equal but for rounding are equal: the smallest threshold wins.
    right = merge_ties(np.concatenate([[0.0], np.cumsum(gain)]))
    ends = np.flatnonzero(np.concatenate([size[1:] != size[:-1], [True]])) + 1
    # A threshold of 0 makes the pairs with no difference ties; that is the least there is.
    levels, sums = size[ends - 1], right[ends]
    if levels[0] > 0:
        levels, sums = np.concatenate([[0.0], levels]), np.concatenate([[0.0], sums])
    return float(levels[int(np.argmax(sums))])


def swap_test(
    comparisons: Comparisons,
    first: PairOutcomes,
    second: PairOutcomes,
    *,
    unit: Unit = "sentences",
    resamples: int = 1000,
    rng: Seed = 0,
) -> tuple[float, float]:
    """One-sided p that the first metric is right more often, and that the second is.

    Under the null hypothesis it does not matter which of the two got a pair right: what they got is
    swapped, each metric keeping its own threshold (the pairwise permutation test of Deutsch et al.
    2023). They swap single pairs (``unit="pairs"``); the pairs of one ranking depend on each other,
    so that whole units are swapped by default. With 16 units or fewer all swaps are tried;
    otherwise ``resamples`` are drawn and the data count among them.
    """
    if len(first.right) != len(second.right):
        raise InputError("marks of different comparisons cannot be swapped")
    number, many = comparisons.units(unit)
    lead = first.weight * first.right - second.weight * second.right
    apart = _sums_by_number(number, lead, many)
    observed = float(apart.sum())
    apart = apart[apart != 0]  # a unit that both got alike is the same whichever way round
    drawn = len(apart) > EXACT
    if drawn:
        generator = np.random.default_rng(rng)
        null = np.array(
            [(2 * generator.integers(0, 2, len(apart)) - 1) @ apart for _ in range(resamples)]
        )
    else:
        sign = 1 - 2 * ((np.arange(2 ** len(apart))[:, None] >> np.arange(len(apart))) & 1)
        null = sign @ apart
    return both_directions(null, observed, drawn=drawn, within=1e-9)


def tau_c_of_rankings(
    comparisons: Comparisons,
    sign: NDArray[np.int8],
    unit: Unit,
    resamples: int,
    confidence: float,
    rng: Seed,
) -> tuple[float, float, float]:
    """Mean over rankings of Stuart's τ-c (1953), with its interval over units.

    ``τ-c = 2 (agree - disagree) / (n² (m - 1) / m)`` for n systems in a ranking and m the smaller
    number of different places that people or the metric give them; a ranking in which either side
    calls everything equal has none. Only whole rankings have systems to count: every member of an
    output is compared, or one for each.
    """
    if (comparisons.weight != 1).any():
        raise InputError(
            "tau_c counts the systems of a ranking, and expected members are parts of one",
            remedy="use members='all' or 'sample'",
        )
    number, many = comparisons.units("rankings")
    n = len(comparisons.systems)
    both = np.concatenate([comparisons.first, comparisons.second]).astype(np.int64)
    entry, place = np.unique(np.concatenate([number, number]) * n + both, return_inverse=True)
    row = entry // n
    size = np.bincount(row, minlength=many).astype(np.float64)
    outcome = comparisons.outcome.astype(np.float64)

    def classes(said: Floats) -> Floats:
        # Of k equal systems each has k - 1 ties: their shares of 1 / k add up to one class.
        ties = _sums_by_number(place, np.concatenate([said == 0, said == 0]), len(entry))
        return _sums_by_number(row, 1 / (1 + ties), many)

    least = np.rint(np.minimum(classes(outcome), classes(sign.astype(np.float64))))
    net = _sums_by_number(number, outcome * sign, many)
    value = ratio(2 * net * least, size**2 * (least - 1))
    known = ~np.isnan(value)
    low, high = float("nan"), float("nan")
    if resamples and unit != "pairs":
        first = np.unique(number, return_index=True)[1]
        whose, units = comparisons.units(unit)
        top, bottom = (
            _sums_by_number(whose[first], column, units)
            for column in (np.where(known, value, 0.0), known.astype(np.float64))
        )
        low, high = _interval(top, bottom, resamples, confidence, rng)
    return float(ratio(value[known].sum(), known.sum())), low, high


Convention = Callable[[Floats], Floats]

# Position in the 3x3 table: human and metric say -1 (second better), 0 (tie), +1 (first better).
SECOND, TIE, FIRST = 0, 1, 2


class SignWeights(NamedTuple):
    """What the conventions weigh: the nine counts by their meaning."""

    agree: Floats
    disagree: Floats
    metric_tie: Floats
    human_tie: Floats
    both_tie: Floats


def sign_meanings(table: Floats) -> SignWeights:
    """The nine counts ``[..., 3, 3]`` added up by what they mean."""
    return SignWeights(
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

    It is 0 where the two differ by rounding only (`errata.core.stats.merge_ties`).
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
    table = merge_ties(scores.sentences.T)
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


def _confusion_cells(human: NDArray[np.int8], metric: NDArray[np.int8]) -> NDArray[np.int64]:
    return (human.astype(np.int64) + 1) * 3 + metric + 1


def tabulate(
    comparisons: Comparisons, metric: NDArray[np.int8], units: tuple[Ints, int] | None = None
) -> Floats:
    """The nine counts of people's outcomes against a metric's, ``[3, 3]``, or of every unit."""
    cell = _confusion_cells(comparisons.outcome, metric)
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

    It says tie as often as the metric does and otherwise tosses a coin, in either order.
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
    rows = comparisons.order_pairs()
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
