"""Counts of parts, choices and sums of every system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from errata.core.errors import InputError
from errata.core.exact_sums import ExactSums, select_reference
from errata.core.stats import Floats, Ints
from errata.data import Corpus, Hypotheses
from errata.metrics.base import Before, Metric, Unsettled, scored_alone
from errata.scoring.contract import validate_choice, validate_counts
from errata.scoring.resampling import LIMITS, BootstrapLimits, GrowingHistogram, Histogram
from errata.scoring.results import Facts, different_draws

# ---- What sentences take of their counts: sums, means over draws, and scores of single
# sentences.


def chosen_counts(counts: Floats, choice: Ints) -> Floats:
    """Chosen counts of each sentence, mean over draws: ``[sentence, k]``."""
    if len(choice) == 1:
        found = select_reference(counts, choice[0])
        nothing = choice[0] < 0
        return np.where(nothing[:, None], 0.0, found) if nothing.any() else found
    picked = np.zeros((counts.shape[0], counts.shape[2]))
    # 0 for missing references, which no choice takes: 0 times NaN would be NaN.
    known = np.where(np.isnan(counts).all(axis=2, keepdims=True), 0.0, counts)
    for r in range(counts.shape[1]):
        share = (choice == r).mean(axis=0)
        picked += share[:, None] * known[:, r]
    return picked


def sentence_scores(
    metric: Metric, counts: Floats, annotators: Floats | None = None
) -> tuple[Floats, dict[str, Floats | Ints]]:
    """Scores and further figures of every sentence scored alone (mean over draws).

    Given ``annotators`` by column, the annotator whose reference was taken is among the figures.
    """
    single = metric.for_sentences
    choice = validate_choice(single, counts, single.choose(counts))
    mean = scored_alone(metric, counts, choice)
    more = dict(single.figures(chosen_counts(counts, choice)))
    if annotators is not None and metric.columns == "annotators" and len(choice) == 1:
        [taken] = choice
        named = annotators[np.arange(len(taken)), np.maximum(taken, 0)]
        named = np.where(taken < 0, np.nan, named)
        more["annotator"] = named if np.isnan(named).any() else named.astype(np.int64)
    return mean, more


# ---- The choices and the sums of one system, part by part.


@dataclass(frozen=True, eq=False)
class SystemAccumulator:
    """How far a system was read: so many sentences, and the sums ``[draw, k]`` of what they took.

    >>> from errata.metrics import parse
    >>> counts = np.array([[[1, 1, 2], [0, 0, 1.0]], [[0, 1, 1], [0, 0, 0.0]]])
    >>> start = SystemAccumulator(parse("m2"))
    >>> whole = start.take(counts)[1]
    >>> parts = start.take(counts[:1])[1].take(counts[1:])[1]
    >>> whole.totals.tolist(), parts.totals.tolist()
    ([[1.0, 1.0, 2.0]], [[1.0, 1.0, 2.0]])
    """

    metric: Metric
    sentences: int = 0
    sums: ExactSums | None = None

    @property
    def before(self) -> Before | None:
        """What a choice by running totals needs to know of the sentences so far."""
        if self.metric.scope != "running":
            return None
        sums = self.sums or ExactSums.nothing(1, len(self.metric.statistics))
        return Before(self.sentences, sums.exactly())

    def take(self, counts: Floats) -> tuple[Ints, SystemAccumulator]:
        """The choice ``[draw, sentence]`` of the next sentences, and how far it is then."""
        choice = validate_choice(self.metric, counts, self.metric.choose(counts, self.before))
        sums = ExactSums.of(counts, choice)
        return choice, replace(
            self,
            sentences=self.sentences + len(counts),
            sums=sums if self.sums is None else self.sums + sums,
        )

    @property
    def totals(self) -> Floats:
        """The sums ``[draw, k]`` as numbers; draws that are all alike are one."""
        if self.sums is None:
            return np.zeros((1, len(self.metric.statistics)))
        return different_draws(self.sums.floats)


def chosen_counts_by_part(start: SystemAccumulator, parts: Iterable[Floats]) -> Iterator[Floats]:
    """What the sentences of each part took, ``[sentence, k]``, mean over draws."""
    at = start
    for counts in parts:
        if not len(counts):
            continue
        choice, at = at.take(counts)
        yield chosen_counts(counts, choice)


class CountParts(Protocol):
    """The counts of one system by one metric, part by part in order, as often as they are asked."""

    def __iter__(self) -> Iterator[Floats]: ...


@dataclass(frozen=True, eq=False)
class Accumulator:
    """What the sentences so far came to, for all systems of a metric.

    ``systems`` are the sums of each, ``tallies`` the histogram of what their sentences took, all
    systems together; neither is there where only the whole decides (`undecided`).

    >>> from errata.metrics import parse
    >>> one, two = np.array([[[1, 1, 2.0]]]), np.array([[[0, 1, 1.0]]])
    >>> at = Accumulator.start(parse("m2"), 2).take([one, two]).take([two, one])
    >>> at.sentences, [each.totals.tolist() for each in at.systems]
    (2, [[[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]]])
    """

    systems: tuple[SystemAccumulator, ...]
    tallies: GrowingHistogram
    sentences: int = 0
    undecided: bool = False

    @classmethod
    def start(cls, metric: Metric, systems: int, limits: BootstrapLimits = LIMITS) -> Accumulator:
        """Before the first part."""
        return cls(
            (SystemAccumulator(metric),) * systems,
            GrowingHistogram(systems * len(metric.statistics), limits),
            undecided=metric.scope == "corpus" or metric.unsettled is not None,
        )

    def take(self, counts: Sequence[Floats]) -> Accumulator:
        """Return the accumulator after the next part, given the counts of every system."""
        sizes = {len(each) for each in counts}
        if len(counts) != len(self.systems) or len(sizes) != 1:
            raise InputError(
                f"a part has counts of {len(counts)} systems and of {sorted(sizes)} sentences",
                remedy="every system has as many sentences in a part",
            )
        if self.undecided or sizes == {0}:
            return replace(self, sentences=self.sentences + sizes.pop())
        taken = [at.take(each) for at, each in zip(self.systems, counts, strict=True)]
        tallies = self.tallies
        if tallies.levels is not None:
            chosen = zip(counts, taken, strict=True)
            picked = [chosen_counts(each, choice) for each, (choice, _) in chosen]
            tallies = tallies.added(Histogram.of(np.concatenate(picked, axis=1)))
        return Accumulator(
            tuple(after for _, after in taken), tallies, self.sentences + sizes.pop()
        )


# ---- A part of a corpus: its counts by every metric, and its facts.


def count_part(
    metrics: Sequence[Metric],
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    guard: bool = True,
    threads: int | None = None,
) -> tuple[list[list[Floats]], Facts]:
    """The counts ``[metric][system]`` of a part of a corpus, checked, and its facts.

    A part may have no sentences. `check_divisible` refuses metrics that cannot be counted in parts.

    >>> from errata.metrics import parse
    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> counts, facts = count_part([parse("m2")], corpus, [Hypotheses("A", ("He goes .",))])
    >>> counts[0][0].tolist(), facts.sentences, facts.describe(parse("m2")).context[0]
    ([[[1.0, 2.0, 1.0]]], 1, 'edits:aligned')
    """
    if not len(corpus):
        nothing = [[np.zeros((0, 1, len(m.statistics))) for _ in systems] for m in metrics]
        return nothing, Facts.of(metrics, corpus, systems)
    counts = [
        validate_counts(metric, corpus, systems, guard=guard and not at, threads=threads, part=True)
        for at, metric in enumerate(metrics)
    ]
    return counts, Facts.of(metrics, corpus, systems)


def check_divisible(metric: Metric) -> None:
    """Refuse a metric whose counts of a sentence depend on others, before any part is counted."""
    if not metric.divisible:
        raise InputError(
            f"{metric.label} looks at the whole corpus at once and cannot be scored in parts",
            remedy="score fewer sentences with it, all in memory",
        )


# ---- Parts whose counts the whole corpus settles, as parts like all others.


@dataclass(frozen=True, eq=False)
class _Filled:
    """The parts that have sentences."""

    parts: CountParts

    def __iter__(self) -> Iterator[Floats]:
        return (part for part in self.parts if len(part))


@dataclass(frozen=True, eq=False)
class _SettledParts:
    """The counts of one system, settled as often as they are asked for."""

    unsettled: Unsettled
    parts: CountParts
    whole: tuple[int, ...]

    def __iter__(self) -> Iterator[Floats]:
        return (self.unsettled.settle(part, self.whole) for part in self.parts)


def settle_parts(metric: Metric, several: list[CountParts]) -> list[CountParts]:
    """The parts of every system; unsettled ones are gone through for what they say together."""
    unsettled = metric.unsettled
    if unsettled is None:
        return several
    filled = [_Filled(parts) for parts in several]
    return [_SettledParts(unsettled, parts, unsettled.summarise(parts)) for parts in filled]
