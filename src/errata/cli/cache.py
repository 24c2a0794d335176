"""``errata cache``: what is kept between runs, and a way to be rid of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from errata.cli.output import emit, format_option
from errata.core.errors import InputError
from errata.tables.table import Table

if TYPE_CHECKING:
    from errata.datasets.fetch import CacheEntry
    from errata.tables.table import Form


@click.group("cache", epilog="Example:  errata cache clear edits sentences")
def command() -> None:
    """Show or clear what is kept between runs.

    Everything lies in the folder ERRATA_CACHE, or in Errata's folder among the user's caches, and
    only saves time: sentences and edits that models worked on, what judges answered, and
    downloaded data sets.
    """


@command.command("show", epilog="Example:  errata cache show --json")
@format_option
def show(form: Form) -> None:
    """Show what is kept, where, and how large it is."""
    from errata.core.cache import cache_folder
    from errata.datasets.fetch import cache_entries

    emit(_table(cache_entries(), f"in {cache_folder()}"), form)


@command.command("clear", epilog="Example:  errata cache clear all")
@click.argument("parts", nargs=-1, metavar="PART...")
@format_option
def clear(parts: tuple[str, ...], form: Form) -> None:
    """Delete what is kept: edits, sentences, answers, checksums, data, or all.

    Only files that Errata made are deleted; of downloads, those in the catalogue.
    """
    from errata.datasets.fetch import cache_entries, clear_cache

    known = [part.name for part in cache_entries()]
    if not parts or not set(parts) <= {*known, "all"}:
        raise InputError(
            f"there is no {' '.join(sorted(set(parts) - {*known, 'all'}))!r} to clear"
            if parts
            else "say what to clear",
            remedy=f"name one or more of {', '.join(known)}, or all",
        )
    emit(_table(clear_cache(known if "all" in parts else parts), "deleted"), form)


def _table(parts: list[CacheEntry], caption: str) -> Table:
    return Table(
        ("part", "files", "bytes", "entries", "what", "path"),
        tuple((p.name, len(p.files), p.size, p.entries, p.what, str(p.path)) for p in parts),
        name="cache",
        caption=caption,
    )
