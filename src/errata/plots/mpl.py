"""Draw shapes with matplotlib, into files; fonts for any script.

matplotlib is imported when a figure is drawn, and no global state of it is touched.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from errata import plots
from errata.core.errors import InputError, escape_controls, import_extra, warn_of_data
from errata.core.stats import Floats, merge_ties
from errata.io.atomic import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text


# Tried in this order for characters that matplotlib's own font lacks, where installed.
FONTS = (
    "DejaVu Sans", "Noto Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC",
    "WenQuanYi Zen Hei", "IPAexGothic", "Noto Sans Arabic", "Noto Sans Hebrew",
    "Noto Sans Devanagari", "Arial Unicode MS", "PingFang SC", "Microsoft YaHei", "MS Gothic",
)  # fmt: skip


def installed_fonts() -> list[str]:
    """Return the fonts of `FONTS` that are installed, in order."""
    from matplotlib.font_manager import get_font_names

    there = set(get_font_names())
    return [name for name in FONTS if name in there]


def set_fonts(figure: Figure) -> None:
    """Give texts that matplotlib's own font cannot set the other fonts beside it.

    The others stay as they are, so that the same data give the same file on most machines.
    """
    from matplotlib.font_manager import findfont, get_font
    from matplotlib.text import Text

    known = get_font(findfont(FONTS[0])).get_charmap()
    for text in figure.findobj(Text):
        if any(ord(c) not in known for c in text.get_text() if not c.isspace()):
            text.set_fontfamily(installed_fonts())


@contextmanager
def warn_of_missing_glyphs(remedy: str | None) -> Iterator[None]:
    """Warn once of all characters that no font has, in place of matplotlib's warning for each.

    ``remedy`` is what can be done instead of installing a font; None leaves the warning out.
    """
    missing: dict[str, None] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if glyph := re.match(r"Glyph (\d+) ", str(warning.message)):
            missing[chr(int(glyph[1]))] = None
        else:
            warnings.warn(warning.message, stacklevel=4)
    if missing and remedy is not None:
        first = " ".join(list(missing)[:10]) + (" …" if len(missing) > 10 else "")
        warn_of_data(
            f"no installed font has {first}: boxes stand for them; install a font that "
            f"has them, such as Noto Sans CJK, or {remedy}",
            stacklevel=4,
        )


# The look of every figure, whatever it shows.
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "legend.fontsize": 8,
    "legend.frameon": False,
}

FigureForm = Literal["svg", "png", "pdf"]
# The same data give the same file, and texts stay texts that can be searched and copied.
SETTINGS: dict[Any, Any] = {"svg.hashsalt": "errata", "svg.fonttype": "none", "pdf.fonttype": 42}
UNDATED: dict[FigureForm, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def figure_form_of_path(path: str) -> FigureForm:
    """Return the form of a figure by the ending of its file name.

    >>> figure_form_of_path("ranking.SVG")
    'svg'
    """
    ending = path.rpartition(".")[2].lower()
    for form in get_args(FigureForm):
        if ending == form:
            return form  # type: ignore[no-any-return]
    raise InputError(f"cannot draw into {path!r}", remedy="use a name in .svg, .png or .pdf")


def new_figure(
    width: float, height: float, *, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """Return an empty figure of a size in inches."""
    made = import_extra("matplotlib.figure", "plot", "matplotlib").Figure
    figure: Figure = made(figsize=(width, height), layout=layout)
    return figure


def figure_bytes(figure: Figure, form: FigureForm) -> bytes:
    """Return a figure as the content of an SVG, PNG or PDF file."""
    from matplotlib import rc_context

    image = BytesIO()
    set_fonts(figure)
    # The texts of an SVG stay texts, and who looks at it has fonts of their own.
    remedy = None if form == "svg" else "draw into .svg"
    with rc_context(SETTINGS), warn_of_missing_glyphs(remedy):
        figure.savefig(image, format=form, dpi=200, metadata=UNDATED.get(form))
    return image.getvalue()


def save_figure(panels: plots.Panels[Any], path: str) -> None:
    """Draw a figure into a file, in the form its name says; the same data give the same file."""
    write_bytes(figure_bytes(draw_panels(panels), figure_form_of_path(path)), path)


LINE = 0.18  # inches that a line of a legend takes
MARKERS = "osD^vP*Xp<>h8"  # with the colours: no look twice among 104 lines
HATCHES = ("", "////", "....", "xxxx")
EMPTY = "#d9d9d9"  # a square without a value
FAR = 3  # places between two rankings that make a line stand out


def draw_panels(panels: plots.Panels[Any]) -> Figure:
    """Draw shapes as the panels of one figure, in rows that fit a page.

    >>> from errata.plots import Matrix, Panels
    >>> figure = draw_panels(Panels([Matrix(("a", "b"), np.eye(2), "r")], width=3, height=2))
    >>> [axes.get_title() for axes in figure.axes]
    ['r']
    """
    many = len(panels.shapes)
    rows = -(-many // panels.across)
    across = -(-many // rows)
    height = max(panels.height * rows, 0.3 + LINE * len(panels.legend))
    figure = new_figure(panels.margin + panels.width * across, height)
    from matplotlib import rc_context

    with (
        rc_context(STYLE),
        warn_of_missing_glyphs(None),
    ):  # missing glyphs are named when a file is written
        grid = figure.subplots(rows, across, squeeze=False, sharey=panels.same_rows)
        axes: list[Axes] = grid.ravel().tolist()
        for panel in axes[many:]:
            panel.set_axis_off()
        for panel, shape in zip(axes, panels.shapes, strict=False):
            title = "\n".join(wrap(escape_controls(shape.title), int(panels.width / plots.LETTER)))
            panel.set_title(title, parse_math=False)
            _DRAWN[type(shape)](panel, shape)
        if panels.axis:
            figure.supxlabel(escape_controls(panels.axis), fontsize=9)
        if panels.legend:
            handles = axes[0].containers if axes[0].containers else axes[0].get_lines()
            _add_legend(figure, handles, panels.legend, loc="outside right upper")
        if any(isinstance(shape, plots.Scatter) for shape in panels.shapes):
            figure.draw_without_rendering()  # names are placed in panels of their final size
            for panel, shape in zip(axes, panels.shapes, strict=False):
                if isinstance(shape, plots.Scatter):
                    _label_points(panel, shape)
    return figure


def _label_rows(panel: Axes, names: Sequence[str]) -> None:
    """Write names at the rows of a panel, the first on top."""
    labels = [escape_controls(name) for name in names]
    panel.set_yticks(range(len(names)), labels, parse_math=False)  # a name with $ is no formula
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
    panel.grid(axis="x")


def _draw_forest(panel: Axes, shape: plots.Forest) -> None:
    rows = shape.rows
    places = list(range(len(rows)))
    _label_rows(panel, [row.name for row in rows])
    panel.set_xlabel(escape_controls(shape.axis), parse_math=False)
    if shape.limits is not None:
        panel.set_xlim(*shape.limits)
    if shape.chance is not None and np.isnan(shape.chance.low):
        panel.axvline(shape.chance.value, color=plots.FAINT, linewidth=1)
    elif shape.chance is not None:
        panel.axvspan(shape.chance.low, shape.chance.high, color="#eeeeee", zorder=0)
    if not np.isnan(shape.ceiling):
        panel.axvline(shape.ceiling, color=plots.ACCENT, linestyle="--", linewidth=1)
    if shape.zero:
        panel.axvline(0, color=plots.FAINT, linewidth=1)
    lows, highs = ([getattr(row.estimate, end) for row in rows] for end in ("low", "high"))
    panel.hlines(places, lows, highs, color=plots.INK, linewidth=1.5)
    values = [row.estimate.value for row in rows]
    inside = ["white" if row.hollow else plots.INK for row in rows]
    panel.scatter(values, places, s=22, facecolors=inside, edgecolors=plots.INK, zorder=3)
    marked = [(place, row.chance) for place, row in enumerate(rows) if not np.isnan(row.chance)]
    for place, chance in marked:
        panel.vlines(chance, place - 0.4, place + 0.4, color=plots.FAINT, linestyle=":")
    for place, (row, following) in enumerate(pairwise(rows)):
        if row.group != following.group:
            panel.axhline(place + 0.5, color=plots.FAINT, linewidth=0.8, linestyle="--")
    if any(row.note for row in rows):
        right = panel.twinx()
        _label_rows(right, [row.note for row in rows])
        right.set_ylabel(shape.notes)
        right.spines["right"].set_visible(False)


def _draw_scatter(panel: Axes, shape: plots.Scatter) -> None:
    x, y = shape.x, shape.y
    filled = np.array([name not in shape.hollow for name in shape.names])
    panel.scatter(x[filled], y[filled], s=22, color=plots.INK, zorder=3)
    panel.scatter(
        x[~filled], y[~filled], s=26, facecolors="none", edgecolors=plots.ACCENT, zorder=3
    )
    if filled.sum() > 1 and np.ptp(x[filled]) > 0:
        slope, intercept = np.polyfit(x[filled], y[filled], 1)
        ends = np.array([x.min(), x.max()])
        panel.plot(ends, slope * ends + intercept, color=plots.FAINT, linewidth=1, zorder=2)
    title = "\n".join((panel.get_title(), *map(escape_controls, shape.notes)))
    panel.set_title(title, parse_math=False)
    panel.set_xlabel(escape_controls(shape.across), parse_math=False)
    panel.set_ylabel(escape_controls(shape.up), parse_math=False)
    panel.margins(x=0.16, y=0.1)  # room for the names
    if len(y) and np.ptp(merge_ties(y)) == 0:  # else the axis would show rounding errors
        panel.set_ylim(y[0] - 0.05, y[0] + 0.05)
    panel.grid()


def _draw_matrix(panel: Axes, shape: plots.Matrix) -> None:
    n = len(shape.names)
    labels = [escape_controls(name) for name in shape.names]
    look: dict[str, Any]
    if shape.kind == "correlation":
        values, look, digits = shape.values, {"cmap": "RdBu", "vmin": -1, "vmax": 1}, 2
    else:
        values = np.where(shape.values < 0.5, shape.values, np.nan)
        look, digits = {"cmap": "Greens_r", "vmin": 0, "vmax": 0.2}, 3
        panel.set_xlabel("is worse")
        panel.set_ylabel("is better")
    panel.set_facecolor(EMPTY)
    panel.imshow(np.ma.masked_invalid(values), **look)
    for a, b in np.argwhere(~np.isnan(values)).tolist():
        value = float(values[a, b])
        dark = abs(value) > 0.65 if shape.kind == "correlation" else value < 0.07
        colour = "white" if dark else "black"
        panel.text(b, a, f"{value:.{digits}f}", ha="center", va="center", color=colour)
    panel.set_xticks(np.arange(n - 1) + 0.5, minor=True)  # lines between the squares
    panel.set_yticks(np.arange(n - 1) + 0.5, minor=True)
    panel.grid(which="minor", color="white", linewidth=1.2)
    panel.tick_params(which="both", length=0)
    panel.spines[:].set_visible(False)
    panel.set_xticks(range(n), labels, rotation=30, ha="right", parse_math=False)
    panel.set_yticks(range(n), labels, parse_math=False)


def _draw_lines(panel: Axes, shape: plots.Lines) -> None:
    many = len(shape.lines)
    step = min(0.03, 0.5 / many)  # so that intervals do not hide each other
    for k, line in enumerate(shape.lines):
        known = [(x, each) for x, each in enumerate(line.estimates) if each is not None]
        x = np.array([x for x, _ in known]) + step * (k - (many - 1) / 2)
        value, low, high = np.array([each for _, each in known]).reshape(-1, 3).T
        colour, marker = plots.COLOURS[k % len(plots.COLOURS)], MARKERS[k % len(MARKERS)]
        panel.plot(x, value, color=colour, marker=marker, markersize=5, linewidth=1.2)
        if not np.isnan((low, high)).any():
            panel.vlines(x, low, high, color=colour, linewidth=1.2)
    labels = [escape_controls(name) for name in shape.places]
    slanted: dict[str, Any] = {"rotation": 30, "ha": "right"}
    tilt = slanted if len(labels) > 3 and max(map(len, labels)) > 3 else {}
    panel.set_xticks(range(len(labels)), labels, parse_math=False, **tilt)
    panel.set_xlabel(escape_controls(shape.across), parse_math=False)
    panel.set_ylabel(escape_controls(shape.up), parse_math=False)
    panel.margins(x=0.15)
    panel.grid(axis="y")


def _draw_bars(panel: Axes, shape: plots.Bars) -> None:
    _label_rows(panel, shape.names)
    panel.set_xlabel(escape_controls(shape.axis), parse_math=False)
    if shape.limits is not None:
        panel.set_xlim(*shape.limits)
    many = 1 if shape.stacked else len(shape.series)
    height = 0.8 / many
    left = np.zeros(len(shape.names))
    for k, series in enumerate(shape.series):
        places = np.arange(len(shape.names)) + (0 if many == 1 else (k + 0.5) * height - 0.4)
        values = np.array([each.value for each in series.estimates])
        hatch = HATCHES[k // len(plots.COLOURS) % len(HATCHES)]  # where colours come again
        look: dict[str, Any] = {"hatch": hatch, "edgecolor": "white"} if hatch else {}
        colours = list(series.colours)
        panel.barh(places, values, height * 0.92, left=left, color=colours, **look)
        for place, each in zip(places, series.estimates, strict=True):
            if not np.isnan(each.low):
                panel.plot([each.low, each.high], [place, place], color="black", linewidth=0.8)
        left = left + values if shape.stacked else left
    if shape.limits is None or shape.limits.low < 0:
        panel.axvline(0, color="black", linewidth=0.8)
    if shape.stacked:
        names = [series.name for series in shape.series]
        above = {"ncols": 4, "loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}
        _add_legend(panel, panel.containers, names, handlelength=1, **above)


def _draw_slopes(panel: Axes, shape: plots.Slopes) -> None:
    rankings = list(shape.places.values())
    for system in rankings[0]:
        heights = [places[system] for places in rankings]
        for x, (one, other) in enumerate(pairwise(heights)):
            colour, width = (plots.ACCENT, 1.4) if abs(one - other) >= FAR else (plots.INK, 0.9)
            panel.plot([x, x + 1], [one, other], color=colour, linewidth=width)
        panel.scatter(range(len(heights)), heights, s=14, color=plots.INK, zorder=3)
    _label_line_ends(panel, rankings[0], -0.08, "right")
    _label_line_ends(panel, rankings[-1], len(rankings) - 0.92, "left")
    columns = [
        "\n".join(wrap(escape_controls(c), int(plots.BETWEEN / plots.LETTER))) for c in shape.places
    ]
    panel.set_xticks(range(len(columns)), columns, parse_math=False)
    panel.set_xlim(-1.1, len(columns) + 0.1)
    panel.set_ylim(len(rankings[0]) + 0.6, 0.4)
    panel.set_yticks([])
    panel.tick_params(axis="x", length=0, labeltop=True, labelbottom=False)
    panel.spines[:].set_visible(False)


def _label_line_ends(panel: Axes, places: Mapping[str, float], x: float, side: str) -> None:
    """Write the systems at one end; systems of one place below each other."""
    for height in sorted({*places.values()}):
        names = "\n".join(
            escape_controls(name) for name, place in places.items() if place == height
        )
        panel.text(x, height, names, ha=side, va="center", parse_math=False)


_DRAWN: dict[type, Callable[[Axes, Any], None]] = {
    plots.Forest: _draw_forest,
    plots.Scatter: _draw_scatter,
    plots.Matrix: _draw_matrix,
    plots.Lines: _draw_lines,
    plots.Bars: _draw_bars,
    plots.Slopes: _draw_slopes,
}


# ---- Names beside points, moved until none covers another.

# Steps, not seconds: the same data give the same figure on any machine.
STEPS = 400


def _label_points(panel: Axes, shape: plots.Scatter) -> None:
    """Write names beside their points, apart from each other, with a line where one had to move.

    To be called last: what changes the size or limits of the panel afterwards moves points under
    the names.
    """
    texts = [
        panel.text(a, b, escape_controls(name), fontsize=7, parse_math=False)  # $ starts no formula
        for name, a, b in zip(shape.names, shape.x.tolist(), shape.y.tolist(), strict=True)
    ]
    for text in texts:
        text.set_in_layout(False)  # a long name does not shrink the panel
    _separate_labels(panel, texts, shape.x, shape.y)


def _separate_labels(panel: Axes, texts: list[Text], x: Floats, y: Floats) -> None:
    adjust_text = import_extra("adjustText", "plot").adjust_text
    look = {"arrowstyle": "-", "color": plots.FAINT, "linewidth": 0.5}
    apart: dict[str, Any] = {"expand": (1.15, 1.3), "force_text": (0.3, 0.5)}
    adjust_text(texts, x=x, y=y, ax=panel, iter_lim=STEPS, arrowprops=look, **apart)


def _add_legend(
    place: Figure | Axes, handles: Sequence[Any], names: Sequence[str], **options: Any
) -> None:
    """Add a legend; matplotlib would leave out _name and set $name$ as a formula."""
    legend = place.legend(list(handles), [str(k) for k in range(len(names))], **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(escape_controls(name))
