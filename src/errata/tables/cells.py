"""Cell types and number formats.

A cell keeps its numbers; how people, JSON and TSV see them is decided here only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from errata.core.stats import Estimate, Interval
from errata.data import Scores


class Ranks(NamedTuple):
    """From the best to the worst rank that something may claim, one number if they are equal."""

    best: int
    worst: int


class PValue(NamedTuple):
    """A number with the p-value of a test, which people see as a mark: ``*``, ``+`` or ``#``."""

    value: float
    p: float


class RankChange(NamedTuple):
    """How many places something moved, up (above 0) or down, which people see as an arrow."""

    up: int


class RankedScore(NamedTuple):
    """A number with its interval and the place it has among others; None where it has none."""

    value: float
    low: float
    high: float
    place: int | None = None


class BestScore(NamedTuple):
    """A score with its interval; ``lead`` marks the best and those tied with it."""

    value: float
    low: float
    high: float
    lead: Literal["best", "tie", ""] = ""


Plain = str | int | float | bool | None
Cell = Plain | Interval | Estimate | Ranks | PValue | RankChange | RankedScore | BestScore
ENDINGS: tuple[str, ...] = ("", " low", " high", " p", " place")
MARKS = ((0.01, "#"), (0.05, "+"), (0.1, "*"))


def is_empty(cell: Cell) -> bool:
    """Return whether a cell has no value: None, or NaN."""
    number = cell[0] if isinstance(cell, tuple) else cell
    return number is None or (isinstance(number, float) and math.isnan(number))


def is_number(cell: Cell) -> bool:
    """Return whether a cell is a single number, aligned at the right of its column."""
    return isinstance(cell, int | float | Estimate | BestScore) and not isinstance(cell, bool)


def as_text(cell: Cell, spec: str = "") -> str:
    """Return a cell as people read it; ``spec`` formats its numbers (``.4f`` where not whole).

    A ``spec`` that ends in ``p`` shows shares in percent, without the sign: ``.1p``.

    >>> as_text(Interval(0.25, 0.5)), as_text(Interval(-math.inf, 19), ".0f")
    ('0.2500 – 0.5000', '19 or fewer')
    >>> as_text(Ranks(2, 4)), as_text(PValue(0.75, 0.003), ".2f"), as_text(None)
    ('2-4', '0.75#', '')
    >>> as_text(RankChange(1)), as_text(RankChange(-2)), as_text(RankChange(0))
    ('↑1', '↓2', '—')
    >>> plain = RankedScore(0.75, math.nan, math.nan)
    >>> as_text(RankedScore(0.75, 0.5, 0.8125, 1), ".2f"), as_text(plain)
    ('0.75 (1) [0.50,0.81]', '0.7500')
    >>> as_text(BestScore(0.375, 0.35, 0.4, "best"), ".1p"), as_text(0.5, ".0p")
    ('37.5 ± 2.5 *', '50')
    >>> as_text(-0.0004, ".1p")
    '0.0'
    """
    if is_empty(cell):
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Ranks):
        return f"{cell.best}" if cell.best == cell.worst else f"{cell.best}-{cell.worst}"
    if isinstance(cell, RankChange):
        return f"{'↑' if cell.up > 0 else '↓'}{abs(cell.up)}" if cell.up else "—"
    if isinstance(cell, float | tuple) and not spec:
        spec = ".4f"
    if isinstance(cell, Interval):
        if math.isinf(cell.high):
            return f"more than {_format_number(cell.low, spec)}"
        if math.isinf(cell.low):
            return f"{_format_number(cell.high, spec)} or fewer"
        return f"{_format_number(cell.low, spec)} – {_format_number(cell.high, spec)}"
    if isinstance(cell, Estimate):
        half = (cell.high - cell.low) / 2
        return f"{_format_number(cell.value, spec)}" + (
            "" if math.isnan(half) else f" ± {_format_number(half, spec)}"
        )
    if isinstance(cell, BestScore):
        mark = {"best": " *", "tie": " =", "": "  "}[cell.lead]
        return as_text(Estimate(*cell[:3]), spec) + mark
    if isinstance(cell, PValue):
        mark = next((mark for level, mark in MARKS if cell.p <= level), "")
        return f"{_format_number(cell.value, spec)}{mark}"
    if isinstance(cell, RankedScore):
        place = "" if cell.place is None else f" ({cell.place})"
        spread = (
            ""
            if math.isnan(cell.low)
            else f" [{_format_number(cell.low, spec)},{_format_number(cell.high, spec)}]"
        )
        return f"{_format_number(cell.value, spec)}{place}{spread}"
    return _format_number(cell, spec)


def _format_number(number: Any, spec: str) -> str:
    if spec.endswith("p"):
        number, spec = 100 * number, f"{spec[:-1]}f"
    text = format(number, spec)
    return text[1:] if text[:1] in "+-" and not text.strip("+-0.") else text  # no -0.0


def to_json(cell: Cell) -> Any:
    """Return a cell for JSON: a range is a list, a number with interval or p an object.

    >>> to_json(Interval(0.25, math.inf)), to_json(PValue(0.75, 0.003)), to_json(math.nan)
    ([0.25, None], {'value': 0.75, 'p': 0.003}, None)
    """
    if isinstance(cell, Interval | Ranks):
        return None if is_empty(cell) else [to_json(number) for number in cell]
    if isinstance(cell, Estimate | PValue | RankedScore | BestScore):
        return {key: to_json(number) for key, number in cell._asdict().items()}
    if isinstance(cell, RankChange):
        return cell.up
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def display_width(text: str) -> int:
    """Return how many terminal columns a text takes; a combining mark takes none.

    >>> display_width("日本"), display_width("e\N{COMBINING ACUTE ACCENT}")
    (4, 1)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def split_column(cells: Iterable[Cell]) -> tuple[list[str], list[list[Cell]]]:
    """Split a column of cells into columns of plain values, with what to add to its name.

    >>> split_column([Estimate(1.0, 0.5, 1.5), None])
    (['', ' low', ' high'], [[1.0, 0.5, 1.5], [None, None, None]])
    """
    taken = [_numbers_by_ending(cell) for cell in cells]
    needed = {ending for values in taken for ending in values} or {""}
    endings = [ending for ending in ENDINGS if ending in needed]
    return endings, [[values.get(ending) for ending in endings] for values in taken]


def _numbers_by_ending(cell: Cell) -> dict[str, Cell]:
    if isinstance(cell, Ranks):
        return {" low": cell.best, " high": cell.worst}
    if isinstance(cell, RankChange):
        return {"": cell.up}
    if isinstance(cell, tuple):
        named = {f" {key}".removesuffix(" value"): number for key, number in cell._asdict().items()}
        return {ending: number for ending, number in named.items() if ending in ENDINGS}
    return {} if cell is None else {"": cell}


LARGE = 10  # from here on, decimals beyond the first few say nothing


def score_format(scores: Scores, figure: str, digits: int = 1) -> str:
    """Return the format of a score: percent for shares, fewer decimals for large scores (BLEU).

    >>> score_format(Scores("m2()", ("A",), np.array([0.5]), headline="F", shares=("F",)), "F")
    '.1p'
    >>> score_format(Scores("bleu()", ("A",), np.array([50.0])), "score", 2)
    '.2f'
    """
    if figure in scores.shares:
        return f".{digits}p"
    values = scores.values if figure == scores.headline else scores.parts[figure]
    large = bool(np.any(np.abs(values[np.isfinite(values)]) >= LARGE))
    return f".{digits}f" if large else ".4f"


def score_formats(scores: Scores, figures: Iterable[str], digits: int) -> dict[str, str]:
    """Return the formats of several figures, without those that are whole numbers."""
    return {
        name: score_format(scores, name, digits)
        for name in figures
        if name == scores.headline or scores.parts[name].dtype.kind == "f"
    }


def percent_suffix(results: Sequence[Scores]) -> str:
    """Return ", percent" for the title of scores that are shown in percent, else nothing."""
    return ", percent" if any(scores.headline in scores.shares for scores in results) else ""
