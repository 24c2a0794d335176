"""The smallest metric that keeps the contract, for tests of everything around metrics."""

import numpy as np

from errata.core.stats import Floats, Ints
from errata.data import Corpus, Hypotheses
from errata.metrics.base import Before, Metric, metric


@metric
class Toy(Metric):
    """Share of sentences equal to a reference."""

    name = "toy"
    weight: float = 1.0

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("equal", "all")

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        counts = np.full((len(corpus), corpus.most_references, 2), np.nan)
        for i, (source, references) in enumerate(
            zip(corpus.sources, corpus.references, strict=True)
        ):
            for r, reference in enumerate(references):
                equal = reference.corrected(source) == hypotheses.sentences[i]
                counts[i, r] = float(equal), 1.0
        return counts

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        return np.argmax(np.nan_to_num(counts[..., 0], nan=-1.0), axis=1)[None]

    def score(self, totals: Floats) -> Floats:
        return self.weight * totals[..., 0] / np.maximum(totals[..., 1], 1)
