"""How much of a campaign is done: its main judgments, checks and tutorials left aside."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import Connection, bindparam, func, select

from errata.collect.design import Design
from errata.web.claims import not_written_by
from errata.web.schema import assignments, campaigns, item_outputs, items, judges, writers

__all__ = [
    "budgeted",
    "main_answers",
    "main_wanted",
    "may_come_back",
    "most_for_one",
    "without_reviewers",
]

_WANTED = select(func.coalesce(func.sum(items.c.wanted), 0)).where(items.c.purpose == "main")
_ANSWERS = (
    select(func.count())
    .select_from(assignments.join(items, items.c.id == assignments.c.item))
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
    mine = assignments.join(items, items.c.id == assignments.c.item)
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


def main_wanted(connection: Connection) -> int:
    """How many judgments all main items want together."""
    return int(connection.execute(_WANTED).scalar_one())


def budgeted(connection: Connection) -> int:
    """How many main judgments the campaign is to have: what its items want, within its budget."""
    wanted = main_wanted(connection)
    budget = connection.execute(select(campaigns.c.budget)).scalar_one()
    return wanted if budget is None else min(wanted, int(budget))


def main_answers(connection: Connection, state: Literal["done", "skipped"] = "done") -> int:
    """How many of them were given, or skipped."""
    return int(connection.execute(_ANSWERS, {"state": state}).scalar_one())
