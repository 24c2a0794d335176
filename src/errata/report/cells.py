"""What may stand in a table: plain values, and numbers that belong together.

A cell keeps its numbers; how people, JSON and TSV see them is said here and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from errata.numbers import Estimate, Interval

__all__ = [
    "Cell",
    "Graded",
    "Leading",
    "Marked",
    "Places",
    "Ranks",
    "as_columns",
    "as_data",
    "as_text",
    "display_width",
    "is_empty",
    "is_number",
]


class Ranks(NamedTuple):
    """From the best to the worst rank that something may claim, one number if they are equal."""

    best: int
    worst: int


class Marked(NamedTuple):
    """A number with the p-value of a test, which people see as a mark: ``*``, ``+`` or ``#``."""

    value: float
    p: float


class Places(NamedTuple):
    """How many places something moved, up (above 0) or down, which people see as an arrow."""

    up: int


class Graded(NamedTuple):
    """A number with its interval and the place it has among others; None where it has none."""

    value: float
    low: float
    high: float
    place: int | None = None


class Leading(NamedTuple):
    """A score with its interval; ``lead`` says whether it is the best or not told apart from it."""

    value: float
    low: float
    high: float
    lead: Literal["best", "tie", ""] = ""


Cell = (
    str
    | int
    | float
    | bool
    | Interval
    | Estimate
    | Ranks
    | Marked
    | Places
    | Graded
    | Leading
    | None
)
ENDINGS: tuple[str, ...] = ("", " low", " high", " p", " place")
MARKS = ((0.01, "#"), (0.05, "+"), (0.1, "*"))


def is_empty(cell: Cell) -> bool:
    """Whether there is no value: nothing, or a number that is none."""
    number = cell[0] if isinstance(cell, tuple) else cell
    return number is None or (isinstance(number, float) and math.isnan(number))


def is_number(cell: Cell) -> bool:
    """Whether a cell is read as a single number, and so stands at the right of its column."""
    return isinstance(cell, int | float | Estimate | Leading) and not isinstance(cell, bool)


def as_text(cell: Cell, spec: str = "") -> str:
    """A cell as people read it; ``spec`` formats each of its numbers (``.4f`` where not whole).

    A ``spec`` that ends in ``p`` shows shares in percent, without the sign: ``.1p``.

    >>> as_text(Interval(0.25, 0.5)), as_text(Interval(-math.inf, 19), ".0f")
    ('0.2500 – 0.5000', '19 or fewer')
    >>> as_text(Ranks(2, 4)), as_text(Marked(0.75, 0.003), ".2f"), as_text(None)
    ('2-4', '0.75#', '')
    >>> as_text(Places(1)), as_text(Places(-2)), as_text(Places(0))
    ('↑1', '↓2', '—')
    >>> as_text(Graded(0.75, 0.5, 0.8125, 1), ".2f"), as_text(Graded(0.75, math.nan, math.nan))
    ('0.75 (1) [0.50,0.81]', '0.7500')
    >>> as_text(Leading(0.375, 0.35, 0.4, "best"), ".1p"), as_text(0.5, ".0p")
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
    if isinstance(cell, Places):
        return f"{'↑' if cell.up > 0 else '↓'}{abs(cell.up)}" if cell.up else "—"
    if isinstance(cell, float | tuple) and not spec:
        spec = ".4f"
    if isinstance(cell, Interval):
        if math.isinf(cell.high):
            return f"more than {_digits(cell.low, spec)}"
        if math.isinf(cell.low):
            return f"{_digits(cell.high, spec)} or fewer"
        return f"{_digits(cell.low, spec)} – {_digits(cell.high, spec)}"
    if isinstance(cell, Estimate):
        half = (cell.high - cell.low) / 2
        return f"{_digits(cell.value, spec)}" + (
            "" if math.isnan(half) else f" ± {_digits(half, spec)}"
        )
    if isinstance(cell, Leading):
        mark = {"best": " *", "tie": " =", "": "  "}[cell.lead]
        return as_text(Estimate(*cell[:3]), spec) + mark
    if isinstance(cell, Marked):
        mark = next((mark for level, mark in MARKS if cell.p <= level), "")
        return f"{_digits(cell.value, spec)}{mark}"
    if isinstance(cell, Graded):
        place = "" if cell.place is None else f" ({cell.place})"
        spread = (
            ""
            if math.isnan(cell.low)
            else f" [{_digits(cell.low, spec)},{_digits(cell.high, spec)}]"
        )
        return f"{_digits(cell.value, spec)}{place}{spread}"
    return _digits(cell, spec)


def _digits(number: Any, spec: str) -> str:
    if spec.endswith("p"):
        number, spec = 100 * number, f"{spec[:-1]}f"
    text = format(number, spec)
    return text[1:] if text[:1] == "-" and not text.strip("-0.") else text  # no -0.0


def as_data(cell: Cell) -> Any:
    """A cell for JSON: from-to is a list, a number with its company an object, no value null.

    >>> as_data(Interval(0.25, math.inf)), as_data(Marked(0.75, 0.003)), as_data(math.nan)
    ([0.25, None], {'value': 0.75, 'p': 0.003}, None)
    """
    if isinstance(cell, Interval | Ranks):
        return None if is_empty(cell) else [as_data(number) for number in cell]
    if isinstance(cell, Estimate | Marked | Graded | Leading):
        return {key: as_data(number) for key, number in cell._asdict().items()}
    if isinstance(cell, Places):
        return cell.up
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def display_width(text: str) -> int:
    """How many places of a terminal a text takes, as rich counts them; a combining mark none.

    >>> display_width("日本"), display_width("e\N{COMBINING ACUTE ACCENT}")
    (4, 1)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def as_columns(cells: Iterable[Cell]) -> tuple[list[str], list[list[Cell]]]:
    """The cells of a column as one or more columns of plain values, with what to add to its name.

    >>> as_columns([Estimate(1.0, 0.5, 1.5), None])
    (['', ' low', ' high'], [[1.0, 0.5, 1.5], [None, None, None]])
    """
    taken = [_by_ending(cell) for cell in cells]
    needed = {ending for values in taken for ending in values} or {""}
    endings = [ending for ending in ENDINGS if ending in needed]
    return endings, [[values.get(ending) for ending in endings] for values in taken]


def _by_ending(cell: Cell) -> dict[str, Cell]:
    if isinstance(cell, Interval | Ranks):
        return {" low": cell[0], " high": cell[1]}
    if isinstance(cell, Estimate | Leading):
        return {"": cell.value, " low": cell.low, " high": cell.high}
    if isinstance(cell, Marked):
        return {"": cell.value, " p": cell.p}
    if isinstance(cell, Graded):
        return {"": cell.value, " low": cell.low, " high": cell.high, " place": cell.place}
    if isinstance(cell, Places):
        return {"": cell.up}
    return {} if cell is None else {"": cell}
