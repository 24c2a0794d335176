"""Which outputs of a sentence a judge sees together, and in which order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

__all__ = ["grouped"]


def grouped(
    source: str, targets: Iterable[str], *, group: int, repeats: int, seed: int = 0
) -> list[list[tuple[str, ...]]]:
    """Groups of at most ``group`` distinct targets, in order, for each of ``repeats`` turns.

    Every turn has every target once, in groups of nearly equal size. Turns come in pairs: the
    second has each order reversed, so that what a judge gives to a position, in proportion to it,
    cancels out where all targets fit into one group. Where they do not, the groups of the second
    begin in the middle of those of the first: they overlap, and with two turns no target is
    without a chain of groups to any other. The order follows from the texts, the source and the
    seed; names and order of systems do not matter.

    >>> grouped("s", ["a", "b", "c"], group=5, repeats=2)
    [[('a', 'c', 'b')], [('b', 'c', 'a')]]
    >>> [len(each) for turn in grouped("s", "abcdefg", group=3, repeats=2) for each in turn]
    [3, 2, 2, 3, 2, 2]
    """
    distinct = sorted(set(targets))
    turns: list[list[tuple[str, ...]]] = []
    for turn in range(repeats):
        order = _drawn(distinct, source, seed, turn // 2)
        size = -(-len(order) // -(-len(order) // group)) if order else 0
        if turn % 2 and len(order) > group:
            shift = max(1, size // 2)
            order = order[shift:] + order[:shift]
        groups = _cut(order, group)
        turns.append([each[::-1] for each in groups] if turn % 2 else groups)
    return turns


def _drawn(texts: list[str], source: str, seed: int, pair: int) -> list[str]:
    said = f"{seed}\0{pair}\0{source}".encode("utf-8", "surrogatepass")
    start = int.from_bytes(hashlib.sha256(said).digest()[:8], "big")
    return [texts[i] for i in np.random.default_rng(start).permutation(len(texts))]


def _cut(order: list[str], group: int) -> list[tuple[str, ...]]:
    """Consecutive groups whose sizes differ by one at most, the larger ones first."""
    if not order:
        return []
    count = -(-len(order) // group)
    small, larger = divmod(len(order), count)
    starts = [i * small + min(i, larger) for i in range(count + 1)]
    return [tuple(order[a:b]) for a, b in pairwise(starts)]
