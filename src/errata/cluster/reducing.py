"""From the result files of a run to its scores: read in order, exact whatever the shards were.

A cursor beside the counts says up to which shard they were read, with the sums so far: a run that
is killed here goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from errata.cluster.counting import (
    DamagedFileError,
    ShardRecord,
    block_file,
    count_file,
    read_count_file,
    read_record,
    record_name,
)
from errata.cluster.manifest import Manifest, PlannedSet, Task
from errata.cluster.status import RESULT
from errata.data import Scores
from errata.errors import InputError
from errata.io.folders import Folder
from errata.io.scores.run_results import RunScores, run_result_lines
from errata.io.strict_json import decode_json
from errata.metrics import Metric, parse
from errata.numbers import Floats, Progress
from errata.plugins import blamed
from errata.reduction import FlatParts, PartFacts, Standing, scores_of_parts

__all__ = ["CURSORS", "reduce_run"]

CURSORS = "reduce"
CURSOR_SECONDS = 2.0  # between two cursors: what a kill costs at the most


@dataclass(frozen=True)
class _SetCounts:
    """The result files of one test set in the order of its shards; of records it keeps the last."""

    folder: Folder
    manifest: Manifest
    set: PlannedSet
    _kept: dict[int, ShardRecord] = field(default_factory=dict)

    @property
    def tasks(self) -> list[Task]:
        return [task for task in self.manifest.tasks if task.set is self.set]

    def record(self, task: Task) -> ShardRecord:
        """The record of a shard, which must be there."""
        if task.number not in self._kept:
            record = read_record(self.folder, self.manifest, task.number)
            if record is None:
                place = f"{self.folder.place}/{record_name(task.number)}"
                raise DamagedFileError("the record is gone or damaged", place, task.number)
            self._kept.clear()
            self._kept[task.number] = record
        return self._kept[task.number]

    def facts(self) -> PartFacts:
        """What signatures need to know of all shards; of damaged records the first is raised."""
        found: PartFacts | None = None
        for task in self.tasks:
            own = self.record(task).facts  # None where the shard is empty
            if own is not None:
                found = own if found is None else found + own
        if found is None:
            raise InputError(f"{self.set.name} is empty", remedy="give at least one sentence")
        return found

    def digests(self, task: Task, metric: int) -> bytes:
        """What tells the files of a metric from others, of one shard."""
        files = self.record(task).files
        names = (count_file(task, metric, s, self.manifest) for s in range(len(self.set.systems)))
        return "".join(files[name].sha256 for name in names if name in files).encode("ascii")

    def blocks(self) -> FlatParts | None:
        """The blocks of all sentences by their documents; None where these are not known."""
        if self.manifest.wanted.bootstrap != "blocks":
            return None
        filled = [task for task in self.tasks if self.record(task).facts is not None]
        known = [
            task for task in filled if block_file(task, self.manifest) in self.record(task).files
        ]
        if known and len(known) != len(filled):
            raise InputError(
                f"{self.set.name}: only some sentences have a document",
                remedy="give every file a column of documents, or none",
            )
        return FlatParts(_BlockParts(self, known)) if known else None

    def left_out(self) -> list[int]:
        """The numbers, from 1, of sentences that ended whoever counted them."""
        return [place + 1 for task in self.tasks for place in self.record(task).left_out]

    def of_task(self, task: Task, metric: int, system: int) -> Iterator[Floats]:
        """The counts of one shard, batch by batch."""
        name = count_file(task, metric, system, self.manifest)
        known = self.record(task).files.get(name)
        if known is None:
            place = f"{self.folder.place}/{record_name(task.number)}"
            raise DamagedFileError(f"the record knows no {name}", place, task.number)
        return read_count_file(self.folder, name, known, task.number)


@dataclass(frozen=True)
class _BlockParts:
    """The blocks of sentences over these shards, as often as they are asked for."""

    counts: _SetCounts
    tasks: list[Task]

    def __iter__(self) -> Iterator[Floats]:
        for task in self.tasks:
            name = block_file(task, self.counts.manifest)
            known = self.counts.record(task).files[name]
            yield from read_count_file(self.counts.folder, name, known, task.number)


@dataclass(frozen=True)
class _CountedSystem:
    """The counts of one system by one metric, over all shards, as often as they are asked for."""

    counts: _SetCounts
    metric: int
    system: int

    def __iter__(self) -> Iterator[Floats]:
        for task in self.counts.tasks:
            yield from self.counts.of_task(task, self.metric, self.system)


def reduce_run(
    folder: Folder, manifest: Manifest, *, progress: Progress | None = None
) -> tuple[RunScores, ...]:
    """The scores of every metric on every test set, written to ``result.json``.

    Raises `DamagedFileError` for the first file that is not what was written.
    """
    total = len(manifest.wanted.metrics) * len(manifest.tasks)
    done = 0

    def one_more() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    sets = []
    for number, each in enumerate(manifest.sets):
        counts = _SetCounts(folder, manifest, each)
        facts, failed = counts.facts(), counts.left_out()
        scores = []
        for m, text in enumerate(manifest.wanted.metrics):
            metric = parse(text)
            with blamed(metric):
                cursor = _Cursor(counts, m, f"{CURSORS}/{number:04d}-{m:04d}.json")
                standing = _read(counts, metric, m, cursor, one_more)
                scores.append(_scores(counts, metric, m, facts, standing, failed))
        sets.append(RunScores(each.name, tuple(scores)))
    lines = run_result_lines(sets, manifest.digest)
    folder.write("".join(f"{line}\n" for line in lines).encode("utf-8"), RESULT)
    folder.remove(CURSORS)
    return tuple(sets)


def _scores(
    counts: _SetCounts,
    metric: Metric,
    m: int,
    facts: PartFacts,
    standing: Standing,
    failed: list[int],
) -> Scores:
    wanted, systems = counts.manifest.wanted, counts.set.systems
    numbers = ",".join(map(str, failed))
    return scores_of_parts(
        metric,
        systems,
        facts,
        [_CountedSystem(counts, m, s) for s in range(len(systems))],
        resamples=wanted.resamples,
        rng=wanted.seed,
        bootstrap=wanted.bootstrap,
        standing=standing,
        blocks=counts.blocks(),
        context=(
            f"order:manifest sha256-{counts.set.order[:16]}",
            *((f"failed:{numbers}",) if failed else ()),
        ),
    )


def _read(
    counts: _SetCounts, metric: Metric, m: int, cursor: _Cursor, one_more: Callable[[], None]
) -> Standing:
    """What all shards come to, from where the cursor stands."""
    systems = range(len(counts.set.systems))
    start, standing = cursor.read(metric) or (0, Standing.start(metric, len(systems)))
    for k, task in enumerate(counts.tasks):
        if k >= start:
            several = [counts.of_task(task, m, s) for s in systems]
            for part in zip(*several, strict=True):
                standing = standing.take(part)
            cursor.write(k + 1, task, standing)
        one_more()
    return standing


@dataclass
class _Cursor:
    """Up to which shard a metric was read, in a file; written now and then.

    It names the files that were read: where one was counted again meanwhile, and is another, what
    was read does not count.
    """

    counts: _SetCounts
    metric: int
    name: str
    written: float = field(default_factory=time.monotonic)
    files: Any = field(default_factory=hashlib.sha256)  # those that were read

    def read(self, metric: Metric) -> tuple[int, Standing] | None:
        """The next shard and the sums so far; None where there is no cursor that can be read."""
        with suppress(FileNotFoundError, KeyError, TypeError, ValueError, InputError):
            data = decode_json(self.counts.folder.read(self.name).decode("utf-8"))
            shard, files = int(data["next"]), hashlib.sha256()
            if data["manifest"] != self.counts.manifest.digest or shard < 0:
                return None
            for task in self.counts.tasks[:shard]:
                files.update(self.counts.digests(task, self.metric))
            if data["files"] == files.hexdigest():
                standing = Standing.from_state(metric, data["state"])
                self.files = files
                return shard, standing
        return None

    def write(self, shard: int, task: Task, standing: Standing) -> None:
        """So many shards were read, the last of them in this task."""
        self.files.update(self.counts.digests(task, self.metric))
        if time.monotonic() - self.written < CURSOR_SECONDS:
            return
        state = {
            "manifest": self.counts.manifest.digest,
            "next": shard,
            "files": self.files.hexdigest(),
            "state": standing.state(),
        }
        self.counts.folder.write(json.dumps(state).encode("utf-8"), self.name, lasting=False)
        self.written = time.monotonic()
