"""How long ranking takes, on the published judgments and on synthetic ones of growing number.

    python bench/bench_human.py [JUDGMENTS.xml] [--largest N]

Without a file the published judgments are those of CoNLL-2014 in $ERRATA_DATA, or else in
../shared/data/github, if they are there. For the synthetic curve JSONL files of 10,000 to N
judgments (default 10,000,000; each ranks two to five outputs of eight systems) are written to a
temporary folder, then read, compared and ranked by `errata rank` in a process of its own, whose
peak memory is printed. Times are wall-clock; processor time shows what a busy machine hides.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from common import usual_folder

from errata.human import compare, parse_ranker, rank
from errata.human.agreement import judge_agreement
from errata.io.judgments import read_judgments

SYSTEMS = [f"S{k}" for k in range(8)]
SENTENCES = 1312
CHILD = """
import resource, sys, time
from errata.human import compare, parse_ranker, rank
from errata.io.judgments import read_judgments
start, used = time.perf_counter(), time.process_time()
comparisons = compare(read_judgments(sys.argv[1]), keep="sentences")
read, used = time.perf_counter() - start, time.process_time() - used
for name in ("expected_wins", "trueskill_meanfield", "bradley_terry"):
    start = time.perf_counter()
    rank(parse_ranker(name), comparisons, resamples=1000)
    print(f"{time.perf_counter() - start:.2f}", end=" ")
print(f"{read:.2f} {used:.2f} {comparisons.total:.0f} {len(comparisons)} "
      f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}")
"""


def timed(label: str, work: Callable[[], object]) -> float:
    """Print how long it takes, and give the processor seconds."""
    start, used = time.perf_counter(), time.process_time()
    work()
    spent = time.process_time() - used
    print(f"{label:<58}{time.perf_counter() - start:8.2f} s, processor {spent:7.2f} s")
    return spent


def published(path: str) -> None:
    judgments = list(read_judgments(path))
    comparisons = compare(judgments)
    counts = comparisons.counts()
    timed(f"read {len(judgments)} rankings", lambda: list(read_judgments(path)))
    timed(f"compare: {len(comparisons)} pairs", lambda: compare(judgments))
    for name in ("expected_wins", "net_wins", "bradley_terry", "trueskill_meanfield"):
        ranker = parse_ranker(name)
        timed(f"{name}, the data once", lambda r=ranker: r.score(counts))  # type: ignore[misc]
        for unit in ("pairs", "sentences"):
            timed(
                f"{name}, 1,000 resamples of {unit}",
                lambda r=ranker, u=unit: rank(r, comparisons, unit=u),
            )  # type: ignore[misc]
    spent = {}
    for runs in (10, 100, 1000):
        played = parse_ranker(f"trueskill(runs={runs})")
        spent[runs] = timed(
            f"trueskill, {runs:,} runs",
            lambda r=played: rank(r, comparisons, unit="pairs"),  # type: ignore[misc]
        )
    print(f"    (1,000 runs cost {spent[1000] / spent[100]:.1f} times what 100 cost)")
    print("    (the published tool: 26.8 s of processor time a run, 7.4 hours for 1,000)")
    timed("agreement of all judges", lambda: judge_agreement(judgments))


def write_synthetic(path: Path, number: int) -> None:
    rng = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for i in range(number):
            systems = rng.sample(SYSTEMS, rng.randint(2, 5))
            ranks = [min(5, max(1, round(1 + int(s[1:]) / 2 + rng.gauss(0, 1.5)))) for s in systems]
            groups = ", ".join(f'["{s}"]' for s in systems)
            file.write(
                f'{{"judge": "j{i % 20}", "sentence": {rng.randrange(SENTENCES)}, '
                f'"groups": [{groups}], "ranks": {ranks}, "seconds": 30.5}}\n'
            )


def curve(largest: int) -> None:
    print(
        f"{'judgments':>11}{'pairs':>12}{'rows kept':>11}{'read+compare':>14}{'processor':>11}"
        f"{'each':>9}{'peak memory':>13}{'EW x1000':>10}{'TS limit':>10}{'BT':>8}"
    )
    number = 10_000
    while number <= largest:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "judgments.jsonl"
            write_synthetic(path, number)
            result = subprocess.run(
                [sys.executable, "-c", CHILD, str(path)],
                check=True,
                capture_output=True,
                text=True,
                env={**os.environ, "ERRATA_MAX_BYTES": "8G"},
            )
        wins, limit, strength, read, used, pairs, rows, memory = map(float, result.stdout.split())
        print(
            f"{number:>11,}{pairs:>12,.0f}{rows:>11,.0f}{read:>12.1f} s"
            f"{used:>9.1f} s{used * 1e6 / number:>6.1f} µs{memory:>10.0f} MB{wins:>8.2f} s"
            f"{limit:>8.2f} s{strength:>6.2f} s",
            flush=True,
        )
        number *= 10


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("judgments", nargs="?")
    parser.add_argument("--largest", type=int, default=10_000_000)
    arguments = parser.parse_args()
    usual = sorted(usual_folder().glob("grammatical/evaluation/*/data/judgments.xml"))
    for path in [arguments.judgments] if arguments.judgments else usual:
        published(str(path))
    curve(arguments.largest)
