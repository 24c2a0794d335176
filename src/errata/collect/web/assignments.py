"""Assignments and leases, task views, tutorial state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import BindParameter, Connection, Row, and_, bindparam, func, or_, select, update
from sqlalchemy.exc import IntegrityError

from errata.collect.assignment import Assign, JudgeView
from errata.collect.design import Design
from errata.collect.items import TaskView, letters_of
from errata.collect.qualification import ShownCheck, TutorialState, lessons_needed, tutorial_state
from errata.collect.web.i18n import Block, format_text, parse_markdown
from errata.collect.web.schema import (
    TUTORIAL,
    assignments,
    item_outputs,
    items,
    judgments,
    outputs,
    sentences,
)
from errata.core.errors import ErrataError

# ---- What an assignment shows, read from the database.

# A row for each output, the sentence in all of them; one row without an output where none is shown.
_SHOWN = (
    select(
        sentences.c.campaign,
        sentences.c.number,
        sentences.c.document,
        sentences.c.text.label("source"),
        sentences.c.reference,
        items.c.policy,
        item_outputs.c.replacement,
        outputs.c.text,
    )
    .join(items, items.c.sentence == sentences.c.id)
    .outerjoin(item_outputs, item_outputs.c.item == items.c.id)
    .outerjoin(outputs, outputs.c.id == item_outputs.c.output)
    .where(items.c.id == bindparam("item"))
    .order_by(item_outputs.c.position)
)
_NEAR = (
    select(sentences.c.number, sentences.c.text)
    .where(
        sentences.c.campaign == bindparam("campaign"),
        sentences.c.number.between(bindparam("first"), bindparam("last")),
        sentences.c.document == bindparam("document"),
    )
    .order_by(sentences.c.number)
)


def task_view(connection: Connection, design: Design, row: Row[Any]) -> TaskView:
    """The texts of an assignment, outputs in the order shown; ``row`` has its item and order.

    Context is shown where documents are known, and only within one.
    """
    texts = connection.execute(_SHOWN, {"item": row.item}).all()
    sentence = texts[0]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    if sentence.document and design.context:
        near = connection.execute(
            _NEAR,
            {
                "campaign": sentence.campaign,
                "first": sentence.number - design.context,
                "last": sentence.number + design.context,
                "document": sentence.document,
            },
        ).all()
        before = tuple(each.text for each in near if each.number < sentence.number)
        after = tuple(each.text for each in near if each.number > sentence.number)
    shown = (texts[place] for place in row.shown)
    return TaskView(
        sentence.source,
        tuple(each.replacement or each.text for each in shown),
        before,
        after,
        sentence.policy if design.kind == "correct" else "",
        sentence.reference,
    )


# ---- The tutorial of a judge: answers, state, and feedback.

_MANY = select(func.count()).select_from(items).where(TUTORIAL)
_HAD = (
    select(assignments, items.c.expected, judgments.c.id.label("judgment"), judgments.c.answer)
    .join(items, items.c.id == assignments.c.item)
    .outerjoin(
        judgments, and_(judgments.c.assignment == assignments.c.id, judgments.c.revision == 1)
    )
    .where(assignments.c.judge == bindparam("judge"), items.c.purpose == "tutorial")
    .order_by(assignments.c.item)
)


def lessons_in(connection: Connection, design: Design) -> int:
    """How many examples an attempt at the tutorial has; 0 without one."""
    return int(connection.execute(_MANY).scalar_one()) // design.tutorial_attempts


def completed_lessons(connection: Connection, judge: int) -> Sequence[Row[Any]]:
    """The examples that a judge was given, each with its first answer, in their order."""
    return connection.execute(_HAD, {"judge": judge}).all()


def shown_check(connection: Connection, design: Design, row: Row[Any]) -> ShownCheck:
    """A control or an example as its judge saw it; ``row`` is the assignment with its item."""
    shown = task_view(connection, design, row)
    return ShownCheck(design, row.expected, row.shown, shown.source, shown.outputs)


def _first_answer_right(connection: Connection, design: Design, row: Row[Any]) -> bool | None:
    """Whether the first answer was right; an example given back was not."""
    if row.judgment is None:
        return False if row.state == "returned" else None
    return shown_check(connection, design, row).lesson_passed(row.answer)


def learning_of(connection: Connection, design: Design, had: Sequence[Row[Any]]) -> TutorialState:
    """How the tutorial of a judge stands."""
    results = [_first_answer_right(connection, design, row) for row in had]
    return tutorial_state(design, lessons_in(connection, design), results)


def feedback_on(
    connection: Connection, design: Design, judge: int, assignment: int, strings: Mapping[str, str]
) -> dict[str, Any] | None:
    """Return the feedback on an example that was answered; None for any other task.

    It is read from the database, so there is no feedback before there is an answer.
    """
    had = completed_lessons(connection, judge)
    found = next((row for row in had if row.id == assignment), None)
    if found is None or found.judgment is None:
        return None
    feedback = shown_check(connection, design, found).feedback()
    blocks = [_plain_paragraph(format_text(strings[key], values)) for key, values in feedback]
    blocks += parse_markdown(found.expected.get("why", ""))
    after = _note_after_failed_tutorial(connection, design, had, found, strings)
    return {"passed": _first_answer_right(connection, design, found), "blocks": [*blocks, *after]}


def _note_after_failed_tutorial(
    connection: Connection,
    design: Design,
    had: Sequence[Row[Any]],
    found: Row[Any],
    strings: Mapping[str, str],
) -> list[Block]:
    """Return the note after the last example of a failed attempt, if another attempt is left."""
    lessons = lessons_in(connection, design)
    if [row.id for row in had].index(found.id) % lessons != lessons - 1:
        return []
    results = [_first_answer_right(connection, design, row) for row in had]
    learning = tutorial_state(design, lessons, results)
    if learning.state != "todo" or learning.done:
        return []
    values = {
        "right": results[-lessons:].count(True),
        "needed": lessons_needed(design, lessons),
        "lessons": lessons,
    }
    return [_plain_paragraph(format_text(strings["feedback.again"], values))]


def _plain_paragraph(words: str) -> Block:
    """Words as they are: what a text contains is no markup."""
    return {"kind": "p", "inline": [["text", words]]}


TaskCounts = Mapping[tuple[str, str], int]
EXPIRED_AT_ONCE = 200  # leases that one claim ends
JUDGE: BindParameter[int] = bindparam("judge")
ITEM: BindParameter[int] = bindparam("of_item")
ASSIGNMENT: BindParameter[int] = bindparam("of_assignment")
_COUNTS = (
    select(items.c.purpose, assignments.c.state, func.count())
    .select_from(assignments.join(items))
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
    """Return what a claim knows of its judge; ``counts`` is the result of `tasks_of`, if known."""
    counts = tasks_of(connection, row.id) if counts is None else counts
    given = sum(many for (purpose, _), many in counts.items() if purpose != "tutorial")
    lesson: Literal["todo", "passed", "failed"] = "passed"
    if given <= 0 and lessons_in(connection, design):  # a judge with other tasks has passed
        lesson = learning_of(connection, design, completed_lessons(connection, row.id)).state
    return JudgeView(
        row.id,
        row.name,
        row.state,
        design.quota if row.quota is None else row.quota,
        given,
        sum(many for (_, state), many in counts.items() if state == "open"),
        lesson,
    )


def give_item(connection: Connection, judge: int, giving: Assign, now: int, design: Design) -> int:
    """Carry a decision out: insert the assignment, move ``given``; the assignment's number."""
    item = giving.item
    if giving.purpose == "repeat":
        item = repeat_item(connection, item)
    if giving.chosen:
        _store_chosen_outputs(connection, item, giving.chosen)
    if connection.execute(_TAKE, {"of_item": item}).rowcount != 1:
        raise IntegrityError("the item was given to somebody else", None, ErrataError("race"))
    made = connection.execute(
        _INSERT,
        {
            "item": item,
            "judge": judge,
            "shown": giving.order,
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


def _store_chosen_outputs(connection: Connection, item: int, chosen: Sequence[int]) -> None:
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
        release_assignment(connection, row.id, row.item, "expired", now)
    return len(rows)


def release_assignment(
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
