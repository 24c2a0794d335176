"""Bytes on disk to lines of text and back: gzip, standard input, byte order marks, line ends.

Lines end with a line feed or with carriage return and line feed, and with nothing else: the
characters at which some programs also break lines (U+2028, form feed...) are text, and warned of.
"""

from __future__ import annotations

import gzip
import os
import re
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path

from errata.errors import InputError
from errata.io.checks.findings import Finding

__all__ = ["decode", "odd_breaks", "read_bytes", "read_lines", "write_lines"]

# Where str.splitlines breaks a line and we do not (nor do wc, sed, or a text editor).
ODD_BREAKS = re.compile("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def shown_name(path: str | os.PathLike[str]) -> str:
    """The path as messages show it."""
    return "<stdin>" if os.fspath(path) == "-" else os.fspath(path)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a file, or of standard input for ``-``; gzip is undone where it is found."""
    name = shown_name(path)
    try:
        data = sys.stdin.buffer.read() if name == "<stdin>" else Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot read the file: {reason}",
            path=name,
            remedy="check the path and its permissions",
        ) from None
    if data[:2] == b"\x1f\x8b":
        try:
            return gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(
                f"damaged gzip file: {error}", path=name, remedy="fetch or compress the file again"
            ) from None
    if name.endswith(".gz"):
        raise InputError(
            "the file is named .gz but is not gzip-compressed",
            path=name,
            remedy="rename it, or compress it with gzip",
        )
    return data


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


def read_lines(path: str | os.PathLike[str]) -> tuple[list[str], list[Finding]]:
    """The lines of a file, and what is odd about where they end."""
    name = shown_name(path)
    text = decode(read_bytes(path), name)
    lines = split_lines(text)
    return lines, odd_breaks(lines, name) if ODD_BREAKS.search(text.replace("\r\n", "\n")) else []


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


def write_lines(lines: Iterable[str], path: str | os.PathLike[str]) -> None:
    """Write lines as UTF-8 with line feeds; gzip for ``.gz``, standard output for ``-``."""
    name = os.fspath(path)
    try:
        data = "".join(line + "\n" for line in lines).encode("utf-8")
    except UnicodeEncodeError as error:
        line = error.object.count("\n", 0, error.start) + 1
        raise InputError(
            f"U+{ord(error.object[error.start]):04X} cannot be written as UTF-8",
            path=name,
            line=line,
            remedy="remove the lone surrogate",
        ) from None
    if name == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    if name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    try:
        Path(path).write_bytes(data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot write the file: {reason}",
            path=name,
            remedy="check the path and its permissions",
        ) from None
