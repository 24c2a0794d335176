"""One file over HTTP, from where an earlier try ended, within a time that is stated before.

A server that sends a byte a second answers in time for ever; so there is a limit on the whole: a
minute and what the file takes at `SLOWEST`, or ``ERRATA_DATA_SECONDS``.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from errata.errors import InputError

__all__ = ["Report", "append", "most_seconds"]

Report = Callable[[int, int], object]
CHUNK = 1 << 16
TIMEOUT = (10.0, 30.0)  # seconds: to connect, between two pieces
SLOWEST = 20_000  # bytes a second
PATIENCE = 60.0  # seconds, whatever the size


def most_seconds(size: int) -> float:
    """How long a file of so many bytes may take.

    >>> most_seconds(200_000)
    70.0
    """
    text = os.environ.get("ERRATA_DATA_SECONDS", "").strip()
    if not text:
        return PATIENCE + size / SLOWEST
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 9 and int(text)):
        raise InputError(
            f"ERRATA_DATA_SECONDS={text[:40]!r} is not a number of seconds", remedy="write 600, say"
        )
    return float(text)


def append(url: str, part: Path, size: int, progress: Report | None, until: float) -> None:
    """Download into ``part``, from where it ends (a Range request) if the server can do that.

    What came is kept, however little; ``until`` is when it is given up on.
    """
    import requests

    have = part.stat().st_size if part.exists() else 0
    if have >= size:
        # Nothing more can come: either it is whole, or it never was this file.
        if have == size:
            return None
        part.unlink()
        have = 0
    # Compressed transfer would make the offsets those of the compressed bytes.
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with _answer(url, headers, until) as response:
        if have and response.status_code == 416:  # shorter there than here: start again
            part.unlink()
            return append(url, part, size, progress, until)
        response.raise_for_status()
        begins = response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        if not (have and response.status_code == 206 and begins):
            have = 0
        # A server that means to send less has another file: that is for the checksum to say.
        whole = have + int(response.headers.get("Content-Length", size))
        with part.open("ab" if have else "wb") as output:
            for piece in _pieces(response):
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


def _answer(url: str, headers: dict[str, str], until: float) -> Any:
    """The beginning of an answer; a server that never ends its headers is left to itself."""
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


def _pieces(response: Any) -> Iterator[bytes]:
    """The body as it comes in, not only when a whole piece is there."""
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
