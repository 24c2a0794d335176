"""What Errata keeps between runs: results that took long, and downloads."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from errata.cache import cache_folder
from errata.datasets.catalogue import catalogue
from errata.datasets.fetch import download_folder
from errata.errors import InputError

__all__ = ["Kept", "clear_kept", "kept"]

# Results by digest: the file of each, and what can be read there.
RESULTS = {
    "edits": "edits found by ERRANT: positions and kinds; sentences as digests",
    "sentences": "what models say of sentences: numbers; sentences as digests",
    "answers": "what judges said: answers and their costs; prompts as digests",
    "checksums": "which files of ERRATA_DATA were verified: checksums; places as digests",
}


@dataclass(frozen=True)
class Kept:
    """One part of the cache: its files as they are on disk, and how many results they hold."""

    name: str
    what: str
    path: Path
    files: tuple[Path, ...]
    size: int
    entries: int | None = None


def kept() -> list[Kept]:
    """The parts of the cache, whether there is something in them or not."""
    parts = []
    for name, what in RESULTS.items():
        path = cache_folder() / f"{name}.sqlite3"
        files = [path, *(path.with_name(path.name + end) for end in ("-journal", "-wal", "-shm"))]
        parts.append(_part(name, what, path, files, entries=_entries(path)))
    sets = catalogue().values()
    here = download_folder()
    downloads = [here / chosen.address(file) for chosen in sets for file in chosen.files]
    downloads += [path.with_name(path.name + ".part") for path in downloads]
    downloads += [here / chosen.repository / chosen.commit / ".lock" for chosen in sets]
    what = "downloaded data sets, public as they are"
    return [*parts, _part("data", what, here, downloads)]


def clear_kept(names: Iterable[str]) -> list[Kept]:
    """Delete the files of some parts, and say what they were; nothing else is touched."""
    gone = [part for part in kept() if part.name in set(names)]
    for part in gone:
        for path in part.files:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise InputError(
                    f"cannot delete the file: {error.strerror}",
                    path=str(path),
                    remedy="check its permissions",
                ) from None
        folders = {above for path in part.files for above in path.parents}
        for folder in sorted(folders, reverse=True):
            if part.name == "data" and folder.is_relative_to(part.path):
                with contextlib.suppress(OSError):  # not empty: something else is in it
                    folder.rmdir()
    return gone


def _part(
    name: str, what: str, path: Path, files: Iterable[Path], *, entries: int | None = None
) -> Kept:
    there = tuple(file for file in dict.fromkeys(files) if file.is_file())
    return Kept(name, what, path, there, sum(file.stat().st_size for file in there), entries)


def _entries(path: Path) -> int | None:
    """How many results a file holds; None where it cannot be read."""
    if not path.is_file():
        return None
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1)
        with contextlib.closing(connection):
            [[count]] = connection.execute("SELECT COUNT(*) FROM blobs")
            return int(count)
    except sqlite3.Error:
        return None
