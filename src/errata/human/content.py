"""Numbers for rankings by what they say, so that no draw depends on the order of a file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from errata.numbers import Floats, Ints

__all__ = ["by_content"]

WEIGHED = 2**20  # parts of a comparison that are told apart
Mixed = NDArray[np.uint64]


def by_content(unit: Ints, cell: Ints, weight: Floats, *then: Ints) -> Ints:
    """The number of each row's unit, units ordered by what their rows say.

    ``cell`` is what a row says and ``weight`` how much it counts; rows of one unit may stand in any
    order, and be merged where they say the same. Units that say the same are ordered by the columns
    ``then``, which are the same in all rows of a unit; where these are too, they are exchangeable.

    >>> one = by_content(np.array([0, 0, 1]), np.array([5, 7, 6]), np.ones(3))
    >>> two = by_content(np.array([0, 1, 1]), np.array([6, 7, 5]), np.ones(3))
    >>> bool(one[0] == two[1] and one[2] == two[0])
    True
    """
    if not len(unit):
        return unit
    said = _mixed(cell.astype(np.uint64)) * np.rint(weight * WEIGHED).astype(np.uint64)
    total = np.zeros(int(unit.max()) + 1, np.uint64)
    np.add.at(total, unit, said)  # a sum, which wraps: the order of the rows is nothing to it
    first = np.unique(unit, return_index=True)[1]
    place = np.empty(len(total), np.int64)
    place[np.lexsort([*(column[first] for column in reversed(then)), total])] = np.arange(
        len(total)
    )
    return place[unit]


def _mixed(numbers: Mixed) -> Mixed:
    """Numbers as well mixed as if drawn (splitmix64; Steele, Lea & Flood 2014)."""
    mixed: Mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)), np.uint64)
