"""Translation edit rate between texts, as counts of edits (Snover et al. 2006).

A kernel of our own gives what sacrebleu's ``translation_edit_rate`` gives, which the tests check,
in a small part of its time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from errata.data import Vocabulary
from errata.kernels import ter as kernel
from errata.numbers import Progress
from errata.workers import in_order, parts

__all__ = ["edit_counts", "operation_counts"]

TextPair = tuple[str, str]
BATCH = 500  # pairs a thread takes at a time


def edit_counts(
    pairs: Sequence[TextPair],
    *,
    lowercase: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.int64]:
    """How many insertions, deletions, substitutions and shifts turn each text into the other.

    The sum of what `operation_counts` gives, with the same options.

    >>> edit_counts([("a b c d", "c d a b"), ("a b", "A b")]).tolist()
    [1, 0]
    """
    counts = operation_counts(pairs, lowercase=lowercase, threads=threads, progress=progress)
    edits: NDArray[np.int64] = counts.sum(axis=1)
    return edits


def operation_counts(
    pairs: Sequence[TextPair],
    *,
    lowercase: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.int64]:
    """Insertions, deletions, substitutions and shifts apart: ``[pair, 4]``.

    The first of a pair is TER's hypothesis, the second its reference; tokens are what blanks
    separate. ``lowercase`` folds the case first, as Tercom does unless told otherwise.
    ``threads`` defaults to the number of cores.

    >>> operation_counts([("a b c d e", "c d a b x")]).tolist()
    [[0, 0, 1, 1]]
    """
    folded = [(a.lower(), b.lower()) if lowercase else (a, b) for a, b in pairs]
    distinct = list(dict.fromkeys(folded))
    blocks = [distinct[part] for part in parts(len(distinct), BATCH)]
    counts = in_order(_count, blocks, threads=threads, progress=progress, size=len)
    known = dict(zip(distinct, np.concatenate([*counts, np.zeros((0, 4), np.int64)]), strict=True))
    return np.array([known[pair] for pair in folded], np.int64).reshape(-1, 4)


def _count(pairs: Sequence[TextPair]) -> NDArray[np.int64]:
    words = Vocabulary()
    left, right = (words.intern(pair[k] for pair in pairs) for k in (0, 1))
    counts: NDArray[np.int64] = kernel.count_edits(left.ids, left.offsets, right.ids, right.offsets)
    return counts
