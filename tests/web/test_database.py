"""Databases: what is opened, refused, migrated, locked, snapshotted and forgotten."""

from __future__ import annotations

import ast
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, insert, inspect, select, text, update
from sqlalchemy.exc import OperationalError

import postgres
from campaigns import material
from errata.collect.assignment import KeepCurrent
from errata.collect.design import Design
from errata.collect.web import campaign as web_campaign
from errata.collect.web import database as databases
from errata.collect.web import judges, schema
from errata.collect.web.campaign import PlannedCampaign, create_campaign, design_campaign
from errata.collect.web.schema import identities, judgments, metadata
from errata.collect.web.store import AssignmentStore
from errata.collect.web.tokens import KEY_VARIABLE, find_key, key_from_hex
from errata.core.errors import InputError
from stored_campaigns import BOTH_DATABASES, Made, Make, made, next_task, ranked_alike

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "campaigns"


def read(place: object, query: Any, **options: Any) -> list[Any]:
    with (
        closing(databases.open_database(str(place), **options)) as database,
        database.reading() as connection,
    ):
        return list(connection.execute(query).all())


@pytest.mark.slow
def test_sqlite_is_set_up_to_lose_nothing(make_sqlite: Make) -> None:
    path = make_sqlite(Design()).database.path
    assert path is not None
    names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "busy_timeout")
    settings = [read(path, text(f"PRAGMA {name}"))[0][0] for name in names]
    assert settings == ["wal", 2, 1, 1, 5000]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    table = "CREATE TABLE schema (id, version, program); INSERT INTO schema VALUES"
    newer = f"schema 99, and this program knows {schema.VERSION}; install a newer errata"
    for k, (content, words) in enumerate(
        [
            (b"hello, world, this is text", "no SQLite database"),
            (b"", "not a campaign"),
            ("CREATE TABLE other (x)", "not a campaign"),
            ("CREATE TABLE schema (x)", "not a campaign"),
            (f"{table} (1, 1, 'another tool')", "not a campaign"),
            (f"{table} (1, 99, 'errata 9')", newer),
        ]
    ):
        path = tmp_path / f"{k}.db"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            connection = sqlite3.connect(path)
            connection.executescript(content)
            connection.close()
        with pytest.raises(InputError, match=words) as refused:
            databases.open_database(str(path))
        assert str(path) in str(refused.value)


def test_places_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such campaign"):
        databases.open_database(str(tmp_path / "none.db"))
    with pytest.raises(InputError, match="cannot make the file"):
        databases.create_database(str(tmp_path / "no" / "x.db"))
    with pytest.raises(InputError, match="mysql are not supported"):
        databases.open_database("mysql://host/x")
    with pytest.raises(InputError, match="no address"):
        databases.open_database("://")
    pytest.importorskip("psycopg")
    with pytest.raises(InputError) as refused:
        databases.open_database("postgresql://me:secret@127.0.0.1:9/none")
    assert "secret" not in str(refused.value)


@BOTH_DATABASES
def test_existing_database_is_not_overwritten(place: str) -> None:
    databases.create_database(place).close()
    with pytest.raises(InputError, match="something in this database already"):
        databases.create_database(place)


@BOTH_DATABASES
def test_interrupted_creation_leaves_nothing(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped before its judges are in, it is as if nothing had been made: it can be made again."""
    monkeypatch.setenv(KEY_VARIABLE, "ab" * 32)
    design = Design(judges=2)
    planned = PlannedCampaign("twice", design, material(10, 3))
    built, _ = design_campaign(planned)

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(web_campaign, "add_judges", interrupted)
        with pytest.raises(KeyboardInterrupt):
            create_campaign(place, planned, built)
    assert not databases.holds_campaign(place)
    database = create_campaign(place, planned, built)
    assert databases.holds_campaign(place)
    with database.reading() as connection:
        assert [judge.name for judge in judges.remembered_judges(connection)] == [
            "judge1",
            "judge2",
        ]
    database.close()


def test_log_that_is_kept_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader keeps the log as it was: nobody may hear that a name is gone while it is not."""
    monkeypatch.setattr(databases, "BUSY_MS", 50)
    campaign = made(str(tmp_path / "x.db"), Design(judges=1))
    judges.add_judges(campaign.database, ["Wilhelmina"])
    log = tmp_path / "x.db-wal"
    with campaign.database.reading() as connection:
        connection.execute(select(judgments)).all()
        with pytest.raises(InputError, match="may still hold what was deleted") as said:
            judges.forget_judges(campaign.database, ["Wilhelmina"])
        assert str(log) in str(said.value)
        assert b"Wilhelmina" in log.read_bytes()
    campaign.database.close()
    assert not any(b"Wilhelmina" in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.postgres
def test_postgres_that_may_lose_is_refused(cluster: postgres.Cluster, postgres_place: str) -> None:
    name = postgres_place.rpartition("/")[2]
    cluster.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    with pytest.raises(InputError, match="synchronous_commit is off"):
        databases.create_database(postgres_place)
    cluster.execute(f"ALTER DATABASE {name} RESET synchronous_commit")
    cluster.change("fsync", "off")
    try:
        with pytest.raises(InputError, match="fsync is off"):
            databases.create_database(postgres_place)
    finally:
        cluster.change("fsync", "on")


def _add_column(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE campaign ADD COLUMN mood TEXT"))


def test_older_schemas_are_migrated_after_a_backup(make_sqlite: Make) -> None:
    path = make_sqlite(Design()).database.path
    assert path is not None
    now, new = schema.VERSION, schema.VERSION + 1
    steps = {**schema.MIGRATIONS, new: _add_column}
    for _ in range(2):
        assert read(path, text("SELECT mood FROM campaign"), steps=steps) == [(None,)]
        assert read(path, select(schema.schemas.c.version), steps=steps) == [(new,)]
    databases.open_database(
        f"{path}.schema{now}"
    ).close()  # the copy is of the old schema, and whole
    with pytest.raises(InputError, match=f"schema {new}, and this program knows {now}"):
        databases.open_database(str(path))


def test_step_that_fails_leaves_the_old_schema(make_sqlite: Make) -> None:
    def fails(connection: Connection) -> None:
        _add_column(connection)
        raise RuntimeError("no")

    path = make_sqlite(Design()).database.path
    with pytest.raises(RuntimeError):
        databases.open_database(str(path), steps={**schema.MIGRATIONS, schema.VERSION + 1: fails})
    with pytest.raises(OperationalError, match="mood"):
        read(path, text("SELECT mood FROM campaign"))


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("schema-*.sql")), ids=lambda path: path.stem)
def test_every_released_schema_opens(path: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    connection = sqlite3.connect(old)
    connection.executescript(path.read_text(encoding="utf-8"))
    connection.close()
    database = databases.open_database(str(old))
    store = AssignmentStore(database, rng=np.random.default_rng(0))
    assert store.campaign().design.kind == ("review" if path.stem == "schema-2" else "rank")
    assert isinstance(next_task(store, 1), KeepCurrent)
    with database.reading() as reading:
        assert reading.execute(select(judgments)).all()
        assert reading.execute(select(schema.schemas.c.version)).scalar_one() == schema.VERSION
        tables = {table.name: {*table.c.keys()} for table in metadata.sorted_tables}
        there = inspect(reading)
        assert tables == {
            name: {column["name"] for column in there.get_columns(name)}
            for name in there.get_table_names()
        }
    database.close()


@BOTH_DATABASES
def test_reviews_of_the_first_schema_are_kept_from_the_same_judges(make: Make, place: str) -> None:
    """Before there were writers, a judge with the name of a system wrote its texts."""
    texts = material(6, 2, sharing=0)
    texts = texts._replace(systems={"j0": texts.systems["S0"], "x": texts.systems["S1"]})
    before = make(Design(kind="review", judges=1, overlap=0, repeats=0), texts)
    writers = select(schema.writers.c.output, schema.writers.c.name)
    rows = before.rows(writers)
    with before.database.writing() as connection:
        schema.writers.drop(connection)
        schema.links.drop(connection)
        connection.execute(update(schema.schemas).values(version=1))
    before.database.close()
    after = Made(databases.open_database(place), texts, before.judges)
    assert sorted(after.rows(writers)) == sorted(rows)
    assert {row.name for row in rows} == {"j0", "x"}
    tasks = [after.submit(1, task, {"accept": True}).status for task, _ in after.tasks()]
    assert tasks == [201] * 6
    after.database.close()


@BOTH_DATABASES
def test_first_step_still_makes_the_first_schema(place: str) -> None:
    databases.create_database(place, steps={1: schema.MIGRATIONS[1]}).close()
    with closing(databases.open_database(place, steps={1: schema.MIGRATIONS[1]})) as first:
        later = {"writer", "link"}
        assert set(inspect(first.engine).get_table_names()) == set(metadata.tables) - later
    with closing(databases.open_database(place)) as now:
        assert set(inspect(now.engine).get_table_names()) == set(metadata.tables)
    assert len(list(GOLDEN.glob("schema-*.sql"))) == schema.VERSION == max(schema.MIGRATIONS)


def test_new_campaign_has_the_released_schema(tmp_path: Path) -> None:
    """With every constraint, index and trigger."""
    databases.create_database(str(tmp_path / "new.db")).close()
    with (
        closing(sqlite3.connect(":memory:")) as released,
        closing(sqlite3.connect(tmp_path / "new.db")) as new,
    ):
        released.executescript((GOLDEN / f"schema-{schema.VERSION}.sql").read_text("utf-8"))
        wanted, found = (
            {*each.execute("SELECT name, sql FROM sqlite_master")} for each in (released, new)
        )
    assert found == wanted


def test_one_process_serves(make_sqlite: Make) -> None:
    database = make_sqlite(Design()).database
    program = (
        "import sys\nfrom errata.core.errors import InputError\n"
        "from errata.collect.web.database import open_database, serving\n"
        "try:\n"
        "    with serving(open_database(sys.argv[1])): print('served')\n"
        "except InputError as error: print(error)\n"
    )
    command = [sys.executable, "-c", program, str(database.path)]

    def said() -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    with databases.serving(database):
        assert "another process serves this campaign" in said()
    assert said() == "served\n"


def answered(made: Made, judge: int, comment: str = "") -> None:
    task = made.claim(judge)
    made.submit(judge, task, ranked_alike(made.body(judge, task)), comment=comment)


def test_snapshots_are_taken_when_due_and_three_are_kept(make_sqlite: Make) -> None:
    made = make_sqlite(Design())
    path = made.database.path
    assert path is not None
    snapshots = databases.Snapshots(made.database)
    assert snapshots.take_if_due(0) is not None
    answered(made, 1)
    assert snapshots.take_if_due(databases.EVERY_MS - 1) is None
    second = snapshots.take_if_due(databases.EVERY_MS)
    assert second is not None
    assert snapshots.take_if_due(2 * databases.EVERY_MS) is None  # nothing has changed
    for k in range(3, 7):
        answered(made, 1)
        assert snapshots.take_if_due(k * databases.EVERY_MS) is not None
    kept = databases.snapshots_of(path)
    assert len(kept) == 3
    assert len(read(kept[-1], select(judgments))) == 5
    assert stat.S_IMODE(kept[-1].stat().st_mode) == 0o600


FORGOTTEN = (b"Wilhelmina", b"EXTERNAL-0042", b"SESSION-77", b"REMARKABLE")


def to_be_forgotten(made: Made) -> judges.InvitedJudge:
    """A judge of a panel who has answered, with comments, and wrote a text that others review."""
    who = judges.add_judges(made.database, ["Wilhelmina-Unmistakable"])[0]
    with made.database.writing() as connection:
        connection.execute(insert(schema.writers).values(output=1, name=who.name))
        row = {"judge": who.id, "campaign": 1, "provider": "panel"}
        row |= {"external_id": "EXTERNAL-0042", "session_digest": "SESSION-77"}
        connection.execute(insert(identities).values(row))
    for _ in range(3):
        answered(made, who.id, "a REMARKABLE comment")
    answered(made, made.judges[0].id, "stays")
    return who


def named_in(files: Iterable[Path]) -> set[bytes]:
    return {word for file in files for word in FORGOTTEN if word in file.read_bytes()}


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("erase", [False, True])
def test_forgotten_in_no_table(cluster: postgres.Cluster, postgres_place: str, erase: bool) -> None:
    campaign = made(postgres_place, Design(judges=2))
    database = campaign.database
    who = to_be_forgotten(campaign)

    def left() -> tuple[set[bytes], set[bytes]]:
        with database.reading() as connection:
            rows = repr(
                [connection.execute(select(table)).all() for table in metadata.sorted_tables]
                + [connection.exec_driver_sql("SELECT * FROM pg_stats").all()]
            ).encode()
        cluster.execute("CHECKPOINT")
        files = [file for file in (cluster.data / "base").rglob("*") if file.is_file()]
        return {word for word in FORGOTTEN if word in rows}, named_in(files)

    assert left() == (set(FORGOTTEN), set(FORGOTTEN))
    judges.forget_judges(database, [who.name], erase=erase)
    assert left() == (set(), set())
    database.close()


@pytest.mark.parametrize("erase", [False, True])
def test_forgotten_judge_is_in_no_file(make_sqlite: Make, erase: bool) -> None:
    made = make_sqlite(Design(judges=2))
    path = made.database.path
    assert path is not None
    who = to_be_forgotten(made)
    databases.Snapshots(made.database).take(5)

    def found() -> set[bytes]:
        return named_in(each for each in path.parent.iterdir() if each.is_file())

    assert found() == set(FORGOTTEN)
    (new,) = judges.forget_judges(made.database, [who.name], erase=erase)
    assert found() == set()
    assert new.startswith("forgotten-")
    assert made.store.salt_of_judge(who.id) is None
    rows = made.rows(judgments)
    assert len(rows) == (1 if erase else 4)
    assert [row.comment for row in rows if row.comment] == ["stays"]
    with pytest.raises(InputError, match="no judge"):
        judges.forget_judges(made.database, [new])


def test_writers_are_forgotten_whether_they_judge_or_not(make: Make) -> None:
    texts = material(6, 1, sharing=0)
    wrote = dict.fromkeys(enumerate(texts.systems["S0"]), ("ann", "j0"))
    design = Design(kind="review", judges=2, overlap=0, repeats=0)
    made = make(design, texts._replace(writers=wrote))

    def names() -> set[str]:
        return set(made.scalars(select(schema.writers.c.name)))

    assert names() == {"S0", "ann", "j0"}
    for nobody in ("S0", "bo"):  # a system, and a stranger
        with pytest.raises(InputError, match="there is no judge"):
            judges.forget_judges(made.database, ["ann", nobody])
    assert names() == {"S0", "ann", "j0"}  # all or none
    assert judges.forget_judges(made.database, ["ann"]) == []
    assert names() == {"S0", "j0"}
    (left,) = judges.forget_judges(made.database, ["j0"])
    assert left.startswith("forgotten-")
    assert names() == {"S0"}
    told = made.scalars(select(schema.events.c.detail))
    assert {"texts": 6} in told
    assert "ann" not in repr(told)


def test_the_key_is_for_its_owner_alone(tmp_path: Path) -> None:
    beside = tmp_path / "x.db"
    with pytest.raises(InputError, match="key of the campaign is missing"):
        find_key(beside, None)
    key = find_key(beside, None, create=True)
    place = tmp_path / "x.db.key"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert find_key(beside, None) == find_key(beside, None, create=True) == key
    assert len(key) == 32
    place.chmod(0o640)
    with pytest.raises(InputError, match="others may read the key"):
        find_key(beside, None)
    place.chmod(0o600)
    place.write_bytes(b"short")
    with pytest.raises(InputError, match="no key"):
        find_key(beside, None)
    assert find_key(None, "ab" * 32) == key_from_hex("AB" * 32) == b"\xab" * 32
    with pytest.raises(InputError, match=KEY_VARIABLE):
        find_key(None, None)
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        find_key(None, "secret")


def test_a_clock_that_was_set_back_ends_no_lease_early(make_sqlite: Make) -> None:
    made = make_sqlite(Design())
    held = made.claim()
    day = 24 * 3600 * 1000
    again = AssignmentStore(
        made.database, wall=lambda: made.clock.now - day
    )  # restarted, a day earlier
    assert made.clock.now <= again.steady() < made.clock.now + 60_000
    assert next_task(again, 1) == KeepCurrent(held)


def test_statements_have_bound_parameters_only() -> None:
    """Text that becomes SQL is written in the program, never put together from values."""
    paths = sorted(Path(databases.__file__).parent.glob("*.py"))
    assert paths
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in ("text", "exec_driver_sql", "literal_column"):
                said = node.args[0]
                constant = isinstance(said, ast.Constant) or (
                    isinstance(said, ast.IfExp)
                    and isinstance(said.body, ast.Constant)
                    and isinstance(said.orelse, ast.Constant)
                )
                assert constant, f"{path.name}:{node.lineno}"


def test_events_hold_no_names(make_sqlite: Make) -> None:
    made = make_sqlite(Design(judges=2))
    judges.rotate_judges(made.database, ["j0"])
    judges.set_state_of_judge(made.database, "j1", "blocked")
    rows = made.rows(schema.events)
    assert {row.kind for row in rows} >= {"new", "judges", "state", "rotated", "blocked"}
    assert not any(name in str(row.detail) for row in rows for name in ("j0", "j1"))
    assert all(isinstance(row.detail, dict) for row in rows)
