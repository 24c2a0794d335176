"""The choices and the sums of one system, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from errata.evaluation import checked_choice, chosen_counts, different_draws
from errata.metrics.base import Before, Metric, RoundsError, WholeCorpusError
from errata.numbers import Floats, Ints
from errata.sums import Sums

__all__ = ["Reduction", "chosen_parts", "decides", "in_one_go", "reduce_parts"]


@dataclass(frozen=True, eq=False)
class Reduction:
    """How far a system was read: so many sentences, and the sums ``[draw, k]`` of what they took.

    ``whole`` is what an earlier round came to, where a choice is made in rounds; ``memory`` is what
    a choice left behind that goes on in order.

    >>> from errata.metrics import parse
    >>> counts = np.array([[[1, 1, 2], [0, 0, 1.0]], [[0, 1, 1], [0, 0, 0.0]]])
    >>> start = Reduction(parse("m2"))
    >>> whole = start.taken(counts)[1]
    >>> parts = start.taken(counts[:1])[1].taken(counts[1:])[1]
    >>> whole.totals.tolist(), parts.totals.tolist()
    ([[1.0, 1.0, 2.0]], [[1.0, 1.0, 2.0]])
    """

    metric: Metric
    sentences: int = 0
    sums: Sums | None = None
    whole: tuple[Fraction, ...] | None = None
    memory: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def before(self) -> Before:
        """What a choice by running totals needs to know of the sentences so far."""
        return Before(self.sentences, self.exactly, self.whole, self.memory)

    @property
    def exactly(self) -> tuple[Fraction, ...]:
        """The sums of the first draw."""
        return (self.sums or Sums.nothing(1, len(self.metric.statistics))).exactly()

    def taken(self, counts: Floats) -> tuple[Ints, Reduction]:
        """The choice ``[draw, sentence]`` of the next sentences, and how far it is then."""
        choice = checked_choice(self.metric, counts, self.metric.choose(counts, self.before))
        sums = Sums.of(counts, choice)
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


def reduce_parts(
    metric: Metric, parts: Iterable[Floats], whole: tuple[Fraction, ...] | None = None
) -> Reduction:
    """What all parts come to, one after the other."""
    found = Reduction(metric, whole=whole)
    for counts in parts:
        found = found.taken(counts)[1] if len(counts) else found
    return found


def chosen_parts(start: Reduction, parts: Iterable[Floats]) -> Iterator[Floats]:
    """What the sentences of each part took, ``[sentence, k]``, mean over draws."""
    at = start
    for counts in parts:
        if not len(counts):
            continue
        choice, at = at.taken(counts)
        yield chosen_counts(counts, choice)


@lru_cache(maxsize=64)
def decides(metric: Metric) -> WholeCorpusError | None:
    """Whether a metric decides part by part; if not, what it says of it."""
    k = len(metric.statistics)
    try:
        metric.choose(np.zeros((1, 1, k)), Before(0, (Fraction(0),) * k))
    except WholeCorpusError as error:
        return error
    return None


def settled_rounds(metric: Metric, parts: Iterable[Floats]) -> Reduction:
    """What the parts come to where a choice is made in rounds (see `RoundsError`)."""
    k = len(metric.statistics)
    nothing = (Fraction(0),) * k
    whole = nothing
    while True:
        found = reduce_parts(metric, parts, whole)
        if found.exactly in (whole, nothing):
            break
        whole = found.exactly
    free = reduce_parts(metric, parts, (Fraction(1), *nothing[1:]))
    good, best = (metric.score(each.totals).mean() for each in (found, free))
    return free if free.exactly == nothing and best > good else found


def in_one_go(metric: Metric, parts: Iterable[Floats]) -> Reduction:
    """What parts come to that are decided in one go: in rounds, or from the first one on."""
    if isinstance(decides(metric), RoundsError):
        return settled_rounds(metric, parts)
    return reduce_parts(metric, parts)
