"""A worker process of `errata.cluster.crew`: tasks in, records out, a sign of life between."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from errata.cluster.counting import count_range, run_task
from errata.cluster.manifest import Manifest, read_manifest
from errata.errors import ErrataError
from errata.io.folders import open_folder

__all__ = ["WorkOrder", "do_orders"]

ALIVE_SECONDS = 1.0


class WorkOrder(NamedTuple):
    """What a worker is to do: a task, without some of its places; or only to count a stretch."""

    task: int
    left_out: tuple[int, ...] = ()
    stretch: tuple[int, int] | None = None


def do_orders(channel: Connection, place: str, storage: Mapping[str, Any]) -> None:
    """Do what comes through the channel until it is closed.

    Sent back are ``("alive", None)`` now and then, ``("done", record)`` and ``("failed", error)``.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    turn = threading.Lock()

    def send(word: str, content: object) -> None:
        with turn:
            channel.send((word, content))

    threading.Thread(target=_live, args=(send,), daemon=True).start()
    folder = open_folder(place, storage)
    manifest = read_manifest(folder)
    assert manifest is not None, "a worker is started for a run that was planned"
    while True:
        try:
            asked: WorkOrder = channel.recv()
        except (EOFError, OSError):  # whoever asked is gone
            return
        try:
            send("done", _done(place, manifest, asked, storage))
        except (ErrataError, OSError, MemoryError) as error:
            send("failed", error)


def _live(send: Any) -> None:
    """Tell now and then that this process runs; where nobody listens any more, end it."""
    pause = threading.Event()
    while not pause.wait(ALIVE_SECONDS):
        try:
            send("alive", None)
        except OSError:
            os._exit(0)


def _done(place: str, manifest: Manifest, asked: WorkOrder, storage: Mapping[str, Any]) -> object:
    if asked.stretch is None:
        folder = open_folder(place, storage)
        record = run_task(folder, manifest, asked.task, left_out=asked.left_out, storage=storage)
        return record.to_json()
    start, stop = asked.stretch
    task = manifest.tasks[asked.task]
    for _ in count_range(manifest, task, start=start, stop=stop, storage=storage):
        pass
    return None
