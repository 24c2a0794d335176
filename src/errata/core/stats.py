"""Numbers as all of Errata uses them: their types, careful division, intervals, bootstrap weights.

Every array of scores is `Floats`, every array of positions or counts `Ints`; whatever takes long
tells a `Progress` how far it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from errata.core.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Progress = Callable[[int, int], None]  # called with (done, total)
Seed = int | np.random.Generator


class Interval(NamedTuple):
    """From where to where a number may lie."""

    low: float
    high: float


class Estimate(NamedTuple):
    """A number with its interval."""

    value: float
    low: float
    high: float


MOST_RESAMPLES = 1_000_000  # drawn without being asked twice
BLOCK = 4_000_000  # numbers held at a time where a matrix is made in blocks


def ratio(numerator: ArrayLike, denominator: ArrayLike, empty: float = np.nan) -> Floats:
    """Divide, with ``empty`` where the denominator is 0.

    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0]), 1.0).tolist()
    [0.5, 1.0]
    """
    below = np.asarray(denominator, np.float64)
    nothing = below == 0
    return np.where(nothing, empty, np.asarray(numerator) / np.where(nothing, 1.0, below))


def stable_order(numbers: NDArray[np.integer]) -> Ints:
    """`np.argsort` with ``kind="stable"`` of whole numbers from 0, several times as fast.

    Number and place are sorted as one number, if both fit into 63 bits.

    >>> stable_order(np.array([2, 0, 2, 1])).tolist()
    [1, 3, 0, 2]
    """
    bits = len(numbers).bit_length()
    if int(numbers.max(initial=0)) >> (63 - bits):
        return np.argsort(numbers, kind="stable")
    both = (numbers.astype(np.int64) << bits) | np.arange(len(numbers))
    both.sort()
    return both & ((1 << bits) - 1)


def group_ids(numbers: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Distinct whole numbers from 0, sorted, and which of them stands at each place.

    >>> [each.tolist() for each in group_ids(np.array([7, 0, 7, 1]))]
    [[0, 1, 7], [2, 0, 2, 1]]
    """
    order = stable_order(numbers)
    ordered = numbers[order].astype(np.int64)
    new = np.ones(len(ordered), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    place = np.empty(len(order), np.int64)
    place[order] = np.cumsum(new) - 1
    return ordered[new], place


def as_integers_if_whole(values: ArrayLike) -> Floats | Ints:
    """Counts as whole numbers, unless some are not (expected members count in parts).

    >>> as_integers_if_whole([2.0, 3.0]).tolist(), as_integers_if_whole([2.0, 0.5]).tolist()
    ([2, 3], [2.0, 0.5])
    """
    given = np.asarray(values, np.float64)
    return given.astype(np.int64) if bool((given % 1 == 0).all()) else given


ROUNDING = 2.0**-44  # relative; what a few hundred operations on doubles leave of one number


def merge_ties(values: ArrayLike, *, within: float = ROUNDING) -> Floats:
    """Values over the last axis, with those that differ by rounding only made equal.

    The keeper of what a tie is. 5/11 has other last bits as ``1 - 6/11``; whether two scores are
    the same must not depend on the order of operations. Values are sorted, and neighbours apart by
    no more than ``within`` of the larger one count as one value, the smallest of them; so ties are
    transitive, and no value near a border is rounded away from its like. Around 0, where rounding
    is that of the terms that cancelled, the measure is 1, or the largest value where that is less.

    Ratios a/b of whole numbers are compared exactly by this while denominators are below four
    million: two different ones lie ``1 / (b b')`` apart or more, equal ones a few units of
    ``2**-53``. Infinities are equal to themselves; NaN stays NaN.

    >>> a, b = 5 / 11, 1 - 6 / 11
    >>> a == b, len(set(merge_ties([a, b, 0.4]).tolist()))
    (False, 2)
    """
    given = np.array(values, np.float64)
    if given.shape[-1:] in ((), (0,)):
        return given
    place = np.argsort(given, axis=-1, kind="stable")
    ordered = np.take_along_axis(given, place, -1)
    size = np.where(np.isfinite(ordered), np.abs(ordered), 0.0)
    least = np.minimum(size.max(-1, keepdims=True), 1.0)
    # inf - inf: no gap; NaN: apart from everything, and so is a gap larger than a double holds.
    with np.errstate(invalid="ignore", over="ignore"):
        gap = ordered[..., 1:] - ordered[..., :-1]
    measure = np.maximum(np.maximum(size[..., 1:], size[..., :-1]), least)
    starts = np.ones(given.shape, bool)
    starts[..., 1:] = ~(gap <= within * measure) & (ordered[..., 1:] != ordered[..., :-1])
    first = np.maximum.accumulate(np.where(starts, np.arange(given.shape[-1]), 0), axis=-1)
    np.put_along_axis(given, place, np.take_along_axis(ordered, first, -1), -1)
    return given


def rescale(values: Floats) -> Floats:
    """Values over the last axis, all divided by one power of two so that the largest is near 1.

    No bit changes but the exponent: sums and squares of numbers near the ends of what a double
    holds then neither overflow nor vanish.

    >>> rescale(np.array([1e308, -1.5e308])).round(3).tolist()
    [0.556, -0.834]
    """
    size = np.abs(values).max(-1, keepdims=True, initial=0.0)
    return np.ldexp(values, -np.frexp(np.where(np.isfinite(size), size, 0.0))[1])


def percentiles(resampled: Floats, confidence: float = 0.95) -> Floats:
    """The middle ``confidence`` of resamples along the first axis: ``[..., (low, high)]``.

    Resamples without a value (NaN) are left out; NaN where none has one.

    >>> percentiles(np.arange(101.0), 0.9).round(9).tolist()
    [5.0, 95.0]
    """
    tail = (1 - confidence) / 2
    if not np.isnan(resampled).any():
        return np.moveaxis(np.quantile(resampled, [tail, 1 - tail], axis=0), 0, -1)
    columns = resampled.reshape(len(resampled), -1).T
    bounds = [
        np.quantile(known, [tail, 1 - tail])
        if len(known := column[~np.isnan(column)])
        else [np.nan, np.nan]
        for column in columns
    ]
    return np.array(bounds, np.float64).reshape(*resampled.shape[1:], 2)


def plural(noun: str, number: int) -> str:
    """Return the form of a noun that follows a number.

    >>> f"1 {plural('line', 1)}, 0 {plural('line', 0)}"
    '1 line, 0 lines'
    """
    return noun if number == 1 else f"{noun}s"


def holm(p_values: ArrayLike) -> Floats:
    """Holm's correction for several tests; NaN stays NaN and does not count.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, np.float64)
    flat = p.ravel().copy()
    known = np.flatnonzero(~np.isnan(flat))
    order = known[np.argsort(flat[known], kind="stable")]
    steps = flat[order] * np.arange(len(order), 0, -1)
    flat[order] = np.minimum(1, np.maximum.accumulate(steps))
    return np.asarray(flat.reshape(p.shape), np.float64)


def seed_name(rng: Seed) -> str:
    """What a signature says of a seed: a generator cannot be named.

    >>> seed_name(7), seed_name(np.random.default_rng(7))
    ('7', 'generator')
    """
    return str(rng) if isinstance(rng, int) else "generator"


def resampling_generator(resamples: int, rng: Seed) -> np.random.Generator:
    """What draws so many resamples from a seed, both of them checked."""
    if not isinstance(resamples, int | np.integer) or resamples < 0:
        raise InputError(f"resamples={resamples!r} should be a whole number, 0 or more")
    if isinstance(rng, int | np.integer) and rng < 0:
        raise InputError(f"the seed {rng} should be 0 or more")
    return np.random.default_rng(rng)


def bootstrap_weights(
    units: int, resamples: int, rng: Seed, *, size: int | None = None, block: int = BLOCK
) -> Iterator[Floats]:
    """How often each unit is drawn in each resample, ``[resample, unit]``, block by block.

    Every resample draws ``size`` units with replacement, as many as there are by default; a block
    holds about ``block`` numbers.

    >>> [weights.sum(axis=1).tolist() for weights in bootstrap_weights(3, 2, 0)]
    [[3.0, 3.0]]
    """
    generator = resampling_generator(resamples, rng)
    step = max(1, block // units)
    for start in range(0, resamples, step):
        weights = np.empty((min(step, resamples - start), units))
        for row in weights:
            row[:] = np.bincount(generator.integers(0, units, size or units), minlength=units)
        yield weights


def wilson(passed: int, of: int, confidence: float = 0.95) -> Estimate:
    """A share with its score interval (Wilson 1927); NaN of nothing.

    >>> [round(x, 3) for x in wilson(9, 10)]
    [0.9, 0.596, 0.982]
    """
    if of == 0:
        return Estimate(float("nan"), 0.0, 1.0)
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    p = passed / of
    middle = (p + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * float(np.sqrt(p * (1 - p) / of + z * z / (4 * of * of)))
    low = 0.0 if passed == 0 else middle - half
    return Estimate(p, low, 1.0 if passed == of else middle + half)
