"""What must be true of a campaign's database, whatever happened to those who served it."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from errata.collect.web.database import open_database
from errata.collect.web.schema import assignments, items, judgments
from served import Server
from simulated_judges import Noted, SimulatedJudge, all_at_work


def broken_promises(place: str, noted: Noted) -> list[str]:
    """What was called stored and is not, or is stored twice; items above wanted."""
    database = open_database(place)
    try:
        with database.reading() as connection:
            rows = connection.execute(select(judgments)).all()
            given = connection.execute(select(assignments)).all()
            wanted = connection.execute(select(items.c.id, items.c.wanted, items.c.given)).all()
    finally:
        database.close()
    return [*_lost_or_twice(rows, noted), *_miscounted(given, wanted)]


def _lost_or_twice(rows: Any, noted: Noted) -> list[str]:
    stored: dict[tuple[str, int], Any] = {}
    found = [f"{key} was acknowledged, lost and asked for again" for key in noted.forgotten]
    for row in rows:
        key = (str(row.assignment), row.revision)
        if key in stored:
            found.append(f"{key} is stored twice")
        stored[key] = (
            {"skip": row.skip} if row.skip is not None else {"answer": json.loads(row.answer)}
        )
    for key, sent in noted.stored.items():
        if key not in stored:
            found.append(f"{key} was acknowledged and is lost")
        elif stored[key] != sent:
            found.append(f"{key} is stored with other content")
    return found


def _miscounted(given: Any, wanted: Any) -> list[str]:
    counting = [row for row in given if row.state in ("open", "done")]
    counted = Counter(row.item for row in counting)
    late = Counter(row.item for row in counting if row.late)
    found = [
        f"judge {judge} has item {item} twice"
        for (item, judge), many in Counter((row.item, row.judge) for row in given).items()
        if many > 1
    ]
    for row in wanted:
        if row.given != counted[row.id]:
            found.append(f"item {row.id}: given is {row.given}, and {counted[row.id]} have it")
        if row.wanted is not None and counted[row.id] - late[row.id] > row.wanted:
            found.append(
                f"item {row.id} is wanted {row.wanted} times, and {counted[row.id]} have it"
            )
    return found


def at_work(
    server: Server,
    judges: int,
    times: int,
    interrupt: Callable[[], None],
    *,
    pause: float = 0.5,
    between: int = 10,
) -> Noted:
    """Judges at work, interrupted again and again by what takes the server from them.

    Before each time ``between`` to twice as many answers are stored. Gives what the judges know.
    """
    noted = Noted()
    rng = random.Random(5)
    people = [
        SimulatedJudge(server.port, server.token(k + 1), k, noted, pause=pause)
        for k in range(judges)
    ]

    async def stored(more: int, working: asyncio.Task[None]) -> None:
        wanted = len(noted.stored) + more
        while len(noted.stored) < wanted:
            assert not working.done(), f"all judges have gone: {noted.statuses}"
            await asyncio.sleep(0.01)

    async def everything() -> None:
        over = False
        working = asyncio.create_task(all_at_work(people, lambda: over))
        try:
            for _ in range(times):
                await stored(between + rng.randrange(between), working)
                await asyncio.sleep(rng.random() / 10)
                await asyncio.to_thread(interrupt)
            await stored(20, working)
        finally:
            over = True
            await working

    asyncio.run(everything())
    return noted
