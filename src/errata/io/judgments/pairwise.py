"""Read WMT pairwise CSV: two or more systems and their ranks a row (as Grundkiewicz 2015)."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from io import StringIO
from itertools import combinations
from typing import NamedTuple

import numpy as np

from errata.core.errors import InputError, warn_of_data
from errata.data import Judgment, MemberDraw, MemberOrder, Members
from errata.io.judgments.checks import DuplicateFilter, refuse_duplicate_columns
from errata.io.records import parse_integer
from errata.io.rows import csv_rows, normalise_title

HEADER = (
    *("srclang", "trglang", "srcIndex", "segmentId", "judgeID"),
    *("system1Id", "system1rank", "system2Id", "system2rank", "rankingID"),
)
UNREAD = ("documentId", "pairId", "time", "date")  # of the WMT, of no use here
SYSTEM_COLUMNS = ("id", "rank", "number")
SKIPPED = "-1"  # the rank of every system where the judge skipped the item
_number = lru_cache(10_000)(parse_integer)  # the same few are read again and again


def parse_pairwise(
    lines: Iterable[str],
    name: str,
    *,
    delimiter: str = ",",
    base: int = 0,
    repeats: DuplicateFilter | None = None,
) -> Iterator[Judgment]:
    """Read rankings from WMT-style CSV.

    An item whose ranks are all -1 was skipped, and has no ranks. Consecutive rows with one judge,
    sentence and (if there is one) rankingID are one ranking if they hold every pair of its systems
    once and agree on the ranks; otherwise each row is a judgment, with the same item. System names
    of the form ``testset.NAME.src-trg`` are cut to NAME, the WMT's convention.
    """
    table = _Rows(csv_rows(lines, name, delimiter), name, base)
    run: list[tuple[int, Row]] = []
    repeats = repeats or DuplicateFilter()
    repeats.start_file(name)
    for line, row in table:
        if len(row.systems) > 2:
            yield from _join_pairs(run, name, repeats)
            run = []
            judgment = _make_judgment(row, row.systems, row.ranks, row.item, name, line)
            if repeats.is_new(judgment, line):
                yield judgment
            continue
        if run and run[0][1].key != row.key:
            yield from _join_pairs(run, name, repeats)
            run = []
        run.append((line, row))
    yield from _join_pairs(run, name, repeats)
    repeats.report_repeats()


class Row(NamedTuple):
    """One row, checked; rows with the same key may be of one ranking."""

    key: tuple[str, int, str]
    systems: tuple[str, ...]
    ranks: tuple[int | None, ...]

    @property
    def item(self) -> str:
        return self.key[2]


class _Rows:
    """Finds the columns by their names and checks every row."""

    def __init__(self, rows: Iterator[tuple[int, list[str]]], name: str, base: int) -> None:
        self.rows, self.name, self.base = rows, name, base
        _, header = next(rows, (1, list[str]()))
        refuse_duplicate_columns(header, name)
        self.columns = {normalise_title(title): c for c, title in enumerate(header)}
        self.width = len(header)
        self.judge = self._find_column("judgeID")
        self.sentence = self._find_column("segmentId", "srcIndex")
        count = 0
        while f"system{count + 1}id" in self.columns:
            count += 1
        if count < 2:
            remedy = f"a header as in {','.join(HEADER)}"
            raise InputError("no columns system1Id and system2Id", path=name, line=1, remedy=remedy)
        self.systems = [
            (self._find_column(f"system{k}Id"), self._find_column(f"system{k}rank"))
            for k in range(1, count + 1)
        ]
        self._check_titles(header, count)
        self.item = self.columns.get("rankingid")
        pair = [self.columns.get(title) for title in ("srclang", "trglang")]
        self.languages = [column for column in pair if column is not None]

    def _check_titles(self, header: list[str], count: int) -> None:
        """Refuse gaps among the numbered columns; warn of columns nobody reads."""
        known = {normalise_title(title) for title in (*HEADER, *UNREAD)}
        known |= {f"system{k}{part}" for k in range(1, count + 1) for part in SYSTEM_COLUMNS}
        unknown = [title for title in header if normalise_title(title) not in known]
        gaps = [title for title in unknown if re.fullmatch(r"system\d+\w*", normalise_title(title))]
        if gaps:
            problem = f"the column {gaps[0]!r} does not belong to systems 1 to {count}"
            remedy = "number the systems without a gap, each with systemKId and systemKrank"
            raise InputError(problem, path=self.name, line=1, remedy=remedy)
        if unknown:
            warn_of_data(
                f"{self.name}:1: columns that are not read: {', '.join(unknown)[:200]}; "
                f"known are {', '.join(HEADER)}"
            )

    def _find_column(self, *titles: str) -> int:
        for title in titles:
            if normalise_title(title) in self.columns:
                return self.columns[normalise_title(title)]
        remedy = f"a header as in {','.join(HEADER)}"
        raise InputError(f"no column {' or '.join(titles)}", path=self.name, line=1, remedy=remedy)

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        for line, cells in self.rows:
            if cells:
                yield line, self._read_row(cells, line)

    def _read_row(self, cells: list[str], line: int) -> Row:
        if len(cells) != self.width:
            problem = f"{len(cells)} cells under {self.width} columns"
            remedy = "the row is cut off or has a stray comma"
            raise InputError(problem, path=self.name, line=line, remedy=remedy)
        ending = ""
        if len(self.languages) == 2:
            ending = "." + "-".join([cells[c] for c in self.languages])
        systems = tuple([_strip_wmt_affixes(cells[system], ending) for system, _ in self.systems])
        ranks = tuple([_number(cells[rank], 1) for _, rank in self.systems])
        skipped = all(cells[rank] == SKIPPED for _, rank in self.systems)
        sentence = _number(cells[self.sentence], self.base)
        if sentence is None or (None in ranks and not skipped) or "" in systems:
            raise self._row_error(cells, systems, ranks, line)
        item = "" if self.item is None else cells[self.item]
        return Row((cells[self.judge], sentence - self.base, item), systems, ranks)

    def _row_error(
        self, cells: list[str], systems: tuple[str, ...], ranks: tuple[int | None, ...], line: int
    ) -> InputError:
        problem = f"sentence number {cells[self.sentence]!r} is not a whole number from {self.base}"
        for (_, column), system, rank in zip(self.systems, systems, ranks, strict=True):
            if rank is None:
                problem = f"rank of {system} {cells[column]!r} is not a whole number from 1"
        if "" in systems:
            problem = "a system without a name"
        item = f"item {cells[self.item]!r}: " if self.item is not None else ""
        return InputError(item + problem, path=self.name, line=line)


@lru_cache(10_000)
def _strip_wmt_affixes(name: str, ending: str) -> str:
    if len(ending) > 1 and name.endswith(ending) and "." in name.removesuffix(ending):
        return name.removesuffix(ending).partition(".")[2]
    return name


def _join_pairs(
    run: list[tuple[int, Row]], name: str, repeats: DuplicateFilter
) -> Iterator[Judgment]:
    """The rows of one ranking as one judgment, or row by row where they are not one ranking."""
    if not run:
        return
    line, start = run[0]
    ranks: dict[str, int | None] = {}
    pairs: dict[frozenset[str], set[tuple[str, int | None]]] = {}
    whole = True
    rows: list[tuple[int, Row]] = []
    for number, row in run:
        pair, placed = frozenset(row.systems), set(zip(row.systems, row.ranks, strict=True))
        before = pairs.setdefault(pair, placed)
        if before is not placed and not repeats.is_new_row(
            row.key[0], row.item, number, same=before == placed
        ):
            continue
        rows.append((number, row))
        for system, rank in zip(row.systems, row.ranks, strict=True):
            whole = whole and ranks.setdefault(system, rank) == rank
    run = rows
    n = len(ranks)
    if whole and len(pairs) == len(run) == n * (n - 1) // 2:
        judgment = _make_judgment(
            start, tuple(ranks), tuple(ranks.values()), start.item, name, line
        )
        if repeats.is_new(judgment, line):
            yield judgment
        return
    found = [
        _make_judgment(row, row.systems, row.ranks, row.item or f"line {line}", name, number)
        for number, row in run
    ]
    if repeats.is_new_run(found, start.item, line):
        yield from found


def _make_judgment(
    row: Row,
    systems: tuple[str, ...],
    ranks: tuple[int | None, ...],
    item: str,
    name: str,
    line: int,
) -> Judgment:
    try:
        return Judgment(*row.key[:2], tuple([(system,) for system in systems]), ranks, item)
    except InputError as error:
        raise InputError(error.problem, path=name, line=line, remedy=error.remedy) from None


def render_pairwise(
    judgments: Iterable[Judgment],
    *,
    members: Members = "all",
    order: MemberOrder = "name",
    rng: int | np.random.Generator = 0,
    base: int = 0,
    names: str = "{}",
) -> Iterator[str]:
    """Yield the lines of a pairwise CSV file, with the columns of expanded.csv in their order.

    ``rankingID`` counts all judgments from 1, also skipped ones, as the published files do; their
    pattern of system ``names`` is ``"conll14st-test.{}.src-trg"``.
    """
    if members not in ("all", "sample"):
        problem = f"pairs of {members!r} members cannot be written"
        raise InputError(problem, remedy="use members='all' or 'sample'")
    if re.search(r"[\s,\"]", names) or "{}" not in names:
        raise InputError(f"the pattern {names!r} is not a name with {{}} for the system")
    draw = MemberDraw(rng)
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="")

    def line(cells: Iterable[object]) -> str:
        buffer.seek(0)
        buffer.truncate()
        writer.writerow(cells)
        return buffer.getvalue()

    yield line(HEADER)
    for number, judgment in enumerate(judgments, 1):
        sentence = judgment.sentence + base
        start = ("src", "trg", sentence, sentence, judgment.judge)
        entries = judgment.entries(members, order, draw)
        for (a, rank_a, *_), (b, rank_b, *_) in combinations(entries, 2):
            yield line((*start, names.format(a), rank_a, names.format(b), rank_b, number))
