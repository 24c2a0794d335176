"""How far the parts of all systems of a metric were read: what a reducer keeps and goes on from."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from errata.errors import InputError
from errata.evaluation import chosen_counts
from errata.io.counts import pack_counts, unpack_counts
from errata.metrics.base import Metric
from errata.metrics.unsettled import unsettled_of
from errata.numbers import Floats
from errata.reduction.running import Reduction, decides
from errata.resampling import LIMITS, BootstrapLimits, GrowingHistogram, Histogram
from errata.sums import Sums

__all__ = ["CountParts", "Standing"]


class CountParts(Protocol):
    """The counts of one system by one metric, part by part in order, as often as they are asked."""

    def __iter__(self) -> Iterator[Floats]: ...


@dataclass(frozen=True, eq=False)
class Standing:
    """What the sentences so far came to, for all systems of a metric.

    ``systems`` are the sums of each, ``tallies`` the histogram of what their sentences took, all
    systems together; neither is there where only the whole decides (`undecided`).

    >>> from errata.metrics import parse
    >>> one, two = np.array([[[1, 1, 2.0]]]), np.array([[[0, 1, 1.0]]])
    >>> at = Standing.start(parse("m2"), 2).take([one, two]).take([two, one])
    >>> again = Standing.from_state(parse("m2"), at.state())
    >>> at.sentences, [each.totals.tolist() for each in again.systems]
    (2, [[[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]]])
    """

    systems: tuple[Reduction, ...]
    tallies: GrowingHistogram
    sentences: int = 0
    undecided: bool = False

    @classmethod
    def start(cls, metric: Metric, systems: int, limits: BootstrapLimits = LIMITS) -> Standing:
        """Before the first part."""
        return cls(
            (Reduction(metric),) * systems,
            GrowingHistogram(systems * len(metric.statistics), limits),
            undecided=decides(metric) is not None or unsettled_of(metric) is not None,
        )

    def take(self, counts: Sequence[Floats]) -> Standing:
        """How it stands after the next part, of which these are the counts of every system."""
        sizes = {len(each) for each in counts}
        if len(counts) != len(self.systems) or len(sizes) != 1:
            raise InputError(
                f"a part has counts of {len(counts)} systems and of {sorted(sizes)} sentences",
                remedy="every system has as many sentences in a part",
            )
        if self.undecided or sizes == {0}:
            return replace(self, sentences=self.sentences + sizes.pop())
        taken = [at.taken(each) for at, each in zip(self.systems, counts, strict=True)]
        tallies = self.tallies
        if tallies.levels is not None:
            chosen = zip(counts, taken, strict=True)
            picked = [chosen_counts(each, choice) for each, (choice, _) in chosen]
            tallies = tallies.added(Histogram.of(np.concatenate(picked, axis=1)))
        return Standing(tuple(after for _, after in taken), tallies, self.sentences + sizes.pop())

    def state(self) -> dict[str, Any]:
        """All of it as what JSON holds; the same wherever the sentences were cut."""
        histogram = self.tallies.histogram
        return {
            "sentences": self.sentences,
            "sums": [
                None if each.sums is None else [limb.tolist() for limb in each.sums.limbs]
                for each in self.systems
            ],
            "histogram": None
            if histogram is None
            else [_text(histogram.rows), _text(histogram.times[:, None].astype(np.float64))],
            "limits": list(self.tallies.limits),
        }

    @classmethod
    def from_state(cls, metric: Metric, state: dict[str, Any]) -> Standing:
        """What `state` gave, to go on from."""
        limits = BootstrapLimits(*state["limits"])
        start = cls.start(metric, len(state["sums"]), limits)
        sentences, drawn = int(state["sentences"]), state["histogram"]
        levels: tuple[Histogram, ...] | None = None
        if drawn is not None:
            rows, times = map(_rows, drawn)
            levels = (Histogram(rows, times[:, 0].astype(np.int64)),) if len(rows) else ()
        systems = []
        for limbs in state["sums"]:
            arrays = [np.array(limb, np.int64) for limb in limbs or ()]
            sums = Sums((arrays[0], arrays[1], arrays[2])) if limbs is not None else None
            systems.append(Reduction(metric, 0 if sums is None else sentences, sums))
        return replace(
            start,
            systems=tuple(systems),
            tallies=replace(start.tallies, levels=levels),
            sentences=sentences,
        )


def _text(rows: Floats) -> str:
    """Rows of numbers as letters."""
    return base64.b85encode(pack_counts(rows[:, None])).decode("ascii")


def _rows(text: str) -> Floats:
    return unpack_counts(base64.b85decode(text))[:, 0]
