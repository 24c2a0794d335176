"""How often each system was judged better than each other, and as good."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from errata.errors import InputError
from errata.numbers import Floats

__all__ = ["Counts"]

MOST_GAMES = 1e12  # of a pair: sums of many such are exact


class _Tables(NamedTuple):
    wins: Floats
    ties: Floats


class Counts(_Tables):
    """``wins[..., a, b]``: how often a was judged better than b; ``ties`` is symmetric.

    They need not be whole: expected members count in parts.
    """

    def __new__(cls, wins: Floats, ties: Floats) -> Self:
        try:
            made = super().__new__(cls, *(np.asarray(table, np.float64) for table in (wins, ties)))
        except (TypeError, ValueError):
            raise InputError("counts of wins and ties are tables of numbers") from None
        shape = made.wins.shape
        if len(shape) < 2 or shape[-1] != shape[-2] or made.ties.shape != shape:
            raise InputError(
                f"counts of wins {shape} and ties {made.ties.shape} are no square tables of one "
                "shape",
                remedy="give a row and a column for each system",
            )
        # Differences of parts may miss 0 by a rounding error.
        if not all(((table > -1e-9) & (table <= MOST_GAMES)).all() for table in made):
            raise InputError(f"counts of wins and ties are numbers from 0 to {MOST_GAMES:.0e}")
        return made

    @property
    def games(self) -> Floats:
        """How often each pair was compared."""
        return self.wins + self.wins.swapaxes(-1, -2) + self.ties

    @property
    def total(self) -> float:
        """How many comparisons there are in all."""
        return float(self.wins.sum() + self.ties.sum() / 2)
