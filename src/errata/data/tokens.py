"""Texts as bytes of UTF-8, which is what kernels read, with or without their strings.

What was read from a file need not become strings before somebody asks for them, nor bytes again
for whoever asks for those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from operator import ne
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from errata.kernels import words

Bytes = NDArray[np.uint8]

NEAR = 4096  # texts whose bytes stay near the processor while they are looked at
FIRST = 16  # texts that are made into strings for whoever asks for one after the other
FEW = 32  # texts that are as soon decoded one by one
TOGETHER = 65_536  # texts that are decoded in one go: one wide letter makes all of them wide


class Utf8(NamedTuple):
    """Texts as bytes: text ``i`` is ``data[begins[i]:ends[i]]``."""

    data: Bytes
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]


class Spelled(Sequence[str]):
    """Texts that stand in bytes, each of them in a line, as strings for who asks for these.

    >>> from errata.data.tokens import Spelled, utf8
    >>> texts = Spelled(utf8(["goes", "é", ""]))
    >>> texts[1], list(texts[1:]), len(texts)
    ('é', ['é', ''], 3)
    """

    def __init__(self, where: Utf8) -> None:
        self.where = where

    def __len__(self) -> int:
        return len(self.where.begins)

    @overload
    def __getitem__(self, which: int) -> str: ...
    @overload
    def __getitem__(self, which: slice) -> Spelled: ...

    def __getitem__(self, which: int | slice) -> str | Spelled:
        data, begins, ends = self.where
        if isinstance(which, slice):
            parts = (np.ascontiguousarray(each[which]) for each in (begins, ends))
            return Spelled(Utf8(data, *parts))
        return data[begins[which] : ends[which]].tobytes().decode(errors="surrogatepass")

    def __iter__(self) -> Iterator[str]:
        # Few at first, then more: whoever compares two texts often stops at the first line.
        first, size = 0, FIRST
        while first < len(self):
            yield from self[first : first + size].strings()
            first, size = first + size, min(2 * size, NEAR)

    def taken(self, which: NDArray[np.bool_]) -> Spelled:
        """Those of which this is true."""
        return Spelled(Utf8(self.where.data, self.where.begins[which], self.where.ends[which]))

    def joined(self, *others: Spelled) -> Spelled:
        """These and, behind them, others that stand in the same bytes."""
        every = [each.where for each in (self, *others)]
        begins, ends = (np.concatenate([w[k] for w in every]) for k in (1, 2))
        return Spelled(Utf8(self.where.data, begins, ends))

    def strings(self) -> list[str]:
        """All of them, in a fraction of the time that one after the other takes."""
        data, begins, ends = self.where
        if len(self) < FEW:
            places = zip(begins.tolist(), ends.tolist(), strict=True)
            return [data[a:b].tobytes().decode(errors="surrogatepass") for a, b in places]
        found: list[str] = []
        for first in range(0, len(self), TOGETHER):
            part = slice(first, first + TOGETHER)
            lines = words.gather(data, begins[part], ends[part]).tobytes()
            found += lines.decode(errors="surrogatepass").split("\n")
            found.pop()  # what follows the last line feed
        return found


def differing(texts: Sequence[str], others: Sequence[str]) -> NDArray[np.bool_]:
    """Which texts are not the same as as many others, one by one.

    >>> differing(Spelled(utf8(["a", "b"])), ["a", "c"]).tolist()
    [False, True]
    """
    if isinstance(texts, Spelled) and isinstance(others, Spelled):
        found: NDArray[np.bool_] = words.differ(*texts.where, *others.where)
        return found
    return np.fromiter(map(ne, texts, others), np.bool_, len(texts))


def all_alike(texts: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two lists of texts say the same.

    >>> all_alike(Spelled(utf8(["a", "b"])), ("a", "b")), all_alike(["a"], ["a", "a"])
    (True, False)
    """
    if texts is others or len(texts) != len(others):
        return texts is others
    return not any(
        differing(texts[i : i + NEAR], others[i : i + NEAR]).any()
        for i in range(0, len(texts), NEAR)
    )


def some_of(texts: Sequence[str], which: NDArray[np.bool_]) -> Sequence[str]:
    """The texts of which this is true.

    >>> some_of(["a", "b"], np.array([False, True]))
    ['b']
    """
    return texts.taken(which) if isinstance(texts, Spelled) else list(compress(texts, which))


def strings(texts: Sequence[str]) -> list[str]:
    """All texts as strings.

    >>> strings(Spelled(utf8(["a"]))), strings(("a", "b"))
    (['a'], ['a', 'b'])
    """
    return texts.strings() if isinstance(texts, Spelled) else list(texts)


def line_places(data: bytes) -> Utf8:
    r"""The lines of a text, each ended by a line feed, the last one perhaps by nothing.

    >>> Spelled(line_places(b"one\n\nthree")).strings()
    ['one', '', 'three']
    """
    text = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(text == ord("\n")).astype(np.int64)
    if data and not data.endswith(b"\n"):
        ends = np.append(ends, len(data))
    begins = np.zeros(len(ends), np.int64)
    begins[1:] = ends[:-1] + 1
    return Utf8(text, begins, ends)


def utf8(texts: Iterable[str]) -> Utf8:
    """The bytes of all texts.

    >>> utf8(["a", "é"]).ends.tolist()
    [1, 3]
    """
    if isinstance(texts, Spelled):
        return texts.where
    every = texts if isinstance(texts, list | tuple) else list(texts)
    at = np.zeros(len(every) + 1, np.int64)
    if all(map(str.isascii, every)):
        whole = "".join(every).encode("ascii")
        sizes: Iterable[int] = map(len, every)
    else:  # one by one: a single wide character makes all of a long text slow to encode
        try:
            encoded = list(map(str.encode, every))
        except UnicodeEncodeError:  # half a character, which no file has
            encoded = [text.encode("utf-8", "surrogatepass") for text in every]
        whole = b"".join(encoded)
        sizes = map(len, encoded)
    np.cumsum(np.fromiter(sizes, np.int64, len(every)), out=at[1:])
    return Utf8(np.frombuffer(whole, np.uint8), at[:-1], at[1:])
