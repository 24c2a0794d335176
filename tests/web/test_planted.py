"""The checks of reliability fail when they should: faults that are planted, and noticed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import Connection, select

import errata.web.store as store_module
from errata.collect.design import Design
from errata.web import answering
from errata.web.database import Database
from errata.web.schema import assignments, judgments
from kept_promises import broken_promises
from stored_campaigns import Make, made, ranked_alike

CONSTRAINTS = {"assignment": ("item", "judge"), "judgment": ("assignment", "revision")}


def without_constraint(connection: Connection, table: str) -> None:
    """Take away what makes the rows of a table unique."""
    if connection.dialect.name == "postgresql":
        columns = "_".join(CONSTRAINTS[table])
        connection.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT {table}_{columns}_key")
        return
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    said = f"UNIQUE ({', '.join(CONSTRAINTS[table])})"
    changed = connection.exec_driver_sql(
        "UPDATE sqlite_schema SET sql = replace(sql, ?, 'CHECK (1)') WHERE name = ?", (said, table)
    )
    assert changed.rowcount == 1
    connection.exec_driver_sql(
        "DELETE FROM sqlite_schema WHERE type = 'index' AND sql IS NULL AND tbl_name = ?", (table,)
    )
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")


def nobody_waits(patch: pytest.MonkeyPatch, many: int) -> None:
    """So many answers side by side, each before any is stored: constraints are the only guard."""
    plain = select(store_module.judges).where(
        store_module.judges.c.id == store_module.bindparam("judge")
    )
    patch.setattr(store_module, "_JUDGE", plain)
    # Nor for the sign of life, which is written to the judge's row.
    nobody = store_module._SEEN.where(store_module.judges.c.id < 0)
    patch.setattr(store_module, "_SEEN", nobody)
    together = Barrier(many, timeout=60)

    values = answering._values

    def when_all_have_read(*given: Any) -> dict[str, Any]:
        together.wait()
        return values(*given)

    patch.setattr(answering, "_values", when_all_have_read)


def copied(database: Database, table: Any) -> None:
    """Store a row once more, as a program without our care would."""
    with database.writing() as connection:
        row = dict(connection.execute(select(table).limit(1)).one()._mapping)
        del row["id"]
        connection.execute(table.insert().values(**row))


@pytest.mark.parametrize("table", [assignments, judgments], ids=lambda table: table.name)
def test_missing_constraint_is_noticed(make_sqlite: Make, table: Any) -> None:
    campaign = make_sqlite(Design())
    campaign.submit(1, campaign.claim())
    place = str(campaign.database.path)
    assert broken_promises(place) == []
    with campaign.database.writing() as connection:
        without_constraint(connection, table.name)
    campaign.database.close()  # connections that know the old schema
    copied(campaign.database, table)
    assert [each for each in broken_promises(place) if "twice" in each]


@pytest.mark.postgres
@pytest.mark.parametrize("planted", [True, False])
def test_race_without_the_constraint_is_noticed(
    postgres_place: str, monkeypatch: pytest.MonkeyPatch, planted: bool
) -> None:
    """In PostgreSQL alone: writers of SQLite queue."""
    campaign = made(postgres_place, Design())
    if planted:
        with campaign.database.writing() as connection:
            without_constraint(connection, "judgment")
    task = campaign.claim()
    ranks = ranked_alike(campaign.store.task(1, task).body)
    nobody_waits(monkeypatch, 4)
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(campaign.submit, 1, task, ranks) for _ in range(4)]
        statuses = sorted(job.result().status for job in jobs)
    assert statuses == ([201] * 4 if planted else [200] * 3 + [201])
    found = broken_promises(postgres_place)
    assert bool([each for each in found if "stored twice" in each]) == planted, found
    campaign.database.close()


@pytest.mark.parametrize("planted", [True, False])
def test_lease_that_is_never_freed_is_noticed(
    make: Make, place: str, monkeypatch: pytest.MonkeyPatch, planted: bool
) -> None:
    if planted:
        monkeypatch.setattr(store_module, "expire_leases", lambda connection, now: 0)
    campaign = make(Design(judges=2))
    campaign.claim(1)
    campaign.clock.now += campaign.store.campaign().design.lease * 1000 + 1
    campaign.claim(2)
    found = broken_promises(place, now=campaign.clock.now)
    assert bool([each for each in found if "open after its lease" in each]) == planted, found
