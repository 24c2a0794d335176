"""The difficulty heat map: sentences in which hard errors are deep red and false alarms blue.

Here the map is taken apart into pieces and put into one HTML file that needs nothing else: no
network, no other file, every text escaped. `errata.report.heatmap.plain` draws the same pieces in
a terminal or as a picture.
"""

from __future__ import annotations

import html
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from errata.data import Edit
from errata.errors import InputError
from errata.metrics.difficulty.chunks import MODIFIED
from errata.metrics.difficulty.map import DifficultyMap
from errata.report.heatmap.page import PAGE, SCRIPT, STYLE

__all__ = ["Piece", "Row", "colour", "heat_map", "parse_range", "rows", "weights_from"]

STEPS = 10  # shades from the easiest to the hardest
# Ends and middle of the two ramps; both get darker evenly, so they also read without colour.
RED = ((255, 240, 232), (239, 101, 72), (140, 10, 20))
BLUE = ((244, 248, 253), (140, 184, 226), (8, 48, 107))


@dataclass(frozen=True)
class Piece:
    """A stretch of a sentence: plain text, an error, or a place where systems raised an alarm.

    ``what`` is ``"plain"``, ``"error"`` or ``"alarm"``; ``text`` are the learner's tokens (none
    for an insertion); ``right`` numbers the systems that got it right, ``wrong`` what others
    wrote there, with their numbers.
    """

    what: str
    text: str
    weight: float = 0.0
    kind: str = ""
    correction: str = ""
    right: tuple[int, ...] = ()
    wrong: tuple[tuple[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True)
class Row:
    """One sentence (from 0) as one annotator corrected it."""

    sentence: int
    annotator: int
    pieces: tuple[Piece, ...]


def colour(weight: float, *, alarm: bool = False) -> tuple[str, bool]:
    """The shade of a weight from 0 to 1, and whether text on it must be white.

    >>> colour(0.0), colour(1.0)
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


def rows(found: DifficultyMap, sentences: range | None = None) -> list[Row]:
    """The sentences (all, or those of a range) cut into pieces."""
    chunks = found.chunks
    spots = chunks.rows.tolist()
    marks = dict(_marks(found))
    result = []
    for u, i in enumerate(chunks.sentences.tolist()):
        if sentences is not None and i not in sentences:
            continue
        tokens = found.corpus.sources[i].split()
        pieces: list[Piece] = []
        plain: list[str] = []
        for c in range(int(chunks.bounds[u]), int(chunks.bounds[u + 1])):
            if c not in marks:
                plain += tokens[spots[c][0] : spots[c][1]]
                continue
            if plain:
                pieces.append(Piece("plain", " ".join(plain)))
                plain = []
            pieces.append(_marked(found, u, spots[c], tokens, *marks[c]))
        if plain:
            pieces.append(Piece("plain", " ".join(plain)))
        reference = found.corpus.references[i][int(chunks.references[u])]
        result.append(Row(i, reference.annotator, tuple(pieces)))
    return result


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
) -> Piece:
    start, end, _, number = spot
    sentence = int(found.chunks.sentences[unit])
    proposals: dict[str, list[int]] = {}
    for s, is_wrong in enumerate(wrong):
        if is_wrong:
            text = _proposed(found.edits[s][sentence], start, end)
            proposals.setdefault(text, []).append(s)
    edit = found.chunks.edits[unit][number] if number >= 0 else None
    text = " ".join(tokens[start:end])
    return Piece(
        "alarm" if edit is None else "error",
        text,
        weight,
        "" if edit is None else edit.kind or "-",
        text if edit is None else edit.replacement,
        tuple(s for s, is_right in enumerate(right) if is_right),
        tuple((text, tuple(who)) for text, who in sorted(proposals.items())),
    )


def _proposed(edits: Sequence[Edit], start: int, end: int) -> str:
    """What a system wrote at a source range."""
    return " … ".join(
        e.replacement or "∅"
        for e in edits
        if (e.start <= start and end <= e.end)
        or (e.start < end and start < e.end)
        or (e.start == start and e.start == e.end)
    )


def parse_range(text: str, size: int) -> range:
    """Sentences ``3-7`` or ``12`` counted from 1, as a range counted from 0.

    >>> parse_range("3-7", 10), parse_range("12", 20)
    (range(2, 7), range(11, 12))
    """
    first, dash, last = text.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise InputError(
            f"cannot read the sentences {text!r}", remedy="write 12 or 3-7, counting from 1"
        )
    a, b = int(first), int(last or first)
    if not 1 <= a <= b <= size:
        raise InputError(
            f"there are no sentences {text} in a corpus of {size}",
            remedy=f"choose from 1 to {size}, the smaller number first",
        )
    return range(a - 1, b)


def heat_map(
    found: DifficultyMap,
    *,
    title: str = "Difficulty heat map",
    signature: str = "",
    sentences: range | None = None,
) -> str:
    """One self-contained HTML page.

    Errors are red from pale (every system corrects them) to deep (none does), false alarms blue,
    corrections stand beside them; pointing at or focusing one shows kind, correction, weight and
    systems. The page filters by kind, weight, system and text, and works with the keyboard.
    """
    several = rows(found, sentences)
    details: list[list[Any]] = []
    kinds: dict[str, int] = {}
    annotators = len({row.annotator for row in several})
    body = "\n".join(_sentence(row, details, kinds, annotators > 1) for row in several)
    frequency = Counter(kind for _, kind, *_ in details)
    counted = [(name, frequency[k]) for name, k in kinds.items()]
    data = {"systems": found.systems, "kinds": list(kinds), "marks": details}
    n = sum(count for _, count in counted)
    weights = [weight for _, _, weight, *_ in details]
    return _fill(
        PAGE,
        {
            "style": STYLE + _shades(),
            "script": SCRIPT,
            "title": html.escape(title),
            "signature": html.escape(signature),
            "body": body,
            "data": _script_json(data),
            "legend": _legend(),
            "low": str(min(0, math.floor(min(weights, default=0)))),
            "high": str(max(1, math.ceil(max(weights, default=1)))),
            "summary": html.escape(
                f"{len(several):,} sentence{'s'[: len(several) != 1]}, {n:,} error{'s'[: n != 1]}; "
                + weights_from(found)
            ),
            "kinds": "".join(
                f'<option value="{kinds[name]}">{html.escape(name)} ({count})</option>'
                for name, count in sorted(counted)
            ),
            "systems": "".join(
                f'<option value="{s}">{html.escape(name)}</option>'
                for s, name in enumerate(found.systems)
            ),
        },
    )


def weights_from(found: DifficultyMap) -> str:
    """Where the weights come from, in words."""
    if found.metric.weights == "none":
        return "all weights 1"
    n = found.tally.systems
    return f"weights from {n} system{'s'[: n != 1]}"


def _fill(page: str, parts: dict[str, str]) -> str:
    """Put parts into ``{{name}}`` places in one pass, so that no part is read as a template."""
    pieces = page.split("{{")
    done = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        done += [parts[name], rest]
    return "".join(done)


def _script_json(data: object) -> str:
    """JSON that may stand in a script element whatever it holds."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _sentence(row: Row, details: list[list[Any]], kinds: dict[str, int], several: bool) -> str:
    number = row.sentence + 1
    anchor = f"s{number}a{row.annotator}" if several else f"s{number}"
    label = f"{number}/{row.annotator}" if several else str(number)
    text = " ".join(_piece(piece, details, kinds) for piece in row.pieces)
    return f'<p id="{anchor}"><a href="#{anchor}">{label}</a><span dir="auto">{text}</span></p>'


def _piece(piece: Piece, details: list[list[Any]], kinds: dict[str, int]) -> str:
    text = html.escape(piece.text)
    if piece.what == "plain":
        return text
    alarm = piece.what == "alarm"
    kind = -1 if alarm else kinds.setdefault(piece.kind, len(kinds))
    details.append(
        [
            int(alarm),
            kind,
            round(piece.weight, 4),
            piece.text,
            None if alarm else piece.correction,
            piece.right,
            [[proposal, who] for proposal, who in piece.wrong],
        ]
    )
    shape = "ins" if not piece.text else "del" if not alarm and not piece.correction else "rep"
    shown = "" if alarm else f'<i dir="auto">{html.escape(piece.correction or "∅")}</i>'
    step = round(min(1.0, max(0.0, piece.weight)) * STEPS)
    name = "alarm" if alarm else "error"
    spoken = html.escape(f"{'false alarm' if alarm else piece.kind}, weight {piece.weight:.2f}")
    return (
        f'<span class="m {name} {shape} w{step}" data-i="{len(details) - 1}" tabindex="-1" '
        f'role="button" aria-label="{text or "insertion"}: {spoken}"><u>{text or "‸"}</u>'
        f"{shown}<sup>{piece.weight:.2f}</sup></span>"
    )


def _shades() -> str:
    lines = []
    for step in range(STEPS + 1):
        for name, alarm in (("error", False), ("alarm", True)):
            shade, white = colour(step / STEPS, alarm=alarm)
            ink = "#fff" if white else "#111"
            lines.append(f".{name}.w{step} u{{background:{shade};color:{ink}}}")
    return "\n".join(lines)


def _legend() -> str:
    def ramp(name: str) -> Iterable[str]:
        for step in range(0, STEPS + 1, 2):
            yield f'<span class="m {name} w{step}"><u>{step / STEPS:.1f}</u></span>'

    return (
        "<span>error, every system corrects it <span>"
        + "".join(ramp("error"))
        + '</span> no system does</span> <span class="alarms">false alarm, rarely <span>'
        + "".join(ramp("alarm"))
        + "</span> every system raises it</span>"
    )
