"""Choosing references by the running score: a sieve of doubles before exact fractions.

A score is a sum of quotients of summed statistics. Totals are kept in two doubles each (a sum and
what it lost), so a score is off by less than 2 ** -46 whatever the totals are. Options whose scores
are further apart are separated here; where two are nearer, or a score that is rounded lies near a
half, the kernel stops, and the caller decides that sentence in exact fractions.
"""

import cython
import numpy as np

from errata.kernels._doors import refuse, same_size, shaped, within

APART = cython.declare(cython.const_double, 2.0**-44)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _floor(value: cython.double) -> cython.double:
    """The whole part of a score from 0 on, or the whole number below it."""
    cut: cython.double = cython.cast(cython.double, cython.cast(cython.longlong, value))
    return cut - 1.0 if cut > value else cut


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _by_ties(
    counts: cython.double[:, :, ::1],
    i: cython.Py_ssize_t,
    r: cython.Py_ssize_t,
    best: cython.Py_ssize_t,
    ties: cython.longlong[:, ::1],
) -> cython.int:
    """Which of two references with one score is taken: 1 for the new one, else -1 or 0."""
    j: cython.Py_ssize_t
    gain: cython.double
    for j in range(ties.shape[0]):
        gain = (counts[i, r, ties[j, 0]] - counts[i, best, ties[j, 0]]) * ties[j, 1]
        if gain != 0.0:
            return 1 if gain > 0.0 else -1
    return 0


def decide(
    counts: cython.double[:, :, ::1],
    numerators: cython.double[:, ::1],
    denominators: cython.double[:, ::1],
    empty: cython.double[::1],
    ties: cython.longlong[:, ::1],
    totals: cython.double[:, ::1],
    scale: cython.double,
    all_is_said: cython.bint,
    alone: cython.bint,
    start: cython.Py_ssize_t,
    choice: cython.longlong[::1],
):
    """Decide sentences from ``start`` on; gives the first that is not, or how many there are.

    ``counts`` are ``[sentence, reference, statistic]``, none of them negative, NaN where a
    reference is missing. The score is the sum of ``numerators . totals / denominators . totals``,
    each ``empty`` where the denominator is 0; with ``scale`` (not 0) it is rounded to a whole
    number after it was multiplied. ``ties`` are pairs of a statistic and a sign, which decide
    between equal scores; then the first. Scores are equal where they were rounded, where all
    statistics are equal, and, if the score is all there is (``all_is_said``), where those that it
    is made of are equal, or all its quotients exactly 0, 1 or ``empty``. ``totals`` are
    ``[statistic, (sum, rest)]`` before ``start``; the choices are written into ``choice``.
    """
    k: cython.Py_ssize_t = counts.shape[2]
    shares: cython.Py_ssize_t = numerators.shape[0]
    shaped("numerators", numerators, -1, counts.shape[2])
    shaped("denominators", denominators, -1, counts.shape[2])
    same_size(numerators=numerators, denominators=denominators, empty=empty)
    shaped("ties", ties, -1, 2)
    within("ties", np.asarray(ties)[:, 0], counts.shape[2])
    shaped("totals", totals, counts.shape[2], 2)
    shaped("choice", choice, counts.shape[0])
    if start < 0 or not counts.shape[2]:
        raise refuse(f"there is no sentence {start}")
    if np.less(counts, 0).any():
        raise refuse("a count is negative")
    sums: cython.double[:, ::1] = np.array(totals, np.float64)
    of_score = np.any(np.asarray(numerators), axis=0) | np.any(np.asarray(denominators), axis=0)
    used: cython.uchar[::1] = of_score.astype(np.uint8)
    differs: cython.int
    i: cython.Py_ssize_t
    r: cython.Py_ssize_t
    s: cython.Py_ssize_t
    j: cython.Py_ssize_t
    best: cython.Py_ssize_t
    value: cython.double
    above: cython.double
    below: cython.double
    score: cython.double
    part: cython.double
    whole: cython.double
    best_score: cython.double = 0.0
    zero: cython.bint
    one: cython.bint
    exact: cython.bint
    best_exact: cython.bint = False
    better: cython.int
    open_: cython.bint
    at: cython.Py_ssize_t = counts.shape[0]
    with cython.nogil:
        for i in range(start, counts.shape[0]):
            best = -1
            open_ = False  # whether the score of the best is not sure
            for r in range(counts.shape[1]):
                if counts[i, r, 0] != counts[i, r, 0]:
                    continue
                if best >= 0:
                    differs = 0
                    for s in range(k):
                        if counts[i, r, s] != counts[i, best, s]:
                            differs |= 2 if used[s] or not all_is_said else 1
                    if differs == 0:
                        continue  # all is equal, and the other one comes first
                    if differs == 1:
                        if _by_ties(counts, i, r, best, ties) > 0:
                            best = r
                        continue
                    if open_:
                        break
                score = 0.0
                exact = True
                for j in range(shares):
                    above = 0.0
                    below = 0.0
                    zero = True
                    one = True
                    for s in range(k):
                        value = counts[i, r, s]
                        if not alone:
                            value = (sums[s, 0] + value) + sums[s, 1]
                        above += numerators[j, s] * value
                        below += denominators[j, s] * value
                        if value != 0.0 and numerators[j, s] != 0.0:
                            zero = False
                        if value != 0.0 and numerators[j, s] != denominators[j, s]:
                            one = False
                    if below == 0.0:
                        score += empty[j]
                    else:
                        score += above / below
                        if not (zero or one):
                            exact = False
                if scale != 0.0:
                    part = score * scale
                    whole = _floor(part)
                    part -= whole
                    score = whole + 1.0 if part > 0.5 else whole
                    if part - 0.5 < APART * scale and 0.5 - part < APART * scale:
                        open_ = True
                        if best >= 0:
                            break
                if best < 0:
                    best = r
                    best_score = score
                    best_exact = exact
                    continue
                better = 1 if score > best_score else (-1 if score < best_score else 0)
                if scale == 0.0 and score - best_score < APART and best_score - score < APART:
                    if not (all_is_said and exact and best_exact):
                        open_ = True
                        break
                    better = 0
                if better == 0:
                    better = _by_ties(counts, i, r, best, ties)
                if better > 0:
                    best = r
                    best_score = score
                    best_exact = exact
            else:
                open_ = False  # nothing else was there to be compared
            if open_:
                at = i
                break
            choice[i] = best
            if best < 0 or alone:
                continue
            for s in range(k):  # what a sum loses is kept beside it
                value = counts[i, best, s]
                part = sums[s, 0] + value
                above = part - sums[s, 0]
                sums[s, 1] += (sums[s, 0] - (part - above)) + (value - above)
                sums[s, 0] = part
    return at
