"""What follows from the material of a report, computed as the commands compute it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from errata.data import Corpus, Hypotheses, Scores
from errata.edits import share_extracted
from errata.errors import InputError
from errata.evaluation import evaluate
from errata.human import compare, parse_ranker, rank
from errata.human.agreement import Agreement, judge_agreement
from errata.human.clusters import Ranking, cluster, trimmed
from errata.human.comparisons import Comparisons
from errata.meta.matrix import MetricMatrix, match_metrics, metric_matrix
from errata.meta.paired import Paired, match, match_comparisons
from errata.meta.ratings import RatingLevels, rating_levels
from errata.meta.sentences import ConventionName, SentenceLevels, sentence_levels
from errata.meta.systems import SystemLevel, system_level
from errata.metrics import parse
from errata.metrics.difficulty import Difficulty
from errata.metrics.difficulty.map import DifficultyMap, map_difficulty
from errata.metrics.errant import Edits
from errata.report.story.story_material import StoryMaterial
from errata.report.tables.scores import told_apart
from errata.studies.hard_errors import with_annotators

__all__ = ["Results"]

T = TypeVar("T")
# What `errata meta` judges sentences by unless asked for others.
CONVENTIONS: tuple[ConventionName, ...] = ("noties", "hties", "tau_b", "accuracy")
FEWEST_SYSTEMS = 3  # below, a correlation over systems says nothing


@dataclass(frozen=True)
class Results:
    """Results by name, each computed when a section first asks for it; None where there is none.

    ``missing`` collects why something that could be expected is not there.
    """

    material: StoryMaterial

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
        return tuple(told_apart([*given.scores, *found]))

    def ranked(self, scores: Scores) -> Ranking | None:
        """A metric's rank ranges and clusters, where enough was resampled."""
        drawn = scores.resampled
        if drawn is None or len(drawn) <= 2 * trimmed(len(drawn), self.material.confidence):
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
    def paired(self) -> Paired | None:
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
            return map_difficulty(kept, systems, metric), kept, remark

        return self.or_say("difficulty", found)

    def leader(self) -> str | None:
        """The system that the first metric puts first, else people."""
        first = self.scores[0] if self.scores else self.people
        return None if first is None or not len(first) else first.systems[first.order[0]]

    def output_of(self, name: str) -> Hypotheses | None:
        """The output of a system."""
        return next((each for each in self.material.systems if each.system == name), None)
