"""Translation edit rate between texts, as counts of edits (Snover et al. 2006).

A kernel of our own gives what sacrebleu's ``translation_edit_rate`` gives, which the tests check,
in a small part of its time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from errata.data import Vocabulary
from errata.kernels import ter as kernel

__all__ = ["edit_counts"]

Pair = tuple[str, str]
CHUNK = 500  # pairs a thread takes at a time


def edit_counts(
    pairs: Sequence[Pair],
    *,
    lowercase: bool = True,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> NDArray[np.int64]:
    """How many insertions, deletions, substitutions and shifts turn each text into the other.

    The first of a pair is TER's hypothesis, the second its reference; tokens are what blanks
    separate. ``lowercase`` folds the case first, as Tercom does unless told otherwise.
    ``processes`` is how many threads work at a time (default: all cores).

    >>> edit_counts([("a b c d", "c d a b"), ("a b", "A b")]).tolist()
    [1, 0]
    """
    folded = [(a.lower(), b.lower()) if lowercase else (a, b) for a, b in pairs]
    distinct = list(dict.fromkeys(folded))
    blocks = [distinct[i : i + CHUNK] for i in range(0, len(distinct), CHUNK)]
    counts: list[int] = []
    with ThreadPoolExecutor(processes or os.cpu_count() or 1) as pool:
        for block in pool.map(_count, blocks):
            counts += block.tolist()
            if progress is not None:
                progress(len(counts), len(distinct))
    known = dict(zip(distinct, counts, strict=True))
    return np.array([known[pair] for pair in folded], np.int64)


def _count(pairs: Sequence[Pair]) -> NDArray[np.int64]:
    words = Vocabulary()
    left, right = (words.intern(pair[k] for pair in pairs) for k in (0, 1))
    edits = np.zeros(len(pairs), np.int64)
    kernel.count_edits(left.ids, left.offsets, right.ids, right.offsets, edits)
    return edits
