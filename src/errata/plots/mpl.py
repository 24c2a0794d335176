"""Matplotlib backend, fonts, labels, panels.

matplotlib is asked for when a figure is drawn, and no global state of it is touched.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from io import BytesIO
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, get_args

from errata.core.errors import (
    DataWarning,
    InputError,
    MissingExtraError,
    escape_controls,
    install_extra,
)
from errata.core.stats import Floats
from errata.io.atomic import write_bytes

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text


# ---- Fonts for names and sentences in any script.

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


def installed_fonts() -> list[str]:
    """The fonts that are tried one after the other, of those that are installed."""
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
def named_glyphs(remedy: str | None) -> Iterator[None]:
    """One warning that names the characters no font has, where matplotlib gives one for each.

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
        warnings.warn(
            f"no installed font has {first}: boxes stand for them; install a font that "
            f"has them, such as Noto Sans CJK, or {remedy}",
            DataWarning,
            stacklevel=4,
        )


P = ParamSpec("P")
# The colours of every figure: what is measured, what stands out, what is only a help for the eye.
INK, ACCENT, FAINT = "#1f5a94", "#b3431f", "#999999"
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


def figure_form(path: str) -> FigureForm:
    """The form of a figure by the end of its name; refused where it cannot be drawn.

    >>> figure_form("ranking.SVG")
    'svg'
    """
    ending = path.rpartition(".")[2].lower()
    for form in get_args(FigureForm):
        if ending == form:
            return form  # type: ignore[no-any-return]
    raise InputError(f"cannot draw into {path!r}", remedy="use a name in .svg, .png or .pdf")


def with_style(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Give what a function draws the look of every figure; matplotlib's own settings stay."""

    @wraps(draw)
    def styled(*arguments: P.args, **options: P.kwargs) -> Figure:
        try:
            from matplotlib import rc_context
        except ImportError:
            raise MissingExtraError("matplotlib", install_extra("plot")) from None
        with rc_context(STYLE), named_glyphs(None):  # named when the figure is written
            return draw(*arguments, **options)

    return styled


def new_figure(
    width: float, height: float, *, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """An empty figure, in inches; says what to install where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", install_extra("plot")) from None
    return Figure(figsize=(width, height), layout=layout)


def figure_bytes(figure: Figure, form: FigureForm) -> bytes:
    """A figure as the content of an SVG, PNG or PDF file."""
    from matplotlib import rc_context

    image = BytesIO()
    set_fonts(figure)
    # The texts of an SVG stay texts, and who looks at it has fonts of their own.
    remedy = None if form == "svg" else "draw into .svg"
    with rc_context(SETTINGS), named_glyphs(remedy):
        figure.savefig(image, format=form, dpi=200, metadata=UNDATED.get(form))
    return image.getvalue()


def save_figure(figure: Figure, path: str) -> None:
    """Write a figure in the form its name says; the same data give the same file."""
    write_bytes(figure_bytes(figure, figure_form(path)), path)


# ---- Names beside points, moved until none covers another.

# Steps, not seconds: the same data give the same figure on any machine.
STEPS = 400


def label_points(panel: Axes, names: Sequence[str], x: Floats, y: Floats) -> list[Text]:
    """Write names beside their points, apart from each other, with a line where one had to move.

    To be called last: what changes the size or limits of the panel afterwards moves points under
    the names.
    """
    texts = [
        panel.text(a, b, escape_controls(name), fontsize=7, parse_math=False)  # $ starts no formula
        for name, a, b in zip(names, x.tolist(), y.tolist(), strict=True)
    ]
    for text in texts:
        text.set_in_layout(False)  # a long name does not shrink the panel
    _push_apart(panel, texts, x, y)
    return texts


def _push_apart(panel: Axes, texts: list[Text], x: Floats, y: Floats) -> None:
    try:
        from adjustText import adjust_text
    except ImportError:
        raise MissingExtraError("adjustText", install_extra("plot")) from None
    adjust_text(
        texts,
        x=x,
        y=y,
        ax=panel,
        iter_lim=STEPS,
        expand=(1.15, 1.3),
        force_text=(0.3, 0.5),
        arrowprops={"arrowstyle": "-", "color": FAINT, "linewidth": 0.5},
    )


# ---- Panels in rows that fit a page, their titles, and legends that show every name as it is.

ABREAST = 4
LETTER = 0.075  # inches that a letter of a title takes, about
LINE = 0.18  # inches that a line of a legend takes


def panels_in_rows(
    number: int, width: float, height: float, *, beside: float = 0.0, names: int = 0
) -> tuple[Figure, list[Axes]]:
    """A new figure with so many panels, in rows that fit a page; what is left over stays blank.

    ``beside`` is room for a legend, in inches, which has so many ``names``.
    """
    rows = -(-number // ABREAST)
    abreast = -(-number // rows)
    tall = max(height * rows, 0.3 + LINE * names)
    figure = new_figure(beside + width * abreast, tall)
    panels = figure.subplots(rows, abreast, squeeze=False).ravel().tolist()
    for panel in panels[number:]:
        panel.set_axis_off()
    return figure, panels[:number]


def panel_title(text: str, width: float) -> str:
    """A title in lines that fit a panel so many inches wide.

    >>> panel_title("difficulty(measure='A', leave_out=True)", 2.0).count(chr(10))
    1
    """
    return "\n".join(wrap(escape_controls(text), int(width / LETTER)) or [""])


def add_legend(
    place: Figure | Axes, handles: Sequence[Artist], names: Sequence[str], **options: Any
) -> None:
    """A legend with these names; matplotlib would leave out _name and set $name$ as a formula."""
    legend = place.legend(list(handles), [str(k) for k in range(len(names))], **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(escape_controls(name))
