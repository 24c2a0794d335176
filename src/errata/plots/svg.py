"""Draw shapes as SVG texts for pages, without a library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from errata.core.errors import escape_controls
from errata.plots import Forest, Lines, Matrix, Scatter
from errata.tables.cells import display_width
from errata.tables.html_table import fill_html, render_template

if TYPE_CHECKING:
    from markupsafe import Markup

LETTER = 8.2  # width of a place of text, in pixels, a little more than most fonts take
LABEL_PLACES = 26
COLOURS = 6  # of the style sheet


class Chart(NamedTuple):
    """An SVG text, and what it is called."""

    name: str
    title: str
    svg: Markup


def coordinate(value: float) -> str:
    """Format a coordinate to a hundredth of a pixel.

    >>> coordinate(3.0), coordinate(2.345678)
    ('3', '2.35')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def linear_scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Return a function from values to pixels; a single value lies in the middle."""
    if high == low:
        return lambda value: (start + end) / 2
    return lambda value: start + (value - low) / (high - low) * (end - start)


def axis_ticks(low: float, high: float, most: int) -> list[float]:
    """Return at most ``most`` round values from low to high.

    >>> axis_ticks(0.31, 0.42, 6), axis_ticks(0, 100, 3), axis_ticks(2, 2, 6)
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
    """Cut a name to ``most`` terminal columns.

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


def chart_text(
    x: float, y: float, text: str, classes: str = "", most: int = LABEL_PLACES
) -> Markup:
    """Return a text element; its title has the whole text if it is cut."""
    short = shorten_label(text, most)
    about = fill_html(' class="{}"', classes) if classes else ""
    title = fill_html("<title>{}</title>", text) if short != escape_controls(text) else ""
    element = '<text x="{}" y="{}"{}>{}{}</text>'
    return fill_html(element, coordinate(x), coordinate(y), about, short, title)


def svg_frame(
    name: str, title: str, about: str, width: float, height: float, parts: Sequence[Markup]
) -> Chart:
    """Return a chart of SVG elements, with title and description for screen readers."""
    svg = render_template(
        "errata.plots",
        "templates/chart.svg.j2",
        key="c-" + "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower()),
        title=title,
        about=about,
        width=coordinate(width),
        height=coordinate(height),
        parts=parts,
    )
    return Chart(name, title, svg.rstrip("\n"))


def chart_html(chart: Chart, note: str = "") -> Markup:
    """Return a chart for a page: its title, a button that saves it, and a note below."""
    return render_template("errata.plots", "templates/chart.html.j2", chart=chart, note=note)


def svg_chart(
    name: str, title: str, *shapes: Forest | Scatter | Matrix | Lines, about: str = ""
) -> Chart:
    """Draw a shape, or several forests with the same rows side by side.

    ``name`` is its key on a page. The values are also written as a description, after ``about``.
    """
    shape = shapes[0]
    if isinstance(shape, Forest):
        drawn = _draw_forests([each for each in shapes if isinstance(each, Forest)])
    elif isinstance(shape, Scatter):
        drawn = _draw_scatter(shape)
    elif isinstance(shape, Matrix):
        drawn = _draw_matrix(shape)
    else:
        drawn = _draw_lines(shape)
    width, height, parts, values = drawn
    return svg_frame(name, title, f"{about} {'; '.join(values)}.".lstrip(), width, height, parts)


Drawing = tuple[
    float, float, list["Markup"], list[str]
]  # width, height, SVG elements, descriptions


def _axis_limits(values: Sequence[float], share: float) -> tuple[float, float]:
    """Return the ends of an axis, with a ``share`` of the range as a margin."""
    known = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(known), max(known)
    margin = (high - low) * share or abs(high) * 0.1 or 1
    return low - margin, high + margin


def _svg_line(kind: str, x1: float, x2: float, y1: float, y2: float) -> Markup:
    line = '<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>'
    return fill_html(line, kind, *map(coordinate, (x1, x2, y1, y2)))


def _svg_dot(colour: int, x: float, y: float, size: float, name: str = "") -> Markup:
    title = fill_html("><title>{}</title></circle>", name) if name else fill_html("/>")
    dot = '<circle class="dot f{}" cx="{}" cy="{}" r="{:g}"{}'
    return fill_html(dot, colour, coordinate(x), coordinate(y), size, title)


STEP, TOP, BOTTOM, RIGHT, GAP, NOTE = 22, 14, 40, 66, 26, 60


def _draw_forests(forests: Sequence[Forest]) -> Drawing:
    """Draw one panel with its values beside the rows, or several panels with a title each.

    >>> from errata.core.stats import Estimate
    >>> from errata.plots import ForestRow
    >>> rows = [ForestRow("A", Estimate(0.4, 0.3, 0.5), 1), ForestRow("B", Estimate(0.2, 0.1, 0.3))]
    >>> chart = svg_chart("m2", "M2", Forest(rows, "F0.5"))
    >>> chart.svg.count("<circle"), "A: 0.4000, from 0.3000 to 0.5000" in chart.svg
    (2, True)
    """
    first, several = forests[0], len(forests) > 1
    shown = [k for k, row in enumerate(first.rows) if several or math.isfinite(row.estimate.value)]
    names = [first.rows[k].name for k in shown]
    top = TOP + (14 if several or first.notes else 0)
    left = 14 + max((min(display_width(n), LABEL_PLACES) for n in names), default=4) * LETTER
    width = 760 if several else 480
    noted = any(row.note for row in first.rows)
    right = width - RIGHT - (NOTE if noted and not several else 0)  # beside it values, then notes
    each = (right - left - GAP * (len(forests) - 1)) / len(forests)
    bottom = top + STEP * len(shown)
    middles = [top + STEP * (k + 0.5) for k in range(len(shown))]
    parts: list[Markup] = []
    said: list[list[str]] = [[] for _ in shown]
    for p, forest in enumerate(forests):
        start = left + p * (each + GAP)
        rows = [forest.rows[k] for k in shown]
        values = [x for row in rows for x in row.estimate] + [0.0] * forest.zero
        low, high = _axis_limits(values, 0.04) if forest.limits is None else forest.limits
        scale = linear_scale(low, high, start, start + each)
        for tick in axis_ticks(low, high, 3 if several else 6):
            parts.append(_svg_line("grid", scale(tick), scale(tick), top - 6, bottom))
            parts.append(chart_text(scale(tick), bottom + 16, f"{tick:g}", "quiet middle"))
        if forest.zero:
            parts.append(_svg_line("axis", scale(0), scale(0), top - 6, bottom))
        if several:
            parts.append(chart_text(start, 16, forest.title, "", 40))
        parts.append(chart_text(start + each / 2, bottom + 33, forest.axis, "quiet middle", 60))
        for k, (row, y) in enumerate(zip(rows, middles, strict=True)):
            value, low, high = row.estimate
            spread = ""
            if math.isfinite(low) and math.isfinite(high):
                parts.append(_svg_line(f"whisker s{p + 1}", scale(low), scale(high), y, y))
                spread = f", from {low:{forest.spec}} to {high:{forest.spec}}"
            if math.isfinite(value):
                parts.append(_svg_dot(p + 1, scale(value), y, 5))
                label = f"{forest.title} " if several else ""
                said[k].append(f"{label}{value:{forest.spec}}{spread}")
    for k, (one, other) in enumerate(pairwise(shown)):
        if first.rows[one].group != first.rows[other].group:
            parts.append(_svg_line("rule", 0, width, top + STEP * (k + 1), top + STEP * (k + 1)))
    if noted:
        parts.append(chart_text(width - 2, top - 4, first.notes, "quiet end", 10))
    for name, k, y in zip(names, shown, middles, strict=True):
        row = first.rows[k]
        parts.append(chart_text(left - 10, y + 4, name, "end"))
        if not several:
            parts.append(chart_text(right + 10, y + 4, f"{row.estimate.value:{first.spec}}"))
        if row.note:
            parts.append(chart_text(width - RIGHT + 10, y + 4, row.note))
    counted = [f" ({first.notes} {row.note})" if row.note else "" for row in first.rows]
    values_said = [
        f"{name}{counted[k]}: {'; '.join(words)}"
        for name, k, words in zip(names, shown, said, strict=True)
    ]
    return width, bottom + BOTTOM, parts, values_said


SCATTER_WIDTH, SCATTER_HEIGHT, SCATTER_BOTTOM = 380, 300, 44
SIDE_LEFT, SIDE_TOP, SIDE_RIGHT = 58, 12, 14
NAME_PLACES = 12


def _draw_scatter(shape: Scatter) -> Drawing:
    """Draw a dot and a name for every system.

    A name that would lie on another is left out: it is in the title of its dot and in the
    description.

    >>> import numpy as np
    >>> shape = Scatter(("A", "B"), np.array([0.1, 0.3]), np.array([0.2, 0.4]), "people", "m2", "")
    >>> chart = svg_chart("s", "m2", shape)
    >>> chart.svg.count("<circle"), chart.svg.count(">A</text>")
    (2, 1)
    """
    known = [
        (name, x, y)
        for name, x, y in zip(shape.names, shape.x.tolist(), shape.y.tolist(), strict=True)
        if math.isfinite(x) and math.isfinite(y)
    ]
    bottom, right = SCATTER_HEIGHT - SCATTER_BOTTOM, SCATTER_WIDTH - SIDE_RIGHT
    across = _axis_limits([x for _, x, _ in known], 0.08)
    up = _axis_limits([y for _, _, y in known], 0.08)
    top = SIDE_TOP + 14 * len(shape.notes)
    sx, sy = linear_scale(*across, SIDE_LEFT, right), linear_scale(*up, bottom, top)
    parts = []
    for tick in axis_ticks(*across, 5):
        parts.append(_svg_line("grid", sx(tick), sx(tick), top, bottom))
        parts.append(chart_text(sx(tick), bottom + 16, f"{tick:g}", "quiet middle"))
    for tick in axis_ticks(*up, 5):
        parts.append(_svg_line("grid", SIDE_LEFT, right, sy(tick), sy(tick)))
        parts.append(chart_text(SIDE_LEFT - 6, sy(tick) + 4, f"{tick:g}", "quiet end"))
    middle = (SIDE_LEFT + right) / 2
    parts.append(chart_text(middle, SCATTER_HEIGHT - 10, shape.across, "quiet middle", 48))
    turned = chart_text(0, 0, shape.up, "quiet middle", 36)
    half = coordinate((top + bottom) / 2)
    group = '<g transform="translate(13 {}) rotate(-90)">{}</g>'
    parts.append(fill_html(group, half, turned))
    places = [(sx(x), sy(y)) for _, x, y in known]
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    for (name, _, _), (x, y) in zip(known, places, strict=True):
        parts.append(_svg_dot(1, x, y, 4.5, name))
        parts += _label_point(name, x, y, taken)
    for k, note in enumerate(shape.notes):
        parts.append(chart_text(SIDE_LEFT + 6, 14 * (k + 1), note, "", 44))
    said = [f"{name}: {x:.4f}, {y:.4f}" for name, x, y in known]
    return SCATTER_WIDTH, SCATTER_HEIGHT, parts, [f"{shape.across}, {shape.up}", *said]


def _label_point(
    name: str, x: float, y: float, taken: list[tuple[float, float, float, float]]
) -> list[Markup]:
    """Return the name at the first free place beside its dot, or nothing if none is free."""
    wide = display_width(shorten_label(name, NAME_PLACES)) * LETTER * 0.92
    for dx, dy, anchor in ((8, 4, ""), (-8, 4, "end"), (0, -9, "middle"), (0, 17, "middle")):
        left = {"": x + dx, "end": x + dx - wide, "middle": x - wide / 2}[anchor]
        right, top, bottom = left + wide, y + dy - 10, y + dy + 2
        inside = left >= SIDE_LEFT and right <= SCATTER_WIDTH - 2
        inside = inside and top >= 2 and bottom <= SCATTER_HEIGHT - SCATTER_BOTTOM + 4
        free = all(
            left >= c or a >= right or top >= d or b >= bottom or (a + 6 == x and b + 6 == y)
            for a, b, c, d in taken
        )
        if inside and free:
            taken.append((left, top, right, bottom))
            return [chart_text(x + dx, y + dy, name, anchor, NAME_PLACES)]
    return []


SIDE = 58
FULL = 0.6  # from this strength on, the text on a square is light


def _draw_matrix(shape: Matrix) -> Drawing:
    """Draw one square per pair: its shade is the size of the correlation, its colour the sign.

    >>> import numpy as np
    >>> values = np.array([[np.nan, 0.9], [0.9, np.nan]])
    >>> chart = svg_chart("m", "r", Matrix(["m2", "gleu"], values, "r"))
    >>> chart.svg.count("<rect"), "m2 and gleu: 0.90" in chart.svg
    (2, True)
    """
    names = shape.names
    left = 14 + max((min(display_width(n), 18) for n in names), default=4) * LETTER
    size = SIDE * len(names)
    parts, said = [], []
    for a, row in enumerate(shape.values.tolist()):
        parts.append(chart_text(left - 10, a * SIDE + SIDE / 2 + 4, names[a], "end", 18))
        parts.append(chart_text(left + a * SIDE + SIDE / 2, size + 16, names[a], "middle", 8))
        for b, value in enumerate(row):
            if not math.isfinite(value):
                continue
            strength = min(1.0, abs(value))
            x, y = left + b * SIDE, a * SIDE
            down = " down" if value < 0 else ""
            square = '<rect class="square{}" x="{}" y="{}" width="{w}" height="{w}" {}/>'
            opacity = fill_html('fill-opacity="{:.2f}"', 0.06 + 0.94 * strength)
            corner = (coordinate(x + 1), coordinate(y + 1))
            parts.append(fill_html(square.replace("{w}", str(SIDE - 2)), down, *corner, opacity))
            shade = "on" if strength > FULL else "off"
            parts.append(
                chart_text(x + SIDE / 2, y + SIDE / 2 + 4, f"{value:.2f}", f"middle {shade}")
            )
            if a < b:
                said.append(f"{names[a]} and {names[b]}: {value:.2f}")
    return left + size + 4, size + 24, parts, said


LINES_WIDTH, LINES_HEIGHT, LINES_RIGHT, LINES_BOTTOM = 640, 260, 120, 34


def _draw_lines(shape: Lines) -> Drawing:
    """Draw lines over evenly spaced places, each named at its end, with their intervals.

    >>> from errata.core.stats import Estimate
    >>> from errata.plots import Line
    >>> line = Line("ours", [Estimate(0.4, 0.3, 0.5), None, Estimate(0.5, 0.4, 0.6)])
    >>> chart = svg_chart("t", "m2", Lines([line], ["1 May", "2 May", "3 May"], "m2"))
    >>> chart.svg.count("<circle"), "ours: 1 May 0.4000, 3 May 0.5000" in chart.svg
    (2, True)
    """
    low, high = _axis_limits(
        [x for line in shape.lines for v in line.estimates if v for x in v], 0.06
    )
    right, bottom = LINES_WIDTH - LINES_RIGHT, LINES_HEIGHT - LINES_BOTTOM
    sx = linear_scale(0, max(1, len(shape.places) - 1), SIDE_LEFT, right)
    sy = linear_scale(low, high, bottom, SIDE_TOP)
    parts = []
    for tick in axis_ticks(low, high, 5):
        parts.append(_svg_line("grid", SIDE_LEFT, right, sy(tick), sy(tick)))
        parts.append(chart_text(SIDE_LEFT - 8, sy(tick) + 4, f"{tick:g}", "quiet end"))
    for k in range(0, len(shape.places), max(1, math.ceil(len(shape.places) / 6))):
        parts.append(chart_text(sx(k), bottom + 18, shape.places[k], "quiet middle", 12))
    said = []
    heights: list[float] = []
    for index, line in enumerate(shape.lines):
        colour = index % COLOURS + 1
        known = [(k, v) for k, v in enumerate(line.estimates) if v is not None]
        for k, (_, lowest, highest) in known:
            if math.isfinite(lowest) and math.isfinite(highest):
                whisker = f"whisker s{colour}"
                parts.append(_svg_line(whisker, sx(k), sx(k), sy(lowest), sy(highest)))
        path = " ".join(f"{coordinate(sx(k))},{coordinate(sy(v.value))}" for k, v in known)
        parts.append(fill_html('<polyline class="line s{}" points="{}"/>', colour, path))
        parts += [_svg_dot(colour, sx(k), sy(v.value), 4) for k, v in known]
        if known:
            y = sy(known[-1][1].value) + 4
            while any(abs(y - other) < 13 for other in heights):
                y += 13 if y < bottom - 13 else -13 * (len(heights) + 1)
            heights.append(y)
            parts.append(chart_text(right + 10, y, line.name, f"f{colour}", 16))
        values = ", ".join(f"{shape.places[k]} {v.value:.4f}" for k, v in known)
        said.append(f"{line.name}: {values}")
    return LINES_WIDTH, LINES_HEIGHT, parts, said
