"""A worker process of `errata.cluster.crew`: tasks in, records out, a sign of life between."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from errata.cluster.counting import count_range, run_task
from errata.cluster.manifest import Manifest, read_manifest
from errata.errors import DataWarning, ErrataError, InputError
from errata.io.folders import Folder, open_folder

__all__ = [
    "GUARDED",
    "Warned",
    "WorkOrder",
    "deaf_to_interrupts",
    "do_orders",
    "interrupted_later",
    "plan_here",
    "warn_again",
    "warnings_once",
    "with_warnings",
]

# What to do when new processes do not begin to work.
GUARDED = (
    "read what they printed; a Python script must start the run in a file, below "
    "if __name__ == '__main__':"
)


class WorkOrder(NamedTuple):
    """What a worker is to do: a task without some of its places, or only to count a stretch."""

    task: int
    left_out: tuple[int, ...] = ()
    stretch: tuple[int, int] | None = None


class Warned(NamedTuple):
    """A warning that was given elsewhere."""

    text: str
    of_numbers: bool  # and not of data


def with_warnings(run: Callable[[], Any]) -> tuple[Any, list[Warned]]:
    """What a call gives, and the warnings it gave, for whoever asked to repeat."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run()
    ours = [each for each in caught if issubclass(each.category, DataWarning | RuntimeWarning)]
    return result, [
        Warned(str(each.message), issubclass(each.category, RuntimeWarning)) for each in ours
    ]


def warn_again(warned: Warned) -> None:
    """Give a warning of a worker here."""
    category = RuntimeWarning if warned.of_numbers else DataWarning
    warnings.warn(warned.text, category, stacklevel=2)


@contextmanager
def warnings_once() -> Iterator[None]:
    """Show a warning once, however many shards of a file give it."""
    with warnings.catch_warnings():
        show, said = warnings.showwarning, set[str]()

        def once(message: Warning | str, *about: Any, **more: Any) -> None:
            if str(message) not in said:
                said.add(str(message))
                show(message, *about, **more)

        warnings.showwarning = once
        yield


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Processes started within are not interrupted from the terminal: who started them ends them.

    So an interrupt is told of once, by us, and not by every worker.
    """
    if sys.platform == "win32":
        yield
        return
    # Its first start would let interrupts through again, to the first process started after it.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupted_later() -> Iterator[None]:
    """Let an interrupt wait for what it would leave half done; a second one does not wait.

    Only the main thread is interrupted; in others nothing is to be done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = False
    before = signal.getsignal(signal.SIGINT)

    def noted(*_: object) -> None:
        nonlocal came
        if came:
            raise KeyboardInterrupt
        came = True

    if callable(before):
        signal.signal(signal.SIGINT, noted)
    try:
        yield
    finally:
        if callable(before):
            signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


def plan_here(folder: Folder, digest: str | None = None) -> Manifest:
    """The plan of a run, as a worker finds it in its folder: this one, if a digest is given."""
    found = read_manifest(folder)
    if found is None or digest not in (None, found.digest):
        raise InputError(
            "a worker finds no plan of this run here",
            path=folder.place,
            remedy="all workers must reach the same folder",
        )
    return found


def do_orders(
    channel: Connection, place: str, storage: Mapping[str, Any], alive: float = 1.0
) -> None:
    """Do what comes through the channel until it is closed.

    Sent back are ``("alive", None)`` every ``alive`` seconds, ``("warned", warning)``,
    ``("done", record)`` and ``("failed", error)``.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    turn = threading.Lock()

    def send(word: str, content: object) -> None:
        with turn:
            channel.send((word, content))

    send("alive", None)  # so that whoever asked can tell its end from one before it began
    threading.Thread(target=_live, args=(send, alive), daemon=True).start()
    manifest: Manifest | None = None
    while True:
        try:
            asked: WorkOrder = channel.recv()
        except (EOFError, OSError):  # whoever asked is gone
            return
        try:
            manifest = manifest or plan_here(open_folder(place, storage))
            record, warned = with_warnings(partial(_done, place, manifest, asked, storage))
            for each in warned if asked.stretch is None else ():
                send("warned", each)
            send("done", record)
        except (ErrataError, OSError, MemoryError) as error:
            send("failed", error)
        except Exception as error:
            send("failed", _fault(asked.task, error))


def _fault(task: int, error: Exception) -> RuntimeError:
    """What nobody foresaw, for whoever asked to tell: to end of it would say nothing."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    found = RuntimeError(
        f"task {task}: {type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
    )
    found.add_note(traceback.format_exc())
    return found


def _live(send: Any, seconds: float) -> None:
    """Send a sign of life every so many seconds; end this process when nobody listens."""
    pause = threading.Event()
    while not pause.wait(seconds):
        try:
            send("alive", None)
        except OSError:
            os._exit(0)


def _done(place: str, manifest: Manifest, asked: WorkOrder, storage: Mapping[str, Any]) -> object:
    if asked.stretch is None:
        folder = open_folder(place, storage)
        return run_task(folder, manifest, asked.task, left_out=asked.left_out, storage=storage)
    start, stop = asked.stretch
    task = manifest.tasks[asked.task]
    gone = asked.left_out
    for _ in count_range(manifest, task, start=start, stop=stop, left_out=gone, storage=storage):
        pass
    return None
