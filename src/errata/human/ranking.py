"""The ranker contract: a score is a pure function of how often who beat whom.

Every ranker reads counts of wins and ties, ``[..., system, system]``, so that one data set and a
thousand bootstrap resamples of it go the same way. A ranker is a frozen dataclass: its fields are
its parameters, and its repr is its signature and what `errata.human.parse_ranker` reads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from errata import __version__
from errata.data import Scores
from errata.errors import InputError
from errata.human.bootstrap import Draw
from errata.human.comparisons import Comparisons, Unit
from errata.human.counts import Counts
from errata.numbers import Floats, Progress, Seed, counted, seed_name
from errata.parameters import Parameterised, require
from errata.parameters import parameterised as ranker
from errata.plugins import blamed, fault, origin

__all__ = ["Ranker", "Reported", "rank", "ranker"]


class Ranker(Parameterised, ABC):
    """One way of turning comparisons into scores of systems: `score`, and what differs from it."""

    @property
    def headline(self) -> str:
        """The name of the score, as a table heads it."""
        return self.name

    @abstractmethod
    def score(self, counts: Counts) -> Floats:
        """The scores of counts, ``[..., n, n] -> [..., n]``; higher is better."""

    def parts(self, counts: Counts) -> dict[str, Floats]:
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
    _check(comparisons, counts)
    draw = Draw(
        rng=np.random.default_rng(rng),
        unit=unit,
        resamples=resamples,
        balanced=balanced,
        threads=threads,
        progress=progress,
    )
    with blamed(ranker):
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
    wins, ties, losses = counted([counts.wins.sum(1), counts.ties.sum(1), counts.wins.sum(0)])
    return Scores(
        scorer=repr(ranker),
        name=ranker.name,
        label=ranker.label,
        systems=comparisons.systems,
        values=values,
        resampled=resampled,
        parts={**ranker.parts(counts), "wins": wins, "ties": ties, "losses": losses},
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
        raise fault(
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


def _check(comparisons: Comparisons, counts: Counts) -> None:
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
            remedy="rank each by itself (--without NAME), or judge pairs from both",
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
