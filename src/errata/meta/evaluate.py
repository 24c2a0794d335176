"""meta_evaluate(): metrics against people, shared by Python users, commands and reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from errata.core.parameters import require
from errata.core.stats import Progress, Seed
from errata.data import Judgment, Members, Scores
from errata.human import DEFAULT_RANKER, Ranker, compare, parse_ranker, rank
from errata.human.comparisons import Comparisons, Unit
from errata.meta.matching import MatchedScores, match, match_comparisons
from errata.meta.metric_matrix import MetricMatrix, match_metrics, metric_matrix
from errata.meta.sentence_level import (
    ConventionName,
    RatingLevels,
    SentenceLevels,
    rating_levels,
    sentence_levels,
)
from errata.meta.system_level import Over, SystemLevel, system_level

DEFAULT_CONVENTIONS: tuple[ConventionName, ...] = ("noties", "hties", "tau_b", "accuracy")


@dataclass(frozen=True, eq=False)
class MetaEvaluation:
    """Metrics against people: each result is computed when it is first read.

    The fields are the arguments of `meta_evaluate`. A result is None where the input it needs is
    missing.
    """

    metrics: tuple[Scores, ...]
    judgments: tuple[Judgment, ...] | None
    human: Scores | None
    ranker: Ranker
    members: Members
    unit: Unit
    over: Over
    conventions: tuple[ConventionName, ...]
    hide: tuple[str, ...]
    common: bool
    origin: tuple[str, ...]
    resamples: int
    confidence: float
    rng: Seed
    threads: int | None
    progress: Progress | None

    @cached_property
    def comparisons(self) -> Comparisons | None:
        """The judgments as pairwise comparisons of systems."""
        if self.judgments is None:
            return None
        return compare(self.judgments, members=self.members, rng=self.rng, origin=self.origin)

    @cached_property
    def ranked(self) -> Scores | None:
        """The scores that the ranker computes from the judgments."""
        if self.comparisons is None:
            return None
        return rank(
            self.ranker,
            self.comparisons,
            unit=self.unit,
            resamples=self.resamples,
            rng=self.rng,
            threads=self.threads,
            progress=self.progress,
        )

    @property
    def people(self) -> Scores | None:
        """The human scores of the systems: the given ones, else those ranked from judgments."""
        return self.ranked if self.human is None else self.human

    @cached_property
    def matched(self) -> MatchedScores:
        """Metrics, and people if there are any, over the systems that all of them scored."""
        if self.people is None:
            return match_metrics(self.metrics, common=self.common, hide=self.hide)
        return match(self.people, self.metrics, common=self.common, hide=self.hide)

    @cached_property
    def systems(self) -> SystemLevel | None:
        """Correlations with people over systems, and tests between metrics."""
        if self.people is None:
            return None
        return system_level(
            self.matched,
            over=self.over,
            resamples=self.resamples,
            confidence=self.confidence,
            rng=self.rng,
        )

    @property
    def with_sentences(self) -> tuple[Scores, ...]:
        """The metrics that scored single sentences."""
        return tuple(scores for scores in self.metrics if scores.sentences is not None)

    @cached_property
    def sentences(self) -> SentenceLevels | None:
        """Agreement with the judgments of single sentences, by convention."""
        metrics = self.with_sentences
        if self.comparisons is None or not metrics:
            return None
        return sentence_levels(
            match_comparisons(self.comparisons, metrics, common=self.common, hide=self.hide),
            metrics,
            self.conventions,
            unit=self.unit,
            resamples=self.resamples,
            confidence=self.confidence,
            rng=self.rng,
        )

    @cached_property
    def ratings(self) -> RatingLevels | None:
        """Agreement with human ratings of single outputs."""
        metrics = self.with_sentences
        if self.human is None or self.human.sentences is None or not metrics:
            return None
        return rating_levels(
            match(self.human, metrics, common=self.common, hide=self.hide),
            resamples=self.resamples,
            confidence=self.confidence,
            rng=self.rng,
        )

    @cached_property
    def matrix(self) -> MetricMatrix:
        """Correlations of all metrics with each other, and with people if there are any."""
        return metric_matrix(
            self.matched,
            people=self.people is not None,
            over=self.over,
            resamples=self.resamples,
            confidence=self.confidence,
            rng=self.rng,
        )


def meta_evaluate(
    metrics: Sequence[Scores],
    judgments: Iterable[Judgment] | None = None,
    *,
    human: Scores | None = None,
    ranker: Ranker | str = DEFAULT_RANKER,
    members: Members = "all",
    unit: Unit = "sentences",
    over: Over = "systems",
    conventions: Sequence[ConventionName] = DEFAULT_CONVENTIONS,
    hide: Sequence[str] = (),
    common: bool = False,
    origin: Sequence[str] = (),
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: Seed = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> MetaEvaluation:
    """Judge metrics by their agreement with people, over systems and over sentences.

    ``metrics`` are results of `errata.evaluate`. People come as ``judgments`` (rankings, which
    ``ranker`` turns into scores of systems, see `errata.human.compare` for ``members``) or as
    ``human`` scores of systems or of single outputs. With both, ``human`` decides at system level
    and ``judgments`` at sentence level. ``over`` names what system-level intervals resample,
    ``unit`` what sentence-level intervals and rankings do. ``hide`` leaves systems out after
    ranking, ``common`` those that some side does not know. ``origin`` are facts on how the
    judgments were read, for signatures; ``progress`` follows the ranker.

    >>> import errata
    >>> corpus = errata.Corpus.from_texts(["He go ."] * 2, [["He goes ."] * 2])
    >>> good = errata.Hypotheses("good", ("He goes .", "He goes ."))
    >>> half = errata.Hypotheses("half", ("He goes .", "He go ."))
    >>> bad = errata.Hypotheses("bad", ("He go .", "Him go ."))
    >>> judgments = [
    ...     errata.Judgment("ann", i, (("good",), ("half",), ("bad",)), ranks)
    ...     for i, ranks in enumerate([(1, 1, 2), (1, 2, 3)])
    ... ]
    >>> m2 = errata.evaluate("m2", corpus, [good, half, bad], resamples=0)
    >>> found = errata.meta_evaluate([m2], judgments, resamples=0)
    >>> found.people.systems, found.systems.agreements[0].values["spearman"]
    (('bad', 'good', 'half'), 1.0)
    >>> found.sentences.levels[0].value.value
    0.8
    """
    for name in conventions:
        require("convention", name, ConventionName)
    require("over", over, Over)
    return MetaEvaluation(
        metrics=tuple(metrics),
        judgments=None if judgments is None else tuple(judgments),
        human=human,
        ranker=parse_ranker(ranker) if isinstance(ranker, str) else ranker,
        members=members,
        unit=unit,
        over=over,
        conventions=tuple(conventions),
        hide=tuple(hide),
        common=common,
        origin=tuple(origin),
        resamples=resamples,
        confidence=confidence,
        rng=rng,
        threads=threads,
        progress=progress,
    )
