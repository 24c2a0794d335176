"""The ranker contract: a score is a pure function of how often who beat whom.

Every ranker reads counts of wins and ties, ``[..., system, system]``, so that one data set and a
thousand bootstrap resamples of it go the same way. A ranker is a frozen dataclass: its fields are
its parameters, and its repr is its signature and what `errata.human.parse_ranker` reads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from errata import __version__
from errata.data import Scores
from errata.errors import InputError
from errata.human.bootstrap import bootstrap_counts
from errata.human.comparisons import Comparisons, Counts
from errata.numbers import Floats, Progress
from errata.parameters import Parameterised
from errata.parameters import parameterised as ranker

__all__ = ["Ranker", "rank", "ranker"]


class Ranker(Parameterised, ABC):
    """One way of turning comparisons into scores of systems."""

    @property
    def headline(self) -> str:
        """The name of the score, as a table heads it."""
        return self.name

    @abstractmethod
    def score(self, counts: Counts) -> Floats:
        """The scores of counts, ``[..., n, n] -> [..., n]``; higher is better."""

    @property
    def limit(self) -> Ranker:
        """The ranker itself, or what stands in for it where it would be run many times."""
        return self

    def parts(self, counts: Counts) -> dict[str, Floats]:
        """Further figures of one data set, in the order to be shown."""
        return {}

    def estimate(
        self,
        comparisons: Comparisons,
        unit: str,
        resamples: int,
        rng: np.random.Generator,
        threads: int | None = None,
        progress: Progress | None = None,
        balanced: bool = False,
    ) -> tuple[Floats, Floats | None]:
        """Scores of the data, and of resamples ``[resample, system]``."""
        values = self.score(comparisons.counts())
        if not resamples:
            return values, None
        counts = bootstrap_counts(comparisons, unit, resamples, rng, balanced=balanced)
        return values, self.score_resamples(counts, threads, progress)

    def score_resamples(
        self, counts: Counts, threads: int | None, progress: Progress | None
    ) -> Floats:
        """The scores of many data sets at once; slow rankers do it in threads."""
        return self.score(counts)

    def context(self, comparisons: Comparisons, unit: str) -> tuple[str, ...]:
        """What else decided the numbers and belongs in the signature."""
        return ()


def rank(
    ranker: Ranker,
    comparisons: Comparisons,
    *,
    unit: str = "sentences",
    resamples: int = 1000,
    rng: int | np.random.Generator = 0,
    value: str = "data",
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
    if value not in ("data", "mean"):
        raise InputError(f"unknown value {value!r}", remedy="use 'data' or 'mean'")
    counts = comparisons.counts()
    _check(comparisons, counts)
    generator = np.random.default_rng(rng)
    values, resampled = ranker.estimate(
        comparisons, unit, resamples, generator, threads, progress, balanced
    )
    if value == "mean":
        if resampled is None:
            raise InputError("the mean over resamples needs resamples", remedy="resamples=1000")
        values = resampled.mean(axis=0)
    wins, ties = counts
    seed = rng if isinstance(rng, int) else "generator"
    drawn = (
        ()
        if resampled is None
        else (
            f"unit:{unit}",
            f"resamples:{len(resampled)}",
            *(("balanced",) if balanced else ()),
            f"seed:{seed}",
        )
    )
    return Scores(
        scorer=repr(ranker),
        name=ranker.name,
        label=ranker.label,
        systems=comparisons.systems,
        values=values,
        resampled=resampled,
        parts={
            **ranker.parts(counts),
            "wins": wins.sum(1),
            "ties": ties.sum(1),
            "losses": wins.sum(0),
        },
        headline=ranker.headline,
        context=(
            *ranker.context(comparisons, unit),
            *comparisons.context,
            f"comparisons:{comparisons.total:.12g}",
            f"rankings:{comparisons.rankings}",
            *((f"value:{value}",) if value != "data" else ()),
            *drawn,
            f"errata:{__version__}",
        ),
    )


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
