"""Plots of reference sets: kinds of edit, correlations, curves, rankings side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from errata.data import Scores
from errata.errors import visible
from errata.report.figures import ACCENT, FAINT, INK, in_style, new_figure
from errata.report.figures.panels import LETTER, add_legend, panel_title, panels_in_rows
from errata.studies.several_sets import SetAgreements, SetCurve, SetOperations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["correlation_bars", "curve_plot", "edit_bars", "slope_graph"]

# Dark to light: told apart in print and by people who see few colours.
SHADES = ("#14406b", "#3f7fbf", "#9cc3e6", "#d9a441")
LINES = (INK, ACCENT, "#5a7d2a", "#7a4f9a", "#b8860b", "#2a8c8c", "#555555", "#c06090")
MARKS = "os^Dv<>P"
HATCHES = ("", "////", "....", "xxxx")
ABREAST = 4  # columns of a ranking, for panels that stand abreast
APART = 1.1  # inches between two columns of a ranking
FAR = 3  # places between two rankings that make a line stand out


@in_style
def edit_bars(found: Sequence[SetOperations]) -> Figure:
    """The share of sentences changed and, by kind, the edits per sentence, a bar for each set."""
    n = len(found)
    figure = new_figure(7.6, 1.3 + 0.32 * n)
    shares, edits = figure.subplots(1, 2, sharey=True, width_ratios=(2, 3))
    places = np.arange(n)
    shares.barh(places, [100 * each.changed for each in found], color=FAINT, height=0.7)
    shares.set_xlabel("sentences changed (%)")
    shares.set_xlim(0, 100)
    left = np.zeros(n)
    for kind, shade in zip(found[0].kinds, SHADES, strict=True):
        wide = np.array([each.kinds[kind] for each in found])
        edits.barh(places, wide, left=left, color=shade, height=0.7, label=kind)
        left += wide
    edits.set_xlabel("TER edits per sentence")
    edits.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), handlelength=1)
    names = [visible(f"{each.name} ({each.references})") for each in found]
    shares.set_yticks(places, names, parse_math=False)
    shares.invert_yaxis()
    for panel in (shares, edits):
        panel.grid(axis="x")
        panel.tick_params(axis="y", length=0)
    return figure


@in_style
def correlation_bars(found: SetAgreements, names: Sequence[str]) -> Figure:
    """Correlations with people: a group of bars for each metric, a bar for each reference set.

    Spearman's ρ above and Pearson's r below; whiskers are the intervals (Sakaguchi et al. 2016,
    Figure 3).
    """
    sets = [f"{each.name} ({each.references})" for each in found.scored[0].sets]
    width = 0.8 / len(sets)
    figure = new_figure(2.4 + 0.32 * len(sets) * len(names), 5.6)
    panels = figure.subplots(2, 1, sharex=True)
    for panel, (kind, symbol) in zip(
        panels, (("spearman", "Spearman's ρ"), ("pearson", "Pearson's r")), strict=True
    ):
        for k in range(len(sets)):
            at = np.arange(len(names)) - 0.4 + (k + 0.5) * width
            values = np.array([by_set[k].values[kind] for by_set in found.agreements])
            look = {"color": LINES[k % len(LINES)]}
            if k >= len(LINES):  # where colours come again
                look |= {"hatch": HATCHES[k // len(LINES) % len(HATCHES)], "edgecolor": "white"}
            panel.bar(at, values, width * 0.92, **look)
            for x, by_set in zip(at, found.agreements, strict=True):
                if by_set[k].intervals:
                    interval = by_set[k].intervals[kind]
                    panel.plot([x, x], [interval.low, interval.high], color="black", linewidth=0.8)
        panel.axhline(0, color="black", linewidth=0.8)
        panel.set_ylabel(symbol)
        panel.set_ylim(-1.05, 1.05)
        panel.grid(axis="y")
    labels = [visible(name) for name in names]
    panels[-1].set_xticks(range(len(names)), labels, parse_math=False)
    add_legend(figure, panels[0].containers, sets, loc="outside right upper")
    return figure


@in_style
def curve_plot(curves: Mapping[str, Sequence[SetCurve]], headlines: Sequence[str]) -> Figure:
    """Scores against the number of references, a panel for each metric, a line for each set.

    The line is the mean over the systems, the bars reach from the worst to the best of them
    (Sakaguchi et al. 2016, Figure 5).
    """
    figure, panels = panels_in_rows(len(curves), 3.6, 3.4, beside=1.2)
    for panel, (name, several), headline in zip(panels, curves.items(), headlines, strict=True):
        for k, curve in enumerate(several):
            _curve(panel, curve, k, (k - (len(several) - 1) / 2) * 0.08)
        most = max(point.references for curve in several for point in curve.points)
        panel.set_xticks(range(1, most + 1))
        panel.set_xlim(0.5, most + 0.5)
        panel.set_title(panel_title(name, 3.6), parse_math=False)
        panel.set_xlabel("references")
        panel.set_ylabel(visible(headline), parse_math=False)
        panel.grid(axis="y")
    names = [curve.name for curve in next(iter(curves.values()))]
    if len(names) > 1:  # beside the panels, where it covers no bar
        add_legend(figure, panels[0].get_lines(), names, loc="outside right upper")
    return figure


def _curve(panel: Axes, curve: SetCurve, k: int, aside: float) -> None:
    x = np.array([point.references for point in curve.points]) + aside
    mean, low, high = np.array([point.over_systems for point in curve.points]).T
    colour = LINES[k % len(LINES)]
    panel.vlines(x, low, high, color=colour, linewidth=1, alpha=0.6)
    panel.plot(x, mean, color=colour, marker=MARKS[k % len(MARKS)], markersize=4)


@in_style
def slope_graph(rankings: Mapping[str, Mapping[str, Scores]]) -> Figure:
    """Rankings side by side, a panel for each metric: a line joins the places of a system.

    ``rankings[metric][column]`` are scores of the same systems, best on top. Systems of equal
    score share the mean of their places; lines that fall or rise by three places or more stand out
    (Sakaguchi et al. 2016, Figure 4).
    """
    systems = max(len(scores) for columns in rankings.values() for scores in columns.values())
    wide = max(len(columns) for columns in rankings.values())
    below = wide > ABREAST  # long rankings stand below each other
    across, down = (1, len(rankings)) if below else (len(rankings), 1)
    longest = max(len(name) for columns in rankings.values() for name in _systems(columns))
    beside = 2 * max(0.0, LETTER * longest - APART)  # what names take beside the panel
    figure = new_figure((1.9 + APART * wide + beside) * across, (0.9 + 0.26 * systems) * down)
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for panel, (name, columns) in zip(panels, rankings.items(), strict=True):
        places = {column: _places(scores) for column, scores in columns.items()}
        for system in _systems(columns):
            heights = [place[system] for place in places.values()]
            for x, (one, other) in enumerate(pairwise(heights)):
                far = abs(one - other) >= FAR
                colour, line = (ACCENT, 1.4) if far else (INK, 0.9)
                panel.plot([x, x + 1], [one, other], color=colour, linewidth=line)
            panel.scatter(range(len(heights)), heights, s=14, color=INK, zorder=3)
        ends = [*places.values()]
        _named(panel, ends[0], -0.08, "right")
        _named(panel, ends[-1], len(ends) - 0.92, "left")
        panel.set_title(visible(name), parse_math=False)
        _bare(panel, [panel_title(column, APART) for column in columns], systems)
    return figure


def _systems(columns: Mapping[str, Scores]) -> tuple[str, ...]:
    return next(iter(columns.values())).systems


def _named(panel: Axes, places: Mapping[str, float], x: float, side: str) -> None:
    """Write the systems at one end; those of one place below each other, as many as its places."""
    for height in sorted({*places.values()}):
        names = "\n".join(visible(name) for name, place in places.items() if place == height)
        panel.text(x, height, names, ha=side, va="center", parse_math=False)


def _bare(panel: Axes, columns: Sequence[str], systems: int) -> None:
    """Nothing but the columns' names: places are read from the lines."""
    panel.set_xticks(range(len(columns)), columns, parse_math=False)
    panel.set_xlim(-1.1, len(columns) + 0.1)
    panel.set_ylim(systems + 0.6, 0.4)
    panel.set_yticks([])
    panel.tick_params(axis="x", length=0, labeltop=True, labelbottom=False)
    for edge in panel.spines.values():
        edge.set_visible(False)


def _places(scores: Scores) -> dict[str, float]:
    """The place of each system, from 1; equal scores share the mean of their places."""
    ranks = [rank if rank is not None else len(scores) for rank in scores.ranks]
    return {
        system: rank + (ranks.count(rank) - 1) / 2
        for system, rank in zip(scores.systems, ranks, strict=True)
    }
