"""Rankers by counting: Expected Wins and the plain net win rate."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from errata.human.counts import Counts
from errata.human.ranking import Ranker, ranker
from errata.numbers import Floats, ratio
from errata.parameters import About

__all__ = ["ExpectedWins", "NetWins"]


@ranker
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


@ranker
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
