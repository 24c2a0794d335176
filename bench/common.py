"""What the benchmarks share: where the data are, and how time is taken."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from errata.data import Corpus, Hypotheses
from errata.io import read_corpus, read_hypotheses

ROOT = Path(__file__).resolve().parents[1]


def data_folder() -> Path:
    """The data sets: the first argument, or the usual folder."""
    return Path(sys.argv[1]) if len(sys.argv) > 1 else usual_folder()


def usual_folder() -> Path:
    """The data sets where nobody says: $ERRATA_DATA, or ../shared/data/github."""
    named = os.environ.get("ERRATA_DATA")
    return Path(named) if named else ROOT.parent / "shared" / "data" / "github"


def read_conll14(data: Path, *, texts: bool = False) -> tuple[Corpus, list[Hypotheses]]:
    """CoNLL-2014 with gold edits, or with its two reference texts, and the 13 outputs."""
    conll = next(data.glob("nusnlp/gecmetrics/*/data/conll14st-test"))
    outputs = next(data.glob("grammatical/evaluation/*/data/original/official_submissions"))
    corpus = (
        read_corpus(
            source=conll / "conll14st-test.tok.src",
            references=[conll / "refs" / f"conll14st-test.tok.trg{k}" for k in (0, 1)],
        )
        if texts
        else read_corpus(gold=conll / "conll14st-test.m2")
    )
    return corpus, [read_hypotheses(path) for path in sorted(outputs.iterdir())]


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


def processor_time() -> float:
    """Of this process and of those it started and saw end."""
    used = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def best_of(runs: int, work: Callable[[], object]) -> tuple[float, float]:
    """The smallest wall-clock and processor time of so many runs, in seconds."""
    wall, processor = [], []
    for _ in range(runs):
        start, used = time.perf_counter(), processor_time()
        work()
        wall.append(time.perf_counter() - start)
        processor.append(processor_time() - used)
    return min(wall), min(processor)


def shown(times: tuple[float, float]) -> str:
    """Both times as they are printed."""
    return f"{times[0]:.3f} s (processor {times[1]:.3f} s)"
