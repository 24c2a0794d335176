"""The one thread pool: jobs in, results in the same order out, progress on the way."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

from errata.core.stats import Progress

TURN = 1e-3  # seconds
_turns, _turning, _usual = threading.Lock(), 0, 0.0

_beside: ContextVar[Future[Any] | None] = ContextVar("beside", default=None)

Job = TypeVar("Job")
Result = TypeVar("Result")


def usual_threads(threads: int | None) -> int:
    """So many threads, or as many as there are cores.

    >>> usual_threads(3)
    3
    """
    return threads or os.cpu_count() or 1


def parallel_map(
    run: Callable[[Job], Result],
    jobs: Sequence[Job],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    size: Callable[[Job], int] | None = None,
) -> list[Result]:
    """Run every job, in threads, and give the results in the order of the jobs.

    ``threads`` defaults to the number of cores. ``progress`` counts jobs, or what ``size`` says
    of them. It only pays for work that lets the GIL go, as the kernels do. While something else is
    left a core (`leave_core_to`), there is a thread less. Jobs see the context of the caller, also
    what NumPy does about odd numbers.

    >>> parallel_map(lambda x: x * x, [1, 2, 3], threads=2)
    [1, 4, 9]
    """
    measure = size or (lambda job: 1)
    total = sum(map(measure, jobs)) if progress is not None else 0
    done, lock = 0, threading.Lock()

    def watched(job: Job) -> Result:
        nonlocal done
        with room:
            result = run(job)
        if progress is not None:
            with lock:
                done += measure(job)
                progress(done, total)
        return result

    workers = min(usual_threads(threads), len(jobs))
    room: AbstractContextManager[object] = nullcontext()
    if workers <= 1:
        return [watched(job) for job in jobs]
    other = _beside.get()
    if other is not None:
        room = left = threading.Semaphore(workers - 1)
        other.add_done_callback(lambda _: left.release())
    seen = copy_context()
    seen.run(_beside.set, None)  # a job shares with nobody
    with _short_gil_waits(), ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda job: seen.copy().run(watched, job), jobs))


@contextmanager
def leave_core_to(other: Future[Any]) -> Iterator[None]:
    """Leave a core to something else until it is done, in all that is done `parallel_map` within.

    One thread more than cores would cost more than it does: the one that has the GIL would wait for
    a core while all others wait for the GIL.
    """
    token = _beside.set(other)
    try:
        yield
    finally:
        _beside.reset(token)


@contextmanager
def _short_gil_waits() -> Iterator[None]:
    """Let a thread that comes back from a kernel wait for the GIL a millisecond at most.

    By default Python keeps it waiting for five, at the end of every kernel; and where threads take
    it from one another every tenth of one, they are as slow.
    """
    global _turning, _usual
    with _turns:
        if not _turning:
            _usual = sys.getswitchinterval()
            sys.setswitchinterval(min(_usual, TURN))
        _turning += 1
    try:
        yield
    finally:
        with _turns:
            _turning -= 1
            if not _turning:
                sys.setswitchinterval(_usual)


@contextmanager
def circles_left() -> Iterator[None]:
    """Do not look for circles of references meanwhile.

    Among hundreds of thousands of objects that are in none this takes as long as all else. Code
    that leaves circles behind calls ``gc.collect`` now and then.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def chunks(total: int, step: int) -> list[slice]:
    """Slices of at most ``step`` that cover ``range(total)``.

    >>> chunks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + step, total)) for start in range(0, total, step)]
