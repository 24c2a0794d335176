"""Count one shard, write count files; which jobs are done.

Counts go to the disk batch by batch, so a worker holds a batch and no shard. The record of a shard
is written last: what it does not name, or names otherwise, does not count.
"""

from __future__ import annotations

import hashlib
import socket
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from errata.core.errors import InputError
from errata.core.parallel import circles_left
from errata.core.stats import Floats
from errata.data import Corpus, Hypotheses
from errata.io.files import file_error
from errata.io.shards.batches import read_shard
from errata.io.shards.counts import pack_counts, unpack_counts
from errata.io.storage import Folder
from errata.metrics import parse
from errata.scale.manifest import Manifest, PlannedSet, Task, seal, unseal
from errata.scoring.accumulator import count_part
from errata.scoring.resampling import number_document_blocks
from errata.scoring.results import Facts

COUNTS, RECORDS = "counts", "records"
HELD = 16 * 2**20  # bytes of counts that wait in memory for the disk
PIECE = 2**20
LENGTH = 8  # bytes before each batch of counts that say how many it has
SentenceFacts = Literal["blocks", "annotators"]


class CountFile(NamedTuple):
    """What a record says of a result file."""

    bytes: int
    sha256: str


class CountedPart(NamedTuple):
    """Counts ``[metric][system]`` of a part, its facts, and what else is known of its sentences.

    These are the blocks of its documents, if any, and the annotators of its references.
    """

    counts: list[list[Floats]]
    facts: Facts
    beside: Mapping[SentenceFacts, Floats]


class DamagedFileError(InputError):
    """A result file that is not what its record says; its shard has to be counted again."""

    def __init__(self, problem: str, name: str, task: int) -> None:
        super().__init__(problem, path=name, remedy="run the same command again")
        self.task = task


@dataclass(frozen=True)
class ShardRecord:
    """What was done of a shard: the files, what signatures need to know of it, and the costs."""

    manifest: str
    task: int
    sentences: int
    files: Mapping[str, CountFile]
    facts: Facts | None
    left_out: tuple[int, ...]  # sentences that ended their workers, by their numbers in the set
    seconds: float
    processor: float
    peak_bytes: int
    host: str = field(default_factory=socket.gethostname)

    def to_json(self) -> dict[str, Any]:
        """What the file of the record holds."""
        return {
            **{key: value for key, value in vars(self).items() if key not in ("files", "facts")},
            "files": {name: [*each] for name, each in self.files.items()},
            "facts": None if self.facts is None else self.facts.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ShardRecord:
        """The record that a file holds; KeyError, TypeError or ValueError where it is damaged."""
        facts = data["facts"]
        return cls(
            **{
                **data,
                "files": {name: CountFile(*each) for name, each in data["files"].items()},
                "facts": None if facts is None else Facts.from_json(facts),
                "left_out": tuple(data["left_out"]),
            }
        )


def record_name(task: int) -> str:
    """Where the record of a task stands."""
    return f"{RECORDS}/{task:08d}.json"


def count_file(task: Task, metric: int, system: int, manifest: Manifest) -> str:
    """Where the counts of a metric and a system stand, for one shard."""
    place = folder_of(manifest, task.set, metric, system)
    return f"{COUNTS}/{place}/{task.shard.index:08d}.cnt"


def folder_of(manifest: Manifest, tested: PlannedSet, metric: int, system: int) -> str:
    """What a test set, a metric and a system are called, below one another.

    They go by number and by as much of their names as any file system holds.
    """
    called = (
        (manifest.sets.index(tested), tested.name),
        (metric, manifest.wanted.metrics[metric].partition("(")[0]),
        (system, tested.systems[system]),
    )
    return "/".join(f"{number:04d}-{_ascii_name(name)}" for number, name in called)


def fact_file(task: Task, what: SentenceFacts, manifest: Manifest) -> str:
    """Where the documents (as blocks) or the annotators of a shard's sentences are kept."""
    number = manifest.sets.index(task.set)
    name = f"{number:04d}-{_ascii_name(task.set.name)}"
    return f"{COUNTS}/{name}/{what}/{task.shard.index:08d}.cnt"


def _ascii_name(name: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)[:60]


def count_range(
    manifest: Manifest,
    task: Task,
    *,
    start: int = 0,
    stop: int | None = None,
    left_out: Sequence[int] = (),
    storage: Mapping[str, Any] | None = None,
) -> Iterator[CountedPart]:
    """The counts of each batch, of the sentences ``start:stop`` of a shard.

    ``left_out`` are places in the shard of sentences that are not counted.
    """
    metrics = [parse(text) for text in manifest.wanted.metrics]
    inputs = replace(task.set.inputs, storage=dict(storage or {}))
    gone, at = {*left_out}, 0
    place = {name: k for k, name in enumerate(task.set.systems)}
    for corpus, read in read_shard(task.shard, inputs, batch=_batch_size(manifest, task)):
        # Tables may have their columns in another order.
        systems = sorted(read, key=lambda each: place[each.system])
        first, at = at, at + len(corpus)
        a, b = max(start, first), at if stop is None else min(stop, at)
        for low, high in _stretches_between(a, b, gone):
            part, outputs = _slice_batch(corpus, systems, low - first, high - first)
            counts, facts = count_part(metrics, part, outputs, guard=inputs.guard, threads=1)
            beside: dict[SentenceFacts, Floats] = {
                "annotators": part.edits.annotators_by_sentence()[:, :, None]
            }
            if part.documents and manifest.wanted.bootstrap == "blocks":
                beside["blocks"] = number_document_blocks(part.documents)[:, None]
            yield CountedPart(counts, facts, beside)


def read_scored_corpus(
    task: Task, left_out: Sequence[int], storage: Mapping[str, Any]
) -> Iterator[Corpus]:
    """Yield the sources and references of a shard without the sentences that were left out.

    ``left_out`` are their places in the test set. What reading warns of was said while counting.
    """
    inputs = replace(task.set.inputs, outputs=(), guard=False, storage=storage)
    pieces = {role: each for role, each in task.shard.pieces.items() if role in inputs.roles}
    gone = {place - task.shard.first for place in left_out}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        at = 0
        for corpus, _ in read_shard(replace(task.shard, pieces=pieces), inputs):
            for low, high in _stretches_between(at, at + len(corpus), gone):
                yield _slice_batch(corpus, (), low - at, high - at)[0]
            at += len(corpus)


def _batch_size(manifest: Manifest, task: Task) -> int:
    """Sentences of a batch: fewer where many systems stand beside each other."""
    return max(64, manifest.wanted.batch // max(1, len(task.set.systems) // 16))


def _stretches_between(start: int, stop: int, gone: set[int]) -> Iterator[tuple[int, int]]:
    """Return the stretches of ``start:stop`` between sentences left out; none is empty."""
    for place in (*sorted(k for k in gone if start <= k < stop), stop):
        if start < place:
            yield start, place
        start = place + 1


def _slice_batch(
    corpus: Corpus, systems: Sequence[Hypotheses], start: int, stop: int
) -> tuple[Corpus, Sequence[Hypotheses]]:
    if (start, stop) == (0, len(corpus)):
        return corpus, systems
    part = corpus[start:stop].starting_at(corpus.first + start)
    return part, [each[start:stop] for each in systems]


def run_job(
    folder: Folder,
    manifest: Manifest,
    number: int,
    *,
    left_out: Sequence[int] = (),
    storage: Mapping[str, Any] | None = None,
) -> ShardRecord:
    """Count a shard and write its files; done twice, or by two at once, it gives the same."""
    task = manifest.tasks[number]
    manifest.wanted.check_files()
    began, used = time.monotonic(), time.process_time()
    facts: Facts | None = None
    metrics, systems = len(manifest.wanted.metrics), len(task.set.systems)
    with (
        circles_left(),
        folder.temporary_folder() as beside,
    ):  # sentences by the thousand, none in a circle
        writers = [
            [_CountWriter(beside / f"{m}-{s}") for s in range(systems)] for m in range(metrics)
        ]
        batches = count_range(manifest, task, left_out=left_out, storage=storage)
        known = {what: _CountWriter(beside / what) for what in get_args(SentenceFacts)}
        for counts, own, of_sentences in batches:
            facts = own if facts is None else facts + own
            for what, values in of_sentences.items():
                known[what].add(values)
            for row, several in zip(writers, counts, strict=True):
                for writer, each in zip(row, several, strict=True):
                    writer.add(each)
            if sum(writer.held for row in writers for writer in row) > HELD:
                for row in writers:
                    for writer in row:
                        writer.flush()
        files = {}
        for m, row in enumerate(writers):
            for s, writer in enumerate(row):
                name = count_file(task, m, s, manifest)
                files[name] = writer.close()
                folder.put_file(writer.path, name)
        for what, writer in known.items():
            if writer.held:
                name = fact_file(task, what, manifest)
                files[name] = writer.close()
                folder.put_file(writer.path, name)
    record = ShardRecord(
        manifest=manifest.digest,
        task=number,
        sentences=task.shard.sentences - len(left_out),
        files=files,
        facts=facts,
        left_out=tuple(task.shard.first + k for k in sorted(left_out)),
        seconds=round(time.monotonic() - began, 3),
        processor=round(time.process_time() - used, 3),
        peak_bytes=_peak_memory(),
    )
    folder.write(seal(record.to_json()), record_name(number), lasting=False)
    return record


class _CountWriter:
    """Batches of counts that become one file, each with its length before it."""

    def __init__(self, path: Path) -> None:
        self.path, self.held = path, 0
        self._waiting: list[bytes] = []
        self._digest, self._bytes = hashlib.sha256(), 0

    def add(self, counts: Floats) -> None:
        packed = pack_counts(counts)
        self._waiting += [len(packed).to_bytes(LENGTH, "little"), packed]
        self.held += LENGTH + len(packed)

    def flush(self) -> None:
        # Opened for each time: thousands of systems are more than a process may have open.
        try:
            with self.path.open("ab") as file:
                for data in self._waiting:
                    file.write(data)
                    self._digest.update(data)
        except OSError as error:
            raise file_error("write", error, str(self.path)) from None
        self._bytes += self.held
        self._waiting, self.held = [], 0

    def close(self) -> CountFile:
        self.flush()
        return CountFile(self._bytes, self._digest.hexdigest())


def _peak_memory() -> int:
    """The most memory that this process has held."""
    try:
        import resource
    except ImportError:  # Windows has none
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def read_record(folder: Folder, manifest: Manifest, number: int) -> ShardRecord | None:
    """The record of a task, if there is one of this plan that can be read."""
    try:
        record = ShardRecord.from_json(unseal(folder.read_file(record_name(number))))
    except (FileNotFoundError, KeyError, TypeError, ValueError, InputError):
        return None
    good = record.manifest == manifest.digest and record.task == number
    return record if good else None


def read_count_file(folder: Folder, name: str, known: CountFile, task: int) -> Iterator[Floats]:
    """The counts of a file, batch by batch, if it is the one that the record names."""
    place = f"{folder.place}/{name}"
    try:
        with folder.open_file(name) as file:
            digest, size = hashlib.sha256(), 0
            while piece := file.read(PIECE):
                digest.update(piece)
                size += len(piece)
            if (size, digest.hexdigest()) != known:
                raise DamagedFileError("the result file is not what was written", place, task)
            file.seek(0)
            left = size
            while head := file.read(LENGTH):
                length = int.from_bytes(head, "little")
                left -= len(head) + length
                if left < 0:
                    raise DamagedFileError("the result file ends too early", place, task)
                try:
                    counts = unpack_counts(file.read(length))
                except InputError as error:
                    raise DamagedFileError(error.problem, place, task) from None
                yield counts
    except FileNotFoundError:
        raise DamagedFileError("the result file is gone", place, task) from None


# ---- How far a run is: which tasks are counted, by their records and the sizes of their files.

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
        """Return sentences that killed their workers: set, and number from 1."""
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
            # Parts that are long with many systems are read again where it is needed.
            done[task.number] = replace(record, files={}, facts=None)
        else:
            damaged.append(task.number)
    return RunStatus(manifest, done, tuple(damaged), RESULT in folder.sizes(RESULT))


def check_complete(folder: Folder, status: RunStatus) -> None:
    """Refuse a run that is not completely counted."""
    if status.missing:
        raise InputError(
            f"{len(status.missing)} of {len(status.manifest.tasks)} tasks are not counted",
            path=folder.place,
            remedy="count them: errata scale run --run FOLDER",
        )
