"""The checks of reliability fail when they should: faults that are planted, and noticed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import Connection, select

import errata.web.store as store_module
from campaigns import material
from errata.collect.assigning import Holding
from errata.collect.design import Design
from errata.web import answering
from errata.web.answering import SentAnswer
from errata.web.database import Database
from errata.web.schema import assignments, judgments
from kept_promises import at_work, broken_promises
from served import PROGRAM, Server, free_port
from stored_campaigns import Make, made

# A store that answers first, and commits a little later.
HASTY = """
import copy, threading
from contextlib import contextmanager
from errata.web.database import Database
from errata.web.store import Store
class Later(Database):
    @contextmanager
    def writing(self):
        queues = self.path is not None  # as writers of SQLite do
        if queues:
            self.turn.acquire()
        connection = self.engine.connect()
        transaction = connection.begin()
        def end(done):
            (transaction.commit if done else transaction.rollback)()
            connection.close()
            if queues:
                self.turn.release()
        try:
            yield connection
        except BaseException:
            end(False)
            raise
        threading.Timer(0.1, end, [True]).start()
true_retried = Store.retried
def retried(self, work):
    hasty = copy.copy(self)
    if work.__name__ == "store_in":  # an answer is stored, and nothing else
        hasty.database = Later(self.database.engine, self.database.path, self.database.turn)
    return true_retried(hasty, work)
Store.retried = retried
"""


def killed_often(place: str, program: str) -> list[str]:
    """What is broken after judges worked with a server that was killed six times."""
    design = Design(judges=10, judges_per_item=2, overlap=0.5)
    made(place, design, material(300, 5)).database.close()
    server = Server(place, free_port(), program=program).start()

    def kill() -> None:
        server.kill()
        server.start()

    try:
        noted = at_work(server, 10, 6, kill, pause=0.0)
    finally:
        server.stop()
    return broken_promises(place, noted)


@pytest.mark.slow
def test_a_store_that_answers_before_it_commits_is_noticed(place: str) -> None:
    found = killed_often(place, HASTY + PROGRAM)
    assert [each for each in found if "was acknowledged" in each]


@pytest.mark.slow
def test_a_store_that_commits_first_is_not(place: str) -> None:
    assert killed_often(place, PROGRAM) == []


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
def test_a_missing_constraint_is_noticed(make_sqlite: Make, table: Any) -> None:
    campaign = make_sqlite(Design())
    judge = campaign.judges[0].id
    held = campaign.store.claim(judge)
    assert isinstance(held, Holding)
    campaign.store.submit(judge, held.assignment, SentAnswer(1, skip="undecided"))
    place = str(campaign.database.path)
    assert broken_promises(place) == []
    with campaign.database.writing() as connection:
        without_constraint(connection, table.name)
    campaign.database.close()  # connections that know the old schema
    copied(campaign.database, table)
    assert [each for each in broken_promises(place) if "twice" in each]


@pytest.mark.postgres
@pytest.mark.parametrize("planted", [True, False])
def test_a_race_without_the_constraint_is_noticed(
    make: Make, place: str, monkeypatch: pytest.MonkeyPatch, planted: bool
) -> None:
    if "://" not in place:
        pytest.skip("writers of SQLite queue")
    campaign = make(Design())
    if planted:
        with campaign.database.writing() as connection:
            without_constraint(connection, "judgment")
    judge = campaign.judges[0].id
    held = campaign.store.claim(judge)
    assert isinstance(held, Holding)
    shown = campaign.store.task(judge, held.assignment).body["outputs"]
    sent = SentAnswer(1, {output["key"]: 1 for output in shown})
    nobody_waits(monkeypatch, 4)
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(campaign.store.submit, judge, held.assignment, sent) for _ in range(4)]
        statuses = sorted(job.result().status for job in jobs)
    assert statuses == ([201] * 4 if planted else [200] * 3 + [201])
    found = broken_promises(place)
    assert bool([each for each in found if "stored twice" in each]) == planted, found


@pytest.mark.parametrize("planted", [True, False])
def test_a_lease_that_is_never_freed_is_noticed(
    make: Make, place: str, monkeypatch: pytest.MonkeyPatch, planted: bool
) -> None:
    if planted:
        monkeypatch.setattr(store_module, "expire_leases", lambda connection, now: 0)
    campaign = make(Design(judges=2))
    first, second = (judge.id for judge in campaign.judges)
    campaign.store.claim(first)
    campaign.clock.now += campaign.store.campaign().design.lease * 1000 + 1
    campaign.store.claim(second)
    found = broken_promises(place, now=campaign.clock.now)
    assert bool([each for each in found if "open after its lease" in each]) == planted, found
