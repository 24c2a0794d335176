"""Cut sentences at the edits of several texts at once, and compare what the texts have there.

A sentence has several texts, an output and its references, each given by its edits, sorted. Edits
of any text that overlap or touch make one chunk; every text has an entry in it: the words that
stand there after its edits (Ye et al. 2023). Words are numbers.
"""

import cython
import numpy as np

from errata.kernels._doors import LARGEST, edits_fit, offsets, refuse, within

# Columns of an entry.
FIRST = cython.declare(cython.const_int, 0)  # its words
LAST = cython.declare(cython.const_int, 1)
CHANGED = cython.declare(cython.const_int, 2)  # whether the text has an edit there
SAME = cython.declare(cython.const_int, 3)  # whether it has the words of the first text


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _equal(
    words: cython.int[::1], a: cython.int, a_end: cython.int, b: cython.int, b_end: cython.int
) -> cython.bint:
    """Whether two stretches of words are the same."""
    if a_end - a != b_end - b:
        return False
    while a < a_end:
        if words[a] != words[b]:
            return False
        a += 1
        b += 1
    return True


def merge(
    tokens: cython.int[::1],
    token_at: cython.longlong[::1],
    text_at: cython.longlong[::1],
    edit_at: cython.longlong[::1],
    starts: cython.int[::1],
    ends: cython.int[::1],
    word_at: cython.longlong[::1],
    words: cython.int[::1],
):
    """Merge the edits of all texts of each sentence into chunks.

    Sentence i has the texts ``text_at[i]:text_at[i + 1]``, text t the edits
    ``edit_at[t]:edit_at[t + 1]``, edit e the words ``word_at[e]:word_at[e + 1]``. Returns chunks as
    rows (sentence, start, end, first entry); entries, one for every text of the sentence, as rows
    (first word, end of its words, changed, same as the first text); words; and the number of
    unchanged stretches of each sentence.
    """
    sentences: cython.Py_ssize_t = text_at.shape[0] - 1
    offsets("text_at", text_at, len(edit_at) - 1)
    offsets("token_at", token_at, len(tokens), len(text_at) - 1)
    offsets("edit_at", edit_at, len(starts))
    offsets("word_at", word_at, len(words), len(starts))
    lengths = np.diff(np.asarray(token_at))
    texts = np.diff(np.asarray(text_at))
    some = np.asarray(text_at)
    of_texts = np.asarray(edit_at)[some.min() : some.max() + 1]
    edits_fit(of_texts, starts, ends, np.repeat(lengths, texts), apart=False)
    begins = np.asarray(starts)[of_texts.min() : of_texts.max()]
    text = np.repeat(np.arange(len(of_texts) - 1), np.diff(of_texts))
    if ((np.diff(text) == 0) & (np.diff(begins) < 0)).any():
        raise refuse("edits are not in order")
    edits = np.diff(np.asarray(edit_at)[np.asarray(text_at)])
    most = int((edits * texts).sum())
    within("entries", most, LARGEST)
    room = int((lengths * texts).sum()) + len(words)
    within("words of all texts", room, LARGEST)
    chunks = np.empty((int(edits.sum()), 4), np.intc)
    entries = np.empty((most, 4), np.intc)
    found = np.empty(room, np.intc)
    between = np.zeros(len(lengths), np.intc)
    chunk_rows: cython.int[:, ::1] = chunks
    rows: cython.int[:, ::1] = entries
    out: cython.int[::1] = found
    gaps: cython.int[::1] = between
    heads: cython.longlong[::1] = np.array(edit_at, np.int64)  # the next edit of each text
    i: cython.Py_ssize_t
    t: cython.Py_ssize_t
    e: cython.Py_ssize_t
    w: cython.Py_ssize_t
    token: cython.Py_ssize_t
    start: cython.int
    end: cython.int
    position: cython.int
    behind: cython.int
    grown: cython.bint
    chunk: cython.int = 0
    entry: cython.int = 0
    first: cython.int
    word: cython.int = 0
    with cython.nogil:
        for i in range(sentences):
            token = token_at[i]
            behind = 0  # where the chunk before ends
            while True:
                start = -1
                for t in range(text_at[i], text_at[i + 1]):
                    e = heads[t]
                    if e < edit_at[t + 1] and (start < 0 or starts[e] < start):
                        start = starts[e]
                if start < 0:
                    break
                end = start
                grown = True
                while grown:
                    grown = False
                    for t in range(text_at[i], text_at[i + 1]):
                        while heads[t] < edit_at[t + 1] and starts[heads[t]] <= end:
                            if ends[heads[t]] > end:
                                end = ends[heads[t]]
                                grown = True
                            heads[t] += 1
                if start > behind:
                    gaps[i] += 1
                behind = end
                chunk_rows[chunk, 0] = i
                chunk_rows[chunk, 1] = start
                chunk_rows[chunk, 2] = end
                chunk_rows[chunk, 3] = entry
                chunk += 1
                first = entry
                for t in range(text_at[i], text_at[i + 1]):
                    rows[entry, FIRST] = word
                    rows[entry, CHANGED] = 0
                    position = start
                    e = heads[t]
                    while e > edit_at[t] and starts[e - 1] >= start:
                        e -= 1
                    while e < heads[t]:
                        while position < starts[e]:
                            out[word] = tokens[token + position]
                            word += 1
                            position += 1
                        for w in range(word_at[e], word_at[e + 1]):
                            out[word] = words[w]
                            word += 1
                        if ends[e] > position:
                            position = ends[e]
                        rows[entry, CHANGED] = 1
                        e += 1
                    while position < end:
                        out[word] = tokens[token + position]
                        word += 1
                        position += 1
                    rows[entry, LAST] = word
                    rows[entry, SAME] = _equal(
                        out, rows[first, FIRST], rows[first, LAST], rows[entry, FIRST], word
                    )
                    entry += 1
            if token_at[i + 1] - token > behind:
                gaps[i] += 1
    return chunks[:chunk].copy(), entries[:entry].copy(), found[:word].copy(), between
