"""For each of several things, where all systems lie and where one of them does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from errata.report.cells import display_width
from errata.report.charts.drawing import LETTER, Chart, chart_text, drawn, linear, number, ticks

__all__ = ["Spread", "spread_chart"]

STEP, TOP, BOTTOM = 20, 28, 24


class Spread(NamedTuple):
    """A row: its name and how often it occurs, then low, high and the marked value per panel."""

    name: str
    times: int
    panels: Sequence[tuple[float, float, float]]


def spread_chart(
    name: str, title: str, rows: Sequence[Spread], panels: Sequence[str], about: str
) -> Chart:
    """A row per thing and a panel per figure, from 0 to 1: a bar from low to high, and a dot.

    >>> chart = spread_chart("k", "Kinds", [Spread("R:VERB", 9, [(0.1, 0.5, 0.4)])], ["recall"], "")
    >>> chart.svg.count("<circle"), "R:VERB, 9 times: recall 0.40 (0.10 to 0.50)" in chart.svg
    (1, True)
    """
    widest = max((min(display_width(row.name), 18) for row in rows), default=4)
    left = 14 + widest * LETTER + 44
    width, gap = 760, 26
    each = (width - left - 12 - gap * (len(panels) - 1)) / len(panels)
    bottom = TOP + STEP * len(rows)
    parts = [chart_text(left - 10, 16, "times", "quiet end")]
    told = []
    for p, panel in enumerate(panels):
        start = left + p * (each + gap)
        scale = linear(0, 1, start, start + each)
        parts.append(chart_text(start, 16, panel, "", 40))
        for tick in ticks(0, 1, 3):
            x = number(scale(tick))
            parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP - 4}" y2="{bottom}"/>')
            parts.append(chart_text(scale(tick), bottom + 15, f"{tick:g}", "quiet middle"))
        for k, row in enumerate(rows):
            low, high, value = row.panels[p]
            at = number(TOP + STEP * k + STEP / 2)
            if math.isfinite(low) and math.isfinite(high):
                parts.append(
                    f'<line class="whisker s{p + 1}" x1="{number(scale(low))}" '
                    f'x2="{number(scale(high))}" y1="{at}" y2="{at}"/>'
                )
            if math.isfinite(value):
                parts.append(
                    f'<circle class="dot f{p + 1}" cx="{number(scale(value))}" cy="{at}" r="4.5"/>'
                )
    for k, row in enumerate(rows):
        y = TOP + STEP * k + STEP / 2 + 4
        parts.append(chart_text(left - 54, y, row.name, "end", 18))
        parts.append(chart_text(left - 10, y, str(row.times), "quiet end"))
        said = ", ".join(
            f"{panel} {value:.2f} ({low:.2f} to {high:.2f})"
            for panel, (low, high, value) in zip(panels, row.panels, strict=True)
            if math.isfinite(value)
        )
        told.append(f"{row.name}, {row.times} times: {said}")
    return drawn(name, title, f"{about} {'; '.join(told)}.", width, bottom + BOTTOM, parts)
