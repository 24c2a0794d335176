"""Several processes that serve one campaign on PostgreSQL, on one port.

The first process listens and keeps the others: one that ends is replaced, and all end with it.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from errata.errors import InputError

__all__ = ["MOST_WORKERS", "check_workers", "keep_workers", "leave_with_parent"]

MOST_WORKERS = 64
LOG = logging.getLogger("errata.web")
_LOOK = 0.1  # seconds between two looks at who still lives
_FASTEST = 1.0  # seconds between two starts of a process that ends at once
_PATIENCE = 15.0  # seconds for a process to end when asked to


def check_workers(place: str, workers: int) -> None:
    """Refuse several processes on a SQLite file, and numbers that cannot be meant.

    >>> check_workers("postgresql://localhost/study", 4)
    """
    if not 1 <= workers <= MOST_WORKERS:
        raise InputError(
            f"--workers {workers} is no number of processes", remedy=f"give 1 to {MOST_WORKERS}"
        )
    if workers > 1 and "://" not in place:
        raise InputError(
            f"--workers {workers}: one process serves a SQLite file",
            path=place,
            remedy="leave out --workers, or keep the campaign in PostgreSQL",
        )


def keep_workers(
    many: int,
    target: Callable[..., None],
    given: tuple[Any, ...],
    listening: socket.socket,
    ready: Callable[[], None],
) -> None:
    """Keep so many processes at work until interrupted; ``ready`` is called when all serve."""
    context = multiprocessing.get_context("spawn")
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    told = [context.Event() for _ in range(many)]

    def start(k: int) -> Any:
        process = context.Process(target=target, args=(*given, listening, told[k]))
        process.start()
        return process

    processes = [start(k) for k in range(many)]
    started = [time.monotonic()] * many
    said = False
    try:
        while not over.wait(_LOOK):
            if not said and all(event.is_set() for event in told):
                said = True
                ready()
            for k, process in enumerate(processes):
                if process.is_alive() or time.monotonic() - started[k] < _FASTEST:
                    continue
                LOG.warning("a process has ended (%s); another takes its place", process.exitcode)
                processes[k], started[k] = start(k), time.monotonic()
    finally:
        _end(processes)


def _end(processes: list[Any]) -> None:
    for process in processes:
        process.terminate()
    end = time.monotonic() + _PATIENCE
    for process in processes:
        process.join(max(0.0, end - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


def leave_with_parent() -> None:
    """End this process when the one that keeps it is gone, however that went."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, name="errata-parent", daemon=True).start()
