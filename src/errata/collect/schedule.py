"""Where repeats and controls stand among the tasks of a judge: drawn from the seed, for each judge.

A judge must not be able to tell a check by its place: positions are random, never among the first
three tasks, and never evenly spaced.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np

__all__ = ["checks_among", "drawn_for", "purpose_at", "purposes", "stretch_length"]

FIRST = 3  # tasks of a judge before any check
STRETCH = 200  # tasks for which positions are drawn at a time
Positions = frozenset[int]


def drawn_for(seed: int, *words: str | int) -> np.random.Generator:
    """A generator of its own for a judge, an item, a purpose: the same for the same words."""
    text = repr((seed, *words)).encode("utf-8", "surrogatepass")
    return np.random.default_rng(int.from_bytes(hashlib.blake2b(text, digest_size=16).digest()))


def checks_among(tasks: int, share: float) -> int:
    """How many of a number of tasks are checks of a kind.

    >>> checks_among(100, 0.05), checks_among(3, 0.5), checks_among(0, 0.05)
    (5, 0, 0)
    """
    return min(round(tasks * share), max(0, tasks - FIRST))


@lru_cache(4096)
def purposes(
    seed: int, judge: str, stretch: int, tasks: int, controls: float, repeats: float, distance: int
) -> tuple[Positions, Positions]:
    """The positions (from 0) of controls and repeats in a stretch of a judge's tasks.

    A stretch has ``tasks`` tasks and starts at ``stretch * length(...)``; in the first one no check
    stands among the first three tasks, and no repeat before there can be something to repeat.
    """
    start = stretch * stretch_length(controls, repeats)
    for attempt in range(1000):
        rng = drawn_for(seed, "schedule", judge, stretch, attempt)
        free = np.arange(start, start + tasks)
        free = free[free >= FIRST]
        late = free[free > distance]
        again = rng.permutation(late)[: checks_among(tasks, repeats)].tolist()
        left = np.setdiff1d(free, again)
        tests = rng.permutation(left)[: checks_among(tasks, controls)].tolist()
        if not any(map(_even, (again, tests, [*again, *tests]))):
            break
    else:  # so few tasks that there is no other way: better no check than one in step
        again, tests = [], []
    return frozenset(map(int, tests)), frozenset(map(int, again))


def stretch_length(controls: float, repeats: float) -> int:
    """How long a stretch is: enough for four checks of each kind, so that spacing can be seen."""
    shares = [share for share in (controls, repeats) if share > 0]
    return max([STRETCH, *(int(np.ceil(4 / share)) for share in shares)])


def _even(positions: list[int]) -> bool:
    """Whether three positions or more are evenly spaced."""
    gaps = np.diff(sorted(positions))
    return len(gaps) > 1 and bool((gaps == gaps[0]).all())


def purpose_at(
    task: int,
    *,
    seed: int,
    judge: str,
    quota: int | None,
    controls: float,
    repeats: float,
    distance: int,
) -> str:
    """What the schedule says of a judge's task (from 0): main, control or repeat."""
    length = stretch_length(controls, repeats)
    stretch = task // length
    tasks = length if quota is None else min(length, quota - stretch * length)
    if tasks <= 0:
        return "main"
    tests, again = purposes(seed, judge, stretch, tasks, controls, repeats, distance)
    return "control" if task in tests else "repeat" if task in again else "main"
