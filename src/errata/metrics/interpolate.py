"""A metric of two metrics: references and grammaticality together (Napoles et al. 2016b)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from errata.core.errors import InputError
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, Progress, ratio
from errata.data import Corpus, Hypotheses
from errata.metrics.base import (
    Columns,
    Description,
    Metric,
    MetricFacts,
    Unsettled,
    by_name,
    files_beside,
    fixed_point,
    metric,
    scored_alone,
    stack_counts,
    unsettled_of,
)


@metric
class Interpolate(Metric):
    """``weight * first + (1 - weight) * second``, of sentence scores, averaged over sentences.

    Napoles, Sakaguchi & Tetreault (2016b) put a metric with references first and one without
    second, with weights of .04 to .09 for GLEU and .01 for I-measure: the checker decides, the
    references break ties. ``first`` and ``second`` are signatures, as ``'gleu'`` or
    ``'errors(checker=harper)'``. Both should be on one scale; nothing is rescaled. A sentence that
    one of them cannot score is left out of both.

    >>> from errata.scoring.evaluate import evaluate
    >>> corpus = Corpus.from_texts(["He go home now ."], [["He goes home now ."]])
    >>> both = "interpolate(first='m2', second='green(n=2)', weight=0.25)"
    >>> round(evaluate(both, corpus, {"A": corpus.sources})["A"], 4)
    0.3953
    """

    name = "interpolate"
    about = About(
        paper="Napoles et al. 2016b",
        range="between those of the two",
        needs=("what the two metrics need",),
    )

    first: str = "gleu"
    second: str = "errors"
    weight: float = 0.04

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.weight <= 1:
            raise InputError(f"interpolate: weight={self.weight} is not between 0 and 1")
        for text in (self.first, self.second):
            if isinstance(self._parsed(text), Interpolate):
                raise InputError("interpolate: one of the metrics is interpolated itself")

    def __repr__(self) -> str:
        """The two as signatures name them: without what decides no number, as an address."""
        return super(Interpolate, self._signed).__repr__()

    @property
    def label(self) -> str:
        """A short name, of the same parameters."""
        return super(Interpolate, self._signed).label

    @property
    def _signed(self) -> Self:
        first, second = self.metrics
        return replace(self, first=first.label, second=second.label)

    @staticmethod
    def _parsed(text: str) -> Metric:
        from errata.metrics import parse

        return parse(text)

    @cached_property
    def metrics(self) -> tuple[Metric, Metric]:
        """The two metrics."""
        return self._parsed(self.first), self._parsed(self.second)

    @property
    def statistics(self) -> tuple[str, ...]:
        """The sums of the two sentence scores, and of how many sentences."""
        return ("first", "second", "sentences")

    @property
    def headline(self) -> str:
        """The share and names of the two."""
        first, second = self.metrics
        return f"{self.weight:g} {first.name} + {1 - self.weight:g} {second.name}"

    @property
    def columns(self) -> Columns:
        """None if neither needs references; else each metric reads them as it does."""
        return "none" if all(each.columns == "none" for each in self.metrics) else "readings"

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """The sentence scores of both metrics, for all systems together."""
        options: dict[str, Any] = {"threads": threads, "progress": progress}
        scored = [
            [scored_alone(each, counts) for counts in each.count_all(corpus, systems, **options)]
            for each in self.metrics
        ]
        return [self.paired(*pair) for pair in zip(*scored, strict=True)]

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """``[sentence, 1, (first, second, 1)]``."""
        return self.count_all(corpus, [hypotheses])[0]

    def paired(self, first: Floats, second: Floats) -> Floats:
        there = ~np.isnan(first + second)
        columns = {
            name: np.where(there, fixed_point(values), 0.0)
            for name, values in (("first", first), ("second", second))
        }
        return stack_counts(self.statistics, {**columns, "sentences": there})

    @property
    def divisible(self) -> bool:
        """Whether the sentence scores of both can be had part by part."""
        return all(each.divisible and each.single.scope == "sentence" for each in self.metrics)

    def score(self, totals: Floats) -> Floats:
        """The weighed mean."""
        found = by_name(self.statistics, totals)
        both = self.weight * found["first"] + (1 - self.weight) * found["second"]
        return ratio(both, found["sentences"], 0.0)

    def parts(self, totals: Floats) -> dict[str, Floats | Ints]:
        """The means of the two."""
        found = by_name(self.statistics, totals)
        return {name: ratio(found[name], found["sentences"], 0.0) for name in ("first", "second")}

    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        """The facts of the two, each under its place."""
        return {
            f"{place} {name}": fact
            for place, each in self._by_place()
            for name, fact in each.facts(corpus, systems).items()
        }

    def describe(self, facts: MetricFacts) -> Description:
        """The full signatures of the two, what of the data decided them, and their notes."""
        context: list[str] = []
        notes: list[str] = []
        for place, each in self._by_place():
            own = {
                name.removeprefix(f"{place} "): fact
                for name, fact in facts.items()
                if name.startswith(f"{place} ")
            }
            described = each.describe(own)
            context.append(f"{place}:{each!r}({', '.join(described.context)})")
            notes += described.notes
        return Description(tuple(context), tuple(notes))

    def _by_place(self) -> Iterator[tuple[str, Metric]]:
        return zip(("first", "second"), self.metrics, strict=True)


class UnsettledPair(Unsettled):
    """The unsettled counts of two metrics, or their scores where they need none, side by side.

    Before them stands how many numbers the first has.
    """

    def __init__(self, metric: Interpolate) -> None:
        self.metric = metric
        self.both = [unsettled_of(each) for each in metric.metrics]

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """What both count of every system."""
        options: dict[str, Any] = {"threads": threads, "progress": progress}
        sides = []
        for each, unsettled in zip(self.metric.metrics, self.both, strict=True):
            if unsettled is not None:
                sides.append(unsettled.count_all(corpus, systems, **options))
                continue
            counts = each.count_all(corpus, systems, **options)
            sides.append([scored_alone(each, own)[:, None, None] for own in counts])
        return [_beside(*pair) for pair in zip(*sides, strict=True)]

    def whole(self, parts: Iterable[Floats]) -> tuple[int, ...]:
        """What both say of the whole, after how much the first says."""
        first, second = (
            () if each is None else each.whole(_Side(parts, s)) for s, each in enumerate(self.both)
        )
        return (len(first), *first, *second)

    def settled(self, part: Floats, whole: tuple[int, ...]) -> Floats:
        """The scores of both."""
        said = whole[1 : 1 + whole[0]], whole[1 + whole[0] :]
        first, second = (
            _side(part, s)[:, 0, 0]
            if unsettled is None
            else scored_alone(each, unsettled.settled(_side(part, s), said[s]))
            for s, (each, unsettled) in enumerate(zip(self.metric.metrics, self.both, strict=True))
        )
        return self.metric.paired(first, second)


@files_beside.register(Interpolate)
def _files(metric: Interpolate) -> tuple[str, ...]:
    """What the two read."""
    return tuple(file for each in metric.metrics for file in files_beside(each))


@unsettled_of.register(Interpolate)
def _unsettled(metric: Interpolate) -> UnsettledPair | None:
    """What the two count of parts, where one of them is settled by the whole."""
    if all(unsettled_of(each) is None for each in metric.metrics):
        return None
    return UnsettledPair(metric)


@dataclass(frozen=True, eq=False)
class _Side:
    """What one of the two counted of all parts."""

    parts: Iterable[Floats]
    side: int

    def __iter__(self) -> Iterator[Floats]:
        return (_side(part, self.side) for part in self.parts)


def _beside(first: Floats, second: Floats) -> Floats:
    references = max(first.shape[1], second.shape[1])
    sides = [
        np.pad(each, ((0, 0), (0, references - each.shape[1]), (0, 0)), constant_values=np.nan)
        for each in (first, second)
    ]
    width = np.full((len(first), references, 1), float(first.shape[2]))
    return np.concatenate([width, *sides], axis=2)


def _side(part: Floats, side: int) -> Floats:
    width = int(part[0, 0, 0]) if len(part) else 0
    return part[..., 1 : 1 + width] if side == 0 else part[..., 1 + width :]
