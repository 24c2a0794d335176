"""Every system against every other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from errata.human.comparisons import Comparisons
from errata.human.counts import Counts
from errata.numbers import Floats, ratio

__all__ = ["HeadToHead", "head_to_head"]


@dataclass(frozen=True, eq=False)
class HeadToHead:
    """How every system fared against every other: ``[row, column]``, the row's view.

    ``fraction[a, b]`` is the share of decided comparisons that a won, ``p`` the two-sided sign
    test of it; NaN where nothing was decided.
    """

    systems: tuple[str, ...]
    counts: Counts
    fraction: Floats
    p: Floats


def head_to_head(comparisons: Comparisons) -> HeadToHead:
    """Wins, ties and losses of every pair with sign tests (Grundkiewicz et al. 2015, Table 3d).

    The sign test asks whether the decided comparisons could be tosses of a fair coin:
    ``p = min(1, 2 P(X <= min(wins, losses)))`` for X binomial with 1/2.
    """
    from scipy.special import bdtr

    counts = comparisons.counts()
    wins, losses = counts.wins, counts.wins.T
    decided = wins + losses
    some = decided > 0
    fraction = ratio(wins, decided)
    few, all_ = np.floor(np.minimum(wins, losses)), np.round(decided).astype(np.int64)
    p = np.minimum(1, 2 * bdtr(few, all_, 0.5))
    return HeadToHead(comparisons.systems, counts, fraction, np.where(some, p, np.nan))
