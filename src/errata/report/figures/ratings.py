"""The plot of metrics against ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from errata.errors import visible
from errata.meta.ratings import RatingLevels
from errata.numbers import Estimate
from errata.report.figures import INK, in_style, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["rating_plot"]


@in_style
def rating_plot(found: RatingLevels) -> Figure:
    """Three panels: r over all outputs, r among the outputs of one sentence, and accuracy.

    Metrics stand in the order of the second, best on top, with their intervals.
    """
    levels = sorted(
        found.levels, key=lambda level: -np.nan_to_num(level.within["pearson"].value, nan=-np.inf)
    )
    figure = new_figure(9.0, 0.9 + 0.28 * len(levels))
    panels = figure.subplots(1, 3, sharey=True)
    for panel, title, values in zip(
        panels,
        ("r, outputs of all sentences", "r, outputs of one sentence", "accuracy, one sentence"),
        (
            [level.pooled["pearson"] for level in levels],
            [level.within["pearson"] for level in levels],
            [level.accuracy for level in levels],
        ),
        strict=True,
    ):
        _panel(panel, title, values)
    names = [visible(level.metric) for level in levels]
    panels[0].set_yticks(range(len(levels)), names, parse_math=False)
    panels[0].set_ylim(len(levels) - 0.5, -0.5)
    return figure


def _panel(panel: Axes, title: str, values: Sequence[Estimate]) -> None:
    places = list(range(len(values)))
    panel.hlines(places, [v.low for v in values], [v.high for v in values], color=INK, lw=1.5)
    panel.scatter([v.value for v in values], places, s=22, color=INK, zorder=3)
    panel.set_title(title)
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
    panel.grid(axis="x")
