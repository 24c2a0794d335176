"""The tutorial of a judge as it is stored: what was answered, how it stands, what is told of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, func, select

from errata.collect.design import Design
from errata.collect.lessons import (
    Learning,
    learning_after,
    lesson_passed,
    lessons_needed,
    told_after,
)
from errata.web.prose import Block, read_prose
from errata.web.schema import TUTORIAL, assignments, items, judgments
from errata.web.showing import shown_by
from errata.web.wording import said_with

__all__ = ["feedback_on", "learning_of", "lessons_had", "lessons_in"]

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


def lessons_had(connection: Connection, judge: int) -> Sequence[Row[Any]]:
    """The examples that a judge was given, each with its first answer, in their order."""
    return connection.execute(_HAD, {"judge": judge}).all()


def _right(connection: Connection, design: Design, row: Row[Any]) -> bool | None:
    """Whether the first answer was right; an example given back was not."""
    if row.judgment is None:
        return False if row.state == "returned" else None
    shown = shown_by(connection, design, row)
    return lesson_passed(
        design,
        json.loads(row.expected),
        json.loads(row.shown),
        None if row.answer is None else json.loads(row.answer),
        source=shown.source,
        outputs=shown.outputs,
    )


def learning_of(connection: Connection, design: Design, had: Sequence[Row[Any]]) -> Learning:
    """How the tutorial of a judge stands."""
    results = [_right(connection, design, row) for row in had]
    return learning_after(design, lessons_in(connection, design), results)


def feedback_on(
    connection: Connection, design: Design, judge: int, assignment: int, strings: Mapping[str, str]
) -> dict[str, Any] | None:
    """What a judge is told of an example that was answered; None of any other task.

    It is read from what is stored: nothing is told before there is an answer.
    """
    had = lessons_had(connection, judge)
    found = next((row for row in had if row.id == assignment), None)
    if found is None or found.judgment is None:
        return None
    expected = json.loads(found.expected)
    shown = shown_by(connection, design, found)
    told = told_after(
        design, expected, json.loads(found.shown), source=shown.source, outputs=shown.outputs
    )
    blocks = [_paragraph(said_with(strings[key], values)) for key, values in told]
    blocks += read_prose(expected.get("why", ""))
    after = _after(connection, design, had, found, strings)
    return {"passed": _right(connection, design, found), "blocks": [*blocks, *after]}


def _after(
    connection: Connection,
    design: Design,
    had: Sequence[Row[Any]],
    found: Row[Any],
    strings: Mapping[str, str],
) -> list[Block]:
    """What is said after the last example of an attempt that was not passed, if another is left."""
    lessons = lessons_in(connection, design)
    if [row.id for row in had].index(found.id) % lessons != lessons - 1:
        return []
    results = [_right(connection, design, row) for row in had]
    learning = learning_after(design, lessons, results)
    if learning.state != "todo" or learning.done:
        return []
    values = {
        "right": results[-lessons:].count(True),
        "needed": lessons_needed(design, lessons),
        "lessons": lessons,
    }
    return [_paragraph(said_with(strings["feedback.again"], values))]


def _paragraph(words: str) -> Block:
    """Words as they are: what a text contains is no markup."""
    return {"kind": "p", "inline": [["text", words]]}
