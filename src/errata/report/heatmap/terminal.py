"""The difficulty heat map in a terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from errata.metrics.difficulty.map import DifficultyMap
from errata.report.cells import display_width
from errata.report.heatmap.pieces import (
    Concealed,
    MarkedPiece,
    MarkedSentence,
    label,
    marked_sentences,
    shade,
)

__all__ = ["heat_map_text"]


def heat_map_text(
    found: DifficultyMap,
    *,
    sentences: Sequence[int] | None = None,
    colours: bool = False,
    width: int | None = None,
    conceal: Collection[Concealed] = (),
) -> str:
    """The map as text: ``[error → correction .67]`` for errors, ``{text .08}`` for false alarms.

    An insertion shows ``‸``, a deletion ``∅``; ``colours`` adds backgrounds (ANSI, 24 bit) and
    takes nothing away. Lines longer than ``width`` are broken between words and marks and go on
    below the first word.

    >>> from errata.data import Corpus, Hypotheses
    >>> from errata.metrics.difficulty.map import map_difficulty
    >>> gold = Corpus.from_texts(["He go home"], [["He goes home ."]])
    >>> print(heat_map_text(map_difficulty(gold, [Hypotheses("A", ("He goes home",))])))
    1  He [go → goes .00] home [‸ → . 1.00]
    """
    several = marked_sentences(found, sentences, conceal=conceal)
    labels = [label(row, several) for row in several]
    left = max(map(len, labels), default=0)
    return "\n".join(
        f"{label:>{left}}  "
        + ("\n" + " " * (left + 2)).join(
            _lines(row, colours, None if width is None else width - left - 2)
        )
        for label, row in zip(labels, several, strict=True)
    )


def _lines(row: MarkedSentence, colours: bool, width: int | None) -> list[str]:
    """A sentence as lines of at most ``width`` cells, but for words and marks that are longer."""
    lines: list[list[str]] = [[]]
    used = 0
    for piece in row.pieces:
        whole = _plain(piece, colours=False)
        for text in whole.split() if piece.what == "plain" else [whole]:
            if width is not None and lines[-1] and used + 1 + display_width(text) > width:
                lines.append([])
                used = 0
            used += display_width(text) + bool(lines[-1])
            lines[-1].append(text if piece.what == "plain" else _plain(piece, colours))
    return [" ".join(words) for words in lines]


def _short(weight: float) -> str:
    return f"{weight:.2f}".removeprefix("0")


def _plain(piece: MarkedPiece, colours: bool) -> str:
    text = piece.text
    if piece.what == "plain":
        return text
    if piece.what == "alarm":
        shown = f"{{{text or '‸'} {_short(piece.weight)}}}"
    else:
        shown = f"[{text or '‸'} → {piece.correction or '∅'} {_short(piece.weight)}]"
    if not colours:
        return shown
    tint, white = shade(piece.weight, alarm=piece.what == "alarm")
    red, green, blue = (int(tint[k : k + 2], 16) for k in (1, 3, 5))
    return f"\x1b[48;2;{red};{green};{blue};{97 if white else 30}m{shown}\x1b[0m"
