"""Panels in rows that fit a page, their titles, and legends that show every name as it is."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from errata.errors import visible
from errata.report.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LETTER", "add_legend", "panel_title", "panels_in_rows"]

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
    return "\n".join(wrap(visible(text), int(width / LETTER)) or [""])


def add_legend(
    place: Figure | Axes, handles: Sequence[Artist], names: Sequence[str], **options: Any
) -> None:
    """A legend with these names; matplotlib would leave out _name and set $name$ as a formula."""
    legend = place.legend(list(handles), [str(k) for k in range(len(names))], **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(visible(name))
