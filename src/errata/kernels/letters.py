"""What the characters of lines show, in one pass over their bytes: marks, quotes, case, oddities.

A line with a byte beyond ASCII is only said to have one: what its letters are is Python's to know.
"""

import cython
import numpy as np

from errata.kernels._doors import spans

_APART = cython.declare(cython.const_int, 1)  # a mark after white space and before it or the end
_GLUED = cython.declare(cython.const_int, 2)  # a mark after a letter and before white space, end
_STRAIGHT = cython.declare(cython.const_int, 4)  # a straight quotation mark
_UPPER = cython.declare(cython.const_int, 8)  # an upper-case letter
_FILLED = cython.declare(cython.const_int, 16)  # anything but white space
_UNPRINTABLE = cython.declare(cython.const_int, 32)  # a control character
_BEYOND = cython.declare(cython.const_int, 64)  # a character beyond ASCII
_DOUBLED = cython.declare(cython.const_int, 128)  # white space after white space

# Constants of C are not seen from outside; these are.
APART, GLUED, STRAIGHT, UPPER = _APART, _GLUED, _STRAIGHT, _UPPER
FILLED, UNPRINTABLE, BEYOND, DOUBLED = _FILLED, _UNPRINTABLE, _BEYOND, _DOUBLED

SPACE = cython.declare(cython.const_int, 1)  # bits of a single byte
MARK = cython.declare(cython.const_int, 2)
LETTER = cython.declare(cython.const_int, 4)


def _kinds():
    """Return the class of each byte, ``[byte, (bits, what it shows of a line)]``."""
    kinds = np.zeros((256, 2), np.uint8)
    for byte in range(128):
        character = chr(byte)
        if character.isspace():
            kinds[byte, 0] |= SPACE
        else:
            kinds[byte, 1] |= FILLED
        if character in ".,;:!?":
            kinds[byte, 0] |= MARK
        if character.isalnum() or character == "_":
            kinds[byte, 0] |= LETTER
        if character in "'\"`":
            kinds[byte, 1] |= STRAIGHT
        if character.isupper():
            kinds[byte, 1] |= UPPER
        if not character.isprintable():
            kinds[byte, 1] |= UNPRINTABLE
    kinds[128:, 1] = BEYOND | FILLED
    return kinds


KINDS = _kinds()


def show(
    text: cython.const_uchar[::1],
    first: cython.const_longlong[::1],
    last: cython.const_longlong[::1],
):
    """What each line shows, as the sum of the flags above; line ``i`` is ``first[i]:last[i]``."""
    spans("lines", first, last, len(text))
    lines: cython.Py_ssize_t = first.shape[0]
    result = np.zeros(lines, np.uint8)
    out: cython.uchar[::1] = result
    kinds: cython.uchar[:, ::1] = KINDS
    i: cython.Py_ssize_t
    p: cython.longlong
    end: cython.longlong
    flags: cython.int
    before: cython.int
    own: cython.int
    with cython.nogil:
        for i in range(lines):
            flags = 0
            before = 0
            end = last[i]
            for p in range(first[i], end):
                own = kinds[text[p], 0]
                flags |= kinds[text[p], 1]
                if own & before & SPACE:
                    flags |= _DOUBLED
                if own & MARK and (p + 1 == end or kinds[text[p + 1], 0] & SPACE):
                    if before & SPACE:
                        flags |= _APART
                    elif before & LETTER:
                        flags |= _GLUED
                before = own
            out[i] = cython.cast(cython.uchar, flags)
    return result
