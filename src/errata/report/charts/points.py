"""Two figures of each system against each other."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import NamedTuple

from errata.errors import visible
from errata.report.cells import display_width
from errata.report.charts.drawing import (
    LETTER,
    Chart,
    chart_text,
    drawn,
    linear,
    number,
    shortened_label,
    ticks,
)

__all__ = ["PlacedSystem", "scatter_chart"]

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 380, 300, 58, 12, 14, 44
NAME_PLACES = 12


class PlacedSystem(NamedTuple):
    """A system's place."""

    name: str
    x: float
    y: float


def scatter_chart(
    name: str, title: str, points: Sequence[PlacedSystem], across: str, up: str, note: str = ""
) -> Chart:
    """A dot and a name for every system; ``note`` stands in the corner.

    A name that would lie on another is left out: it stands in the title of its dot, and in the
    description.

    >>> points = [PlacedSystem("A", 0.1, 0.2), PlacedSystem("B", 0.3, 0.4)]
    >>> chart = scatter_chart("s", "m2", points, "m2", "people")
    >>> chart.svg.count("<circle"), chart.svg.count(">A</text>")
    (2, 1)
    """
    known = [p for p in points if math.isfinite(p.x) and math.isfinite(p.y)]
    xs, ys = [p.x for p in known] or [0.0], [p.y for p in known] or [0.0]
    ends = []
    for low, high in ((min(xs), max(xs)), (min(ys), max(ys))):
        margin = (high - low) * 0.08 or abs(high) * 0.1 or 1
        ends.append((low - margin, high + margin))
    sx = linear(*ends[0], LEFT, WIDTH - RIGHT)
    sy = linear(*ends[1], HEIGHT - BOTTOM, TOP)
    parts = []
    for tick in ticks(*ends[0], 5):
        at = number(sx(tick))
        parts.append(f'<line class="grid" x1="{at}" x2="{at}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(chart_text(sx(tick), HEIGHT - BOTTOM + 16, f"{tick:g}", "quiet middle"))
    for tick in ticks(*ends[1], 5):
        at = number(sy(tick))
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}"/>')
        parts.append(chart_text(LEFT - 6, sy(tick) + 4, f"{tick:g}", "quiet end"))
    parts.append(chart_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, across, "quiet middle", 48))
    middle = number((TOP + HEIGHT - BOTTOM) / 2)
    turned = chart_text(0, 0, up, "quiet middle", 36)
    parts.append(f'<g transform="translate(13 {middle}) rotate(-90)">{turned}</g>')
    taken = [(sx(p.x) - 6, sy(p.y) - 6, sx(p.x) + 6, sy(p.y) + 6) for p in known]
    for point in known:
        x, y = sx(point.x), sy(point.y)
        parts.append(
            f'<circle class="dot f1" cx="{number(x)}" cy="{number(y)}" r="4.5">'
            f"<title>{html.escape(visible(point.name))}</title></circle>"
        )
        parts += _name(point.name, x, y, taken)
    if note:
        parts.append(chart_text(LEFT + 6, TOP + 14, note, "", 44))
    told = "; ".join(f"{p.name}: {p.x:.4f}, {p.y:.4f}" for p in known)
    return drawn(name, title, f"{across} against {up}. {told}.", WIDTH, HEIGHT, parts)


def _name(
    name: str, x: float, y: float, taken: list[tuple[float, float, float, float]]
) -> list[str]:
    """The name beside its dot, at the first place where nothing lies; none where there is none."""
    short = shortened_label(name, NAME_PLACES)
    wide = display_width(short) * LETTER * 0.92
    for dx, dy, anchor in ((8, 4, ""), (-8, 4, "end"), (0, -9, "middle"), (0, 17, "middle")):
        left = {"": x + dx, "end": x + dx - wide, "middle": x - wide / 2}[anchor]
        box = (left, y + dy - 10, left + wide, y + dy + 2)
        if box[0] < LEFT or box[2] > WIDTH - 2 or box[1] < 2 or box[3] > HEIGHT - BOTTOM + 4:
            continue
        if any(
            box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
            for other in taken
            if not (other[0] + 6 == x and other[1] + 6 == y)
        ):
            continue
        taken.append(box)
        return [chart_text(x + dx, y + dy, name, anchor, NAME_PLACES)]
    return []
