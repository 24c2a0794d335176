"""The history of a leaderboard: a stored run for every output that was new, oldest first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from errata.datasets.boards import file_stem
from errata.io.runs import StoredRun, read_runs, run_of, write_run
from errata.io.writing import file_set
from errata.studies.leaderboard import BoardStanding, RankedSet

__all__ = ["board_runs", "store_runs"]


def board_runs(standing: BoardStanding) -> dict[str, tuple[StoredRun, ...]]:
    """The stored runs of every test set, oldest first.

    One that says what its system's last one said is left out: two processes, or two branches that
    were merged, may both have stored it.
    """
    found = {}
    for ranked in standing.sets:
        folder = _folder(standing, ranked)
        there = folder.is_dir() and any(folder.glob("*.json"))
        told: list[StoredRun] = []
        for run in read_runs(folder) if there else ():
            if not _known(run, told):
                told.append(run)
        found[ranked.name] = tuple(told)
    return found


def store_runs(standing: BoardStanding, *, when: str | None = None) -> tuple[str, ...]:
    """Store a run for every output, test set or metric that no run has yet; their names."""
    before = board_runs(standing)
    stored = []
    for ranked in standing.sets:
        folder = _folder(standing, ranked)
        for hypotheses in ranked.systems:
            run = run_of(
                ranked.corpus,
                hypotheses,
                ranked.results,
                confidence=standing.board.confidence,
                when=when,
            )
            if _known(run, before[ranked.name]):
                continue
            folder.mkdir(parents=True, exist_ok=True)
            name = file_stem(ranked.submissions[hypotheses.system].name)
            day = run.when.replace(":", "").replace("-", "")
            with file_set(force=True):  # at once, whatever the command keeps back
                write_run(_free(folder, f"{name}-{day}"), run)
            stored.append(hypotheses.system)
    return tuple(dict.fromkeys(stored))


def _folder(standing: BoardStanding, ranked: RankedSet) -> Path:
    return standing.board.folder / "runs" / file_stem(ranked.name)


def _known(run: StoredRun, runs: Sequence[StoredRun]) -> bool:
    """Whether the last run of the system is the same but for the day."""
    own = [each for each in runs if each.system == run.system]
    return bool(own) and (
        own[-1].changed == run.changed
        and own[-1].edits == run.edits
        and own[-1].corpus == run.corpus
        and [f.signature for f in own[-1].figures] == [f.signature for f in run.figures]
    )


def _free(folder: Path, stem: str) -> Path:
    """A name that no file has yet: two runs of one second are told apart."""
    path, nth = folder / f"{stem}.json", 1
    while path.exists():
        nth += 1
        path = folder / f"{stem}-{nth}.json"
    return path
