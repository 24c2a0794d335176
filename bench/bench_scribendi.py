"""Scribendi on the 13 CoNLL-2014 systems: what sharing and the cache save, and what is left.

    python bench/bench_scribendi.py [MODEL...]

MODEL is trigram (default), smollm2 (some ten minutes of model work) or another. The data sets
are looked for in $ERRATA_DATA, then ../shared/data/github. The cache is a fresh folder that is
removed again. Prints times and ratios; nothing fails by the clock.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

from errata.data import Corpus, Hypotheses
from errata.io import read_corpus, read_hypotheses
from errata.metrics import parse
from errata.metrics.scribendi import levenshtein_distance_ratio, token_sort_ratio
from errata.scoring.evaluate import evaluate

ROOT = Path(__file__).resolve().parents[1]


def read() -> tuple[Corpus, list[Hypotheses]]:
    named = os.environ.get("ERRATA_DATA")
    data = Path(named) if named else ROOT.parent / "shared" / "data" / "github"
    conll = next(data.glob("nusnlp/gecmetrics/*/data/conll14st-test"))
    outputs = next(data.glob("grammatical/evaluation/*/data/original/official_submissions"))
    return (
        read_corpus(source=conll / "conll14st-test.tok.src"),
        [read_hypotheses(path) for path in sorted(outputs.iterdir())],
    )


def plain_ldr(a: str, b: str) -> float:
    """The recurrence in plain Python, as the public reimplementations write it."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            new.append(min(new[-1] + 1, row[j] + 1, row[j - 1] + (0 if x == y else 2)))
        row = new
    return 1 - row[-1] / (len(a) + len(b))


def ratios(pairs: list[tuple[str, str]]) -> None:
    start = time.perf_counter()
    slow = [plain_ldr(*pair) for pair in pairs[:200]]
    plain = (time.perf_counter() - start) / 200
    start = time.perf_counter()
    fast = [levenshtein_distance_ratio(*pair) for pair in pairs]
    ours = (time.perf_counter() - start) / len(pairs)
    assert max(abs(a - b) for a, b in zip(slow, fast, strict=False)) < 1e-12
    print(
        f"LDR: {1e6 * ours:.1f} µs a pair, plain Python {1e6 * plain:.0f} µs: "
        f"{plain / ours:.0f} times as fast, equal on 200 pairs"
    )
    start = time.perf_counter()
    for pair in pairs:
        token_sort_ratio(*pair)
    print(f"TSR: {1e6 * (time.perf_counter() - start) / len(pairs):.1f} µs a pair")


def main() -> None:
    warnings.simplefilter("ignore")
    corpus, systems = read()
    pairs = [
        (source.rstrip(), hypothesis.rstrip())
        for system in systems
        for source, hypothesis in zip(corpus.sources, system.sentences, strict=True)
    ]
    changed = [pair for pair in pairs if pair[0] != pair[1]]
    distinct = {text for pair in changed for text in pair}
    print(f"{len(systems)} systems, {len(pairs)} pairs, {len(changed)} of them changed")
    print(
        f"perplexities: 2 per changed pair {2 * len(changed)}, each sentence once "
        f"{len(distinct)}: {2 * len(changed) / len(distinct):.2f} times less work"
    )
    ratios(changed)
    for model in sys.argv[1:] or ["trigram"]:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["ERRATA_CACHE"] = folder
            metric, times = parse(f"scribendi(model={model!r})"), []
            for _ in range(2):
                start = time.perf_counter()
                evaluate(metric, corpus, systems, resamples=1000)
                times.append(time.perf_counter() - start)
        print(
            f"{model}: first run {times[0]:.2f} s ({len(distinct) / times[0]:.0f} sentences a "
            f"second), second run {times[1]:.2f} s: {times[0] / times[1]:.0f} times as fast"
        )


if __name__ == "__main__":
    main()
