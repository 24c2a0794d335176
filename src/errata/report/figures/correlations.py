"""Plots of the meta-evaluation: metrics against people, and which difference is significant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from errata.correlation import pearson, spearman
from errata.errors import visible
from errata.meta.paired import Paired
from errata.numbers import Floats
from errata.report.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["scatter_plot", "significance_map"]


def scatter_plot(paired: Paired, *, outliers: Sequence[str] = ()) -> Figure:
    """Human against metric scores, one panel per metric, systems by name, r and ρ above.

    Systems named as ``outliers`` are drawn hollow; r and ρ are given with and without them, as
    Chollampatt & Ng (2018) do for IPN.
    """
    people = paired.people
    others = people.without(*outliers).systems
    stay = np.array([system in others for system in people.systems])
    figure = new_figure(4.2 * len(paired.metrics), 4.0)
    panels = figure.subplots(1, len(paired.metrics), squeeze=False)[0]
    for panel, name, metric in zip(panels, paired.names, paired.metrics, strict=True):
        x, y = people.values, metric.values
        panel.scatter(x[stay], y[stay], s=22, color="#1f5a94", zorder=3)
        panel.scatter(x[~stay], y[~stay], s=26, facecolors="none", edgecolors="#b3431f", zorder=3)
        for system, a, b in zip(people.systems, x, y, strict=True):
            panel.annotate(
                visible(system),
                (a, b),
                xytext=(4, 3),
                textcoords="offset points",
                fontsize=7,
                parse_math=False,  # a name with $ is no formula
            )
        if stay.sum() > 1 and np.ptp(x[stay]) > 0:
            slope, intercept = np.polyfit(x[stay], y[stay], 1)
            ends = np.array([x.min(), x.max()])
            panel.plot(ends, slope * ends + intercept, color="#999999", linewidth=1, zorder=2)
        title = f"{visible(name)}\n{_correlations(x, y)}"
        if not stay.all():
            without = ", ".join(visible(system) for system in people.systems if system in outliers)
            title += f"\nwithout {without}: {_correlations(x[stay], y[stay])}"
        panel.set_title(title, fontsize=9, parse_math=False)
        panel.set_xlabel(visible(people.name.replace("_", " ")), parse_math=False)
        panel.set_ylabel(visible(metric.headline), parse_math=False)
        panel.margins(x=0.16, y=0.1)  # room for the names
        panel.grid(color="#dddddd", linewidth=0.5)
    return figure


def _correlations(x: Floats, y: Floats) -> str:
    return f"r = {float(pearson(x, y)):.3f}, ρ = {float(spearman(x, y)):.3f}"


def significance_map(p_values: Floats, names: Sequence[str], title: str = "") -> Figure:
    """A matrix of p-values: dark where the metric of the row is better than the column's.

    A cell is drawn only in the row of the better metric, and its p-value is written in it, so
    the map can be read without colours.
    """
    n = len(names)
    figure = new_figure(1.4 + 0.8 * n, 1.2 + 0.7 * n)
    panel = figure.subplots()
    shown = np.where(p_values < 0.5, p_values, np.nan)
    panel.imshow(np.where(np.isnan(shown), 1.0, shown), cmap="Greens_r", vmin=0, vmax=0.2)
    for a in range(n):
        for b in range(n):
            if not np.isnan(shown[a, b]):
                panel.text(
                    b,
                    a,
                    f"{shown[a, b]:.3f}",
                    ha="center",
                    va="center",
                    fontsize=9,
                    color="white" if shown[a, b] < 0.07 else "black",
                )
    labels = [visible(name) for name in names]
    panel.set_xticks(range(n), labels, rotation=30, ha="right", parse_math=False)
    panel.set_yticks(range(n), labels, parse_math=False)
    panel.set_xlabel("is worse")
    panel.set_ylabel("is better")
    panel.set_title(visible(title), fontsize=9, parse_math=False)
    return figure
