"""Damerau–Levenshtein alignment of token sequences, a batch at a time.

Tokens are numbers into a vocabulary whose entries have a folded number (equal where only
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

from errata.kernels._doors import LARGEST, offsets, same_size, within

# Steps, as `align` gives them.
INSERT = cython.declare(cython.const_int, 1)
DELETE = cython.declare(cython.const_int, 2)
SUBSTITUTE = cython.declare(cython.const_int, 3)
TRANSPOSE = cython.declare(cython.const_int, 4)  # in a table: and the width of the window
WIDTH = cython.declare(cython.const_int, 8)  # what that width is multiplied by

# How two exchanged tokens are related.
UNRELATED = cython.declare(cython.const_int, 0)
CASE = cython.declare(cython.const_int, 1)
INFLECTION = cython.declare(cython.const_int, 2)
SPELLING = cython.declare(cython.const_int, 3)

# Costs, in thousandths: for a token inserted or deleted, and for one exchanged.
TOKEN = cython.declare(cython.const_int, 1000)
OTHER_CASE = cython.declare(cython.const_int, 50)
OTHER_STEM = cython.declare(cython.const_int, 499)
BOTH_WORDS = cython.declare(cython.const_int, 250)
MIXED = cython.declare(cython.const_int, 499)

# In which sentences a token stands.
SOURCE = cython.declare(cython.const_int, 1)
TARGET = cython.declare(cython.const_int, 2)

WORD = cython.declare(cython.const_int, 0)  # the class of words
ROOM = cython.declare(cython.const_int, 1)  # diagonals beside the direct ones filled at first
UNREACHED = cython.declare(cython.const_int, 1 << 30)
WINDOW = cython.declare(cython.const_int, 50)  # widest change of order looked for, in tokens
BITS = cython.declare(cython.const_int, 62)  # characters one machine word compares at once
FULL = cython.declare(cython.const_longlong, 0x3FFFFFFFFFFFFFFF)


@cython.cclass
class _Pair:
    """The vocabulary, one pair of sentences, and room for the table of the largest."""

    # words: folded numbers, classes, and characters from ``starts[x]`` to ``starts[x + 1]``
    folded: cython.int[::1]
    classes: cython.int[::1]
    chars: cython.int[::1]
    starts: cython.int[::1]
    # positions of each character in the marked word; a row for long words
    masks: cython.longlong[::1]
    row: cython.int[::1]
    # the tokens of all pairs; where this one's begin, and how many they are
    sources: cython.int[::1]
    targets: cython.int[::1]
    source: cython.int
    target: cython.int
    n: cython.int
    m: cython.int
    # in which sentences each folded word stands, and how often more in one than in the other
    present: cython.int[::1]
    balance: cython.int[::1]
    # cheapest cost and last step of every pair of prefixes
    costs: cython.int[::1]
    steps: cython.int[::1]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _mark(pair: _Pair, word: cython.int, on: cython.bint) -> cython.void:
    """Set, or clear, the positions of each character of a word."""
    start: cython.int = pair.starts[word]
    end: cython.int = pair.starts[word + 1]
    i: cython.int
    bit: cython.longlong = 1
    if end - start > BITS:
        end = start + BITS
    for i in range(start, end):
        if on:
            pair.masks[pair.chars[i]] |= bit
            bit = bit * 2
        else:
            pair.masks[pair.chars[i]] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _common(pair: _Pair, x: cython.int, y: cython.int) -> cython.int:
    """Return the length of the longest common subsequence of two words; x is marked.

    Bit-parallel (Hyyrö 2004) up to 62 characters, the textbook table beyond.
    """
    a: cython.int = pair.starts[x]
    length: cython.int = pair.starts[x + 1] - a
    b: cython.int = pair.starts[y]
    b_end: cython.int = pair.starts[y + 1]
    state: cython.longlong = FULL
    hit: cython.longlong
    i: cython.int
    j: cython.int
    count: cython.int = 0
    diagonal: cython.int
    above: cython.int
    if length <= BITS:
        for j in range(b, b_end):
            hit = state & pair.masks[pair.chars[j]]
            state = ((state + hit) | (state - hit)) & FULL
        while length > 0:
            if state & 1 == 0:
                count += 1
            state = state // 2
            length -= 1
        return count
    for i in range(length + 1):
        pair.row[i] = 0
    for j in range(b, b_end):
        diagonal = 0
        for i in range(length):
            above = pair.row[i + 1]
            if pair.chars[a + i] == pair.chars[j]:
                pair.row[i + 1] = diagonal + 1
            elif pair.row[i] > above:
                pair.row[i + 1] = pair.row[i]
            diagonal = above
    return pair.row[length]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _same_stem(pair: _Pair, x: cython.int, y: cython.int) -> cython.bint:
    """Whether two words begin alike and differ at their ends, or one only has a prefix more.

    The common beginning must be a whole word of at least two characters, or at least three
    characters and half of the shorter word; the ends may be up to four characters (three
    after a whole word). A prefix must have two or three characters, before at least three.
    """
    a: cython.int = pair.starts[x]
    a_end: cython.int = pair.starts[x + 1]
    b: cython.int = pair.starts[y]
    b_end: cython.int = pair.starts[y + 1]
    prefix: cython.int = 0
    suffix: cython.int = 0
    m: cython.int = a_end - a
    n: cython.int = b_end - b
    shorter: cython.int = m if m < n else n
    longer: cython.int = n if m < n else m
    while prefix < shorter and pair.chars[a + prefix] == pair.chars[b + prefix]:
        prefix += 1
    if prefix == shorter:
        return prefix >= 2 and longer - prefix <= 3
    while (
        suffix < shorter - prefix
        and pair.chars[a_end - 1 - suffix] == pair.chars[b_end - 1 - suffix]
    ):
        suffix += 1
    if suffix == shorter:
        return suffix >= 3 and 2 <= longer - suffix <= 3
    return prefix >= 3 and 2 * prefix >= shorter and longer - prefix <= 4 and suffix == 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _misspelt(pair: _Pair, x: cython.int, y: cython.int, lcs: cython.int) -> cython.bint:
    """Whether two words look like one word spelt in two ways.

    At least seven tenths of the characters in common in words of four or more, or two
    neighbouring characters exchanged in words of three or more.
    """
    a: cython.int = pair.starts[x]
    b: cython.int = pair.starts[y]
    m: cython.int = pair.starts[x + 1] - a
    n: cython.int = pair.starts[y + 1] - b
    i: cython.int = 0
    j: cython.int
    if m >= 4 and n >= 4 and 20 * lcs >= 7 * (m + n):
        return True
    if m != n or m < 3:
        return False
    while i < m and pair.chars[a + i] == pair.chars[b + i]:
        i += 1
    if (
        i + 1 >= m
        or pair.chars[a + i] != pair.chars[b + i + 1]
        or pair.chars[a + i + 1] != pair.chars[b + i]
    ):
        return False
    j = i + 2
    while j < m and pair.chars[a + j] == pair.chars[b + j]:
        j += 1
    return j == m


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _exchange(pair: _Pair, x: cython.int, y: cython.int) -> cython.int:
    """What it costs to exchange word x, which is marked, for word y."""
    length: cython.int
    cost: cython.int
    if x == y:
        return 0
    if pair.folded[x] == pair.folded[y]:
        return OTHER_CASE
    length = pair.starts[x + 1] - pair.starts[x] + pair.starts[y + 1] - pair.starts[y]
    # Two words without a letter have nothing in common; dividing by nothing would end the program.
    cost = 1000 - 2000 * _common(pair, x, y) // length if length > 0 else 1000
    if pair.classes[x] != pair.classes[y]:
        return cost + OTHER_STEM + MIXED
    if pair.classes[x] != WORD:
        return cost + OTHER_STEM
    if _same_stem(pair, x, y):
        return cost + BOTH_WORDS
    return cost + OTHER_STEM + BOTH_WORDS


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _reordered(pair: _Pair, i: cython.int, j: cython.int) -> cython.int:
    """The narrowest window ending at tokens i and j whose tokens differ in order only, or 0.

    No window reaches over a token that only one sentence has. As in ERRANT, none reaches over a
    pair of equal tokens either.
    """
    k: cython.int = 0
    open_: cython.int = 0
    x: cython.int
    y: cython.int
    found: cython.int = 0
    i += pair.source
    j += pair.target
    while k < WINDOW and i - k >= pair.source and j - k >= pair.target:
        x = pair.folded[pair.sources[i - k]]
        y = pair.folded[pair.targets[j - k]]
        if pair.present[x] != SOURCE | TARGET or pair.present[y] != SOURCE | TARGET or x == y:
            break
        k += 1
        open_ += 1 if pair.balance[x] >= 0 else -1
        pair.balance[x] += 1
        open_ += 1 if pair.balance[y] <= 0 else -1
        pair.balance[y] -= 1
        if open_ == 0:
            found = k
            break
    while k > 0:
        k -= 1
        pair.balance[pair.folded[pair.sources[i - k]]] = 0
        pair.balance[pair.folded[pair.targets[j - k]]] = 0
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill(pair: _Pair, room: cython.int) -> cython.int:
    """Fill the table of one pair; return what the alignment costs.

    Only cells at most ``room`` diagonals outside of the start and the end are filled.
    """
    costs: cython.int[::1] = pair.costs
    steps: cython.int[::1] = pair.steps
    width: cython.Py_ssize_t = pair.m + 1
    before: cython.int = room + (pair.n - pair.m if pair.n > pair.m else 0)
    behind: cython.int = room + (pair.m - pair.n if pair.m > pair.n else 0)
    at: cython.Py_ssize_t
    i: cython.int
    j: cython.int
    k: cython.int
    first: cython.int
    last: cython.int = behind if behind < pair.m else pair.m
    best: cython.int
    step: cython.int
    x: cython.int
    for j in range(last + 1):
        costs[j] = TOKEN * j
        steps[j] = INSERT
    if last < pair.m:
        costs[last + 1] = UNREACHED
    for i in range(1, pair.n + 1):
        x = pair.sources[pair.source + i - 1]
        _mark(pair, x, True)
        first = i - before
        if first > 0:
            costs[i * width + first - 1] = UNREACHED
        else:
            first = 1
            costs[i * width] = TOKEN * i
            steps[i * width] = DELETE
        last = i + behind
        if last < pair.m:
            costs[i * width + last + 1] = UNREACHED
        else:
            last = pair.m
        for j in range(first, last + 1):
            at = i * width + j
            best = costs[at - width - 1] + _exchange(pair, x, pair.targets[pair.target + j - 1])
            step = SUBSTITUTE
            if costs[at - 1] + TOKEN < best:
                best = costs[at - 1] + TOKEN
                step = INSERT
            if costs[at - width] + TOKEN < best:
                best = costs[at - width] + TOKEN
                step = DELETE
            k = _reordered(pair, i - 1, j - 1)
            if k > 0 and costs[at - k * width - k] + TOKEN * (k - 1) <= best:
                best = costs[at - k * width - k] + TOKEN * (k - 1)
                step = TRANSPOSE + WIDTH * k
            costs[at] = best
            steps[at] = step
        _mark(pair, x, False)
    return costs[pair.n * width + pair.m]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _align(pair: _Pair) -> cython.void:
    """Fill as much of the table of one pair as its cheapest alignments can reach.

    Only inserting and deleting leave a diagonal: a path that goes ``room + 1`` diagonals outside
    pays for each of them twice, and for the difference in length. Once the alignment found is
    cheaper than that, it is the one that the whole table gives (Ukkonen 1985).
    """
    longer: cython.int = pair.n if pair.n > pair.m else pair.m
    apart: cython.int = 2 * longer - pair.n - pair.m
    room: cython.int = ROOM
    while _fill(pair, room) >= TOKEN * (apart + 2 * room + 2) and room < longer:
        room = 2 * room


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _relate(pair: _Pair, x: cython.int, y: cython.int) -> cython.int:
    """How two exchanged words are related."""
    lcs: cython.int
    if pair.folded[x] == pair.folded[y]:
        return CASE
    if pair.classes[x] != WORD or pair.classes[y] != WORD:
        return UNRELATED
    if _same_stem(pair, x, y):
        return INFLECTION
    _mark(pair, x, True)
    lcs = _common(pair, x, y)
    _mark(pair, x, False)
    return SPELLING if _misspelt(pair, x, y, lcs) else UNRELATED


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _trace(
    pair: _Pair, number: cython.int, out: cython.int[:, ::1], count: cython.int
) -> cython.int:
    """Write the steps of pair ``number`` that change something, in order; return the new count."""
    width: cython.Py_ssize_t = pair.m + 1
    i: cython.int = pair.n
    j: cython.int = pair.m
    step: cython.int
    back_i: cython.int
    back_j: cython.int
    x: cython.int
    y: cython.int
    relation: cython.int
    first: cython.int = count
    last: cython.int
    c: cython.int
    swap: cython.int
    while i > 0 or j > 0:
        step = pair.steps[i * width + j]
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
            back_i = i - step // WIDTH
            back_j = j - step // WIDTH
            step = TRANSPOSE
        relation = UNRELATED
        x = y = -1
        if step == SUBSTITUTE:
            x = pair.sources[pair.source + back_i]
            y = pair.targets[pair.target + back_j]
            if x != y:
                relation = _relate(pair, x, y)
        if step != SUBSTITUTE or x != y:
            out[count, 0] = number
            out[count, 1] = step
            out[count, 2] = back_i
            out[count, 3] = i
            out[count, 4] = back_j
            out[count, 5] = j
            out[count, 6] = relation
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
    known = len(folded)
    offsets("src_offsets", src_offsets, len(src))
    offsets("tgt_offsets", tgt_offsets, len(tgt), len(src_offsets) - 1)
    offsets("starts", starts, len(chars), known)
    same_size(folded=folded, classes=classes)
    within("src", src, known)
    within("tgt", tgt, known)
    within("folded", folded, known)
    within("chars", chars, alphabet)
    size: cython.Py_ssize_t = src_offsets.shape[0] - 1
    s: cython.Py_ssize_t
    i: cython.int
    count: cython.int = 0
    lengths_n = np.diff(np.asarray(src_offsets))
    lengths_m = np.diff(np.asarray(tgt_offsets))
    cells = int(((lengths_n + 1) * (lengths_m + 1)).max()) if size else 0
    within("cells of a table", cells, LARGEST)
    lengths = np.diff(np.asarray(starts))
    pair: _Pair = _Pair()
    pair.folded, pair.classes, pair.chars, pair.starts = folded, classes, chars, starts
    pair.masks = np.zeros(alphabet, np.int64)
    pair.row = np.zeros(int(lengths.max(initial=0)) + 1, np.intc)
    pair.sources, pair.targets = src, tgt
    pair.present, pair.balance = np.zeros((2, folded.shape[0]), np.intc)
    pair.costs, pair.steps = np.zeros((2, cells), np.intc)
    found = np.zeros((src.shape[0] + tgt.shape[0], 7), np.intc)
    out: cython.int[:, ::1] = found
    with cython.nogil:
        for s in range(size):
            pair.source = src_offsets[s]
            pair.n = src_offsets[s + 1] - src_offsets[s]
            pair.target = tgt_offsets[s]
            pair.m = tgt_offsets[s + 1] - tgt_offsets[s]
            if pair.n == pair.m:
                i = 0
                while i < pair.n and src[pair.source + i] == tgt[pair.target + i]:
                    i += 1
                if i == pair.n:
                    continue
            for i in range(pair.source, pair.source + pair.n):
                pair.present[folded[src[i]]] |= SOURCE
            for i in range(pair.target, pair.target + pair.m):
                pair.present[folded[tgt[i]]] |= TARGET
            _align(pair)
            count = _trace(pair, s, out, count)
            for i in range(pair.source, pair.source + pair.n):
                pair.present[folded[src[i]]] = 0
            for i in range(pair.target, pair.target + pair.m):
                pair.present[folded[tgt[i]]] = 0
    return found[:count].copy()
