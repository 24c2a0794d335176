"""A metric of two metrics: references and grammaticality together (Napoles et al. 2016b)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from errata.core.errors import InputError
from errata.core.parameters import About
from errata.core.registry import origin
from errata.core.stats import Floats, Ints, Progress, ratio
from errata.data import Corpus, Hypotheses
from errata.metrics.base import (
    Columns,
    Description,
    Metric,
    MetricFacts,
    by_name,
    fixed_point,
    metric,
    scored_alone,
    stack_counts,
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
        range="between the ranges of the two",
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
            if isinstance(self._parse_part(text), Interpolate):
                raise InputError("interpolate: one of the metrics is interpolated itself")

    def __repr__(self) -> str:
        """The two as signatures name them: without what decides no number, as an address."""
        return super(Interpolate, self._without_addresses).__repr__()

    @property
    def label(self) -> str:
        """A short name, of the same parameters."""
        return super(Interpolate, self._without_addresses).label

    @property
    def _without_addresses(self) -> Self:
        from errata.metrics import METRICS

        first, second = (METRICS.unparse(each, each.label) for each in self.metrics)
        return replace(self, first=first, second=second)

    @staticmethod
    def _parse_part(text: str) -> Metric:
        from errata.metrics import parse

        return parse(text)

    @cached_property
    def metrics(self) -> tuple[Metric, Metric]:
        """The two metrics."""
        return self._parse_part(self.first), self._parse_part(self.second)

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
        return all(each.divisible and each.unsettled is None for each in self.metrics)

    @property
    def files(self) -> tuple[str, ...]:
        """What the two read."""
        return tuple(file for each in self.metrics for file in each.files)

    def score(self, totals: Floats) -> Floats:
        """The weighed mean."""
        found = by_name(self.statistics, totals)
        both = self.weight * found["first"] + (1 - self.weight) * found["second"]
        return ratio(both, found["sentences"], 0.0)

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
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
            decided_by = ", ".join((*origin(type(each)), *described.context))
            context.append(f"{place}:{each!r}({decided_by})")
            notes += described.notes
        return Description(tuple(context), tuple(notes))

    def _by_place(self) -> Iterator[tuple[str, Metric]]:
        return zip(("first", "second"), self.metrics, strict=True)
