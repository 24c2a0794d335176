"""Merge the changing steps of alignments into edits, and classify them, a batch at a time.

Steps are as in `errata.kernels.alignment`; words are numbers into the same vocabulary, whose
characters have flags here. An edit has a kind: other, case, inflection, spelling, punctuation,
spacing or order, as `errata.edits.aligner` describes them.
"""

import cython
import numpy as np

from errata.kernels._doors import LARGEST, offsets, refuse, shaped, within

# Columns of a step.
PAIR = cython.declare(cython.const_int, 0)
STEP = cython.declare(cython.const_int, 1)
START = cython.declare(cython.const_int, 2)
END = cython.declare(cython.const_int, 3)
TARGET_START = cython.declare(cython.const_int, 4)
TARGET_END = cython.declare(cython.const_int, 5)
RELATION = cython.declare(cython.const_int, 6)

SUBSTITUTE = cython.declare(cython.const_int, 3)
TRANSPOSE = cython.declare(cython.const_int, 4)

# Kinds of edits; those of two exchanged words are the relations of steps.
OTHER = cython.declare(cython.const_int, 0)
CASE = cython.declare(cython.const_int, 1)
PUNCTUATION = cython.declare(cython.const_int, 4)
SPACING = cython.declare(cython.const_int, 5)
ORDER = cython.declare(cython.const_int, 6)

# Flags of characters.
HYPHEN = cython.declare(cython.const_int, 1)
JOINER = cython.declare(cython.const_int, 2)  # hyphens and apostrophes
MARK = cython.declare(cython.const_int, 4)  # punctuation

SIGNS = cython.declare(cython.const_int, 1)  # the class of punctuation and symbols
WIDEST = cython.declare(cython.const_int, 16)  # steps of a change of spacing


@cython.cclass
class _Text:
    """The vocabulary, the steps and tokens of all pairs, and the edits found."""

    # words: classes, and characters with flags from ``starts[x]`` to ``starts[x + 1]``
    classes: cython.int[::1]
    chars: cython.int[::1]
    starts: cython.int[::1]
    flags: cython.int[::1]
    # the tokens of all pairs, and where this one's begin
    sources: cython.int[::1]
    targets: cython.int[::1]
    source: cython.Py_ssize_t
    target: cython.Py_ssize_t
    steps: cython.int[:, ::1]
    # characters of the old and of the new words
    old: cython.int[::1]
    new: cython.int[::1]
    edits: cython.int[:, ::1]
    count: cython.int


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _letters(
    text: _Text, of_target: cython.bint, first: cython.int, last: cython.int, left_out: cython.int
) -> cython.int:
    """Write the characters of the tokens ``first:last`` without some; return how many they are."""
    into: cython.int[::1] = text.new if of_target else text.old
    tokens: cython.int[::1] = text.targets if of_target else text.sources
    begin: cython.Py_ssize_t = text.target if of_target else text.source
    count: cython.int = 0
    i: cython.int
    c: cython.int
    for i in range(first, last):
        for c in range(text.starts[tokens[begin + i]], text.starts[tokens[begin + i] + 1]):
            if text.flags[text.chars[c]] & left_out == 0:
                into[count] = text.chars[c]
                count += 1
    return count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _same_letters(
    text: _Text,
    start: cython.int,
    end: cython.int,
    target_start: cython.int,
    target_end: cython.int,
    left_out: cython.int,
    or_all: cython.bint,
) -> cython.bint:
    """Whether old and new words have the same characters, apart from some.

    With ``or_all``, words that have no others are compared with all of theirs.
    """
    old: cython.int = _letters(text, False, start, end, left_out)
    new: cython.int = _letters(text, True, target_start, target_end, left_out)
    i: cython.int = 0
    if or_all and old == 0:
        old = _letters(text, False, start, end, 0)
    if or_all and new == 0:
        new = _letters(text, True, target_start, target_end, 0)
    if old != new:
        return False
    while i < old and text.old[i] == text.new[i]:
        i += 1
    return i == old


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _signs_only(
    text: _Text,
    start: cython.int,
    end: cython.int,
    target_start: cython.int,
    target_end: cython.int,
) -> cython.bint:
    """Whether old and new words are punctuation and symbols."""
    i: cython.int
    for i in range(start, end):
        if text.classes[text.sources[text.source + i]] != SIGNS:
            return False
    for i in range(target_start, target_end):
        if text.classes[text.targets[text.target + i]] != SIGNS:
            return False
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _respaced(
    text: _Text,
    start: cython.int,
    end: cython.int,
    target_start: cython.int,
    target_end: cython.int,
) -> cython.bint:
    """Whether old and new words have the same characters, spaced, hyphenated or joined."""
    return (
        start < end
        and target_start < target_end
        and end - start != target_end - target_start
        and _same_letters(text, start, end, target_start, target_end, JOINER, True)
    )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _kind(
    text: _Text,
    first: cython.int,
    last: cython.int,
    start: cython.int,
    end: cython.int,
    target_start: cython.int,
    target_end: cython.int,
) -> cython.int:
    """The kind of the steps ``first:last``, taken as one edit of these words."""
    k: cython.int
    cases: cython.bint = True
    if _signs_only(text, start, end, target_start, target_end):
        return PUNCTUATION
    if _respaced(text, start, end, target_start, target_end):
        return SPACING
    if last - first == 1:
        if text.steps[first, STEP] == TRANSPOSE:
            return ORDER
        if (
            text.steps[first, STEP] == SUBSTITUTE
            and start < end
            and target_start < target_end
            and not _same_letters(text, start, start + 1, target_start, target_start + 1, 0, False)
        ):
            if _same_letters(text, start, start + 1, target_start, target_start + 1, HYPHEN, False):
                return SPACING
            if _same_letters(text, start, start + 1, target_start, target_start + 1, MARK, False):
                return PUNCTUATION
        return text.steps[first, RELATION]
    for k in range(first, last):
        if text.steps[k, RELATION] != CASE:
            cases = False
    if cases:
        return CASE
    if (
        last - first == 2
        and text.steps[first + 1, RELATION] == CASE
        and _signs_only(text, start, end - 1, target_start, target_end - 1)
    ):
        return PUNCTUATION
    return OTHER


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _write(
    text: _Text,
    first: cython.int,
    last: cython.int,
    start: cython.int,
    end: cython.int,
    target_start: cython.int,
    target_end: cython.int,
) -> cython.void:
    """Write one edit."""
    at: cython.int = text.count
    text.edits[at, 0] = text.steps[first, PAIR]
    text.edits[at, 1] = start
    text.edits[at, 2] = end
    text.edits[at, 3] = target_start
    text.edits[at, 4] = target_end
    text.edits[at, 5] = _kind(text, first, last, start, end, target_start, target_end)
    text.count = at + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _write_steps(text: _Text, first: cython.int, last: cython.int) -> cython.void:
    """Write the steps ``first:last`` as one edit."""
    _write(
        text,
        first,
        last,
        text.steps[first, START],
        text.steps[last - 1, END],
        text.steps[first, TARGET_START],
        text.steps[last - 1, TARGET_END],
    )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _join(text: _Text, first: cython.int, last: cython.int) -> cython.void:
    """Write exchanges as an edit each; together with what is inserted or deleted, as one."""
    k: cython.int
    for k in range(first, last):
        if text.steps[k, STEP] != SUBSTITUTE:
            _write_steps(text, first, last)
            return
    for k in range(first, last):
        _write_steps(text, k, k + 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _stays_together(text: _Text, first: cython.int, last: cython.int) -> cython.bint:
    """Whether steps only change spacing, or punctuation and the capital after it."""
    start: cython.int = text.steps[first, START]
    target_start: cython.int = text.steps[first, TARGET_START]
    if _respaced(
        text, start, text.steps[last - 1, END], target_start, text.steps[last - 1, TARGET_END]
    ):
        return True
    return (
        last - first == 2
        and text.steps[first + 1, RELATION] == CASE
        and _signs_only(
            text, start, text.steps[first, END], target_start, text.steps[first, TARGET_END]
        )
    )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _merge(text: _Text, first: cython.int, last: cython.int) -> cython.void:
    """Cut the adjacent steps ``first:last`` into edits, and write these.

    In the spirit of ERRANT's rules (Felice et al. 2016), without parts of speech: the widest
    stretches that only change spacing come first; punctuation with the capital after it stays
    together; reorderings, related words and punctuation stand alone; neighbouring exchanges of
    unrelated words are single edits unless a token is inserted or deleted beside them.
    """
    width: cython.int = last - first if last - first < WIDEST else WIDEST
    k: cython.int
    while width > 1:
        for k in range(first, last - width + 1):
            if _stays_together(text, k, k + width):
                _merge(text, first, k)
                _write_steps(text, k, k + width)
                _merge(text, k + width, last)
                return
        width -= 1
    for k in range(first, last):
        if (
            text.steps[k, STEP] == TRANSPOSE
            or text.steps[k, RELATION] != OTHER
            or _signs_only(
                text,
                text.steps[k, START],
                text.steps[k, END],
                text.steps[k, TARGET_START],
                text.steps[k, TARGET_END],
            )
        ):
            _join(text, first, k)
            _write_steps(text, k, k + 1)
            first = k + 1
    _join(text, first, last)


def _most_letters(tokens, at, starts):
    """The largest number of characters of a sentence."""
    letters = np.concatenate([[0], np.cumsum(np.diff(np.asarray(starts))[np.asarray(tokens)])])
    return int(np.diff(letters[np.asarray(at)]).max(initial=0))


def _steps_fit(steps, src_offsets, tgt_offsets):
    """Refuse steps that are not inside their sentences."""
    rows = np.asarray(steps)
    pair = rows[:, PAIR]
    within("pairs", pair, len(src_offsets) - 1)
    sides = ((START, END, src_offsets), (TARGET_START, TARGET_END, tgt_offsets))
    for start, end, at in sides:
        begin, finish, size = rows[:, start], rows[:, end], np.diff(np.asarray(at))[pair]
        if ((begin < 0) | (begin > finish) | (finish > size)).any():
            raise refuse("a step lies outside its sentence")


def merge_steps(
    steps: cython.int[:, ::1],
    src: cython.int[::1],
    src_offsets: cython.longlong[::1],
    tgt: cython.int[::1],
    tgt_offsets: cython.longlong[::1],
    classes: cython.int[::1],
    chars: cython.int[::1],
    starts: cython.int[::1],
    flags: cython.int[::1],
    whole: cython.bint,
):
    """Merge changing steps into edits: pair, source start and end, target start and end, kind.

    The first arguments are what `errata.kernels.alignment.align` gives and took. With ``whole``
    all tokens of a pair that has steps are one edit.
    """
    shaped("steps", steps, -1, 7)
    known = len(classes)
    offsets("src_offsets", src_offsets, len(src))
    offsets("tgt_offsets", tgt_offsets, len(tgt), len(src_offsets) - 1)
    offsets("starts", starts, len(chars), known)
    within("src", src, known)
    within("tgt", tgt, known)
    within("chars", chars, len(flags))
    _steps_fit(steps, src_offsets, tgt_offsets)
    letters = [_most_letters(src, src_offsets, starts), _most_letters(tgt, tgt_offsets, starts)]
    within("characters of a sentence", letters, LARGEST)
    text: _Text = _Text()
    text.classes, text.chars, text.starts, text.flags = classes, chars, starts, flags
    text.sources, text.targets, text.steps = src, tgt, steps
    text.old, text.new = np.empty(letters[0], np.intc), np.empty(letters[1], np.intc)
    found = np.empty((steps.shape[0], 6), np.intc)
    text.edits, text.count = found, 0
    pair: cython.int
    first: cython.int = 0
    k: cython.int
    size: cython.int = steps.shape[0]
    with cython.nogil:
        for k in range(1, size + 1):
            pair = steps[first, PAIR]
            if k < size and steps[k, PAIR] == pair:
                if whole:
                    continue
                if (
                    steps[k - 1, END] == steps[k, START]
                    and steps[k - 1, TARGET_END] == steps[k, TARGET_START]
                ):
                    continue
            text.source = src_offsets[pair]
            text.target = tgt_offsets[pair]
            if whole:
                _write(
                    text,
                    first,
                    k,
                    0,
                    src_offsets[pair + 1] - text.source,
                    0,
                    tgt_offsets[pair + 1] - text.target,
                )
            else:
                _merge(text, first, k)
            first = k
    return found[: text.count].copy()
