"""I-measure: 13 systems of CoNLL-2014 from files, the longest sentence, unrelated sentences.

    python bench/bench_imeasure.py [DATA]

DATA holds the data sets as `errata data` lays them out; default $ERRATA_DATA, then
../shared/data/github. Prints times and ratios; nothing fails by the clock.
"""

from __future__ import annotations

import random
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from common import best_of, data_folder, read_conll14, shown

from errata.data import Corpus, Hypotheses
from errata.kernels import threeway
from errata.metrics import parse
from errata.metrics.imeasure.alignment_counts import prepare_nomix
from errata.scoring.evaluate import evaluate

OFFICIAL = 38 * 60  # processor seconds of the official program, nomix, all systems
LONGEST = 332


def whole_runs(data: Path) -> None:
    print("reading:", shown(best_of(3, lambda: read_conll14(data))))
    for text, runs in (("imeasure", 3), ("imeasure(references=mix)", 1)):
        metric = parse(text)
        times = best_of(
            runs, lambda m=metric: evaluate(m, *read_conll14(data), resamples=0, threads=1)
        )
        ratio = (
            f", {OFFICIAL / times[1]:,.0f}x the official program"
            if runs > 1
            else ("; the official program does not finish")
        )
        print(f"{text}: 13 systems from files, one thread {shown(times)}{ratio}")


def longest(corpus: Corpus, systems: list[Hypotheses]) -> None:
    """What the sentence of 227 tokens costs, which takes the official program a third."""
    one = corpus[LONGEST : LONGEST + 1]
    outputs = [h[LONGEST : LONGEST + 1] for h in systems]
    for text in ("imeasure", "imeasure(references=mix)"):
        metric = parse(text)
        metric.count_all(one, outputs, threads=1)
        times = best_of(3, lambda m=metric: m.count_all(one, outputs, threads=1))
        print(f"{text}: sentence {LONGEST}, 13 systems {shown(times)}")


def table_sizes(corpus: Corpus, systems: list[Hypotheses]) -> None:
    """Cells of the three-way tables, all and those visited."""
    visited = full = 0
    prepared = prepare_nomix(corpus, "official")
    references, owners = prepared.tokens, prepared.owners
    for hypotheses in systems:
        tokens = corpus.vocabulary.intern(hypotheses.sentences)
        batches = corpus.source_tokens, tokens, references
        ids = np.concatenate([batch.ids for batch in batches])
        offsets = np.concatenate([[0], np.cumsum(np.concatenate([b.lengths for b in batches]))])
        triples = np.stack(
            [owners, len(corpus) + owners, 2 * len(corpus) + np.arange(len(references))], axis=1
        )
        visited += threeway.count_columns(ids, offsets, triples)[1]
        full += int(np.prod(np.diff(offsets)[triples] + 1, axis=1).sum())
    print(f"cells: {visited:,} visited of {full:,}, 1 in {full / visited:,.0f}")


def unrelated(size: int, words: int) -> None:
    rng = random.Random(0)
    lengths = size, int(0.95 * size), int(0.9 * size)
    ids = np.array([rng.randrange(words) for _ in range(sum(lengths))], np.int32)
    offsets = np.array([0, *np.cumsum(lengths)], np.int64)
    tracemalloc.start()
    start = time.process_time()
    _, cells = threeway.count_columns(ids, offsets, np.array([[0, 1, 2]]))
    spent = time.process_time() - start
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    print(
        f"unrelated sentences of {size} tokens from {words} words: {cells:,} cells of "
        f"{int(np.prod(np.array(lengths) + 1)):,}, {spent:.2f} s, peak {peak:.0f} MB"
    )


def main() -> None:
    data = data_folder()
    warnings.simplefilter("ignore")
    print("kernel:", "plain Python" if str(threeway.__file__).endswith(".py") else "compiled")
    whole_runs(data)
    corpus, systems = read_conll14(data)
    longest(corpus, systems)
    table_sizes(corpus, systems)
    for size, words in ((200, 10_000), (200, 50), (400, 50)):
        unrelated(size, words)


if __name__ == "__main__":
    main()
