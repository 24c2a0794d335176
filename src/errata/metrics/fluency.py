"""Fluency and meaning as two columns, without references.

Scribendi folds fluency and likeness into three values; here each is a number of its own. It has
not been validated against people as a metric of correction; it is for looking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Literal

import numpy as np

from errata.core.parameters import About
from errata.core.stats import Floats, Ints, Progress, ratio
from errata.data import Corpus, Hypotheses
from errata.metrics.base import (
    Description,
    Metric,
    MetricFacts,
    by_name,
    count_each,
    metric,
    stack_counts,
    to_int,
)
from errata.metrics.scribendi import levenshtein_distance_ratio, token_sort_ratio
from errata.models import CachedModel, Options, open_model, warn_of_foreign


@metric
class Fluency(Metric):
    """How many times less surprising the output is than the source, beside how like it is to it.

    The score is the geometric mean over sentences of PPL(source) / PPL(hypothesis), with
    perplexities per token: 1 is no change, above 1 more fluent. The other columns say at what
    price: TSR and LDR as in Scribendi, ``meaning`` the mean of the larger of the two, and with
    ``embeddings='minilm'`` the mean ``cosine`` of sentence embeddings. Fluency alone is easily
    gamed: a fluent sentence about something else wins. Sentences where one side is empty have no
    perplexity; they are left out of the ratio and counted as ``undefined``.
    """

    name = "fluency"
    about = About(
        range="above 0, 1 is no change",
        needs=("a language model", "errata-gec[lm] or errata-gec[trigram]"),
    )
    headline = "PPL ratio"
    columns = "none"

    model: str = "gpt2"
    revision: str = ""
    dtype: str = "float32"
    device: str = field(default="auto", compare=False)
    batch_size: int = field(default=32, compare=False)
    embeddings: Literal["none", "minilm"] = "none"

    @property
    def statistics(self) -> tuple[str, ...]:
        """The logarithm of the ratio, how many sentences have one, and likeness."""
        return ("ln ratio", "sentences", "undefined", "TSR", "LDR", "larger", "cosine")

    def open_model(self) -> CachedModel:
        """The language model, with its cache."""
        options = Options(self.revision, self.dtype, self.device, self.batch_size)
        return open_model(self.model, options)

    def _embedder(self) -> CachedModel | None:
        if self.embeddings == "none":
            return None
        from errata.models.encoder import open_minilm

        return open_minilm()

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Every distinct sentence goes to the models once, all systems together."""
        sentences = distinct(corpus, systems)
        model = self.open_model()
        rows = dict(zip(sentences, model.rows(sentences, progress), strict=True))
        sources = stripped(corpus.sources)
        warn_of_foreign(self.model, sources, [rows[source] for source in sources])
        embedder = self._embedder()
        if embedder is not None:
            embedder.rows(sentences, progress)
        return count_each(self.count, corpus, systems, threads=threads, progress=progress)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """``[sentence, 1, k]``; see the class for the statistics."""
        model, embedder = self.open_model(), self._embedder()
        sources, outputs = stripped(corpus.sources), stripped(hypotheses.sentences)
        before, after = model.rows(sources), model.rows(outputs)
        pairs = list(zip(sources, outputs, strict=True))
        same = np.array([a == b for a, b in pairs], bool)
        defined = (before[:, 1] > 0) & (after[:, 1] > 0)
        log_ratio = after[:, 0] / np.maximum(after[:, 1], 1) - before[:, 0] / np.maximum(
            before[:, 1], 1
        )
        tsr = np.array([token_sort_ratio(*pair) for pair in pairs])
        ldr = np.array([levenshtein_distance_ratio(*pair) for pair in pairs])
        cosine = np.zeros(len(pairs))
        if embedder is not None:
            cosines = np.einsum("id,id->i", embedder.rows(sources), embedder.rows(outputs))
            cosine = np.where(same, 1.0, cosines)
        return stack_counts(
            self.statistics,
            {
                "ln ratio": np.where(defined, log_ratio, 0.0),
                "sentences": defined | same,
                "undefined": ~(defined | same),
                "TSR": tsr,
                "LDR": ldr,
                "larger": np.maximum(tsr, ldr),
                "cosine": cosine,
            },
        )

    def score(self, totals: Floats) -> Floats:
        """``exp(Σ ln(PPL(s) / PPL(h)) / n)``; 1 where nothing is defined."""
        figures = by_name(self.statistics, totals)
        return np.exp(ratio(figures["ln ratio"], figures["sentences"], 0.0))

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Likeness to the source, and how many sentences have no ratio."""
        figures = by_name(self.statistics, totals)
        n = figures["sentences"] + figures["undefined"]
        shown = {"meaning": "larger", "TSR": "TSR", "LDR": "LDR"}
        if self.embeddings != "none":
            shown["cosine"] = "cosine"
        means: dict[str, Floats | Ints] = {
            name: ratio(figures[figure], n, 0.0) for name, figure in shown.items()
        }
        return {**means, "undefined": to_int(figures["undefined"])}

    def describe(self, facts: MetricFacts) -> Description:
        """The exact models."""
        embedder = self._embedder()
        model = f"model:{self.open_model().revision}"
        return Description(
            (model,) if embedder is None else (model, f"embeddings:{embedder.revision}")
        )


def stripped(sentences: Sequence[str]) -> list[str]:
    """Sentences without the white space at their ends."""
    return [sentence.rstrip() for sentence in sentences]


def distinct(corpus: Corpus, systems: Sequence[Hypotheses]) -> list[str]:
    """Every sentence of source and outputs once."""
    texts = [*corpus.sources, *(s for hypotheses in systems for s in hypotheses.sentences)]
    return list(dict.fromkeys(stripped(texts)))
