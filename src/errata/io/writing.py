"""Files written whole or not at all: what a command writes appears together, at its end.

A file is written beside its target, flushed to the disk and renamed: after a full disk, a kill or
a power cut the old file or the new one is there, never a part. Symbolic links are written through;
the mode of a file that is replaced is kept.
"""

from __future__ import annotations

import contextlib
import gzip
import logging
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from errata.errors import InputError
from errata.io.files import FileId, PathLike, file_error, file_id, files_read

__all__ = ["FileSet", "file_set", "refuse_early", "write_bytes", "write_lines", "write_pending"]

JOURNAL = logging.getLogger(__name__)
STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
STREAMS = ("/dev/fd/", "/proc/self/fd/", "/dev/stderr")  # opened by the shell: added to
NAME_BYTES = 200  # of a temporary name, below what file systems allow


@dataclass
class FileSet:
    """Files that belong together: all are written, or none.

    Without ``force`` no file that exists is replaced; what was read meanwhile, or named as
    ``inputs``, is never replaced.
    """

    force: bool = False
    inputs: frozenset[FileId] = frozenset()
    pending: dict[Path, tuple[str, bytes]] = field(default_factory=dict)

    def add(self, data: bytes, path: PathLike) -> None:
        """Take the content of a file, to be written with the others."""
        name = os.fspath(path)
        target = _target(name)
        self.refuse(name)
        if target in self.pending:
            raise InputError(
                "two outputs have this name", path=name, remedy="give each a name of its own"
            )
        self.pending[target] = (name, data)

    def refuse(self, name: str) -> None:
        """Refuse a file that must not be replaced: an input, and without ``force`` any."""
        if name in STDOUT or name.startswith(STREAMS):
            return
        try:
            found = _target(name).stat()
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            raise file_error("write", error, name) from None
        if not stat.S_ISREG(found.st_mode):
            return
        if file_id(found) in self.inputs | files_read():
            raise InputError(
                "the file is an input of this command, and is not overwritten",
                path=name,
                remedy="write to another name",
            )
        if not self.force:
            raise InputError(
                "the file exists", path=name, remedy="give --force to overwrite it, or another name"
            )
        if not os.access(_target(name), os.W_OK):
            raise InputError(
                "cannot write the file: it is read-only",
                path=name,
                remedy="check the path and its permissions",
            )

    def write(self) -> None:
        """Write all that was taken: each beside its target first, then all are renamed."""
        ready: dict[Path, Path] = {}
        current = ""
        try:
            for target, (name, data) in self.pending.items():
                current = name
                ready[target] = _written_beside(target, data)
            _rename_all(ready)
            for name, data in self.pending.values():
                JOURNAL.info("wrote %s (%d bytes)", name, len(data))
        except (OSError, ValueError) as error:
            raise file_error("write", error, current) from None
        finally:
            self.pending.clear()
            for temporary in ready.values():
                with contextlib.suppress(OSError):
                    temporary.unlink()


_open_set: ContextVar[FileSet | None] = ContextVar("open_set", default=None)


@contextmanager
def file_set(*, force: bool = False, inputs: Iterable[FileId] = ()) -> Iterator[FileSet]:
    """Within it, whatever is written is kept back and written at the end, if nothing fails."""
    with files_read.recorded():
        several = FileSet(force, frozenset(inputs))
        token = _open_set.set(several)
        try:
            yield several
            several.write()
        finally:
            _open_set.reset(token)


def write_pending() -> None:
    """Write what was kept back so far, so that what is printed next may speak of it."""
    several = _open_set.get()
    if several is not None:
        several.write()


def refuse_early(*names: str) -> None:
    """Refuse what could not be written at the end, before the work is done in vain."""
    several = _open_set.get()
    if several is not None:
        for name in names:
            several.refuse(name)


def write_bytes(data: bytes, path: PathLike) -> None:
    """Write a file whole; gzip for ``.gz``, standard output for ``-``.

    Inside a `file_set` it is written with the others; else at once, and replaces what is there.
    """
    name = os.fspath(path)
    if name in STDOUT:
        sys.stdout.flush()  # what was printed before comes before
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    if name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    if _is_stream(name):
        try:
            with open(name, "ab") as stream:
                stream.write(data)
        except (OSError, ValueError) as error:
            raise file_error("write", error, name) from None
        return
    several = _open_set.get()
    if several is not None:
        several.add(data, name)
        return
    alone = FileSet(force=True)
    alone.add(data, name)
    alone.write()


def write_lines(lines: Iterable[str], path: PathLike) -> None:
    """Write lines as UTF-8 with line feeds; gzip and standard output as in `write_bytes`."""
    try:
        data = "".join(line + "\n" for line in lines).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"U+{ord(error.object[error.start]):04X} cannot be written as UTF-8",
            path=os.fspath(path),
            line=error.object.count("\n", 0, error.start) + 1,
            remedy="remove the lone surrogate",
        ) from None
    write_bytes(data, path)


def _target(name: str) -> Path:
    """The file that a name stands for, behind all symbolic links."""
    try:
        return Path(os.path.realpath(name))
    except (OSError, ValueError) as error:
        raise file_error("write", error, name) from None


def _is_stream(name: str) -> bool:
    """Whether a name stands for something that cannot be replaced: a pipe, a device."""
    if name.startswith(STREAMS):
        return True
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _written_beside(target: Path, data: bytes) -> Path:
    """Write data into a new file in the folder of its target; on an error nothing is left."""
    if target.is_dir():
        raise IsADirectoryError(21, "Is a directory")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    start = os.fsdecode(os.fsencode(target.name)[:NAME_BYTES])
    temporary = target.with_name(f".{start}.{secrets.token_hex(4)}.part")
    try:
        # The mode of a new file is what the user's umask leaves.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(temporary, flags, 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return temporary


def _keep(target: Path, old: Path) -> None:
    """Keep a file under a second name, or under it alone where files have one name only."""
    try:
        os.link(target, old)
    except OSError:
        os.replace(target, old)


def _rename_all(ready: dict[Path, Path]) -> None:
    """Put every temporary file in its place; if one fails, all are as they were."""
    done: list[Path] = []
    kept: dict[Path, Path] = {}
    try:
        for target, temporary in ready.items():
            if len(ready) > 1 and target.exists():
                kept[target] = temporary.with_suffix(".old")
                _keep(target, kept[target])
            os.replace(temporary, target)
            done.append(target)
    except BaseException:
        for target in done:
            target.unlink()
        for target, old in kept.items():
            os.replace(old, target)
        raise
    finally:
        for old in kept.values():
            with contextlib.suppress(OSError):
                old.unlink()
    for folder in {target.parent for target in ready}:
        # So that the new names outlive a power cut; not every system can do it.
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
