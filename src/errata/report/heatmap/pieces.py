"""The pieces of a difficulty heat map: stretches of sentences, their weights and their shades.

Hard errors are deep red and false alarms blue, on a page, in a terminal or in a picture.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from errata.data import Edit
from errata.errors import InputError, visible
from errata.metrics.difficulty.chunks import MODIFIED
from errata.metrics.difficulty.map import DifficultyMap
from errata.numbers import plural

__all__ = [
    "STEPS",
    "Concealed",
    "MarkedPiece",
    "MarkedSentence",
    "PieceKind",
    "label",
    "marked_sentences",
    "parse_range",
    "parse_ranges",
    "shade",
    "weights_from",
]

# Ends and middle of the two ramps; both get darker evenly, so they also read without colour.
RED = ((255, 240, 232), (239, 101, 72), (140, 10, 20))
BLUE = ((244, 248, 253), (140, 184, 226), (8, 48, 107))

STEPS = 10  # shades from the easiest to the hardest

MANY_DIGITS = 18  # more than any corpus has sentences

PieceKind = Literal["plain", "error", "alarm"]
# What a map can do without: words that the learner left out, and false alarms.
Concealed = Literal["omissions", "alarms"]


@dataclass(frozen=True)
class MarkedPiece:
    """A stretch of a sentence: plain text, an error, or a place where systems raised an alarm.

    ``text`` are the learner's tokens (none for an insertion); ``right`` numbers the systems that
    got it right, ``wrong`` what others wrote there, with their numbers. Control characters are
    written out, whatever the map is drawn on.
    """

    what: PieceKind
    text: str
    weight: float = 0.0
    kind: str = ""
    correction: str = ""
    right: tuple[int, ...] = ()
    wrong: tuple[tuple[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True)
class MarkedSentence:
    """One sentence (from 0; ``number`` counts from 1) as one annotator corrected it."""

    sentence: int
    number: int
    annotator: int
    pieces: tuple[MarkedPiece, ...]


def shade(weight: float, *, alarm: bool = False) -> tuple[str, bool]:
    """The shade of a weight from 0 to 1, and whether text on it must be white.

    >>> shade(0.0), shade(1.0)
    (('#fff0e8', False), ('#8c0a14', True))
    """
    at = min(1.0, max(0.0, weight))
    low, middle, high = BLUE if alarm else RED
    a, b, share = (low, middle, 2 * at) if at < 0.5 else (middle, high, 2 * at - 1)
    rgb = [round(x + (y - x) * share) for x, y in zip(a, b, strict=True)]
    luminance = sum(
        part * _linear(value) for part, value in zip((0.2126, 0.7152, 0.0722), rgb, strict=True)
    )
    # Whichever of black and white has the better contrast (WCAG).
    white = 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05
    return "#" + "".join(f"{value:02x}" for value in rgb), white


def _linear(value: int) -> float:
    c = value / 255
    return c / 12.92 if c <= 0.04045 else float(((c + 0.055) / 1.055) ** 2.4)


def marked_sentences(
    found: DifficultyMap,
    sentences: Sequence[int] | None = None,
    *,
    conceal: Collection[Concealed] = (),
) -> list[MarkedSentence]:
    """The sentences (all, or those of a range) cut into pieces.

    With ``conceal`` they read as if there were no such marks; Gotou et al. (2020) draw their
    Figure 1 without omissions and false alarms.
    """
    chunks = found.chunks
    spots = chunks.rows.tolist()
    marks = dict(_marks(found))
    result = []
    for u, i in enumerate(chunks.sentences.tolist()):
        if sentences is not None and i not in sentences:
            continue
        tokens = found.corpus.sources[i].split()
        pieces: list[MarkedPiece] = []
        plain: list[str] = []
        for c in range(int(chunks.bounds[u]), int(chunks.bounds[u + 1])):
            if c not in marks or _concealed(spots[c], conceal):
                plain += tokens[spots[c][0] : spots[c][1]]
                continue
            if plain:
                pieces.append(MarkedPiece("plain", visible(" ".join(plain))))
                plain = []
            pieces.append(_marked(found, u, spots[c], tokens, *marks[c]))
        if plain:
            pieces.append(MarkedPiece("plain", visible(" ".join(plain))))
        reference = found.corpus.references[i][int(chunks.references[u])]
        result.append(MarkedSentence(i, found.corpus.number(i), reference.annotator, tuple(pieces)))
    return result


def _concealed(spot: Sequence[int], conceal: Collection[Concealed]) -> bool:
    start, end, _, number = spot
    if number < 0:
        return "alarms" in conceal
    return start == end and "omissions" in conceal


def _marks(found: DifficultyMap) -> Iterable[tuple[int, tuple[float, list[bool], list[bool]]]]:
    """Errors and false alarms: chunk, then weight, who is right, who changed it wrongly."""
    which = np.flatnonzero(found.chunks.erroneous | found.false_positive.any(axis=0))
    right = found.right[:, which]
    wrong = ((found.flags[:, which] & MODIFIED) > 0) & ~right
    return zip(
        which.tolist(),
        zip(found.weights[which].tolist(), right.T.tolist(), wrong.T.tolist(), strict=True),
        strict=True,
    )


def _marked(
    found: DifficultyMap,
    unit: int,
    spot: list[int],
    tokens: list[str],
    weight: float,
    right: list[bool],
    wrong: list[bool],
) -> MarkedPiece:
    start, end, _, number = spot
    sentence = int(found.chunks.sentences[unit])
    proposals: dict[str, list[int]] = {}
    for s, is_wrong in enumerate(wrong):
        if is_wrong:
            text = _proposed(found.edits[s][sentence], start, end)
            proposals.setdefault(text, []).append(s)
    edit = found.chunks.edits[unit][number] if number >= 0 else None
    text = visible(" ".join(tokens[start:end]))
    return MarkedPiece(
        "alarm" if edit is None else "error",
        text,
        weight,
        "" if edit is None else visible(edit.kind) or "-",
        text if edit is None else visible(edit.replacement),
        tuple(s for s, is_right in enumerate(right) if is_right),
        tuple((text, tuple(who)) for text, who in sorted(proposals.items())),
    )


def _proposed(edits: Sequence[Edit], start: int, end: int) -> str:
    """What a system wrote at a source range."""
    return " … ".join(
        visible(e.replacement) or "∅"
        for e in edits
        if (e.start <= start and end <= e.end)
        or (e.start < end and start < e.end)
        or (e.start == start and e.start == e.end)
    )


def parse_range(text: str, size: int, skipped: Sequence[int] = ()) -> range:
    """Sentences ``3-7`` or ``12`` counted from 1, as a range counted from 0.

    Of a text of which some were left out (``skipped``), those that are there.

    >>> parse_range("3-7", 10), parse_range("12", 20), parse_range("3-7", 10, (1, 5))
    (range(2, 7), range(11, 12), range(1, 5))
    """
    first, dash, last = text.partition("-")
    numbers = (first, last) if dash else (first,)
    if not all(word.isdecimal() and len(word) < MANY_DIGITS for word in numbers):
        raise InputError(
            f"cannot read the sentences {text!r}", remedy="write 12 or 3-7, counting from 1"
        )
    a, b = int(first), int(last or first)
    if not 1 <= a <= b <= size:
        raise InputError(
            f"there are no sentences {text} in a corpus of {size}",
            remedy=f"choose from 1 to {size}, the smaller number first",
        )
    first_left, end_left = (end - sum(gone < end for gone in skipped) for end in (a - 1, b))
    if first_left == end_left:
        raise InputError(
            f"of the sentences {text} all are left out", remedy="choose some that are there"
        )
    return range(first_left, end_left)


def parse_ranges(text: str, size: int, skipped: Sequence[int] = ()) -> tuple[int, ...]:
    """Sentences ``3,5-7`` counted from 1, in their order counted from 0 (see `parse_range`).

    >>> parse_ranges("3,5-7", 10)
    (2, 4, 5, 6)
    """
    parts = [parse_range(part.strip(), size, skipped) for part in text.split(",")]
    return tuple(sorted({sentence for part in parts for sentence in part}))


def weights_from(found: DifficultyMap) -> str:
    """Where the weights come from, in words."""
    if found.metric.weights == "none":
        return "all weights 1"
    n = found.tally.systems
    return f"weights from {n} {plural('system', n)}"


def label(row: MarkedSentence, several: Sequence[MarkedSentence]) -> str:
    annotators = len({other.annotator for other in several}) > 1
    return f"{row.number}/{row.annotator}" if annotators else str(row.number)
