"""Files as streams of bytes: compression undone, devices refused, sizes bounded.

Whatever a file claims to be, no more than `most_bytes` come out of it: a small compressed file
can hold gigabytes, and a device has no end. ``ERRATA_MAX_BYTES`` (as in ``8G``) sets the limit.
Only what is read piece by piece (``bounded=False``) may be longer.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import logging
import lzma
import os
import re
import stat
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from io import BufferedReader, BytesIO, RawIOBase
from pathlib import Path
from typing import IO, Any

from errata.errors import DataWarning, InputError, locate
from errata.io.placing import left_by_a_kill
from errata.io.stores import is_url, opened_url
from errata.io.zstd import opened_zstd

__all__ = [
    "COMPRESSIONS",
    "OPEN_DOCUMENT",
    "FileId",
    "PathLike",
    "compression_of",
    "file_error",
    "file_id",
    "files_read",
    "foreign_kind",
    "most_bytes",
    "opened",
    "opened_part",
    "opened_raw",
    "plain_name",
    "shown_name",
]

JOURNAL = logging.getLogger(__name__)
PathLike = str | os.PathLike[str]
FileId = tuple[int, int]  # device and number: the same for every name and link of a file
MOST_BYTES = 1 << 30
PIECE = 1 << 20
# Four bytes of text may look like bzip2; ten do not. (The second is that of an empty file.)
_BZIP2 = tuple(b"BZh%d" % k + end for k in range(1, 10) for end in (b"1AY&SY", b"\x17rE8P\x90"))
# What the first bytes say, the ending that goes with it, how it is called and undone.
_COMPRESSED: tuple[tuple[Any, str, str, Any], ...] = (
    (b"\x1f\x8b", ".gz", "gzip", gzip.GzipFile),
    (_BZIP2, ".bz2", "bzip2", bz2.BZ2File),
    (b"\xfd7zXZ\x00", ".xz", "xz", lzma.LZMAFile),
    (b"\x28\xb5\x2f\xfd", ".zst", "zstd", opened_zstd),
)
COMPRESSIONS = tuple(called for _, _, called, _ in _COMPRESSED)
# Files that are no text at all, and what to do about them.
_FOREIGN = (
    (b"PK\x03\x04", "a spreadsheet (.xlsx) or ZIP archive", "save it as CSV, or unpack it"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet or document (.xls, .doc)", "save it as CSV or text"),
    (b"\x5d\x00\x00", "compressed with lzma", "decompress it first (xz -d)"),
    (b"\x1f\x9d", "compressed with compress", "decompress it first (uncompress)"),
    (b"\x04\x22\x4d\x18", "compressed with lz4", "decompress it first (lz4 -d)"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it first"),
    (b"Rar!\x1a\x07", "a RAR archive", "unpack it first"),
    (b"PAR1", "a Parquet table", "export it as CSV"),
    (b"\x89PNG", "a picture", "give its text"),
    (b"\xff\xd8\xff", "a picture", "give its text"),
    (b"%PDF", "a PDF document", "give its text"),
    (b"SQLite format 3", "a database", "export the table as CSV"),
)
# A disk, a quota or the largest file that is allowed.
_FULL = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name)}
OPEN_DOCUMENT = b"application/vnd.oasis.opendocument"  # in its first, uncompressed member
_SIZE = re.compile(r"([1-9][0-9]{0,15})([kKmMgGtT]?)")


def shown_name(path: PathLike) -> str:
    """The path as messages show it."""
    return "<stdin>" if os.fspath(path) == "-" else os.fspath(path)


def file_id(found: os.stat_result) -> FileId:
    """What tells a file from all others, whatever it is called."""
    return found.st_dev, found.st_ino


class _FilesRead:
    """Which files were read, while somebody wants to know: they must not be overwritten."""

    def __init__(self) -> None:
        self._known: ContextVar[dict[FileId, str] | None] = ContextVar("files_read", default=None)

    def __call__(self) -> frozenset[FileId]:
        """The files read since recording began."""
        return frozenset(self._known.get() or ())

    def names(self) -> tuple[str, ...]:
        """The files read since recording began, as they were called, in the order of reading."""
        return tuple((self._known.get() or {}).values())

    def add(self, file: IO[bytes], name: str) -> None:
        """Remember an open file, and by which name it was opened first."""
        known = self._known.get()
        if known is not None:
            with suppress(OSError, ValueError):  # a stream without a file behind it
                known.setdefault(file_id(os.fstat(file.fileno())), name)

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Remember what is read within."""
        token = self._known.set({})
        try:
            yield
        finally:
            self._known.reset(token)


files_read = _FilesRead()


def file_error(verb: str, error: Exception, name: str) -> InputError:
    """What the system says of a file that cannot be read or written, as our error."""
    reason = getattr(error, "strerror", None) or str(error)
    full = getattr(error, "errno", None) in _FULL
    remedy = "make room, or name another place" if full else "check the path and its permissions"
    return InputError(f"cannot {verb} the file: {reason}", path=name, remedy=remedy)


def plain_name(path: PathLike) -> str:
    """The path without the ending of its compression.

    >>> plain_name("out/AMU.txt.gz"), plain_name("gold.m2.xz")
    ('out/AMU.txt', 'gold.m2')
    """
    name = os.fspath(path)
    for _, ending, _, _ in _COMPRESSED:
        name = name.removesuffix(ending)
    return name


def compression_of(start: bytes) -> str | None:
    """What a file is compressed with, by its first ten bytes; None for one that is not.

    >>> compression_of(gzip.compress(b"text")), compression_of(b"BZh is no compression")
    ('gzip', None)
    """
    return next((called for magic, _, called, _ in _COMPRESSED if start.startswith(magic)), None)


def most_bytes() -> int:
    """How much one input may hold, decompressed: 1 GiB, or what ``ERRATA_MAX_BYTES`` says."""
    text = os.environ.get("ERRATA_MAX_BYTES", "").strip()
    if not text:
        return MOST_BYTES
    match = _SIZE.fullmatch(text)
    if match is None:
        raise InputError(
            f"ERRATA_MAX_BYTES={text[:40]!r} is not a size", remedy="write it as 500M or 8G"
        )
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[match[2].lower()]


def foreign_kind(start: bytes) -> tuple[str, str] | None:
    """What a file is that is not text, by its first bytes, and what to do; None for others."""
    if start.startswith(b"PK") and OPEN_DOCUMENT in start[:100]:
        return "an OpenDocument file (.ods, .odt)", "save it as CSV or plain text"
    return next(((kind, cure) for magic, kind, cure in _FOREIGN if start.startswith(magic)), None)


class _Bounded(RawIOBase):
    """Bytes of a stream up to a limit, and an error where there are more."""

    def __init__(self, file: IO[bytes], name: str, limit: int | None = None) -> None:
        self.file, self.name, self.limit = file, name, most_bytes() if limit is None else limit
        self.left = self.limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._piece(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def readall(self) -> bytes:
        # Piece by piece: to ask for all at once takes as much memory as the limit allows.
        # What a file has on the disk is there already: most files are read in one go.
        first = self._piece(max(PIECE, self._size() + 1))
        piece = self._piece(PIECE) if first else b""
        if not piece:
            return first
        whole = BytesIO(first)
        whole.seek(0, os.SEEK_END)
        while piece:
            whole.write(piece)
            piece = self._piece(PIECE)
        return whole.getvalue()

    def _piece(self, size: int) -> bytes:
        piece: bytes = self.file.read(min(size, self.left + 1))
        self.left -= len(piece)
        if self.left < 0:
            raise too_large(self.name, self.limit)
        return piece

    def _size(self) -> int:
        """How large the file is, where there is one."""
        with suppress(OSError, ValueError, AttributeError):
            return os.fstat(self.file.fileno()).st_size
        return 0


def too_large(name: str, limit: int) -> InputError:
    """The error for an input beyond the limit."""
    return InputError(
        f"the input holds more than {limit:,} bytes",
        path=name,
        remedy="if it really is that large, set ERRATA_MAX_BYTES (as in 8G)",
    )


def _check_kind(path: PathLike, name: str, bounded: bool) -> None:
    """Refuse devices, which have no end or no text, and files beyond the limit."""
    status = os.stat(path)
    device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
    if device and os.path.realpath(path) != os.devnull and not _terminal(path):
        raise InputError("this is a device and not a file", path=name, remedy="name a file")
    if bounded and stat.S_ISREG(status.st_mode) and status.st_size > most_bytes():
        raise too_large(name, most_bytes())


def _terminal(path: PathLike) -> bool:
    return os.fspath(path) == "/dev/tty" or os.path.realpath(path).startswith("/dev/pts/")


def _source(path: PathLike, name: str, bounded: bool, storage: Mapping[str, Any]) -> Any:
    if name == "<stdin>":
        if sys.stdin is None:
            raise InputError("standard input is closed", path=name, remedy="give a file")
        return nullcontext(sys.stdin.buffer)
    if is_url(path):
        return opened_url(os.fspath(path), storage)
    _check_kind(path, name, bounded)
    _warn_of_a_kill(path, name)
    return Path(path).open("rb")


def _warn_of_a_kill(path: PathLike, name: str) -> None:
    """Say where a file may not belong with those that were written with it."""
    with suppress(OSError, ValueError):
        for old in left_by_a_kill(os.fspath(path)):
            said = locate(
                "a run was killed while it put this file and others in their places, so some may "
                "be of the run before",
                name,
                remedy="write them again with --force, or take back the former one of each "
                f"({old.name})",
            )
            warnings.warn(said, DataWarning, stacklevel=2)


@contextmanager
def opened(
    path: PathLike, *, bounded: bool = True, storage: Mapping[str, Any] | None = None
) -> Iterator[BufferedReader]:
    """The bytes of a file, or of standard input for ``-``, with compression undone.

    gzip, bzip2, xz and zstd are told from the content; an ending that promises one of them and
    does not keep it is an error. A URL is read by fsspec, which gets the options ``storage``.
    With ``bounded=False`` the file may be longer than `most_bytes`.
    """
    name = shown_name(path)
    limit = None if bounded else sys.maxsize
    found = ""
    with _told(name, lambda: found), _source(path, name, bounded, storage or {}) as file:
        files_read.add(file, name)
        JOURNAL.info("reading %s", name)
        buffered = file if isinstance(file, BufferedReader) else BufferedReader(file)
        start = buffered.peek(10)
        for magic, ending, kind, undo in _COMPRESSED:
            if start.startswith(magic):
                found = f"{kind} "
                with undo(buffered) if kind != "gzip" else undo(fileobj=buffered) as plain:
                    yield BufferedReader(_Bounded(plain, name, limit), 1 << 16)
                return
            if name.endswith(ending):
                raise InputError(
                    f"the file is named {ending} but is not {kind}-compressed",
                    path=name,
                    remedy=f"rename it, or compress it with {kind}",
                )
        yield BufferedReader(_Bounded(buffered, name, limit), 1 << 16)


@contextmanager
def opened_raw(path: PathLike, *, storage: Mapping[str, Any] | None = None) -> Iterator[Any]:
    """A file as it is, to be sought in, whatever its size."""
    name = shown_name(path)
    with _told(name, str), _source(path, name, False, storage or {}) as file:
        files_read.add(file, name)
        yield file


@contextmanager
def opened_part(
    path: PathLike, start: int, stop: int, *, storage: Mapping[str, Any] | None = None
) -> Iterator[BufferedReader]:
    """The bytes ``start:stop`` of a file as they are, whatever their number; none of the others.

    A file that ends before ``stop`` gives fewer.
    """
    JOURNAL.info("reading %s, bytes %d to %d", shown_name(path), start, stop)
    with opened_raw(path, storage=storage) as file:
        file.seek(start)
        yield BufferedReader(_Part(file, stop - start), 1 << 16)


class _Part(RawIOBase):
    """So many bytes of a stream, and no more."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self.file, self.left = file, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.file.read(min(len(buffer), self.left))
        self.left -= len(piece)
        buffer[: len(piece)] = piece
        return len(piece)


@contextmanager
def _told(name: str, found: Callable[[], str]) -> Iterator[None]:
    """What goes wrong while a file is read, said as our error; ``found`` says its compression."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError) as error:
        raise damaged(found(), name, error) from None
    except (OSError, ValueError) as error:
        if "Invalid data stream" in str(error):  # what bz2 says
            raise damaged(found(), name, error) from None
        raise file_error("read", error, name) from None


def damaged(kind: str, name: str, error: Exception) -> InputError:
    """The error for a compressed file that cannot be undone."""
    return InputError(
        f"damaged {kind}file: {error}", path=name, remedy="fetch or compress the file again"
    )
