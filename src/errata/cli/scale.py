"""Errata scale."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from errata.cli.input_options import Inputs, corpus_options
from errata.cli.main import note
from errata.cli.options import (
    Bootstrap,
    FiniteRange,
    bootstrap_options,
    confidence_option,
    metric_option,
    refuse_unless,
)
from errata.cli.output import ProgressBar, emit, format_option, shown_digits
from errata.cli.params import Decorator, choice_of, option_group
from errata.core.errors import InputError
from errata.metrics import DEFAULT_METRICS
from errata.scale.executors import Executor

if TYPE_CHECKING:
    from errata.io.corpus import CorpusFiles, Pattern
    from errata.io.storage import Folder
    from errata.scale.executors import EngineSettings
    from errata.scale.manifest import Manifest, MetricPlan
    from errata.scale.run import RunOutcome
    from errata.tables.table import Form


# ---- Options of ``errata scale``: the folder of a run, what is scored in it, and who counts.

# What a plan decides, as commands receive it.
PLANNED = (
    "metrics shard_bytes shard_sentences missing compatible annotators tokens no_guard resamples "
    "seed kind"
)
_SIZE = re.compile(r"([1-9][0-9]{0,15})([kKmMgG]?)")

run_option = click.option(
    "--run",
    "place",
    metavar="FOLDER",
    required=True,
    help="The folder of the run; also an address such as s3://bucket/run.",
)


def _storage(
    ctx: click.Context, parameter: click.Parameter, given: Sequence[str]
) -> dict[str, Any]:
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise InputError(f"--storage {text[:60]!r} is not KEY=VALUE")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


storage_option = click.option(
    "--storage",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_storage,
    help="An option for the object store (fsspec), as endpoint_url=http://127.0.0.1:5000; JSON "
    "where it is no text. It is not kept with the run.",
)


def _bytes(ctx: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    if text is None:
        return None
    match = _SIZE.fullmatch(text)
    if match is None:
        raise InputError(f"--shard-size {text[:40]!r} is not a size", remedy="write it as 64M")
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[match[2].lower()]


@dataclass(frozen=True)
class RunInputs:
    """What a run is made of, as it was given; nothing where the run is planned already."""

    outputs: tuple[str, ...]
    inputs: Inputs
    parquet: str | None
    places: tuple[str, ...]
    metrics: tuple[str, ...]
    bootstrap: Bootstrap
    shard_bytes: int | None
    shard_sentences: int | None

    @property
    def given(self) -> bool:
        """Whether anything was named that is to be scored; else what is in the plan counts."""
        named = bool(self.outputs or self.inputs.named or self.parquet or self.places)
        refuse_unless(named, PLANNED, "inputs: this run is planned already")
        return named

    @property
    def wanted(self) -> MetricPlan:
        """The metrics, by their whole signatures, and how intervals are made."""
        from errata.cli.input_options import reject_duplicates
        from errata.metrics import parse
        from errata.scale.manifest import MetricPlan

        chosen = [parse(text) for text in self.metrics or DEFAULT_METRICS]
        reject_duplicates(chosen)
        drawn = self.bootstrap
        return MetricPlan(tuple(map(repr, chosen)), drawn.resamples, drawn.seed, drawn.kind)

    def sets(self, storage: dict[str, Any]) -> list[tuple[str, CorpusFiles]]:
        """The test sets: one of files, or those of folders and lists."""
        if not self.places:
            return [self._one(storage)]
        if self.outputs or self.inputs.named or self.parquet:
            raise InputError(
                "--sets stands beside files of one test set",
                remedy="name either sets, or --gold (or --source and --refs) and outputs",
            )
        return [(each.title, self._located(each, storage)) for each in _listed(self.places)]

    def _one(self, storage: dict[str, Any]) -> tuple[str, CorpusFiles]:
        self.inputs.check_used()
        if self.parquet is None and not self.outputs:
            raise InputError("no output to score", remedy="name one file or pattern per system")
        from errata.io.outputs import split_name

        named = [(name or "", path) for name, path in map(split_name, self.outputs)]
        files = replace(self.inputs.files(named), parquet=self.parquet)
        name = self.parquet or self.inputs.gold or self.inputs.source or "corpus"
        return _called(name), self._located(files, storage)

    def _located(self, files: CorpusFiles, storage: dict[str, Any]) -> CorpusFiles:
        """Files with paths for workers anywhere, to be read as the options say."""
        from errata.io.outputs import split_name

        outputs = [
            (name or _called(path), path) for name, path in map(split_name, files.output_paths)
        ]
        return replace(
            self.inputs.files((name, str(_absolute(path))) for name, path in outputs),
            gold=files.gold and _absolute(files.gold),
            source=files.source and _absolute(files.source),
            references=tuple(map(_absolute, files.references)),
            parquet=files.parquet and _absolute(files.parquet),
            storage=storage,
        )


def _listed(places: Sequence[str]) -> Iterator[CorpusFiles]:
    """The files of test sets, every output by itself."""
    from errata.datasets.evaluation_sets import files_of_sets
    from errata.io.outputs import files_in, split_name

    for each in files_of_sets(places):
        if each.skipped is not None:
            raise InputError(
                f"{each.title}: sentences are left out, which a run cannot do",
                path=each.place,
                remedy="leave them out of the files, or score this set with errata corpora",
            )
        outputs = tuple(
            (name or "", path) for name, path in map(split_name, files_in(each.output_paths))
        )
        if not outputs:
            raise InputError(
                f"{each.title} has no outputs to score", path=each.place, remedy="give some"
            )
        yield replace(each, outputs=outputs)


def _absolute(pattern: Pattern) -> Pattern:
    """A path that means the same to workers started elsewhere."""
    if isinstance(pattern, tuple):
        return tuple(str(_absolute(each)) for each in pattern)
    return pattern if "://" in pattern or pattern == "-" else os.path.abspath(pattern)


def _called(path: str) -> str:
    """The name of a test set from its files."""
    from errata.io.outputs import system_name

    return re.sub(r"[-_.]*[*?\[].*", "", system_name(path.rstrip("/"))) or "corpus"


def run_inputs_options(command: Any, *, shown: bool = True) -> Any:
    """Add what a run is made of; the command receives ``given``.

    With ``--confidence`` where intervals are ``shown``: a plan holds resamples, and no level.
    """
    options: dict[str, Decorator] = {
        "outputs": click.argument("outputs", nargs=-1, metavar="[[NAME=]PATTERN...]"),
        "parquet": click.option(
            "--parquet",
            metavar="PATTERN",
            help="Parquet files with source, references and outputs as columns, instead of texts.",
        ),
        "places": click.option(
            "--sets",
            "places",
            multiple=True,
            metavar="PLACE",
            help="Test sets with the outputs on them, as errata corpora reads them: folders or a "
            ".toml file; may be repeated.",
        ),
        "metrics": metric_option(*DEFAULT_METRICS),
        "shard_bytes": click.option(
            "--shard-size",
            "shard_bytes",
            metavar="SIZE",
            callback=_bytes,
            help="About how much text a task reads; default 64M.",
        ),
        "shard_sentences": click.option(
            "--shard-sentences",
            type=click.IntRange(1),
            metavar="N",
            help="Sentences of a shard, instead of its size.",
        ),
    }
    gather = option_group("more", dict, options)
    drawn = bootstrap_options(kinds=True, shown=shown)

    def decorate(inner: Any) -> Any:
        def run(*, more: dict[str, Any], inputs: Inputs, bootstrap: Bootstrap, **rest: Any) -> Any:
            return inner(given=RunInputs(inputs=inputs, bootstrap=bootstrap, **more), **rest)

        run.__doc__, run.__name__ = inner.__doc__, inner.__name__
        run.__click_params__ = getattr(inner, "__click_params__", [])  # type: ignore[attr-defined]
        return gather(corpus_options("sample", "skipped")(drawn(run)))

    return decorate(command)


def engine_options(command: Any) -> Any:
    """Add who counts; the command receives ``settings``."""
    options: dict[str, Decorator] = {
        "engine": click.option(
            "--engine",
            type=choice_of(Executor),
            default="local",
            show_default=True,
            help="Who counts: worker processes of this machine, a loop in this process, or Dask.",
        ),
        "workers": click.option(
            "--workers", type=click.IntRange(1), metavar="N", help="Default: all cores."
        ),
        "scheduler": click.option(
            "--scheduler",
            metavar="ADDRESS",
            help="Dask: a scheduler that runs already (tcp://... or tls://...); default: one of "
            "our own, on this machine only.",
        ),
        "certificates": click.option(
            "--certificates",
            nargs=3,
            metavar="CA CERT KEY",
            help="Dask over tls://: the files of the authority, of the certificate and its key.",
        ),
        "life": click.option(
            "--life",
            type=FiniteRange(1, min_open=False),
            default=60.0,
            show_default=True,
            metavar="SECONDS",
            help="A worker of ours without a sign of life for so long is replaced.",
        ),
        "allow_failed": click.option(
            "--allow-failed",
            type=click.IntRange(0),
            default=0,
            show_default=True,
            metavar="N",
            help="Leave out up to N sentences that end the process that counts them; the result "
            "names them.",
        ),
    }
    return option_group("settings", _settings, options)(command)


def _settings(certificates: tuple[str, str, str] | None, **given: Any) -> EngineSettings:
    from errata.scale.executors import EngineSettings

    dask = given["engine"] == "dask"
    refuse_unless(dask, "scheduler certificates", "--engine dask")
    refuse_unless(given["scheduler"] is not None, "certificates", "--scheduler tls://...")
    refuse_unless(not dask or given["scheduler"] is None, "workers life", "workers of our own")
    refuse_unless(given["engine"] != "loop", "workers life allow_failed", "workers, not a loop")
    return EngineSettings(**given, certificates=certificates)


def opened_run(place: str, storage: dict[str, Any]) -> Folder:
    """The folder of a run."""
    from errata.io.storage import open_folder

    return open_folder(place, storage)


EXAMPLE = "errata scale run --run big --gold 'gold-*.m2' ours='ours-*.txt' -m m2"
# Where array jobs say which of them they are, and the number of the first: Grid Engine has no 0.
INDICES = {
    "SLURM_ARRAY_TASK_ID": 0,
    "JOB_COMPLETION_INDEX": 0,
    "PBS_ARRAY_INDEX": 0,
    "SGE_TASK_ID": 1,
}


@click.group("scale", epilog=f"Example:  {EXAMPLE}")
def command() -> None:
    """Score what one process cannot hold: shards, workers, many test sets.

    A run is a folder: a plan, one result file per metric, system and shard, and the result, which
    has the digits of errata score. Whatever stops it, the same command goes on with it. PATTERNs
    are files, globs in quotes (their files in natural order, numbers by value), or addresses.
    """


@command.command("plan", epilog="Example:  " + EXAMPLE.replace("scale run", "scale plan"))
@run_option
@partial(run_inputs_options, shown=False)
@storage_option
@format_option
def plan_shards_of(place: str, given: RunInputs, storage: dict[str, Any], form: Form) -> None:
    """Cut the inputs into shards and write the plan; nothing is counted."""
    from errata.scale.run import planned_table

    emit(planned_table(_planned(opened_run(place, storage), given, storage)), form)


def _planned(folder: Folder, given: RunInputs, storage: dict[str, Any]) -> Manifest:
    """The plan of a run: made of what was given, or the one that is there."""
    from errata.scale.run import plan_run, planned_run

    if not given.given:
        return planned_run(folder)
    with ProgressBar("planning") as progress:
        return plan_run(
            folder,
            given.wanted,
            given.sets(storage),
            shard_bytes=given.shard_bytes,
            shard_sentences=given.shard_sentences,
            progress=progress,
        )


@command.command("run", epilog=f"Example:  {EXAMPLE}")
@run_option
@run_inputs_options
@engine_options
@storage_option
@format_option
def run_tasks(
    place: str, given: RunInputs, settings: EngineSettings, storage: dict[str, Any], form: Form
) -> None:
    """Plan the run if it is not planned yet, count what is missing, and print the result.

    Without inputs the plan that is there is taken. Workers may be killed and machines lost: what
    was counted stays, and the same command goes on.
    """
    folder = opened_run(place, storage)
    manifest = _planned(folder, given, storage)
    _finished(
        folder, manifest, replace(settings, storage=storage), form, given.bootstrap.confidence
    )


def _finished(
    folder: Folder,
    manifest: Manifest,
    settings: EngineSettings,
    form: Form,
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
    _say(outcome, folder)
    shown = run_tables(outcome.sets, form=form, confidence=confidence, digits=shown_digits())
    emit(shown, form)


def _say(outcome: RunOutcome, folder: Folder) -> None:
    """What a run took, beside its result."""
    kept = outcome.tasks - outcome.counted
    parts = [f"{outcome.counted} of {outcome.tasks} tasks counted now, {max(0, kept)} before"]
    if outcome.damaged:
        parts.append(f"{outcome.damaged} of them again, their files being damaged")
    if outcome.workers_lost:
        parts.append(f"{outcome.workers_lost} workers lost and replaced")
    note(f"{'; '.join(parts)}; result in {folder.place}/result.json")
    for name, number in outcome.left_out:
        note(f"{name}: sentence {number} was left out: whoever counted it was ended by it")


@command.command("task", epilog="Example:  errata scale task --run big --index 17")
@run_option
@click.option(
    "--index",
    type=click.IntRange(0),
    metavar="N",
    help=f"Which task, from 0; default: what an array job says ({', '.join([*INDICES][:2])}...).",
)
@click.option(
    "--of",
    "share",
    type=click.IntRange(1),
    metavar="N",
    help="Of how many jobs this is one: it does every Nth task, from --index on.",
)
@storage_option
@format_option
def run_one_task(
    place: str, index: int | None, share: int | None, storage: dict[str, Any], form: Form
) -> None:
    """Count one task of a planned run, or a share of them: for the array jobs of a cluster.

    What is done already is left as it is. errata scale reduce makes the result of all.
    """
    from errata.scale.run import count_tasks, planned_run, progress_table

    folder = opened_run(place, storage)
    manifest = planned_run(folder)
    number = _index() if index is None else index
    if share is not None and number >= share:
        raise InputError(
            f"there is no job {number} of {share}", path=place, remedy="jobs are numbered from 0"
        )
    if share is None and number >= len(manifest.tasks):
        raise InputError(
            f"there is no task {number}",
            path=place,
            remedy=f"the run has {len(manifest.tasks)} tasks, numbered from 0",
        )
    numbers = range(number, len(manifest.tasks), share) if share else [number]
    with ProgressBar("tasks") as progress:
        status = count_tasks(folder, manifest, numbers, storage=storage, progress=progress)
    emit(progress_table(status), form)


def _index() -> int:
    for name, first in INDICES.items():
        text = os.environ.get(name, "")
        if text.isdecimal() and int(text) >= first:
            return int(text) - first
    raise InputError(
        "no task is named", remedy=f"give --index N, or set one of {', '.join(INDICES)}"
    )


@command.command("status", epilog="Example:  errata scale status --run big")
@run_option
@storage_option
@format_option
def show_progress(place: str, storage: dict[str, Any], form: Form) -> None:
    """Show how far a run is, and how long the rest will take."""
    from errata.scale.run import planned_run, progress_table
    from errata.scale.shard_job import run_status

    folder = opened_run(place, storage)
    emit(progress_table(run_status(folder, planned_run(folder))), form)


@command.command("reduce", epilog="Example:  errata scale reduce --run big")
@run_option
@confidence_option
@storage_option
@format_option
def reduce_counts(place: str, confidence: float, storage: dict[str, Any], form: Form) -> None:
    """Make the result of a run all of whose tasks were counted, and print it."""
    from errata.scale.executors import EngineSettings
    from errata.scale.run import planned_run

    folder = opened_run(place, storage)
    _finished(folder, planned_run(folder), EngineSettings(), form, confidence, counting=False)


@command.command("sentences", epilog="Example:  errata scale sentences --run big")
@run_option
@storage_option
@format_option
def write_sentence_scores(place: str, storage: dict[str, Any], form: Form) -> None:
    """Write the scores of every sentence of a counted run, as Parquet in its folder.

    There is a table for each metric and system, sentences/SET/METRIC/SYSTEM.parquet, with the
    columns of errata score --by-sentence; errata meta --scores reads it, or the folder of a metric.
    """
    from errata.scale.reduce import write_sentences
    from errata.scale.run import planned_run, written_table

    folder = opened_run(place, storage)
    with ProgressBar("tables") as progress:
        written = write_sentences(folder, planned_run(folder), progress=progress)
    emit(written_table(written), form)


@command.command("clean", epilog="Example:  errata scale clean --run big")
@run_option
@click.option("--all", "everything", is_flag=True, help="Remove the plan and the result too.")
@storage_option
@format_option
def clean_folder(place: str, everything: bool, storage: dict[str, Any], form: Form) -> None:
    """Remove the counts of a run; its plan and its result stay."""
    from errata.scale.run import clean_run, removed_table

    emit(removed_table(clean_run(opened_run(place, storage), everything=everything)), form)
