"""Write to a temporary file beside the target, fsync, rename.

After a full disk, a kill or a power cut the old file or the new one is there, never a part.
Symbolic links are followed, and the mode of a replaced file is kept. Several files are all written
before the first of them is renamed; there is no transaction beyond that.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import logging
import lzma
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO

from errata.core.errors import InputError
from errata.io.files import FileId, PathLike, file_error, file_id, files_read

JOURNAL = logging.getLogger(__name__)
NAME_BYTES = 200  # of a temporary name, below what file systems allow
BATCH = 100  # lines that are encoded together
SPOOLED = 1 << 24  # bytes for a stream that wait in memory, and then on the disk
STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
STREAMS = ("/dev/fd/", "/proc/self/fd/", "/dev/stderr")  # opened by the shell: added to
# As the ending of a name promises, and readers expect; the same bytes every time.
_COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def place_files(ready: Mapping[Path, Path], *, replace: bool) -> None:
    """Rename temporary files to their targets; without ``replace`` never over another file."""
    for target, temporary in ready.items():
        _rename(temporary, target, replace)
    for folder in {target.parent for target in ready}:
        with contextlib.suppress(OSError):  # not every system opens folders, or flushes them
            flush_to_disk(folder)


def flush_to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _rename(temporary: Path, target: Path, replace: bool) -> None:
    if not replace:
        try:
            os.link(temporary, target)  # unlike a rename, never over another file
            return
        except OSError:  # also where files have one name only
            if target.exists():
                names = str(temporary), None, str(target)
                raise FileExistsError(errno.EEXIST, "File exists", *names) from None
    os.replace(temporary, target)


@dataclass
class FileSet:
    """Files that are put in place together, when all of them are written.

    Without ``force`` no existing file is replaced; files read meanwhile and ``inputs`` never are.
    """

    force: bool = False
    inputs: frozenset[FileId] = frozenset()
    pending: dict[Path, tuple[str, Path]] = field(default_factory=dict)

    def add(self, chunks: Iterable[bytes], name: str) -> None:
        """Write a file beside its target, to be put in place with the others."""
        target = _resolve_links(name)
        self.refuse_overwriting(name)
        if target in self.pending:
            remedy = "give each a name of its own"
            raise InputError("two outputs have this name", path=name, remedy=remedy)
        try:
            self.pending[target] = name, _write_beside(target, chunks)
        except (OSError, ValueError) as error:
            raise file_error("write", error, name) from None

    def refuse_overwriting(self, name: str) -> None:
        """Refuse a file that must not be replaced: an input, and without ``force`` any."""
        if _is_stream(name):
            return
        try:
            status = _resolve_links(name).stat()
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            raise file_error("write", error, name) from None
        if stat.S_ISDIR(status.st_mode):
            return
        if file_id(status) in self.inputs | files_read():
            problem = "the file is an input of this command, and is not overwritten"
            raise InputError(problem, path=name, remedy="write to another name")
        if not self.force:
            raise _file_exists_error(name)
        refuse_read_only(name)

    def write(self) -> None:
        """Put all files in place."""
        try:
            for name, _ in self.pending.values():
                self.refuse_overwriting(name)  # again, as time has passed
            ready = {target: temporary for target, (_, temporary) in self.pending.items()}
            place_files(ready, replace=self.force)
            for target, (name, _) in self.pending.items():
                JOURNAL.info("wrote %s (%d bytes)", name, target.stat().st_size)
        except OSError as error:
            target = Path(getattr(error, "filename2", None) or "")
            name = self.pending.get(target, (str(target),))[0]
            if isinstance(error, FileExistsError):
                raise _file_exists_error(name) from None
            raise file_error("write", error, name) from None
        finally:
            self.discard()

    def discard(self) -> None:
        """Remove the temporary files that were not put in place."""
        for _, temporary in self.pending.values():
            with contextlib.suppress(OSError):
                temporary.unlink()
        self.pending.clear()


_open_set: ContextVar[FileSet | None] = ContextVar("open_set", default=None)


@contextmanager
def file_set(*, force: bool = False, inputs: Iterable[FileId] = ()) -> Iterator[FileSet]:
    """Put the files that are written within in place at the end, or none if something fails."""
    with files_read.recorded():
        several = FileSet(force, frozenset(inputs))
        token = _open_set.set(several)
        try:
            yield several
            several.write()
        finally:
            several.discard()
            _open_set.reset(token)


def place_pending_files() -> None:
    """Put the files written so far in place, so that the next output may name them."""
    several = _open_set.get()
    if several is not None:
        several.write()


def overwrite_input(data: bytes, path: PathLike) -> None:
    """Overwrite a file that was read, once the other files of an open set are in place."""
    place_pending_files()
    name = os.fspath(path)
    refuse_read_only(name)
    with file_set(force=True):  # a new set does not know what was read before
        write_bytes(data, name)


def refuse_read_only(name: str) -> None:
    """Refuse to replace a file that is there and that its owner locked."""
    target = _resolve_links(name)
    if target.exists() and not os.access(target, os.W_OK):
        problem = "cannot write the file: it is read-only"
        raise InputError(problem, path=name, remedy="check the path and its permissions")


def check_writable(*names: str) -> None:
    """Refuse what could not be written at the end, before the work is done in vain."""
    several = _open_set.get()
    if several is not None:
        for name in names:
            several.refuse_overwriting(name)


def may_replace() -> bool:
    """Whether files that exist may be replaced, for what cannot be written as bytes."""
    several = _open_set.get()
    return several is None or several.force


def write_bytes(data: bytes, path: PathLike) -> None:
    """Write a file, compressed as its ending says; ``-`` is standard output.

    Inside a `file_set` it appears with the others; otherwise at once, and replaces an old one.
    """
    _write_chunks([data], os.fspath(path))


def write_lines(lines: Iterable[str], path: PathLike) -> int:
    """Write lines one by one (unless compressed), as `write_bytes` does; return their number."""
    name, source, count = os.fspath(path), iter(lines), 0

    def encoded() -> Iterator[bytes]:
        nonlocal count
        while batch := list(islice(source, BATCH)):
            text = "".join(line + "\n" for line in batch)
            try:
                yield text.encode()
            except UnicodeEncodeError as error:
                problem = f"U+{ord(text[error.start]):04X} cannot be written as UTF-8"
                line = count + text.count("\n", 0, error.start) + 1
                remedy = "remove the lone surrogate"
                raise InputError(problem, path=name, line=line, remedy=remedy) from None
            count += len(batch)

    if not _is_stream(name):
        check_writable(name)
    _write_chunks(encoded(), name)
    return count


def _write_chunks(chunks: Iterable[bytes], name: str) -> None:
    for ending, compress in _COMPRESSED.items():
        if name.endswith(ending):
            chunks = [compress(b"".join(chunks))]
    if _is_stream(name):
        with tempfile.SpooledTemporaryFile(SPOOLED) as spool:  # so that all appears, or nothing
            spool.writelines(chunks)
            spool.seek(0)
            _copy_to_stream(spool, name)
        return
    several = _open_set.get()
    files = several or FileSet(force=True)
    files.add(chunks, name)
    if several is None:
        files.write()


def _copy_to_stream(content: IO[bytes], name: str) -> None:
    if name in STDOUT:
        sys.stdout.flush()  # what was printed before comes before
        shutil.copyfileobj(content, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    try:
        with open(name, "ab") as stream:
            shutil.copyfileobj(content, stream)
    except (OSError, ValueError) as error:
        raise file_error("write", error, name) from None


def _file_exists_error(name: str) -> InputError:
    remedy = "give --force to overwrite it, or another name"
    return InputError("the file exists", path=name, remedy=remedy)


def _resolve_links(name: str) -> Path:
    """The file that a name stands for, behind all symbolic links."""
    try:
        return Path(os.path.realpath(name))
    except (OSError, ValueError) as error:
        raise file_error("write", error, name) from None


def _is_stream(name: str) -> bool:
    """Whether a name stands for something that cannot be replaced: a pipe, a device."""
    if name in STDOUT or name.startswith(STREAMS):
        return True
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _write_beside(target: Path, chunks: Iterable[bytes]) -> Path:
    """Write a new hidden file in the folder of its target; on an error nothing is left."""
    if target.is_dir():
        raise IsADirectoryError(21, "Is a directory")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    start = os.fsdecode(os.fsencode(target.name)[:NAME_BYTES])
    temporary = target.with_name(f".{start}.{secrets.token_hex(4)}.part")
    try:
        # The mode of a new file is what the user's umask leaves.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(temporary, flags, 0o666), "wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return temporary
