"""M2 from M2 files, half a million sentences: in memory, a loop, processes and Dask side by side.

    python bench/bench_scale.py [DATA] [SENTENCES] [ROUNDS]

DATA holds the data sets as `errata data` lays them out; default $ERRATA_DATA, then
../shared/data/github. Each way is a process of its own, so that its processor time is that of all
its children; the ways take turns for ROUNDS rounds (3), so that what else the machine does meets
all of them. Printed are the least and the median processor seconds and, of the run with the least,
microseconds a sentence, the ratio to the way in memory, and wall seconds; the largest memory of any
process; for a run in tasks the processor seconds within them, and how many per cent all of that run
took over these. Nothing fails by the clock.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from common import data_folder, tiled

from errata.io.storage import LocalFolder
from errata.scale.run import planned_run
from errata.scale.shard_job import run_status

SENTENCES = 500_000
ROUNDS = 3
SHARD = 52_480  # sentences, as forty times the CoNLL-2014 test set: a second of work
MEMORY, PROCESSES, DASK = "score, in memory", "scale, 2 processes", "scale, Dask, 2 workers"


class Way(NamedTuple):
    """A command, and the folder of its run, if it counts in tasks."""

    command: tuple[str, ...]
    run: Path | None = None


class Took(NamedTuple):
    """Processor and wall seconds of a command and its children, and its largest process.

    ``tasks`` are the processor seconds within tasks, where there are any.
    """

    processor: float
    wall: float
    peak: float
    score: float
    tasks: float | None


def took(way: Way) -> Took:
    """Run a command in a process that does nothing else, and say what it took."""
    # Who outlives the command, as the process that Dask's workers are forked from, becomes a child
    # of this process (PR_SET_CHILD_SUBREAPER): without that its time would be nobody's.
    code = (
        "import ctypes, json, os, resource, subprocess, sys, time\n"
        "if ctypes.CDLL(None).prctl(36, 1):\n"
        "    raise SystemExit('processes that outlive a command cannot be waited for here')\n"
        "start = time.perf_counter()\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True)\n"
        "wall = time.perf_counter() - start\n"
        "try:\n"
        "    while True:\n"
        "        os.wait()\n"
        "except ChildProcessError:\n"
        "    pass\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([used.ru_utime + used.ru_stime, wall,"
        " used.ru_maxrss / 1024, done.stdout.decode()]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *way.command], capture_output=True, text=True, check=True
    )
    processor, wall, peak, printed = json.loads(done.stdout)
    rows = json.loads(printed)["tables"][0]["rows"]
    tasks = None if way.run is None else within_tasks(way.run)
    return Took(processor, wall, peak, float(rows[0]["F0.5"]), tasks)


def within_tasks(place: Path) -> float:
    """The processor seconds that the records of a run have; the run is gone then."""
    folder = LocalFolder(str(place))
    status = run_status(folder, planned_run(folder))
    assert not status.missing, status.missing
    shutil.rmtree(place)  # the next round would find all tasks done
    return sum(record.processor for record in status.done.values())


def ways_of(gold: Path, output: Path) -> dict[str, Way]:
    """The ways to score an output, by what they are called."""
    errata = (sys.executable, "-m", "errata")
    what = ("--gold", str(gold), f"AMU={output}", "-m", "m2", "--json", "-q")
    score = (*errata, "score", *what, "--threads", "1")

    def scale(engine: str, *more: str) -> Way:
        run = gold.parent / f"run-{engine}"
        place = ("--run", str(run), "--shard-sentences", str(SHARD))
        return Way((*errata, "scale", "run", *place, *what, "--engine", engine, *more), run)

    return {
        MEMORY: Way((*score, "--no-stream")),
        "score, streamed": Way((*score, "--stream")),
        "scale, loop": scale("loop"),
        PROCESSES: scale("local", "--workers", "2"),
        DASK: scale("dask", "--workers", "2"),
    }


def least(runs: Sequence[Took]) -> Took:
    """The run that took the least processor time."""
    return min(runs, key=lambda each: each.processor)


def middle(runs: Sequence[Took]) -> float:
    """The median processor time."""
    return median(each.processor for each in runs)


def line(label: str, runs: Sequence[Took], base: Took, sentences: int) -> str:
    """What is printed of a way."""
    best = least(runs)
    said = (
        f"{label:<24}{best.processor:8.1f} s least, {middle(runs):6.1f} s median, "
        f"{1e6 * best.processor / sentences:6.1f} µs a sentence, "
        f"{best.processor / base.processor:5.2f}x, {best.wall:6.1f} s wall, "
        f"largest process {max(each.peak for each in runs):4.0f} MB"
    )
    if best.tasks is not None:
        over = 100 * (best.processor / best.tasks - 1)
        said += f", {best.tasks:6.1f} s in tasks, all {over:+.1f} % over tasks"
    return said


def main() -> None:
    data = data_folder()
    sentences = int(sys.argv[2]) if len(sys.argv) > 2 else SENTENCES
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else ROUNDS
    os.environ["OMP_NUM_THREADS"] = "1"
    # As where Errata is installed: modules are compiled once, not at the start of every process.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("ERRATA_MAX_BYTES", "8G")
    with tempfile.TemporaryDirectory() as name:
        gold, output, many = tiled(data, Path(name), sentences)
        ways = ways_of(gold, output)
        runs: dict[str, list[Took]] = {label: [] for label in ways}
        for number in range(1, rounds + 1):
            load = os.getloadavg()[0]
            print(
                f"{many:,} sentences, {os.cpu_count()} cores, load {load:.1f}, "
                f"round {number} of {rounds}",
                flush=True,
            )
            for label, way in ways.items():
                runs[label].append(took(way))
    scores = {each.score for several in runs.values() for each in several}
    assert len(scores) == 1, scores
    for label, several in runs.items():
        print(line(label, several, least(runs[MEMORY]), many))
    by_least, by_median = (
        100 * (of(runs[DASK]) / of(runs[PROCESSES]) - 1)
        for of in (lambda each: least(each).processor, middle)
    )
    print(f"Dask adds {by_least:.1f} % to two processes by least, {by_median:.1f} % by median")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
