"""What whole commands cost that compare edits: CoNLL-2014, its 13 outputs, and 20,000 sentences.

    python bench/bench_commands.py [DATA]

DATA is the folder of the public data sets (default: ERRATA_DATA). Each command runs as a user runs
it, three times; the processor time of its process counts, beside what it should stay below. The
20,000 sentences are those of CoNLL-2014 again and again, each made different by a last word.
Nothing fails by the clock.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path
from statistics import median

from common import data_folder, processor_time

RUNS = 3
SENTENCES = 20_000
TARGETS = {"m2": 0.53, "edits": 0.9, "difficulty": 0.9, "cleme": 1.2}  # seconds
LARGE = {"compare": 5.0, "report": 9.0}


def altered(blocks: list[str]) -> list[str]:
    """As many blocks as there are to be sentences; the first line of each ends in its round."""
    size = len(blocks)
    parts = (block.partition("\n") for block in islice(cycle(blocks), SENTENCES))
    return [f"{line} #{k // size}{end}{rest}" for k, (line, end, rest) in enumerate(parts)]


def spent(*arguments: object) -> float:
    """The processor seconds of one command, the median of several runs."""
    command = [sys.executable, "-m", "errata", *map(str, arguments)]
    found = []
    for _ in range(RUNS):
        before = processor_time()
        subprocess.run(command, check=True, capture_output=True)
        found.append(processor_time() - before)
    return median(found)


def main() -> None:
    data = data_folder()
    gold = next(data.glob("nusnlp/gecmetrics/*/data/conll14st-test")) / "conll14st-test.m2"
    outputs = next(data.glob("grammatical/evaluation/*/data/original/official_submissions"))
    for metric, target in TARGETS.items():
        used = spent("score", "-m", metric, "--gold", gold, *sorted(outputs.iterdir()))
        print(f"errata score -m {metric:<12}{used:7.2f} s, {used / target:5.2f} of {target} s")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        blocks = altered(gold.read_text(encoding="utf-8").strip().split("\n\n"))
        (folder / "gold.m2").write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
        for system in ("AMU", "CAMB"):
            lines = (outputs / system).read_text(encoding="utf-8").split("\n")[:1312]
            text = "\n".join(altered(lines)) + "\n"
            (folder / system).write_text(text, encoding="utf-8")
        files = ("--gold", folder / "gold.m2", folder / "AMU", folder / "CAMB")
        pages = {"report": ("-q", "-o", folder / "report.html", "--force", "--old", "AMU")}
        for command, target in LARGE.items():
            used = spent(command, *files, *pages.get(command, ()))
            print(f"errata {command:<20}{used:7.2f} s, {used / target:5.2f} of {target} s")


if __name__ == "__main__":
    main()
