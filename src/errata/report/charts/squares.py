"""A square of correlations: the stronger, the fuller."""

from __future__ import annotations

import math
from collections.abc import Sequence

from errata.report.cells import display_width
from errata.report.charts.drawing import LETTER, Chart, chart_text, drawn, number

__all__ = ["square_chart"]

SIDE = 58
FULL = 0.6  # from this strength on, the text on a square is light


def square_chart(
    name: str, title: str, names: Sequence[str], values: Sequence[Sequence[float]]
) -> Chart:
    """One square per pair: its shade is the size of the correlation, its colour the sign.

    >>> chart = square_chart("m", "r", ["m2", "gleu"], [[1, 0.9], [0.9, 1]])
    >>> chart.svg.count("<rect"), "m2 and gleu: 0.90" in chart.svg
    (2, True)
    """
    left = 14 + max((min(display_width(n), 18) for n in names), default=4) * LETTER
    size = SIDE * len(names)
    width, height = left + size + 4, size + 24
    parts, told = [], []
    for a, row in enumerate(values):
        parts.append(chart_text(left - 10, a * SIDE + SIDE / 2 + 4, names[a], "end", 18))
        parts.append(chart_text(left + a * SIDE + SIDE / 2, size + 16, names[a], "middle", 8))
        for b, value in enumerate(row):
            if a == b or not math.isfinite(value):
                continue
            strength = min(1.0, abs(value))
            x, y = left + b * SIDE, a * SIDE
            down = " down" if value < 0 else ""
            parts.append(
                f'<rect class="square{down}" x="{number(x + 1)}" y="{number(y + 1)}" '
                f'width="{SIDE - 2}" height="{SIDE - 2}" '
                f'fill-opacity="{0.06 + 0.94 * strength:.2f}"/>'
            )
            shade = "on" if strength > FULL else "off"
            parts.append(
                chart_text(x + SIDE / 2, y + SIDE / 2 + 4, f"{value:.2f}", f"middle {shade}")
            )
            if a < b:
                told.append(f"{names[a]} and {names[b]}: {value:.2f}")
    return drawn(name, title, "; ".join(told) + ".", width, height, parts)
