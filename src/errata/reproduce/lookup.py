"""Names in experiment files: what they stand for, and what is said where that cannot be had."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from errata.data import Scores
from errata.errors import ErrataError

__all__ = ["NotRun", "Unknown", "at_position", "best_first", "pick", "place"]

T = TypeVar("T")


class NotRun(ErrataError):
    """A cell that cannot be recomputed here, with the reason."""


class Unknown(ErrataError):
    """A name in an experiment file that stands for nothing."""


def place(name: str, names: Iterable[str]) -> int:
    """The position of a name among those known."""
    known = list(names)
    if name not in known:
        raise Unknown(f"{name!r} is not one of {', '.join(known)}")
    return known.index(name)


def pick(name: str, choices: Mapping[str, T]) -> T:
    """What a name stands for."""
    place(name, choices)
    return choices[name]


def at_position(position: str, names: Sequence[str]) -> str:
    """The name at a position written from 1."""
    if not position.isdecimal() or not 1 <= int(position) <= len(names):
        raise Unknown(f"position {position!r} is not among 1 to {len(names)}")
    return names[int(position) - 1]


def best_first(scores: Scores) -> list[str]:
    """The systems by their scores; the unchanged input is ``source``, as papers call it."""
    return [scores.systems[i].replace("INPUT", "source") for i in scores.order]
