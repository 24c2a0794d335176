"""Places of metrics: which of them cannot be told apart from the best, and from the next best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from errata.meta.significance import holm
from errata.numbers import Estimate, settled

__all__ = ["MetricStanding", "Told", "standings"]


@dataclass(frozen=True)
class MetricStanding:
    """A metric with its value; ``place`` 1 is not told apart from the best (None: not tested)."""

    metric: str
    value: Estimate
    place: int | None


@dataclass(frozen=True)
class Told:
    """A test of the best metric of a place against another that stood behind it.

    ``p`` is one-sided, ``holm`` corrected over all tests of the same best metric.
    """

    place: int
    best: str
    other: str
    lead: float
    p: float
    holm: float


def standings(
    metrics: Sequence[str],
    values: Sequence[Estimate],
    p_value: Callable[[int, int], float] | None,
    *,
    level: float = 0.05,
) -> tuple[tuple[MetricStanding, ...], tuple[Told, ...]]:
    """Give metrics their places, in the order given, and say which tests decided.

    The best is compared with all others; those that are not significantly worse (Holm's correction
    over these tests) share the first place with it. Of those left the best opens the second place,
    and so on. ``p_value(a, b)`` is one-sided, small where metric a is really better than b; where a
    test is undefined (NaN) two metrics are not told apart. A metric without a value has no place.

    >>> p = {(0, 1): 0.2, (0, 2): 0.001}
    >>> values = [Estimate(v, np.nan, np.nan) for v in (0.9, 0.8, 0.1)]
    >>> found, tests = standings(["a", "b", "c"], values, lambda a, b: p[a, b])
    >>> [(each.metric, each.place) for each in found], [round(t.holm, 3) for t in tests]
    ([('a', 1), ('b', 1), ('c', 2)], [0.2, 0.002])
    """
    place: dict[int, int] = {}
    tests: list[Told] = []
    size = settled([value.value for value in values])
    left = [k for k in np.argsort(-size, kind="stable").tolist() if not np.isnan(size[k])]
    number = 0
    while left and p_value is not None:
        number += 1
        head, *rest = left
        p = [p_value(head, k) for k in rest]
        adjusted = holm(p).tolist()
        place[head] = number
        left = []
        for k, single, corrected in zip(rest, p, adjusted, strict=True):
            lead = float(size[head] - size[k])
            tests.append(Told(number, metrics[head], metrics[k], lead, single, corrected))
            if corrected <= level:
                left.append(k)
            else:
                place[k] = number
    stand = tuple(
        MetricStanding(metric, value, place.get(k))
        for k, (metric, value) in enumerate(zip(metrics, values, strict=True))
    )
    return stand, tuple(tests)
