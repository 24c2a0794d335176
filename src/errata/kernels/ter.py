"""Translation edit rate: insertions, deletions, substitutions and shifts between token lists.

Snover et al. (2006), with the limits and the order of preference that sacrebleu took over from
Tercom: the edit distance is searched in a beam around the diagonal; greedily, the shift of a
phrase that lowers the distance most is carried out until none does. A phrase may be shifted only
if it occurs in the target too, is wrong where it stands and missing where it goes.
"""

import cython
import numpy as np

from errata.kernels._doors import offsets

BEAM = cython.declare(cython.const_int, 25)  # cells searched on each side of the diagonal
LONGEST = cython.declare(cython.const_int, 10)  # words that move together
FARTHEST = cython.declare(cython.const_int, 50)  # words a phrase may be away from its place
TRIES = cython.declare(cython.const_int, 1000)  # shifts tried for a pair; then the search ends
NEVER = cython.declare(cython.const_int, 1 << 28)

# How a cell of the edit distance is reached.
NOTHING = cython.declare(cython.const_int, 0)
SAME = cython.declare(cython.const_int, 1)
OTHER = cython.declare(cython.const_int, 2)
DROP = cython.declare(cython.const_int, 3)
ADD = cython.declare(cython.const_int, 4)

# The counts of a pair.
INSERTIONS = cython.declare(cython.const_int, 0)
DELETIONS = cython.declare(cython.const_int, 1)
SUBSTITUTIONS = cython.declare(cython.const_int, 2)
SHIFTS = cython.declare(cython.const_int, 3)


@cython.cclass
class _Pair:
    """One pair: n words on their way to m of all ``target`` words; room for the longest pair."""

    words: cython.int[::1]
    n: cython.int
    target: cython.int[::1]
    at: cython.Py_ssize_t  # where this pair's begin
    m: cython.int
    # the edit distance of the words, its steps, and that of the words with a phrase moved
    cost: cython.int[:, ::1]
    step: cython.schar[:, ::1]
    moved: cython.int[::1]
    work: cython.int[:, ::1]
    # where each target word stands, which words are wrong and which target words are missing
    align: cython.int[::1]
    wrong: cython.int[::1]
    missing: cython.int[::1]

    def __init__(self, target, most, goal):
        """Make room for pairs of at most so many words and target words."""
        self.target = target
        self.words, self.moved, self.wrong = np.zeros((3, most + 1), np.intc)
        self.align, self.missing = np.zeros((2, goal + 1), np.intc)
        self.cost, self.work = np.zeros((2, most + 1, goal + 1), np.intc)
        self.step = np.zeros((most + 1, goal + 1), np.int8)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _beam(ratio: cython.double) -> cython.int:
    if ratio / 2 <= BEAM:
        return BEAM
    width: cython.int = cython.cast(cython.int, ratio / 2 + BEAM)
    return width if width == ratio / 2 + BEAM else width + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill(
    pair: _Pair,
    words: cython.int[::1],
    first: cython.int,
    cost: cython.int[:, ::1],
    trace: cython.bint,
) -> cython.int:
    """Rows ``first`` to n of the edit distance; the rows before must be there. Returns the end."""
    step: cython.schar[:, ::1] = pair.step
    target: cython.int[::1] = pair.target
    at: cython.Py_ssize_t = pair.at
    n: cython.int = pair.n
    m: cython.int = pair.m
    ratio: cython.double = 1.0
    if n > 0:
        ratio = cython.cast(cython.double, m) / n
    width: cython.int = _beam(ratio)
    i: cython.int
    j: cython.int
    low: cython.int
    high: cython.int
    best: cython.int
    how: cython.int
    other: cython.int
    for i in range(first, n + 1):
        low = cython.cast(cython.int, i * ratio)
        high = low + width
        low = low - width
        if low < 0:
            low = 0
        if high > m + 1 or i == n:
            high = m + 1
        for j in range(low):
            cost[i, j] = NEVER
        for j in range(high, m + 1):
            cost[i, j] = NEVER
        for j in range(low, high):
            best = NEVER
            how = NOTHING
            if j == 0:
                best = cost[i - 1, 0] + 1
                how = DROP
            else:
                # Of equal costs: keep or replace, then drop, then add.
                if words[i - 1] == target[at + j - 1]:
                    if cost[i - 1, j - 1] < best:
                        best = cost[i - 1, j - 1]
                        how = SAME
                elif cost[i - 1, j - 1] + 1 < best:
                    best = cost[i - 1, j - 1] + 1
                    how = OTHER
                other = cost[i - 1, j] + 1
                if other < best:
                    best = other
                    how = DROP
                if j > low:
                    other = cost[i, j - 1] + 1
                    if other < best:
                        best = other
                        how = ADD
            cost[i, j] = best
            if trace:
                step[i, j] = how
    return cost[n, m]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _align(pair: _Pair, counts: cython.longlong[::1]) -> cython.void:
    """Find the place of each target word, wrong words and missing ones; count the edits."""
    align: cython.int[::1] = pair.align
    wrong: cython.int[::1] = pair.wrong
    missing: cython.int[::1] = pair.missing
    i: cython.int = pair.n
    j: cython.int = pair.m
    how: cython.int
    counts[INSERTIONS] = 0
    counts[DELETIONS] = 0
    counts[SUBSTITUTIONS] = 0
    while i > 0 or j > 0:
        how = ADD if i == 0 else DROP if j == 0 else pair.step[i, j]
        if how in (SAME, OTHER):
            i -= 1
            j -= 1
            align[j] = i
            wrong[i] = missing[j] = 1 if how == OTHER else 0
            counts[SUBSTITUTIONS] += wrong[i]
        elif how == DROP:
            i -= 1
            wrong[i] = 1
            counts[DELETIONS] += 1
        else:
            j -= 1
            missing[j] = 1
            align[j] = i - 1
            counts[INSERTIONS] += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _move(
    words: cython.int[::1],
    n: cython.int,
    start: cython.int,
    length: cython.int,
    target: cython.int,
    into: cython.int[::1],
) -> cython.void:
    """Copy words with the phrase at ``start`` moved to before ``target``."""
    k: cython.int
    left: cython.int = start
    middle: cython.int = start + length
    right: cython.int
    if target < start:
        left, middle, right = target, start, start + length
    elif target > start + length:
        right = target
    else:  # within itself: as many words further
        right = length + target
        if right > n:
            right = n
    # Two neighbouring stretches, left to middle and middle to right, change places.
    for k in range(left):
        into[k] = words[k]
    for k in range(middle, right):
        into[left + k - middle] = words[k]
    for k in range(left, middle):
        into[right - middle + k] = words[k]
    for k in range(right, n):
        into[k] = words[k]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count(pair: _Pair, counts: cython.longlong[::1]) -> cython.void:
    """The edits of one pair, whose words are changed on the way."""
    words: cython.int[::1] = pair.words
    target: cython.int[::1] = pair.target
    moved: cython.int[::1] = pair.moved
    align: cython.int[::1] = pair.align
    wrong: cython.int[::1] = pair.wrong
    missing: cython.int[::1] = pair.missing
    cost: cython.int[:, ::1] = pair.cost
    work: cython.int[:, ::1] = pair.work
    at: cython.Py_ssize_t = pair.at
    n: cython.int = pair.n
    m: cython.int = pair.m
    tries: cython.int = 0
    before: cython.int
    now: cython.int
    a: cython.int
    b: cython.int
    j: cython.int
    length: cython.int
    bad: cython.int
    lacking: cython.int
    offset: cython.int
    place: cython.int
    last: cython.int
    gain: cython.int
    first: cython.int
    found: cython.bint
    better: cython.bint
    best_gain: cython.int
    best_length: cython.int
    best_start: cython.int
    best_place: cython.int
    if m == 0:
        counts[DELETIONS] = n
        return
    for j in range(m + 1):
        cost[0, j] = j
    while True:
        before = _fill(pair, words, 1, cost, True)
        _align(pair, counts)
        found = False
        best_gain = best_length = best_start = best_place = 0
        for a in range(n):
            for b in range(m):
                if b - a > FARTHEST or a - b > FARTHEST:
                    continue
                length = bad = lacking = 0
                while (
                    length < LONGEST
                    and a + length < n
                    and b + length < m
                    and words[a + length] == target[at + b + length]
                ):
                    bad += wrong[a + length]
                    lacking += missing[b + length]
                    length += 1
                    if bad == 0 or lacking == 0 or a <= align[b] < a + length:
                        continue
                    last = -1
                    for offset in range(-1, length):
                        place = 0 if b + offset == -1 else align[b + offset] + 1
                        if place == last:
                            continue
                        last = place
                        _move(words, n, a, length, place, moved)
                        first = a if a < place else place
                        for j in range(m + 1):
                            work[first, j] = cost[first, j]
                        now = _fill(pair, moved, first + 1, work, False)
                        gain = before - now
                        tries += 1
                        # The largest gain, then the longest phrase, the first, to the front.
                        better = gain > best_gain
                        if gain == best_gain:
                            better = length > best_length
                            if length == best_length:
                                better = a < best_start or (a == best_start and place < best_place)
                        if not found or better:
                            found = True
                            best_gain, best_length = gain, length
                            best_start, best_place = a, place
                    if tries >= TRIES:
                        break
                if tries >= TRIES:
                    break
            if tries >= TRIES:
                break
        if tries >= TRIES or not found or best_gain <= 0:
            return
        _move(words, n, best_start, best_length, best_place, moved)
        for j in range(n):
            words[j] = moved[j]
        counts[SHIFTS] += 1


def count_edits(
    hypotheses: cython.int[::1],
    starts: cython.longlong[::1],
    references: cython.int[::1],
    goals: cython.longlong[::1],
):
    """Edits of each hypothesis ``hypotheses[starts[p]:starts[p + 1]]`` towards its reference.

    One row each: insertions, deletions, substitutions, shifts.
    """
    offsets("starts", starts, len(hypotheses))
    offsets("goals", goals, len(references), len(starts) - 1)
    pairs: cython.Py_ssize_t = starts.shape[0] - 1
    counted = np.zeros((pairs, 4), np.int64)
    counts: cython.longlong[:, ::1] = counted
    pair: _Pair = _Pair(
        references, int(np.diff(starts).max(initial=0)), int(np.diff(goals).max(initial=0))
    )
    p: cython.Py_ssize_t
    k: cython.int
    with cython.nogil:
        for p in range(pairs):
            pair.n = cython.cast(cython.int, starts[p + 1] - starts[p])
            pair.m = cython.cast(cython.int, goals[p + 1] - goals[p])
            pair.at = goals[p]
            for k in range(pair.n):
                pair.words[k] = hypotheses[starts[p] + k]
            _count(pair, counts[p])
    return counted
