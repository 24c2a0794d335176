"""MaxMatch for pairs with too many phrase edits to list: a state machine over the cells.

The objective is the M2 scorer's: most gold edits matched, then fewest steps outside them, then
fewest other edits, each with at most so many unchanged words. An edit need not be listed to be
counted: a cell is reached either between edits or inside one with so many unchanged words so far,
so that cost and memory grow with the cells. Left out are accidents of the official
program (arcs listed twice, an unchanged-word count that belongs to the first of several ways).
"""

import cython
import numpy as np

from errata.kernels._doors import gold_fits, refuse, within

# What a path costs: least for gold edits, then by steps, then by edits.
GOLD_EDIT = cython.declare(cython.const_longlong, 1 << 40)
STEP = cython.declare(cython.const_longlong, 1 << 20)
UNREACHED = cython.declare(cython.const_longlong, 1 << 60)

# Bits of a cell of the table, as in `errata.kernels.maxmatch`.
DIAGONAL = cython.declare(cython.const_int, 1 | 8)
UP = cython.declare(cython.const_int, 2 | 16)
LEFT = cython.declare(cython.const_int, 4 | 32)
INSIDE = cython.declare(cython.const_int, 64 | 128)

# How a cell between edits is reached, unless by the end of an edit.
UNCHANGED_WORD = cython.declare(cython.const_int, -1)
MATCHED_EDIT = cython.declare(cython.const_int, -2)

# How a cell inside an edit is reached, and, added, whether the edit begins there.
FROM_DIAGONAL = cython.declare(cython.const_int, 1)
FROM_ABOVE = cython.declare(cython.const_int, 2)
FROM_LEFT = cython.declare(cython.const_int, 3)
BEGINS = cython.declare(cython.const_int, 4)

# Whether a gold edit was looked for, and whether an insertion took it.
TRIED = cython.declare(cython.const_int, 1)
TAKEN = cython.declare(cython.const_int, 2)

FAR_AWAY = cython.declare(cython.const_int, 1 << 30)  # more steps than any phrase edit has


@cython.cclass
class _Pair:
    """One pair of sentences, the gold edits of one reference, and room for the search."""

    # the lattice, and the tokens
    table: cython.uchar[::1]
    source: cython.int[::1]
    hypothesis: cython.int[::1]
    n: cython.int
    m: cython.int
    most: cython.int
    # the gold edits of all references, this one's and which of them are taken
    gold_start: cython.int[::1]
    gold_end: cython.int[::1]
    alternative_at: cython.longlong[::1]
    token_at: cython.longlong[::1]
    tokens: cython.int[::1]
    g0: cython.Py_ssize_t
    g1: cython.Py_ssize_t
    used: cython.uchar[::1]
    # one row of the nodes reached from the start of a phrase edit
    steps: cython.int[::1]
    unchanged: cython.int[::1]
    # the phrase edits that are gold, in two orders, the cost up to each and whether it was best
    matches: cython.int[:, ::1]
    by_start: cython.longlong[::1]
    by_end: cython.longlong[::1]
    value: cython.longlong[::1]
    won: cython.uchar[::1]
    # the cheapest way to the cells of two rows, and where the ways to all cells come from
    states: cython.int
    unlimited: cython.bint
    between: cython.longlong[:, ::1]
    inside: cython.longlong[:, :, ::1]
    back_between: cython.short[::1]
    back_inside: cython.uchar[::1]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_arc(
    pair: _Pair, start: cython.int, end: cython.int, left: cython.int, right: cython.int
) -> cython.bint:
    """Whether the phrase edit from (start, left) to (end, right) exists, and is no longer noop.

    ``steps`` and ``unchanged`` hold a row of the nodes reached from the start: 0 steps are the
    start itself, -1 is out of reach. Each row is written over the one before.
    """
    steps: cython.int[::1] = pair.steps
    unchanged: cython.int[::1] = pair.unchanged
    most: cython.int = pair.most
    width: cython.Py_ssize_t = pair.m + 1
    i: cython.int
    j: cython.int
    bits: cython.int
    best: cython.int
    kept: cython.int
    words: cython.int
    same: cython.int
    above: cython.int = -1  # steps and unchanged words of the cell above to the left
    above_words: cython.int = 0
    next_above: cython.int
    next_words: cython.int
    for i in range(start, end + 1):
        above = -1
        for j in range(left, right + 1):
            if i == start and j == left:
                steps[j] = 0
                unchanged[j] = 0
                continue
            next_above = -1 if i == start else steps[j]
            next_words = 0 if i == start else unchanged[j]
            bits = pair.table[width * i + j]
            best = FAR_AWAY
            kept = 0
            if bits & DIAGONAL and above >= 0:
                same = 1 if pair.source[i - 1] == pair.hypothesis[j - 1] else 0
                words = above_words + same
                if above == 0 or words <= most:
                    best = above + 1
                    kept = words
            if (
                bits & UP
                and next_above >= 0
                and next_above + 1 < best
                and (next_above == 0 or next_words <= most)
            ):
                best = next_above + 1
                kept = next_words
            if (
                bits & LEFT
                and j > left
                and steps[j - 1] >= 0
                and steps[j - 1] + 1 < best
                and (steps[j - 1] == 0 or unchanged[j - 1] <= most)
            ):
                best = steps[j - 1] + 1
                kept = unchanged[j - 1]
            above = next_above
            above_words = next_words
            steps[j] = best if best < FAR_AWAY else -1
            unchanged[j] = kept
    return steps[right] == 1 or (steps[right] > 1 and unchanged[right] < steps[right])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _stands(
    pair: _Pair, correction: cython.Py_ssize_t, left: cython.int, right: cython.int
) -> cython.bint:
    """Whether hypothesis tokens ``left:right`` are a correction, as long as they are."""
    t: cython.Py_ssize_t = pair.token_at[correction]
    p: cython.int = left
    while p < right and pair.hypothesis[p] == pair.tokens[t + p - left]:
        p += 1
    return p == right


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _find_matches(pair: _Pair) -> cython.Py_ssize_t:
    """List the phrase edits that are gold; how many there are (more than there is room for).

    A gold insertion serves once: insertions take gold edits from left to right.
    """
    table: cython.uchar[::1] = pair.table
    used: cython.uchar[::1] = pair.used
    g0: cython.Py_ssize_t = pair.g0
    width: cython.Py_ssize_t = pair.m + 1
    found: cython.Py_ssize_t = 0
    x: cython.Py_ssize_t
    y: cython.Py_ssize_t
    t: cython.Py_ssize_t
    last: cython.Py_ssize_t
    start: cython.int
    end: cython.int
    j: cython.int
    right: cython.int
    reach: cython.int
    insertion: cython.bint
    for x in range(g0, pair.g1):
        used[x - g0] = 0
    for x in range(g0, pair.g1):
        start = pair.gold_start[x]
        end = pair.gold_end[x]
        insertion = start == end
        if used[x - g0]:
            continue
        last = pair.g1 if insertion else x + 1
        reach = 0
        for j in range(pair.m + 1):
            if table[width * start + j] & INSIDE == 0 or (insertion and j < reach):
                continue
            for y in range(x, last):
                if pair.gold_start[y] != start or pair.gold_end[y] != end:
                    continue
                if used[y - g0] == TAKEN:
                    continue
                used[y - g0] = TRIED
                for t in range(pair.alternative_at[y], pair.alternative_at[y + 1]):
                    right = j + cython.cast(cython.int, pair.token_at[t + 1] - pair.token_at[t])
                    if right > pair.m or (insertion and right == j):
                        continue
                    if table[width * end + right] & INSIDE == 0 or not _stands(pair, t, j, right):
                        continue
                    if not _is_arc(pair, start, end, j, right):
                        continue
                    if found < pair.matches.shape[0]:
                        pair.matches[found, 0] = start
                        pair.matches[found, 1] = end
                        pair.matches[found, 2] = j
                        pair.matches[found, 3] = right
                    found += 1
                    if insertion:
                        used[y - g0] = TAKEN
                        reach = right
                        break
                if insertion and used[y - g0] == TAKEN and reach > j:
                    break
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search(pair: _Pair) -> cython.void:
    """The cheapest way to every cell, between edits and inside one, and where it comes from.

    ``back_between`` of a cell is how it is reached (see the constants), or, by the end of an edit,
    how many unchanged words the edit has; ``back_inside`` with so many of them likewise.
    """
    states: cython.int = pair.states
    matches: cython.int[:, ::1] = pair.matches
    by_start: cython.longlong[::1] = pair.by_start
    by_end: cython.longlong[::1] = pair.by_end
    value: cython.longlong[::1] = pair.value
    between: cython.longlong[:, ::1] = pair.between
    inside: cython.longlong[:, :, ::1] = pair.inside
    back_inside: cython.uchar[::1] = pair.back_inside
    width: cython.Py_ssize_t = pair.m + 1
    i: cython.int
    j: cython.int
    u: cython.int
    k: cython.Py_ssize_t
    bits: cython.int
    at: cython.Py_ssize_t
    way: cython.int
    source_row: cython.int
    p: cython.int
    same: cython.bint
    cost: cython.longlong
    best: cython.longlong
    chosen: cython.int
    now: cython.int
    ending: cython.Py_ssize_t = 0
    starting: cython.Py_ssize_t = 0
    for i in range(pair.n + 1):
        now = i & 1
        for j in range(pair.m + 1):
            at = width * i + j
            bits = pair.table[at]
            if bits & INSIDE == 0:
                continue
            best = 0 if i == 0 and j == 0 else UNREACHED
            chosen = UNCHANGED_WORD
            for u in range(states):
                inside[now, j, u] = UNREACHED
            for way in range(FROM_DIAGONAL, FROM_LEFT + 1):
                if bits & (DIAGONAL << (way - FROM_DIAGONAL)) == 0:
                    continue
                source_row = now if way == FROM_LEFT else 1 - now
                p = j if way == FROM_ABOVE else j - 1
                same = way == FROM_DIAGONAL and pair.source[i - 1] == pair.hypothesis[j - 1]
                if same:
                    best = between[source_row, p] + STEP
                else:
                    cost = between[source_row, p] + STEP + 1
                    if cost < inside[now, j, 0]:
                        inside[now, j, 0] = cost
                        back_inside[at * states] = way + BEGINS
                for u in range(states):
                    if same and not pair.unlimited:
                        if u == 0:
                            continue
                        cost = inside[source_row, p, u - 1] + STEP
                    else:
                        cost = inside[source_row, p, u] + STEP
                    if cost < inside[now, j, u]:
                        inside[now, j, u] = cost
                        back_inside[at * states + u] = way
            for u in range(states):
                if inside[now, j, u] < best:
                    best = inside[now, j, u]
                    chosen = u
            while (
                ending < by_end.shape[0]
                and matches[by_end[ending], 1] == i
                and matches[by_end[ending], 3] == j
            ):
                k = by_end[ending]
                if value[k] < best:
                    best = value[k]
                    chosen = MATCHED_EDIT
                    pair.won[k] = 1
                ending += 1
            between[now, j] = best
            pair.back_between[at] = chosen
            while (
                starting < by_start.shape[0]
                and matches[by_start[starting], 0] == i
                and matches[by_start[starting], 2] == j
            ):
                value[by_start[starting]] = best - GOLD_EDIT
                starting += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _trace(pair: _Pair, edits: cython.int[:, ::1]) -> cython.Py_ssize_t:
    """Write the edits of the best path, from right to left; how many there are."""
    u: cython.int
    end: cython.int
    right: cython.int
    at: cython.Py_ssize_t
    k: cython.Py_ssize_t
    way: cython.int
    matches: cython.int[:, ::1] = pair.matches
    width: cython.Py_ssize_t = pair.m + 1
    count: cython.Py_ssize_t = 0
    i: cython.int = pair.n
    j: cython.int = pair.m
    low: cython.Py_ssize_t = pair.by_end.shape[0]
    while i > 0 or j > 0:
        at = width * i + j
        u = pair.back_between[at]
        end = i
        right = j
        if u == UNCHANGED_WORD:
            i -= 1
            j -= 1
            continue
        if u == MATCHED_EDIT:  # the last to win at this cell is the best of those that end there
            low -= 1
            k = pair.by_end[low]
            while matches[k, 1] != i or matches[k, 3] != j or pair.won[k] == 0:
                low -= 1
                k = pair.by_end[low]
            i = matches[k, 0]
            j = matches[k, 2]
            if end - i == 1 and right - j == 1 and pair.source[i] == pair.hypothesis[j]:
                continue
        else:
            way = 0
            while way < BEGINS:
                way = pair.back_inside[(width * i + j) * pair.states + u]
                if way % BEGINS != FROM_LEFT:
                    i -= 1
                if way % BEGINS != FROM_ABOVE:
                    j -= 1
                if (
                    way == FROM_DIAGONAL
                    and not pair.unlimited
                    and pair.source[i] == pair.hypothesis[j]
                ):
                    u -= 1
        edits[count, 0] = i
        edits[count, 1] = end
        edits[count, 2] = j
        edits[count, 3] = right
        count += 1
    return count


def _room(size, kind):
    """Zeros: an array, or a list where the kernel runs as plain Python, whose numbers are whole."""
    return np.zeros(size, kind) if cython.compiled else [0] * size


def _check_lattice(table, n, m):
    """Refuse a table in which a way back from the last cell would not end in the first."""
    inside = table & INSIDE > 0
    ways = [table & bits > 0 for bits in (DIAGONAL, UP, LEFT)]
    outward = ways[0][0].any() or ways[0][:, 0].any() or ways[1][0].any() or ways[2][:, 0].any()
    lost = inside & ~(ways[0] | ways[1] | ways[2])
    lost[0, 0] = not inside[0, 0]
    astray = (
        (inside & ways[0])[1:, 1:] & ~inside[:n, :m],
        (inside & ways[1])[1:] & ~inside[:n],
        (inside & ways[2])[:, 1:] & ~inside[:, :m],
    )
    if outward or lost.any() or not inside[n, m] or any(each.any() for each in astray):
        raise refuse("the table is no lattice")


def propose_long(
    table: cython.uchar[::1],
    n: cython.int,
    m: cython.int,
    source: cython.int[::1],
    s0: cython.Py_ssize_t,
    hypothesis: cython.int[::1],
    h0: cython.Py_ssize_t,
    g0: cython.Py_ssize_t,
    g1: cython.Py_ssize_t,
    gold,
    max_unchanged: cython.int,
):
    """The edits of one pair against one reference: rows (start, end, left, right).

    ``table`` is the lattice of the pair (see `errata.kernels.maxmatch`); the pair's tokens start
    at ``s0`` and ``h0``, the edits of the reference are ``g0:g1`` of ``gold``.
    """
    within("tokens of a pair", n + m, 2**15 - 1)
    within("n, m and max_unchanged", (n, m, max_unchanged), 2**15 - 1)
    within("cells of the table", (n + 1) * (m + 1), len(table) + 1)
    _check_lattice(np.asarray(table, np.uint8)[: (n + 1) * (m + 1)].reshape(n + 1, m + 1), n, m)
    within("s0", (s0, s0 + n), len(source) + 1)
    within("h0", (h0, h0 + m), len(hypothesis) + 1)
    gold_fits((np.array([g0, g1]), *gold[1:]), np.array([0, 1]), [n])
    pair: _Pair = _Pair()
    pair.table = table
    pair.n = n
    pair.m = m
    pair.source = source[s0 : s0 + n]
    pair.hypothesis = hypothesis[h0 : h0 + m]
    pair.most = max_unchanged
    _, pair.gold_start, pair.gold_end, pair.alternative_at, pair.token_at, pair.tokens = gold
    pair.g0 = g0
    pair.g1 = g1
    pair.used = _room(g1 - g0, np.uint8)
    pair.steps = _room(m + 1, np.intc)
    pair.unchanged = _room(m + 1, np.intc)
    listed = np.zeros((256, 4), np.intc)
    found: cython.Py_ssize_t
    while True:
        pair.matches = listed
        with cython.nogil:
            found = _find_matches(pair)
        if found <= len(listed):
            break
        listed = np.zeros((found, 4), np.intc)
    pair.by_start = np.lexsort((listed[:found, 2], listed[:found, 0]))
    pair.by_end = np.lexsort((listed[:found, 3], listed[:found, 1]))
    pair.value = _room(found, np.int64)
    pair.won = _room(found, np.uint8)
    pair.unlimited = max_unchanged >= min(n, m)
    pair.states = 1 if pair.unlimited else max_unchanged + 1
    cells: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, n + 1) * (m + 1)
    pair.between = np.zeros((2, m + 1), np.int64)
    pair.inside = np.zeros((2, m + 1, pair.states), np.int64)
    pair.back_between = _room(cells, np.short)
    pair.back_inside = _room(cells * pair.states, np.uint8)
    written = np.zeros((n + m, 4), np.intc)
    edits: cython.int[:, ::1] = written
    count: cython.Py_ssize_t
    with cython.nogil:
        _search(pair)
        count = _trace(pair, edits)
    return written[:count][::-1]
