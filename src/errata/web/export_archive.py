"""The texts of a campaign as one file, for a page that saves one at a time."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable, Iterator
from typing import IO

from errata.errors import InputError
from errata.io.writers import WRITERS, render_writers
from errata.web.database import Database
from errata.web.exports import text_files, writer_lines

__all__ = ["archived_texts", "parts_of"]

PART = 1 << 16  # bytes sent at a time


def archived_texts(database: Database) -> IO[bytes]:
    """A zip of all `text_files` and who wrote their lines; it waits on the disk, without a name."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever sends it closes it
    try:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, lines in text_files(database):
                _add(archive, name, lines)
            _add(archive, WRITERS, lambda: render_writers(writer_lines(database)))
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def _add(archive: zipfile.ZipFile, name: str, lines: Callable[[], Iterator[str]]) -> None:
    if name in archive.namelist():
        raise InputError(
            f"two files would be called {name}", remedy="take details: two systems are alike but /"
        )
    with archive.open(name, "w", force_zip64=True) as member:
        for line in lines():
            member.write(f"{line}\n".encode())


def parts_of(file: IO[bytes]) -> Iterator[bytes]:
    """A file bit by bit; it is closed at the end, and when nobody asks for more."""
    with file:
        while part := file.read(PART):
            yield part
