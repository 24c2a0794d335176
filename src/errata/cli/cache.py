"""``errata cache``: show or delete the files kept between runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from errata.cli.output import CommandOptions, Display, emit
from errata.cli.params import argument, takes
from errata.core.errors import InputError
from errata.tables.table import Table

if TYPE_CHECKING:
    from errata.datasets.fetch import CacheEntry


@dataclass(frozen=True)
class ClearOptions(CommandOptions):
    parts: tuple[str, ...] = argument(metavar="PART...", several=True)


@click.group("cache", epilog="Example:  errata cache clear edits sentences")
def command() -> None:
    """Show or clear the files kept between runs.

    Everything is in the folder ERRATA_CACHE, or in Errata's folder among the user's caches, and
    only saves time: scores and edits that models computed, answers of judges, and downloaded data
    sets.
    """


@command.command("show", epilog="Example:  errata cache show --json")
@takes(Display)
def show(display: Display) -> None:
    """Show the parts of the cache, where they are, and their sizes."""
    from errata.core.cache import cache_folder
    from errata.datasets.fetch import cache_entries

    emit(_table(cache_entries(), f"in {cache_folder()}"), display)


@command.command("clear", epilog="Example:  errata cache clear all")
@takes(ClearOptions)
def clear(given: ClearOptions) -> None:
    """Delete parts of the cache: edits, sentences, answers, checksums, data, or all.

    Only files that Errata made are deleted; of downloads, those in the catalogue.
    """
    from errata.datasets.fetch import cache_entries, clear_cache

    known = [part.name for part in cache_entries()]
    unknown = sorted({*given.parts} - {*known, "all"})
    if unknown or not given.parts:
        what = f"there is no {' '.join(unknown)!r}" if unknown else "no part named"
        remedy = f"name one or more of {', '.join(known)}, or all"
        raise InputError(f"{what} to clear", remedy=remedy)
    deleted = clear_cache(known if "all" in given.parts else given.parts)
    emit(_table(deleted, "deleted"), given.display)


def _table(parts: list[CacheEntry], caption: str) -> Table:
    return Table(
        ("part", "files", "bytes", "entries", "what", "path"),
        tuple((p.name, len(p.files), p.size, p.entries, p.what, str(p.path)) for p in parts),
        name="cache",
        caption=caption,
    )
