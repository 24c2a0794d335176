"""Loop, processes, Dask.

A worker that dies, or gives no sign of life, costs its task and nothing else: another one gets it.
A task that ends its workers again and again is looked into, down to the sentence.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Literal, NamedTuple

from errata import __version__
from errata.core.errors import (
    DataWarning,
    ErrataError,
    InputError,
    MissingExtraError,
    install_extra,
)
from errata.io.storage import Folder, StoreFolder, open_folder
from errata.scale.manifest import Manifest, read_manifest
from errata.scale.shard_job import ShardRecord, count_range, run_job

# ---- A worker process of `errata.scale.executors`: tasks in, records out, a sign of life
# between.

# What to do when new processes do not begin to work.
GUARDED = (
    "read what they printed; a Python script must start the run in a file, below "
    "if __name__ == '__main__':"
)


class Job(NamedTuple):
    """What a worker is to do: a task without some of its places, or only to count a stretch."""

    task: int
    left_out: tuple[int, ...] = ()
    stretch: tuple[int, int] | None = None


class CapturedWarning(NamedTuple):
    """A warning that was given elsewhere."""

    text: str
    of_numbers: bool  # and not of data


def with_warnings(run: Callable[[], Any]) -> tuple[Any, list[CapturedWarning]]:
    """Return the result of a call, and its warnings, which the caller repeats."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run()
    ours = [each for each in caught if issubclass(each.category, DataWarning | RuntimeWarning)]
    return result, [
        CapturedWarning(str(each.message), issubclass(each.category, RuntimeWarning))
        for each in ours
    ]


def warn_again(warned: CapturedWarning) -> None:
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
def block_sigint() -> Iterator[None]:
    """Processes started within are not interrupted from the terminal: who started them ends them.

    So an interrupt is reported once, and not by every worker.
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
def defer_sigint() -> Iterator[None]:
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


def load_manifest(folder: Folder, digest: str | None = None) -> Manifest:
    """The plan of a run, as a worker finds it in its folder: this one, if a digest is given."""
    found = read_manifest(folder)
    if found is None or digest not in (None, found.digest):
        raise InputError(
            "a worker finds no plan of this run here",
            path=folder.place,
            remedy="all workers must reach the same folder",
        )
    return found


def worker_main(
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

    send("alive", None)  # so that the caller knows that it began
    threading.Thread(target=_live, args=(send, alive), daemon=True).start()
    manifest: Manifest | None = None
    while True:
        try:
            asked: Job = channel.recv()
        except (EOFError, OSError):  # the caller is gone
            return
        try:
            manifest = manifest or load_manifest(open_folder(place, storage))
            record, warned = with_warnings(
                partial(_count_in_worker, place, manifest, asked, storage)
            )
            for each in warned if asked.stretch is None else ():
                send("warned", each)
            send("done", record)
        except (ErrataError, OSError, MemoryError) as error:
            send("failed", error)
        except Exception as error:
            send("failed", _fault(asked.task, error))


def _fault(task: int, error: Exception) -> RuntimeError:
    """Return an unexpected error for the caller to report: a dead worker would say nothing."""
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


def _count_in_worker(
    place: str, manifest: Manifest, asked: Job, storage: Mapping[str, Any]
) -> object:
    if asked.stretch is None:
        folder = open_folder(place, storage)
        return run_job(folder, manifest, asked.task, left_out=asked.left_out, storage=storage)
    start, stop = asked.stretch
    task = manifest.tasks[asked.task]
    gone = asked.left_out
    for _ in count_range(manifest, task, start=start, stop=stop, left_out=gone, storage=storage):
        pass
    return None


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
    asked: Job | None = None
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
    process = context.Process(target=worker_main, args=(theirs, place, storage, alive), daemon=True)
    with block_sigint():
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


class ProcessExecutor:
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

    def __enter__(self) -> ProcessExecutor:
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

    def alone(self) -> ProcessExecutor:
        """Return another crew of the same run, without a worker yet."""
        crew = copy(self)
        crew._workers = []
        return crew

    def ask(self, asked: Job) -> None:
        """Give a task to a worker that has none, or to a new one."""
        idle = next((w for w in self._workers if w.asked is None and w.process.is_alive()), None)
        if idle is None:
            process, channel = self._start(self._place, self._storage, self._poll)
            idle = _Worker(process, channel, self._clock(), self._start_patience)
            self._workers.append(idle)
        idle.asked, idle.heard = asked, self._clock()
        with suppress(OSError):  # it died meanwhile: `answers` will find it so
            idle.channel.send(asked)

    def answers(self, seconds: float | None = None) -> Iterator[tuple[Job, object]]:
        """Yield what came back within ``seconds``: what was asked, and a record or an error."""
        channels = {worker.channel: worker for worker in self._workers}
        ready = wait([*channels], timeout=self._poll if seconds is None else seconds)
        # Who takes an answer may keep us waiting: silence is measured before, up to now.
        now = self._clock()
        waited = [w for w in self._workers if w.asked is not None and w.channel not in ready]
        silent = [worker for worker in waited if self._silence(worker, now) > worker.patience]
        for channel in ready:
            yield from self._handle_message(channels[channel])  # type: ignore[index]
        for worker in silent:
            while_starting = "" if worker.began else " while it started"
            if not worker.began:
                self._start_patience = max(self._start_patience, 2 * worker.patience)
            why = f"gave no sign of life for {worker.patience:g} s{while_starting}"
            yield from self._replace_worker(worker, why, exited=False)

    def _silence(self, worker: _Worker, now: float) -> float:
        """Return the seconds without a sign of life: a message, or processor time of a start."""
        if not worker.began:
            used = self._processor_time(worker.process.pid or 0)
            if used != worker.used:
                worker.used, worker.heard = used, now
        return now - worker.heard

    def _handle_message(self, worker: _Worker) -> Iterator[tuple[Job, object]]:
        try:
            word, content = worker.channel.recv()
        except (EOFError, OSError):
            worker.process.join(10)
            before = "" if worker.began else " before it began"
            yield from self._replace_worker(
                worker, f"ended{before} (exit code {worker.process.exitcode})"
            )
            return
        worker.heard, worker.began, worker.patience = self._clock(), True, self._life
        if word == "warned":
            warn_again(content)
        elif word != "alive":
            asked, worker.asked = worker.asked, None
            assert asked is not None
            yield asked, content

    def _replace_worker(
        self, worker: _Worker, why: str, *, exited: bool = True
    ) -> Iterator[tuple[Job, object]]:
        worker.end()
        self._workers.remove(worker)
        if worker.asked is not None:
            error = WorkerLostError(worker.asked.task, why, began=worker.began, exited=exited)
            yield worker.asked, error


def run_processes(
    crew: ProcessExecutor,
    manifest: Manifest,
    tasks: Sequence[int],
    *,
    allow_failed: int = 0,
    left_out: int = 0,
    lost: Callable[[WorkerLostError], None] | None = None,
) -> Iterator[ShardRecord]:
    """Yield the records of these tasks; ``lost`` is called for every worker that died.

    Raised is what a task refuses, and a sentence that ends its workers, unless ``allow_failed``
    such sentences may be left out; ``left_out`` are already.
    """
    waiting = deque(Job(task) for task in tasks)
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
    crew: ProcessExecutor, manifest: Manifest, asked: Job, gone: int, allowed: int
) -> Job:
    """The same task without the sentences that end workers, if so many may be left out.

    Sentences left out already are not looked at again; ``gone`` counts all tasks.
    """
    task = manifest.tasks[asked.task]
    with crew.alone() as alone:
        found = isolate_crash(
            task.shard.sentences,
            lambda start, stop: _survives(alone, asked, start, stop),
            most=max(1, allowed - gone + 1),
        )
    if not found:
        return asked  # it was not the sentences: memory that others held, or somebody's kill
    numbers = ", ".join(f"{task.shard.first + place + 1:,}" for place in found)
    if gone + len(found) > allowed:
        raise InputError(
            f"{task.set.name}: a process that counts sentence {numbers} (from 1) is ended by it",
            remedy="look at the sentence and at the metrics, or leave it out with --allow-failed "
            f"{gone + len(found)}",
        )
    return asked._replace(left_out=tuple(sorted({*asked.left_out, *found})))


def _survives(crew: ProcessExecutor, asked: Job, start: int, stop: int) -> bool:
    """Return whether a worker survives a stretch of a shard, without sentences left out."""
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


def isolate_crash(
    sentences: int, survives: Callable[[int, int], bool], *, most: int
) -> tuple[int, ...]:
    """Return the sentences of a shard that kill a worker, at most ``most``, by halving.

    >>> isolate_crash(100, lambda start, stop: not start <= 42 < stop, most=2)
    (42,)
    """
    if not survives(0, 0):
        raise InputError(
            "a process that reads this shard is ended by it, whatever is counted",
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


# ---- Tasks on the workers of Dask: an embedded cluster of processes, or one that is there
# already.

LOOPBACK = "127.0.0.1"
IN_FLIGHT = 4  # tasks for each worker at a time: the scheduler knows of no more
RETRIES = 3
WORKER_SECONDS = 60  # that a scheduler may have no worker before it is given up
LOOK_SECONDS = 5.0  # between two looks whether the scheduler is there
# Run by each of our workers: the process that started them reports an interrupt, once.
DEAF = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
FORKS = "forkserver" in multiprocessing.get_all_start_methods()
SETTINGS = {
    "distributed.scheduler.allowed-failures": RETRIES,
    "distributed.comm.timeouts.connect": "30s",
    "distributed.comm.timeouts.tcp": "30s",
    "distributed.admin.log-length": 100,
    # What a worker looks at beside its task is, as Dask comes, a twentieth of a core: stacks 100
    # times a second, the clock 50 times, memory 10 times. Tasks take seconds, and so may this.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.tick.cycle": "5s",
    "distributed.admin.system-monitor.interval": "2s",
    "distributed.worker.memory.monitor-interval": "1s",
    # Without Dask's MALLOC_TRIM_THRESHOLD_, with which every array of a batch is asked of the
    # system again: nine times the page faults, and a tenth of the time of a task.
    "distributed.nanny.pre-spawn-environ": {} if FORKS else ONE_THREAD,
    "distributed.worker.multiprocessing-method": "forkserver" if FORKS else "spawn",
}

_plans: dict[str, Manifest] = {}


def dask_task(
    place: str, digest: str, number: int, storage: Mapping[str, Any]
) -> tuple[ShardRecord | ErrataError, list[CapturedWarning]]:
    """What a worker of Dask runs: one task of the run in this folder, whose plan it reads once.

    Gives the record and the warnings, which nobody would read where the worker is. An error that
    would come again is given too: one that is raised Dask tries `RETRIES` times more.
    """
    try:
        folder = open_folder(place, storage)
        if digest not in _plans:
            found = load_manifest(folder, digest)
            _plans.clear()
            _plans[digest] = found
        manifest = _plans[digest]
        record, warned = with_warnings(lambda: run_job(folder, manifest, number, storage=storage))
    except ErrataError as error:
        if _may_pass(error):
            raise
        return error, []
    return record, warned


def _may_pass(error: BaseException) -> bool:
    """Whether a file or a store refused, which it may not do the next time or on another worker.

    Our errors are raised "from None" but keep their cause.
    """
    known: BaseException | None = error
    while known is not None and not isinstance(known, OSError):
        known = known.__context__
    return known is not None


@contextmanager
def dask_client(
    *,
    workers: int,
    scheduler: str | None = None,
    certificates: tuple[str, str, str] | None = None,
    life: float = LIFE_SECONDS,
) -> Iterator[Any]:
    """A client of the scheduler at an address, or of an embedded cluster of processes.

    Of the latter a worker without a sign of life for ``life`` seconds is given up; a scheduler that
    runs already has its own patience.
    """
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise MissingExtraError("Dask distributed", install_extra("scale")) from None
    patience = {"distributed.scheduler.worker-ttl": f"{life:g}s"}  # five minutes by default
    with dask.config.set({**SETTINGS, **patience}):
        if scheduler is not None:
            try:
                client = Client(
                    scheduler, security=_security(certificates), set_as_default=False, timeout="30s"
                )
            except (OSError, ValueError, TypeError) as error:
                raise InputError(
                    f"no scheduler of Dask answers: {error}",
                    path=scheduler,
                    remedy="start one (dask scheduler) and give its address, as tcp://HOST:8786",
                ) from None
            with client:
                _same_versions(client, scheduler)
                yield client
            return
        with _own_cluster(workers) as client:
            yield client


@contextmanager
def _own_cluster(workers: int) -> Iterator[Any]:
    """A client of a cluster of processes on this machine, which ends with it."""
    from distributed import Client, LocalCluster

    with ExitStack() as opened:
        with defer_sigint():  # half of a cluster could not be closed
            if FORKS:
                _import_once()
            try:
                cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,  # kernels let the GIL go, reading does not
                    processes=True,
                    host=LOOPBACK,
                    # No dashboard; the server that Dask starts instead has a free port.
                    dashboard_address=f"{LOOPBACK}:0",
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=50,
                    preload=[DEAF],
                    env={**os.environ, **ONE_THREAD},  # as it may have become since the first
                )
            except RuntimeError as error:
                raise InputError(
                    f"the workers of Dask do not start: {error}", remedy=GUARDED
                ) from None
            opened.enter_context(cluster)
            client = opened.enter_context(Client(cluster, set_as_default=False))
        yield client


def _import_once() -> None:
    """Start the process that workers are forked from: what they need is imported there, once.

    It has one thread and none of our locks. By default Dask would have it import all packages that
    Dask knows, and this process too: pandas alone takes as long as all else.
    """
    from multiprocessing import forkserver

    from distributed import utils

    if hasattr(utils, "_forkserver_preload_set"):
        utils._forkserver_preload_set = True
    forkserver.set_forkserver_preload([__name__, "distributed"])
    ours = {name: os.environ[name] for name in ONE_THREAD if name in os.environ}
    os.environ.update(ONE_THREAD)  # for it, not for us
    try:
        with block_sigint():
            forkserver.ensure_running()
    finally:
        for name in ONE_THREAD:
            del os.environ[name]
        os.environ.update(ours)


def _security(certificates: tuple[str, str, str] | None) -> Any:
    """What Dask needs to know for ``tls://``."""
    from distributed.security import Security

    if certificates is None:
        return None
    authority, certificate, key = certificates
    return Security(
        tls_ca_file=authority,
        tls_client_cert=certificate,
        tls_client_key=key,
        require_encryption=True,
    )


def _same_versions(client: Any, scheduler: str) -> None:
    """Refuse workers with another Errata, before the first task."""
    same = "install the same version on every worker"
    if not client.scheduler_info()["workers"]:
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError:
            raise InputError(
                f"the scheduler of Dask has had no worker for {WORKER_SECONDS} s",
                path=scheduler,
                remedy=f"start some: dask worker {scheduler}",
            ) from None
    try:
        found = client.run(_version)
    except Exception as error:  # it comes from there as a plain one
        raise InputError(
            f"a worker cannot run this Errata: {error}", path=scheduler, remedy=same
        ) from None
    others = {place: version for place, version in found.items() if version != __version__}
    if others:
        place, version = next(iter(others.items()))
        raise InputError(
            f"the worker {place} has Errata {version}, this is {__version__}",
            path=scheduler,
            remedy=same,
        )


def _version() -> str:
    """The Errata of a worker."""
    return __version__


def run_dask(
    client: Any,
    place: str,
    manifest: Manifest,
    tasks: Sequence[int],
    *,
    storage: Mapping[str, Any] | None = None,
    lost: Callable[[int], None] | None = None,
) -> Iterator[ShardRecord]:
    """The records of these tasks as they come.

    A worker that is killed costs its task, which another one gets; ``lost`` is called for a task
    that killed `RETRIES` workers, which is then left to be examined.
    """
    from distributed.scheduler import KilledWorker

    waiting = list(reversed(tasks))
    window = IN_FLIGHT * max(1, len(client.scheduler_info()["workers"]))
    asked: dict[str, tuple[int, Any]] = {}  # by the key of what Dask promised
    ready: SimpleQueue[Any] = SimpleQueue()
    while waiting or asked:
        while waiting and len(asked) < window:
            number = waiting.pop()
            arguments = (place, manifest.digest, number, dict(storage or {}))
            promise = client.submit(dask_task, *arguments, pure=False, retries=RETRIES)
            asked[promise.key] = number, promise
            promise.add_done_callback(ready.put)
        promise = _next(ready, client)
        number, _ = asked.pop(promise.key)
        try:
            yield _record(promise)
        except KilledWorker:
            if lost is not None:
                lost(number)
        except (ErrataError, GeneratorExit):
            raise
        except Exception as error:
            if promise.status == "error":  # of the task, and none of ours
                raise
            raise _scheduler_lost(error) from None


def _record(promise: Any) -> ShardRecord:
    """What a task gave: its record, after its warnings; its error is raised."""
    answer: ShardRecord | ErrataError
    answer, warned = promise.result()
    if isinstance(answer, ErrataError):
        raise answer
    for each in warned:
        warn_again(CapturedWarning(*each))
    return answer


def _next(ready: SimpleQueue[Any], client: Any) -> Any:
    """The next finished task; an error where the scheduler is gone meanwhile."""
    while True:
        try:
            return ready.get(timeout=LOOK_SECONDS)
        except Empty:
            if client.status != "running":
                raise _scheduler_lost(f"the client is {client.status}") from None


def _scheduler_lost(why: object) -> InputError:
    return InputError(
        f"the scheduler of Dask was lost: {str(why)[:200] or type(why).__name__}",
        remedy="run the same command again: finished shards are kept",
    )


# ---- Who counts the tasks of a run: processes of this machine, a loop, or the workers of Dask.

Executor = Literal["local", "loop", "dask"]
Lost = Callable[[WorkerLostError], None]


@dataclass(frozen=True)
class EngineSettings:
    """Who counts, and how patient we are with workers and sentences.

    ``life`` is how many seconds a worker of ours may give no sign of life; ``certificates`` are the
    files of authority, certificate and key for a scheduler of Dask behind ``tls://``.
    """

    engine: Executor = "local"
    workers: int | None = None
    scheduler: str | None = None
    certificates: tuple[str, str, str] | None = None
    life: float = LIFE_SECONDS
    allow_failed: int = 0
    storage: Mapping[str, Any] = field(default_factory=dict)


@contextmanager
def engine_records(
    folder: Folder,
    manifest: Manifest,
    tasks: Sequence[int],
    settings: EngineSettings,
    lost: Lost,
    *,
    left_out: int,
) -> Iterator[Iterable[ShardRecord]]:
    """Yield the records of tasks as they are counted; ``lost`` is called for workers that died.

    ``left_out`` are the sentences that were left out of other tasks.
    """
    storage = settings.storage
    if not tasks:
        yield ()
        return
    if settings.engine == "loop":
        yield (run_job(folder, manifest, task, storage=storage) for task in tasks)
        return
    workers = min(settings.workers or os.cpu_count() or 1, len(tasks))
    with ProcessExecutor(folder.place, workers, storage=storage, life=settings.life) as crew:

        def here(left: Sequence[int]) -> Iterator[ShardRecord]:
            return run_processes(
                crew,
                manifest,
                left,
                allow_failed=settings.allow_failed,
                left_out=left_out,
                lost=lost,
            )

        if settings.engine == "local":
            yield here(tasks)
            return

        client = dask_client(
            scheduler=settings.scheduler,
            workers=workers,
            certificates=settings.certificates,
            life=settings.life,
        )
        with client as opened:
            killers: list[int] = []

            def both() -> Iterator[ShardRecord]:
                # Workers of a cluster that is there were started anywhere.
                local = not isinstance(folder, StoreFolder)
                place = os.path.abspath(folder.place) if local else folder.place
                yield from run_dask(
                    opened, place, manifest, tasks, storage=storage, lost=killers.append
                )
                for task in killers:
                    lost(WorkerLostError(task, "died again and again"))
                yield from here(killers)  # which looks into them, down to the sentence

            yield both()
