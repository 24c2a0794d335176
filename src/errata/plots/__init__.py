"""Figures as data: shapes, drawn as SVG for pages (`svg`) or with matplotlib for files (`mpl`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

from errata.core.stats import Estimate, Floats, Interval

# Colours of measurements, of what stands out, and of what only guides the eye.
INK, ACCENT, FAINT = "#1f5a94", "#b3431f", "#999999"
# Dark to light: distinguishable in print and by people who see few colours.
SHADES = ("#14406b", "#3f7fbf", "#9cc3e6", "#d9a441")
# Eight colours that people with any colour vision can distinguish (Okabe & Ito 2008), no yellow.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#777777")
LETTER = 0.075  # inches that a letter of a title takes, about
BETWEEN = 1.1  # inches between two rankings


class ForestRow(NamedTuple):
    """A name with its estimate. A line separates rows of different ``group``; ``note`` is written
    at the right; ``chance`` is marked by a dotted tick."""

    name: str
    estimate: Estimate
    group: int = 0
    note: str = ""
    hollow: bool = False
    chance: float = math.nan


@dataclass(frozen=True)
class Forest:
    """Dots with whiskers, one row below the other.

    A dashed line marks the ``ceiling``, a band (or a line, if its ends are NaN) ``chance``, and
    with ``zero`` a line marks 0. ``limits`` are the ends of the axis where the data do not decide.
    """

    rows: Sequence[ForestRow]
    axis: str = ""
    title: str = ""
    notes: str = ""
    ceiling: float = math.nan
    chance: Estimate | None = None
    zero: bool = False
    limits: Interval | None = None
    spec: str = ".4f"


@dataclass(frozen=True)
class Scatter:
    """A point for each system; those named in ``hollow`` are not filled.

    ``notes`` are written above the points.
    """

    names: Sequence[str]
    x: Floats
    y: Floats
    across: str
    up: str
    title: str
    notes: Sequence[str] = ()
    hollow: Sequence[str] = ()


@dataclass(frozen=True)
class Matrix:
    """A square for each pair of names, coloured and labelled by its value; NaN stays grey.

    ``kind`` is the meaning of the values: correlations, or p-values, small where the row is better.
    """

    names: Sequence[str]
    values: Floats
    title: str
    kind: Literal["correlation", "p-value"] = "correlation"


class Line(NamedTuple):
    """A name with an estimate for each place on the axis; None where there is none."""

    name: str
    estimates: Sequence[Estimate | None]


@dataclass(frozen=True)
class Lines:
    """Lines over places that are evenly apart, with intervals."""

    lines: Sequence[Line]
    places: Sequence[str]
    title: str
    across: str = ""
    up: str = ""


class BarSeries(NamedTuple):
    """A bar for each name of a figure; ``colours`` are one for all bars, or one for each."""

    name: str
    estimates: Sequence[Estimate]
    colours: Sequence[str]


@dataclass(frozen=True)
class Bars:
    """Horizontal bars by name: several series beside each other, or ``stacked``."""

    names: Sequence[str]
    series: Sequence[BarSeries]
    axis: str
    title: str = ""
    stacked: bool = False
    limits: Interval | None = None


@dataclass(frozen=True)
class Slopes:
    """The places of systems in several rankings (by heading, best is 1), joined by lines."""

    places: Mapping[str, Mapping[str, float]]
    title: str


Shape = TypeVar("Shape", Forest, Scatter, Matrix, Lines, Bars, Slopes)


@dataclass(frozen=True)
class Panels(Generic[Shape]):
    """Shapes of one kind as the panels of a figure; sizes are in inches.

    ``same_rows`` writes the names of the rows once for all panels of a line, ``axis`` is a label
    below all panels, ``legend`` names the lines or series at the right.
    """

    shapes: Sequence[Shape]
    width: float
    height: float
    across: int = 4
    margin: float = 0.0
    same_rows: bool = False
    axis: str = ""
    legend: Sequence[str] = ()
