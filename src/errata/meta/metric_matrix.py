"""Metric against metric: how far the scores that metrics give to the same systems agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from errata import __version__
from errata.core.correlation import Correlation, correlate
from errata.core.errors import InputError
from errata.core.parameters import require
from errata.core.stats import Floats, Seed, merge_ties, percentiles, seed_name
from errata.data import Scores
from errata.meta.matching import MatchedScores, match, notes_of_metrics
from errata.meta.system_level import Over

MATRIX_KINDS: tuple[Correlation, ...] = ("pearson", "spearman", "kendall")
PEOPLE = "people"


@dataclass(frozen=True, eq=False)
class MetricMatrix:
    """Correlations of metrics, and of people where they have a say, over the same systems.

    ``values[kind][a, b]`` is that of ``names[a]`` and ``names[b]``, 1 of each with itself;
    ``intervals[kind][a, b]`` its low and high end, NaN where nothing was resampled.
    """

    names: tuple[str, ...]
    systems: tuple[str, ...]
    values: Mapping[Correlation, Floats]
    intervals: Mapping[Correlation, Floats]
    over: Over
    confidence: float
    notes: tuple[str, ...]
    signature: str

    @property
    def has_intervals(self) -> bool:
        """Whether there are intervals."""
        return not all(np.isnan(bounds).all() for bounds in self.intervals.values())


def match_metrics(
    metrics: Sequence[Scores], *, common: bool = False, hide: Sequence[str] = ()
) -> MatchedScores:
    """Metrics over the same systems, where people have no say: the first stands for both sides.

    A system that some metrics do not know is an error unless ``common`` leaves it out.
    """
    if len(metrics) < 2:
        raise InputError(
            "no word from people, and no second metric to compare with",
            remedy="give --judgments or --human scores, or two or more metrics",
        )
    return match(metrics[0], metrics, common=common, hide=hide)


def metric_matrix(
    paired: MatchedScores,
    *,
    people: bool = True,
    over: Over = "systems",
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: Seed = 0,
) -> MetricMatrix:
    """The correlations of all metrics with one another (Napoles et al. 2015, Figure 1).

    With ``people`` these are a row as well. ``over`` says what the intervals resample, as in
    `errata.meta.system_level.system_level`; metrics see the same systems, or the same sentences.

    >>> a, b = (Scores(name, ("A", "B", "C"), np.array(values)) for name, values in
    ...         (("m2()", [0.1, 0.2, 0.3]), ("bleu()", [3.0, 2.0, 1.0])))
    >>> found = metric_matrix(match_metrics([a, b]), people=False, resamples=0)
    >>> found.values["pearson"].round(3).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    require("over", over, Over)
    if resamples and not people and over in ("judgments", "both"):
        raise InputError(
            f"nobody judged, so intervals over {over} cannot be had",
            remedy="resample over systems or sentences",
        )
    scorers = [*([paired.people] if people else []), *paired.metrics]
    person = PEOPLE if PEOPLE not in paired.names else paired.people.scorer
    names = (*((person,) if people else ()), *paired.names)
    n = len(scorers)
    values = {kind: np.eye(n) for kind in MATRIX_KINDS}
    intervals = {kind: np.full((n, n, 2), np.nan) for kind in MATRIX_KINDS}
    which = np.random.default_rng(rng).integers(0, len(paired), (resamples, len(paired)))
    for a, b in combinations(range(n), 2):
        x, y = scorers[a], scorers[b]
        drawn = None
        if resamples and over == "systems":
            drawn = x.values[which], y.values[which]
        elif resamples:
            drawn = _resampled(x, y, over, people and a == 0)
        for kind in MATRIX_KINDS:
            values[kind][[a, b], [b, a]] = correlate(kind, x.values, y.values)
            if drawn is not None:
                bounds = percentiles(correlate(kind, *drawn), confidence)
                intervals[kind][[a, b], [b, a]] = bounds
    settings = (
        "level:system",
        f"systems:{len(paired)}",
        *(f"hide:{name}" for name in paired.hidden),
        *(
            (f"over:{over}", f"resamples:{resamples}", f"seed:{seed_name(rng)}")
            if resamples
            else ()
        ),
    )
    return MetricMatrix(
        names,
        paired.systems,
        values,
        intervals,
        over,
        confidence,
        (
            *paired.notes,
            *(
                f"{name} gives all systems one score, and so has no correlation"
                for name, scores in zip(names, scorers, strict=True)
                if len(paired) > 1 and len(np.unique(merge_ties(scores.values))) == 1
            ),
            *notes_of_metrics(paired.metrics),
        ),
        _signature(settings, paired, people),
    )


def _resampled(x: Scores, y: Scores, over: Over, person: bool) -> tuple[Floats, Floats] | None:
    """Two sides in resamples of sentences or judgments; nothing where neither side is resampled."""
    sides = []
    for scores, judged in ((x, person), (y, False)):
        asked = over == "both" or over == ("judgments" if judged else "sentences")
        if asked and scores.resampled is None:
            raise InputError(
                f"{scores.scorer} was not resampled, so intervals over {over} cannot be had",
                remedy="resample over systems instead",
            )
        sides.append(scores.resampled if asked else None)
    if not person and all(side is not None for side in sides):
        _require_same_sentences(x, y)
    drawn = [side for side in sides if side is not None]
    if not drawn:
        return None
    rows = min(map(len, drawn))
    first, second = (
        scores.values[None].repeat(rows, 0) if side is None else side[:rows]
        for scores, side in zip((x, y), sides, strict=True)
    )
    return first, second


def _require_same_sentences(*scorers: Scores) -> None:
    """Refuse resamples in which two metrics did not see the same sentences."""
    for scores in scorers:
        kind = next((each for each in scores.context if each.startswith("bootstrap:")), "")
        if kind not in ("", "bootstrap:sentences"):
            raise InputError(
                f"{scores.scorer} has resamples of its own ({kind}), and metrics can be compared "
                "over sentences only in the same ones",
                remedy="score it with --bootstrap sentences, or resample over systems instead",
            )


def _signature(settings: Sequence[str], paired: MatchedScores, people: bool) -> str:
    own = " | ".join((*settings, f"errata:{__version__}"))
    said = (f"people: {paired.people.signature}",) if people else ()
    return "; ".join((own, *said, *(f"metric: {m.signature}" for m in paired.metrics)))
