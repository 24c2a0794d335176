"""Giving tasks, and taking them back: assignments, leases and ``given``, in a transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import BindParameter, Connection, Row, bindparam, func, or_, select, update
from sqlalchemy.exc import IntegrityError

from errata.collect.assigning import Giving, JudgeView
from errata.collect.design import Design
from errata.collect.tasks import letters_of
from errata.errors import ErrataError
from errata.web.learning import learning_of, lessons_had, lessons_in
from errata.web.schema import assignments, item_outputs, items, outputs

__all__ = [
    "expire_leases",
    "free_assignment",
    "free_leases_of",
    "give_item",
    "renew_lease",
    "repeat_item",
    "tasks_of",
    "view_of",
]

TaskCounts = Mapping[tuple[str, str], int]
EXPIRED_AT_ONCE = 200  # leases that one claim ends
JUDGE: BindParameter[int] = bindparam("judge")
ITEM: BindParameter[int] = bindparam("of_item")
ASSIGNMENT: BindParameter[int] = bindparam("of_assignment")
_COUNTS = (
    select(items.c.purpose, assignments.c.state, func.count())
    .select_from(assignments.join(items, items.c.id == assignments.c.item))
    .where(assignments.c.judge == JUDGE, assignments.c.state != "returned")
    .group_by(items.c.purpose, assignments.c.state)
)
_TAKE = (
    update(items)
    .where(items.c.id == ITEM, or_(items.c.wanted.is_(None), items.c.given < items.c.wanted))
    .values(given=items.c.given + 1, freed=None)
)
_OVERDUE = (
    select(assignments.c.id, assignments.c.item)
    .where(assignments.c.state == "open", assignments.c.expires < bindparam("now"))
    .order_by(assignments.c.expires)
    .limit(EXPIRED_AT_ONCE)
    .with_for_update(skip_locked=True)
)
_MOVE = update(assignments).where(assignments.c.id == ASSIGNMENT).values(state=bindparam("to"))
_FREE = (
    update(items).where(items.c.id == ITEM).values(given=items.c.given - 1, freed=bindparam("now"))
)
_REOPEN = (
    update(assignments)
    .where(assignments.c.id == ASSIGNMENT, assignments.c.state == "expired")
    .values(state="open")
)
_COUNT_AGAIN = (
    update(items)
    .where(
        items.c.id
        == select(assignments.c.item).where(assignments.c.id == ASSIGNMENT).scalar_subquery()
    )
    .values(given=items.c.given + 1, freed=None)
)
_LONGER = (
    update(assignments)
    .where(assignments.c.id == ASSIGNMENT, assignments.c.state == "open")
    .values(expires=bindparam("until"))
)
_INSERT = assignments.insert()


def tasks_of(connection: Connection, judge: int) -> TaskCounts:
    """How many tasks a judge has or had, by purpose and state; those given back apart."""
    rows = connection.execute(_COUNTS, {"judge": judge})
    return {(purpose, state): many for purpose, state, many in rows}


def view_of(
    connection: Connection, design: Design, row: Row[Any], counts: TaskCounts | None = None
) -> JudgeView:
    """What a claim knows of its judge; ``counts`` are those of `tasks_of`, where they are known."""
    counts = tasks_of(connection, row.id) if counts is None else counts
    given = sum(many for (purpose, _), many in counts.items() if purpose != "tutorial")
    lesson: Literal["todo", "passed", "failed"] = "passed"
    if given <= 0 and lessons_in(connection, design):  # whoever has other tasks has passed
        lesson = learning_of(connection, design, lessons_had(connection, row.id)).state
    return JudgeView(
        row.id,
        row.name,
        row.state,
        design.quota if row.quota is None else row.quota,
        given,
        sum(many for (_, state), many in counts.items() if state == "open"),
        lesson,
    )


def give_item(connection: Connection, judge: int, giving: Giving, now: int, design: Design) -> int:
    """Carry a decision out: insert the assignment, move ``given``; the assignment's number."""
    item = giving.item
    if giving.purpose == "repeat":
        item = repeat_item(connection, item)
    if giving.chosen:
        _choose(connection, item, giving.chosen)
    if connection.execute(_TAKE, {"of_item": item}).rowcount != 1:
        raise IntegrityError("the item was given to somebody else", None, ErrataError("race"))
    made = connection.execute(
        _INSERT,
        {
            "item": item,
            "judge": judge,
            "shown": json.dumps(giving.order),
            "letters": "".join(letters_of(len(giving.order))),
            "opened": now,
            "expires": now + design.lease * 1000,
        },
    )
    assert made.inserted_primary_key is not None
    return int(made.inserted_primary_key[0])


def repeat_item(connection: Connection, origin: int) -> int:
    """A new item with the outputs of another, for the same judge."""
    row = connection.execute(select(items).where(items.c.id == origin)).one()
    made = connection.execute(
        items.insert().values(
            sentence=row.sentence, purpose="repeat", policy=row.policy, wanted=1, origin=origin
        )
    )
    assert made.inserted_primary_key is not None
    item = int(made.inserted_primary_key[0])
    shown = select(
        item_outputs.c.position, item_outputs.c.output, item_outputs.c.replacement
    ).where(item_outputs.c.item == origin)
    rows = [{**each._mapping, "item": item} for each in connection.execute(shown)]
    if rows:
        connection.execute(item_outputs.insert(), rows)
    return item


def _choose(connection: Connection, item: int, chosen: Sequence[int]) -> None:
    """The outputs of an item, chosen as it is given."""
    sentence = select(items.c.sentence).where(items.c.id == item).scalar_subquery()
    known = list(
        connection.execute(
            select(outputs.c.id).where(outputs.c.sentence == sentence).order_by(outputs.c.id)
        ).scalars()
    )
    connection.execute(
        item_outputs.insert(),
        [
            {"item": item, "position": place, "output": known[k], "replacement": ""}
            for place, k in enumerate(chosen)
        ],
    )


def renew_lease(connection: Connection, assignment: int, now: int, design: Design) -> int:
    """Longer by a whole lease; what had expired is open again, and counted again."""
    if connection.execute(_REOPEN, {"of_assignment": assignment}).rowcount:
        connection.execute(_COUNT_AGAIN, {"of_assignment": assignment})
    until = now + design.lease * 1000
    connection.execute(_LONGER, {"of_assignment": assignment, "until": until})
    return until


def expire_leases(connection: Connection, now: int) -> int:
    """End leases without a sign of life; their items go to others."""
    rows = connection.execute(_OVERDUE, {"now": now}).all()
    for row in rows:
        free_assignment(connection, row.id, row.item, "expired", now)
    return len(rows)


def free_assignment(
    connection: Connection, assignment: int, item: int, state: str, now: int
) -> None:
    """Take an open assignment from its judge: expired or returned."""
    connection.execute(_MOVE, {"of_assignment": assignment, "to": state})
    connection.execute(_FREE, {"of_item": item, "now": now})


def free_leases_of(connection: Connection, judge: int, now: int) -> None:
    """Take from a judge whatever is open: it goes to others at once."""
    mine = select(assignments.c.item).where(
        assignments.c.judge == judge, assignments.c.state == "open"
    )
    connection.execute(
        update(items).where(items.c.id.in_(mine)).values(given=items.c.given - 1, freed=now)
    )
    connection.execute(
        update(assignments)
        .where(assignments.c.judge == judge, assignments.c.state == "open")
        .values(state="returned")
    )
