"""Sentence level: does the metric order two outputs of one sentence as a judge did?

Everything follows from a table of nine counts, the sign of the human comparison against the sign
of the metric's difference: each convention of the field is a function of it, and so are chance
level, human ceiling and bootstrap. Ties are data; names and order of systems never decide.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.data import Scores
from errata.errors import DataWarning, InputError
from errata.human.comparisons import Comparisons
from errata.numbers import Estimate, Floats, bootstrap_weights, ratio

__all__ = [
    "CONVENTIONS",
    "Calibrated",
    "Convention",
    "SentenceLevel",
    "calibrated_accuracy",
    "chance",
    "confusion",
    "differences",
    "human_ceiling",
    "resample",
    "seeda_accuracy",
    "sentence_level",
    "sentence_levels",
]

Convention = Callable[[Floats], Floats]

# Position in the 3x3 table: human and metric say -1 (second better), 0 (tie), +1 (first better).
SECOND, TIE, FIRST = 0, 1, 2


class Parts(NamedTuple):
    """What the conventions weigh: the nine counts by their meaning."""

    agree: Floats
    disagree: Floats
    metric_tie: Floats
    human_tie: Floats
    both_tie: Floats


def _parts(table: Floats) -> Parts:
    return Parts(
        table[..., SECOND, SECOND] + table[..., FIRST, FIRST],
        table[..., SECOND, FIRST] + table[..., FIRST, SECOND],
        table[..., SECOND, TIE] + table[..., FIRST, TIE],
        table[..., TIE, SECOND] + table[..., TIE, FIRST],
        table[..., TIE, TIE],
    )


def no_ties(table: Floats) -> Floats:
    """Chollampatt & Ng's NoTies, the WMT 2014 tau: human ties are left out, metric ties count 0."""
    p = _parts(table)
    return ratio(p.agree - p.disagree, p.agree + p.disagree + p.metric_tie)


def human_ties(table: Floats) -> Floats:
    """Chollampatt & Ng's HTies: a tie on both sides counts +1, on one side 0."""
    p = _parts(table)
    return ratio(p.agree + p.both_tie - p.disagree, table.sum((-1, -2)))


def wmt12(table: Floats) -> Floats:
    """WMT 2012: human ties are left out, a metric tie counts as wrong."""
    p = _parts(table)
    return ratio(p.agree - p.disagree - p.metric_tie, p.agree + p.disagree + p.metric_tie)


def wmt13(table: Floats) -> Floats:
    """WMT 2013: ties on either side are left out."""
    p = _parts(table)
    return ratio(p.agree - p.disagree, p.agree + p.disagree)


def tau_b(table: Floats) -> Floats:
    """Kendall's tau-b over all pairs, corrected for ties on either side."""
    p = _parts(table)
    decided = p.agree + p.disagree
    return ratio(p.agree - p.disagree, np.sqrt((decided + p.metric_tie) * (decided + p.human_tie)))


def accuracy(table: Floats) -> Floats:
    """Share of pairs with the same sign; a tie must be a tie on both sides (acc_eq)."""
    p = _parts(table)
    return ratio(p.agree + p.both_tie, table.sum((-1, -2)))


CONVENTIONS: dict[str, Convention] = {
    "noties": no_ties,
    "hties": human_ties,
    "wmt12": wmt12,
    "wmt13": wmt13,
    "wmt14": no_ties,
    "tau_b": tau_b,
    "accuracy": accuracy,
}


def differences(comparisons: Comparisons, scores: Scores) -> Floats:
    """The metric's score of the first output minus that of the second, for every comparison."""
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
    first = scores.sentences[row[comparisons.first], comparisons.sentence]
    second = scores.sentences[row[comparisons.second], comparisons.sentence]
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


def _table(comparisons: Comparisons, metric: NDArray[np.int8], unit: str | None = None) -> Floats:
    cell = _cells(comparisons.outcome, metric)
    if unit is None:
        flat = np.bincount(cell, comparisons.weight, minlength=9)
        return flat.astype(np.float64).reshape(3, 3)
    number, units = comparisons.units(unit)
    sums = np.bincount(number * 9 + cell, comparisons.weight, minlength=9 * units)
    return sums.astype(np.float64).reshape(units, 3, 3)


def _signs(difference: Floats, threshold: float = 0.0) -> NDArray[np.int8]:
    return np.where(np.abs(difference) <= threshold, 0, np.sign(difference)).astype(np.int8)


def confusion(
    comparisons: Comparisons, scores: Scores, *, threshold: float = 0.0, unit: str | None = None
) -> Floats:
    """How often people said (rows: second, tie, first) and the metric said (columns) what.

    A difference of at most ``threshold`` is a metric tie. With a ``unit`` ("rankings",
    "sentences", "judges") there is one table for each of them: ``[unit, 3, 3]``.
    """
    return _table(comparisons, _signs(differences(comparisons, scores), threshold), unit)


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


def resample(
    comparisons: Comparisons,
    scores: Scores,
    convention: Convention,
    *,
    unit: str = "rankings",
    resamples: int = 1000,
    rng: int | np.random.Generator = 0,
) -> Floats:
    """The value in bootstrap resamples of rankings, sentences, judges or single pairs.

    ``"pairs"`` is what Chollampatt & Ng (2018) did; pairs of one ranking depend on each other,
    so their intervals are too narrow.
    """
    generator = np.random.default_rng(rng)
    if unit == "pairs":
        table = confusion(comparisons, scores)
        total = table.sum()
        draws = generator.multinomial(round(total), table.ravel() / total, resamples)
        return convention(draws.reshape(resamples, 3, 3).astype(np.float64))
    tables = confusion(comparisons, scores, unit=unit).reshape(-1, 9)
    blocks = [weights @ tables for weights in bootstrap_weights(len(tables), resamples, generator)]
    return convention(np.concatenate(blocks).reshape(resamples, 3, 3))


@dataclass(frozen=True)
class Calibrated:
    """Accuracy with a tie threshold that was chosen on other sentences than it is judged on."""

    accuracy: float
    thresholds: tuple[float, ...]


def calibrated_accuracy(
    comparisons: Comparisons, scores: Scores, *, folds: int = 5, rng: int | np.random.Generator = 0
) -> Calibrated:
    """Accuracy with ties (acc_eq; Deutsch et al. 2023), its threshold calibrated out of sample.

    Sentences are dealt to folds; for each fold the threshold that makes accuracy highest on all
    other folds decides what is a tie in it.
    """
    difference = np.abs(differences(comparisons, scores))
    assert comparisons.sentence is not None
    sentences, number = np.unique(comparisons.sentence, return_inverse=True)
    if folds < 2 or len(sentences) < folds:
        raise InputError(
            f"cannot make {folds} folds of {len(sentences)} sentences",
            remedy="use 2 folds or more, and no more than sentences",
        )
    fold = np.random.default_rng(rng).permutation(len(sentences))[number] % folds
    agree = np.sign(differences(comparisons, scores)) == comparisons.outcome
    tied = comparisons.outcome == 0
    right, thresholds = 0.0, []
    for k in range(folds):
        train, held = fold != k, fold == k
        best = _best_threshold(
            difference[train], agree[train], tied[train], comparisons.weight[train]
        )
        thresholds.append(best)
        correct = np.where(difference[held] <= best, tied[held], agree[held])
        right += float(comparisons.weight[held][correct].sum())
    return Calibrated(right / comparisons.total, tuple(thresholds))


def _best_threshold(
    difference: Floats, agree: NDArray[np.bool_], tied: NDArray[np.bool_], weight: Floats
) -> float:
    """The threshold with the most right pairs; of equally good ones the smallest."""
    order = np.argsort(difference, kind="stable")
    size = difference[order]
    gain = weight[order] * (tied[order].astype(np.float64) - agree[order])
    right = np.concatenate([[0.0], np.cumsum(gain)])
    ends = np.flatnonzero(np.concatenate([size[1:] != size[:-1], [True]])) + 1
    # A threshold of 0 makes the pairs with no difference ties; that is the least there is.
    levels, sums = size[ends - 1], right[ends]
    if not len(levels) or levels[0] > 0:
        levels, sums = np.concatenate([[0.0], levels]), np.concatenate([[0.0], sums])
    return float(levels[int(np.argmax(sums))])


def seeda_accuracy(comparisons: Comparisons, scores: Scores) -> float:
    """SEEDA's script (2024): a metric tie is won by the system whose name comes later.

    For comparison with published numbers only: the value depends on how systems are called.
    Human ties are left out; the script's Kendall is ``2 * accuracy - 1``.
    """
    sign = _signs(differences(comparisons, scores))
    names = np.array(comparisons.systems)
    later = np.where(names[comparisons.first] > names[comparisons.second], 1, -1)
    table = _table(comparisons, np.where(sign == 0, later, sign).astype(np.int8))
    p = _parts(table)
    return float(ratio(p.agree, p.agree + p.disagree))


@dataclass(frozen=True, eq=False)
class SentenceLevel:
    """How one metric does at sentence level under one convention.

    ``floor`` is the value of a metric that knows nothing but ties as often; ``ceiling`` that of
    one judge for another; ``table`` the counts behind the value.
    """

    metric: str
    convention: str
    value: Estimate
    floor: float
    ceiling: float
    table: Floats
    unit: str
    pairs: float


def sentence_level(
    comparisons: Comparisons,
    scores: Scores,
    *,
    convention: str = "noties",
    unit: str = "rankings",
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> SentenceLevel:
    """Judge a metric's sentence scores by human comparisons under a convention of the field."""
    if convention not in CONVENTIONS:
        raise InputError(
            f"unknown convention {convention!r}", remedy=f"use one of {', '.join(CONVENTIONS)}"
        )
    function = CONVENTIONS[convention]
    table = confusion(comparisons, scores)
    low, high = np.nan, np.nan
    if resamples:
        draws = resample(comparisons, scores, function, unit=unit, resamples=resamples, rng=rng)
        tail = (1 - confidence) / 2
        low, high = np.nanquantile(draws, [tail, 1 - tail])
    return SentenceLevel(
        scores.scorer,
        convention,
        Estimate(float(function(table)), float(low), float(high)),
        float(function(chance(table))),
        float(function(human_ceiling(comparisons))),
        table,
        unit,
        comparisons.total,
    )


def sentence_levels(
    comparisons: Comparisons,
    results: Sequence[Scores],
    conventions: Sequence[str],
    *,
    unit: str = "rankings",
    resamples: int = 1000,
    rng: int | np.random.Generator = 0,
) -> list[SentenceLevel]:
    """Several metrics under several conventions, ``"calibrated"`` and ``"seeda"`` among them.

    Those two are no functions of the nine counts; they come without an interval.
    """
    if "seeda" in conventions:
        warnings.warn(
            "SEEDA's rule lets the names of systems decide ties; use it only to compare "
            "with numbers made by it",
            DataWarning,
            stacklevel=2,
        )
    found = []
    for scores in results:
        for name in conventions:
            special = name in ("calibrated", "seeda")
            plain = "accuracy" if special else name
            level = sentence_level(
                comparisons,
                scores,
                convention=plain,
                unit=unit,
                resamples=0 if special else resamples,
                rng=rng,
            )
            if name == "calibrated":
                value = calibrated_accuracy(comparisons, scores).accuracy
                level = replace(level, convention=name, value=Estimate(value, np.nan, np.nan))
            elif name == "seeda":
                value = seeda_accuracy(comparisons, scores)
                level = replace(
                    level, convention=name, floor=0.5, value=Estimate(value, np.nan, np.nan)
                )
            found.append(level)
    return found
