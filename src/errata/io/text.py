"""Plain text, one sentence per line."""

from __future__ import annotations

import os
from collections.abc import Iterable

from errata.errors import InputError
from errata.io.checks.findings import raise_or_warn
from errata.io.files import PathLike, read_lines
from errata.io.writing import write_lines

__all__ = ["read_text", "write_text"]


def read_text(path: PathLike) -> tuple[str, ...]:
    """Read sentences, one per line, exactly as they stand but without the line ends.

    ``-`` is standard input; gzip is recognised by its content. LF and CRLF end a line. An empty
    line is an empty sentence, at the end of the file too: nothing is dropped.
    """
    lines, findings = read_lines(path)
    raise_or_warn(findings)
    return tuple(lines)


def write_text(sentences: Iterable[str], path: PathLike) -> None:
    """Write sentences, one per line; what `read_text` reads back is exactly what was given."""
    sentences = list(sentences)
    for number, sentence in enumerate(sentences, 1):
        if "\n" in sentence or sentence.endswith("\r"):
            raise InputError(
                "the sentence holds a line end",
                path=os.fspath(path),
                line=number,
                remedy="a text file has one sentence per line",
            )
    if sentences and sentences[0].startswith("\ufeff"):
        raise InputError(
            "the first sentence starts with a byte order mark",
            line=1,
            path=os.fspath(path),
            remedy="remove U+FEFF",
        )
    write_lines(sentences, path)
