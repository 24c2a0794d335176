"""A site whose pages are made anew every time: written together, and no old one left."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from errata.errors import InputError
from errata.io.files import PathLike, file_error
from errata.io.writing import file_set, write_bytes

__all__ = ["write_site"]

MADE = b'<meta name="generator" content="errata'
HEAD = 20_000  # bytes of a page in which it says what made it


def write_site(folder: PathLike, pages: Mapping[str, str]) -> tuple[str, ...]:
    """Write pages by their addresses in a folder; the addresses of old ones that were removed.

    Only what Errata made is replaced, and removed only in the folders of the site that hold pages
    by name: a report that somebody put beside the front page stays.
    """
    place = Path(folder)
    for address in pages:
        if (place / address).exists() and not _ours(place / address):
            raise InputError(
                "this page was not made by Errata, and is not overwritten",
                path=str(place / address),
                remedy="name another folder with --site",
            )
    try:
        for address in pages:
            (place / address).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise file_error("write", error, str(place)) from None
    with file_set(force=True):
        for address, text in pages.items():
            write_bytes(text.encode("utf-8"), place / address)
    removed = []
    folders = sorted({(place / address).parent for address in pages} - {place})
    for path in (path for folder in folders for path in sorted(folder.glob("*.html"))):
        address = path.relative_to(place).as_posix()
        if address not in pages and _ours(path):
            path.unlink()
            removed.append(address)
    return tuple(removed)


def _ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return MADE in file.read(HEAD)
    except OSError as error:
        raise file_error("read", error, str(path)) from None
