"""``errata scale``: the same scores of any number of sentences, systems and machines."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from errata.cli.options import confidence_option
from errata.cli.output import ProgressBar, emit, format_option, shown_digits
from errata.cli.running import note
from errata.cli.scale_options import (
    RunInputs,
    engine_options,
    opened_run,
    run_inputs_options,
    run_option,
    storage_option,
)
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.cluster.driving import RunOutcome
    from errata.cluster.engines import EngineSettings
    from errata.cluster.manifest import Manifest
    from errata.io.folders import Folder
    from errata.report.table import Form

__all__ = ["command"]

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
    from errata.report.tables.run_folders import planned_table

    emit(planned_table(_planned(opened_run(place, storage), given, storage)), form)


def _planned(folder: Folder, given: RunInputs, storage: dict[str, Any]) -> Manifest:
    """The plan of a run: made of what was given, or the one that is there."""
    from errata.cluster.driving import plan_run, planned_run

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
    from errata.cluster.driving import finish_run
    from errata.report.tables.run_folders import run_tables

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
    from errata.cluster.driving import count_tasks, planned_run
    from errata.report.tables.run_folders import progress_table

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
    from errata.cluster.driving import planned_run
    from errata.cluster.status import run_status
    from errata.report.tables.run_folders import progress_table

    folder = opened_run(place, storage)
    emit(progress_table(run_status(folder, planned_run(folder))), form)


@command.command("reduce", epilog="Example:  errata scale reduce --run big")
@run_option
@confidence_option
@storage_option
@format_option
def reduce_counts(place: str, confidence: float, storage: dict[str, Any], form: Form) -> None:
    """Make the result of a run all of whose tasks were counted, and print it."""
    from errata.cluster.driving import planned_run
    from errata.cluster.engines import EngineSettings

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
    from errata.cluster.driving import planned_run
    from errata.cluster.sentence_scores import write_sentences
    from errata.report.tables.run_folders import written_table

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
    from errata.cluster.driving import clean_run
    from errata.report.tables.run_folders import removed_table

    emit(removed_table(clean_run(opened_run(place, storage), everything=everything)), form)
