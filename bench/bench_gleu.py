"""GLEU and BLEU: 13 systems of CoNLL-2014 from files, 100,000 sentences, BLEU beside sacrebleu.

    python bench/bench_gleu.py [DATA]

DATA holds the data sets as `errata data` lays them out; default $ERRATA_DATA, then
../shared/data/github. Prints times and ratios; nothing fails by the clock.
"""

from __future__ import annotations

import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from errata.data import Corpus, Hypotheses
from errata.evaluation import evaluate
from errata.io import read_corpus, read_hypotheses
from errata.metrics import parse

ROOT = Path(__file__).resolve().parents[1]
METRICS = ("gleu(references=official)", "gleu", "gleu2015", "bleu")


def read(data: Path) -> tuple[Corpus, list[Hypotheses]]:
    conll = next(data.glob("nusnlp/gecmetrics/*/data/conll14st-test"))
    outputs = next(data.glob("grammatical/evaluation/*/data/original/official_submissions"))
    corpus = read_corpus(source=conll / "conll14st-test.tok.src", references=[
        conll / "refs" / f"conll14st-test.tok.trg{k}" for k in (0, 1)])
    return corpus, [read_hypotheses(path) for path in sorted(outputs.iterdir())]


def best_of(runs: int, work: Callable[[], object]) -> tuple[float, float]:
    """The smallest wall-clock and processor time of so many runs, in seconds."""
    wall, processor = [], []
    for _ in range(runs):
        start, used = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    return min(wall), min(processor)


def shown(times: tuple[float, float]) -> str:
    return f"{times[0]:.2f} s (processor {times[1]:.2f} s)"


def main() -> None:
    named = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("ERRATA_DATA")
    data = Path(named) if named else ROOT.parent / "shared" / "data" / "github"
    warnings.simplefilter("ignore")
    import errata.kernels.ngrams as kernel

    print("kernel:", "plain Python" if str(kernel.__file__).endswith(".py") else "compiled")
    print("reading:", shown(best_of(3, lambda: read(data))))
    for text in METRICS:
        metric = parse(text)
        times = best_of(5, lambda m=metric: evaluate(m, *read(data), resamples=0, threads=1))
        print(f"{text}: 13 systems from files, one thread {shown(times)}")
    corpus, systems = read(data)
    sacrebleu_beside_ours(corpus, systems[0])
    large(corpus, systems[0], 100_000)


def sacrebleu_beside_ours(corpus: Corpus, system: Hypotheses) -> None:
    from sacrebleu.metrics.bleu import BLEU

    texts = [[refs[k].corrected("") for refs in corpus.references] for k in (0, 1)]
    scorer = BLEU(tokenize="none", force=True)
    _, theirs = best_of(3, lambda: scorer.corpus_score(list(system.sentences), texts))
    bleu = parse("bleu")
    _, ours = best_of(3, lambda: bleu.score(bleu.count(corpus, system)[:, 0].sum(axis=0)))
    print(f"bleu, one system, processor: sacrebleu {theirs:.3f} s, ours {ours:.3f} s, "
          f"{theirs / ours:.0f}x")


def large(corpus: Corpus, system: Hypotheses, size: int) -> None:
    copies = -(-size // len(corpus))
    many = Corpus((corpus.sources * copies)[:size], (corpus.references * copies)[:size])
    output = Hypotheses("A", (system.sentences * copies)[:size])
    for text in ("gleu", "gleu(references=official)"):
        metric = parse(text)
        spent = best_of(1, lambda m=metric: evaluate(m, many, [output], resamples=0, threads=1))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{text}: {size:,} sentences {shown(spent)}, peak {peak:.0f} MB (whole process)")


if __name__ == "__main__":
    main()
