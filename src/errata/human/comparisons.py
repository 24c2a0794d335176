"""From rankings to pairwise comparisons: columns of integers, and counts of wins and ties.

A ranking of five outputs that stand for thirteen systems says something about 78 pairs of systems.
`compare` expands it so (``members="all"``, as Grundkiewicz et al. 2015 and the WMT do), or lets
one system speak for each output (``"sample"``), or takes the exact mean over that choice
(``"expected"``). It reads a stream, and with ``keep`` it holds no more than counts per sentence,
judge or ranking, so that millions of judgments fit into little memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.data import Judgment, MemberOrder, Members
from errata.errors import InputError
from errata.numbers import Floats
from errata.parameters import require

__all__ = ["UNITS", "Comparisons", "Counts", "Outcome", "check_unit", "compare"]

Column = NDArray[np.int32]  # half the memory of 64 bits, for millions of comparisons
UNITS = ("pairs", "rankings", "sentences", "judges")
Unit = Literal["pairs", "rankings", "sentences", "judges"]
Keep = Literal["everything", "pairs", "rankings", "sentences", "judges"]
Speakers = tuple[list[int], list[int], list[float]]
CHUNK = 2_000  # judgments turned into columns at a time; few, as many objects are slow to collect
WAITING = 200_000  # comparisons that gather before they are merged
KNOWN = 50_000  # sets of outputs whose systems are kept looked up


class Outcome(IntEnum):
    """What a comparison of two systems came to."""

    FIRST = 1
    TIE = 0
    SECOND = -1


class Counts(NamedTuple):
    """``wins[..., a, b]``: how often a was judged better than b; ``ties`` is symmetric."""

    wins: Floats
    ties: Floats

    @property
    def games(self) -> Floats:
        """How often each pair was compared."""
        return self.wins + self.wins.swapaxes(-1, -2) + self.ties

    @property
    def total(self) -> float:
        """How many comparisons there are in all."""
        return float(self.wins.sum() + self.ties.sum() / 2)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Pairwise comparisons as columns; row i says what came out between two systems.

    ``first`` and ``second`` index ``systems`` (sorted by name), ``judge`` indexes ``judges``,
    ``sentence`` is 0-based, ``ranking`` numbers the rankings as they stand in the file.
    ``weight`` is 1 but for expected members and merged rows. A column that was not kept is None.
    """

    systems: tuple[str, ...]
    judges: tuple[str, ...]
    first: Column
    second: Column
    outcome: NDArray[np.int8]
    weight: Floats
    judge: Column | None
    sentence: Column | None
    ranking: Column | None
    rankings: int
    context: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.first)

    @property
    def total(self) -> float:
        """How many comparisons there are, merged rows counted as often as they stand for."""
        return float(self.weight.sum())

    def counts(self) -> Counts:
        """Wins and ties per pair of systems."""
        wins, ties = self._count(np.zeros(len(self), np.int64), 1)
        return Counts(wins[0], ties[0])

    def per_judge(self) -> Counts:
        """Wins and ties per judge and pair: ``[judge, a, b]``."""
        return self._count(self._column("judges").astype(np.int64), len(self.judges))

    def _count(self, group: NDArray[np.int64], groups: int) -> Counts:
        n = len(self.systems)
        forth = (group * n + self.first) * n + self.second
        back = (group * n + self.second) * n + self.first

        def add(*parts: tuple[NDArray[np.int64], Outcome]) -> Floats:
            sums = np.zeros(groups * n * n)
            for place, outcome in parts:
                rows = self.outcome == outcome
                sums += np.bincount(place[rows], self.weight[rows], minlength=len(sums))
            return sums.reshape(groups, n, n)

        return Counts(
            add((forth, Outcome.FIRST), (back, Outcome.SECOND)),
            add((forth, Outcome.TIE), (back, Outcome.TIE)),
        )

    def _column(self, unit: str) -> Column:
        column = {"rankings": self.ranking, "sentences": self.sentence, "judges": self.judge}[unit]
        if column is None:
            raise InputError(
                f"the {unit} of these comparisons were not kept",
                remedy=f"compare(..., keep={unit!r}) or keep='everything'",
            )
        return column

    def units(self, unit: str) -> tuple[NDArray[np.int64], int]:
        """The number (from 0) of the ranking, sentence or judge of each row, and how many."""
        check_unit(unit)
        if unit == "pairs":
            return np.arange(len(self)), len(self)
        distinct, number = np.unique(self._column(unit), return_inverse=True)
        return number.astype(np.int64), len(distinct)

    def select(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> Comparisons:
        """Some of the rows; systems and judges keep their numbers."""

        def pick(column: Column | None) -> Column | None:
            return None if column is None else column[rows]

        return replace(
            self,
            first=self.first[rows],
            second=self.second[rows],
            outcome=self.outcome[rows],
            weight=self.weight[rows],
            judge=pick(self.judge),
            sentence=pick(self.sentence),
            ranking=pick(self.ranking),
        )

    def without(self, *systems: str) -> Comparisons:
        """The comparisons among the other systems."""
        for name in systems:
            if name not in self.systems:
                raise InputError(
                    f"no judgment names the system {name!r}",
                    remedy=f"there are: {', '.join(self.systems)}",
                )
        stay = np.array([name not in systems for name in self.systems], bool)
        number = (np.cumsum(stay) - 1).astype(np.int32)
        kept = self.select(stay[self.first] & stay[self.second])
        return replace(
            kept,
            systems=tuple(name for name in self.systems if name not in systems),
            first=number[kept.first],
            second=number[kept.second],
            context=(*self.context, *(f"without:{name}" for name in systems)),
        )


def check_unit(unit: str) -> None:
    """Refuse a resampling unit that does not exist."""
    if unit not in UNITS:
        raise InputError(f"unknown unit {unit!r}", remedy=f"use one of {', '.join(UNITS)}")


def compare(
    judgments: Iterable[Judgment],
    *,
    members: Members = "all",
    order: MemberOrder = "name",
    keep: Keep = "everything",
    rng: int | np.random.Generator = 0,
) -> Comparisons:
    """Turn rankings into pairwise comparisons.

    ``members`` says which systems of an output speak (see the module); with ``"all"`` the systems
    that share an output tie with each other, with the others they do not meet. ``order="name"``
    writes the pairs of a ranking as the published expanded.csv does, sorted by system name;
    ``"given"`` keeps the order of the ranking (Napoles et al. 2015). An output that was shown but
    not ranked is compared with nothing. ``keep`` names the unit whose counts are kept; rows of
    one unit, pair and outcome are then merged. ``rng`` draws the member for ``"sample"``.

    Judgments that follow each other with the same judge, sentence and (not empty) item are one
    ranking written in parts.

    >>> ranking = Judgment("ann", 0, (("A", "B"), ("C",)), (1, 2))
    >>> len(compare([ranking])), len(compare([ranking], members="sample"))
    (3, 1)
    >>> compare([ranking], members="expected").weight.tolist()
    [0.5, 0.5]
    """
    require("members", members, Members)
    require("keep", keep, Keep)
    require("order", order, MemberOrder)
    columns = _Columns(members, order, np.random.default_rng(rng))
    tables: list[Table] = []
    waiting = 0
    for chunk in _chunks(judgments):
        tables.append(columns.expand(chunk))
        waiting += len(tables[-1].first)
        if keep != "everything" and waiting > WAITING:
            tables, waiting = [_merge(tables, keep)], 0
    if keep != "everything" and tables:
        tables = [_merge(tables, keep)]
    return _finish(columns, tables, keep)


class Table(NamedTuple):
    """The columns of `Comparisons`, with systems numbered as they came."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    outcome: NDArray[np.int8]
    weight: Floats
    judge: NDArray[np.int32]
    sentence: NDArray[np.int32]
    ranking: NDArray[np.int32]


def _chunks(judgments: Iterable[Judgment]) -> Iterator[list[Judgment]]:
    stream = iter(judgments)
    while chunk := list(islice(stream, CHUNK)):
        yield chunk


class _Columns:
    """Numbers systems, judges and rankings while judgments stream past."""

    def __init__(self, members: Members, order: MemberOrder, rng: np.random.Generator) -> None:
        self.members, self.order, self.rng = members, order, rng
        self.systems: dict[str, int] = {}
        self.judges: dict[str, int] = {}
        self.rankings = 0
        self._known: dict[tuple[tuple[str, ...], ...], Speakers] = {}
        self._last: tuple[str, int, str] | None = None

    def expand(self, chunk: list[Judgment]) -> Table:
        """The comparisons of some judgments."""
        systems, ranks, groups, weights = [], [], [], []
        sizes, judge, sentence, ranking = [], [], [], []
        judges = self.judges
        for judgment in chunk:
            number, group, weight = self._speakers(judgment)
            systems += number
            ranks += [judgment.ranks[g] for g in group]
            groups += group
            weights += weight
            sizes.append(len(number))
            judge.append(judges.setdefault(judgment.judge, len(judges)))
            sentence.append(judgment.sentence)
            ranking.append(self._number(judgment))
        row, left, right = _pairs(np.array(sizes, np.int64))
        if self.members == "expected":  # the members of one output never meet
            output = np.array(groups, np.int32)
            apart = output[left] != output[right]
            row, left, right = row[apart], left[apart], right[apart]
        try:
            number_, rank_, weight_, sentence_ = (
                np.array(systems, np.int32),
                np.array(ranks, np.int64),
                np.array(weights, np.float64),
                np.array(sentence, np.int32),
            )
        except OverflowError:
            raise InputError(
                "a rank or a sentence number is too large", remedy="number them from 1 and from 0"
            ) from None
        return Table(
            number_[left],
            number_[right],
            np.sign(rank_[right] - rank_[left]).astype(np.int8),
            weight_[left] * weight_[right],
            np.array(judge, np.int32)[row],
            sentence_[row],
            np.array(ranking, np.int32)[row],
        )

    def _speakers(self, judgment: Judgment) -> Speakers:
        """The numbers of the systems compared, the outputs they wrote, and their weights."""
        # Who is compared, and in which order, repeats from ranking to ranking; ranks do not.
        if self.members == "sample" or None in judgment.ranks:
            return self._listed(judgment)
        known = self._known.get(judgment.groups)
        if known is None:
            if len(self._known) >= KNOWN:
                self._known.clear()
            known = self._known[judgment.groups] = self._listed(judgment)
        return known

    def _listed(self, judgment: Judgment) -> Speakers:
        entries = judgment.entries(self.members, self.order, self.rng)
        number = self.systems
        return (
            [number.setdefault(name, len(number)) for name, *_ in entries],
            [group for _, _, group, _ in entries],
            [weight for *_, weight in entries],
        )

    def _number(self, judgment: Judgment) -> int:
        key = (judgment.judge, judgment.sentence, judgment.item)
        if not (judgment.item and key == self._last):
            self.rankings += 1
        self._last = key
        return self.rankings - 1


def _pairs(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """All pairs of entries within each block of these sizes: block, left and right entry."""
    starts = np.cumsum(sizes) - sizes
    many = sizes * (sizes - 1) // 2
    offsets = np.cumsum(many) - many
    row, left, right = (np.empty(int(many.sum()), np.int64) for _ in range(3))
    for size in np.unique(sizes[sizes > 1]):
        blocks = np.flatnonzero(sizes == size)
        i, j = np.triu_indices(int(size), 1)
        place = offsets[blocks, None] + np.arange(len(i))
        row[place], left[place], right[place] = (
            blocks[:, None],
            starts[blocks, None] + i,
            starts[blocks, None] + j,
        )
    return row, left, right


def _merge(tables: list[Table], unit: str) -> Table:
    """Add up the weights of rows that agree in unit, pair and outcome."""
    table = Table(*(np.concatenate(column) for column in zip(*tables, strict=True)))
    if not len(table.first):
        return table
    flip = table.first > table.second
    first, second = np.minimum(table.first, table.second), np.maximum(table.first, table.second)
    outcome = np.where(flip, -table.outcome, table.outcome).astype(np.int64)
    column = {
        "pairs": np.zeros(len(first), np.int32),
        "rankings": table.ranking,
        "sentences": table.sentence,
        "judges": table.judge,
    }[unit].astype(np.int64)
    n = int(second.max()) + 1
    low = int(column.min())
    key = (((column - low) * n + first) * n + second) * 3 + outcome + 1
    distinct, row = np.unique(key, return_inverse=True)
    weight: Floats = np.bincount(row, table.weight, minlength=len(distinct)).astype(np.float64)
    rest, outcome = np.divmod(distinct, 3)
    rest, second = np.divmod(rest, n)
    unit_, first = np.divmod(rest, n)
    value = (unit_ + low).astype(np.int32)
    return Table(
        first.astype(np.int32),
        second.astype(np.int32),
        (outcome - 1).astype(np.int8),
        weight,
        value,
        value,
        value,
    )


def _finish(columns: _Columns, tables: list[Table], keep: str) -> Comparisons:
    if not tables:
        tables = [columns.expand([])]
    table = Table(*(np.concatenate(column) for column in zip(*tables, strict=True)))
    names = sorted(columns.systems)
    number = np.zeros(len(names), np.int32)
    for new, name in enumerate(names):
        number[columns.systems[name]] = new
    first, second, outcome = number[table.first], number[table.second], table.outcome
    if keep != "everything":
        flip = first > second
        first, second = np.minimum(first, second), np.maximum(first, second)
        outcome = np.where(flip, -outcome, outcome).astype(np.int8)
    kept = {unit: keep in ("everything", unit) for unit in UNITS}
    return Comparisons(
        tuple(names),
        tuple(columns.judges),
        first,
        second,
        outcome,
        table.weight,
        table.judge if kept["judges"] else None,
        table.sentence if kept["sentences"] else None,
        table.ranking if kept["rankings"] else None,
        columns.rankings,
        context=(f"members:{columns.members}",),
    )
