"""The difficulty heat map where there is no browser: in a terminal, or as a picture for a paper."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from errata.difficulty import DifficultyMap
from errata.errors import InputError, MissingExtraError
from errata.report.heatmap import Piece, Row, colour, rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["heat_map_picture", "heat_map_text"]

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")  # a sentence must not steer the terminal


def heat_map_text(found: DifficultyMap, *, sentences: range | None = None,
                  colours: bool = False) -> str:
    """The map as text: ``[error → correction .67]`` for errors, ``{text .08}`` for false alarms.

    An insertion shows ``‸``, a deletion ``∅``; ``colours`` adds backgrounds (ANSI, 24 bit) and
    takes nothing away.

    >>> from errata.data import Corpus, Hypotheses
    >>> from errata.difficulty import map_difficulty
    >>> gold = Corpus.from_texts(["He go home"], [["He goes home ."]])
    >>> print(heat_map_text(map_difficulty(gold, [Hypotheses("A", ("He goes home",))])))
    1  He [go → goes .00] home [‸ → . 1.00]
    """
    several = rows(found, sentences)
    labels = [_label(row, several) for row in several]
    width = max(map(len, labels), default=0)
    return "\n".join(f"{label:>{width}}  " + " ".join(_plain(p, colours) for p in row.pieces)
                     for label, row in zip(labels, several, strict=True))


def _label(row: Row, several: Sequence[Row]) -> str:
    annotators = len({other.annotator for other in several}) > 1
    return f"{row.sentence + 1}/{row.annotator}" if annotators else str(row.sentence + 1)


def _short(weight: float) -> str:
    return f"{weight:.2f}".removeprefix("0")


def _plain(piece: Piece, colours: bool) -> str:
    text = CONTROL.sub("\N{REPLACEMENT CHARACTER}", piece.text)
    if piece.what == "plain":
        return text
    if piece.what == "alarm":
        shown = f"{{{text or '‸'} {_short(piece.weight)}}}"
    else:
        right = CONTROL.sub("\N{REPLACEMENT CHARACTER}", piece.correction)
        shown = f"[{text or '‸'} → {right or '∅'} {_short(piece.weight)}]"
    if not colours:
        return shown
    shade, white = colour(piece.weight, alarm=piece.what == "alarm")
    red, green, blue = (int(shade[k:k + 2], 16) for k in (1, 3, 5))
    return f"\x1b[48;2;{red};{green};{blue};{97 if white else 30}m{shown}\x1b[0m"


def heat_map_picture(found: DifficultyMap, sentences: range, *, form: str = "png",
                     width: float = 7.0, size: float = 9.0) -> bytes:
    """Some sentences as a PNG, SVG or PDF (``form``); ``width`` in inches, ``size`` in points.

    Needs matplotlib (the extra ``plot``).
    """
    if form not in ("png", "svg", "pdf"):
        raise InputError(f"cannot draw the heat map as {form!r}", remedy="use png, svg or pdf")
    try:
        import matplotlib
    except ImportError:
        raise MissingExtraError("matplotlib", "pip install 'errata[plot]'") from None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # No pyplot and no global state; a fixed hash salt makes the same SVG every time.
    with matplotlib.rc_context({"svg.hashsalt": "errata", "svg.fonttype": "none"}):
        figure = Figure(figsize=(width, 1))
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, width * 72)
        height = _draw(axes, rows(found, sentences), width * 72, size)
        figure.set_size_inches(width, height / 72)
        axes.set_ylim(-height, 0)
        out = io.BytesIO()
        figure.savefig(out, format=form, dpi=200,
                       metadata={"Date": None} if form == "svg" else None)
    return out.getvalue()


def _draw(axes: Axes, several: Sequence[Row], width: float, size: float) -> float:
    """Set the sentences line by line, in points from the top left; return the height."""
    left, margin, leading = 3.2 * size, size, 2.1 * size
    y = margin + size
    for row in several:
        axes.text(margin, -y, _label(row, several), size=0.75 * size, color="#666", va="baseline")
        x = left
        for piece in row.pieces:
            for text, style in _words(piece):
                advance = _width(axes, text, style["size"] * size)
                if x > left and x + advance > width - margin:
                    x, y = left, y + leading
                _word(axes, x, -y, text, advance, size, style)
                x += advance + style["after"] * size
        y += 1.25 * leading
    return y - 1.25 * leading + margin + 0.3 * size


def _words(piece: Piece) -> list[tuple[str, dict[str, Any]]]:
    """What is set for a piece: words, or the marked text and its correction."""
    plain = {"size": 1.0, "after": 0.33, "ink": "#111", "shade": None}
    if piece.what == "plain":
        return [(word, plain) for word in piece.text.split()]
    shade, white = colour(piece.weight, alarm=piece.what == "alarm")
    mark = {"size": 1.0, "after": 0.2 if piece.what == "error" else 0.45, "shade": shade,
            "ink": "white" if white else "#111", "dotted": piece.what == "alarm"}
    words = [(piece.text or "\N{CARET}", mark)]
    if piece.what == "error":
        words.append((piece.correction or "∅", {"size": 0.8, "after": 0.45, "ink": "#14532d",
                                               "shade": None}))
    return words


def _width(axes: Axes, text: str, size: float) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    path = TextPath((0, 0), text.replace("$", r"\$"), size=size, prop=FontProperties())
    return float(path.get_extents().width) + 0.12 * size if len(path.vertices) else size


def _word(axes: Axes, x: float, y: float, text: str, advance: float, size: float,
          style: dict[str, Any]) -> None:
    from matplotlib.patches import Rectangle

    if style["shade"]:
        axes.add_patch(Rectangle((x - 0.12 * size, y - 0.35 * size), advance + 0.18 * size,
                                 1.35 * size, facecolor=style["shade"], edgecolor="none"))
        axes.plot([x - 0.12 * size, x + advance + 0.06 * size], [y - 0.35 * size] * 2,
                  color="#08306b" if style["dotted"] else "#7a0710", linewidth=0.9,
                  linestyle=":" if style["dotted"] else "-")
    axes.text(x, y, text, size=style["size"] * size, color=style["ink"], va="baseline",
              parse_math=False)
