"""What all charts share: scales, ticks, texts that fit, and the frame of an SVG."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from errata.errors import visible
from errata.report.cells import display_width

__all__ = [
    "Chart",
    "chart_html",
    "chart_text",
    "drawn",
    "linear",
    "number",
    "shortened_label",
    "ticks",
]

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


def shortened_label(text: str, most: int = LABEL_PLACES) -> str:
    """A name cut to the places a chart has for it.

    >>> shortened_label("a system with quite a long name indeed")
    'a system with quite a lon…'
    """
    text = visible(text)
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
    short = shortened_label(text, most)
    whole = html.escape(visible(text))
    inside = html.escape(short)
    if short != visible(text):
        inside += f"<title>{whole}</title>"
    about = f' class="{classes}"' if classes else ""
    return f'<text x="{number(x)}" y="{number(y)}"{about}>{inside}</text>'


def drawn(
    name: str, title: str, about: str, width: float, height: float, parts: Sequence[str]
) -> Chart:
    """A chart of these parts, with its title and description for those who hear it."""
    key = "c-" + "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower())
    said, told = html.escape(visible(title)), html.escape(visible(about))
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


def chart_html(chart: Chart, note: str = "") -> str:
    """A chart in a page: its title, a button that saves it, and a note below."""
    title, name = html.escape(visible(chart.title)), html.escape(visible(chart.name), quote=True)
    below = f'<p class="note">{html.escape(visible(note))}</p>' if note else ""
    return (
        f'<figure class="picture" data-name="{name}">\n<figcaption>{title}</figcaption>\n'
        f'<div class="chart-box" tabindex="0" role="group" aria-label="{title}">\n{chart.svg}\n'
        f'</div>\n{below}<div class="tools"><button type="button" data-save="svg">Save as SVG'
        f'<span class="unseen"> {title}</span></button></div>\n</figure>'
    )
