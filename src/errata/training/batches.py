"""Which rows go through a model together: those of like length, in an order that chance decides.

Padding is what a batch of mixed lengths mostly computes. Rows are shuffled, cut into blocks of
several batches, sorted by length inside a block, and the batches are shuffled again: chance stays,
most padding goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from errata.numbers import Ints

__all__ = ["by_length", "epoch_batches"]

BLOCK_BATCHES = 16  # sorted together: enough to meet one's like, few enough for chance


def epoch_batches(lengths: Sequence[int] | Ints, size: int, rng: np.random.Generator) -> list[Ints]:
    """Batches that hold every row once, rows of like length together.

    >>> batches = epoch_batches([9, 1, 8, 2], 2, np.random.default_rng(0))
    >>> sorted(sorted(batch.tolist()) for batch in batches)
    [[0, 2], [1, 3]]
    """
    given = np.asarray(lengths, np.int64)
    order = rng.permutation(len(given))
    batches = []
    for start in range(0, len(order), size * BLOCK_BATCHES):
        block = order[start : start + size * BLOCK_BATCHES]
        block = block[np.argsort(given[block], kind="stable")]
        batches += [block[k : k + size] for k in range(0, len(block), size)]
    return [batches[k] for k in rng.permutation(len(batches)).tolist()]


def by_length(lengths: Sequence[int] | Ints, size: int) -> Iterator[Ints]:
    """Batches for looking only, the longest first."""
    order = np.argsort(-np.asarray(lengths, np.int64), kind="stable")
    for start in range(0, len(order), size):
        yield order[start : start + size]
