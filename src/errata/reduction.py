"""Counts that come part by part, in the order of the sentences, to the totals of a system.

What is decided and summed does not depend on where the parts were cut: choices by running totals
go on from exact sums, and sums are exact (`errata.sums`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from errata.metrics.base import Before, Metric
from errata.numbers import Floats, Ints
from errata.sums import Sums

__all__ = ["Reduction", "reduce_parts"]


@dataclass(frozen=True, eq=False)
class Reduction:
    """How far a system was read: so many sentences, and the sums ``[draw, k]`` of what they took.

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

    @property
    def before(self) -> Before:
        """What a choice by running totals needs to know of the sentences so far."""
        nothing = Sums.nothing(1, len(self.metric.statistics))
        return Before(self.sentences, (self.sums or nothing).exactly())

    def taken(self, counts: Floats) -> tuple[Ints, Reduction]:
        """The choice ``[draw, sentence]`` of the next sentences, and how far it is then."""
        choice = self.metric.choose(counts, self.before)
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
        totals = self.sums.floats
        return totals[:1] if bool((totals == totals[0]).all()) else totals


def reduce_parts(metric: Metric, parts: Iterable[Floats]) -> Reduction:
    """What all parts come to, one after the other."""
    found = Reduction(metric)
    for counts in parts:
        found = found.taken(counts)[1]
    return found
