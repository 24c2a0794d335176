"""``errata scale``: score what one process cannot hold."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from errata.cli.input_options import Inputs, parse_metrics
from errata.cli.main import note
from errata.cli.options import Bootstrap, FiniteRange, confidence_option, metric_option
from errata.cli.output import CommandOptions, Display, ProgressBar, emit
from errata.cli.params import argument, choice_option, count_option, flag, group, option, takes
from errata.core.errors import InputError
from errata.metrics import DEFAULT_METRICS, METRICS
from errata.scale.executors import Executor

if TYPE_CHECKING:
    from errata.io.corpus import CorpusFiles, Pattern
    from errata.io.storage import Folder
    from errata.scale.executors import EngineSettings
    from errata.scale.manifest import Manifest

_SIZE = re.compile(r"([1-9][0-9]{0,15})([kKmMgG]?)")


def _parse_storage(texts: Sequence[str]) -> dict[str, Any]:
    storage = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise InputError(f"--storage {text[:60]!r} is not KEY=VALUE")
        try:
            storage[key] = json.loads(value)
        except ValueError:
            storage[key] = value
    return storage


def _parse_size(text: str) -> int:
    match = _SIZE.fullmatch(text)
    if match is None:
        raise InputError(f"--shard-size {text[:40]!r} is not a size", remedy="write it as 64M")
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[match[2].lower()]


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run, and how to reach it."""

    place: str = option(
        "--run FOLDER",
        "The folder of the run; also an address such as s3://bucket/run.",
        required=True,
    )
    storage_options: dict[str, Any] = option(
        "--storage KEY=VALUE",
        "An option for the object store (fsspec), as endpoint_url=http://127.0.0.1:5000; "
        "anything but text as JSON. It is not kept with the run.",
        multiple=True,
        parse=_parse_storage,
    )

    @property
    def storage(self) -> dict[str, Any]:
        """The options for the object store."""
        return self.storage_options or {}

    def open(self) -> Folder:
        from errata.io.storage import open_folder

        return open_folder(self.place, self.storage)


NAMED = "outputs or --gold or --source or --refs or --parquet or --sets"


@dataclass(frozen=True)
class RunInputs:
    """What a run scores, and how; nothing if the run is planned already."""

    outputs: tuple[str, ...] = argument(metavar="[[NAME=]PATTERN...]", several=True)
    parquet: str | None = option(
        "--parquet PATTERN",
        "Parquet files with source, references and outputs as columns, instead of texts.",
    )
    places: tuple[str, ...] = option(
        "--sets PLACE",
        "Test sets with the outputs on them, as errata corpora reads them: folders or a "
        ".toml file; may be repeated.",
        multiple=True,
        excludes="outputs or --gold or --source or --refs or --parquet",
    )
    metrics: tuple[str, ...] = metric_option(*DEFAULT_METRICS, needs=NAMED)
    shard_bytes: int | None = option(
        "--shard-size SIZE",
        "About how much text a task reads; default 64M.",
        parse=_parse_size,
        needs=NAMED,
    )
    shard_sentences: int | None = count_option(
        "--shard-sentences", "Sentences of a shard, instead of its size.", needs=NAMED
    )
    inputs: Inputs = group(
        Inputs,
        "sample",
        "skipped",
        needs={
            "missing": "--refs or --sets or --parquet",
            "compatible": "--gold or --sets",
            **dict.fromkeys(("annotators", "tokens", "normalise", "no_guard"), NAMED),
        },
    )

    @property
    def has_files(self) -> bool:
        """Whether input files are given; otherwise the stored plan is used."""
        return bool(self.outputs or self.inputs.has_files or self.parquet or self.places)

    def sets(self, storage: dict[str, Any]) -> list[tuple[str, CorpusFiles]]:
        """Return the test sets: one of files, or several of folders and lists."""
        from errata.datasets.evaluation_sets import sets_to_score
        from errata.io.outputs import split_name

        if self.places:
            return [
                (each.title, self._with_absolute_paths(each, storage))
                for each in sets_to_score(self.places)
            ]
        self.inputs.require_source()
        if self.parquet is None and not self.outputs:
            raise InputError("no output to score", remedy="name one file or pattern per system")
        named = [(name or "", path) for name, path in map(split_name, self.outputs)]
        files = replace(self.inputs.files(named), parquet=self.parquet)
        name = self.parquet or self.inputs.gold or self.inputs.source or "corpus"
        return [(_name_test_set(name), self._with_absolute_paths(files, storage))]

    def _with_absolute_paths(self, files: CorpusFiles, storage: dict[str, Any]) -> CorpusFiles:
        """Return files with paths for workers anywhere, to be read as the options say."""
        from errata.io.outputs import split_name

        outputs = [
            (name or _name_test_set(path), path)
            for name, path in map(split_name, files.output_paths)
        ]
        return replace(
            self.inputs.files((name, str(_absolute(path))) for name, path in outputs),
            gold=files.gold and _absolute(files.gold),
            source=files.source and _absolute(files.source),
            references=tuple(map(_absolute, files.references)),
            parquet=files.parquet and _absolute(files.parquet),
            storage=storage,
        )


def _absolute(pattern: Pattern) -> Pattern:
    """Return a path that means the same to workers started elsewhere."""
    if isinstance(pattern, tuple):
        return tuple(str(_absolute(each)) for each in pattern)
    return pattern if "://" in pattern or pattern == "-" else os.path.abspath(pattern)


def _name_test_set(path: str) -> str:
    """Return the name of a test set from its files."""
    from errata.io.outputs import system_name

    return re.sub(r"[-_.]*[*?\[].*", "", system_name(path.rstrip("/"))) or "corpus"


@dataclass(frozen=True)
class EngineOptions:
    """The processes that count."""

    engine: Executor = choice_option(
        "--engine",
        Executor,
        "Count in worker processes of this machine, in a loop in this process, or with Dask.",
        "local",
    )
    workers: int | None = count_option(
        "--workers", "Default: all cores.", needs="--engine local|dask", excludes="--scheduler"
    )
    scheduler: str | None = option(
        "--scheduler ADDRESS",
        "Dask: a running scheduler (tcp://... or tls://...); default: a new one, on this "
        "machine only.",
        needs="--engine dask",
    )
    certificates: tuple[str, str, str] | None = option(
        "--certificates CA CERT KEY",
        "Dask over tls://: the files of the authority, of the certificate and its key.",
        nargs=3,
        needs="--scheduler",
    )
    life: float = option(
        "--life SECONDS",
        "Replace a worker of this run after so long without a sign of life.",
        type=FiniteRange(1, min_open=False),
        default=60.0,
        needs="--engine local|dask",
        excludes="--scheduler",
    )
    allow_failed: int = count_option(
        "--allow-failed",
        "Leave out up to N sentences that end the process that counts them; the result names them.",
        0,
        least=0,
        needs="--engine local|dask",
    )

    def settings(self, storage: dict[str, Any]) -> EngineSettings:
        from errata.scale.executors import EngineSettings

        return EngineSettings(**vars(self), storage=storage)


# ---- The commands.

EXAMPLE = "errata scale run --run big --gold 'gold-*.m2' ours='ours-*.txt' -m m2"
# Where array jobs say which of them they are, and the number of the first: Grid Engine has no 0.
INDICES = {
    "SLURM_ARRAY_TASK_ID": 0,
    "JOB_COMPLETION_INDEX": 0,
    "PBS_ARRAY_INDEX": 0,
    "SGE_TASK_ID": 1,
}


@dataclass(frozen=True)
class FolderOptions(CommandOptions):
    """Options of commands on a run."""

    run: RunFolder = group(RunFolder)


@dataclass(frozen=True)
class PlanOptions(FolderOptions):
    """Options of ``errata scale plan``: a plan holds resamples, and no level of intervals."""

    inputs: RunInputs = group(RunInputs)
    bootstrap: Bootstrap = group(
        Bootstrap, "confidence", needs=dict.fromkeys(("resamples", "seed", "kind"), NAMED)
    )


@dataclass(frozen=True)
class RunOptions(FolderOptions):
    inputs: RunInputs = group(RunInputs)
    bootstrap: Bootstrap = group(
        Bootstrap, needs=dict.fromkeys(("resamples", "seed", "kind"), NAMED)
    )
    engine: EngineOptions = group(EngineOptions)


@dataclass(frozen=True)
class TaskOptions(FolderOptions):
    index: int | None = count_option(
        "--index",
        "The number of the task, from 0; default: the index of the array job "
        f"({', '.join([*INDICES][:2])}...).",
        least=0,
    )
    share: int | None = count_option(
        "--of", "The number of jobs: this one does every Nth task, from --index on."
    )


@dataclass(frozen=True)
class ReduceOptions(FolderOptions):
    confidence: float = confidence_option()


@dataclass(frozen=True)
class CleanOptions(FolderOptions):
    everything: bool = flag("--all", "Remove the plan and the result too.")


@click.group("scale", epilog=f"Example:  {EXAMPLE}")
def command() -> None:
    """Score any number of sentences and systems: in shards, by workers, on many test sets.

    A run is a folder: a plan, one result file per metric, system and shard, and the result, which
    has the digits of errata score. If it is interrupted, the same command continues it. PATTERNs
    are files, globs in quotes (their files in natural order, numbers by value), or addresses.
    """


@command.command("plan", epilog="Example:  " + EXAMPLE.replace("scale run", "scale plan"))
@takes(PlanOptions)
def plan_shards_of(given: PlanOptions) -> None:
    """Cut the inputs into shards and write the plan; nothing is counted."""
    from errata.scale.run import planned_table

    emit(planned_table(_make_or_read_plan(given.run.open(), given)), given.display)


def _make_or_read_plan(folder: Folder, given: PlanOptions | RunOptions) -> Manifest:
    """Return the plan of a run: made of the inputs, or the one in the folder."""
    from errata.scale.manifest import MetricPlan
    from errata.scale.run import plan_run, planned_run

    if not given.inputs.has_files:
        return planned_run(folder)
    metrics, bootstrap = parse_metrics(given.inputs.metrics, DEFAULT_METRICS), given.bootstrap
    signatures = tuple(METRICS.unparse(metric, repr(metric)) for metric in metrics)
    with ProgressBar("planning") as progress:
        return plan_run(
            folder,
            MetricPlan(signatures, bootstrap.resamples, bootstrap.seed, bootstrap.kind),
            given.inputs.sets(given.run.storage),
            shard_bytes=given.inputs.shard_bytes,
            shard_sentences=given.inputs.shard_sentences,
            progress=progress,
        )


@command.command("run", epilog=f"Example:  {EXAMPLE}")
@takes(RunOptions)
def run_tasks(given: RunOptions) -> None:
    """Plan the run if needed, count the missing tasks, and print the result.

    Without inputs the stored plan is used. Workers may be killed and machines lost: counts are
    kept, and the same command continues.
    """
    folder = given.run.open()
    manifest = _make_or_read_plan(folder, given)
    settings = given.engine.settings(given.run.storage)
    _reduce_and_print(folder, manifest, settings, given.display, given.bootstrap.confidence)


def _reduce_and_print(
    folder: Folder,
    manifest: Manifest,
    settings: EngineSettings,
    display: Display,
    confidence: float,
    *,
    counting: bool = True,
) -> None:
    from errata.scale.run import finish_run, run_tables

    with ProgressBar("shards") as counted, ProgressBar("reading") as reading:
        outcome = finish_run(
            folder,
            manifest,
            settings,
            counting=counting,
            progress=counted,
            reducing=reading,
            said=note,
        )
    # Print how many tasks were counted, and what was lost.
    before = max(0, outcome.tasks - outcome.counted)
    parts = [f"{outcome.counted} of {outcome.tasks} tasks counted now, {before} before"]
    if outcome.damaged:
        parts.append(f"{outcome.damaged} of them again, because their files were damaged")
    if outcome.workers_lost:
        parts.append(f"{outcome.workers_lost} workers lost and replaced")
    note(f"{'; '.join(parts)}; result in {folder.place}/result.json")
    for name, number in outcome.left_out:
        note(f"{name}: sentence {number} was left out: it ended the process that counted it")
    tables = run_tables(
        outcome.sets, form=display.form, confidence=confidence, digits=display.digits
    )
    emit(tables, display)


@command.command("task", epilog="Example:  errata scale task --run big --index 17")
@takes(TaskOptions)
def run_one_task(given: TaskOptions) -> None:
    """Count one task of a planned run, or a share of them: for the array jobs of a cluster.

    Tasks that are done already are skipped. errata scale reduce makes the result of all.
    """
    from errata.scale.run import count_tasks, planned_run, progress_table

    folder, share = given.run.open(), given.share
    manifest = planned_run(folder)
    number = _job_index() if given.index is None else given.index
    if share is not None and number >= share:
        problem = f"there is no job {number} of {share}"
        raise InputError(problem, path=given.run.place, remedy="jobs are numbered from 0")
    if share is None and number >= len(manifest.tasks):
        remedy = f"the run has {len(manifest.tasks)} tasks, numbered from 0"
        raise InputError(f"there is no task {number}", path=given.run.place, remedy=remedy)
    numbers = range(number, len(manifest.tasks), share) if share else [number]
    storage = given.run.storage
    with ProgressBar("tasks") as progress:
        status = count_tasks(folder, manifest, numbers, storage=storage, progress=progress)
    emit(progress_table(status), given.display)


def _job_index() -> int:
    for name, first in INDICES.items():
        text = os.environ.get(name, "")
        if text.isdecimal() and int(text) >= first:
            return int(text) - first
    remedy = f"give --index N, or set one of {', '.join(INDICES)}"
    raise InputError("no task is named", remedy=remedy)


@command.command("status", epilog="Example:  errata scale status --run big")
@takes(FolderOptions)
def show_progress(given: FolderOptions) -> None:
    """Show how far a run is, and how long the rest will take."""
    from errata.scale.run import planned_run, progress_table
    from errata.scale.shard_job import run_status

    folder = given.run.open()
    emit(progress_table(run_status(folder, planned_run(folder))), given.display)


@command.command("reduce", epilog="Example:  errata scale reduce --run big")
@takes(ReduceOptions)
def reduce_counts(given: ReduceOptions) -> None:
    """Make and print the result of a run whose tasks are all counted."""
    from errata.scale.executors import EngineSettings
    from errata.scale.run import planned_run

    folder = given.run.open()
    manifest = planned_run(folder)
    settings = EngineSettings(storage=given.run.storage)
    _reduce_and_print(folder, manifest, settings, given.display, given.confidence, counting=False)


@command.command("sentences", epilog="Example:  errata scale sentences --run big")
@takes(FolderOptions)
def write_sentence_scores(given: FolderOptions) -> None:
    """Write the scores of every sentence of a counted run, as Parquet in its folder.

    There is a table for each metric and system, sentences/SET/METRIC/SYSTEM.parquet, with the
    columns of errata score --by-sentence; errata meta --scores reads it, or the folder of a metric.
    """
    from errata.scale.reduce import write_sentences
    from errata.scale.run import planned_run, written_table

    folder = given.run.open()
    with ProgressBar("tables") as progress:
        run, storage = planned_run(folder), given.run.storage
        written = write_sentences(folder, run, storage=storage, progress=progress)
    emit(written_table(written), given.display)


@command.command("clean", epilog="Example:  errata scale clean --run big")
@takes(CleanOptions)
def clean_folder(given: CleanOptions) -> None:
    """Remove the counts of a run, but not its plan and its result."""
    from errata.scale.run import clean_run, removed_files_table

    removed = clean_run(given.run.open(), everything=given.everything)
    emit(removed_files_table(removed), given.display)
