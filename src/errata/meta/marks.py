"""Accuracy pair by pair: right or wrong, with weights, so that rankings count alike and swap.

What counts pairs right or wrong is more than nine counts can say where every ranking is to weigh
the same (`row_accuracy`), where differences up to a threshold are ties, or where two metrics are
compared by swapping what they got right. Kendall's τ-c belongs here as well: it is made ranking by
ranking.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from errata.errors import InputError
from errata.human.comparisons import Comparisons, Unit
from errata.meta.significance import EXACT, both_ways
from errata.numbers import Bools, Floats, Ints, Seed, bootstrap_weights, percentiles, ratio, settled

__all__ = ["Marks", "best_threshold", "marks_of", "swap_test", "tau_c_of_rankings"]


@dataclass(frozen=True, eq=False)
class Marks:
    """Which comparisons a metric got right, and how much each counts: ``Σ w right / Σ w``.

    ``threshold`` is the largest difference that was called a tie. ``in_sample`` says that it was
    chosen on the very pairs that are judged.
    """

    right: Bools
    weight: Floats
    threshold: float = 0.0
    in_sample: bool = False

    @property
    def value(self) -> float:
        """The share of what is right."""
        return float(ratio((self.weight * self.right).sum(), self.weight.sum()))

    def chance(self, comparisons: Comparisons, ties: float) -> float:
        """What a metric reaches that says tie with this share, and otherwise tosses a coin."""
        expected = np.where(comparisons.outcome == 0, ties, (1 - ties) / 2)
        return float(ratio((self.weight * expected).sum(), self.weight.sum()))

    def interval(
        self, comparisons: Comparisons, unit: Unit, resamples: int, confidence: float, rng: Seed
    ) -> tuple[float, float]:
        """Bootstrap interval over whole units; pairs have none where rankings are averaged."""
        if not resamples or unit == "pairs":
            return float("nan"), float("nan")
        number, many = comparisons.units(unit)
        top, bottom = (
            _sums(number, column, many) for column in (self.weight * self.right, self.weight)
        )
        return _interval(top, bottom, resamples, confidence, rng)


def _sums(number: Ints, column: ArrayLike, many: int) -> Floats:
    """The sum of a column over the rows of each number."""
    return np.bincount(number, np.asarray(column, np.float64), minlength=many).astype(np.float64)


def _interval(
    top: Floats, bottom: Floats, resamples: int, confidence: float, rng: Seed
) -> tuple[float, float]:
    drawn = [
        ratio(weights @ top, weights @ bottom)
        for weights in bootstrap_weights(len(top), resamples, rng)
    ]
    low, high = percentiles(np.concatenate(drawn), confidence).tolist()
    return low, high


def marks_of(
    comparisons: Comparisons, difference: Floats, *, rows: bool = False, calibrate: bool = False
) -> Marks:
    """Marks by equal signs (acc_eq; Deutsch et al. 2023): a tie must be a tie on both sides.

    With ``rows`` every ranking counts alike, however many pairs it has: the mean over rankings of
    their accuracies, as the WMT averages over segments. ``calibrate`` calls differences up to the
    threshold ties that makes the value highest on these same pairs, which flatters the metric.
    """
    weight = comparisons.weight
    if rows:
        number, many = comparisons.units("rankings")
        weight = weight / np.bincount(number, weight, minlength=many)[number]
    tied = comparisons.outcome == 0
    agree = np.sign(difference) == comparisons.outcome
    if not calibrate:
        return Marks(agree, weight)
    size = settled(np.abs(difference))
    order = np.argsort(size, kind="stable")
    best = best_threshold(size[order], (weight * (tied.astype(np.float64) - agree))[order])
    return Marks(np.where(size <= best, tied, agree), weight, best, in_sample=True)


def best_threshold(size: Floats, gain: Floats) -> float:
    """The threshold with the most right pairs; of equally good ones the smallest.

    ``size`` are differences in ascending order, ``gain`` what a pair wins by being called a tie.
    """
    if not len(size):
        return 0.0
    # Sums of weights that are equal but for rounding are equal: the smallest threshold wins.
    right = settled(np.concatenate([[0.0], np.cumsum(gain)]))
    ends = np.flatnonzero(np.concatenate([size[1:] != size[:-1], [True]])) + 1
    # A threshold of 0 makes the pairs with no difference ties; that is the least there is.
    levels, sums = size[ends - 1], right[ends]
    if levels[0] > 0:
        levels, sums = np.concatenate([[0.0], levels]), np.concatenate([[0.0], sums])
    return float(levels[int(np.argmax(sums))])


def swap_test(
    comparisons: Comparisons,
    first: Marks,
    second: Marks,
    *,
    unit: Unit = "sentences",
    resamples: int = 1000,
    rng: Seed = 0,
) -> tuple[float, float]:
    """One-sided p that the first metric is right more often, and that the second is.

    Under the null hypothesis it does not matter which of the two got a pair right: what they got is
    swapped, each metric keeping its own threshold (the pairwise permutation test of Deutsch et al.
    2023). They swap single pairs (``unit="pairs"``); the pairs of one ranking depend on each other,
    so that whole units are swapped by default. With 16 units or fewer all swaps are tried;
    otherwise ``resamples`` are drawn and the data count among them.
    """
    if len(first.right) != len(second.right):
        raise InputError("marks of different comparisons cannot be swapped")
    number, many = comparisons.units(unit)
    lead = first.weight * first.right - second.weight * second.right
    apart = _sums(number, lead, many)
    observed = float(apart.sum())
    apart = apart[apart != 0]  # a unit that both got alike is the same whichever way round
    drawn = len(apart) > EXACT
    if drawn:
        generator = np.random.default_rng(rng)
        null = np.array(
            [(2 * generator.integers(0, 2, len(apart)) - 1) @ apart for _ in range(resamples)]
        )
    else:
        sign = 1 - 2 * ((np.arange(2 ** len(apart))[:, None] >> np.arange(len(apart))) & 1)
        null = sign @ apart
    return both_ways(null, observed, drawn=drawn, within=1e-9)


def tau_c_of_rankings(
    comparisons: Comparisons,
    sign: NDArray[np.int8],
    unit: Unit,
    resamples: int,
    confidence: float,
    rng: Seed,
) -> tuple[float, float, float]:
    """Mean over rankings of Stuart's τ-c (1953), with its interval over units.

    ``τ-c = 2 (agree - disagree) / (n² (m - 1) / m)`` for n systems in a ranking and m the smaller
    number of different places that people or the metric give them; a ranking in which either side
    calls everything equal has none. Only whole rankings have systems to count: every member of an
    output is compared, or one for each.
    """
    if (comparisons.weight != 1).any():
        raise InputError(
            "tau_c counts the systems of a ranking, and expected members are parts of one",
            remedy="use members='all' or 'sample'",
        )
    number, many = comparisons.units("rankings")
    n = len(comparisons.systems)
    both = np.concatenate([comparisons.first, comparisons.second]).astype(np.int64)
    entry, place = np.unique(np.concatenate([number, number]) * n + both, return_inverse=True)
    row = entry // n
    size = np.bincount(row, minlength=many).astype(np.float64)
    outcome = comparisons.outcome.astype(np.float64)

    def classes(said: Floats) -> Floats:
        # Of k equal systems each has k - 1 ties: their shares of 1 / k add up to one class.
        ties = _sums(place, np.concatenate([said == 0, said == 0]), len(entry))
        return _sums(row, 1 / (1 + ties), many)

    least = np.rint(np.minimum(classes(outcome), classes(sign.astype(np.float64))))
    net = _sums(number, outcome * sign, many)
    value = ratio(2 * net * least, size**2 * (least - 1))
    known = ~np.isnan(value)
    low, high = float("nan"), float("nan")
    if resamples and unit != "pairs":
        first = np.unique(number, return_index=True)[1]
        whose, units = comparisons.units(unit)
        top, bottom = (
            _sums(whose[first], column, units)
            for column in (np.where(known, value, 0.0), known.astype(np.float64))
        )
        low, high = _interval(top, bottom, resamples, confidence, rng)
    return float(ratio(value[known].sum(), known.sum())), low, high
