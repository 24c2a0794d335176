"""Segments and shades of difficulty; terminal, HTML page and figure."""

from __future__ import annotations

import math
import unicodedata
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from errata.core.errors import DataWarning, InputError, escape_controls
from errata.core.parameters import require
from errata.core.stats import plural
from errata.data import Edit
from errata.metrics.difficulty import MODIFIED, DifficultyMap
from errata.plots.mpl import (
    FigureForm,
    figure_bytes,
    installed_fonts,
    new_figure,
    warn_of_missing_glyphs,
)
from errata.tables.cells import display_width
from errata.tables.html_table import content_policy, package_text, render_template, script_json

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Ends and middle of the two ramps; both get darker evenly, so they also read without colour.
RED = ((255, 240, 232), (239, 101, 72), (140, 10, 20))
BLUE = ((244, 248, 253), (140, 184, 226), (8, 48, 107))

HOME = "errata.difficulty"
STEPS = 10  # shades from the easiest to the hardest

MANY_DIGITS = 18  # more than any corpus has sentences

PieceKind = Literal["plain", "error", "alarm"]
# What a map can do without: words that the learner left out, and false alarms.
Concealed = Literal["omissions", "alarms"]


@dataclass(frozen=True)
class Segment:
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
class SegmentedSentence:
    """One sentence (from 0; ``number`` counts from 1) as one annotator corrected it."""

    sentence: int
    number: int
    annotator: int
    pieces: tuple[Segment, ...]


def shade_of_weight(weight: float, *, alarm: bool = False) -> tuple[str, bool]:
    """Return the shade of a weight from 0 to 1, and whether text on it must be white.

    >>> shade_of_weight(0.0), shade_of_weight(1.0)
    (('#fff0e8', False), ('#8c0a14', True))
    """
    at = min(1.0, max(0.0, weight))
    low, middle, high = BLUE if alarm else RED
    a, b, share = (low, middle, 2 * at) if at < 0.5 else (middle, high, 2 * at - 1)
    rgb = [round(x + (y - x) * share) for x, y in zip(a, b, strict=True)]
    linear = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in np.array(rgb) / 255
    )
    luminance = float(np.dot((0.2126, 0.7152, 0.0722), list(linear)))
    # Whichever of black and white has the better contrast (WCAG).
    white = 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05
    return "#" + "".join(f"{value:02x}" for value in rgb), white


def marked_sentences(
    found: DifficultyMap,
    sentences: Sequence[int] | None = None,
    *,
    conceal: Collection[Concealed] = (),
) -> list[SegmentedSentence]:
    """Return the sentences (all, or a range) cut into pieces.

    With ``conceal`` they read as if there were no such marks (Gotou et al. 2020, Figure 1).
    """
    chunks = found.chunks
    spots = chunks.rows.tolist()
    marks = dict(_marked_chunks(found))
    result = []
    for u, i in enumerate(chunks.sentences.tolist()):
        if sentences is not None and i not in sentences:
            continue
        tokens = found.corpus.sources[i].split()
        pieces: list[Segment] = []
        plain: list[str] = []
        for c in range(int(chunks.bounds[u]), int(chunks.bounds[u + 1])):
            start, end, _, number = spots[c]
            kind = "alarms" if number < 0 else "omissions" if start == end else ""
            if c not in marks or kind in conceal:
                plain += tokens[start:end]
                continue
            if plain:
                pieces.append(Segment("plain", escape_controls(" ".join(plain))))
                plain = []
            pieces.append(_marked_segment(found, u, c, tokens, *marks[c]))
        if plain:
            pieces.append(Segment("plain", escape_controls(" ".join(plain))))
        reference = found.corpus.references[i][int(chunks.references[u])]
        result.append(
            SegmentedSentence(i, found.corpus.number(i), reference.annotator, tuple(pieces))
        )
    return result


def _marked_chunks(
    found: DifficultyMap,
) -> Iterable[tuple[int, tuple[float, list[bool], list[bool]]]]:
    """Return errors and false alarms: chunk, then weight, who is right, who changed it wrongly."""
    which = np.flatnonzero(found.chunks.erroneous | found.false_positive.any(axis=0))
    right = found.right[:, which]
    wrong = ((found.flags[:, which] & MODIFIED) > 0) & ~right
    return zip(
        which.tolist(),
        zip(found.weights[which].tolist(), right.T.tolist(), wrong.T.tolist(), strict=True),
        strict=True,
    )


def _marked_segment(
    found: DifficultyMap,
    unit: int,
    chunk: int,
    tokens: list[str],
    weight: float,
    right: list[bool],
    wrong: list[bool],
) -> Segment:
    start, end = found.chunks.rows[chunk, :2].tolist()
    sentence = int(found.chunks.sentences[unit])
    proposals: dict[str, list[int]] = {}
    for s, is_wrong in enumerate(wrong):
        if is_wrong:
            text = system_text_at(found.edits[s][sentence], start, end)
            proposals.setdefault(text, []).append(s)
    edit = found.edit(chunk)
    text = escape_controls(" ".join(tokens[start:end]))
    return Segment(
        "alarm" if edit is None else "error",
        text,
        weight,
        "" if edit is None else escape_controls(edit.kind) or "-",
        text if edit is None else escape_controls(edit.replacement),
        tuple(s for s, is_right in enumerate(right) if is_right),
        tuple((text, tuple(who)) for text, who in sorted(proposals.items())),
    )


def system_text_at(edits: Sequence[Edit], start: int, end: int) -> str:
    """Return what a system wrote at a source range."""
    return " … ".join(
        escape_controls(e.replacement) or "∅"
        for e in edits
        if (e.start <= start and end <= e.end)
        or (e.start < end and start < e.end)
        or (e.start == start and e.start == e.end)
    )


def parse_range(text: str, size: int, skipped: Sequence[int] = ()) -> range:
    """Parse sentences ``3-7`` or ``12``, counted from 1, into a range counted from 0.

    Sentences that were left out of the text (``skipped``) are ignored.

    >>> parse_range("3-7", 10), parse_range("12", 20), parse_range("3-7", 10, (1, 5))
    (range(2, 7), range(11, 12), range(1, 5))
    """
    first, dash, last = text.partition("-")
    numbers = (first, last) if dash else (first,)
    if not all(word.isdecimal() and len(word) < MANY_DIGITS for word in numbers):
        remedy = "write 12 or 3-7, counting from 1"
        raise InputError(f"cannot read the sentences {text!r}", remedy=remedy)
    a, b = int(first), int(last or first)
    if not 1 <= a <= b <= size:
        remedy = f"choose from 1 to {size}, the smaller number first"
        raise InputError(f"there are no sentences {text} in a corpus of {size}", remedy=remedy)
    first_left, end_left = (end - sum(gone < end for gone in skipped) for end in (a - 1, b))
    if first_left == end_left:
        remedy = "choose some that are there"
        raise InputError(f"of the sentences {text} all are left out", remedy=remedy)
    return range(first_left, end_left)


def parse_ranges(text: str, size: int, skipped: Sequence[int] = ()) -> tuple[int, ...]:
    """Parse sentences ``3,5-7``, counted from 1, into numbers in order, counted from 0.

    >>> parse_ranges("3,5-7", 10)
    (2, 4, 5, 6)
    """
    parts = [parse_range(part.strip(), size, skipped) for part in text.split(",")]
    return tuple(sorted({sentence for part in parts for sentence in part}))


def weights_origin(found: DifficultyMap) -> str:
    """Return where the weights come from, in words."""
    if found.metric.weights == "none":
        return "all weights 1"
    n = found.tally.systems
    return f"weights from {n} {plural('system', n)}"


def sentence_labels(rows: Sequence[SegmentedSentence]) -> list[str]:
    """Return the number of each sentence, with the annotator (``12/0``) if there are several."""
    if len({row.annotator for row in rows}) > 1:
        return [f"{row.number}/{row.annotator}" for row in rows]
    return [str(row.number) for row in rows]


def heat_map(
    found: DifficultyMap,
    *,
    title: str = "Difficulty heat map",
    signature: str = "",
    sentences: Sequence[int] | None = None,
    conceal: Collection[Concealed] = (),
) -> str:
    """Return one self-contained HTML page.

    Errors are red from pale (every system corrects them) to deep (none does), false alarms blue;
    the correction follows each error. Pointing at a mark, or focusing it, shows kind, correction,
    weight and systems. The page filters by kind, weight, system and text, and works with the
    keyboard. ``conceal`` is hidden when the page opens, and can be shown.
    """
    segmented = marked_sentences(found, sentences)
    annotators = len({row.annotator for row in segmented})
    marks: list[list[Any]] = []
    kinds: dict[str, int] = {}
    shown = [
        {
            "anchor": f"s{row.number}a{row.annotator}" if annotators > 1 else f"s{row.number}",
            "label": label,
            "pieces": [_piece_values(piece, marks, kinds) for piece in row.pieces],
        }
        for row, label in zip(segmented, sentence_labels(segmented), strict=True)
    ]
    systems = [escape_controls(name) for name in found.systems]
    frequency = Counter(kind for _, kind, *_ in marks if kind >= 0)
    weights = [weight for _, _, weight, *_ in marks]
    sentence_count = len({row.sentence for row in segmented})
    error_count = frequency.total()
    several = f", {annotators} annotators" if annotators > 1 else ""
    files = {ending: package_text(HOME, f"templates/heatmap.{ending}") for ending in ("css", "js")}
    style, script = f"\n{files['css']}{_shade_styles()}\n", f"\n{files['js']}\n"
    html = render_template(
        HOME,
        "templates/heatmap.html.j2",
        style=style,
        script=script,
        policy=content_policy([style], [script]),
        title=title,
        signature=signature,
        summary=f"{sentence_count:,} {plural('sentence', sentence_count)}{several}, "
        f"{error_count:,} {plural('error', error_count)}; {weights_origin(found)}",
        steps=STEPS,
        conceal=conceal,
        low=min(0, math.floor(min(weights, default=0))),
        high=max(1, math.ceil(max(weights, default=1))),
        kinds=[{"name": n, "key": k, "count": frequency[k]} for n, k in sorted(kinds.items())],
        systems=systems,
        sentences=shown,
        data=script_json({"systems": systems, "kinds": list(kinds), "marks": marks}),
    )
    return str(html)


def _piece_values(piece: Segment, marks: list[list[Any]], kinds: dict[str, int]) -> dict[str, Any]:
    """Return what the template shows of a piece; add the details of a mark to ``marks``."""
    if piece.what == "plain":
        return {"what": "plain", "text": piece.text}
    alarm = piece.what == "alarm"
    marks.append(
        [
            int(alarm),
            -1 if alarm else kinds.setdefault(piece.kind, len(kinds)),
            round(piece.weight, 4),
            piece.text,
            None if alarm else piece.correction,
            piece.right,
            [[proposal, systems] for proposal, systems in piece.wrong],
        ]
    )
    deleted = not alarm and not piece.correction
    kind = "false alarm" if alarm else piece.kind
    return {
        "what": piece.what,
        "number": len(marks) - 1,
        "label": f"{piece.text or 'insertion'}: {kind}, weight {piece.weight:.2f}",
        "shown": piece.text or "\N{CARET}",
        "correction": piece.correction or "∅",
        "shape": "ins" if not piece.text else "del" if deleted else "rep",
        "step": round(min(1.0, max(0.0, piece.weight)) * STEPS),
        "weight": f"{piece.weight:.2f}",
    }


def _shade_styles() -> str:
    lines = []
    for step in range(STEPS + 1):
        for name, alarm in (("error", False), ("alarm", True)):
            tint, white = shade_of_weight(step / STEPS, alarm=alarm)
            ink = "#fff" if white else "#111"
            lines.append(f".{name}.w{step} u{{background:{tint};color:{ink}}}")
    return "\n".join(lines)


def heat_map_figure(
    found: DifficultyMap,
    sentences: Sequence[int],
    *,
    form: FigureForm = "png",
    width: float = 7.0,
    conceal: Collection[Concealed] = (),
) -> bytes:
    """Draw some sentences as a PNG, SVG or PDF (``form``), ``width`` inches wide, with a legend.

    A `DataWarning` names characters that no font has, and says that words are set from left to
    right where a script runs the other way.
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
    with warn_of_missing_glyphs(page), rc_context({"font.family": installed_fonts()}):
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, width * 72)
        height = _draw_sentences(axes, several, width * 72, 9, alarms="alarms" not in conceal)
        figure.set_size_inches(width, height / 72)
        axes.set_ylim(-height, 0)
        return figure_bytes(figure, form)


def _draw_sentences(
    axes: Axes, several: Sequence[SegmentedSentence], width: float, size: float, *, alarms: bool
) -> float:
    """Draw the sentences line by line, in points from the top left; return the height."""
    left, margin, leading = 3.2 * size, size, 2.1 * size
    y = margin + size
    for row, label in zip(several, sentence_labels(several), strict=True):
        axes.text(margin, -y, label, size=0.75 * size, color="#666", va="baseline")
        x = left
        for group in (group for piece in row.pieces for group in words_with_styles(piece)):
            advances = [_text_width(text, style["size"] * size) for text, style in group]
            whole = sum(advances) + sum(style["after"] * size for _, style in group[:-1])
            if x > left and x + whole > width - margin:
                x, y = left, y + leading
            for (text, style), advance in zip(group, advances, strict=True):
                _draw_word(axes, x, -y, text, advance, size, style)
                x += advance + style["after"] * size
        y += 1.25 * leading
    return _draw_legend(axes, left, y, width - margin, 0.75 * size, alarms) + margin


def _draw_legend(
    axes: Axes, left: float, y: float, width: float, size: float, alarms: bool
) -> float:
    """Draw the legend of shades under the sentences; return the lowest point."""
    x = left
    ramps = (
        ("error, corrected by all", "by no system", False),
        ("false alarm of few", "of all systems", True),
    )
    for first, last, alarm in ramps if alarms else ramps[:1]:
        texts = (first, *(f"{step / 5:.1f}" for step in range(6)), last)
        advances = [_text_width(text, size) for text in texts]
        if x > left and x + sum(advances) + 3.1 * size > width:
            x, y = left, y + 2 * size
        for k, (text, advance) in enumerate(zip(texts, advances, strict=True)):
            tint, white = shade_of_weight((k - 1) / 5, alarm=alarm) if 0 < k < 7 else (None, False)
            ink = "white" if white else "#111" if tint else "#444"
            style = {"size": 1.0, "shade": tint, "dotted": alarm, "ink": ink}
            _draw_word(axes, x, -y, text, advance, size, style)
            x += advance + (0.55 if k in (0, 6) else 0.3) * size
        x += 1.2 * size
    return y + 0.3 * size


def words_with_styles(piece: Segment) -> list[list[tuple[str, dict[str, Any]]]]:
    """Return groups of words with styles: each plain word, or a mark with its correction."""
    plain = {"size": 1.0, "after": 0.33, "ink": "#111", "shade": None}
    if piece.what == "plain":
        return [[(word, plain)] for word in piece.text.split()]
    error = piece.what == "error"
    tint, white = shade_of_weight(piece.weight, alarm=not error)
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


def _text_width(text: str, size: float) -> float:
    """Return how far a text advances: its ink between two bars, less that of the bars."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    def ink(shown: str) -> float:
        path = TextPath((0, 0), shown.replace("$", r"\$"), size=size, prop=FontProperties())
        return float(path.get_extents().width)

    return ink(f"|{text}|") - ink("||")


def _draw_word(
    axes: Axes, x: float, y: float, text: str, advance: float, size: float, style: dict[str, Any]
) -> None:
    from matplotlib.patches import Rectangle

    ink, stroke = style["ink"], 0.1 * size
    if style["shade"]:
        start, end = x - 0.12 * size, x + advance + 0.12 * size
        bottom = y - 0.35 * size
        fill = {"facecolor": style["shade"], "edgecolor": "none"}
        axes.add_patch(Rectangle((start, bottom), end - start, 1.35 * size, **fill))
        colour, line = ("#08306b", ":") if style["dotted"] else ("#7a0710", "-")
        axes.plot([start, end], [bottom] * 2, linewidth=stroke, color=colour, linestyle=line)
        if style.get("struck"):
            axes.plot([x, x + advance], [y + 0.27 * size] * 2, linewidth=stroke, color=ink)
    points = style["size"] * size
    axes.text(x, y, text, size=points, color=ink, va="baseline", parse_math=False)


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
    >>> from errata.metrics.difficulty import build_difficulty_map
    >>> gold = Corpus.from_texts(["He go home"], [["He goes home ."]])
    >>> print(heat_map_text(build_difficulty_map(gold, [Hypotheses("A", ("He goes home",))])))
    1  He [go → goes .00] home [‸ → . 1.00]
    """
    several = marked_sentences(found, sentences, conceal=conceal)
    labels = sentence_labels(several)
    left = max(map(len, labels), default=0)
    return "\n".join(
        f"{label:>{left}}  "
        + ("\n" + " " * (left + 2)).join(
            _wrap_sentence(row, colours, None if width is None else width - left - 2)
        )
        for label, row in zip(labels, several, strict=True)
    )


def _wrap_sentence(row: SegmentedSentence, colours: bool, width: int | None) -> list[str]:
    """Return a sentence as lines of ``width`` terminal columns, but for longer words and marks."""
    lines: list[list[str]] = [[]]
    used = 0
    for piece in row.pieces:
        whole = _piece_text(piece, colours=False)
        for text in whole.split() if piece.what == "plain" else [whole]:
            if width is not None and lines[-1] and used + 1 + display_width(text) > width:
                lines.append([])
                used = 0
            used += display_width(text) + bool(lines[-1])
            lines[-1].append(text if piece.what == "plain" else _piece_text(piece, colours))
    return [" ".join(words) for words in lines]


def _short_weight(weight: float) -> str:
    return f"{weight:.2f}".removeprefix("0")


def _piece_text(piece: Segment, colours: bool) -> str:
    text = piece.text
    if piece.what == "plain":
        return text
    if piece.what == "alarm":
        shown = f"{{{text or '‸'} {_short_weight(piece.weight)}}}"
    else:
        shown = f"[{text or '‸'} → {piece.correction or '∅'} {_short_weight(piece.weight)}]"
    if not colours:
        return shown
    tint, white = shade_of_weight(piece.weight, alarm=piece.what == "alarm")
    red, green, blue = (int(tint[k : k + 2], 16) for k in (1, 3, 5))
    return f"\x1b[48;2;{red};{green};{blue};{97 if white else 30}m{shown}\x1b[0m"
