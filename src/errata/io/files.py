"""Bytes on disk to lines of text, whole or one by one: gzip, standard input, line ends.

Lines end with a line feed or with carriage return and line feed, and with nothing else: the
characters at which some programs also break lines (U+2028, form feed...) are text, and warned of.
"""

from __future__ import annotations

import gzip
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import IO

from errata.errors import InputError
from errata.io.checks.findings import Finding

__all__ = [
    "FileId",
    "PathLike",
    "decode",
    "file_error",
    "file_id",
    "files_read",
    "odd_breaks",
    "peek",
    "read_bytes",
    "read_lines",
    "shown_name",
    "stream_lines",
]

PathLike = str | os.PathLike[str]
FileId = tuple[int, int]  # device and number: the same for every name and link of a file
# Where str.splitlines breaks a line and we do not (nor do wc, sed, or a text editor).
ODD_BREAKS = re.compile("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def shown_name(path: PathLike) -> str:
    """The path as messages show it."""
    return "<stdin>" if os.fspath(path) == "-" else os.fspath(path)


def file_id(found: os.stat_result) -> FileId:
    """What tells a file from all others, whatever it is called."""
    return found.st_dev, found.st_ino


class _FilesRead:
    """Which files were read, while somebody wants to know: they must not be overwritten."""

    def __init__(self) -> None:
        self._known: ContextVar[set[FileId] | None] = ContextVar("files_read", default=None)

    def __call__(self) -> frozenset[FileId]:
        """The files read since recording began."""
        return frozenset(self._known.get() or ())

    def add(self, file: IO[bytes]) -> None:
        """Remember an open file."""
        known = self._known.get()
        if known is not None:
            with suppress(OSError, ValueError):  # a stream without a file behind it
                known.add(file_id(os.fstat(file.fileno())))

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Remember what is read within."""
        token = self._known.set(set())
        try:
            yield
        finally:
            self._known.reset(token)


files_read = _FilesRead()


def file_error(verb: str, error: Exception, name: str) -> InputError:
    """What the system says of a file that cannot be read or written, as our error."""
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(
        f"cannot {verb} the file: {reason}", path=name, remedy="check the path and its permissions"
    )


@contextmanager
def _opened(path: PathLike) -> Iterator[IO[bytes]]:
    """The bytes of a file, or of standard input for ``-``, with gzip undone where it is found."""
    name = shown_name(path)
    try:
        with nullcontext(sys.stdin.buffer) if name == "<stdin>" else Path(path).open("rb") as file:
            files_read.add(file)
            buffered = file if isinstance(file, BufferedReader) else BufferedReader(file)  # type: ignore[type-var]
            if buffered.peek(2)[:2] == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=buffered) as unzipped:
                    yield unzipped  # type: ignore[misc]
            elif name.endswith(".gz"):
                raise InputError(
                    "the file is named .gz but is not gzip-compressed",
                    path=name,
                    remedy="rename it, or compress it with gzip",
                )
            else:
                yield buffered
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"damaged gzip file: {error}", path=name, remedy="fetch or compress the file again"
        ) from None
    except (OSError, ValueError) as error:
        raise file_error("read", error, name) from None


def read_bytes(path: PathLike) -> bytes:
    """The content of a file, or of standard input for ``-``; gzip is undone where it is found."""
    with _opened(path) as file:
        return file.read()


def decode(data: bytes, name: str) -> str:
    """UTF-8 bytes as text, without the byte order mark."""
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        coding = "UTF-16" if data.startswith(_UTF16_MARKS) else "WINDOWS-1252"
        raise InputError(
            f"byte {column} of the line (0x{data[error.start]:02x}) is not UTF-8",
            path=name,
            line=line,
            remedy=f"convert the file, for instance with iconv -f {coding} -t UTF-8",
        ) from None


def split_lines(text: str) -> list[str]:
    r"""The lines of a text without their ends; a final line feed ends the last line.

    >>> split_lines("one\r\ntwo\n\nfour")
    ['one', 'two', '', 'four']
    """
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if "\r" in text:
        lines = [line[:-1] if line.endswith("\r") else line for line in lines]
    return lines


def read_lines(path: PathLike) -> tuple[list[str], list[Finding]]:
    """The lines of a file, and what is odd about where they end."""
    name = shown_name(path)
    text = decode(read_bytes(path), name)
    lines = split_lines(text)
    return lines, odd_breaks(lines, name) if ODD_BREAKS.search(text.replace("\r\n", "\n")) else []


def stream_lines(path: PathLike) -> Iterator[str]:
    """The lines of a UTF-8 file with their ends, read as they are asked for.

    For files too large to hold in memory; ``-`` and gzip as in `read_bytes`.
    """
    name = shown_name(path)
    with _opened(path) as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                decode(b"\n" * (number - 1) + line, name)  # raises, with line and remedy
                raise
            yield text.removeprefix("\ufeff") if number == 1 else text


def peek(lines: Iterator[str]) -> tuple[str, Iterator[str]]:
    """The first line that is not blank, and all lines again."""
    seen = []
    for line in lines:
        seen.append(line)
        if line.strip():
            return line, chain(seen, lines)
    return "", iter(seen)


def odd_breaks(lines: Iterable[str], name: str) -> list[Finding]:
    """One warning per line that holds a character some programs break lines at."""
    found = []
    for number, line in enumerate(lines, 1):
        match = ODD_BREAKS.search(line)
        if match:
            found.append(
                Finding(
                    "warning",
                    name,
                    number,
                    f"U+{ord(match[0]):04X} inside the line; some programs break lines there, "
                    "Errata does not",
                    "replace it by a space, or by a line feed if a line ends there",
                    "odd-line-break",
                )
            )
    return found
