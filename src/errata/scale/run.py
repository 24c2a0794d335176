"""Plan, drive and clean a run; tables.

Whatever ended a run before its end, the same call goes on with it. A result file that is not what
was written is found when it is read, and its shard is counted again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from errata.core.errors import InputError
from errata.core.stats import Progress, plural
from errata.corpora import AcrossCorpora, score_and_rank_table, stability_table
from errata.io.corpus import CorpusFiles
from errata.io.shards.batches import read_shard
from errata.io.shards.inputs import Shard
from errata.io.shards.plan import plan_shards
from errata.io.storage import WAITING, Folder
from errata.io.stored_scores import RunScores
from errata.metrics import parse
from errata.scale.executors import EngineSettings, WorkerLostError, engine_records, warnings_once
from errata.scale.manifest import (
    MANIFEST,
    Manifest,
    MetricPlan,
    PlannedSet,
    read_manifest,
    write_manifest,
)
from errata.scale.reduce import SENTENCES, reduce_run
from errata.scale.shard_job import (
    COUNTS,
    RECORDS,
    RESULT,
    DamagedFileError,
    RunStatus,
    check_complete,
    record_name,
    run_job,
    run_status,
)
from errata.scoring.accumulator import check_divisible
from errata.scoring.tables import displayed_scores, unique_labels
from errata.tables.cells import Cell
from errata.tables.table import Form, Table

SHARD_BYTES = 64 * 2**20
ROUNDS = 5  # attempts to count a task with damaged files again, before an error


@dataclass(frozen=True)
class RunOutcome:
    """What a run came to, and what it took this time."""

    sets: tuple[RunScores, ...]
    tasks: int
    counted: int  # tasks counted now
    damaged: int  # tasks that had been counted, and whose files were not as written
    workers_lost: int
    left_out: tuple[tuple[str, int], ...] = ()


def plan_run(
    folder: Folder,
    wanted: MetricPlan,
    sets: Sequence[tuple[str, CorpusFiles]],
    *,
    shard_bytes: int | None = None,
    shard_sentences: int | None = None,
    progress: Progress | None = None,
) -> Manifest:
    """Plan a run and put the plan into its folder, where the same plan may stand already.

    What could not be scored is refused here: metrics that are unknown, files that do not fit.
    """
    for text in wanted.metrics:
        check_divisible(parse(text))
    planned = []
    for name, inputs in sets:
        shards = plan_shards(
            inputs,
            shard_bytes=shard_bytes or SHARD_BYTES,
            shard_sentences=shard_sentences,
            progress=progress,
        )
        systems = _systems(inputs, shards)
        if not systems:
            raise InputError(
                f"{name}: there is no system to score",
                remedy="name a file or pattern for each, or give Parquet files a column hyp:NAME",
            )
        planned.append(PlannedSet(name, inputs, systems, shards))
    made = Manifest(wanted.with_files(), tuple(planned))
    _check_names(made)
    there = read_manifest(folder)
    if there is None:
        write_manifest(folder, made)
    elif there.digest != made.digest:
        raise InputError(
            f"the folder holds another run: {_plan_difference(there, made)}",
            path=f"{folder.place}/{MANIFEST}",
            remedy="name another folder, or remove this run (errata scale clean --all)",
        )
    return made


def _check_names(manifest: Manifest) -> None:
    """Refuse names that no plan can hold, being no text."""
    for each in manifest.sets:
        files = (piece.uri for shard in each.shards for [piece] in shard.pieces.values())
        for name in (each.name, *each.systems, *files):
            try:
                name.encode("utf-8")
            except UnicodeEncodeError:
                raise InputError(
                    "the name is not UTF-8, and a plan is", path=name, remedy="rename the file"
                ) from None


def _systems(inputs: CorpusFiles, shards: Sequence[Shard]) -> tuple[str, ...]:
    """The names of the systems: as they were given, or as the first sentences have them."""
    if inputs.parquet is None:
        return tuple(name for name, _ in inputs.outputs)
    for shard in shards:
        for _, systems in read_shard(shard, inputs, batch=1):
            return tuple(each.system for each in systems)
    return ()


def _plan_difference(one: Manifest, other: Manifest) -> str:
    """In what two plans differ, in a few words."""
    for name, a, b in (
        ("metrics", one.wanted.metrics, other.wanted.metrics),
        ("files that metrics read", one.wanted.files, other.wanted.files),
        ("settings of resamples", one.wanted, other.wanted),
        ("test sets", [s.name for s in one.sets], [s.name for s in other.sets]),
        ("systems", [s.systems for s in one.sets], [s.systems for s in other.sets]),
        ("input files or options", [s.inputs for s in one.sets], [s.inputs for s in other.sets]),
        ("sentences", [s.sentences for s in one.sets], [s.sentences for s in other.sets]),
    ):
        if a != b:
            return f"it has other {name}"
    return "its files had other contents, or were cut elsewhere"


def planned_run(folder: Folder) -> Manifest:
    """The plan of a run, which must be there."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise InputError(
            "there is no run in this folder",
            path=folder.place,
            remedy="plan one first: errata scale plan --run FOLDER --gold PATTERN NAME=PATTERN...",
        )
    return manifest


@warnings_once()
def count_tasks(
    folder: Folder,
    manifest: Manifest,
    tasks: Iterable[int],
    *,
    storage: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> RunStatus:
    """Count these tasks in this process, but for those that are done; how far the run is then."""
    missing = {*run_status(folder, manifest).missing}
    wanted = [task for task in tasks if task in missing]
    for done, task in enumerate(wanted, 1):
        run_job(folder, manifest, task, storage=storage)
        if progress is not None:
            progress(done, len(wanted))
    return run_status(folder, manifest)


@warnings_once()
def finish_run(
    folder: Folder,
    manifest: Manifest,
    settings: EngineSettings | None = None,
    *,
    counting: bool = True,
    progress: Progress | None = None,
    reducing: Progress | None = None,
    said: Callable[[str], None] | None = None,
) -> RunOutcome:
    """Count missing shards, read all counts, and write ``result.json``.

    ``counting=False`` only reads, and refuses where something is missing or damaged. ``said`` is
    called for workers that were lost and files that were damaged.
    """
    settings = settings or EngineSettings()
    counted, losses = 0, list[WorkerLostError]()
    status = run_status(folder, manifest)
    damaged = {*status.damaged}

    def lost(error: WorkerLostError) -> None:
        losses.append(error)
        if said is not None:
            said(error.problem)

    again: Counter[int] = Counter()
    while not again or max(again.values()) < ROUNDS:
        missing = status.missing
        if not counting:
            check_complete(folder, status)
        there = len(manifest.tasks) - len(missing)
        gone = len(status.left_out)
        with engine_records(folder, manifest, missing, settings, lost, left_out=gone) as records:
            for done, _record in enumerate(records, there + 1):
                counted += 1
                if progress is not None:
                    progress(done, len(manifest.tasks))
        try:
            sets = reduce_run(folder, manifest, storage=settings.storage, progress=reducing)
        except DamagedFileError as error:
            if said is not None:
                said(f"{error.path}: {error.problem}; its shard is counted again")
            damaged.add(error.task)
            again[error.task] += 1
            folder.remove(record_name(error.task))
            status = run_status(folder, manifest)
            continue
        left_out = run_status(folder, manifest).left_out
        return RunOutcome(sets, len(manifest.tasks), counted, len(damaged), len(losses), left_out)
    raise InputError(
        f"the result files of task {max(again, key=again.__getitem__)} are damaged again and again",
        path=folder.place,
        remedy="look at the disk or the store",
    )


def clean_run(folder: Folder, *, everything: bool) -> dict[str, int]:
    """Remove the counts of a run, which its result no longer needs; or the whole run.

    Gives the files that were removed, with their sizes.
    """
    planned_run(folder)
    names = (COUNTS, RECORDS, *((SENTENCES, RESULT, MANIFEST) if everything else ()))
    gone = {file: size for name in names for file, size in folder.sizes(name).items()}
    for name in (*names, WAITING):
        folder.remove(name)
    return gone


# ---- Runs as tables: plan, progress and results.


def planned_table(manifest: Manifest) -> Table:
    """One row per test set: sentences, systems, shards, and what a shard holds."""
    rows: list[tuple[Cell, ...]] = []
    for each in manifest.sets:
        sizes = [shard.sentences for shard in each.shards]
        rows.append(
            (
                each.name,
                each.sentences,
                len(each.systems),
                len(sizes),
                min(sizes, default=0),
                max(sizes, default=0),
            )
        )
    wanted, tasks = manifest.wanted, len(manifest.tasks)
    return Table(
        ("set", "sentences", "systems", "shards", "smallest", "largest"),
        tuple(rows),
        title="Plan",
        name="run_plan",
        caption=f"{tasks} {plural('task', tasks)}; metrics: {', '.join(wanted.metrics)}",
        signature=f"manifest sha256-{manifest.digest[:16]}",
    )


def progress_table(status: RunStatus) -> Table:
    """Return one row per test set: counted shards, time, and shards left."""
    rows: list[tuple[Cell, ...]] = []
    for each in status.manifest.sets:
        tasks = [task for task in status.manifest.tasks if task.set is each]
        done = [status.done[task.number] for task in tasks if task.number in status.done]
        counted = sum(record.sentences for record in done)
        seconds = sum(record.processor for record in done)
        left = (each.sentences - counted) * seconds / counted if counted else None
        rows.append(
            (
                each.name,
                len(tasks),
                len(done),
                len({task.number for task in tasks} & {*status.damaged}),
                each.sentences,
                counted,
                seconds,
                left,
                max((record.peak_bytes for record in done), default=0) / 2**20,
            )
        )
    missing = status.missing
    named = ",".join(map(str, missing[:20])) + (",..." if len(missing) > 20 else "")
    caption = f"tasks to be counted: {named}" if missing else "all tasks are counted"
    return Table(
        (
            "set",
            "tasks",
            "counted",
            "damaged",
            "sentences",
            "done",
            "processor s",
            "left s",
            "peak MB",
        ),
        tuple(rows),
        title="Run",
        name="run",
        caption=f"{caption}; {'result.json is there' if status.reduced else 'not reduced yet'}",
        formats={"processor s": ".1f", "left s": ".0f", "peak MB": ".0f"},
    )


def removed_files_table(removed: Mapping[str, int]) -> Table:
    """What was removed of a run: how many files, and how large they were, by what they are."""
    kinds = dict.fromkeys(name.partition("/")[0] for name in removed)
    rows = []
    for kind in kinds:
        sizes = [size for name, size in removed.items() if name.partition("/")[0] == kind]
        rows.append((kind, len(sizes), sum(sizes)))
    return Table(("what", "files", "bytes"), tuple(rows), title="Removed", name="removed")


def written_table(written: Mapping[str, int]) -> Table:
    """The tables of sentences that were written, below the folder of the run."""
    return Table(("file", "sentences"), tuple(written.items()), title="Written", name="written")


def run_tables(
    sets: Sequence[RunScores], *, form: Form = "table", confidence: float, digits: int | None = None
) -> list[Table]:
    """One test set as errata score shows it; several side by side, metric by metric."""
    if len(sets) == 1:
        results = unique_labels(sets[0].scores)
        return displayed_scores(results, form=form, confidence=confidence, digits=digits)
    names = tuple(each.name for each in sets)
    labels = [scores.label for scores in unique_labels(sets[0].scores)]
    found = [
        AcrossCorpora(names, tuple(replace(each.scores[m], label=label) for each in sets))
        for m, label in enumerate(labels)
    ]
    tables = [score_and_rank_table(across, confidence=confidence) for across in found]
    return [*tables, stability_table(found, confidence=confidence)]
