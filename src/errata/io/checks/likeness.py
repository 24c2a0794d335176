"""How alike two texts are, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["likeness_of", "same_words"]

# Characters of a line that are compared; time grows with the square.
COMPARED = 20_000
MANY = 4096  # lines, before it pays to share them out


def likeness_of(a: Sequence[str], b: Sequence[str], *, threads: int = 1) -> NDArray[np.float64]:
    """How alike the lines of two texts are, pair by pair."""
    if not len(a):
        return np.zeros(0)
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cpdist

    if max(map(len, a)) > COMPARED or max(map(len, b)) > COMPARED:
        a, b = [line[:COMPARED] for line in a], [line[:COMPARED] for line in b]
    # With one worker it asks for the GIL again and again, and waits for whoever has it.
    result: NDArray[np.float64] = cpdist(
        a,
        b,
        scorer=Indel.normalized_similarity,
        dtype=np.float64,
        workers=threads if len(a) > MANY else 1,
    )
    return result


def same_words(a: Iterable[str], b: Iterable[str]) -> bool:
    """Whether two texts have the same words in every line."""
    return all(x == y or x.split() == y.split() for x, y in zip(a, b, strict=True))
