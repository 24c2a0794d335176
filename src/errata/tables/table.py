"""Table, forms, data frames.

Numbers keep their full precision in JSON and TSV; the other forms round as ``formats`` says.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from errata import __version__
from errata.core.errors import CONTROLS, FORMULAS, InputError, escape_controls, import_extra
from errata.core.parameters import require
from errata.core.signatures import short_signature
from errata.core.stats import Estimate, Interval
from errata.tables.cells import BestScore, Cell, as_text, is_empty, is_number, split_column, to_json

if TYPE_CHECKING:
    import pandas
    import polars


Form = Literal["table", "json", "tsv", "latex", "markdown", "html"]
SignatureForm = Literal["short", "full"]
SIGNATURE = "signature: "


class Answer(NamedTuple):
    """What a table comes to: the outcome as one word, and the sentences that say it."""

    outcome: str
    sentence: str


class Column(NamedTuple):
    """A heading, the cells below it, and a format spec for them.

    An ``optional`` column is left out if no row has a value in it; ``width`` is the most places it
    takes in a terminal.
    """

    name: str
    cells: Iterable[Cell]
    format: str = ""
    optional: bool = False
    width: int | None = None


def estimate_columns(
    name: str, estimates: Iterable[Estimate | None], format: str, confidence: float
) -> list[Column]:
    """Return a column of values and one of their intervals, left out if there are none."""
    known = [(None, None) if e is None else (e.value, Interval(e.low, e.high)) for e in estimates]
    return [
        Column(name, [value for value, _ in known], format),
        Column(
            f"{name} {confidence * 100:g} %",
            [interval for _, interval in known],
            format,
            optional=True,
        ),
    ]


@dataclass(frozen=True)
class Table:
    """Named columns, rows of cells, and what stands above and below them.

    ``formats`` gives a format spec per column (``{"F0.5": ".4f"}``), ``row_formats`` one per
    first cell, for sheets that have a figure a row, where ``"+"`` asks a column for signs;
    ``widths`` are the most places a column takes in a terminal, where longer texts go on below;
    ``rules`` holds the positions of rows after which a line is drawn (clusters); ``caption`` is
    the signature or remark below; ``name`` is how JSON readers find the table. ``signature`` is
    what made the numbers, one line per scorer, for forms that programs read: a key in JSON, the
    last column in TSV. ``digits`` overrules how many decimals the formats say. ``answer`` stands
    above the table.
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
    digits: int | None = None
    answer: Answer | None = None

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InputError(f"a row of {len(row)} cells under {len(self.columns)} columns")

    @classmethod
    def of(
        cls,
        columns: Iterable[Column],
        *,
        title: str = "",
        name: str = "",
        caption: str = "",
        notes: Iterable[str] = (),
        signature: str = "",
        rules: Iterable[int] = (),
        row_formats: Mapping[str, str] = MappingProxyType({}),
    ) -> Table:
        """Return the table of some columns; ``notes`` follow the caption, a line each.

        >>> Table.of([Column("n", [1, 2], ".2f"), Column("why", [None, None], optional=True)]).rows
        ((1,), (2,))
        """
        filled = [column._replace(cells=tuple(column.cells)) for column in columns]
        shown = [c for c in filled if not (c.optional and all(map(is_empty, c.cells)))]
        return cls(
            tuple(column.name for column in shown),
            tuple(zip(*(column.cells for column in shown), strict=True)),
            title=title,
            name=name,
            caption="\n".join([*filter(None, [caption]), *(f"note: {note}" for note in notes)]),
            formats={column.name: column.format for column in shown if column.format},
            widths={column.name: column.width for column in shown if column.width is not None},
            signature=signature,
            rules=frozenset(rules),
            row_formats=row_formats,
        )

    def select_columns(self, keep: Sequence[int]) -> Table:
        """Return the table with some of its columns, by position.

        >>> Table(("n", "interval"), ((1, None),)).select_columns([0]).columns
        ('n',)
        """
        rows = tuple(tuple(row[c] for c in keep) for row in self.rows)
        return replace(self, columns=tuple(self.columns[c] for c in keep), rows=rows)

    def without_empty(self, *columns: str) -> Table:
        """Return the table without the ``columns`` that have no value in any row."""
        empty = {
            name
            for name in columns
            if all(is_empty(r[self.columns.index(name)]) for r in self.rows)
        }
        return self.select_columns([c for c, name in enumerate(self.columns) if name not in empty])

    def texts(self) -> list[list[str]]:
        """Return the cells as people read them, without control characters."""
        marked = {
            c
            for row in self.rows
            for c, cell in enumerate(row)
            if not isinstance(cell, BestScore) or cell.lead
        }
        rows = [
            [
                escape_controls(as_text(cell, self._format_spec(name, row, cell)))
                for name, cell in zip(self.columns, row, strict=True)
            ]
            for row in self.rows
        ]
        # Where nothing is marked, no place is kept for marks.
        return [[t if c in marked else t.rstrip() for c, t in enumerate(row)] for row in rows]

    def _format_spec(self, column: str, row: tuple[Cell, ...], cell: Cell) -> str:
        spec = self.formats.get(column, "")
        sign = "+" * spec.startswith("+")
        spec = spec.removeprefix("+") or self.row_formats.get(str(row[0]), "")
        if self.digits is not None:
            if not spec and isinstance(cell, float | tuple):
                spec = "f"
            if spec[-1:] in ("f", "p"):
                spec = f".{self.digits}{spec[-1]}"
        return sign + spec if spec else ""

    def to_plain_rows(self) -> tuple[list[str], list[list[Cell]]]:
        """Return names and rows of plain values for programs; an interval is two columns.

        The signature is the last column, where there is one; no value is None.

        >>> from errata.core.stats import Interval
        >>> Table(("who", "F0.5"), (("A", Interval(0.25, 0.5)),), signature="m2()").to_plain_rows()
        (['who', 'F0.5 low', 'F0.5 high', 'signature'], [['A', 0.25, 0.5, 'm2()']])
        """
        head: list[str] = []
        lines: list[list[Cell]] = [[] for _ in self.rows]
        for c, name in enumerate(self.columns):
            endings, values = split_column(row[c] for row in self.rows)
            head += [name + ending for ending in endings]
            for line, more in zip(lines, values, strict=True):
                line += (None if is_empty(cell) else cell for cell in more)
        if self.signature:
            head.append("signature")
            for line in lines:
                line.append(" ".join(self.signature.split("\n")))
        return head, lines

    def heads(self) -> list[str]:
        """Return the column names as people read them."""
        return [escape_controls(name) for name in self.columns]

    def remarks(self) -> list[str]:
        """Return the lines below the table without the signatures."""
        lines = self.caption.split("\n") if self.caption else []
        return [escape_controls(line) for line in lines if not line.startswith(SIGNATURE)]

    def signature_lines(self, form: SignatureForm = "full") -> tuple[str, ...]:
        """Return the signatures, one line for each scorer or one short line for all of them."""
        whole = self.signature.split("\n") if self.signature else []
        if not whole:
            lines = self.caption.split("\n")
            whole = [line.removeprefix(SIGNATURE) for line in lines if line.startswith(SIGNATURE)]
        if form == "short" and whole:
            whole = [" ".join(dict.fromkeys(map(short_signature, whole)))]
        return tuple(SIGNATURE + escape_controls(line) for line in whole)

    def numeric(self) -> list[bool]:
        """Return which columns hold only numbers, and are aligned at the right."""
        columns = [[row[c] for row in self.rows] for c in range(len(self.columns))]
        return [
            any(cell is not None for cell in cells)
            and all(cell is None or is_number(cell) for cell in cells)
            for cells in columns
        ]


def join_signatures(signatures: Iterable[str]) -> str:
    """Join the signatures of several scorers, each once, one per line."""
    return "\n".join(dict.fromkeys(signatures))


def make_signature(*parts: str) -> str:
    """Join the facts behind some numbers and the version of Errata into a signature."""
    return " | ".join((*map(escape_controls, parts), f"errata:{__version__}"))


def render(
    tables: Table | Sequence[Table],
    form: Form = "table",
    *,
    colour: bool = False,
    safe_cells: bool = False,
    signature: SignatureForm = "short",
    width: int | None = None,
    digits: int | None = None,
) -> str:
    """Render one or more tables; ``colour`` sets headings bold in a terminal.

    No form lets a control character of the data through: they are written out (``\\x1b``, ``\\n``).
    ``safe_cells`` puts ``'`` before texts in TSV that a spreadsheet would take for formulas.
    Where people read, ``signature`` shows the short form or the whole; a terminal table keeps to
    ``width`` places, and names the columns it leaves out for it; ``digits`` decimals are shown.

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
        data = {"tables": list(map(_table_to_json, tables, unique_labels(t.name for t in tables)))}
        text = json.dumps(data, ensure_ascii=False, indent=1)
        return escaped_json(text, _JSON_CONTROL)
    if form == "tsv":
        return _tsv(tables, safe_cells)
    if digits is not None:
        tables = [replace(table, digits=digits) for table in tables]
    if form == "html":
        from errata.tables.html_table import plain_table_html

        return "\n\n".join(map(plain_table_html, tables))
    if form == "latex":
        from errata.tables.latex import latex_table

        return "\n\n".join(latex_table(table, signature) for table in tables)
    if form == "markdown":
        return "\n\n".join(_markdown(table, signature) for table in tables)
    from errata.tables.terminal import terminal_table

    shown: list[str] = []
    above: tuple[str, ...] = ()
    for table in tables:
        lines = table.signature_lines(signature)
        new = () if lines == above else lines  # said once for tables that share it
        shown.append(terminal_table(table, new, colour=colour, width=width))
        above = lines
    return "\n\n".join(shown)


def escaped_json(text: str, characters: re.Pattern[str]) -> str:
    r"""Return equivalent JSON with some characters of its strings written as ``\uXXXX``.

    >>> escaped_json('"日\N{GRINNING FACE}"', re.compile("[^ -~]"))
    '"\\u65e5\\ud83d\\ude00"'
    """

    def code(found: re.Match[str]) -> str:
        units = found[0].encode("utf-16-be", "surrogatepass").hex()
        return "".join(rf"\u{units[k : k + 4]}" for k in range(0, len(units), 4))

    return characters.sub(code, text)


def unique_labels(names: Iterable[str]) -> Iterator[str]:
    """Yield names that are all different: the second of a name gets a number.

    >>> list(unique_labels(["m2", "gleu", "m2"]))
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


def _table_to_json(table: Table, name: str) -> dict[str, Any]:
    data: dict[str, Any] = {"name": name}
    data |= {key: getattr(table, key) for key in ("title", "caption", "signature")}
    data["answer"] = table.answer and table.answer._asdict()
    columns = list(unique_labels(table.columns))
    return {key: value for key, value in data.items() if value} | {
        "columns": columns,
        "rows": [dict(zip(columns, map(to_json, row), strict=True)) for row in table.rows],
    }


def _tsv(tables: Sequence[Table], safe: bool) -> str:
    """Return all tables as one; of several, the first column holds the name of each row's table."""

    def clean(value: Cell) -> str:
        text = "" if is_empty(value) else escape_controls(str(value))
        if safe and isinstance(value, str) and text[:1] in FORMULAS:
            return f"'{text}"
        if text.startswith('"'):  # or readers of CSV would take all up to the next one as a cell
            return '"' + text.replace('"', '""') + '"'
        return text

    names = unique_labels(table.name or table.title for table in tables)
    several = ["table"] * (len(tables) > 1)
    rows: list[dict[str, Cell]] = []
    columns = dict.fromkeys(several)
    for name, table in zip(names, tables, strict=True):
        head, lines = table.to_plain_rows()
        own = list(unique_labels([*several, *head]))[len(several) :]
        columns |= dict.fromkeys(own)
        rows += ({"table": name, **dict(zip(own, line, strict=True))} for line in lines)
    shown = sorted(columns, key="signature".__eq__)  # the longest stands last
    printed: list[list[Cell]] = [[*shown], *([row.get(name) for name in shown] for row in rows)]
    return "\n".join("\t".join(map(clean, line)) for line in printed)


# What JSON allows in strings and a terminal obeys; line feeds stand between the strings only.
_JSON_CONTROL = re.compile(f"(?!\n)[{CONTROLS}]")

# What Markdown would take as markup; an underscore inside a word is none.
_MARKUP = re.compile(
    r"[\\`*<|\[\]~$]|&(?=#?\w+;)|\b_|_\b|(?<=http):|(?<=https):|(?<=ftp):|(?<=www)\.|@", re.I
)
# What makes a heading, a list or a quotation of a line that starts with it.
_BLOCK = re.compile(r"^[#>+=-]|(?<=^[0-9])[.)]|(?<=^[0-9]{2})[.)]")


def markdown_line(text: str) -> str:
    r"""Return a text as a paragraph of Markdown, with all markup escaped.

    >>> print(markdown_line("# a*b"))
    \# a\*b
    """
    return _BLOCK.sub(r"\\\g<0>", _escape_markdown(escape_controls(text)))


def _escape_markdown(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", text)


def _markdown(table: Table, signature: SignatureForm) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(map(_escape_markdown, cells)) + " |"

    marks = ["---:" if right else "---" for right in table.numeric()]
    lines = [markdown_line(table.answer.sentence), ""] if table.answer else []
    lines += [f"**{_escape_markdown(escape_controls(table.title))}**", ""] if table.title else []
    lines += [line(table.heads()), "| " + " | ".join(marks) + " |"]
    lines += map(line, table.texts())
    for remark in (*table.remarks(), *table.signature_lines(signature)):
        lines += ["", markdown_line(remark)]
    return "\n".join(lines)


# ---- Results as data frames and in notebooks: the report's own table of each, for programs.

# The function that makes the table of a result, by the result's class.
TABLES = {
    "Scores": "errata.scoring.tables:scores_as_table",
    "Ranking": "errata.human.tables:ranking_table",
    "Comparison": "errata.comparison.tables:comparison_as_table",
}


def table_of(result: Any, **options: Any) -> Table:
    """Return the table that shows a result; ``options`` go to the function that makes it."""
    for kind in type(result).__mro__:
        if kind.__name__ in TABLES:
            module, _, name = TABLES[kind.__name__].partition(":")
            table: Table = getattr(import_module(module), name)(result, **options)
            return table
    raise TypeError(f"there is no table of a {type(result).__name__}")


def pandas_frame(table: Table) -> pandas.DataFrame:
    """Return a table as a pandas data frame, as ``pandas.read_csv`` makes it of the TSV."""
    frame: pandas.DataFrame = import_extra("pandas", "pandas").DataFrame(_plain_columns(table))
    return frame


def polars_frame(table: Table) -> polars.DataFrame:
    """Return a table as a polars data frame; no value is null."""
    make = import_extra("polars", "polars").DataFrame
    frame: polars.DataFrame = make(_plain_columns(table), strict=False)
    return frame


def _plain_columns(table: Table) -> dict[str, Sequence[Cell]]:
    head, lines = table.to_plain_rows()
    return {name: [line[c] for line in lines] for c, name in enumerate(unique_labels(head))}
