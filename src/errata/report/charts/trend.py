"""Figures over time: one line for each of a few."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from errata.numbers import Estimate
from errata.report.charts.drawing import Chart, chart_text, drawn, linear, number, ticks

__all__ = ["Track", "trend_chart"]

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 260, 58, 14, 120, 34
COLOURS = 6


class Track(NamedTuple):
    """A line: its name, and an estimate for each moment (None where there is none)."""

    name: str
    values: Sequence[Estimate | None]


def trend_chart(name: str, title: str, moments: Sequence[str], tracks: Sequence[Track]) -> Chart:
    """Lines over moments that stand evenly apart, each named at its end, with their intervals.

    >>> track = Track("ours", [Estimate(0.4, 0.3, 0.5), None, Estimate(0.5, 0.4, 0.6)])
    >>> chart = trend_chart("t", "m2", ["1 May", "2 May", "3 May"], [track])
    >>> chart.svg.count("<circle"), "ours: 1 May 0.4000, 3 May 0.5000" in chart.svg
    (2, True)
    """
    ends = [
        x for t in tracks for v in t.values if v is not None for x in v if math.isfinite(x)
    ] or [0.0, 1.0]
    margin = (max(ends) - min(ends)) * 0.06 or abs(ends[0]) * 0.1 or 1
    low, high = min(ends) - margin, max(ends) + margin
    sx = linear(0, max(1, len(moments) - 1), LEFT, WIDTH - RIGHT)
    sy = linear(low, high, HEIGHT - BOTTOM, TOP)
    parts = []
    for tick in ticks(low, high, 5):
        at = number(sy(tick))
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}"/>')
        parts.append(chart_text(LEFT - 8, sy(tick) + 4, f"{tick:g}", "quiet end"))
    apart = max(1, math.ceil(len(moments) / 6))
    for k, moment in enumerate(moments):
        if k % apart == 0:
            parts.append(chart_text(sx(k), HEIGHT - BOTTOM + 18, moment, "quiet middle", 12))
    told = []
    heights: list[float] = []
    for t, track in enumerate(tracks):
        colour = t % COLOURS + 1
        known = [(k, v) for k, v in enumerate(track.values) if v is not None]
        for k, value in known:
            if math.isfinite(value.low) and math.isfinite(value.high):
                parts.append(
                    f'<line class="whisker s{colour}" x1="{number(sx(k))}" x2="{number(sx(k))}" '
                    f'y1="{number(sy(value.low))}" y2="{number(sy(value.high))}"/>'
                )
        path = " ".join(f"{number(sx(k))},{number(sy(v.value))}" for k, v in known)
        parts.append(f'<polyline class="line s{colour}" points="{path}"/>')
        parts += [
            f'<circle class="dot f{colour}" cx="{number(sx(k))}" cy="{number(sy(v.value))}" r="4"/>'
            for k, v in known
        ]
        if known:
            y = sy(known[-1][1].value) + 4
            while any(abs(y - other) < 13 for other in heights):
                y += 13 if y < HEIGHT - BOTTOM - 13 else -13 * (len(heights) + 1)
            heights.append(y)
            parts.append(chart_text(WIDTH - RIGHT + 10, y, track.name, f"f{colour}", 16))
        said = ", ".join(f"{moments[k]} {v.value:.4f}" for k, v in known)
        told.append(f"{track.name}: {said}")
    return drawn(name, title, "; ".join(told) + ".", WIDTH, HEIGHT, parts)
