"""Results that took long, on disk by digest, so that nothing is computed twice.

A cache only saves time: one that is locked, full, read-only or broken causes one warning, and then
left alone, and the run goes on. Its files are the user's alone (mode 0600).

One SQLite file in the folder ERRATA_CACHE, or in the user's cache folder. Every batch is a
transaction, and every use opens its own connection: processes may share the file, and one that
is killed leaves what it had finished. The rollback journal is used, not the write-ahead log,
because the latter must not be shared over network file systems.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from errata.core.errors import DataWarning, InputError

BUSY_SECONDS = 10.0  # how long another process may hold the file before it is left alone
LOOK_UP = 500  # keys in one query; SQLite allows 999 variables in its oldest versions
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS blobs (revision TEXT, key BLOB, value BLOB, "
    "PRIMARY KEY (revision, key)) WITHOUT ROWID"
)

_unusable: set[tuple[Path, str]] = set()  # given up on: a try may have to wait
_marking = threading.Lock()


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
        if (self.path, "read") in _unusable:
            return {}
        keys = {_digest(text): text for text in texts}
        listed = list(keys)
        found: dict[str, bytes] = {}
        with self._without_cache_on_error("read"):
            if not self._has_file():
                return {}
            with self._open() as connection:
                for start in range(0, len(listed), LOOK_UP):
                    part = listed[start : start + LOOK_UP]
                    marks = ",".join("?" * len(part))
                    for key, value in connection.execute(
                        f"SELECT key, value FROM blobs WHERE revision = ? AND key IN ({marks})",
                        (revision, *part),
                    ):
                        if isinstance(value, bytes):  # else somebody wrote it, not we
                            found[keys[key]] = value
        return found

    def store(self, revision: str, values: Mapping[str, bytes]) -> None:
        """Store values, replacing existing ones."""
        if (self.path, "written") in _unusable:
            return
        rows = [(revision, _digest(text), value) for text, value in values.items()]
        with self._without_cache_on_error("written"):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._has_file():
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            if self.path.stat().st_mode & 0o077:  # made before, for everybody to read
                self.path.chmod(0o600)
            with self._open() as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)", rows)
                connection.execute("COMMIT")

    def _has_file(self) -> bool:
        """Whether there is a file; a device, to which the name may be a link, is not touched."""
        if self.path.exists() and not self.path.is_file():
            raise OSError(errno.EINVAL, "it is not a file")
        return self.path.exists()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # A connection of its own for each use: safe in threads and after a fork.
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute(SCHEMA)
            yield connection
        finally:
            connection.close()  # rolls back what was not committed

    @contextmanager
    def _without_cache_on_error(self, what: str) -> Iterator[None]:
        """Go on without the cache where it cannot be used, and say so once."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            with _marking:
                first = (self.path, what) not in _unusable
                _unusable.add((self.path, what))
            if first:
                warnings.warn(
                    f"{self.path}: the cache cannot be {what}: {why}; the run goes on without it; "
                    "delete the file (it only saves time), or set ERRATA_CACHE to a folder that "
                    "can be written",
                    DataWarning,
                    stacklevel=2,
                )


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def folder_digest(path: Path, cache: BlobCache) -> str:
    """A digest of a model's file or of all files in its folder, remembered until one changes.

    Reading gigabytes of weights on every run would take longer than looking up their sentences.
    What Python or an editor leaves beside them (``__pycache__``, hidden files) is no part of it.
    """
    files = (
        [path]
        if path.is_file()
        else sorted(
            file
            for file in path.rglob("*")
            if file.is_file() and not file.name.startswith(".") and "__pycache__" not in file.parts
        )
    )
    if not files:
        raise InputError("there is no model in this folder", path=str(path))
    # The time of a change can be set back by whoever makes it, that of the inode cannot.
    states = [(file.resolve(), file.stat()) for file in files]
    stamps = [f"{at} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns} {s.st_ino}" for at, s in states]
    stamp = "\n".join(stamps)
    known = cache.get("digests of model files", [stamp])
    if len(known.get(stamp, b"")) == hashlib.sha256().digest_size:
        return known[stamp].hex()
    total = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            name = "" if file == path else file.relative_to(path).as_posix()
            total.update(f"{name}\0".encode() + hashlib.file_digest(opened, "sha256").digest())
    cache.store("digests of model files", {stamp: total.digest()})
    return total.hexdigest()
