"""Plots of the meta-evaluation: metrics against people, and which difference is significant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from errata.correlation import pearson, spearman
from errata.errors import visible
from errata.meta.paired import Paired
from errata.meta.sentences import SentenceLevel, SentenceLevels
from errata.numbers import Floats, settled
from errata.report.figures import ACCENT, FAINT, INK, in_style, new_figure
from errata.report.figures.named_points import label_points
from errata.report.figures.panels import panel_title, panels_in_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["scatter_plot", "sentence_plot", "significance_map"]

EMPTY = "#d9d9d9"  # a cell with nothing to say
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@in_style
def scatter_plot(paired: Paired, *, outliers: Sequence[str] = ()) -> Figure:
    """Human against metric scores, one panel per metric, systems by name, r and ρ above.

    Systems named as ``outliers`` are drawn hollow; r and ρ are given with and without them, as
    Chollampatt & Ng (2018) do for IPN.
    """
    people = paired.people
    others = people.without(*outliers).systems
    stay = np.array([system in others for system in people.systems])
    figure, panels = panels_in_rows(len(paired.metrics), 4.2, 4.0)
    for panel, name, metric in zip(panels, paired.names, paired.metrics, strict=True):
        x, y = people.values, metric.values
        panel.scatter(x[stay], y[stay], s=22, color=INK, zorder=3)
        panel.scatter(x[~stay], y[~stay], s=26, facecolors="none", edgecolors=ACCENT, zorder=3)
        if stay.sum() > 1 and np.ptp(x[stay]) > 0:
            slope, intercept = np.polyfit(x[stay], y[stay], 1)
            ends = np.array([x.min(), x.max()])
            panel.plot(ends, slope * ends + intercept, color=FAINT, linewidth=1, zorder=2)
        title = f"{panel_title(name, 4.2)}\n{_correlations(x, y)}"
        if not stay.all():
            without = ", ".join(visible(system) for system in people.systems if system in outliers)
            title += f"\nwithout {without}: {_correlations(x[stay], y[stay])}"
        panel.set_title(title, parse_math=False)
        panel.set_xlabel(visible(people.name.replace("_", " ")), parse_math=False)
        panel.set_ylabel(visible(metric.headline), parse_math=False)
        panel.margins(x=0.16, y=0.1)  # room for the names
        _span(panel, y)
        panel.grid()
    figure.draw_without_rendering()  # names are placed in panels of their final size
    for panel, metric in zip(panels, paired.metrics, strict=True):
        label_points(panel, people.systems, people.values, metric.values)
    return figure


def _span(panel: Axes, y: Floats) -> None:
    """Give systems that are scored alike an axis to stand on, and not the rounding of a line."""
    if len(y) and np.ptp(settled(y)) == 0:
        panel.set_ylim(y[0] - 0.05, y[0] + 0.05)


def _correlations(x: Floats, y: Floats) -> str:
    return f"r = {float(pearson(x, y)):.3f}, ρ = {float(spearman(x, y)):.3f}"


@in_style
def significance_map(p_values: Mapping[str, Floats], names: Sequence[str]) -> Figure:
    """Matrices of p-values by title, side by side: green where the row's metric is better.

    Chollampatt & Ng (2018, Figure 2) have one for Pearson's r and one for Spearman's ρ. A cell is
    filled only in the row of the better metric, with its p-value written in it, so that the map
    can be read without colours; the others are grey.
    """
    n = len(names)
    figure = new_figure((1.4 + 0.8 * n) * len(p_values), 1.2 + 0.7 * n)
    panels = figure.subplots(1, len(p_values), squeeze=False)[0]
    for panel, (title, p) in zip(panels, p_values.items(), strict=True):
        _p_value_panel(panel, p, [visible(name) for name in names])
        panel.set_title(visible(title), parse_math=False)
    return figure


def _p_value_panel(panel: Axes, p_values: Floats, labels: Sequence[str]) -> None:
    n = len(labels)
    shown = np.ma.masked_invalid(np.where(p_values < 0.5, p_values, np.nan))
    panel.set_facecolor(EMPTY)
    panel.imshow(shown, cmap="Greens_r", vmin=0, vmax=0.2)
    for a, b in np.argwhere(~np.ma.getmaskarray(shown)).tolist():
        p = float(shown[a, b])
        dark = "white" if p < 0.07 else "black"
        panel.text(b, a, f"{p:.3f}", ha="center", va="center", color=dark)
    panel.set_xticks(np.arange(n - 1) + 0.5, minor=True)  # lines between the cells
    panel.set_yticks(np.arange(n - 1) + 0.5, minor=True)
    panel.grid(which="minor", color="white", linewidth=1.2)
    panel.tick_params(which="both", length=0)
    panel.spines[:].set_visible(False)
    panel.set_xticks(range(n), labels, rotation=30, ha="right", parse_math=False)
    panel.set_yticks(range(n), labels, parse_math=False)
    panel.set_xlabel("is worse")
    panel.set_ylabel("is better")


@in_style
def sentence_plot(found: SentenceLevels) -> Figure:
    """Metrics at sentence level, one panel per convention: values with intervals, best on top.

    A dotted line is the level of chance of each metric, a dashed one what one judge is for
    another. Stars say that the best metric's lead over this one is significant after Holm's
    correction (* 5 %, ** 1 %, *** 0.1 %).
    """
    conventions = list(dict.fromkeys(level.convention for level in found.levels))
    rows = 0.9 + 0.28 * len(found.metrics)
    figure = new_figure(6.4, 0.4 + rows * len(conventions))
    panels = figure.subplots(len(conventions), 1, squeeze=False)[:, 0]
    for panel, convention in zip(panels, conventions, strict=True):
        levels = [level for level in found.levels if level.convention == convention]
        levels.sort(key=lambda level: -np.nan_to_num(level.value.value, nan=-np.inf))
        _level_panel(panel, levels, _stars(found, levels))
    panels[-1].set_xlabel("agreement with people (dotted: chance, dashed: judge for judge)")
    return figure


def _level_panel(panel: Axes, levels: Sequence[SentenceLevel], stars: Sequence[str]) -> None:
    places = list(range(len(levels)))
    values = [level.value for level in levels]
    panel.hlines(places, [v.low for v in values], [v.high for v in values], color=INK, lw=1.5)
    panel.scatter([v.value for v in values], places, s=22, color=INK, zorder=3)
    panel.vlines(
        [level.floor for level in levels],
        [place - 0.4 for place in places],
        [place + 0.4 for place in places],
        color=FAINT,
        linestyle=":",
    )
    if not np.isnan(levels[0].ceiling):
        panel.axvline(levels[0].ceiling, color=FAINT, linestyle="--", linewidth=0.8)
    panel.set_yticks(places, [visible(level.metric) for level in levels], parse_math=False)
    panel.set_ylim(len(levels) - 0.5, -0.5)
    right = panel.twinx()
    right.set_ylim(panel.get_ylim())
    right.set_yticks(places, stars)
    for side in (panel, right):
        side.tick_params(axis="y", length=0)
        side.spines[["left", "right"]].set_visible(False)
    panel.set_title(levels[0].convention, loc="left")
    panel.grid(axis="x")


def _stars(found: SentenceLevels, levels: Sequence[SentenceLevel]) -> list[str]:
    """How surely the first of these leads each of the others."""
    best = levels[0]
    sure = {
        pair.worse: pair.holm
        for pair in found.contests
        if pair.convention == best.convention and pair.better == best.metric
    }
    return [
        next((stars for most, stars in STARS if sure.get(level.metric, 1.0) < most), "")
        for level in levels
    ]
