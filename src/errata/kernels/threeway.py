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

from errata.kernels._doors import LARGEST, within
from errata.kernels._doors import offsets as check_offsets

# Costs of a pair of tokens in a column; `errata.kernels.cuts` has the same table.
GAP = cython.declare(cython.const_int, 2)
MISMATCH = cython.declare(cython.const_int, 3)
LONE = cython.declare(cython.const_int, 4)  # a token against two gaps
FAR = cython.declare(cython.const_int, 1 << 28)  # more than any alignment costs

# Kinds of column, by the tokens in the source, hypothesis and reference rows.
UNCHANGED = cython.declare(cython.const_int, 0)  # all equal
MISSED = cython.declare(cython.const_int, 1)  # source = hypothesis, the reference differs
NEEDLESS = cython.declare(cython.const_int, 2)  # source = reference, the hypothesis differs
RIGHT = cython.declare(cython.const_int, 3)  # hypothesis = reference, the source differs
WRONG = cython.declare(cython.const_int, 4)  # all differ
COST = cython.declare(cython.const_int, 5)  # not a column: what the alignment costs

# Bits of a step: which sentences have a token in its column.
SOURCE = cython.declare(cython.const_int, 1)
HYPOTHESIS = cython.declare(cython.const_int, 2)
REFERENCE = cython.declare(cython.const_int, 4)


@cython.cclass
class _Room:
    """One triple of sentences (a, b, c), and room for the tables of the longest."""

    # the tokens of all sentences; where this triple's begin, and how many they are
    ids: cython.int[::1]
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    c: cython.Py_ssize_t
    n1: cython.Py_ssize_t
    n2: cython.Py_ssize_t
    n3: cython.Py_ssize_t
    # pairs: what the best alignment through two points costs above the optimum
    e12: cython.int[::1]
    e13: cython.int[::1]
    e23: cython.int[::1]
    row: cython.int[::1]
    # cells that are visited: the interval of k for each j at best, for each (i, j), and where the
    # cells of (i, j) stand
    first: cython.int[::1]
    last: cython.int[::1]
    low: cython.int[::1]
    high: cython.int[::1]
    at: cython.longlong[::1]
    # D in two planes, and the steps of a part of the planes; where the parts start, and D before
    # each but the first
    planes: cython.int[:, ::1]
    steps: cython.uchar[::1]
    limit: cython.longlong
    parts: cython.Py_ssize_t
    starts: cython.int[::1]
    saved: cython.int[::1]
    # how much of both is needed, where there is less; how many cells were visited in all
    steps_needed: cython.longlong
    saved_needed: cython.longlong
    visited: cython.longlong

    def __init__(self, ids, lengths, limit):
        """Make room for triples of sentences with at most ``lengths`` tokens."""
        n1, n2, n3 = (int(length) + 1 for length in lengths)
        longest = max(n1, n2, n3)
        pairs = max(n1 * n2, n1 * n3, n2 * n3)
        self.ids = ids
        self.limit = limit
        self.e12, self.e13, self.e23 = np.empty((3, pairs), np.int32)
        self.row, self.first, self.last = np.empty((3, longest), np.int32)
        self.low, self.high = np.empty((2, pairs), np.int32)
        self.at = np.empty(pairs + 1, np.int64)
        self.planes = np.empty((2, pairs), np.int32)
        self.steps = np.empty(1 << 16, np.uint8)
        self.starts = np.empty(longest + 1, np.int32)
        self.saved = np.empty(0, np.int32)
        self.steps_needed = 0
        self.saved_needed = 0
        self.visited = 0

    def grow(self):
        """Make room for what the last triple needs."""
        size: cython.Py_ssize_t = self.steps.shape[0]
        if self.steps_needed > size:
            size = min(max(self.steps_needed, 2 * size), max(self.limit, self.steps_needed))
            self.steps = np.empty(size, np.uint8)
        if self.saved_needed > self.saved.shape[0]:
            self.saved = np.empty(self.saved_needed, np.int32)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.inline
def _unlike(x: cython.int, y: cython.int) -> cython.int:
    """What it costs to align two tokens.

    The pairwise tables have it written out: in a call the compiler makes a branch of it, which is
    often mispredicted, and there a conditional move.
    """
    return 0 if x == y else MISMATCH


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _same(
    ids: cython.int[::1],
    x: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    y: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
) -> cython.bint:
    """Whether two sentences, which begin at x and y and have m and n tokens, are equal."""
    i: cython.Py_ssize_t
    if m != n:
        return False
    for i in range(m):  # noqa: SIM110 (compiled without the interpreter)
        if ids[x + i] != ids[y + i]:
            return False
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _prefixes(
    ids: cython.int[::1],
    x: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    y: cython.Py_ssize_t,
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
        token = ids[x + i - 1]
        best = cython.cast(cython.int, GAP * i)
        table[at] = best
        for j in range(1, width):
            best = best + GAP
            cost = table[at - width + j - 1] + (0 if token == ids[y + j - 1] else MISMATCH)
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
def _excess(
    ids: cython.int[::1],
    x: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    y: cython.Py_ssize_t,
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
    optimum: cython.int = _prefixes(ids, x, m, y, n, table)
    at = m * width
    for j in range(width):
        row[j] = cython.cast(cython.int, GAP * (n - j))
        table[at + j] += row[j] - optimum
    i = m - 1
    while i >= 0:
        at = i * width
        token = ids[x + i]
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
            diagonal = diagonal + (0 if token == ids[y + j] else MISMATCH)
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
def _count_pair(
    room: _Room,
    y: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    second_first: cython.bint,
    kind: cython.int,
    found: cython.int[::1],
) -> cython.void:
    """Count the columns of the source and one other: equal ones and others, of that ``kind``.

    Read from the end: both tokens, then one of the source (or of the other, with
    ``second_first``), then one of the other.
    """
    ids: cython.int[::1] = room.ids
    table: cython.int[::1] = room.e12
    x: cython.Py_ssize_t = room.a
    width: cython.Py_ssize_t = n + 1
    i: cython.Py_ssize_t = room.n1
    j: cython.Py_ssize_t = n
    here: cython.int
    cost: cython.int
    found[COST] = 2 * _prefixes(ids, x, i, y, n, table)
    while i > 0 or j > 0:
        here = table[i * width + j]
        if i > 0 and j > 0:
            cost = _unlike(ids[x + i - 1], ids[y + j - 1])
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
def _find_region(room: _Room, delta: cython.int) -> cython.void:
    """Find the interval of k for each (i, j) and where its cells stand."""
    e12: cython.int[::1] = room.e12
    e13: cython.int[::1] = room.e13
    e23: cython.int[::1] = room.e23
    low: cython.int[::1] = room.low
    high: cython.int[::1] = room.high
    at: cython.longlong[::1] = room.at
    first_at: cython.int[::1] = room.first
    last_at: cython.int[::1] = room.last
    n1: cython.Py_ssize_t = room.n1
    n2: cython.Py_ssize_t = room.n2
    n3: cython.Py_ssize_t = room.n3
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
        first_at[j] = first
        last_at[j] = last
    for i in range(n1 + 1):
        for j in range(n2 + 1):
            row = i * (n2 + 1) + j
            at[row] = cells
            low[row] = 1
            high[row] = 0
            rest = delta - e12[row]
            if rest < 0:
                continue
            first = first_at[j]
            last = last_at[j]
            while first <= last and (e13[i * (n3 + 1) + first] + e23[j * (n3 + 1) + first] > rest):
                first += 1
            while first <= last and (e13[i * (n3 + 1) + last] + e23[j * (n3 + 1) + last] > rest):
                last -= 1
            low[row] = first
            high[row] = last
            if first <= last:
                cells += last - first + 1
    at[(n1 + 1) * (n2 + 1)] = cells
    room.visited += cells


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _divide(room: _Room) -> cython.bint:
    """Divide the planes into parts whose steps fit ``limit`` (or of one plane); is there room?"""
    at: cython.longlong[::1] = room.at
    starts: cython.int[::1] = room.starts
    width: cython.Py_ssize_t = room.n2 + 1
    i: cython.Py_ssize_t
    part: cython.Py_ssize_t = 0
    size: cython.longlong
    starts[0] = 0
    for i in range(1, room.n1 + 1):
        if at[(i + 1) * width] - at[starts[part] * width] > room.limit:
            part += 1
            starts[part] = cython.cast(cython.int, i)
    room.parts = part + 1
    starts[room.parts] = cython.cast(cython.int, room.n1 + 1)
    room.saved_needed = part * width * (room.n3 + 1)
    room.steps_needed = 0
    for part in range(room.parts):
        size = at[starts[part + 1] * width] - at[starts[part] * width]
        if size > room.steps_needed:
            room.steps_needed = size
    return room.steps_needed <= room.steps.shape[0] and room.saved_needed <= room.saved.shape[0]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill(room: _Room, part: cython.Py_ssize_t, trace: cython.bint) -> cython.void:
    """Fill the planes of a part of D, each from the one before; with ``trace`` the steps too."""
    ids: cython.int[::1] = room.ids
    low: cython.int[::1] = room.low
    high: cython.int[::1] = room.high
    at: cython.longlong[::1] = room.at
    steps: cython.uchar[::1] = room.steps
    planes: cython.int[:, ::1] = room.planes
    b: cython.Py_ssize_t = room.b
    c: cython.Py_ssize_t = room.c
    n2: cython.Py_ssize_t = room.n2
    width: cython.Py_ssize_t = room.n3 + 1
    base: cython.longlong = at[room.starts[part] * (n2 + 1)]
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    row: cython.Py_ssize_t
    here: cython.Py_ssize_t
    there: cython.Py_ssize_t
    step: cython.int
    best: cython.int
    cost: cython.int
    ab: cython.int
    ac: cython.int
    bc: cython.int
    s: cython.int
    h: cython.int
    r: cython.int
    low_i: cython.int
    high_i: cython.int
    low_j: cython.int
    high_j: cython.int
    low_ij: cython.int
    high_ij: cython.int
    for i in range(room.starts[part], room.starts[part + 1]):
        here = i & 1
        there = 1 - here
        s = ids[room.a + i - 1] if i > 0 else -1
        for j in range(n2 + 1):
            row = i * (n2 + 1) + j
            if low[row] > high[row]:
                continue
            h = ids[b + j - 1] if j > 0 else -2
            low_i = low[row - n2 - 1] if i > 0 else 1
            high_i = high[row - n2 - 1] if i > 0 else 0
            low_j = low[row - 1] if j > 0 else 1
            high_j = high[row - 1] if j > 0 else 0
            low_ij = low[row - n2 - 2] if i > 0 and j > 0 else 1
            high_ij = high[row - n2 - 2] if i > 0 and j > 0 else 0
            ab = _unlike(s, h)
            for k in range(low[row], high[row] + 1):
                best = 0 if i + j + k == 0 else FAR
                step = 0
                r = ids[c + k - 1] if k > 0 else -3
                ac = _unlike(s, r)
                bc = _unlike(h, r)
                if low_ij <= k - 1 <= high_ij:
                    cost = planes[there, (j - 1) * width + k - 1] + ab + ac + bc
                    if cost < best:
                        best = cost
                        step = SOURCE | HYPOTHESIS | REFERENCE
                if low_ij <= k <= high_ij:
                    cost = planes[there, (j - 1) * width + k] + ab + LONE
                    if cost < best:
                        best = cost
                        step = SOURCE | HYPOTHESIS
                if low_i <= k - 1 <= high_i:
                    cost = planes[there, j * width + k - 1] + ac + LONE
                    if cost < best:
                        best = cost
                        step = SOURCE | REFERENCE
                if low_j <= k - 1 <= high_j:
                    cost = planes[here, (j - 1) * width + k - 1] + bc + LONE
                    if cost < best:
                        best = cost
                        step = HYPOTHESIS | REFERENCE
                if low_i <= k <= high_i:
                    cost = planes[there, j * width + k] + LONE
                    if cost < best:
                        best = cost
                        step = SOURCE
                if low_j <= k <= high_j:
                    cost = planes[here, (j - 1) * width + k] + LONE
                    if cost < best:
                        best = cost
                        step = HYPOTHESIS
                if k > low[row]:
                    cost = planes[here, j * width + k - 1] + LONE
                    if cost < best:
                        best = cost
                        step = REFERENCE
                planes[here, j * width + k] = best
                if trace:
                    steps[at[row] - base + k - low[row]] = cython.cast(cython.uchar, step)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _kind_of(step: cython.int, s: cython.int, h: cython.int, r: cython.int) -> cython.int:
    """The kind of a column with such a step."""
    if step & SOURCE == 0:
        s = -1
    if step & HYPOTHESIS == 0:
        h = -1
    if step & REFERENCE == 0:
        r = -1
    if s == h:
        return UNCHANGED if h == r else MISSED
    if s == r:
        return NEEDLESS
    return RIGHT if h == r else WRONG


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _walk(room: _Room, found: cython.int[::1]) -> cython.void:
    """Count the columns of the path, from the end; fill each part of the steps when needed."""
    ids: cython.int[::1] = room.ids
    starts: cython.int[::1] = room.starts
    i: cython.Py_ssize_t = room.n1
    j: cython.Py_ssize_t = room.n2
    k: cython.Py_ssize_t = room.n3
    x: cython.Py_ssize_t
    row: cython.Py_ssize_t
    width: cython.Py_ssize_t = room.n2 + 1
    plane: cython.Py_ssize_t = width * (room.n3 + 1)
    part: cython.Py_ssize_t = room.parts - 1
    base: cython.longlong = room.at[starts[part] * width]
    step: cython.int
    while i > 0 or j > 0 or k > 0:
        if i < starts[part]:
            part -= 1
            base = room.at[starts[part] * width]
            if part > 0:
                for x in range(plane):
                    room.planes[(starts[part] - 1) & 1, x] = room.saved[(part - 1) * plane + x]
            _fill(room, part, True)
        row = i * width + j
        step = room.steps[room.at[row] - base + k - room.low[row]]
        found[
            _kind_of(
                step,
                ids[room.a + i - 1] if i > 0 else -1,
                ids[room.b + j - 1] if j > 0 else -1,
                ids[room.c + k - 1] if k > 0 else -1,
            )
        ] += 1
        if step & SOURCE:
            i -= 1
        if step & HYPOTHESIS:
            j -= 1
        if step & REFERENCE:
            k -= 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill_all(room: _Room) -> cython.int:
    """Fill all planes, and the steps of the last part; what the cheapest alignment costs."""
    plane: cython.Py_ssize_t = (room.n2 + 1) * (room.n3 + 1)
    last: cython.Py_ssize_t = room.n1 * (room.n2 + 1) + room.n2
    part: cython.Py_ssize_t
    x: cython.Py_ssize_t
    for part in range(room.parts):
        if part > 0:
            for x in range(plane):
                room.saved[(part - 1) * plane + x] = room.planes[(room.starts[part] - 1) & 1, x]
        _fill(room, part, part == room.parts - 1)
    return room.planes[room.n1 & 1, plane - 1] if room.low[last] <= room.high[last] else FAR


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _align(room: _Room, found: cython.int[::1]) -> cython.bint:
    """Align one triple and count its columns; False where there is too little room."""
    o12: cython.int = _excess(room.ids, room.a, room.n1, room.b, room.n2, room.e12, room.row)
    o13: cython.int = _excess(room.ids, room.a, room.n1, room.c, room.n3, room.e13, room.row)
    o23: cython.int = _excess(room.ids, room.b, room.n2, room.c, room.n3, room.e23, room.row)
    least: cython.int = o12 + o13 + o23
    enough: cython.int = 2 * min(o12, o13, o23)
    delta: cython.int = 0
    grown: cython.int
    total: cython.int
    while True:
        _find_region(room, delta)
        if not _divide(room):
            return False
        total = _fill_all(room)
        if total <= least + delta:
            break
        grown = 4 if delta == 0 else 2 * delta
        if total < FAR and total - least < grown:
            grown = total - least
        delta = grown if grown < enough else enough
    found[COST] = total
    _walk(room, found)
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _run(
    room: _Room,
    offsets: cython.longlong[::1],
    triples: cython.longlong[:, ::1],
    first: cython.Py_ssize_t,
    found: cython.int[:, ::1],
) -> cython.Py_ssize_t:
    """Align the triples from ``first`` on; the first one that needs more room, or the end."""
    t: cython.Py_ssize_t
    ids: cython.int[::1] = room.ids
    for t in range(first, triples.shape[0]):
        room.a = offsets[triples[t, 0]]
        room.b = offsets[triples[t, 1]]
        room.c = offsets[triples[t, 2]]
        room.n1 = offsets[triples[t, 0] + 1] - room.a
        room.n2 = offsets[triples[t, 1] + 1] - room.b
        room.n3 = offsets[triples[t, 2] + 1] - room.c
        if _same(ids, room.a, room.n1, room.b, room.n2):
            _count_pair(room, room.c, room.n3, False, MISSED, found[t])
        elif _same(ids, room.a, room.n1, room.c, room.n3):
            _count_pair(room, room.b, room.n2, False, NEEDLESS, found[t])
        elif _same(ids, room.b, room.n2, room.c, room.n3):
            _count_pair(room, room.b, room.n2, True, RIGHT, found[t])
        elif not _align(room, found[t]):
            return t
    return triples.shape[0]


def count_columns(
    ids: cython.int[::1],
    offsets: cython.longlong[::1],
    triples: object,
    limit: cython.longlong = 1 << 25,
):
    """Columns of each kind in the three-way alignment of each triple, and what it costs.

    ``ids`` and ``offsets`` hold sentences as `errata.data.Tokens` does; ``triples[t]`` names
    source, hypothesis and reference. Where two of them are equal, one pairwise alignment does:
    a column that sets the equal ones apart would cost more, and the steps that remain are in the
    same order. Returns ``[triple, (unchanged, missed, needless, right, wrong, cost)]`` and the
    number of cells visited. ``limit`` bounds the bytes kept for steps.
    """
    named = np.ascontiguousarray(triples, np.int64).reshape(-1, 3)
    check_offsets("offsets", offsets, len(ids))
    within("triples", named, len(offsets) - 1)
    within("limit", limit, 2**62, 1)
    counted = np.zeros((len(named), COST + 1), np.int32)
    if not len(named):
        return counted, 0
    sizes = np.diff(offsets)[named] + 1
    within("cells of a plane", sizes.max(axis=0).prod() // sizes.max(axis=0).min(), LARGEST)
    room: _Room = _Room(ids, np.diff(offsets)[named].max(axis=0), limit)
    all_triples: cython.longlong[:, ::1] = named
    found: cython.int[:, ::1] = counted
    done: cython.Py_ssize_t = 0
    while True:
        with cython.nogil:
            done = _run(room, offsets, all_triples, done, found)
        if done == found.shape[0]:
            return counted, room.visited
        room.grow()


def band(a: cython.int[::1], b: cython.int[::1]):
    """The band of the source-hypothesis table that alignments can use, and a way through it.

    An optimal three-way alignment costs at most twice the pairwise optimum above the sum of the
    three pairwise optima, so that no point further above the optimum than that lies on one.
    Returns ``low``, ``high``, ``at`` (columns and cells of each row), for each i the first and
    the last j of one optimal pairwise alignment, and what that costs.
    """
    m: cython.Py_ssize_t = len(a)
    n: cython.Py_ssize_t = len(b)
    within("cells of the table", (m + 1) * (n + 1), LARGEST)
    ids: cython.int[::1] = np.concatenate([a, b])
    tables = np.empty((2, (m + 1) * (n + 1)), np.int32)
    costs: cython.int[::1] = tables[0]
    excess: cython.int[::1] = tables[1]
    first = np.empty(m + 1, np.int32)
    last = np.empty(m + 1, np.int32)
    begins: cython.int[::1] = first
    ends: cython.int[::1] = last
    row: cython.int[::1] = np.empty(n + 1, np.int32)
    optimum: cython.int
    with cython.nogil:
        optimum = _excess(ids, 0, m, m, n, excess, row)
        _prefixes(ids, 0, m, m, n, costs)
        _follow(ids, m, n, costs, begins, ends)
    inside = tables[1].reshape(m + 1, n + 1) <= 2 * optimum
    low = inside.argmax(axis=1).astype(np.int32)
    high = (n - inside[:, ::-1].argmax(axis=1)).astype(np.int32)
    at = np.concatenate([[0], np.cumsum(high - low + 1)]).astype(np.int64)
    return low, high, at, first, last, optimum


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _follow(
    ids: cython.int[::1],
    m: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    table: cython.int[::1],
    first: cython.int[::1],
    last: cython.int[::1],
) -> cython.void:
    """One optimal alignment of the first m tokens with the n behind: first and last j at each i."""
    i: cython.Py_ssize_t = m
    j: cython.Py_ssize_t = n
    width: cython.Py_ssize_t = n + 1
    here: cython.int
    last[m] = cython.cast(cython.int, n)
    while i > 0 or j > 0:
        here = table[i * width + j]
        if (
            i > 0
            and j > 0
            and here == table[(i - 1) * width + j - 1] + _unlike(ids[i - 1], ids[m + j - 1])
        ):
            first[i] = cython.cast(cython.int, j)
            i -= 1
            j -= 1
            last[i] = cython.cast(cython.int, j)
        elif i > 0 and here == table[(i - 1) * width + j] + GAP:
            first[i] = cython.cast(cython.int, j)
            i -= 1
            last[i] = cython.cast(cython.int, j)
        else:
            j -= 1
    first[0] = 0
