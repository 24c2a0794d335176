"""Rankings to pairwise comparisons; counts of wins and ties.

A ranking of five outputs that stand for thirteen systems says something about 78 pairs of systems.
`compare` expands it so (``members="all"``, as Grundkiewicz et al. 2015 and the WMT do), or lets
one system speak for each output (``"sample"``), or takes the exact mean over that choice
(``"expected"``). It reads a stream, and with ``keep`` it holds no more than counts per sentence,
judge or ranking, so that millions of judgments fit into little memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from itertools import islice
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.parameters import require
from errata.core.stats import Floats, Ints, Seed, group_ids
from errata.data import Judgment, MemberDraw, MemberOrder, Members
from errata.human.output_pairs import Column, RankingColumns, pairs_in_blocks

# ---- Numbers for rankings by what they say, so that no draw depends on the order of a file.

WEIGHED = 2**20  # resolution of the weight of a comparison
Mixed = NDArray[np.uint64]


def stable_ids(unit: Ints, cell: Ints, weight: Floats, *then: Ints) -> Ints:
    """The number of each row's unit, units ordered by what their rows say.

    ``cell`` is what a row says and ``weight`` how much it counts; rows of one unit may be in any
    order, and be merged where they say the same. Units that say the same are ordered by the columns
    ``then``, which are the same in all rows of a unit; where these are too, they are exchangeable.

    >>> one = stable_ids(np.array([0, 0, 1]), np.array([5, 7, 6]), np.ones(3))
    >>> two = stable_ids(np.array([0, 1, 1]), np.array([6, 7, 5]), np.ones(3))
    >>> bool(one[0] == two[1] and one[2] == two[0])
    True
    """
    if not len(unit):
        return unit
    said = _splitmix(cell.astype(np.uint64)) * np.rint(weight * WEIGHED).astype(np.uint64)
    total = np.zeros(int(unit.max()) + 1, np.uint64)
    np.add.at(total, unit, said)  # a sum, which wraps: the order of the rows is nothing to it
    first = np.unique(unit, return_index=True)[1]
    place = np.empty(len(total), np.int64)
    place[np.lexsort([*(column[first] for column in reversed(then)), total])] = np.arange(
        len(total)
    )
    return place[unit]


def _splitmix(numbers: Mixed) -> Mixed:
    """Numbers as well mixed as if drawn (splitmix64; Steele, Lea & Flood 2014)."""
    mixed: Mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)), np.uint64)


# ---- How often each system was judged better than each other, and as good.

MOST_GAMES = 1e12  # of a pair: sums of many such are exact


class _Tables(NamedTuple):
    wins: Floats
    ties: Floats


class Counts(_Tables):
    """``wins[..., a, b]``: how often a was judged better than b; ``ties`` is symmetric.

    They need not be whole: expected members count in parts.
    """

    def __new__(cls, wins: Floats, ties: Floats) -> Self:
        try:
            made = super().__new__(cls, *(np.asarray(table, np.float64) for table in (wins, ties)))
        except (TypeError, ValueError):
            raise InputError("counts of wins and ties are tables of numbers") from None
        shape = made.wins.shape
        if len(shape) < 2 or shape[-1] != shape[-2] or made.ties.shape != shape:
            raise InputError(
                f"counts of wins {shape} and ties {made.ties.shape} are no square tables of one "
                "shape",
                remedy="give a row and a column for each system",
            )
        # Differences of parts may miss 0 by a rounding error.
        if not all(((table > -1e-9) & (table <= MOST_GAMES)).all() for table in made):
            raise InputError(f"counts of wins and ties are numbers from 0 to {MOST_GAMES:.0e}")
        return made

    @property
    def games(self) -> Floats:
        """How often each pair was compared."""
        return self.wins + self.wins.swapaxes(-1, -2) + self.ties

    @property
    def total(self) -> float:
        """How many comparisons there are in all."""
        return float(self.wins.sum() + self.ties.sum() / 2)


# ---- Which systems judgments are about: leaving some out before anything is made of them.


def unknown_system(name: str, systems: Iterable[str]) -> InputError:
    """The error to raise for a system that nobody named."""
    return InputError(
        f"nothing is known of the system {name!r}", remedy=f"there are: {', '.join(systems)}"
    )


def drop_systems(judgments: Iterable[Judgment], systems: Sequence[str]) -> Iterator[Judgment]:
    """The judgments as if these systems had never been judged; naming none that was is an error."""
    seen: set[str] = set()
    for judgment in judgments:
        seen.update(name for group in judgment.groups for name in group)
        yield judgment.without(*systems)
    check_named(systems, seen)


def check_named(systems: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names of systems that are not among those known."""
    there = sorted(known)
    for name in systems:
        if name not in there:
            raise unknown_system(name, there)


Unit = Literal["pairs", "rankings", "sentences", "judges"]
Keep = Literal["everything", "pairs", "rankings", "sentences", "judges"]
COLUMNS = {"rankings": "ranking", "sentences": "sentence", "judges": "judge"}
SAID_OF: tuple[Unit, ...] = ("sentences", "judges")
Speakers = tuple[list[int], list[int], list[float]]
BATCH = 2_000  # judgments turned into columns at a time; few, as many objects are slow to collect
BATCH_OF_COLUMNS = 10_000  # rankings, which are columns already
WAITING = 200_000  # comparisons that gather before they are merged
KNOWN = 50_000  # sets of outputs whose systems are kept looked up


class Outcome(IntEnum):
    """What a comparison of two systems came to."""

    FIRST = 1
    TIE = 0
    SECOND = -1


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """Comparisons as columns of numbers; row i says what came out between two systems."""

    first: Column
    second: Column
    outcome: NDArray[np.int8]
    weight: Floats
    judge: Column | None = None
    sentence: Column | None = None
    ranking: Column | None = None

    def __len__(self) -> int:
        return len(self.first)

    def select(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> Self:
        """Some of the rows; systems and judges keep their numbers."""
        columns = {field.name: getattr(self, field.name) for field in fields(Rows)}
        return replace(
            self, **{name: column[rows] for name, column in columns.items() if column is not None}
        )

    def order_pairs(self) -> Self:
        """Every pair the same way round: the lower number first, and the outcome seen from it."""
        return replace(
            self,
            first=np.minimum(self.first, self.second),
            second=np.maximum(self.first, self.second),
            outcome=np.where(self.first > self.second, -self.outcome, self.outcome),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparisons(Rows):
    """Pairwise comparisons with the names behind their numbers.

    ``first`` and ``second`` index ``systems`` (sorted by name), ``judge`` indexes ``judges``,
    ``sentence`` is 0-based, ``ranking`` numbers the rankings in the order of the file.
    ``weight`` is 1 but for expected members and merged rows. A column that was not kept is None.
    """

    systems: tuple[str, ...]
    judges: tuple[str, ...]
    rankings: int
    context: tuple[str, ...] = ()

    @property
    def facts(self) -> tuple[str, ...]:
        """What a signature says of the comparisons."""
        return (*self.context, f"comparisons:{self.total:.12g}", f"rankings:{self.rankings}")

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
        return self._count(self._unit_column("judges").astype(np.int64), len(self.judges))

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

    def _unit_column(self, unit: Unit) -> Column:
        column: Column | None = getattr(self, COLUMNS[unit])
        if column is None:
            raise InputError(
                f"the {unit} of these comparisons were not kept",
                remedy=f"compare(..., keep={unit!r}) or keep='everything'",
            )
        return column

    def units(self, unit: Unit) -> tuple[NDArray[np.int64], int]:
        """The number (from 0) of the ranking, sentence or judge of each row, and how many.

        Draws by number must not depend on the order of a file: sentences are numbered as
        they are, judges by name, and rankings by what they say.
        """
        require("unit", unit, Unit)
        if unit == "pairs":
            return np.arange(len(self)), len(self)
        column = self._unit_column(unit).astype(np.int64)
        low = int(column.min(initial=0))
        kinds, number = group_ids(column - low)
        if unit == "judges":
            names = np.array([self.judges[judge + low] for judge in kinds])
            number = np.argsort(np.argsort(names))[number]
        elif unit == "rankings":
            rows = self.order_pairs()
            pair = rows.first.astype(np.int64) * len(self.systems) + rows.second
            whose = [self.units(u)[0] for u in SAID_OF if getattr(self, COLUMNS[u]) is not None]
            number = stable_ids(number, pair * 3 + rows.outcome + 1, self.weight, *whose)
        return number, len(kinds)

    def without(self, *systems: str) -> Comparisons:
        """Return the comparisons among the other systems, to rank without these."""
        return self._fewer("without", systems)

    def hide(self, *systems: str) -> Comparisons:
        """Return the comparisons among the other systems, to show without these."""
        return self._fewer("hide", systems)

    def _fewer(self, word: str, systems: Sequence[str]) -> Comparisons:
        if not systems:
            return self
        for name in systems:
            if name not in self.systems:
                raise unknown_system(name, self.systems)
        stay = np.array([name not in systems for name in self.systems], bool)
        number = (np.cumsum(stay) - 1).astype(np.int32)
        kept = self.select(stay[self.first] & stay[self.second])
        return replace(
            kept,
            systems=tuple(name for name in self.systems if name not in systems),
            first=number[kept.first],
            second=number[kept.second],
            context=(*self.context, *(f"{word}:{name}" for name in systems)),
        )


def compare(
    judgments: Iterable[Judgment],
    *,
    members: Members = "all",
    order: MemberOrder = "name",
    keep: Keep = "everything",
    rng: Seed = 0,
    origin: Sequence[str] = (),
    batch: int = BATCH,
) -> Comparisons:
    """Turn rankings into pairwise comparisons.

    ``members`` says which systems of an output speak (see the module); with ``"all"`` the systems
    that share an output tie with each other, with the others they do not meet. ``order="name"``
    writes the pairs of a ranking as the published expanded.csv does, sorted by system name;
    ``"given"`` keeps the order of the ranking (Napoles et al. 2015). An output that was shown but
    not ranked is compared with nothing. ``keep`` names the unit whose counts are kept; rows of
    one unit, pair and outcome are then merged. ``rng`` draws the member for ``"sample"``.
    ``origin`` is what a signature should say of how the judgments were read (a judge left out,
    say). Judgments are expanded ``batch`` at a time, which changes speed and memory and nothing
    else.

    Judgments that follow each other with the same judge, sentence and (not empty) item are one
    ranking written in parts; pairs are so wherever they stand.

    >>> ranking = Judgment("ann", 0, (("A", "B"), ("C",)), (1, 2))
    >>> len(compare([ranking])), len(compare([ranking], members="sample"))
    (3, 1)
    >>> compare([ranking], members="expected").weight.tolist()
    [0.5, 0.5]
    """
    require("members", members, Members)
    require("keep", keep, Keep)
    require("order", order, MemberOrder)
    expansion = _Expansion(members, order, keep, MemberDraw(rng))
    stream, parts, waiting = iter(judgments), list[Rows](), 0
    while some := list(islice(stream, batch)):
        parts.append(expansion.rows(some))
        waiting += len(parts[-1])
        if keep != "everything" and waiting > WAITING:
            parts, waiting = [_merge_rows(_join_rows(parts), keep)], 0
    rows = _join_rows(parts or [expansion.rows([])])
    if members != "all" and len(rows) and not expansion.shared:
        raise InputError(
            f"no output is shared by systems, so members={members!r} cannot do anything",
            remedy="leave it out; files that list pairs name one system for each output",
        )
    found = expansion.finish(rows if keep == "everything" else _merge_rows(rows, keep))
    return replace(found, context=(*found.context, *origin))


def compare_columns(rankings: RankingColumns) -> Comparisons:
    """`compare` of rankings as columns, with the counts of every sentence kept.

    >>> from errata.human.output_pairs import ranking_columns
    >>> ranking = Judgment("ann", 0, (("A", "B"), ("C",)), (1, 2))
    >>> compare_columns(ranking_columns([ranking])).counts().wins.tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    ranked = np.zeros(len(rankings.outputs), bool)
    ranked[rankings.output] = True
    systems = tuple(sorted({s for k in np.flatnonzero(ranked) for s in rankings.outputs[k]}))
    number = {name: k for k, name in enumerate(systems)}
    members = [[number.get(name, -1) for name in group] for group in rankings.outputs]
    many = np.array([len(group) for group in members], np.int64)
    member = np.array([each for group in members for each in group], np.int32)
    parts = []
    for some in _by_sentence(rankings):
        each = many[some.output]
        place = np.repeat((np.cumsum(many) - many)[some.output] - (np.cumsum(each) - each), each)
        spoken = np.concatenate(([0], np.cumsum(each)))[np.cumsum(some.size)]
        system = member[place + np.arange(len(place))]
        kept = {"sentences": np.array(some.sentences, np.int32)[some.sentence]}
        size, rank = np.diff(spoken, prepend=0), np.repeat(some.rank, each)
        rows = _pairs_in_rankings(size, system, rank, np.ones(len(system)), kept)
        parts.append(_merge_rows(rows, "sentences"))
    return Comparisons(
        **vars(_join_rows(parts)),
        systems=systems,
        judges=rankings.judges,
        rankings=len(rankings),
        context=("members:all",),
    )


def _by_sentence(rankings: RankingColumns) -> Iterator[RankingColumns]:
    """The rankings of some sentences at a time, all of each together; at least one part."""
    several = np.bincount(rankings.sentence, minlength=len(rankings.sentences))
    part = np.cumsum(several) // BATCH_OF_COLUMNS
    for number in np.unique(part) if len(part) else (0,):
        yield rankings.select((part == number)[rankings.sentence])


class _Expansion:
    """Numbers systems, judges and rankings while judgments stream past."""

    def __init__(self, members: Members, order: MemberOrder, keep: Keep, draw: MemberDraw) -> None:
        self.members, self.order, self.keep, self.draw = members, order, keep, draw
        self.systems: dict[str, int] = {}
        self.judges: dict[str, int] = {}
        self.rankings = 0
        self.shared = False  # whether an output has several members, who may speak for it
        self._known: dict[tuple[tuple[str, ...], ...], Speakers] = {}
        self._last: tuple[str, int, str] | None = None
        self._last_number = 0
        self._parts: dict[tuple[str, int, str], int] = {}

    def rows(self, some: list[Judgment]) -> Rows:
        """The comparisons of some judgments, systems numbered as they came."""
        systems, ranks, groups, weights = [], [], [], []
        sizes, judge, sentence, ranking = [], [], [], []
        judges = self.judges
        for judgment in some:
            number, group, weight = self._speakers(judgment)
            systems += number
            ranks += [judgment.ranks[g] for g in group]
            groups += group
            weights += weight
            sizes.append(len(number))
            judge.append(judges.setdefault(judgment.judge, len(judges)))
            sentence.append(judgment.sentence)
            ranking.append(self._ranking_number(judgment))
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
        columns = {
            "judges": np.array(judge, np.int32),
            "sentences": sentence_,
            "rankings": np.array(ranking, np.int32),
        }
        # The members of one output never meet where their means are taken.
        apart = np.array(groups, np.int32) if self.members == "expected" else None
        kept = {u: column for u, column in columns.items() if self.keep in ("everything", u)}
        return _pairs_in_rankings(np.array(sizes, np.int64), number_, rank_, weight_, kept, apart)

    def finish(self, rows: Rows) -> Comparisons:
        """All rows, with systems numbered in the order of their names."""
        names = sorted(self.systems)
        number = np.zeros(len(names), np.int32)
        for new, name in enumerate(names):
            number[self.systems[name]] = new
        rows = replace(rows, first=number[rows.first], second=number[rows.second])
        return Comparisons(
            **vars(rows if self.keep == "everything" else rows.order_pairs()),
            systems=tuple(names),
            judges=tuple(self.judges),
            rankings=self.rankings,
            context=(f"members:{self.members}",),
        )

    def _speakers(self, judgment: Judgment) -> Speakers:
        """The numbers of the systems compared, the outputs they wrote, and their weights."""
        # Who is compared repeats from ranking to ranking; ranks do not.
        if self.members == "sample" or None in judgment.ranks:
            return self._entry_columns(judgment)
        groups, order = judgment.groups, list(range(len(judgment.groups)))
        if self.order == "name":  # nor does the order in which outputs were shown, which is drawn
            order.sort(key=groups.__getitem__)
            groups = tuple([groups[g] for g in order])
        known = self._known.get(groups)
        if known is None:
            if len(self._known) >= KNOWN:
                self._known.clear()
            one = replace(judgment, groups=groups, ranks=(1,) * len(groups))
            known = self._known[groups] = self._entry_columns(one)
        number, group, weight = known
        return number, [order[g] for g in group], weight

    def _entry_columns(self, judgment: Judgment) -> Speakers:
        self.shared = self.shared or any(len(group) > 1 for group in judgment.groups)
        entries = judgment.entries(self.members, self.order, self.draw)
        number = self.systems
        return (
            [number.setdefault(name, len(number)) for name, *_ in entries],
            [group for _, _, group, _ in entries],
            [weight for *_, weight in entries],
        )

    def _ranking_number(self, judgment: Judgment) -> int:
        key = (judgment.judge, judgment.sentence, judgment.item)
        part = bool(judgment.item) and sum(map(len, judgment.groups)) == 2
        if judgment.item and key == self._last:
            number = self._last_number
        elif part and key in self._parts:  # pairs of one ranking may stand anywhere in a file
            number = self._parts[key]
        else:
            number, self.rankings = self.rankings, self.rankings + 1
        if part:
            self._parts[key] = number
        self._last, self._last_number = key, number
        return number


def _pairs_in_rankings(
    sizes: NDArray[np.int64],
    system: Column,
    rank: NDArray[np.signedinteger],
    weight: Floats,
    columns: Mapping[str, Column],
    apart: Column | None = None,
) -> Rows:
    """Every pair of systems within rankings of these sizes; none of equal ``apart``."""
    row, left, right = pairs_in_blocks(sizes)
    if apart is not None:
        meet = apart[left] != apart[right]
        row, left, right = row[meet], left[meet], right[meet]
    return Rows(
        first=system[left],
        second=system[right],
        outcome=np.sign(rank[right] - rank[left]).astype(np.int8),
        weight=weight[left] * weight[right],
        **{COLUMNS[unit]: column[row] for unit, column in columns.items()},
    )


def _join_rows(parts: list[Rows]) -> Rows:
    """Rows of consecutive batches; all of them keep the same columns."""
    if len(parts) == 1:
        return parts[0]
    kept = [name for name, column in vars(parts[0]).items() if column is not None]
    return Rows(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in kept})


def _merge_rows(rows: Rows, unit: str) -> Rows:
    """Add up the weights of rows that agree in unit, pair and outcome."""
    if not len(rows):
        return rows
    name = COLUMNS.get(unit)
    column = np.zeros(len(rows), np.int64) if name is None else getattr(rows, name).astype(np.int64)
    rows = rows.order_pairs()
    n = int(rows.second.max()) + 1
    low = int(column.min())
    key = (((column - low) * n + rows.first) * n + rows.second) * 3 + rows.outcome + 1
    kinds, row = group_ids(key)
    rest, sign = np.divmod(kinds, 3)
    rest, higher = np.divmod(rest, n)
    number, lower = np.divmod(rest, n)
    return Rows(
        first=lower.astype(np.int32),
        second=higher.astype(np.int32),
        outcome=(sign - 1).astype(np.int8),
        weight=np.bincount(row, rows.weight, minlength=len(kinds)).astype(np.float64),
        **({} if name is None else {name: (number + low).astype(np.int32)}),
    )
