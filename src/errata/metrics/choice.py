"""The choice of reference by running score: what most edit-based metrics share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from errata.kernels import m2_counts
from errata.metrics.base import Before
from errata.numbers import Bools, Floats, Ints
from errata.sums import UNIT

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
    counts: Floats, beta: float, *, alone: bool, carry: Sequence[int] = (0, 0, 0)
) -> tuple[Ints, tuple[int, ...]]:
    """The reference each sentence takes by the F of all so far, and the totals after the last.

    ``counts`` are ``[sentence, reference, (correct, proposed, gold)]``, NaN where a reference is
    missing; ``carry`` are the totals of sentences before these, so that a corpus may be decided
    part by part. Quotients are compared in whole numbers (see `errata.kernels.m2_counts`), which
    no size of the totals spoils.

    >>> two = np.array([[[1, 1, 2], [0, 0, 1.0]], [[0, 1, 1], [0, 0, 0.0]]])
    >>> whole, totals = running_choice(two, 0.5, alone=False)
    >>> first, carry = running_choice(two[:1], 0.5, alone=False)
    >>> second, carry = running_choice(two[1:], 0.5, alone=False, carry=carry)
    >>> whole.tolist(), totals, [*first.tolist(), *second.tolist()], carry
    ([0, 1], (1, 1, 2), [0, 1], (1, 1, 2))
    """
    weights = f_weights(beta)
    known = np.where(np.isnan(counts), -1, counts).astype(np.int64)
    most = known.max(axis=(1, 2), initial=0).sum(dtype=np.float64) + float(max(carry))
    if most * sum(weights) < FITS:
        chosen, after = m2_counts.choose(
            np.ascontiguousarray(known),
            np.array(weights, np.int64),
            np.array(carry, np.int64),
            alone,
        )
        return chosen, tuple(after.tolist())
    return _unbounded_choice(known, weights, alone, carry)


def _unbounded_choice(
    counts: Ints, weights: tuple[int, int, int], alone: bool, carry: Sequence[int]
) -> tuple[Ints, tuple[int, ...]]:
    """The same where totals or weights are too large for the kernel, as of beta=0.333333333."""
    w0, w1, w2 = weights
    totals = [int(total) for total in carry]  # without bounds
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
    return chosen, tuple(totals)


def best_references(
    counts: Floats,
    score: Score,
    *,
    alone: bool,
    ties: Sequence[tuple[int, int]] = TIES,
    monotone: bool = False,
    before: Before | None = None,
) -> Ints:
    """Sentence by sentence, the reference with the best score of all sentences so far.

    ``alone`` forgets the sentences before. Of equal scores those statistics of the sentence decide
    that ``ties`` names, with a sign that says which way: by default the higher TP, then the lower
    FP, then the lower FN, as in ERRANT; then the earlier reference.

    Sums are kept in whole numbers, of a small unit where counts have fractions, so ``score`` must
    be one of shares, which knows no unit. With ``monotone`` it gets no worse with more TP, fewer
    FP or fewer FN (the statistics that `TIES` names); then a reference that is as good as every
    other in all three is taken without asking, which leaves one sentence in ten.
    """
    if counts.shape[1] == 1:
        return np.zeros((1, len(counts)), np.int64)
    missing = np.isnan(counts[..., 0])
    known = np.where(missing[..., None], 0.0, counts)
    sums = before.totals if before is not None and not alone else ()
    broken = bool((known % 1).any()) or any(total.denominator != 1 for total in sums)
    unit = UNIT if broken else 1
    carry = [int(total * unit) for total in sums] or [0] * counts.shape[2]
    chosen = _dominant(known, missing, ties) if monotone else np.full(len(counts), -1, np.int64)
    scaled = np.rint(known * unit)
    whole = _as_integers(scaled) if broken else scaled.astype(np.int64)
    sure = whole[np.arange(len(counts)), chosen]
    sure[chosen < 0] = 0
    sure = sure.cumsum(axis=0)
    for i in np.flatnonzero(chosen < 0).tolist():
        so_far = [0] * len(carry) if alone else _added(carry, sure[i].tolist())
        there = np.flatnonzero(~missing[i]).tolist()
        chosen[i] = best = _best({r: whole[i, r].tolist() for r in there}, so_far, score, ties)
        carry = _added(carry, whole[i, best].tolist())
    return chosen[None]


_as_integers = np.frompyfunc(int, 1, 1)  # beyond 64 bits


def _added(a: Sequence[int], b: Sequence[int]) -> list[int]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _dominant(counts: Floats, missing: Bools, ties: Sequence[tuple[int, int]]) -> Ints:
    """The reference that no other one betters in any of TP, FP and FN; -1 where none is such."""
    rows = np.arange(len(counts))
    best = np.argmin(missing, axis=1)  # the first that is there
    for r in range(counts.shape[1]):
        better, equal = np.zeros(len(counts), bool), ~missing[:, r]
        for k, sign in ties:
            gain = sign * (counts[:, r, k] - counts[rows, best, k])
            better |= equal & (gain > 0)
            equal &= gain == 0
        best = np.where(better, r, best)
    worst = np.zeros(len(counts), bool)
    for k, sign in TIES:
        gain = sign * (counts[..., k] - counts[rows, best, k][:, None])
        worst |= ((gain > 0) & ~missing).any(axis=1)
    return np.where(worst, -1, best)


def _best(
    rows: Mapping[int, Sequence[int]],
    totals: Sequence[int],
    score: Score,
    ties: Sequence[tuple[int, int]],
) -> int:
    if len(rows) == 1:
        return next(iter(rows))
    return max(
        rows,
        key=lambda r: (score(_added(totals, rows[r])), *(sign * rows[r][k] for k, sign in ties)),
    )
