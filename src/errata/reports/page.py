"""Section, SectionBuilder, page()."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from errata import __version__
from errata.core.errors import InputError, escape_controls
from errata.plots.svg import Chart, chart_html
from errata.tables.html_table import (
    content_policy,
    package_text,
    render_template,
    table_html,
    terms_used,
)
from errata.tables.table import Table

# ---- A section of a page: what it is called, what it shows, and what it brings along.

_KEY = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True)
class Section:
    """One section; ``body`` is HTML in which every text is escaped already.

    ``key`` is its address in the page (``#leaderboard``), ``title`` its heading, ``lead`` one
    sentence of plain text below it. ``styles`` and ``scripts`` are the texts of files that it
    needs; a page takes each once and lets nothing else run. Data stand in the body, as script
    elements of a type that no browser runs (`errata.reports.page.script_json`). ``tables`` are the
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


# ---- A page as one HTML file: no network, no other file, and a policy that forbids both.

HOME = "errata.reports"
STYLES = ("templates/page.css", "templates/chart.css", "templates/chart-dark.css")


def page(title: str, sections: Sequence[Section], *, about: str = "") -> str:
    """Sections under a title, as one HTML file that fetches nothing and lets nothing else run.

    Every style and script is one of a file that came with Errata, known to the page's policy by its
    hash; those that several sections need are taken once. The words that the sections mark are
    explained below them. Light or dark as the reader prefers, printable, for narrow windows,
    keyboards and screen readers too.

    >>> made = page("<Ours>", [Section("one", "First", "<p>text</p>")])
    >>> made.count("<h1"), "&lt;Ours&gt;" in made, "default-src &#39;none&#39;" in made
    (1, True, True)
    """
    keys = [section.key for section in sections]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise InputError(f"two sections are called {twice!r}", remedy="give one another key")
    own = [package_text(HOME, name) for name in STYLES]
    styles = _once([*own, *(text for section in sections for text in section.styles)])
    scripts = _once(
        [
            package_text(HOME, "templates/page.js"),
            *(text for section in sections for text in section.scripts),
        ]
    )
    return render_template(
        HOME,
        "templates/page.html.j2",
        title=escape_controls(title),
        about=escape_controls(about),
        sections=sections,
        terms=terms_used(section.body for section in sections),
        styles=styles,
        scripts=scripts,
        chart_style=own[1],
        policy=content_policy(styles, scripts),
        version=__version__,
    )


def _once(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))


# ---- The pieces that sections are put together from: tables, charts and paragraphs as HTML.


def escape(text: str) -> str:
    """Data in HTML: escaped, and what steers a terminal written out."""
    return html.escape(escape_controls(text))


def join_names(names: Sequence[str], last: str = "and", most: int = 4) -> str:
    """Names in a sentence.

    >>> join_names(["A"]), join_names(["A", "B", "C"]), join_names(list("ABCDEFG"), most=2)
    ('A', 'A, B and C', 'A, B and 5 others')
    """
    shown = [escape_controls(name) for name in names]
    if len(shown) > most:
        left = len(shown) - most
        return f"{', '.join(shown[:most])} {last} {left} other{'s' if left > 1 else ''}"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


class SectionBuilder:
    """The pieces of a section while it is put together; tables are known by it, for their numbers.

    >>> pieces = SectionBuilder("trend")
    >>> pieces.say("One run.")
    >>> pieces.section("Over time").body
    '<p>One run.</p>'
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self._parts: list[str] = []
        self._tables: list[Table] = []

    def __bool__(self) -> bool:
        return bool(self._parts)

    def html(self, part: str) -> None:
        """Add HTML in which every text is escaped."""
        if part:
            self._parts.append(part)

    def say(self, text: str, kind: str = "") -> None:
        """Add a paragraph of plain text."""
        about = f' class="{kind}"' if kind else ""
        self._parts.append(f"<p{about}>{escape(text)}</p>")

    def heading(self, text: str) -> None:
        """Add a heading."""
        self._parts.append(f"<h3>{escape(text)}</h3>")

    def table(self, table: Table, *, folded: bool = False, best: Sequence[str] = ()) -> None:
        """Add a table, its key told apart from those of other sections."""
        many = sum(other.name == table.name for other in self._tables)
        key = f"{self.key}-{table.name}" + (f"-{many + 1}" if many else "")
        self._tables.append(table)
        self._parts.append(table_html(table, key, folded=folded, best=best))

    def charts(self, charts: Sequence[Chart], note: str = "") -> None:
        """Add charts, beside each other where there is room."""
        drawn = "".join(chart_html(chart, note) for chart in charts)
        if len(charts) > 1:
            drawn = f'<div class="pair">\n{drawn}\n</div>'
        self.html(drawn)

    def section(self, title: str, lead: str = "") -> Section:
        """The section of all that was added."""
        return Section(self.key, title, "\n".join(self._parts), lead, tables=tuple(self._tables))
