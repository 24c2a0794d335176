"""Write to a temporary file, fsync, rename.

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
import secrets
import shutil
import signal
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from errata.core.errors import InputError
from errata.io.files import FileId, PathLike, file_error, file_id, files_read

# ---- Files put in their places together: all of them, or after an error none.

NAME_BYTES = 200  # of a temporary name, below what file systems allow
TURN_SECONDS = 10.0  # how long another run may take to put its files into the same folder
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


def temporary_name(target: Path, ending: str) -> Path:
    """A new hidden name in the folder of a file, for something that becomes it or was it."""
    return target.with_name(f"{_start(target)}{secrets.token_hex(4)}.{ending}")


def _start(target: Path) -> str:
    return f".{os.fsdecode(os.fsencode(target.name)[:NAME_BYTES])}."


def _former_files(path: str) -> list[Path]:
    """Return the former versions of a file that a killed run left beside it."""
    target = Path(os.path.realpath(path))
    start = _start(target)
    return [
        target.with_name(name)
        for name in os.listdir(target.parent)
        if name.startswith(start) and name.endswith(".old")
    ]


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Let what would end the program wait until what is done within is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        for number in numbers:
            signal.signal(number, lambda number, _: arrived.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for number in dict.fromkeys(arrived):
            signal.raise_signal(number)


def put_in_place(ready: Mapping[Path, Path], *, replace: bool) -> None:
    """Put every temporary file in its place; if one fails, all are as they were.

    Without ``replace`` a file that is there by now, made by another run, is an error.
    """
    done: list[Path] = []
    kept: dict[Path, Path] = {}
    with _turns({target.parent for target in ready}) as folders:
        earlier = [old for target in ready for old in _former_files(str(target))]
        try:
            for target in ready if replace and len(ready) > 1 else ():
                if target.exists():
                    kept[target] = temporary_name(target, "old")
                    _keep(target, kept[target])
            for target, temporary in ready.items():
                _place(temporary, target, replace)
                done.append(target)
        except BaseException:
            for target in done:
                os.replace(kept.pop(target), target) if target in kept else target.unlink()
            raise
        finally:
            for old in kept.values():
                with contextlib.suppress(OSError):
                    old.unlink()
        for old in earlier:  # what they warned of is over
            with contextlib.suppress(OSError):
                old.unlink()
        for folder in folders:
            with contextlib.suppress(OSError):  # so that the new names outlive a power cut
                os.fsync(folder)


def _keep(target: Path, old: Path) -> None:
    """Keep a file under a second name, or a copy of it where files have one name only."""
    try:
        os.link(target, old)
    except OSError:
        shutil.copy2(target, old)


def _place(temporary: Path, target: Path, replace: bool) -> None:
    if not replace:
        try:
            os.link(temporary, target)  # unlike a rename, never over another
            return
        except FileExistsError:
            raise
        except OSError:  # files have one name only here
            if target.exists():
                raise FileExistsError(
                    17, "File exists", str(temporary), None, str(target)
                ) from None
    os.replace(temporary, target)


@contextmanager
def _turns(folders: Iterable[Path]) -> Iterator[list[int]]:
    """Hold the folders open, one run at a time as far as the system allows it."""
    opened: list[int] = []
    try:
        for folder in sorted(folders):
            with contextlib.suppress(OSError):  # not every system opens folders, or locks them
                opened.append(os.open(folder, os.O_RDONLY))
                _lock(opened[-1])
        yield opened
    finally:
        for folder_open in opened:
            os.close(folder_open)  # which lets the next run in


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        return
    import fcntl

    end = time.monotonic() + TURN_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                return
            time.sleep(0.01)


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
        with deferred_signals() if self.pending else nullcontext():
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


def check_writable(*names: str) -> None:
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
        check_writable(name)
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
    temporary = temporary_name(target, "part")
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
