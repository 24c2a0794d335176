"""Judge actions in one transaction each: claim, answer, skip, return.

Statements are SQLAlchemy Core with bound parameters only. SQLite takes immediate transactions, so
that writers queue; PostgreSQL locks the rows it takes and skips those that others hold, with the
constraints as last guard and three retries.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from sqlalchemy import BindParameter, Connection, Row, bindparam, func, select, update
from sqlalchemy.exc import IntegrityError, OperationalError

from errata.collect.answers import AnswerError, CheckedReply, check_answer, content_digest
from errata.collect.assignment import Decision, JudgeView, KeepCurrent, NoTask, assign
from errata.collect.design import Design
from errata.collect.items import TaskView
from errata.collect.qualification import rule_blocks
from errata.collect.schedule import SystemStrengths
from errata.collect.web.assignment_queries import SqlReader
from errata.collect.web.assignments import (
    free_leases_of,
    give_item,
    release_assignment,
    renew_lease,
    shown_check,
    task_view,
    view_of,
)
from errata.collect.web.database import Database, SteadyClock, record, wall_ms
from errata.collect.web.schema import (
    answers,
    assignments,
    campaigns,
    items,
    judges,
    judgments,
    links,
)
from errata.core.errors import ErrataError

# ---- Storing answers: revisions, what they do to the item, and what controls say of the judge.

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
_LAST_ANSWER = (
    select(judgments.c.answer)
    .where(judgments.c.assignment == ASSIGNMENT)
    .order_by(judgments.c.revision.desc())
    .limit(1)
)


class SubmittedAnswer(NamedTuple):
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


def stored_answer(row: Any) -> dict[str, Any]:
    """A stored revision as the API shows it."""
    return {name: getattr(row, name) for name in ("revision", "answer", "skip", "comment")}


def _revision_values(
    row: Row[Any], sent: SubmittedAnswer, reply: CheckedReply, digest: str, now: int, wall: int
) -> dict[str, Any]:
    """The row of a revision; times longer than the task was out are cut, and flagged."""
    elapsed = max(0, now - int(row.opened))
    active, total = _duration(sent.active_ms, "active"), _duration(sent.total_ms, "total")
    return {
        **reply._asdict(),
        "assignment": row.id,
        "revision": sent.revision,
        "active_ms": None if active is None else min(active, elapsed),
        "total_ms": None if total is None else min(total, elapsed),
        "client_time": _client_time(sent.client_time),
        "server_time": wall,
        "digest": digest,
        "display": dict(sent.display or {}),
        "flagged": active is not None and active > elapsed,
    }


def _client_time(value: Any) -> str | None:
    """What a page calls the time: kept as it is, if it can be one."""
    good = isinstance(value, str) and len(value) <= LONGEST_TIME and value.isprintable()
    return value if good else None


def _duration(value: Any, field: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise AnswerError("no duration", field, "send milliseconds")
    return int(value)


def _settle_assignment(connection: Connection, row: Row[Any], state: str, now: int) -> None:
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
            record(connection, "store", "parked", item=row.item)
    if values:
        connection.execute(update(items).where(items.c.id == row.item).values(**values))


def _apply_block_rule(connection: Connection, design: Design, row: Row[Any], now: int) -> None:
    """After a control: block the judge if the campaign has a rule and it says so."""
    purpose = connection.execute(select(items.c.purpose).where(items.c.id == row.item)).scalar_one()
    rule = design.block_rule
    if purpose != "control" or rule is None:
        return
    if rule_blocks(rule, control_results(connection, design, row.judge, last=rule[1])):
        connection.execute(update(judges).where(judges.c.id == row.judge).values(state="blocked"))
        free_leases_of(connection, row.judge, now)
        record(connection, "rule", "blocked", judge=row.judge)


def control_results(
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
    return [
        shown_check(connection, design, row).control_passed(
            connection.execute(_LAST_ANSWER, {"of_assignment": row.id}).scalar_one(), usual
        )
        for row in reversed(rows)
    ]


def usual_scores(connection: Connection, design: Design, judge: int) -> dict[str, float]:
    """The mean score of a judge on each scale, where tasks show one output."""
    if design.kind != "score" or design.side_by_side:
        return {}
    query = (
        select(judgments.c.answer)
        .select_from(answers)
        .where(
            assignments.c.judge == judge, items.c.purpose == "main", judgments.c.answer.is_not(None)
        )
        .order_by(judgments.c.id.desc())
        .limit(USUAL)
    )
    last = connection.execute(query).scalars().all()
    return {s.name: sum(each[s.name] for each in last) / len(last) for s in design.scales if last}


def last_answers(connection: Connection, judge: int, many: int) -> list[Row[Any]]:
    """The last answers of a judge, newest first; of the tutorial none, it was told of."""
    latest = (
        select(func.max(judgments.c.id))
        .select_from(answers)
        .where(assignments.c.judge == judge, items.c.purpose != "tutorial")
        .group_by(judgments.c.assignment)
        .order_by(func.max(judgments.c.id).desc())
        .limit(many)
    )
    query = select(judgments).where(judgments.c.id.in_(latest)).order_by(judgments.c.id.desc())
    return list(connection.execute(query).all())


RETRIES = 3
REMEMBERED = 1000  # tasks whose texts are kept, for the answers that come soon
T = TypeVar("T")
_CAMPAIGN = select(  # what `Campaign` holds: read with every request, and no more of it
    campaigns.c.id,
    campaigns.c.name,
    campaigns.c.state,
    campaigns.c.design,
    campaigns.c.systems,
    campaigns.c.texts,
    campaigns.c.languages,
    campaigns.c.budget,
)
_JUDGE = select(judges).where(judges.c.id == bindparam("judge")).with_for_update()
_SEEN = update(judges).where(judges.c.id == bindparam("judge_seen")).values(seen=bindparam("now"))
_SALT = select(judges.c.salt, judges.c.state).where(judges.c.id == bindparam("judge"))
_LINK = select(links.c.salt).where(links.c.role == bindparam("role"))
_LAST = select(func.max(judgments.c.revision)).where(judgments.c.assignment == assignments.c.id)
_OWN = select(assignments, _LAST.scalar_subquery().label("last")).where(
    assignments.c.id == bindparam("of_assignment"), assignments.c.judge == bindparam("judge")
)


class ApiError(ErrataError):
    """What a caller may not do, as the API answers it; ``more`` stands beside the error."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        remedy: str = "",
        field: str | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        self.status, self.code, self.more = status, code, dict(more or {})
        self.error = {"code": code, "message": message, "remedy": remedy, "field": field}
        super().__init__(f"{message}; {remedy}")


@dataclass(frozen=True)
class Campaign:
    """The campaign as stored."""

    id: int
    name: str
    state: str
    design: Design
    systems: Sequence[str]
    texts: Mapping[str, Any]
    languages: Sequence[str]
    budget: int | None  # of main judgments


class HeldTask(NamedTuple):
    """A task as it is stored, with the last revision of its answer; 0 for none."""

    id: int
    last: int
    expires: int
    shown: TaskView


class AssignmentStore:
    """The campaign in a database, for one process; safe for threads.

    ``rng`` draws orders and policies; ``steady`` counts leases and ``wall`` dates what is stored.
    ``strengths`` is what ``adaptive`` knows of the systems, to be renewed in the background.
    """

    def __init__(
        self,
        database: Database,
        *,
        rng: np.random.Generator | None = None,
        steady: Callable[[], int] | None = None,
        wall: Callable[[], int] = wall_ms,
    ) -> None:
        self.database = database
        self.rng = np.random.default_rng() if rng is None else rng
        self.wall = wall
        self.steady = steady or SteadyClock(max(wall(), self._latest()))
        self.strengths: SystemStrengths | None = None
        self._remembered: dict[tuple[Any, ...], TaskView] = {}
        self.most: dict[str, int] = {}  # tasks that a judge can have, once it was asked for

    def _latest(self) -> int:
        with self.database.reading() as connection:
            last = connection.execute(
                select(assignments.c.opened).order_by(assignments.c.id.desc()).limit(1)
            ).scalar()
        return int(last or 0)

    def campaign(self, connection: Connection | None = None) -> Campaign:
        """The campaign as it is now."""
        if connection is None:
            with self.database.reading() as own:
                return self.campaign(own)
        return Campaign(**connection.execute(_CAMPAIGN).one()._mapping)

    def claim(
        self,
        connection: Connection,
        campaign: Campaign,
        row: Row[Any],
        *,
        known: Sequence[int] = (),
        ahead: int = 1,
        view: JudgeView | None = None,
    ) -> Decision:
        """The next task of a judge, given to him: `KeepCurrent` its assignment, or `NoTask`.

        ``row`` is the judge's, locked, and leases that are over have ended. ``known`` are
        assignments the page has already, ``ahead`` how many it may hold; the texts are read by
        `task`. ``view`` is of the judge as he stands now.
        """
        now, design = self.steady(), campaign.design
        if not known:  # of several claims in one transaction the first
            connection.execute(_SEEN, {"judge_seen": row.id, "now": now})
        reader = SqlReader(
            connection, design, campaign.systems, campaign.state, row.name, campaign.budget
        )
        view = view_of(connection, design, row) if view is None else view
        found = assign(
            reader, design, view, self.rng, standing=self.strengths, known=known, ahead=ahead
        )
        if isinstance(found, NoTask):
            return found
        if isinstance(found, KeepCurrent):
            renew_lease(connection, found.assignment, now, design)
            return found
        return KeepCurrent(give_item(connection, row.id, found, now, design))

    def task(self, connection: Connection, design: Design, judge: int, assignment: int) -> HeldTask:
        """A task of a judge, as it is stored."""
        row = self._own_assignment(connection, judge, assignment)
        shown = self._task_view(connection, design, row)
        return HeldTask(assignment, row.last or 0, row.expires, shown)

    def _task_view(self, connection: Connection, design: Design, row: Row[Any]) -> TaskView:
        """The texts of an assignment, which never change: those taken last are remembered."""
        key = row.id, row.item, row.opened, tuple(row.shown)
        found = self._remembered.get(key)
        if found is None:
            found = task_view(connection, design, row)
            if len(self._remembered) >= REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = found
        return found

    def submit(
        self,
        connection: Connection,
        campaign: Campaign,
        judge: int,
        assignment: int,
        sent: SubmittedAnswer,
    ) -> Receipt:
        """Check and store an answer or a skip of a judge who is locked; told after the commit.

        Assignment and revision are the key: the same content again is 200, another is 409, also
        where the campaign is closed, so that a retry is always told. An answer after its lease is
        kept (late), even if the item is then judged once too often. Invalid is
        `errata.collect.answers.AnswerError` (422).
        """
        now, wall, design, revision = self.steady(), self.wall(), campaign.design, sent.revision
        connection.execute(_SEEN, {"judge_seen": judge, "now": now})
        row = self._own_assignment(connection, judge, assignment)
        if type(revision) is not int or not 1 <= revision < 1_000_000:
            raise AnswerError("no revision", "revision", "count from 1")
        shown = self._task_view(connection, design, row)
        reply = check_answer(design, shown, sent.answer, sent.skip, sent.comment)
        digest, last = content_digest(*reply), row.last or 0
        if revision <= last:
            given = {"of_assignment": row.id, "revision": revision}
            known = connection.execute(_REVISION, given).one()
            return Receipt(200 if known.digest == digest else 409, stored_answer(known))
        if campaign.state == "closed":
            raise ApiError(410, "closed", "the campaign is closed", "keep the answers as a file")
        if revision != last + 1:
            raise AnswerError(
                f"revision {revision} after {last}", "revision", f"send revision {last + 1}"
            )
        connection.execute(_INSERT, _revision_values(row, sent, reply, digest, now, wall))
        _settle_assignment(connection, row, "done" if reply.skip is None else "skipped", now)
        if reply.skip is None and design.block_rule is not None:
            _apply_block_rule(connection, design, row, now)
        return Receipt(201, {"revision": revision, **reply._asdict()})

    def ping(self, judge: int, assignment: int) -> int:
        """A sign of life: the lease is renewed; gives when it ends."""

        def renew(connection: Connection) -> int:
            row = self._own_assignment(connection, judge, assignment)
            connection.execute(_SEEN, {"judge_seen": judge, "now": self.steady()})
            if row.state != "open":
                return int(row.expires)
            design = self.campaign(connection).design
            return renew_lease(connection, assignment, self.steady(), design)

        return self.retried(renew)

    def give_back(self, judge: int, assignment: int) -> None:
        """Return a task unanswered: somebody else gets it."""

        def free(connection: Connection) -> None:
            row = self._own_assignment(connection, judge, assignment)
            if row.state == "open":
                release_assignment(connection, assignment, row.item, "returned", self.steady())

        self.retried(free)

    def salt_of_judge(self, judge: int) -> str | None:
        """Return the salt of a judge's current link, or None if there is no such judge."""
        with self.database.reading() as connection:
            row = connection.execute(_SALT, {"judge": judge}).first()
        return None if row is None or row.state == "forgotten" else str(row.salt)

    def salt_of(self, role: Literal["campaign", "admin", "join"]) -> str:
        """Return the salt of the organiser's or the panel's link, or the id of the campaign."""
        with self.database.reading() as connection:
            return str(connection.execute(_LINK, {"role": role}).scalar_one())

    def locked_judge(self, connection: Connection, judge: int, salt: str | None = None) -> Row[Any]:
        """Return the judge's row, locked for this transaction; ``salt`` is that of the link."""
        row = connection.execute(_JUDGE, {"judge": judge}).first()
        if salt is not None:
            if row is None or row.state == "forgotten" or row.salt != salt:
                raise ApiError(401, "link", "this link was replaced", "ask for the new one")
        elif row is None or row.state == "forgotten":
            raise ApiError(404, "not_yours", "there is no such judge", "ask for a new link")
        return row

    def _own_assignment(self, connection: Connection, judge: int, assignment: int) -> Row[Any]:
        given = {"judge": judge, "of_assignment": assignment}
        row = connection.execute(_OWN, given).first()
        if row is None:
            raise ApiError(404, "not_yours", "this task is not yours", "load the page again")
        return row

    def retried(self, work: Callable[[Connection], T]) -> T:
        """Run in a transaction; where another was quicker, try again, three times."""
        for attempt in range(RETRIES):
            try:
                with self.database.writing() as connection:
                    return work(connection)
            except (IntegrityError, OperationalError) as error:
                if not _is_transient(error):
                    raise
                time.sleep(0.01 * 2**attempt)
        with self.database.writing() as connection:
            return work(connection)


def _is_transient(error: IntegrityError | OperationalError) -> bool:
    """Whether trying again may help: a race, a lock, a serialisation failure."""
    if isinstance(error, IntegrityError):
        return True
    said = str(error.orig).lower()
    return any(word in said for word in ("locked", "deadlock", "serializ", "busy"))
