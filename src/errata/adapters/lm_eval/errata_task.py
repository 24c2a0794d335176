"""A task of lm-evaluation-harness: corpus scores from counts summed over all sentences.

The harness takes means over documents unless told otherwise, and a mean of sentence F is no corpus
F. So every document passes its answer on, and the aggregation scores the whole corpus at once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from errata.data import Corpus, Hypotheses
from errata.io import read_corpus
from errata.scoring.evaluate import evaluate

METRICS = ("m2", "edits", "gleu")


@cache
def _corpus(files: str) -> Corpus:
    gold, source, references = json.loads(files)
    return read_corpus(gold=gold, source=source, references=references)


def sentences(
    gold: str | None = None, source: str | None = None, references: Sequence[str] = (), **_: Any
) -> dict[str, Any]:
    """The documents: a source and a reference of each sentence; files by ``--metadata``."""
    from datasets import Dataset

    files = json.dumps([gold, source, list(references)])
    corpus = _corpus(files)
    pairs = zip(corpus.sources, corpus.references, strict=True)
    rows = [
        {"files": files, "place": i, "source": text, "target": several[0].corrected(text)}
        for i, (text, several) in enumerate(pairs)
    ]
    return {"test": Dataset.from_list(rows)}


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, tuple[str, int, str]]:
    """Pass on which sentence it was, and the answer as tokens that one blank separates."""
    return dict.fromkeys(METRICS, (doc["files"], doc["place"], " ".join(results[0].split())))


def _score(metric: str, answers: Sequence[tuple[str, int, str]]) -> float:
    whole, places = _corpus(answers[0][0]), [place for _, place, _ in answers]
    sources, references = whole.sources, whole.references
    corpus = Corpus(tuple(sources[i] for i in places), tuple(references[i] for i in places))
    given = Hypotheses("model", tuple(text for _, _, text in answers))
    return evaluate(metric, corpus, given, resamples=0, guard=False)["model"]


m2, edits, gleu = (partial(_score, metric) for metric in METRICS)
