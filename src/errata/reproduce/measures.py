"""The registry of measures: what an experiment file can ask for by name.

A measure takes the `Material` and the arguments of a cell and returns a number or a text.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

__all__ = ["MEASURES", "load_measures", "measure"]

Measure = TypeVar("Measure", bound=Callable[..., Any])
MEASURES: dict[str, Callable[..., Any]] = {}


def measure(function: Measure) -> Measure:
    """Make a function known to experiment files under its own name."""
    MEASURES[function.__name__] = function
    return function


def load_measures() -> None:
    """Import the modules that hold measures."""
    for name in ("metric_measures", "people_measures", "text_measures"):
        import_module(f"errata.reproduce.{name}")
