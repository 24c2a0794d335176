"""Bootstrap of win counts; win matrix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.parameters import require
from errata.core.stats import BLOCK, Floats, Progress, Seed, bootstrap_weights, ratio
from errata.human.comparisons import Comparisons, Counts, Unit

if TYPE_CHECKING:
    from scipy.sparse import csr_array


LARGEST_PACK = 10**9  # beyond it NumPy does not draw without replacement
FULL = 0.1  # share of the cells of a table from which on it is not quicker without its zeros


@dataclass(frozen=True, kw_only=True)
class Draw:
    """A bootstrap to be drawn: of what, how often, and from which random numbers.

    ``threads`` and ``progress`` go to rankers that take long; they change no number.
    """

    rng: np.random.Generator
    unit: Unit = "sentences"
    resamples: int = 1000
    balanced: bool = False
    threads: int | None = None
    progress: Progress | None = None

    def counts(self, comparisons: Comparisons) -> Iterator[Counts]:
        """The counts of the resamples, ``[resample, a, b]``, some resamples at a time."""
        return counts_in_blocks(
            comparisons, self.unit, self.resamples, self.rng, balanced=self.balanced
        )


def bootstrap_counts(
    comparisons: Comparisons,
    unit: Unit,
    resamples: int,
    rng: Seed,
    *,
    balanced: bool = False,
    times: float = 1.0,
) -> Counts:
    """Counts of bootstrap resamples, ``[resample, a, b]``, ``times`` as large as the data.

    Pairs are drawn as one multinomial over (pair of systems, outcome), which is the same as
    drawing single comparisons; rankings, sentences and judges are drawn whole.

    ``balanced`` draws every unit equally often over all resamples together (Davison, Hinkley &
    Schechtman 1986): as many copies of the data as there are resamples are shuffled and cut. The
    mean of the resampled counts is then that of the data, and the mean of a score is freed of
    most of the error that comes from drawing so many resamples and no more.
    """
    blocks = list(
        counts_in_blocks(comparisons, unit, resamples, rng, balanced=balanced, times=times)
    )
    return Counts(*(np.concatenate(tables) for tables in zip(*blocks, strict=True)))


def counts_in_blocks(
    comparisons: Comparisons,
    unit: Unit,
    resamples: int,
    rng: Seed,
    *,
    balanced: bool = False,
    times: float = 1.0,
    block: int = BLOCK,
) -> Iterator[Counts]:
    """`bootstrap_counts` in parts of about ``block`` numbers: n systems have 3 n² counts each."""
    require("unit", unit, Unit)
    generator = np.random.default_rng(rng)
    cell, cells = _pair_outcome_cells(comparisons)
    # Pairs are drawn by their cells, which need no table of what they say.
    table = None if unit == "pairs" else _unit_table(comparisons, unit, cell, cells)
    if table is None:
        weight = np.bincount(cell, comparisons.weight, minlength=cells).astype(np.float64)
    else:
        weight = np.ones(table.shape[0])
    step = max(1, block // max(cells, len(weight)))
    draws: Iterable[Floats]
    if balanced:
        draws = _balanced_draws(weight, resamples, generator, step)
    elif table is None:
        size = round(comparisons.total * times)
        draws = (
            generator.multinomial(size, weight / weight.sum(), part).astype(np.float64)
            for part in _block_sizes(resamples, step)
        )
    else:
        size = max(1, round(len(weight) * times))
        draws = bootstrap_weights(
            len(weight), resamples, generator, size=size, block=step * len(weight)
        )
    for some in draws:
        # Laid out cell by cell, full or not: sums of what lies otherwise differ in the last digit.
        drawn = some if table is None else (table.T @ some.T).T
        yield _counts_from_cells(drawn, len(comparisons.systems))


def _block_sizes(resamples: int, step: int) -> Iterator[int]:
    """How many resamples each block has."""
    return (min(step, resamples - start) for start in range(0, resamples, step))


def _pair_outcome_cells(comparisons: Comparisons) -> tuple[NDArray[np.int64], int]:
    """The number of each row's cell: pair of systems (either way round) and outcome."""
    n = len(comparisons.systems)
    rows = comparisons.order_pairs()
    return (rows.first.astype(np.int64) * n + rows.second) * 3 + rows.outcome + 1, n * n * 3


def _balanced_draws(
    weight: Floats, resamples: int, rng: np.random.Generator, step: int
) -> Iterator[Floats]:
    """How often each kind is drawn, ``[resample, kind]``, block by block."""
    if (weight != np.round(weight)).any():
        raise InputError(
            "parts of comparisons cannot be drawn equally often",
            remedy="leave out balanced, or choose another unit than pairs",
        )
    hands = deal_resamples(weight.astype(np.int64), resamples, rng)
    while block := list(islice(hands, step)):
        yield np.array(block, np.float64)


def deal_resamples(
    weight: NDArray[np.int64], resamples: int, rng: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Deal ``resamples`` copies of a pack out to as many players, each as many as a pack holds.

    ``weight[k]`` is how many cards of kind k a pack has. One player after the other draws from
    the rest (a multivariate hypergeometric distribution), which is the same as shuffling.

    >>> sum(deal_resamples(np.array([3, 1]), 4, np.random.default_rng(0))).tolist()
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
) -> csr_array | Floats:
    """What each unit says: ``[unit, cell]``."""
    number, units = comparisons.units(unit)
    if units < 2:
        raise InputError(
            f"there is only one unit ({unit}) to resample", remedy="choose another unit"
        )
    weight, size = comparisons.weight, units * cells
    # Whole numbers come to the same in whatever order they are added, parts of them do not.
    if len(weight) > FULL * size and size <= BLOCK and (weight == np.round(weight)).all():
        added = np.bincount(number * cells + cell, weight, size).astype(np.float64)
        return added.reshape(units, cells)

    from scipy.sparse import csr_array

    return csr_array((weight, (number, cell)), shape=(units, cells))


def _counts_from_cells(drawn: Floats, n: int) -> Counts:
    tensor = drawn.reshape(len(drawn), n, n, 3)
    lost, tied, won = tensor[..., 0], tensor[..., 1], tensor[..., 2]
    return Counts(won + lost.swapaxes(1, 2), tied + tied.swapaxes(1, 2))


# ---- Every system against every other.


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
