"""Three-way alignment of source, hypothesis and reference, a batch at a time.

Sum-of-pairs costs as in I-measure (Felice & Briscoe 2015): in every column each pair of tokens
costs 0 if equal and 3 if not, a token against a gap 2, two gaps 0. ``D(i, j, k)`` is the least
cost of aligning the first i, j, k tokens; the path is read from the end, taking the first of
these steps that keeps the cost: all three tokens, source + hypothesis, source + reference,
hypothesis + reference, source, hypothesis, reference.

Pruning (Carrillo & Lipman 1988). A path through (i, j, k) costs at least the sum over the three
pairs of the best pairwise alignment through that pair's coordinates. With ``e`` the excess of
such an alignment over the pair's optimum and ``delta`` a guess at how far the three-way optimum
lies above the sum of the three pairwise optima, only cells with ``e_sh(i, j) + e_sr(i, k) +
e_hr(j, k) <= delta`` are visited. If the optimum lies within the guess, every optimal path lies
inside; the value found tells whether it does, and if not the guess grows. Nothing changes in the
path taken: every cell on an optimal path has its true D, because all its optimal predecessors
are inside, and any other cell has a D that is too large or true, so that a step that the full
table refuses is refused here too. Any superset of the cells does as well, so that for each
(i, j) one interval of k is kept. The guess never needs to exceed twice the least of the three
pairwise optima: aligning two sentences through the third costs no more, by the triangle
inequality.

Memory: one byte (the step) for each visited cell, two planes of D, tables for the pairs.
Where the bytes would exceed ``limit``, they are kept for a part of the sentence at a time, and
D at the beginning of each part, from which the part is filled again on the way back.
"""

import cython
import numpy as np

GAP = cython.declare(cython.int, 2)
MISMATCH = cython.declare(cython.int, 3)
LONE = cython.declare(cython.int, 4)  # a token against two gaps
FAR = cython.declare(cython.int, 1 << 29)

# Kinds of column: what stands in the source, hypothesis and reference rows.
UNCHANGED = cython.declare(cython.int, 0)  # all equal
MISSED = cython.declare(cython.int, 1)  # source = hypothesis, the reference differs
NEEDLESS = cython.declare(cython.int, 2)  # source = reference, the hypothesis differs
RIGHT = cython.declare(cython.int, 3)  # hypothesis = reference, the source differs
WRONG = cython.declare(cython.int, 4)  # all differ
COST = cython.declare(cython.int, 5)  # not a column: what the alignment costs


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.inline
def unlike(x: cython.int, y: cython.int) -> cython.int:
    """What it costs to align two tokens."""
    return 0 if x == y else MISMATCH


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def same(
    x: cython.int[::1],
    x0: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    y: cython.int[::1],
    y0: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
) -> cython.bint:
    """Whether two sentences are equal."""
    i: cython.Py_ssize_t
    if m != n:
        return False
    for i in range(m):  # noqa: SIM110 (compiled without the interpreter)
        if x[x0 + i] != y[y0 + i]:
            return False
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def prefixes(
    x: cython.int[::1],
    x0: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    y: cython.int[::1],
    y0: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    table: cython.int[::1],
) -> cython.int:
    """Fill ``table[i * (n + 1) + j]`` with the cost of aligning i and j tokens; the last one."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    at: cython.Py_ssize_t
    width: cython.Py_ssize_t = n + 1
    token: cython.int
    best: cython.int
    cost: cython.int
    for j in range(width):
        table[j] = cython.cast(cython.int, GAP * j)
    for i in range(1, m + 1):
        at = i * width
        token = x[x0 + i - 1]
        best = cython.cast(cython.int, GAP * i)
        table[at] = best
        for j in range(1, width):
            best = best + GAP
            cost = table[at - width + j - 1] + (0 if token == y[y0 + j - 1] else MISMATCH)
            if cost < best:
                best = cost
            cost = table[at - width + j] + GAP
            if cost < best:
                best = cost
            table[at + j] = best
    return table[m * width + n]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def excess(
    x: cython.int[::1],
    x0: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    y: cython.int[::1],
    y0: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    table: cython.int[::1],
    row: cython.int[::1],
) -> cython.int:
    """Fill ``table`` with what the best alignment through (i, j) costs above the optimum."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    at: cython.Py_ssize_t
    width: cython.Py_ssize_t = n + 1
    token: cython.int
    best: cython.int
    below: cython.int
    diagonal: cython.int
    optimum: cython.int = prefixes(x, x0, m, y, y0, n, table)
    at = m * width
    for j in range(width):
        row[j] = cython.cast(cython.int, GAP * (n - j))
        table[at + j] += row[j] - optimum
    i = m - 1
    while i >= 0:
        at = i * width
        token = x[x0 + i]
        diagonal = row[n]
        best = diagonal + GAP
        row[n] = best
        table[at + n] += best - optimum
        j = n - 1
        while j >= 0:
            below = row[j]
            best = best + GAP
            if below + GAP < best:
                best = below + GAP
            diagonal = diagonal + (0 if token == y[y0 + j] else MISMATCH)
            if diagonal < best:
                best = diagonal
            diagonal = below
            row[j] = best
            table[at + j] += best - optimum
            j -= 1
        i -= 1
    return optimum


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def count_pair(
    x: cython.int[::1],
    x0: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    y: cython.int[::1],
    y0: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    second_first: cython.bint,
    kind: cython.int,
    table: cython.int[::1],
    found: cython.int[::1],
) -> cython.void:
    """Count the columns of a pairwise alignment: equal ones and others, which are of ``kind``.

    Read from the end: both tokens, then one of the first sentence (or of the second, with
    ``second_first``), then one of the other.
    """
    width: cython.Py_ssize_t = n + 1
    i: cython.Py_ssize_t = m
    j: cython.Py_ssize_t = n
    here: cython.int
    cost: cython.int
    found[COST] = 2 * prefixes(x, x0, m, y, y0, n, table)
    while i > 0 or j > 0:
        here = table[i * width + j]
        if i > 0 and j > 0:
            cost = unlike(x[x0 + i - 1], y[y0 + j - 1])
            if here == table[(i - 1) * width + j - 1] + cost:
                i -= 1
                j -= 1
                if cost == 0:
                    found[UNCHANGED] += 1
                else:
                    found[kind] += 1
                continue
        found[kind] += 1
        if second_first:
            if j > 0 and here == table[i * width + j - 1] + GAP:
                j -= 1
            else:
                i -= 1
        elif i > 0 and here == table[(i - 1) * width + j] + GAP:
            i -= 1
        else:
            j -= 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def region(
    n1: cython.Py_ssize_t,
    n2: cython.Py_ssize_t,
    n3: cython.Py_ssize_t,
    delta: cython.int,
    e12: cython.int[::1],
    e13: cython.int[::1],
    e23: cython.int[::1],
    low: cython.int[::1],
    high: cython.int[::1],
    at: cython.longlong[::1],
    ends: cython.int[:, ::1],
) -> cython.longlong:
    """Find the interval of k for each (i, j) and where its cells stand; the number of cells."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    row: cython.Py_ssize_t
    first: cython.int
    last: cython.int
    rest: cython.int
    cells: cython.longlong = 0
    for j in range(n2 + 1):
        first = 0
        last = cython.cast(cython.int, n3)
        row = j * (n3 + 1)
        while first <= last and e23[row + first] > delta:
            first += 1
        while first <= last and e23[row + last] > delta:
            last -= 1
        ends[0, j] = first
        ends[1, j] = last
    for i in range(n1 + 1):
        for j in range(n2 + 1):
            row = i * (n2 + 1) + j
            at[row] = cells
            low[row] = 1
            high[row] = 0
            rest = delta - e12[row]
            if rest < 0:
                continue
            first = ends[0, j]
            last = ends[1, j]
            while first <= last and (e13[i * (n3 + 1) + first] + e23[j * (n3 + 1) + first] > rest):
                first += 1
            while first <= last and (e13[i * (n3 + 1) + last] + e23[j * (n3 + 1) + last] > rest):
                last -= 1
            low[row] = first
            high[row] = last
            if first <= last:
                cells += last - first + 1
    at[(n1 + 1) * (n2 + 1)] = cells
    return cells


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def fill(
    a: cython.int[::1],
    a0: cython.Py_ssize_t,
    b: cython.int[::1],
    b0: cython.Py_ssize_t,
    n2: cython.Py_ssize_t,
    c: cython.int[::1],
    c0: cython.Py_ssize_t,
    n3: cython.Py_ssize_t,
    i: cython.Py_ssize_t,
    low: cython.int[::1],
    high: cython.int[::1],
    at: cython.longlong[::1],
    base: cython.longlong,
    steps: cython.uchar[::1],
    planes: cython.int[:, ::1],
) -> cython.void:
    """Fill plane i of D from plane i - 1; the steps too, unless ``base`` is negative."""
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    row: cython.Py_ssize_t
    here: cython.Py_ssize_t = i & 1
    there: cython.Py_ssize_t = 1 - here
    width: cython.Py_ssize_t = n3 + 1
    step: cython.int
    best: cython.int
    cost: cython.int
    ab: cython.int
    ac: cython.int
    bc: cython.int
    s: cython.int = a[a0 + i - 1] if i > 0 else -1
    h: cython.int
    r: cython.int
    low_i: cython.int
    high_i: cython.int
    low_j: cython.int
    high_j: cython.int
    low_ij: cython.int
    high_ij: cython.int
    for j in range(n2 + 1):
        row = i * (n2 + 1) + j
        if low[row] > high[row]:
            continue
        h = b[b0 + j - 1] if j > 0 else -2
        low_i = low[row - n2 - 1] if i > 0 else 1
        high_i = high[row - n2 - 1] if i > 0 else 0
        low_j = low[row - 1] if j > 0 else 1
        high_j = high[row - 1] if j > 0 else 0
        low_ij = low[row - n2 - 2] if i > 0 and j > 0 else 1
        high_ij = high[row - n2 - 2] if i > 0 and j > 0 else 0
        ab = unlike(s, h)
        for k in range(low[row], high[row] + 1):
            best = 0 if i + j + k == 0 else FAR
            step = 0
            r = c[c0 + k - 1] if k > 0 else -3
            ac = unlike(s, r)
            bc = unlike(h, r)
            if low_ij <= k - 1 <= high_ij:
                cost = planes[there, (j - 1) * width + k - 1] + ab + ac + bc
                if cost < best:
                    best = cost
                    step = 7
            if low_ij <= k <= high_ij:
                cost = planes[there, (j - 1) * width + k] + ab + LONE
                if cost < best:
                    best = cost
                    step = 3
            if low_i <= k - 1 <= high_i:
                cost = planes[there, j * width + k - 1] + ac + LONE
                if cost < best:
                    best = cost
                    step = 5
            if low_j <= k - 1 <= high_j:
                cost = planes[here, (j - 1) * width + k - 1] + bc + LONE
                if cost < best:
                    best = cost
                    step = 6
            if low_i <= k <= high_i:
                cost = planes[there, j * width + k] + LONE
                if cost < best:
                    best = cost
                    step = 1
            if low_j <= k <= high_j:
                cost = planes[here, (j - 1) * width + k] + LONE
                if cost < best:
                    best = cost
                    step = 2
            if k > low[row]:
                cost = planes[here, j * width + k - 1] + LONE
                if cost < best:
                    best = cost
                    step = 4
            planes[here, j * width + k] = best
            if base >= 0:
                steps[at[row] - base + k - low[row]] = cython.cast(cython.uchar, step)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def kind_of(step: cython.int, s: cython.int, h: cython.int, r: cython.int) -> cython.int:
    """The kind of a column; ``step`` has a bit for each sentence that has a token in it."""
    if step & 1 == 0:
        s = -1
    if step & 2 == 0:
        h = -1
    if step & 4 == 0:
        r = -1
    if s == h:
        return UNCHANGED if h == r else MISSED
    if s == r:
        return NEEDLESS
    return RIGHT if h == r else WRONG


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def walk(
    a: cython.int[::1],
    a0: cython.Py_ssize_t,
    n1: cython.Py_ssize_t,
    b: cython.int[::1],
    b0: cython.Py_ssize_t,
    n2: cython.Py_ssize_t,
    c: cython.int[::1],
    c0: cython.Py_ssize_t,
    n3: cython.Py_ssize_t,
    low: cython.int[::1],
    high: cython.int[::1],
    at: cython.longlong[::1],
    steps: cython.uchar[::1],
    planes: cython.int[:, ::1],
    saved: cython.int[::1],
    starts: cython.int[::1],
    parts: cython.Py_ssize_t,
    found: cython.int[::1],
) -> cython.void:
    """Count the columns of the path, from the end; fill each part of the steps when needed."""
    i: cython.Py_ssize_t = n1
    j: cython.Py_ssize_t = n2
    k: cython.Py_ssize_t = n3
    x: cython.Py_ssize_t
    row: cython.Py_ssize_t
    plane: cython.Py_ssize_t = (n2 + 1) * (n3 + 1)
    part: cython.Py_ssize_t = parts - 1
    base: cython.longlong = at[starts[part] * (n2 + 1)]
    step: cython.int
    while i > 0 or j > 0 or k > 0:
        if i < starts[part]:
            part -= 1
            base = at[starts[part] * (n2 + 1)]
            if part > 0:
                for x in range(plane):
                    planes[(starts[part] - 1) & 1, x] = saved[(part - 1) * plane + x]
            for x in range(starts[part], starts[part + 1]):
                fill(a, a0, b, b0, n2, c, c0, n3, x, low, high, at, base, steps, planes)
        row = i * (n2 + 1) + j
        step = steps[at[row] - base + k - low[row]]
        found[
            kind_of(
                step,
                a[a0 + i - 1] if i > 0 else -1,
                b[b0 + j - 1] if j > 0 else -1,
                c[c0 + k - 1] if k > 0 else -1,
            )
        ] += 1
        i -= step & 1
        j -= (step >> 1) & 1
        k -= step >> 2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def plan(
    n1: cython.Py_ssize_t,
    n2: cython.Py_ssize_t,
    at: cython.longlong[::1],
    limit: cython.longlong,
    starts: cython.int[::1],
) -> cython.Py_ssize_t:
    """Divide the planes into parts whose steps fit ``limit`` (or of one plane); how many."""
    i: cython.Py_ssize_t
    parts: cython.Py_ssize_t = 1
    starts[0] = 0
    for i in range(1, n1 + 1):
        if at[(i + 1) * (n2 + 1)] - at[starts[parts - 1] * (n2 + 1)] > limit:
            starts[parts] = cython.cast(cython.int, i)
            parts += 1
    return parts


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def three(
    a: cython.int[::1],
    a0: cython.Py_ssize_t,
    n1: cython.Py_ssize_t,
    b: cython.int[::1],
    b0: cython.Py_ssize_t,
    n2: cython.Py_ssize_t,
    c: cython.int[::1],
    c0: cython.Py_ssize_t,
    n3: cython.Py_ssize_t,
    tables: cython.int[:, ::1],
    low: cython.int[::1],
    high: cython.int[::1],
    at: cython.longlong[::1],
    ends: cython.int[:, ::1],
    steps: cython.uchar[::1],
    planes: cython.int[:, ::1],
    saved: cython.int[::1],
    starts: cython.int[::1],
    need: cython.longlong[::1],
    limit: cython.longlong,
    found: cython.int[::1],
) -> cython.bint:
    """Align one triple and count its columns; False where ``need`` says what memory it takes."""
    e12: cython.int[::1] = tables[0]
    e13: cython.int[::1] = tables[1]
    e23: cython.int[::1] = tables[2]
    o12: cython.int = excess(a, a0, n1, b, b0, n2, e12, ends[0])
    o13: cython.int = excess(a, a0, n1, c, c0, n3, e13, ends[0])
    o23: cython.int = excess(b, b0, n2, c, c0, n3, e23, ends[0])
    least: cython.int = o12 + o13 + o23
    enough: cython.int = 2 * min(o12, o13, o23)
    delta: cython.int = 0
    grown: cython.int
    total: cython.int
    parts: cython.Py_ssize_t
    part: cython.Py_ssize_t
    i: cython.Py_ssize_t
    x: cython.Py_ssize_t
    plane: cython.Py_ssize_t = (n2 + 1) * (n3 + 1)
    most: cython.longlong
    while True:
        need[2] += region(n1, n2, n3, delta, e12, e13, e23, low, high, at, ends)
        need[3] += 1
        parts = plan(n1, n2, at, limit, starts)
        most = 0
        for part in range(parts):
            i = starts[part + 1] if part + 1 < parts else n1 + 1
            if at[i * (n2 + 1)] - at[starts[part] * (n2 + 1)] > most:
                most = at[i * (n2 + 1)] - at[starts[part] * (n2 + 1)]
        if most > steps.shape[0] or (parts - 1) * plane > saved.shape[0]:
            need[0] = most
            need[1] = (parts - 1) * plane
            return False
        part = 0
        for i in range(n1 + 1):
            if part + 1 < parts and i == starts[part + 1]:
                for x in range(plane):
                    saved[part * plane + x] = planes[(i - 1) & 1, x]
                part += 1
            fill(
                a,
                a0,
                b,
                b0,
                n2,
                c,
                c0,
                n3,
                i,
                low,
                high,
                at,
                at[starts[part] * (n2 + 1)] if part == parts - 1 else -1,
                steps,
                planes,
            )
        i = n1 * (n2 + 1) + n2
        total = planes[n1 & 1, n2 * (n3 + 1) + n3] if low[i] <= high[i] else FAR
        if total <= least + delta:
            break
        grown = 4 if delta == 0 else 2 * delta
        if total < FAR and total - least < grown:
            grown = total - least
        delta = grown if grown < enough else enough
    found[COST] = total
    walk(a, a0, n1, b, b0, n2, c, c0, n3, low, high, at, steps, planes, saved, starts, parts, found)
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def run(
    ids: cython.int[::1],
    offsets: cython.longlong[::1],
    triples: cython.longlong[:, ::1],
    first: cython.Py_ssize_t,
    tables: cython.int[:, ::1],
    low: cython.int[::1],
    high: cython.int[::1],
    at: cython.longlong[::1],
    ends: cython.int[:, ::1],
    steps: cython.uchar[::1],
    planes: cython.int[:, ::1],
    saved: cython.int[::1],
    starts: cython.int[::1],
    need: cython.longlong[::1],
    limit: cython.longlong,
    found: cython.int[:, ::1],
) -> cython.Py_ssize_t:
    """Align the triples from ``first`` on; the first one that needs more memory, or the end."""
    t: cython.Py_ssize_t
    a0: cython.Py_ssize_t
    b0: cython.Py_ssize_t
    c0: cython.Py_ssize_t
    n1: cython.Py_ssize_t
    n2: cython.Py_ssize_t
    n3: cython.Py_ssize_t
    for t in range(first, triples.shape[0]):
        a0 = offsets[triples[t, 0]]
        b0 = offsets[triples[t, 1]]
        c0 = offsets[triples[t, 2]]
        n1 = offsets[triples[t, 0] + 1] - a0
        n2 = offsets[triples[t, 1] + 1] - b0
        n3 = offsets[triples[t, 2] + 1] - c0
        if same(ids, a0, n1, ids, b0, n2):
            count_pair(ids, a0, n1, ids, c0, n3, False, MISSED, tables[0], found[t])
        elif same(ids, a0, n1, ids, c0, n3):
            count_pair(ids, a0, n1, ids, b0, n2, False, NEEDLESS, tables[0], found[t])
        elif same(ids, b0, n2, ids, c0, n3):
            count_pair(ids, a0, n1, ids, b0, n2, True, RIGHT, tables[0], found[t])
        elif not three(
            ids,
            a0,
            n1,
            ids,
            b0,
            n2,
            ids,
            c0,
            n3,
            tables,
            low,
            high,
            at,
            ends,
            steps,
            planes,
            saved,
            starts,
            need,
            limit,
            found[t],
        ):
            return t
    return triples.shape[0]


def count_columns(ids: object, offsets: object, triples: object, limit: int = 1 << 25) -> tuple:
    """Columns of each kind in the three-way alignment of each triple, and what it costs.

    ``ids`` and ``offsets`` hold sentences as `errata.data.Tokens` does; ``triples[t]`` names
    source, hypothesis and reference. Where two of them are equal, one pairwise alignment does:
    a column that sets the equal ones apart would cost more, and the steps that remain are in the
    same order. Returns ``[triple, (unchanged, missed, needless, right, wrong, cost)]`` and the
    number of cells visited. ``limit`` bounds the bytes kept for steps.
    """
    triples = np.ascontiguousarray(triples, np.int64).reshape(-1, 3)
    found = np.zeros((len(triples), 6), np.int32)
    if not len(triples):
        return found, 0
    lengths = np.diff(offsets)[triples].max(axis=0) + 1
    pairs = max(lengths[0] * lengths[1], lengths[0] * lengths[2], lengths[1] * lengths[2])
    tables = np.empty((3, pairs), np.int32)
    low = np.empty(pairs, np.int32)
    high = np.empty(pairs, np.int32)
    at = np.empty(pairs + 1, np.int64)
    ends = np.empty((2, lengths.max() + 1), np.int32)
    planes = np.empty((2, pairs), np.int32)
    starts = np.empty(lengths.max() + 2, np.int32)
    steps = np.empty(1 << 16, np.uint8)
    saved = np.empty(0, np.int32)
    need = np.zeros(4, np.int64)
    done = 0
    while True:
        done = _run(
            ids,
            offsets,
            triples,
            done,
            tables,
            low,
            high,
            at,
            ends,
            steps,
            planes,
            saved,
            starts,
            need,
            limit,
            found,
        )
        if done == len(triples):
            return found, int(need[2])
        if need[0] > len(steps):
            steps = np.empty(
                min(max(int(need[0]), 2 * len(steps)), max(limit, int(need[0]))), np.uint8
            )
        if need[1] > len(saved):
            saved = np.empty(int(need[1]), np.int32)


def _run(
    ids: cython.int[::1],
    offsets: cython.longlong[::1],
    triples: cython.longlong[:, ::1],
    first: cython.Py_ssize_t,
    tables: cython.int[:, ::1],
    low: cython.int[::1],
    high: cython.int[::1],
    at: cython.longlong[::1],
    ends: cython.int[:, ::1],
    steps: cython.uchar[::1],
    planes: cython.int[:, ::1],
    saved: cython.int[::1],
    starts: cython.int[::1],
    need: cython.longlong[::1],
    limit: cython.longlong,
    found: cython.int[:, ::1],
):
    """`run` for callers that hold the interpreter lock, which it lets go."""
    done: cython.Py_ssize_t
    with cython.nogil:
        done = run(
            ids,
            offsets,
            triples,
            first,
            tables,
            low,
            high,
            at,
            ends,
            steps,
            planes,
            saved,
            starts,
            need,
            limit,
            found,
        )
    return done
