"""Files of a set or collection: find, download, verify, list and clear the cache.

A file is looked for in the folder that ``ERRATA_DATA`` names (laid out OWNER/REPO/COMMIT/PATH;
verified once, never changed), then in the cache, and is else downloaded into the cache:
checksum-verified, resumed where an earlier download broke off, and by one process at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import threading
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args
from urllib.parse import quote, urlsplit

from errata.core.cache import BlobCache, cache_folder
from errata.core.errors import InputError
from errata.core.parameters import suggest_name
from errata.datasets.catalogue import DataFile, DataSet, catalogue, data_set
from errata.io.files import file_error
from errata.tables.table import Table

# ---- One file over HTTP, from where an earlier try ended, within a time that is stated before.

Report = Callable[[int, int], object]
CHUNK = 1 << 16
TIMEOUT = (10.0, 30.0)  # seconds: to connect, between two pieces
SLOWEST = 20_000  # bytes a second
PATIENCE = 60.0  # seconds, whatever the size


def download_time_limit(size: int) -> float:
    """Return the seconds that a file of ``size`` bytes may take.

    >>> download_time_limit(200_000)
    70.0
    """
    text = os.environ.get("ERRATA_DATA_SECONDS", "").strip()
    if not text:
        return PATIENCE + size / SLOWEST
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 9 and int(text)):
        problem = f"ERRATA_DATA_SECONDS={text[:40]!r} is not a number of seconds"
        raise InputError(problem, remedy="write 600, say")
    return float(text)


def resume_download(url: str, part: Path, size: int, progress: Report | None, until: float) -> None:
    """Download into ``part`` from where it ends (a Range request), until the time ``until``."""
    import requests

    have = part.stat().st_size if part.exists() else 0
    if have >= size:
        # Nothing more can come: either it is whole, or it never was this file.
        if have == size:
            return None
        part.unlink()
        have = 0
    # With compressed transfer offsets would count compressed bytes.
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with _open_response(url, headers, until) as response:
        if have and response.status_code == 416:  # shorter there than here: start again
            part.unlink()
            return resume_download(url, part, size, progress, until)
        response.raise_for_status()
        begins = response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        if not (have and response.status_code == 206 and begins):
            have = 0
        # A server that means to send less has another file: that is for the checksum to say.
        whole = have + int(response.headers.get("Content-Length", size))
        with part.open("ab" if have else "wb") as output:
            for piece in _body_pieces(response):
                output.write(piece)
                have += len(piece)
                if progress is not None:
                    progress(min(have, size), size)
                if have > size:
                    return None  # likewise
                if have < size and time.monotonic() > until:
                    output.flush()
                    raise requests.Timeout(f"too slow: {have} of {size} bytes")
    if have < min(size, whole):
        raise requests.ConnectionError(f"ended after {have} of {size} bytes")
    return None


def _open_response(url: str, headers: dict[str, str], until: float) -> Any:
    """Return the opened response; a server that never ends its headers times out."""
    import requests

    found: list[Any] = []

    def ask() -> None:
        try:
            found.append(requests.get(url, headers=headers, stream=True, timeout=TIMEOUT))
        except BaseException as error:  # raised again where it is waited for
            found.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(max(1.0, until - time.monotonic()))
    if not found:
        raise requests.Timeout("too slow: no answer")
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def _body_pieces(response: Any) -> Iterator[bytes]:
    """Yield the body of a response as it comes in."""
    import requests
    import urllib3

    if not hasattr(response.raw, "read1"):  # urllib3 before 2.1
        yield from response.iter_content(1 << 10)
        return
    try:
        while piece := response.raw.read1(CHUNK, decode_content=False):
            yield piece
    except urllib3.exceptions.ReadTimeoutError as error:
        raise requests.ReadTimeout(str(error)) from None
    except urllib3.exceptions.HTTPError as error:
        raise requests.exceptions.ChunkedEncodingError(str(error)) from None


BASE_URL = "https://raw.githubusercontent.com"
_ATTEMPTS = 3
_REMEDY = (
    "set ERRATA_DATA to a folder laid out OWNER/REPO/COMMIT/PATH, or ERRATA_DATA_URL "
    "(--base-url) to a mirror"
)


@dataclass(frozen=True, slots=True)
class LocatedFile:
    """A file that is on disk, and whether it is the user's own (``data``) or ours (``cache``)."""

    path: Path
    origin: Literal["data", "cache"]


def fetch_file(
    name: str,
    file: str,
    *,
    base_url: str | None = None,
    sets: Mapping[str, DataSet] | None = None,
    progress: Report | None = None,
) -> Path:
    """Return the path of a file of a data set, downloaded if it is not on disk yet.

    ``base_url`` stands before ``OWNER/REPO/COMMIT/PATH``; without it ``ERRATA_DATA_URL`` or
    https://raw.githubusercontent.com. ``sets`` is another catalogue (see `read_catalogue`).
    ``progress`` is called with the bytes done and the bytes in all.
    """
    chosen = data_set(name, sets)
    return _find_or_fetch(chosen, chosen.file(file), base_url, progress)


def fetch_data_set(
    name: str,
    *,
    base_url: str | None = None,
    sets: Mapping[str, DataSet] | None = None,
    progress: Report | None = None,
) -> dict[str, Path]:
    """Return the paths of a data set's files by name, downloaded if not on disk yet."""
    chosen = data_set(name, sets)
    done, paths = 0, {}
    for file in chosen.files:

        def report(part: int, _: int, before: int = done) -> None:
            if progress is not None:
                progress(before + part, chosen.size)

        paths[file.name] = _find_or_fetch(chosen, file, base_url, report)
        done += file.size
        report(0, 0, done)
    return paths


def find_file(chosen: DataSet, file: DataFile) -> LocatedFile | None:
    """Return where a file is on disk, or None; its content is not read (see `check_file`)."""
    own = os.environ.get("ERRATA_DATA")
    if own:
        if not Path(own).is_dir():
            remedy = "unset it, or name a folder laid out OWNER/REPO/COMMIT/PATH"
            raise InputError(f"ERRATA_DATA names {own!r}, which is not a folder", remedy=remedy)
        candidate = Path(own, chosen.address(file))
        if candidate.is_file():
            return LocatedFile(candidate, "data")
    cached = download_folder() / chosen.address(file)
    return LocatedFile(cached, "cache") if cached.is_file() else None


def check_file(chosen: DataSet, file: DataFile) -> Literal["ok", "wrong", "missing"]:
    """Return whether a file has the recorded checksum, another one, or is missing."""
    found = find_file(chosen, file)
    if found is None:
        return "missing"
    return "ok" if _sha256(found.path) == file.sha256 else "wrong"


def download_folder() -> Path:
    """Return the folder of downloads in the cache."""
    return cache_folder() / "data"


def _verify_checksum(chosen: DataSet, file: DataFile, path: Path) -> None:
    """Refuse a file of the user's that does not have the recorded checksum.

    The checksum is remembered by path, size and time.
    """
    if os.environ.get("ERRATA_DATA_CHECK", "").strip().lower() in ("off", "0", "no"):
        return
    try:
        status = path.stat()
        about = path.resolve(), status.st_size, status.st_mtime_ns, status.st_ino
        known = "\0".join(map(str, about))
        memory = BlobCache(cache_folder() / "checksums.sqlite3")
        digest = memory.get("sha256", [known]).get(known, b"").hex()
        if not digest:
            digest = _sha256(path)
            memory.store("sha256", {known: bytes.fromhex(digest)})
    except OSError as error:
        raise file_error("read", error, str(path)) from None
    if digest != file.sha256:
        problem = f"the content is not that of {file.name} of {chosen.name} in the catalogue"
        remedy = "fetch it again, or set ERRATA_DATA_CHECK=off to use it anyway"
        raise InputError(problem, path=str(path), remedy=remedy)


def _find_or_fetch(
    chosen: DataSet, file: DataFile, base_url: str | None, progress: Report | None
) -> Path:
    # An address that cannot be is refused even where nothing needs to be fetched from it.
    base = (base_url or os.environ.get("ERRATA_DATA_URL") or BASE_URL).rstrip("/")
    try:
        scheme = urlsplit(base).scheme
    except ValueError:  # it cannot be read
        scheme = ""
    if scheme not in {"http", "https"}:
        problem = f"base address {base!r} is not http:// or https://"
        raise InputError(problem, remedy="for a folder on disk set ERRATA_DATA")
    found = find_file(chosen, file)
    if found is not None and found.origin == "data":
        _verify_checksum(chosen, file, found.path)
        return found.path
    # A cached file is hashed each time: a disk that was full once must not change a score.
    if found is not None and _sha256(found.path) == file.sha256:
        return found.path
    target = download_folder() / chosen.address(file)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _download_lock(download_folder() / chosen.repository / chosen.commit / ".lock"):
            _download(f"{base}/{quote(chosen.address(file))}", target, file, chosen, progress)
    except OSError as error:
        what = f"{file.name} of {chosen.name}"
        if type(error).__module__.startswith("requests"):
            problem = f"cannot fetch {what} from {base}: {_failure_text(error)}"
            raise InputError(problem, remedy=_REMEDY) from None
        problem = f"cannot keep {what} in the cache: {error.strerror or error}"
        remedy = "set ERRATA_CACHE to a folder that can be written"
        raise InputError(problem, path=str(target), remedy=remedy) from None
    return target


def _download(
    url: str, target: Path, file: DataFile, chosen: DataSet, progress: Report | None
) -> None:
    """Fetch ``url``; pooch checks the sum and puts the file in place only if it is right."""
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    part = target.with_name(target.name + ".part")

    until = time.monotonic() + download_time_limit(file.size)

    def downloader(url: str, output: str, _: Any) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            before = part.stat().st_size if part.exists() else 0
            try:
                resume_download(url, part, file.size, progress, until)
                break
            except OSError:
                # Only a download that broke off midway is worth another try at once.
                gained = part.exists() and part.stat().st_size > before
                if attempt == _ATTEMPTS or not gained or time.monotonic() > until:
                    raise
        part.replace(output)

    for last in (False, True):
        resumed = part.exists()
        try:
            place = {"fname": target.name, "path": target.parent}
            pooch.retrieve(url, f"sha256:{file.sha256}", downloader=downloader, **place)
            return
        except requests.RequestException:
            raise
        except ValueError:
            # An old piece may be at fault; a whole download with a wrong sum is not tried again.
            if last or not resumed:
                problem = f"checksum of {file.name} of {chosen.name} is wrong: the content of "
                problem += f"{url} is not what the catalogue records"
                remedy = "nothing was kept; check the base address (--base-url, ERRATA_DATA_URL), "
                raise InputError(problem, remedy=f"{remedy}or {_REMEDY}") from None


def _failure_text(error: OSError) -> str:
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"HTTP {error.response.status_code} {error.response.reason}"
    kept = "what came is kept, and the next try goes on from there"
    if isinstance(error, requests.Timeout):
        if not str(error).startswith("too slow"):
            return "no answer in time"
        return f"the server is too slow; {kept}; ERRATA_DATA_SECONDS gives it more time"
    if isinstance(error, requests.exceptions.SSLError):
        return "the secure connection failed"
    if isinstance(error, requests.exceptions.ChunkedEncodingError) or "ended after" in str(error):
        return f"the connection broke off; {kept}"
    return "no connection" if isinstance(error, requests.ConnectionError) else str(error)


@contextmanager
def _download_lock(lock: Path) -> Iterator[None]:
    """Wait until no other process holds ``lock``; the system frees it when a process dies."""
    with lock.open("a+b") as handle:
        if os.name == "nt":  # pragma: no cover
            import msvcrt

            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


# ---- Collections: files of the catalogue that are used together, by role.

Role = Literal[
    "gold", "source", "references", "outputs", "judgments", "human", "scores", "attacks", "ratings"
]


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a data set, with the name it goes by where it is not the file's own."""

    data_set: str
    file: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Collection:
    """A corpus, outputs and people's word on them, by role.

    ``base`` is the number of the first sentence in the judgments, ``names`` the systems of a file
    of bare scores.
    """

    name: str
    title: str
    members: Mapping[Role, tuple[Member, ...]]
    base: int = 0
    names: str | None = None

    @property
    def roles(self) -> tuple[Role, ...]:
        """What it has.

        >>> collection("seeda-edit").roles
        ('gold', 'outputs', 'judgments')
        """
        return tuple(self.members)

    def __repr__(self) -> str:
        return f"Collection({self.name!r}, {', '.join(self.roles)})"


@cache
def collections() -> Mapping[str, Collection]:
    """Return the collections by name.

    >>> collections()["jfleg"]
    Collection('jfleg', source, references, outputs)
    """
    text = (files("errata.datasets") / "collections.toml").read_text(encoding="utf-8")
    return MappingProxyType(
        {name: _parse_collection(name, entry) for name, entry in tomllib.loads(text).items()}
    )


def collection(name: str) -> Collection:
    """Return a collection by name; an error about an unknown name lists the known ones."""
    known = collections()
    if name not in known:
        remedy = f"{suggest_name(name, known)}known are: {', '.join(known)}"
        raise InputError(f"no collection of data {name!r}", remedy=remedy)
    return known[name]


def role_files(chosen: Collection, role: Role, progress: Report | None = None) -> tuple[str, ...]:
    """Return the files of a role as ``path`` or ``NAME=path``, downloaded if need be."""
    found = []
    for member in chosen.members.get(role, ()):
        place = str(fetch_file(member.data_set, member.file, progress=progress))
        found.append(place if member.name is None else f"{member.name}={place}")
    return tuple(found)


def _parse_collection(name: str, entry: dict[str, Any]) -> Collection:
    members: dict[Role, tuple[Member, ...]] = {}
    for role in get_args(Role):
        given = entry.get(role)
        if isinstance(given, dict):
            members[role] = tuple(
                member for key, text in given.items() for member in _parse_members(text, key)
            )
        elif given is not None:
            texts = [given] if isinstance(given, str) else given
            members[role] = tuple(member for text in texts for member in _parse_members(text))
    return Collection(name, entry["title"], members, entry.get("base", 0), entry.get("names"))


def _parse_members(text: str, name: str | None = None) -> list[Member]:
    of, _, pattern = text.partition(":")
    names = [file.name for file in data_set(of).files]
    return [Member(of, each, name) for each in names if fnmatchcase(each, pattern)]


# ---- What Errata keeps between runs: results that took long, and downloads.

# Results by digest: the file of each, and what can be read there.
RESULTS = {
    "edits": "edits found by ERRANT: positions and kinds; sentences as digests",
    "sentences": "what models say of sentences: numbers; sentences as digests",
    "answers": "what judges said: answers and their costs; prompts as digests",
    "checksums": "which files of ERRATA_DATA were verified: checksums; places as digests",
}


@dataclass(frozen=True)
class CacheEntry:
    """One part of the cache: its files as they are on disk, and how many results they hold."""

    name: str
    what: str
    path: Path
    files: tuple[Path, ...]
    size: int
    entries: int | None = None


def cache_entries() -> list[CacheEntry]:
    """Return all parts of the cache, empty ones too."""
    parts = []
    for name, what in RESULTS.items():
        path = cache_folder() / f"{name}.sqlite3"
        files = [path.with_name(path.name + end) for end in ("", "-journal", "-wal", "-shm")]
        parts.append(_cache_entry(name, what, path, files, entries=_count_results(path)))
    sets = catalogue().values()
    here = download_folder()
    downloads = [here / chosen.address(file) for chosen in sets for file in chosen.files]
    downloads += [path.with_name(path.name + ".part") for path in downloads]
    downloads += [here / chosen.repository / chosen.commit / ".lock" for chosen in sets]
    what = "downloaded data sets, public as they are"
    return [*parts, _cache_entry("data", what, here, downloads)]


def clear_cache(names: Iterable[str]) -> list[CacheEntry]:
    """Delete the files of some parts of the cache, and return these parts."""
    gone = [part for part in cache_entries() if part.name in set(names)]
    for part in gone:
        for path in part.files:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                problem = f"cannot delete the file: {error.strerror}"
                raise InputError(problem, path=str(path), remedy="check its permissions") from None
        folders = {above for path in part.files for above in path.parents}
        for folder in sorted(folders, reverse=True):
            if part.name == "data" and folder.is_relative_to(part.path):
                with contextlib.suppress(OSError):  # not empty: something else is in it
                    folder.rmdir()
    return gone


def _cache_entry(
    name: str, what: str, path: Path, files: Iterable[Path], *, entries: int | None = None
) -> CacheEntry:
    there = tuple(file for file in dict.fromkeys(files) if file.is_file())
    return CacheEntry(name, what, path, there, sum(file.stat().st_size for file in there), entries)


def _count_results(path: Path) -> int | None:
    """Return how many results a database holds, or None if it cannot be read."""
    if not path.is_file():
        return None
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1)
        with contextlib.closing(connection):
            [[count]] = connection.execute("SELECT COUNT(*) FROM blobs")
            return int(count)
    except sqlite3.Error:
        return None


# ---- Tables of data sets and collections, with the place of their files on disk.


def sets_table(sets: Mapping[str, DataSet]) -> Table:
    rows = []
    for each in sets.values():
        places = {storage_name(find_file(each, file)) for file in each.files}
        place = places.pop() if len(places) == 1 else "partly"
        rows.append((each.name, len(each.files), each.size, place, each.title))
    return Table(
        ("set", "files", "bytes", "on disk", "what"),
        tuple(rows),
        name="sets",
        caption="The sample comes with Errata: errata data path sample",
    )


def files_table(data_set: DataSet) -> Table:
    about = (
        f"Source: {data_set.repository} at {data_set.commit}",
        f"Licence: {data_set.licence}",
        *(f"Cite: {citation}" for citation in data_set.citations),
    )
    return Table(
        ("file", "bytes", "on disk", "sha256"),
        tuple(
            (f.name, f.size, storage_name(find_file(data_set, f)), f.sha256) for f in data_set.files
        ),
        title=data_set.title,
        name=data_set.name,
        caption="\n".join(about),
    )


def collections_table(collections: Mapping[str, Collection]) -> Table:
    return Table(
        ("collection", "has", "what"),
        tuple((c.name, ", ".join(c.roles), c.title) for c in collections.values()),
        title="Studied together: for --data of any command",
        name="collections",
    )


def member_table(collection: Collection, sets: Mapping[str, DataSet]) -> Table:
    rows = [
        (
            role,
            each.name,
            each.data_set,
            each.file,
            storage_name(find_file(*member_file(each, sets))),
        )
        for role, members in collection.members.items()
        for each in members
    ]
    return Table(
        ("role", "name", "set", "file", "on disk"),
        tuple(rows),
        title=collection.title,
        name=f"{collection.name} together",
        caption=f"Any command takes it: --data {collection.name}",
    )


def member_file(member: Member, sets: Mapping[str, DataSet]) -> tuple[DataSet, DataFile]:
    """Return the file of a member of a collection, and its data set."""
    data_set = sets[member.data_set]
    return data_set, data_set.file(member.file)


def collections_of_catalogue(sets: Mapping[str, DataSet]) -> Mapping[str, Collection]:
    """Return all collections for the built-in catalogue, and none for another one."""
    return collections() if sets is catalogue() else {}


def files_named(name: str, sets: Mapping[str, DataSet]) -> list[tuple[DataSet, DataFile]]:
    """Return the files of a set, of a collection, or of both where they share a name."""
    collection = collections_of_catalogue(sets).get(name)
    members = () if collection is None else collection.members.values()
    files = [member_file(member, sets) for several in members for member in several]
    if collection is None or name in sets:
        chosen = data_set(name, sets)
        files = [*((chosen, file) for file in chosen.files), *files]
    return files


def storage_name(file: LocatedFile | None) -> str:
    return "no" if file is None else {"data": "ERRATA_DATA", "cache": "cache"}[file.origin]
