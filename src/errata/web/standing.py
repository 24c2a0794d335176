"""Where a judge stands: which page is due, and how much is done."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, select

from errata.collect.assigning import JudgeView
from errata.web.giving import tasks_of, view_of
from errata.web.languages import all_consents
from errata.web.learning import learning_of, lessons_had, lessons_in
from errata.web.participants import lost_place
from errata.web.progress import most_for_one
from errata.web.schema import judges
from errata.web.store import Campaign, ForbiddenError, Store

__all__ = ["JudgeStanding", "consent_version", "judge_standing"]

_JUDGE = select(judges).where(judges.c.id == bindparam("judge"))


class JudgeStanding(NamedTuple):
    """What a judge's page is told: the state, and what is done of how much."""

    state: str
    name: str
    language: str
    done: int
    quota: int
    view: JudgeView  # what a claim knows of the judge
    learns: bool = False  # whether any example of a tutorial was answered

    @property
    def progress(self) -> dict[str, int]:
        return {"done": self.done, "quota": self.quota}


def consent_version(text: str) -> str:
    """The version of a consent text: its digest, so that a changed text is asked for again.

    >>> consent_version("") == consent_version("  ")
    True
    """
    return hashlib.sha256(text.strip().encode()).hexdigest()[:16]


def judge_standing(
    store: Store,
    connection: Connection,
    judge: int,
    campaign: Campaign | None = None,
    row: Row[Any] | None = None,
) -> tuple[Campaign, JudgeStanding]:
    """The campaign and where a judge stands in it; both are read where they are not known."""
    campaign = store.campaign(connection) if campaign is None else campaign
    if row is None:
        row = connection.execute(_JUDGE, {"judge": judge}).first()
    if row is None or row.state == "forgotten":
        raise ForbiddenError(401, "this link does not hold any more", "ask for a new one")
    done = {True: 0, False: 0}  # of tutorials, and of all else
    counts = tasks_of(connection, judge)
    for (purpose, state), many in counts.items():
        if state in ("done", "skipped"):
            done[purpose == "tutorial"] += many
    view = view_of(connection, campaign.design, row, counts)
    learning = view.tutorial == "todo"
    quota = view.quota
    if quota is None:
        # The items of a campaign stay as many as they are; of reviews those of others count.
        whose = row.name if campaign.design.kind == "review" else ""
        if whose not in store.most:
            store.most[whose] = most_for_one(connection, campaign.design, whose)
        quota = max(store.most[whose], done[False])
    state = _state(campaign, row, view, learning, done[False])
    if state in ("consent", "tutorial", "working") and lost_place(
        connection, campaign, row, store.steady()
    ):
        state = "full"
    learns = bool(done[True])
    if learning:
        had = lessons_had(connection, judge)
        ready = learning_of(connection, campaign.design, had).done
        lessons = lessons_in(connection, campaign.design)
        return campaign, JudgeStanding(state, row.name, row.language, ready, lessons, view, learns)
    ready = done[False]
    return campaign, JudgeStanding(state, row.name, row.language, ready, quota, view, learns)


def _state(campaign: Campaign, row: Any, view: Any, learning: bool, done: int) -> str:
    if row.state in ("blocked", "withdrawn"):
        return str(row.state)
    if campaign.state == "closed":
        return "closed"
    if campaign.state != "open":
        return "paused"
    consent = all_consents(campaign.texts).strip()
    if consent and row.consent_version != consent_version(consent):
        return "consent"
    if view.tutorial == "failed":
        return "failed"
    if learning:
        return "tutorial"
    if view.quota is not None and done >= view.quota and not view.open:
        return "finished"
    return "working"
