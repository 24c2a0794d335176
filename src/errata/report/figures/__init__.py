"""Results as figures: what they are drawn on and written with; one module per kind of figure.

matplotlib is asked for when a figure is drawn, and no global state of it is touched.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, get_args

from errata.errors import InputError, MissingExtraError
from errata.io.writing import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FigureForm", "figure_bytes", "figure_form", "new_figure", "save_figure"]

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


def new_figure(
    width: float, height: float, *, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """An empty figure, in inches; says what to install where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "pip install 'errata[plot]'") from None
    return Figure(figsize=(width, height), layout=layout)


def figure_bytes(figure: Figure, form: FigureForm) -> bytes:
    """A figure as the content of an SVG, PNG or PDF file."""
    from matplotlib import rc_context

    image = BytesIO()
    with rc_context(SETTINGS):
        figure.savefig(image, format=form, dpi=200, metadata=UNDATED.get(form))
    return image.getvalue()


def save_figure(figure: Figure, path: str) -> None:
    """Write a figure in the form its name says; the same data give the same file."""
    write_bytes(figure_bytes(figure, figure_form(path)), path)
