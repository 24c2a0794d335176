"""Tables as data, rendered to a string: terminal, JSON, TSV, LaTeX (booktabs), Markdown or HTML.

Numbers keep their full precision in JSON and TSV; the other forms round as ``formats`` says.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, Literal

from errata import __version__
from errata.errors import CONTROLS, FORMULAS, InputError, visible
from errata.parameters import require
from errata.report.cells import (
    Cell,
    as_columns,
    as_data,
    as_text,
    display_width,
    is_empty,
    is_number,
)

__all__ = ["Cell", "Form", "Table", "joined_signatures", "render", "signed", "told_apart_names"]

Form = Literal["table", "json", "tsv", "latex", "markdown", "html"]


@dataclass(frozen=True)
class Table:
    """Named columns, rows of cells, and what stands above and below them.

    ``formats`` gives a format spec per column (``{"F0.5": ".4f"}``), ``row_formats`` one per
    first cell, for sheets that have a figure a row; ``widths`` are the most places a column takes
    in a terminal, where longer texts go on below; ``rules`` holds the positions of rows after
    which a line is drawn (clusters); ``caption`` is the signature or remark below; ``name`` is
    how JSON readers find the table. ``signature`` is what made the numbers, one line per scorer,
    for forms that programs read: a key in JSON, the last column in TSV.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    caption: str = ""
    name: str = ""
    formats: Mapping[str, str] = field(default_factory=dict)
    rules: frozenset[int] = frozenset()
    signature: str = ""
    row_formats: Mapping[str, str] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InputError(f"a row of {len(row)} cells under {len(self.columns)} columns")

    def without_empty(self, column: str) -> Table:
        """The same, and without this column where no row has a value in it.

        >>> Table(("n", "interval"), ((1, None),)).without_empty("interval").columns
        ('n',)
        """
        at = self.columns.index(column)
        if not all(is_empty(row[at]) for row in self.rows):
            return self
        rows = tuple((*row[:at], *row[at + 1 :]) for row in self.rows)
        return replace(self, columns=(*self.columns[:at], *self.columns[at + 1 :]), rows=rows)

    def texts(self) -> list[list[str]]:
        """The cells as people read them, without control characters."""
        return [
            [
                visible(
                    as_text(cell, self.formats.get(name) or self.row_formats.get(str(row[0]), ""))
                )
                for name, cell in zip(self.columns, row, strict=True)
            ]
            for row in self.rows
        ]

    def flat(self) -> tuple[list[str], list[list[Cell]]]:
        """Names and rows of plain values, for programs: an interval is two columns.

        The signature is the last column, where there is one; no value is None.

        >>> from errata.numbers import Interval
        >>> Table(("system", "F0.5"), (("A", Interval(0.25, 0.5)),), signature="m2()").flat()
        (['system', 'F0.5 low', 'F0.5 high', 'signature'], [['A', 0.25, 0.5, 'm2()']])
        """
        head: list[str] = []
        lines: list[list[Cell]] = [[] for _ in self.rows]
        for c, name in enumerate(self.columns):
            endings, values = as_columns(row[c] for row in self.rows)
            head += [name + ending for ending in endings]
            for line, more in zip(lines, values, strict=True):
                line += (None if is_empty(cell) else cell for cell in more)
        if self.signature:
            head.append("signature")
            for line in lines:
                line.append(" ".join(self.signature.split("\n")))
        return head, lines

    def heads(self) -> list[str]:
        """The names of the columns as people read them."""
        return [visible(name) for name in self.columns]

    def remarks(self) -> list[str]:
        """The lines below the table as people read them."""
        return [visible(line) for line in self.caption.split("\n")] if self.caption else []

    def numeric(self) -> list[bool]:
        """Which columns hold numbers only, and so stand at the right."""
        columns = [[row[c] for row in self.rows] for c in range(len(self.columns))]
        return [
            any(cell is not None for cell in cells)
            and all(cell is None or is_number(cell) for cell in cells)
            for cells in columns
        ]


def joined_signatures(signatures: Iterable[str]) -> str:
    """The signature of a table with numbers of several scorers: each once, a line each."""
    return "\n".join(dict.fromkeys(signatures))


def signed(*parts: str) -> str:
    """A signature: what decided some numbers, and which Errata computed them."""
    return " | ".join((*map(visible, parts), f"errata:{__version__}"))


def render(
    tables: Table | Sequence[Table],
    form: Form = "table",
    *,
    colour: bool = False,
    safe_cells: bool = False,
) -> str:
    """Render one or more tables; ``colour`` sets headings bold in a terminal.

    No form lets a control character of the data through: they are written out (``\\x1b``, ``\\n``).
    ``safe_cells`` puts ``'`` before texts in TSV that a spreadsheet would take for formulas.

    >>> print(render(Table(("system", "F0.5"), (("A", 0.35006), ("B", None)))))
    system    F0.5
    ──────────────
    A       0.3501
    B
    """
    require("format", form, Form)
    if isinstance(tables, Table):
        tables = [tables]
    if form == "json":
        data = {"tables": list(map(_as_data, tables, told_apart_names(t.name for t in tables)))}
        text = json.dumps(data, ensure_ascii=False, indent=1)
        return escaped_json(text, _JSON_CONTROL)
    if form == "tsv":
        return "\n\n".join(_tsv(table, safe_cells) for table in tables)
    tables = _with_signatures(tables, once=form == "table")
    if form == "table":
        return "\n\n".join(_terminal(table, colour) for table in tables)
    one = {"latex": _latex, "markdown": _markdown, "html": _html}[form]
    return "\n\n".join(one(table) for table in tables)


def _with_signatures(tables: Sequence[Table], *, once: bool) -> list[Table]:
    """Tables that say below them what made them, where they do not yet.

    With ``once``, a table that shares the signature of the one before it refers to that.
    """

    def shows(table: Table) -> bool:
        return all(line in table.caption for line in table.signature.split("\n"))

    above = ""
    found = []
    for table in tables:
        if not shows(table):
            same = once and table.signature == above
            lines = ["as above"] if same else table.signature.split("\n")
            signed_lines = (f"signature: {line}" for line in lines)
            table = replace(table, caption="\n".join(filter(None, (table.caption, *signed_lines))))
        above = table.signature
        found.append(table)
    return found


def escaped_json(text: str, characters: re.Pattern[str]) -> str:
    r"""JSON that says the same with some characters of its strings written as ``\uXXXX``.

    >>> escaped_json('"日\N{GRINNING FACE}"', re.compile("[^ -~]"))
    '"\\u65e5\\ud83d\\ude00"'
    """

    def code(found: re.Match[str]) -> str:
        units = found[0].encode("utf-16-be", "surrogatepass").hex()
        return "".join(rf"\u{units[k : k + 4]}" for k in range(0, len(units), 4))

    return characters.sub(code, text)


def told_apart_names(names: Iterable[str]) -> Iterator[str]:
    """Names by which every table, or column, is found: the second of a name gets a number.

    >>> list(told_apart_names(["m2", "gleu", "m2"]))
    ['m2', 'gleu', 'm2_2']
    """
    given = list(names)
    taken, seen = {*given}, Counter[str]()
    for name in given:
        seen[name] += 1
        if not name or seen[name] == 1:
            yield name
            continue
        while f"{name}_{seen[name]}" in taken:
            seen[name] += 1
        taken.add(f"{name}_{seen[name]}")
        yield f"{name}_{seen[name]}"


def _as_data(table: Table, name: str) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": name,
        "title": table.title,
        "caption": table.caption,
        "signature": table.signature,
    }
    columns = list(told_apart_names(table.columns))
    return {key: value for key, value in data.items() if value} | {
        "columns": columns,
        "rows": [dict(zip(columns, map(as_data, row), strict=True)) for row in table.rows],
    }


def _wrapped(table: Table) -> list[list[list[str]]]:
    """The lines that each row takes in a terminal, as cells."""
    most = [table.widths.get(name) for name in table.columns]

    def lines(text: str, width: int | None) -> list[str]:
        return [text] if width is None else textwrap.wrap(text, width, break_on_hyphens=False)

    return [
        [list(line) for line in zip_longest(*map(lines, row, most), fillvalue="")]
        for row in table.texts()
    ]


def _terminal(table: Table, colour: bool) -> str:
    rows, heads = _wrapped(table), table.heads()
    widths = [
        max([display_width(name), *(display_width(cells[c]) for row in rows for cells in row)])
        for c, name in enumerate(heads)
    ]
    right = table.numeric()

    def line(cells: Sequence[str]) -> str:
        padded = []
        for cell, width, at_right in zip(cells, widths, right, strict=True):
            blanks = " " * (width - display_width(cell))
            padded.append(blanks + cell if at_right else cell + blanks)
        return "  ".join(padded).rstrip()

    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    bold = (lambda text: f"\x1b[1m{text}\x1b[0m") if colour else (lambda text: text)
    lines = [bold(visible(table.title))] if table.title else []
    lines += [bold(line(heads)), rule]
    for position, row in enumerate(rows):
        lines += map(line, row)
        if position in table.rules and position + 1 < len(rows):
            lines.append("┄" * len(rule))
    return "\n".join([*lines, *table.remarks()])


def _tsv(table: Table, safe: bool) -> str:
    def clean(value: Cell) -> str:
        text = "" if is_empty(value) else visible(str(value))
        return f"'{text}" if safe and isinstance(value, str) and text[:1] in FORMULAS else text

    head, lines = table.flat()
    rows: list[Sequence[Cell]] = [head, *lines]
    return "\n".join("\t".join(map(clean, line)) for line in rows)


# What JSON allows in strings and a terminal obeys; line feeds stand between the strings only.
_JSON_CONTROL = re.compile(f"(?!\n)[{CONTROLS}]")

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
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "—": "---",
    "–": "--",
    "…": r"\ldots{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


# What Markdown would take as markup; an underscore inside a word is none.
_MARKUP = re.compile(r"[\\`*<|\[\]~$]|\b_|_\b|(?<=http):|(?<=https):|(?<=ftp):|(?<=www)\.|@", re.I)
# What makes a heading, a list or a quotation of a line that starts with it.
_BLOCK = re.compile(r"^[#>+=-]|(?<=^[0-9])[.)]|(?<=^[0-9]{2})[.)]")


def _latex(table: Table) -> str:
    def clean(text: str) -> str:
        return "".join(_LATEX.get(c, c) for c in text)

    def line(cells: Sequence[str]) -> str:
        text = " & ".join(map(clean, cells)) + r" \\"
        return f"{{}}{text}" if text[0] in "[*" else text  # no argument of what stands before it

    spec = "".join("r" if right else "l" for right in table.numeric())
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{spec}}}",
        r"\toprule",
        line(table.heads()),
        r"\midrule",
    ]
    for position, row in enumerate(table.texts()):
        lines.append(line(row))
        if position in table.rules and position + 1 < len(table.rows):
            lines.append(r"\midrule")
    lines += [r"\bottomrule", r"\end{tabular}"]
    caption = ". ".join(filter(None, (visible(table.title), " ".join(table.remarks()))))
    lines += [rf"\caption{{{clean(caption)}}}"] if caption else []
    return "\n".join([*lines, r"\end{table}"])


def _markdown(table: Table) -> str:
    def clean(text: str) -> str:
        return _MARKUP.sub(r"\\\g<0>", text)

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(clean(c) for c in cells) + " |"

    marks = ["---:" if right else "---" for right in table.numeric()]
    lines = [f"**{clean(visible(table.title))}**", ""] if table.title else []
    lines += [line(table.heads()), "| " + " | ".join(marks) + " |"]
    lines += map(line, table.texts())
    for remark in table.remarks():
        lines += ["", _BLOCK.sub(r"\\\g<0>", clean(remark))]
    return "\n".join(lines)


def _html(table: Table) -> str:
    from errata.report.page.table_view import table_html

    return table_html(table, interactive=False)
