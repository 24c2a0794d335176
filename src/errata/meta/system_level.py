"""System level: how well do a metric's scores of whole systems agree with people's?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from errata.core.correlation import CORRELATIONS, Correlation, correlate, soft_pairwise_accuracy
from errata.core.errors import InputError
from errata.core.parameters import require
from errata.core.stats import Floats, Interval, Seed, merge_ties, percentiles, seed_name
from errata.data import Scores
from errata.meta.matching import MatchedScores, notes_of_metrics
from errata.meta.significance import (
    detectable_difference,
    flip_p_values,
    holm_pairs,
    permutation_tests,
    williams_test,
)

Over = Literal["systems", "sentences", "judgments", "both"]
PairTest = Literal["williams", "permutation"]
SYMBOLS = {"pearson": "r", "spearman": "ρ"}
FEW = 20  # below so many systems the smallest difference that can be told is stated


@dataclass(frozen=True)
class SystemAgreement:
    """One metric against people: each correlation with its bootstrap interval."""

    metric: str
    values: Mapping[str, float]
    intervals: Mapping[str, Interval]


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
    """All metrics against people over the same systems, metrics named as a heading names them.

    ``p_values[test][a, b]`` is one-sided: small where metric a agrees better than metric b
    (NaN on the diagonal). ``notes`` say what these systems cannot tell.
    """

    paired: MatchedScores
    agreements: tuple[SystemAgreement, ...]
    p_values: Mapping[str, Floats]
    pairs: tuple[MetricPair, ...]
    over: Over
    confidence: float
    notes: tuple[str, ...]
    signature: str


def system_level(
    paired: MatchedScores,
    *,
    over: Over = "systems",
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: Seed = 0,
) -> SystemLevel:
    """Judge metrics by their agreement with people at system level.

    ``over`` says what the intervals resample: the ``"systems"`` (would other systems tell the
    same?), the metric's ``"sentences"``, the human ``"judgments"`` (by the unit the human scores
    were resampled with), or ``"both"`` of the latter.
    """
    require("over", over, Over)
    agreements = system_agreements(paired, over, resamples, confidence, rng)
    tests: list[tuple[PairTest, Correlation]] = [
        ("williams", "pearson"),
        ("williams", "spearman"),
        ("permutation", "pearson"),
        ("permutation", "spearman"),
    ]
    p_values = (
        {f"{test}_{kind}": p_value_matrix(paired, test, kind, rng=rng) for test, kind in tests}
        if len(paired.metrics) > 1
        else {}
    )
    pairs = _metric_pairs(paired, p_values)
    drawn = (f"over:{over}", f"resamples:{resamples}") if resamples else ()
    return SystemLevel(
        paired,
        agreements,
        p_values,
        pairs,
        over,
        confidence,
        (
            *paired.notes,
            *paired.people.notes,
            *notes_of_metrics(paired.metrics),
            *_flipped(paired, agreements),
            *_meant(paired),
            *_limits(len(paired), pairs),
            *_undefined(paired, p_values),
        ),
        paired.signature(*drawn, f"seed:{seed_name(rng)}"),
    )


def system_agreements(
    paired: MatchedScores, over: Over, resamples: int, confidence: float, rng: Seed
) -> tuple[SystemAgreement, ...]:
    """Each metric's correlations with people, with intervals (see `system_level`)."""
    human = paired.people
    n = len(paired)
    drawn = None
    if resamples and over == "systems":  # the same systems for every metric
        drawn = np.random.default_rng(rng).integers(0, n, (resamples, n))
    sure = _certainty(human, resamples, rng)
    found = []
    for name, metric in zip(paired.names, paired.metrics, strict=True):
        values: dict[str, float] = {
            kind: float(correlate(kind, human.values, metric.values)) for kind in CORRELATIONS
        }
        intervals: dict[str, Interval] = {}
        if resamples:
            h, m = (
                _resampled(human, metric, over)
                if drawn is None
                else (human.values[drawn], metric.values[drawn])
            )
            # A resample of one system only has no correlation and is left out.
            intervals = {
                kind: Interval(*percentiles(correlate(kind, h, m), confidence).tolist())
                for kind in CORRELATIONS
            }
        own = _certainty(metric, resamples, rng)
        if sure is not None and own is not None:
            values["soft_accuracy"] = soft_pairwise_accuracy(sure, own)
        found.append(SystemAgreement(name, values, intervals))
    return tuple(found)


def _certainty(scores: Scores, resamples: int, rng: Seed) -> Floats | None:
    """How sure a side is of each pair: p-values of its resamples, or of flipped sentence scores."""
    if scores.resampled is not None:
        return scores.p_values()
    if scores.sentences is None or not resamples:
        return None
    return flip_p_values(scores.sentences, resamples=resamples, rng=rng)


def _flipped(paired: MatchedScores, agreements: Sequence[SystemAgreement]) -> tuple[str, ...]:
    """A note on sides whose certainty is that of the mean of their sentence scores."""
    sides = zip(("people", *paired.names), (paired.people, *paired.metrics), strict=True)
    names = [name for name, s in sides if s.resampled is None and s.sentences is not None]
    if not names or not any("soft_accuracy" in found.values for found in agreements):
        return ()
    return (f"soft accuracy: p-values of {', '.join(names)} flip signs of sentence scores",)


def _meant(paired: MatchedScores) -> tuple[str, ...]:
    """A note on metrics whose file has sentence scores only: their mean is no corpus score."""
    sides = zip(("people", *paired.names), (paired.people, *paired.metrics), strict=True)
    names = [name for name, scores in sides if "total:mean" in scores.context]
    return (f"{', '.join(names)}: systems have the means of sentence scores",) if names else ()


def _resampled(human: Scores, metric: Scores, over: Over) -> tuple[Floats, Floats]:
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
    paired: MatchedScores,
    test: PairTest = "williams",
    kind: Correlation = "pearson",
    *,
    rng: Seed = 0,
) -> Floats:
    """One-sided p-values ``[a, b]`` that metric a agrees better with people than metric b."""
    require("test", test, PairTest)
    human = paired.people.values
    n = len(paired.metrics)
    p = np.full((n, n), np.nan)
    if test == "williams" and len(paired) < 4:
        return p
    for a, b in combinations(range(n), 2):
        x, y = paired.metrics[a].values, paired.metrics[b].values
        if np.isnan([correlate(kind, human, v) for v in (x, y)]).any():
            continue
        if test == "williams":
            p[a, b] = williams_test(human, x, y, kind=kind).p
            p[b, a] = williams_test(human, y, x, kind=kind).p
        else:
            p[a, b], p[b, a] = permutation_tests(human, x, y, kind=kind, rng=rng)
    return p


def _metric_pairs(paired: MatchedScores, p_values: Mapping[str, Floats]) -> tuple[MetricPair, ...]:
    adjusted = {test: holm_pairs(p) for test, p in p_values.items()}
    human, metrics, names = paired.people, paired.metrics, paired.names
    pairs = []
    for a, b in combinations(range(len(metrics)), 2):
        r = merge_ties(
            [correlate("pearson", human.values, metrics[i].values) for i in (a, b)]
        ).tolist()
        between = float(correlate("pearson", metrics[a].values, metrics[b].values))
        if np.isnan([*r, between]).any():
            continue
        better, worse = (a, b) if r[0] >= r[1] else (b, a)
        pairs.append(
            MetricPair(
                names[better],
                names[worse],
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
    if systems < 4:
        return (f"{systems} systems are too few for Williams' test, which needs 4",)
    # Where the test is undefined, `_undefined` says so.
    tested = [pair for pair in pairs if not np.isnan(pair.p["williams_pearson"])]
    hopeless = sum(not pair.lead >= pair.smallest for pair in tested)
    if not hopeless:
        return ()
    return (
        f"{systems} systems are few: in {hopeless} of {len(pairs)} pairs of metrics the lead "
        "is smaller than the smallest that could be significant",
    )


def _undefined(paired: MatchedScores, p_values: Mapping[str, Floats]) -> tuple[str, ...]:
    """A note for each pair of metrics that Williams' test cannot compare."""
    if len(paired) < 4:
        return ()
    found = {
        (a, b): [
            kind for kind in ("pearson", "spearman") if np.isnan(p_values[f"williams_{kind}"][a, b])
        ]
        for a, b in combinations(range(len(paired.metrics)), 2)
    }
    return tuple(
        f"Williams' test of {paired.names[a]} and {paired.names[b]} is undefined "
        f"({' and '.join(SYMBOLS[kind] for kind in kinds)}): of the three correlations between "
        "them and people one follows from the others, or there is none"
        for (a, b), kinds in found.items()
        if kinds
    )


@dataclass(frozen=True, eq=False)
class SubsetCorrelations:
    """Metrics against people over some of the systems: ``values[metric, subset]``.

    ``whole[metric]`` is the correlation over all systems.
    """

    paired: MatchedScores
    kind: Correlation
    subsets: tuple[tuple[str, ...], ...]
    values: Floats
    whole: Floats

    @property
    def signature(self) -> str:
        """Everything that decided the numbers, in one line."""
        return self.paired.signature(f"correlation:{self.kind}")


def _over_subsets(
    paired: MatchedScores, kind: Correlation, subsets: Sequence[Sequence[int]]
) -> SubsetCorrelations:
    human = paired.people.values
    values = [
        [float(correlate(kind, human[list(s)], metric.values[list(s)])) for s in subsets]
        for metric in paired.metrics
    ]
    whole = [float(correlate(kind, human, metric.values)) for metric in paired.metrics]
    names = tuple(tuple(paired.systems[i] for i in subset) for subset in subsets)
    return SubsetCorrelations(paired, kind, names, np.array(values), np.array(whole))


def leave_one_out(paired: MatchedScores, kind: Correlation = "pearson") -> SubsetCorrelations:
    """The correlation without each system in turn: whose absence changes the picture?"""
    n = len(paired)
    if n < 3:
        raise InputError(f"cannot leave one of {n} systems out")
    return _over_subsets(paired, kind, [[i for i in range(n) if i != out] for out in range(n)])


def windows(
    paired: MatchedScores, size: int, kind: Correlation = "pearson", *, top: bool = False
) -> SubsetCorrelations:
    """The correlation in every window of ``size`` neighbours of the human ranking, best first.

    With ``top`` in the best 2, 3, ... up to ``size`` systems instead: do metrics still tell good
    systems apart?
    """
    if not 2 <= size <= len(paired):
        raise InputError(
            f"a window of {size} does not fit {len(paired)} systems",
            remedy="use 2 or more, and no more than there are systems",
        )
    order = paired.people.order
    return _over_subsets(
        paired,
        kind,
        [order[:k] for k in range(2, size + 1)]
        if top
        else [order[i : i + size] for i in range(len(order) - size + 1)],
    )
