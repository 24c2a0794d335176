"""Judgments as people keep them in spreadsheets: one row per judged output, or per pair.

- judge, sentence, system and rank (1 is best) or score (higher is better), one row per output;
- better and worse (and judge, sentence), one row per comparison;
- one column per system, one row per sentence, with ratings: the scores of GMEG.

_Found are found by their titles, in any case and with any marks, or named by the user. A cell
may name several systems that share an output, and hold several ratings where there is no column
of judges (the five annotators of TMU-GFM).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from errata.data import Judgment
from errata.errors import DataWarning, InputError
from errata.io.judgments.repeats import Repeats
from errata.io.opened import plain_name
from errata.io.sheet import SheetRow, column_key, read_number, same_width, sheet_rows
from errata.io.whole_numbers import whole_number

__all__ = ["ROLES", "is_table_of_judgments", "parse_columns", "parse_table"]

# What a column is for, and how people call it.
ROLES: dict[str, tuple[str, ...]] = {
    "judge": ("judge", "judgeid", "annotator", "annotatorid", "user", "userid", "worker",
              "workerid", "rater", "evaluator", "assessor"),
    "sentence": ("sentence", "sentenceid", "sentid", "segment", "segmentid", "srcid", "srcindex",
                 "sentencenumber", "line", "id"),
    "system": ("system", "systems", "systemid", "systemname", "model", "team"),
    "rank": ("rank", "ranking", "place"),
    "score": ("score", "rating", "grade", "points", "value"),
    "better": ("better", "winner", "preferred", "chosen"),
    "worse": ("worse", "loser", "rejected"),
    "item": ("item", "itemid", "hit", "hitid", "task", "rankingid", "docid"),
    "seconds": ("seconds", "duration", "worktimeinseconds"),
}  # fmt: skip
_Said = tuple[str, list[tuple[str, ...]], list[float | None]]  # judge, groups, value of each
ALL = "*"  # instead of a title: every column that is nothing else, each of them a system


@dataclass(frozen=True)
class _Found:
    """Where each role stands, and the columns of systems in a table of ratings."""

    at: Mapping[str, int]
    systems: tuple[int, ...] = ()
    ranked: bool = False


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


def parse_columns(texts: Iterable[str]) -> dict[str, str]:
    """Read ``judge=Annotator,sentence=ID``: which role stands under which title.

    >>> parse_columns(["judge=Annotator,sentence=ID"])
    {'judge': 'Annotator', 'sentence': 'ID'}
    """
    found: dict[str, str] = {}
    for text in texts:
        for part in re.split(r",(?=\s*\w+=)", text):
            role, equals, title = (piece.strip() for piece in part.partition("="))
            if not equals or not title or role not in ROLES:
                raise InputError(
                    f"--columns {part[:60]!r} is not ROLE=TITLE",
                    remedy=f"roles are {', '.join(ROLES)}",
                )
            if role in found:
                raise InputError(f"--columns names two columns for {role}", remedy="give one")
            found[role] = title
    return found


def is_table_of_judgments(head: Sequence[str]) -> bool:
    """Whether a heading has the columns of judgments."""
    keys = {column_key(title) for title in head}
    has = {role for role, names in ROLES.items() if keys & set(names)}
    return {"better", "worse"} <= has or ("system" in has and bool({"rank", "score"} & has))


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
        self.columns = self._find(named)
        if not self.columns.systems:  # an empty row says nothing where no row is counted
            self.rows = [row for row in self.rows if any(row.cells)]
        self.numbers = self._sentences()

    def _find(self, named: dict[str, str]) -> _Found:
        keys = [column_key(title) for title in self.head]
        for key in keys:
            if key and keys.count(key) > 1:
                raise InputError(
                    f"two columns {self.head[keys.index(key)]}",
                    path=self.name,
                    line=1,
                    remedy="remove one of them",
                )
        at: dict[str, int] = {}
        for role, title in named.items():
            if title != ALL:
                at[role] = self._titled(title, keys)
        for role, names in ROLES.items():
            free = [c for c, key in enumerate(keys) if key in names and c not in at.values()]
            if free and role not in named:
                if len(free) > 1:
                    raise InputError(
                        f"{' and '.join(self.head[c] for c in free)} may both be the {role}",
                        path=self.name,
                        line=1,
                        remedy=f"say which (--columns {role}=TITLE)",
                    )
                at[role] = free[0]
        return self._checked(at, named)

    def _titled(self, title: str, keys: list[str]) -> int:
        exact = [c for c, own in enumerate(self.head) if own == title.strip()]
        alike = exact or [c for c, key in enumerate(keys) if key == column_key(title)]
        if not alike:
            raise InputError(
                f"no column {title[:60]!r}",
                path=self.name,
                line=1,
                remedy=f"there are: {', '.join(self.head)[:200]}",
            )
        return alike[0]

    def _checked(self, at: dict[str, int], named: dict[str, str]) -> _Found:
        used = set(at.values())
        if {"better", "worse"} <= at.keys():
            self._warn_of_unread(used)
            return _Found(at)
        if "system" in at:
            if "rank" in at and "score" in at:
                if "rank" in named or "score" not in named:
                    del at["score"]
                else:
                    del at["rank"]
            if not {"rank", "score"} & at.keys():
                raise self._no_column("rank or score")
            self._warn_of_unread(set(at.values()))
            return _Found(at)
        ratings = tuple(
            c for c, title in enumerate(self.head) if title and c not in used and self._numeric(c)
        )
        if len(ratings) < 2:
            raise self._no_column("system")
        ranked = named.get("rank") == ALL
        if not ranked and named.get("score") != ALL:
            self._refuse_unclear(ratings)
        self._warn_of_unread(used | set(ratings))
        return _Found(at, ratings, ranked)

    def _no_column(self, what: str) -> InputError:
        return InputError(
            f"no column {what}",
            path=self.name,
            line=1,
            remedy="title the columns judge, sentence, system and rank or score, or say how they "
            "are called (--columns system=TITLE,...)",
        )

    def _numeric(self, column: int) -> bool:
        cells = [row.cells[column] for row in self.rows]
        return any(cells) and all(
            not cell or read_number(cell, comma=self.comma) is not None for cell in cells
        )

    def _refuse_unclear(self, ratings: tuple[int, ...]) -> None:
        """Small whole numbers from 1 may be ranks or ratings, which are opposites."""
        for row in self.rows:
            ranks = [whole_number(row.cells[c], 1) for c in ratings if row.cells[c]]
            known = [rank for rank in ranks if rank is not None]
            if len(known) < len(ranks) or not known or min(known) != 1 or max(known) > len(ratings):
                return
        raise InputError(
            "the numbers may be ranks (1 is best) or ratings (higher is better)",
            path=self.name,
            line=self.rows[0].line,
            remedy="say which: --columns 'rank=*' or --columns 'score=*'",
        )

    def _warn_of_unread(self, used: set[int]) -> None:
        unread = [title for c, title in enumerate(self.head) if title and c not in used]
        if unread:
            warnings.warn(
                f"{self.name}: columns that are not read: {', '.join(unread)[:200]}; name those "
                "that should be (--columns)",
                DataWarning,
                stacklevel=2,
            )

    def _sentences(self) -> list[int]:
        """The number of each row's sentence, from 0."""
        column = self.columns.at.get("sentence")
        if column is None:
            if self.columns.systems:
                return list(range(len(self.rows)))
            raise self._no_column("sentence")
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
        several = text.split(",") if "judge" not in columns.at and not self.comma else [text]
        if len(several) == 1:
            yield self._judge(row), [group], [self._value(text, row.line)]
            return
        for k, cell in enumerate(several, 1):
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
            raise InputError(f"score {text[:40]!r} is not a number", path=self.name, line=line)
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
