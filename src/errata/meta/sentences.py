"""Sentence level: does the metric order two outputs of one sentence as a judge did?"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from errata.data import Scores, short_names
from errata.errors import DataWarning, InputError
from errata.human.comparisons import Comparisons, Unit
from errata.meta.paired import joint_signature, notes_on_strangers, only_people
from errata.meta.signs import (
    CONVENTIONS,
    SignTables,
    chance,
    differences,
    equal_signs,
    sign_meanings,
    sign_tables,
    signs_of,
    tabulate,
)
from errata.numbers import Estimate, Floats, Ints, Seed, percentiles, ratio, seed_name, settled
from errata.parameters import require

__all__ = [
    "Calibrated",
    "ConventionName",
    "SentenceLevel",
    "SentenceLevels",
    "calibrated_accuracy",
    "seeda_accuracy",
    "sentence_level",
    "sentence_levels",
]

ConventionName = Literal[
    "noties", "hties", "wmt12", "wmt13", "wmt14", "tau_b", "accuracy", "calibrated", "seeda"
]
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
    other folds decides what is a tie in it.
    """
    difference = differences(comparisons, scores)
    return _calibrated(comparisons, difference, _dealt_folds(comparisons, folds, rng), folds)


def _dealt_folds(comparisons: Comparisons, folds: int, rng: Seed) -> Ints:
    """The fold of each comparison: those of one sentence are in one fold."""
    number, sentences = comparisons.units("sentences")
    if folds < 2 or sentences < folds:
        raise InputError(
            f"cannot make {folds} folds of {sentences} sentences",
            remedy="use 2 folds or more, and no more than sentences",
        )
    return np.random.default_rng(rng).permutation(sentences)[number] % folds


def _calibrated(comparisons: Comparisons, difference: Floats, fold: Ints, folds: int) -> Calibrated:
    size, weight = settled(np.abs(difference)), comparisons.weight
    agree = np.sign(difference) == comparisons.outcome
    tied = comparisons.outcome == 0
    gain = weight * (tied.astype(np.float64) - agree)
    order = np.argsort(size, kind="stable")  # once: leaving a fold out keeps the order
    right, thresholds = 0.0, []
    for k in range(folds):
        train, held = order[fold[order] != k], fold == k
        best = _best_threshold(size[train], gain[train])
        thresholds.append(best)
        correct = np.where(size[held] <= best, tied[held], agree[held])
        right += float(weight[held][correct].sum())
    return Calibrated(right / comparisons.total, tuple(thresholds))


def _best_threshold(size: Floats, gain: Floats) -> float:
    """The threshold with the most right pairs; of equally good ones the smallest.

    ``size`` are differences in ascending order, ``gain`` what a pair wins by being called a tie.
    """
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
    return _seeda(comparisons, differences(comparisons, scores))


def _seeda(comparisons: Comparisons, difference: Floats) -> float:
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
    one judge for another.
    """

    metric: str
    convention: ConventionName
    value: Estimate
    floor: float
    ceiling: float


@dataclass(frozen=True, eq=False)
class SentenceLevels:
    """Metrics under conventions, and the tables of each metric from which they are read.

    ``pairs`` is how many comparisons there are, ``unit`` what the intervals resample.
    """

    levels: tuple[SentenceLevel, ...]
    metrics: tuple[str, ...]
    tables: tuple[SignTables, ...]
    pairs: float
    unit: Unit
    confidence: float
    signature: str
    notes: tuple[str, ...] = ()


def sentence_level(
    comparisons: Comparisons,
    scores: Scores,
    *,
    convention: ConventionName = "noties",
    unit: Unit = "rankings",
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
    unit: Unit = "rankings",
    resamples: int = 1000,
    confidence: float = 0.95,
    folds: int = FOLDS,
    rng: Seed = 0,
) -> SentenceLevels:
    """Several metrics under several conventions, ``"calibrated"`` and ``"seeda"`` among them.

    Those two are no functions of the nine counts; they come without an interval. ``folds`` are
    those of `calibrated_accuracy`. A system that no metric scored is left out with a note.
    """
    strangers = only_people(comparisons.systems, results)
    comparisons = comparisons.hide(*strangers)
    for name in conventions:
        require("convention", name, ConventionName)
    if "seeda" in conventions:
        warnings.warn(
            "SEEDA's rule lets the names of systems decide ties; use it only to compare "
            "with numbers made by it",
            DataWarning,
            stacklevel=2,
        )
    drawn = resamples if any(name in CONVENTIONS for name in conventions) else 0
    tables = sign_tables(comparisons, results, unit=unit, resamples=drawn, rng=rng)
    fold = _dealt_folds(comparisons, folds, rng) if "calibrated" in conventions else None

    def level(metric: str, found: SignTables, convention: ConventionName) -> SentenceLevel:
        # What is no function of the nine counts has chance level and ceiling of the accuracy.
        read = CONVENTIONS.get(convention, equal_signs)
        floor = float(read(chance(found.observed)))
        low, high = np.nan, np.nan
        if convention == "calibrated":
            assert fold is not None
            value = _calibrated(comparisons, found.difference, fold, folds).accuracy
        elif convention == "seeda":
            value, floor = _seeda(comparisons, found.difference), 0.5
        else:
            value = float(read(found.observed))
            if found.resampled is not None:
                low, high = percentiles(read(found.resampled), confidence).tolist()
        ceiling = float(read(found.ceiling))
        return SentenceLevel(metric, convention, Estimate(value, low, high), floor, ceiling)

    names = short_names(results)
    settings = ["level:sentence", f"unit:{unit}", f"resamples:{drawn}", f"seed:{seed_name(rng)}"]
    settings += [f"folds:{folds}"] if fold is not None else []
    return SentenceLevels(
        tuple(level(*each, c) for each in zip(names, tables, strict=True) for c in conventions),
        names,
        tuple(tables),
        comparisons.total,
        unit,
        confidence,
        joint_signature(settings, " | ".join(comparisons.facts), results),
        notes_on_strangers(strangers),
    )
