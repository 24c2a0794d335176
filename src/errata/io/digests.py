"""Fingerprints of files, so that a reader can tell whether they have the same ones."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from errata.io.opened import PathLike, file_error, shown_name

__all__ = ["FileDigest", "file_digests"]

PIECE = 1 << 20


class FileDigest(NamedTuple):
    """A file: what it is called, how many bytes it has, and their SHA-256.

    What came in on standard input, or was no plain file, has neither.
    """

    path: str
    size: int | None
    sha256: str | None


def file_digests(paths: Iterable[PathLike]) -> list[FileDigest]:
    """The fingerprints of files as they are on disk, compressed ones as they are.

    >>> file_digests(["-"])
    [FileDigest(path='<stdin>', size=None, sha256=None)]
    """
    return [_digest(path) for path in paths]


def _digest(path: PathLike) -> FileDigest:
    name = shown_name(path)
    if name == "<stdin>" or not os.path.isfile(path):
        return FileDigest(name, None, None)
    found, size = hashlib.sha256(), 0
    try:
        with Path(path).open("rb") as file:
            while piece := file.read(PIECE):
                found.update(piece)
                size += len(piece)
    except OSError as error:
        raise file_error("read", error, name) from None
    return FileDigest(name, size, found.hexdigest())
