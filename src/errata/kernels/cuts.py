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

GAP = cython.declare(cython.int, 2)
MISMATCH = cython.declare(cython.int, 3)
LONE = cython.declare(cython.int, 4)
FAR = cython.declare(cython.int, 1 << 28)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def relax(
    a: cython.int[::1],
    b: cython.int[::1],
    r: cython.int,
    low: cython.int[::1],
    high: cython.int[::1],
    at: cython.longlong[::1],
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
        first = low[i] if low[i] > j0 else j0
        last = high[i] if high[i] < j1 else j1
        s = a[i - 1] if i > i0 else -2
        for j in range(first, last + 1):
            here = at[i] + j - low[i]
            h = b[j - 1] if j > j0 else -3
            ab = 0 if s == h else MISMATCH
            best = old[here] if r < 0 else old[here] + LONE
            if i > i0:
                above = at[i - 1] + j - low[i - 1]
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
def fill_planes(
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
    work: cython.int[:, ::1],
    found: cython.int[:, ::1],
) -> cython.void:
    """Fill ``found[m, cell]`` for every node m, and ``found[m, cells]`` with nothing."""
    n1: cython.int = cython.cast(cython.int, a.shape[0])
    n2: cython.int = cython.cast(cython.int, b.shape[0])
    cells: cython.Py_ssize_t = work.shape[1]
    m: cython.Py_ssize_t
    o: cython.Py_ssize_t
    t: cython.Py_ssize_t
    x: cython.Py_ssize_t
    now: cython.Py_ssize_t
    through: cython.int
    i: cython.int
    j: cython.int
    for x in range(cells):
        work[0, x] = FAR
    work[0, 0] = 0
    relax(a, b, -1, low, high, at, 0, n1, 0, n2, work[0], found[0])
    for m in range(xi.shape[0] - 1):
        for x in range(cells):
            found[m + 1, x] = FAR
        for o in range(stages[m], stages[m + 1]):
            # What the best alignment between the two points costs ...
            for i in range(xi[m], xi[m + 1] + 1):
                for x in range(at[i], at[i + 1]):
                    work[0, x] = FAR
            work[0, at[xi[m]] + xj[m] - low[xi[m]]] = 0
            now = 1
            relax(a, b, -1, low, high, at, xi[m], xi[m + 1], xj[m], xj[m + 1], work[0], work[1])
            for t in range(options[o], options[o + 1]):
                relax(
                    a,
                    b,
                    tokens[t],
                    low,
                    high,
                    at,
                    xi[m],
                    xi[m + 1],
                    xj[m],
                    xj[m + 1],
                    work[now],
                    work[1 - now],
                )
                now = 1 - now
            through = work[now, at[xi[m + 1]] + xj[m + 1] - low[xi[m + 1]]]
            # ... and any other, less that.
            for x in range(cells):
                work[0, x] = found[m, x]
            now = 0
            for t in range(options[o], options[o + 1]):
                relax(a, b, tokens[t], low, high, at, 0, n1, 0, n2, work[now], work[1 - now])
                now = 1 - now
            for x in range(cells):
                j = work[now, x] - through
                if j < found[m + 1, x]:
                    found[m + 1, x] = j


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
    cells = int(at[len(low)])
    found_array = np.empty((len(xi), cells), np.int32)
    work_array = np.empty((2, cells), np.int32)
    found: cython.int[:, ::1] = found_array
    work: cython.int[:, ::1] = work_array
    with cython.nogil:
        fill_planes(a, b, low, high, at, xi, xj, stages, options, tokens, work, found)
    return found_array


def band(a: cython.int[::1], b: cython.int[::1]):
    """The band of the source-hypothesis table that alignments can use, and a way through it.

    An optimal three-way alignment costs at most twice the pairwise optimum above the sum of the
    three pairwise optima, so that no point further above the optimum than that lies on one.
    Returns ``low``, ``high``, ``at`` (columns and cells of each row), and for each i the first
    and the last j of one optimal pairwise alignment.
    """
    m: cython.Py_ssize_t = len(a)
    n: cython.Py_ssize_t = len(b)
    table_array = np.empty((2, (m + 1) * (n + 1)), np.int32)
    table: cython.int[:, ::1] = table_array
    with cython.nogil:
        fill_tables(a, b, m, n, table)
    through = (table_array[0] + table_array[1]).reshape(m + 1, n + 1)
    inside = through <= 3 * int(through[0, 0])
    low = inside.argmax(axis=1).astype(np.int32)
    high = (n - inside[:, ::-1].argmax(axis=1)).astype(np.int32)
    at = np.concatenate([[0], np.cumsum(high - low + 1)]).astype(np.int64)
    first = np.empty(m + 1, np.int32)
    last = np.empty(m + 1, np.int32)
    follow(a, b, m, n, table, first, last)
    return low, high, at, first, last


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def fill_tables(
    a: cython.int[::1],
    b: cython.int[::1],
    m: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    table: cython.int[:, ::1],
) -> cython.void:
    """Pairwise costs up to each point, and from each point on."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    w: cython.Py_ssize_t = n + 1
    best: cython.int
    for i in range(m + 1):
        for j in range(w):
            best = 0 if i + j == 0 else FAR
            if i > 0:
                best = min(best, table[0, (i - 1) * w + j] + GAP)
            if j > 0:
                best = min(best, table[0, i * w + j - 1] + GAP)
            if i > 0 and j > 0:
                best = min(
                    best, table[0, (i - 1) * w + j - 1] + (0 if a[i - 1] == b[j - 1] else MISMATCH)
                )
            table[0, i * w + j] = best
    i = m
    while i >= 0:
        j = n
        while j >= 0:
            best = 0 if i == m and j == n else FAR
            if i < m:
                best = min(best, table[1, (i + 1) * w + j] + GAP)
            if j < n:
                best = min(best, table[1, i * w + j + 1] + GAP)
            if i < m and j < n:
                best = min(best, table[1, (i + 1) * w + j + 1] + (0 if a[i] == b[j] else MISMATCH))
            table[1, i * w + j] = best
            j -= 1
        i -= 1


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
def follow(
    a: cython.int[::1],
    b: cython.int[::1],
    m: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    table: cython.int[:, ::1],
    first: cython.int[::1],
    last: cython.int[::1],
) -> cython.void:
    """One optimal pairwise alignment: the first and last j at each i."""
    i: cython.Py_ssize_t = m
    j: cython.Py_ssize_t = n
    w: cython.Py_ssize_t = n + 1
    here: cython.int
    last[m] = cython.cast(cython.int, n)
    while i > 0 or j > 0:
        here = table[0, i * w + j]
        if (
            i > 0
            and j > 0
            and here == table[0, (i - 1) * w + j - 1] + (0 if a[i - 1] == b[j - 1] else MISMATCH)
        ):
            first[i] = cython.cast(cython.int, j)
            i -= 1
            j -= 1
            last[i] = cython.cast(cython.int, j)
        elif i > 0 and here == table[0, (i - 1) * w + j] + GAP:
            first[i] = cython.cast(cython.int, j)
            i -= 1
            last[i] = cython.cast(cython.int, j)
        else:
            j -= 1
    first[0] = 0
