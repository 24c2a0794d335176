"""Texts as bytes of UTF-8, which is what kernels read, with or without their strings.

What was read from a file need not become strings before somebody asks for them, nor bytes again
for whoever asks for those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from errata.kernels import words

__all__ = ["Bytes", "Spelled", "Utf8", "utf8"]

Bytes = NDArray[np.uint8]

TOGETHER = 65_536  # texts that are decoded in one go: one wide letter makes all of them wide


class Utf8(NamedTuple):
    """Texts as bytes: text ``i`` is ``data[begins[i]:ends[i]]``."""

    data: Bytes
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]


class Spelled(Sequence[str]):
    """Texts that stand in bytes, each of them in a line, as strings for who asks for these.

    >>> from errata.spelling import Spelled, utf8
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
        return iter(self.strings())

    def taken(self, which: NDArray[np.bool_]) -> Spelled:
        """Those of which this is true."""
        return Spelled(Utf8(self.where.data, self.where.begins[which], self.where.ends[which]))

    def strings(self) -> list[str]:
        """All of them, in a fraction of the time that one after the other takes."""
        data, begins, ends = self.where
        found: list[str] = []
        for first in range(0, len(self), TOGETHER):
            part = slice(first, first + TOGETHER)
            lines = words.gather(data, begins[part], ends[part]).tobytes()
            found += lines.decode(errors="surrogatepass").split("\n")
            found.pop()  # what follows the last line feed
        return found


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
