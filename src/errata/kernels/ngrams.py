"""How the n-grams of source, hypothesis and references overlap, for whole batches.

Every n-gram of a sentence and its references gets a small number from an open-addressing table
whose keys are the pair (number of its first n-1 tokens, last token), compared exactly: a collision
costs a step, never a wrong count. After that, multisets are plain arrays.
"""

import cython
import numpy as np

from errata.kernels._doors import LARGEST, offsets, within

# What `overlaps` counts of H, S and R, the multisets of the n-grams of one order.
_MATCHED = cython.declare(cython.const_int, 0)  # |H & R|
_KEPT = cython.declare(cython.const_int, 1)  # sum of min(H, S) over n-grams that R lacks altogether
_SURPLUS = cython.declare(cython.const_int, 2)  # sum of max(0, min(H, S) - min(H, R))
_GAINED = cython.declare(cython.const_int, 3)  # sum of min(H, R) over n-grams S lacks altogether
_ADDED = cython.declare(cython.const_int, 4)  # |H & (R - S)|, a difference of multisets
_LEFT = cython.declare(cython.const_int, 5)  # |H & (S - R)|, likewise
_WANTED = cython.declare(cython.const_int, 6)  # |R - S|, likewise
_FIGURES = cython.declare(cython.const_int, 7)

# Constants of C are not seen from outside; these are.
MATCHED, KEPT, SURPLUS, GAINED = _MATCHED, _KEPT, _SURPLUS, _GAINED
ADDED, LEFT, WANTED = _ADDED, _LEFT, _WANTED


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _number(
    tokens: cython.longlong[::1],
    starts: cython.longlong[::1],
    pieces: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    grams: cython.longlong[::1],
    prefixes: cython.longlong[::1],
    lasts: cython.longlong[::1],
    numbers: cython.longlong[::1],
    stamps: cython.longlong[::1],
    stamp: cython.longlong,
    mask: cython.longlong,
) -> cython.Py_ssize_t:
    """Replace the number of each (n-1)-gram by that of the n-gram it begins; how many there are."""
    known: cython.Py_ssize_t = 0
    piece: cython.Py_ssize_t
    p: cython.Py_ssize_t
    prefix: cython.longlong
    last: cython.longlong
    slot: cython.longlong
    for piece in range(pieces):
        for p in range(starts[piece], starts[piece + 1] - n + 1):
            prefix = grams[p]
            last = tokens[p + n - 1]
            slot = prefix * 10368889 + last * 8765419  # no overflow: both are below 2**31
            slot = (slot ^ (slot >> 17)) & mask
            while stamps[slot] == stamp and (prefixes[slot] != prefix or lasts[slot] != last):
                slot = (slot + 1) & mask
            if stamps[slot] != stamp:
                stamps[slot] = stamp
                prefixes[slot] = prefix
                lasts[slot] = last
                numbers[slot] = known
                known += 1
            grams[p] = numbers[slot]
    return known


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _tally(
    grams: cython.longlong[::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    counts: cython.longlong[::1],
    known: cython.Py_ssize_t,
) -> cython.void:
    """Count the n-grams that start at ``begin <= p < end``."""
    p: cython.Py_ssize_t
    for p in range(known):
        counts[p] = 0
    for p in range(begin, end):
        counts[grams[p]] += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _compare(
    grams: cython.longlong[::1],
    starts: cython.longlong[::1],
    n: cython.Py_ssize_t,
    h: cython.longlong[::1],
    s: cython.longlong[::1],
    r: cython.longlong[:, ::1],
    distinct: cython.longlong[::1],
    known: cython.Py_ssize_t,
    compared: cython.Py_ssize_t,
    systems: cython.Py_ssize_t,
    pairs: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    out: cython.longlong[:, :, ::1],
) -> cython.void:
    """Fill the figures of one order of a sentence: all systems beside all that is ``compared``.

    ``starts`` has the hypotheses first. A pair costs as many steps as the hypothesis has n-grams.
    """
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    p: cython.Py_ssize_t
    own: cython.Py_ssize_t
    g: cython.longlong
    hg: cython.longlong
    hr: cython.longlong
    hs: cython.longlong
    more: cython.longlong
    wanted: cython.longlong
    row: cython.Py_ssize_t
    for k in range(compared):
        wanted = 0
        for p in range(known):
            if r[k, p] > s[p]:
                wanted += r[k, p] - s[p]
        for j in range(systems):
            out[j * pairs + first + k, n - 1, _WANTED] = wanted
    for p in range(known):
        h[p] = 0
    for j in range(systems):
        own = 0
        for p in range(starts[j], starts[j + 1] - n + 1):
            g = grams[p]
            if h[g] == 0:
                distinct[own] = g
                own += 1
            h[g] += 1
        for k in range(compared):
            row = j * pairs + first + k
            for p in range(own):
                g = distinct[p]
                hg = h[g]
                more = r[k, g] - s[g]
                hr = hg if hg < r[k, g] else r[k, g]
                hs = hg if hg < s[g] else s[g]
                out[row, n - 1, _MATCHED] += hr
                if r[k, g] == 0:
                    out[row, n - 1, _KEPT] += hs
                if hs > hr:
                    out[row, n - 1, _SURPLUS] += hs - hr
                if s[g] == 0:
                    out[row, n - 1, _GAINED] += hr
                if more > 0:
                    out[row, n - 1, _ADDED] += hg if hg < more else more
                elif more < 0:
                    out[row, n - 1, _LEFT] += hg if hg < -more else -more
        for p in range(own):
            h[distinct[p]] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _gather(
    source: cython.longlong[::1],
    source_at: cython.longlong[::1],
    hypothesis: cython.longlong[::1],
    hypothesis_at: cython.longlong[::1],
    reference: cython.longlong[::1],
    reference_at: cython.longlong[::1],
    i: cython.Py_ssize_t,
    systems: cython.Py_ssize_t,
    k0: cython.Py_ssize_t,
    k1: cython.Py_ssize_t,
    tokens: cython.longlong[::1],
    starts: cython.longlong[::1],
    grams: cython.longlong[::1],
) -> cython.void:
    """Lay hypotheses, source and references of sentence ``i`` one behind the other."""
    sentences: cython.Py_ssize_t = source_at.shape[0] - 1
    length: cython.Py_ssize_t = 0
    p: cython.Py_ssize_t
    k: cython.Py_ssize_t
    starts[0] = 0
    for k in range(systems):
        for p in range(hypothesis_at[k * sentences + i], hypothesis_at[k * sentences + i + 1]):
            tokens[length] = hypothesis[p]
            length += 1
        starts[k + 1] = length
    for p in range(source_at[i], source_at[i + 1]):
        tokens[length] = source[p]
        length += 1
    starts[systems + 1] = length
    for k in range(k0, k1):
        for p in range(reference_at[k], reference_at[k + 1]):
            tokens[length] = reference[p]
            length += 1
        starts[systems + 2 + k - k0] = length
    for p in range(length):
        grams[p] = 0


def overlaps(
    source: cython.longlong[::1],
    source_at: cython.longlong[::1],
    hypothesis: cython.longlong[::1],
    hypothesis_at: cython.longlong[::1],
    reference: cython.longlong[::1],
    reference_at: cython.longlong[::1],
    first: cython.longlong[::1],
    order: cython.Py_ssize_t,
    merged: cython.bint,
):
    """The figures above as ``[pair, n - 1, figure]`` for n = 1..order.

    The references of sentence ``i`` are ``first[i]:first[i + 1]``. A pair is a reference, or,
    ``merged``, a sentence with the union (largest count) of its references. Hypotheses may be those
    of several systems, one system behind the other; so are the pairs then. Work common to all
    systems is counted once.
    """
    offsets("source_at", source_at, len(source))
    sentences: cython.Py_ssize_t = source_at.shape[0] - 1
    systems: cython.Py_ssize_t = (len(hypothesis_at) - 1) // sentences if sentences else 1
    offsets("hypothesis_at", hypothesis_at, len(hypothesis), systems * sentences)
    offsets("reference_at", reference_at, len(reference))
    offsets("first", first, len(reference_at) - 1, len(source_at) - 1)
    within("source", source, LARGEST)
    within("hypothesis", hypothesis, LARGEST)
    within("reference", reference, LARGEST)
    within("order", order, 1001, 1)
    pairs: cython.Py_ssize_t = sentences if merged else reference_at.shape[0] - 1
    lengths = np.diff(hypothesis_at).reshape(systems, sentences).sum(axis=0) + np.diff(source_at)
    at = np.asarray(reference_at)[np.asarray(first)]
    longest: cython.Py_ssize_t = int(np.max(lengths + np.diff(at), initial=0))
    most: cython.Py_ssize_t = int(np.max(np.diff(first), initial=1))
    size: cython.longlong = 16
    while size < 2 * longest:
        size *= 2
    mask: cython.longlong = size - 1
    result = np.zeros((systems * pairs, order, _FIGURES), np.int64)
    out: cython.longlong[:, :, ::1] = result
    table = np.zeros((4, size), np.int64)
    prefixes: cython.longlong[::1] = table[0]
    lasts: cython.longlong[::1] = table[1]
    numbers: cython.longlong[::1] = table[2]
    stamps: cython.longlong[::1] = table[3]
    scratch = np.zeros((5, longest + 1), np.int64)
    tokens: cython.longlong[::1] = scratch[0]
    grams: cython.longlong[::1] = scratch[1]
    h: cython.longlong[::1] = scratch[2]
    s: cython.longlong[::1] = scratch[3]
    distinct: cython.longlong[::1] = scratch[4]
    r: cython.longlong[:, ::1] = np.zeros((most, longest + 1), np.int64)
    starts: cython.longlong[::1] = np.zeros(systems + most + 2, np.int64)
    stamp: cython.longlong = 0
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    n: cython.Py_ssize_t
    g: cython.Py_ssize_t
    k0: cython.Py_ssize_t
    k1: cython.Py_ssize_t
    known: cython.Py_ssize_t
    with cython.nogil:
        for i in range(sentences):
            k0 = first[i]
            k1 = first[i + 1]
            _gather(
                source,
                source_at,
                hypothesis,
                hypothesis_at,
                reference,
                reference_at,
                i,
                systems,
                k0,
                k1,
                tokens,
                starts,
                grams,
            )
            for n in range(1, order + 1):
                stamp += 1
                known = _number(
                    tokens,
                    starts,
                    systems + 1 + k1 - k0,
                    n,
                    grams,
                    prefixes,
                    lasts,
                    numbers,
                    stamps,
                    stamp,
                    mask,
                )
                _tally(grams, starts[systems], starts[systems + 1] - n + 1, s, known)
                for g in range(known if merged and k0 == k1 else 0):
                    r[0, g] = 0  # the union of none
                for k in range(k1 - k0):
                    _tally(
                        grams, starts[systems + 1 + k], starts[systems + 2 + k] - n + 1, r[k], known
                    )
                    if merged and k > 0:
                        for g in range(known):
                            if r[k, g] > r[0, g]:
                                r[0, g] = r[k, g]
                _compare(
                    grams,
                    starts,
                    n,
                    h,
                    s,
                    r,
                    distinct,
                    known,
                    1 if merged else k1 - k0,
                    systems,
                    pairs,
                    i if merged else k0,
                    out,
                )
    return result
