"""Tables as data, rendered to a string: terminal, JSON, TSV, LaTeX (booktabs) or Markdown.

Numbers keep their full precision in JSON and TSV; the other forms round as ``formats`` says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unicodedata import east_asian_width

from errata.errors import InputError
from errata.numbers import Estimate, Interval

__all__ = ["FORMATS", "Cell", "Table", "render"]


Cell = str | int | float | bool | Interval | Estimate | None
FORMATS = ("table", "json", "tsv", "latex", "markdown")


@dataclass(frozen=True)
class Table:
    """Named columns, rows of cells, and what stands above and below them.

    ``formats`` gives a format spec per column (``{"F0.5": ".4f"}``); ``rules`` holds the
    positions of rows after which a line is drawn (clusters); ``caption`` is the signature or
    remark below; ``name`` is how JSON readers find the table. ``signature`` is what made the
    numbers, for forms that programs read: a key in JSON, the last column in TSV.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    caption: str = ""
    name: str = ""
    formats: Mapping[str, str] = field(default_factory=dict)
    rules: frozenset[int] = frozenset()
    signature: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InputError(f"a row of {len(row)} cells under {len(self.columns)} columns")

    def text(self, column: int, cell: Cell) -> str:
        """A cell as people read it; nothing is shown where there is no value."""
        if _empty(cell):
            return ""
        if isinstance(cell, bool):
            return "yes" if cell else "no"
        spec = self.formats.get(self.columns[column], "")
        if isinstance(cell, float | tuple) and not spec:
            spec = ".4f"
        if isinstance(cell, Interval):
            return f"{cell.low:{spec}} – {cell.high:{spec}}"
        if isinstance(cell, Estimate):
            half = (cell.high - cell.low) / 2
            return f"{cell.value:{spec}}" + ("" if math.isnan(half) else f" ± {half:{spec}}")
        return format(cell, spec) if not isinstance(cell, str) else cell


def _empty(cell: Cell) -> bool:
    number = cell[0] if isinstance(cell, tuple) else cell
    return number is None or (isinstance(number, float) and math.isnan(number))


def render(tables: Table | Sequence[Table], form: str = "table", *, colour: bool = False) -> str:
    """Render one or more tables; ``colour`` sets headings bold in a terminal.

    >>> print(render(Table(("system", "F0.5"), (("A", 0.35006), ("B", None)))))
    system    F0.5
    ──────────────
    A       0.3501
    B
    """
    if isinstance(tables, Table):
        tables = [tables]
    if form == "json":
        return json.dumps({"tables": [_as_data(t) for t in tables]}, ensure_ascii=False, indent=1)
    if form == "table":
        return "\n\n".join(_terminal(table, colour) for table in tables)
    one = {"tsv": _tsv, "latex": _latex, "markdown": _markdown}.get(form)
    if one is None:
        raise InputError(f"unknown format {form!r}", remedy=f"use one of {', '.join(FORMATS)}")
    return "\n\n".join(one(table) for table in tables)


def _as_data(table: Table) -> dict[str, Any]:
    def plain(cell: Cell) -> Any:
        if isinstance(cell, Interval):
            return None if _empty(cell) else [plain(number) for number in cell]
        if isinstance(cell, Estimate):
            return {key: plain(number) for key, number in cell._asdict().items()}
        return None if isinstance(cell, float) and not math.isfinite(cell) else cell

    data: dict[str, Any] = {
        "name": table.name,
        "title": table.title,
        "caption": table.caption,
        "signature": table.signature,
    }
    return {key: value for key, value in data.items() if value} | {
        "columns": list(table.columns),
        "rows": [dict(zip(table.columns, map(plain, row), strict=True)) for row in table.rows],
    }


def _numeric(table: Table, column: int) -> bool:
    cells = [row[column] for row in table.rows if row[column] is not None]
    return bool(cells) and all(
        isinstance(c, int | float | Estimate) and not isinstance(c, bool) for c in cells
    )


def _width(text: str) -> int:
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def _terminal(table: Table, colour: bool) -> str:
    texts = [[table.text(c, cell) for c, cell in enumerate(row)] for row in table.rows]
    widths = [
        max([_width(name), *(_width(row[c]) for row in texts)])
        for c, name in enumerate(table.columns)
    ]
    right = [_numeric(table, c) for c in range(len(table.columns))]

    def line(cells: Sequence[str]) -> str:
        padded = []
        for cell, width, at_right in zip(cells, widths, right, strict=True):
            blanks = " " * (width - _width(cell))
            padded.append(blanks + cell if at_right else cell + blanks)
        return "  ".join(padded).rstrip()

    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    bold = (lambda text: f"\x1b[1m{text}\x1b[0m") if colour else (lambda text: text)
    lines = [bold(table.title)] if table.title else []
    lines += [bold(line(table.columns)), rule]
    for position, row in enumerate(texts):
        lines.append(line(row))
        if position in table.rules and position + 1 < len(texts):
            lines.append("┄" * len(rule))
    if table.caption:
        lines.append(table.caption)
    return "\n".join(lines)


def _tsv(table: Table) -> str:
    def cell(value: Cell) -> str:
        if _empty(value):
            return ""
        return str(value).translate(_ONE_LINE)

    widths = [
        max((len(found) for row in table.rows if isinstance(found := row[c], tuple)), default=1)
        for c in range(len(table.columns))
    ]
    head: list[str] = []
    for name, width in zip(table.columns, widths, strict=True):
        head += [name] * (width != 2) + [f"{name} low", f"{name} high"] * (width > 1)
    lines = [head + ["signature"] * bool(table.signature)]
    for row in table.rows:
        numbers: list[Cell] = []
        for value, width in zip(row, widths, strict=True):
            numbers += value if isinstance(value, tuple) else (value, *(None,) * (width - 1))
        lines.append([*map(cell, numbers)] + [table.signature] * bool(table.signature))
    return "\n".join("\t".join(map(cell, line)) for line in lines)


# What ends a line or a cell, for programs that read lines as str.splitlines does too.
_ONE_LINE = dict.fromkeys(map(ord, "\t\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), " ")

_LATEX = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "−": "$-$",
    "±": r"$\pm$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "κ": r"$\kappa$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "λ": r"$\lambda$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\to$",
    "–": "--",
    "…": r"\ldots{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


# What Markdown would take as markup; an underscore inside a word is none.
_MARKUP = re.compile(r"[\\`*<|\[\]]|\b_|_\b")


def _latex(table: Table) -> str:
    def clean(text: str) -> str:
        return "".join(_LATEX.get(c, c) for c in text)

    spec = "".join("r" if _numeric(table, c) else "l" for c in range(len(table.columns)))
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{spec}}}",
        r"\toprule",
        " & ".join(map(clean, table.columns)) + r" \\",
        r"\midrule",
    ]
    for position, row in enumerate(table.rows):
        lines.append(" & ".join(clean(table.text(c, v)) for c, v in enumerate(row)) + r" \\")
        if position in table.rules and position + 1 < len(table.rows):
            lines.append(r"\midrule")
    lines += [r"\bottomrule", r"\end{tabular}"]
    caption = ". ".join(filter(None, (table.title, table.caption)))
    lines += [rf"\caption{{{clean(caption)}}}"] if caption else []
    return "\n".join([*lines, r"\end{table}"])


def _markdown(table: Table) -> str:
    def clean(text: str) -> str:
        return _MARKUP.sub(r"\\\g<0>", text)

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(clean(c).translate(_ONE_LINE) for c in cells) + " |"

    marks = ["---:" if _numeric(table, c) else "---" for c in range(len(table.columns))]
    lines = [f"**{clean(table.title)}**", ""] if table.title else []
    lines += [line(table.columns), "| " + " | ".join(marks) + " |"]
    lines += [line([table.text(c, v) for c, v in enumerate(row)]) for row in table.rows]
    for remark in table.caption.splitlines():
        lines += ["", clean(remark)]
    return "\n".join(lines)
