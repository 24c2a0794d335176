"""Object stores and whatever else fsspec reads, by URL: ``s3://``, ``gs://``, ``https://`` ...

fsspec is imported when a URL is read and not before. A store's own errors (no such bucket, no
credentials, no route) become one line that names the URL.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from errata.errors import ErrataError, InputError, MissingExtraError, install_extra

__all__ = ["Listed", "is_url", "listed", "opened_url"]

INSTALL = install_extra("scale")
# What a store calls the mark that changes with a file, the surest first.
MARKS = ("ETag", "etag", "md5Hash", "md5", "mtime", "LastModified", "last_modified", "created")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(::[A-Za-z][A-Za-z0-9+.-]*)*://")
_WILD = re.compile(r"[*?\[]")


class Listed(NamedTuple):
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
def opened_url(url: str, storage: Mapping[str, Any]) -> Iterator[Any]:
    """The bytes behind a URL, as a file that can be sought in where the store allows it."""
    with _told(url):
        system, path = _store(url, storage)
        file = system.open(path, "rb")
    with file:
        yield file


def listed(url: str, storage: Mapping[str, Any]) -> list[Listed]:
    """The files that a URL names, or that fit it as a pattern, in no certain order.

    A folder names the files directly in it.
    """
    with _told(url):
        system, path = _store(url, storage)
        if _WILD.search(path):
            found = system.glob(path, detail=True).values()
        else:
            info = system.info(path)
            found = system.ls(path, detail=True) if info["type"] == "directory" else [info]
        return [
            Listed(system.unstrip_protocol(info["name"]), int(info["size"] or 0), _mark(info))
            for info in found
            if info["type"] == "file"
        ]


def _store(url: str, storage: Mapping[str, Any]) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtraError(
            f"fsspec, which reads {url.partition('://')[0]}://,", INSTALL
        ) from None
    system, path = url_to_fs(url, **storage)
    system.invalidate_cache()  # what was listed before may have changed
    return system, path


def _mark(info: Mapping[str, Any]) -> str:
    name = next((name for name in MARKS if info.get(name)), None)
    if name is None:
        return ""
    value = info[name]
    if isinstance(value, datetime):  # one and the same store gives either
        value = value.timestamp()
    return f"{name.lower()}:{value}".replace('"', "")


@contextmanager
def _told(url: str) -> Iterator[None]:
    """What a store says is wrong, as our error: each store has exceptions of its own."""
    try:
        yield
    except ErrataError:
        raise
    except ImportError as error:  # fsspec names the package that a protocol needs
        raise InputError(
            f"this kind of URL needs another package: {error}", path=url, remedy=INSTALL
        ) from None
    except Exception as error:
        said = str(error).strip() or type(error).__name__
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else said
        raise InputError(
            f"cannot read the URL: {reason}",
            path=url,
            remedy="check the address, the credentials and the options of the store",
        ) from None
