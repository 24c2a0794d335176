"""How far a run is: which tasks are counted, by their records and the sizes of their files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from errata.cluster.counting import COUNTS, RECORDS, ShardRecord, read_record, record_name
from errata.cluster.manifest import Manifest
from errata.errors import InputError
from errata.io.folders import Folder

__all__ = ["RESULT", "RunStatus", "check_counted", "run_status"]

RESULT = "result.json"


@dataclass(frozen=True)
class RunStatus:
    """The tasks of a run that are done, and those that were and whose files are not as written."""

    manifest: Manifest
    done: Mapping[int, ShardRecord]
    damaged: tuple[int, ...]
    reduced: bool

    @property
    def missing(self) -> tuple[int, ...]:
        """Tasks that are still to be counted."""
        return tuple(task.number for task in self.manifest.tasks if task.number not in self.done)

    @property
    def left_out(self) -> tuple[tuple[str, int], ...]:
        """Sentences that ended whoever counted them: their sets, and their numbers from 1."""
        return tuple(
            (self.manifest.tasks[number].set.name, place + 1)
            for number, record in self.done.items()
            for place in record.left_out
        )


def run_status(folder: Folder, manifest: Manifest) -> RunStatus:
    """Which tasks are done. Files are not read: their digests are compared when they are."""
    records, sizes = folder.sizes(RECORDS), folder.sizes(COUNTS)
    done: dict[int, ShardRecord] = {}
    damaged = []
    for task in manifest.tasks:
        if record_name(task.number) not in records:
            continue
        record = read_record(folder, manifest, task.number)
        if record is not None and all(
            sizes.get(name) == file.bytes for name, file in record.files.items()
        ):
            # What is long with many systems is read again where it is needed.
            done[task.number] = replace(record, files={}, facts=None)
        else:
            damaged.append(task.number)
    return RunStatus(manifest, done, tuple(damaged), RESULT in folder.sizes(RESULT))


def check_counted(folder: Folder, status: RunStatus) -> None:
    """Refuse a run of which something is not counted."""
    if status.missing:
        raise InputError(
            f"{len(status.missing)} of {len(status.manifest.tasks)} tasks are not counted",
            path=folder.place,
            remedy="count them: errata scale run --run FOLDER",
        )
