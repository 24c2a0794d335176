"""Estimates with their intervals, one below the other, with lines between clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from errata.report.cells import display_width
from errata.report.charts.drawing import (
    LABEL_PLACES,
    LETTER,
    Chart,
    chart_text,
    drawn,
    linear,
    number,
    ticks,
)

__all__ = ["ForestRow", "forest_plot"]

STEP, TOP, BOTTOM, RIGHT = 22, 14, 40, 66


class ForestRow(NamedTuple):
    """A name with its value; ``group`` is the cluster, where there are clusters."""

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan
    group: int = 0
    colour: int = 1


def forest_plot(
    name: str,
    title: str,
    rows: Sequence[ForestRow],
    axis: str,
    *,
    spec: str = ".4f",
    zero: bool = False,
) -> Chart:
    """A dot and a whisker per row, the value beside it; a dotted line where clusters part.

    With ``zero`` the axis takes in 0, and a line marks it.

    >>> rows = [ForestRow("A", 0.4, 0.3, 0.5, 1), ForestRow("B", 0.2, 0.1, 0.3, 2)]
    >>> chart = forest_plot("m2", "M2", rows, "F0.5")
    >>> chart.svg.count("<circle"), "A: 0.4000, from 0.3000 to 0.5000" in chart.svg
    (2, True)
    """
    rows = [row for row in rows if math.isfinite(row.value)]
    ends = [x for row in rows for x in row[1:4] if math.isfinite(x)] + ([0.0] if zero else [])
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    margin = (high - low) * 0.04 or abs(high) * 0.1 or 1
    low, high = low - margin, high + margin
    widest = max((min(display_width(row.name), LABEL_PLACES) for row in rows), default=4)
    left, width = 14 + widest * LETTER, 480
    bottom = TOP + STEP * len(rows)
    scale = linear(low, high, left, width - RIGHT)
    parts = []
    for tick in ticks(low, high):
        x = number(scale(tick))
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP - 6}" y2="{bottom}"/>')
        parts.append(chart_text(scale(tick), bottom + 16, f"{tick:g}", "quiet middle"))
    if zero:
        x = number(scale(0))
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="{TOP - 6}" y2="{bottom}"/>')
    parts.append(chart_text((left + width - RIGHT) / 2, bottom + 33, axis, "quiet middle", 60))
    told = []
    for k, row in enumerate(rows):
        y = TOP + STEP * k + STEP / 2
        if k and row.group != rows[k - 1].group:
            line = number(TOP + STEP * k)
            parts.append(f'<line class="rule" x1="0" x2="{width}" y1="{line}" y2="{line}"/>')
        parts.append(chart_text(left - 10, y + 4, row.name, "end"))
        sure = math.isfinite(row.low) and math.isfinite(row.high)
        if sure:
            parts.append(
                f'<line class="whisker s{row.colour}" x1="{number(scale(row.low))}" '
                f'x2="{number(scale(row.high))}" y1="{number(y)}" y2="{number(y)}"/>'
            )
        parts.append(
            f'<circle class="dot f{row.colour}" cx="{number(scale(row.value))}" cy="{number(y)}" '
            'r="5"/>'
        )
        parts.append(chart_text(width - RIGHT + 10, y + 4, f"{row.value:{spec}}"))
        spread = f", from {row.low:{spec}} to {row.high:{spec}}" if sure else ""
        told.append(f"{row.name}: {row.value:{spec}}{spread}")
    return drawn(name, title, "; ".join(told) + ".", width, bottom + BOTTOM, parts)
