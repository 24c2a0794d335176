"""M2: 13 systems of CoNLL-2014 from files, up to 100,000 sentences, threads, hard pairs.

    python bench/bench_m2.py [DATA]

DATA holds the data sets as `errata data` lays them out; default $ERRATA_DATA, then
../shared/data/github. Prints times and ratios; nothing fails by the clock.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from common import best_of, data_folder, read_conll14, shown, tiled

from errata.data import Corpus, Hypotheses, Reference
from errata.io import read_corpus, read_hypotheses
from errata.kernels import maxmatch
from errata.metrics.m2 import M2
from errata.metrics.m2.matching import LIMIT, gold_edits
from errata.scoring.evaluate import evaluate

ROUNDS = 7
ROOT = Path(__file__).resolve().parents[1]
OFFICIAL = 400  # seconds of processor time nusnlp/m2scorer needs for the 13 systems, 271 for NTHU


def from_files(data: Path) -> None:
    corpus, systems = read_conll14(data)

    def score() -> None:
        evaluate(M2(), *read_conll14(data), resamples=0, threads=1)

    def kernel() -> None:
        for words in outputs:
            propose(words)

    gold, source = gold_edits(corpus, "once"), corpus.source_tokens
    outputs = [corpus.vocabulary.intern(h.sentences) for h in systems]

    def propose(words: object) -> object:
        return maxmatch.propose(
            source.ids,
            source.offsets,
            words.ids,
            words.offsets,  # type: ignore[attr-defined]
            gold.first,
            gold.arrays,
            2,
            LIMIT,
        )

    print(f"{len(systems)} systems, {len(corpus)} sentences, {int(gold.first[-1])} references:")
    print("  reading:              ", shown(best_of(5, lambda: read_conll14(data))))
    total = best_of(5, score)
    print(
        "  files to scores:      ",
        shown(total),
        f"{OFFICIAL / total[1]:.0f} times the official scorer's speed",
    )
    command = [
        sys.executable,
        "-c",
        "import sys; sys.path.insert(0, sys.argv[1]); import bench_m2"
        "\nfrom pathlib import Path; import warnings; warnings.simplefilter('ignore')"
        "\nbench_m2.evaluate(bench_m2.M2(), *bench_m2.read_conll14(Path(sys.argv[2])),"
        " resamples=0, threads=1)",
        str(ROOT / "bench"),
        str(data),
    ]
    started = best_of(3, lambda: subprocess.run(command, check=True))
    print("  with Python's start:  ", shown(started))
    print("  kernel alone:         ", shown(best_of(5, kernel)))

    # A second core that another process holds would count against the kernel: NumPy's square
    # roots, which release the GIL too, show in the same run what two threads can reach here.
    numbers = [np.ones(1_000_000) for _ in range(2)]
    print(
        f"  kernel, two threads:   {speed_up(propose, outputs * 6):.2f} times the speed of one "
        f"(NumPy {speed_up(_root, numbers * 150):.2f} times)"
    )


def _root(numbers: Any) -> None:
    np.sqrt(numbers)


def speed_up(work: Callable[[Any], object], items: list[Any]) -> float:
    """How many times faster two threads are than one; the best of several tries."""

    def threaded(threads: int) -> float:
        with ThreadPoolExecutor(threads) as pool:
            # Results are let go one by one: together they would take gigabytes.
            return best_of(5, lambda: deque(pool.map(work, items), maxlen=0))[0]

    return threaded(1) / threaded(2)


class Spent(NamedTuple):
    """Seconds by the clock: to read the files, to score what was read, and both."""

    read: float
    scored: float
    whole: float


def at_scale(data: Path) -> None:
    for size in (1_312, 10_496, 100_000):
        with tempfile.TemporaryDirectory() as name:
            gold, output, many = tiled(data, Path(name), size)

            def spent(threads: int, gold: Path = gold, output: Path = output) -> Spent:
                start = time.perf_counter()
                corpus = read_corpus(gold=gold, threads=threads)
                system = read_hypotheses(output, threads=threads)
                middle = time.perf_counter()
                evaluate(M2(), corpus, [system], resamples=0, threads=threads)
                end = time.perf_counter()
                return Spent(middle - start, end - middle, end - start)

            # In turn, as other work on the machine comes and goes.
            runs = [(threads, spent(threads)) for threads in (1, 2) * ROUNDS]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        usual = {
            threads: Spent(
                *(median(x) for x in zip(*(t for n, t in runs if n == threads), strict=True))
            )
            for threads in (1, 2)
        }
        for threads, took in usual.items():
            gains = " ".join(f"{a / b:.2f}" for a, b in zip(usual[1], took, strict=True))
            print(
                f"  {many:7,} sentences, {threads} thread(s): read in {took.read:.3f} s, scored "
                f"in {took.scored:.3f} s ({1e6 * took.scored / many:.1f} µs each), "
                f"both {took.whole:.3f} s; {gains} times the speed of one thread, "
                f"peak memory {memory} MB"
            )


def hard_pairs(data: Path) -> None:
    words = " ".join(read_conll14(data)[0].sources).split()
    rng = random.Random(0)
    for n in (40, 200, 1000):
        a, b = (words[k : k + n] for k in rng.sample(range(len(words) - n), 2))
        other = [f"{word}'" for word in rng.sample(words, n)]
        for name, output in (("unrelated", b), ("no common word", other)):
            corpus = Corpus((" ".join(a),), ((Reference(0, ()),),))
            hypotheses = Hypotheses("A", (" ".join(output),))
            edits = int(np.asarray(M2().count(corpus, hypotheses))[0, 0, 1])
            took = best_of(3, lambda c=corpus, h=hypotheses: M2().count(c, h))  # type: ignore[misc]
            print(f"  {n} tokens, {name}: {shown(took)}, {edits} edits")


def main() -> None:
    data = data_folder()
    warnings.simplefilter("ignore")
    print("kernel:", "plain Python" if str(maxmatch.__file__).endswith(".py") else "compiled")
    from_files(data)
    print(f"one system (AMU), sentences repeated, medians of {ROUNDS} runs:")
    at_scale(data)
    print("pairs of one sentence:")
    hard_pairs(data)


if __name__ == "__main__":
    main()
