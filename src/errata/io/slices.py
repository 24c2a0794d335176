"""Sentences left out by number, and labels per sentence (domain, level, log columns)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, NamedTuple

from errata.core.errors import InputError
from errata.core.parameters import suggest_name
from errata.data import Corpus, Judgment
from errata.io.checks import raise_or_warn
from errata.io.files import PathLike, decode, open_unpacked, read_lines, shown_name
from errata.io.records import parse_integer
from errata.io.rows import check_width, read_rows

MOST_VALUES = 200  # different values of a column; one that has more is a number or a text
NO_VALUE = "(none)"  # what an empty cell says


def read_slices(path: PathLike, corpus: Corpus) -> dict[str, tuple[str, ...]]:
    """Return the columns of a table with a header and one row per sentence of the corpus.

    The table (CSV or spreadsheet) may have rows for skipped sentences of the corpus, or not.
    """
    rows, _ = read_rows(path)
    name = shown_name(path)
    if len(rows) < 2:
        problem = "a table of slices has a header and a row per sentence"
        remedy = "write the names of the columns in the first line"
        raise InputError(problem, path=name, remedy=remedy)
    check_width(rows, name)
    titles = rows[0].cells
    odd = next((t for t in titles if not t or titles.count(t) > 1), None)
    if odd is not None:
        problem = f"two columns are called {odd!r}" if odd else "a column has no name"
        remedy = "give every column a name of its own"
        raise InputError(problem, path=name, line=rows[0].line, remedy=remedy)
    body = rows[1:]
    whole = corpus.whole or corpus
    if len(body) == len(whole):
        gone = {*corpus.skipped}
        body = [row for i, row in enumerate(body) if i not in gone]
    if len(body) != len(corpus):
        wanted = f"the corpus has {len(whole)} sentences"
        problem = f"{len(rows) - 1} rows below the header, but {wanted}"
        remedy = "give one row per sentence, below a line with the names of the columns"
        raise InputError(problem, path=name, remedy=remedy)
    columns = {
        title: tuple(row.cells[c] or NO_VALUE for row in body) for c, title in enumerate(titles)
    }
    for title, values in columns.items():
        if len({*values}) > MOST_VALUES:
            problem = f"the column {title!r} has {len({*values})} different values, and a slice "
            problem += f"is to be more than a few sentences (at most {MOST_VALUES} values)"
            raise InputError(problem, path=name, remedy="leave it out, or group its values")
    return columns


def sentences_listed_in(path: PathLike, corpus: Corpus) -> tuple[int, ...]:
    """Return the sentences of a corpus, from 0, whose sources a file lists, and no other lines."""
    wanted, findings = read_lines(path)
    raise_or_warn(findings)
    places: dict[str, list[int]] = {}
    for i, source in enumerate(corpus.sources):
        places.setdefault(source, []).append(i)
    for number, line in enumerate(wanted, 1):
        if line not in places:
            problem = "the line is no source sentence of the corpus"
            remedy = "copy the lines from the sources, spaces and all"
            raise InputError(problem, path=shown_name(path), line=number, remedy=remedy)
    return tuple(sorted({i for line in wanted for i in places[line]}))


# ---- Marks of logged sentences: a table with a row each, read beside their texts.

_YES, _NO = ("true", "yes", "1"), ("false", "no", "0")


class LogColumns:
    """The columns of a table of marks, so many rows at a time."""

    def __init__(self, path: PathLike, slices: Sequence[str] = ()) -> None:
        self.path, self.slices = shown_name(path), tuple(slices)
        self.row = 1
        self._lines = _read_tsv_cells(path, self.path)
        self.titles = next(self._lines, [])
        if len({*self.titles}) < len(self.titles) or "" in self.titles:
            problem = "a column has no name, or the name of another"
            remedy = "write the names of the columns in the first line, apart by tabs"
            raise InputError(problem, path=self.path, line=1, remedy=remedy)
        for name in slices:
            if name not in self.titles:
                problem = f"there is no column {name!r} to slice by"
                remedy = f"{suggest_name(name, self.titles)}there are: {', '.join(self.titles)}"
                raise InputError(problem, path=self.path, line=1, remedy=remedy)

    def take_rows(self, n: int) -> dict[str, Any]:
        """What the next ``n`` rows say: ``accepted``, ``clean`` and ``slices``."""
        rows = list(islice(self._lines, n))
        first = self.row + 1
        self.row += len(rows)
        for k, cells in enumerate(rows):
            if len(cells) != len(self.titles):
                problem = f"{len(cells)} cells below {len(self.titles)} names of columns"
                remedy = "cells are apart by tabs, and empty where nothing is known"
                raise InputError(problem, path=self.path, line=first + k, remedy=remedy)
        if len(rows) < n:
            self._refuse_row_count(
                f"{self.row - 1} rows below the names of columns, and more sentences"
            )
        by_title = {title: [row[c] for row in rows] for c, title in enumerate(self.titles)}
        marks = {
            name: [self._parse_mark(cell, name, first + k) for k, cell in enumerate(by_title[name])]
            if name in by_title
            else None
            for name in ("accepted", "clean")
        }
        slices = {name: tuple(c or NO_VALUE for c in by_title[name]) for name in self.slices}
        return {**marks, "slices": slices}

    def refuse_more_rows(self) -> None:
        """Refuse rows beyond the last sentence."""
        if next(self._lines, None) is not None:
            self._refuse_row_count(f"more rows than the {self.row - 1} sentences")

    def _refuse_row_count(self, problem: str) -> None:
        raise InputError(problem, path=self.path, remedy="give one row per sentence")

    def _parse_mark(self, cell: str, name: str, line: int) -> bool | None:
        word = cell.strip().lower()
        if word in _YES or word in _NO or not word:
            return word in _YES if word else None
        problem = f"{name} is {cell[:40]!r}, neither yes nor no"
        remedy = "write true or false, yes or no, 1 or 0, or nothing where it is not known"
        raise InputError(problem, path=self.path, line=line, remedy=remedy)


def _read_tsv_cells(path: PathLike, name: str) -> Iterator[list[str]]:
    with open_unpacked(path, bounded=False) as file:
        for number, line in enumerate(file, 1):
            text = decode(line, name, first_line=number).rstrip("\n").removesuffix("\r")
            yield text.split("\t")


# ---- Sentences left out by number: ``3,7-9``, or a file with a number or a range a line.

LISTED = 20  # ranges that a signature names; of more it has the number and a digest
_RANGES = re.compile(r"[\d\s,-]*\d[\d\s,-]*", re.ASCII)


class NumberRange(NamedTuple):
    """Sentences from ``first`` to ``last``, counted from 1, and their line in the file."""

    first: int
    last: int
    line: int | None = None


@dataclass(frozen=True)
class SkippedSentences:
    """The sentences to be left out, as they were asked for; ``path`` is the file, if it was one.

    >>> skipped = read_skipped("3,7-9")
    >>> skipped.positions(12), skipped.skips(6), skipped.count_before(9)
    ((2, 6, 7, 8), True, 4)
    """

    ranges: tuple[NumberRange, ...]
    path: str | None = None

    def positions(self, size: int) -> tuple[int, ...]:
        """The places, from 0, of the sentences in a text of ``size``; others are refused."""
        for first, last, line in self.ranges:
            if last > size:
                wrong = max(first, size + 1)
                problem = f"there is no sentence {wrong} to leave out: the text has {size}"
                remedy = f"sentences count from 1 to {size}"
                raise InputError(problem, path=self.path, line=line, remedy=remedy)
        return tuple(
            i for first, last in _merge_ranges(self.ranges) for i in range(first - 1, last)
        )

    def skips(self, position: int) -> bool:
        """Whether the sentence at this place, from 0, is left out."""
        return any(first <= position + 1 <= last for first, last, _ in self.ranges)

    def count_before(self, position: int) -> int:
        """How many of the sentences before this place are left out."""
        return sum(
            min(last, position) - first + 1
            for first, last in _merge_ranges(self.ranges)
            if first <= position
        )

    @property
    def signature_fact(self) -> str:
        """What a signature says of them."""
        return _format_fact(_merge_ranges(self.ranges))


def join_skipped(*several: SkippedSentences | None) -> SkippedSentences | None:
    """Return the sentences that are left out by any of these; None where there are none."""
    given = [each for each in several if each is not None]
    if len(given) < 2:
        return next(iter(given), None)
    path = next((each.path for each in given if each.path is not None), None)
    return SkippedSentences(tuple(chain.from_iterable(each.ranges for each in given)), path)


def read_skipped(given: PathLike) -> SkippedSentences:
    """Read sentence numbers: ``3,7-9``, or a file with a number or range a line.

    ``#`` begins a comment in a file. What looks like numbers is no file (``./3`` is).
    """
    text = str(given)
    if not text.strip() or _RANGES.fullmatch(text):
        return SkippedSentences(tuple(_parse_ranges(text, None, None)))
    path = shown_name(given)
    ranges: list[NumberRange] = []
    for number, line in enumerate(read_lines(given)[0], 1):
        said = line.partition("#")[0].strip()
        if said:
            ranges += _parse_ranges(said, path, number)
    if not ranges:
        remedy = "write a number or a range (7-9) a line"
        raise InputError("no sentence is named", path=path, remedy=remedy)
    return SkippedSentences(tuple(ranges), path)


def _parse_ranges(text: str, path: str | None, line: int | None) -> Iterator[NumberRange]:
    for word in text.split(","):
        first, dash, last = word.partition("-")
        low = parse_integer(first, 1)
        high = parse_integer(last, 1) if dash else low
        if low is None or high is None or low > high:
            problem = f"cannot read {word.strip()[:40]!r} as sentences to leave out"
            remedy = "write numbers and ranges as in 3,7-9, counting from 1"
            raise InputError(problem, path=path, line=line, remedy=remedy)
        yield NumberRange(low, high, line)


def _merge_ranges(ranges: Iterable[NumberRange]) -> list[tuple[int, int]]:
    """The ranges in order, joined where they touch: every sentence is in one."""
    merged: list[tuple[int, int]] = []
    for first, last, _ in sorted(ranges, key=lambda each: each[:2]):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def skip_signature(skipped: Sequence[int]) -> tuple[str, ...]:
    """What a signature says of sentences left out (from 0): their numbers from 1, if any.

    >>> skip_signature((2, 6, 7, 8)), skip_signature(())
    (('skip_sentences:3,7-9',), ())
    """
    if not skipped:
        return ()
    return (_format_fact(_merge_ranges([NumberRange(i + 1, i + 1) for i in skipped])),)


def _format_fact(merged: Sequence[tuple[int, int]]) -> str:
    text = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in merged)
    if len(merged) > LISTED:
        count = sum(last - first + 1 for first, last in merged)
        text = f"{count} @{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return f"skip_sentences:{text}"


def skip_judgments(judgments: Iterable[Judgment], skipped: SkippedSentences) -> Iterator[Judgment]:
    """The judgments on the other sentences, which are counted as if these had never been.

    >>> said = [Judgment("ann", i, (("A",), ("B",)), (1, 2)) for i in range(4)]
    >>> [judgment.sentence for judgment in skip_judgments(said, read_skipped("2"))]
    [0, 1, 2]
    """
    places: dict[int, int | None] = {}
    for judgment in judgments:
        place = judgment.sentence
        if place not in places:
            places[place] = None if skipped.skips(place) else place - skipped.count_before(place)
        now = places[place]
        if now is not None:
            yield judgment if now == place else replace(judgment, sentence=now)
