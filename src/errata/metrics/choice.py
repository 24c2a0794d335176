"""The choice of reference by running score: what most edit-based metrics share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from errata.numbers import Floats, Ints

__all__ = ["best_references"]

Score = Callable[[Sequence[float]], float]


def best_references(counts: Floats, score: Score, *, alone: bool) -> Ints:
    """Sentence by sentence, the reference with the best score of all sentences so far.

    ``alone`` forgets the sentences before. Statistics start with TP, FP, FN; equal scores go to
    the higher TP, then the lower FP, then the lower FN, then the earlier reference, as in ERRANT.
    """
    if counts.shape[1] == 1:
        return np.zeros((1, len(counts)), np.int64)
    totals = [0.0] * counts.shape[2]
    chosen = []
    for rows in counts.tolist():
        best = _best(rows, totals, score)
        chosen.append(best)
        if not alone:
            totals = [t + x for t, x in zip(totals, rows[best], strict=True)]
    return np.array([chosen], np.int64).reshape(1, len(counts))


def _best(rows: list[list[float]], totals: list[float], score: Score) -> int:
    there = [r for r, row in enumerate(rows) if row[0] == row[0]]  # NaN: no such reference
    if len(there) == 1:
        return there[0]
    return max(
        there,
        key=lambda r: (
            score([t + x for t, x in zip(totals, rows[r], strict=True)]),
            rows[r][0],
            -rows[r][1],
            -rows[r][2],
        ),
    )
