"""The pieces that sections are put together from: tables, charts and paragraphs as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence

from errata.errors import visible
from errata.report.charts import Chart, chart_html
from errata.report.page.section import Section
from errata.report.page.table_view import table_html
from errata.report.table import Table

__all__ = ["Pieces", "one_of", "told"]


def told(text: str) -> str:
    """Data in HTML: escaped, and what steers a terminal written out."""
    return html.escape(visible(text))


def one_of(names: Sequence[str], last: str = "and", most: int = 4) -> str:
    """Names in a sentence.

    >>> one_of(["A"]), one_of(["A", "B", "C"]), one_of(list("ABCDEFG"), most=2)
    ('A', 'A, B and C', 'A, B and 5 others')
    """
    shown = [visible(name) for name in names]
    if len(shown) > most:
        left = len(shown) - most
        return f"{', '.join(shown[:most])} {last} {left} other{'s' if left > 1 else ''}"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


class Pieces:
    """The pieces of a section while it is put together; tables are known by it, for their numbers.

    >>> pieces = Pieces("trend")
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
        self._parts.append(f"<p{about}>{told(text)}</p>")

    def heading(self, text: str) -> None:
        """Add a heading."""
        self._parts.append(f"<h3>{told(text)}</h3>")

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
