"""Metric: count, choose, score, facts, describe.

``count`` turns a corpus and one system's output into sufficient statistics per sentence and
reference; ``choose`` says which reference each sentence takes; ``score`` is a pure function of
summed statistics. Corpus scores, sentence scores, bootstrap intervals and distributed runs all
read the same counts (see `errata.scoring.evaluate`).

A metric is a frozen dataclass: its fields are its parameters, and its repr is its signature and
what `errata.parse` reads. It says four things (`name`, `statistics`, `count`, `score`), and more
where it differs from what most metrics do; there is nothing else to override.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from errata.core.errors import InputError
from errata.core.exact_sums import select_reference
from errata.core.parallel import parallel_map
from errata.core.parameters import Parameterised
from errata.core.parameters import parameterised as metric
from errata.core.registry import source_files
from errata.core.stats import Floats, Ints, Progress, ratio
from errata.data import Corpus, Hypotheses
from errata.data.corpus import BATCH

Columns = Literal["annotators", "readings", "none"]
TOGETHER = 16  # systems counted together per batch: enough to share work, and bounded memory


# What the reference that a sentence takes depends on: the sentence alone, the sentences before it,
# or the whole corpus.
Scope = Literal["sentence", "running", "corpus"]


class Before(NamedTuple):
    """The sentences before a part of a corpus: how many, and the sums of what they took.

    Sums are exact, so that a choice does not depend on how the corpus was cut.
    """

    sentences: int
    totals: tuple[Fraction, ...]


# What a metric knows of its data, by name: whole numbers, which add up over the parts of a corpus,
# and frozen sets of strings, which are united.
MetricFacts = Mapping[str, Any]


class Description(NamedTuple):
    """What the data add to a signature, and notes for readers of the scores."""

    context: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def add_facts(first: MetricFacts, second: MetricFacts) -> MetricFacts:
    """Return the facts of two parts of a corpus together.

    >>> add_facts({"cut": 1, "kinds": frozenset("a")}, {"cut": 2, "kinds": frozenset("a")})
    {'cut': 3, 'kinds': frozenset({'a'})}
    """
    both = dict(first)
    for name, fact in second.items():
        if name not in both:
            both[name] = fact
        elif isinstance(fact, frozenset):
            both[name] |= fact
        else:
            both[name] += fact
    return both


class Metric(Parameterised, ABC):
    """One way of scoring a system; see the module for the contract.

    ``name`` is what users write; ``statistics`` names the k counts. Missing references are NaN
    in the counts and are never chosen.
    """

    # What every metric says.

    @property
    @abstractmethod
    def statistics(self) -> tuple[str, ...]:
        """The names of the sufficient statistics, in the order of the last axis of `count`."""

    @abstractmethod
    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Sufficient statistics ``[sentence, reference, k]``; a missing reference is NaN.

        A number that is not whole is kept to ``2 ** -60``, so that sums are exact
        (`errata.core.exact_sums`).
        """

    @abstractmethod
    def score(self, totals: Floats) -> Floats:
        """The score of summed statistics, ``[..., k] -> [...]``; higher is better."""

    # What it says where it differs.

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The reference each sentence takes: ``[draw, sentence]``; -1 takes none.

        Several draws are several equally valid choices; the corpus score is their mean. ``before``
        is given where a part of a corpus is decided and the scope is ``"running"``.
        """
        return np.zeros((1, counts.shape[0]), np.int64)

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Further figures of the same totals (P, R, counts...), in the order to be shown.

        What counts something is given as whole numbers.
        """
        return {}

    @property
    def for_sentences(self) -> Self:
        """The same metric, set for single sentences: it reads the same counts."""
        return self

    @property
    def scope(self) -> Scope:
        """What `choose` looks at: each sentence alone, those before it, or the whole corpus."""
        return "sentence"

    @property
    def divisible(self) -> bool:
        """Whether parts of a corpus have the same counts as the whole."""
        return True

    @property
    def unsettled(self) -> Unsettled | None:
        """How parts are counted, where only the whole corpus settles their counts."""
        return None

    @property
    def files(self) -> tuple[str, ...]:
        """The files that decide numbers beside the corpus: what it reads, and a user's own code."""
        return source_files(type(self))

    @property
    def columns(self) -> Columns:
        """What the second axis of `count` is.

        ``"annotators"``, in the order of their numbers; other ``"readings"`` of the references,
        mixed or merged; or ``"none"``, where the metric needs no references.
        """
        return "annotators"

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Return the counts of every system; override it where counting all together is cheaper."""
        return count_each(self.count, corpus, systems, threads=threads, progress=progress)

    @property
    def headline(self) -> str:
        """The name of what `score` returns, as a table heads it."""
        return self.name

    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        """What `describe` needs to know of these data; the facts of parts add up to the whole's."""
        return {}

    def describe(self, facts: MetricFacts) -> Description:
        """What the data add to the signature, and notes for readers (a limit that was hit, say)."""
        return Description()


def describe_data(metric: Metric, corpus: Corpus, systems: Sequence[Hypotheses]) -> Description:
    """Return what a metric says of a whole corpus and its outputs."""
    return metric.describe(metric.facts(corpus, systems))


def count_each(
    count: Callable[[Corpus, Hypotheses], Floats],
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Floats]:
    """Count every system separately, batch by batch, in threads."""
    # To share out a few thousand sentences pays only where somebody shares in them.
    batches = (corpus,) if threads == 1 and len(corpus) <= 16 * BATCH else corpus.batches
    starts = np.cumsum([0, *map(len, batches)]).tolist()
    jobs = [
        (batch, hypotheses[a:b])
        for hypotheses in systems
        for batch, a, b in zip(batches, starts[:-1], starts[1:], strict=True)
    ]
    parts = parallel_map(
        lambda job: count(*job),
        jobs,
        threads=threads,
        progress=progress,
        size=lambda job: len(job[0]),
    )
    n = len(batches)
    return [join_counts(parts[i : i + n]) for i in range(0, len(parts), n)]


def count_together(
    count: Callable[[Corpus, Sequence[Hypotheses]], list[Floats]],
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Floats]:
    """Count several systems at once, batch by batch, in threads: what they share only once."""
    batches = corpus.batches
    starts = np.cumsum([0, *map(len, batches)]).tolist()
    groups = [systems[i : i + TOGETHER] for i in range(0, len(systems), TOGETHER)]
    jobs = [
        (batch, [hypotheses[a:b] for hypotheses in group])
        for group in groups
        for batch, a, b in zip(batches, starts[:-1], starts[1:], strict=True)
    ]
    parts = parallel_map(
        lambda job: count(*job),
        jobs,
        threads=threads,
        progress=progress,
        size=lambda job: len(job[0]) * len(job[1]),
    )
    n = len(batches)
    return [
        join_counts([part[k] for part in parts[g * n : (g + 1) * n]])
        for g, group in enumerate(groups)
        for k in range(len(group))
    ]


def scored_alone(metric: Metric, counts: Floats, choice: Ints | None = None) -> Floats:
    """The scores of every sentence scored alone, mean over draws; NaN where none can be had.

    ``choice`` is that of ``metric.for_sentences``, where it is known.
    """
    single = metric.for_sentences
    choice = single.choose(counts) if choice is None else choice
    scores = np.zeros(choice.shape)
    for draw, chosen in enumerate(choice):
        there = chosen >= 0
        if there.all():
            scores[draw] = single.score(select_reference(counts, chosen))
        else:
            scores[draw, there] = single.score(select_reference(counts[there], chosen[there]))
    weight = (choice >= 0).sum(axis=0)
    return np.where(weight > 0, scores.sum(axis=0) / np.maximum(weight, 1), np.nan)


def join_counts(parts: Sequence[Floats]) -> Floats:
    """Put counts of consecutive batches together; missing references are NaN.

    >>> join_counts([np.ones((1, 1, 3)), np.ones((2, 2, 3))]).shape
    (3, 2, 3)
    """
    if len(parts) == 1:
        return parts[0]
    most = max(part.shape[1] for part in parts)
    padded = [
        part
        if part.shape[1] == most
        else np.pad(part, ((0, 0), (0, most - part.shape[1]), (0, 0)), constant_values=np.nan)
        for part in parts
    ]
    return np.concatenate(padded)


def by_name(statistics: Sequence[str], totals: Floats) -> dict[str, Floats]:
    """Statistics by their names instead of their places.

    >>> by_name(("TP", "FP"), np.array([3.0, 1.0]))["FP"].item()
    1.0
    """
    return {name: totals[..., k] for k, name in enumerate(statistics)}


def stack_counts(statistics: Sequence[str], columns: Mapping[str, ArrayLike]) -> Floats:
    """The counts of one reading, ``[sentence, 1, k]``, from columns by name."""
    return np.stack([np.asarray(columns[name], np.float64) for name in statistics], axis=-1)[
        :, None, :
    ]


def append_score(counts: Floats, own: Floats) -> Floats:
    """Counts with what a mean over sentences needs: the sentence's own score, and one sentence.

    A reference that is missing (NaN) has neither.
    """
    there = np.where(np.isnan(own), np.nan, 1.0)
    return np.concatenate([counts, own[..., None], there[..., None]], axis=-1)


def mean_own_score(totals: Floats) -> Floats:
    """The mean of the sentences' own scores, from sums of what `append_score` gives.

    >>> mean_own_score(np.array([7.0, 1.5, 2.0])).item()
    0.75
    """
    return ratio(totals[..., -2], totals[..., -1], 0.0)


def fixed_point(values: Floats, bits: int = 30) -> Floats:
    """Values as multiples of ``2 ** -bits``: their sums do not depend on the order.

    >>> fixed_point(np.array([0.3]), bits=2).tolist()
    [0.25]
    """
    return np.asarray(np.rint(values * 2.0**bits) / 2.0**bits)


def to_int(count: Floats) -> Ints:
    """A count as whole numbers."""
    return np.rint(count).astype(np.int64)


def precision_recall(tp: Floats, fp: Floats, fn: Floats, empty: float) -> tuple[Floats, Floats]:
    """``P = TP / (TP + FP)`` and ``R = TP / (TP + FN)``, ``empty`` where nothing is there.

    >>> [x.item() for x in precision_recall(*np.array([3.0, 1.0, 0.0]), 1.0)]
    [0.75, 1.0]
    """
    return ratio(tp, tp + fp, empty), ratio(tp, tp + fn, empty)


def check_beta(metric: str, beta: float) -> None:
    """Refuse a beta with which F could not be computed, or would be P or R alone.

    >>> check_beta("m2", 0.5)
    """
    number = isinstance(beta, int | float) and not isinstance(beta, bool)
    if not (number and 0.001 <= beta <= 1000):
        raise InputError(
            f"{metric}: beta={beta!r} is not between 0.001 and 1000",
            remedy="use 0.5 to weigh precision twice as much as recall, or 1",
        )


def f_beta(precision: Floats | Ints, recall: Floats | Ints, beta: float) -> Floats:
    """``(1 + β²)PR / (β²P + R)``, 0 where both are 0 (the M2 scorer's rule).

    >>> float(f_beta(np.array(0.5), np.array(0.25), 0.5))
    0.4166666666666667
    """
    square = beta * beta
    return ratio((1 + square) * precision * recall, square * precision + recall, 0.0)


# ---- Counts of a part of a corpus that only the whole corpus settles.


class Unsettled(ABC):
    """How a metric counts parts, and what makes counts of them (see `Metric.unsettled`).

    Unsettled counts are ``[sentence, reference, number]``; how many numbers there are may differ
    from part to part. A missing reference has NaN.
    """

    @abstractmethod
    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """The unsettled counts of every system."""

    @abstractmethod
    def summarise(self, parts: Iterable[Floats]) -> tuple[int, ...]:
        """What the parts of one system say together; they may be gone through again."""

    @abstractmethod
    def settle(self, part: Floats, whole: tuple[int, ...]) -> Floats:
        """The counts of a part, with what the whole said."""


__all__ = [
    "Before",
    "Columns",
    "Description",
    "Metric",
    "MetricFacts",
    "Scope",
    "add_facts",
    "append_score",
    "by_name",
    "check_beta",
    "count_each",
    "count_together",
    "describe_data",
    "f_beta",
    "fixed_point",
    "join_counts",
    "mean_own_score",
    "metric",
    "precision_recall",
    "scored_alone",
    "stack_counts",
    "to_int",
]
