"""Snapshots beside a SQLite file: every ten minutes with changes, the last three are kept."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import func, select

from errata.web.clock import iso_time
from errata.web.database import Database, backup
from errata.web.schema import assignments, events, judgments

__all__ = ["Snapshots", "drop_snapshots", "snapshots_of"]

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
    """Takes a snapshot when one is due; called now and then by whoever serves."""

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
