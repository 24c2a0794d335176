"""Cut sentences into chunks around edits, and compare a system's chunks with the gold ones.

A chunk is a source range with the text that stands there after the edits: each edit is one, each
untouched token is one, and an empty dummy stands at every boundary that no insertion occupies
(Gotou et al. 2020). Texts are numbers; edits are sorted and do not overlap.
"""

import cython
import numpy as np

from errata.kernels._doors import LARGEST, edits_fit, same_size, shaped, within
from errata.kernels._doors import offsets as check_offsets

# Columns of a chunk.
START = cython.declare(cython.const_int, 0)
END = cython.declare(cython.const_int, 1)
TEXT = cython.declare(cython.const_int, 2)
EDIT = cython.declare(cython.const_int, 3)  # its number in the unit, or -1

# Bits of what a system did to a gold chunk.
MODIFIED = cython.declare(cython.const_int, 1)
CORRECT = cython.declare(cython.const_int, 2)

# Elastic matching: one pair that differs outweighs all that agree, and one of those all distances.
DIFFERS = cython.declare(cython.const_longlong, 1 << 40)
AGREES = cython.declare(cython.const_longlong, 1 << 24)
UNREACHED = cython.declare(cython.const_longlong, 1 << 60)

# Where elastic matching goes on from a pair: to the one before on both sides, or on one.
BOTH = cython.declare(cython.const_int, 0)
GOLD = cython.declare(cython.const_int, 1)
SYSTEM = cython.declare(cython.const_int, 2)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.inline
def _write(
    out: cython.int[:, ::1],
    at: cython.int,
    start: cython.int,
    end: cython.int,
    text: cython.int,
    edit: cython.int,
) -> cython.void:
    """Write one chunk."""
    out[at, START] = start
    out[at, END] = end
    out[at, TEXT] = text
    out[at, EDIT] = edit


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _cut(
    token: cython.int,
    length: cython.int,
    tokens: cython.int[::1],
    first: cython.int,
    last: cython.int,
    starts: cython.int[::1],
    ends: cython.int[::1],
    texts: cython.int[::1],
    empty: cython.int,
    out: cython.int[:, ::1],
    at: cython.int,
) -> cython.int:
    """Write the chunks of one sentence as rows (start, end, text, edit or -1) from row ``at``.

    Returns the row after the last.
    """
    i: cython.int = 0
    edit: cython.int = first
    insertion: cython.bint
    after_insertion: cython.bint = False
    start: cython.int
    end: cython.int
    text: cython.int
    number: cython.int
    while i < length or edit < last:
        if edit < last and starts[edit] == i:
            start = i
            end = ends[edit]
            text = texts[edit]
            number = edit - first
            edit += 1
        else:
            start = i
            end = i + 1
            text = tokens[token + i]
            number = -1
        insertion = start == end
        if not insertion and not after_insertion:
            _write(out, at, start, start, empty, -1)
            at += 1
        _write(out, at, start, end, text, number)
        at += 1
        i = end
        after_insertion = insertion
    if not after_insertion:
        _write(out, at, length, length, empty, -1)
        at += 1
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _released(
    gold: cython.int[:, ::1],
    first: cython.int,
    last: cython.int,
    system: cython.int[:, ::1],
    count: cython.int,
    out: cython.schar[::1],
) -> cython.void:
    """Compare by position, as the released scorer (gotutiyan/GTS) does.

    Chunks are in order on both sides, so that a gold chunk need not be compared with those that
    end before it or start behind it.
    """
    g: cython.int
    s: cython.int
    modified: cython.int
    correct: cython.bint
    found: cython.bint
    changed: cython.int
    start: cython.int
    end: cython.int
    low: cython.int = 0
    for g in range(first, last):
        start = gold[g, START]
        end = gold[g, END]
        while low < count and system[low, END] < start:
            low += 1
        modified = 0
        correct = False
        found = False
        for s in range(low, count):
            if system[s, START] > end:
                break
            changed = MODIFIED if system[s, EDIT] >= 0 else 0
            if system[s, START] == start and system[s, END] == end:
                found = True
                if system[s, TEXT] == gold[g, TEXT]:
                    correct = True
                    modified = changed
                    break
                modified |= changed
            elif (
                start < end
                and system[s, START] < end
                and (start < system[s, END] or start == system[s, START])
            ):
                # An insertion right before a gold chunk overlaps it; one right after does not.
                found = True
                modified |= changed
        if not found:
            correct = gold[g, EDIT] < 0
        out[g] = modified + (CORRECT if correct else 0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _elastic(
    gold: cython.int[:, ::1],
    first: cython.int,
    last: cython.int,
    system: cython.int[:, ::1],
    count: cython.int,
    costs: cython.longlong[::1],
    out: cython.schar[::1],
) -> cython.void:
    """Compare along the cheapest elastic matching, as the paper describes.

    Every chunk is aligned to one or more of the other side, without crossings; a pair costs 0 if
    range and text agree and 1 otherwise. The paper leaves open which of equally cheap matchings
    is taken: here the one with the most agreeing pairs, then with the smallest distance between
    the ranges of paired chunks. A dummy chunk that shares its system chunk with another gold
    chunk counts as matched (the paper's footnote 3).
    """
    height: cython.int = last - first
    width: cython.Py_ssize_t = count
    at: cython.Py_ssize_t
    best: cython.longlong
    above: cython.longlong
    left: cython.longlong
    diagonal: cython.longlong
    price: cython.longlong
    start: cython.int
    end: cython.int
    text: cython.int
    begin: cython.int
    finish: cython.int
    apart: cython.int
    i: cython.int
    j: cython.int
    g: cython.int
    step: cython.int
    low: cython.int
    for i in range(height):
        g = first + i
        start = gold[g, START]
        end = gold[g, END]
        text = gold[g, TEXT]
        left = UNREACHED
        diagonal = UNREACHED if i > 0 else 0
        for j in range(count):
            at = i * width + j
            above = costs[at - width] if i > 0 else UNREACHED
            best = above if above < diagonal else diagonal
            diagonal = above
            begin = system[j, START]
            finish = system[j, END]
            if begin == start and finish == end and system[j, TEXT] == text:
                price = -AGREES
            else:
                apart = begin - start if begin > start else start - begin
                apart += finish - end if finish > end else end - finish
                price = DIFFERS + cython.cast(cython.longlong, apart)
            left = (best if best < left else left) + price
            costs[at] = left
    for g in range(first, last):
        out[g] = 0
    i = height - 1
    j = count - 1
    low = i  # the last gold chunk aligned to system chunk j
    while True:
        g = first + i
        at = i * width + j
        if (
            system[j, START] == gold[g, START]
            and system[j, END] == gold[g, END]
            and system[j, TEXT] == gold[g, TEXT]
        ):
            out[g] = CORRECT + (MODIFIED if system[j, EDIT] >= 0 else 0)
        elif out[g] & CORRECT == 0 and system[j, EDIT] >= 0:
            out[g] |= MODIFIED
        step = BOTH
        if i > 0 and j > 0:
            best = costs[at - width - 1]
            if costs[at - width] < best:
                best = costs[at - width]
                step = GOLD
            if costs[at - 1] < best:
                step = SYSTEM
        elif i > 0:
            step = GOLD
        elif j > 0:
            step = SYSTEM
        if step != GOLD:  # all gold chunks i..low of system chunk j are known
            if low > i:
                for g in range(first + i, first + low + 1):
                    if (
                        gold[g, EDIT] < 0
                        and gold[g, START] == gold[g, END]
                        and out[g] & CORRECT == 0
                    ):
                        out[g] = CORRECT
            if i == 0 and j == 0:
                break
        if step == BOTH:
            i -= 1
            j -= 1
            low = i
        elif step == GOLD:
            i -= 1
        else:
            j -= 1
            low = i


def _sizes(sentences, tokens, token_offsets):
    """The lengths of all sentences; units name some of them."""
    check_offsets("token_offsets", token_offsets, len(tokens))
    within("sentences", sentences, len(token_offsets) - 1)
    return np.diff(np.asarray(token_offsets))


def chunk(
    sentences: cython.int[::1],
    tokens: cython.int[::1],
    token_offsets: cython.longlong[::1],
    offsets: cython.longlong[::1],
    starts: cython.int[::1],
    ends: cython.int[::1],
    texts: cython.int[::1],
    empty: cython.int,
):
    """Cut units (a sentence with one reference's edits) into chunks.

    ``sentences[u]`` is the sentence of unit u, whose edits are ``offsets[u]:offsets[u + 1]``.
    Returns rows (start, end, text, edit in the unit or -1) and the rows' offsets by unit.
    """
    lengths = _sizes(sentences, tokens, token_offsets)[np.asarray(sentences)]
    check_offsets("offsets", offsets, len(starts), len(sentences))
    edits_fit(offsets, starts, ends, lengths, apart=True)
    same_size(starts=starts, texts=texts)
    units: cython.Py_ssize_t = sentences.shape[0]
    u: cython.Py_ssize_t
    at: cython.int = 0
    token: cython.int
    most = int((2 * lengths + 1).sum()) + 2 * starts.shape[0]
    within("chunks", most, LARGEST)
    rows = np.empty((most, 4), np.intc)
    out: cython.int[:, ::1] = rows
    bounds = np.zeros(units + 1, np.int64)
    ends_of: cython.longlong[::1] = bounds
    with cython.nogil:
        for u in range(units):
            token = token_offsets[sentences[u]]
            at = _cut(
                token,
                token_offsets[sentences[u] + 1] - token,
                tokens,
                offsets[u],
                offsets[u + 1],
                starts,
                ends,
                texts,
                empty,
                out,
                at,
            )
            ends_of[u + 1] = at
    return rows[:at].copy(), bounds


def compare(
    sentences: cython.int[::1],
    tokens: cython.int[::1],
    token_offsets: cython.longlong[::1],
    gold: cython.int[:, ::1],
    bounds: cython.longlong[::1],
    offsets: cython.longlong[::1],
    starts: cython.int[::1],
    ends: cython.int[::1],
    texts: cython.int[::1],
    empty: cython.int,
    by_elastic: cython.bint,
):
    """Compare one system's edits (by sentence) with the gold chunks of every unit.

    Returns one number per gold chunk: 1 if the system changed it, plus 2 if it got it right.
    """
    lengths = _sizes(sentences, tokens, token_offsets)
    check_offsets("offsets", offsets, len(starts), len(lengths))
    edits_fit(offsets, starts, ends, lengths, apart=True)
    same_size(starts=starts, texts=texts)
    shaped("gold", gold, -1, 4)
    check_offsets("bounds", bounds, len(gold), len(sentences))
    if by_elastic:
        within("chunks of a unit", np.diff(np.asarray(bounds)), LARGEST, 1)
    units: cython.Py_ssize_t = sentences.shape[0]
    u: cython.Py_ssize_t
    s: cython.int
    token: cython.int
    count: cython.int
    flags = np.zeros(gold.shape[0], np.int8)
    out: cython.schar[::1] = flags
    edits = np.diff(np.asarray(offsets))
    most = int((2 * lengths + 1 + 2 * edits).max(initial=1))
    system: cython.int[:, ::1] = np.empty((most, 4), np.intc)
    cells = int(np.diff(np.asarray(bounds)).max(initial=0)) * most if by_elastic else 0
    costs: cython.longlong[::1] = np.empty(cells, np.int64)
    with cython.nogil:
        for u in range(units):
            s = sentences[u]
            token = token_offsets[s]
            count = _cut(
                token,
                token_offsets[s + 1] - token,
                tokens,
                offsets[s],
                offsets[s + 1],
                starts,
                ends,
                texts,
                empty,
                system,
                0,
            )
            if by_elastic:
                _elastic(gold, bounds[u], bounds[u + 1], system, count, costs, out)
            else:
                _released(gold, bounds[u], bounds[u + 1], system, count, out)
    return flags
