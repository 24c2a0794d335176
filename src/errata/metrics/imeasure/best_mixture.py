"""The best choice of one vector per stage by quotients of their sums, without trying all.

WAcc and Acc are quotients of sums over the parts of a sentence, and I falls as the baseline's
WAcc rises: the best reference by (WAcc, I, Acc) is found criterion by criterion with Dinkelbach's
method, in whole numbers. Where references are chosen by running totals, which are not known
beforehand, all that can be best are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from operator import mul

__all__ = ["Vector", "best_mixture", "possible_mixtures"]

Vector = tuple[int, ...]


def best_mixture(stages: Sequence[Sequence[Vector]], weight: float) -> list[Vector]:
    """The columns of the best reference: the vector to take from each stage.

    Best by (WAcc, I, Acc) of correction, then of detection, compared exactly. Of references
    equal in all that, the one with most columns of the first kind, then of the second...; the
    official program takes whichever comes first in a hash table.

    A vector holds unchanged, missed, needless, right and wrong columns, then unchanged and
    missed ones of the source.
    """
    every = [list(dict.fromkeys(stage)) if len(stage) > 1 else [*stage] for stage in stages]
    # Stages without a choice, as most are, count as one.
    alone = [stage[0] for stage in every if len(stage) == 1]
    left = [[tuple(map(sum, zip(*alone, strict=True)))]] if alone else []
    left += [stage for stage in every if len(stage) > 1]
    for wacc_over_under, acc_over_under in _quotients(weight):
        if all(len(stage) == 1 for stage in left):  # nothing to choose
            break
        left, wacc = _maximal(left, *wacc_over_under)
        left = _most_improved(left, wacc)
        left, _ = _maximal(left, *acc_over_under)
    chosen = map(max, left[1:] if alone else left)
    return [stage[0] if len(stage) == 1 else next(chosen) for stage in every]


@lru_cache(maxsize=8)
def _quotients(weight: float) -> list[tuple[tuple[Vector, Vector], tuple[Vector, Vector]]]:
    """WAcc and Acc as quotients of columns, for correction and for detection."""
    w = Fraction(weight)
    one = 2 * w.denominator  # what all coefficients are multiplied by to be whole
    heavy, half = int(w * one), int((w + 1) / 2 * one)
    # In the detection aspect wrong columns are right.
    return [
        (
            ((one, 0, 0, heavy, wrong, 0, 0), (one, one, heavy, heavy, wrong_below, 0, 0)),
            ((1, 0, 0, 1, hit, 0, 0), (1, 1, 1, 1, 1, 0, 0)),
        )
        for wrong, wrong_below, hit in ((0, half, 0), (heavy, heavy, 1))
    ]


def possible_mixtures(stages: Sequence[Sequence[Vector]], weight: float) -> list[Vector]:
    """The sums of one vector per stage that can be best once running totals are added to them.

    Stage by stage, what is behind for any totals is left out. For quotients compared one after
    the other, v is behind u if the first quotient in which they differ has for u no smaller
    numerator and no larger denominator: whatever is added to both, u's is then the larger. That
    needs care only where a sum may be 0, and there all are kept. I stands in this as the share
    of missed columns of the source; where WAcc is 1, so is all else.
    """
    correction, detection = _quotients(weight)
    missed = (0, 0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 0, 1, 0)
    quotients = (correction[0], missed, correction[1], *detection)
    sums: list[Vector] = [(0,) * 7]
    for stage in stages:
        options = _foremost(stage, quotients)
        sums = _foremost(
            (tuple(map(sum, zip(v, u, strict=True))) for v in sums for u in options), quotients
        )
    return sorted(sums, reverse=True)


def _foremost(
    vectors: Iterable[Vector], quotients: Sequence[tuple[Vector, Vector]]
) -> list[Vector]:
    """The vectors that none is in front of; of those alike in every quotient the largest."""
    alike: dict[tuple[int, int], dict[Vector, None]] = {}
    over, under = quotients[0]
    for v in vectors:
        alike.setdefault((-_dot(over, v), _dot(under, v)), {})[v] = None
    found: list[Vector] = []
    least = None
    for n, d in sorted(alike):
        if n == 0:
            found += alike[n, d]
        elif least is None or d < least or d == 0:
            least = d
            found += (
                _foremost(alike[n, d], quotients[1:]) if len(quotients) > 1 else [max(alike[n, d])]
            )
    return found


def _most_improved(stages: list[list[Vector]], wacc: Fraction) -> list[list[Vector]]:
    """The vectors with the best I where WAcc is the same.

    For 0 < WAcc < 1 I falls strictly as the baseline's WAcc rises; for WAcc = 1 it is 1; for
    WAcc = 0 it is 0 if the baseline's is 0 too, and -1 otherwise.
    """
    if wacc == 1:
        return stages
    left, missed = _maximal(stages, (0, 0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 0, 1, 1))
    return stages if wacc == 0 and missed < 1 else left


def _maximal(
    stages: list[list[Vector]], over: Vector, under: Vector
) -> tuple[list[list[Vector]], Fraction]:
    """The vectors whose sums have the largest quotient ``over·v / under·v``, and the quotient.

    Dinkelbach (1967): with q the best quotient so far, take from each stage the vector with the
    largest over·v - q·under·v; if their sum is above 0 the quotient is better, else q is the
    best there is, and exactly the sums of such vectors reach it. 0/0 counts as 1.
    """
    if all(len(stage) == 1 for stage in stages):
        n, d = (sum(_dot(c, stage[0]) for stage in stages) for c in (over, under))
        return stages, Fraction(n, d) if d else Fraction(1)
    pairs = [list(zip(_dots(over, stage), _dots(under, stage), strict=True)) for stage in stages]
    if len(pairs) == 1:
        pairs = [[pair if pair[1] else (1, 1) for pair in pairs[0]]]
    n, d = (sum(stage[0][part] for stage in pairs) for part in (0, 1))
    while True:
        chosen = [max(stage, key=lambda pair: pair[0] * d - pair[1] * n) for stage in pairs]
        new_n, new_d = sum(pair[0] for pair in chosen), sum(pair[1] for pair in chosen)
        if new_n * d - new_d * n <= 0:
            break
        n, d = new_n, new_d
    best = [max(p * d - q * n for p, q in stage) for stage in pairs]
    return [
        [v for v, (p, q) in zip(stage, pair, strict=True) if p * d - q * n == top]
        for stage, pair, top in zip(stages, pairs, best, strict=True)
    ], Fraction(n, d)


def _dot(coefficients: Vector, vector: Vector) -> int:
    return sum(map(mul, coefficients, vector))


def _dots(coefficients: Vector, vectors: Sequence[Vector]) -> list[int]:
    """The same for many vectors, written out, as most of the time of a choice is spent here."""
    h, i, j, k, m, n, o = coefficients
    return [
        h * a + i * b + j * c + k * d + m * e + n * f + o * g for a, b, c, d, e, f, g in vectors
    ]
