"""Processes of this machine: what they started, whether they live, and waiting for them."""

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_until(condition: Callable[[], T | None]) -> T:
    """Return the first true value of a condition; the limit of ten minutes only ends a hang."""
    end = time.monotonic() + 600
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError("the condition was not met within ten minutes")


def children(parent: int, words: bytes = b"") -> list[int]:
    """Return the processes that a process started, if their command contains the words."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            started_by = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if started_by == parent and words in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return sorted(found)


def lives(process: int) -> bool:
    """Say whether a process is at work; of a zombie only the number is left."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
