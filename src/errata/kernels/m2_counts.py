"""Counting the gold edits among the proposed ones, and choosing an annotator, as the M2 scorer."""

import cython
import numpy as np


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(x=cython.Py_ssize_t, t=cython.Py_ssize_t, p=cython.int)
def _is_gold(
    edits: cython.int[:, ::1],
    e: cython.Py_ssize_t,
    gold: cython.Py_ssize_t,
    gold_start: cython.int[::1],
    gold_end: cython.int[::1],
    alternative_at: cython.longlong[::1],
    token_at: cython.longlong[::1],
    tokens: cython.int[::1],
    hypothesis: cython.int[::1],
    h0: cython.Py_ssize_t,
) -> cython.bint:
    """Whether a proposed edit is a gold edit: the same place, and one of its corrections."""
    if edits[e, 0] != gold_start[gold] or edits[e, 1] != gold_end[gold]:
        return False
    for x in range(alternative_at[gold], alternative_at[gold + 1]):
        t = token_at[x]
        if token_at[x + 1] - t != edits[e, 3] - edits[e, 2]:
            continue
        p = edits[e, 2]
        while p < edits[e, 3] and hypothesis[h0 + p] == tokens[t + p - edits[e, 2]]:
            p += 1
        if p == edits[e, 3]:
            return True
    return False


def tally(
    edits: cython.int[:, ::1],
    edit_at: cython.longlong[::1],
    keep: cython.uchar[::1],
    hypothesis: cython.int[::1],
    hypothesis_at: cython.longlong[::1],
    first: cython.longlong[::1],
    gold,
    once: cython.bint,
):
    """Correct and proposed edits of each reference, and which proposed edit each gold edit met.

    Only edits with ``keep`` count. Proposed edits are taken from left to right, and a gold edit
    before one that was met is passed by, as the official scorer does, which is why gold edits
    should be sorted. A proposed edit meets every equal gold edit behind the last one met
    (official), or, ``once``, the first of them only.
    """
    gold_at: cython.longlong[::1] = gold[0]
    gold_start: cython.int[::1] = gold[1]
    gold_end: cython.int[::1] = gold[2]
    alternative_at: cython.longlong[::1] = gold[3]
    token_at: cython.longlong[::1] = gold[4]
    tokens: cython.int[::1] = gold[5]
    references: cython.Py_ssize_t = edit_at.shape[0] - 1
    counted = np.zeros((references, 2), np.int64)
    counts: cython.longlong[:, ::1] = counted
    matched = np.full(gold_start.shape[0], -1, np.int64)
    met: cython.longlong[::1] = matched
    i: cython.Py_ssize_t
    r: cython.Py_ssize_t
    e: cython.Py_ssize_t
    x: cython.Py_ssize_t
    behind: cython.Py_ssize_t
    with cython.nogil:
        for i in range(first.shape[0] - 1):
            for r in range(first[i], first[i + 1]):
                behind = gold_at[r]
                for e in range(edit_at[r], edit_at[r + 1]):
                    if keep[e] == 0:
                        continue
                    counts[r, 1] += 1
                    for x in range(behind, gold_at[r + 1]):
                        if _is_gold(
                            edits,
                            e,
                            x,
                            gold_start,
                            gold_end,
                            alternative_at,
                            token_at,
                            tokens,
                            hypothesis,
                            hypothesis_at[i],
                        ):
                            counts[r, 0] += 1
                            met[x] = e
                            behind = x + 1
                            if once:
                                break
    return counted, matched


def choose(counts: cython.double[:, :, ::1], beta: cython.double, alone: cython.bint):
    """The reference each sentence takes, one after the other; -1 where there is none.

    ``counts`` are ``[sentence, reference, (correct, proposed, gold)]``, NaN where missing. A
    reference is taken for the best F of the totals so far and its own counts, then for the most
    correct edits, then for the least proposed and gold edits, then for coming first. ``alone``
    forgets the totals before each sentence.
    """
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
