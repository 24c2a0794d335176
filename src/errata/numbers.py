"""Bootstrap resamples as weights, in blocks that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "bootstrap_weights"]

BLOCK = 4_000_000  # numbers held at a time where a matrix is made in blocks


def bootstrap_weights(
    units: int, resamples: int, rng: int | np.random.Generator, *, size: int | None = None
) -> Iterator[NDArray[np.float64]]:
    """How often each unit is drawn in each resample, ``[resample, unit]``, block by block.

    Every resample draws ``size`` units with replacement, as many as there are by default.

    >>> [weights.sum(axis=1).tolist() for weights in bootstrap_weights(3, 2, 0)]
    [[3.0, 3.0]]
    """
    generator = np.random.default_rng(rng)
    step = max(1, BLOCK // units)
    for start in range(0, resamples, step):
        rows = [
            np.bincount(generator.integers(0, units, size or units), minlength=units)
            for _ in range(min(step, resamples - start))
        ]
        yield np.array(rows, np.float64)
