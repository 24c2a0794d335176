"""Where metrics disagree on a sentence: which of two outputs is better?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from errata.data import Scores
from errata.errors import InputError
from errata.numbers import Floats, Ints, settled

__all__ = ["MetricDisagreement", "metric_disagreement"]

BLOCK_OF_PAIRS = 1 << 22  # signs that are held at a time, in bytes


@dataclass(frozen=True, eq=False)
class MetricDisagreement:
    """How often two metrics order two systems' outputs of a sentence in opposite ways.

    ``pairs`` numbers the metrics that are compared; ``compared[p, i]`` counts the pairs of systems
    that both metrics of pair ``p`` tell apart on sentence ``i``, ``discordant[p, i]`` those of them
    that they order in opposite ways.
    """

    pairs: tuple[tuple[int, int], ...]
    discordant: Ints
    compared: Ints

    @property
    def shares(self) -> Floats:
        """``discordant / compared`` of each pair of metrics and sentence; 0 where none is compared.

        ``(1 - γ) / 2`` with Goodman and Kruskal's γ: 0 the same order, 1 the opposite one.
        """
        return self.discordant / np.maximum(self.compared, 1)

    @property
    def largest(self) -> Floats:
        """The largest share of any pair of metrics, of each sentence."""
        return np.asarray(self.shares.max(axis=0, initial=0.0), np.float64)


def metric_disagreement(results: Sequence[Scores]) -> MetricDisagreement:
    """Compare how every two metrics order the systems' outputs, sentence by sentence.

    A pair of systems counts where both metrics give the two outputs different scores (not only by
    rounding, `errata.numbers.settled`); where a score is missing, or a metric sees a tie, nothing
    is compared: a metric that is silent does not disagree.

    >>> first = Scores("a()", ("A", "B"), np.zeros(2), np.array([[0.1, 0.2], [0.2, 0.2]]))
    >>> second = Scores("b()", ("A", "B"), np.zeros(2), np.array([[0.9, 0.1], [0.3, 0.2]]))
    >>> found = metric_disagreement([first, second])
    >>> found.discordant.tolist(), found.compared.tolist(), found.largest.tolist()
    ([[1, 0]], [[1, 0]], [1.0, 0.0])
    """
    pairs = tuple(combinations(range(len(results)), 2))
    tables = [_table(scores, results[0]) for scores in results]
    n = tables[0].shape[1] if tables else 0
    discordant, compared = (np.zeros((len(pairs), n), np.int64) for _ in range(2))
    two = np.array(list(combinations(range(len(tables[0]) if tables else 0), 2)), np.intp)
    if len(two) and pairs:
        step = max(1, BLOCK_OF_PAIRS // len(two))
        for start in range(0, n, step):
            part = slice(start, start + step)
            signs = [_signs(table[two[:, 0], part], table[two[:, 1], part]) for table in tables]
            for p, (a, b) in enumerate(pairs):
                both = signs[a] * signs[b]
                compared[p, part] = np.count_nonzero(both, axis=0)
                discordant[p, part] = np.count_nonzero(both < 0, axis=0)
    return MetricDisagreement(pairs, discordant, compared)


def _table(scores: Scores, first: Scores) -> Floats:
    """The sentence scores ``[system, sentence]``, those that differ by rounding made equal."""
    if scores.sentences is None or first.sentences is None:
        raise InputError(f"{scores.scorer} has no scores of single sentences")
    if scores.systems != first.systems or scores.sentences.shape != first.sentences.shape:
        raise InputError(
            f"{scores.scorer} and {first.scorer} score other systems or sentences",
            remedy="compare scores of the same outputs",
        )
    return settled(scores.sentences.T).T


def _signs(first: Floats, second: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    """Which is better: 1 the first, -1 the second, 0 neither or not known."""
    return (first > second).astype(np.int8) - (first < second).astype(np.int8)
