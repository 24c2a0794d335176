"""Runs as tables: what is planned, how far it is, and what came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from errata.cluster.manifest import Manifest
from errata.cluster.status import RunStatus
from errata.io.scores.run_results import RunScores
from errata.numbers import plural
from errata.report.table import Cell, Form, Table
from errata.report.tables.corpora import across_table, stability_table
from errata.report.tables.scores import shown_scores, told_apart
from errata.studies.corpora import AcrossCorpora

__all__ = ["planned_table", "progress_table", "removed_table", "run_tables", "written_table"]


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
    """One row per test set: what is counted, what it took, and what is left."""
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


def removed_table(removed: Mapping[str, int]) -> Table:
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
    sets: Sequence[RunScores],
    *,
    form: Form = "table",
    confidence: float = 0.95,
    digits: int | None = None,
) -> list[Table]:
    """One test set as errata score shows it; several side by side, metric by metric."""
    if len(sets) == 1:
        results = told_apart(sets[0].scores)
        return shown_scores(results, form=form, confidence=confidence, digits=digits)
    names = tuple(each.name for each in sets)
    labels = [scores.label for scores in told_apart(sets[0].scores)]
    found = [
        AcrossCorpora(names, tuple(replace(each.scores[m], label=label) for each in sets))
        for m, label in enumerate(labels)
    ]
    tables = [across_table(across, confidence=confidence) for across in found]
    return [*tables, stability_table(found, confidence=confidence)]
