"""Ranker contract, rank(), ranges, clusters, Expected Wins.

Every ranker reads counts of wins and ties, ``[..., system, system]``, so that one data set and a
thousand bootstrap resamples of it go the same way. A ranker is a frozen dataclass: its fields are
its parameters, and its repr is its signature and what `errata.human.parse_ranker` reads.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from errata import __version__
from errata.core.errors import InputError
from errata.core.parameters import About, Parameterised, parameterised, require
from errata.core.registry import contract_error, origin, plugin_errors
from errata.core.stats import (
    BLOCK,
    Floats,
    Progress,
    Seed,
    as_integers_if_whole,
    merge_ties,
    ratio,
    seed_name,
)
from errata.data import Scores
from errata.human.bootstrap import Draw
from errata.human.comparisons import Comparisons, Counts, Unit

if TYPE_CHECKING:
    import pandas
    import polars


# ---- Rank ranges and clusters: which places a system may claim, and where the gaps are.

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

        frame: pandas.DataFrame = errata._display(self, "pandas")
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The same as a frame of polars."""
        import errata

        frame: polars.DataFrame = errata._display(self, "polars")
        return frame

    def _repr_html_(self) -> str:
        """What a notebook shows: the table of a report."""
        import errata

        return str(errata._display(self, "html"))


def trim_count(resamples: int, confidence: float) -> int:
    """How many of the sorted ranks are dropped on each side.

    ``ceil((R - confidence R) / 2)``, as in the WMT's cluster.py: 25 of 1000, 3 of 100.

    >>> trim_count(1000, 0.95), trim_count(100, 0.95)
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
    drop = trim_count(len(resampled), confidence)
    if len(resampled) <= 2 * drop:
        raise InputError(
            f"{len(resampled)} resamples are too few for a level of {confidence}", remedy="use 1000"
        )
    kept = slice(drop, len(resampled) - drop)
    best, worst = ranks_of(resampled)
    mean: Floats = np.sort((best + worst) / 2, axis=0)[kept].mean(axis=0)
    return np.sort(best, axis=0)[kept][0], np.sort(worst, axis=0)[kept][-1], mean


def ranks_of(scores: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The best and the worst place of each system among scores ``[..., system]``; 1 is best.

    They differ where scores are equal but for rounding (`errata.core.stats.merge_ties`, as far as
    rankers solve): that depends on the order of the systems, and so on their names.

    >>> [place.tolist() for place in ranks_of(np.array([0.5, 0.9, 0.5]))]
    [[2, 1, 2], [3, 1, 3]]
    """
    scores = merge_ties(scores, within=SOLVED)
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
    key = -merge_ties(scores.values, within=SOLVED) if order == "score" else mean
    rows: list[int] = np.argsort(key, kind="stable").tolist()
    low, high, mean = low[rows], high[rows], mean[rows]
    worst_above = np.maximum.accumulate(high)[:-1]
    best_below = np.minimum.accumulate(low[::-1])[::-1][1:]
    number = np.concatenate([[1], 1 + np.cumsum(worst_above < best_below)]).astype(np.int64)
    return Ranking(scores, tuple(rows), low, high, mean, number, confidence)


class Ranker(Parameterised, ABC):
    """One way of turning comparisons into scores of systems: `score`, and what differs from it."""

    @property
    def headline(self) -> str:
        """The name of the score, as a table heads it."""
        return self.name

    @abstractmethod
    def score(self, counts: Counts) -> Floats:
        """The scores of counts, ``[..., n, n] -> [..., n]``; higher is better."""

    def figures(self, counts: Counts) -> dict[str, Floats]:
        """Further figures of one data set, in the order to be shown."""
        return {}

    def context(self, counts: Counts) -> tuple[str, ...]:
        """What else decided the numbers and belongs in the signature."""
        return ()

    def notes(self, counts: Counts) -> tuple[str, ...]:
        """What the reader of the numbers should know."""
        return ()

    @property
    def stand_in(self) -> Ranker:
        """The ranker itself; of one that plays random runs, what they scatter around.

        It scores in place of the ranker what would have to be played many times.
        """
        return self

    def resampled(self, comparisons: Comparisons, draw: Draw) -> Floats:
        """The scores of bootstrap resamples, ``[resample, system]``.

        Of a ranker with a stand-in these are its random runs, which draw single comparisons.
        """
        return np.concatenate([self.score(counts) for counts in draw.counts(comparisons)])


Reported = Literal["data", "mean"]


def rank(
    ranker: Ranker,
    comparisons: Comparisons,
    *,
    unit: Unit = "sentences",
    resamples: int = 1000,
    rng: Seed = 0,
    value: Reported = "data",
    balanced: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score the systems that people compared, with bootstrap resamples of their judgments.

    ``unit`` is what the bootstrap draws: ``"pairs"`` as published, which takes the up to 78 pairs
    of one ranking for independent and gives intervals that are too narrow; ``"rankings"``;
    ``"sentences"`` (the default: other sentences might have been chosen); ``"judges"``.
    ``value="data"`` reports the score of the data, ``"mean"`` the mean over the resamples, as the
    published Expected Wins are. ``balanced`` draws every unit equally often over all resamples
    (see `errata.human.bootstrap.bootstrap_counts`), which takes most of the chance out of that
    mean; sampled TrueSkill with pairs cannot. ``progress`` is called with (done, total) where it
    takes long.

    >>> from errata.data import Judgment
    >>> from errata.human import compare, parse_ranker
    >>> judgments = [Judgment("ann", i, (("A",), ("B",)), (1, 1 + (i > 0))) for i in range(4)]
    >>> rank(parse_ranker("net_wins"), compare(judgments), resamples=0)["A"]
    0.75
    """
    from errata.human import RANKERS

    RANKERS.refuse_disguise(ranker)
    require("value", value, Reported)
    require("unit", unit, Unit)
    counts = comparisons.counts()
    _check_comparisons(comparisons, counts)
    draw = Draw(
        rng=np.random.default_rng(rng),
        unit=unit,
        resamples=resamples,
        balanced=balanced,
        threads=threads,
        progress=progress,
    )
    with plugin_errors(ranker):
        values, resampled, stand_in = _estimate(ranker, comparisons, counts, draw)
    _check_scores(ranker, values, len(comparisons.systems))
    if value == "mean":
        if resampled is None:
            raise InputError("the mean over resamples needs resamples", remedy="resamples=1000")
        values = resampled.mean(axis=0)
    drawn: list[str] = []
    if resampled is not None:
        drawn = [f"unit:{unit}", f"resamples:{len(resampled)}"]
        drawn += ["balanced"] * balanced + [f"seed:{seed_name(rng)}"]
    wins, ties, losses = as_integers_if_whole(
        [counts.wins.sum(1), counts.ties.sum(1), counts.wins.sum(0)]
    )
    return Scores(
        scorer=repr(ranker),
        name=ranker.name,
        label=ranker.label,
        systems=comparisons.systems,
        values=values,
        resampled=resampled,
        parts={**ranker.figures(counts), "wins": wins, "ties": ties, "losses": losses},
        headline=ranker.headline,
        notes=ranker.notes(counts),
        context=(
            *origin(type(ranker)),
            *ranker.context(counts),
            *stand_in,
            *comparisons.facts,
            *((f"value:{value}",) if value != "data" else ()),
            *drawn,
            f"errata:{__version__}",
        ),
    )


def _check_scores(ranker: Ranker, values: object, systems: int) -> None:
    """Refuse scores that are none: every system has one finite number."""
    array = np.asarray(values)
    if array.dtype != np.float64 or array.shape != (systems,) or not np.isfinite(array).all():
        raise contract_error(
            ranker,
            f"{array.dtype} scores of the shape {array.shape} for {systems} systems, or no numbers",
            "score must give each system a finite float64",
        )


def _estimate(
    ranker: Ranker, comparisons: Comparisons, counts: Counts, draw: Draw
) -> tuple[Floats, Floats | None, tuple[str, ...]]:
    """Scores of the data, scores of resamples if any, and who stood in for the ranker there."""
    stand_in = ranker.stand_in
    if stand_in == ranker:
        values = ranker.score(counts)
        return values, ranker.resampled(comparisons, draw) if draw.resamples else None, ()
    if draw.balanced and draw.unit == "pairs":
        raise InputError(
            f"{ranker.name}: its runs are the resamples of pairs, and draw freely",
            remedy=f"leave out balanced, or use {stand_in.name}",
        )
    runs = ranker.resampled(comparisons, draw)
    values = runs.mean(axis=0)
    if not draw.resamples or draw.unit == "pairs":
        return values, runs if draw.resamples else None, ()
    # Sampled games would add the noise of single comparisons to that of whole units.
    who = (f"resamples by {stand_in.name}",)
    return values, stand_in.resampled(comparisons, draw), who


def _check_comparisons(comparisons: Comparisons, counts: Counts) -> None:
    if not comparisons.total:
        raise InputError(
            "there is nothing to rank: no judgment compares two systems",
            remedy="give rankings of at least two outputs",
        )
    alone = [
        name
        for name, games in zip(comparisons.systems, counts.games.sum(1), strict=True)
        if games == 0
    ]
    if alone:
        raise InputError(
            f"never compared with another system: {', '.join(alone)}",
            remedy="leave them out (--without NAME), or judge them",
        )
    groups = _groups_that_met(counts)
    if len(groups) > 1:
        names = [", ".join(comparisons.systems[s] for s in group) for group in groups]
        raise InputError(
            f"{len(groups)} groups of systems were never compared with each other: "
            + " | ".join(names),
            remedy="rank each group alone (--without NAME), or judge pairs from both",
        )


def _groups_that_met(counts: Counts) -> list[list[int]]:
    """Systems that met, directly or through others; between groups no score can be compared."""
    met = counts.games > 0
    left, groups = set(range(len(met))), []
    while left:
        group, new = set[int](), {min(left)}
        while new:
            group |= new
            new = set(np.flatnonzero(met[sorted(new)].any(axis=0)).tolist()) - group
        groups.append(sorted(group))
        left -= group
    return groups


# ---- Rankers by counting: Expected Wins and the plain net win rate.


@parameterised
class ExpectedWins(Ranker):
    """How often a system beats an opponent drawn at random (Koehn 2012; Bojar et al. 2013).

    ``EW(i) = mean over j of w_ij / (w_ij + w_ji)``; every opponent weighs the same. With
    ``ties="ignored"``, as published, ties have no part in it; ``ties="won"`` counts them for
    both sides, ``(w_ij + t_ij) / (w_ij + t_ij + w_ji)``, as the script EWT.py does.
    ``denominator="all"`` divides by all n - 1 opponents, an opponent never met in a decided
    comparison adding 0 (EW.py); ``"beaten"`` divides by the number of opponents beaten at least
    once, a quirk of EW.pl without which the per-judge rankings of Grundkiewicz et al. (2015,
    Table 6) do not come out.
    """

    name: ClassVar[str] = "expected_wins"
    about = About(paper="Koehn 2012; Bojar et al. 2013", range="from 0 to 1", needs=("judgments",))
    denominator: Literal["all", "beaten"] = "all"
    ties: Literal["ignored", "won"] = "ignored"

    @property
    def headline(self) -> str:
        return "Expected Wins"

    def score(self, counts: Counts) -> Floats:
        won = counts.wins + counts.ties if self.ties == "won" else counts.wins
        games = won + counts.wins.swapaxes(-1, -2)
        share = ratio(won, games, 0.0)
        if self.denominator == "all":
            opponents = np.full(share.shape[:-1], max(1, share.shape[-1] - 1), np.float64)
        else:
            opponents = np.maximum(1, (won > 0).sum(axis=-1)).astype(np.float64)
        mean: Floats = share.sum(axis=-1) / opponents
        return mean


@parameterised
class NetWins(Ranker):
    """Wins minus losses over all comparisons, ties included, mean over opponents met.

    This is what TrueSkill with the published parameters amounts to (r = 0.9998 on the data of
    Grundkiewicz et al. 2015), without its randomness.
    """

    name: ClassVar[str] = "net_wins"
    about = About(range="from -1 to 1", needs=("judgments",))

    @property
    def headline(self) -> str:
        return "net wins"

    def score(self, counts: Counts) -> Floats:
        games = counts.games
        net = counts.wins - counts.wins.swapaxes(-1, -2)
        met = games > 0
        share = ratio(net, games, 0.0)
        mean: Floats = share.sum(axis=-1) / np.maximum(1, met.sum(axis=-1))
        return mean
