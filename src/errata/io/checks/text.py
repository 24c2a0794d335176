"""Check tokenisation, quotes, case, odd characters and segmentation of texts.

A file in another convention costs as many points as a bad system. Lines are judged one by one, and
the finding names their share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress
from operator import itemgetter, ne
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.core.parallel import chunks
from errata.core.stats import Ints
from errata.data import Corpus, Edit
from errata.data.corpus import LETTERS
from errata.data.tokens import utf8
from errata.io.checks import Finding, Severity
from errata.kernels import letters, words

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
# So many lines, and this share of the lines that can show it, must differ for a finding. In the
# public outputs and corrections of CoNLL-2014 and JFLEG less than one line in a hundred does.
FEWEST, SHARE = 5, 0.02
NEAR = 4096  # lines whose bytes stay in the cache while they are looked at
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


class LineConventions(NamedTuple):
    """What the lines of a text show, and how they go."""

    letters: Letters
    styles: Styles


class PairedLines(NamedTuple):
    """Changed lines, their sources, the flags of all lines, and leftovers per `LEFT_OVER` kind."""

    changed: Ints
    ours: Sequence[str]
    theirs: Sequence[str]
    shown: Letters
    styles: Styles
    left: list[list[str]]


# The words for way 1, with remedy and code; case is compared in the sources' way only.
_APART = "tokenise both alike; scores compare tokens"
_QUOTES = "write them as the sources do; scores compare characters"
_WORDS = "segment both alike, or give --tokens characters; scores compare tokens"
KINDS = (
    ("spaces before punctuation", _APART, "tokenisation"),
    ("straight quotation marks", _QUOTES, "quotes"),
    ("spaces between words", _WORDS, "segmentation"),
)


def source_letter_flags(corpus: Corpus, known: Letters | None = None) -> Letters:
    """Return the letters of every source, kept with the corpus; ``known`` if they were read."""
    shown = corpus.derived(
        LETTERS, lambda: letter_flags(corpus.sources) if known is None else known
    )
    shown.flags.writeable = False
    return shown


def source_conventions(corpus: Corpus) -> LineConventions:
    """How the sources of a corpus look; kept with it."""
    return corpus.derived(
        "source shapes", lambda: detect_conventions(corpus.sources, source_letter_flags(corpus))
    )


def detect_conventions(lines: Sequence[str], shown: Letters | None = None) -> LineConventions:
    """How lines look; ``shown`` is what `letter_flags` them is, where that is known."""
    letters = letter_flags(lines) if shown is None else shown
    shapes = LineConventions(letters, _convention_table(lines, letters))
    shapes.styles.flags.writeable = False
    return shapes


def letter_flags(lines: Sequence[str]) -> Letters:
    """What every line shows (see `errata.kernels.letters`)."""
    # So many that their bytes stay near the processor: all at once take three times as long.
    shown = [letters.show(*utf8(lines[near])) for near in chunks(len(lines), NEAR)]
    return np.concatenate([np.zeros(0, np.uint8), *shown])


def pair_with_sources(
    sources: Sequence[str], lines: Sequence[str], look: LineConventions
) -> PairedLines:
    """Compare lines with their sources, whose conventions are ``look``; most are equal."""
    shown, styles = look.letters.copy(), look.styles.copy()
    differ = np.zeros(len(lines), np.bool_)
    left: list[list[str]] = [[] for _ in LEFT_OVER]
    # So many that they stay near the processor, as they are looked at several times.
    for near in chunks(len(lines), NEAR):
        ours, theirs = lines[near], sources[near]
        changed = differ[near] = np.fromiter(map(ne, ours, theirs), np.bool_, len(ours))
        new, old = list(compress(ours, changed)), list(compress(theirs, changed))
        seen = letter_flags(new)
        shown[near][changed], styles[near][changed] = seen, _convention_table(new, seen)
        for kept, more in zip(left, _find_leftover_markup(old, new), strict=True):
            kept += more
    ours, theirs = list(compress(lines, differ)), list(compress(sources, differ))
    return PairedLines(np.flatnonzero(differ), ours, theirs, shown, styles, left)


def compare_conventions(look: LineConventions, beside: PairedLines, path: str) -> list[Finding]:
    """Return findings on lines in another convention than their sources, if there are many.

    >>> sources = ["He go , and I stay ."] * 20
    >>> lines = [*sources[:10], *["He goes, and I stay."] * 10]
    >>> look = detect_conventions(sources)
    >>> compare_conventions(look, pair_with_sources(sources, lines, look), "out")[0].problem
    'the sources have spaces before punctuation, the output has not in 10 of 20 lines (50 %)'
    """
    given, own = look.styles, beside.styles
    findings = []
    for kind, (what, remedy, code) in enumerate(KINDS):
        both = ("sources have", "output has"), ("output has", "sources have")
        for way, sides in zip((1, -1), both, strict=True):
            found, asked = _count_differing_lines(given, own, kind, way)
            if found >= max(FEWEST, SHARE * asked):
                share = _share_text(found, asked)
                problem = f"the {sides[0]} {what}, the {sides[1]} not in {share}"
                findings.append(Finding("warning", path, None, problem, remedy, code))
    found, asked = _count_differing_lines(given, own, len(KINDS), 1)
    if found >= max(FEWEST, SHARE * asked):
        share = _share_text(found, asked)
        problem = f"the output is in lower case, the sources are not, in {share}"
        remedy = "restore the case; scores compare it"
        findings.append(Finding("warning", path, None, problem, remedy, "case"))
    for (_, _, what, remedy), left in zip(LEFT_OVER, beside.left, strict=True):
        if len(left) >= FEWEST:
            named = what.format(Counter(left).most_common(1)[0][0])
            problem = f"{named} in {_share_text(len(left), len(own))}, which the sources have not"
            remedy += "; scores compare tokens"
            findings.append(Finding("warning", path, None, problem, remedy, "left-over"))
    return findings


def _find_leftover_markup(sources: Sequence[str], lines: Sequence[str]) -> Iterator[list[str]]:
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


def _count_differing_lines(sources: Styles, lines: Styles, kind: int, way: int) -> tuple[int, int]:
    """Lines that go the other way where their sources go this way, and those that go either way."""
    ways = lines[sources[:, kind] == way, kind]
    other = int(np.count_nonzero(ways == -way))
    return other, other + int(np.count_nonzero(ways == way))


def _convention_table(lines: Sequence[str], seen: Letters) -> Styles:
    has = {
        flag: (seen & flag).astype(bool)
        for flag in (letters.APART, letters.GLUED, letters.STRAIGHT, letters.UPPER, letters.FILLED)
    }
    table = np.zeros((len(lines), len(KINDS) + 1), np.int8)
    table[:, 0] = has[letters.APART].astype(np.int8) - has[letters.GLUED]
    table[:, 1] = has[letters.STRAIGHT]
    table[:, -1] = np.where(has[letters.UPPER], 1, np.where(has[letters.FILLED], -1, 0))
    for i in np.flatnonzero(seen & letters.BEYOND).tolist():
        table[i] = _line_convention(lines[i])
    return table


def _line_convention(line: str) -> Style:
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


def _share_text(found: int, asked: int) -> str:
    return f"{found} of {asked} lines ({100 * found / asked:.0f} %)"


# ---- Texts whose tokens are not apart, by their script or as people write them.

LETTER = re.compile(f"[{SPACELESS}]")
# Longer than any word of segmented text, long names in katakana included.
RUN = re.compile(f"[{SPACELESS}、。，！？]{{12}}")
# More than half of the lines that could show it must; one in a short text says little.
FEWEST_UNSEGMENTED = 3


def check_segmentation(
    lines: Sequence[str], path: str, *, by: str | None = None, shown: Letters | None = None
) -> list[Finding]:
    """Find a text that looks unsegmented, or untokenised, as a whole.

    ``by`` names the tokeniser that has cut the text; ``shown`` are its `letter_flags`, if known.

    >>> check_segmentation(["He go home.", "I likes it!", "So do I."], "src.txt")[0].problem
    'punctuation is glued to words in 3 of 3 lines that have some: the text looks untokenised'
    """
    if shown is None:
        shown = letter_flags(lines)
    beyond = np.flatnonzero(shown & letters.BEYOND).tolist()  # what lies in ASCII is known
    spaceless = [lines[i] for i in beyond if LETTER.search(lines[i])]
    runs = sum(RUN.search(line) is not None for line in spaceless)
    if runs >= FEWEST_UNSEGMENTED and 2 * runs > len(lines):
        what = "no space for 12 characters or more"
        if by is not None:
            what = f"{by} leaves 12 characters or more without a space"
        looks = "looks unsegmented, and a whole sentence counts as one word"
        problem = f"{what} in {runs} of {len(lines)} lines: the text {looks}"
        remedy = "give --tokens characters, or segment all texts alike (errata tokenise)"
        return [Finding("warning", path, None, problem, remedy, "unsegmented")]
    if by is not None:
        return []
    parted, together = ((shown & flag) != 0 for flag in (letters.APART, letters.GLUED))
    for i in beyond:
        parted[i] = APART.search(lines[i]) is not None
        together[i] = GLUED.search(lines[i]) is not None
    glued = int(np.count_nonzero(together & ~parted))
    asked = glued + int(np.count_nonzero(parted))
    if glued >= FEWEST_UNSEGMENTED and 2 * glued > asked:
        problem = f"punctuation is glued to words in {glued} of {asked} lines that have some: the "
        problem += "text looks untokenised"
        remedy = "tokenise all texts alike: --tokens spacy:en for English, or errata tokenise; "
        remedy += "scores compare tokens"
        return [Finding("warning", path, None, problem, remedy, "untokenised")]
    return []


# ---- Oddities of the characters of a text, and of gold references.

# UTF-8 read as Latin-1 or Windows-1252 and saved again: é has become Ã©, ’ has become â€™.
MOJIBAKE = re.compile("[ÂÃ][\u0080-\u00bf]|â€|ï»¿|\ufffd")
# What nobody sees: control characters, zero-width characters, soft hyphens, marks of direction.
INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
)
# White space that separates tokens but is not a plain space.
SPACES = re.compile("[\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")

_BROKEN = (
    "{} looks like text in a wrong encoding",
    "convert the file to UTF-8 from what it really was",
)
_HIDDEN = "the line holds the invisible character {}", "remove it; it makes equal words differ"
_SPACE = (
    "{} separates tokens here like a space",
    "write a plain space, or another character if the token goes on",
)
# Pattern, code, severity, problem and remedy.
ODD_CHARACTERS: tuple[tuple[re.Pattern[str], str, Severity, str, str], ...] = (
    (MOJIBAKE, "broken-encoding", "warning", *_BROKEN),
    (INVISIBLE, "invisible-character", "warning", *_HIDDEN),
    (SPACES, "unusual-space", "note", *_SPACE),
)
ODD = letters.BEYOND | letters.UNPRINTABLE  # what a line shows that has any of these


def check_characters(
    lines: Sequence[str],
    path: str,
    *,
    beside: Sequence[str] | None = None,
    numbers: Sequence[int] | NDArray[np.int64] | None = None,
    shown: NDArray[np.uint8] | None = None,
) -> list[Finding]:
    """Find broken encoding, invisible characters and unusual white space.

    Characters that the line ``beside`` (its source) has too are not reported. ``numbers`` are the
    line numbers in the file, if not 1, 2, 3...; ``shown`` are the `letter_flags`, if known.
    """
    suspects = np.flatnonzero((letter_flags(lines) if shown is None else shown) & ODD).tolist()
    if not suspects:
        return []
    findings: list[Finding] = []
    for pattern, code, severity, problem, remedy in ODD_CHARACTERS:
        for i in suspects:
            match = pattern.search(lines[i])
            if match is None or (beside is not None and match[0] in beside[i]):
                continue
            named = repr(match[0]) if pattern is MOJIBAKE else f"U+{ord(match[0]):04X}"
            line = i + 1 if numbers is None else int(numbers[i])
            findings.append(Finding(severity, path, line, problem.format(named), remedy, code))
    return findings


def lint_edits(corpus: Corpus, path: str, numbers: Sequence[int] | None = None) -> list[Finding]:
    """Empty sources and odd gold edits; ``numbers`` are the sources' lines in the file."""
    lines = range(1, len(corpus) + 1) if numbers is None else numbers
    findings = []
    for number, source, references in zip(lines, corpus.sources, corpus.references, strict=True):
        if not source or source.isspace():
            problem, remedy = "the source sentence is empty", "leave it out of the set"
            findings.append(Finding("warning", path, number, problem, remedy, "empty-source"))
        tokens = source.split()
        for reference in references:
            for edit in reference.edits or ():
                if reference.text is not None and "  " in edit.replacement:
                    continue  # another sentence's, as `--compatible` reads it: not what it says
                original = " ".join(tokens[edit.start : edit.end])
                name = f"{edit.start}-{edit.end} of annotator {reference.annotator}"
                findings += _lint_edit(original, edit, name, path, number)
    return findings


def check_gold_characters(corpus: Corpus, path: str, numbers: Sequence[int]) -> list[Finding]:
    """Odd characters of sources and corrections; ``numbers`` are the sources' lines."""
    findings = check_characters(
        corpus.sources, path, numbers=numbers, shown=source_letter_flags(corpus)
    )
    table = corpus.edits
    unusual = np.flatnonzero(table.replacement_flags & ODD).tolist()
    odd = [(edit, table.replacements[edit]) for edit in unusual]
    odd += [(edit, text) for edit, several in enumerate(table.alternatives) for text in several]
    odd.sort(key=itemgetter(0))  # alternatives behind their corrections
    edits = np.array([edit for edit, _ in odd], np.int64)
    starts = table.edit_offsets[table.reference_offsets]
    sentences = np.searchsorted(starts, edits, side="right") - 1
    lines = [numbers[i] for i in sentences.tolist()]
    return findings + check_characters([text for _, text in odd], path, numbers=lines)


def _lint_edit(original: str, edit: Edit, name: str, path: str, number: int) -> list[Finding]:
    found: list[tuple[Severity, str, str, str]] = []
    texts = edit.replacements
    if original in texts:
        problem, remedy = "changes nothing", "delete it; no output can be credited with it"
        found.append(("warning", f"the edit {name} {problem}", remedy, "identity-edit"))
    if any("  " in text for text in texts):
        problem = f"the correction of the edit {name} has two spaces in a row"
        found.append(("warning", problem, "write one; no output matches two", "double-space"))
    if len(set(texts)) < len(texts):
        problem = f"the edit {name} gives an alternative twice"
        found.append(("warning", problem, "delete one", "same-alternative"))
    if edit.kind == "Um" and "" in texts and original:
        problem = f"the edit {name} is of type Um (unclear meaning) and has no correction, which "
        problem += "reads as a deletion"
        remedy = "take it out if the annotator only marked the place"
        found.append(("note", problem, remedy, "unclear-deletion"))
    return [Finding(severity, path, number, *words) for severity, *words in found]
