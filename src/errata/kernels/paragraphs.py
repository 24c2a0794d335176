"""The paragraphs of an M2 file: where its sentences and edits stand, by the bytes of UTF-8.

A paragraph is sound where there is nothing to say of it: one ``S`` line, then ``A`` lines of six
fields with offsets inside the sentence, in order, without alternatives, and no white space beyond
ASCII; one annotator may insert two different things at one place. Of these the numbers and the
places of the texts are given. Text and faults of any other paragraph are for
`errata.io.m2` to find line by line: here it is only detected.
"""

import cython
import numpy as np

from errata.kernels._doors import offsets

# Columns of a paragraph.
_LINE = cython.declare(cython.const_int, 0)  # its first line, from 0
_BEGIN = cython.declare(cython.const_int, 1)  # its text, without the last line end
_END = cython.declare(cython.const_int, 2)
_SOURCE_END = cython.declare(cython.const_int, 3)  # of its first line
_SOUND = cython.declare(cython.const_int, 4)
_EDITS = cython.declare(cython.const_int, 5)  # where its edits begin
PARAGRAPH_COLUMNS = cython.declare(cython.const_int, 6)

# Columns of an edit; from `_FIELDS` on where each of the six fields of its line begins and ends.
_OWNER = cython.declare(cython.const_int, 0)  # the paragraph
_ANNOTATOR = cython.declare(cython.const_int, 1)
_START = cython.declare(cython.const_int, 2)
_STOP = cython.declare(cython.const_int, 3)
_WHAT = cython.declare(cython.const_int, 4)
_FIELDS = cython.declare(cython.const_int, 5)
SPAN = cython.declare(cython.const_int, 5)
_KIND = cython.declare(cython.const_int, 7)
_CORRECTION = cython.declare(cython.const_int, 9)
_REQUIRED = cython.declare(cython.const_int, 11)
_COMMENT = cython.declare(cython.const_int, 13)
NUMBER = cython.declare(cython.const_int, 15)
EDIT_COLUMNS = cython.declare(cython.const_int, 17)

# What a row of an edit stands for.
_EDIT = cython.declare(cython.const_int, 0)
_NOOP = cython.declare(cython.const_int, 1)
_IMPLIED = cython.declare(cython.const_int, 2)  # a paragraph without a line of an annotator

# What a line holds: what may be odd about it...
_BLANKS = cython.declare(cython.const_int, 1)  # there is nothing but white space in it
_BREAKS = cython.declare(cython.const_int, 2)  # a character at which some programs break lines
WIDE = cython.declare(cython.const_int, 4)  # what may be white space of more than one byte
_BROKEN = cython.declare(cython.const_int, 8)  # bytes that are not UTF-8
# ...and what else is of interest.
FILLED = cython.declare(cython.const_int, 16)  # bytes that are no white space
BEYOND = cython.declare(cython.const_int, 32)  # a byte beyond ASCII
BARRED = cython.declare(cython.const_int, 64)  # a bar

# Constants of C are not seen from outside; these are.
LINE, BEGIN, END, SOURCE_END, SOUND = _LINE, _BEGIN, _END, _SOURCE_END, _SOUND
OWNER, ANNOTATOR, START, STOP, WHAT = _OWNER, _ANNOTATOR, _START, _STOP, _WHAT
KIND, CORRECTION, REQUIRED, COMMENT = _KIND, _CORRECTION, _REQUIRED, _COMMENT
EDIT, IMPLIED, BLANKS, BREAKS, BROKEN = _EDIT, _IMPLIED, _BLANKS, _BREAKS, _BROKEN

LINE_END = cython.declare(cython.const_int, 10)
SPACE = cython.declare(cython.const_int, 32)
BAR = cython.declare(cython.const_int, 124)
DIGITS = cython.declare(cython.const_int, 9)
MOST_ANNOTATORS = cython.declare(cython.const_int, 64)  # of one sentence

# Words that mean something, one behind the other, and where they begin.
MEANING = b"-NONE-noopREQUIREDOPTIONAL-1 -1"
NOTHING = cython.declare(cython.const_int, 0)
NOOP_KIND = cython.declare(cython.const_int, 6)
IS_REQUIRED = cython.declare(cython.const_int, 10)
IS_OPTIONAL = cython.declare(cython.const_int, 18)
NOWHERE = cython.declare(cython.const_int, 26)


def _kinds():
    """What a line holds that has this byte."""
    kinds = bytearray(256)
    for byte in range(256):
        if byte >= 0x80:
            kinds[byte] = BEYOND
        elif not chr(byte).isspace():
            kinds[byte] = FILLED | (BARRED if byte == BAR else 0)
        elif 11 <= byte <= 13 or 28 <= byte <= 30:
            kinds[byte] = _BREAKS
    return bytes(kinds)


KINDS_OF_BYTES = _kinds()


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _white(byte: cython.int) -> cython.bint:
    """Return whether Python calls a single byte white space."""
    return byte <= SPACE and (byte == SPACE or 9 <= byte <= 13 or byte >= 28)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _wide(text: cython.const_uchar[::1], p: cython.longlong, end: cython.longlong) -> cython.int:
    """What may be white space of several bytes: how many; a few that are none are among it."""
    if p + 1 < end and text[p] == 0xC2:
        return 2 if text[p + 1] == 0x85 or text[p + 1] == 0xA0 else 0
    if p + 2 >= end or text[p] < 0xE1 or text[p] > 0xE3:
        return 0
    if text[p] == 0xE1:
        return 3 if text[p + 1] == 0x9A else 0
    if text[p] == 0xE3:
        return 3 if text[p + 1] == 0x80 and text[p + 2] == 0x80 else 0
    if text[p + 1] == 0x81:
        return 3 if text[p + 2] == 0x9F else 0
    if text[p + 1] != 0x80:
        return 0
    return 3 if text[p + 2] <= 0x8A or 0xA8 <= text[p + 2] <= 0xAF else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _character(
    text: cython.const_uchar[::1], p: cython.longlong, end: cython.longlong
) -> cython.int:
    """How many bytes the character beyond ASCII has that begins there; 0 where it is no UTF-8."""
    byte: cython.int = text[p]
    second: cython.int
    if byte < 0xC2 or byte > 0xF4 or p + 1 >= end:
        return 0
    second = text[p + 1]
    if second < 0x80 or second > 0xBF:
        return 0
    if byte < 0xE0:
        return 2
    # What fewer bytes can say, halves of characters, and numbers beyond the last character.
    if (byte == 0xE0 and second < 0xA0) or (byte == 0xED and second > 0x9F):
        return 0
    if (byte == 0xF0 and second < 0x90) or (byte == 0xF4 and second > 0x8F):
        return 0
    if p + 2 >= end or text[p + 2] < 0x80 or text[p + 2] > 0xBF:
        return 0
    if byte < 0xF0:
        return 3
    return 0 if p + 3 >= end or text[p + 3] < 0x80 or text[p + 3] > 0xBF else 4


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _beyond(text: cython.const_uchar[::1], p: cython.longlong, end: cython.longlong) -> cython.int:
    """What characters beyond ASCII add to what a line holds."""
    found: cython.int = 0
    width: cython.int
    while p < end:
        width = 1
        if text[p] >= 0x80:
            width = _character(text, p, end)
            if width == 0:
                found |= _BROKEN | FILLED
                width = 1
            elif _wide(text, p, end):
                found |= WIDE
                if text[p] == 0xC2 and text[p + 1] == 0x85:
                    found |= _BREAKS
                if text[p] == 0xE2 and (text[p + 2] == 0xA8 or text[p + 2] == 0xA9):
                    found |= _BREAKS
            else:
                found |= FILLED
        p += width
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _held(
    text: cython.const_uchar[::1],
    p: cython.longlong,
    end: cython.longlong,
    kinds: cython.const_uchar[::1],
) -> cython.int:
    """Return the kinds of bytes in a line that is not empty, and its oddities."""
    found: cython.int = 0
    k: cython.longlong
    for k in range(p, end):
        found |= kinds[text[k]]
    if found & BEYOND:
        found |= _beyond(text, p, end)
    return found if found & FILLED else found | _BLANKS


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _barred(text: cython.const_uchar[::1], p: cython.longlong, end: cython.longlong) -> cython.bint:
    """Whether there is ``|||``, which no source should hold."""
    while p + 2 < end:
        if text[p] == BAR and text[p + 1] == BAR and text[p + 2] == BAR:
            return True
        p += 1
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _words(
    text: cython.const_uchar[::1], begin: cython.longlong, end: cython.longlong
) -> cython.longlong:
    """How many words a source has."""
    found: cython.longlong = 0
    outside: cython.int = 1
    white: cython.int
    p: cython.longlong
    for p in range(begin, end):
        white = _white(text[p])
        found += outside & (1 - white)
        outside = white
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _says(
    text: cython.const_uchar[::1],
    begin: cython.longlong,
    end: cython.longlong,
    meaning: cython.const_uchar[::1],
    at: cython.longlong,
    size: cython.longlong,
) -> cython.bint:
    """Whether a field is the word of so many bytes that stands there among those with a meaning."""
    k: cython.longlong
    if end - begin != size:
        return False
    k = 0
    while k < size and text[begin + k] == meaning[at + k]:
        k += 1
    return k == size


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _required(
    text: cython.const_uchar[::1],
    begin: cython.longlong,
    end: cython.longlong,
    meaning: cython.const_uchar[::1],
) -> cython.bint:
    """Return whether a field has the usual fourth value (REQUIRED)."""
    return _says(text, begin, end, meaning, IS_REQUIRED, 8) or _says(
        text, begin, end, meaning, IS_OPTIONAL, 8
    )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _number(
    text: cython.const_uchar[::1], begin: cython.longlong, end: cython.longlong
) -> cython.int:
    """The number that stands there, of one to nine digits and nothing else; else -1."""
    value: cython.int = 0
    p: cython.longlong
    if end <= begin or end - begin > DIGITS:
        return -1
    for p in range(begin, end):
        if text[p] < 48 or text[p] > 57:
            return -1
        value = value * 10 + (text[p] - 48)
    return value


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _correction(
    text: cython.const_uchar[::1], begin: cython.longlong, end: cython.longlong
) -> cython.bint:
    """Return whether a field holds exactly one correction."""
    p: cython.longlong = begin
    if begin < end and (_white(text[begin]) or _white(text[end - 1])):
        return False
    while p < end and text[p] != BAR:
        p += 1
    return p == end


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _cut(
    text: cython.const_uchar[::1],
    begin: cython.longlong,
    end: cython.longlong,
    edits: cython.int[:, ::1],
    edit: cython.longlong,
) -> cython.bint:
    """Cut an ``A`` line into its fields; whether they are six."""
    field: cython.int = 0
    p: cython.longlong = begin + 2
    if end < p or text[begin] != 65 or text[begin + 1] != SPACE:
        return False
    edits[edit, _FIELDS] = cython.cast(cython.int, p)
    while p + 2 < end:
        if text[p] == BAR and text[p + 1] == BAR and text[p + 2] == BAR:
            if field == 5:
                return False
            edits[edit, _FIELDS + 2 * field + 1] = cython.cast(cython.int, p)
            p += 3
            field += 1
            edits[edit, _FIELDS + 2 * field] = cython.cast(cython.int, p)
        else:
            p += 1
    edits[edit, _FIELDS + 2 * field + 1] = cython.cast(cython.int, end)
    return field == 5


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _read(
    text: cython.const_uchar[::1],
    words: cython.longlong,
    edits: cython.int[:, ::1],
    edit: cython.longlong,
    meaning: cython.const_uchar[::1],
) -> cython.bint:
    """Read the fields of a line; whether they are sound in a sentence of so many words."""
    begin: cython.longlong = edits[edit, SPAN]
    end: cython.longlong = edits[edit, SPAN + 1]
    middle: cython.longlong = begin
    edits[edit, _ANNOTATOR] = _number(text, edits[edit, NUMBER], edits[edit, NUMBER + 1])
    if edits[edit, _ANNOTATOR] < 0:
        return False
    if _says(text, edits[edit, _KIND], edits[edit, _KIND + 1], meaning, NOOP_KIND, 4):
        edits[edit, _WHAT] = _NOOP
        return _says(text, begin, end, meaning, NOWHERE, 5)
    edits[edit, _WHAT] = _EDIT
    while middle < end and text[middle] != SPACE:
        middle += 1
    edits[edit, _START] = _number(text, begin, middle)
    edits[edit, _STOP] = _number(text, middle + 1, end)
    if not 0 <= edits[edit, _START] <= edits[edit, _STOP] <= words:
        return False
    if not _required(text, edits[edit, _REQUIRED], edits[edit, _REQUIRED + 1], meaning):
        return False
    begin = edits[edit, _CORRECTION]
    end = edits[edit, _CORRECTION + 1]
    if _required(text, begin, end, meaning) or not _correction(text, begin, end):
        return False
    if _says(text, begin, end, meaning, NOTHING, 6):
        edits[edit, _CORRECTION + 1] = edits[edit, _CORRECTION]
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _corrects_alike(
    text: cython.const_uchar[::1], edits: cython.int[:, ::1], a: cython.longlong, b: cython.longlong
) -> cython.bint:
    """Whether two edits have the same correction."""
    p: cython.longlong = edits[a, _CORRECTION]
    q: cython.longlong = edits[b, _CORRECTION]
    size: cython.longlong = edits[a, _CORRECTION + 1] - p
    k: cython.longlong = 0
    if edits[b, _CORRECTION + 1] - q != size:
        return False
    while k < size and text[p + k] == text[q + k]:
        k += 1
    return k == size


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _in_order(
    text: cython.const_uchar[::1],
    edits: cython.int[:, ::1],
    edit: cython.longlong,
    seen: cython.int[:, ::1],
    known: cython.int,
) -> cython.int:
    """Return the number of annotators up to this line; -1 where a message is needed.

    Of each are kept: the number, whether there was a noop, start and end of the last edit, its row,
    and how many insert something at the place of the last. Two may, if not the same.
    """
    k: cython.int
    start: cython.int = edits[edit, _START]
    stop: cython.int = edits[edit, _STOP]
    last: cython.longlong
    for k in range(known):
        if seen[k, 0] == edits[edit, _ANNOTATOR]:
            if edits[edit, _WHAT] == _NOOP or seen[k, 1] or start < seen[k, 3]:
                return -1
            last = seen[k, 4]
            seen[k, 5] += 1
            if start != seen[k, 2] or stop != seen[k, 3]:
                seen[k, 5] = 1
            elif seen[k, 5] > 2 or _corrects_alike(text, edits, last, edit):
                return -1
            seen[k, 2] = start
            seen[k, 3] = stop
            seen[k, 4] = cython.cast(cython.int, edit)
            return known
    if known == MOST_ANNOTATORS:
        return -1
    seen[known, 0] = edits[edit, _ANNOTATOR]
    seen[known, 1] = edits[edit, _WHAT] == _NOOP
    seen[known, 2] = start
    seen[known, 3] = stop
    seen[known, 4] = cython.cast(cython.int, edit)
    seen[known, 5] = 1
    return known + 1


@cython.cclass
class _Tables:
    """Both tables as far as they are filled, and the paragraph that is being read."""

    paragraphs: cython.int[:, ::1]
    edits: cython.int[:, ::1]
    seen: cython.int[:, ::1]
    paragraph: cython.longlong
    edit: cython.longlong
    words: cython.longlong
    known: cython.int
    inside: cython.bint
    odd: cython.int

    def __init__(self, paragraphs, edits, seen):
        self.paragraphs = paragraphs
        self.edits = edits
        self.seen = seen
        self.paragraph = -1
        self.edit = 0
        self.words = 0
        self.known = 0
        self.inside = False
        self.odd = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(
        self,
        text: cython.const_uchar[::1],
        begin: cython.longlong,
        end: cython.longlong,
        line: cython.longlong,
        held: cython.int,
    ) -> cython.void:
        """Take the first line of a paragraph, which should be its source."""
        p: cython.longlong
        self.inside = True
        self.paragraph += 1
        self.known = 0
        p = self.paragraph
        self.paragraphs[p, _LINE] = cython.cast(cython.int, line)
        self.paragraphs[p, _BEGIN] = cython.cast(cython.int, begin)
        self.paragraphs[p, _SOURCE_END] = cython.cast(cython.int, end)
        self.paragraphs[p, _EDITS] = cython.cast(cython.int, self.edit)
        self.words = -1
        if (
            end >= begin + 2
            and text[begin] == 83
            and text[begin + 1] == SPACE
            and not (held & BARRED and _barred(text, begin + 2, end))
        ):
            self.words = _words(text, begin + 2, end)
        self.paragraphs[p, _SOUND] = self.words >= 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def annotation(
        self,
        text: cython.const_uchar[::1],
        begin: cython.longlong,
        end: cython.longlong,
        meaning: cython.const_uchar[::1],
    ) -> cython.void:
        """Take a further line of a paragraph that has been sound so far."""
        sound: cython.bint = _cut(text, begin, end, self.edits, self.edit)
        if sound:
            sound = _read(text, self.words, self.edits, self.edit, meaning)
        if sound:
            self.known = _in_order(text, self.edits, self.edit, self.seen, self.known)
            sound = self.known >= 0
        if not sound:
            self.unsound()
            return
        self.edits[self.edit, _OWNER] = cython.cast(cython.int, self.paragraph)
        self.edit += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def unsound(self) -> cython.void:
        """Leave a paragraph to the reader that goes line by line."""
        self.paragraphs[self.paragraph, _SOUND] = 0
        self.edit = self.paragraphs[self.paragraph, _EDITS]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def end(self) -> cython.void:
        """End the paragraph, if there is one."""
        if (
            self.inside
            and self.paragraphs[self.paragraph, _SOUND]
            and self.edit == self.paragraphs[self.paragraph, _EDITS]
        ):
            self.edits[self.edit, _OWNER] = cython.cast(cython.int, self.paragraph)
            self.edits[self.edit, _WHAT] = _IMPLIED
            self.edits[self.edit, _ANNOTATOR] = 0
            self.edit += 1
        self.inside = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def scan(
        self,
        text: cython.const_uchar[::1],
        size: cython.longlong,
        meaning: cython.const_uchar[::1],
        kinds: cython.const_uchar[::1],
    ) -> cython.void:
        """Fill both tables."""
        p: cython.longlong = 0
        end: cython.longlong
        line: cython.longlong = 0
        held: cython.int
        while p < size:
            end = p
            while end < size and text[end] != LINE_END:
                end += 1
            if end == p:
                self.end()
            else:
                held = _held(text, p, end, kinds)
                self.odd |= held
                if not self.inside:
                    self.begin(text, p, end, line, held)
                elif self.paragraphs[self.paragraph, _SOUND]:
                    self.annotation(text, p, end, meaning)
                if held & WIDE:
                    self.unsound()
                self.paragraphs[self.paragraph, _END] = cython.cast(cython.int, end)
            p = end + 1
            line += 1
        self.end()


def scan(text: cython.const_uchar[::1]):
    """The paragraphs of a text and the edits of those that are sound, as rows of the columns above.

    Lines end with a line feed. Unusual lines are flagged as `BLANKS`, `BREAKS` and
    `BROKEN` (and more).
    """
    size: cython.longlong = len(text)
    offsets("text", np.array([0, size]), size)
    most = int(np.count_nonzero(np.asarray(text) == LINE_END)) + 1
    # Every paragraph has a line, and with it a row, for its source: that of an implied reference.
    tables = _Tables(
        np.zeros((most, PARAGRAPH_COLUMNS), np.intc),
        np.zeros((most, EDIT_COLUMNS), np.intc),
        np.zeros((MOST_ANNOTATORS, 6), np.intc),
    )
    meaning: cython.const_uchar[::1] = MEANING
    kinds: cython.const_uchar[::1] = KINDS_OF_BYTES
    if not cython.compiled:  # plain integers: NumPy's would overflow
        text = bytes(text)
    with cython.nogil:
        tables.scan(text, size, meaning, kinds)
    found = np.asarray(tables.paragraphs)[: tables.paragraph + 1].copy()
    return found, np.asarray(tables.edits)[: tables.edit].copy(), int(tables.odd)
