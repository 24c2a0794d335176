"""Sentence-level agreement with rankings and ratings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from errata.core.correlation import pearson, ranks
from errata.core.errors import DataWarning, InputError
from errata.core.parameters import require
from errata.core.stats import (
    Estimate,
    Floats,
    Ints,
    Seed,
    bootstrap_weights,
    holm,
    merge_ties,
    percentiles,
    plural,
    ratio,
    seed_name,
)
from errata.data import Judgment, Scores, short_names
from errata.human.comparisons import Comparisons, Unit, compare
from errata.meta.matching import (
    MatchedScores,
    joint_signature,
    notes_of_metrics,
    only_people,
    unmatched_notes,
)
from errata.meta.pairwise import (
    CONVENTIONS,
    Convention,
    PairOutcomes,
    SignTables,
    best_threshold,
    chance,
    differences,
    equal_signs,
    pair_outcomes,
    sign_meanings,
    sign_tables,
    signs_of,
    swap_test,
    tabulate,
    tau_c_of_rankings,
)

ConventionName = Literal[
    "noties",
    "hties",
    "wmt12",
    "wmt13",
    "wmt14",
    "kendall_like",
    "tau_b",
    "tau_c",
    "tau_23",
    "accuracy",
    "row_accuracy",
    "row_calibrated",
    "calibrated",
    "seeda",
    "seeda_tau",
]
MARKED = ("accuracy", "row_accuracy", "row_calibrated", "calibrated")
SEEDA = ("seeda", "seeda_tau")
FOLDS = 5


@dataclass(frozen=True)
class Calibrated:
    """Accuracy with a tie threshold that was chosen on other sentences than it is judged on."""

    accuracy: float
    thresholds: tuple[float, ...]


def calibrated_accuracy(
    comparisons: Comparisons, scores: Scores, *, folds: int = FOLDS, rng: Seed = 0
) -> Calibrated:
    """Accuracy with ties (acc_eq; Deutsch et al. 2023), its threshold calibrated out of sample.

    Sentences are dealt to folds; for each fold the threshold that makes accuracy highest on all
    other folds decides which pairs are ties in it.
    """
    found = calibrated_marks(comparisons, scores, folds=folds, rng=rng)
    return Calibrated(found.marks.value, found.thresholds)


class CalibratedMarks(NamedTuple):
    """The pairs right under the thresholds, fold by fold, of `calibrated_accuracy`."""

    marks: PairOutcomes
    thresholds: tuple[float, ...]


def calibrated_marks(
    comparisons: Comparisons, scores: Scores, *, folds: int = FOLDS, rng: Seed
) -> CalibratedMarks:
    """Pair by pair what `calibrated_accuracy` counts, to resample and to swap."""
    difference = differences(comparisons, scores)
    return _calibrated(comparisons, difference, _dealt_folds(comparisons, folds, rng), folds)


def _dealt_folds(comparisons: Comparisons, folds: int, rng: Seed) -> Ints:
    """Return the fold of each comparison; all comparisons of a sentence share one."""
    number, sentences = comparisons.units("sentences")
    if folds < 2 or sentences < folds:
        raise InputError(
            f"cannot make {folds} folds of {sentences} sentences",
            remedy="use 2 folds or more, and no more than sentences",
        )
    return np.random.default_rng(rng).permutation(sentences)[number] % folds


def _calibrated(
    comparisons: Comparisons, difference: Floats, fold: Ints, folds: int
) -> CalibratedMarks:
    size, weight = merge_ties(np.abs(difference)), comparisons.weight
    agree = np.sign(difference) == comparisons.outcome
    tied = comparisons.outcome == 0
    gain = weight * (tied.astype(np.float64) - agree)
    order = np.argsort(size, kind="stable")  # once: leaving a fold out keeps the order
    right, thresholds = np.zeros(len(agree), bool), []
    for k in range(folds):
        train, held = order[fold[order] != k], fold == k
        best = best_threshold(size[train], gain[train])
        thresholds.append(best)
        right[held] = np.where(size[held] <= best, tied[held], agree[held])
    return CalibratedMarks(PairOutcomes(right, weight), tuple(thresholds))


def seeda_accuracy(comparisons: Comparisons, scores: Scores) -> float:
    """SEEDA's script (2024): a metric tie is won by the system whose name comes later.

    For comparison with published numbers only: the value depends on how systems are called.
    Human ties are left out; the script's Kendall (``seeda_tau``) is ``2 * accuracy - 1``.
    """
    return _seeda_accuracy_of_signs(comparisons, differences(comparisons, scores))


def _seeda_accuracy_of_signs(comparisons: Comparisons, difference: Floats) -> float:
    sign = signs_of(difference)
    # Systems are numbered in the order of their names.
    later = np.where(comparisons.first > comparisons.second, 1, -1)
    table = tabulate(comparisons, np.where(sign == 0, later, sign).astype(np.int8))
    p = sign_meanings(table)
    return float(ratio(p.agree, p.agree + p.disagree))


@dataclass(frozen=True)
class SentenceLevel:
    """How one metric (named as a heading names it) does at sentence level under one convention.

    ``floor`` is the value of a metric that knows nothing but ties as often; ``ceiling`` that of
    one judge for another. ``in_sample`` marks a value whose threshold was chosen on the same pairs.
    """

    metric: str
    convention: ConventionName
    value: Estimate
    floor: float
    ceiling: float
    in_sample: bool = False


@dataclass(frozen=True)
class AccuracyPair:
    """Two metrics compared under one convention: the lead, and whether it could be chance.

    ``p`` is one-sided. Where pairs are right or wrong (the accuracies) the ``test`` is the
    permutation of `errata.meta.pairwise.swap_test`; a τ is no mean over pairs, and there it is the
    paired bootstrap: the share of resamples, the data among them, in which the lead is gone.
    ``holm`` is corrected over all pairs of metrics under the convention.
    """

    convention: ConventionName
    better: str
    worse: str
    lead: float
    p: float
    holm: float
    test: Literal["permutation", "bootstrap"] = "permutation"


@dataclass(frozen=True, eq=False)
class SentenceLevels:
    """Metrics under conventions, and the tables of each metric from which they are read.

    ``pairs`` is how many comparisons there are, ``unit`` what the intervals resample and the tests
    of ``contests`` swap.
    """

    levels: tuple[SentenceLevel, ...]
    metrics: tuple[str, ...]
    tables: tuple[SignTables, ...]
    pairs: float
    unit: Unit
    confidence: float
    signature: str
    notes: tuple[str, ...] = ()
    contests: tuple[AccuracyPair, ...] = ()


def sentence_level(
    comparisons: Comparisons,
    scores: Scores,
    *,
    convention: ConventionName = "noties",
    unit: Unit = "sentences",
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: Seed = 0,
) -> SentenceLevel:
    """Judge a metric's sentence scores by human comparisons under a convention of the field."""
    return sentence_levels(
        comparisons,
        [scores],
        [convention],
        unit=unit,
        resamples=resamples,
        confidence=confidence,
        rng=rng,
    ).levels[0]


def sentence_levels(
    comparisons: Comparisons,
    results: Sequence[Scores],
    conventions: Sequence[ConventionName],
    *,
    unit: Unit = "sentences",
    resamples: int,
    confidence: float = 0.95,
    folds: int = FOLDS,
    rng: Seed = 0,
) -> SentenceLevels:
    """Several metrics under several conventions, and pairs of metrics by what they got right.

    ``"calibrated"`` and SEEDA's two come without an interval. ``folds`` belong to
    `calibrated_accuracy`. A system that no metric scored is left out with a note.
    """
    strangers = only_people(comparisons.systems, results)
    comparisons = comparisons.hide(*strangers)
    if not comparisons.total:
        raise InputError(
            "no judgment compares two systems that the metrics scored",
            remedy="score two or more of the systems that were judged",
        )
    for name in conventions:
        require("convention", name, ConventionName)
    if {*SEEDA} & {*conventions}:
        warnings.warn(
            "SEEDA's rule lets the names of systems decide ties; use it only to compare "
            "with numbers made by it",
            DataWarning,
            stacklevel=2,
        )
    names = short_names(results)
    undrawn = len(results) < 2 and not set(conventions) - {"calibrated", *SEEDA}
    drawn = 0 if undrawn else resamples
    counted = drawn if any(name in CONVENTIONS for name in conventions) else 0
    tables = sign_tables(comparisons, results, unit=unit, resamples=counted, rng=rng)
    fold = _dealt_folds(comparisons, folds, rng) if "calibrated" in conventions else None
    task = _Task(comparisons, unit, drawn, confidence, rng, fold, folds)
    marks = {
        (name, convention): _pair_outcomes_of(task, found.difference, convention)
        for name, found in zip(names, tables, strict=True)
        for convention in conventions
        if convention in MARKED
    }
    settings = ["level:sentence", f"unit:{unit}", f"resamples:{drawn}", f"seed:{seed_name(rng)}"]
    settings += [f"folds:{folds}"] if fold is not None else []
    return SentenceLevels(
        tuple(
            _sentence_level_of(task, name, found, convention, marks.get((name, convention)))
            for name, found in zip(names, tables, strict=True)
            for convention in conventions
        ),
        names,
        tuple(tables),
        comparisons.total,
        unit,
        confidence,
        joint_signature(settings, " | ".join(comparisons.facts), results),
        (*unmatched_notes(strangers), *notes_of_metrics(results)),
        _compare_accuracies(task, names, tables, conventions, marks),
    )


class _Task(NamedTuple):
    """What all metrics and conventions share."""

    comparisons: Comparisons
    unit: Unit
    resamples: int
    confidence: float
    rng: Seed
    fold: Ints | None
    folds: int


def _pair_outcomes_of(task: _Task, difference: Floats, convention: ConventionName) -> PairOutcomes:
    if convention == "calibrated":
        assert task.fold is not None
        return _calibrated(task.comparisons, difference, task.fold, task.folds).marks
    return pair_outcomes(
        task.comparisons,
        difference,
        rows=convention.startswith("row_"),
        calibrate=convention == "row_calibrated",
    )


def _sentence_level_of(
    task: _Task,
    metric: str,
    found: SignTables,
    convention: ConventionName,
    marks: PairOutcomes | None,
) -> SentenceLevel:
    # A figure that is no function of the nine counts has chance level and ceiling of the accuracy.
    read = CONVENTIONS.get(convention, equal_signs)
    floor, ceiling = float(read(chance(found.observed))), float(read(found.ceiling))
    low, high = np.nan, np.nan
    in_sample = False
    comparisons, unit, resamples, confidence, rng, *_ = task
    if convention == "tau_c":
        value, low, high = tau_c_of_rankings(
            comparisons, signs_of(found.difference), unit, resamples, confidence, rng
        )
        floor, ceiling = 0.0, np.nan
    elif convention in SEEDA:
        value, floor = _seeda_accuracy_of_signs(comparisons, found.difference), 0.5
        if convention == "seeda_tau":
            value, floor, ceiling = (2 * share - 1 for share in (value, floor, ceiling))
    elif convention in CONVENTIONS:
        value = float(read(found.observed))
        if found.resampled is not None:
            low, high = percentiles(read(found.resampled), confidence).tolist()
    else:
        assert marks is not None
        value, in_sample = marks.value, marks.in_sample
        if convention != "calibrated":
            ties = float((comparisons.weight * (found.difference == 0)).sum() / comparisons.total)
            floor = marks.chance(comparisons, ties)
        if convention == "row_accuracy":
            low, high = marks.interval(comparisons, unit, resamples, confidence, rng)
    estimate = Estimate(value, low, high)
    return SentenceLevel(metric, convention, estimate, floor, ceiling, in_sample)


def _compare_accuracies(
    task: _Task,
    names: Sequence[str],
    tables: Sequence[SignTables],
    conventions: Sequence[ConventionName],
    marks: Mapping[tuple[str, ConventionName], PairOutcomes],
) -> tuple[AccuracyPair, ...]:
    if not task.resamples:
        return ()
    found: list[AccuracyPair] = []
    # Single pairs are drawn for each metric separately, so their resamples are not paired.
    told = set(MARKED) | (set(CONVENTIONS) if task.unit != "pairs" else set())
    for convention in (c for c in conventions if c in told):
        swapped = convention in MARKED
        pairs = []
        for a, b in combinations(range(len(names)), 2):
            if swapped:
                lead, *p = _swap_p_values(
                    task, marks[names[a], convention], marks[names[b], convention]
                )
            else:
                lead, *p = _resampled_lead(CONVENTIONS[convention], tables[a], tables[b])
            if np.isnan(lead):
                continue  # a τ without a single pair
            first, second = names[a], names[b]
            pairs.append((first, second, lead, p[0]) if lead >= 0 else (second, first, -lead, p[1]))
        corrected = holm([p for *_, p in pairs]).tolist()
        for (better, worse, lead, p_value), adjusted in zip(pairs, corrected, strict=True):
            test: Literal["permutation", "bootstrap"] = "permutation" if swapped else "bootstrap"
            found.append(AccuracyPair(convention, better, worse, lead, p_value, adjusted, test))
    return tuple(sorted(found, key=lambda pair: (conventions.index(pair.convention), -pair.lead)))


def _swap_p_values(
    task: _Task, first: PairOutcomes, second: PairOutcomes
) -> tuple[float, float, float]:
    """The lead of the first metric, and one-sided p-values of it and of its opposite."""
    p = swap_test(
        task.comparisons, first, second, unit=task.unit, resamples=task.resamples, rng=task.rng
    )
    return (first.value - second.value, *p)


def _resampled_lead(
    read: Convention, first: SignTables, second: SignTables
) -> tuple[float, float, float]:
    """The same by the paired bootstrap; a resample without a value counts for neither side."""
    lead = float(read(first.observed) - read(second.observed))
    assert first.resampled is not None
    assert second.resampled is not None
    leads = read(first.resampled) - read(second.resampled)
    leads = merge_ties(leads[~np.isnan(leads)])
    gone = [(1 + int((sign * leads <= 0).sum())) / (1 + len(leads)) for sign in (1, -1)]
    return lead, gone[0], gone[1]


# ---- Ratings: every output of a sentence has a number by people (GMEG, direct assessment).

KINDS = ("pearson", "spearman")


@dataclass(frozen=True)
class RatingLevel:
    """One metric against ratings, by ``"pearson"`` and ``"spearman"``.

    ``pooled`` is over all outputs; ``within`` the mean over sentences of the correlation among the
    outputs of the sentence, where there is one. ``accuracy`` is the share of pairs of outputs of
    one sentence ordered alike, ties included, with metric ties calibrated on other
    sentences (see `errata.meta.sentence_level.calibrated_accuracy`); ``threshold`` is the mean over
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
    table = _sentence_scores(people)
    judgments = []
    for i, column in enumerate(table.T):
        rated = np.flatnonzero(~np.isnan(column))
        places = np.unique(-column[rated], return_inverse=True)[1] + 1
        groups = tuple((people.systems[s],) for s in rated)
        judgments.append(Judgment(people.label, i, groups, tuple(places.tolist())))
    return compare(judgments)


def rating_levels(
    paired: MatchedScores,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    folds: int = FOLDS,
    rng: Seed = 0,
) -> RatingLevels:
    """Judge metrics by ratings of outputs, which are the sentence scores of people.

    Sentences that lack a rating or a score of a system are left out with a note. Intervals resample
    sentences. Spearman's ρ over all outputs keeps in them the ranks that outputs have in the data.

    >>> from errata.meta.matching import match
    >>> rng = np.random.default_rng(0)
    >>> table = rng.random((3, 40))
    >>> rated = Scores("ratings", ("A", "B", "C"), table.mean(axis=1), table)
    >>> metric = Scores("m()", ("A", "B", "C"), table.mean(axis=1), table**3)
    >>> found = rating_levels(match(rated, [metric]), resamples=0).levels[0]
    >>> found.pooled["spearman"].value, found.within["spearman"].value, found.accuracy.value
    (1.0, 1.0, 1.0)
    """
    tables = [_sentence_scores(scores) for scores in (paired.people, *paired.metrics)]
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
    comparisons = ratings_as_comparisons(_with_sentences(paired.people, rated))
    figures = {
        (k, figure, kind): figure(kind, rated, table[:, whole])
        for k, table in enumerate(tables[1:])
        for figure in (_pooled_correlation, _mean_correlation_within)
        for kind in KINDS
    }
    # The weights of many resamples would not fit: all figures are drawn as they come by.
    drawn: list[list[Floats]] = [
        [figure.of(block) for figure in figures.values()]
        for block in bootstrap_weights(many, resamples, rng)
    ]
    estimates = {
        key: _with_interval(figure.value, [row[i] for row in drawn], confidence)
        for i, (key, figure) in enumerate(figures.items())
    }
    found = []
    for k, (name, scores) in enumerate(zip(paired.names, paired.metrics, strict=True)):
        own = tables[1 + k][:, whole]
        accuracy, threshold = Estimate(np.nan, np.nan, np.nan), np.nan
        if many >= folds:
            chosen = calibrated_marks(
                comparisons, _with_sentences(scores, own), folds=folds, rng=rng
            )
            spread = chosen.marks.interval(comparisons, "sentences", resamples, confidence, rng)
            accuracy = Estimate(chosen.marks.value, *spread)
            threshold = float(np.mean(chosen.thresholds))
        found.append(
            RatingLevel(
                name,
                {kind: estimates[k, _pooled_correlation, kind] for kind in KINDS},
                {kind: estimates[k, _mean_correlation_within, kind] for kind in KINDS},
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


def _sentence_scores(scores: Scores) -> Floats:
    if scores.sentences is None:
        raise InputError(
            f"{scores.label} has no scores of single sentences",
            remedy="give a table with a row for each sentence and a column for each system",
        )
    return scores.sentences


def _with_sentences(scores: Scores, table: Floats) -> Scores:
    """The scores with these sentences only."""
    return Scores(scores.scorer, scores.systems, scores.values, table, label=scores.label)


class _Figure(NamedTuple):
    """A figure of the data, and how it comes out of bootstrap weights of the sentences."""

    value: float
    of: Callable[[Floats], Floats]


def _pooled_correlation(kind: str, human: Floats, metric: Floats) -> _Figure:
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


def _mean_correlation_within(kind: str, human: Floats, metric: Floats) -> _Figure:
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


def _with_interval(value: float, drawn: Sequence[Floats], confidence: float) -> Estimate:
    if not drawn:
        return Estimate(value, np.nan, np.nan)
    low, high = percentiles(np.concatenate(drawn), confidence).tolist()
    return Estimate(value, low, high)
