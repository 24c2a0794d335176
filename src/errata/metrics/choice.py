"""The choice of reference by running score: what most edit-based metrics share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from errata.numbers import Floats, Ints

__all__ = ["best_references"]

Score = Callable[[Sequence[float]], float | tuple[float, ...]]
# Statistics that start with TP, FP, FN: more of the first and fewer of the others is better.
TIES = ((0, 1), (1, -1), (2, -1))


def best_references(
    counts: Floats, score: Score, *, alone: bool, ties: Sequence[tuple[int, int]] = TIES
) -> Ints:
    """Sentence by sentence, the reference with the best score of all sentences so far.

    ``alone`` forgets the sentences before. Of equal scores those statistics of the sentence decide
    that ``ties`` names, with a sign that says which way: by default the higher TP, then the lower
    FP, then the lower FN, as in ERRANT; then the earlier reference.
    """
    if counts.shape[1] == 1:
        return np.zeros((1, len(counts)), np.int64)
    totals = [0.0] * counts.shape[2]
    chosen = []
    for rows in counts.tolist():
        best = _best(rows, totals, score, ties)
        chosen.append(best)
        if not alone:
            totals = [t + x for t, x in zip(totals, rows[best], strict=True)]
    return np.array([chosen], np.int64).reshape(1, len(counts))


def _best(
    rows: list[list[float]], totals: list[float], score: Score, ties: Sequence[tuple[int, int]]
) -> int:
    there = [r for r, row in enumerate(rows) if row[0] == row[0]]  # NaN: no such reference
    if len(there) == 1:
        return there[0]
    return max(
        there,
        key=lambda r: (
            score([t + x for t, x in zip(totals, rows[r], strict=True)]),
            *(sign * rows[r][k] for k, sign in ties),
        ),
    )
