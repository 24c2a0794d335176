"""Time for leases: it never runs back, whatever happens to the clock of the machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

__all__ = ["SteadyClock", "iso_time", "wall_ms"]


def wall_ms() -> int:
    """Milliseconds since 1970, by the machine's clock."""
    return time.time_ns() // 1_000_000


def iso_time(ms: int) -> str:
    """A time as files have it.

    >>> iso_time(1_700_000_000_123)
    '2023-11-14T22:13:20.123Z'
    """
    moment = datetime.fromtimestamp(ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


class SteadyClock:
    """Milliseconds that go on from a start by the monotonic clock.

    A process starts from the machine's clock, or from the latest time in the database where that is
    later: so leases neither end early nor live for ever when a clock is set.

    >>> ticks = iter([5.0, 6.5])
    >>> SteadyClock(1000, lambda: next(ticks))()
    2500
    """

    def __init__(self, start: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._start, self._monotonic = start, monotonic
        self._zero = monotonic()

    def __call__(self) -> int:
        return self._start + int((self._monotonic() - self._zero) * 1000)
