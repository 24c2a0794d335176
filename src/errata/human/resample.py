"""Bootstrap resamples of judgments as counts of wins and ties."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from errata.errors import InputError
from errata.human.comparisons import Comparisons, Counts, Floats, check_unit

__all__ = ["bootstrap_counts", "count_resamples"]

BLOCK = 4_000_000  # numbers held at a time where a matrix is made in blocks


def bootstrap_counts(comparisons: Comparisons, unit: str, resamples: int,
                     rng: int | np.random.Generator) -> Counts:
    """Counts of bootstrap resamples, ``[resample, a, b]``, as large as the data.

    Pairs are drawn as one multinomial over (pair of systems, outcome), which is the same as
    drawing single comparisons; rankings, sentences and judges are drawn whole.
    """
    return count_resamples(comparisons, unit, resamples, rng, 1.0)


def count_resamples(comparisons: Comparisons, unit: str, resamples: int,
                    rng: int | np.random.Generator, times: float) -> Counts:
    """Counts of resamples ``times`` as large as the data (in units)."""
    check_unit(unit)
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
    first, second = comparisons.first.astype(np.int64), comparisons.second.astype(np.int64)
    flip = first > second
    outcome = np.where(flip, -comparisons.outcome, comparisons.outcome).astype(np.int64)
    return (np.minimum(first, second) * n + np.maximum(first, second)) * 3 + outcome + 1, n * n * 3


def _draw_units(comparisons: Comparisons, unit: str, resamples: int, rng: np.random.Generator,
                times: float, cell: NDArray[np.int64], cells: int) -> Floats:
    from scipy.sparse import csr_array

    number, units = comparisons.units(unit)
    if units < 2:
        raise InputError(f"there is only one unit ({unit}) to resample",
                         remedy="choose another unit")
    table = csr_array((comparisons.weight, (number, cell)), shape=(units, cells))
    size = max(1, round(units * times))
    step = max(1, BLOCK // units)
    blocks = []
    for start in range(0, resamples, step):
        weights = np.array([np.bincount(rng.integers(0, units, size), minlength=units)
                            for _ in range(min(step, resamples - start))], np.float64)
        blocks.append(weights @ table)
    drawn: Floats = np.concatenate(blocks)
    return drawn


def _unfold(drawn: Floats, n: int) -> Counts:
    tensor = drawn.reshape(len(drawn), n, n, 3)
    lost, tied, won = tensor[..., 0], tensor[..., 1], tensor[..., 2]
    return Counts(won + lost.swapaxes(1, 2), tied + tied.swapaxes(1, 2))
