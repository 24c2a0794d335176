"""Translation edit rate between texts, as counts of edits (Snover et al. 2006).

sacrebleu computes it; here pairs are lower-cased (Tercom's default), counted once however often
they occur, and shared out among processes, since a pair of rewrites takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

__all__ = ["edit_counts"]

Pair = tuple[str, str]
CHUNK = 200  # pairs a process takes at a time


def edit_counts(pairs: Sequence[Pair], *, lowercase: bool = True, processes: int = 1,
                progress: Callable[[int, int], None] | None = None) -> NDArray[np.int64]:
    """How many insertions, deletions, substitutions and shifts turn each text into the other.

    The first of a pair is TER's hypothesis, the second its reference; tokens are what blanks
    separate. With several ``processes`` a script must be importable (``if __name__ ==
    "__main__"``), as for everything that starts processes.

    >>> edit_counts([("a b c d", "c d a b"), ("a b", "A b")]).tolist()
    [1, 0]
    """
    folded = [(a.lower(), b.lower()) if lowercase else (a, b) for a, b in pairs]
    distinct = list(dict.fromkeys(folded))
    blocks = [distinct[i:i + CHUNK] for i in range(0, len(distinct), CHUNK)]
    counts: list[int] = []

    def gather(found: Iterable[list[int]]) -> None:
        for block in found:
            counts.extend(block)
            if progress is not None:
                progress(len(counts), len(distinct))

    if processes <= 1 or len(blocks) <= 1:
        gather(map(_count, blocks))
    else:
        # Spawned and not forked: threads of ours may hold locks.
        with ProcessPoolExecutor(min(processes, len(blocks)), get_context("spawn")) as pool:
            gather(pool.map(_count, blocks))
    known = dict(zip(distinct, counts, strict=True))
    return np.array([known[pair] for pair in folded], np.int64)


def _count(pairs: list[Pair]) -> list[int]:
    from rapidfuzz.distance import Levenshtein
    from sacrebleu.metrics.lib_ter import translation_edit_rate

    found = []
    for a, b in pairs:
        left, right = a.split(), b.split()
        # A shift is an edit too, so that it cannot make one edit fewer than one.
        plain = Levenshtein.distance(left, right, score_cutoff=1)
        found.append(plain if plain <= 1 else int(translation_edit_rate(left, right)[0]))
    return found
