"""A section of a page: what it is called, what it shows, and what it brings along."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from errata.errors import InputError
from errata.report.table import Table

__all__ = ["Section"]

_KEY = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True)
class Section:
    """One section; ``body`` is HTML in which every text is escaped already.

    ``key`` is its address in the page (``#leaderboard``), ``title`` its heading, ``lead`` one
    sentence of plain text below it. ``styles`` and ``scripts`` are the texts of files that it
    needs; a page takes each once and lets nothing else run. Data stand in the body, as script
    elements of a type that no browser runs (`errata.report.page.script_json`). ``tables`` are the
    tables shown, for whoever wants the numbers of a page. ``wide`` takes the whole window.

    >>> Section("trend", "Over time", "<p>One run.</p>").key
    'trend'
    """

    key: str
    title: str
    body: str
    lead: str = ""
    styles: Sequence[str] = ()
    scripts: Sequence[str] = ()
    tables: Sequence[Table] = ()
    wide: bool = False

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.key):
            raise InputError(
                f"{self.key!r} is no address of a section",
                remedy="use small letters, digits and hyphens",
            )
