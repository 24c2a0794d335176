"""Tables in a terminal: aligned, within its width, the signature dim below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, zip_longest

from errata.core.errors import escape_controls
from errata.core.stats import Estimate
from errata.tables.cells import BestScore, Cell, display_width
from errata.tables.table import SIGNATURE, Table

GAP = 2  # places between two columns
INDENT = 2  # places before what goes on from the line above
FEWEST = 16  # places of a text that is worth reading in lines
REMEDY = "a wider terminal, COLUMNS=200 or --format tsv shows all"
Lines = list[list[list[str]]]


def dim_text(text: str, colour: bool) -> str:
    """Return dimmed text where there are colours."""
    return f"\x1b[2m{text}\x1b[0m" if colour else text


def terminal_table(
    table: Table, signatures: Sequence[str] = (), *, colour: bool, width: int | None = None
) -> str:
    """Return a table as text; one that is too wide loses columns, and says which."""
    bold = (lambda text: f"\x1b[1m{text}\x1b[0m") if colour else (lambda text: text)
    lines: list[str] = []
    if table.answer is not None:
        sentence = escape_controls(table.answer.sentence)
        lines += [*([sentence] if width is None else wrap_text(sentence, width)), ""]
    if table.title:
        lines += [bold(line) for line in _wrap_remark(escape_controls(table.title), width)]
    parts, left_out = _fit_table(table, width)
    for k, part in enumerate(parts):
        lines += ([""] if k else []) + _table_lines(part, bold)
    remarks = table.remarks()
    if left_out:
        names = ", ".join(map(escape_controls, left_out))
        remarks.insert(0, f"note: not shown in {width} columns: {names}; {REMEDY}")
    for remark in remarks:
        lines += _wrap_remark(remark, width)
    for signature in signatures:
        lines += (dim_text(line, colour) for line in _wrap_remark(signature, width))
    return "\n".join(lines)


def _wrap_remark(text: str, width: int | None) -> list[str]:
    """Wrap a remark to the width; blanks are kept, so that it can be copied."""
    if width is None or display_width(text) <= width or text.startswith(SIGNATURE):
        return [text]
    first, *more = wrap_text(text, width)
    rest = wrap_text(text[len(first) :].lstrip(), width - INDENT) if more else []
    return [first, *(" " * INDENT + line for line in rest)]


def wrap_text(text: str, width: int, *, cut: bool = False) -> list[str]:
    """Wrap a text to ``width`` terminal columns; ``cut`` also cuts longer words.

    >>> wrap_text("日本語 is better", 9)
    ['日本語 is', 'better']
    >>> wrap_text("日本語の", 5, cut=True)
    ['日本', '語の']
    """
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if display_width(joined) <= width or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(word)
        while cut and display_width(lines[-1]) > width:
            fits = max(1, sum(w <= width for w in accumulate(map(display_width, lines[-1]))))
            lines[-1:] = [lines[-1][:fits], lines[-1][fits:]]
    return [line.rstrip() for line in lines if line.strip()] or [""]


def _fit_table(table: Table, width: int | None) -> tuple[list[Table], list[str]]:
    """Return the table in parts that fit the width, and the names of what was left out.

    Long texts are wrapped; then intervals go; then a matrix is split into parts, and any other
    table loses its last columns.
    """
    if width is None or _table_width(table) <= width:
        return [table], []
    table = _narrow_texts(table, width)
    if _table_width(table) <= width:
        return [table], []
    bare = replace(table, rows=tuple(tuple(map(_without_interval, row)) for row in table.rows))
    lost = ["intervals"] if bare.rows != table.rows else []
    if _table_width(bare) <= width:
        return [bare], lost
    if set(table.columns[1:]) <= {str(row[0]) for row in table.rows}:  # everything by everything
        return _split_matrix(bare, width), lost
    keep = list(range(len(table.columns)))
    while len(keep) > 2 and _table_width(bare.select_columns(keep)) > width:
        keep.pop()
    return [_narrow_texts(bare.select_columns(keep), width)], [*lost, *table.columns[len(keep) :]]


def _narrow_texts(table: Table, width: int) -> Table:
    """Wrap the longest texts, if that makes the table fit."""
    heads = table.heads()
    texts = {
        c
        for c, name in enumerate(table.columns)
        if any(isinstance(row[c], str) for row in table.rows) and name not in table.widths
    }
    found = table
    while texts and (excess := _table_width(found) - width) > 0:
        widths = _column_widths(heads, _wrap_cells(found))
        widest = max(texts, key=widths.__getitem__)
        least = max(FEWEST, display_width(heads[widest]))
        texts.remove(widest)
        if widths[widest] > least:
            room = max(least, widths[widest] - excess)
            found = replace(found, widths={**found.widths, table.columns[widest]: room})
    return found if _table_width(found) <= width else table


def _split_matrix(table: Table, width: int) -> list[Table]:
    """Split a matrix of numbers into tables of a few columns each."""
    parts: list[list[int]] = [[]]
    for c in range(1, len(table.columns)):
        if parts[-1] and _table_width(table.select_columns([0, *parts[-1], c])) > width:
            parts.append([])
        parts[-1].append(c)
    return [table.select_columns([0, *columns]) for columns in parts]


def _without_interval(cell: Cell) -> Cell:
    """Return a cell without its interval, which all other forms still show."""
    if isinstance(cell, BestScore | Estimate):
        return cell._replace(low=float("nan"), high=float("nan"))
    return cell


def _wrap_cells(table: Table) -> Lines:
    """Return the lines of cells that each row takes in a terminal."""
    most = [table.widths.get(name) for name in table.columns]

    def lines(text: str, width: int | None) -> list[str]:
        if width is None or display_width(text) <= width:
            return [text]
        return wrap_text(text, width, cut=True)

    return [
        [list(line) for line in zip_longest(*map(lines, row, most), fillvalue="")]
        for row in table.texts()
    ]


def _column_widths(heads: Sequence[str], rows: Lines) -> list[int]:
    return [
        max([display_width(name), *(display_width(cells[c]) for row in rows for cells in row)])
        for c, name in enumerate(heads)
    ]


def _table_width(table: Table) -> int:
    widths = _column_widths(table.heads(), _wrap_cells(table))
    return sum(widths) + GAP * (len(widths) - 1)


def _table_lines(table: Table, bold: Callable[[str], str]) -> list[str]:
    rows, heads = _wrap_cells(table), table.heads()
    widths, right = _column_widths(heads, rows), table.numeric()

    def line(cells: Sequence[str]) -> str:
        padded = []
        for cell, width, at_right in zip(cells, widths, right, strict=True):
            blanks = " " * (width - display_width(cell))
            padded.append(blanks + cell if at_right else cell + blanks)
        return (" " * GAP).join(padded).rstrip()

    rule = "─" * (sum(widths) + GAP * (len(widths) - 1))
    lines = [bold(line(heads)), rule]
    for position, row in enumerate(rows):
        lines += map(line, row)
        if position in table.rules and position + 1 < len(rows):
            lines.append("┄" * len(rule))
    return lines
