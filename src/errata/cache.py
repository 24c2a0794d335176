"""Results that took long, on disk by digest, so that nothing is computed twice.

One SQLite file in the folder ERRATA_CACHE, or in the user's cache folder. Every batch is a
transaction, and every use opens its own connection: processes may share the file, and one that
is killed leaves what it had finished. The rollback journal is used, not the write-ahead log,
because the latter must not be shared over network file systems.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from errata.errors import InputError

__all__ = ["BlobCache", "cache_folder"]

BUSY_SECONDS = 60.0
LOOK_UP = 500  # keys in one query; SQLite allows 999 variables in its oldest versions
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS blobs (revision TEXT, key BLOB, value BLOB, "
    "PRIMARY KEY (revision, key)) WITHOUT ROWID"
)


def cache_folder() -> Path:
    """ERRATA_CACHE, or Errata's folder among the user's caches."""
    folder = os.environ.get("ERRATA_CACHE")
    if folder:
        return Path(folder)
    import pooch

    return Path(pooch.os_cache("errata"))


@dataclass(frozen=True)
class BlobCache:
    """Bytes by revision and text in one file; texts are kept as digests only.

    ``revision`` names what computed the value and must change when its results would.
    """

    path: Path

    def get(self, revision: str, texts: Iterable[str]) -> dict[str, bytes]:
        """The values of those texts that are there."""
        if not self._exists():
            return {}
        keys = {_digest(text): text for text in texts}
        listed = list(keys)
        found: dict[str, bytes] = {}
        with self._open() as connection:
            for start in range(0, len(listed), LOOK_UP):
                part = listed[start : start + LOOK_UP]
                marks = ",".join("?" * len(part))
                for key, value in connection.execute(
                    f"SELECT key, value FROM blobs WHERE revision = ? AND key IN ({marks})",
                    (revision, *part),
                ):
                    found[keys[key]] = value
        return found

    def put(self, revision: str, values: Mapping[str, bytes]) -> None:
        """Keep values; what is there already stays."""
        rows = [(revision, _digest(text), value) for text, value in values.items()]
        with self._explained():
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?, ?)", rows)
            connection.execute("COMMIT")

    def _exists(self) -> bool:
        with self._explained():
            return self.path.exists()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # A connection of its own for each use: safe in threads and after a fork.
        with self._explained():
            connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
            try:
                connection.execute(SCHEMA)
                yield connection
            finally:
                connection.close()  # rolls back what was not committed

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            what = error.strerror if isinstance(error, OSError) else error
            raise InputError(
                f"cannot use the cache: {what}",
                path=str(self.path),
                remedy="delete the file (it only saves time), or set ERRATA_CACHE "
                "to a folder that can be written",
            ) from error


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
