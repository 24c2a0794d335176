"""Translation edit rate, as machine translation has it (Snover et al., AMTA 2006)."""

from __future__ import annotations

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.edits.ter import edit_counts
from errata.metrics.base import Before, Metric, by_name, metric, whole
from errata.metrics.ngrams import check_references, corrections, per_reference
from errata.numbers import Floats, Ints
from errata.parameters import About

__all__ = ["TER"]


@metric
class TER(Metric):
    """One minus the translation edit rate: how little is left to edit.

    ``TER = edits / length``: insertions, deletions, substitutions and shifts of blocks that turn
    the output into the reference that needs fewest, summed over sentences, by the mean length of
    a sentence's references. The score is 1 - TER, so that more is better; TER itself, in percent,
    is a part. The figures are those of sacrebleu's TER (tested), counted by a kernel of our own.
    ``cased=False`` folds the case, as Tercom and sacrebleu do unless told otherwise.

    >>> from errata.evaluation import evaluate
    >>> corpus = Corpus.from_texts(["He go home now"], [["He goes home now"]])
    >>> evaluate("ter", corpus, {"A": ["He go home now"]})["A"]
    0.75
    """

    name = "ter"
    about = About(
        paper="Snover et al. 2006", range="up to 1", needs=("references",), amounts=("TER",)
    )

    cased: bool = False

    @property
    def statistics(self) -> tuple[str, ...]:
        """Edits, and the mean length of the references."""
        return ("edits", "length")

    @property
    def headline(self) -> str:
        """What `score` returns."""
        return "1 - TER"

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Edits to each reference, beside the mean length of all."""
        first = check_references(corpus)
        references = list(corrections(corpus))
        numbers = np.diff(first)
        outputs = np.repeat(np.arange(len(corpus)), numbers).tolist()
        pairs = [
            (hypotheses.sentences[i], reference)
            for i, reference in zip(outputs, references, strict=True)
        ]
        edits = edit_counts(pairs, lowercase=not self.cased, threads=1)
        lengths = np.array([len(reference.split()) for reference in references], np.float64)
        mean = np.add.reduceat(lengths, first[:-1]) / numbers if len(corpus) else lengths
        rows = np.stack([edits.astype(np.float64), mean[outputs]], axis=1).reshape(-1, 2)
        return per_reference(rows, first)

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The reference that needs fewest edits; of equals the first."""
        edits = np.where(np.isnan(counts[..., 0]), np.inf, counts[..., 0])
        fewest: Ints = edits.argmin(axis=1)[None]
        return fewest

    def score(self, totals: Floats) -> Floats:
        """``1 - edits / length``; 0 or 1 where the references are empty."""
        return np.asarray(1 - self._rate(totals))

    def parts(self, totals: Floats) -> dict[str, Floats | Ints]:
        """TER in percent, and the edits."""
        return {
            "TER": 100 * self._rate(totals),
            "edits": whole(by_name(self.statistics, totals)["edits"]),
        }

    def _rate(self, totals: Floats) -> Floats:
        edits, length = totals[..., 0], totals[..., 1]
        rate = edits / np.where(length > 0, length, 1.0)
        return np.asarray(np.where(length > 0, rate, edits > 0), np.float64)
