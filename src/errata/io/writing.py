"""Files written whole or not at all: what a command writes appears together, at its end.

A file is written beside its target, flushed to the disk and renamed: after a full disk, a kill or
a power cut the old file or the new one is there, never a part. Symbolic links are written through;
the mode of a file that is replaced is kept.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import logging
import lzma
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from errata.errors import InputError
from errata.io.files import FileId, PathLike, file_error, file_id, files_read
from errata.io.placing import name_beside, put_in_place, signals_wait

__all__ = [
    "FileSet",
    "file_set",
    "may_replace",
    "refuse_early",
    "refuse_read_only",
    "renew_bytes",
    "write_bytes",
    "write_lines",
    "write_pending",
    "write_streamed",
]

JOURNAL = logging.getLogger(__name__)
STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
STREAMS = ("/dev/fd/", "/proc/self/fd/", "/dev/stderr")  # opened by the shell: added to
# As the ending of a name promises, and readers expect; the same bytes every time.
_COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


Content = bytes | BinaryIO  # the other is a file without a name, for what memory should not hold


@dataclass
class FileSet:
    """Files that belong together: all are written, or none.

    Without ``force`` no file that exists is replaced; what was read meanwhile, or named as
    ``inputs``, is never replaced.
    """

    force: bool = False
    inputs: frozenset[FileId] = frozenset()
    pending: dict[Path, tuple[str, Content]] = field(default_factory=dict)

    def add(self, data: Content, path: PathLike) -> None:
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
            raise _exists(name)
        refuse_read_only(name)

    def write(self) -> None:
        """Write all that was taken: each beside its target first, then all are renamed."""
        ready: dict[Path, Path] = {}
        current = ""
        with signals_wait() if self.pending else nullcontext():
            try:
                for target, (name, data) in self.pending.items():
                    current = name
                    ready[target] = _written_beside(target, data)
                put_in_place(ready, replace=self.force)
                for name, data in self.pending.values():
                    JOURNAL.info("wrote %s (%d bytes)", name, _size(data))
            except (OSError, ValueError) as error:
                raise self._refused(error, current) from None
            finally:
                self.drop()
                for temporary in ready.values():
                    with contextlib.suppress(OSError):
                        temporary.unlink()

    def drop(self) -> None:
        """Let go of what was taken and not written."""
        for _, data in self.pending.values():
            if not isinstance(data, bytes):
                data.close()
        self.pending.clear()

    def _refused(self, error: Exception, current: str) -> InputError:
        """What went wrong with a file: the one that could not be put in place, if it was that."""
        target = getattr(error, "filename2", None)
        name = self.pending.get(Path(target), (current,))[0] if target else current
        return (
            _exists(name)
            if isinstance(error, FileExistsError)
            else file_error("write", error, name)
        )


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
            several.drop()
            _open_set.reset(token)


def write_pending() -> None:
    """Write what was kept back so far, so that what is printed next may speak of it."""
    several = _open_set.get()
    if several is not None:
        several.write()


def renew_bytes(data: bytes, path: PathLike) -> None:
    """Write a file over itself, whole and at once: one that was read in order to be renewed.

    Whatever else is kept back is written before it.
    """
    write_pending()
    name = os.fspath(path)
    refuse_read_only(name)
    several = FileSet(force=True)
    several.pending[_target(name)] = (name, data)
    several.write()


def refuse_read_only(name: str) -> None:
    """Refuse to replace a file that is there and that its owner locked."""
    target = _target(name)
    if target.exists() and not os.access(target, os.W_OK):
        raise InputError(
            "cannot write the file: it is read-only",
            path=name,
            remedy="check the path and its permissions",
        )


def refuse_early(*names: str) -> None:
    """Refuse what could not be written at the end, before the work is done in vain."""
    several = _open_set.get()
    if several is not None:
        for name in names:
            several.refuse(name)


def may_replace() -> bool:
    """Whether files that exist may be replaced, for what cannot be written as bytes."""
    several = _open_set.get()
    return several is None or several.force


def write_bytes(data: bytes, path: PathLike) -> None:
    """Write a file whole, compressed as its ending says; standard output for ``-``.

    Inside a `file_set` it is written with the others; else at once, and replaces what is there.
    """
    name = os.fspath(path)
    if name in STDOUT:
        sys.stdout.flush()  # what was printed before comes before
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    for ending, compressed in _COMPRESSED.items():
        if name.endswith(ending):
            data = compressed(data)
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
    """Write lines as UTF-8 with line feeds; compression and standard output as in `write_bytes`."""
    try:
        data = "".join(line + "\n" for line in lines).encode("utf-8")
    except UnicodeEncodeError as error:
        line = error.object.count("\n", 0, error.start) + 1
        raise _no_utf8(error, os.fspath(path), line) from None
    write_bytes(data, path)


def write_streamed(lines: Iterable[str], path: PathLike) -> int:
    """`write_lines` of any number of lines at constant memory; gives how many there were.

    They wait on the disk, in a file without a name in the folder of the target, and appear together
    all the same; a name that promises compression is compressed in memory.
    """
    name = os.fspath(path)
    straight = name in STDOUT or _is_stream(name)
    if name.endswith(tuple(_COMPRESSED)):
        several = list(lines)
        write_lines(several, path)
        return len(several)
    if not straight:
        refuse_early(name)
    try:
        spool: BinaryIO = tempfile.TemporaryFile(dir=None if straight else _target(name).parent)  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise file_error("write", error, name) from None
    try:
        many = _spooled(lines, spool, name)
        if straight:
            with spool:
                while part := spool.read(1 << 20):
                    write_bytes(part, path)
        elif (together := _open_set.get()) is not None:
            together.add(spool, name)
        else:
            alone = FileSet(force=True)
            alone.add(spool, name)
            alone.write()
    except BaseException:
        spool.close()
        raise
    return many


def _spooled(lines: Iterable[str], spool: BinaryIO, name: str) -> int:
    """Put lines into a file and go back to its start; gives how many."""
    many = 0
    for line in lines:
        many += 1
        try:
            spool.write(f"{line}\n".encode())
        except UnicodeEncodeError as error:
            raise _no_utf8(error, name, many) from None
        except OSError as error:
            raise file_error("write", error, name) from None
    spool.flush()
    spool.seek(0)
    return many


def _size(data: Content) -> int:
    return len(data) if isinstance(data, bytes) else os.fstat(data.fileno()).st_size


def _no_utf8(error: UnicodeEncodeError, name: str, line: int) -> InputError:
    return InputError(
        f"U+{ord(error.object[error.start]):04X} cannot be written as UTF-8",
        path=name,
        line=line,
        remedy="remove the lone surrogate",
    )


def _exists(name: str) -> InputError:
    return InputError(
        "the file exists", path=name, remedy="give --force to overwrite it, or another name"
    )


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


def _written_beside(target: Path, data: Content) -> Path:
    """Write data into a new file in the folder of its target; on an error nothing is left."""
    if target.is_dir():
        raise IsADirectoryError(21, "Is a directory")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    temporary = name_beside(target, "part")
    try:
        # The mode of a new file is what the user's umask leaves.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(temporary, flags, 0o666), "wb") as file:
            if isinstance(data, bytes):
                file.write(data)
            else:
                shutil.copyfileobj(data, file, 1 << 20)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return temporary
