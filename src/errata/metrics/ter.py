"""Translation edit rate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from errata.core.parallel import chunks, parallel_map
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, Progress
from errata.data import Corpus, Hypotheses, Vocabulary
from errata.kernels import ter as kernel
from errata.metrics.base import Before, Metric, by_name, metric, to_int
from errata.metrics.ngrams import check_references, corrections, per_reference

# ---- Translation edit rate between texts, as counts of edits (Snover et al. 2006).

TextPair = tuple[str, str]
BATCH = 500  # pairs a thread takes at a time


def edit_counts(
    pairs: Sequence[TextPair],
    *,
    lowercase: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.int64]:
    """How many insertions, deletions, substitutions and shifts turn each text into the other.

    The sum of what `operation_counts` gives, with the same options.

    >>> edit_counts([("a b c d", "c d a b"), ("a b", "A b")]).tolist()
    [1, 0]
    """
    counts = operation_counts(pairs, lowercase=lowercase, threads=threads, progress=progress)
    edits: NDArray[np.int64] = counts.sum(axis=1)
    return edits


def operation_counts(
    pairs: Sequence[TextPair],
    *,
    lowercase: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.int64]:
    """Insertions, deletions, substitutions and shifts apart: ``[pair, 4]``.

    The first of a pair is TER's hypothesis, the second its reference; tokens are what blanks
    separate. ``lowercase`` folds the case first, as Tercom does unless told otherwise.
    ``threads`` defaults to the number of cores.

    >>> operation_counts([("a b c d e", "c d a b x")]).tolist()
    [[0, 0, 1, 1]]
    """
    folded = [(a.lower(), b.lower()) if lowercase else (a, b) for a, b in pairs]
    distinct = list(dict.fromkeys(folded))
    blocks = [distinct[part] for part in chunks(len(distinct), BATCH)]
    counts = parallel_map(_count, blocks, threads=threads, progress=progress, size=len)
    known = dict(zip(distinct, np.concatenate([*counts, np.zeros((0, 4), np.int64)]), strict=True))
    return np.array([known[pair] for pair in folded], np.int64).reshape(-1, 4)


def _count(pairs: Sequence[TextPair]) -> NDArray[np.int64]:
    words = Vocabulary()
    left, right = (words.intern(pair[k] for pair in pairs) for k in (0, 1))
    counts: NDArray[np.int64] = kernel.count_edits(left.ids, left.offsets, right.ids, right.offsets)
    return counts


@metric
class TER(Metric):
    """One minus the translation edit rate: how little is left to edit.

    ``TER = edits / length``: insertions, deletions, substitutions and shifts of blocks that turn
    the output into the reference that needs fewest, summed over sentences, by the mean length of
    a sentence's references. The score is 1 - TER, so that more is better; TER itself, in percent,
    is a part. The figures equal sacrebleu's TER (tested), counted by a kernel of our own.
    ``cased=False`` folds the case, as Tercom and sacrebleu do unless told otherwise.

    >>> from errata.scoring.evaluate import evaluate
    >>> corpus = Corpus.from_texts(["He go home now"], [["He goes home now"]])
    >>> evaluate("ter", corpus, {"A": ["He go home now"]})["A"]
    0.75
    """

    name = "ter"
    about = About(
        paper="Snover et al. 2006", range="up to 1", needs=("references",), amounts=("TER",)
    )
    headline = "1 - TER"

    cased: bool = False

    @property
    def statistics(self) -> tuple[str, ...]:
        """Edits, and the mean length of the references."""
        return ("edits", "length")

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

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """TER in percent, and the edits."""
        return {
            "TER": 100 * self._rate(totals),
            "edits": to_int(by_name(self.statistics, totals)["edits"]),
        }

    def _rate(self, totals: Floats) -> Floats:
        edits, length = totals[..., 0], totals[..., 1]
        rate = edits / np.where(length > 0, length, 1.0)
        return np.asarray(np.where(length > 0, rate, edits > 0), np.float64)
