"""Bytes on disk to lines of text, whole or one by one: standard input, line ends.

Lines end with a line feed or with carriage return and line feed, and with nothing else: the
characters at which some programs also break lines (U+2028, form feed...) are text, and warned of.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from errata.errors import InputError
from errata.io.checks.findings import Finding
from errata.io.opened import (
    FileId,
    PathLike,
    file_error,
    file_id,
    files_read,
    foreign_kind,
    opened,
    shown_name,
)
from errata.kernels._doors import LARGEST
from errata.spelling import Spelled, line_places

__all__ = [
    "FileId",
    "PathLike",
    "checked_lines",
    "decode",
    "file_error",
    "file_id",
    "files_read",
    "odd_breaks",
    "peek",
    "read_bytes",
    "read_lines",
    "shown_name",
    "split_lines",
    "stream_lines",
]

# Where str.splitlines breaks a line and we do not (nor do wc, sed, or a text editor).
ODD_MARKS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
ODD_BREAKS = re.compile(f"[\r{ODD_MARKS}]")
PIECE = 2**17  # bytes that are made a text in one go
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_bytes(path: PathLike) -> bytes:
    """The content of a file, or of standard input for ``-``; compression is undone."""
    with opened(path) as file:
        return file.read()


def decode(data: bytes, name: str, *, first_line: int = 1) -> str:
    """UTF-8 bytes as text, without the byte order mark.

    ``first_line`` is the number of their first line, where they are a later part of a file.
    """
    try:
        text = data.decode("utf-8")
        return text.removeprefix("\ufeff") if first_line == 1 else text
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + first_line
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        _refuse_foreign(data, name)
        coding = "UTF-16" if data.startswith(_UTF16_MARKS) else "WINDOWS-1252"
        raise InputError(
            f"byte {column} of the line (0x{data[error.start]:02x}) is not UTF-8",
            path=name,
            line=line,
            remedy=f"convert the file, for instance with iconv -f {coding} -t UTF-8",
        ) from None


def _refuse_foreign(start: bytes, name: str) -> None:
    foreign = foreign_kind(start)
    if start.startswith(b"PK\x03\x04") and name.lower().endswith((".xlsx", ".zip")):
        foreign = (
            ("a ZIP archive", "unpack it first")
            if name.lower().endswith(".zip")
            else (
                "a spreadsheet (.xlsx)",
                "it is read as scores or judgments only; give text or M2 here",
            )
        )
    if foreign is not None:
        raise InputError(f"this is {foreign[0]}", path=name, remedy=foreign[1]) from None


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
    return checked_lines(decode(read_bytes(path), name), name)


def spelled_lines(path: PathLike) -> tuple[Sequence[str], list[Finding]]:
    """The same, as they stand in their bytes where that is plain: not yet as strings."""
    name, data = shown_name(path), read_bytes(path)
    if data.startswith(BOM_UTF8):
        decode(data, name)  # what it says of bytes that are no text counts the mark
    return checked_spelled(data.removeprefix(BOM_UTF8), name)


def checked_spelled(
    data: bytes, name: str, *, first_line: int = 1
) -> tuple[Sequence[str], list[Finding]]:
    """What `checked_lines` gives, for the bytes of a text, in which the lines stay if they can."""
    if b"\r" not in data and len(data) <= LARGEST and _plain(data):
        return Spelled(line_places(data)), []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = decode(data, name, first_line=first_line)  # raises, with the line
    return checked_lines(text, name, first_line=first_line)


def _plain(data: bytes) -> bool:
    """Whether bytes are a text without odd marks.

    It is looked at in pieces, which stay near the processor; one wide letter makes all of one wide.
    """
    begin, every = 0, memoryview(data)
    while begin < len(data):
        end = data.find(b"\n", begin + PIECE) + 1 or len(data)
        try:
            piece = str(every[begin:end], "utf-8")
        except UnicodeDecodeError:
            return False
        # One mark after the other, in a text: several bytes are looked for in many times the time.
        if any(mark in piece for mark in ODD_MARKS):
            return False
        begin = end
    return True


def checked_lines(text: str, name: str, *, first_line: int = 1) -> tuple[list[str], list[Finding]]:
    """The lines of a text, and what is odd about where they end.

    ``first_line`` is the number of the first of them, where the text is a later part of a file.
    """
    lines = split_lines(text)
    # One character after the other is looked for in a tenth of the time that all at once take.
    if not any(mark in text for mark in ODD_MARKS) and (
        "\r" not in text or "\r" not in text.replace("\r\n", "\n")
    ):
        return lines, []
    return lines, odd_breaks(lines, name, first_line=first_line)


def stream_lines(path: PathLike) -> Iterator[str]:
    """The lines of a UTF-8 file with their ends, read as they are asked for.

    For files too large to hold in memory; ``-`` and gzip as in `read_bytes`.
    """
    name = shown_name(path)
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            if number == 1 and line.startswith(b"PK\x03\x04"):
                _refuse_foreign(line, name)  # which may look like text up to a later line
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


def odd_breaks(lines: Iterable[str], name: str, *, first_line: int = 1) -> list[Finding]:
    """One warning per line that holds a character some programs break lines at."""
    found = []
    for number, line in enumerate(lines, first_line):
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
