"""Tasks on the workers of Dask: an embedded cluster of processes, or one that is there already.

Only tasks go out and only records come back; counts are in the folder of the run. Nothing listens
on a public interface: the embedded scheduler and its workers use the loopback address.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from queue import Empty, SimpleQueue
from typing import Any

from errata import __version__
from errata.cluster.counting import ShardRecord, run_task
from errata.cluster.crew import LIFE_SECONDS
from errata.cluster.manifest import Manifest
from errata.cluster.worker import (
    GUARDED,
    Warned,
    deaf_to_interrupts,
    interrupted_later,
    plan_here,
    warn_again,
    with_warnings,
)
from errata.errors import ErrataError, InputError, MissingExtraError, install_extra
from errata.io.folders import open_folder

__all__ = ["dask_client", "dask_task", "run_dask"]

LOOPBACK = "127.0.0.1"
IN_FLIGHT = 4  # tasks for each worker at a time: the scheduler knows of no more
RETRIES = 3
WORKER_SECONDS = 60  # that a scheduler may have no worker before it is given up
LOOK_SECONDS = 5.0  # between two looks whether the scheduler is there
# Run by each worker of ours: an interrupt from the terminal is told of once, by who started them.
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
    # system anew: nine times the page faults, and a tenth of the time of a task.
    "distributed.nanny.pre-spawn-environ": {} if FORKS else ONE_THREAD,
    "distributed.worker.multiprocessing-method": "forkserver" if FORKS else "spawn",
}

_plans: dict[str, Manifest] = {}


def dask_task(
    place: str, digest: str, number: int, storage: Mapping[str, Any]
) -> tuple[ShardRecord | ErrataError, list[Warned]]:
    """What a worker of Dask runs: one task of the run in this folder, whose plan it reads once.

    Gives the record and the warnings, which nobody would read where the worker is. An error that
    would come again is given too: one that is raised Dask tries `RETRIES` times more.
    """
    try:
        folder = open_folder(place, storage)
        if digest not in _plans:
            found = plan_here(folder, digest)
            _plans.clear()
            _plans[digest] = found
        manifest = _plans[digest]
        record, warned = with_warnings(lambda: run_task(folder, manifest, number, storage=storage))
    except ErrataError as error:
        if _may_pass(error):
            raise
        return error, []
    return record, warned


def _may_pass(error: BaseException) -> bool:
    """Whether a file or a store refused, which it may not do the next time or on another worker.

    Our errors are raised "from None" and remember all the same what they were raised for.
    """
    known: BaseException | None = error
    while known is not None and not isinstance(known, OSError):
        known = known.__context__
    return known is not None


@contextmanager
def dask_client(
    *,
    scheduler: str | None = None,
    workers: int | None = None,
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
        with _own_cluster(workers or os.cpu_count() or 1) as client:
            yield client


@contextmanager
def _own_cluster(workers: int) -> Iterator[Any]:
    """A client of a cluster of processes on this machine, which ends with it."""
    from distributed import Client, LocalCluster

    with ExitStack() as opened:
        with interrupted_later():  # half of a cluster could not be closed
            if FORKS:
                _import_once()
            try:
                cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,  # kernels let the GIL go, reading does not
                    processes=True,
                    host=LOOPBACK,
                    # No dashboard; what is served for want of one has a free port.
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

    It has one thread and none of our locks. By itself Dask would have it import all packages that
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
        with deaf_to_interrupts():
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

    A worker that is killed costs its task, which another one gets; ``lost`` is told of a task that
    killed as many as `RETRIES`, which is then left to whoever looks into it.
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
        warn_again(Warned(*each))
    return answer


def _next(ready: SimpleQueue[Any], client: Any) -> Any:
    """What is done next; an error where the scheduler is gone meanwhile."""
    while True:
        try:
            return ready.get(timeout=LOOK_SECONDS)
        except Empty:
            if client.status != "running":
                raise _scheduler_lost(f"the client is {client.status}") from None


def _scheduler_lost(why: object) -> InputError:
    return InputError(
        f"the scheduler of Dask was lost: {str(why)[:200] or type(why).__name__}",
        remedy="run the same command again: what is done stays done",
    )
