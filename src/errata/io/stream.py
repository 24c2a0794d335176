"""Lines of a file one by one, for files too large to hold in memory."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from gzip import BadGzipFile, GzipFile
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from errata.errors import InputError
from errata.io.files import decode, shown_name

__all__ = ["peek", "stream_lines", "write_bytes"]


def stream_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """The lines of a UTF-8 file with their ends, read as they are asked for.

    ``-`` is standard input; gzip is recognised by its content.
    """
    name = shown_name(path)
    try:
        if name == "<stdin>":
            yield from _lines(sys.stdin.buffer, name)
        else:
            with Path(path).open("rb") as file:
                yield from _lines(file, name)
    except (BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"damaged gzip file: {error}", path=name, remedy="fetch or compress the file again"
        ) from None
    except OSError as error:
        raise InputError(
            f"cannot read the file: {error.strerror or error}",
            path=name,
            remedy="check the path and its permissions",
        ) from None


def _lines(file: BinaryIO, name: str) -> Iterator[str]:
    buffered = file if isinstance(file, BufferedReader) else BufferedReader(file)  # type: ignore[type-var]
    zipped = buffered.peek(2)[:2] == b"\x1f\x8b"
    source: Iterable[bytes] = GzipFile(fileobj=buffered) if zipped else buffered
    for number, line in enumerate(source, 1):
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


def write_bytes(data: bytes, path: str | os.PathLike[str]) -> None:
    """Write a file whole, an image say; ``-`` is standard output."""
    if os.fspath(path) == "-":
        sys.stdout.buffer.write(data)
        return
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise InputError(
            f"cannot write the file: {error.strerror or error}",
            path=os.fspath(path),
            remedy="check the path and its permissions",
        ) from None
