"""Scores in columns, as people keep them: with or without a heading, long or as a matrix.

- system and score, or one column of scores per metric;
- system, sentence and score; metric, system and score;
- one column per system, one row per sentence (GMEG), or one per judge and sentence;
- bare numbers, where the systems are named otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from errata.data import Scores
from errata.errors import InputError
from errata.io.checks.findings import Finding, raise_or_warn
from errata.io.scores.checked import add_sentence, figure, scored_twice, sentence_table
from errata.io.scores.rated import JUDGE, one_row_a_sentence
from errata.io.sheet import SheetRow, column_key, counts_rows, read_number

__all__ = ["from_columns"]

SYSTEM = {"system", "systems", "systemid", "systemname", "model", "team", "name"}
SENTENCE = {"sentence", "sentenceid", "sentid", "segment", "segmentid", "line", "id", "index"}
METRIC = {"metric", "metrics", "metricname", "scorer", "measure"}
RANK = {"rank", "ranking", "place"}
# What stands for a number that is none (nan, n/a, -, 0.3.5, 35 %, 1e400), and is no title.
MEANT_AS_NUMBER = re.compile(
    r"[+-]?(?:nan|inf|infinity)|n/?a|none|null|missing|[\W_]+"
    r"|[^\w\s]*\d[\d._,']*(?:e[+-]?\d+)?\s?%?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Columns:
    """The columns of a file, what each is by title and content."""

    name: str
    scorer: str
    head: tuple[str, ...] | None
    rows: Sequence[SheetRow]
    comma: bool

    def cells(self, column: int) -> list[str]:
        return [row.cells[column] for row in self.rows]

    def title(self, column: int) -> str:
        return self.head[column] if self.head is not None else ""

    @cached_property
    def numeric(self) -> list[bool]:
        """Which columns hold numbers: half of the cells at least, so that an odd one is named.

        A blank cell is a missing number.
        """
        found = []
        for column in range(len(self.rows[0].cells)):
            filled = [cell for cell in self.cells(column) if cell]
            numbers = sum(read_number(cell, comma=self.comma) is not None for cell in filled)
            found.append(numbers > 0 and 2 * numbers >= len(filled))
        return found

    def titled(self, keys: set[str]) -> int | None:
        found = [c for c, title in enumerate(self.head or ()) if column_key(title) in keys]
        return found[0] if found else None

    @cached_property
    def counter(self) -> int | None:
        """The column that numbers the rows, where there is one."""
        found = (c for c, title in enumerate(self.head or ()) if counts_rows(title, self.cells(c)))
        return next(found, None)

    def number(self, row: SheetRow, column: int) -> float:
        return figure(row.cells[column], self.name, row.line, comma=self.comma)


def from_columns(
    rows: Sequence[SheetRow], name: str, *, scorer: str, comma: bool, names: Sequence[str] = ()
) -> list[Scores]:
    """The scores of a table, one `Scores` per metric; ``names`` names the systems of bare numbers.

    ``scorer`` is how the scores are called where the file has one metric; ``comma`` allows
    decimal commas.
    """
    table = _split_head(rows, name, scorer, comma)
    if not any(any(row.cells) for row in table.rows):
        where = "" if table.head is None else " below the heading"
        raise InputError(f"no scores{where}", path=name, remedy="give a row per system")
    texts = [c for c, numeric in enumerate(table.numeric) if not numeric]
    system, metric = table.titled(SYSTEM), table.titled(METRIC)
    judge, sentence = table.titled(JUDGE), table.titled(SENTENCE)
    if not (judge is None or sentence is None) and system is None and {*texts} <= {judge}:
        return [_rated(table, judge, sentence)]
    if system is None and metric is None and table.head is not None and len(table.numeric) > 2:
        _refuse_half_tables(table, texts, judge, rows[0].line)
    if not texts and system is None:
        return [_bare(table, names)]
    if metric is None and len(texts) == 2 and system is None and len(table.numeric) == 3:
        metric, system = texts
    if system is None:
        system = texts[0] if metric is None else next((c for c in texts if c != metric), texts[0])
    found = _by_system(table, system, table.titled(SENTENCE), metric)
    # Beside bare columns that need the names, a file may name the same systems itself.
    if names and {s for scores in found for s in scores.systems} - set(names):
        raise InputError(
            "the file names its systems itself, and others than --names does",
            path=name,
            remedy="give it the same names, or leave out --names",
        )
    return found


def _refuse_half_tables(
    table: _Columns, texts: Sequence[int], judge: int | None, line: int
) -> None:
    """Refuse ratings of which nobody knows the sentence, and systems without any number.

    Either column would be taken for the names of systems.
    """
    if [*texts] == [judge]:
        raise InputError(
            f"no column says which sentence was rated, beside {table.title(texts[0])!r}",
            path=table.name,
            line=line,
            remedy="add a column called sentence",
        )
    if len(texts) < len(table.numeric) and not any(cell for c in texts for cell in table.cells(c)):
        empty = [table.title(c) for c in texts if table.title(c)]
        if empty:
            raise InputError(
                f"no rating or score of {', '.join(empty)}",
                path=table.name,
                line=line,
                remedy="leave out a column that is empty",
            )


def _split_head(rows: Sequence[SheetRow], name: str, scorer: str, comma: bool) -> _Columns:
    """The first row is a heading where it has a title, or a word over a column of numbers.

    A number that is none is no such word: its row is a system, to be refused and not overlooked.
    """
    table = _Columns(name, scorer, None, rows[1:] or rows, comma)
    first = rows[0].cells
    titled = {column_key(cell) for cell in first} & (SYSTEM | SENTENCE | METRIC)
    headed = (len(rows) > 1 and bool(titled)) or any(
        len(rows) > 1 and numeric and cell and _is_title(cell, comma)
        for numeric, cell in zip(table.numeric, first, strict=True)
    )
    return _Columns(name, scorer, first if headed else None, rows[1:] if headed else rows, comma)


def _is_title(cell: str, comma: bool) -> bool:
    return read_number(cell, comma=comma) is None and MEANT_AS_NUMBER.fullmatch(cell) is None


def _bare(table: _Columns, names: Sequence[str]) -> Scores:
    """Numbers only: a column of systems, or rows of sentences under the names of systems."""
    sentence = table.titled(SENTENCE)
    if sentence is None:
        sentence = table.counter
    used = [c for c in range(len(table.numeric)) if c != sentence]
    titles = tuple(table.title(c) for c in used)
    if len(used) == 1 and (table.head is None or names):
        return _one_column(table, used[0], names)
    if table.head is None:
        if len(names) != len(used):
            raise InputError(
                f"{len(used)} columns of numbers without a heading, and {len(names)} names",
                path=table.name,
                remedy="name the systems in a heading or with --names",
            )
        titles = tuple(names)
    values = np.full((len(used), len(table.rows)), np.nan)
    for i, row in enumerate(table.rows):
        for s, column in enumerate(used):
            if row.cells[column]:
                values[s, i] = table.number(row, column)
    if len(table.rows) == 1 and sentence is None:
        return _scores(table, titles, values[:, 0])
    if sentence is not None:
        numbers = _sentence_numbers(table, sentence)
        ordered = np.full((len(used), max(numbers) + 1), np.nan)
        ordered[:, numbers] = values
        values = ordered
    _warn_of_gaps(table, titles, values)
    return _scores(table, titles, np.full(len(used), np.nan), values)


def _rated(table: _Columns, judge: int, sentence: int) -> Scores:
    """Ratings by several judges: the mean of each sentence and system."""
    assert table.head is not None
    rows, notes = one_row_a_sentence(table.rows, judge, sentence, table.number, table.name)
    head = tuple(title for c, title in enumerate(table.head) if c != judge)
    found = _bare(replace(table, head=head, rows=rows), ())
    return replace(found, notes=(*found.notes, *notes))


def _one_column(table: _Columns, column: int, names: Sequence[str]) -> Scores:
    if len(names) != len(table.rows):
        raise InputError(
            f"{len(table.rows)} scores without the systems they belong to"
            if not names
            else f"{len(table.rows)} scores for {len(names)} names",
            path=table.name,
            remedy="name the systems in their order with --names A,B,...",
        )
    values = np.array([table.number(row, column) for row in table.rows])
    return _scores(table, tuple(names), values)


def _by_system(
    table: _Columns, system: int, sentence: int | None, metric: int | None
) -> list[Scores]:
    table = replace(table, rows=[row for row in table.rows if any(row.cells)])
    if sentence == table.counter and len(set(table.cells(system))) == len(table.rows):
        sentence = None  # it numbers the systems
    figures = [
        c for c, numeric in enumerate(table.numeric) if numeric and c not in (system, table.counter)
    ]
    if sentence is None and table.head is None and len(figures) == 2 and metric is None:
        sentence = _sentence_column(table, system, figures)
    figures = [c for c in figures if c not in (sentence, metric)]
    ranks = [c for c in figures if column_key(table.title(c)) in RANK]
    if len(figures) > len(ranks):
        figures = [c for c in figures if c not in ranks]
    if not figures:
        raise _no_scores(table)
    if table.head is None and len(figures) > 1:
        raise InputError(
            f"{len(figures)} columns of numbers without a heading",
            path=table.name,
            line=table.rows[0].line,
            remedy="say in a heading what they are: system,sentence,score, or system,METRIC,"
            "METRIC..., or system,1,2,3...",
        )
    _warn_of_unread(table, {system, sentence, metric, *figures})
    if metric is not None:
        return _by_metric(table, system, metric, sentence, figures)
    if sentence is None and len(figures) > 1 and _are_sentences(table, figures):
        return [_wide_sentences(table, system, figures)]
    alone = len(figures) == 1
    return [
        _long(table, table.rows, system, sentence, column, "" if alone else table.title(column))
        for column in figures
    ]


def _no_scores(table: _Columns) -> InputError:
    remedy = "write a column with a number for every system"
    for cell in table.rows[0].cells:
        if "," in cell and read_number(cell, comma=True) is not None:
            remedy = f"write {cell.replace(',', '.')[:40]}, or put semicolons between the cells"
    return InputError(
        "no column of scores", path=table.name, line=table.rows[0].line, remedy=remedy
    )


def _by_metric(
    table: _Columns, system: int, metric: int, sentence: int | None, figures: list[int]
) -> list[Scores]:
    if len(figures) > 1:
        raise InputError(
            f"several columns of scores beside {table.title(metric)!r}",
            path=table.name,
            remedy="keep one, or give a column per metric",
        )
    parts: dict[str, list[SheetRow]] = {}
    for row in table.rows:
        parts.setdefault(row.cells[metric], []).append(row)
    return [
        _long(table, rows, system, sentence, figures[0], label) for label, rows in parts.items()
    ]


def _sentence_column(table: _Columns, system: int, figures: list[int]) -> int | None:
    """Of two columns of numbers without a heading, the one that counts the sentences.

    It holds whole numbers, and each system has every one of them once.
    """
    for column in figures:
        cells = table.cells(column)
        pairs = set(zip(table.cells(system), cells, strict=True))
        if (
            all(cell.isascii() and cell.isdecimal() for cell in cells)
            and len(pairs) == len(cells) == len(set(cells)) * len(set(table.cells(system)))
            and len(set(table.cells(system))) < len(cells)
        ):
            return column
    return None


def _are_sentences(table: _Columns, figures: list[int]) -> bool:
    """Whether the titles count sentences: 0, 1, 2... or 1, 2, 3..."""
    titles = [table.title(c) for c in figures]
    return any(titles == [str(k + first) for k in range(len(titles))] for first in (0, 1))


def _wide_sentences(table: _Columns, system: int, figures: list[int]) -> Scores:
    systems = tuple(table.cells(system))
    values = np.array([[table.number(row, c) for c in figures] for row in table.rows])
    return _scores(table, systems, np.full(len(systems), np.nan), values)


def _long(
    table: _Columns,
    rows: Sequence[SheetRow],
    system: int,
    sentence: int | None,
    column: int,
    label: str,
) -> Scores:
    sign = -1.0 if column_key(table.title(column)) in RANK else 1.0  # the first is the best
    if sentence is None:
        values: dict[str, float] = {}
        for row in rows:
            if row.cells[system] in values:
                raise scored_twice(row.cells[system], table.name, row.line)
            values[row.cells[system]] = sign * table.number(row, column)
        return _scores(table, tuple(values), np.array(list(values.values())), label=label)
    first = min(_sentence_numbers(table, sentence, base=0))
    singles: dict[str, dict[int, float]] = {}
    for row in rows:
        # Published tables count from 0; where nobody has a sentence 0, the file counts from 1.
        number = int(row.cells[sentence]) - min(first, 1)
        score = sign * table.number(row, column)
        add_sentence(singles, row.cells[system], str(number), score, table.name, row.line)
    systems = tuple(singles)
    return _scores(
        table,
        systems,
        np.full(len(systems), np.nan),
        sentence_table(systems, singles, table.name),
        label=label,
    )


def _sentence_numbers(table: _Columns, column: int, base: int | None = None) -> list[int]:
    """The sentence numbers of all rows, from 0; files count from 0 or from 1."""
    numbers = []
    for row in table.rows:
        cell = row.cells[column]
        if not (cell.isascii() and cell.isdecimal() and len(cell) < 9):
            raise InputError(
                f"{cell[:40]!r} is not a sentence number",
                path=table.name,
                line=row.line,
                remedy="sentences are counted from 0 or from 1",
            )
        numbers.append(int(cell))
    if base is not None:
        return numbers
    first = min(min(numbers), 1)
    if len(set(numbers)) < len(numbers) or max(numbers) > 100 * len(numbers):
        raise InputError(
            "a sentence stands there twice, or far from the others",
            path=table.name,
            remedy="give every sentence one row",
        )
    return [number - first for number in numbers]


def _scores(
    table: _Columns,
    systems: tuple[str, ...],
    values: np.ndarray,
    sentences: np.ndarray | None = None,
    label: str = "",
) -> Scores:
    if not all(systems):
        raise InputError("a system without a name", path=table.name, remedy="fill in its name")
    try:
        return Scores(label or table.scorer, systems, values, sentences)
    except InputError as error:
        raise InputError(error.problem, path=table.name, remedy="name them apart") from None


def _warn_of_gaps(table: _Columns, systems: tuple[str, ...], values: np.ndarray) -> None:
    gaps = np.isnan(values)
    if not gaps.any():
        return
    who = [system for system, row in zip(systems, gaps, strict=True) if row.any()]
    finding = Finding(
        "warning",
        table.name,
        table.rows[int(gaps.any(axis=0).argmax())].line if len(table.rows) > 1 else None,
        f"{gaps.any(axis=0).sum()} of {values.shape[1]} sentences have no score of "
        f"{'any system' if gaps[:, gaps.any(axis=0)].all() else ', '.join(who)}",
        "they are left out where these systems are compared",
        "missing-score",
    )
    raise_or_warn([finding], stacklevel=5)


def _warn_of_unread(table: _Columns, used: set[int | None]) -> None:
    unread = [
        table.title(c) or f"column {c + 1}" for c in range(len(table.numeric)) if c not in used
    ]
    if unread:
        raise_or_warn(
            [
                Finding(
                    "warning",
                    table.name,
                    table.rows[0].line,
                    f"not read: {', '.join(unread)}",
                    "remove it, or give it in a file of its own",
                    "unread-column",
                )
            ],
            stacklevel=5,
        )
