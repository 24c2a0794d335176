"""Choosing the annotator of each sentence, as the M2 scorer does, in whole numbers.

F of summed counts is a quotient of whole numbers, ``w0 correct / (w1 proposed + w2 gold)``. Two
quotients are compared by their cross products, which take up to 126 bits: as doubles, different
ones would seem equal from totals of 2 ** 26 on, and the choice would depend on rounding.
"""

import cython
import numpy as np

from errata.kernels._doors import LARGEST_TOTAL, refuse, shaped, totals_fit, within

HALF = cython.declare(cython.const_longlong, 0xFFFFFFFF)  # the lower half of a word
SMALL = cython.declare(cython.const_longlong, 1 << 31)  # products of smaller numbers fit a word
MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _high(a: cython.ulonglong, b: cython.ulonglong) -> cython.ulonglong:
    """The upper 64 bits of a product of numbers below 2 ** 63."""
    a0: cython.ulonglong = a & HALF
    a1: cython.ulonglong = a >> 32
    b0: cython.ulonglong = b & HALF
    b1: cython.ulonglong = b >> 32
    middle: cython.ulonglong = ((a0 * b0) >> 32) + ((a0 * b1) & HALF) + ((a1 * b0) & HALF)
    return a1 * b1 + ((a0 * b1) >> 32) + ((a1 * b0) >> 32) + (middle >> 32)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sign(
    a: cython.longlong, b: cython.longlong, c: cython.longlong, d: cython.longlong
) -> cython.int:
    """The sign of ``a * b - c * d``, all of them 0 or more."""
    x: cython.ulonglong
    y: cython.ulonglong
    if a < SMALL and b < SMALL and c < SMALL and d < SMALL:
        return (a * b > c * d) - (a * b < c * d)
    x = _high(cython.cast(cython.ulonglong, a), cython.cast(cython.ulonglong, b))
    y = _high(cython.cast(cython.ulonglong, c), cython.cast(cython.ulonglong, d))
    if x == y:
        x = (cython.cast(cython.ulonglong, a) * cython.cast(cython.ulonglong, b)) & MASK
        y = (cython.cast(cython.ulonglong, c) * cython.cast(cython.ulonglong, d)) & MASK
    return (x > y) - (x < y)


def choose(
    counts: cython.longlong[:, :, ::1],
    weights: cython.longlong[::1],
    carry: cython.longlong[::1],
    alone: cython.bint,
):
    """The reference each sentence takes, one after the other, and the totals after the last.

    ``counts`` are ``[sentence, reference, (correct, proposed, gold)]``, -1 where missing; ``carry``
    are the totals before the first sentence. A reference is taken for the best F of the totals so
    far and its own counts, then for the most correct edits, then for the smallest denominator,
    then for coming first; F of 0/0 is 1. A sentence without references takes -1. ``alone`` decides
    each sentence as if there were no others.
    """
    shaped("counts", counts, -1, -1, 3)
    shaped("weights", weights, 3)
    shaped("carry", carry, 3)
    within("counts", counts, LARGEST_TOTAL, -1)
    within("weights", weights, LARGEST_TOTAL)
    within("carry", carry, LARGEST_TOTAL)
    if not totals_fit(np.asarray(counts), weights, carry):
        raise refuse("totals do not fit into 62 bits")
    chosen = np.full(counts.shape[0], -1, np.int64)
    choice: cython.longlong[::1] = chosen
    after = np.array(carry, np.int64)
    w0: cython.longlong = int(weights[0])
    w1: cython.longlong = int(weights[1])
    w2: cython.longlong = int(weights[2])
    correct: cython.longlong = 0 if alone else int(carry[0])
    proposed: cython.longlong = 0 if alone else int(carry[1])
    gold: cython.longlong = 0 if alone else int(carry[2])
    total: cython.longlong[::1] = after
    best_n: cython.longlong = 0
    best_d: cython.longlong = 0
    best_correct: cython.longlong = 0
    best_cost: cython.longlong = 0
    n: cython.longlong
    d: cython.longlong
    c: cython.longlong
    cost: cython.longlong
    better: cython.int
    i: cython.Py_ssize_t
    r: cython.Py_ssize_t
    if not cython.compiled:  # plain integers: products of NumPy's would overflow
        counts, total = np.array(counts).astype(object), after.astype(object)
        after = total
    with cython.nogil:
        for i in range(counts.shape[0]):
            for r in range(counts.shape[1]):
                if counts[i, r, 0] < 0:
                    continue
                c = correct + counts[i, r, 0]
                cost = w1 * (proposed + counts[i, r, 1]) + w2 * (gold + counts[i, r, 2])
                n = w0 * c
                d = cost
                if cost == 0:
                    n = 1
                    d = 1
                better = 1 if choice[i] < 0 else _sign(n, best_d, best_n, d)
                if better == 0:
                    better = (c > best_correct) - (c < best_correct)
                if better == 0:
                    better = cost < best_cost
                if better > 0:
                    best_n = n
                    best_d = d
                    best_correct = c
                    best_cost = cost
                    choice[i] = r
            r = choice[i]
            if r < 0:
                continue
            total[0] += counts[i, r, 0]
            total[1] += counts[i, r, 1]
            total[2] += counts[i, r, 2]
            if not alone:
                correct = total[0]
                proposed = total[1]
                gold = total[2]
    return chosen, np.array(after, np.int64)
