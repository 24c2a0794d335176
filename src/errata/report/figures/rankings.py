"""The plot of ranked systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from errata.errors import visible
from errata.human.clusters import Ranking
from errata.report.figures import FAINT, INK, in_style, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ranking_plot"]


@in_style
def ranking_plot(ranking: Ranking) -> Figure:
    """Scores with intervals, best on top; rank ranges at the right, lines between clusters."""
    n = len(ranking.order)
    scores = ranking.scores
    intervals = scores.interval(ranking.confidence)[list(ranking.order)]
    figure = new_figure(6.4, 0.8 + 0.28 * n)
    panel = figure.subplots()
    places = list(range(n))
    panel.hlines(places, intervals[:, 0], intervals[:, 1], color=INK, linewidth=1.5)
    panel.scatter(ranking.values, places, s=24, color=INK, zorder=3)
    for position in places[:-1]:
        if ranking.cluster[position] != ranking.cluster[position + 1]:
            panel.axhline(position + 0.5, color=FAINT, linewidth=0.8, linestyle="--")
    names = [visible(name) for name in ranking.systems]
    panel.set_yticks(places, names, parse_math=False)  # a name with $ is no formula
    panel.set_ylim(n - 0.5, -0.5)
    level = f"{ranking.confidence * 100:g} % intervals"
    panel.set_xlabel(visible(f"{scores.headline} ({level})"), parse_math=False)
    panel.grid(axis="x")
    right = panel.twinx()
    right.set_ylim(panel.get_ylim())
    right.set_yticks(places, ranking.ranges)
    right.set_ylabel("rank range")
    for side in (panel, right):
        side.tick_params(axis="y", length=0)
        for edge in ("top", "right", "left"):
            side.spines[edge].set_visible(False)
    return figure
