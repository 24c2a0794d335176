"""Storing answers: revisions, what they do to the item, and what controls say of the judge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from sqlalchemy import BindParameter, Connection, Row, bindparam, func, select, update

from errata.collect.answers import AnswerError, CheckedReply, checked_reply, content_digest
from errata.collect.checks import control_passed, rule_blocks
from errata.collect.design import Design
from errata.collect.tasks import Shown
from errata.web.events import record
from errata.web.giving import free_leases_of
from errata.web.schema import assignments, items, judges, judgments
from errata.web.showing import shown_by

__all__ = ["Receipt", "SentAnswer", "controls_of", "insert_answer", "stored_answer", "usual_scores"]

SKIPS_TO_PARK = 3
LONGEST_TIME = 40  # characters of what a page calls the time
USUAL = 200  # answers of a judge by which his usual scores are known
ASSIGNMENT: BindParameter[int] = bindparam("of_assignment")
_REVISION = select(judgments).where(
    judgments.c.assignment == ASSIGNMENT, judgments.c.revision == bindparam("revision")
)
_ITEM = select(items).where(items.c.id == bindparam("item")).with_for_update()
_SETTLE = (
    update(assignments)
    .where(assignments.c.id == ASSIGNMENT)
    .values(state=bindparam("to"), late=bindparam("is_late"), expires=bindparam("now"))
)
_INSERT = judgments.insert()


class SentAnswer(NamedTuple):
    """What the page sends of an answer, unchecked; times are milliseconds."""

    revision: Any
    answer: Any = None
    skip: Any = None
    comment: Any = ""
    active_ms: Any = None
    total_ms: Any = None
    client_time: Any = None
    display: Mapping[str, Any] | None = None


class Receipt(NamedTuple):
    """201 stored, 200 the same again, 409 another content (``stored`` says which)."""

    status: Literal[200, 201, 409]
    stored: dict[str, Any]


def stored_answer(row: Row[Any]) -> dict[str, Any]:
    """A stored revision as the API shows it."""
    return {
        "revision": row.revision,
        "answer": None if row.answer is None else json.loads(row.answer),
        "skip": row.skip,
        "comment": row.comment,
    }


def insert_answer(
    connection: Connection,
    design: Design,
    row: Row[Any],
    shown: Shown,
    sent: SentAnswer,
    *,
    now: int,
    wall: int,
    closed: bool,
) -> Receipt | None:
    """Check and store a revision of an assignment; None where the campaign is closed.

    ``row`` is of the assignment, with the ``last`` revision that is stored.

    What is stored already is answered also then, so that a retry is always told.
    """
    revision = sent.revision
    if type(revision) is not int or not 1 <= revision < 1_000_000:
        raise AnswerError("no revision", "revision", "count from 1")
    reply = checked_reply(design, shown, sent.answer, sent.skip, sent.comment)
    digest = content_digest(reply.answer, reply.skip, reply.comment)
    last = row.last or 0
    if revision <= last:
        given = {"of_assignment": row.id, "revision": revision}
        known = connection.execute(_REVISION, given).first()
        assert known is not None, "revisions are counted from 1"
        return Receipt(200 if known.digest == digest else 409, stored_answer(known))
    if closed:
        return None
    if revision != last + 1:
        raise AnswerError(
            f"revision {revision} after {last}", "revision", f"send revision {last + 1}"
        )
    connection.execute(_INSERT, _values(row, sent, reply, digest, now, wall))
    _settle(connection, row, "done" if reply.skip is None else "skipped", now, wall)
    if reply.skip is None and design.block_rule is not None:
        _watch(connection, design, row, now, wall)
    return Receipt(
        201,
        {
            "revision": revision,
            "answer": reply.answer,
            "skip": reply.skip,
            "comment": reply.comment,
        },
    )


def _values(
    row: Row[Any], sent: SentAnswer, reply: CheckedReply, digest: str, now: int, wall: int
) -> dict[str, Any]:
    """The row of a revision; times longer than the task was out are cut, and flagged."""
    elapsed = max(0, now - int(row.opened))
    active, total = _duration(sent.active_ms, "active"), _duration(sent.total_ms, "total")
    return {
        "assignment": row.id,
        "revision": sent.revision,
        "answer": None if reply.skip else json.dumps(reply.answer, ensure_ascii=False),
        "skip": reply.skip,
        "comment": reply.comment,
        "active_ms": None if active is None else min(active, elapsed),
        "total_ms": None if total is None else min(total, elapsed),
        "client_time": _moment(sent.client_time),
        "server_time": wall,
        "digest": digest,
        "display": json.dumps(dict(sent.display or {}), sort_keys=True),
        "flagged": active is not None and active > elapsed,
    }


def _moment(value: Any) -> str | None:
    """What a page calls the time: kept as it is, if it can be one."""
    good = isinstance(value, str) and len(value) <= LONGEST_TIME and value.isprintable()
    return value if good else None


def _duration(value: Any, field: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise AnswerError("no duration", field, "send milliseconds")
    return int(value)


def _settle(connection: Connection, row: Row[Any], state: str, now: int, wall: int) -> None:
    """Move the assignment to its state and ``given`` with it; what comes after its lease is late.

    A late answer is kept even if the item is then judged once too often.
    """
    item = connection.execute(_ITEM, {"item": row.item}).one()
    counted, counts = row.state in ("open", "done"), state == "done"
    full = item.wanted is not None and item.given >= item.wanted
    late = row.late or (counts and row.state in ("expired", "returned"))
    late = late or (counts and not counted and full)  # a skip taken back when others have it
    connection.execute(_SETTLE, {"of_assignment": row.id, "to": state, "is_late": late, "now": now})
    values: dict[str, Any] = {}
    if counted != counts:
        values["given"] = items.c.given + (1 if counts else -1)
    if counted and not counts:
        values["freed"] = now
    elif counts and item.freed is not None:
        enough = item.wanted is None or item.given + (not counted) >= item.wanted
        values["freed"] = None if enough else item.freed
    skippable = item.purpose != "tutorial" and not item.parked  # examples stay for all
    if state == "skipped" and row.state != "skipped" and skippable:
        skips = connection.execute(
            select(func.count()).where(
                assignments.c.item == row.item, assignments.c.state == "skipped"
            )
        ).scalar_one()
        if skips >= SKIPS_TO_PARK:
            values["parked"] = True
            record(connection, wall, "store", "parked", item=row.item)
    if values:
        connection.execute(update(items).where(items.c.id == row.item).values(**values))


def _watch(connection: Connection, design: Design, row: Row[Any], now: int, wall: int) -> None:
    """After a control: block the judge if the campaign has a rule and it says so."""
    purpose = connection.execute(select(items.c.purpose).where(items.c.id == row.item)).scalar_one()
    rule = design.block_rule
    if purpose != "control" or rule is None:
        return
    if rule_blocks(rule, controls_of(connection, design, row.judge, last=rule[1])):
        connection.execute(update(judges).where(judges.c.id == row.judge).values(state="blocked"))
        free_leases_of(connection, row.judge, now)
        record(connection, wall, "rule", "blocked", judge=row.judge)


def controls_of(
    connection: Connection, design: Design, judge: int, *, last: int | None = None
) -> list[bool | None]:
    """Whether a judge passed the (last) controls, oldest first."""
    rows = connection.execute(
        select(assignments, items.c.expected)
        .join(items, items.c.id == assignments.c.item)
        .where(
            assignments.c.judge == judge,
            assignments.c.state == "done",
            items.c.purpose == "control",
        )
        .order_by(assignments.c.id.desc())
        .limit(last)
    ).all()
    usual = usual_scores(connection, design, judge) if rows else {}
    return [_passed(connection, design, row, usual) for row in reversed(rows)]


def _passed(
    connection: Connection, design: Design, row: Row[Any], usual: Mapping[str, float]
) -> bool | None:
    answer = connection.execute(
        select(judgments.c.answer)
        .where(judgments.c.assignment == row.id)
        .order_by(judgments.c.revision.desc())
        .limit(1)
    ).scalar_one()
    shown = shown_by(connection, design, row)
    return control_passed(
        design,
        json.loads(row.expected),
        json.loads(row.shown),
        None if answer is None else json.loads(answer),
        source=shown.source,
        outputs=shown.outputs,
        usual=usual,
    )


def usual_scores(connection: Connection, design: Design, judge: int) -> dict[str, float]:
    """The mean score of a judge on each scale, where tasks show one output."""
    if design.kind != "score" or design.side_by_side:
        return {}
    rows = connection.execute(
        select(judgments.c.answer)
        .join(assignments, assignments.c.id == judgments.c.assignment)
        .join(items, items.c.id == assignments.c.item)
        .where(
            assignments.c.judge == judge, items.c.purpose == "main", judgments.c.answer.is_not(None)
        )
        .order_by(judgments.c.id.desc())
        .limit(USUAL)
    ).scalars()
    answers = [json.loads(answer) for answer in rows]
    return {
        scale.name: sum(answer[scale.name] for answer in answers) / len(answers)
        for scale in design.scales
        if answers
    }
