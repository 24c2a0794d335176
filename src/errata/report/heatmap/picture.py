"""The difficulty heat map as a picture for a paper."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from errata.errors import DataWarning
from errata.metrics.difficulty.map import DifficultyMap
from errata.parameters import require
from errata.report.figures import FigureForm, figure_bytes, new_figure
from errata.report.figures.fonts import installed_fonts, named_glyphs
from errata.report.heatmap.pieces import (
    Concealed,
    MarkedPiece,
    MarkedSentence,
    label,
    marked_sentences,
    shade,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["heat_map_picture"]


def heat_map_picture(
    found: DifficultyMap,
    sentences: Sequence[int],
    *,
    form: FigureForm = "png",
    width: float = 7.0,
    size: float = 9.0,
    conceal: Collection[Concealed] = (),
) -> bytes:
    """Some sentences as a PNG, SVG or PDF (``form``); ``width`` in inches, ``size`` in points.

    Below them stands what the shades mean. Needs matplotlib (the extra ``plot``). Words are set
    from left to right; a `DataWarning` says so where a script runs the other way, and names
    characters that no installed font has.
    """
    require("the form of a picture", form, FigureForm)
    figure = new_figure(width, 1, layout=None)
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    several = marked_sentences(found, sentences, conceal=conceal)
    if any(
        unicodedata.bidirectional(c) in ("R", "AL")
        for sentence in several
        for c in found.corpus.sources[sentence.sentence]
    ):
        warnings.warn(
            "a picture sets words from left to right, and some of these run the other "
            "way; print the page (--figure map.html) instead",
            DataWarning,
            stacklevel=2,
        )
    page = "use the page (--figure map.html)"
    with named_glyphs(page), rc_context({"font.family": installed_fonts()}):
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, width * 72)
        height = _draw(axes, several, width * 72, size, alarms="alarms" not in conceal)
        figure.set_size_inches(width, height / 72)
        axes.set_ylim(-height, 0)
        return figure_bytes(figure, form)


def _draw(
    axes: Axes, several: Sequence[MarkedSentence], width: float, size: float, *, alarms: bool
) -> float:
    """Set the sentences line by line, in points from the top left; return the height."""
    left, margin, leading = 3.2 * size, size, 2.1 * size
    y = margin + size
    for row in several:
        axes.text(margin, -y, label(row, several), size=0.75 * size, color="#666", va="baseline")
        x = left
        for group in (group for piece in row.pieces for group in _words(piece)):
            advances = [_width(text, style["size"] * size) for text, style in group]
            whole = sum(advances) + sum(style["after"] * size for _, style in group[:-1])
            if x > left and x + whole > width - margin:
                x, y = left, y + leading
            for (text, style), advance in zip(group, advances, strict=True):
                _word(axes, x, -y, text, advance, size, style)
                x += advance + style["after"] * size
        y += 1.25 * leading
    return _legend(axes, left, y, width - margin, 0.75 * size, alarms) + margin


def _legend(axes: Axes, left: float, y: float, width: float, size: float, alarms: bool) -> float:
    """What the shades mean, under the sentences; return the lowest point."""
    x = left
    ramps = (
        ("error, corrected by all", "by no system", False),
        ("false alarm of few", "of all systems", True),
    )
    for first, last, alarm in ramps if alarms else ramps[:1]:
        texts = (first, *(f"{step / 5:.1f}" for step in range(6)), last)
        advances = [_width(text, size) for text in texts]
        if x > left and x + sum(advances) + 3.1 * size > width:
            x, y = left, y + 2 * size
        for k, (text, advance) in enumerate(zip(texts, advances, strict=True)):
            tint, white = shade((k - 1) / 5, alarm=alarm) if 0 < k < 7 else (None, False)
            _word(
                axes,
                x,
                -y,
                text,
                advance,
                size,
                {
                    "size": 1.0,
                    "shade": tint,
                    "dotted": alarm,
                    "ink": "white" if white else "#111" if tint else "#444",
                },
            )
            x += advance + (0.55 if k in (0, 6) else 0.3) * size
        x += 1.2 * size
    return y + 0.3 * size


def _words(piece: MarkedPiece) -> list[list[tuple[str, dict[str, Any]]]]:
    """What is set for a piece: single words, or a marked text with its correction beside it."""
    plain = {"size": 1.0, "after": 0.33, "ink": "#111", "shade": None}
    if piece.what == "plain":
        return [[(word, plain)] for word in piece.text.split()]
    error = piece.what == "error"
    tint, white = shade(piece.weight, alarm=not error)
    mark = {
        "size": 1.0,
        "after": 0.25 if error else 0.45,
        "shade": tint,
        "ink": "white" if white else "#111",
        "dotted": not error,
        "struck": error and not piece.correction,
    }
    group = [(piece.text or "\N{CARET}", mark)]
    if error:
        group.append(
            (piece.correction or "∅", {"size": 0.8, "after": 0.45, "ink": "#14532d", "shade": None})
        )
    return [group]


def _width(text: str, size: float) -> float:
    """How far a text advances: its ink between two bars, less that of the bars."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    def ink(shown: str) -> float:
        path = TextPath((0, 0), shown.replace("$", r"\$"), size=size, prop=FontProperties())
        return float(path.get_extents().width)

    return ink(f"|{text}|") - ink("||")


def _word(
    axes: Axes, x: float, y: float, text: str, advance: float, size: float, style: dict[str, Any]
) -> None:
    from matplotlib.patches import Rectangle

    if style["shade"]:
        start, end = x - 0.12 * size, x + advance + 0.12 * size
        axes.add_patch(
            Rectangle(
                (start, y - 0.35 * size),
                end - start,
                1.35 * size,
                facecolor=style["shade"],
                edgecolor="none",
            )
        )
        axes.plot(
            [start, end],
            [y - 0.35 * size] * 2,
            linewidth=0.1 * size,
            color="#08306b" if style["dotted"] else "#7a0710",
            linestyle=":" if style["dotted"] else "-",
        )
        if style.get("struck"):
            axes.plot(
                [x, x + advance], [y + 0.27 * size] * 2, linewidth=0.1 * size, color=style["ink"]
            )
    axes.text(
        x, y, text, size=style["size"] * size, color=style["ink"], va="baseline", parse_math=False
    )
