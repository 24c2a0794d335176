"""The choice of reference by running score: what most edit-based metrics share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from errata.core.exact_sums import ExactSums
from errata.core.stats import Floats, Ints
from errata.kernels import m2_counts, running
from errata.kernels._doors import totals_fit
from errata.metrics.base import Before

Exact = Sequence[Fraction]
# Statistics that start with TP, FP, FN: more of the first and fewer of the others is better.
TIES = ((0, 1), (1, -1), (2, -1))


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
    missing = np.isnan(counts)
    known = (np.where(missing, -1, counts) if missing.any() else counts).astype(np.int64)
    if totals_fit(known, weights, carry):
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


class Ratio(NamedTuple):
    """A quotient of summed statistics, ``empty`` where nothing is there."""

    numerator: tuple[Fraction, ...]
    denominator: tuple[Fraction, ...]
    empty: int = 0

    def of(self, totals: Exact) -> Fraction:
        """Its value, exactly.

        >>> f_ratio(0.5, 3, empty=1).of([Fraction(3), Fraction(1), Fraction(0)])
        Fraction(15, 19)
        """
        above, below = (
            sum((w * t for w, t in zip(weights, totals, strict=True) if w), Fraction(0))
            for weights in self[:2]
        )
        return above / below if below else Fraction(self.empty)


def f_ratio(beta: float, statistics: int, *, empty: int) -> Ratio:
    """F of TP, FP and FN, the first of so many statistics, as one quotient."""
    w0, w1, w2 = f_weights(beta)
    rest = (0,) * (statistics - 3)
    return Ratio(_fractions(w0, 0, 0, *rest), _fractions(w0, w1, w2, *rest), empty)


def _fractions(*numbers: int) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, numbers))


def rounded(value: Fraction, digits: int, at_half: Callable[[], float]) -> int:
    """A score rounded to so many digits, as a whole number.

    Exactly at a half a program that rounds doubles goes either way, by what its quotients lost:
    ``at_half`` is what it comes to.

    >>> rounded(Fraction(1, 3), 4, lambda: 0.0), rounded(Fraction(5, 10), 0, lambda: 0.0)
    (3333, 0)
    """
    unit = int(10**digits)
    twice = 2 * value * unit
    if twice.denominator == 1 and twice.numerator % 2:
        return round(round(at_half(), digits) * unit)
    return math.floor((twice + 1) / 2)


@dataclass(frozen=True)
class RunningRule:
    """What references are taken for, sentence by sentence.

    ``key`` ranks exact totals: the higher, the better. Where all options are far apart, the sum of
    ``shares``, rounded to ``digits`` where that is given, ranks them alike, in doubles. Among
    equals those statistics of the sentence decide that ``ties`` names, with a sign that says which
    way: by default the higher TP, then the lower FP, then the lower FN, as in ERRANT; then the
    earlier reference. ``all_is_said``: of equal shares keys are equal.
    """

    key: Callable[[Exact], Any]
    shares: tuple[Ratio, ...]
    digits: int | None = None
    ties: tuple[tuple[int, int], ...] = TIES
    all_is_said: bool = True


def best_references(
    counts: Floats, rule: RunningRule, *, alone: bool = False, before: Before | None = None
) -> Ints:
    """Sentence by sentence, the reference with the best score of all sentences so far.

    ``alone`` forgets the sentences before. What doubles tell apart, whatever they lose, a kernel
    decides; the others are decided in exact fractions, one in thousands.

    >>> rule = RunningRule(f_ratio(0.5, 3, empty=1).of, (f_ratio(0.5, 3, empty=1),))
    >>> best_references(np.array([[[0, 1, 1], [1, 0, 1.0]], [[0, 0, 1], [0, 0, 0.0]]]), rule)
    array([[1, 1]])
    """
    if counts.shape[1] == 1:
        return np.zeros((1, len(counts)), np.int64)
    chosen = np.full(len(counts), -1, np.int64)
    totals = [Fraction(0)] * counts.shape[2]
    if before is not None and not alone:
        totals = [*before.totals]
    at, done = 0, 0
    sieve = None if bool((counts < 0).any()) else _undecided_from(counts, rule, alone)
    while True:
        if sieve is not None:
            at = sieve(totals, at, chosen)
        if at == len(counts):
            return chosen[None]
        if not alone:
            taken = ExactSums.of(counts[done:at], chosen[None, done:at]).exactly()
            totals = [a + b for a, b in zip(totals, taken, strict=True)]
        chosen[at] = _best_reference(counts[at], totals, rule)
        done, at = at, at + 1
        if sieve is not None and not alone:  # which goes on after it
            taken = ExactSums.of(counts[done:at], chosen[None, done:at]).exactly()
            totals, done = [a + b for a, b in zip(totals, taken, strict=True)], at


def _undecided_from(
    counts: Floats, rule: RunningRule, alone: bool
) -> Callable[[Exact, int, Ints], int]:
    """The kernel: decides from a sentence on, and gives the first that it leaves."""
    rows = np.ascontiguousarray(counts)
    above = np.array([[float(w) for w in share.numerator] for share in rule.shares])
    below = np.array([[float(w) for w in share.denominator] for share in rule.shares])
    empty = np.array([float(share.empty) for share in rule.shares])
    ties = np.array(rule.ties, np.int64).reshape(-1, 2)
    scale = 0.0 if rule.digits is None else 10.0**rule.digits

    def sieve(totals: Exact, start: int, chosen: Ints) -> int:
        so_far, said = _as_two_doubles(totals), rule.all_is_said
        at: int = running.decide(
            rows, above, below, empty, ties, so_far, scale, said, alone, start, chosen
        )
        return at

    return sieve


def _as_two_doubles(totals: Exact) -> Floats:
    """Totals as two doubles each: the nearest one, and the rest."""
    nearest = [float(total) for total in totals]
    rests = [float(total - Fraction(near)) for total, near in zip(totals, nearest, strict=True)]
    return np.ascontiguousarray(np.array([nearest, rests]).T)


def _best_reference(options: Floats, totals: Exact, rule: RunningRule) -> int:
    """The reference of one sentence, in exact fractions."""
    best, chosen = None, -1
    for r, own in enumerate(options.tolist()):
        if math.isnan(own[0]):
            continue
        key = rule.key([a + Fraction(x) for a, x in zip(totals, own, strict=True)])
        rank = (key, *(sign * own[k] for k, sign in rule.ties))
        if best is None or rank > best:
            best, chosen = rank, r
    return chosen


def best_alone(
    counts: Floats, keys: Sequence[Floats], ties: Sequence[tuple[int, int]] = ()
) -> Ints:
    """Return the reference with the best keys of each sentence alone; ties as in `RunningRule`.

    Each of the ``keys`` is ``[sentence, reference]``; a later one decides between equals.

    >>> best_alone(np.array([[[1.0], [2.0], [2.0]]]), [np.array([[0.5, 0.4, 0.5]])], [(0, 1)])
    array([[2]])
    """
    best = ~np.isnan(counts[..., 0])
    for key in (*keys, *(sign * counts[..., k] for k, sign in ties)):
        known = np.where(best, key, -np.inf)
        best &= known == known.max(axis=1, keepdims=True)
    return np.asarray(best.argmax(axis=1))[None]
