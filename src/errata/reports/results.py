"""ReportInputs, and the results that sections share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TextIO, TypeVar

from errata.comparison.gate import Bound, Condition
from errata.core.errors import DataWarning, InputError
from errata.core.stats import Progress
from errata.data import Corpus, Hypotheses, Judgment, Members, Scores
from errata.difficulty.study import with_annotators
from errata.edits import share_extracted
from errata.human import compare, parse_ranker, rank
from errata.human.agreement import Agreement, judge_agreement
from errata.human.comparisons import Comparisons, Unit
from errata.human.ranking import Ranking, cluster, trim_count
from errata.io.corpus import CheckReport
from errata.io.records import FileDigest
from errata.io.stored_runs import StoredRun
from errata.meta.matching import MatchedScores, match, match_comparisons
from errata.meta.metric_matrix import MetricMatrix, match_metrics, metric_matrix
from errata.meta.sentence_level import (
    ConventionName,
    RatingLevels,
    SentenceLevels,
    rating_levels,
    sentence_levels,
)
from errata.meta.system_level import SystemLevel, system_level
from errata.metrics import Metric, parse
from errata.metrics.difficulty import Difficulty, DifficultyMap, build_difficulty_map
from errata.metrics.errant import Edits
from errata.scoring.evaluate import evaluate
from errata.scoring.tables import unique_labels
from errata.tables.table import Table

# ---- What a report is made from: whatever was given, and how it is to be counted.


@dataclass(frozen=True)
class GateVerdict:
    """Whether thresholds hold: the table has one row per threshold."""

    passed: bool
    table: Table


@dataclass(frozen=True)
class ReportInputs:
    """Everything a report may be told from; nothing but what is there is told.

    ``systems`` are scored by ``metrics`` on ``corpus``; ``scores`` were computed elsewhere.
    ``judgments`` are ranked, ``human`` are people's scores of systems. The systems are compared
    with ``base``, one of them, by the metrics ``compared``, and held to the conditions ``fail_if``
    (or ``gate`` says what became of them elsewhere). ``slices`` say of every sentence what it
    belongs to, by column. ``checked`` and ``warnings`` are what was
    found in the files, ``files`` their fingerprints, ``command`` what makes the report again.
    ``origin`` is what a signature says of how judgments were read; ``hide`` and ``common`` choose
    the systems of metrics against people.
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
    ranker: str = "expected_wins"
    members: Members = "all"
    unit: Unit = "sentences"
    origin: Sequence[str] = ()
    hide: Sequence[str] = ()
    common: bool = False
    resamples: int = 1000
    confidence: float = 0.95
    seed: int = 0
    threads: int | None = None
    progress: Progress | None = None

    @property
    def level(self) -> str:
        """How sure intervals are, in words (``95 %``, which no line breaks)."""
        return f"{self.confidence * 100:g}\N{NO-BREAK SPACE}%"


@contextmanager
def captured_warnings() -> Iterator[list[str]]:
    """Collect what is warned of data within, and let it be shown as before."""
    heard: list[str] = []
    with warnings.catch_warnings():
        before = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, DataWarning):
                heard.append(str(message))
            before(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield heard


T = TypeVar("T")
# What `errata meta` judges sentences by unless asked for others.
CONVENTIONS: tuple[ConventionName, ...] = ("noties", "hties", "tau_b", "accuracy")
FEWEST_SYSTEMS = 3  # below, a correlation over systems says nothing


@dataclass(frozen=True)
class ReportResults:
    """Results by name, each computed when a section first asks for it; None where there is none.

    ``missing`` collects why something that could be expected is not there.
    """

    material: ReportInputs

    @cached_property
    def missing(self) -> list[str]:
        return []

    def or_say(self, what: str, make: Callable[[], T]) -> T | None:
        """A result, or a word on why there is none: one section never costs the others."""
        try:
            return make()
        except InputError as error:
            self.missing.append(f"{what}: {error}")
            return None

    @cached_property
    def scores(self) -> tuple[Scores, ...]:
        """The scores of every metric, computed and read; those that can be computed."""
        given = self.material
        found: list[Scores] = []
        corpus = given.corpus
        if corpus is not None and given.systems:
            found = [
                evaluate(
                    metric,
                    corpus,
                    given.systems,
                    resamples=given.resamples,
                    rng=given.seed,
                    threads=given.threads,
                    progress=given.progress,
                )
                for metric in given.metrics
            ]
        return tuple(unique_labels([*given.scores, *found]))

    def ranked(self, scores: Scores) -> Ranking | None:
        """A metric's rank ranges and clusters, where enough was resampled."""
        drawn = scores.resampled
        if drawn is None or len(drawn) <= 2 * trim_count(len(drawn), self.material.confidence):
            return None
        return cluster(scores, confidence=self.material.confidence)

    @cached_property
    def rankings(self) -> dict[str, Ranking]:
        """The ranking of each metric by its label."""
        found = {scores.label: self.ranked(scores) for scores in self.scores}
        return {label: ranking for label, ranking in found.items() if ranking is not None}

    @cached_property
    def comparisons(self) -> Comparisons | None:
        """Judgments as comparisons of pairs, as `errata rank` makes them."""
        given = self.material
        if not given.judgments:
            return None
        return compare(
            given.judgments,
            members=given.members,
            rng=given.seed,
            keep=given.unit,
            origin=given.origin,
        )

    @cached_property
    def people(self) -> Scores | None:
        """People's scores of systems: ranked from judgments, else as they were given."""
        given = self.material
        if self.comparisons is None:
            return given.human
        return rank(
            parse_ranker(given.ranker),
            self.comparisons,
            unit=given.unit,
            resamples=given.resamples,
            rng=given.seed,
            threads=given.threads,
        )

    @cached_property
    def people_ranked(self) -> Ranking | None:
        people = self.people
        return None if people is None else self.ranked(people)

    @cached_property
    def agreement(self) -> Agreement | None:
        judgments = self.material.judgments
        if not judgments or len({judgment.judge for judgment in judgments}) < 2:
            return None
        return judge_agreement(judgments)

    @cached_property
    def paired(self) -> MatchedScores | None:
        """People and metrics over the same systems, where there are enough of them."""
        given = self.material
        people = given.human if given.human is not None else self.people
        if people is None or not self.scores:
            return None
        found = self.or_say(
            "metrics against people",
            lambda: match(people, self.scores, common=given.common, hide=given.hide),
        )
        return found if found is not None and len(found) >= FEWEST_SYSTEMS else None

    @cached_property
    def system_level(self) -> SystemLevel | None:
        given, paired = self.material, self.paired
        if paired is None:
            return None
        return self.or_say(
            "agreement with people over systems",
            lambda: system_level(
                paired, resamples=given.resamples, confidence=given.confidence, rng=given.seed
            ),
        )

    @cached_property
    def sentence_level(self) -> SentenceLevels | None:
        """Metrics against judgments of single sentences."""
        given = self.material
        by_sentence = [scores for scores in self.scores if scores.sentences is not None]
        if not given.judgments or not by_sentence:
            return None

        def found() -> SentenceLevels:
            # Every row is kept here, as `errata meta` does: the unit is drawn from whole rankings.
            whole = compare(
                given.judgments or (), members=given.members, rng=given.seed, origin=given.origin
            )
            left = match_comparisons(whole, by_sentence, common=given.common, hide=given.hide)
            return sentence_levels(
                left,
                by_sentence,
                CONVENTIONS,
                unit=given.unit,
                resamples=given.resamples,
                confidence=given.confidence,
                rng=given.seed,
            )

        return self.or_say("agreement with people on sentences", found)

    @cached_property
    def rating_level(self) -> RatingLevels | None:
        """Metrics against people's ratings of single outputs, where they gave some."""
        given, human = self.material, self.material.human
        by_sentence = [scores for scores in self.scores if scores.sentences is not None]
        if human is None or human.sentences is None or not by_sentence:
            return None

        def found() -> RatingLevels:
            paired = match(human, by_sentence, common=given.common, hide=given.hide)
            return rating_levels(
                paired, resamples=given.resamples, confidence=given.confidence, rng=given.seed
            )

        return self.or_say("agreement with ratings", found)

    @cached_property
    def matrix(self) -> MetricMatrix | None:
        """Metrics against each other, and against people where these have a say."""
        given, people = self.material, self.paired is not None
        if len(self.scores) < 2 or len(self.scores[0].systems) < FEWEST_SYSTEMS:
            return None

        def found() -> MetricMatrix:
            both = self.paired or match_metrics(self.scores, common=given.common, hide=given.hide)
            return metric_matrix(
                both,
                people=people,
                resamples=given.resamples,
                confidence=given.confidence,
                rng=given.seed,
            )

        return self.or_say("metrics against each other", found)

    @cached_property
    def references(self) -> Corpus | None:
        """The corpus, where every sentence has a reference."""
        corpus = self.material.corpus
        return corpus if corpus is not None and len(corpus) and all(corpus.references) else None

    @property
    def edits(self) -> Edits:
        """The metric by which single edits are judged: that of `errata score --by-type`."""
        asked = [metric for metric in self.material.metrics if isinstance(metric, Edits)]
        metric = asked[0] if asked else parse("errant")
        assert isinstance(metric, Edits)
        extractor = self.material.extractor
        return metric if asked or extractor is None else metric.extracting(extractor)

    @cached_property
    def difficulty(self) -> tuple[DifficultyMap, Corpus, str] | None:
        """The map of which errors are hard, the corpus it is of, and who annotated."""
        corpus, systems = self.references, self.material.systems
        if corpus is None or len(systems) < 2:
            return None

        def found() -> tuple[DifficultyMap, Corpus, str]:
            kept, remark = with_annotators(corpus, every=bool(corpus.kept))
            metric = Difficulty()
            if self.material.extractor is not None:
                metric = metric.extracting(self.material.extractor)
            share_extracted(corpus, kept, metric.extractor)
            return build_difficulty_map(kept, systems, metric), kept, remark

        return self.or_say("difficulty", found)

    def leader(self) -> str | None:
        """The system that the first metric puts first, else people."""
        first = self.scores[0] if self.scores else self.people
        return None if first is None or not len(first) else first.systems[first.order[0]]

    def output_of(self, name: str) -> Hypotheses | None:
        """The output of a system."""
        return next((each for each in self.material.systems if each.system == name), None)
