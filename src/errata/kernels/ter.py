"""Translation edit rate: insertions, deletions, substitutions and shifts between token lists.

Snover et al. (2006), with the limits and the order of preference that sacrebleu took over from
Tercom: the edit distance is searched in a beam around the diagonal; greedily, the shift of a
phrase that lowers the distance most is carried out until none does. A phrase may be shifted only
if it occurs in the target too, is wrong where it stands and missing where it goes.
"""

import cython
import numpy as np

__all__ = ["count_edits"]

BEAM = cython.declare(cython.int, 25)  # cells searched on each side of the diagonal
LONGEST = cython.declare(cython.int, 10)  # words that move together
FARTHEST = cython.declare(cython.int, 50)  # words a phrase may be away from its place
TRIES = cython.declare(cython.int, 1000)  # shifts tried for one pair, after which the search ends
NEVER = cython.declare(cython.int, 1 << 28)
NOTHING = cython.declare(cython.int, 0)
SAME = cython.declare(cython.int, 1)
OTHER = cython.declare(cython.int, 2)
DROP = cython.declare(cython.int, 3)
ADD = cython.declare(cython.int, 4)


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
    words: cython.int[::1],
    n: cython.int,
    ref: cython.int[::1],
    at: cython.Py_ssize_t,
    m: cython.int,
    first: cython.int,
    cost: cython.int[:, ::1],
    step: cython.schar[:, ::1],
    trace: cython.bint,
) -> cython.int:
    """Rows ``first`` to n of the edit distance; the rows before must be there. Returns the end."""
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
                if words[i - 1] == ref[at + j - 1]:
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
def _align(
    n: cython.int,
    m: cython.int,
    step: cython.schar[:, ::1],
    align: cython.int[::1],
    wrong: cython.int[::1],
    missing: cython.int[::1],
) -> cython.void:
    """Where each target word stands, which words are wrong and which target words are missing."""
    i: cython.int = n
    j: cython.int = m
    how: cython.int
    while i > 0 or j > 0:
        how = ADD if i == 0 else DROP if j == 0 else step[i, j]
        if how in (SAME, OTHER):
            i -= 1
            j -= 1
            align[j] = i
            wrong[i] = missing[j] = 1 if how == OTHER else 0
        elif how == DROP:
            i -= 1
            wrong[i] = 1
        else:
            j -= 1
            missing[j] = 1
            align[j] = i - 1


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
def _edits(
    words: cython.int[::1],
    n: cython.int,
    ref: cython.int[::1],
    at: cython.Py_ssize_t,
    m: cython.int,
    cost: cython.int[:, ::1],
    work: cython.int[:, ::1],
    step: cython.schar[:, ::1],
    align: cython.int[::1],
    wrong: cython.int[::1],
    missing: cython.int[::1],
    moved: cython.int[::1],
) -> cython.int:
    """The edits of one pair; ``words`` is changed on the way."""
    if m == 0:
        return n
    j: cython.int
    for j in range(m + 1):
        cost[0, j] = j
    shifts: cython.int = 0
    tries: cython.int = 0
    before: cython.int
    now: cython.int
    a: cython.int
    b: cython.int
    length: cython.int
    bad: cython.int
    lacking: cython.int
    offset: cython.int
    target: cython.int
    last: cython.int
    gain: cython.int
    first: cython.int
    found: cython.bint
    better: cython.bint
    best_gain: cython.int
    best_length: cython.int
    best_start: cython.int
    best_target: cython.int
    while True:
        before = _fill(words, n, ref, at, m, 1, cost, step, True)
        _align(n, m, step, align, wrong, missing)
        found = False
        best_gain = best_length = best_start = best_target = 0
        for a in range(n):
            for b in range(m):
                if b - a > FARTHEST or a - b > FARTHEST:
                    continue
                length = bad = lacking = 0
                while (
                    length < LONGEST
                    and a + length < n
                    and b + length < m
                    and words[a + length] == ref[at + b + length]
                ):
                    bad += wrong[a + length]
                    lacking += missing[b + length]
                    length += 1
                    if bad == 0 or lacking == 0 or a <= align[b] < a + length:
                        continue
                    last = -1
                    for offset in range(-1, length):
                        target = 0 if b + offset == -1 else align[b + offset] + 1
                        if target == last:
                            continue
                        last = target
                        _move(words, n, a, length, target, moved)
                        first = a if a < target else target
                        for j in range(m + 1):
                            work[first, j] = cost[first, j]
                        now = _fill(moved, n, ref, at, m, first + 1, work, step, False)
                        gain = before - now
                        tries += 1
                        # The largest gain, then the longest phrase, the first, to the front.
                        better = gain > best_gain
                        if gain == best_gain:
                            better = length > best_length
                            if length == best_length:
                                better = a < best_start or (
                                    a == best_start and target < best_target
                                )
                        if not found or better:
                            found = True
                            best_gain, best_length = gain, length
                            best_start, best_target = a, target
                    if tries >= TRIES:
                        break
                if tries >= TRIES:
                    break
            if tries >= TRIES:
                break
        if tries >= TRIES or not found or best_gain <= 0:
            return shifts + before
        _move(words, n, best_start, best_length, best_target, moved)
        for j in range(n):
            words[j] = moved[j]
        shifts += 1


def count_edits(
    hypotheses: cython.int[::1],
    starts: cython.longlong[::1],
    references: cython.int[::1],
    goals: cython.longlong[::1],
    edits: cython.longlong[::1],
):
    """Edits of each hypothesis ``hypotheses[starts[p]:starts[p + 1]]`` towards its reference."""
    pairs: cython.Py_ssize_t = edits.shape[0]
    most: cython.Py_ssize_t = int(np.diff(starts).max(initial=0))
    goal: cython.Py_ssize_t = int(np.diff(goals).max(initial=0))
    words: cython.int[::1] = np.zeros(most + 1, np.intc)
    moved: cython.int[::1] = np.zeros(most + 1, np.intc)
    wrong: cython.int[::1] = np.zeros(most + 1, np.intc)
    align: cython.int[::1] = np.zeros(goal + 1, np.intc)
    missing: cython.int[::1] = np.zeros(goal + 1, np.intc)
    cost: cython.int[:, ::1] = np.zeros((most + 1, goal + 1), np.intc)
    work: cython.int[:, ::1] = np.zeros((most + 1, goal + 1), np.intc)
    step: cython.schar[:, ::1] = np.zeros((most + 1, goal + 1), np.int8)
    p: cython.Py_ssize_t
    k: cython.int
    n: cython.int
    m: cython.int
    with cython.nogil:
        for p in range(pairs):
            n = cython.cast(cython.int, starts[p + 1] - starts[p])
            m = cython.cast(cython.int, goals[p + 1] - goals[p])
            for k in range(n):
                words[k] = hypotheses[starts[p] + k]
            edits[p] = _edits(
                words, n, references, goals[p], m, cost, work, step, align, wrong, missing, moved
            )
