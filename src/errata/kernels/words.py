"""Cutting sentences into words and numbering them, on the bytes of UTF-8.

Words are what white space separates, by Python's rule or by that of ASCII. Every distinct word of a
batch gets a number in the order of first appearance, from an open-addressing table whose entries
are compared byte by byte. What a caller still does with Python's own strings it does once for each
distinct word, and not for each of all words.
"""

import cython
import numpy as np

from errata.kernels._doors import spans

FIRST_SLOTS = cython.declare(cython.const_longlong, 4096)  # doubled while words are too many
SPACE = cython.declare(cython.const_int, 32)
LINE_END = cython.declare(cython.const_int, 10)
FNV_START = cython.declare(cython.const_longlong, 2166136261)
FNV_PRIME = cython.declare(cython.const_longlong, 16777619)
WORD = cython.declare(cython.const_longlong, 0xFFFFFFFF)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _space(
    text: cython.const_uchar[::1], p: cython.longlong, end: cython.longlong, ascii_only: cython.bint
) -> cython.longlong:
    """How many bytes of white space begin at ``p``; 0 where a word goes on."""
    byte: cython.int = text[p]
    second: cython.int
    third: cython.int
    if byte <= SPACE:
        if byte == SPACE or 9 <= byte <= 13:
            return 1
        return 1 if byte >= 28 and not ascii_only else 0
    if byte < 0xC2 or byte > 0xE3 or ascii_only or p + 1 >= end:
        return 0
    second = text[p + 1]
    if byte == 0xC2:  # U+0085 and the no-break space
        return 2 if second == 0x85 or second == 0xA0 else 0
    if byte < 0xE1 or p + 2 >= end:
        return 0
    third = text[p + 2]
    if byte == 0xE1:  # the ogham space mark
        return 3 if second == 0x9A and third == 0x80 else 0
    if byte == 0xE3:  # the ideographic space
        return 3 if second == 0x80 and third == 0x80 else 0
    if second == 0x80:  # U+2000 to U+200A, the two separators, the narrow no-break space
        return 3 if third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF else 0
    return 3 if second == 0x81 and third == 0x9F else 0  # the mathematical space


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _number(
    text: cython.const_uchar[::1],
    first: cython.const_longlong[::1],
    last: cython.const_longlong[::1],
    i: cython.Py_ssize_t,
    ascii_only: cython.bint,
    ids: cython.int[::1],
    token_at: cython.longlong[::1],
    begins: cython.longlong[::1],
    ends: cython.longlong[::1],
    hashes: cython.longlong[::1],
    slots: cython.int[::1],
    known: cython.longlong,
) -> cython.longlong:
    """Number the words from sentence ``i`` on while there is room; how many are known then.

    A sentence is done where ``token_at`` of the next is not -1.
    """
    room: cython.longlong = begins.shape[0]
    mask: cython.longlong = slots.shape[0] - 1
    count: cython.longlong = token_at[i]
    p: cython.longlong
    end: cython.longlong
    begin: cython.longlong
    width: cython.longlong
    h: cython.longlong
    slot: cython.longlong
    word: cython.longlong
    other: cython.longlong
    k: cython.longlong
    while i < token_at.shape[0] - 1:
        p = first[i]
        end = last[i]
        if known + (end - p) // 2 + 1 > room:
            return known
        while p < end:
            if text[p] == SPACE:
                p += 1
                continue
            # Letters and marks of ASCII, which most bytes are, need no further look.
            if text[p] < SPACE or text[p] >= 0xC2:
                width = _space(text, p, end, ascii_only)
                if width:
                    p += width
                    continue
            begin = p
            h = FNV_START
            while p < end:
                if text[p] == SPACE:
                    break
                if (text[p] < SPACE or text[p] >= 0xC2) and _space(text, p, end, ascii_only):
                    break
                h = ((h ^ text[p]) * FNV_PRIME) & WORD
                p += 1
            h ^= h >> 15
            slot = h & mask
            while True:
                word = slots[slot]
                if word < 0:
                    word = known
                    slots[slot] = cython.cast(cython.int, known)
                    begins[known] = begin
                    ends[known] = p
                    hashes[known] = h
                    known += 1
                    break
                if hashes[word] == h and ends[word] - begins[word] == p - begin:
                    other = begins[word]
                    k = 0
                    while k < p - begin and text[other + k] == text[begin + k]:
                        k += 1
                    if k == p - begin:
                        break
                slot = (slot + 1) & mask
            ids[count] = cython.cast(cython.int, word)
            count += 1
        i += 1
        token_at[i] = count
    return known


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _place(
    slots: cython.int[::1], hashes: cython.longlong[::1], known: cython.longlong
) -> cython.void:
    """Put all known words into an empty table."""
    mask: cython.longlong = slots.shape[0] - 1
    word: cython.longlong
    slot: cython.longlong
    for word in range(known):
        slot = hashes[word] & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = cython.cast(cython.int, word)


def number(
    text: cython.const_uchar[::1],
    first: cython.const_longlong[::1],
    last: cython.const_longlong[::1],
    ascii_only: cython.bint,
):
    """The words of each sentence as numbers, where each begins, and the distinct words.

    Sentence ``i`` are the bytes ``first[i]:last[i]``. The distinct words are the bytes of all of
    them in the order of their numbers, each followed by a line feed, which no word has.
    """
    spans("sentences", first, last, len(text))
    sentences: cython.Py_ssize_t = first.shape[0]
    # A word and what ends it are two bytes.
    most: cython.longlong = (int(np.subtract(last, first).sum()) + sentences) // 2 + 1
    size: cython.longlong = FIRST_SLOTS
    numbers = np.zeros(most, np.intc)
    ids: cython.int[::1] = numbers
    starts = np.full(sentences + 1, -1, np.int64)
    starts[0] = 0
    token_at: cython.longlong[::1] = starts
    table = np.full(size, -1, np.intc)
    slots: cython.int[::1] = table
    entries = np.zeros((3, size // 2), np.int64)
    begins: cython.longlong[::1] = entries[0]
    ends: cython.longlong[::1] = entries[1]
    hashes: cython.longlong[::1] = entries[2]
    known: cython.longlong = 0
    total: cython.longlong = 0
    need: cython.longlong = 0
    i: cython.Py_ssize_t = 0
    word: cython.longlong
    p: cython.longlong
    if not cython.compiled:  # plain integers: NumPy's would overflow
        text = bytes(text)
    while i < sentences:
        with cython.nogil:
            known = _number(
                text, first, last, i, ascii_only, ids, token_at, begins, ends, hashes, slots, known
            )
        while i < sentences and token_at[i + 1] >= 0:
            i += 1
        if i == sentences:
            break
        need = known + (last[i] - first[i]) // 2 + 1
        while size < 2 * need or size < 4 * known:
            size *= 2
        table = np.full(size, -1, np.intc)
        slots = table
        wider = np.zeros((3, size // 2), np.int64)
        wider[:, :known] = entries[:, :known]
        entries = wider
        begins = entries[0]
        ends = entries[1]
        hashes = entries[2]
        with cython.nogil:
            _place(slots, hashes, known)
    spelled = np.zeros(int((entries[1, :known] - entries[0, :known]).sum()) + known, np.uint8)
    letters: cython.uchar[::1] = spelled
    with cython.nogil:
        for word in range(known):
            for p in range(begins[word], ends[word]):
                letters[total] = text[p]
                total += 1
            letters[total] = LINE_END
            total += 1
    return numbers[: starts[sentences]].copy(), starts, spelled.tobytes()


def gather(
    text: cython.const_uchar[::1],
    first: cython.const_longlong[::1],
    last: cython.const_longlong[::1],
):
    """The bytes ``first[i]:last[i]``, one behind the other, each followed by a line feed."""
    spans("texts", first, last, len(text))
    found = np.empty(int(np.subtract(last, first).sum()) + first.shape[0], np.uint8)
    out: cython.uchar[::1] = found
    total: cython.longlong = 0
    i: cython.Py_ssize_t
    p: cython.longlong
    with cython.nogil:
        for i in range(first.shape[0]):
            for p in range(first[i], last[i]):
                out[total] = text[p]
                total += 1
            out[total] = LINE_END
            total += 1
    return found
