"""Sentences in a stream of bytes: how many, where each starts, and some at a time.

In a text a sentence is a line. In M2 it is an ``S `` line with its paragraph, and only where a
paragraph starts can a file be cut; blank lines belong to the paragraph before them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.errors import InputError
from errata.spelling import line_places

__all__ = ["Sentences", "Taken", "WholeSentences", "chunks", "count", "cut_before", "starts_before"]

CHUNK = 1 << 20
# No line, and no paragraph, is longer: one that seems to be is of a file of another kind.
LONGEST = 1 << 28
MARK = b"\xef\xbb\xbf"  # that of the byte order, at the start of some files


class WholeSentences(NamedTuple):
    """Whole sentences of a file: where they start, in bytes and in lines, and their text."""

    start: int
    first_line: int
    data: bytes


def chunks(
    file: IO[bytes], name: str, *, m2: bool, at_start: bool = True
) -> Iterator[WholeSentences]:
    """A stream in chunks of whole lines, or of whole paragraphs, of a megabyte or more.

    Places are counted from where the stream stands; ``at_start`` says that this is the start of
    the file, where a byte order mark is no part of the text.
    """
    start, line, rest = 0, 1, b""
    if at_start:
        rest = file.read(max(CHUNK, len(MARK)))
        if rest.startswith(MARK):
            start, rest = len(MARK), rest[len(MARK) :]
    size = CHUNK
    while True:
        more = file.read(size)
        data = rest + more
        end = _whole(data, m2) if more else len(data)
        if end:
            yield WholeSentences(start, line, data[:end])
            line += _line_ends(data[:end])
            start += end
        elif len(data) > LONGEST:
            raise InputError(
                f"no {'blank line' if m2 else 'line end'} within {len(data):,} bytes",
                path=name,
                line=line,
                remedy="is this an M2 file?" if m2 else "is this text, one sentence a line?",
            )
        rest = data[end:]
        size = CHUNK if end else max(CHUNK, len(data))  # or a long line is searched too often
        if not more:
            return


def _whole(data: bytes, m2: bool) -> int:
    """Up to where these bytes are whole lines, or whole paragraphs."""
    if not m2:
        return data.rfind(b"\n") + 1
    blank = data.rfind(b"\n\n") + 2
    # Behind it only: where there is none at all, everything would be searched.
    blank = max(blank, data.rfind(b"\n\r\n", max(0, blank - 3)) + 3)
    return blank if blank > 2 else 0


def count(data: bytes, *, m2: bool) -> int:
    r"""How many sentences start in a chunk.

    >>> count(b"S a b\nA 0 1|||X|||c|||REQUIRED|||-NONE-|||0\n\nS b\n", m2=True)
    2
    >>> count(b"a\n\nb", m2=False)
    3
    """
    if not m2:
        return _line_ends(data) + (not data.endswith(b"\n") and bool(data))
    return len(_source_lines(data))


def _line_ends(data: bytes) -> int:
    """How many line feeds there are, in a tenth of the time that ``data.count`` takes."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))


def _source_lines(data: bytes) -> NDArray[np.int64]:
    """Where the ``S `` lines of a chunk start."""
    text = np.frombuffer(data, np.uint8)
    starts: NDArray[np.int64] = np.zeros(0, np.int64)
    if data:
        starts = np.append(0, np.flatnonzero(text[:-1] == ord("\n")) + 1)
    starts = starts[text[starts] == ord("S")]
    sure = text[np.minimum(starts + 1, len(data) - 1)] == ord(" ")
    for k in np.flatnonzero(~sure).tolist():  # seldom a line is a bare S
        sure[k] = _is_source(data, int(starts[k]))
    found: NDArray[np.int64] = starts[sure]
    return found


def _is_source(data: bytes, at: int) -> bool:
    return data.startswith((b"S ", b"S\n", b"S\r\n"), at) or data[at : at + 3] in (b"S", b"S\r")


def starts_before(data: bytes, at: int, *, m2: bool) -> int:
    """How many sentences of a chunk start before its byte ``at``."""
    if not at:
        return 0
    return count(data[:at], m2=m2) if m2 else data.count(b"\n", 0, at - 1) + 1


def cut_before(data: bytes, n: int, *, m2: bool) -> tuple[int, int]:
    """Where sentence ``n`` (from 0) of a chunk starts, or the first after it that can be cut off.

    Gives its number and its byte. Of two ``S `` lines in a paragraph only the first can be.
    """
    return _cut(data, n, m2, _starts(data, m2)) if n else (0, 0)


def _starts(data: bytes, m2: bool) -> NDArray[np.int64]:
    """Where the sentences of a chunk start, or the ``S `` lines of those of M2."""
    return _source_lines(data) if m2 else line_places(data).begins


def _cut(data: bytes, n: int, m2: bool, starts: NDArray[np.int64]) -> tuple[int, int]:
    """The same of a chunk whose sentences start there."""
    for k, at in enumerate(starts[n:].tolist(), n):
        start = _paragraph(data, at) if m2 else at
        if start is not None:
            return k, start
    return len(starts) if m2 else n, len(data)


def _paragraph(data: bytes, at: int) -> int | None:
    """Where the paragraph starts whose first ``S `` line is at ``at``; None if it is not that."""
    while at:
        before = data.rfind(b"\n", 0, at - 1) + 1
        line = data[before : at - 1]
        if not line.strip() or line.decode("utf-8", "replace").isspace():
            return at
        if _is_source(data, before):
            return None
        at = before
    return at


@dataclass(frozen=True)
class Taken:
    """Some sentences of a file: their bytes, the number of their first line, how many they are."""

    data: bytes
    first_line: int
    size: int


class Sentences:
    """The sentences of a stream, so many at a time."""

    def __init__(self, file: IO[bytes], name: str, *, m2: bool, first_line: int = 1) -> None:
        self.m2, self.name = m2, name
        self._chunks = chunks(file, name, m2=m2, at_start=first_line == 1)
        self._line = first_line
        self._rest = b""
        self._starts = np.zeros(0, np.int64)  # of the sentences in it

    def take(self, n: int) -> Taken:
        """The next ``n`` sentences, all that are left where they are fewer, and b"" at the end.

        Where M2 has several sentences in a paragraph they may be more.
        """
        while len(self._starts) <= n:  # up to where the one after them starts
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            starts = _starts(chunk.data, self.m2) + len(self._rest)
            self._starts = np.concatenate([self._starts, starts])
            self._rest += chunk.data
        taken, end = len(self._starts), len(self._rest)
        if taken > n:
            taken, end = _cut(self._rest, n, self.m2, self._starts) if n else (0, 0)
        found = Taken(self._rest[:end], self._line, taken)
        self._line += _line_ends(found.data)
        self._rest, self._starts = self._rest[end:], self._starts[taken:] - end
        return found

    def left(self) -> int:
        """How many sentences there are from here on; they are gone then."""
        held = len(self._starts) + sum(count(chunk.data, m2=self.m2) for chunk in self._chunks)
        self._rest, self._starts = b"", np.zeros(0, np.int64)
        return held
