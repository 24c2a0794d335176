"""Texts as arrays for kernels: UTF-8 bytes with offsets, and tokens as integers."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from errata.core.stats import Bools
from errata.kernels import words

Thing = TypeVar("Thing", bound=Hashable)
Bytes = NDArray[np.uint8]

DECODED = 65_536  # texts decoded together: one wide character makes the whole string wide
INTERNED = 16_384  # sentences whose words are numbered together


class Utf8(NamedTuple):
    """Texts as bytes: text ``i`` is ``data[begins[i]:ends[i]]``."""

    data: Bytes
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]

    def decode(self) -> list[str]:
        """Return the texts as strings; none may contain a line feed.

        >>> utf8(["goes", "é", ""]).decode()
        ['goes', 'é', '']
        """
        found: list[str] = []
        for first in range(0, len(self.begins), DECODED):
            part = slice(first, first + DECODED)
            lines = words.gather(self.data, self.begins[part], self.ends[part]).tobytes()
            found += lines.decode(errors="surrogatepass").split("\n")
            found.pop()  # the empty string after the last line feed
        return found


def utf8(texts: Iterable[str]) -> Utf8:
    """Encode texts one after the other.

    >>> utf8(["a", "é"]).ends.tolist()
    [1, 3]
    """
    every = texts if isinstance(texts, list | tuple) else list(texts)
    at = np.zeros(len(every) + 1, np.int64)
    if all(map(str.isascii, every)):
        whole = "".join(every).encode("ascii")
        sizes: Iterable[int] = map(len, every)
    else:  # one by one: a single wide character makes a long text slow to encode
        try:
            encoded = list(map(str.encode, every))
        except UnicodeEncodeError:  # an unpaired surrogate
            encoded = [text.encode("utf-8", "surrogatepass") for text in every]
        whole = b"".join(encoded)
        sizes = map(len, encoded)
    np.cumsum(np.fromiter(sizes, np.int64, len(every)), out=at[1:])
    return Utf8(np.frombuffer(whole, np.uint8), at[:-1], at[1:])


def line_starts(data: bytes) -> NDArray[np.int64]:
    r"""Return where each line begins; the last one may lack a line feed.

    >>> line_starts(b"one\n\nthree").tolist()
    [0, 4, 5]
    """
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
    starts = np.concatenate([[0], ends]).astype(np.int64)
    return starts[:-1] if not data or data.endswith(b"\n") else starts


@dataclass(frozen=True, eq=False)
class Tokens:
    """A batch of sentences as integers: sentence ``i`` is ``ids[offsets[i]:offsets[i + 1]]``."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def joined(cls, *batches: Tokens) -> Tokens:
        """Concatenate batches.

        >>> words = Vocabulary()
        >>> Tokens.joined(words.intern(["a b"]), words.intern(["c", ""])).offsets.tolist()
        [0, 2, 3, 3]
        """
        ids = np.concatenate([np.zeros(0, np.int32), *(batch.ids for batch in batches)])
        starts = np.cumsum([0, *(len(batch.ids) for batch in batches)])
        offsets = [batch.offsets[:-1] + at for batch, at in zip(batches, starts[:-1], strict=True)]
        return cls(ids, np.concatenate([*offsets, starts[-1:]]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> NDArray[np.int32]:
        return self.ids[self.offsets[i] : self.offsets[i + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Return the number of tokens of each sentence."""
        return np.diff(self.offsets)

    def differ(self, other: Tokens) -> Bools:
        """Return which sentences differ from the same sentence of another batch.

        >>> words = Vocabulary()
        >>> words.intern(["a b", "a", "a"]).differ(words.intern(["a  b", "b", "a a"])).tolist()
        [False, True, True]
        """
        mine, theirs = self.lengths, other.lengths
        different: Bools = mine != theirs
        a = self.ids[np.repeat(~different, mine)]
        b = other.ids[np.repeat(~different, theirs)]
        line = np.repeat(np.flatnonzero(~different), mine[~different])
        different[line[a != b]] = True
        return different


class Numbers(Generic[Thing]):
    """Numbers of distinct things, from 0; a thing keeps its number while this lives."""

    def __init__(self) -> None:
        self._numbers: defaultdict[Thing, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, things: Iterable[Thing]) -> NDArray[np.int64]:
        """Return the number of each thing.

        >>> Numbers().number(["a", "b", "a"]).tolist()
        [0, 1, 0]
        """
        with self._lock:
            return np.array(list(map(self._numbers.__getitem__, things)), np.int64)


class Vocabulary(Numbers[str]):
    """Numbers of distinct tokens."""

    def intern(self, sentences: Iterable[str], *, ascii_only: bool = False) -> Tokens:
        """Number the whitespace-separated tokens of each sentence.

        ``ascii_only`` splits at ASCII white space only, as programs that read bytes do.
        """
        every = sentences if isinstance(sentences, Sequence) else list(sentences)
        parts = []
        for i in range(0, len(every), INTERNED):
            ids, offsets, spelled = words.number(*utf8(every[i : i + INTERNED]), ascii_only)
            distinct = spelled.decode(errors="surrogatepass").split("\n")
            distinct.pop()  # the empty string after the last line feed
            # Only distinct words are numbered, under the lock.
            parts.append(Tokens(self.number(distinct).astype(np.int32)[ids], offsets))
        return parts[0] if len(parts) == 1 else Tokens.joined(*parts)

    def intern_tokens(self, sentences: Iterable[Sequence[str]]) -> Tokens:
        """Number the tokens of tokenised sentences."""
        ids: list[int] = []
        offsets = [0]
        with self._lock:
            number = self._numbers.__getitem__
            for tokens in sentences:
                ids.extend(map(number, tokens))
                offsets.append(len(ids))
        return Tokens(np.array(ids, np.int32), np.array(offsets, np.int64))

    def words(self) -> list[str]:
        """Return the tokens in the order of their numbers."""
        return list(self._numbers)
