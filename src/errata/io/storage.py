"""Open a folder that several processes write to, on a disk or in an object store.

A file appears whole or not at all, and two processes that write the same file write the same bytes.
Unfinished files wait in a folder of their own.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from errata.core.errors import InputError
from errata.io.atomic import flush_to_disk
from errata.io.files import file_error, file_system_of_url

WAITING = ".waiting"  # holds the files that are being written


@contextmanager
def _io_errors(verb: str, name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and verb != "write":
            raise  # which says that there is none
        raise file_error(verb, error, name) from None


@dataclass(frozen=True)
class Folder:
    """A folder on a local or shared disk; names in it are relative, with ``/`` between parts."""

    place: str

    def _path(self, name: str) -> Path:
        return Path(self.place, *name.split("/"))

    def read_file(self, name: str) -> bytes:
        """The content of a file; FileNotFoundError where there is none."""
        with _io_errors("read", f"{self.place}/{name}"):
            return self._path(name).read_bytes()

    @contextmanager
    def open_file(self, name: str) -> Iterator[IO[bytes]]:
        """A file to be read piece by piece; FileNotFoundError where there is none."""
        with _io_errors("read", f"{self.place}/{name}"), self._path(name).open("rb") as file:
            yield file

    def sizes(self, under: str = "") -> dict[str, int]:
        """Every file below a name, with its size; without files being written."""
        found: dict[str, int] = {}
        start = self._path(under) if under else Path(self.place)
        with _io_errors("read", str(start)), contextlib.suppress(FileNotFoundError):
            if start.is_file():
                return {under: start.stat().st_size}
            for folder, inside, files in os.walk(start):
                inside[:] = sorted(name for name in inside if not name.startswith("."))
                for name in sorted(files):
                    path = Path(folder, name)
                    with contextlib.suppress(FileNotFoundError):  # taken away meanwhile
                        found[path.relative_to(self.place).as_posix()] = path.stat().st_size
        return found

    def remove(self, name: str) -> None:
        """Take away a file, or a folder with all in it; it need not be there."""
        path = self._path(name)
        with _io_errors("remove", str(path)), contextlib.suppress(FileNotFoundError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def put_file(self, written: Path, name: str, *, lasting: bool = False) -> None:
        """Let a file that was written in `waiting` appear under its name.

        With ``lasting`` it outlasts a power cut; other files are checked when they are read.
        """
        path = self._path(name)
        with _io_errors("write", str(path)):
            path.parent.mkdir(parents=True, exist_ok=True)
            if lasting:
                flush_to_disk(written)
            os.replace(written, path)
            if lasting:
                with contextlib.suppress(OSError):  # some file systems flush no folders
                    flush_to_disk(path.parent)

    @contextmanager
    def temporary_folder(self) -> Iterator[Path]:
        """A folder on the same disk for files that are being written; gone at its end."""
        path = Path(self.place, WAITING, secrets.token_hex(8))
        with _io_errors("write", str(path)):
            _make_folder(path)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):  # others are writing
                path.parent.rmdir()

    def write(self, data: bytes, name: str, *, lasting: bool = True) -> None:
        """Write a file whole, over an old one."""
        with self.temporary_folder() as beside, _io_errors("write", f"{self.place}/{name}"):
            written = beside / "content"
            written.write_bytes(data)
            self.put_file(written, name, lasting=lasting)


def _make_folder(path: Path) -> None:
    """Make a folder in one that others make too, and take away when they find it empty."""
    for _ in range(1000):
        with contextlib.suppress(FileNotFoundError, FileExistsError):  # taken away meanwhile
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir()
            return
    path.mkdir(parents=True)


@dataclass(frozen=True)
class StoreFolder(Folder):
    """A place that fsspec knows, as ``s3://bucket/run``: one put makes a file appear."""

    storage: Mapping[str, Any] = field(default_factory=dict)

    def _file_system(self) -> tuple[Any, str]:
        try:
            system, root = file_system_of_url(self.place, self.storage)
        except (ImportError, ValueError) as error:
            remedy = "install what reads it, or name a folder"
            raise InputError(str(error), path=self.place, remedy=remedy) from None
        return system, root.rstrip("/")

    def read_file(self, name: str) -> bytes:
        system, root = self._file_system()
        with _io_errors("read", f"{self.place}/{name}"):
            data: bytes = system.cat_file(f"{root}/{name}")
            return data

    @contextmanager
    def open_file(self, name: str) -> Iterator[IO[bytes]]:
        system, root = self._file_system()
        with _io_errors("read", f"{self.place}/{name}"), system.open(f"{root}/{name}") as file:
            yield file

    def sizes(self, under: str = "") -> dict[str, int]:
        system, root = self._file_system()
        with _io_errors("read", self.place), contextlib.suppress(FileNotFoundError):
            found = system.find(f"{root}/{under}" if under else root, detail=True)
            start = root.lstrip("/") + "/"
            return {
                path.lstrip("/").removeprefix(start): int(about["size"])
                for path, about in sorted(found.items())
            }
        return {}

    def remove(self, name: str) -> None:
        system, root = self._file_system()
        with _io_errors("remove", f"{self.place}/{name}"), contextlib.suppress(FileNotFoundError):
            system.rm(f"{root}/{name}", recursive=True)

    def put_file(self, written: Path, name: str, *, lasting: bool = False) -> None:
        system, root = self._file_system()
        with _io_errors("write", f"{self.place}/{name}"):
            parent = f"{root}/{name}".rpartition("/")[0]
            with contextlib.suppress(OSError, NotImplementedError):  # stores have no folders
                system.makedirs(parent, exist_ok=True)
            system.put_file(str(written), f"{root}/{name}")

    @contextmanager
    def temporary_folder(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="errata-") as path:
            yield Path(path)


def open_folder(place: str, storage: Mapping[str, Any] | None = None) -> Folder:
    """The folder that a path or an address (``s3://bucket/run``) names.

    >>> open_folder("runs/one")
    Folder(place='runs/one')
    """
    if "://" in place:
        return StoreFolder(place.rstrip("/"), dict(storage or {}))
    return Folder(place)
