"""Open, migrate, lock, snapshot; events; monotonic time."""

from __future__ import annotations

import contextlib
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, func, inspect, select, text, update
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, OperationalError

import errata
from errata.collect.web import schema
from errata.collect.web.schema import assignments, events, judgments
from errata.core.errors import InputError, MissingExtraError, install_extra

# ---- Time for leases: it never runs back, whatever happens to the clock of the machine.


def wall_ms() -> int:
    """Milliseconds since 1970, by the machine's clock."""
    return time.time_ns() // 1_000_000


def iso_time(ms: int) -> str:
    """A time as files have it.

    >>> iso_time(1_700_000_000_123)
    '2023-11-14T22:13:20.123Z'
    """
    moment = datetime.fromtimestamp(ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


class SteadyClock:
    """Milliseconds that go on from a start by the monotonic clock.

    A process starts from the machine's clock, or from the latest time in the database where that is
    later: so leases neither end early nor live for ever when a clock is set.

    >>> ticks = iter([5.0, 6.5])
    >>> SteadyClock(1000, lambda: next(ticks))()
    2500
    """

    def __init__(self, start: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._start, self._monotonic = start, monotonic
        self._zero = monotonic()

    def __call__(self) -> int:
        return self._start + int((self._monotonic() - self._zero) * 1000)


APPLICATION = 0x45525441  # "ERTA", in the header of the file
BUSY_MS = 5000
RESTED = 1.0  # seconds
TABLES = frozenset(schema.metadata.tables)
Steps = Mapping[int, Callable[[Connection], None]]


@dataclass(frozen=True)
class Database:
    """An open database; ``path`` is None for PostgreSQL."""

    engine: Engine
    path: Path | None
    # SQLite's writers queue: in one process by this, for it wakes the next one at once, where the
    # database itself would let all of them look again now and then.
    turn: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)
    file: tuple[int, int] | None = None  # device and inode of the file that was opened

    @property
    def name(self) -> str:
        """What it is called in messages: never with a password."""
        if self.path is not None:
            return str(self.path)
        return self.engine.url.render_as_string(hide_password=True)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction that may write: immediate in SQLite, committed at its end."""
        queue = contextlib.nullcontext() if self.path is None else self.turn
        with queue, self.engine.begin() as connection:
            yield connection
            self.check_file()

    def check_file(self) -> None:
        """Refuse to store anything in a file that was moved, deleted or replaced meanwhile."""
        if self.file is not None and self.file != _file_number(self.path):
            raise OperationalError("", None, OSError("the file was moved, deleted or replaced"))

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One transaction that reads a state at one time, and holds up nobody."""
        with self.engine.connect() as plain:
            connection = plain.execution_options(reading=True)
            if self.path is None:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def at_once(self) -> Iterator[Database]:
        """Several changes in one transaction: all that is done with what this gives, or nothing."""
        with self.writing() as connection:
            yield _OneTransaction(self.engine, self.path, connection=connection)

    def close(self) -> None:
        """End all connections."""
        self.engine.dispose()


@dataclass(frozen=True)
class _OneTransaction(Database):
    """The database within a transaction that is open; who began it ends it."""

    connection: Connection = field(kw_only=True)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        yield self.connection

    reading = writing


def error_text(error: Exception) -> str:
    """What a database says in one line, without anything of the statement."""
    return " ".join(str(error.orig if isinstance(error, DBAPIError) else error).split())


def create_database(
    place: str,
    *,
    steps: Steps = schema.MIGRATIONS,
    fill: Callable[[Database], None] = lambda database: None,
) -> Database:
    """A new database with the tables of a campaign; one that holds anything is refused.

    ``fill`` puts in what belongs there from the start, in the same transaction: an
    interruption leaves an empty database, and never half a campaign.
    """
    database = _open_engine(place)
    with _open_errors(database), database.at_once() as whole, whole.writing() as connection:
        found = set(inspect(connection).get_table_names())
        if found:
            raise InputError(
                "there is something in this database already",
                path=database.name,
                remedy="give another name, or leave out new",
            )
        for number in sorted(steps):
            steps[number](connection)
        _write_version(connection, max(steps), new=True)
        if database.path is not None:
            connection.exec_driver_sql("PRAGMA application_id = 1163023425")  # APPLICATION
        fill(whole)
    return database


def open_database(place: str, *, steps: Steps = schema.MIGRATIONS) -> Database:
    """Open a campaign: refused if it is not ours or newer, migrated (after a backup) if older."""
    if not _is_url(place) and not Path(place).exists():
        raise InputError(
            "there is no such campaign", path=place, remedy="make one: errata collect new"
        )
    database = _open_engine(place)
    with _open_errors(database):
        with database.reading() as connection:
            version = _version(connection, database)
        newest = max(steps)
        if version > newest:
            raise InputError(
                f"the campaign has schema {version}, and this program knows {newest}",
                path=database.name,
                remedy="install a newer errata",
            )
        if version < newest:
            _migrate(database, version, steps)
    return database


def holds_campaign(place: str) -> bool:
    """Whether there is anything at a place; what is there may still be refused on opening."""
    if not _is_url(place) and not (Path(place).exists() and Path(place).stat().st_size):
        return False
    database = _open_engine(place)
    try:
        with _open_errors(database), database.reading() as connection:
            return bool(inspect(connection).get_table_names())
    finally:
        database.close()


def _version(connection: Connection, database: Database) -> int:
    foreign = InputError(
        "this database is not a campaign of errata",
        path=database.name,
        remedy="give the file that errata collect new made",
    )
    if "schema" not in inspect(connection).get_table_names():
        raise foreign
    try:
        rows = connection.execute(select(schema.schemas.c.version, schema.schemas.c.program)).all()
    except DBAPIError:
        raise foreign from None
    if len(rows) != 1 or not str(rows[0].program).startswith("errata"):
        raise foreign
    return int(rows[0].version)


def _migrate(database: Database, version: int, steps: Steps) -> None:
    """Forward by numbered steps, each in a transaction of its own, after a backup."""
    if database.path is not None:
        backup(database, database.path.with_name(f"{database.path.name}.schema{version}"))
    for number in range(version + 1, max(steps) + 1):
        with database.writing() as connection:
            steps[number](connection)
            _write_version(connection, number)


def _write_version(connection: Connection, version: int, *, new: bool = False) -> None:
    values = {"version": version, "program": f"errata {errata.__version__}"}
    if new:
        connection.execute(schema.schemas.insert().values(id=1, **values))
    else:
        connection.execute(update(schema.schemas).values(**values))


def backup(database: Database, to: Path) -> None:
    """Copy a SQLite database while it is in use: whole, as it is at one time, owner only."""
    assert database.path is not None, "PostgreSQL has its own backups"
    temporary = to.with_name(f".{to.name}.part")
    temporary.unlink(missing_ok=True)
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with (
            contextlib.closing(sqlite3.connect(database.path)) as source,
            contextlib.closing(sqlite3.connect(temporary)) as target,
        ):
            source.execute("PRAGMA busy_timeout = 5000")
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(to)
    finally:
        temporary.unlink(missing_ok=True)


def _is_url(place: str) -> bool:
    return "://" in place


def _open_engine(place: str) -> Database:
    if not _is_url(place):
        return _sqlite(Path(place))
    try:
        url = make_url(place)
    except ArgumentError:
        raise InputError(
            "this is no address of a database", remedy="postgresql://user@host/name"
        ) from None
    if url.get_backend_name() != "postgresql":
        raise InputError(
            f"databases of {url.get_backend_name()} are not supported",
            remedy="use postgresql://…, or the name of a file",
        )
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise MissingExtraError("psycopg", install_extra("web-postgres")) from None
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=8,
        max_overflow=8,
        pool_timeout=10,
        pool_use_lifo=True,  # the connection left last knows the statements, and needs no asking
        connect_args={"prepare_threshold": 1},  # statements are few, and come again and again
    )
    pool_pre_ping(engine)
    database = Database(engine, None)
    with _open_errors(database), engine.connect() as connection:
        for setting in ("fsync", "synchronous_commit"):
            value = connection.execute(
                text("SELECT current_setting(:setting)"), {"setting": setting}
            ).scalar_one()
            if value == "off":
                raise InputError(
                    f"{setting} is off: what was stored could be lost",
                    path=database.name,
                    remedy=f"set {setting} = on",
                )
    return database


def pool_pre_ping(engine: Engine) -> None:
    """A connection that was left for a while is asked whether it lives before it is used.

    One that dies at work takes the others of the pool with it, so that the next call finds a new
    one; asking every time would cost a fifth of each request.
    """
    import psycopg

    @event.listens_for(engine, "checkin")
    def _note_return(_: Any, record: Any) -> None:
        record.info["left"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _check_connection(raw: Any, record: Any, _: Any) -> None:
        if time.monotonic() - record.info.get("left", math.inf) < RESTED:
            return
        try:
            raw.execute("SELECT 1")
            raw.rollback()
        except psycopg.Error:
            raise DisconnectionError from None


def _sqlite(path: Path) -> Database:
    if path.is_dir():
        raise InputError("this is a folder", path=str(path), remedy="give the name of a file in it")
    if path.exists() and path.stat().st_size and not _looks_like_sqlite(path):
        raise InputError(
            "this file is no SQLite database", path=str(path), remedy="give another name"
        )
    if not path.exists():
        try:  # for its owner alone: it may come to hold personal data
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError as error:
            raise InputError(
                f"cannot make the file: {error.strerror}", path=str(path), remedy="check the path"
            ) from None
    engine = create_engine(f"sqlite:///{path.resolve()}", pool_size=4, max_overflow=4)

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so
        cursor = connection.cursor()
        for statement in (
            f"PRAGMA busy_timeout = {BUSY_MS}",
            "PRAGMA foreign_keys = ON",
            "PRAGMA synchronous = FULL",
            "PRAGMA secure_delete = ON",
            "PRAGMA trusted_schema = OFF",
        ):
            cursor.execute(statement)
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        reading = connection.get_execution_options().get("reading")
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    database = Database(engine, path, file=_file_number(path))
    with _open_errors(database), contextlib.closing(engine.raw_connection()) as raw:
        mode = raw.cursor().execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise InputError(
                f"SQLite's write-ahead log cannot be had here (journal mode {mode})",
                path=str(path),
                remedy="keep the file on a local disk, or use PostgreSQL",
            )
    return database


def _file_number(path: Path | None) -> tuple[int, int] | None:
    try:
        found = os.stat(path or "")
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _looks_like_sqlite(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(16) == b"SQLite format 3\x00"


@contextmanager
def _open_errors(database: Database) -> Iterator[None]:
    """What the database says on opening, in one line; what cannot be opened is closed again."""
    try:
        try:
            yield
        except BaseException:
            database.close()
            raise
    except OperationalError as error:
        raise InputError(
            f"the database cannot be opened: {error_text(error)}",
            path=database.name,
            remedy="check that it is there, and that you may write it",
        ) from None
    except sqlite3.Error as error:
        raise InputError(
            f"the database cannot be opened: {error}",
            path=database.name,
            remedy="check the file, and that you may write it",
        ) from None


@contextmanager
def serving(database: Database) -> Iterator[None]:
    """Hold what only one serving process may hold; a second one on a SQLite file is refused."""
    if database.path is None:
        yield
        return
    place = database.path.with_name(database.path.name + ".lock")
    descriptor = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            _lock_file(descriptor)
        except OSError:
            raise InputError(
                "another process serves this campaign",
                path=database.name,
                remedy="stop it first, or use PostgreSQL for several",
            ) from None
        yield
    finally:
        os.close(descriptor)  # which ends the lock; the file stays, so that nobody races for it


def _lock_file(descriptor: int) -> None:
    if os.name == "nt":
        import msvcrt

        locking: Any = getattr(msvcrt, "locking")  # noqa: B009 - not there for mypy elsewhere
        locking(descriptor, getattr(msvcrt, "LK_NBLCK"), 1)  # noqa: B009
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


# ---- Events: what happened to a campaign.


def record(connection: Connection, actor: str, kind: str, **detail: Any) -> None:
    """Write an event; never with tokens, names or external ids."""
    event = {"time": wall_ms(), "actor": actor, "kind": kind, "detail": detail}
    connection.execute(events.insert(), event)


# ---- Snapshots beside a SQLite file: every ten minutes with changes, the last three are kept.

EVERY_MS = 10 * 60 * 1000
KEPT = 3


def snapshots_of(path: Path) -> list[Path]:
    """The snapshots of a database, oldest first."""
    return sorted(path.parent.glob(f"{_escaped(path.name)}.snapshot-*"))


def _escaped(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def drop_snapshots(path: Path) -> None:
    """Delete all snapshots of a database: they may hold somebody who is to be forgotten."""
    for each in snapshots_of(path):
        each.unlink()


class Snapshots:
    """Takes a snapshot when one is due; the background work of a server asks now and then."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._last: int | None = None
        self._state: tuple[int, ...] | None = None

    def take_if_due(self, now: int) -> Path | None:
        """A snapshot if ten minutes have passed since the last and something has changed."""
        if self.database.path is None:
            return None
        if self._last is not None and now - self._last < EVERY_MS:
            return None
        state = self._fingerprint()
        if state == self._state:
            return None
        self._last, self._state = now, state
        return self.take(now)

    def take(self, now: int) -> Path:
        """A snapshot; older ones than the last three are deleted."""
        assert self.database.path is not None
        stamp = iso_time(now).replace(":", "").replace("-", "")
        path = self.database.path.with_name(f"{self.database.path.name}.snapshot-{stamp}")
        backup(self.database, path)
        for old in snapshots_of(self.database.path)[:-KEPT]:
            old.unlink()
        return path

    def _fingerprint(self) -> tuple[int, ...]:
        with self.database.reading() as connection:
            found = [
                connection.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one()
                for table in (events, judgments, assignments)
            ]
        return tuple(map(int, found))
