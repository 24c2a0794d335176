"""The difficulty heat map where there is no browser: in a terminal, or as a picture for a paper."""

from __future__ import annotations

import io
import re
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from errata.errors import DataWarning, InputError, MissingExtraError
from errata.metrics.difficulty.map import DifficultyMap
from errata.report.heatmap.pieces import Piece, Row, colour, rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["heat_map_picture", "heat_map_text"]

# Tried in this order for characters that matplotlib's own font lacks, where installed.
FONTS = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "WenQuanYi Zen Hei",
    "IPAexGothic",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Arial Unicode MS",
    "PingFang SC",
    "Microsoft YaHei",
    "MS Gothic",
)
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")  # a sentence must not steer the terminal


def heat_map_text(
    found: DifficultyMap,
    *,
    sentences: range | None = None,
    colours: bool = False,
    width: int | None = None,
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
    several = rows(found, sentences)
    labels = [_label(row, several) for row in several]
    left = max(map(len, labels), default=0)
    return "\n".join(
        f"{label:>{left}}  "
        + ("\n" + " " * (left + 2)).join(
            _lines(row, colours, None if width is None else width - left - 2)
        )
        for label, row in zip(labels, several, strict=True)
    )


def _lines(row: Row, colours: bool, width: int | None) -> list[str]:
    """A sentence as lines of at most ``width`` cells, but for words and marks that are longer."""
    lines: list[list[str]] = [[]]
    used = 0
    for piece in row.pieces:
        whole = _plain(piece, colours=False)
        for text in whole.split() if piece.what == "plain" else [whole]:
            if width is not None and lines[-1] and used + 1 + cells(text) > width:
                lines.append([])
                used = 0
            used += cells(text) + bool(lines[-1])
            lines[-1].append(text if piece.what == "plain" else _plain(piece, colours))
    return [" ".join(words) for words in lines]


def cells(text: str) -> int:
    """How many cells of a terminal a text takes; combining marks take none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


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
    red, green, blue = (int(shade[k : k + 2], 16) for k in (1, 3, 5))
    return f"\x1b[48;2;{red};{green};{blue};{97 if white else 30}m{shown}\x1b[0m"


def heat_map_picture(
    found: DifficultyMap,
    sentences: range,
    *,
    form: str = "png",
    width: float = 7.0,
    size: float = 9.0,
) -> bytes:
    """Some sentences as a PNG, SVG or PDF (``form``); ``width`` in inches, ``size`` in points.

    Below them stands what the shades mean. Needs matplotlib (the extra ``plot``). Words are set
    from left to right; a `DataWarning` says so where a script runs the other way, and names
    characters that no installed font has.
    """
    if form not in ("png", "svg", "pdf"):
        raise InputError(f"cannot draw the heat map as {form!r}", remedy="use png, svg or pdf")
    try:
        import matplotlib
    except ImportError:
        raise MissingExtraError("matplotlib", "pip install 'errata[plot]'") from None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.font_manager import get_font_names

    several = rows(found, sentences)
    if any(
        unicodedata.bidirectional(c) in ("R", "AL")
        for row in several
        for c in found.corpus.sources[row.sentence]
    ):
        warnings.warn(
            "a picture sets words from left to right, and some of these run the other "
            "way; print the page (--map) instead",
            DataWarning,
            stacklevel=2,
        )
    fonts = set(get_font_names())
    # No pyplot and no global state; a fixed hash salt makes the same SVG every time.
    with (
        _named_glyphs(),
        matplotlib.rc_context(
            {
                "svg.hashsalt": "errata",
                "svg.fonttype": "none",
                "pdf.fonttype": 42,
                "font.family": [name for name in FONTS if name in fonts],
            }
        ),
    ):
        figure = Figure(figsize=(width, 1))
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, width * 72)
        height = _draw(axes, several, width * 72, size)
        figure.set_size_inches(width, height / 72)
        axes.set_ylim(-height, 0)
        out = io.BytesIO()
        figure.savefig(
            out, format=form, dpi=200, metadata={"Date": None} if form == "svg" else None
        )
    return out.getvalue()


@contextmanager
def _named_glyphs() -> Iterator[None]:
    """One warning that names the characters no font has, where matplotlib gives one for each."""
    missing: dict[str, None] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if glyph := re.match(r"Glyph (\d+) ", str(warning.message)):
            missing[chr(int(glyph[1]))] = None
        else:
            warnings.warn(warning.message, stacklevel=4)
    if missing:
        first = " ".join(list(missing)[:10]) + (" …" if len(missing) > 10 else "")
        warnings.warn(
            f"no installed font has {first}: boxes stand for them; install a font that "
            "has them, such as Noto Sans CJK, or use the page (--map)",
            DataWarning,
            stacklevel=4,
        )


def _draw(axes: Axes, several: Sequence[Row], width: float, size: float) -> float:
    """Set the sentences line by line, in points from the top left; return the height."""
    left, margin, leading = 3.2 * size, size, 2.1 * size
    y = margin + size
    for row in several:
        axes.text(margin, -y, _label(row, several), size=0.75 * size, color="#666", va="baseline")
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
    return _legend(axes, left, y, width - margin, 0.75 * size) + margin


def _legend(axes: Axes, left: float, y: float, width: float, size: float) -> float:
    """What the shades mean, under the sentences; return the lowest point."""
    x = left
    for first, last, alarm in (
        ("error, corrected by all", "by no system", False),
        ("false alarm of few", "of all systems", True),
    ):
        texts = (first, *(f"{step / 5:.1f}" for step in range(6)), last)
        advances = [_width(text, size) for text in texts]
        if x > left and x + sum(advances) + 3.1 * size > width:
            x, y = left, y + 2 * size
        for k, (text, advance) in enumerate(zip(texts, advances, strict=True)):
            shade, white = colour((k - 1) / 5, alarm=alarm) if 0 < k < 7 else (None, False)
            _word(
                axes,
                x,
                -y,
                text,
                advance,
                size,
                {
                    "size": 1.0,
                    "shade": shade,
                    "dotted": alarm,
                    "ink": "white" if white else "#111" if shade else "#444",
                },
            )
            x += advance + (0.55 if k in (0, 6) else 0.3) * size
        x += 1.2 * size
    return y + 0.3 * size


def _words(piece: Piece) -> list[list[tuple[str, dict[str, Any]]]]:
    """What is set for a piece: single words, or a marked text with its correction beside it."""
    plain = {"size": 1.0, "after": 0.33, "ink": "#111", "shade": None}
    if piece.what == "plain":
        return [[(word, plain)] for word in piece.text.split()]
    error = piece.what == "error"
    shade, white = colour(piece.weight, alarm=not error)
    mark = {
        "size": 1.0,
        "after": 0.25 if error else 0.45,
        "shade": shade,
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
