"""The thread pool."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from errata.core.parallel import _beside, leave_core_to, parallel_map


def test_threads_take_turns_quickly_and_leave_things_as_they_were() -> None:
    before = sys.getswitchinterval()
    seen = parallel_map(
        lambda n: (
            sys.getswitchinterval(),
            parallel_map(lambda _: sys.getswitchinterval(), [1, 2], threads=n),
        ),
        [2, 2, 2],
        threads=2,
    )
    assert [each for each, _ in seen] == pytest.approx([1e-3] * 3)
    assert all(value == pytest.approx(1e-3) for _, inner in seen for value in inner)
    assert sys.getswitchinterval() == before


def test_one_thread_less_works_while_something_goes_on_beside() -> None:
    """Two jobs meet at a time, twice; then the other thing is over, and three meet at a time."""
    lock, now, most, met = threading.Lock(), 0, [0, 0], 0
    over = threading.Event()

    def pair_met() -> None:
        nonlocal met
        met += 1
        if met == 2:
            over.set()

    pairs = threading.Barrier(2, pair_met, timeout=60)
    triples = threading.Barrier(3, timeout=60)

    def meet(job: int) -> int:
        nonlocal now
        with lock:
            now += 1
            ended = over.is_set()
            most[ended] = max(most[ended], now)
        (triples if ended else pairs).wait()
        with lock:
            now -= 1
        return job

    with ThreadPoolExecutor(1) as pool, leave_core_to(pool.submit(over.wait, 60)):
        assert parallel_map(meet, range(10), threads=3) == list(range(10))
    assert most == [2, 3]
    assert parallel_map(meet, range(3), threads=3) == [0, 1, 2]


def test_what_is_over_already_leaves_all_threads() -> None:
    both = threading.Barrier(2, timeout=60)
    over: Future[None] = Future()
    over.set_result(None)
    with leave_core_to(over):
        assert sorted(parallel_map(lambda _: both.wait(), range(2), threads=2)) == [0, 1]


def test_jobs_see_the_context_of_who_wants_them_done() -> None:
    word: ContextVar[str] = ContextVar("word", default="none")
    both = threading.Barrier(2, timeout=60)

    def job(_: int) -> tuple[str, object]:
        both.wait()
        found = word.get(), _beside.get()
        word.set("of a job")  # which is nobody else's
        both.wait()
        return found

    token = word.set("mine")
    with leave_core_to(done := Future[None]()):
        done.set_result(None)
        assert parallel_map(job, range(4), threads=2) == [("mine", None)] * 4
    assert word.get() == "mine"
    word.reset(token)
