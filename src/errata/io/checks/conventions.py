"""Tokenisation, quotation marks, case: does an output follow its sources, line by line?

A part of a file in another convention costs as many points as a bad system would, and is nobody's
fault but the file's. Lines are judged one by one, and the finding names their share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from operator import ne

import numpy as np
from numpy.typing import NDArray

from errata.data import utf8
from errata.io.checks.findings import Finding
from errata.kernels import letters

__all__ = ["check_conventions", "letters_in"]

NEAR = 4096  # lines

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


def letters_in(lines: Sequence[str]) -> NDArray[np.uint8]:
    """What every line shows (see `errata.kernels.letters`)."""
    return _letters_of(lines) if isinstance(lines, tuple) else _look(lines)


@lru_cache(maxsize=1)  # several checks ask for the sources of a corpus, one after the other
def _letters_of(lines: tuple[str, ...]) -> NDArray[np.uint8]:
    shown = _look(lines)
    shown.flags.writeable = False
    return shown


def _look(lines: Sequence[str]) -> NDArray[np.uint8]:
    # So many that their bytes stay near the processor: all at once take three times as long.
    parts = [letters.show(*utf8(lines[i : i + NEAR])) for i in range(0, len(lines), NEAR)]
    return np.concatenate([np.zeros(0, np.uint8), *parts])


def check_conventions(
    sources: Sequence[str],
    lines: Sequence[str],
    path: str,
    *,
    shown: NDArray[np.uint8] | None = None,
) -> list[Finding]:
    """Lines in another convention than their sources, where they are more than a few.

    ``shown`` is what `letters_in` the lines is, where that is known.

    >>> sources = ["He go , and I stay ."] * 20
    >>> found = check_conventions(sources, [*sources[:10], *["He goes, and I stay."] * 10], "out")
    >>> found[0].problem
    'the sources have spaces before punctuation, the output has not in 10 of 20 lines (50 %)'
    """
    given = _styles(tuple(sources))
    # A line that equals its source goes as that does, and most do.
    differ = np.fromiter(map(ne, lines, sources), np.bool_, len(lines))
    changed = np.flatnonzero(differ).tolist()
    if shown is None:
        shown = letters_in(lines)
    own = given.copy()
    own[changed] = _table([lines[i] for i in changed], shown[differ])
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
    # A line that equals its source has no more left over than that.
    return findings + _left_over(sources, lines, changed, path)


def _left_over(
    sources: Sequence[str], lines: Sequence[str], changed: Sequence[int], path: str
) -> list[Finding]:
    whole = "\n".join([lines[i] for i in changed])
    findings = []
    for mark, signs, what, remedy in LEFT_OVER:
        # Its first character alone is found, or not, much faster.
        if not any(sign[0] in whole and sign in whole for sign in signs):
            continue
        found = [
            seen[0]
            for i in changed
            if (seen := mark.search(lines[i])) is not None and mark.search(sources[i]) is None
        ]
        if len(found) >= FEWEST:
            named = what.format(Counter(found).most_common(1)[0][0])
            problem = f"{named} in {_share(len(found), len(lines))}, which the sources have not"
            remedy += "; scores compare tokens"
            findings.append(Finding("warning", path, None, problem, remedy, "left-over"))
    return findings


def _differing(sources: Styles, lines: Styles, kind: int, way: int) -> tuple[int, int]:
    """Lines that go the other way where their sources go this way, and those that go either way."""
    ways = lines[sources[:, kind] == way, kind]
    other = int(np.count_nonzero(ways == -way))
    return other, other + int(np.count_nonzero(ways == way))


@lru_cache(maxsize=1)  # every system is compared with the same sources
def _styles(lines: tuple[str, ...]) -> Styles:
    return _table(lines, letters_in(lines))


def _table(lines: Sequence[str], seen: NDArray[np.uint8]) -> Styles:
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
