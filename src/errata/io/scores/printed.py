"""Scores as our commands print them: the tables of ``errata score`` and ``errata rank``.

In JSON they stand under ``tables``; TSV is one table, with the name of each in the first column,
``metric`` or ``table``, where there are several (older versions printed them one below the other).
A table of scores has the columns ``rank, system, SCORE``, a ranking ``cluster, range, system,
SCORE``, and a table of sentences ``system, sentence, SCORE`` with sentences counted from 1; where
several metrics share a table, ``figure`` says what is under ``score``. Other tables hold no scores
of systems.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from errata.data import Scores
from errata.errors import FORMULAS, InputError
from errata.io.scores.checked import cells_under, figure, sentence_table
from errata.parameters import name_in

__all__ = ["from_printed_json", "from_printed_tsv", "from_tables", "is_printed_tsv"]

Printed = dict[str, Any]


def from_printed_json(data: Any, name: str) -> list[Scores]:
    """The scores among the tables of one JSON output."""
    tables = data.get("tables") if isinstance(data, dict) else None
    if not isinstance(tables, list) or not all(map(_is_table, tables)):
        raise InputError(
            "not a file of scores", path=name, remedy="give what errata score or rank printed"
        )
    return from_tables(tables, name)


def _is_table(table: Any) -> bool:
    return (
        isinstance(table, dict)
        and isinstance(columns := table.get("columns"), list)
        and all(isinstance(column, str) for column in columns)
        and isinstance(rows := table.get("rows"), list)
        and all(isinstance(row, dict) and row.keys() == set(columns) for row in rows)
        and isinstance(table.get("signature", ""), str)
        and isinstance(table.get("name", ""), str)
    )


def is_printed_tsv(line: str) -> bool:
    """Whether a line is the heading of a table that a command printed."""
    head = line.rstrip("\r\n").split("\t")
    return "system" in head[:5] and head[-1] == "signature"


def from_printed_tsv(lines: Iterable[str], name: str) -> list[Scores]:
    """The scores among the tables of one TSV output."""
    tables: list[Printed] = []
    head: list[str] | None = None
    for number, line in enumerate(lines, 1):
        if not line.rstrip("\r\n"):
            head = None
        elif head is None:
            head = [*map(_unsafe, line.rstrip("\r\n").split("\t"))]
            kept = [c for c in head if c != "signature" and not c.endswith((" low", " high"))]
            tables.append({"columns": kept, "rows": [], "lines": []})
        else:
            cells = map(_unsafe, cells_under(head, line, name, number))
            row = dict(zip(head, cells, strict=True))
            tables[-1].setdefault("signature", row.get("signature", ""))
            tables[-1]["rows"].append(row)
            tables[-1]["lines"].append(number)
    return from_tables([part for table in tables for part in _parts(table)], name)


def _parts(table: Printed) -> list[Printed]:
    """The tables that share one, by the name in the first column; each with its own columns."""
    by = table["columns"][0]
    if by == "table":
        return [own for part in _split(table) for own in _parts(part)]
    if by != "metric" or "figure" not in table["columns"]:
        return [table]
    parts = _split(table)
    for part in parts:
        headline = part["rows"][0]["figure"] or "score"
        kept = (c for c in part["columns"] if c != "figure")
        part["columns"] = [headline if c == "score" else c for c in kept]
        part["rows"] = [{**row, headline: row["score"]} for row in part["rows"]]
    return parts


def _split(table: Printed) -> list[Printed]:
    """A table by what stands in its first column, each part with the columns it has values in."""
    by, *columns = table["columns"]
    parts: dict[str, Printed] = {}
    for row, line in zip(table["rows"], table["lines"], strict=True):
        new: Printed = {"rows": [], "lines": [], "signature": row.get("signature", "")}
        part = parts.setdefault(row[by], new)
        part["rows"].append(row)
        part["lines"].append(line)
    for part in parts.values():
        part["columns"] = [c for c in columns if any(row[c] for row in part["rows"])]
    return [part for part in parts.values() if part["columns"]]


def _unsafe(cell: str) -> str:
    """A cell as it was before quotation marks, or --safe-cells, kept others from misreading it."""
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULAS) else cell


def from_tables(tables: list[Printed], name: str) -> list[Scores]:
    """The scores in tables, each with its ``columns``, ``rows`` and ``signature``."""
    found = []
    for table in tables:
        columns = table["columns"]
        if columns[:2] == ["system", "sentence"] and len(columns) > 2:
            found.append(_by_sentence(table, name))
        elif columns[0] == "cluster" and columns[-1] == "date":
            continue  # a board: several metrics side by side, as an overview has them
        elif "system" in columns[1:-1] and columns[0] in ("rank", "cluster"):
            found.append(_of_systems(table, name))
    if not found:
        raise InputError(
            "no table of scores in the file",
            path=name,
            remedy="give what errata score or errata rank printed",
        )
    return found


def _number(row: Printed, column: str, name: str, line: int | None) -> float:
    cell = row[column]
    if isinstance(cell, dict):  # a score with its interval
        cell = cell.get("value")
    if isinstance(cell, str) and line is not None:
        return figure(cell, name, line)
    if type(cell) not in (int, float):
        raise InputError(
            f"the {column} of {str(row['system'])[:40]!r} is no number",
            path=name,
            remedy="leave out systems without a score",
        )
    return float(cell)


def _system(row: Printed, name: str) -> str:
    system = row["system"]
    if not isinstance(system, str) or not system:
        raise InputError("a row without the name of a system", path=name)
    return system


def _numbered(table: Printed) -> list[tuple[Printed, int | None]]:
    lines = table.get("lines", [None] * len(table["rows"]))
    return list(zip(table["rows"], lines, strict=True))


def _made(
    table: Printed, systems: tuple[str, ...], headline: str, values: Any, sentences: Any, name: str
) -> Scores:
    scorer, *context = (table.get("signature") or headline).split("\n")[0].split(" | ")
    try:
        return Scores(
            scorer,
            systems,
            values,
            sentences,
            headline=headline,
            context=tuple(context),
            name=name_in(scorer),
        )
    except InputError as error:
        raise InputError(error.problem, path=name, remedy=error.remedy) from None


def _of_systems(table: Printed, name: str) -> Scores:
    columns = table["columns"]
    headline = columns[columns.index("system") + 1]
    rows = _numbered(table)
    systems = tuple(_system(row, name) for row, _ in rows)
    values = np.array([_number(row, headline, name, line) for row, line in rows], np.float64)
    return _made(table, systems, headline, values, None, name)


def _by_sentence(table: Printed, name: str) -> Scores:
    headline = table["columns"][2]
    scores: dict[str, dict[int, float]] = {}
    for row, line in _numbered(table):
        number = _number(row, "sentence", name, line)
        if not 1 <= number < 10**8 or number % 1:
            raise InputError(f"{row['sentence']!r} is not a sentence number", path=name, line=line)
        mine = scores.setdefault(_system(row, name), {})
        if row[headline] not in (None, ""):  # a sentence without a score
            mine[int(number) - 1] = _number(row, headline, name, line)
    systems = tuple(scores)
    if not any(scores.values()):
        raise InputError("no sentence has a score", path=name)
    values = np.full(len(systems), np.nan)
    return _made(table, systems, headline, values, sentence_table(systems, scores, name), name)
