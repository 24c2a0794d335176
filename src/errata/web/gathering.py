"""The rankings and pairs of a campaign, held between one look and the next.

They are those of `errata.web.exports.judgments_in`. Judgments are never updated: a look reads what
was stored since the last one. What takes long the first time, the outputs of the items, is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from errata.collect.readings import item_name, shown_ranks
from errata.data import Judgment
from errata.human.comparisons import Comparisons, compare
from errata.web.clock import iso_time
from errata.web.database import Database
from errata.web.schema import (
    assignments,
    item_outputs,
    items,
    judges,
    judgments,
    outputs,
    sentences,
)

__all__ = ["GatheredJudgments"]

BATCH_ROWS = 5_000
FEW_ITEMS = 500  # that are asked for by number; more are read all together
KNOWN = 50_000  # answers that are kept looked up
_Groups = tuple[tuple[str, ...], ...]
_Shown = tuple[int, int | None, _Groups]  # sentence, origin and outputs of an item

_NEW = (
    select(
        judgments.c.id,
        judgments.c.assignment,
        judgments.c.revision,
        judgments.c.answer,
        judgments.c.skip,
        judgments.c.active_ms,
        judgments.c.server_time,
        assignments.c.item,
        assignments.c.judge,
        assignments.c.shown,
    )
    .join(assignments, assignments.c.id == judgments.c.assignment)
    .order_by(judgments.c.id)
)
_ITEMS = (
    select(items.c.id, sentences.c.number, items.c.origin)
    .join(sentences, sentences.c.id == items.c.sentence)
    .where(items.c.purpose.in_(("main", "repeat")))
)
_SHOWN = select(item_outputs.c.item, item_outputs.c.output).order_by(
    item_outputs.c.item, item_outputs.c.position
)


class GatheredJudgments:
    """The last revisions of all answers to main items and repeats, read bit by bit."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._forget()

    def _forget(self) -> None:
        self._rows, self._last = 0, 0
        self._changed: set[int] | None = None  # sentences; none says all
        self._blocked: set[int] = set()
        self._compared: Comparisons | None = None
        self._names: dict[int, str] = {}
        self._kept: dict[int, tuple[int, int, Judgment]] = {}  # revision, judge, what was said
        self._items: dict[int, _Shown | None] = {}  # none of a check
        self._systems: dict[int, tuple[str, ...]] = {}
        self._orders: dict[str, tuple[int, ...]] = {}
        self._answers: dict[tuple[str, int], tuple[int, ...]] = {}

    def read(self) -> list[Judgment]:
        """What is stored now, in the order in which it was given out; blocked judges apart."""
        with self.database.reading() as connection:
            people = connection.execute(select(judges.c.id, judges.c.name, judges.c.state)).all()
            if self._has_changed(connection, {row.id: row.name for row in people}):
                self._forget()
            self._names = {row.id: row.name for row in people}
            rows = connection.execute(
                _NEW.where(judgments.c.id > self._last), execution_options={"yield_per": BATCH_ROWS}
            )
            for part in rows.partitions(BATCH_ROWS):
                self._look_up(connection, {row.item for row in part} - self._items.keys())
                for row in part:
                    self._keep(*tuple(row))
        blocked = {row.id for row in people if row.state == "blocked"}
        if blocked != self._blocked:
            self._blocked, self._changed = blocked, None
        kept = (self._kept[number] for number in sorted(self._kept))
        return [judgment for _, judge, judgment in kept if judge not in blocked]

    def compared(self, found: Sequence[Judgment]) -> Comparisons:
        """`compare` of what was read last, by sentence: only sentences with new answers anew."""
        before, changed = self._compared, self._changed
        if before is None or before.sentence is None or changed is None:
            made = compare(found, keep="sentences")
        else:
            new = compare((j for j in found if j.sentence in changed), keep="sentences")
            stay = ~np.isin(before.sentence, list(changed))
            made = _together(before.select(stay), new, found)
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

    def _keep(
        self,
        number: int,
        assignment: int,
        revision: int,
        answer: str | None,
        skip: str | None,
        active_ms: int | None,
        server_time: int,
        item: int,
        judge: int,
        shown: str,
    ) -> None:
        self._rows += 1
        self._last = number
        known = self._items.get(item)
        before = self._kept.get(assignment)
        if known is None or (before is not None and before[0] > revision):
            return  # a check, or what has been changed since
        sentence, origin, groups = known
        order = self._orders.get(shown)
        if order is None:
            order = self._orders[shown] = tuple(json.loads(shown))
        ranks: tuple[int | None, ...] = (None,) * len(order)
        if skip is None and answer is not None:
            ranks = self._ranks(answer, len(order))
        said = Judgment(
            self._names[judge],
            sentence,
            tuple([groups[place] for place in order]),
            ranks,
            item_name(sentence, item, origin),
            None if active_ms is None else active_ms / 1000,
            iso_time(server_time),
        )
        self._kept[assignment] = revision, judge, said
        if self._changed is not None:
            self._changed.add(sentence)

    def _ranks(self, answer: str, many: int) -> tuple[int, ...]:
        found = self._answers.get((answer, many))
        if found is None:
            if len(self._answers) >= KNOWN:
                self._answers.clear()
            found = self._answers[answer, many] = shown_ranks(json.loads(answer), many)
        return found

    def _look_up(self, connection: Connection, wanted: Iterable[int]) -> None:
        """Read the outputs of items, if there are many of all items."""
        new = sorted(wanted)
        if not new:
            return
        some, shown = _ITEMS, _SHOWN
        if len(new) <= FEW_ITEMS:
            some = some.where(items.c.id.in_(new))
            shown = shown.where(item_outputs.c.item.in_(new))
        if not self._systems:
            for number, names in connection.execute(select(outputs.c.id, outputs.c.systems)):
                self._systems[number] = tuple(json.loads(names))
        self._items.update(dict.fromkeys(new))
        groups: dict[int, list[tuple[str, ...]]] = {}
        for item, output in connection.execute(shown):
            groups.setdefault(item, []).append(self._systems[output])
        for item, sentence, origin in connection.execute(some):
            self._items[item] = sentence, origin, tuple(groups.get(item, ()))


def _together(one: Comparisons, two: Comparisons, found: Sequence[Judgment]) -> Comparisons:
    """Comparisons of different sentences as `compare` makes them of all; weights are whole."""
    names = sorted({*one.systems, *two.systems})
    place = {name: k for k, name in enumerate(names)}
    parts = []
    for each in (one, two):
        number = np.array([place[name] for name in each.systems], np.int32)
        parts.append((number[each.first], number[each.second], each))

    def column(name: str) -> Any:
        return np.concatenate([getattr(each, name) for *_, each in parts])

    return replace(
        two,
        first=np.concatenate([first for first, _, _ in parts]),
        second=np.concatenate([second for _, second, _ in parts]),
        outcome=column("outcome"),
        weight=column("weight"),
        sentence=column("sentence"),
        systems=tuple(names),
        judges=tuple(dict.fromkeys(judgment.judge for judgment in found)),
        rankings=len(found),  # an item is a judge's once, so that none is written in parts
    )
