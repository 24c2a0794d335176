"""Choosing the annotator of each sentence, as the M2 scorer does."""

import cython
import numpy as np

from errata.kernels._doors import shaped


def choose(counts: cython.double[:, :, ::1], beta: cython.double, alone: cython.bint):
    """The reference each sentence takes, one after the other; -1 where there is none.

    ``counts`` are ``[sentence, reference, (correct, proposed, gold)]``, NaN where missing. A
    reference is taken for the best F of the totals so far and its own counts, then for the most
    correct edits, then for the least proposed and gold edits, then for coming first. ``alone``
    forgets the totals before each sentence.
    """
    shaped("counts", counts, -1, -1, 3)
    chosen = np.full(counts.shape[0], -1, np.int64)
    choice: cython.longlong[::1] = chosen
    square: cython.double = beta * beta
    correct: cython.double = 0
    proposed: cython.double = 0
    gold: cython.double = 0
    best: cython.double
    best_correct: cython.double = 0
    best_cost: cython.double = 0
    f: cython.double
    c: cython.double
    cost: cython.double
    i: cython.Py_ssize_t
    r: cython.Py_ssize_t
    with cython.nogil:
        for i in range(counts.shape[0]):
            best = -1
            for r in range(counts.shape[1]):
                if counts[i, r, 0] != counts[i, r, 0]:
                    continue
                c = correct + counts[i, r, 0]
                cost = square * (gold + counts[i, r, 2]) + (proposed + counts[i, r, 1])
                f = 1.0 if cost == 0 else (1 + square) * c / cost
                if f > best or (
                    f == best and (c > best_correct or (c == best_correct and cost < best_cost))
                ):
                    best = f
                    best_correct = c
                    best_cost = cost
                    choice[i] = r
            r = choice[i]
            if r >= 0 and not alone:
                correct += counts[i, r, 0]
                proposed += counts[i, r, 1]
                gold += counts[i, r, 2]
    return chosen
