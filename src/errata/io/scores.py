"""Score files of any form as rows, one assembler."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from errata.core.errors import InputError, warn_of_data
from errata.core.stats import Floats
from errata.data import Scores
from errata.io import stored_scores as stored
from errata.io.checks import Finding, raise_or_warn
from errata.io.columns import check_system_columns, columns_of_role, holds_numbers
from errata.io.files import PathLike, peek_first_nonblank_line, read_lines, shown_name
from errata.io.judgments.checks import similar_names
from errata.io.outputs import file_stem, split_name
from errata.io.records import decode_json
from errata.io.rows import (
    Row,
    check_width,
    delimiter_of,
    numbers_rows,
    read_number,
    sheet_rows,
    table_lines,
)
from errata.io.slices import SkippedSentences
from errata.io.stored_scores import ScoreRow

# ---- Scores in columns, as people keep them: with or without a heading, long or as a matrix.

# What stands for a number that is none (nan, n/a, -, 0.3.5, 35 %, 1e400), and is no title.
MEANT_AS_NUMBER = re.compile(
    r"[+-]?(?:nan|inf|infinity)|n/?a|none|null|missing|[\W_]+"
    r"|[^\w\s]*\d[\d._,']*(?:e[+-]?\d+)?\s?%?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _ScoreTable:
    """The columns of a file, and what each is by title and content.

    ``scorer`` names the only metric, ``names`` the systems of bare numbers; ``comma`` is for
    `read_number`.
    """

    path: str
    scorer: str
    names: Sequence[str]
    comma: bool
    rows: Sequence[Row]
    head: tuple[str, ...] | None = None

    @property
    def columns(self) -> range:
        return range(len(self.rows[0].cells))

    def cells_of(self, column: int) -> list[str]:
        return [row.cells[column] for row in self.rows]

    def title_of(self, column: int) -> str:
        return self.head[column] if self.head is not None else ""

    def find_column(self, role: str) -> int | None:
        """The first column of a role; one that only numbers the rows if there is no other."""
        found = columns_of_role(self.head or (), role)
        return next((c for c in found if c != self.row_counter), next(iter(found), None))

    @cached_property
    def is_numeric(self) -> list[bool]:
        return [holds_numbers(self.cells_of(column), comma=self.comma) for column in self.columns]

    @cached_property
    def row_counter(self) -> int | None:
        """The column that numbers the rows, where there is one."""
        titles = enumerate(self.head or ())
        return next((c for c, title in titles if numbers_rows(title, self.cells_of(c))), None)

    def parse_number(self, row: Row, column: int) -> float:
        return stored.parse_score(row.cells[column], self.path, row.line, comma=self.comma)

    def error(self, problem: str, remedy: str, line: int | None = None) -> InputError:
        return InputError(problem, path=self.path, line=line, remedy=remedy)

    def score_row(self, row: Row, column: int, system: str, sentence: int | None) -> ScoreRow:
        """The score in a cell; a blank one of a sentence is none."""
        blank = sentence is not None and not row.cells[column]
        value = None if blank else self.parse_number(row, column)
        return ScoreRow(self.scorer, system, sentence, "score", value, row.line)

    def sentence_numbers(self, column: int) -> list[int]:
        """The sentence of each row, from 0; where nobody has a sentence 0, files count from 1."""
        numbers = [stored.parse_sentence(r.cells[column], self.path, r.line) for r in self.rows]
        first = min(1, *numbers)
        return [number - first for number in numbers]


def _split_heading(table: _ScoreTable) -> _ScoreTable:
    """Split off a heading: a row with a known title, or a word over a column of numbers.

    Text meant as a number is no such word: its row is a system, refused later.
    """
    first, rest = table.rows[0].cells, table.rows[1:]
    if not rest:
        return table

    def is_title(cell: str) -> bool:
        number = read_number(cell, comma=table.comma)
        return bool(cell) and number is None and MEANT_AS_NUMBER.fullmatch(cell) is None

    below = replace(table, rows=rest)
    roles = ("system", "name", "sentence", "metric", "judge")
    if any(columns_of_role(first, role) for role in roles) or any(
        numeric and is_title(cell) for cell, numeric in zip(first, below.is_numeric, strict=True)
    ):
        return replace(below, head=first)
    return table


def _scores_in_columns(table: _ScoreTable) -> list[Scores]:
    """Return the scores of a table, one `Scores` per metric."""
    line = table.rows[0].line
    table = _split_heading(table)
    if not any(any(row.cells) for row in table.rows):
        where = "" if table.head is None else " below the heading"
        raise table.error(f"no scores{where}", "give a row per system")
    texts = [c for c in table.columns if not table.is_numeric[c]]
    metric, judge, sentence = map(table.find_column, ("metric", "judge", "sentence"))
    system = table.find_column("system")
    system = table.find_column("name") if system is None else system
    if system is None and judge is not None and sentence is None:
        problem = f"no column says which sentence was rated, beside {table.title_of(judge)!r}"
        raise table.error(problem, "add a column called sentence, or one called system", line)
    if system is None and not {*texts} - {judge}:
        return _scores_by_column(table, judge, table.row_counter if sentence is None else sentence)
    if system is None and metric is None and sentence is not None and len(table.rows) > 1:
        judges = [""] * len(table.rows) if judge is None else table.cells_of(judge)
        pairs = {*zip(judges, table.cells_of(sentence), strict=True)}
        # Where each sentence has one row, or one of each judge, systems are columns.
        if len(pairs) == len(table.rows) and sum(table.is_numeric) > 2:
            return _scores_by_column(table, judge, sentence)
    if system is None and metric is None and table.head is not None and len(table.columns) > 2:
        _refuse_empty_columns(table, texts, line)
    if metric is None and len(texts) == 2 and system is None and len(table.columns) == 3:
        metric, system = texts
    if system is None:
        system = next((c for c in texts if c != metric), texts[0])
    rows = _score_rows(table, system, sentence, metric)
    # Beside bare columns that need the names, a file may name the same systems itself.
    if table.names and {row.system for row in rows} - {*table.names}:
        problem = "the file names its systems itself, and others than --names does"
        raise table.error(problem, "give it the same names, or leave out --names")
    return stored.scores_from_rows(rows, table.path)


def _refuse_empty_columns(table: _ScoreTable, texts: Sequence[int], line: int) -> None:
    """Refuse systems without any number: their columns would be taken for the names of systems."""
    empty = ", ".join(table.title_of(c) for c in texts if table.title_of(c))
    blank = not any("".join(table.cells_of(c)) for c in texts)
    if empty and blank and len(texts) < len(table.columns):
        problem = f"no rating or score of {empty}"
        raise table.error(problem, "leave out a column that is empty", line)


def _scores_by_column(table: _ScoreTable, judge: int | None, sentence: int | None) -> list[Scores]:
    """A column of numbers for each system, with a row for each sentence, or one for all."""
    columns = [c for c in table.columns if table.is_numeric[c] and c not in (judge, sentence)]
    names = table.names
    notes: tuple[str, ...] = ()
    _warn_of_unread(table, {judge, sentence, *columns})
    if not columns:
        raise table.error("no column of scores", "write a column of numbers for every system")
    if judge is None and len(columns) == 1 and (table.head is None or names):
        return _scores_in_one_column(table, columns[0])
    if table.head is not None:
        names = [table.title_of(column) for column in columns]
        numbers = (
            [table.parse_number(row, c) for row in table.rows if row.cells[c]] for c in columns
        )
        check_system_columns(dict(zip(names, numbers, strict=True)), table.path)
    elif len(names) != len(columns):
        problem = f"{len(columns)} columns of numbers without a heading, and {len(names)} names"
        raise table.error(problem, "name the systems in a heading or with --names")
    if judge is not None and sentence is not None:
        judges = len({*table.cells_of(judge)})
        table = _mean_ratings(table, judge, sentence)
        if judges > 1:
            notes = (f"ratings are means over {judges} judges, each weighing the same",)
    places: Sequence[int | None] = range(len(table.rows))
    if sentence is not None:
        places = table.sentence_numbers(sentence)
    elif len(table.rows) == 1:
        places = [None]
    rows = [
        table.score_row(row, column, system, place)
        for row, place in zip(table.rows, places, strict=True)
        for column, system in zip(columns, names, strict=True)
    ]
    return [replace(scores, notes=notes) for scores in stored.scores_from_rows(rows, table.path)]


def _scores_in_one_column(table: _ScoreTable, column: int) -> list[Scores]:
    """Return a column of bare numbers as the scores of the systems that the user names."""
    many, names = len(table.rows), table.names
    if len(names) != many:
        problem = f"{many} scores without the systems they belong to"
        if names:
            problem = f"{many} scores for {len(names)} names"
        raise table.error(problem, "name the systems in their order with --names A,B,...")
    pairs = zip(table.rows, names, strict=True)
    rows = [table.score_row(row, column, system, None) for row, system in pairs]
    return stored.scores_from_rows(rows, table.path)


def _mean_ratings(table: _ScoreTable, judge: int, sentence: int) -> _ScoreTable:
    """Return the table with one row a sentence: its mean rating, each judge weighing the same."""
    ratings: dict[str, dict[str, Row]] = {}
    for row in table.rows:
        name, place = row.cells[judge], row.cells[sentence]
        if ratings.setdefault(place, {}).setdefault(name, row) is not row:
            problem = f"{name} has rated sentence {place} before"
            raise table.error(problem, "keep one of the two rows", row.line)
    merged = []
    for several in ratings.values():
        first = next(iter(several.values()))
        cells = list(first.cells)
        for column in {c for c in table.columns if table.is_numeric[c]} - {judge, sentence}:
            values = [table.parse_number(r, column) for r in several.values() if r.cells[column]]
            cells[column] = repr(sum(values) / len(values)) if values else ""
        merged.append(Row(first.line, tuple(cells)))
    return replace(table, rows=merged)


def _score_rows(
    table: _ScoreTable, system: int, sentence: int | None, metric: int | None
) -> list[ScoreRow]:
    """A row for each system, or for each sentence of each system."""
    if not all(any(row.cells) for row in table.rows):
        table = replace(table, rows=[row for row in table.rows if any(row.cells)])
    systems = table.cells_of(system)
    if sentence == table.row_counter and len({*systems}) == len(systems):
        sentence = None  # it numbers the systems
    used = (system, table.row_counter)
    numbers = [c for c in table.columns if table.is_numeric[c] and c not in used]
    if sentence is None and table.head is None and len(numbers) == 2 and metric is None:
        counting = (c for c in numbers if _is_sentence_column(table.cells_of(c), systems))
        sentence = next(counting, None)
    numbers = [c for c in numbers if c not in (sentence, metric)]
    ranks = columns_of_role(table.head or (), "rank")
    figures = [c for c in numbers if c not in ranks] or numbers
    _check_score_columns(table, figures, metric)
    _warn_of_unread(table, {system, sentence, metric, *figures})
    titles = [table.title_of(c) for c in figures]
    counted = [[str(k + first) for k in range(len(titles))] for first in (0, 1)]
    # The titles count sentences: 0, 1, 2... or 1, 2, 3...
    wide = sentence is None and metric is None and len(titles) > 1 and titles in counted
    places: Sequence[int | None] = [None] * len(systems)
    if sentence is not None:
        places = table.sentence_numbers(sentence)
    found = []
    for k, column in enumerate(figures):
        for row, name, place in zip(table.rows, systems, places, strict=True):
            scorer = "" if wide or len(figures) == 1 else titles[k]
            if metric is not None:
                scorer = row.cells[metric]
            sign = -1.0 if column in ranks else 1.0  # the first is the best
            score = sign * table.parse_number(row, column)
            where = k if wide else place
            found.append(ScoreRow(scorer or table.scorer, name, where, "score", score, row.line))
    return found


def _check_score_columns(table: _ScoreTable, figures: Sequence[int], metric: int | None) -> None:
    """Refuse a table without scores, and several columns without titles."""
    line = table.rows[0].line
    if not figures:
        remedy = "write a column with a number for every system"
        for cell in table.rows[0].cells:
            if "," in cell and read_number(cell, comma=True) is not None:
                remedy = f"write {cell.replace(',', '.')[:40]}, or put semicolons between the cells"
        raise table.error("no column of scores", remedy, line)
    if table.head is None and len(figures) > 1:
        problem = f"{len(figures)} columns of numbers without a heading"
        remedy = "say in a heading what they are: system,sentence,score, or "
        remedy += "system,METRIC,METRIC..., or system,1,2,3..."
        raise table.error(problem, remedy, line)
    if metric is not None and len(figures) > 1:
        problem = f"several columns of scores beside {table.title_of(metric)!r}"
        raise table.error(problem, "keep one, or give a column per metric")


def _is_sentence_column(cells: Sequence[str], systems: Sequence[str]) -> bool:
    """Whether a column without a heading holds whole numbers, each once for every system."""
    pairs, named = {*zip(systems, cells, strict=True)}, {*systems}
    return (
        all(cell.isascii() and cell.isdecimal() for cell in cells)
        and len(pairs) == len(cells) == len({*cells}) * len(named)
        and len(named) < len(cells)
    )


def _warn_of_unread(table: _ScoreTable, used: set[int | None]) -> None:
    unread = [table.title_of(c) or f"column {c + 1}" for c in table.columns if c not in used]
    if unread:
        problem, remedy = f"not read: {', '.join(unread)}", "remove it, or give it in another file"
        line = table.rows[0].line
        finding = Finding("warning", table.path, line, problem, remedy, "unread-column")
        raise_or_warn([finding], stacklevel=5)


def read_published_scores(
    system_path: PathLike | None = None, *, sentence_path: PathLike | None = None
) -> Scores:
    """Read the published tables of nusnlp/gecmetrics (or of the WMT metrics task).

    Give the table of system scores, of sentence scores, or both of the same metric; systems are in
    the order of the first. Missing system scores are NaN, missing sentence scores NaN with a
    warning.
    """
    if system_path is None and sentence_path is None:
        raise InputError("no table given", remedy="name a table of system or sentence scores")
    rows = [] if system_path is None else _published_rows(system_path, 5)
    rows += [] if sentence_path is None else _published_rows(sentence_path, 6)
    path = shown_name(sentence_path or system_path or "")
    return stored.require_one_scorer(stored.scores_from_rows(rows, path), path)


def _published_rows(path: PathLike, columns: int) -> list[ScoreRow]:
    name = shown_name(path)
    lines, findings = read_lines(path)
    raise_or_warn(findings, stacklevel=4)
    if not lines:
        raise InputError("the file is empty", path=name, remedy="fetch it again")
    found = []
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if len(cells) != columns:
            kind = "system" if columns == 5 else "sentence"
            problem = f"{len(cells)} columns; a table of {kind} scores has {columns}"
            remedy = "columns are separated by tabs: metric, language pair, test set, system, "
            remedy += "[sentence,] score"
            raise InputError(problem, path=name, line=number, remedy=remedy)
        place = stored.parse_sentence(cells[4], name, number) if columns == 6 else None
        value = stored.parse_score(cells[-1], name, number)
        found.append(ScoreRow(cells[0], cells[3], place, "score", value, number))
    return found


# ---- Files in any known form.

MEAN = "total:mean"  # the fact in signatures of system scores that are means of sentence scores

# A word, blanks, and a decimal comma.
_GLUED = re.compile(r"([^\s,]+) +[+-]?[0-9]+,[0-9]+")
# Lines of tables as a terminal, Markdown, LaTeX and HTML have them.
FOR_READERS = re.compile(r"─{3}|\|\s*:?-{3}|\\begin\{|<table")
_ENDINGS = (".json", ".tsv", ".csv", ".txt", ".xlsx", ".scores")


def read_score_files(
    arguments: Iterable[PathLike], *, names: Sequence[str] = (), lower: Sequence[str] = ()
) -> list[Scores]:
    """Read several files (see `read_score_file`): all their scorers, no two of one name.

    Scores of scorers in ``lower`` (``"*"``: all) are negated, as their signature says. It also has
    a digest of the values: a file of the same name with other numbers is another scorer.
    """
    found: dict[str, Scores] = {}
    for argument in arguments:
        for scores in read_score_file(argument, names=names):
            if scores.scorer in found:
                problem = f"two inputs hold scores called {scores.label!r}"
                remedy = "name them apart with NAME=FILE"
                raise InputError(problem, path=shown_name(split_name(argument)[1]), remedy=remedy)
            context = (*scores.context, _digest_values(scores))
            found[scores.scorer] = replace(scores, context=context)
    for name in lower:
        if name != "*" and not any(name in (s.name, s.label, s.scorer) for s in found.values()):
            remedy = f"there are: {', '.join(s.label for s in found.values()) or 'none'}"
            raise InputError(f"there are no scores called {name!r}", remedy=remedy)
    return [
        _negate_scores(scores)
        if {"*", scores.name, scores.label, scores.scorer} & {*lower}
        else scores
        for scores in found.values()
    ]


def read_score_file(argument: PathLike, *, names: Sequence[str] = ()) -> list[Scores]:
    """Read scores in any known form, detected from the content; one `Scores` per scorer.

    Forms: what `write_scores` writes; ``result.json`` of a run (`errata.scale`); what ``errata
    score`` and ``errata rank`` print as JSON or TSV; Parquet of sentence scores, or a folder of it;
    published tables of system or sentence scores; and columns, also as a spreadsheet. ``NAME=FILE``
    names the scorer, ``SYSTEMS,SENTENCES`` joins two tables of one metric, ``names`` names the
    systems of bare numbers. If there are sentence scores only, systems get their means.
    """
    name, text = split_name(argument)
    first, comma, second = text.partition(",")
    if comma and not os.path.exists(text):
        tables = _read_any_form(first, names), _read_any_form(second, names)
        found = [_join_tables(*tables, shown_name(second))]
    else:
        found = _read_any_form(text, names)
    if name is not None:
        if len(found) == 1:
            found = [replace(found[0], scorer=name, name=name, label=name)]
        else:
            found = [stored.prefix_names(scores, name) for scores in found]
    return [_require_system_scores(_add_mean_scores(scores), shown_name(text)) for scores in found]


def _read_any_form(path: str, names: Sequence[str]) -> list[Scores]:
    shown = shown_name(path)
    if path.endswith(stored.SENTENCE_TABLE) or os.path.isdir(path):
        return stored.scores_from_tables([stored.read_sentence_tables(path)], shown)
    remarks, lines = _without_remarks(table_lines(path))
    start, lines = peek_first_nonblank_line(lines)
    if not start.strip():
        raise InputError("the file is empty", path=shown, remedy="give a file of scores")
    if start.lstrip().startswith(("{", "[")):
        return _scores_from_json("".join(lines), shown)
    rest = list(lines)
    if stored.is_printed_tsv(start):
        return stored.from_printed_tsv(rest, shown)
    cells = start.rstrip("\r\n").split("\t")
    if len(cells) > 1 and cells[-1] == "signature":
        remedy = "give what errata score or errata rank printed"
        raise InputError("the file holds no table of scores", path=shown, remedy=remedy)
    if cells[:3] == ["scorer", "system", "sentence"]:
        return [stored.from_stored_tsv([line.rstrip("\r\n") for line in rest], shown)]
    if len(cells) in (5, 6) and read_number(cells[-1]) is not None and not cells[0].isdecimal():
        if len(cells) == 6:
            return [read_published_scores(sentence_path=path)]
        if all(read_number(cell) is None for cell in cells[:4]):
            return [read_published_scores(path)]
    if any(map(FOR_READERS.match, rest)):
        remedy = "write scores for other commands with --json or --format tsv"
        raise InputError("the file holds a table for readers", path=shown, remedy=remedy)
    mark = delimiter_of(start)
    rows = _split_at_blanks(rest) or list(sheet_rows(rest, shown, mark))
    if remarks:
        # Remarks are lines of the file.
        gone = [(row, sum(before < row.line for before in remarks)) for row in rows]
        rows = [replace(row, line=row.line + more) for row, more in gone]
    check_width(rows, shown)
    if mark == ",":
        _refuse_decimal_commas(rows, shown)
    table = _ScoreTable(shown, file_stem(path, _ENDINGS), names, mark == ";", rows)
    return _scores_in_columns(table)


def _without_remarks(lines: Iterable[str]) -> tuple[list[int], Iterator[str]]:
    """The lines that are no remarks, and, as they are read, how many came before each remark."""
    before: list[int] = []

    def other_lines() -> Iterator[str]:
        read = 0
        for line in lines:
            if line.startswith("# "):
                before.append(read)
            else:
                read += 1
                yield line

    return before, other_lines()


def _refuse_decimal_commas(rows: Sequence[Row], name: str) -> None:
    """Refuse ``A 0,35``, where the comma would separate ``A 0`` from ``35``."""
    found = [_GLUED.fullmatch(",".join(row.cells)) for row in rows]
    words = {match[1] for match in found if match}
    if rows and len(words) == len(rows):  # else the word is one of several systems: team 1, team 2
        problem = f"{','.join(rows[0].cells)[:40]!r} may be one score or two cells"
        remedy = "write 0.35 for 0,35, or add a heading (system,score) if it is two"
        raise InputError(problem, path=name, line=rows[0].line, remedy=remedy)


def _split_at_blanks(lines: list[str]) -> list[Row]:
    """Rows of cells that blanks separate, where no line has another separator."""
    if any(mark in line for line in lines for mark in ",;\t"):
        return []
    rows = [Row(k, tuple(line.split())) for k, line in enumerate(lines, 1) if line.strip()]
    return rows if len({len(row.cells) for row in rows}) == 1 else []


def _scores_from_json(text: str, name: str) -> list[Scores]:
    remedy = "give what errata score or rank printed, or write_scores wrote"
    try:
        data: Any = decode_json(text)
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise InputError(f"not JSON: {error}", path=name, line=line, remedy=remedy) from None
    form = data.get("format") if isinstance(data, dict) else None
    if form not in (stored.STORED, stored.RUN_RESULT):
        return stored.from_printed_json(data, name)
    found = (
        [stored.from_stored_json(data, name)]
        if form == stored.STORED
        else stored.from_run_result(data, name)
    )
    return [_restore_skipped_places(scores) for scores in found]


def _join_tables(systems: list[Scores], sentences: list[Scores], name: str) -> Scores:
    if len(systems) != 1 or len(sentences) != 1 or sentences[0].sentences is None:
        problem = "SYSTEMS,SENTENCES needs a table of one metric's system scores and one of its "
        raise InputError(problem + "sentence scores", path=name)
    overall, single = systems[0], sentences[0]
    if {*overall.systems} != {*single.systems}:
        odd = ", ".join(sorted({*overall.systems} ^ {*single.systems}))
        problem = f"overall scores and sentence scores are not of the same systems: {odd}"
        raise InputError(problem, path=name, remedy="give tables that belong together")
    return replace(overall, sentences=single.select(overall.systems).sentences)


def _add_mean_scores(scores: Scores) -> Scores:
    """Mean sentence scores as system scores where a file has no others."""
    if scores.sentences is None or not np.isnan(scores.values).all():
        return scores
    if np.isnan(scores.sentences).all(axis=1).any():
        return scores
    context = (*scores.context, MEAN)
    notes = (*scores.notes, "system scores are the means of the sentence scores")
    return replace(scores, values=_mean_scores(scores.sentences), context=context, notes=notes)


def _restore_skipped_places(scores: Scores) -> Scores:
    """Put sentence scores at their places in the whole text, with NaN for sentences left out."""
    if scores.sentences is None or not scores.skipped:
        return scores
    width = scores.sentences.shape[1] + len(scores.skipped)
    there = [i for i in range(width) if i not in scores.skipped]
    whole = np.full((len(scores), width), np.nan)
    whole[:, there] = scores.sentences[:, : len(there)]
    return replace(scores, sentences=whole, sentence_parts={}, skipped=())


def _mean_scores(sentences: Floats) -> Floats:
    known = ~np.isnan(sentences)
    return np.asarray(np.nansum(sentences, axis=1) / np.maximum(known.sum(axis=1), 1), np.float64)


def drop_sentences(scores: Scores, skipped: SkippedSentences) -> Scores:
    """Return scores without some sentences; system scores change if they are means of those."""
    if scores.sentences is None:
        return scores
    places = [i for i in range(scores.sentences.shape[1]) if skipped.skips(i)]
    fewer = scores.without_sentences(*places)
    if fewer.sentences is None or fewer is scores:
        return scores
    values = _mean_scores(fewer.sentences) if MEAN in scores.context else scores.values
    return replace(fewer, values=values, context=(*scores.context, skipped.signature_fact))


def _require_system_scores(scores: Scores, name: str) -> Scores:
    """Refuse systems without a score: NaN and infinities have no rank. Say which look alike."""
    for problem in similar_names(scores.systems):
        warn_of_data(f"{name}: the systems {problem}; write each in one way only", stacklevel=4)
    for system, value in scores:
        if not np.isfinite(value):
            problem = f"{scores.label}: the system {system!r} has no score"
            raise InputError(problem, path=name, remedy="leave the system out of the file")
    return scores


def _digest_values(scores: Scores) -> str:
    """Return a digest of the numbers, independent of the order of systems."""
    ordered = scores.select(sorted(scores.systems))
    digest = hashlib.sha256("\0".join(ordered.systems).encode("utf-8", "surrogatepass"))
    for numbers in (ordered.values, ordered.sentences):
        if numbers is not None:
            digest.update((numbers + 0.0).astype("<f8").tobytes())
    return f"values:@{digest.hexdigest()[:12]}"


def _negate_scores(scores: Scores) -> Scores:
    """Change the sign of scores, so that higher is better."""
    numbers = {
        key: -given
        for key in ("values", "sentences", "resampled")
        if (given := getattr(scores, key)) is not None
    }
    return replace(scores, **numbers, context=(*scores.context, "lower is better: sign changed"))
