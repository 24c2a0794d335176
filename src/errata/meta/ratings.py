"""Ratings: every output of a sentence has a number by people (GMEG, direct assessment).

Rankings say which of two outputs is better; ratings say by how much, so that a metric's scores can
be correlated with them: over the outputs of all sentences (``pooled``: is a good sentence told from
a bad one?), and among the outputs of one sentence (``within``: is the better correction told?).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from errata.correlation import pearson, ranks
from errata.data import Judgment, Scores
from errata.errors import InputError
from errata.human.comparisons import Comparisons, compare
from errata.meta.paired import Paired, joint_signature, notes_of_metrics
from errata.meta.sentences import FOLDS, calibrated_marks
from errata.numbers import (
    Estimate,
    Floats,
    Seed,
    bootstrap_weights,
    percentiles,
    plural,
    ratio,
    seed_name,
)

__all__ = ["RatingLevel", "RatingLevels", "rating_levels", "ratings_as_comparisons"]

KINDS = ("pearson", "spearman")


@dataclass(frozen=True)
class RatingLevel:
    """One metric against ratings, by ``"pearson"`` and ``"spearman"``.

    ``pooled`` is over all outputs; ``within`` the mean over sentences of the correlation among the
    outputs of the sentence, where there is one. ``accuracy`` is the share of pairs of outputs of
    one sentence ordered alike, ties included, with what is a metric tie calibrated on other
    sentences (see `errata.meta.sentences.calibrated_accuracy`); ``threshold`` is the mean over
    folds.
    """

    metric: str
    pooled: Mapping[str, Estimate]
    within: Mapping[str, Estimate]
    accuracy: Estimate
    threshold: float


@dataclass(frozen=True, eq=False)
class RatingLevels:
    """Metrics against ratings of ``outputs`` outputs of ``sentences`` sentences."""

    levels: tuple[RatingLevel, ...]
    outputs: int
    sentences: int
    confidence: float
    signature: str
    notes: tuple[str, ...] = ()


def ratings_as_comparisons(people: Scores) -> Comparisons:
    """What ratings say of every two outputs of one sentence: higher is better, equal is a tie.

    >>> table = np.array([[90.0, 50.0], [70.0, 50.0]])
    >>> rated = Scores("ratings", ("A", "B"), table.mean(axis=1), table)
    >>> ratings_as_comparisons(rated).outcome.tolist()
    [1, 0]
    """
    table = _sentences_of(people)
    judgments = []
    for i, column in enumerate(table.T):
        rated = np.flatnonzero(~np.isnan(column))
        places = np.unique(-column[rated], return_inverse=True)[1] + 1
        groups = tuple((people.systems[s],) for s in rated)
        judgments.append(Judgment(people.label, i, groups, tuple(places.tolist())))
    return compare(judgments)


def rating_levels(
    paired: Paired,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    folds: int = FOLDS,
    rng: Seed = 0,
) -> RatingLevels:
    """Judge metrics by ratings of outputs, which are the sentence scores of people.

    Sentences that lack a rating or a score of a system are left out with a note. Intervals resample
    sentences. Spearman's ρ over all outputs keeps in them the ranks that outputs have in the data.

    >>> from errata.meta.paired import match
    >>> rng = np.random.default_rng(0)
    >>> table = rng.random((3, 40))
    >>> rated = Scores("ratings", ("A", "B", "C"), table.mean(axis=1), table)
    >>> metric = Scores("m()", ("A", "B", "C"), table.mean(axis=1), table**3)
    >>> found = rating_levels(match(rated, [metric]), resamples=0).levels[0]
    >>> found.pooled["spearman"].value, found.within["spearman"].value, found.accuracy.value
    (1.0, 1.0, 1.0)
    """
    tables = [_sentences_of(scores) for scores in (paired.people, *paired.metrics)]
    sizes = {table.shape[1] for table in tables}
    if len(sizes) > 1:
        raise InputError(
            f"ratings of {tables[0].shape[1]} sentences and scores of "
            f"{next(size for size in sizes if size != tables[0].shape[1])}",
            remedy="rate and score the same sentences",
        )
    whole = np.isfinite(np.stack(tables)).all(axis=(0, 1))
    many = int(whole.sum())
    if many < 2:
        raise InputError(
            f"{many} {plural('sentence', many)} with ratings and scores of all systems",
            remedy="rate and score the same sentences",
        )
    rated = tables[0][:, whole]
    comparisons = ratings_as_comparisons(_only(paired.people, rated))
    figures = {
        (k, figure, kind): figure(kind, rated, table[:, whole])
        for k, table in enumerate(tables[1:])
        for figure in (_pooled, _within)
        for kind in KINDS
    }
    # The weights of many resamples would not fit: all figures are drawn as they come by.
    drawn: list[list[Floats]] = [
        [figure.of(block) for figure in figures.values()]
        for block in bootstrap_weights(many, resamples, rng)
    ]
    estimates = {
        key: _estimate(figure.value, [row[i] for row in drawn], confidence)
        for i, (key, figure) in enumerate(figures.items())
    }
    found = []
    for k, (name, scores) in enumerate(zip(paired.names, paired.metrics, strict=True)):
        own = tables[1 + k][:, whole]
        accuracy, threshold = Estimate(np.nan, np.nan, np.nan), np.nan
        if many >= folds:
            chosen = calibrated_marks(comparisons, _only(scores, own), folds=folds, rng=rng)
            spread = chosen.marks.interval(comparisons, "sentences", resamples, confidence, rng)
            accuracy = Estimate(chosen.marks.value, *spread)
            threshold = float(np.mean(chosen.thresholds))
        found.append(
            RatingLevel(
                name,
                {kind: estimates[k, _pooled, kind] for kind in KINDS},
                {kind: estimates[k, _within, kind] for kind in KINDS},
                accuracy,
                threshold,
            )
        )
    left_out = int((~whole).sum())
    settings = (
        *("level:ratings", f"systems:{len(paired)}"),
        *(f"hide:{name}" for name in paired.hidden),
        *(f"resamples:{resamples}", f"folds:{folds}", f"seed:{seed_name(rng)}"),
    )
    return RatingLevels(
        tuple(found),
        int(rated.size),
        many,
        confidence,
        joint_signature(settings, paired.people.signature, paired.metrics),
        (
            *paired.notes,
            *notes_of_metrics(paired.metrics),
            *((f"{left_out} sentences lack a rating or a score: left out",) if left_out else ()),
            *((f"{many} sentences are too few for {folds} folds",) if many < folds else ()),
        ),
    )


def _sentences_of(scores: Scores) -> Floats:
    if scores.sentences is None:
        raise InputError(
            f"{scores.label} has no scores of single sentences",
            remedy="give a table with a row for each sentence and a column for each system",
        )
    return scores.sentences


def _only(scores: Scores, table: Floats) -> Scores:
    """The scores with these sentences only."""
    return Scores(scores.scorer, scores.systems, scores.values, table, label=scores.label)


class _Figure(NamedTuple):
    """A figure of the data, and how it comes out of bootstrap weights of the sentences."""

    value: float
    of: Callable[[Floats], Floats]


def _pooled(kind: str, human: Floats, metric: Floats) -> _Figure:
    """The correlation over all outputs, in resamples of the sentences by weighted sums."""
    x, y = human, metric
    if kind == "spearman":
        x, y = (ranks(side.ravel()).reshape(side.shape) for side in (x, y))
    value = float(pearson(x.ravel(), y.ravel()))
    # Sums of squares of numbers far from their mean would cancel.
    x, y = x - x.mean(), y - y.mean()
    columns = np.stack([side.sum(axis=0) for side in (x, y, x * x, y * y, x * y)], axis=1)

    def of(weights: Floats) -> Floats:
        n = weights.sum(axis=1) * len(x)
        a, b, aa, bb, ab = (weights @ columns).T
        spread = np.maximum(aa - a * a / n, 0) * np.maximum(bb - b * b / n, 0)
        return ratio(ab - a * b / n, np.sqrt(spread))

    return _Figure(value, of)


def _within(kind: str, human: Floats, metric: Floats) -> _Figure:
    """The mean over sentences of their correlations; a sentence where a side ties all has none."""
    x, y = human.T, metric.T
    if kind == "spearman":
        x, y = ranks(x), ranks(y)
    each = pearson(x, y)
    known = (~np.isnan(each)).astype(np.float64)
    filled = np.where(known > 0, each, 0.0)
    return _Figure(
        float(ratio(filled.sum(), known.sum())),
        lambda weights: ratio(weights @ filled, weights @ known),
    )


def _estimate(value: float, drawn: Sequence[Floats], confidence: float) -> Estimate:
    if not drawn:
        return Estimate(value, np.nan, np.nan)
    low, high = percentiles(np.concatenate(drawn), confidence).tolist()
    return Estimate(value, low, high)
