"""How long extraction, difficulty weights, scores and the heat map take on CoNLL-2014.

    python bench/bench_difficulty.py [DATA]

DATA is the folder of the public data sets; default $ERRATA_DATA, then ../shared/data/github. Prints
times, and those of the whole command beside the scorer re-implemented from its description, on the
edits that the built-in extractor finds, or on those given as M2 (second argument); of these also
how many of both are the same.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from common import best_of, data_folder
from plain import plain_difficulty

from errata.data import Corpus, Hypotheses, Reference
from errata.difficulty.heatmap import heat_map
from errata.difficulty.study import difficulty_by_kind
from errata.edits import extract_all
from errata.io import read_hypotheses_m2, read_m2, read_text, write_m2
from errata.metrics.difficulty import Difficulty, build_difficulty_map
from errata.metrics.errant import Edits
from errata.scoring.evaluate import evaluate

T = TypeVar("T")
# Processor seconds of gotutiyan/GTS for the weights and scores of the 13 systems, the least of
# several runs of it elsewhere (8.0 to 8.8): it is no part of this project.
RELEASED = 8.0


def timed(label: str, work: Callable[[], T], repeats: int = 3) -> T:
    wall, processor = [], []
    for _ in range(repeats):
        start, used = time.perf_counter(), time.process_time()
        result = work()
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    print(f"{label:<52}{min(wall):8.3f} s, processor {min(processor):6.3f} s")
    return result


def main(data: Path, given: str | None) -> None:
    test_set = next(data.glob("nusnlp/gecmetrics/*/data/conll14st-test"))
    outputs = next(data.glob("grammatical/evaluation/*/data/original/official_submissions"))
    corpus = read_m2(test_set / "conll14st-test.m2").keep_annotators(0)
    systems = [
        Hypotheses(p.name, read_text(p))
        for p in sorted(outputs.iterdir(), key=lambda p: (p.name == "INPUT", p.name))
    ]
    print(f"{len(systems)} systems, {len(corpus)} sentences")
    sources = corpus.sources * len(systems)
    targets = [s for h in systems for s in h.sentences]
    edits = timed("extract edits, aligned", lambda: extract_all(sources, targets))
    n = len(corpus)
    known = [
        Hypotheses(h.system, h.sentences, tuple(edits[k * n : (k + 1) * n]))
        for k, h in enumerate(systems)
    ]
    timed(
        "difficulty: weights, scores, 1000 resamples", lambda: evaluate(Difficulty(), corpus, known)
    )
    timed(
        "the same by elastic matching",
        lambda: evaluate(Difficulty(matching="elastic"), corpus, known),
    )
    found = timed("map of all chunks", lambda: build_difficulty_map(corpus, known))
    timed(
        "difficulty by kind, 1000 resamples of the systems",
        lambda: difficulty_by_kind(found, resamples=1000),
    )
    page = timed("heat map as a page", lambda: heat_map(found))
    print(f"{'size of the page':<52}{len(page.encode()) / 1e6:8.2f} MB")
    timed(
        "scores and map together",
        lambda: (
            evaluate(Difficulty(), corpus, known),
            heat_map(build_difficulty_map(corpus, known)),
        ),
    )
    timed("F over edits, 1000 resamples", lambda: evaluate(Edits(), corpus, known))
    gold = str(test_set / "conll14st-test.m2")
    if given is not None:
        _compare(given, known)
        _command(gold, given)
        return
    with tempfile.TemporaryDirectory() as folder:
        found_edits = Path(folder) / "systems.m2"
        write_m2(_side_by_side(corpus, known), found_edits)
        _command(gold, str(found_edits))


def _side_by_side(corpus: Corpus, known: list[Hypotheses]) -> Corpus:
    """The systems as annotators, which is how the released scorer reads them."""
    edits = zip(*(h.edits or () for h in known), strict=True)
    references = (tuple(Reference(k, each) for k, each in enumerate(row)) for row in edits)
    return Corpus(corpus.sources, tuple(references))


def _command(gold: str, given: str) -> None:
    """All that ``errata difficulty`` does, Python's start included."""
    run = [sys.executable, "-m", "errata", "difficulty", "--gold", gold, given]
    _, used = best_of(3, lambda: subprocess.run(run, check=True, capture_output=True))
    _, rival = best_of(1, lambda: plain_difficulty(Path(gold), Path(given)))
    print(
        f"{'the scorer re-implemented from its description':<52}{'':8}    processor {rival:6.3f} s"
    )

    def scores() -> None:
        evaluate(
            Difficulty(), read_m2(gold).keep_annotators(0), read_hypotheses_m2(given), resamples=0
        )

    _, inside = best_of(5, scores)
    for what, spent in (
        ("files to weights and scores", inside),
        ("errata difficulty, a process, tables and intervals", used),
    ):
        print(
            f"{what:<52}{'':8}    processor {spent:6.3f} s, {rival / spent:.1f}x the one run here, "
            f"{RELEASED / spent:.1f}x the seconds of the released scorer elsewhere"
        )


def _compare(given: str, known: list[Hypotheses]) -> None:
    same = ours = theirs = 0
    for a, b in zip(known, read_hypotheses_m2(given), strict=True):
        assert a.edits is not None
        assert b.edits is not None
        for mine, other in zip(a.edits, b.edits, strict=True):
            x = {(e.start, e.end, e.replacement) for e in mine}
            y = {(e.start, e.end, e.replacement) for e in other}
            same, ours, theirs = same + len(x & y), ours + len(x), theirs + len(y)
    print(
        f"edits: {ours} aligned, {theirs} given, {same} the same "
        f"(F1 {2 * same / (ours + theirs):.4f})"
    )


if __name__ == "__main__":
    main(data_folder(), sys.argv[2] if len(sys.argv) > 2 else None)
