"""What is odd about the characters of a text, and about gold references."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus
from errata.io.checks.conventions import letters_in, source_letters
from errata.io.checks.findings import Finding, Severity
from errata.io.checks.segmentation import check_segmentation
from errata.kernels import letters

__all__ = ["check_characters", "check_corpus", "check_gold_characters"]

# UTF-8 read as Latin-1 or Windows-1252 and saved again: é has become Ã©, ’ has become â€™.
MOJIBAKE = re.compile("[ÂÃ][\u0080-\u00bf]|â€|ï»¿|\ufffd")
# What nobody sees: control characters, zero-width characters, soft hyphens, marks of direction.
INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
)
# White space that separates tokens but is not a plain space.
SPACES = re.compile("[\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")

ODD = letters.BEYOND | letters.UNPRINTABLE  # what a line shows that has any of these


def check_characters(
    lines: Sequence[str],
    path: str,
    *,
    beside: Sequence[str] | None = None,
    numbers: Sequence[int] | NDArray[np.int64] | None = None,
    shown: NDArray[np.uint8] | None = None,
) -> list[Finding]:
    """Broken encoding, invisible characters, unusual white space.

    A character that the line ``beside`` (its source) has too is not reported again. ``numbers``
    are the lines' numbers in the file, if not 1, 2, 3... ``shown`` is what `letters_in` them is,
    where that is known.
    """
    suspects = np.flatnonzero((letters_in(lines) if shown is None else shown) & ODD).tolist()
    if not suspects:
        return []
    kinds: tuple[tuple[re.Pattern[str], str, Severity, str, str], ...] = (
        (
            MOJIBAKE,
            "broken-encoding",
            "warning",
            "{} looks like text in a wrong encoding",
            "convert the file to UTF-8 from what it really was",
        ),
        (
            INVISIBLE,
            "invisible-character",
            "warning",
            "the line holds the invisible character {}",
            "remove it; it makes equal words differ",
        ),
        (
            SPACES,
            "unusual-space",
            "note",
            "{} separates tokens here like a space",
            "write a plain space, or another character if the token goes on",
        ),
    )
    findings: list[Finding] = []
    for pattern, code, severity, problem, remedy in kinds:
        for i in suspects:
            match = pattern.search(lines[i])
            if match is None or (beside is not None and match[0] in beside[i]):
                continue
            named = repr(match[0]) if code == "broken-encoding" else f"U+{ord(match[0]):04X}"
            findings.append(
                Finding(
                    severity,
                    path,
                    i + 1 if numbers is None else int(numbers[i]),
                    problem.format(named),
                    remedy,
                    code,
                )
            )
    return findings


def check_corpus(corpus: Corpus, path: str, numbers: Sequence[int] | None = None) -> list[Finding]:
    """What is odd about sources and gold edits; ``numbers`` are the sources' lines in the file."""
    lines = list(numbers) if numbers is not None else list(range(1, len(corpus) + 1))
    findings = check_gold_characters(corpus, path, lines)
    findings += check_segmentation(corpus.sources, path, shown=source_letters(corpus))
    for number, source, references in zip(lines, corpus.sources, corpus.references, strict=True):
        if not source or source.isspace():
            findings.append(
                Finding(
                    "warning",
                    path,
                    number,
                    "the source sentence is empty",
                    "leave it out of the set",
                    "empty-source",
                )
            )
        tokens = source.split()
        for reference in references:
            for edit in reference.edits or ():
                if reference.text is not None and "  " in edit.replacement:
                    continue  # another sentence's, as `--compatible` reads it: not what it says
                original = " ".join(tokens[edit.start : edit.end])
                findings += _check_edit(
                    original,
                    edit.replacements,
                    edit.kind,
                    f"{edit.start}-{edit.end} of annotator {reference.annotator}",
                    path,
                    number,
                )
    return findings


def check_gold_characters(corpus: Corpus, path: str, numbers: Sequence[int]) -> list[Finding]:
    """Odd characters of sources and corrections; ``numbers`` are the sources' lines."""
    findings = check_characters(
        corpus.spelled_sources, path, numbers=numbers, shown=source_letters(corpus)
    )
    places, words = corpus.edit_places, corpus.edit_words
    odd = [(edit, words.corrections[edit]) for edit in np.flatnonzero(words.letters & ODD).tolist()]
    odd += [(edit, text) for edit, several in words.alternatives.items() for text in several]
    odd.sort(key=itemgetter(0))  # alternatives behind their corrections
    edits = np.array([edit for edit, _ in odd], np.int64)
    sentences = np.searchsorted(places.at[places.first], edits, side="right") - 1
    lines = [numbers[i] for i in sentences.tolist()]
    return findings + check_characters([text for _, text in odd], path, numbers=lines)


def _check_edit(
    original: str, replacements: tuple[str, ...], kind: str, name: str, path: str, number: int
) -> list[Finding]:
    found: list[tuple[Severity, str, str, str]] = []
    if original in replacements:
        found.append(
            (
                "warning",
                f"the edit {name} changes nothing",
                "delete it; no output can be credited with it",
                "identity-edit",
            )
        )
    if any("  " in text for text in replacements):
        found.append(
            (
                "warning",
                f"the correction of the edit {name} has two spaces in a row",
                "write one; as it is no output matches it",
                "double-space",
            )
        )
    if len(set(replacements)) < len(replacements):
        found.append(
            (
                "warning",
                f"the edit {name} gives an alternative twice",
                "delete one",
                "same-alternative",
            )
        )
    if kind == "Um" and "" in replacements and original:
        found.append(
            (
                "note",
                f"the edit {name} is of type Um (unclear meaning) and has no "
                "correction, which reads as a deletion",
                "take it out if the annotator only marked the place",
                "unclear-deletion",
            )
        )
    return [
        Finding(severity, path, number, problem, remedy, code)
        for severity, problem, remedy, code in found
    ]
