"""The choice of reference by running score: what most edit-based metrics share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from errata.kernels import m2_counts
from errata.numbers import Floats, Ints

__all__ = ["best_references", "f_weights", "running_choice"]

Score = Callable[[Sequence[float]], float | tuple[float, ...]]
# Statistics that start with TP, FP, FN: more of the first and fewer of the others is better.
TIES = ((0, 1), (1, -1), (2, -1))


FITS = 2.0**62  # totals, times the weights, for the kernel


@lru_cache(maxsize=64)
def f_weights(beta: float) -> tuple[int, int, int]:
    """Whole numbers w with F = w0 correct / (w1 proposed + w2 gold), for beta as written.

    >>> f_weights(0.5)
    (5, 4, 1)
    """
    square = Fraction(repr(float(beta))) ** 2
    return square.numerator + square.denominator, square.denominator, square.numerator


def running_choice(
    counts: Floats, beta: float, *, alone: bool, carry: Ints | None = None
) -> tuple[Ints, Ints]:
    """The reference each sentence takes by the F of all so far, and the totals after the last.

    ``counts`` are ``[sentence, reference, (correct, proposed, gold)]``, NaN where a reference is
    missing; ``carry`` are the totals of sentences before these, so that a corpus may be decided
    part by part. Quotients are compared in whole numbers (see `errata.kernels.m2_counts`), which
    no size of the totals spoils.

    >>> two = np.array([[[1, 1, 2], [0, 0, 1.0]], [[0, 1, 1], [0, 0, 0.0]]])
    >>> whole, totals = running_choice(two, 0.5, alone=False)
    >>> first, carry = running_choice(two[:1], 0.5, alone=False)
    >>> second, carry = running_choice(two[1:], 0.5, alone=False, carry=carry)
    >>> whole.tolist(), totals.tolist(), [*first.tolist(), *second.tolist()], carry.tolist()
    ([0, 1], [1, 1, 2], [0, 1], [1, 1, 2])
    """
    weights = f_weights(beta)
    known = np.where(np.isnan(counts), -1, counts).astype(np.int64)
    before = np.zeros(3, np.int64) if carry is None else np.asarray(carry, np.int64)
    most = float(known.max(axis=(1, 2), initial=0).sum(dtype=np.float64) + before.max())
    if most * sum(weights) < FITS:
        found: tuple[Ints, Ints] = m2_counts.choose(
            np.ascontiguousarray(known), np.array(weights, np.int64), before, alone
        )
        return found
    return _unbounded_choice(known, weights, alone, before)


def _unbounded_choice(
    counts: Ints, weights: tuple[int, int, int], alone: bool, carry: Ints
) -> tuple[Ints, Ints]:
    """The same where totals or weights are too large for the kernel, as of beta=0.333333333."""
    w0, w1, w2 = weights
    totals = [int(total) for total in carry]
    chosen = np.full(len(counts), -1, np.int64)
    for i, references in enumerate(counts.tolist()):
        best: tuple[Fraction, int, int] | None = None
        for r, own in enumerate(references):
            if own[0] < 0:
                continue
            correct, proposed, gold = (
                own if alone else [t + x for t, x in zip(totals, own, strict=True)]
            )
            cost = w1 * proposed + w2 * gold
            key = (Fraction(w0 * correct, cost) if cost else Fraction(1), correct, -cost)
            if best is None or key > best:
                best, chosen[i] = key, r
        if best is not None:
            totals = [t + x for t, x in zip(totals, references[chosen[i]], strict=True)]
    return chosen, np.array(totals, np.int64)


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
