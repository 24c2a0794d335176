"""The edits a system proposes, as the M2 scorer sees them: the best path through a lattice.

Source and hypothesis are aligned in every cheapest way under two prices of a substitution; the
union of both lattices, closed over phrase edits with few unchanged words, is a graph in which the
path with the most gold edits is sought. `propose` gives the path of nusnlp/m2scorer, ties and
accidents included, without its cost:

- Cells are taken in order, and arcs *out of* a cell are still elementary when the official
  closure comes to it. So the phrase edits that end in a cell are those that end in its (at most
  three) predecessors, one step longer: a merge of three sorted lists, no search.
- Bellman-Ford stops at the first pass that changes nothing, which changes nothing.

`tally` counts the gold edits among the proposed ones.

The graph of a pair is kept within ``limit`` arcs (steps and phrase edits); a larger one is left to
`errata.kernels.maxmatch_long`. What calls each other without the GIL must be compiled together,
hence one long file.
"""

import cython
import numpy as np

from errata.kernels._doors import LARGEST, edits_fit, gold_fits, offsets, same_size, shaped, within
from errata.kernels.maxmatch_long import propose_long

SHORTS = 2**15 - 1  # steps of an arc are C shorts

# Bits of a cell. An arc comes into it from the diagonal, from above (a deletion) or from the left
# (an insertion), and the cell is on a way to the last one, in the lattice where a substitution
# costs 1 ...
DIAGONAL_1 = cython.declare(cython.const_int, 1)
UP_1 = cython.declare(cython.const_int, 2)
LEFT_1 = cython.declare(cython.const_int, 4)
INSIDE_1 = cython.declare(cython.const_int, 64)
LATTICE_1 = cython.declare(cython.const_int, 1 | 2 | 4 | 64)
# ... in the one where it costs 2 ...
DIAGONAL_2 = cython.declare(cython.const_int, 8)
UP_2 = cython.declare(cython.const_int, 16)
LEFT_2 = cython.declare(cython.const_int, 32)
INSIDE_2 = cython.declare(cython.const_int, 128)
LATTICE_2 = cython.declare(cython.const_int, 8 | 16 | 32 | 128)
# ... or in either.
DIAGONAL = cython.declare(cython.const_int, 1 | 8)
UP = cython.declare(cython.const_int, 2 | 16)
LEFT = cython.declare(cython.const_int, 4 | 32)
INSIDE = cython.declare(cython.const_int, 64 | 128)

# Bits of an arc: it is elementary, in one lattice or in both, or it was found or shortened through
# the predecessor of its end on the diagonal, above or on the left.
VIA_DIAGONAL = cython.declare(cython.const_int, 1)
VIA_UP = cython.declare(cython.const_int, 2)
VIA_LEFT = cython.declare(cython.const_int, 4)
ELEMENTARY = cython.declare(cython.const_int, 8)
IN_BOTH = cython.declare(cython.const_int, 16)

EPSILON = cython.declare(cython.const_double, 0.001)

# How a run ended: with all sentences done, or for lack of room.
DONE = cython.declare(cython.const_int, 0)
MORE_VERTICES = cython.declare(cython.const_int, 1)
MORE_ARCS = cython.declare(cython.const_int, 2)
MORE_EDITS = cython.declare(cython.const_int, 3)


@cython.cclass
class _Gold:
    """The edits of all references, in the order of `errata.metrics.m2.matching.GoldEdits`."""

    at: cython.longlong[::1]
    start: cython.int[::1]
    end: cython.int[::1]
    alternative_at: cython.longlong[::1]
    token_at: cython.longlong[::1]
    tokens: cython.int[::1]

    def __init__(self, arrays):
        self.at, self.start, self.end, self.alternative_at, self.token_at, self.tokens = arrays


@cython.cclass
class _Graph:
    """One pair of sentences, and room for its lattice and its phrase edits."""

    # the pair that is next, of how many, and how many edits are written for those before
    pair: cython.Py_ssize_t
    pairs: cython.Py_ssize_t
    written: cython.Py_ssize_t
    # the tokens of all pairs; where this one's begin, and how many they are
    source: cython.int[::1]
    hypothesis: cython.int[::1]
    s0: cython.Py_ssize_t
    h0: cython.Py_ssize_t
    n: cython.int
    m: cython.int
    vertex_room: cython.int
    arc_room: cython.int
    # the table, one byte per cell, and two rolling rows of distances and numbers of vertices
    table: cython.uchar[::1]
    row_1: cython.int[::1]
    row_2: cython.int[::1]
    above: cython.int[::1]
    here: cython.int[::1]
    row_start: cython.int[::1]
    # vertices: cell, predecessors and successors (-1: none), their elementary arcs
    vertices: cython.int
    row: cython.int[::1]
    column: cython.int[::1]
    bits: cython.uchar[::1]
    noop: cython.uchar[::1]
    before_diagonal: cython.int[::1]
    before_up: cython.int[::1]
    before_left: cython.int[::1]
    after_diagonal: cython.int[::1]
    after_down: cython.int[::1]
    after_right: cython.int[::1]
    arc_diagonal: cython.int[::1]
    arc_up: cython.int[::1]
    arc_left: cython.int[::1]
    first: cython.int[::1]
    distance: cython.double[::1]
    reached_by: cython.int[::1]
    # arcs by their end: start, end, steps, unchanged words, how found, weight
    arcs: cython.int
    tail: cython.int[::1]
    head: cython.int[::1]
    steps: cython.short[::1]
    unchanged: cython.short[::1]
    found: cython.uchar[::1]
    weight: cython.double[::1]
    # the arcs in the official order, each once, and how long the official list is
    order: cython.int[::1]
    ordered: cython.int
    listed: cython.int
    # insertions at one place, and the gold insertions there
    group: cython.int[::1]
    gold_here: cython.int[::1]

    def size_table(self, cells, columns, rows, gold):
        """Make room for tables of that many cells, columns and rows, and gold edits."""
        self.table = _bytes(cells)
        self.row_1 = _ints(columns)
        self.row_2 = _ints(columns)
        self.above = _ints(columns)
        self.here = _ints(columns)
        self.row_start = _ints(rows + 1)
        self.gold_here = _ints(gold)

    def size_vertices(self, size):
        """Make room for that many vertices."""
        self.vertex_room = size
        self.row = _ints(size)
        self.column = _ints(size)
        self.bits = _bytes(size)
        self.noop = _bytes(size)
        self.before_diagonal = _ints(size)
        self.before_up = _ints(size)
        self.before_left = _ints(size)
        self.after_diagonal = _ints(size)
        self.after_down = _ints(size)
        self.after_right = _ints(size)
        self.arc_diagonal = _ints(size)
        self.arc_up = _ints(size)
        self.arc_left = _ints(size)
        self.first = _ints(size + 1)
        self.distance = _doubles(size)
        self.reached_by = _ints(size)

    def size_arcs(self, size):
        """Make room for that many arcs."""
        self.arc_room = size
        self.tail = _ints(size)
        self.head = _ints(size)
        self.steps = _shorts(size)
        self.unchanged = _shorts(size)
        self.found = _bytes(size)
        self.weight = _doubles(size)
        self.order = _ints(size)
        self.group = _ints(2 * size)


# Lists serve better than arrays where the kernel runs as plain Python.
def _ints(size):
    return np.zeros(size, np.intc) if cython.compiled else [0] * size


def _shorts(size):
    return np.zeros(size, np.short) if cython.compiled else [0] * size


def _bytes(size):
    return np.zeros(size, np.uint8) if cython.compiled else bytearray(size)


def _doubles(size):
    return np.zeros(size, np.double) if cython.compiled else [0.0] * size


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill_table(g: _Graph) -> cython.void:
    """Both Levenshtein tables: the cheapest predecessors of every cell, all of them."""
    table: cython.uchar[::1] = g.table
    row_1: cython.int[::1] = g.row_1
    row_2: cython.int[::1] = g.row_2
    source: cython.int[::1] = g.source
    hypothesis: cython.int[::1] = g.hypothesis
    s0: cython.Py_ssize_t = g.s0
    h0: cython.Py_ssize_t = g.h0
    n: cython.int = g.n
    m: cython.int = g.m
    i: cython.int
    j: cython.int
    at: cython.Py_ssize_t
    token: cython.int
    bits: cython.int
    diagonal_1: cython.int
    diagonal_2: cython.int
    up: cython.int
    left: cython.int
    best: cython.int
    across: cython.int
    row_1[0] = 0
    row_2[0] = 0
    table[0] = 0
    for j in range(1, m + 1):
        row_1[j] = j
        row_2[j] = j
        table[j] = LEFT
    for i in range(1, n + 1):
        at = cython.cast(cython.Py_ssize_t, i) * (m + 1)
        token = source[s0 + i - 1]
        diagonal_1 = i - 1
        diagonal_2 = i - 1
        row_1[0] = i
        row_2[0] = i
        table[at] = UP
        for j in range(1, m + 1):
            across = 0 if token == hypothesis[h0 + j - 1] else 1
            up = row_1[j] + 1
            left = row_1[j - 1] + 1
            best = diagonal_1 + across
            diagonal_1 = row_1[j]
            bits = DIAGONAL_1
            if up < best:
                best = up
                bits = 0
            if left < best:
                best = left
                bits = 0
            if up == best:
                bits |= UP_1
            if left == best:
                bits |= LEFT_1
            row_1[j] = best
            up = row_2[j] + 1
            left = row_2[j - 1] + 1
            best = diagonal_2 + 2 * across
            diagonal_2 = row_2[j]
            bits |= DIAGONAL_2
            if up < best:
                best = up
                bits &= ~DIAGONAL_2
            if left < best:
                best = left
                bits &= ~DIAGONAL_2
            if up == best:
                bits |= UP_2
            if left == best:
                bits |= LEFT_2
            row_2[j] = best
            table[at + j] = bits


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _keep_reachable(g: _Graph) -> cython.void:
    """Keep only what lies on a way to the last cell, in each lattice."""
    table: cython.uchar[::1] = g.table
    n: cython.int = g.n
    m: cython.int = g.m
    width: cython.Py_ssize_t = m + 1
    i: cython.int
    j: cython.int
    at: cython.Py_ssize_t
    bits: cython.int
    table[width * (n + 1) - 1] |= INSIDE
    for i in range(n, -1, -1):
        for j in range(m, -1, -1):
            at = width * i + j
            bits = table[at]
            if bits & INSIDE == 0:
                continue
            if bits & INSIDE_1:
                if bits & DIAGONAL_1:
                    table[at - width - 1] |= INSIDE_1
                if bits & UP_1:
                    table[at - width] |= INSIDE_1
                if bits & LEFT_1:
                    table[at - 1] |= INSIDE_1
            else:
                bits &= LATTICE_2
            if bits & INSIDE_2:
                if bits & DIAGONAL_2:
                    table[at - width - 1] |= INSIDE_2
                if bits & UP_2:
                    table[at - width] |= INSIDE_2
                if bits & LEFT_2:
                    table[at - 1] |= INSIDE_2
            else:
                bits &= LATTICE_1
            table[at] = bits


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _number_vertices(g: _Graph) -> cython.int:
    """List the cells of the lattice in order, with their neighbours along arcs."""
    i: cython.int
    j: cython.int
    other: cython.int
    bits: cython.int
    v: cython.int = 0
    room: cython.int = g.vertex_room
    at: cython.Py_ssize_t = 0
    for i in range(g.n + 1):
        g.row_start[i] = v
        for j in range(g.m + 1):
            bits = g.table[at]
            at += 1
            if bits & INSIDE == 0:
                continue
            if v >= room:
                return MORE_VERTICES
            g.here[j] = v
            g.row[v] = i
            g.column[v] = j
            g.bits[v] = bits
            g.noop[v] = 0
            g.before_diagonal[v] = -1
            g.before_up[v] = -1
            g.before_left[v] = -1
            g.after_diagonal[v] = -1
            g.after_down[v] = -1
            g.after_right[v] = -1
            if bits & DIAGONAL:
                other = g.above[j - 1]
                g.before_diagonal[v] = other
                g.after_diagonal[other] = v
                g.noop[v] = 1 if g.source[g.s0 + i - 1] == g.hypothesis[g.h0 + j - 1] else 0
            if bits & UP:
                other = g.above[j]
                g.before_up[v] = other
                g.after_down[other] = v
            if bits & LEFT:
                g.before_left[v] = v - 1
                g.after_right[v - 1] = v
            v += 1
        for j in range(g.m + 1):
            g.above[j] = g.here[j]
    g.row_start[g.n + 1] = v
    g.vertices = v
    return DONE


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _close(g: _Graph, most: cython.int) -> cython.int:
    """List the phrase edits that end in each vertex, sorted by where they start.

    One comes from each predecessor's list, a step longer, and the predecessor itself starts an
    elementary one. Predecessors are asked in the official order (diagonal, above, left); a
    strictly shorter way replaces what was found, with its own number of unchanged words.
    """
    v: cython.int
    a: cython.int
    b: cython.int
    c: cython.int
    a_end: cython.int
    b_end: cython.int
    c_end: cython.int
    diagonal: cython.int
    up: cython.int
    left: cython.int
    from_a: cython.int
    from_b: cython.int
    from_c: cython.int
    start: cython.int
    best: cython.int
    kept: cython.int
    how: cython.int
    words: cython.int
    same: cython.int
    bits: cython.int
    tail: cython.int[::1] = g.tail
    steps: cython.short[::1] = g.steps
    unchanged: cython.short[::1] = g.unchanged
    found: cython.uchar[::1] = g.found
    room: cython.int = g.arc_room
    e: cython.int = 0
    last: cython.int = g.vertices  # later than every vertex
    for v in range(g.vertices):
        g.first[v] = e
        diagonal = g.before_diagonal[v]
        up = g.before_up[v]
        left = g.before_left[v]
        same = g.noop[v]
        bits = g.bits[v]
        a = 0
        a_end = -1
        b = 0
        b_end = -1
        c = 0
        c_end = -1
        if diagonal >= 0:
            a = g.first[diagonal]
            a_end = g.first[diagonal + 1]
        if up >= 0:
            b = g.first[up]
            b_end = g.first[up + 1]
        if left >= 0:
            c = g.first[left]
            c_end = g.first[left + 1]
        while True:
            from_a = tail[a] if a < a_end else (diagonal if a == a_end else last)
            from_b = tail[b] if b < b_end else (up if b == b_end else last)
            from_c = tail[c] if c < c_end else (left if c == c_end else last)
            start = from_a if from_a < from_b else from_b
            start = start if start < from_c else from_c
            if start == last:
                break
            best = 0x7FFF
            kept = 0
            how = 0
            if from_a == start:
                if a == a_end:
                    best = 1
                    kept = same
                    how = ELEMENTARY | IN_BOTH if bits & DIAGONAL == DIAGONAL else ELEMENTARY
                    g.arc_diagonal[v] = e
                else:
                    words = unchanged[a] + same
                    if words <= most:
                        best = steps[a] + 1
                        kept = words
                        how = VIA_DIAGONAL
                a += 1
            if from_b == start:
                if b == b_end:
                    best = 1
                    kept = 0
                    how = ELEMENTARY | IN_BOTH if bits & UP == UP else ELEMENTARY
                    g.arc_up[v] = e
                elif steps[b] + 1 < best and unchanged[b] <= most:
                    best = steps[b] + 1
                    kept = unchanged[b]
                    how |= VIA_UP
                b += 1
            if from_c == start:
                if c == c_end:
                    best = 1
                    kept = 0
                    how = ELEMENTARY | IN_BOTH if bits & LEFT == LEFT else ELEMENTARY
                    g.arc_left[v] = e
                elif steps[c] + 1 < best and unchanged[c] <= most:
                    best = steps[c] + 1
                    kept = unchanged[c]
                    how |= VIA_LEFT
                c += 1
            if how:
                if e >= room:
                    return MORE_ARCS
                tail[e] = start
                g.head[e] = v
                steps[e] = best
                unchanged[e] = kept
                found[e] = how
                e += 1
    g.first[g.vertices] = e
    g.arcs = e
    return DONE


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _list_arcs(g: _Graph) -> cython.void:
    """Put the arcs in the official order, and lose the noops the official list loses.

    Elementary arcs are sorted; phrase edits are in the order they are found or shortened: by
    the vertex before their end, then by start, then by end. From that list the longer noops are
    removed while it is walked, so that the element after each removed one is not looked at.
    ``listed`` is how many elements remain, repetitions included: the official weight of a match.
    """
    k: cython.int
    v: cython.int
    e: cython.int
    start: cython.int
    right: cython.int
    right_end: cython.int
    down: cython.int
    down_end: cython.int
    across: cython.int
    across_end: cython.int
    p: cython.int = 0
    listed: cython.int = 0
    passed_over: cython.int = 0
    tail: cython.int[::1] = g.tail
    found: cython.uchar[::1] = g.found
    order: cython.int[::1] = g.order
    for k in range(g.vertices):
        v = g.after_right[k]
        if v >= 0:
            order[p] = g.arc_left[v]
            listed += 2 if found[order[p]] & IN_BOTH else 1
            p += 1
        v = g.after_down[k]
        if v >= 0:
            order[p] = g.arc_up[v]
            listed += 2 if found[order[p]] & IN_BOTH else 1
            p += 1
        v = g.after_diagonal[k]
        if v >= 0:
            order[p] = g.arc_diagonal[v]
            listed += 2 if found[order[p]] & IN_BOTH else 1
            p += 1
    for k in range(g.vertices):
        right = 0
        right_end = 0
        down = 0
        down_end = 0
        across = 0
        across_end = 0
        v = g.after_right[k]
        if v >= 0:
            right = g.first[v]
            right_end = g.first[v + 1]
        v = g.after_down[k]
        if v >= 0:
            down = g.first[v]
            down_end = g.first[v + 1]
        v = g.after_diagonal[k]
        if v >= 0:
            across = g.first[v]
            across_end = g.first[v + 1]
        for e in range(g.first[k], g.first[k + 1]):
            start = tail[e]
            while right < right_end and tail[right] < start:
                right += 1
            if right < right_end and tail[right] == start and found[right] & VIA_LEFT:
                listed += 1
                passed_over = 0
                if found[right] & (VIA_DIAGONAL | VIA_UP) == 0:
                    order[p] = right
                    p += 1
            while down < down_end and tail[down] < start:
                down += 1
            if down < down_end and tail[down] == start and found[down] & VIA_UP:
                listed += 1
                passed_over = 0
                if found[down] & VIA_DIAGONAL == 0:
                    order[p] = down
                    p += 1
            while across < across_end and tail[across] < start:
                across += 1
            if across < across_end and tail[across] == start and found[across] & VIA_DIAGONAL:
                if g.unchanged[across] == g.steps[across] and not passed_over:
                    passed_over = 1
                else:
                    listed += 1
                    passed_over = 0
                    order[p] = across
                    p += 1
    g.ordered = p
    g.listed = listed


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_correction(
    gold: _Gold,
    edit: cython.Py_ssize_t,
    hypothesis: cython.int[::1],
    left: cython.Py_ssize_t,
    right: cython.Py_ssize_t,
) -> cython.bint:
    """Whether hypothesis tokens ``left:right`` are one of the corrections of a gold edit."""
    x: cython.Py_ssize_t
    t: cython.Py_ssize_t
    p: cython.Py_ssize_t
    for x in range(gold.alternative_at[edit], gold.alternative_at[edit + 1]):
        t = gold.token_at[x]
        if gold.token_at[x + 1] - t != right - left:
            continue
        p = left
        while p < right and hypothesis[p] == gold.tokens[t + p - left]:
            p += 1
        if p == right:
            return True
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _weigh(g: _Graph) -> cython.void:
    """The weight of every arc where nothing is gold: steps, and a little for each occurrence."""
    e: cython.int
    how: cython.int
    weight: cython.double
    for e in range(g.arcs):
        weight = g.steps[e]
        if g.unchanged[e] != g.steps[e]:
            how = g.found[e]
            if how & ELEMENTARY:
                weight += EPSILON
                if how & IN_BOTH:
                    weight += EPSILON
            else:
                if how & VIA_DIAGONAL:
                    weight += EPSILON
                if how & VIA_UP:
                    weight += EPSILON
                if how & VIA_LEFT:
                    weight += EPSILON
        g.weight[e] = weight


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _weigh_gold(
    g: _Graph, gold: _Gold, g0: cython.Py_ssize_t, g1: cython.Py_ssize_t
) -> cython.void:
    """Give the arcs that are gold edits their weight, minus the length of the official list."""
    x: cython.Py_ssize_t
    y: cython.Py_ssize_t
    start: cython.int
    end: cython.int
    v: cython.int
    e: cython.int
    low: cython.int
    high: cython.int
    middle: cython.int
    count: cython.int
    for x in range(g0, g1):
        start = gold.start[x]
        end = gold.end[x]
        if start < end:
            for v in range(g.row_start[end], g.row_start[end + 1]):
                low = g.first[v]
                high = g.first[v + 1]
                while low < high:
                    middle = low + (high - low) // 2
                    if g.tail[middle] < g.row_start[start]:
                        low = middle + 1
                    else:
                        high = middle
                e = low
                while e < g.first[v + 1] and g.tail[e] < g.row_start[start + 1]:
                    if _is_correction(
                        gold, x, g.hypothesis, g.h0 + g.column[g.tail[e]], g.h0 + g.column[v]
                    ):
                        g.weight[e] = -g.listed
                    e += 1
            continue
        count = 0
        for y in range(g0, g1):
            if gold.start[y] == start and gold.end[y] == end:
                if count == 0 and y < x:
                    break
                g.gold_here[count] = cython.cast(cython.int, y - g0)
                count += 1
        if count:
            _sweep(g, gold, start, g0, count)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sweep(
    g: _Graph, gold: _Gold, row: cython.int, g0: cython.Py_ssize_t, count: cython.int
) -> cython.void:
    """Weigh the insertions at one place, each gold insertion used once, from both ends."""
    u: cython.int
    v: cython.int
    e: cython.int
    hit: cython.int
    at_left: cython.bint
    now: cython.int = 0
    left: cython.int = 0
    size: cython.int = 0
    low: cython.int = 0
    high: cython.int = count - 1
    for u in range(g.row_start[row], g.row_start[row + 1]):
        v = g.after_right[u]
        while v >= 0:
            e = g.first[v + 1] - (v - u)  # starts in the same row are the last and all there
            g.weight[e] = g.steps[e]
            g.group[size] = e
            size += 1
            if g.found[e] & IN_BOTH:
                g.group[size] = e
                size += 1
            v = g.after_right[v]
    right: cython.int = size - 1
    while left <= right:
        e = g.group[now]
        at_left = now == left
        hit = low if at_left else high
        while low <= hit <= high and not _is_correction(
            gold,
            g0 + g.gold_here[hit],
            g.hypothesis,
            g.h0 + g.column[g.tail[e]],
            g.h0 + g.column[g.head[e]],
        ):
            hit += 1 if at_left else -1
        if not low <= hit <= high:
            g.weight[e] += EPSILON
            if at_left:
                left += 1
                now = right
            else:
                right -= 1
                now = left
        elif at_left:
            g.weight[e] = -g.listed
            low = hit + 1
            left += 1
            while left < size and g.tail[g.group[left]] != g.head[e]:
                g.weight[g.group[left]] += EPSILON
                left += 1
            now = left
        else:
            g.weight[e] = -g.listed
            high = hit - 1
            right -= 1
            while right >= 0 and g.head[g.group[right]] != g.tail[e]:
                g.weight[g.group[right]] += EPSILON
                right -= 1
            now = right


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _find_path(g: _Graph) -> cython.void:
    """Bellman-Ford in the official order, until a pass changes nothing."""
    p: cython.int
    e: cython.int
    v: cython.int
    far: cython.double
    changed: cython.bint = True
    distance: cython.double[::1] = g.distance
    order: cython.int[::1] = g.order
    tail: cython.int[::1] = g.tail
    head: cython.int[::1] = g.head
    weight: cython.double[::1] = g.weight
    for v in range(g.vertices):
        distance[v] = 1e300
        g.reached_by[v] = -1
    distance[0] = 0.0
    while changed:
        changed = False
        for p in range(g.ordered):
            e = order[p]
            far = distance[tail[e]] + weight[e]
            v = head[e]
            if far < distance[v]:
                distance[v] = far
                g.reached_by[v] = e
                changed = True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _write_path(g: _Graph, edits: cython.int[:, ::1], used: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Write the edits of the path, left to right; where they end, or -1 for lack of room."""
    v: cython.int = g.vertices - 1
    e: cython.int = g.reached_by[v]
    count: cython.Py_ssize_t = 0
    while e >= 0:
        if g.unchanged[e] != g.steps[e]:
            count += 1
        e = g.reached_by[g.tail[e]]
    if used + count > edits.shape[0]:
        return -1
    at: cython.Py_ssize_t = used + count
    e = g.reached_by[v]
    while e >= 0:
        if g.unchanged[e] != g.steps[e]:
            at -= 1
            edits[at, 0] = g.row[g.tail[e]]
            edits[at, 1] = g.row[g.head[e]]
            edits[at, 2] = g.column[g.tail[e]]
            edits[at, 3] = g.column[g.head[e]]
        e = g.reached_by[g.tail[e]]
    return used + count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _build(g: _Graph, most: cython.int) -> cython.int:
    """Make the graph of one pair, the same for every annotator."""
    _fill_table(g)
    _keep_reachable(g)
    status: cython.int = _number_vertices(g)
    if status == DONE:
        status = _close(g, most)
    if status == DONE:
        _list_arcs(g)
    return status


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _run(
    g: _Graph,
    gold: _Gold,
    source_at: cython.longlong[::1],
    hypothesis_at: cython.longlong[::1],
    first: cython.longlong[::1],
    most: cython.int,
    edits: cython.int[:, ::1],
    edit_at: cython.longlong[::1],
) -> cython.int:
    """Go on with the next pair, until all are done or the room is too small."""
    status: cython.int
    r: cython.Py_ssize_t
    p: cython.Py_ssize_t
    used: cython.Py_ssize_t
    while g.pair < g.pairs:
        g.s0 = source_at[g.pair]
        g.h0 = hypothesis_at[g.pair]
        g.n = cython.cast(cython.int, source_at[g.pair + 1] - g.s0)
        g.m = cython.cast(cython.int, hypothesis_at[g.pair + 1] - g.h0)
        used = g.written
        p = 0
        if g.n == g.m:
            while p < g.n and g.source[g.s0 + p] == g.hypothesis[g.h0 + p]:
                p += 1
        if g.n == g.m and p == g.n:  # unchanged: the diagonal is the only path, and no edit
            for r in range(first[g.pair], first[g.pair + 1]):
                edit_at[r + 1] = used
            g.pair += 1
            continue
        status = _build(g, most)
        if status != DONE:
            return status
        for r in range(first[g.pair], first[g.pair + 1]):
            _weigh(g)
            _weigh_gold(g, gold, gold.at[r], gold.at[r + 1])
            _find_path(g)
            used = _write_path(g, edits, used)
            if used < 0:
                return MORE_EDITS
            edit_at[r + 1] = used
        g.written = used
        g.pair += 1
    return DONE


def propose(
    source: cython.int[::1],
    source_at: cython.longlong[::1],
    hypothesis: cython.int[::1],
    hypothesis_at: cython.longlong[::1],
    first: cython.longlong[::1],
    gold,
    max_unchanged: cython.int,
    limit: cython.int,
):
    """The edits proposed against each reference: rows (start, end, left, right) and their offsets.

    Hypothesis tokens ``left:right`` replace source tokens ``start:end``. The references of
    sentence ``i`` are ``first[i]:first[i + 1]``; ``gold`` holds their edits (see
    `errata.metrics.m2.matching.GoldEdits`). ``limit`` bounds the arcs of one pair.
    """
    offsets("source_at", source_at, len(source))
    offsets("hypothesis_at", hypothesis_at, len(hypothesis), len(source_at) - 1)
    gold_fits(gold, first, np.diff(source_at))
    rows = np.diff(source_at) + 1
    columns = np.diff(hypothesis_at) + 1
    within("tokens of a pair", rows + columns, SHORTS)
    within("max_unchanged", max_unchanged, SHORTS)
    within("limit", limit, LARGEST, 1)
    within("cells of a table", rows * columns, LARGEST)
    cells: cython.Py_ssize_t = int(np.max(rows * columns, initial=1))
    room: cython.int = cython.cast(cython.int, cells if cells <= limit else limit + 1)
    g: _Graph = _Graph()
    g.size_table(
        cells,
        int(np.max(columns, initial=1)),
        int(np.max(rows, initial=1)),
        int(np.max(np.diff(gold[0]), initial=0)),
    )
    g.size_vertices(min(room, 2_048))
    g.size_arcs(min(limit, 16_384))
    references: cython.Py_ssize_t = first[first.shape[0] - 1]
    found = np.zeros((2 * references + 64, 4), np.intc)
    edits: cython.int[:, ::1] = found
    ends = np.zeros(references + 1, np.int64)
    edit_at: cython.longlong[::1] = ends
    g.pair = 0
    g.pairs = source_at.shape[0] - 1
    g.written = 0
    status: cython.int = MORE_EDITS
    if not cython.compiled:
        source, source_at, hypothesis, hypothesis_at, first = (
            each.tolist() for each in (source, source_at, hypothesis, hypothesis_at, first)
        )
        gold = tuple(each.tolist() for each in gold)
    g.source = source
    g.hypothesis = hypothesis
    wanted: _Gold = _Gold(gold)
    while status != DONE:
        with cython.nogil:
            status = _run(g, wanted, source_at, hypothesis_at, first, max_unchanged, edits, edit_at)
        if status == MORE_EDITS:
            found = np.concatenate([found, np.zeros_like(found)])
            edits = found
        elif status == MORE_VERTICES and g.vertex_room < room:
            g.size_vertices(min(room, 4 * g.vertex_room))
        elif status == MORE_ARCS and g.arc_room < limit:
            g.size_arcs(min(limit, 4 * g.arc_room))
        elif status != DONE:
            for r in range(first[g.pair], first[g.pair + 1]):
                rows = propose_long(
                    g.table,
                    g.n,
                    g.m,
                    source,
                    g.s0,
                    hypothesis,
                    g.h0,
                    wanted.at[r],
                    wanted.at[r + 1],
                    gold,
                    max_unchanged,
                )
                while len(found) < g.written + len(rows):
                    found = np.concatenate([found, np.zeros_like(found)])
                found[g.written : g.written + len(rows)] = rows
                g.written += len(rows)
                edit_at[r + 1] = g.written
            edits = found
            g.pair += 1
    return found[: g.written], ends


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
    offsets("hypothesis_at", hypothesis_at, len(hypothesis), len(first) - 1)
    lengths = np.diff(np.asarray(hypothesis_at))
    gold_fits(gold, first, np.full(len(lengths), LARGEST))
    shaped("edits", edits, -1, 4)
    same_size(edits=edits, keep=keep)
    offsets("edit_at", edit_at, len(edits), len(gold[0]) - 1)
    whose = np.repeat(np.arange(len(lengths)), np.diff(np.asarray(first)))
    rows = np.asarray(edits)
    edits_fit(edit_at, rows[:, 2], rows[:, 3], lengths[whose], apart=False)
    counted = np.zeros((edit_at.shape[0] - 1, 2), np.int64)
    counts: cython.longlong[:, ::1] = counted
    matched = np.full(len(gold[1]), -1, np.int64)
    met: cython.longlong[::1] = matched
    wanted: _Gold = _Gold(gold)
    i: cython.Py_ssize_t
    r: cython.Py_ssize_t
    e: cython.Py_ssize_t
    x: cython.Py_ssize_t
    h0: cython.Py_ssize_t
    behind: cython.Py_ssize_t
    with cython.nogil:
        for i in range(first.shape[0] - 1):
            h0 = hypothesis_at[i]
            for r in range(first[i], first[i + 1]):
                behind = wanted.at[r]
                for e in range(edit_at[r], edit_at[r + 1]):
                    if keep[e] == 0:
                        continue
                    counts[r, 1] += 1
                    for x in range(behind, wanted.at[r + 1]):
                        if (
                            edits[e, 0] == wanted.start[x]
                            and edits[e, 1] == wanted.end[x]
                            and _is_correction(
                                wanted, x, hypothesis, h0 + edits[e, 2], h0 + edits[e, 3]
                            )
                        ):
                            counts[r, 0] += 1
                            met[x] = e
                            behind = x + 1
                            if once:
                                break
    return counted, matched
