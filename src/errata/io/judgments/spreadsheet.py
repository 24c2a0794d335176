"""Judgments as people keep them in spreadsheets: one row per judged output, or per pair.

- judge, sentence, system and rank (1 is best) or score (higher is better), one row per output;
- better and worse (and judge, sentence), one row per comparison;
- one column per system, one row per sentence, with ratings: the scores of GMEG.

Columns are found by their titles, in any case and with any marks, or named by the user. A cell
may name several systems that share an output, and hold several ratings where there is no column
of judges (the five annotators of TMU-GFM).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from errata.data import Judgment
from errata.errors import DataWarning, InputError
from errata.io.judgments.repeats import Repeats
from errata.io.judgments.sheet_columns import find_columns, no_column
from errata.io.opened import plain_name
from errata.io.sheet import SheetRow, read_number, same_width, sheet_rows
from errata.io.whole_numbers import whole_number
from errata.numbers import plural

__all__ = ["parse_table"]

_Said = tuple[str, list[tuple[str, ...]], list[float | None]]  # judge, groups, value of each


@dataclass
class _Items:
    """Rows of one judge, sentence and item, put together in the order they came in."""

    line: int
    groups: list[tuple[str, ...]] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)
    seconds: float | None = None
    systems: set[str] = field(default_factory=set)

    def lacks(self, groups: list[tuple[str, ...]]) -> bool:
        """Whether none of these systems has been judged here."""
        return self.systems.isdisjoint(name for group in groups for name in group)

    def add(self, groups: list[tuple[str, ...]], values: list[float | None]) -> None:
        """Take what a row says."""
        self.groups += groups
        self.values += values
        self.systems.update(name for group in groups for name in group)


def parse_table(
    lines: Iterable[str],
    name: str,
    *,
    delimiter: str = ",",
    base: int = 0,
    columns: Mapping[str, str] | None = None,
    repeats: Repeats | None = None,
) -> Iterator[Judgment]:
    """Read judgments from a table; ``columns`` says which title stands for which role.

    Ranks are taken as they are; scores become ranks, the highest first. Sentences that are named
    and not numbered are counted in the order they first appear, which is warned of.
    """
    rows = list(sheet_rows(lines, name, delimiter))
    if len(rows) < 2:
        raise InputError(
            "no judgments below the heading", path=name, remedy="give one row per judgment"
        )
    same_width(rows, name)
    table = _Table(rows, name, delimiter == ";", base, dict(columns or {}))
    repeats = repeats or Repeats()
    repeats.start(name)
    for judgment, line in table.judgments():
        if repeats.counts(judgment, line):
            yield judgment
    repeats.finish()


class _Table:
    """Finds the columns and puts rows together."""

    def __init__(
        self, rows: list[SheetRow], name: str, comma: bool, base: int, named: dict[str, str]
    ) -> None:
        self.name, self.comma, self.base = name, comma, base
        self.head, self.rows = rows[0].cells, rows[1:]
        self.columns = find_columns(rows, name, comma, named)
        if not self.columns.systems:  # an empty row says nothing where no row is counted
            self.rows = [row for row in self.rows if any(row.cells)]
        self.numbers = self._sentences()
        self.people = self._people()
        self._refuse_unnamed_items()

    def _sentences(self) -> list[int]:
        """The number of each row's sentence, from 0."""
        column = self.columns.at.get("sentence")
        if column is None:
            if self.columns.systems:
                return list(range(len(self.rows)))
            raise no_column("sentence", self.name, self.head)
        cells = [row.cells[column] for row in self.rows]
        numbers = [whole_number(cell, 0) for cell in cells]
        if None in numbers:
            if not all(cells):
                line = self.rows[cells.index("")].line
                raise InputError("a row without a sentence", path=self.name, line=line)
            if sum(number is None for number in numbers) < len(numbers) / 2:
                line = self.rows[numbers.index(None)].line
                text = cells[numbers.index(None)]
                raise InputError(
                    f"sentence number {text[:40]!r} is not a whole number from {self.base}",
                    path=self.name,
                    line=line,
                    remedy="number all sentences, or none",
                )
            warnings.warn(
                f"{self.name}: sentences are named, not numbered; they are counted in the order "
                "in which they first appear",
                DataWarning,
                stacklevel=2,
            )
            order = {cell: k for k, cell in enumerate(dict.fromkeys(cells))}
            return [order[cell] for cell in cells]
        found = [number for number in numbers if number is not None]
        if min(found) < self.base:
            line = self.rows[found.index(min(found))].line
            raise InputError(
                f"sentence number {min(found)} is below {self.base}, the first",
                path=self.name,
                line=line,
                remedy="leave out --base",
            )
        return [number - self.base for number in found]

    def _refuse_unnamed_items(self) -> None:
        """Refuse items named in some rows only, as merged cells are: rankings would part."""
        without = [row.line for row in self.rows if not self._cell(row, "item")]
        if "item" in self.columns.at and 0 < len(without) < len(self.rows):
            raise InputError(
                "a row without an item",
                path=self.name,
                line=without[0],
                remedy="fill in its name, or remove the column",
            )

    def _people(self) -> int:
        """How many people rated in every cell, where no column names the judge.

        Nothing tells 3,5 from 3 and 5 where all cells may be one number, and nothing says whose
        ratings are there where some are missing; both are refused.
        """
        column = self.columns.at.get("rank", self.columns.at.get("score"))
        if "judge" in self.columns.at or self.comma or column is None:
            return 1
        cells = [(row.line, row.cells[column]) for row in self.rows if row.cells[column]]
        several = [(line, cell) for line, cell in cells if "," in cell]
        if not several:
            return 1
        line, text = several[0]
        if all(read_number(cell, comma=True) is not None for _, cell in cells):
            raise InputError(
                f"{text[:40]!r} may be one number or the ratings of two people",
                path=self.name,
                line=line,
                remedy="write 3.5 for the one and '3, 5' for the other",
            )
        people = text.count(",") + 1
        for line, cell in cells:
            if (found := cell.count(",") + 1) != people:
                raise InputError(
                    f"{found} {plural('rating', found)}, and {people} in other rows",
                    path=self.name,
                    line=line,
                    remedy="give the ratings of the same people in every row, or a row for each",
                )
        return people

    def judgments(self) -> Iterator[tuple[Judgment, int]]:
        """All judgments, with the line each starts on."""
        if "better" in self.columns.at:
            yield from self._pairs()
            return
        items: dict[tuple[str, int, str], list[_Items]] = {}
        again: list[int] = []
        for row, sentence in zip(self.rows, self.numbers, strict=True):
            for judge, groups, values in self._judged(row):
                rounds = items.setdefault((judge, sentence, self._cell(row, "item")), [])
                mine = next((one for one in rounds if one.lacks(groups)), None)
                if mine is None:  # the first time, or judged once more
                    again += [row.line] if rounds else []
                    mine = _Items(row.line, seconds=self._seconds(row))
                    rounds.append(mine)
                mine.add(groups, values)
        if again:
            warnings.warn(
                f"{self.name}:{again[0]}: a judge has judged a system on this sentence before "
                f"({len(again)} such rows); it counts as another ranking. Remove the row, or name "
                "the items apart in a column item; if several people judged, say which column "
                "names them (--columns judge=TITLE)",
                DataWarning,
                stacklevel=2,
            )
        for (judge, sentence, item), rounds in items.items():
            for found in rounds:
                yield self._judgment(judge, sentence, item, found), found.line

    def _cell(self, row: SheetRow, role: str) -> str:
        column = self.columns.at.get(role)
        return "" if column is None else row.cells[column]

    def _judge(self, row: SheetRow) -> str:
        if "judge" not in self.columns.at:
            return Path(plain_name(self.name)).stem or "judge"
        judge = self._cell(row, "judge")
        if not judge:
            raise InputError("a row without a judge", path=self.name, line=row.line)
        return judge

    def _seconds(self, row: SheetRow) -> float | None:
        text = self._cell(row, "seconds")
        number = read_number(text, comma=self.comma) if text else None
        if text and (number is None or number < 0):
            raise InputError(
                f"seconds {text[:40]!r} is not a number from 0", path=self.name, line=row.line
            )
        return number

    def _systems(self, text: str, line: int) -> tuple[str, ...]:
        """The systems of one output: names apart by commas where there are several."""
        names = tuple(name.strip() for name in text.split(","))
        if not all(names):
            raise InputError("a system without a name", path=self.name, line=line)
        return names

    def _judged(self, row: SheetRow) -> Iterator[_Said]:
        """What each judge said in a row: groups of systems and their values."""
        columns = self.columns
        if columns.systems:
            groups: list[tuple[str, ...]] = [(self.head[c],) for c in columns.systems]
            values = [self._value(row.cells[c], row.line) for c in columns.systems]
            yield self._judge(row), groups, values
            return
        group = self._systems(self._cell(row, "system"), row.line)
        text = self._cell(row, "rank" if "rank" in columns.at else "score")
        if self.people == 1:
            yield self._judge(row), [group], [self._value(text, row.line)]
            return
        for k, cell in enumerate(text.split(",") if text else (), 1):
            yield str(k), [group], [self._value(cell, row.line)]

    def _value(self, text: str, line: int) -> float | None:
        """A rank or rating as a number of which lower is better; None for an empty cell."""
        text = text.strip()
        if not text:
            return None
        if "rank" in self.columns.at or self.columns.ranked:
            rank = whole_number(text, 1)
            if rank is None:
                raise InputError(
                    f"rank {text[:40]!r} is not a whole number from 1", path=self.name, line=line
                )
            return float(rank)
        score = read_number(text, comma=self.comma)
        if score is None:
            remedy = "leave the cell empty where nobody judged"
            if read_number(text, comma=True) is not None:
                remedy = f"write {text.replace(',', '.')[:40]}, or put semicolons between the cells"
            raise InputError(
                f"score {text[:40]!r} is not a number", path=self.name, line=line, remedy=remedy
            )
        return -score

    def _judgment(self, judge: str, sentence: int, item: str, found: _Items) -> Judgment:
        ranked = "rank" in self.columns.at or self.columns.ranked
        places = {v: k for k, v in enumerate(sorted({v for v in found.values if v is not None}), 1)}
        ranks = [None if v is None else int(v) if ranked else places[v] for v in found.values]
        try:
            return Judgment(judge, sentence, tuple(found.groups), tuple(ranks), item, found.seconds)
        except InputError as error:
            raise InputError(error.problem, path=self.name, line=found.line) from None

    def _pairs(self) -> Iterator[tuple[Judgment, int]]:
        for row, sentence in zip(self.rows, self.numbers, strict=True):
            groups = (
                self._systems(self._cell(row, "better"), row.line),
                self._systems(self._cell(row, "worse"), row.line),
            )
            try:
                judgment = Judgment(
                    self._judge(row),
                    sentence,
                    groups,
                    (1, 2),
                    self._cell(row, "item"),
                    self._seconds(row),
                )
            except InputError as error:
                raise InputError(error.problem, path=self.name, line=row.line) from None
            yield judgment, row.line
