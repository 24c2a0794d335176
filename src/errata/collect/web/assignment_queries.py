"""SQL behind claims, and progress.

Every statement is bounded: by an index over what is still to be given, by a judge's own tasks, or
by a limit. Statements are built once, since building takes longer than running them. Rows that a
claim may take are locked where the database can (``SKIP LOCKED``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    TextClause,
    and_,
    bindparam,
    func,
    or_,
    select,
)

from errata.collect.assignment import Candidate, CandidateSource
from errata.collect.design import Design
from errata.collect.web.schema import (
    BEGUN,
    CONTROL,
    FREED,
    FRESH,
    TUTORIAL,
    assignments,
    campaigns,
    item_outputs,
    items,
    judges,
    outputs,
    writers,
)

JUDGE: BindParameter[int] = bindparam("judge")
_MOST_SHARED = 1000  # of a judge's last tasks, looked at for what others have in common
_WAITING: dict[str, TextClause] = {
    "fresh": FRESH,
    "begun": BEGUN,
    "freed": FREED,
    "control": CONTROL,
    "tutorial": TUTORIAL,
}
_ORDER: dict[str, Any] = {"freed": items.c.freed, "control": items.c.given}
_GIVEN = select(func.coalesce(func.sum(items.c.given), 0)).where(items.c.purpose == "main")
_MANY = (
    select(func.count())
    .where(item_outputs.c.item == items.c.id)
    .correlate(items)
    .scalar_subquery()
    .label("outputs")
)
_SYSTEMS = (
    select(outputs.c.systems)
    .where(outputs.c.sentence == bindparam("sentence"))
    .order_by(outputs.c.id)
)
_HELD = (
    select(assignments.c.id, assignments.c.state)
    .join(items, items.c.id == assignments.c.item)
    .where(
        assignments.c.judge == JUDGE,
        assignments.c.state.in_(("open", "expired")),
        or_(
            assignments.c.state == "open",
            and_(
                or_(items.c.wanted.is_(None), items.c.given < items.c.wanted),
                items.c.parked.is_(False),
            ),
        ),
    )
    .order_by(assignments.c.id)
)
_JUDGES = select(assignments.c.item, assignments.c.judge).where(
    assignments.c.item.in_(bindparam("items", expanding=True))
)


@cache
def _shared_items() -> Select[Any]:
    mine, theirs = assignments.alias("mine"), assignments.alias("theirs")
    own = (
        select(mine.c.item)
        .where(mine.c.judge == JUDGE)
        .order_by(mine.c.id.desc())
        .limit(_MOST_SHARED)
        .subquery()
    )
    return (
        select(theirs.c.judge, func.count().label("many"))
        .join(own, own.c.item == theirs.c.item)
        .join(items, items.c.id == theirs.c.item)
        .where(theirs.c.judge != JUDGE, items.c.purpose == "main")
        .group_by(theirs.c.judge)
    )


@cache
def _repeatable() -> Select[Any]:
    counted = (
        select(assignments.c.id)
        .join(items, items.c.id == assignments.c.item)
        .where(
            assignments.c.judge == JUDGE,
            assignments.c.state != "returned",
            items.c.purpose != "tutorial",
        )
        .order_by(assignments.c.id.desc())
        .offset(bindparam("before"))
        .limit(1)
        .scalar_subquery()
    )
    again, mine = items.alias("again"), assignments.alias("mine")
    return (
        select(items.c.id, items.c.sentence, _MANY)
        .join(assignments, assignments.c.item == items.c.id)
        .where(
            assignments.c.judge == JUDGE,
            assignments.c.state == "done",
            items.c.purpose == "main",
            assignments.c.id <= counted,
            ~select(again.c.id)
            .join(mine, mine.c.item == again.c.id)
            .where(again.c.origin == items.c.id, mine.c.judge == JUDGE)
            .exists(),
        )
        .order_by(assignments.c.id)
        .limit(1)
    )


def not_written_by(name: Any) -> ColumnElement[bool]:
    """That none of the outputs of an item was written by a judge of this name."""
    return ~(
        select(writers.c.id)
        .join(item_outputs, item_outputs.c.output == writers.c.output)
        .where(item_outputs.c.item == items.c.id, writers.c.name == name)
        .correlate(items)
        .exists()
    )


@cache
def _select_waiting_items(source: str, other_outputs: bool, review: bool) -> Select[Any]:
    """Items that wait and that a judge has not met: ``:judge``, ``:name``, ``:limit``."""
    query = select(items.c.id, items.c.sentence, _MANY).where(_WAITING[source])
    if review:  # nobody reviews a text of his own
        query = query.where(not_written_by(bindparam("name")))
    if other_outputs:  # the sentence may come again, its outputs not
        here, there = item_outputs.alias("here"), item_outputs.alias("there")
        shown = (
            select(there.c.output)
            .join(assignments, assignments.c.item == there.c.item)
            .where(assignments.c.judge == JUDGE)
        )
        had = select(assignments.c.item).where(assignments.c.judge == JUDGE)
        again = select(here.c.id).where(here.c.item == items.c.id, here.c.output.in_(shown))
        query = query.where(items.c.id.not_in(had), ~again.exists())
    else:
        seen = items.alias("seen")
        query = query.where(
            items.c.sentence.not_in(
                select(seen.c.sentence)
                .join(assignments, assignments.c.item == seen.c.id)
                .where(assignments.c.judge == JUDGE)
            )
        )
    first = [_ORDER[source]] if source in _ORDER else []
    query = query.order_by(*first, items.c.id).limit(bindparam("limit"))
    return query if source == "tutorial" else query.with_for_update(of=items, skip_locked=True)


class SqlReader:
    """Reads what `assign` asks for within one transaction."""

    def __init__(
        self,
        connection: Connection,
        design: Design,
        systems: Sequence[str],
        state: str,
        judge: str,
        budget: int | None = None,
    ) -> None:
        self.connection, self.design, self.state = connection, design, state
        self.budget = budget
        self._name, self._systems = judge, systems

    def campaign_state(self) -> str:
        return self.state

    def judgments_left(self) -> int | None:
        if self.budget is None:
            return None
        return self.budget - int(self.connection.execute(_GIVEN).scalar_one())

    def held(self, judge: int) -> Sequence[int]:
        """Open assignments; then own expired ones that are still wanted, nobody else having them.

        An item is given to a judge once, so what expired can only be taken up again.
        """
        rows = self.connection.execute(_HELD, {"judge": judge}).all()
        return [row.id for row in sorted(rows, key=lambda row: row.state != "open")]

    def tutorial(self, judge: int) -> Candidate | None:
        return self._first_candidate(self._candidate_rows(judge, "tutorial", 1))

    def control(self, judge: int) -> Candidate | None:
        return self._first_candidate(self._candidate_rows(judge, "control", 1))

    def repeatable(self, judge: int, distance: int) -> Candidate | None:
        given = {"judge": judge, "before": distance - 1}
        return self._first_candidate(self.connection.execute(_repeatable(), given).all())

    def candidates(self, judge: int, source: CandidateSource, limit: int) -> Sequence[Candidate]:
        rows = self._candidate_rows(judge, source, limit)
        if source != "begun":
            return [self._with_outputs(row) for row in rows]
        judges: dict[int, list[int]] = {}
        for row in self.connection.execute(_JUDGES, {"items": [row.id for row in rows]}):
            judges.setdefault(row.item, []).append(row.judge)
        return [Candidate(row.id, row.outputs, tuple(judges.get(row.id, ()))) for row in rows]

    def shared(self, judge: int) -> Mapping[int, int]:
        rows = self.connection.execute(_shared_items(), {"judge": judge})
        return {row.judge: row.many for row in rows}

    def _candidate_rows(self, judge: int, source: str, limit: int) -> Sequence[Any]:
        review = self.design.kind == "review"
        given: dict[str, Any] = {"judge": judge, "limit": limit}
        if review:
            given["name"] = self._name
        query = _select_waiting_items(source, bool(self.design.other_outputs), review)
        return self.connection.execute(query, given).all()

    def _first_candidate(self, rows: Sequence[Any]) -> Candidate | None:
        return self._with_outputs(rows[0]) if rows else None

    def _with_outputs(self, row: Any) -> Candidate:
        groups: tuple[tuple[int, ...], ...] = ()
        if not row.outputs and self.design.policy == "adaptive":
            number = {name: k for k, name in enumerate(self._systems)}
            rows = self.connection.execute(_SYSTEMS, {"sentence": row.sentence})
            groups = tuple(tuple(number[name] for name in each.systems) for each in rows)
        return Candidate(row.id, row.outputs, (), groups)


# ---- How much of a campaign is done: its main judgments, checks and tutorials left aside.

_WANTED = select(func.coalesce(func.sum(items.c.wanted), 0)).where(items.c.purpose == "main")
_ANSWERS = (
    select(func.count())
    .select_from(assignments.join(items))
    .where(items.c.purpose == "main", assignments.c.state == bindparam("state"))
)


def most_for_one(connection: Connection, design: Design, name: str = "") -> int:
    """How many tasks one judge can have at most, checks among them: each sentence comes once.

    Where a judge may see other outputs of a sentence, each item does. Of reviews those are left out
    whose texts the judge of this name wrote.
    """
    what = items.c.id if design.other_outputs else items.c.sentence
    query = select(func.count(what.distinct())).where(items.c.purpose == "main")
    if design.kind == "review":
        query = query.where(not_written_by(name))
    main = int(connection.execute(query).scalar_one())
    return round(main / (1 - design.repeats - design.control_share))


def may_come_back(connection: Connection, design: Design, judge: int) -> bool:
    """Whether others hold a task that a judge for whom nothing is left could still get."""
    mine = assignments.join(items)
    what = items.c.id if design.other_outputs else items.c.sentence
    had = select(what).select_from(mine).where(assignments.c.judge == judge)
    query = (
        select(assignments.c.id)
        .select_from(mine)
        .where(
            assignments.c.state == "open",
            assignments.c.judge != judge,
            items.c.purpose == "main",
            what.not_in(had),
        )
        .limit(1)
    )
    if design.kind == "review":
        own = select(judges.c.name).where(judges.c.id == judge).scalar_subquery()
        query = query.where(not_written_by(own))
    return connection.execute(query).first() is not None


def without_reviewers(connection: Connection) -> int:
    """How many reviews nobody can give: all judges who are there wrote the text, or had it.

    Who let a task expire can have it again.
    """
    there = select(judges).where(judges.c.state == "active").subquery()
    people = connection.execute(select(func.count()).select_from(there)).scalar_one()
    # Counted for all items at once. The name is taken by itself, for else SQLite would look every
    # judge up in the index of every output.
    wrote = (
        select(item_outputs.c.item, func.count().label("many"))
        .join(writers, writers.c.output == item_outputs.c.output)
        .where(func.coalesce(writers.c.name, "").in_(select(there.c.name)))
        .group_by(item_outputs.c.item)
        .subquery()
    )
    had = (
        select(assignments.c.item, func.count().label("many"))
        .where(assignments.c.judge.in_(select(there.c.id)), assignments.c.state != "expired")
        .group_by(assignments.c.item)
        .subquery()
    )
    left = people - wrote.c.many - func.coalesce(had.c.many, 0)
    lacking = items.c.wanted - items.c.given - left
    query = (
        select(func.sum(lacking))
        .join(wrote, wrote.c.item == items.c.id)
        .outerjoin(had, had.c.item == items.c.id)
        .where(
            items.c.purpose == "main",
            items.c.parked.is_(False),
            items.c.given < items.c.wanted,
            lacking > 0,
        )
    )
    return int(connection.execute(query).scalar() or 0)


def required_judgments(connection: Connection) -> int:
    """How many judgments all main items want together."""
    return int(connection.execute(_WANTED).scalar_one())


def planned_judgments(connection: Connection) -> int:
    """How many main judgments the campaign is to have: what its items want, within its budget."""
    wanted = required_judgments(connection)
    budget = connection.execute(select(campaigns.c.budget)).scalar_one()
    return wanted if budget is None else min(wanted, int(budget))


def main_answers(connection: Connection, state: Literal["done", "skipped"] = "done") -> int:
    """How many of them were given, or skipped."""
    return int(connection.execute(_ANSWERS, {"state": state}).scalar_one())
