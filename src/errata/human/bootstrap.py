"""Bootstrap resamples of judgments as counts of wins and ties."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from errata.errors import InputError
from errata.human.comparisons import Comparisons, Counts, Unit
from errata.numbers import BLOCK, Floats, Seed, bootstrap_weights
from errata.parameters import require

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["bootstrap_counts", "count_resamples", "deal"]

LARGEST_PACK = 10**9  # beyond it NumPy does not draw without replacement


def bootstrap_counts(
    comparisons: Comparisons, unit: Unit, resamples: int, rng: Seed, *, balanced: bool = False
) -> Counts:
    """Counts of bootstrap resamples, ``[resample, a, b]``, as large as the data.

    Pairs are drawn as one multinomial over (pair of systems, outcome), which is the same as
    drawing single comparisons; rankings, sentences and judges are drawn whole.

    ``balanced`` draws every unit equally often over all resamples together (Davison, Hinkley &
    Schechtman 1986): as many copies of the data as there are resamples are shuffled and cut. The
    mean of the resampled counts is then that of the data, and the mean of a score is freed of
    most of the error that comes from drawing so many resamples and no more.
    """
    if balanced:
        return _balanced_counts(comparisons, unit, resamples, np.random.default_rng(rng))
    return count_resamples(comparisons, unit, resamples, rng, 1.0)


def count_resamples(
    comparisons: Comparisons, unit: Unit, resamples: int, rng: Seed, times: float
) -> Counts:
    """Counts of resamples ``times`` as large as the data (in units)."""
    require("unit", unit, Unit)
    generator = np.random.default_rng(rng)
    cell, cells = _cells(comparisons)
    if unit == "pairs":
        weight = np.bincount(cell, comparisons.weight, minlength=cells)
        size = round(comparisons.total * times)
        drawn = generator.multinomial(size, weight / weight.sum(), resamples).astype(np.float64)
    else:
        drawn = _draw_units(comparisons, unit, resamples, generator, times, cell, cells)
    return _unfold(drawn, len(comparisons.systems))


def _cells(comparisons: Comparisons) -> tuple[NDArray[np.int64], int]:
    """The number of each row's cell: pair of systems (either way round) and outcome."""
    n = len(comparisons.systems)
    rows = comparisons.turned()
    return (rows.first.astype(np.int64) * n + rows.second) * 3 + rows.outcome + 1, n * n * 3


def _balanced_counts(
    comparisons: Comparisons, unit: Unit, resamples: int, rng: np.random.Generator
) -> Counts:
    require("unit", unit, Unit)
    cell, cells = _cells(comparisons)
    if unit == "pairs":
        weight = np.bincount(cell, comparisons.weight, minlength=cells)
        if (weight != np.round(weight)).any():
            raise InputError(
                "parts of comparisons cannot be drawn equally often",
                remedy="leave out balanced, or choose another unit than pairs",
            )
        drawn = np.array(list(deal(weight.astype(np.int64), resamples, rng)), np.float64)
        return _unfold(drawn, len(comparisons.systems))
    table = _unit_table(comparisons, unit, cell, cells)
    hands = deal(np.ones(table.shape[0], np.int64), resamples, rng)
    blocks = []
    while block := list(islice(hands, max(1, BLOCK // table.shape[0]))):
        blocks.append(np.array(block, np.float64) @ table)
    return _unfold(np.concatenate(blocks), len(comparisons.systems))


def deal(
    weight: NDArray[np.int64], resamples: int, rng: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Deal ``resamples`` copies of a pack out to as many players, each as many as a pack holds.

    ``weight[k]`` is how many cards of kind k a pack has. One player after the other draws from
    what is left (a multivariate hypergeometric distribution), which is the same as shuffling.

    >>> sum(deal(np.array([3, 1]), 4, np.random.default_rng(0))).tolist()
    [12, 4]
    """
    size = int(weight.sum())
    if size * resamples >= LARGEST_PACK:
        raise InputError(
            f"{resamples} balanced resamples of {size} units are too many",
            remedy="leave out balanced: with so much data it changes nothing",
        )
    kinds = np.flatnonzero(weight)  # kinds without cards would only cost time
    left = weight[kinds] * resamples
    for player in range(resamples):
        hand = np.zeros(len(weight), np.int64)
        hand[kinds] = (
            left
            if player == resamples - 1
            else rng.multivariate_hypergeometric(left, size, method="marginals")
        )
        left = left - hand[kinds]
        yield hand


def _unit_table(
    comparisons: Comparisons, unit: Unit, cell: NDArray[np.int64], cells: int
) -> csr_array:
    """What each unit says: ``[unit, cell]``."""
    from scipy.sparse import csr_array

    number, units = comparisons.units(unit)
    if units < 2:
        raise InputError(
            f"there is only one unit ({unit}) to resample", remedy="choose another unit"
        )
    return csr_array((comparisons.weight, (number, cell)), shape=(units, cells))


def _draw_units(
    comparisons: Comparisons,
    unit: Unit,
    resamples: int,
    rng: np.random.Generator,
    times: float,
    cell: NDArray[np.int64],
    cells: int,
) -> Floats:
    table = _unit_table(comparisons, unit, cell, cells)
    units = table.shape[0]
    size = max(1, round(units * times))
    drawn: Floats = np.concatenate(
        [weights @ table for weights in bootstrap_weights(units, resamples, rng, size=size)]
    )
    return drawn


def _unfold(drawn: Floats, n: int) -> Counts:
    tensor = drawn.reshape(len(drawn), n, n, 3)
    lost, tied, won = tensor[..., 0], tensor[..., 1], tensor[..., 2]
    return Counts(won + lost.swapaxes(1, 2), tied + tied.swapaxes(1, 2))
