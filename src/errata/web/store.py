"""What judges do, each in one transaction: claim a task, answer or skip it, give it back.

Statements are SQLAlchemy Core with bound parameters only. SQLite takes immediate transactions, so
that writers queue; PostgreSQL locks the rows it takes and skips those that others hold, with the
constraints as last guard and three retries.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sqlalchemy import Connection, Row, bindparam, func, select, update
from sqlalchemy.exc import IntegrityError, OperationalError

from errata.collect.assigning import Decision, Holding, JudgeView, Nothing, assign
from errata.collect.design import Design, design_of
from errata.collect.policies import SystemStrengths
from errata.collect.tasks import Shown, task_of
from errata.errors import ErrataError
from errata.web.answering import Receipt, SentAnswer, insert_answer, stored_answer
from errata.web.claims import SqlReader
from errata.web.clock import SteadyClock, wall_ms
from errata.web.database import Database
from errata.web.giving import (
    expire_leases,
    free_assignment,
    give_item,
    renew_lease,
    repeat_item,
    view_of,
)
from errata.web.schema import assignments, campaigns, items, judges, judgments
from errata.web.showing import shown_by

__all__ = ["Campaign", "ForbiddenError", "HeldTask", "Store", "TakenTask"]

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
_LINK = select(judges.c.generation, judges.c.state).where(judges.c.id == bindparam("judge"))
_FIRST = select(items.c.id).order_by(items.c.id).limit(1)
_LAST = select(func.max(judgments.c.revision)).where(judgments.c.assignment == assignments.c.id)
_OWN = select(assignments, _LAST.scalar_subquery().label("last")).where(
    assignments.c.id == bindparam("of_assignment"), assignments.c.judge == bindparam("judge")
)


class ForbiddenError(ErrataError):
    """What a judge may not do, with the status of the answer: 404 not yours, 410 closed."""

    def __init__(self, status: int, problem: str, remedy: str, code: str = "") -> None:
        self.status, self.problem, self.remedy, self.code = status, problem, remedy, code
        super().__init__(f"{problem}; {remedy}")


class _Undone(Exception):
    """Ends a transaction that is not meant to be kept."""


@dataclass(frozen=True)
class Campaign:
    """The campaign as stored."""

    id: int
    name: str
    state: str
    design: Design
    systems: tuple[str, ...]
    texts: Mapping[str, Any]
    languages: tuple[str, ...] = ("en",)
    budget: int | None = None  # of main judgments


class TakenTask(NamedTuple):
    """A task for the page: what the API sends, nothing of systems, purposes or what is expected."""

    id: int
    revision: int
    expires: int
    body: dict[str, Any]


class HeldTask(NamedTuple):
    """A task as it is stored, with the last revision of its answer; 0 for none."""

    id: int
    last: int
    expires: int
    shown: Shown

    def taken(self, design: Design) -> TakenTask:
        """As the page gets it: changes are marked here, when no other writer waits for it."""
        return TakenTask(self.id, self.last + 1, self.expires, task_of(design, self.shown))


@lru_cache(64)
def _parsed(design: str) -> Design:
    return design_of(json.loads(design))


@lru_cache(64)
def _names(systems: str) -> tuple[str, ...]:
    return tuple(json.loads(systems))


class Store:
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
        self._remembered: dict[tuple[Any, ...], Shown] = {}
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
        row = connection.execute(_CAMPAIGN).one()
        design, systems = _parsed(row.design), _names(row.systems)
        texts, languages = json.loads(row.texts), _names(row.languages)
        return Campaign(row.id, row.name, row.state, design, systems, texts, languages, row.budget)

    def claim(self, judge: int, *, known: Sequence[int] = (), ahead: int = 1) -> Decision:
        """The next task of a judge, given to him: `Holding` its assignment, or `Nothing`.

        ``known`` are assignments the page has already, ``ahead`` how many it may hold; the texts
        are read by `task`.
        """
        return self.retried(
            lambda connection: self.claim_in(
                connection, self.campaign(connection), judge, known=known, ahead=ahead
            )
        )

    def claim_in(
        self,
        connection: Connection,
        campaign: Campaign,
        judge: int,
        *,
        known: Sequence[int] = (),
        ahead: int = 1,
        row: Row[Any] | None = None,
        view: JudgeView | None = None,
    ) -> Decision:
        """`claim` within a transaction; ``row`` is the judge's, where it is locked already.

        ``view`` is of the judge as he stands now, with leases ended that are over.
        """
        now = self.steady()
        design = campaign.design
        row = self.locked_judge(connection, judge) if row is None else row
        if not known:  # of several claims in one transaction the first
            if view is None:
                expire_leases(connection, now)
            connection.execute(_SEEN, {"judge_seen": judge, "now": now})
        reader = SqlReader(
            connection, design, campaign.systems, campaign.state, row.name, campaign.budget
        )
        view = view_of(connection, design, row) if view is None else view
        found = assign(
            reader, design, view, self.rng, standing=self.strengths, known=known, ahead=ahead
        )
        if isinstance(found, Nothing):
            return found
        if isinstance(found, Holding):
            renew_lease(connection, found.assignment, now, design)
            return found
        return Holding(give_item(connection, judge, found, now, design))

    def rehearse(self) -> None:
        """Claim for nobody: the first claim costs ten times as much, for statements are built."""
        try:
            with self.database.writing() as connection:
                judge = connection.execute(select(judges.c.id).limit(1)).scalar()
                if judge is not None:
                    campaign = self.campaign(connection)
                    design, systems = campaign.design, campaign.systems
                    SqlReader(connection, design, systems, campaign.state, "").read_all(judge)
                    self.claim_in(connection, campaign, judge)
                    repeat_item(connection, connection.execute(_FIRST).scalar_one())
                raise _Undone
        except _Undone:
            pass

    def task(self, judge: int, assignment: int) -> TakenTask:
        """A task of a judge as the page gets it."""
        with self.database.reading() as connection:
            design = self.campaign(connection).design
            held = self.task_in(connection, design, judge, assignment)
        return held.taken(design)

    def task_in(
        self, connection: Connection, design: Design, judge: int, assignment: int
    ) -> HeldTask:
        """What is read of `task` within a transaction; the rest waits for its end."""
        row = self._own(connection, judge, assignment)
        shown = self._shown_by(connection, design, row)
        return HeldTask(assignment, row.last or 0, row.expires, shown)

    def _shown_by(self, connection: Connection, design: Design, row: Row[Any]) -> Shown:
        """The texts of an assignment, which never change: those taken last are remembered."""
        key = row.id, row.item, row.opened, row.shown
        found = self._remembered.get(key)
        if found is None:
            found = shown_by(connection, design, row)
            if len(self._remembered) >= REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = found
        return found

    def submit(self, judge: int, assignment: int, sent: SentAnswer) -> Receipt:
        """Store an answer or a skip; when this returns, it is committed.

        Assignment and revision are the key: the same content again is 200, another is 409. An
        answer after its lease is kept (late), even if the item is then judged once too often.
        Invalid is `errata.collect.answers.AnswerError` (422).
        """

        def store(connection: Connection) -> Receipt:
            self.locked_judge(connection, judge)
            return self.submit_in(connection, self.campaign(connection), judge, assignment, sent)

        return self.retried(store)

    def submit_in(
        self,
        connection: Connection,
        campaign: Campaign,
        judge: int,
        assignment: int,
        sent: SentAnswer,
    ) -> Receipt:
        """`submit` within a transaction that has locked the judge; tell nobody before its end."""
        connection.execute(_SEEN, {"judge_seen": judge, "now": self.steady()})
        row = self._own(connection, judge, assignment)
        receipt = insert_answer(
            connection,
            campaign.design,
            row,
            self._shown_by(connection, campaign.design, row),
            sent,
            now=self.steady(),
            wall=self.wall(),
            closed=campaign.state == "closed",
        )
        if receipt is None:
            raise ForbiddenError(410, "the campaign is closed", "keep the answers as a file")
        return receipt

    def ping(self, judge: int, assignment: int) -> int:
        """A sign of life: the lease is renewed; gives when it ends."""

        def renew(connection: Connection) -> int:
            row = self._own(connection, judge, assignment)
            connection.execute(_SEEN, {"judge_seen": judge, "now": self.steady()})
            if row.state != "open":
                return int(row.expires)
            design = self.campaign(connection).design
            return renew_lease(connection, assignment, self.steady(), design)

        return self.retried(renew)

    def give_back(self, judge: int, assignment: int) -> None:
        """Return a task unanswered: somebody else gets it."""

        def free(connection: Connection) -> None:
            row = self._own(connection, judge, assignment)
            if row.state == "open":
                free_assignment(connection, assignment, row.item, "returned", self.steady())

        self.retried(free)

    def last_answers(self, judge: int, many: int = 5) -> list[dict[str, Any]]:
        """The last answers of a judge, newest first; of the tutorial none, it was told of."""
        latest = (
            select(func.max(judgments.c.id))
            .join(assignments, assignments.c.id == judgments.c.assignment)
            .join(items, items.c.id == assignments.c.item)
            .where(assignments.c.judge == judge, items.c.purpose != "tutorial")
            .group_by(judgments.c.assignment)
            .order_by(func.max(judgments.c.id).desc())
            .limit(many)
        )
        with self.database.reading() as connection:
            rows = connection.execute(
                select(judgments).where(judgments.c.id.in_(latest)).order_by(judgments.c.id.desc())
            ).all()
        return [{"task": row.assignment, **stored_answer(row)} for row in rows]

    def generation(self, judge: int) -> int | None:
        """The generation of a judge's link that holds; None of a judge who is not (or no more)."""
        with self.database.reading() as connection:
            row = connection.execute(_LINK, {"judge": judge}).first()
        return None if row is None or row.state == "forgotten" else int(row.generation)

    def locked_judge(
        self, connection: Connection, judge: int, generation: int | None = None
    ) -> Row[Any]:
        """The judge's row, for this transaction alone; ``generation`` is that of the link."""
        row = connection.execute(_JUDGE, {"judge": judge}).first()
        if generation is not None:
            if row is None or row.state == "forgotten" or row.generation != generation:
                raise ForbiddenError(401, "this link was replaced", "ask for the new one")
        elif row is None or row.state == "forgotten":
            raise ForbiddenError(404, "there is no such judge", "ask for a new link")
        return row

    def _own(self, connection: Connection, judge: int, assignment: int) -> Row[Any]:
        given = {"judge": judge, "of_assignment": assignment}
        row = connection.execute(_OWN, given).first()
        if row is None:
            raise ForbiddenError(404, "this task is not yours", "load the page again")
        return row

    def retried(self, work: Callable[[Connection], T]) -> T:
        """Run in a transaction; where another was quicker, try again, three times."""
        for attempt in range(RETRIES):
            try:
                with self.database.writing() as connection:
                    return work(connection)
            except (IntegrityError, OperationalError) as error:
                if not _passing(error):
                    raise
                time.sleep(0.01 * 2**attempt)
        with self.database.writing() as connection:
            return work(connection)


def _passing(error: IntegrityError | OperationalError) -> bool:
    """Whether trying again may help: a race, a lock, a serialisation failure."""
    if isinstance(error, IntegrityError):
        return True
    said = str(error.orig).lower()
    return any(word in said for word in ("locked", "deadlock", "serializ", "busy"))
