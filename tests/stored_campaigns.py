"""Campaigns in a database, open, with judges, answers and a clock that is set by hand."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, select

from campaigns import material
from errata.collect.assignment import Decision, KeepCurrent
from errata.collect.design import Design
from errata.collect.items import CampaignTexts, Example, build_items, task_of
from errata.collect.web.assignments import expire_leases
from errata.collect.web.database import Database, create_database
from errata.collect.web.judges import InvitedJudge, add_judges, change_state, fill_campaign
from errata.collect.web.store import AssignmentStore, HeldTask, Receipt, SubmittedAnswer
from errata.collect.web.tokens import LinkSigner

WHY = "A *word* stands there twice <b>."
_EXPECTED = {"worse": 1, "better": 0, "why": WHY}
LESSONS = tuple(
    Example(f"He go {k} .", (f"He goes {k} .", f"He go go {k} ."), _EXPECTED) for k in range(2)
)

# For a test whose SQL differs: PostgreSQL is part of the standard tier, not only of the long one.
BOTH_DATABASES = pytest.mark.parametrize(
    "place",
    ["sqlite", pytest.param("postgres", marks=[pytest.mark.postgres, pytest.mark.slow])],
    indirect=True,
)


class Ticks:
    """A clock that is set by hand, in milliseconds."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def __call__(self) -> int:
        return self.now


def next_task(
    store: AssignmentStore, judge: int, *, known: Sequence[int] = (), ahead: int = 1
) -> Decision:
    """Claim a task for a judge, in a transaction of its own."""

    def claim(connection: Connection) -> Decision:
        row = store.locked_judge(connection, judge)
        expire_leases(connection, store.steady())
        campaign = store.campaign(connection)
        return store.claim(connection, campaign, row, known=known, ahead=ahead)

    return store.retried(claim)


def submit_answer(
    store: AssignmentStore, judge: int, assignment: int, sent: SubmittedAnswer
) -> Receipt:
    """Store an answer, in a transaction of its own."""

    def submit(connection: Connection) -> Receipt:
        store.locked_judge(connection, judge)
        return store.submit(connection, store.campaign(connection), judge, assignment, sent)

    return store.retried(submit)


def held_task(store: AssignmentStore, judge: int, assignment: int) -> HeldTask:
    with store.database.reading() as connection:
        return store.task(connection, store.campaign(connection).design, judge, assignment)


class Made:
    """An open campaign with its judges and a clock."""

    def __init__(
        self, database: Database, texts: CampaignTexts, judges: list[InvitedJudge]
    ) -> None:
        self.database, self.texts, self.judges = database, texts, judges
        self.clock = Ticks()
        self.store = AssignmentStore(
            database, rng=np.random.default_rng(0), steady=self.clock, wall=self.clock
        )

    def claim(self, judge: int = 1, **options: Any) -> int:
        """Claim a task, which there must be; return its number."""
        held = next_task(self.store, judge, **options)
        assert isinstance(held, KeepCurrent), held
        return held.assignment

    def submit(
        self, judge: int, task: int, answer: Any = None, *, revision: int = 1, **sent: Any
    ) -> Receipt:
        """Send an answer; without one, skip the task as undecided."""
        if answer is None:
            sent = {"skip": "undecided"} | sent
        return submit_answer(self.store, judge, task, SubmittedAnswer(revision, answer, **sent))

    def tasks(self, judge: int = 1) -> Iterator[tuple[int, dict[str, Any]]]:
        """Claim tasks until none is left; the caller must answer each before the next."""
        while isinstance(held := next_task(self.store, judge), KeepCurrent):
            yield held.assignment, self.body(judge, held.assignment)

    def body(self, judge: int, task: int) -> dict[str, Any]:
        held = held_task(self.store, judge, task)
        return task_of(self.store.campaign().design, held.shown)

    def rows(self, query: Any) -> list[Any]:
        with self.database.reading() as connection:
            found = select(query) if hasattr(query, "insert") else query
            return list(connection.execute(found).all())

    def scalars(self, query: Any) -> list[Any]:
        return [row[0] for row in self.rows(query)]


def signer_of(database: Database, key: bytes) -> LinkSigner:
    return LinkSigner(key, AssignmentStore(database).salt_of("campaign"))


def token_of(database: Database, key: bytes, who: int) -> str:
    """Return the current token of a judge; 0 is the organiser."""
    store = AssignmentStore(database)
    if not who:
        return signer_of(database, key).token("admin", 0, store.salt_of("admin"))
    return signer_of(database, key).token("judge", who, str(store.salt_of_judge(who)))


def join_key_of(database: Database, key: bytes) -> str:
    return signer_of(database, key).join_key(AssignmentStore(database).salt_of("join"))


def answer_to(body: dict[str, Any], design: Design, rng: np.random.Generator) -> Any:
    if design.kind == "rank":
        many = len(body["outputs"])
        return {o["key"]: int(rng.integers(1, many + 1)) for o in body["outputs"]}
    if design.kind == "pair":
        return str(rng.choice(["A", "B", "equal", "bad"]))
    if design.kind == "score":
        scales = {s.name: int(rng.integers(s.low, s.high + 1)) for s in design.scales}
        return {o["key"]: scales for o in body["outputs"]} if design.side_by_side else scales
    if design.kind == "edits":
        return {e["key"]: str(rng.choice(["good", "good", "bad", "unsure"])) for e in body["edits"]}
    return {"text": body["source"] + " ."} if design.kind == "correct" else {"accept": True}


def ranked_alike(body: dict[str, Any]) -> dict[str, int]:
    return {output["key"]: 1 for output in body["outputs"]}


def text_of(output: dict[str, Any]) -> str:
    """Return the text that an output of a task shows."""
    return " ".join(text for kind, text in output["segments"] if kind not in ("old", "del"))


Make = Callable[..., Made]


def made(
    place: str,
    design: Design,
    texts: CampaignTexts | None = None,
    *,
    wanted: int | None = None,
    examples: tuple[Example, ...] = (),
    **options: Any,
) -> Made:
    texts = material(60, 5) if texts is None else texts
    built = build_items(design, texts, wanted, examples)
    database = create_database(place)
    fill_campaign(database, design, texts, built, name="test", **options)
    judges = add_judges(database, [f"j{k}" for k in range(design.judges)])
    change_state(database, "open")
    return Made(database, texts, judges)
