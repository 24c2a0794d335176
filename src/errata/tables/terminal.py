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


def dim(text: str, colour: bool) -> str:
    """Text that steps back, where there are colours."""
    return f"\x1b[2m{text}\x1b[0m" if colour else text


def terminal_table(
    table: Table, signatures: Sequence[str] = (), *, colour: bool, width: int | None = None
) -> str:
    """A table as lines of text; too wide a one loses columns, and says which."""
    bold = (lambda text: f"\x1b[1m{text}\x1b[0m") if colour else (lambda text: text)
    lines: list[str] = []
    if table.answer is not None:
        sentence = escape_controls(table.answer.sentence)
        lines += [*([sentence] if width is None else wrapped_text(sentence, width)), ""]
    if table.title:
        lines += [bold(line) for line in _wrap_remark(escape_controls(table.title), width)]
    parts, left_out = _fitting(table, width)
    for k, part in enumerate(parts):
        lines += ([""] if k else []) + _grid(part, bold)
    remarks = table.remarks()
    if left_out:
        names = ", ".join(map(escape_controls, left_out))
        remarks.insert(0, f"note: not shown in {width} columns: {names}; {REMEDY}")
    for remark in remarks:
        lines += _wrap_remark(remark, width)
    for signature in signatures:
        lines += (dim(line, colour) for line in _wrap_remark(signature, width))
    return "\n".join(lines)


def _wrap_remark(text: str, width: int | None) -> list[str]:
    """A remark in lines of the width; a blank is never lost, so that it can be copied."""
    if width is None or display_width(text) <= width or text.startswith(SIGNATURE):
        return [text]
    first, *more = wrapped_text(text, width)
    rest = wrapped_text(text[len(first) :].lstrip(), width - INDENT) if more else []
    return [first, *(" " * INDENT + line for line in rest)]


def wrapped_text(text: str, width: int, *, cut: bool = False) -> list[str]:
    """A text in lines of so many places of a terminal; ``cut`` cuts words that are longer.

    >>> wrapped_text("日本語 is better", 9)
    ['日本語 is', 'better']
    >>> wrapped_text("日本語の", 5, cut=True)
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


def _fitting(table: Table, width: int | None) -> tuple[list[Table], list[str]]:
    """The table within so many places, and what it lost for that.

    A long text goes on below; then half widths go; then a square of numbers is cut in parts, and
    any other table loses its last columns.
    """
    if width is None or _width(table) <= width:
        return [table], []
    table = _narrowed(table, width)
    if _width(table) <= width:
        return [table], []
    bare = replace(table, rows=tuple(tuple(map(_without_spread, row)) for row in table.rows))
    lost = ["intervals"] if bare.rows != table.rows else []
    if _width(bare) <= width:
        return [bare], lost
    if set(table.columns[1:]) <= {str(row[0]) for row in table.rows}:  # everything by everything
        return _in_parts(bare, width), lost
    keep = list(range(len(table.columns)))
    while len(keep) > 2 and _width(bare.select(keep)) > width:
        keep.pop()
    return [_narrowed(bare.select(keep), width)], [*lost, *table.columns[len(keep) :]]


def _narrowed(table: Table, width: int) -> Table:
    """The table with its longest texts in lines, as far as that helps and leaves some words."""
    heads = table.heads()
    texts = {
        c
        for c, name in enumerate(table.columns)
        if any(isinstance(row[c], str) for row in table.rows) and name not in table.widths
    }
    found = table
    while texts and (excess := _width(found) - width) > 0:
        widths = _widths(heads, _wrapped(found))
        widest = max(texts, key=widths.__getitem__)
        least = max(FEWEST, display_width(heads[widest]))
        texts.remove(widest)
        if widths[widest] > least:
            room = max(least, widths[widest] - excess)
            found = replace(found, widths={**found.widths, table.columns[widest]: room})
    return found if _width(found) <= width else table


def _in_parts(table: Table, width: int) -> list[Table]:
    """A wide square of numbers, some columns at a time."""
    parts: list[list[int]] = [[]]
    for c in range(1, len(table.columns)):
        if parts[-1] and _width(table.select([0, *parts[-1], c])) > width:
            parts.append([])
        parts[-1].append(c)
    return [table.select([0, *columns]) for columns in parts]


def _without_spread(cell: Cell) -> Cell:
    """The same without its half width, which its interval still has in every other form."""
    if isinstance(cell, BestScore | Estimate):
        return cell._replace(low=float("nan"), high=float("nan"))
    return cell


def _wrapped(table: Table) -> Lines:
    """The lines that each row takes in a terminal, as cells."""
    most = [table.widths.get(name) for name in table.columns]

    def lines(text: str, width: int | None) -> list[str]:
        if width is None or display_width(text) <= width:
            return [text]
        return wrapped_text(text, width, cut=True)

    return [
        [list(line) for line in zip_longest(*map(lines, row, most), fillvalue="")]
        for row in table.texts()
    ]


def _widths(heads: Sequence[str], rows: Lines) -> list[int]:
    return [
        max([display_width(name), *(display_width(cells[c]) for row in rows for cells in row)])
        for c, name in enumerate(heads)
    ]


def _width(table: Table) -> int:
    widths = _widths(table.heads(), _wrapped(table))
    return sum(widths) + GAP * (len(widths) - 1)


def _grid(table: Table, bold: Callable[[str], str]) -> list[str]:
    rows, heads = _wrapped(table), table.heads()
    widths, right = _widths(heads, rows), table.numeric()

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
