"""Where the three-way alignments of all mixtures of corrections can be cut in the same place.

A chain is a sequence of stages, each a list of optional token sequences; every way of taking
one from each stage is a reference. Between stages stand nodes; node m has a point
``X = (xi[m], xj[m])`` in source and hypothesis. `planes` finds, for every node and every point
(i, j), the least, over all references up to the node and all partial alignments ending at
(i, j), of the cost of the alignment minus that of the best one through the points X of all nodes
before. The stages are taken one after the other, so that the work grows with the sum of the
options and not with their product. See `errata.metrics.imeasure.mixtures` for what follows from it.

Only points that lie in a band of the source-hypothesis table are looked at.
"""

import cython
import numpy as np

from errata.kernels._doors import LARGEST, offsets, refuse, same_size, shaped, within

# What a column costs, as in `errata.kernels.threeway`.
MISMATCH = cython.declare(cython.const_int, 3)
LONE = cython.declare(cython.const_int, 4)
FAR = cython.declare(cython.const_int, 1 << 28)


@cython.cclass
class _Band:
    """Source and hypothesis, and the cells of their table that are looked at (see `planes`)."""

    a: cython.int[::1]
    b: cython.int[::1]
    low: cython.int[::1]
    high: cython.int[::1]
    at: cython.longlong[::1]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _relax(
    band: _Band,
    r: cython.int,
    i0: cython.int,
    i1: cython.int,
    j0: cython.int,
    j1: cython.int,
    old: cython.int[::1],
    new: cython.int[::1],
) -> cython.void:
    """Go on by one token ``r`` of the reference (-1: by none) in rows i0..i1, columns j0..j1."""
    i: cython.int
    j: cython.int
    here: cython.longlong
    above: cython.longlong
    row: cython.longlong = 0  # where cell (i, 0) would stand
    row_above: cython.longlong
    first: cython.int
    last: cython.int
    first_above: cython.int = 1
    last_above: cython.int = 0
    best: cython.int
    cost: cython.int
    s: cython.int
    h: cython.int
    ab: cython.int
    ac: cython.int
    bc: cython.int
    for i in range(i0, i1 + 1):
        row_above = row
        row = band.at[i] - band.low[i]
        first = band.low[i] if band.low[i] > j0 else j0
        last = band.high[i] if band.high[i] < j1 else j1
        s = band.a[i - 1] if i > i0 else -2
        for j in range(first, last + 1):
            here = row + j
            h = band.b[j - 1] if j > j0 else -3
            ab = 0 if s == h else MISMATCH
            best = old[here] if r < 0 else old[here] + LONE
            if i > i0:
                above = row_above + j
                if first_above <= j <= last_above:
                    cost = new[above] + LONE
                    if cost < best:
                        best = cost
                    if r >= 0:
                        cost = old[above] + LONE + (0 if s == r else MISMATCH)
                        if cost < best:
                            best = cost
                if first_above <= j - 1 <= last_above:
                    cost = new[above - 1] + LONE + ab
                    if cost < best:
                        best = cost
                    if r >= 0:
                        ac = 0 if s == r else MISMATCH
                        bc = 0 if h == r else MISMATCH
                        cost = old[above - 1] + ab + ac + bc
                        if cost < best:
                            best = cost
            if j > first:
                cost = new[here - 1] + LONE
                if cost < best:
                    best = cost
                if r >= 0:
                    cost = old[here - 1] + LONE + (0 if h == r else MISMATCH)
                    if cost < best:
                        best = cost
            new[here] = best if best < FAR else FAR
        first_above = first
        last_above = last


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill_planes(
    band: _Band,
    xi: cython.int[::1],
    xj: cython.int[::1],
    stages: cython.longlong[::1],
    options: cython.longlong[::1],
    tokens: cython.int[::1],
    work: cython.int[:, ::1],
    found: cython.int[:, ::1],
) -> cython.void:
    """Fill ``found[m, cell]`` for every node m."""
    n1: cython.int = cython.cast(cython.int, band.a.shape[0])
    n2: cython.int = cython.cast(cython.int, band.b.shape[0])
    cells: cython.Py_ssize_t = work.shape[1]
    m: cython.Py_ssize_t
    o: cython.Py_ssize_t
    t: cython.Py_ssize_t
    x: cython.Py_ssize_t
    now: cython.Py_ssize_t
    through: cython.int
    i0: cython.int
    i1: cython.int
    j0: cython.int
    j1: cython.int
    cost: cython.int
    for x in range(cells):
        work[0, x] = FAR
    work[0, 0] = 0
    _relax(band, -1, 0, n1, 0, n2, work[0], found[0])
    for m in range(xi.shape[0] - 1):
        i0, i1, j0, j1 = xi[m], xi[m + 1], xj[m], xj[m + 1]
        for x in range(cells):
            found[m + 1, x] = FAR
        for o in range(stages[m], stages[m + 1]):
            # What the best alignment between the two points costs ...
            for x in range(band.at[i0], band.at[i1 + 1]):
                work[0, x] = FAR
            work[0, band.at[i0] + j0 - band.low[i0]] = 0
            now = 1
            _relax(band, -1, i0, i1, j0, j1, work[0], work[1])
            for t in range(options[o], options[o + 1]):
                _relax(band, tokens[t], i0, i1, j0, j1, work[now], work[1 - now])
                now = 1 - now
            through = work[now, band.at[i1] + j1 - band.low[i1]]
            # ... and any other, less that.
            for x in range(cells):
                work[0, x] = found[m, x]
            now = 0
            for t in range(options[o], options[o + 1]):
                _relax(band, tokens[t], 0, n1, 0, n2, work[now], work[1 - now])
                now = 1 - now
            for x in range(cells):
                cost = work[now, x] - through
                if cost < found[m + 1, x]:
                    found[m + 1, x] = cost


def planes(
    a: cython.int[::1],
    b: cython.int[::1],
    low: cython.int[::1],
    high: cython.int[::1],
    at: cython.longlong[::1],
    xi: cython.int[::1],
    xj: cython.int[::1],
    stages: cython.longlong[::1],
    options: cython.longlong[::1],
    tokens: cython.int[::1],
):
    """The planes of all nodes, ``[node, cell]``; cell (i, j) is ``at[i] + j - low[i]``.

    ``a`` and ``b`` are source and hypothesis; stage m has the options ``stages[m]`` to
    ``stages[m + 1]``, option o the tokens ``options[o]`` to ``options[o + 1]``.
    """
    same_size(low=low, high=high)
    shaped("low", low, len(a) + 1)
    rows = np.asarray(high) - np.asarray(low) + 1
    if len(at) != len(low) + 1 or at[0] != 0 or (np.diff(at) != rows).any():
        raise refuse("at must count the cells of the rows")
    within("low", low, len(b) + 1)
    within("high", high, len(b) + 1)
    within("cells of a row", rows, LARGEST, 1)
    same_size(xi=xi, xj=xj, stages=stages)
    within("nodes", len(xi), LARGEST, 1)
    within("xi", xi, len(low))
    points = np.asarray(xi), np.asarray(xj)
    outside = (points[1] < np.asarray(low)[points[0]]) | (points[1] > np.asarray(high)[points[0]])
    if outside.any() or any((np.diff(each) < 0).any() for each in points):
        raise refuse("nodes must go forward inside the band")
    offsets("stages", stages, max(0, len(options) - 1))
    offsets("options", options, len(tokens))
    within("tokens", tokens, LARGEST)
    band: _Band = _Band()
    band.a, band.b = a, b
    band.low, band.high, band.at = low, high, at
    cells = int(at[len(low)])
    planes_array = np.empty((len(xi), cells), np.int32)
    found: cython.int[:, ::1] = planes_array
    work: cython.int[:, ::1] = np.empty((2, cells), np.int32)
    with cython.nogil:
        _fill_planes(band, xi, xj, stages, options, tokens, work, found)
    return planes_array
