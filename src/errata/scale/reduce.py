"""Count files to scores and sentence tables."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from errata.core.errors import InputError
from errata.core.registry import plugin_errors
from errata.core.stats import Floats, Progress
from errata.data import Scores
from errata.data.digest import Covered, DataDigest
from errata.io.storage import Folder
from errata.io.stored_scores import (
    SENTENCE_TABLE,
    RunScores,
    ScoredSentences,
    run_result_lines,
    write_sentence_table,
)
from errata.metrics import Metric, parse
from errata.scale.manifest import Manifest, PlannedSet, Task, seal, unseal
from errata.scale.shard_job import (
    RECORDS,
    RESULT,
    CountFile,
    DamagedFileError,
    SentenceFacts,
    ShardRecord,
    check_complete,
    count_file,
    fact_file,
    folder_of,
    read_count_file,
    read_record,
    read_scored_corpus,
    record_name,
    run_status,
)
from errata.scoring.accumulator import Accumulator, CountParts, sentence_scores, settle_parts
from errata.scoring.evaluate import FlatParts, score_parts
from errata.scoring.results import Facts, covered_by, whole_context

KNOWN = 20_000  # files whose entries in records are kept in memory: a few megabytes


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

    def facts(self, storage: Mapping[str, Any] | None = None) -> Facts:
        """What signatures need to know of all shards; of damaged records the first is raised.

        The sources and references are read once more, for their digest.
        """
        found: Facts | None = None
        for task in self.tasks:
            own = self.record(task).facts  # None where the shard is empty
            if own is not None:
                found = own if found is None else found + own
        if found is None:
            raise InputError(f"{self.set.name} is empty", remedy="give at least one sentence")
        return replace(found, digests=self._digests(storage or {}))

    def _digests(self, storage: Mapping[str, Any]) -> dict[Covered, str]:
        """Return the digests of the data; they are kept beside the records."""
        key = [self.manifest.digest, self.left_out()]
        name = f"{RECORDS}/data-{self.manifest.sets.index(self.set):04d}.json"
        with suppress(FileNotFoundError, InputError, KeyError, ValueError):
            kept = unseal(self.folder.read_file(name))
            if kept["of"] == key:
                return dict(kept["digests"])
        metrics = map(parse, self.manifest.wanted.metrics)
        digests = {covered: DataDigest(covered) for covered in map(covered_by, metrics)}
        for task in self.tasks:
            for corpus in read_scored_corpus(task, self.known(task).left_out, storage):
                for digest in digests.values():
                    digest.add(corpus)
        found = {covered: digest.hexdigest() for covered, digest in digests.items()}
        self.folder.write(seal({"of": key, "digests": found}), name)
        return found

    def blocks(self) -> FlatParts | None:
        """The blocks of all sentences by their documents; None where these are not known."""
        if self.manifest.wanted.bootstrap != "blocks":
            return None
        filled = [task for task in self.tasks if not self.known(task).empty]
        known = [
            task
            for task in filled
            if fact_file(task, "blocks", self.manifest) in self.known(task).files
        ]
        if known and len(known) != len(filled):
            raise InputError(
                f"{self.set.name}: only some sentences have a document",
                remedy="give every file a column of documents, or none",
            )
        return FlatParts(_FactParts(self, known, "blocks")) if known else None

    def annotators(self) -> _FactParts:
        """The annotators of all sentences, ``[sentence, reference, 1]``, batch by batch."""
        filled = [task for task in self.tasks if not self.known(task).empty]
        return _FactParts(self, filled, "annotators")

    @property
    def signed(self) -> tuple[str, ...]:
        """What a signature says of the order of the sentences, and of those left out."""
        failed = ",".join(map(str, self.left_out()))
        return (
            f"order:manifest sha256-{self.set.order[:16]}",
            *((f"failed:{failed}",) if failed else ()),
        )

    def left_out(self) -> list[int]:
        """Return the numbers, from 1, of sentences that killed their workers."""
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
class _FactParts:
    """The documents or annotators of sentences over these shards, as often as they are asked."""

    counts: SetCounts
    tasks: list[Task]
    what: SentenceFacts

    def __iter__(self) -> Iterator[Floats]:
        for task in self.tasks:
            name = fact_file(task, self.what, self.counts.manifest)
            known = self.counts.known(task).files[name]
            yield from read_count_file(self.counts.folder, name, known, task.number)


@dataclass(frozen=True)
class SystemCounts:
    """The counts of one system by one metric, over all shards, as often as they are asked for."""

    counts: SetCounts
    metric: int
    system: int

    def __iter__(self) -> Iterator[Floats]:
        for task in self.counts.tasks:
            yield from self.counts.of_task(task, self.metric, self.system)


# ---- From the result files of a run to its scores: read in order, exact whatever the shards
# were.


def reduce_run(
    folder: Folder,
    manifest: Manifest,
    *,
    storage: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> tuple[RunScores, ...]:
    """The scores of every metric on every test set, written to ``result.json``.

    Raises `DamagedFileError` for the first file that is not what was written.
    """
    manifest.wanted.check_files()
    total = len(manifest.wanted.metrics) * len(manifest.tasks)
    done = 0

    def one_more() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    sets = []
    for each in manifest.sets:
        counts = SetCounts(folder, manifest, each)
        facts, signed = counts.facts(storage), counts.signed
        scores = []
        for m, text in enumerate(manifest.wanted.metrics):
            metric = parse(text)
            with plugin_errors(metric):
                standing = _accumulate(counts, metric, m, one_more)
                scores.append(_scores_of_metric(counts, metric, m, facts, standing, signed))
        sets.append(RunScores(each.name, tuple(scores)))
    lines = run_result_lines(sets, manifest.digest)
    folder.write("".join(f"{line}\n" for line in lines).encode("utf-8"), RESULT)
    return tuple(sets)


def _scores_of_metric(
    counts: SetCounts,
    metric: Metric,
    m: int,
    facts: Facts,
    standing: Accumulator,
    signed: tuple[str, ...],
) -> Scores:
    wanted, systems = counts.manifest.wanted, counts.set.systems
    return score_parts(
        metric,
        systems,
        facts,
        [SystemCounts(counts, m, s) for s in range(len(systems))],
        resamples=wanted.resamples,
        rng=wanted.seed,
        bootstrap=wanted.bootstrap,
        standing=standing,
        blocks=counts.blocks(),
        context=signed,
    )


def _accumulate(
    counts: SetCounts, metric: Metric, m: int, one_more: Callable[[], None]
) -> Accumulator:
    """What all shards come to."""
    systems = range(len(counts.set.systems))
    standing = Accumulator.start(metric, len(systems))
    for task in counts.tasks:
        for part in zip(*(counts.of_task(task, m, s) for s in systems), strict=True):
            standing = standing.take(part)
        one_more()
    return standing


# ---- The scores of every sentence of a run, from its counts: a table for each metric and
# system.

SENTENCES = "sentences"


def write_sentences(
    folder: Folder,
    manifest: Manifest,
    *,
    storage: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> dict[str, int]:
    """Write ``sentences/SET/METRIC/SYSTEM.parquet`` in the folder of a run that was counted.

    The columns are as in ``errata score --by-sentence``. Gives the files with how many sentences
    they have.
    """
    manifest.wanted.check_files()
    check_complete(folder, run_status(folder, manifest))
    total = sum(len(each.systems) for each in manifest.sets) * len(manifest.wanted.metrics)
    written: dict[str, int] = {}
    try:
        for each in manifest.sets:
            counts = SetCounts(folder, manifest, each)
            # Each of these reads all records.
            facts, signed, gone = counts.facts(storage), counts.signed, {*counts.left_out()}
            for m in range(len(manifest.wanted.metrics)):
                for name, sentences in _write_tables(counts, m, facts, signed, gone):
                    written[name] = sentences
                    if progress is not None:
                        progress(len(written), total)
    except DamagedFileError as error:
        again = "count its shard again: errata scale run --run FOLDER"
        raise InputError(error.problem, path=error.path, remedy=again) from None
    return written


def _write_tables(
    counts: SetCounts, m: int, facts: Facts, signed: tuple[str, ...], gone: set[int]
) -> Iterator[tuple[str, int]]:
    """Write the tables of one metric, system by system."""
    folder, manifest, tested = counts.folder, counts.manifest, counts.set
    metric = parse(manifest.wanted.metrics[m])
    said = whole_context(metric, *facts.describe(metric).context, *signed)
    signature = " | ".join((repr(metric), *said))
    systems = [SystemCounts(counts, m, s) for s in range(len(tested.systems))]
    several = facts.most > 1 and any(part.shape[1] > 1 for part in systems[0])
    annotators = counts.annotators() if several else None
    with plugin_errors(metric):
        for s, parts in enumerate(settle_parts(metric, [*systems])):
            name = f"{SENTENCES}/{folder_of(manifest, tested, m, s)}{SENTENCE_TABLE}"
            rows = _scored_batches(metric, parts, annotators, gone)
            with folder.temporary_folder() as place:
                file, system = place / "table", tested.systems[s]
                sentences = write_sentence_table(file, system, metric.headline, signature, rows)
                folder.put_file(file, name)
            yield name, sentences


def _scored_batches(
    metric: Metric, parts: CountParts, annotators: CountParts | None, gone: set[int]
) -> Iterator[ScoredSentences]:
    """The scores of sentences batch by batch, numbered as in the text with those left out."""
    last = 0
    filled = (counts for counts in parts if len(counts))
    names = itertools.repeat(None) if annotators is None else iter(annotators)
    for counts, named in zip(filled, names, strict=annotators is not None):
        numbers: list[int] = []
        while len(numbers) < len(counts):
            last += 1
            if last not in gone:
                numbers.append(last)
        by_column = None if named is None else named[:, :, 0]
        scores = sentence_scores(metric, counts, by_column)
        yield ScoredSentences(np.array(numbers, np.int64), *scores)
