"""How alike two texts are, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from errata.kernels import words
from errata.numbers import ratio
from errata.spelling import Spelled, Utf8

__all__ = ["likeness_of", "same_words"]

# Characters of a line that are compared; time grows with the square.
COMPARED = 20_000
MANY = 4096  # lines, before it pays to share them out


def likeness_of(a: Sequence[str], b: Sequence[str], *, threads: int = 1) -> NDArray[np.float64]:
    """How alike the lines of two texts are, pair by pair: ``1 - changes / characters of both``.

    Changes are the fewest characters that have to be taken out and put in.

    >>> likeness_of(["He go ."], ["He goes ."]).tolist()
    [0.875]
    """
    if not len(a):
        return np.zeros(0)
    # What both begin and end with alike is no change, and is most of most lines.
    if isinstance(a, Spelled) and isinstance(b, Spelled) and max(_bytes(a), _bytes(b)) <= COMPARED:
        sizes = words.characters(*a.where) + words.characters(*b.where)
        a, b = _without_common_ends(a, b)
    else:
        a, b = ([line[:COMPARED] for line in each] for each in (a, b))
        sizes = np.array([len(x) + len(y) for x, y in zip(a, b, strict=True)])
    return 1 - ratio(_changes(a, b, threads), sizes, 0.0)


def _changes(a: Sequence[str], b: Sequence[str], threads: int) -> NDArray[np.int64]:
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cpdist

    # With one worker it asks for the GIL again and again, and waits for whoever has it.
    found: NDArray[np.int64] = cpdist(
        a, b, scorer=Indel.distance, dtype=np.int64, workers=threads if len(a) > MANY else 1
    )
    return found


def _bytes(texts: Spelled) -> int:
    """How many bytes the longest of these has."""
    return int((texts.where.ends - texts.where.begins).max(initial=0))


def _without_common_ends(a: Spelled, b: Spelled) -> tuple[list[str], list[str]]:
    """What two texts do not begin and end with alike, pair by pair."""
    before, behind = words.common_ends(*a.where, *b.where)
    between = (Utf8(x.data, x.begins + before, x.ends - behind) for x in (a.where, b.where))
    mine, theirs = (Spelled(each).strings() for each in between)
    return mine, theirs


def same_words(a: Iterable[str], b: Iterable[str]) -> bool:
    """Whether two texts have the same words in every line."""
    return all(x == y or x.split() == y.split() for x, y in zip(a, b, strict=True))
