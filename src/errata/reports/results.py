"""ReportInputs, and the results that sections share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from errata.comparison.compare import ScoredMetric, score_metric
from errata.comparison.gate import Bound, Condition
from errata.core.errors import DataWarning, InputError
from errata.core.stats import Progress
from errata.data import Corpus, Hypotheses, Judgment, Scores
from errata.difficulty.study import choose_annotators
from errata.edits import share_extracted
from errata.human.agreement import Agreement, judge_agreement
from errata.human.ranking import Ranking, cluster, trim_count
from errata.io.corpus import CheckReport
from errata.io.records import FileDigest
from errata.io.stored_runs import StoredRun
from errata.meta.evaluate import MetaEvaluation, meta_evaluate
from errata.meta.matching import MatchedScores
from errata.meta.metric_matrix import MetricMatrix
from errata.meta.sentence_level import SentenceLevels
from errata.meta.system_level import SystemLevel
from errata.metrics import Metric, parse
from errata.metrics.difficulty import Difficulty, DifficultyMap, build_difficulty_map
from errata.metrics.errant import Edits
from errata.scoring.tables import unique_labels
from errata.tables.table import Table


@dataclass(frozen=True)
class GateVerdict:
    """Whether thresholds hold: the table has one row per threshold."""

    passed: bool
    table: Table


@dataclass(frozen=True)
class ReportInputs:
    """The inputs of a report, all optional; sections without inputs are left out.

    ``systems`` are scored by ``metrics`` on ``corpus``; ``scores`` were computed elsewhere.
    ``judgments`` are ranked, ``human`` are people's scores of systems. The systems are compared
    with ``base``, one of them, by the metrics ``compared``, and held to the conditions ``fail_if``
    (or ``gate`` says what became of them elsewhere). ``slices`` say of every sentence what it
    belongs to, by column. ``checked`` and ``warnings`` are what was
    found in the files, ``files`` their fingerprints, ``command`` what makes the report again.
    ``people`` are settings of `errata.meta.evaluate.meta_evaluate`: the ranker, the systems hidden.
    """

    corpus: Corpus | None = None
    systems: Sequence[Hypotheses] = ()
    metrics: Sequence[Metric] = ()
    compared: Sequence[Metric] = ()
    scores: Sequence[Scores] = ()
    judgments: Sequence[Judgment] | None = None
    human: Scores | None = None
    base: str | None = None
    slices: Mapping[str, Sequence[str]] | None = None
    runs: Sequence[StoredRun] = ()
    fail_if: Sequence[Condition] = ()
    bound: Bound = "confident"
    gate: GateVerdict | None = None
    checked: CheckReport | None = None
    warnings: Sequence[str] = ()
    files: Sequence[FileDigest] = ()
    command: str = ""
    title: str = ""
    extractor: str | None = None
    people: Mapping[str, Any] = field(default_factory=dict)
    resamples: int = 1000
    confidence: float = 0.95
    rng: int = 0
    threads: int | None = None
    progress: Progress | None = None

    @property
    def interval_options(self) -> dict[str, Any]:
        """What is drawn, and the level of intervals, as functions of the library take them."""
        return {"resamples": self.resamples, "confidence": self.confidence, "rng": self.rng}

    @property
    def confidence_text(self) -> str:
        """How sure intervals are, in words (``95 %``, which no line breaks)."""
        return f"{self.confidence * 100:g}\N{NO-BREAK SPACE}%"


@contextmanager
def captured_warnings() -> Iterator[list[str]]:
    """Collect data warnings raised inside the block; they are still shown."""
    heard: list[str] = []
    with warnings.catch_warnings():
        before = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, DataWarning):
                heard.append(str(message))
            before(message, category, *place, **more)

        warnings.showwarning = show
        yield heard


T = TypeVar("T")
FEWEST_SYSTEMS = 3  # below, a correlation over systems says nothing


@dataclass(frozen=True)
class ReportResults:
    """Results by name, each computed when a section first asks for it; None where there is none.

    ``missing`` collects why something that could be expected is not there.
    """

    material: ReportInputs

    @cached_property
    def missing_notes(self) -> list[str]:
        return []

    def try_or_note(self, what: str, make: Callable[[], T]) -> T | None:
        """Return make(), or note the InputError: one failing section does not break the report."""
        try:
            return make()
        except InputError as error:
            self.missing_notes.append(f"{what}: {error}")
            return None

    @cached_property
    def scored(self) -> tuple[ScoredMetric, ...]:
        """Every metric with its scores and counts of the systems."""
        given = self.material
        if given.corpus is None or not given.systems:
            return ()
        return tuple(
            score_metric(
                metric,
                given.corpus,
                given.systems,
                given.resamples,
                given.rng,
                threads=given.threads,
                progress=given.progress,
            )
            for metric in given.metrics
        )

    @cached_property
    def scores(self) -> tuple[Scores, ...]:
        """The scores of every metric, computed and read; those that can be computed."""
        found = [each.scores for each in self.scored]
        return tuple(unique_labels([*self.material.scores, *found]))

    def rank_and_cluster(self, scores: Scores) -> Ranking | None:
        """A metric's rank ranges and clusters, where enough was resampled."""
        drawn = scores.resampled
        if drawn is None or len(drawn) <= 2 * trim_count(len(drawn), self.material.confidence):
            return None
        return cluster(scores, confidence=self.material.confidence)

    @cached_property
    def rankings(self) -> dict[str, Ranking]:
        """The ranking of each metric by its label."""
        found = {scores.label: self.rank_and_cluster(scores) for scores in self.scores}
        return {label: ranking for label, ranking in found.items() if ranking is not None}

    @cached_property
    def meta(self) -> MetaEvaluation:
        """Metrics against people, as `errata meta` computes it."""
        given = self.material
        return meta_evaluate(
            self.scores,
            given.judgments or None,
            human=given.human,
            **given.people,
            **given.interval_options,
            threads=given.threads,
        )

    @property
    def human_scores(self) -> Scores | None:
        """The human scores of systems: ranked from judgments if there are any, else as given."""
        return self.meta.ranked if self.material.judgments else self.material.human

    @cached_property
    def human_ranking(self) -> Ranking | None:
        people = self.human_scores
        return None if people is None else self.rank_and_cluster(people)

    @cached_property
    def agreement(self) -> Agreement | None:
        judgments = self.material.judgments
        if not judgments or len({judgment.judge for judgment in judgments}) < 2:
            return None
        return judge_agreement(judgments)

    @cached_property
    def matched_scores(self) -> MatchedScores | None:
        """People and metrics over the same systems, if there are enough systems."""
        if self.human_scores is None or not self.scores:
            return None
        matched = self.try_or_note("metrics against people", lambda: self.meta.matched)
        return matched if matched is not None and len(matched) >= FEWEST_SYSTEMS else None

    @cached_property
    def system_agreement(self) -> SystemLevel | None:
        """Correlations with people over systems."""
        if self.matched_scores is None:
            return None
        return self.try_or_note("agreement with people over systems", lambda: self.meta.systems)

    @cached_property
    def sentence_agreement(self) -> SentenceLevels | None:
        """Agreement with the judgments of single sentences."""
        return self.try_or_note("agreement with people on sentences", lambda: self.meta.sentences)

    @cached_property
    def metric_matrix(self) -> MetricMatrix | None:
        """Correlations between metrics, and with people if enough systems were judged."""
        if len(self.scores) < 2 or len(self.scores[0].systems) < FEWEST_SYSTEMS:
            return None
        meta = self.meta
        if self.matched_scores is None:
            meta = replace(meta, judgments=None, human=None)
        return self.try_or_note("metrics against each other", lambda: meta.matrix)

    @cached_property
    def reference_corpus(self) -> Corpus | None:
        """The corpus, where every sentence has a reference."""
        corpus = self.material.corpus
        return corpus if corpus is not None and len(corpus) and all(corpus.references) else None

    @property
    def edit_metric(self) -> Edits:
        """The metric by which single edits are judged: that of `errata score --by-type`."""
        asked = [metric for metric in self.material.metrics if isinstance(metric, Edits)]
        metric = asked[0] if asked else parse("errant")
        assert isinstance(metric, Edits)
        extractor = self.material.extractor
        return metric if asked or extractor is None else metric.extracting(extractor)

    @cached_property
    def difficulty(self) -> tuple[DifficultyMap, Corpus, str] | None:
        """The difficulty of errors, the corpus, and a remark on its annotators."""
        corpus, systems = self.reference_corpus, self.material.systems
        if corpus is None or len(systems) < 2:
            return None

        def build() -> tuple[DifficultyMap, Corpus, str]:
            kept, remark = choose_annotators(corpus, every=bool(corpus.kept))
            metric = Difficulty()
            if self.material.extractor is not None:
                metric = metric.extracting(self.material.extractor)
            share_extracted(corpus, kept, metric.extractor)
            return build_difficulty_map(kept, systems, metric), kept, remark

        return self.try_or_note("difficulty", build)

    def leader(self) -> str | None:
        """The system that the first metric puts first, else people."""
        first = self.scores[0] if self.scores else self.human_scores
        return None if first is None or not len(first) else first.systems[first.order[0]]
