"""The result files of a test set, as counts in the order of its sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from errata.cluster.counting import (
    CountFile,
    DamagedFileError,
    ShardRecord,
    block_file,
    count_file,
    read_count_file,
    read_record,
    record_name,
)
from errata.cluster.manifest import Manifest, PlannedSet, Task
from errata.errors import InputError
from errata.io.folders import Folder
from errata.numbers import Floats
from errata.reduction import FlatParts, PartFacts

__all__ = ["CountedSystem", "SetCounts"]


KNOWN = 20_000  # files of which is kept what records know: a few megabytes


class _Known(NamedTuple):
    """What a record says of files, of sentences left out, and whether its shard is empty."""

    files: Mapping[str, CountFile]
    left_out: tuple[int, ...]
    empty: bool


@dataclass(frozen=True)
class SetCounts:
    """The result files of one test set in the order of its shards.

    Of records it keeps the last, and what the others know of files as long as these are few.
    """

    folder: Folder
    manifest: Manifest
    set: PlannedSet
    _kept: dict[int, ShardRecord] = field(default_factory=dict)
    _known: dict[int, _Known] = field(default_factory=dict)

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
            if (len(self._known) + 1) * (len(record.files) + 1) <= KNOWN:
                empty = record.facts is None
                self._known[task.number] = _Known(record.files, record.left_out, empty)
        return self._kept[task.number]

    def known(self, task: Task) -> _Known:
        """What the record of a shard says, but for its facts."""
        if task.number in self._known:
            return self._known[task.number]
        record = self.record(task)
        return _Known(record.files, record.left_out, record.facts is None)

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
        files = self.known(task).files
        names = (count_file(task, metric, s, self.manifest) for s in range(len(self.set.systems)))
        return "".join(files[name].sha256 for name in names if name in files).encode("ascii")

    def blocks(self) -> FlatParts | None:
        """The blocks of all sentences by their documents; None where these are not known."""
        if self.manifest.wanted.bootstrap != "blocks":
            return None
        filled = [task for task in self.tasks if not self.known(task).empty]
        known = [
            task for task in filled if block_file(task, self.manifest) in self.known(task).files
        ]
        if known and len(known) != len(filled):
            raise InputError(
                f"{self.set.name}: only some sentences have a document",
                remedy="give every file a column of documents, or none",
            )
        return FlatParts(_BlockParts(self, known)) if known else None

    @property
    def signed(self) -> tuple[str, ...]:
        """What a signature says of the order of the sentences, and of those left out."""
        failed = ",".join(map(str, self.left_out()))
        return (
            f"order:manifest sha256-{self.set.order[:16]}",
            *((f"failed:{failed}",) if failed else ()),
        )

    def left_out(self) -> list[int]:
        """The numbers, from 1, of sentences that ended whoever counted them."""
        return [place + 1 for task in self.tasks for place in self.known(task).left_out]

    def of_task(self, task: Task, metric: int, system: int) -> Iterator[Floats]:
        """The counts of one shard, batch by batch."""
        name = count_file(task, metric, system, self.manifest)
        known = self.known(task).files.get(name)
        if known is None:
            place = f"{self.folder.place}/{record_name(task.number)}"
            raise DamagedFileError(f"the record knows no {name}", place, task.number)
        return read_count_file(self.folder, name, known, task.number)


@dataclass(frozen=True)
class _BlockParts:
    """The blocks of sentences over these shards, as often as they are asked for."""

    counts: SetCounts
    tasks: list[Task]

    def __iter__(self) -> Iterator[Floats]:
        for task in self.tasks:
            name = block_file(task, self.counts.manifest)
            known = self.counts.known(task).files[name]
            yield from read_count_file(self.counts.folder, name, known, task.number)


@dataclass(frozen=True)
class CountedSystem:
    """The counts of one system by one metric, over all shards, as often as they are asked for."""

    counts: SetCounts
    metric: int
    system: int

    def __iter__(self) -> Iterator[Floats]:
        for task in self.counts.tasks:
            yield from self.counts.of_task(task, self.metric, self.system)
