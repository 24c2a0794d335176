"""Open local files and URLs, decompress, decode, split into lines; size limits.

Lines end with a line feed or with carriage return and line feed, and with nothing else: other
characters at which some programs break lines (U+2028, form feed...) are text, with a warning.
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
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from datetime import datetime
from io import BufferedReader, BytesIO, RawIOBase
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from errata.core.errors import ErrataError, InputError, import_extra, install_extra
from errata.io.checks import Finding

# ---- Object stores, and whatever else fsspec reads by URL (``s3://``, ``https://``...).

# What a store calls the mark that changes with a file, the surest first.
MARKS = ("ETag", "etag", "md5Hash", "md5", "mtime", "LastModified", "last_modified", "created")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(::[A-Za-z][A-Za-z0-9+.-]*)*://")
_WILD = re.compile(r"[*?\[]")


class RemoteFile(NamedTuple):
    """A file in a store: its URL, its size, and what changes when it changes."""

    uri: str
    size: int
    mark: str


def is_url(path: str | os.PathLike[str]) -> bool:
    """Whether a path is for fsspec to read.

    >>> is_url("s3://bucket/out.txt"), is_url("out/run:3.txt"), is_url("C:\\\\out.txt")
    (True, False, False)
    """
    return _URL.match(os.fspath(path)) is not None


@contextmanager
def open_url(url: str, storage: Mapping[str, Any]) -> Iterator[Any]:
    """The bytes behind a URL, as a file that can be sought in where the store allows it."""
    with _store_errors(url):
        system, path = file_system_of_url(url, storage)
        file = system.open(path, "rb")
    with file:
        yield file


def list_url_files(url: str, storage: Mapping[str, Any]) -> list[RemoteFile]:
    """List the files that a URL names, as a pattern or folder, in no certain order."""
    with _store_errors(url):
        system, path = file_system_of_url(url, storage)
        if _WILD.search(path):
            found = system.glob(path, detail=True).values()
        else:
            info = system.info(path)
            found = system.ls(path, detail=True) if info["type"] == "directory" else [info]
        return [
            RemoteFile(
                system.unstrip_protocol(info["name"]), int(info["size"] or 0), _version_mark(info)
            )
            for info in found
            if info["type"] == "file"
        ]


def file_system_of_url(url: str, storage: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the file system of fsspec that a URL belongs to, and the path in it."""
    what = f"fsspec, which reads {url.partition('://')[0]}://,"
    system, path = import_extra("fsspec.core", "scale", what).url_to_fs(url, **storage)
    system.invalidate_cache()  # what was listed before may have changed
    return system, path


def _version_mark(info: Mapping[str, Any]) -> str:
    name = next((name for name in MARKS if info.get(name)), None)
    if name is None:
        return ""
    value = info[name]
    if isinstance(value, datetime):  # one and the same store gives either
        value = value.timestamp()
    return f"{name.lower()}:{value}".replace('"', "")


@contextmanager
def _store_errors(url: str) -> Iterator[None]:
    """Re-raise the errors of a store, which has exceptions of its own, as InputError."""
    try:
        yield
    except ErrataError:
        raise
    except ImportError as error:  # fsspec names the package that a protocol needs
        problem = f"this kind of URL needs another package: {error}"
        raise InputError(problem, path=url, remedy=install_extra("scale")) from None
    except Exception as error:
        said = str(error).strip() or type(error).__name__
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else said
        remedy = "check the address, the credentials and the options of the store"
        raise InputError(f"cannot read the URL: {reason}", path=url, remedy=remedy) from None


ZSTD_BYTES = 1 << 17


def open_zstd(file: IO[bytes]) -> Any:
    """A stream of what a stream of zstd frames holds; a frame that is cut short is an EOFError."""
    try:
        import zstandard
    except ImportError:
        pass
    else:
        return _Frames(file, zstandard)
    # From Python 3.14 on.
    return import_extra("compression.zstd", "scale", "zstandard").ZstdFile(file)


class _Frames(RawIOBase):
    """The content of zstd frames; one that is cut short is an error, as not in zstandard."""

    def __init__(self, file: IO[bytes], zstandard: Any) -> None:
        self.file, self.error = file, zstandard.ZstdError
        self.start = zstandard.ZstdDecompressor().decompressobj
        self.frame: Any = None
        self.rest = b""  # what follows the last frame
        self.plain = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.plain:
            packed = self.rest or self.file.read(ZSTD_BYTES)
            if not packed and self.frame is not None:
                raise EOFError("the last zstd frame is cut short")
            if not packed:
                return 0
            frame = self.frame or self.start()
            try:
                self.plain = memoryview(frame.decompress(packed))
            except self.error as error:
                raise EOFError(str(error)) from None
            self.frame, self.rest = (None, frame.unused_data) if frame.eof else (frame, b"")
        size = min(len(buffer), len(self.plain))
        buffer[:size], self.plain = self.plain[:size], self.plain[size:]
        return size


# ---- Files as streams of bytes: compression undone, devices refused, sizes bounded.

JOURNAL = logging.getLogger(__name__)
PathLike = str | os.PathLike[str]
FileId = tuple[int, int]  # device and number: the same for every name and link of a file
MOST_BYTES = 1 << 30
READ_BYTES = 1 << 20
# Four bytes of text may look like bzip2; ten do not. (The second is that of an empty file.)
_BZIP2 = tuple(b"BZh%d" % k + end for k in range(1, 10) for end in (b"1AY&SY", b"\x17rE8P\x90"))
# What the first bytes say, the ending that goes with it, how it is called and undone.
_COMPRESSED: tuple[tuple[Any, str, str, Any], ...] = (
    (b"\x1f\x8b", ".gz", "gzip", gzip.GzipFile),
    (_BZIP2, ".bz2", "bzip2", bz2.BZ2File),
    (b"\xfd7zXZ\x00", ".xz", "xz", lzma.LZMAFile),
    (b"\x28\xb5\x2f\xfd", ".zst", "zstd", open_zstd),
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

    _known: ContextVar[dict[FileId, str] | None] = ContextVar("files_read", default=None)

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
        """Remember the files read within."""
        token = self._known.set({})
        try:
            yield
        finally:
            self._known.reset(token)


files_read = _FilesRead()


def file_error(verb: str, error: Exception, name: str) -> InputError:
    """Return the error for a file that cannot be read or written."""
    reason = getattr(error, "strerror", None) or str(error)
    full = getattr(error, "errno", None) in _FULL
    remedy = "make room, or name another place" if full else "check the path and its permissions"
    return InputError(f"cannot {verb} the file: {reason}", path=name, remedy=remedy)


def unpacked_name(path: PathLike) -> str:
    """The path without the ending of its compression.

    >>> unpacked_name("out/AMU.txt.gz"), unpacked_name("gold.m2.xz")
    ('out/AMU.txt', 'gold.m2')
    """
    name = os.fspath(path)
    for _, ending, _, _ in _COMPRESSED:
        name = name.removesuffix(ending)
    return name


def compression_of(start: bytes) -> str | None:
    """What a file is compressed with, by its first ten bytes; None for one that is not."""
    return next((called for magic, _, called, _ in _COMPRESSED if start.startswith(magic)), None)


def max_input_bytes() -> int:
    """How much one input may hold, decompressed: 1 GiB, or what ``ERRATA_MAX_BYTES`` says."""
    text = os.environ.get("ERRATA_MAX_BYTES", "").strip()
    if not text:
        return MOST_BYTES
    match = _SIZE.fullmatch(text)
    if match is None:
        remedy = "write it as 500M or 8G"
        raise InputError(f"ERRATA_MAX_BYTES={text[:40]!r} is not a size", remedy=remedy)
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[match[2].lower()]


def detect_foreign_format(start: bytes) -> tuple[str, str] | None:
    """What a file is that is not text, by its first bytes, and what to do; None for others."""
    if start.startswith(b"PK") and OPEN_DOCUMENT in start[:100]:
        return "an OpenDocument file (.ods, .odt)", "save it as CSV or plain text"
    return next(((kind, cure) for magic, kind, cure in _FOREIGN if start.startswith(magic)), None)


class _Bounded(RawIOBase):
    """Bytes of a stream up to a limit; where there are more, an error or with ``cut`` the end."""

    def __init__(
        self, file: IO[bytes], name: str, limit: int | None = None, *, cut: bool = False
    ) -> None:
        self.file, self.name, self.limit = file, name, max_input_bytes() if limit is None else limit
        self.left, self.cut = self.limit, cut

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._read_piece(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def readall(self) -> bytes:
        # Piece by piece: to ask for all at once takes as much memory as the limit allows.
        # What a file has on the disk is there already: most files are read in one go.
        size = 0
        with suppress(OSError, ValueError, AttributeError):  # a stream without a file behind it
            size = os.fstat(self.file.fileno()).st_size
        first = self._read_piece(max(READ_BYTES, size + 1))
        piece = self._read_piece(READ_BYTES) if first else b""
        if not piece:
            return first
        whole = BytesIO(first)
        whole.seek(0, os.SEEK_END)
        while piece:
            whole.write(piece)
            piece = self._read_piece(READ_BYTES)
        return whole.getvalue()

    def _read_piece(self, size: int) -> bytes:
        piece: bytes = self.file.read(min(size, self.left + (not self.cut)))
        self.left -= len(piece)
        if self.left < 0:
            raise too_large_error(self.name, self.limit)
        return piece


def too_large_error(name: str, limit: int) -> InputError:
    remedy = "if it really is that large, set ERRATA_MAX_BYTES (as in 8G)"
    return InputError(f"the input holds more than {limit:,} bytes", path=name, remedy=remedy)


def _open_source(path: PathLike, name: str, bounded: bool, storage: Mapping[str, Any]) -> Any:
    if name == "<stdin>":
        if sys.stdin is None:
            raise InputError("standard input is closed", path=name, remedy="give a file")
        return nullcontext(sys.stdin.buffer)
    if is_url(path):
        return open_url(os.fspath(path), storage)
    # Refuse devices, which have no end or no text, and files beyond the limit.
    status = os.stat(path)
    if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
        real = os.path.realpath(path)
        terminal = os.fspath(path) == "/dev/tty" or real.startswith("/dev/pts/")
        if real != os.devnull and not terminal:
            raise InputError("this is a device and not a file", path=name, remedy="name a file")
    if bounded and stat.S_ISREG(status.st_mode) and status.st_size > max_input_bytes():
        raise too_large_error(name, max_input_bytes())
    return Path(path).open("rb")


@contextmanager
def open_unpacked(
    path: PathLike, *, bounded: bool = True, storage: Mapping[str, Any] | None = None
) -> Iterator[BufferedReader]:
    """Open a file, or standard input for ``-``, decompressed.

    gzip, bzip2, xz and zstd are detected from the content; an ending that promises one of them and
    does not keep it is an error. A URL is read by fsspec, which gets the options ``storage``. With
    ``bounded=False`` the file may be longer than `max_input_bytes`.
    """
    name = shown_name(path)
    limit = None if bounded else sys.maxsize
    found = ""
    with (
        reraise_io_errors(name, lambda: found),
        _open_source(path, name, bounded, storage or {}) as file,
    ):
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
                problem = f"the file is named {ending} but is not {kind}-compressed"
                remedy = f"rename it, or compress it with {kind}"
                raise InputError(problem, path=name, remedy=remedy)
        yield BufferedReader(_Bounded(buffered, name, limit), 1 << 16)


@contextmanager
def open_raw(path: PathLike, *, storage: Mapping[str, Any] | None = None) -> Iterator[Any]:
    """Open a file of any size for seeking, without undoing compression."""
    name = shown_name(path)
    with reraise_io_errors(name, str), _open_source(path, name, False, storage or {}) as file:
        files_read.add(file, name)
        yield file


@contextmanager
def open_range(
    path: PathLike, start: int, stop: int, *, storage: Mapping[str, Any] | None = None
) -> Iterator[BufferedReader]:
    """Open the bytes ``start:stop`` of a file, compressed or not; fewer where it ends before."""
    JOURNAL.info("reading %s, bytes %d to %d", shown_name(path), start, stop)
    with open_raw(path, storage=storage) as file:
        file.seek(start)
        yield BufferedReader(_Bounded(file, shown_name(path), stop - start, cut=True), 1 << 16)


@contextmanager
def reraise_io_errors(name: str, found: Callable[[], str]) -> Iterator[None]:
    """Re-raise read errors as InputError; ``found`` returns the compression of the file."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError) as error:
        raise damaged_file_error(found(), name, error) from None
    except (OSError, ValueError) as error:
        if "Invalid data stream" in str(error):  # what bz2 says
            raise damaged_file_error(found(), name, error) from None
        raise file_error("read", error, name) from None


def damaged_file_error(kind: str, name: str, error: Exception) -> InputError:
    """The error for a compressed file that cannot be undone."""
    remedy = "fetch or compress the file again"
    return InputError(f"damaged {kind}file: {error}", path=name, remedy=remedy)


# Where str.splitlines breaks a line and we do not (nor do wc, sed, or a text editor).
ODD_MARKS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
ODD_BREAKS = re.compile(f"[\r{ODD_MARKS}]")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_bytes(path: PathLike) -> bytes:
    """The content of a file, or of standard input for ``-``; compression is undone."""
    with open_unpacked(path) as file:
        return file.read()


def decode(data: bytes, name: str, *, first_line: int = 1, keep_mark: bool = False) -> str:
    """Decode UTF-8; drop a byte order mark unless ``keep_mark``. ``first_line`` counts lines."""
    try:
        text = data.decode("utf-8")
        return text if keep_mark or first_line > 1 else text.removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + first_line
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        _refuse_foreign(data, name)
        coding = "UTF-16" if data.startswith(_UTF16_MARKS) else "WINDOWS-1252"
        problem = f"byte {column} of the line (0x{data[error.start]:02x}) is not UTF-8"
        remedy = f"convert the file, for instance with iconv -f {coding} -t UTF-8"
        raise InputError(problem, path=name, line=line, remedy=remedy) from None


# What a ZIP archive is by its name, where no spreadsheet is read.
_ZIPPED = {
    ".zip": ("a ZIP archive", "unpack it first"),
    ".xlsx": (
        "a spreadsheet (.xlsx)",
        "it is read as scores or judgments only; give text or M2 here",
    ),
}


def _refuse_foreign(start: bytes, name: str) -> None:
    foreign = detect_foreign_format(start)
    if start.startswith(b"PK\x03\x04"):
        foreign = _ZIPPED.get(os.path.splitext(name.lower())[1], foreign)
    if foreign is not None:
        raise InputError(f"this is {foreign[0]}", path=name, remedy=foreign[1]) from None


def split_lines(text: str) -> list[str]:
    r"""The lines of a text without their ends; a final line feed ends the last line.

    >>> split_lines("one\r\ntwo\n\nfour")
    ['one', 'two', '', 'four']
    """
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if "\r" in text:
        lines = [line[:-1] if line.endswith("\r") else line for line in lines]
    return lines


def read_lines(path: PathLike) -> tuple[list[str], list[Finding]]:
    """The lines of a file, and odd line ends."""
    name = shown_name(path)
    return scan_lines(decode(read_bytes(path), name), name)


def scan_lines(text: str, name: str, *, first_line: int = 1) -> tuple[list[str], list[Finding]]:
    """Split a text into lines and find odd breaks; ``first_line`` is the first line's number."""
    lines = split_lines(text)
    # One character after the other is looked for in a tenth of the time that all at once take.
    if not any(mark in text for mark in ODD_MARKS) and (
        "\r" not in text or "\r" not in text.replace("\r\n", "\n")
    ):
        return lines, []
    return lines, unusual_line_breaks(lines, name, first_line=first_line)


def stream_lines(path: PathLike) -> Iterator[str]:
    """Yield the lines, with ends, of a UTF-8 file too large for memory (see `read_bytes`)."""
    name = shown_name(path)
    with open_unpacked(path) as file:
        for number, line in enumerate(file, 1):
            if number == 1 and line.startswith(b"PK\x03\x04"):
                _refuse_foreign(line, name)  # which may look like text up to a later line
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                decode(b"\n" * (number - 1) + line, name)  # raises, with line and remedy
                raise
            yield text.removeprefix("\ufeff") if number == 1 else text


def peek_first_nonblank_line(lines: Iterator[str]) -> tuple[str, Iterator[str]]:
    """The first line that is not blank, and all lines again."""
    seen = []
    for line in lines:
        seen.append(line)
        if line.strip():
            return line, chain(seen, lines)
    return "", iter(seen)


def unusual_line_breaks(lines: Iterable[str], name: str, *, first_line: int) -> list[Finding]:
    """One warning per line that holds a character some programs break lines at."""
    found = []
    for number, line in enumerate(lines, first_line):
        match = ODD_BREAKS.search(line)
        if match:
            problem = (
                f"U+{ord(match[0]):04X} inside the line; some programs break lines there, "
                "Errata does not"
            )
            remedy = "replace it by a space, or by a line feed if a line ends there"
            found.append(Finding("warning", name, number, problem, remedy, "odd-line-break"))
    return found
