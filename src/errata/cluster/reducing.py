"""From the result files of a run to its scores: read in order, exact whatever the shards were.

A cursor beside the counts says up to which shard they were read, with the sums so far: a run that
is killed here goes on where it was.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from errata.cluster.counted import CountedSystem, SetCounts
from errata.cluster.manifest import Manifest, Task, sealed, unsealed
from errata.cluster.status import RESULT
from errata.data import Scores
from errata.errors import InputError
from errata.io.folders import Folder
from errata.io.scores.run_results import RunScores, run_result_lines
from errata.metrics import Metric, parse
from errata.numbers import Progress
from errata.plugins import blamed
from errata.reduction import PartFacts, Standing, scores_of_parts

__all__ = ["CURSORS", "reduce_run"]

CURSORS = "reduce"
CURSOR_SECONDS = 2.0  # between two cursors: what a kill costs at the most


def reduce_run(
    folder: Folder, manifest: Manifest, *, progress: Progress | None = None
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
    for number, each in enumerate(manifest.sets):
        counts = SetCounts(folder, manifest, each)
        facts, signed = counts.facts(), counts.signed
        scores = []
        for m, text in enumerate(manifest.wanted.metrics):
            metric = parse(text)
            with blamed(metric):
                cursor = _Cursor(counts, m, f"{CURSORS}/{number:04d}-{m:04d}.json")
                standing = _read(counts, metric, m, cursor, one_more)
                scores.append(_scores(counts, metric, m, facts, standing, signed))
        sets.append(RunScores(each.name, tuple(scores)))
    lines = run_result_lines(sets, manifest.digest)
    folder.write("".join(f"{line}\n" for line in lines).encode("utf-8"), RESULT)
    folder.remove(CURSORS)
    return tuple(sets)


def _scores(
    counts: SetCounts,
    metric: Metric,
    m: int,
    facts: PartFacts,
    standing: Standing,
    signed: tuple[str, ...],
) -> Scores:
    wanted, systems = counts.manifest.wanted, counts.set.systems
    return scores_of_parts(
        metric,
        systems,
        facts,
        [CountedSystem(counts, m, s) for s in range(len(systems))],
        resamples=wanted.resamples,
        rng=wanted.seed,
        bootstrap=wanted.bootstrap,
        standing=standing,
        blocks=counts.blocks(),
        context=signed,
    )


def _read(
    counts: SetCounts, metric: Metric, m: int, cursor: _Cursor, one_more: Callable[[], None]
) -> Standing:
    """What all shards come to, from where the cursor stands."""
    systems = range(len(counts.set.systems))
    start, standing = cursor.read(metric) or (0, Standing.start(metric, len(systems)))
    for k, task in enumerate(counts.tasks):
        if k >= start:
            several = [counts.of_task(task, m, s) for s in systems]
            for part in zip(*several, strict=True):
                standing = standing.take(part)
            cursor.write(k + 1, task, standing)
        one_more()
    return standing


@dataclass
class _Cursor:
    """Up to which shard a metric was read, in a file; written now and then.

    It names the files that were read: where one was counted again meanwhile, and is another, what
    was read does not count.
    """

    counts: SetCounts
    metric: int
    name: str
    written: float = field(default_factory=time.monotonic)
    files: Any = field(default_factory=hashlib.sha256)  # those that were read

    def read(self, metric: Metric) -> tuple[int, Standing] | None:
        """The next shard and the sums so far; None where there is no cursor that can be read."""
        with suppress(FileNotFoundError, KeyError, TypeError, ValueError, InputError):
            data = unsealed(self.counts.folder.read(self.name))
            shard, files = int(data["next"]), hashlib.sha256()
            if data["manifest"] != self.counts.manifest.digest or shard < 0:
                return None
            for task in self.counts.tasks[:shard]:
                files.update(self.counts.digests(task, self.metric))
            if data["files"] == files.hexdigest():
                standing = Standing.from_state(metric, data["state"])
                self.files = files
                return shard, standing
        return None

    def write(self, shard: int, task: Task, standing: Standing) -> None:
        """So many shards were read, the last of them in this task."""
        self.files.update(self.counts.digests(task, self.metric))
        if time.monotonic() - self.written < CURSOR_SECONDS:
            return
        state = {
            "manifest": self.counts.manifest.digest,
            "next": shard,
            "files": self.files.hexdigest(),
            "state": standing.state(),
        }
        self.counts.folder.write(sealed(state), self.name, lasting=False)
        self.written = time.monotonic()
