"""Damerau–Levenshtein alignment of token sequences, a batch at a time.

Tokens are numbers into a vocabulary of which each entry has a folded number (equal where only
case differs), a class (word, punctuation, with digits) and its folded characters. Costs are
integers, in thousandths, so that compiled and uncompiled runs give the same alignment.

Costs follow Felice et al. (2016) with what needs no tagger in the place of lemma and part of
speech: inserting or deleting a token costs 1; exchanging tokens that differ in case only .05;
other exchanges 0 or .499 (same stem or not), plus 0, .25 or .499 (both punctuation or numbers,
both words, mixed), plus 1 - the share of characters in common; a window of k tokens in another
order costs k - 1.
"""

import cython
import numpy as np

INSERT = cython.declare(cython.int, 1)
DELETE = cython.declare(cython.int, 2)
SUBSTITUTE = cython.declare(cython.int, 3)
TRANSPOSE = cython.declare(cython.int, 4)  # and the width of the window, times 8

UNRELATED = cython.declare(cython.int, 0)
CASE = cython.declare(cython.int, 1)
INFLECTION = cython.declare(cython.int, 2)
SPELLING = cython.declare(cython.int, 3)

WORD = cython.declare(cython.int, 0)
WINDOW = cython.declare(cython.int, 50)  # widest change of word order looked for, in tokens
BITS = cython.declare(cython.int, 62)  # characters one machine word compares at once
FULL = cython.declare(cython.longlong, 0x3FFFFFFFFFFFFFFF)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def mark(
    chars: cython.int[::1],
    start: cython.int,
    end: cython.int,
    masks: cython.longlong[::1],
    on: cython.bint,
) -> cython.void:
    """Set, or clear, the positions at which each character stands in a token."""
    i: cython.int
    bit: cython.longlong = 1
    if end - start > BITS:
        end = start + BITS
    for i in range(start, end):
        if on:
            masks[chars[i]] |= bit
            bit = bit * 2
        else:
            masks[chars[i]] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def common(
    chars: cython.int[::1],
    a: cython.int,
    a_end: cython.int,
    b: cython.int,
    b_end: cython.int,
    masks: cython.longlong[::1],
    row: cython.int[::1],
) -> cython.int:
    """Length of the longest common subsequence of two tokens; ``masks`` are marked with a's.

    Bit-parallel (Hyyrö 2004) up to 62 characters, the textbook table beyond.
    """
    state: cython.longlong = FULL
    hit: cython.longlong
    i: cython.int
    j: cython.int
    count: cython.int = 0
    diagonal: cython.int
    above: cython.int
    if a_end - a <= BITS:
        for j in range(b, b_end):
            hit = state & masks[chars[j]]
            state = ((state + hit) | (state - hit)) & FULL
        i = a_end - a
        while i > 0:
            if state & 1 == 0:
                count += 1
            state = state // 2
            i -= 1
        return count
    for i in range(a_end - a + 1):
        row[i] = 0
    for j in range(b, b_end):
        diagonal = 0
        for i in range(a_end - a):
            above = row[i + 1]
            if chars[a + i] == chars[j]:
                row[i + 1] = diagonal + 1
            elif row[i] > above:
                row[i + 1] = row[i]
            diagonal = above
    return row[a_end - a]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def same_stem(
    chars: cython.int[::1], a: cython.int, a_end: cython.int, b: cython.int, b_end: cython.int
) -> cython.bint:
    """Whether two words begin alike and differ at their ends, or one only has a prefix more.

    The common beginning must be a whole word of at least two characters, or at least three
    characters and half of the shorter word; the ends may be up to four characters (three
    after a whole word). A prefix must have two or three characters, before at least three.
    """
    prefix: cython.int = 0
    suffix: cython.int = 0
    m: cython.int = a_end - a
    n: cython.int = b_end - b
    shorter: cython.int = m if m < n else n
    longer: cython.int = n if m < n else m
    while prefix < shorter and chars[a + prefix] == chars[b + prefix]:
        prefix += 1
    if prefix == shorter:
        return prefix >= 2 and longer - prefix <= 3
    while suffix < shorter - prefix and chars[a_end - 1 - suffix] == chars[b_end - 1 - suffix]:
        suffix += 1
    if suffix == shorter:
        return suffix >= 3 and 2 <= longer - suffix <= 3
    return prefix >= 3 and 2 * prefix >= shorter and longer - prefix <= 4 and suffix == 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def misspelt(
    chars: cython.int[::1],
    a: cython.int,
    a_end: cython.int,
    b: cython.int,
    b_end: cython.int,
    lcs: cython.int,
) -> cython.bint:
    """Whether two words look like one word spelt in two ways.

    At least seven tenths of the characters in common in words of four or more, or two
    neighbouring characters exchanged in words of three or more.
    """
    m: cython.int = a_end - a
    n: cython.int = b_end - b
    i: cython.int = 0
    j: cython.int
    if m >= 4 and n >= 4 and 20 * lcs >= 7 * (m + n):
        return True
    if m != n or m < 3:
        return False
    while i < m and chars[a + i] == chars[b + i]:
        i += 1
    if i + 1 >= m or chars[a + i] != chars[b + i + 1] or chars[a + i + 1] != chars[b + i]:
        return False
    j = i + 2
    while j < m and chars[a + j] == chars[b + j]:
        j += 1
    return j == m


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def exchange(
    x: cython.int,
    y: cython.int,
    folded: cython.int[::1],
    classes: cython.int[::1],
    chars: cython.int[::1],
    starts: cython.int[::1],
    masks: cython.longlong[::1],
    row: cython.int[::1],
) -> cython.int:
    """What it costs to exchange token x for token y; ``masks`` are marked with x."""
    length: cython.int
    cost: cython.int
    if x == y:
        return 0
    if folded[x] == folded[y]:
        return 50
    length = starts[x + 1] - starts[x] + starts[y + 1] - starts[y]
    cost = (
        1000
        - 2000
        * common(chars, starts[x], starts[x + 1], starts[y], starts[y + 1], masks, row)
        // length
    )
    if classes[x] != classes[y]:
        return cost + 998
    if classes[x] != WORD:
        return cost + 499
    if same_stem(chars, starts[x], starts[x + 1], starts[y], starts[y + 1]):
        return cost + 250
    return cost + 749


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def reordered(
    i: cython.int,
    j: cython.int,
    source: cython.int,
    target: cython.int,
    src: cython.int[::1],
    tgt: cython.int[::1],
    folded: cython.int[::1],
    present: cython.int[::1],
    balance: cython.int[::1],
) -> cython.int:
    """The narrowest window ending at tokens i and j whose tokens differ in order only, or 0.

    ``present`` holds 3 for tokens of both sentences: no window reaches over another token. As
    in ERRANT, none reaches over a pair of equal tokens either.
    """
    k: cython.int = 0
    open_: cython.int = 0
    x: cython.int
    y: cython.int
    found: cython.int = 0
    while k < WINDOW and i - k >= 0 and j - k >= 0:
        x = folded[src[source + i - k]]
        y = folded[tgt[target + j - k]]
        if present[x] != 3 or present[y] != 3 or (x == y):
            break
        k += 1
        open_ += 1 if balance[x] >= 0 else -1
        balance[x] += 1
        open_ += 1 if balance[y] <= 0 else -1
        balance[y] -= 1
        if open_ == 0:
            found = k
            break
    while k > 0:
        k -= 1
        balance[folded[src[source + i - k]]] = 0
        balance[folded[tgt[target + j - k]]] = 0
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def fill(
    source: cython.int,
    n: cython.int,
    target: cython.int,
    m: cython.int,
    src: cython.int[::1],
    tgt: cython.int[::1],
    folded: cython.int[::1],
    classes: cython.int[::1],
    chars: cython.int[::1],
    starts: cython.int[::1],
    masks: cython.longlong[::1],
    row: cython.int[::1],
    present: cython.int[::1],
    balance: cython.int[::1],
    costs: cython.int[::1],
    steps: cython.int[::1],
) -> cython.void:
    """Fill the table of one sentence: cheapest cost and last step of every pair of prefixes."""
    width: cython.Py_ssize_t = m + 1
    at: cython.Py_ssize_t
    i: cython.int
    j: cython.int
    k: cython.int
    best: cython.int
    step: cython.int
    x: cython.int
    for j in range(m + 1):
        costs[j] = 1000 * j
        steps[j] = INSERT
    for i in range(1, n + 1):
        x = src[source + i - 1]
        mark(chars, starts[x], starts[x + 1], masks, True)
        at = i * width
        costs[at] = 1000 * i
        steps[at] = DELETE
        for j in range(1, m + 1):
            at = i * width + j
            best = costs[at - width - 1] + exchange(
                x, tgt[target + j - 1], folded, classes, chars, starts, masks, row
            )
            step = SUBSTITUTE
            if costs[at - 1] + 1000 < best:
                best = costs[at - 1] + 1000
                step = INSERT
            if costs[at - width] + 1000 < best:
                best = costs[at - width] + 1000
                step = DELETE
            k = reordered(i - 1, j - 1, source, target, src, tgt, folded, present, balance)
            if k > 0 and costs[at - k * width - k] + 1000 * (k - 1) <= best:
                best = costs[at - k * width - k] + 1000 * (k - 1)
                step = TRANSPOSE + 8 * k
            costs[at] = best
            steps[at] = step
        mark(chars, starts[x], starts[x + 1], masks, False)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def relate(
    x: cython.int,
    y: cython.int,
    folded: cython.int[::1],
    classes: cython.int[::1],
    chars: cython.int[::1],
    starts: cython.int[::1],
    masks: cython.longlong[::1],
    row: cython.int[::1],
) -> cython.int:
    """How two exchanged tokens are related."""
    lcs: cython.int
    if folded[x] == folded[y]:
        return CASE
    if classes[x] != WORD or classes[y] != WORD:
        return UNRELATED
    if same_stem(chars, starts[x], starts[x + 1], starts[y], starts[y + 1]):
        return INFLECTION
    mark(chars, starts[x], starts[x + 1], masks, True)
    lcs = common(chars, starts[x], starts[x + 1], starts[y], starts[y + 1], masks, row)
    mark(chars, starts[x], starts[x + 1], masks, False)
    if misspelt(chars, starts[x], starts[x + 1], starts[y], starts[y + 1], lcs):
        return SPELLING
    return UNRELATED


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def trace(
    sentence: cython.int,
    source: cython.int,
    n: cython.int,
    target: cython.int,
    m: cython.int,
    src: cython.int[::1],
    tgt: cython.int[::1],
    folded: cython.int[::1],
    classes: cython.int[::1],
    chars: cython.int[::1],
    starts: cython.int[::1],
    masks: cython.longlong[::1],
    row: cython.int[::1],
    steps: cython.int[::1],
    out: cython.int[:, ::1],
    count: cython.int,
) -> cython.int:
    """Write the steps of one sentence that change something, in order; return the new count."""
    width: cython.Py_ssize_t = m + 1
    i: cython.int = n
    j: cython.int = m
    step: cython.int
    back_i: cython.int
    back_j: cython.int
    first: cython.int = count
    last: cython.int
    c: cython.int
    swap: cython.int
    while i > 0 or j > 0:
        step = steps[i * width + j]
        back_i = i
        back_j = j
        if step == INSERT:
            back_j = j - 1
        elif step == DELETE:
            back_i = i - 1
        elif step == SUBSTITUTE:
            back_i = i - 1
            back_j = j - 1
        else:
            back_i = i - step // 8
            back_j = j - step // 8
            step = TRANSPOSE
        if not (step == SUBSTITUTE and src[source + back_i] == tgt[target + back_j]):
            out[count, 0] = sentence
            out[count, 1] = step
            out[count, 2] = back_i
            out[count, 3] = i
            out[count, 4] = back_j
            out[count, 5] = j
            out[count, 6] = UNRELATED
            if step == SUBSTITUTE:
                out[count, 6] = relate(
                    src[source + back_i],
                    tgt[target + back_j],
                    folded,
                    classes,
                    chars,
                    starts,
                    masks,
                    row,
                )
            count += 1
        i = back_i
        j = back_j
    last = count - 1
    while first < last:
        for c in range(7):
            swap = out[first, c]
            out[first, c] = out[last, c]
            out[last, c] = swap
        first += 1
        last -= 1
    return count


def align(
    src: cython.int[::1],
    src_offsets: cython.longlong[::1],
    tgt: cython.int[::1],
    tgt_offsets: cython.longlong[::1],
    folded: cython.int[::1],
    classes: cython.int[::1],
    chars: cython.int[::1],
    starts: cython.int[::1],
    alphabet: cython.int,
):
    """Align each source with its target; the changing steps, one row each, in order.

    A row is: sentence, step (1 insert, 2 delete, 3 exchange, 4 reorder), source start and end,
    target start and end, relation of exchanged tokens (0 none, 1 case, 2 inflection, 3 spelling).
    """
    size: cython.Py_ssize_t = src_offsets.shape[0] - 1
    s: cython.Py_ssize_t
    i: cython.int
    n: cython.int
    m: cython.int
    source: cython.int
    target: cython.int
    count: cython.int = 0
    lengths_n = np.diff(np.asarray(src_offsets))
    lengths_m = np.diff(np.asarray(tgt_offsets))
    cells = int(((lengths_n + 1) * (lengths_m + 1)).max()) if size else 0
    lengths = np.diff(np.asarray(starts))
    costs: cython.int[::1] = np.zeros(cells, np.intc)
    steps: cython.int[::1] = np.zeros(cells, np.intc)
    masks: cython.longlong[::1] = np.zeros(alphabet, np.int64)
    row: cython.int[::1] = np.zeros(int(lengths.max(initial=0)) + 1, np.intc)
    present: cython.int[::1] = np.zeros(folded.shape[0], np.intc)
    balance: cython.int[::1] = np.zeros(folded.shape[0], np.intc)
    found = np.zeros((src.shape[0] + tgt.shape[0], 7), np.intc)
    out: cython.int[:, ::1] = found
    with cython.nogil:
        for s in range(size):
            source = src_offsets[s]
            n = src_offsets[s + 1] - source
            target = tgt_offsets[s]
            m = tgt_offsets[s + 1] - target
            if n == m:
                i = 0
                while i < n and src[source + i] == tgt[target + i]:
                    i += 1
                if i == n:
                    continue
            for i in range(n):
                present[folded[src[source + i]]] |= 1
            for i in range(m):
                present[folded[tgt[target + i]]] |= 2
            fill(
                source,
                n,
                target,
                m,
                src,
                tgt,
                folded,
                classes,
                chars,
                starts,
                masks,
                row,
                present,
                balance,
                costs,
                steps,
            )
            count = trace(
                s,
                source,
                n,
                target,
                m,
                src,
                tgt,
                folded,
                classes,
                chars,
                starts,
                masks,
                row,
                steps,
                out,
                count,
            )
            for i in range(n):
                present[folded[src[source + i]]] = 0
            for i in range(m):
                present[folded[tgt[target + i]]] = 0
    return found[:count].copy()
