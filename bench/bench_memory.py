"""The peak memory of commands that draw 100,000 resamples, each in a process of its own.

    python bench/bench_memory.py [DATA]

DATA holds the data sets as `errata data` lays them out; default $ERRATA_DATA, then
../shared/data/github. Prints peaks and processor time; nothing fails by the clock.
"""

from __future__ import annotations

import subprocess
import sys

from common import data_folder

CHILD = """
import resource, sys
from errata.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    assert not stop.code, stop.code
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_maxrss / 1024, used.ru_utime + used.ru_stime, file=sys.stderr)
"""


def main() -> None:
    data = data_folder()
    gold = next(data.glob("nusnlp/gecmetrics/*/data/conll14st-test/conll14st-test.m2"))
    outputs = next(data.glob("grammatical/evaluation/*/data/original/official_submissions"))
    judgments = next(data.glob("cnap/gec-ranking/*/data/all_judgments.xml"))
    systems = sorted(map(str, outputs.iterdir()))
    conll14 = ["--gold", str(gold)]
    for name, arguments in (
        ("score, 4 metrics, 13 systems", ["score", *conll14, *systems]),
        ("score, the sample", ["score", "--sample"]),
        ("compare, 2 systems", ["compare", *conll14, *systems[:2]]),
        ("compare, the sample", ["compare", "--sample"]),
        ("difficulty, 13 systems", ["difficulty", *conll14, *systems]),
        ("corpora, the sample", ["corpora", "--sample"]),
        ("meta, the sample", ["meta", "--sample"]),
        ("rank, 13 systems", ["rank", str(judgments)]),
    ):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", CHILD, *arguments, "--resamples", "100000"],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        peak, used = map(float, done.stderr.splitlines()[-1].split())
        print(f"{name:<32}{peak:6.0f} MB, processor {used:6.2f} s", flush=True)


if __name__ == "__main__":
    main()
