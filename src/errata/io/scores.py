"""Score files of any form as rows, one assembler."""

from __future__ import annotations

import hashlib
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from errata.core.errors import DataWarning, InputError
from errata.core.stats import Floats
from errata.data import Scores
from errata.io.checks import Finding, raise_or_warn
from errata.io.files import PathLike, peek, plain_name, read_lines, shown_name
from errata.io.judgments.checks import similar_names
from errata.io.outputs import split_name
from errata.io.records import decode_json
from errata.io.rows import (
    Row,
    check_width,
    column_key,
    counts_rows,
    delimiter_of,
    read_number,
    sheet_rows,
    table_lines,
)
from errata.io.slices import SkippedSentences
from errata.io.stored_scores import (
    RUN_RESULT,
    SENTENCE_TABLE,
    STORED,
    add_sentence,
    duplicate_score_error,
    from_printed_json,
    from_printed_tsv,
    from_stored_json,
    from_stored_tsv,
    from_tables,
    is_printed_tsv,
    parse_score,
    read_sentence_tables,
    scores_in_run,
    sentence_table,
)

# ---- Ratings by several judges in one table: a row for each of them and each sentence.

JUDGE = {"judge", "judgeid", "annotator", "annotatorid", "user", "worker", "workerid", "rater"}


def average_judges(
    rows: Sequence[Row], judge: int, sentence: int, number: Callable[[Row, int], float], path: str
) -> tuple[list[Row], tuple[str, ...]]:
    """The rows of one sentence as one, with the mean of its ratings, and a note that says so.

    Every judge weighs the same in a cell; a blank cell is no rating. The column of judges is gone.
    """
    by_sentence: dict[str, dict[str, Row]] = {}
    for row in rows:
        said = by_sentence.setdefault(row.cells[sentence], {})
        if row.cells[judge] in said:
            raise InputError(
                f"{row.cells[judge]} has rated sentence {row.cells[sentence]} before",
                path=path,
                line=row.line,
                remedy="keep one of the two rows",
            )
        said[row.cells[judge]] = row
    judges = {name for said in by_sentence.values() for name in said}
    merged = []
    for said in by_sentence.values():
        first = next(iter(said.values()))
        cells = []
        for column in range(len(first.cells)):
            given = (
                [number(row, column) for row in said.values() if row.cells[column]]
                if (column not in (judge, sentence))
                else []
            )
            cells.append(repr(sum(given) / len(given)) if given else first.cells[column])
        merged.append(Row(first.line, tuple(c for k, c in enumerate(cells) if k != judge)))
    if len(judges) < 2:
        return merged, ()
    return merged, (f"ratings are means over {len(judges)} judges, each weighing the same",)


# ---- Scores in columns, as people keep them: with or without a heading, long or as a matrix.

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
    rows: Sequence[Row]
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

    def number(self, row: Row, column: int) -> float:
        return parse_score(row.cells[column], self.name, row.line, comma=self.comma)


def rows_from_columns(
    rows: Sequence[Row], name: str, *, scorer: str, comma: bool, names: Sequence[str] = ()
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
        return [_average_ratings(table, judge, sentence)]
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


def _split_head(rows: Sequence[Row], name: str, scorer: str, comma: bool) -> _Columns:
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


def _average_ratings(table: _Columns, judge: int, sentence: int) -> Scores:
    """Ratings by several judges: the mean of each sentence and system."""
    assert table.head is not None
    rows, notes = average_judges(table.rows, judge, sentence, table.number, table.name)
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
        raise no_scores_error(table)
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


def no_scores_error(table: _Columns) -> InputError:
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
    parts: dict[str, list[Row]] = {}
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
    table: _Columns, rows: Sequence[Row], system: int, sentence: int | None, column: int, label: str
) -> Scores:
    sign = -1.0 if column_key(table.title(column)) in RANK else 1.0  # the first is the best
    if sentence is None:
        values: dict[str, float] = {}
        for row in rows:
            if row.cells[system] in values:
                raise duplicate_score_error(row.cells[system], table.name, row.line)
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


# ---- The tables of scores that others publish.


def read_published_scores(
    system_path: PathLike | None = None, *, sentence_path: PathLike | None = None
) -> Scores:
    """Read the published tables of nusnlp/gecmetrics (or of the WMT metrics task).

    Give the table of system scores, of sentence scores, or both of the same metric. Systems stand
    in the order of the system table; without one the overall scores are NaN. A sentence without a
    score is NaN, and warned of.
    """
    if system_path is None and sentence_path is None:
        raise InputError("no table given", remedy="name a table of system or sentence scores")
    names: set[str] = set()
    overall: dict[str, float] = {}
    sentences: dict[str, dict[int, float]] = {}
    if system_path is not None:
        for number, cells in _published_rows(system_path, 5):
            names.add(cells[0])
            if cells[3] in overall:
                raise duplicate_score_error(cells[3], shown_name(system_path), number)
            overall[cells[3]] = parse_score(cells[4], shown_name(system_path), number)
    if sentence_path is not None:
        for number, cells in _published_rows(sentence_path, 6):
            names.add(cells[0])
            name = shown_name(sentence_path)
            score = parse_score(cells[5], name, number)
            add_sentence(sentences, cells[3], cells[4], score, name, number)
    if len(names) != 1:
        raise InputError(
            f"scores of {len(names)} metrics: {', '.join(sorted(names))}",
            path=shown_name(sentence_path or system_path or ""),
            remedy="give tables of one metric",
        )
    systems = tuple(overall or sentences)
    table = None
    if sentence_path is not None:
        table = sentence_table(systems, sentences, shown_name(sentence_path))
    return Scores(
        names.pop(), systems, np.array([overall.get(s, math.nan) for s in systems]), table
    )


def _published_rows(path: PathLike, columns: int) -> list[tuple[int, list[str]]]:
    name = shown_name(path)
    lines, findings = read_lines(path)
    raise_or_warn(findings, stacklevel=4)
    rows = [(number, line.split("\t")) for number, line in enumerate(lines, 1)]
    for number, cells in rows:
        if len(cells) != columns:
            kind = "system" if columns == 5 else "sentence"
            raise InputError(
                f"{len(cells)} columns; a table of {kind} scores has {columns}",
                path=name,
                line=number,
                remedy="columns are apart by tabs: metric, "
                "language pair, test set, system, [sentence,] score",
            )
    if not rows:
        raise InputError("the file is empty", path=name, remedy="fetch it again")
    return rows


MEAN = "total:mean"  # what is said of system scores that are means of sentence scores

# A word, blanks, and a decimal comma.
_GLUED = re.compile(r"([^\s,]+) +[+-]?[0-9]+,[0-9]+")
# Lines of tables as a terminal, Markdown, LaTeX and HTML have them.
FOR_READERS = re.compile(r"─{3}|\|\s*:?-{3}|\\begin\{|<table")
_ENDINGS = (".json", ".tsv", ".csv", ".txt", ".xlsx", ".scores")


def read_score_files(
    arguments: Iterable[PathLike], *, names: Sequence[str] = (), lower: Sequence[str] = ()
) -> list[Scores]:
    """Read several files (see `read_score_file`): all their scorers, no two of one name.

    ``lower`` names scorers of which lower is better (``"*"``: all of them); their scores are
    turned round, and their signature says so. A digest of the values is in the signature: a file
    of the same name with other numbers is another scorer.
    """
    found: dict[str, Scores] = {}
    for argument in arguments:
        for scores in read_score_file(argument, names=names):
            if scores.scorer in found:
                raise InputError(
                    f"two inputs hold scores called {scores.label!r}",
                    path=shown_name(split_name(argument)[1]),
                    remedy="name them apart with NAME=FILE",
                )
            found[scores.scorer] = replace(scores, context=(*scores.context, _digest(scores)))
    for name in lower:
        if name != "*" and not any(name in (s.name, s.label, s.scorer) for s in found.values()):
            raise InputError(
                f"there are no scores called {name!r}",
                remedy=f"there are: {', '.join(s.label for s in found.values()) or 'none'}",
            )
    return [
        _turned(scores) if {"*", scores.name, scores.label, scores.scorer} & {*lower} else scores
        for scores in found.values()
    ]


def read_score_file(argument: PathLike, *, names: Sequence[str] = ()) -> list[Scores]:
    """Read scores in any known form, told from the content; one `Scores` per scorer.

    Forms: what `write_scores` writes; ``result.json`` of a run (`errata.scale`); what
    ``errata score`` and ``errata rank`` print as JSON or TSV; Parquet of sentence scores, or a
    folder of it (`errata.io.stored_scores`); the published tables of system or of
    sentence scores; and columns (see `errata.io.scores`), also as a spreadsheet.
    ``NAME=FILE`` names the scorer, ``SYSTEMS,SENTENCES`` puts together the two tables of one
    metric, ``names`` names the systems of bare numbers. Where a file has sentence scores only, a
    system's score is their mean.
    """
    name, text = split_name(argument)
    first, comma, second = text.partition(",")
    if comma and not os.path.exists(text):
        found = [_joined(_read(first, names), _read(second, names), shown_name(second))]
    else:
        found = _read(text, names)
    if name is not None:
        found = [
            replace(
                scores,
                scorer=name if len(found) == 1 else f"{name} {scores.scorer}",
                name=name if len(found) == 1 else f"{name} {scores.name}",
                label=name if len(found) == 1 else f"{name} {scores.label}",
            )
            for scores in found
        ]
    return [_checked(_with_means(scores), shown_name(text)) for scores in found]


def _read(path: str, names: Sequence[str]) -> list[Scores]:
    shown = shown_name(path)
    if path.endswith(SENTENCE_TABLE) or os.path.isdir(path):
        return from_tables([read_sentence_tables(path)], shown)
    remarks, lines = _without_remarks(table_lines(path))
    start, lines = peek(lines)
    if not start.strip():
        raise InputError("the file is empty", path=shown, remedy="give a file of scores")
    if start.lstrip().startswith(("{", "[")):
        return _from_json("".join(lines), shown)
    rest = list(lines)
    if is_printed_tsv(start):
        return from_printed_tsv(rest, shown)
    cells = start.rstrip("\r\n").split("\t")
    if len(cells) > 1 and cells[-1] == "signature":
        raise InputError(
            "the file holds no table of scores",
            path=shown,
            remedy="give what errata score or errata rank printed",
        )
    if cells[:3] == ["scorer", "system", "sentence"]:
        return [from_stored_tsv([line.rstrip("\r\n") for line in rest], shown)]
    if len(cells) in (5, 6) and read_number(cells[-1]) is not None and not cells[0].isdecimal():
        if len(cells) == 6:
            return [read_published_scores(sentence_path=path)]
        if all(read_number(cell) is None for cell in cells[:4]):
            return [read_published_scores(path)]
    if any(map(FOR_READERS.match, rest)):
        raise InputError(
            "the file holds a table for readers",
            path=shown,
            remedy="write scores for other commands with --json or --format tsv",
        )
    mark = delimiter_of(start)
    rows = _by_blanks(rest) or list(sheet_rows(rest, shown, mark))
    rows = [replace(row, line=_line_in_file(row.line, remarks)) for row in rows]
    check_width(rows, shown)
    if mark == ",":
        _refuse_glued(rows, shown)
    return rows_from_columns(rows, shown, scorer=_stem(path), comma=mark == ";", names=names)


def _without_remarks(lines: Iterable[str]) -> tuple[list[int], Iterator[str]]:
    """The lines that are no remarks, and, as they are read, how many came before each remark."""
    before: list[int] = []

    def others() -> Iterator[str]:
        read = 0
        for line in lines:
            if line.startswith("# "):
                before.append(read)
            else:
                read += 1
                yield line

    return before, others()


def _line_in_file(line: int, remarks: Sequence[int]) -> int:
    """The number of a line in the file, remarks among them."""
    return line + sum(before < line for before in remarks)


def _refuse_glued(rows: Sequence[Row], name: str) -> None:
    """Refuse ``A 0,35``, where the comma would separate ``A 0`` from ``35``."""
    found = [_GLUED.fullmatch(",".join(row.cells)) for row in rows]
    words = {match[1] for match in found if match}
    if rows and len(words) == len(rows):  # else the word is one of several systems: team 1, team 2
        raise InputError(
            f"{','.join(rows[0].cells)[:40]!r} may be one score or two cells",
            path=name,
            line=rows[0].line,
            remedy="write 0.35 for 0,35, or add a heading (system,score) if it is two",
        )


def _by_blanks(lines: list[str]) -> list[Row]:
    """Rows of cells that blanks separate, where no line has another separator."""
    if any(mark in line for line in lines for mark in ",;\t"):
        return []
    rows = [Row(k, tuple(line.split())) for k, line in enumerate(lines, 1) if line.strip()]
    return rows if len({len(row.cells) for row in rows}) == 1 else []


def _from_json(text: str, name: str) -> list[Scores]:
    remedy = "give what errata score or rank printed, or write_scores wrote"
    try:
        data: Any = decode_json(text)
    except ValueError as error:
        raise InputError(
            f"not JSON: {error}", path=name, line=getattr(error, "lineno", None), remedy=remedy
        ) from None
    if isinstance(data, dict) and data.get("format") == STORED:
        return [_in_place(from_stored_json(data, name))]
    if isinstance(data, dict) and data.get("format") == RUN_RESULT:
        return [_in_place(scores) for scores in scores_in_run(data, name)]
    return from_printed_json(data, name)


def _stem(path: str) -> str:
    """What a scorer is called after its file: no folder and no usual ending."""
    name = "stdin" if path == "-" else Path(plain_name(path)).name
    for ending in _ENDINGS:
        if name.endswith(ending) and len(name) > len(ending):
            return name.removesuffix(ending)
    return name


def _joined(systems: list[Scores], sentences: list[Scores], name: str) -> Scores:
    """The scores of systems from one file with those of sentences from another."""
    if len(systems) != 1 or len(sentences) != 1 or sentences[0].sentences is None:
        raise InputError(
            "SYSTEMS,SENTENCES needs a table of one metric's system scores and one of its "
            "sentence scores",
            path=name,
        )
    overall, single = systems[0], sentences[0]
    if {*overall.systems} != {*single.systems}:
        odd = ", ".join(sorted({*overall.systems} ^ {*single.systems}))
        raise InputError(
            f"overall scores and sentence scores are not of the same systems: {odd}",
            path=name,
            remedy="give tables that belong together",
        )
    return replace(overall, sentences=single.select(overall.systems).sentences)


def _with_means(scores: Scores) -> Scores:
    """Mean sentence scores as system scores where a file has no others."""
    if scores.sentences is None or not np.isnan(scores.values).all():
        return scores
    if np.isnan(scores.sentences).all(axis=1).any():
        return scores
    return replace(
        scores,
        values=_means(scores.sentences),
        context=(*scores.context, MEAN),
        notes=(*scores.notes, "system scores are the means of the sentence scores"),
    )


def _in_place(scores: Scores) -> Scores:
    """Sentence scores where their sentences stand in the whole text: none of those left out."""
    if scores.sentences is None or not scores.skipped:
        return scores
    width = scores.sentences.shape[1] + len(scores.skipped)
    there = [i for i in range(width) if i not in scores.skipped]
    whole = np.full((len(scores), width), np.nan)
    whole[:, there] = scores.sentences[:, : len(there)]
    return replace(scores, sentences=whole, sentence_parts={}, skipped=())


def _means(sentences: Floats) -> Floats:
    """The mean of each system over the sentences that have a score."""
    known = ~np.isnan(sentences)
    return np.asarray(np.nansum(sentences, axis=1) / np.maximum(known.sum(axis=1), 1), np.float64)


def drop_sentences(scores: Scores, skipped: SkippedSentences) -> Scores:
    """Scores that were read without those of some sentences, where they have any there.

    Scores of systems stay as they are, but for those that are means of sentence scores.
    """
    if scores.sentences is None:
        return scores
    places = [i for i in range(scores.sentences.shape[1]) if skipped.holds(i)]
    fewer = scores.without_sentences(*places)
    if fewer.sentences is None or fewer is scores:
        return scores
    values = _means(fewer.sentences) if MEAN in scores.context else scores.values
    return replace(fewer, values=values, context=(*scores.context, skipped.fact))


def _checked(scores: Scores, name: str) -> Scores:
    """Refuse systems without a score: NaN and infinities have no rank. Say which look alike."""
    for problem in similar_names(scores.systems):
        warnings.warn(
            f"{name}: the systems {problem}; write each in one way only", DataWarning, stacklevel=4
        )
    for system, value in scores:
        if not np.isfinite(value):
            raise InputError(
                f"{scores.label}: the system {system!r} has no score",
                path=name,
                remedy="leave the system out of the file",
            )
    return scores


def _digest(scores: Scores) -> str:
    """What tells these numbers from others of the same name, whatever the order of systems."""
    ordered = scores.select(sorted(scores.systems))
    digest = hashlib.sha256("\0".join(ordered.systems).encode("utf-8", "surrogatepass"))
    for numbers in (ordered.values, ordered.sentences):
        if numbers is not None:
            digest.update((numbers + 0.0).astype("<f8").tobytes())
    return f"values:@{digest.hexdigest()[:12]}"


def _turned(scores: Scores) -> Scores:
    """The same scores with their sign changed, so that higher is better."""
    return replace(
        scores,
        values=-scores.values,
        sentences=None if scores.sentences is None else -scores.sentences,
        resampled=None if scores.resampled is None else -scores.resampled,
        context=(*scores.context, "lower is better: sign changed"),
    )
