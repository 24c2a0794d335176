"""Rank ranges and clusters: which places a system may claim, and where the gaps are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from errata.data import Scores
from errata.errors import InputError
from errata.numbers import BLOCK, Floats, settled
from errata.parameters import require

__all__ = ["SOLVED", "Ranking", "RankingOrder", "cluster", "places", "rank_ranges", "trimmed"]

if TYPE_CHECKING:
    import pandas
    import polars

RankingOrder = Literal["score", "mean_rank"]
SOLVED = 1e-9  # scores closer than this differ by what iterative solvers leave


@dataclass(frozen=True, eq=False)
class Ranking:
    """Systems best first, with their rank ranges and clusters; position p holds one system.

    ``low[p]`` to ``high[p]`` are the ranks within the confidence level, ``mean_rank`` the mean of
    the ranks that remain after trimming, ``cluster`` counts from 1.
    """

    scores: Scores
    order: tuple[int, ...]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    mean_rank: Floats
    cluster: NDArray[np.int64]
    confidence: float

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, best first."""
        return tuple(self.scores.systems[s] for s in self.order)

    @property
    def values(self) -> Floats:
        """The scores in this order."""
        return self.scores.values[list(self.order)]

    @property
    def ranges(self) -> tuple[str, ...]:
        """The ranges as the papers print them: ``"3-5"``, or ``"1"``."""
        return tuple(
            f"{a}" if a == b else f"{a}-{b}"
            for a, b in zip(self.low.tolist(), self.high.tolist(), strict=True)
        )

    def to_pandas(self) -> pandas.DataFrame:
        """The ranking as a data frame: clusters, rank ranges, scores with intervals."""
        import errata

        frame: pandas.DataFrame = errata._shown(self, "pandas")
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The same as a frame of polars."""
        import errata

        frame: polars.DataFrame = errata._shown(self, "polars")
        return frame

    def _repr_html_(self) -> str:
        """What a notebook shows: the table of a report."""
        import errata

        return str(errata._shown(self, "html"))


def trimmed(resamples: int, confidence: float) -> int:
    """How many of the sorted ranks are dropped on each side.

    ``ceil((R - confidence R) / 2)``, as in the WMT's cluster.py: 25 of 1000, 3 of 100.

    >>> trimmed(1000, 0.95), trimmed(100, 0.95)
    (25, 3)
    """
    # Rounded first, so that 1000 - 0.95 * 1000 is 50 and not 50 and a bit.
    return math.ceil(round((resamples - confidence * resamples) / 2, 9))


def rank_ranges(
    resampled: Floats, confidence: float = 0.95
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """The lowest, highest and mean rank of each system within the confidence level.

    ``resampled[b, s]`` is the score of system s in resample b. Systems with equal scores share
    the places they take, so names decide nothing: the lowest rank reads the best place shared,
    the highest the worst, the mean their mean. (cluster.py orders equal scores by name.)
    """
    drop = trimmed(len(resampled), confidence)
    if len(resampled) <= 2 * drop:
        raise InputError(
            f"{len(resampled)} resamples are too few for a level of {confidence}", remedy="use 1000"
        )
    kept = slice(drop, len(resampled) - drop)
    best, worst = places(resampled)
    mean: Floats = np.sort((best + worst) / 2, axis=0)[kept].mean(axis=0)
    return np.sort(best, axis=0)[kept][0], np.sort(worst, axis=0)[kept][-1], mean


def places(scores: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The best and the worst place of each system among scores ``[..., system]``; 1 is best.

    They differ where scores are equal but for rounding (`errata.numbers.settled`, as far as rankers
    solve): that depends on the order of the systems, and so on their names.

    >>> [place.tolist() for place in places(np.array([0.5, 0.9, 0.5]))]
    [[2, 1, 2], [3, 1, 3]]
    """
    scores = settled(scores, within=SOLVED)
    n = scores.shape[-1]
    best, worst = (np.empty(scores.shape, np.int64) for _ in range(2))
    flat, to_best, to_worst = (array.reshape(-1, n) for array in (scores, best, worst))
    step = max(1, BLOCK // max(1, n * n))
    for start in range(0, len(flat), step):
        part = flat[start : start + step]
        better = (part[:, None, :] > part[:, :, None]).sum(axis=-1)
        equal = (part[:, None, :] == part[:, :, None]).sum(axis=-1)
        to_best[start : start + step], to_worst[start : start + step] = better + 1, better + equal
    return best, worst


def cluster(scores: Scores, *, confidence: float = 0.95, order: RankingOrder = "score") -> Ranking:
    """Order systems, give their rank ranges and divide them where no ranges overlap.

    A line is drawn after a position if no system above it shares a rank with any below it
    (Bojar et al. 2013); the WMT's cluster.py asks this of the last system above only, which comes
    to the same on the published data. ``order="mean_rank"`` lists the systems by their mean rank
    instead of by score, as Figure 6 of Sakaguchi et al. (2016) does.
    """
    require("order", order, RankingOrder)
    if scores.resampled is None:
        raise InputError("rank ranges need resamples", remedy="rank(..., resamples=1000)")
    low, high, mean = rank_ranges(scores.resampled, confidence)
    key = -settled(scores.values, within=SOLVED) if order == "score" else mean
    rows: list[int] = np.argsort(key, kind="stable").tolist()
    low, high, mean = low[rows], high[rows], mean[rows]
    worst_above = np.maximum.accumulate(high)[:-1]
    best_below = np.minimum.accumulate(low[::-1])[::-1][1:]
    number = np.concatenate([[1], 1 + np.cumsum(worst_above < best_below)]).astype(np.int64)
    return Ranking(scores, tuple(rows), low, high, mean, number, confidence)
