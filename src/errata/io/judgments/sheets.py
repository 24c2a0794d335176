"""Spreadsheets, Mechanical Turk results, ratings by criterion.

- judge, sentence, system and rank (1 is best) or score (higher is better), one row per output;
- better and worse (and judge, sentence), one row per comparison;
- one column per system, one row per sentence, with ratings: the scores of GMEG.

Columns are found by their titles, in any case and with any marks, or named by the user. A cell
may name several systems that share an output, and hold several ratings where there is no column
of judges (the five annotators of TMU-GFM).
"""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from errata.core.errors import InputError, warn_of_data
from errata.core.parameters import require
from errata.core.stats import plural
from errata.data import Judgment
from errata.io.columns import TableHead, columns_of_role, missing_column_error, mturk_columns
from errata.io.files import PathLike, shown_name, unpacked_name
from errata.io.judgments import checks
from errata.io.judgments.checks import DuplicateFilter, Labels, Outputs
from errata.io.records import file_digests, parse_integer
from errata.io.rows import Row, check_width, read_number, read_rows, sheet_rows

# ---- Rankings as Mechanical Turk returns them, with the columns of Sakaguchi et al. (2016).

NOTHING = "###"


@dataclass(frozen=True)
class Assignment:
    """A judgment with the texts that were shown and the line it stands on."""

    judgment: Judgment
    texts: tuple[str, ...]
    line: int


def parse_mturk(
    lines: Iterable[str],
    name: str,
    *,
    delimiter: str = ",",
    base: int = 0,
    statuses: tuple[str, ...] | None = None,
    labels: Labels = "check",
    outputs: Outputs | None = None,
    repeats: DuplicateFilter | None = None,
) -> Iterator[Judgment]:
    """Read rankings from an MTurk result file.

    ``statuses`` are those that count: by default Approved, with a warning if there are others.
    ``labels="check"`` refuses labels that do not fit ``outputs``, and without outputs warns where
    one text has two labels. ``labels="text"`` names the systems whose output equals the text shown
    (blanks and quotation marks aside); of a text shown twice the first rank counts, and a text that
    no system wrote is left out, with a warning. ``labels="given"`` takes the labels as they are.
    """
    require("labels", labels, Labels)
    repeats = repeats or DuplicateFilter()
    repeats.start_file(name)
    every = _assignments(lines, name, delimiter, base, statuses)
    assignments = [each for each in every if repeats.is_new(each.judgment, each.line)]
    repeats.report_repeats()
    if labels == "text":
        if outputs is None:
            problem = "labels='text' needs the outputs of the systems"
            raise InputError(problem, path=name, remedy="give outputs (--outputs FOLDER)")
        yield from _relabel(assignments, outputs, name)
        return
    judgments = [assignment.judgment for assignment in assignments]
    if labels == "check":
        if outputs is not None:
            remedy = "name the systems by the texts shown (--labels text)"
            checks.require_labels_match_outputs(judgments, outputs, name, remedy=remedy)
        else:
            _warn_of_repeats(assignments, name)
    yield from judgments


def _assignments(
    lines: Iterable[str], name: str, delimiter: str, base: int, statuses: tuple[str, ...] | None
) -> Iterator[Assignment]:
    rows = csv.DictReader(lines, strict=True, delimiter=delimiter)
    wanted = ("Approved",) if statuses is None else statuses
    left_out: Counter[str] = Counter()
    try:
        rows.fieldnames, count = mturk_columns(rows.fieldnames or (), name, statuses)
        for row in rows:
            status = row.get("AssignmentStatus", "Approved")
            if status in wanted:
                yield _assignment(row, count, name, rows.line_num, base)
            else:
                left_out[status] += 1
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", path=name, line=rows.line_num) from None
    if left_out and statuses is None:
        shown = ", ".join(f"{number} {status}" for status, number in left_out.items())
        warn_of_data(
            f"{name}: assignments left out: {shown}; name the statuses that count to "
            "decide otherwise (--status)"
        )


def _assignment(row: dict[str, str], count: int, name: str, line: int, base: int) -> Assignment:
    groups, ranks, texts = [], [], []
    item = row.get("HITId", "")

    def error(problem: str) -> InputError:
        problem = f"item {item or '?'} of {row['WorkerId']}: {problem}"
        return InputError(problem, path=name, line=line)

    # Only the cells that are read: MTurk leaves the last ones out where nobody filled them in.
    if any(
        value is None
        for title, value in row.items()
        if title and title.startswith(("WorkerId", "WorkTime", "Input.", "Answer.rank"))
    ):
        raise error("the row is cut off")
    if None in row:
        raise error("the row has more cells than there are columns")
    for k in range(1, count + 1):
        systems, rank = row[f"Input.system{k}"], row.get(f"Answer.rank_{k}", "").strip()
        if systems.strip() in ("", NOTHING):
            if rank:
                raise error(f"rank {rank} for output {k}, which was not there")
            continue
        place = parse_integer(rank, 1)
        if rank and place is None:
            raise error(f"rank {rank!r} is not a whole number from 1")
        groups.append(tuple(systems.split()))
        ranks.append(place)
        texts.append(row.get(f"Input.sentence{k}") or "")
    number = parse_integer(row["Input.sentID"], base)
    if number is None:
        raise error(f"sentence number {row['Input.sentID']!r} is not a whole number from {base}")
    text, said = row.get("WorkTimeInSeconds"), (tuple(groups), tuple(ranks))
    try:
        seconds = float(text) if text else None
        if seconds is not None and not checks.is_duration(seconds):
            raise ValueError
        time = row.get("SubmitTime") or None
        judgment = Judgment(row["WorkerId"], number - base, *said, item, seconds, time)
    except InputError as problem:
        raise error(problem.problem) from None
    except ValueError:
        raise error(f"WorkTimeInSeconds {text!r} is not a number from 0") from None
    return Assignment(judgment, tuple(texts), line)


def _warn_of_repeats(assignments: list[Assignment], name: str) -> None:
    repeated = [
        a
        for a in assignments
        if len(shown := [t for t in map(checks.same_text, a.texts) if t]) > len(set(shown))
    ]
    # One slip among hundreds is a slip; one ranking in ten is a shift.
    if len(repeated) > 0.1 * len(assignments):
        warn_of_data(
            f"{name}:{repeated[0].line}: {len(repeated)} of {len(assignments)} rankings show one "
            "text under two labels, so the labels belong to other sentences; give the outputs to "
            "check them (--outputs), or labels='text' to name the systems by the texts"
        )


def _relabel(assignments: list[Assignment], outputs: Outputs, name: str) -> Iterator[Judgment]:
    systems = {
        system: [checks.same_text(text) for text in texts] for system, texts in outputs.items()
    }
    unknown = changed = cells = 0
    for assignment in assignments:
        judgment = assignment.judgment
        groups: dict[str, tuple[tuple[str, ...], int | None]] = {}
        for group, rank, text in zip(
            judgment.groups, judgment.ranks, map(checks.same_text, assignment.texts), strict=True
        ):
            cells += 1
            wrote = [
                system
                for system, texts in systems.items()
                if text and judgment.sentence < len(texts) and texts[judgment.sentence] == text
            ]
            unknown += not wrote
            changed += bool(wrote) and set(wrote) != set(group)
            if wrote and groups.get(text, ((), None))[1] is None:
                groups[text] = (tuple(sorted(wrote)), rank)
        found, ranks = zip(*groups.values(), strict=True) if groups else ((), ())
        yield replace(judgment, groups=found, ranks=ranks)
    if unknown or changed:
        warn_of_data(
            f"{name}: of {cells} outputs shown, {changed} had other labels than the "
            f"systems that wrote them (corrected), {unknown} were written by no system "
            "(left out)"
        )


_JudgedRow = tuple[str, list[tuple[str, ...]], list[float | None]]  # judge, groups, value of each


@dataclass
class _Items:
    """Rows of one judge, sentence and item, put together in the order they came in."""

    line: int
    groups: list[tuple[str, ...]] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)
    seconds: float | None = None
    systems: set[str] = field(default_factory=set)

    def has_none_of(self, groups: list[tuple[str, ...]]) -> bool:
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
    base: int,
    columns: Mapping[str, str] | None = None,
    repeats: DuplicateFilter | None = None,
) -> Iterator[Judgment]:
    """Read judgments from a table; ``columns`` names the titles of roles.

    Scores become ranks, the highest first. Sentences with names are numbered in order of
    appearance.
    """
    rows = list(sheet_rows(lines, name, delimiter))
    if len(rows) < 2:
        remedy = "give one row per judgment"
        raise InputError("no judgments below the heading", path=name, remedy=remedy)
    check_width(rows, name)
    table = _Table(rows, name, delimiter == ";", base, dict(columns or {}))
    repeats = repeats or DuplicateFilter()
    repeats.start_file(name)
    for judgment, line in table.judgments():
        if repeats.is_new(judgment, line):
            yield judgment
    repeats.report_repeats()


class _Table:
    """Finds the columns and puts rows together."""

    def __init__(
        self, rows: list[Row], name: str, comma: bool, base: int, named: dict[str, str]
    ) -> None:
        self.name, self.comma, self.base = name, comma, base
        self.head, self.rows = rows[0].cells, rows[1:]
        self.columns = TableHead(rows, name, comma).find_columns(named)
        if not self.columns.systems:  # an empty row says nothing where no row is counted
            self.rows = [row for row in self.rows if any(row.cells)]
        self.numbers = self._sentence_numbers()
        self.people = self._count_raters()
        # Where items are named in some rows only, as merged cells are, rankings would part.
        without = [row.line for row in self.rows if not self._cell(row, "item")]
        if "item" in self.columns.at and 0 < len(without) < len(self.rows):
            remedy = "fill in its name, or remove the column"
            raise InputError("a row without an item", path=name, line=without[0], remedy=remedy)

    def _sentence_numbers(self) -> list[int]:
        """The number of each row's sentence, from 0."""
        column = self.columns.at.get("sentence")
        if column is None:
            if self.columns.systems:
                return list(range(len(self.rows)))
            raise missing_column_error("sentence", self.name, self.head)
        cells = [row.cells[column] for row in self.rows]
        numbers = [parse_integer(cell, 0) for cell in cells]
        if None in numbers:
            if not all(cells):
                line = self.rows[cells.index("")].line
                raise InputError("a row without a sentence", path=self.name, line=line)
            if sum(number is None for number in numbers) < len(numbers) / 2:
                line = self.rows[numbers.index(None)].line
                text = cells[numbers.index(None)]
                problem = f"sentence number {text[:40]!r} is not a whole number from {self.base}"
                remedy = "number all sentences, or none"
                raise InputError(problem, path=self.name, line=line, remedy=remedy)
            warn_of_data(
                f"{self.name}: sentences are named, not numbered; they are counted in the order "
                "in which they first appear"
            )
            order = {cell: k for k, cell in enumerate(dict.fromkeys(cells))}
            return [order[cell] for cell in cells]
        found = [number for number in numbers if number is not None]
        if min(found) < self.base:
            line = self.rows[found.index(min(found))].line
            problem = f"sentence number {min(found)} is below {self.base}, the first"
            raise InputError(problem, path=self.name, line=line, remedy="leave out --base")
        return [number - self.base for number in found]

    def _count_raters(self) -> int:
        """Return how many people rated in every cell, where no column names the judge.

        Cells that may be one number (3,5) and missing ratings are refused: both would be guesses.
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
            problem = f"{text[:40]!r} may be one number or the ratings of two people"
            remedy = "write 3.5 for the one and '3, 5' for the other"
            raise InputError(problem, path=self.name, line=line, remedy=remedy)
        people = text.count(",") + 1
        for line, cell in cells:
            if (found := cell.count(",") + 1) != people:
                problem = f"{found} {plural('rating', found)}, and {people} in other rows"
                remedy = "give the ratings of the same people in every row, or a row for each"
                raise InputError(problem, path=self.name, line=line, remedy=remedy)
        return people

    def judgments(self) -> Iterator[tuple[Judgment, int]]:
        """All judgments, with the line each starts on."""
        if "better" in self.columns.at:
            yield from self._pair_judgments()
            return
        items: dict[tuple[str, int, str], list[_Items]] = {}
        again: list[int] = []
        for row, sentence in zip(self.rows, self.numbers, strict=True):
            for judge, groups, values in self._judged_groups(row):
                rounds = items.setdefault((judge, sentence, self._cell(row, "item")), [])
                mine = next((one for one in rounds if one.has_none_of(groups)), None)
                if mine is None:  # the first time, or judged once more
                    again += [row.line] if rounds else []
                    mine = _Items(row.line, seconds=self._seconds_of(row))
                    rounds.append(mine)
                mine.add(groups, values)
        if again:
            warn_of_data(
                f"{self.name}:{again[0]}: a judge has judged a system on this sentence before "
                f"({len(again)} such rows); it counts as another ranking. Remove the row, or name "
                "the items apart in a column item; if several people judged, say which column "
                "names them (--columns judge=TITLE)"
            )
        for (judge, sentence, item), rounds in items.items():
            for found in rounds:
                yield self._make_judgment(judge, sentence, item, found), found.line

    def _cell(self, row: Row, role: str) -> str:
        column = self.columns.at.get(role)
        return "" if column is None else row.cells[column]

    def _judge_of(self, row: Row) -> str:
        if "judge" not in self.columns.at:
            return Path(unpacked_name(self.name)).stem or "judge"
        judge = self._cell(row, "judge")
        if not judge:
            raise InputError("a row without a judge", path=self.name, line=row.line)
        return judge

    def _seconds_of(self, row: Row) -> float | None:
        text = self._cell(row, "seconds")
        number = read_number(text, comma=self.comma) if text else None
        if text and (number is None or number < 0):
            problem = f"seconds {text[:40]!r} is not a number from 0"
            raise InputError(problem, path=self.name, line=row.line)
        return number

    def _split_systems(self, text: str, line: int) -> tuple[str, ...]:
        """The systems of one output: names apart by commas where there are several."""
        names = tuple(name.strip() for name in text.split(","))
        if not all(names):
            raise InputError("a system without a name", path=self.name, line=line)
        return names

    def _judged_groups(self, row: Row) -> Iterator[_JudgedRow]:
        """What each judge said in a row: groups of systems and their values."""
        columns = self.columns
        if columns.systems:
            groups: list[tuple[str, ...]] = [(self.head[c],) for c in columns.systems]
            values = [self._parse_value(row.cells[c], row.line) for c in columns.systems]
            yield self._judge_of(row), groups, values
            return
        group = self._split_systems(self._cell(row, "system"), row.line)
        text = self._cell(row, "rank" if "rank" in columns.at else "score")
        if self.people == 1:
            yield self._judge_of(row), [group], [self._parse_value(text, row.line)]
            return
        for k, cell in enumerate(text.split(",") if text else (), 1):
            yield str(k), [group], [self._parse_value(cell, row.line)]

    def _parse_value(self, text: str, line: int) -> float | None:
        """Return a rank, or a negated rating; None for an empty cell."""
        text = text.strip()
        if not text:
            return None
        if "rank" in self.columns.at or self.columns.ranked:
            rank = parse_integer(text, 1)
            if rank is None:
                problem = f"rank {text[:40]!r} is not a whole number from 1"
                raise InputError(problem, path=self.name, line=line)
            return float(rank)
        score = read_number(text, comma=self.comma)
        if score is None:
            remedy = "leave the cell empty where nobody judged"
            if read_number(text, comma=True) is not None:
                remedy = f"write {text.replace(',', '.')[:40]}, or put semicolons between the cells"
            problem = f"score {text[:40]!r} is not a number"
            raise InputError(problem, path=self.name, line=line, remedy=remedy)
        return -score

    def _make_judgment(self, judge: str, sentence: int, item: str, found: _Items) -> Judgment:
        ranked = "rank" in self.columns.at or self.columns.ranked
        places = {v: k for k, v in enumerate(sorted({v for v in found.values if v is not None}), 1)}
        ranks = [None if v is None else int(v) if ranked else places[v] for v in found.values]
        try:
            return Judgment(judge, sentence, tuple(found.groups), tuple(ranks), item, found.seconds)
        except InputError as error:
            raise InputError(error.problem, path=self.name, line=found.line) from None

    def _pair_judgments(self) -> Iterator[tuple[Judgment, int]]:
        for row, sentence in zip(self.rows, self.numbers, strict=True):
            names = (self._cell(row, role) for role in ("better", "worse"))
            better, worse = (self._split_systems(each, row.line) for each in names)
            judge, item = self._judge_of(row), self._cell(row, "item")
            seconds = self._seconds_of(row)
            try:
                judgment = Judgment(judge, sentence, (better, worse), (1, 2), item, seconds)
            except InputError as error:
                raise InputError(error.problem, path=self.name, line=row.line) from None
            yield judgment, row.line


# ---- Rated outputs in a table: what several people think of one output, by criterion.

Criterion = Literal["grammer", "fluency", "meaning"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
LOWEST, HIGHEST, OTHER = 1, 4, 0


@dataclass(frozen=True, slots=True)
class RatedOutput:
    """One output of a source, the systems that made it, and what people gave it."""

    source: str
    output: str
    ratings: Mapping[Criterion, tuple[int, ...]]
    systems: tuple[str, ...] = ()
    line: int = 0

    def mean(self, criterion: Criterion) -> float | None:
        """The mean of a criterion's ratings; None where nobody gave one.

        >>> RatedOutput("I is", "I am", {"grammer": (4, 3)}).mean("grammer")
        3.5
        """
        given = self.ratings.get(criterion, ())
        return sum(given) / len(given) if given else None


@dataclass(frozen=True)
class Ratings:
    """The rated outputs of a file, the digest of the file, and how many ratings were "other"."""

    rows: tuple[RatedOutput, ...]
    name: str
    sha256: str
    others: Mapping[Criterion, int]

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        return tuple(c for c in CRITERIA if any(row.ratings.get(c) for row in self.rows))

    @property
    def sources(self) -> int:
        return len({row.source for row in self.rows})


def read_ratings(path: PathLike) -> Ratings:
    """Read rated outputs from CSV (or a spreadsheet); see the module for its columns."""
    name = shown_name(path)
    rows, _ = read_rows(path)
    if len(rows) < 2:
        remedy = "give a row for every output"
        raise InputError("no ratings below the heading", path=name, remedy=remedy)
    check_width(rows, name)
    at = _rating_columns(rows[0], name)
    others: dict[Criterion, int] = {c: 0 for c in CRITERIA if c in at}
    found = tuple(_rated_output(row, at, name, others) for row in rows[1:] if any(row.cells))
    if not any(row.ratings.get(c) for row in found for c in others):
        raise InputError("no output was rated", path=name, remedy=f"give {_rating_scale()}")
    return Ratings(found, name, file_digests([path])[0].sha256 or _digest_ratings(found), others)


def _digest_ratings(rows: Sequence[RatedOutput]) -> str:
    """The digest of what came through a pipe, which cannot be read a second time."""
    texts = (repr((row.source, row.output, sorted(row.ratings.items()))) for row in rows)
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def _rating_scale() -> str:
    return f"whole numbers from {LOWEST} (worst) to {HIGHEST}, {OTHER} for none, apart by commas"


def _rating_columns(head: Row, name: str) -> dict[str, int]:
    """Where each column stands, by its title in any case and with any marks."""
    at: dict[str, int] = {}
    for role in ("source", "output", *CRITERIA, "system"):
        places = columns_of_role(head.cells, role)
        if len(places) > 1:
            problem = f"two columns of {role}s: {', '.join(head.cells[k] for k in places)}"
            raise InputError(problem, path=name, line=head.line, remedy="rename or remove one")
        if places:
            at[role] = places[0]
    missing = [role for role in ("source", "output") if role not in at]
    if missing or not any(criterion in at for criterion in CRITERIA):
        problem = f"no column {missing[0] if missing else ', '.join(CRITERIA[:-1]) + ' or meaning'}"
        remedy = "the columns are source, output, and one or more of " + ", ".join(CRITERIA)
        raise InputError(problem, path=name, line=head.line, remedy=remedy)
    return at


def _rated_output(
    row: Row, at: Mapping[str, int], name: str, others: dict[Criterion, int]
) -> RatedOutput:
    source, output = (row.cells[at[role]] for role in ("source", "output"))
    for role, text in (("source", source), ("output", output)):
        if {*"\r\n"} & {*text}:
            problem = f"the {role} has several lines"
            raise InputError(problem, path=name, line=row.line, remedy="give one sentence a cell")
    if not source:
        remedy = "give the sentence that was corrected"
        raise InputError("a row without a source", path=name, line=row.line, remedy=remedy)
    ratings: dict[Criterion, tuple[int, ...]] = {}
    for criterion in others:
        grades = _parse_grades(row.cells[at[criterion]], criterion, name, row.line)
        others[criterion] += grades.count(OTHER)
        ratings[criterion] = tuple(grade for grade in grades if grade != OTHER)
    systems = row.cells[at["system"]].split(",") if "system" in at else []
    return RatedOutput(
        source, output, ratings, tuple(s.strip() for s in systems if s.strip()), row.line
    )


def _parse_grades(text: str, criterion: str, name: str, line: int) -> Sequence[int]:
    grades = []
    for part in text.split(",") if text else ():
        grade = parse_integer(part.strip(), OTHER)
        if grade is None or grade > HIGHEST:
            problem = f"the rating {part.strip()[:40]!r} in {criterion} is none"
            raise InputError(problem, path=name, line=line, remedy=f"ratings are {_rating_scale()}")
        grades.append(grade)
    return grades
