"""SVG backend."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from errata.core.errors import escape_controls
from errata.core.stats import Estimate
from errata.tables.cells import display_width
from errata.tables.html_table import render_template

if TYPE_CHECKING:
    from markupsafe import Markup

LETTER = 8.2  # width of a place of text, in pixels, a little more than most fonts take
LABEL_PLACES = 26


class Chart(NamedTuple):
    """An SVG text, and what it is called."""

    name: str
    title: str
    svg: str


def number(value: float) -> str:
    """A coordinate, to a hundredth.

    >>> number(3.0), number(2.345678)
    ('3', '2.35')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def linear(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """A scale from values to pixels; one value lies in the middle."""
    if high == low:
        return lambda value: (start + end) / 2
    return lambda value: start + (value - low) / (high - low) * (end - start)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round values from low to high, at most so many.

    >>> ticks(0.31, 0.42), ticks(0, 100, 3), ticks(2, 2)
    ([0.32, 0.34, 0.36, 0.38, 0.4, 0.42], [0, 50, 100], [2])
    """
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    raw = span / max(1, most)
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(s * size for s in (1, 2, 5, 10, 20) if s * size >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    found: list[float] = []
    while (first + len(found)) * step <= high + step * 1e-9:
        found.append((first + len(found)) * step)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(value, digits) if digits else round(value) for value in found]


def shorten_label(text: str, most: int = LABEL_PLACES) -> str:
    """A name cut to the places a chart has for it.

    >>> shorten_label("a system with quite a long name indeed")
    'a system with quite a lon…'
    """
    text = escape_controls(text)
    if display_width(text) <= most:
        return text
    kept = ""
    for character in text:
        if display_width(kept + character) > most - 1:
            break
        kept += character
    return kept + "…"


def chart_text(x: float, y: float, text: str, classes: str = "", most: int = LABEL_PLACES) -> str:
    """A text at a place; what is cut off stands whole in its title."""
    short = shorten_label(text, most)
    whole = html.escape(escape_controls(text))
    inside = html.escape(short)
    if short != escape_controls(text):
        inside += f"<title>{whole}</title>"
    about = f' class="{classes}"' if classes else ""
    return f'<text x="{number(x)}" y="{number(y)}"{about}>{inside}</text>'


def svg_frame(
    name: str, title: str, about: str, width: float, height: float, parts: Sequence[str]
) -> Chart:
    """A chart of these parts, with its title and description for those who hear it."""
    key = "c-" + "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower())
    said, told = html.escape(escape_controls(title)), html.escape(escape_controls(about))
    svg = "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" '
            f'aria-labelledby="{key}-title {key}-about" width="{number(width)}" '
            f'height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}">',
            f'<title id="{key}-title">{said}</title>',
            f'<desc id="{key}-about">{told}</desc>',
            *parts,
            "</svg>",
        ]
    )
    return Chart(name, title, svg)


def chart_html(chart: Chart, note: str = "") -> Markup:
    """Return a chart for a page: its title, a button that saves it, and a note below."""
    return render_template("errata.plots", "templates/chart.html.j2", chart=chart, note=note)


# ---- Estimates with their intervals, one below the other, with lines between clusters.

FOREST_STEP, FOREST_TOP, FOREST_BOTTOM, FOREST_RIGHT = 22, 14, 40, 66


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
    bottom = FOREST_TOP + FOREST_STEP * len(rows)
    scale = linear(low, high, left, width - FOREST_RIGHT)
    parts = []
    for tick in ticks(low, high):
        x = number(scale(tick))
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{FOREST_TOP - 6}" y2="{bottom}"/>')
        parts.append(chart_text(scale(tick), bottom + 16, f"{tick:g}", "quiet middle"))
    if zero:
        x = number(scale(0))
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="{FOREST_TOP - 6}" y2="{bottom}"/>')
    parts.append(
        chart_text((left + width - FOREST_RIGHT) / 2, bottom + 33, axis, "quiet middle", 60)
    )
    told = []
    for k, row in enumerate(rows):
        y = FOREST_TOP + FOREST_STEP * k + FOREST_STEP / 2
        if k and row.group != rows[k - 1].group:
            line = number(FOREST_TOP + FOREST_STEP * k)
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
        parts.append(chart_text(width - FOREST_RIGHT + 10, y + 4, f"{row.value:{spec}}"))
        spread = f", from {row.low:{spec}} to {row.high:{spec}}" if sure else ""
        told.append(f"{row.name}: {row.value:{spec}}{spread}")
    return svg_frame(name, title, "; ".join(told) + ".", width, bottom + FOREST_BOTTOM, parts)


# ---- Two figures of each system against each other.

SCATTER_WIDTH, SCATTER_HEIGHT, SCATTER_LEFT, SCATTER_TOP, SCATTER_RIGHT, SCATTER_BOTTOM = (
    380,
    300,
    58,
    12,
    14,
    44,
)
NAME_PLACES = 12


class ScatterPoint(NamedTuple):
    """A system's place."""

    name: str
    x: float
    y: float


def scatter_chart(
    name: str, title: str, points: Sequence[ScatterPoint], across: str, up: str, note: str = ""
) -> Chart:
    """A dot and a name for every system; ``note`` stands in the corner.

    A name that would lie on another is left out: it stands in the title of its dot, and in the
    description.

    >>> points = [ScatterPoint("A", 0.1, 0.2), ScatterPoint("B", 0.3, 0.4)]
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
    sx = linear(*ends[0], SCATTER_LEFT, SCATTER_WIDTH - SCATTER_RIGHT)
    sy = linear(*ends[1], SCATTER_HEIGHT - SCATTER_BOTTOM, SCATTER_TOP)
    parts = []
    for tick in ticks(*ends[0], 5):
        at = number(sx(tick))
        parts.append(
            f'<line class="grid" x1="{at}" x2="{at}" y1="{SCATTER_TOP}" '
            f'y2="{SCATTER_HEIGHT - SCATTER_BOTTOM}"/>'
        )
        parts.append(
            chart_text(sx(tick), SCATTER_HEIGHT - SCATTER_BOTTOM + 16, f"{tick:g}", "quiet middle")
        )
    for tick in ticks(*ends[1], 5):
        at = number(sy(tick))
        parts.append(
            f'<line class="grid" x1="{SCATTER_LEFT}" x2="{SCATTER_WIDTH - SCATTER_RIGHT}" '
            f'y1="{at}" y2="{at}"/>'
        )
        parts.append(chart_text(SCATTER_LEFT - 6, sy(tick) + 4, f"{tick:g}", "quiet end"))
    parts.append(
        chart_text(
            (SCATTER_LEFT + SCATTER_WIDTH - SCATTER_RIGHT) / 2,
            SCATTER_HEIGHT - 10,
            across,
            "quiet middle",
            48,
        )
    )
    middle = number((SCATTER_TOP + SCATTER_HEIGHT - SCATTER_BOTTOM) / 2)
    turned = chart_text(0, 0, up, "quiet middle", 36)
    parts.append(f'<g transform="translate(13 {middle}) rotate(-90)">{turned}</g>')
    taken = [(sx(p.x) - 6, sy(p.y) - 6, sx(p.x) + 6, sy(p.y) + 6) for p in known]
    for point in known:
        x, y = sx(point.x), sy(point.y)
        parts.append(
            f'<circle class="dot f1" cx="{number(x)}" cy="{number(y)}" r="4.5">'
            f"<title>{html.escape(escape_controls(point.name))}</title></circle>"
        )
        parts += _name(point.name, x, y, taken)
    if note:
        parts.append(chart_text(SCATTER_LEFT + 6, SCATTER_TOP + 14, note, "", 44))
    told = "; ".join(f"{p.name}: {p.x:.4f}, {p.y:.4f}" for p in known)
    return svg_frame(
        name, title, f"{across} against {up}. {told}.", SCATTER_WIDTH, SCATTER_HEIGHT, parts
    )


def _name(
    name: str, x: float, y: float, taken: list[tuple[float, float, float, float]]
) -> list[str]:
    """The name beside its dot, at the first place where nothing lies; none where there is none."""
    short = shorten_label(name, NAME_PLACES)
    wide = display_width(short) * LETTER * 0.92
    for dx, dy, anchor in ((8, 4, ""), (-8, 4, "end"), (0, -9, "middle"), (0, 17, "middle")):
        left = {"": x + dx, "end": x + dx - wide, "middle": x - wide / 2}[anchor]
        box = (left, y + dy - 10, left + wide, y + dy + 2)
        if (
            box[0] < SCATTER_LEFT
            or box[2] > SCATTER_WIDTH - 2
            or box[1] < 2
            or box[3] > SCATTER_HEIGHT - SCATTER_BOTTOM + 4
        ):
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


# ---- For each of several things, where all systems lie and where one of them does.

RANGE_STEP, RANGE_TOP, RANGE_BOTTOM = 20, 28, 24


class RangeRow(NamedTuple):
    """A row: its name and how often it occurs, then low, high and the marked value per panel."""

    name: str
    times: int
    panels: Sequence[tuple[float, float, float]]


def range_chart(
    name: str, title: str, rows: Sequence[RangeRow], panels: Sequence[str], about: str
) -> Chart:
    """A row per thing and a panel per figure, from 0 to 1: a bar from low to high, and a dot.

    >>> rows = [RangeRow("R:VERB", 9, [(0.1, 0.5, 0.4)])]
    >>> chart = range_chart("k", "Kinds", rows, ["recall"], "")
    >>> chart.svg.count("<circle"), "R:VERB, 9 times: recall 0.40 (0.10 to 0.50)" in chart.svg
    (1, True)
    """
    widest = max((min(display_width(row.name), 18) for row in rows), default=4)
    left = 14 + widest * LETTER + 44
    width, gap = 760, 26
    each = (width - left - 12 - gap * (len(panels) - 1)) / len(panels)
    bottom = RANGE_TOP + RANGE_STEP * len(rows)
    parts = [chart_text(left - 10, 16, "times", "quiet end")]
    told = []
    for p, panel in enumerate(panels):
        start = left + p * (each + gap)
        scale = linear(0, 1, start, start + each)
        parts.append(chart_text(start, 16, panel, "", 40))
        for tick in ticks(0, 1, 3):
            x = number(scale(tick))
            parts.append(
                f'<line class="grid" x1="{x}" x2="{x}" y1="{RANGE_TOP - 4}" y2="{bottom}"/>'
            )
            parts.append(chart_text(scale(tick), bottom + 15, f"{tick:g}", "quiet middle"))
        for k, row in enumerate(rows):
            low, high, value = row.panels[p]
            at = number(RANGE_TOP + RANGE_STEP * k + RANGE_STEP / 2)
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
        y = RANGE_TOP + RANGE_STEP * k + RANGE_STEP / 2 + 4
        parts.append(chart_text(left - 54, y, row.name, "end", 18))
        parts.append(chart_text(left - 10, y, str(row.times), "quiet end"))
        said = ", ".join(
            f"{panel} {value:.2f} ({low:.2f} to {high:.2f})"
            for panel, (low, high, value) in zip(panels, row.panels, strict=True)
            if math.isfinite(value)
        )
        told.append(f"{row.name}, {row.times} times: {said}")
    return svg_frame(
        name, title, f"{about} {'; '.join(told)}.", width, bottom + RANGE_BOTTOM, parts
    )


# ---- A square of correlations: the stronger, the fuller.

SIDE = 58
FULL = 0.6  # from this strength on, the text on a square is light


def matrix_chart(
    name: str, title: str, names: Sequence[str], values: Sequence[Sequence[float]]
) -> Chart:
    """One square per pair: its shade is the size of the correlation, its colour the sign.

    >>> chart = matrix_chart("m", "r", ["m2", "gleu"], [[1, 0.9], [0.9, 1]])
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
    return svg_frame(name, title, "; ".join(told) + ".", width, height, parts)


# ---- Figures over time: one line for each of a few.

TREND_WIDTH, TREND_HEIGHT, TREND_LEFT, TREND_TOP, TREND_RIGHT, TREND_BOTTOM = (
    640,
    260,
    58,
    14,
    120,
    34,
)
COLOURS = 6


class TrendLine(NamedTuple):
    """A line: its name, and an estimate for each moment (None where there is none)."""

    name: str
    values: Sequence[Estimate | None]


def trend_chart(
    name: str, title: str, moments: Sequence[str], tracks: Sequence[TrendLine]
) -> Chart:
    """Lines over moments that stand evenly apart, each named at its end, with their intervals.

    >>> track = TrendLine("ours", [Estimate(0.4, 0.3, 0.5), None, Estimate(0.5, 0.4, 0.6)])
    >>> chart = trend_chart("t", "m2", ["1 May", "2 May", "3 May"], [track])
    >>> chart.svg.count("<circle"), "ours: 1 May 0.4000, 3 May 0.5000" in chart.svg
    (2, True)
    """
    ends = [
        x for t in tracks for v in t.values if v is not None for x in v if math.isfinite(x)
    ] or [0.0, 1.0]
    margin = (max(ends) - min(ends)) * 0.06 or abs(ends[0]) * 0.1 or 1
    low, high = min(ends) - margin, max(ends) + margin
    sx = linear(0, max(1, len(moments) - 1), TREND_LEFT, TREND_WIDTH - TREND_RIGHT)
    sy = linear(low, high, TREND_HEIGHT - TREND_BOTTOM, TREND_TOP)
    parts = []
    for tick in ticks(low, high, 5):
        at = number(sy(tick))
        parts.append(
            f'<line class="grid" x1="{TREND_LEFT}" x2="{TREND_WIDTH - TREND_RIGHT}" '
            f'y1="{at}" y2="{at}"/>'
        )
        parts.append(chart_text(TREND_LEFT - 8, sy(tick) + 4, f"{tick:g}", "quiet end"))
    apart = max(1, math.ceil(len(moments) / 6))
    for k, moment in enumerate(moments):
        if k % apart == 0:
            parts.append(
                chart_text(sx(k), TREND_HEIGHT - TREND_BOTTOM + 18, moment, "quiet middle", 12)
            )
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
                y += 13 if y < TREND_HEIGHT - TREND_BOTTOM - 13 else -13 * (len(heights) + 1)
            heights.append(y)
            parts.append(
                chart_text(TREND_WIDTH - TREND_RIGHT + 10, y, track.name, f"f{colour}", 16)
            )
        said = ", ".join(f"{moments[k]} {v.value:.4f}" for k, v in known)
        told.append(f"{track.name}: {said}")
    return svg_frame(name, title, "; ".join(told) + ".", TREND_WIDTH, TREND_HEIGHT, parts)


# ---- Charts as SVG texts, drawn without a library.
