"""Measures of noise: how far figures of random runs, of resamples and of released files scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from errata.data import Scores
from errata.human.clusters import places
from errata.meta.paired import match_systems
from errata.reproduce.lookup import place
from errata.reproduce.material import Material
from errata.reproduce.measures import measure
from errata.reproduce.metric_measures import grundkiewicz_scores, human_scores, metric_scores

__all__: list[str] = []


def _apart(one: Scores, other: Scores) -> float:
    a, b = match_systems(one, other)
    return float(np.abs(a.values - b.values).max())


@measure
def human_distance(material: Material, human: str, people: str) -> float:
    """The largest difference over systems between computed and released (or printed) scores."""
    computed = human_scores(material, human, "computed")
    return _apart(human_scores(material, human, people), computed)


@measure
def released_distance(material: Material, metric: str, file: str) -> float:
    """The largest difference between our scores and those that Grundkiewicz et al. released."""
    computed = metric_scores(material, metric, "computed")
    return _apart(grundkiewicz_scores(material, file), computed)


def _runs(material: Material, judgments: str, ranker: str, resamples: int) -> tuple[Scores, Any]:
    scores = material.ranked(judgments, ranker, resamples)
    assert scores.resampled is not None
    return scores, scores.resampled


@measure
def standard_error(
    material: Material, judgments: str, ranker: str, resamples: int, runs: int
) -> float:
    """The standard error of a mean of so many random runs, the largest over the systems."""
    _, drawn = _runs(material, judgments, ranker, resamples)
    return float(drawn.std(axis=0, ddof=1).max() / np.sqrt(runs))


@measure
def runs_ahead(
    material: Material, judgments: str, ranker: str, resamples: int, first: str, second: str
) -> int:
    """In how many runs one system is ahead of another."""
    scores, drawn = _runs(material, judgments, ranker, resamples)
    a, b = (place(name, scores.systems) for name in (first, second))
    return int((drawn[:, a] > drawn[:, b]).sum())


@measure
def runs_at(
    material: Material, judgments: str, ranker: str, resamples: int, system: str, rank: int
) -> int:
    """In how many runs a system has this rank or a better one."""
    scores, drawn = _runs(material, judgments, ranker, resamples)
    return int((places(drawn)[0][:, place(system, scores.systems)] <= rank).sum())
