"""Who counts the tasks of a run: processes of this machine, a loop, or the workers of Dask."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from errata.cluster.counting import ShardRecord, run_task
from errata.cluster.crew import LIFE_SECONDS, Crew, WorkerLostError, run_processes
from errata.cluster.manifest import Manifest
from errata.io.folders import Folder, LocalFolder

__all__ = ["Engine", "EngineSettings", "engine_records"]

Engine = Literal["local", "loop", "dask"]
Lost = Callable[[WorkerLostError], None]


@dataclass(frozen=True)
class EngineSettings:
    """Who counts, and how patient we are with workers and sentences.

    ``life`` is how many seconds a worker of ours may give no sign of life; ``certificates`` are the
    files of authority, certificate and key for a scheduler of Dask behind ``tls://``.
    """

    engine: Engine = "local"
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
    left_out: int = 0,
) -> Iterator[Iterable[ShardRecord]]:
    """The records of tasks as they are counted; ``lost`` is told of workers that died.

    ``left_out`` are the sentences that were left out of other tasks.
    """
    storage = settings.storage
    if not tasks:
        yield ()
        return
    if settings.engine == "loop":
        yield (run_task(folder, manifest, task, storage=storage) for task in tasks)
        return
    workers = min(settings.workers or os.cpu_count() or 1, len(tasks))
    with Crew(folder.place, workers, storage=storage, life=settings.life) as crew:

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
        from errata.cluster.dask_engine import dask_client, run_dask

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
                local = isinstance(folder, LocalFolder)
                place = os.path.abspath(folder.place) if local else folder.place
                yield from run_dask(
                    opened, place, manifest, tasks, storage=storage, lost=killers.append
                )
                for task in killers:
                    lost(WorkerLostError(task, "died again and again"))
                yield from here(killers)  # which looks into them, down to the sentence

            yield both()
