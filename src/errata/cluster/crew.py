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
from copy import copy
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from errata.cluster.counting import ShardRecord
from errata.cluster.manifest import Manifest
from errata.cluster.worker import GUARDED, WorkOrder, deaf_to_interrupts, do_orders, warn_again
from errata.errors import InputError

__all__ = ["DEATHS", "LIFE_SECONDS", "Crew", "WorkerLostError", "places_that_kill", "run_processes"]

DEATHS = 3  # of workers with one task, before it is looked into
LOOKS = 3  # into a task in vain, no sentence of it ending a worker, before it is given up
LIFE_SECONDS = 60.0  # without a sign of life, after which a worker is replaced
POLL_SECONDS = 1.0  # between two looks at silent workers, and between two signs of life, at most
STARTS = 5  # of workers in a row that exited before they began, before the run is given up

StartWorker = Callable[[str, Mapping[str, Any], float], tuple[BaseProcess, Connection]]


class WorkerLostError(InputError):
    """A worker was lost: it exited or was silent, while it worked on a task or before it began."""

    def __init__(self, task: int, why: str, *, began: bool = True, exited: bool = True) -> None:
        super().__init__(f"task {task}: the worker {why}", remedy="run the same command again")
        self.task, self.why, self.began, self.exited = task, why, began, exited


@dataclass
class _Worker:
    """A worker process, its task, and when it last gave a sign of life."""

    process: BaseProcess
    channel: Connection
    heard: float
    patience: float  # seconds without a sign of life after which it is replaced
    asked: WorkOrder | None = None
    began: bool = False  # whether it has sent anything
    used: int | None = None  # processor time when it was last looked at, while it starts

    def end(self) -> None:
        """Kill it, wherever it is."""
        self.process.kill()
        self.process.join()
        self.channel.close()


def start_worker(
    place: str, storage: Mapping[str, Any], alive: float
) -> tuple[BaseProcess, Connection]:
    """Start a worker process and return it with the channel to it.

    It is a new interpreter: a forked one would have our threads' locks and no threads.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = Pipe()
    process = context.Process(target=do_orders, args=(theirs, place, storage, alive), daemon=True)
    with deaf_to_interrupts():
        process.start()
    theirs.close()
    return process, ours


def processor_time(pid: int) -> int | None:
    """Return the processor time of a process in clock ticks, or None without /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    user, system = fields[11:13]
    return int(user) + int(system)


class Crew:
    """The workers of one run; a worker that exits or is silent is replaced.

    A worker gives a sign of life every second. While its process starts, it cannot send any, and
    the processor time that it uses counts as one: a slow start is no death. Where the system does
    not tell processor times, or a start takes longer than ``life`` without using any, each next
    start gets twice the time.

    ``start``, ``clock`` and ``processor_time`` are what tests replace.
    """

    def __init__(
        self,
        place: str,
        size: int,
        *,
        storage: Mapping[str, Any] | None = None,
        life: float = LIFE_SECONDS,
        start: StartWorker = start_worker,
        clock: Callable[[], float] = time.monotonic,
        processor_time: Callable[[int], int | None] = processor_time,
    ) -> None:
        self._place, self._storage = place, dict(storage or {})
        self._size, self._life = size, life
        self._start, self._clock, self._processor_time = start, clock, processor_time
        self._start_patience = life
        self._poll = min(POLL_SECONDS, life / 4)
        self._workers: list[_Worker] = []

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    @property
    def pids(self) -> list[int]:
        """The processes of workers that have begun."""
        return [worker.process.pid or 0 for worker in self._workers if worker.began]

    @property
    def busy(self) -> int:
        """How many workers have a task."""
        return sum(worker.asked is not None for worker in self._workers)

    @property
    def free(self) -> int:
        """How many more tasks can be taken."""
        return self._size - self.busy

    def alone(self) -> Crew:
        """Return another crew of the same run, of one worker."""
        crew = copy(self)
        crew._size, crew._workers = 1, []
        return crew

    def ask(self, asked: WorkOrder) -> None:
        """Give a task to a worker that has none, or to a new one."""
        idle = next((w for w in self._workers if w.asked is None and w.process.is_alive()), None)
        if idle is None:
            process, channel = self._start(self._place, self._storage, self._poll)
            idle = _Worker(process, channel, self._clock(), self._start_patience)
            self._workers.append(idle)
        idle.asked, idle.heard = asked, self._clock()
        with suppress(OSError):  # it died meanwhile: `answers` will find it so
            idle.channel.send(asked)

    def answers(self, seconds: float | None = None) -> Iterator[tuple[WorkOrder, object]]:
        """Yield what came back within ``seconds``: what was asked, and a record or an error."""
        channels = {worker.channel: worker for worker in self._workers}
        ready = wait([*channels], timeout=self._poll if seconds is None else seconds)
        # Who takes an answer may keep us waiting: silence is measured before, up to now.
        now = self._clock()
        waited = [w for w in self._workers if w.asked is not None and w.channel not in ready]
        silent = [worker for worker in waited if self._silence(worker, now) > worker.patience]
        for channel in ready:
            yield from self._heard(channels[channel])  # type: ignore[index]
        for worker in silent:
            while_starting = "" if worker.began else " while it started"
            if not worker.began:
                self._start_patience = max(self._start_patience, 2 * worker.patience)
            why = f"gave no sign of life for {worker.patience:g} s{while_starting}"
            yield from self._lost(worker, why, exited=False)

    def _silence(self, worker: _Worker, now: float) -> float:
        """Return the seconds without a sign of life: a message, or processor time of a start."""
        if not worker.began:
            used = self._processor_time(worker.process.pid or 0)
            if used != worker.used:
                worker.used, worker.heard = used, now
        return now - worker.heard

    def _heard(self, worker: _Worker) -> Iterator[tuple[WorkOrder, object]]:
        try:
            word, content = worker.channel.recv()
        except (EOFError, OSError):
            worker.process.join(10)
            before = "" if worker.began else " before it began"
            yield from self._lost(worker, f"ended{before} (exit code {worker.process.exitcode})")
            return
        worker.heard, worker.began, worker.patience = self._clock(), True, self._life
        if word == "warned":
            warn_again(content)
        elif word != "alive":
            asked, worker.asked = worker.asked, None
            assert asked is not None
            yield asked, content

    def _lost(
        self, worker: _Worker, why: str, *, exited: bool = True
    ) -> Iterator[tuple[WorkOrder, object]]:
        worker.end()
        self._workers.remove(worker)
        if worker.asked is not None:
            error = WorkerLostError(worker.asked.task, why, began=worker.began, exited=exited)
            yield worker.asked, error


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
        for asked, answer in crew.answers():
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
    """Count the workers in a row that exited before they began, and refuse `STARTS` of them.

    A worker that was replaced because it was silent has not exited, and does not count.
    """

    def __init__(self) -> None:
        self._exited = 0

    def heard(self, answer: object) -> None:
        if not isinstance(answer, WorkerLostError) or answer.began:
            self._exited = 0
        elif answer.exited:
            self._exited += 1
            if self._exited >= STARTS:
                raise InputError(
                    f"{STARTS} worker processes in a row exited before they began to work; the "
                    f"last one {answer.why}",
                    remedy=f"{GUARDED}; if they were killed (exit code -9), use fewer --workers or "
                    "a machine with more memory",
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
        for _, answer in crew.answers():
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
