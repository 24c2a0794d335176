"""Read CSV with commas, semicolons or tabs, and spreadsheets (.xlsx), turned into CSV lines."""

from __future__ import annotations

import csv
import math
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from typing import Any

from errata.core.errors import InputError, import_extra
from errata.io import files

DELIMITERS = "\t;,"  # of as many the first: semicolons go with decimal commas
XLSX = b"PK\x03\x04"
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_FORMULA = re.compile(rb"<(?:\w+:)?f[ />]")
MOST_CELLS = 20_000_000  # of a spreadsheet, empty ones among them
LONGEST_NUMBER = 400  # characters; the longest exact double has 767 digits, but nobody writes it


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one row, without blanks around them, and the line it stands on."""

    line: int
    cells: tuple[str, ...]


def normalise_title(title: str) -> str:
    """A title without case, blanks and marks: what makes two spellings one column.

    >>> normalise_title("Judge ID") == normalise_title("judge_id") == normalise_title("judgeId")
    True
    """
    return re.sub(r"[\W_]+", "", title.casefold())


def read_number(text: str, *, comma: bool = False) -> float | None:
    """Return the finite number in a cell, or None for every other text.

    NaN, infinities, ``1_000`` and digits of other scripts are no numbers. ``comma`` allows
    ``0,35``.

    >>> read_number("0.35"), read_number("-2e3"), read_number("nan"), read_number("1_000")
    (0.35, -2000.0, None, None)
    """
    text = text.strip()
    if len(text) > LONGEST_NUMBER:
        return None
    if comma and _DECIMAL_COMMA.fullmatch(text):
        text = text.replace(",", ".")
    try:
        number = float(text)
    except ValueError:
        return None
    # Python reads some more: nan, 1_000, digits of other scripts.
    return number if math.isfinite(number) and text.isascii() and "_" not in text else None


_COUNTERS = {"", "unnamed0", "nr", "no", "number", "row", "rownumber", "index", "id"}


def numbers_rows(title: str, cells: Sequence[str]) -> bool:
    """Whether a column does nothing but number the rows, as spreadsheets and programs add it.

    >>> numbers_rows("Unnamed: 0", ["0", "1", "2"]), numbers_rows("No.", ["1", "2"])
    (True, True)
    >>> numbers_rows("system", ["1", "2"]), numbers_rows("", ["1", "1"])
    (False, False)
    """
    if normalise_title(title) not in _COUNTERS:
        return False
    return any([*cells] == [str(k + first) for k in range(len(cells))] for first in (0, 1))


def delimiter_of(line: str) -> str:
    """What separates the cells of a heading: the commonest of tab, semicolon and comma.

    >>> delimiter_of("judge;sentence;score"), delimiter_of('a,"b;c;d"')
    (';', ',')
    """
    bare = _QUOTED.sub("", line)
    return max(DELIMITERS, key=bare.count) if any(mark in bare for mark in DELIMITERS) else ","


def table_lines(path: files.PathLike) -> Iterator[str]:
    """The lines of a CSV file, or of the one sheet of a spreadsheet written as CSV."""
    if not os.path.isfile(path):  # a pipe can be read only once
        return files.stream_lines(path)
    with files.open_unpacked(path) as file:
        spreadsheet = file.peek(4).startswith(XLSX)
    if not spreadsheet:
        return files.stream_lines(path)
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows(_read_spreadsheet(path))
    return iter(buffer.getvalue().splitlines(keepends=True))


def _read_spreadsheet(path: files.PathLike) -> list[list[str]]:
    name = files.shown_name(path)
    what = f"{name}: openpyxl, which reads spreadsheets,"
    load_workbook = import_extra("openpyxl", "xlsx", what).load_workbook
    data = files.read_bytes(path)
    if files.OPEN_DOCUMENT in data[:100]:
        kind, cure = files.detect_foreign_format(data[:100]) or ("", "")
        raise InputError(f"this is {kind}", path=name, remedy=cure)
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            limit = files.max_input_bytes()
            if sum(member.file_size for member in archive.infolist()) > limit:
                raise files.too_large_error(name, limit)
            if "[Content_Types].xml" not in archive.namelist():
                raise InputError("this is a ZIP archive", path=name, remedy="unpack it first")
            parts = (n for n in archive.namelist() if n.startswith("xl/worksheets/"))
            computed = any(_FORMULA.search(archive.read(part)) for part in parts)
        book = load_workbook(BytesIO(data), read_only=True, data_only=True)
        sheets = {sheet.title: _sheet_cells(sheet, name) for sheet in book.worksheets}
        if computed:
            _refuse_uncomputed_formulas(load_workbook(BytesIO(data), read_only=True), sheets, name)
    except InputError:
        raise
    except Exception as error:  # whatever a damaged archive makes openpyxl raise
        problem = f"cannot read the spreadsheet: {error}"
        raise InputError(problem, path=name, remedy="save it as CSV") from None
    filled = {title: _trim_empty(rows) for title, rows in sheets.items() if any(map(any, rows))}
    if len(filled) != 1:
        titles = f" ({', '.join(filled)})" if filled else ""
        remedy = "keep one, or save the one meant as CSV"
        raise InputError(f"{len(filled)} sheets with content{titles}", path=name, remedy=remedy)
    return next(iter(filled.values()))


def _refuse_uncomputed_formulas(book: Any, sheets: dict[str, list[list[str]]], name: str) -> None:
    """Refuse formulas without a value: a program wrote them, and nothing has computed them yet."""
    for sheet in book.worksheets:
        values = sheets[sheet.title]
        for r, row in enumerate(sheet.iter_rows()):
            for c, cell in enumerate(row):
                known = r < len(values) and c < len(values[r]) and values[r][c]
                if cell.data_type == "f" and not known:
                    what = "holds a formula whose value is not stored"
                    problem = f"the cell {cell.coordinate} {what}"
                    remedy = "open the file in a spreadsheet program and save it again"
                    raise InputError(problem, path=name, remedy=remedy)


def _sheet_cells(sheet: Any, name: str) -> list[list[str]]:
    """The texts of a sheet up to the last of each row; it may span far more cells than it fills."""
    rows, spanned = [], 0
    for values in sheet.iter_rows(values_only=True):
        spanned += len(values)
        if spanned > MOST_CELLS:
            problem = f"the sheet {sheet.title!r} spans more than {MOST_CELLS:,} cells"
            remedy = "delete what stands far below or beside the table, or save it as CSV"
            raise InputError(problem, path=name, remedy=remedy)
        rows.append([_cell_text(value) for value in values])
        while rows[-1] and not rows[-1][-1]:
            rows[-1].pop()
    return rows


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _trim_empty(rows: list[list[str]]) -> list[list[str]]:
    """Without empty rows at the end and the empty columns a spreadsheet has at the right."""
    while rows and not any(rows[-1]):
        rows.pop()
    width = max(max((c + 1 for c, cell in enumerate(row) if cell), default=0) for row in rows)
    return [(row + [""] * width)[:width] for row in rows]


def csv_rows(lines: Iterable[str], name: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of CSV lines as they are, each with the line it ends on."""
    rows = csv.reader(lines, strict=True, delimiter=delimiter)
    try:
        for cells in rows:
            yield rows.line_num, cells
    except csv.Error as error:
        problem, line = f"not CSV: {error}", max(1, rows.line_num)
        remedy = "look for a quotation mark that is not closed"
        raise InputError(problem, path=name, line=line, remedy=remedy) from None


def sheet_rows(lines: Iterable[str], name: str, delimiter: str) -> Iterator[Row]:
    """The rows of CSV lines; blank lines are left out."""
    for line, cells in csv_rows(lines, name, delimiter):
        stripped = tuple([cell.strip() for cell in cells])
        if len(stripped) > 1 or any(stripped):  # a row of empty cells may be a sentence
            yield Row(line, stripped)


def read_rows(path: files.PathLike) -> tuple[list[Row], str]:
    """All rows of a table, and what separates its cells."""
    start, lines = files.peek_first_nonblank_line(table_lines(path))
    mark = delimiter_of(start)
    return list(sheet_rows(lines, files.shown_name(path), mark)), mark


def check_width(rows: Sequence[Row], name: str) -> None:
    """Refuse rows of another length than the first: they are cut off or have a stray mark."""
    for row in rows[1:]:
        if len(row.cells) != len(rows[0].cells):
            problem = f"{len(row.cells)} cells under {len(rows[0].cells)} columns"
            remedy = "the row is cut off or has a stray separator"
            raise InputError(problem, path=name, line=row.line, remedy=remedy)
