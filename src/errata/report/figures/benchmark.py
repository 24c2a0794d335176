"""The benchmark of metrics as a figure: a panel for each set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from errata.errors import visible
from errata.report.figures import in_style, new_figure
from errata.studies.benchmark import BenchmarkFigure, SetStandings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["benchmark_plot"]

ROW = 4  # panels beside each other
LABELS: dict[BenchmarkFigure, str] = {
    "pearson": "Pearson's r with people",
    "spearman": "Spearman's ρ with people",
    "kendall": "Kendall's τ-b with people",
    "accuracy": "accuracy with ties",
}


@in_style
def benchmark_plot(found: Sequence[SetStandings], figure: BenchmarkFigure) -> Figure:
    """Metrics with intervals, a panel for each set; filled marks are not told from the best.

    The dashed line is one judge for the others, the grey band chance.
    """
    metrics = [each.metric for each in found[0].standings[figure]]
    across = min(ROW, len(found))
    down = -(-len(found) // across)
    drawn = new_figure(1.8 + 2.6 * across, down * (1.1 + 0.24 * len(metrics)))
    panels = drawn.subplots(down, across, sharey=True, squeeze=False)
    places = list(panels.flat)
    for panel, each in zip(places[: len(found)], found, strict=True):
        _panel(panel, each, figure, metrics)
    for panel in places[len(found) :]:
        panel.set_visible(False)
    panels[0][0].set_ylim(len(metrics) - 0.5, -0.5)
    drawn.supxlabel(LABELS[figure], fontsize=9)
    return drawn


def _panel(
    panel: Axes, found: SetStandings, figure: BenchmarkFigure, metrics: Sequence[str]
) -> None:
    floor, ceiling = found.floor[figure], found.ceiling[figure]
    if np.isnan(floor.low):
        panel.axvline(floor.value, color="#999999", linewidth=1)
    else:
        panel.axvspan(floor.low, floor.high, color="#eeeeee", zorder=0)
    if not np.isnan(ceiling.value):
        panel.axvline(ceiling.value, color="#b3431f", linewidth=1, linestyle="--")
    for standing in found.standings[figure]:
        row, (value, low, high) = metrics.index(standing.metric), standing.value
        if not np.isnan(low):
            panel.hlines(row, low, high, color="#1f5a94", linewidth=1.2)
        filled = "#1f5a94" if standing.place == 1 else "white"
        panel.scatter([value], [row], s=22, facecolors=filled, edgecolors="#1f5a94", zorder=3)
    labels = [visible(name) for name in metrics]
    panel.set_yticks(range(len(metrics)), labels, parse_math=False)
    panel.set_title(visible(found.name), parse_math=False)
    panel.grid(axis="x")
