"""The rankings and pairs of a campaign as columns, held between one look and the next.

They are those of `errata.web.exports.judgments_in`. Judgments are never updated: a look reads what
was stored since the last one. Everything is kept as columns of integers, and rows are taken as the
database gives them, since objects of a hundred thousand answers would take most of the memory that
a server may have, and most of the time. Of other kinds only who worked when is kept.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, case, func, select

from errata.collect.design import MOST_OUTPUTS
from errata.collect.readings import shown_ranks
from errata.human.comparisons import Comparisons, compare_columns
from errata.human.ranking_columns import RankingColumns
from errata.numbers import distinct_numbers, stable_order
from errata.web.database import Database, raw_rows
from errata.web.packing import packed, unpacked
from errata.web.schema import (
    assignments,
    item_outputs,
    items,
    judges,
    judgments,
    outputs,
    sentences,
)

__all__ = ["GatheredJudgments", "Work"]

FEW_ITEMS = 500  # that are asked for by number; more are read all together
KNOWN = 20_000  # answers, and orders, that are kept looked up
PLACES = 16  # more than an item has outputs
CHECK = -1  # the sentence of an item that no ranking enters
UNKNOWN = -2  # that of an item that was not looked up yet
_Ints = NDArray[np.int32]


_NEW = select(
    judgments.c.id,
    judgments.c.assignment,
    judgments.c.revision,
    func.coalesce(judgments.c.active_ms, -1),
    judgments.c.server_time,
    assignments.c.item,
    assignments.c.judge,
    assignments.c.shown,
    case((judgments.c.skip.is_(None), judgments.c.answer)),  # none of what was skipped
).join(assignments, assignments.c.id == judgments.c.assignment)
_ITEMS = (
    select(packed(items.c.id, sentences.c.number))
    .join(sentences, sentences.c.id == items.c.sentence)
    .where(items.c.purpose.in_(("main", "repeat")))
)
_PLACE = item_outputs.c.item * PLACES + item_outputs.c.position
_SHOWN = select(packed(_PLACE, item_outputs.c.output))


class _Answers(NamedTuple):
    """A column, or a row, for each revision."""

    numbers: NDArray[np.int64]  # assignment, revision, active_ms (-1: not known), time, item, judge
    order: NDArray[np.int8]  # of the outputs of the item; -1 beyond the last
    ranks: NDArray[np.int8]  # in the order shown, 0 for none

    @property
    def item(self) -> NDArray[np.int64]:
        items_: NDArray[np.int64] = self.numbers[4]
        return items_

    def select(self, rows: Any) -> _Answers:
        return _Answers(self.numbers[:, rows], self.order[rows], self.ranks[rows])


class Work(NamedTuple):
    """What a judge has done, checks and changed answers among it."""

    last: int  # the number of the last answer
    time: int  # of it, or of a later one by the clock
    seconds: float | None  # the median of active time, to a tenth


class GatheredJudgments:
    """The last revisions of all answers to main items and repeats, read bit by bit.

    ``ranked`` says that answers are rankings or pairs.
    """

    def __init__(self, database: Database, *, ranked: bool = True) -> None:
        self.database, self.ranked = database, ranked
        self._forget()

    def _forget(self) -> None:
        self._rows, self._last = 0, 0
        none = np.zeros((0, MOST_OUTPUTS), np.int8)
        self._answers = _Answers(np.zeros((6, 0), np.int64), none, none)
        self._work = np.zeros((4, 0), np.int64)  # id, judge, active_ms and server_time of all
        self._changed: set[int] | None = None  # sentences; none says all
        self._compared: Comparisons | None = None
        self._blocked: set[int] = set()
        self._names: dict[int, str] = {}
        self._sentence = np.zeros(0, np.int32)  # by item
        self._outputs = np.zeros((0, MOST_OUTPUTS), np.int32)  # by item, in their order
        self._wrote = np.zeros(0, np.int32)  # by output: its place among the sets of systems
        self._systems: tuple[tuple[str, ...], ...] = ()
        self._orders: dict[str, tuple[bytes, int]] = {}
        self._ranks: dict[tuple[str | None, int], bytes] = {}

    def read(self) -> RankingColumns:
        """What is stored now, in the order of time; blocked judges apart."""
        with self.database.reading() as connection:
            people = connection.execute(select(judges.c.id, judges.c.name, judges.c.state)).all()
            names = {row.id: row.name for row in people}
            if self._has_changed(connection, names):
                self._forget()
            self._names = names
            new = []
            for part in raw_rows(connection, _NEW, judgments.c.id, self._last):
                self._rows += len(part)
                self._last = part[-1][0]
                numbers = _numbers(part)
                self._work = np.concatenate((self._work, numbers[[0, 6, 3, 4]]), axis=1)
                if self.ranked:
                    new.append(self._parsed(part, numbers))
                    self._look_up(connection, new[-1].item)
        self._keep(new)
        blocked = {row.id for row in people if row.state == "blocked"}
        if blocked != self._blocked:
            self._blocked, self._changed = blocked, None
        return self._columns()

    def work(self) -> dict[int, Work]:
        """What every judge has done, of those who have done anything."""
        number, judge, ms, time = self._work[:, stable_order(self._work[1])]
        people, starts = np.unique(judge, return_index=True)
        found = {}
        for k, start in enumerate(starts.tolist()):
            own = slice(start, starts[k + 1] if k + 1 < len(starts) else len(judge))
            timed = ms[own][ms[own] >= 0]
            seconds = round(float(np.median(timed / 1000)), 1) if len(timed) else None
            found[int(people[k])] = Work(int(number[own].max()), int(time[own].max()), seconds)
        return found

    def compared(self, found: RankingColumns | None = None) -> Comparisons:
        """`compare_columns` of what was read last (or now): sentences with new answers anew."""
        found = self.read() if found is None else found
        before, changed = self._compared, self._changed
        if before is None or before.sentence is None or changed is None:
            made = compare_columns(found)
        else:
            anew = np.isin(found.sentences, list(changed))[found.sentence]
            stay = ~np.isin(before.sentence, list(changed))
            made = _together(before.select(stay), compare_columns(found.select(anew)), found)
        self._compared, self._changed = made, set()
        return made

    def _has_changed(self, connection: Connection, names: dict[int, str]) -> bool:
        """Whether something is not as it was read: a judge forgotten, or numbers out of order.

        Two transactions of PostgreSQL may end in another order than they took their numbers in.
        """
        held = connection.execute(
            select(func.count()).select_from(judgments).where(judgments.c.id <= self._last)
        ).scalar_one()
        renamed = any(names.get(judge) != name for judge, name in self._names.items())
        return renamed or held != self._rows

    def _parsed(self, rows: Sequence[tuple[Any, ...]], numbers: NDArray[np.int64]) -> _Answers:
        """The answers of rows; each order and each answer that comes again is read once."""
        shown, answers = ([row[k] for row in rows] for k in (7, 8))
        for new in set(shown) - self._orders.keys():
            places = json.loads(new)
            self._orders[new] = _padded(places, -1), len(places)
        orders = [self._orders[each] for each in shown]
        said = [(answer, many) for answer, (_, many) in zip(answers, orders, strict=True)]
        for answer, many in set(said) - self._ranks.keys():
            ranks = () if answer is None else shown_ranks(json.loads(answer), many)
            self._ranks[answer, many] = _padded(ranks, 0)
        wide = (len(rows), MOST_OUTPUTS)
        found = _Answers(
            numbers[1:],
            np.frombuffer(b"".join([order for order, _ in orders]), np.int8).reshape(wide),
            np.frombuffer(b"".join([self._ranks[each] for each in said]), np.int8).reshape(wide),
        )
        if max(len(self._orders), len(self._ranks)) > KNOWN:
            self._orders.clear()
            self._ranks.clear()
        return found

    def _keep(self, new: list[_Answers]) -> None:
        """Put new revisions to main items and repeats to the others, and leave out changed ones."""
        some = [part.select(self._sentence[part.item] >= 0) for part in new]
        if not any(len(part.ranks) for part in some):
            return
        every = (self._answers, *some)
        both = _Answers(
            np.concatenate([part.numbers for part in every], axis=1),
            np.concatenate([part.order for part in every]),
            np.concatenate([part.ranks for part in every]),
        )
        assignment, revision = both.numbers[:2]
        order = np.lexsort((revision, assignment))
        number = assignment[order]
        self._answers = both.select(order[np.append(number[1:] != number[:-1], True)])
        if self._changed is not None:
            for part in some:
                self._changed.update(self._sentence[part.item].tolist())

    def _columns(self) -> RankingColumns:
        held = self._answers
        if self._blocked:
            held = held.select(~np.isin(held.numbers[5], list(self._blocked)))
        held = held.select(stable_order(held.numbers[3]))
        ms, judge = held.numbers[2], held.numbers[5]
        people, who = distinct_numbers(judge)
        sentence, which = distinct_numbers(self._sentence[held.item])
        ranked = held.ranks > 0
        of_item = np.take_along_axis(
            self._outputs[held.item], np.maximum(held.order, 0).astype(np.intp), axis=1
        )
        return RankingColumns(
            tuple(self._names[each] for each in people.tolist()),
            tuple(sentence.tolist()),
            self._systems,
            who.astype(np.int32),
            which.astype(np.int32),
            np.where(ms < 0, np.nan, ms / 1000),
            ranked.sum(axis=1),
            self._wrote[of_item[ranked]],
            held.ranks[ranked],
        )

    def _look_up(self, connection: Connection, wanted: NDArray[np.int64]) -> None:
        """Read the outputs of items, if there are many of all items."""
        most = int(wanted.max(initial=0)) + 1
        if most > len(self._sentence):
            most = connection.execute(select(func.max(items.c.id))).scalar_one() + 1
            more = most - len(self._sentence)
            self._sentence = np.append(self._sentence, np.full(more, UNKNOWN, np.int32))
            empty = np.zeros((more, MOST_OUTPUTS), np.int32)
            self._outputs = np.concatenate((self._outputs, empty))
        new = np.unique(wanted[self._sentence[wanted] == UNKNOWN])
        if not len(new):
            return
        if not self._systems:
            self._read_systems(connection)
        few = new.tolist() if len(new) <= FEW_ITEMS else None
        self._sentence[slice(None) if few is None else few] = CHECK
        only = None if few is None else (items.c.id, few)
        for item, sentence in unpacked(connection, _ITEMS, items.c.id, only=only):
            self._sentence[item] = sentence
        only = None if few is None else (item_outputs.c.item, few)
        for place, output in unpacked(connection, _SHOWN, item_outputs.c.id, only=only):
            self._outputs[np.divmod(place, PLACES)] = output

    def _read_systems(self, connection: Connection) -> None:
        known: dict[str, int] = {}
        most = connection.execute(select(func.max(outputs.c.id))).scalar() or 0
        self._wrote = np.zeros(most + 1, np.int32)
        for part in raw_rows(connection, select(outputs.c.id, outputs.c.systems), outputs.c.id):
            for number, names in part:
                self._wrote[number] = known.setdefault(names, len(known))
        self._systems = tuple(tuple(json.loads(names)) for names in known)


def _numbers(rows: Sequence[tuple[Any, ...]]) -> NDArray[np.int64]:
    """The columns of numbers of `_NEW`."""
    return np.array([[row[k] for row in rows] for k in range(7)], np.int64)


def _together(one: Comparisons, two: Comparisons, found: RankingColumns) -> Comparisons:
    """Comparisons of different sentences as `compare_columns` makes them of all."""
    names = sorted({*one.systems, *two.systems})
    place = {name: k for k, name in enumerate(names)}
    numbers = [np.array([place[name] for name in each.systems], np.int32) for each in (one, two)]

    def column(name: str) -> Any:
        return np.concatenate([getattr(one, name), getattr(two, name)])

    return replace(
        two,
        first=np.concatenate([numbers[0][one.first], numbers[1][two.first]]),
        second=np.concatenate([numbers[0][one.second], numbers[1][two.second]]),
        outcome=column("outcome"),
        weight=column("weight"),
        sentence=column("sentence"),
        systems=tuple(names),
        judges=found.judges,
        rankings=len(found),
    )


def _padded(numbers: Any, rest: int) -> bytes:
    return np.array([*numbers, *[rest] * (MOST_OUTPUTS - len(numbers))], np.int8).tobytes()
