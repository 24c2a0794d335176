"""What a kernel asks of its arguments before it goes without bounds checks.

Compiled kernels read and write where an index says. So every entry makes sure that indices,
offsets and shapes fit one another, whatever called it; the types of arrays are checked by Cython.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from errata.core.errors import InputError

LARGEST = 2**31 - 1  # positions are C ints
LARGEST_TOTAL = 2**62  # totals, times their weights, are C long longs


def refuse(problem: str) -> InputError:
    """The error of arguments that do not fit one another."""
    return InputError(f"arrays of a kernel do not fit: {problem}")


def same_size(**arrays: Any) -> None:
    """Arrays that must have as many entries as one another."""
    if len({len(array) for array in arrays.values()}) > 1:
        sizes = ", ".join(f"{name} has {len(array)}" for name, array in arrays.items())
        raise refuse(sizes)


def shaped(name: str, array: Any, *shape: int) -> None:
    """An array that must have this shape; -1 leaves an axis open."""
    found = np.shape(array)
    if len(found) != len(shape) or any(b not in (-1, a) for a, b in zip(found, shape, strict=True)):
        raise refuse(f"{name} has the shape {found}, not {shape}")


def within(name: str, values: Any, below: int, least: int = 0) -> None:
    """Numbers that must lie from ``least`` up to, and not at, ``below``."""
    array = np.asarray(values)
    if array.size and not (least <= array.min() and array.max() < below):
        raise refuse(f"{name} goes from {array.min()} to {array.max()}, not {least} to {below - 1}")


def totals_fit(counts: Any, weights: Sequence[int], carry: Sequence[int]) -> bool:
    """Whether no choice among ``[sentence, reference, k]`` leads to totals too large to weigh.

    Seldom more than what all sentences have in common has to be asked, in a twentieth of the time.

    >>> counts = np.array([[[1, 5, 2]], [[0, 1, 1]]])
    >>> [totals_fit(counts, (weight, 0, 0), (0, 0, 0)) for weight in (2**59, 2**60)]
    [True, False]
    >>> totals_fit(np.full((2, 1, 3), 5), (2**59, 0, 0), (0, 0, 0))
    False
    """
    weight, before = float(sum(map(int, weights))), float(max(map(int, carry)))
    most = float(counts.max(initial=0)) * len(counts)
    if (most + before) * weight >= LARGEST_TOTAL:
        most = float(counts.max(axis=(1, 2), initial=0).sum(dtype=np.float64))
    return (most + before) * weight < LARGEST_TOTAL


def offsets(name: str, at: Any, size: int, parts: int | None = None) -> None:
    """Where parts of an array of ``size`` begin and end: not falling, and inside of it."""
    array = np.asarray(at)
    if array.ndim != 1 or not len(array) or size > LARGEST:
        raise refuse(f"{name} is no list of offsets into {size} entries")
    if parts is not None and len(array) != parts + 1:
        raise refuse(f"{name} has {len(array)} entries for {parts} parts")
    # Compared and not subtracted: a difference of large numbers may wrap around.
    if array[0] < 0 or array[-1] > size or (array[1:] < array[:-1]).any():
        raise refuse(f"{name} must rise from 0 to {size} at most")


def spans(name: str, begins: Any, ends: Any, size: int) -> None:
    """Where parts of an array of ``size`` begin and end, in whatever order they stand."""
    first, last = np.asarray(begins), np.asarray(ends)
    if first.ndim != 1 or first.shape != last.shape or size > LARGEST:
        raise refuse(f"{name} are no parts of {size} entries")
    if len(first) and (first.min() < 0 or last.max() > size or (first > last).any()):
        raise refuse(f"{name} must begin before they end, from 0 to {size}")


def edits_fit(at: Any, starts: Any, ends: Any, lengths: Any, *, apart: bool) -> None:
    """Edits of parts (``at`` are their offsets) inside sentences of ``lengths``.

    With ``apart`` they must be in order and not overlap.
    """
    same_size(starts=starts, ends=ends)
    first, last = int(at[0]), int(at[-1])
    start, end = np.asarray(starts)[first:last], np.asarray(ends)[first:last]
    part = np.repeat(np.arange(len(at) - 1), np.diff(np.asarray(at)))
    if ((start < 0) | (start > end) | (end > np.asarray(lengths)[part])).any():
        raise refuse("an edit lies outside its sentence")
    if apart and ((part[1:] == part[:-1]) & (start[1:] < end[:-1])).any():
        raise refuse("edits overlap or are not in order")


def gold_fits(gold: Sequence[Any], first: Any, lengths: Any) -> None:
    """Gold edits of all references, whose sentences have ``lengths`` source tokens."""
    if len(gold) != 6:
        raise refuse("gold edits are six arrays")
    at, start, end, alternative_at, token_at, tokens = gold
    offsets("gold_at", at, len(start))
    offsets("alternative_at", alternative_at, max(0, len(token_at) - 1), len(start))
    offsets("token_at", token_at, len(tokens))
    offsets("first", first, len(at) - 1, len(lengths))
    if first[0] != 0 or first[-1] != len(at) - 1:
        raise refuse("first must name every reference")
    sentence = np.repeat(np.arange(len(lengths)), np.diff(np.asarray(first)))
    edits_fit(at, start, end, np.asarray(lengths)[sentence], apart=False)
