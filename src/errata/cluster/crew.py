"""The default engine: worker processes on this machine, each with one task at a time.

A worker that dies, or gives no sign of life, costs its task and nothing else: another one gets it.
A task that ends its workers again and again is looked into, down to the sentence.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from errata.cluster.counting import ShardRecord
from errata.cluster.manifest import Manifest
from errata.cluster.worker import GUARDED, WorkOrder, deaf_to_interrupts, do_orders, warn_again
from errata.errors import InputError

__all__ = ["DEATHS", "LIFE_SECONDS", "Crew", "WorkerLostError", "places_that_kill", "run_processes"]

DEATHS = 3  # of workers with one task, before it is looked into
LOOKS = 3  # into a task in vain, no sentence of it ending a worker, before it is given up
LIFE_SECONDS = 60.0  # without a sign of life, after which a worker counts as dead
STARTS = 5  # of workers in a row that ended before they began, before that is said
START_SECONDS = 60.0  # that a new process has for its first one: it gives none while it starts


class WorkerLostError(InputError):
    """A worker ended while it worked on a task, or before it ``began`` to."""

    def __init__(self, task: int, why: str, *, began: bool = True) -> None:
        super().__init__(f"task {task}: the worker {why}", remedy="run the same command again")
        self.task, self.began = task, began


@dataclass
class _Worker:
    """A process, what it was asked, and when it was last heard of."""

    process: Any
    channel: Connection
    asked: WorkOrder | None = None
    heard: float = field(default_factory=time.monotonic)
    began: bool = False  # whether it was heard of at all

    def end(self) -> None:
        """Kill it, wherever it is."""
        self.process.kill()
        self.process.join()
        self.channel.close()


class Crew:
    """Workers of one run; those that die are replaced."""

    def __init__(
        self,
        place: str,
        size: int,
        *,
        storage: Mapping[str, Any] | None = None,
        life: float = LIFE_SECONDS,
    ) -> None:
        self._place, self._storage = place, dict(storage or {})
        self._size, self._life = size, life
        self._workers: list[_Worker] = []

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    @property
    def pids(self) -> list[int]:
        """The processes that there are."""
        return [worker.process.pid for worker in self._workers]

    @property
    def busy(self) -> int:
        """How many workers have a task."""
        return sum(worker.asked is not None for worker in self._workers)

    @property
    def free(self) -> int:
        """How many more tasks can be taken."""
        return self._size - self.busy

    def alone(self) -> Crew:
        """Another crew of the same run, of one worker."""
        return Crew(self._place, 1, storage=self._storage, life=self._life)

    def ask(self, asked: WorkOrder) -> None:
        """Give a task to a worker that has none, or to a new one."""
        idle = next((w for w in self._workers if w.asked is None and w.process.is_alive()), None)
        if idle is None:
            idle = self._hired()
        idle.asked, idle.heard = asked, time.monotonic()
        with suppress(OSError):  # it died meanwhile: `answers` will find it so
            idle.channel.send(asked)

    def _hired(self) -> _Worker:
        # A new interpreter: what was forked would have our threads' locks and no threads.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=do_orders, args=(theirs, self._place, self._storage), daemon=True
        )
        with deaf_to_interrupts():
            process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def answers(self, seconds: float) -> Iterator[tuple[WorkOrder, object]]:
        """What came back within so many seconds: what was asked, and a record or an error."""
        channels = {worker.channel: worker for worker in self._workers}
        ready = wait(list(channels), timeout=seconds)
        for channel in ready:
            worker = channels[channel]  # type: ignore[index]
            yield from self._heard(worker)
        now = time.monotonic()
        for worker in [each for each in self._workers if each.asked is not None]:
            patience = self._life if worker.began else max(self._life, START_SECONDS)
            if now - worker.heard > patience:
                yield from self._lost(worker, f"gave no sign of life for {patience:g} s")

    def _heard(self, worker: _Worker) -> Iterator[tuple[WorkOrder, object]]:
        try:
            word, content = worker.channel.recv()
        except (EOFError, OSError):
            worker.process.join(1)
            code = worker.process.exitcode
            ended = "ended" if worker.began else "ended before it began"
            yield from self._lost(worker, f"{ended} (exit code {code})")
            return
        worker.heard, worker.began = time.monotonic(), True
        if word == "warned":
            warn_again(content)
        elif word != "alive":
            asked, worker.asked = worker.asked, None
            assert asked is not None
            yield asked, content

    def _lost(self, worker: _Worker, why: str) -> Iterator[tuple[WorkOrder, object]]:
        worker.end()
        self._workers.remove(worker)
        if worker.asked is not None:
            yield worker.asked, WorkerLostError(worker.asked.task, why, began=worker.began)


def run_processes(
    crew: Crew,
    manifest: Manifest,
    tasks: Sequence[int],
    *,
    allow_failed: int = 0,
    left_out: int = 0,
    lost: Callable[[WorkerLostError], None] | None = None,
) -> Iterator[ShardRecord]:
    """The records of these tasks as they come; ``lost`` is told of every worker that died.

    Raised is what a task refuses, and a sentence that ends its workers, unless ``allow_failed``
    such sentences may be left out, of which ``left_out`` are already.
    """
    waiting = deque(WorkOrder(task) for task in tasks)
    deaths: Counter[int] = Counter()
    looks: Counter[int] = Counter()  # in vain
    gone, starts = left_out, _Starts()
    while waiting or crew.busy:
        while waiting and crew.free:
            crew.ask(waiting.popleft())
        for asked, answer in crew.answers(1.0):
            starts.heard(answer)
            if isinstance(answer, WorkerLostError):
                if lost is not None:
                    lost(answer)
                deaths[asked.task] += answer.began
                if deaths[asked.task] >= DEATHS:
                    deaths[asked.task] = 0
                    before = len(asked.left_out)
                    asked = _without_killers(crew, manifest, asked, gone, allow_failed)
                    found = len(asked.left_out) - before
                    gone += found
                    looks[asked.task] += not found
                    _refuse_endless(asked.task, looks[asked.task])
                waiting.appendleft(asked)
            elif isinstance(answer, BaseException):
                raise answer
            else:
                assert isinstance(answer, ShardRecord)
                yield answer


class _Starts:
    """How many workers in a row ended before they began; as many as `STARTS` are refused."""

    def __init__(self) -> None:
        self._in_vain = 0

    def heard(self, answer: object) -> None:
        if not isinstance(answer, WorkerLostError) or answer.began:
            self._in_vain = 0
            return
        self._in_vain += 1
        if self._in_vain >= STARTS:
            raise InputError(
                f"{STARTS} worker processes in a row ended before they began", remedy=GUARDED
            )


def _refuse_endless(task: int, looks: int) -> None:
    """Refuse a task that ends its workers although none of its sentences does."""
    if looks >= LOOKS:
        raise InputError(
            f"task {task}: {DEATHS * looks} workers that counted it ended, and no sentence of it "
            "is to blame",
            remedy="make shards smaller (--shard-size), or give workers more memory",
        )


def _without_killers(
    crew: Crew, manifest: Manifest, asked: WorkOrder, gone: int, allowed: int
) -> WorkOrder:
    """The same task without the sentences that end workers, if so many may be left out.

    Those that are left out already are not looked at again; ``gone`` are those of all tasks.
    """
    task = manifest.tasks[asked.task]
    with crew.alone() as alone:
        found = places_that_kill(
            task.shard.sentences,
            lambda start, stop: _survives(alone, asked, start, stop),
            most=max(1, allowed - gone + 1),
        )
    if not found:
        return asked  # it was not the sentences: memory that others held, or somebody's kill
    numbers = ", ".join(f"{task.shard.first + place + 1:,}" for place in found)
    if gone + len(found) > allowed:
        raise InputError(
            f"{task.set.name}: whoever counts sentence {numbers} (from 1) is ended by it",
            remedy="look at the sentence and at the metrics, or leave it out with --allow-failed "
            f"{gone + len(found)}",
        )
    return asked._replace(left_out=tuple(sorted({*asked.left_out, *found})))


def _survives(crew: Crew, asked: WorkOrder, start: int, stop: int) -> bool:
    """Whether a worker that counts a stretch of a shard, without what is left out, lives."""
    order, starts = asked._replace(stretch=(start, stop)), _Starts()
    crew.ask(order)
    while True:
        for _, answer in crew.answers(1.0):
            starts.heard(answer)
            if isinstance(answer, WorkerLostError):
                if answer.began:
                    return False
                crew.ask(order)
                continue
            if isinstance(answer, BaseException):
                raise answer
            return True


def places_that_kill(
    sentences: int, survives: Callable[[int, int], bool], *, most: int
) -> tuple[int, ...]:
    """The places of a shard that end whoever counts them, at most ``most``, by halving.

    >>> places_that_kill(100, lambda start, stop: not start <= 42 < stop, most=2)
    (42,)
    """
    if not survives(0, 0):
        raise InputError(
            "whoever reads this shard is ended by it, whatever is counted",
            remedy="make shards smaller (--shard-size), or give workers more memory",
        )
    found: list[int] = []
    stretches = deque([(0, sentences)])
    while stretches and len(found) < most:
        start, stop = stretches.popleft()
        if start == stop or survives(start, stop):
            continue
        if stop - start == 1:
            found.append(start)
        else:
            middle = (start + stop) // 2
            stretches.extendleft([(middle, stop), (start, middle)])
    return tuple(found)
