"""From the name of a public data set to files on disk.

A file is looked for in the folder that ``ERRATA_DATA`` names (laid out OWNER/REPO/COMMIT/PATH;
verified once, never changed), then in the cache, and is else downloaded into the cache:
checksum-verified, resumed where an earlier download broke off, and by one process at a time.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from errata.cache import BlobCache, cache_folder
from errata.datasets.catalogue import DataFile, DataSet, data_set
from errata.datasets.transfer import Report, append, most_seconds
from errata.errors import InputError
from errata.io.opened import file_error

__all__ = ["BASE_URL", "Found", "check", "download_folder", "find", "get", "path"]

BASE_URL = "https://raw.githubusercontent.com"
_ATTEMPTS = 3
_REMEDY = (
    "set ERRATA_DATA to a folder laid out OWNER/REPO/COMMIT/PATH, or ERRATA_DATA_URL "
    "(--base-url) to a mirror"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A file that is on disk, and whether it is the user's own (``data``) or ours (``cache``)."""

    path: Path
    origin: Literal["data", "cache"]


def path(
    name: str,
    file: str,
    *,
    base_url: str | None = None,
    sets: Mapping[str, DataSet] | None = None,
    progress: Report | None = None,
) -> Path:
    """Where a file of a data set is on disk; it is downloaded if it is not there yet.

    ``base_url`` stands before ``OWNER/REPO/COMMIT/PATH``; without it ``ERRATA_DATA_URL`` or
    https://raw.githubusercontent.com. ``sets`` is another catalogue (see `read_catalogue`).
    ``progress`` is called with the bytes done and the bytes in all.
    """
    chosen = data_set(name, sets)
    return _obtain(chosen, chosen.file(file), base_url, progress)


def get(
    name: str,
    *,
    base_url: str | None = None,
    sets: Mapping[str, DataSet] | None = None,
    progress: Report | None = None,
) -> dict[str, Path]:
    """Every file of a data set by its name, downloaded where it is not on disk yet."""
    chosen = data_set(name, sets)
    done, paths = 0, {}
    for file in chosen.files:

        def report(part: int, _: int, before: int = done) -> None:
            if progress is not None:
                progress(before + part, chosen.size)

        paths[file.name] = _obtain(chosen, file, base_url, report)
        done += file.size
        report(0, 0, done)
    return paths


def find(chosen: DataSet, file: DataFile) -> Found | None:
    """The file if it is on disk already; content is not looked at (see `check`)."""
    own = os.environ.get("ERRATA_DATA")
    if own:
        if not Path(own).is_dir():
            raise InputError(
                f"ERRATA_DATA names {own!r}, which is not a folder",
                remedy="unset it, or name a folder laid out OWNER/REPO/COMMIT/PATH",
            )
        candidate = Path(own, chosen.address(file))
        if candidate.is_file():
            return Found(candidate, "data")
    cached = download_folder() / chosen.address(file)
    return Found(cached, "cache") if cached.is_file() else None


def check(chosen: DataSet, file: DataFile) -> Literal["ok", "wrong", "missing"]:
    """Whether a file is what the catalogue records, is something else, or is not there."""
    found = find(chosen, file)
    if found is None:
        return "missing"
    return "ok" if _sha256(found.path) == file.sha256 else "wrong"


def download_folder() -> Path:
    """Where downloads are kept: a folder of their own in the cache."""
    return cache_folder() / "data"


def _verify(chosen: DataSet, file: DataFile, path: Path) -> None:
    """Refuse a file of the user's that is not what the catalogue records.

    It is read once; afterwards it is known by its place, size and time, until these change.
    """
    if os.environ.get("ERRATA_DATA_CHECK", "").strip().lower() in ("off", "0", "no"):
        return
    try:
        status = path.stat()
        known = "\0".join(
            (str(path.resolve()), str(status.st_size), str(status.st_mtime_ns), str(status.st_ino))
        )
        memory = BlobCache(cache_folder() / "checksums.sqlite3")
        digest = memory.get("sha256", [known]).get(known, b"").hex()
        if not digest:
            digest = _sha256(path)
            memory.put("sha256", {known: bytes.fromhex(digest)})
    except OSError as error:
        raise file_error("read", error, str(path)) from None
    if digest != file.sha256:
        raise InputError(
            f"the content is not that of {file.name} of {chosen.name} in the catalogue",
            path=str(path),
            remedy="fetch it again, or set ERRATA_DATA_CHECK=off to use it as it is",
        )


def _scheme(address: str) -> str:
    """The scheme of an address, nothing where it cannot be read."""
    try:
        return urlsplit(address).scheme
    except ValueError:
        return ""


def _obtain(chosen: DataSet, file: DataFile, base_url: str | None, progress: Report | None) -> Path:
    # An address that cannot be is refused even where nothing needs to be fetched from it.
    base = (base_url or os.environ.get("ERRATA_DATA_URL") or BASE_URL).rstrip("/")
    if _scheme(base) not in {"http", "https"}:
        raise InputError(
            f"base address {base!r} is not http:// or https://",
            remedy="for a folder on disk set ERRATA_DATA",
        )
    found = find(chosen, file)
    if found is not None and found.origin == "data":
        _verify(chosen, file, found.path)
        return found.path
    # A cached file is hashed each time: a disk that was full once must not change a score.
    if found is not None and _sha256(found.path) == file.sha256:
        return found.path
    target = download_folder() / chosen.address(file)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _one_process(download_folder() / chosen.repository / chosen.commit / ".lock"):
            _download(f"{base}/{quote(chosen.address(file))}", target, file, chosen, progress)
    except OSError as error:
        if type(error).__module__.startswith("requests"):
            raise InputError(
                f"cannot fetch {file.name} of {chosen.name} from {base}: {_reason(error)}",
                remedy=_REMEDY,
            ) from None
        raise InputError(
            f"cannot keep {file.name} of {chosen.name} in the cache: {error.strerror or error}",
            path=str(target),
            remedy="set ERRATA_CACHE to a folder that can be written",
        ) from None
    return target


def _download(
    url: str, target: Path, file: DataFile, chosen: DataSet, progress: Report | None
) -> None:
    """Fetch ``url``; pooch checks the sum and puts the file in place only if it is right."""
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    part = target.with_name(target.name + ".part")

    until = time.monotonic() + most_seconds(file.size)

    def downloader(url: str, output: str, _: Any) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            before = part.stat().st_size if part.exists() else 0
            try:
                append(url, part, file.size, progress, until)
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
            pooch.retrieve(
                url,
                known_hash=f"sha256:{file.sha256}",
                fname=target.name,
                path=target.parent,
                downloader=downloader,
            )
            return
        except requests.RequestException:
            raise
        except ValueError:
            # An old piece may be at fault; a whole download with a wrong sum is not tried again.
            if last or not resumed:
                raise InputError(
                    f"checksum of {file.name} of {chosen.name} is wrong: the content of {url} is "
                    "not what the catalogue records",
                    remedy="nothing was kept; check the base "
                    "address (--base-url, ERRATA_DATA_URL), or " + _REMEDY,
                ) from None


def _reason(error: OSError) -> str:
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"HTTP {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        slow = str(error).startswith("too slow")
        return (
            "the server is too slow; what came is kept, and the next try goes on from there; "
            "ERRATA_DATA_SECONDS gives it more time"
            if slow
            else "no answer in time"
        )
    if isinstance(error, requests.exceptions.SSLError):
        return "the secure connection failed"
    if isinstance(error, requests.exceptions.ChunkedEncodingError) or "ended after" in str(error):
        return "the connection broke off; what came is kept, and the next try goes on from there"
    return "no connection" if isinstance(error, requests.ConnectionError) else str(error)


@contextmanager
def _one_process(lock: Path) -> Iterator[None]:
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
