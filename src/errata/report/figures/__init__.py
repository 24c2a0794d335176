"""Results as figures: what they are drawn on and written with; one module per kind of figure.

matplotlib is asked for when a figure is drawn, and no global state of it is touched.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, get_args

from errata.errors import InputError, MissingExtraError, install_extra
from errata.io.writing import write_bytes
from errata.report.figures.fonts import named_glyphs, set_fonts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "ACCENT",
    "FAINT",
    "INK",
    "FigureForm",
    "figure_bytes",
    "figure_form",
    "in_style",
    "new_figure",
    "save_figure",
]

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


def in_style(draw: Callable[P, Figure]) -> Callable[P, Figure]:
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
