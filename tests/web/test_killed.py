"""Whatever the server called stored is stored, once, however often it is killed at work."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from campaigns import material
from errata.collect.design import Design
from errata.web.database import open_database
from errata.web.schema import assignments, items, judgments
from served import Server, free_port
from simulated_judges import Noted, SimulatedJudge, all_at_work
from stored_campaigns import made

JUDGES, KILLS = 200, 20


def kept(place: str) -> dict[tuple[str, int], Any]:
    """Every stored revision in a database, by task and revision."""
    database = open_database(place)
    try:
        with database.reading() as connection:
            rows = connection.execute(select(judgments)).all()
        found = {
            (str(row.assignment), row.revision): {"skip": row.skip}
            if row.skip
            else {"answer": json.loads(row.answer)}
            for row in rows
        }
        assert len(found) == len(rows), "stored twice"
        return found
    finally:
        database.close()


def at_work(server: Server, judges: int, kills: int) -> Noted:
    """Judges at work, and the server killed and started again; what the judges know."""
    noted = Noted()
    rng = random.Random(5)
    people = [
        SimulatedJudge(server.port, server.token(k + 1), k, noted, pause=0.5) for k in range(judges)
    ]

    async def stored(more: int) -> None:
        wanted = len(noted.stored) + more
        while len(noted.stored) < wanted:
            await asyncio.sleep(0.01)

    async def everything() -> None:
        over = False
        working = asyncio.create_task(all_at_work(people, lambda: over))
        for _ in range(kills):
            await stored(10 + rng.randrange(10))
            await asyncio.sleep(rng.random() / 10)
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
        await stored(20)
        over = True
        await working

    asyncio.run(everything())
    return noted


def _too_often(place: str) -> list[int]:
    """Items judged more often than wanted, but for late answers; and counts that do not add up."""
    database = open_database(place)
    try:
        with database.reading() as connection:
            counted = (
                select(func.count())
                .where(
                    assignments.c.item == items.c.id,
                    assignments.c.state.in_(("open", "done")),
                    assignments.c.late.is_(False),
                )
                .scalar_subquery()
            )
            late = (
                select(func.count())
                .where(
                    assignments.c.item == items.c.id,
                    assignments.c.state.in_(("open", "done")),
                    assignments.c.late.is_(True),
                )
                .scalar_subquery()
            )
            rows = connection.execute(
                select(items.c.id).where(
                    (counted > items.c.wanted) | (items.c.given != counted + late)
                )
            )
            return [row.id for row in rows]
    finally:
        database.close()


@pytest.mark.slow
def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    place = str(tmp_path / "campaign.db")
    design = Design(judges=JUDGES, judges_per_item=2, overlap=0.5)
    made(place, design, material(2000, 5)).database.close()
    server = Server(place, free_port()).start()
    try:
        noted = at_work(server, JUDGES, KILLS)
    finally:
        server.stop()
    found = kept(place)
    assert len(noted.stored) > 10 * KILLS
    assert noted.lost > 0  # else nothing was killed under anybody's hands
    over = _too_often(place)
    assert over == [], over
    missing = {key for key, sent in noted.stored.items() if found.get(key) != sent}
    assert missing == set()
