"""GLEU and BLEU: 13 systems of CoNLL-2014 from files, 100,000 sentences, BLEU beside sacrebleu.

    python bench/bench_gleu.py [DATA]

DATA holds the data sets as `errata data` lays them out; default $ERRATA_DATA, then
../shared/data/github. Prints times and ratios; nothing fails by the clock.
"""

from __future__ import annotations

import resource
import warnings
from pathlib import Path

from common import best_of, data_folder, read_conll14, shown
from plain import plain_gleu

from errata.data import Corpus, Hypotheses
from errata.metrics import parse
from errata.scoring.evaluate import evaluate

# The script as it is described, run here (bench/plain.py), for one system of the 13; and
# processor seconds of the official script (500 draws) for one system, the least of several runs of
# it elsewhere (2.75 to 4.4): it is no part of this project, and its speed here is not known.
OFFICIAL = 2.75
METRICS = ("gleu(references=official)", "gleu", "gleu2015", "bleu")


def main() -> None:
    data = data_folder()
    warnings.simplefilter("ignore")
    import errata.kernels.ngrams as kernel

    print("kernel:", "plain Python" if str(kernel.__file__).endswith(".py") else "compiled")
    print("reading:", shown(best_of(3, lambda: read_conll14(data, texts=True))))
    rival = beside(data)
    for text in METRICS:
        metric = parse(text)
        times = best_of(
            5, lambda m=metric: evaluate(m, *read_conll14(data, texts=True), resamples=0, threads=1)
        )
        ratio = (
            f", {13 * rival / times[1]:.0f}x the script re-implemented and run here, "
            f"{13 * OFFICIAL / times[1]:.0f}x the seconds of the official script elsewhere"
            if metric.name == "gleu"
            else ""
        )
        print(f"{text}: 13 systems from files, one thread {shown(times)}{ratio}")
    corpus, systems = read_conll14(data, texts=True)
    sacrebleu_beside_ours(corpus, systems[0])
    large(corpus, systems[0], 100_000)


def beside(data: Path) -> float:
    """Processor seconds of other programs for one system: the plain one is what we compare with."""
    conll = next(data.glob("nusnlp/gecmetrics/*/data/conll14st-test"))
    outputs = next(data.glob("grammatical/evaluation/*/data/original/official_submissions"))
    source, references = (
        conll / "conll14st-test.tok.src",
        [conll / "refs" / f"conll14st-test.tok.trg{k}" for k in (0, 1)],
    )
    times = best_of(3, lambda: plain_gleu(source, references, outputs / "AMU"))
    print("gleu, the script re-implemented from its description: one system", shown(times))
    try:
        from gec_metrics import get_metric
    except ImportError as missing:
        print(f"gleu of gec-metrics: not run ({missing}); pip install gec-metrics")
    else:
        corpus, systems = read_conll14(data, texts=True)
        texts = [[refs[k].corrected("") for refs in corpus.references] for k in (0, 1)]
        kind = get_metric("gleuofficial")
        sentences = [list(corpus.sources), list(systems[0].sentences), texts]
        other = best_of(1, lambda: kind(kind.Config()).score_corpus(*sentences))
        print("gleu of gec-metrics, one system, no files read:", shown(other))
    return times[1]


def sacrebleu_beside_ours(corpus: Corpus, system: Hypotheses) -> None:
    from sacrebleu.metrics.bleu import BLEU

    texts = [[refs[k].corrected("") for refs in corpus.references] for k in (0, 1)]
    scorer = BLEU(tokenize="none", force=True)
    _, theirs = best_of(3, lambda: scorer.corpus_score(list(system.sentences), texts))
    bleu = parse("bleu")
    _, ours = best_of(3, lambda: bleu.score(bleu.count(corpus, system)[:, 0].sum(axis=0)))
    print(
        f"bleu, one system, processor: sacrebleu {theirs:.3f} s, ours {ours:.3f} s, "
        f"{theirs / ours:.0f}x"
    )


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
