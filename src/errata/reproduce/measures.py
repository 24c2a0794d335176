"""What an experiment file can ask for by name.

A measure takes the `Material` and the arguments of a cell and returns a number or a text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

__all__ = ["all_measures", "measure"]

Measure = TypeVar("Measure", bound=Callable[..., Any])
ROOMS = (
    "islam_measures",
    "metric_measures",
    "napoles_measures",
    "noise_measures",
    "people_measures",
    "text_measures",
)


def measure(function: Measure) -> Measure:
    """Mark a function that experiment files may ask for under its own name."""
    function.is_measure = True  # type: ignore[attr-defined]
    return function


@cache
def all_measures() -> dict[str, Callable[..., Any]]:
    """Every measure by name."""
    rooms = [import_module(f"errata.reproduce.{room}") for room in ROOMS]
    return {
        name: function
        for room in rooms
        for name, function in vars(room).items()
        if getattr(function, "is_measure", False)
    }
