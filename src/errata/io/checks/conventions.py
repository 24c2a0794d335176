"""Tokenisation, quotation marks, case: does an output follow its sources, line by line?

A part of a file in another convention costs as many points as a bad system would, and is nobody's
fault but the file's. Lines are judged one by one, and the finding names their share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.data import LETTERS, Corpus
from errata.io.checks.findings import Finding
from errata.kernels import letters, words
from errata.numbers import Ints
from errata.spelling import NEAR, differing, some_of, utf8
from errata.workers import parts

__all__ = [
    "LineShapes",
    "LinesBeside",
    "check_conventions",
    "letters_in",
    "lines_beside",
    "shapes_of",
    "source_letters",
    "source_shapes",
]

# A mark after a word: glued to it as in print, or apart as a tokeniser leaves it. Begun with the
# mark, which is rare, a search takes a tenth of the time.
GLUED = re.compile(r"[.,;:!?](?<=\w.)(?=\s|$)")
APART = re.compile(r"[.,;:!?](?<=\s.)(?=\s|$)")
# Han, kana, Thai, Lao, Burmese, Khmer: words follow each other without a space.
SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\U00020000-\U0003134f"
)
SEGMENTED = re.compile(f"[{SPACELESS}] +[{SPACELESS}]")
TOGETHER = re.compile(f"[{SPACELESS}]{{4}}")
CURLY = re.compile("[‘’“”]")
# So many lines, and this share of those that can show it, must differ before it is said. In the
# public outputs and corrections of CoNLL-2014 and JFLEG less than one line in a hundred does.
FEWEST, SHARE = 5, 0.02
# What a system's own pipeline leaves in lines: cut words, markup, the line's number. Where none of
# the signs is, and that is soon seen, there is nothing to search.
LEFT_OVER = (
    (re.compile(r"@@(?=\s|$)|▁"), ("@@", "▁"), "cut words ({})", "join them"),
    (
        re.compile(r"&(?:apos|quot|amp|lt|gt|#\d+);"),
        ("&apos;", "&quot;", "&amp;", "&lt;", "&gt;", "&#"),
        "character entities ({})",
        "resolve them",
    ),
    (
        re.compile(r"</?s>|<pad>|\[(?:CLS|SEP|PAD)\]"),
        ("<s>", "</s>", "<pad>", "[CLS]", "[SEP]", "[PAD]"),
        "marks of sentences ({})",
        "take them out",
    ),
    (
        re.compile(r"^\d+\t", re.MULTILINE),
        ("\t",),
        "numbers of lines",
        "leave the text alone in its column",
    ),
)

# How a line goes, by kind: 1 as the first word of `KINDS` says, -1 the other way, 0 neither.
Style = tuple[int, int, int, int]
Styles = NDArray[np.int8]  # [line, kind]
Letters = NDArray[np.uint8]  # of each line


class LineShapes(NamedTuple):
    """What the lines of a text show, and how they go."""

    letters: Letters
    styles: Styles


class LinesBeside(NamedTuple):
    """How lines look beside their sources: which differ, these and theirs, and what all show.

    ``left`` is what of each kind of `LEFT_OVER` some have left over.
    """

    changed: Ints
    ours: Sequence[str]
    theirs: Sequence[str]
    shown: Letters
    styles: Styles
    left: list[list[str]]


# What is said of the way 1, with its remedy and code; case is asked of the sources' way only.
KINDS = (
    ("spaces before punctuation", "tokenise both alike; scores compare tokens", "tokenisation"),
    (
        "straight quotation marks",
        "write them as the sources do; scores compare characters",
        "quotes",
    ),
    (
        "spaces between words",
        "segment both alike, or give --tokens characters; scores compare tokens",
        "segmentation",
    ),
)


def source_letters(corpus: Corpus, known: Letters | None = None) -> Letters:
    """What every source of a corpus shows; ``known`` to whoever read them, it is kept with it."""

    def make() -> Letters:
        shown = letters_in(corpus.spelled_sources) if known is None else known
        shown.flags.writeable = False
        return shown

    return corpus.derived(LETTERS, make)


def source_shapes(corpus: Corpus) -> LineShapes:
    """How the sources of a corpus look; kept with it."""
    return corpus.derived(
        "source shapes", lambda: shapes_of(corpus.spelled_sources, source_letters(corpus))
    )


def shapes_of(lines: Sequence[str], shown: Letters | None = None) -> LineShapes:
    """How lines look; ``shown`` is what `letters_in` them is, where that is known."""
    letters = letters_in(lines) if shown is None else shown
    shapes = LineShapes(letters, _styles(lines, letters))
    shapes.styles.flags.writeable = False
    return shapes


def letters_in(lines: Sequence[str]) -> Letters:
    """What every line shows (see `errata.kernels.letters`)."""
    # So many that their bytes stay near the processor: all at once take three times as long.
    shown = [letters.show(*utf8(lines[near])) for near in parts(len(lines), NEAR)]
    return np.concatenate([np.zeros(0, np.uint8), *shown])


def lines_beside(sources: Sequence[str], lines: Sequence[str], look: LineShapes) -> LinesBeside:
    """How lines look beside their sources, which have this look.

    A line that equals its source looks as that does and has no more left over, and many do.
    """
    shown, styles = look.letters.copy(), look.styles.copy()
    differ = np.zeros(len(lines), np.bool_)
    left: list[list[str]] = [[] for _ in LEFT_OVER]
    # So many that they stay near the processor, as they are looked at several times.
    for near in parts(len(lines), NEAR):
        changed = differ[near] = differing(lines[near], sources[near])
        new, old = some_of(lines[near], changed), some_of(sources[near], changed)
        seen = letters_in(new)
        shown[near][changed], styles[near][changed] = seen, _styles(new, seen)
        for kept, more in zip(left, _left_over(old, new), strict=True):
            kept += more
    ours, theirs = some_of(lines, differ), some_of(sources, differ)
    return LinesBeside(np.flatnonzero(differ), ours, theirs, shown, styles, left)


def check_conventions(
    sources: Sequence[str],
    lines: Sequence[str],
    path: str,
    *,
    look: LineShapes | None = None,
    beside: LinesBeside | None = None,
) -> list[Finding]:
    """Lines in another convention than their sources, where they are more than a few.

    Where they are known: ``look`` is how the sources look, ``beside`` how the lines do beside them.

    >>> sources = ["He go , and I stay ."] * 20
    >>> found = check_conventions(sources, [*sources[:10], *["He goes, and I stay."] * 10], "out")
    >>> found[0].problem
    'the sources have spaces before punctuation, the output has not in 10 of 20 lines (50 %)'
    """
    look = shapes_of(sources) if look is None else look
    beside = lines_beside(sources, lines, look) if beside is None else beside
    given, own = look.styles, beside.styles
    findings = []
    for kind, (what, remedy, code) in enumerate(KINDS):
        for way, sides in (
            (1, ("sources have", "output has")),
            (-1, ("output has", "sources have")),
        ):
            found, asked = _differing(given, own, kind, way)
            if found >= max(FEWEST, SHARE * asked):
                problem = f"the {sides[0]} {what}, the {sides[1]} not in {_share(found, asked)}"
                findings.append(Finding("warning", path, None, problem, remedy, code))
    found, asked = _differing(given, own, len(KINDS), 1)
    if found >= max(FEWEST, SHARE * asked):
        problem = f"the output is in lower case, the sources are not, in {_share(found, asked)}"
        remedy = "restore the case; scores compare it"
        findings.append(Finding("warning", path, None, problem, remedy, "case"))
    for (_, _, what, remedy), left in zip(LEFT_OVER, beside.left, strict=True):
        if len(left) >= FEWEST:
            named = what.format(Counter(left).most_common(1)[0][0])
            problem = f"{named} in {_share(len(left), len(lines))}, which the sources have not"
            remedy += "; scores compare tokens"
            findings.append(Finding("warning", path, None, problem, remedy, "left-over"))
    return findings


def _left_over(sources: Sequence[str], lines: Sequence[str]) -> Iterator[list[str]]:
    """What lines have left over, and their sources have not, of each kind."""
    whole = words.gather(*utf8(lines)).tobytes()
    for mark, signs, _, _ in LEFT_OVER:
        # Its first byte alone is found, or not, much faster.
        if any(sign[:1] in whole and sign in whole for sign in map(str.encode, signs)):
            yield [
                seen[0]
                for source, line in zip(sources, lines, strict=True)
                if (seen := mark.search(line)) is not None and mark.search(source) is None
            ]
        else:
            yield []


def _differing(sources: Styles, lines: Styles, kind: int, way: int) -> tuple[int, int]:
    """Lines that go the other way where their sources go this way, and those that go either way."""
    ways = lines[sources[:, kind] == way, kind]
    other = int(np.count_nonzero(ways == -way))
    return other, other + int(np.count_nonzero(ways == way))


def _styles(lines: Sequence[str], seen: Letters) -> Styles:
    has = {
        flag: (seen & flag).astype(bool)
        for flag in (letters.APART, letters.GLUED, letters.STRAIGHT, letters.UPPER, letters.FILLED)
    }
    table = np.zeros((len(lines), len(KINDS) + 1), np.int8)
    table[:, 0] = has[letters.APART].astype(np.int8) - has[letters.GLUED]
    table[:, 1] = has[letters.STRAIGHT]
    table[:, -1] = np.where(has[letters.UPPER], 1, np.where(has[letters.FILLED], -1, 0))
    for i in np.flatnonzero(seen & letters.BEYOND).tolist():
        table[i] = _style(lines[i])
    return table


def _style(line: str) -> Style:
    """The same of a line with characters beyond ASCII."""
    straight = "'" in line or '"' in line or "`" in line
    curly = CURLY.search(line) is not None
    segmented = 1 if SEGMENTED.search(line) else -1 if TOGETHER.search(line) else 0
    return (
        (APART.search(line) is not None) - (GLUED.search(line) is not None),
        straight - curly,
        segmented,
        1 if line != line.lower() else -1 if line.strip() else 0,
    )


def _share(found: int, asked: int) -> str:
    return f"{found} of {asked} lines ({100 * found / asked:.0f} %)"
