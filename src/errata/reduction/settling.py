"""Parts whose counts the whole corpus settles, as parts like all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from errata.metrics.base import Metric
from errata.metrics.unsettled import Unsettled, unsettled_of
from errata.numbers import Floats
from errata.reduction.cursor import CountParts

__all__ = ["settled_parts"]


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
        return (self.unsettled.settled(part, self.whole) for part in self.parts)


def settled_parts(metric: Metric, several: list[CountParts]) -> list[CountParts]:
    """The parts of every system; unsettled ones are gone through for what they say together."""
    unsettled = unsettled_of(metric)
    if unsettled is None:
        return several
    filled = [_Filled(parts) for parts in several]
    return [_SettledParts(unsettled, parts, unsettled.whole(parts)) for parts in filled]
