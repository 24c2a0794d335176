"""M2 from M2 files, half a million sentences: in memory, a loop, processes and Dask side by side.

    python bench/bench_scale.py [DATA] [SENTENCES]

DATA holds the data sets as `errata data` lays them out; default $ERRATA_DATA, then
../shared/data/github. Each way is a process of its own, so that its processor time is that of all
its children; printed are processor seconds, microseconds a sentence, the ratio to the way in
memory, and the largest memory of any process. Nothing fails by the clock.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from common import data_folder

SENTENCES = 500_000
SHARD = 10_496  # sentences, as eight times the CoNLL-2014 test set


class Took(NamedTuple):
    """Processor and wall seconds of a command and its children, and its largest process."""

    processor: float
    wall: float
    peak: float
    score: float


def took(*command: str) -> Took:
    """Run a command in a process that does nothing else, and say what it took."""
    code = (
        "import json, resource, subprocess, sys, time\n"
        "start = time.perf_counter()\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([used.ru_utime + used.ru_stime, time.perf_counter() - start,"
        " used.ru_maxrss / 1024, done.stdout.decode()]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command], capture_output=True, text=True, check=True
    )
    processor, wall, peak, printed = json.loads(done.stdout)
    rows = json.loads(printed)["tables"][0]["rows"]
    return Took(processor, wall, peak, float(rows[0]["F0.5"]))


def tiled(data: Path, folder: Path, sentences: int) -> tuple[Path, Path, int]:
    """The CoNLL-2014 test set and one output of it, again and again, to so many sentences."""
    test_set = next(data.glob("nusnlp/gecmetrics/*/data/conll14st-test"))
    outputs = next(data.glob("grammatical/evaluation/*/data/original/official_submissions"))
    gold = (test_set / "conll14st-test.m2").read_bytes().rstrip(b"\n") + b"\n\n"
    output = (outputs / "AMU").read_bytes()
    copies = -(-sentences // 1312)
    paths = folder / "gold.m2", folder / "AMU.txt"
    for path, content in zip(paths, (gold, output), strict=True):
        with path.open("wb") as file:
            for _ in range(copies):
                file.write(content)
    return *paths, copies * 1312


def main() -> None:
    data = data_folder()
    sentences = int(sys.argv[2]) if len(sys.argv) > 2 else SENTENCES
    python = sys.executable
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gold, output, many = tiled(data, folder, sentences)
        what = ("--gold", str(gold), f"AMU={output}", "-m", "m2", "--json", "-q")
        score = (python, "-m", "errata", "score", *what, "--threads", "1")

        def scale(engine: str, *more: str) -> tuple[str, ...]:
            place = ("--run", str(folder / f"run-{engine}"), "--shard-sentences", str(SHARD))
            return (
                python,
                "-m",
                "errata",
                "scale",
                "run",
                *place,
                *what,
                "--engine",
                engine,
                *more,
            )

        ways = {
            "errata score, in memory": (*score, "--no-stream"),
            "errata score, streamed": (*score, "--stream"),
            "errata scale, loop": scale("loop"),
            "errata scale, 2 processes": scale("local", "--workers", "2"),
            "errata scale, Dask, 2 workers": scale("dask", "--workers", "2"),
        }
        os.environ["OMP_NUM_THREADS"] = "1"
        os.environ.setdefault("ERRATA_MAX_BYTES", "8G")
        print(f"{many:,} sentences, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        base: Took | None = None
        for label, command in ways.items():
            found = took(*command)
            base = base or found
            assert found.score == base.score, (label, found.score, base.score)
            print(
                f"{label:<32}{found.processor:8.1f} s processor, "
                f"{1e6 * found.processor / many:6.1f} µs a sentence, "
                f"{found.processor / base.processor:5.2f}x, {found.wall:7.1f} s wall, "
                f"largest process {found.peak:.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
