"""System level: how well do a metric's scores of whole systems agree with people's?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from errata.correlation import CORRELATIONS, correlate, soft_pairwise_accuracy
from errata.data import Scores
from errata.errors import InputError
from errata.meta.significance import (
    detectable_difference,
    holm_pairs,
    permutation_test,
    williams_test,
)
from errata.numbers import Floats

__all__ = [
    "OVER",
    "MetricPair",
    "SystemAgreement",
    "SystemLevel",
    "Window",
    "leave_one_out",
    "match_systems",
    "p_value_matrix",
    "system_level",
    "windows",
]

OVER = ("systems", "sentences", "judgments", "both")
FEW = 20  # below so many systems the smallest difference that can be told is stated


@dataclass(frozen=True)
class SystemAgreement:
    """One metric against people: each correlation with its bootstrap interval."""

    metric: str
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class MetricPair:
    """Two metrics compared: the lead in Pearson's r, and whether it could be chance.

    ``smallest`` is the smallest lead that Williams' test would call significant (5 %) with these
    systems; NaN where none would be. ``p`` and ``holm`` (corrected over all pairs) are one-sided,
    by test.
    """

    better: str
    worse: str
    lead: float
    smallest: float
    p: Mapping[str, float]
    holm: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class SystemLevel:
    """All metrics against people over the same systems.

    ``p_values[test][a, b]`` is one-sided: small where metric a agrees better than metric b
    (NaN on the diagonal). ``notes`` say what these systems cannot tell.
    """

    human: str
    systems: tuple[str, ...]
    agreements: tuple[SystemAgreement, ...]
    p_values: Mapping[str, Floats]
    pairs: tuple[MetricPair, ...]
    over: str
    notes: tuple[str, ...]


def match_systems(human: Scores, metric: Scores, *, common: bool = False) -> tuple[Scores, Scores]:
    """Both sides over the same systems, in the order of the human scores.

    Systems that only one side knows are an error; ``common`` leaves them out on purpose.
    """
    shared = [name for name in human.systems if name in metric.systems]
    alone = sorted(set(human.systems) ^ set(metric.systems))
    if alone and not common:
        raise InputError(
            f"{', '.join(alone)}: known to only one of {human.scorer} and {metric.scorer}",
            remedy="score the same systems, or ask for the common ones only (--common)",
        )
    if len(shared) < 2:
        raise InputError(
            f"{human.scorer} and {metric.scorer} share {len(shared)} systems",
            remedy="use the same system names on both sides",
        )
    return human.select(shared), metric.select(shared)


def system_level(
    human: Scores,
    metrics: Sequence[Scores],
    *,
    over: str = "systems",
    common: bool = False,
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> SystemLevel:
    """Judge metrics by their agreement with people at system level.

    ``over`` says what the intervals resample: the ``"systems"`` (would other systems tell the
    same?), the metric's ``"sentences"``, the human ``"judgments"`` (by the unit the human scores
    were resampled with), or ``"both"`` of the latter.
    """
    if over not in OVER:
        raise InputError(f"unknown unit {over!r}", remedy=f"use one of {', '.join(OVER)}")
    if not metrics:
        raise InputError("no metric to judge", remedy="give at least one")
    matched = [match_systems(human, metric, common=common) for metric in metrics]
    if len({h.systems for h, _ in matched}) > 1:
        raise InputError(
            "the metrics do not share their systems with people alike",
            remedy="score the same systems with every metric",
        )
    people = matched[0][0]
    scored = [m for _, m in matched]
    agreements = tuple(_agreement(people, m, over, resamples, confidence, rng) for m in scored)
    p_values = (
        {
            "williams_pearson": p_value_matrix(people, scored, "williams", "pearson"),
            "williams_spearman": p_value_matrix(people, scored, "williams", "spearman"),
            "permutation_pearson": p_value_matrix(
                people, scored, "permutation", "pearson", rng=rng
            ),
            "permutation_spearman": p_value_matrix(
                people, scored, "permutation", "spearman", rng=rng
            ),
        }
        if len(scored) > 1
        else {}
    )
    pairs = _pairs(people, scored, p_values)
    return SystemLevel(
        human.scorer, people.systems, agreements, p_values, pairs, over, _limits(len(people), pairs)
    )


def _agreement(
    human: Scores,
    metric: Scores,
    over: str,
    resamples: int,
    confidence: float,
    rng: int | np.random.Generator,
) -> SystemAgreement:
    values = {kind: float(correlate(kind, human.values, metric.values)) for kind in CORRELATIONS}
    intervals = {}
    if resamples:
        h, m = _resampled(human, metric, over, resamples, rng)
        tail = (1 - confidence) / 2
        for kind in CORRELATIONS:
            draws = correlate(kind, h, m)
            known = draws[~np.isnan(draws)]  # a resample of one system only has no correlation
            low, high = np.quantile(known, [tail, 1 - tail]) if len(known) else (np.nan, np.nan)
            intervals[kind] = (float(low), float(high))
    if human.resampled is not None and metric.resampled is not None:
        values["soft_accuracy"] = soft_pairwise_accuracy(human.p_values(), metric.p_values())
    return SystemAgreement(metric.scorer, values, intervals)


def _resampled(
    human: Scores, metric: Scores, over: str, resamples: int, rng: int | np.random.Generator
) -> tuple[Floats, Floats]:
    n = len(human)
    if over == "systems":
        pick = np.random.default_rng(rng).integers(0, n, (resamples, n))
        return human.values[pick], metric.values[pick]
    for scores, needed in (
        (human, over in ("judgments", "both")),
        (metric, over in ("sentences", "both")),
    ):
        if needed and scores.resampled is None:
            raise InputError(
                f"{scores.scorer} was not resampled, so intervals over {over} cannot be had",
                remedy="resample over systems instead",
            )
    h = human.resampled if over != "sentences" else None
    m = metric.resampled if over != "judgments" else None
    rows = min(len(r) for r in (h, m) if r is not None)
    return (
        human.values[None].repeat(rows, 0) if h is None else h[:rows],
        metric.values[None].repeat(rows, 0) if m is None else m[:rows],
    )


def p_value_matrix(
    human: Scores,
    metrics: Sequence[Scores],
    test: str = "williams",
    kind: str = "pearson",
    *,
    rng: int | np.random.Generator = 0,
) -> Floats:
    """One-sided p-values ``[a, b]`` that metric a agrees better with people than metric b."""
    metrics = [match_systems(human, metric)[1] for metric in metrics]
    n = len(metrics)
    p = np.full((n, n), np.nan)
    if test == "williams" and len(human) < 4:
        return p
    for a, b in combinations(range(n), 2):
        for i, j in ((a, b), (b, a)):
            x, y = metrics[i].values, metrics[j].values
            if np.isnan([correlate(kind, human.values, v) for v in (x, y)]).any():
                continue
            p[i, j] = (
                williams_test(human.values, x, y, kind=kind).p
                if test == "williams"
                else permutation_test(human.values, x, y, kind=kind, rng=rng)
            )
    return p


def _pairs(
    human: Scores, metrics: Sequence[Scores], p_values: Mapping[str, Floats]
) -> tuple[MetricPair, ...]:
    adjusted = {test: holm_pairs(p) for test, p in p_values.items()}
    pairs = []
    for a, b in combinations(range(len(metrics)), 2):
        r = [float(correlate("pearson", human.values, metrics[i].values)) for i in (a, b)]
        between = float(correlate("pearson", metrics[a].values, metrics[b].values))
        if np.isnan([*r, between]).any():
            continue
        better, worse = (a, b) if r[0] >= r[1] else (b, a)
        pairs.append(
            MetricPair(
                metrics[better].scorer,
                metrics[worse].scorer,
                abs(r[0] - r[1]),
                detectable_difference(min(r), between, len(human)),
                {test: float(p[better, worse]) for test, p in p_values.items()},
                {test: float(p[better, worse]) for test, p in adjusted.items()},
            )
        )
    return tuple(sorted(pairs, key=lambda pair: -pair.lead))


def _limits(systems: int, pairs: Sequence[MetricPair]) -> tuple[str, ...]:
    if systems >= FEW or not pairs:
        return ()
    hopeless = sum(not pair.lead >= pair.smallest for pair in pairs)
    return (
        f"{systems} systems are few: in {hopeless} of {len(pairs)} pairs of metrics the lead "
        "is smaller than the smallest that could be significant",
    )


def leave_one_out(human: Scores, metric: Scores, kind: str = "pearson") -> dict[str, float]:
    """The correlation without each system in turn: whose absence changes the picture?"""
    h, m = match_systems(human, metric)
    if len(h) < 3:
        raise InputError(f"cannot leave one of {len(h)} systems out")
    rows = np.array([[i for i in range(len(h)) if i != out] for out in range(len(h))])
    values = correlate(kind, h.values[rows], m.values[rows])
    return dict(zip(h.systems, values.tolist(), strict=True))


@dataclass(frozen=True)
class Window:
    """Systems that stand next to each other in the human ranking, and the correlation there."""

    systems: tuple[str, ...]
    value: float


def windows(
    human: Scores, metric: Scores, size: int, kind: str = "pearson", *, top: bool = False
) -> tuple[Window, ...]:
    """The correlation in every window of ``size`` neighbours of the human ranking, best first.

    With ``top`` in the best 2, 3, ... up to ``size`` systems instead: do metrics still tell good
    systems apart?
    """
    h, m = match_systems(human, metric)
    if not 2 <= size <= len(h):
        raise InputError(
            f"a window of {size} does not fit {len(h)} systems",
            remedy="use 2 or more, and no more than there are systems",
        )
    order = list(h.order)
    spans = (
        [order[:k] for k in range(2, size + 1)]
        if top
        else [order[i : i + size] for i in range(len(order) - size + 1)]
    )
    return tuple(
        Window(
            tuple(h.systems[i] for i in span),
            float(correlate(kind, h.values[span], m.values[span])),
        )
        for span in spans
    )
