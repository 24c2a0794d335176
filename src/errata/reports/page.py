"""A page as one HTML file, made of sections of tables, charts and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from errata import __version__
from errata.core.errors import InputError
from errata.plots.svg import Chart, chart_html
from errata.tables import html_table
from errata.tables.table import Table

_KEY = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True)
class Section:
    """One section of a page; ``body`` is finished HTML.

    ``key`` is the address on the page (``#leaderboard``), ``title`` the heading, ``lead`` a
    sentence of plain text below it. ``styles`` and ``scripts`` are texts of files that the section
    needs; a page includes each once and allows nothing else to run. ``tables`` are the tables
    shown, with their numbers. ``wide`` takes the whole window.

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
            remedy = "use lower-case letters, digits and hyphens"
            raise InputError(f"invalid section key {self.key!r}", remedy=remedy)


HOME = "errata.reports"
STYLES = ("templates/page.css", "templates/chart.css", "templates/chart-dark.css")


def render_page(title: str, sections: Sequence[Section], *, about: str = "") -> str:
    """Return one HTML file that fetches nothing and allows no other script or style.

    The content policy lists every style and script by its hash; what several sections need is
    included once. Terms that sections mark are explained at the end. The page follows the reader's
    light or dark setting and works in print, narrow windows, with keyboards and screen readers.

    >>> made = render_page("<Ours>", [Section("one", "First", "<p>text</p>")])
    >>> made.count("<h1"), "&lt;Ours&gt;" in made, "default-src &#39;none&#39;" in made
    (1, True, True)
    """
    keys = [section.key for section in sections]
    duplicate = next((key for key in keys if keys.count(key) > 1), None)
    if duplicate is not None:
        raise InputError(f"two sections have the key {duplicate!r}", remedy="rename one of them")
    own = [html_table.package_text(HOME, name) for name in STYLES]
    styles = dict.fromkeys([*own, *(text for section in sections for text in section.styles)])
    own_script = html_table.package_text(HOME, "templates/page.js")
    scripts = dict.fromkeys(
        [own_script, *(text for section in sections for text in section.scripts)]
    )
    html = html_table.render_template(
        HOME,
        "templates/page.html.j2",
        title=title,
        about=about,
        sections=sections,
        terms=html_table.terms_used(section.body for section in sections),
        styles=styles,
        scripts=scripts,
        chart_style=own[1],
        policy=html_table.content_policy(styles, scripts),
        version=__version__,
    )
    return str(html)


def join_names(names: Sequence[str], last: str = "and", most: int = 4) -> str:
    """Return names as a list in a sentence.

    >>> join_names(["A"]), join_names(["A", "B", "C"]), join_names(list("ABCDEFG"), most=2)
    ('A', 'A, B and C', 'A, B and 5 others')
    """
    if len(names) > most:
        left = len(names) - most
        return f"{', '.join(names[:most])} {last} {left} other{'s' if left > 1 else ''}"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


class SectionBuilder:
    """Collects the parts of a section, and the tables among them.

    >>> pieces = SectionBuilder("trend")
    >>> pieces.paragraph("One run.")
    >>> pieces.section("Over time").body
    '<p>One run.</p>'
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self._parts: list[str] = []
        self._tables: list[Table] = []

    def __bool__(self) -> bool:
        return bool(self._parts)

    def template(self, name: str, **values: object) -> None:
        """Add a template of this package, filled with values."""
        self._parts.append(html_table.render_template(HOME, f"templates/{name}", **values).strip())

    def paragraph(self, text: str, kind: str = "") -> None:
        """Add a paragraph of plain text."""
        self.template("paragraph.html.j2", text=text, kind=kind)

    def heading(self, text: str) -> None:
        self.template("heading.html.j2", text=text)

    def table(self, table: Table, *, folded: bool = False, best: Sequence[str] = ()) -> None:
        """Add a table under a key of its own."""
        same_name = sum(other.name == table.name for other in self._tables)
        key = f"{self.key}-{table.name}" + (f"-{same_name + 1}" if same_name else "")
        self._tables.append(table)
        self._parts.append(html_table.table_html(table, key, folded=folded, best=best))

    def charts(self, charts: Sequence[Chart], note: str = "") -> None:
        """Add charts, side by side where there is room."""
        if charts:
            drawn = [chart_html(chart, note) for chart in charts]
            self.template("charts.html.j2", charts=drawn)

    def section(self, title: str, lead: str = "") -> Section:
        return Section(self.key, title, "\n".join(self._parts), lead, tables=tuple(self._tables))
