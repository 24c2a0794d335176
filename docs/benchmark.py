"""Write the tables and the picture of docs/benchmark.md anew: python docs/benchmark.py.

Needs the data sets (ERRATA_DATA, or what errata data get fetched) and, for learned metrics, models
that errata train made (ERRATA_MODELS); takes an hour the first time, minutes after that. Without
arguments all metrics are compared. The text around the tables is to be read again.
"""

from __future__ import annotations

import re
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from errata.cli.main import main

PAGE = Path(__file__).with_name("benchmark.md")
PICTURE = Path(__file__).parent / "pictures" / "benchmark.svg"


def tables(markdown: str) -> dict[str, str]:
    """The tables of a text in Markdown by the title above each."""
    found = re.findall(r"^\*\*(.+?)\*\*\n\n((?:\|.*\n)+)", markdown, re.M)
    return dict(found)


def filled(page: str, found: dict[str, str]) -> str:
    """The page with these tables under the headings of their titles."""
    for title, table in found.items():
        under = re.compile(rf"(^## {re.escape(title)}\n.*?\n)((?:\|[^\n]*\n)+)", re.M | re.S)
        page, done = under.subn(lambda m, table=table: m[1] + table, page, count=1)
        if not done:
            sys.exit(f"no table under {title!r}")
    return page


if __name__ == "__main__":
    printed = StringIO()
    options = ["--format", "markdown", "--figure", f"kendall={PICTURE}", "--force", "-q"]
    with redirect_stdout(printed):
        try:
            chosen = sys.argv[1:] or ["-m", "default", "-m", "learned"]
            main(["benchmark", *options, *chosen])
        except SystemExit as stop:
            if stop.code:
                raise
    PAGE.write_text(filled(PAGE.read_text("utf-8"), tables(printed.getvalue())), "utf-8")
