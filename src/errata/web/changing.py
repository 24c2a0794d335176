"""What may still change in a campaign that was open: texts, quotas, budget; all of it events."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from sqlalchemy import Connection, select, update

from errata.collect.budget import judgments_wanted
from errata.collect.design import Design, design_of, not_too_large
from errata.errors import InputError
from errata.web.database import Database
from errata.web.events import record
from errata.web.people import invited, set_quota
from errata.web.progress import main_wanted
from errata.web.schema import campaigns, judgments

__all__ = ["BudgetBound", "change_budget", "change_quota", "change_texts", "own_seconds"]

BudgetBound = Literal["rankings", "hours", "money"]
TIMES = 1000  # of the last answers, of which the median is taken


def change_texts(database: Database, texts: Mapping[str, Any], *, now: int) -> None:
    """Replace texts; the event keeps what stood there, so that what was agreed to is known."""
    with database.writing() as connection:
        row = connection.execute(select(campaigns.c.texts, campaigns.c.languages)).one()
        before: dict[str, Any] = json.loads(row.texts)
        after = before | dict(texts)
        spoken = [after.get("language", "en"), *after.get("translations", {})]
        languages = [*dict.fromkeys((*json.loads(row.languages), *spoken))]
        connection.execute(
            update(campaigns).values(
                texts=json.dumps(after, ensure_ascii=False, sort_keys=True),
                languages=json.dumps(languages),
            )
        )
        old = {name: before.get(name) for name in sorted(texts)}
        record(connection, now, "organiser", "texts", changed=sorted(texts), before=old)


def change_quota(database: Database, quota: int, names: Sequence[str] = (), *, now: int) -> int:
    """Change how many tasks these judges get, or all who are there; gives how many they are."""
    if type(quota) is not int or quota < 1:
        raise InputError(f"quota={quota!r} should be a whole number from 1")
    not_too_large("quota", quota)
    with database.reading() as connection:
        everybody = [judge.name for judge in invited(connection)]
    for name in names:
        if name not in everybody:  # before any is changed
            raise InputError(
                f"there is no judge {name!r}",
                path=database.name,
                remedy="errata collect links lists the judges",
            )
    for name in names or everybody:
        set_quota(database, name, quota, now=now)
    return len(names or everybody)


def own_seconds(connection: Connection) -> list[float]:
    """The active seconds of the last answers."""
    times = connection.execute(
        select(judgments.c.active_ms)
        .where(judgments.c.active_ms.is_not(None))
        .order_by(judgments.c.id.desc())
        .limit(TIMES)
    ).scalars()
    return [ms / 1000 for ms in times]


def change_budget(
    database: Database, bound: BudgetBound, amount: float, *, now: int
) -> tuple[int, int]:
    """Bound the whole campaign anew; gives the judgments allowed, and those there are items for.

    Hours and money count as when the campaign was made, at the campaign's own median time once
    there are answers. More than there are items for has no effect beyond them.
    """
    with database.writing() as connection:
        stored = connection.execute(select(campaigns.c.design)).scalar_one()
        design: Design = design_of(json.loads(stored))
        if bound == "rankings" and float(amount).is_integer():
            amount = int(amount)
        other: dict[str, Any] = {"rankings": None, "hours": None, "money": None, bound: amount}
        bounded = replace(design, **other)
        allowed = judgments_wanted(bounded, own_seconds(connection))
        assert allowed is not None
        connection.execute(update(campaigns).values(budget=allowed))
        record(connection, now, "organiser", "budget", **{bound: amount}, judgments=allowed)
        return allowed, main_wanted(connection)
