"""Outputs shown together; places of repeats and controls.

A judge must not be able to tell a check by its place: positions are random, never among the first
three tasks, and never evenly spaced.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from errata.core.stats import Floats
from errata.human.bradley_terry import BradleyTerry
from errata.human.comparisons import Counts

# ---- Which outputs of a sentence are shown together: balanced, random, or where most is to
# learn.

OutputGroups = Sequence[Sequence[int]]  # for each different output the numbers of its systems
BALANCED_SHARE = 0.2  # of adaptive pairs
PRIOR = 1.0  # precision of the normal prior on log strengths
AFTER = 25  # judgments after which strengths are computed again


def balanced(
    groups: OutputGroups, many: int, met: Floats, rng: np.random.Generator
) -> tuple[int, ...]:
    """The ``many`` outputs whose systems have met least, found greedily; ties are drawn.

    ``met[a, b]`` is how often two systems were shown together. The first two are the pair of
    outputs that met least, on average over their systems; then comes the output that met those
    chosen least.

    >>> met = np.ones((3, 3)); met[0, 2] = met[2, 0] = 0
    >>> sorted(balanced([[0], [1], [2]], 2, met, np.random.default_rng(0)))
    [0, 2]
    """
    size = len(groups)
    if size <= many:
        return tuple(range(size))
    member = np.zeros((size, len(met)))
    for k, group in enumerate(groups):
        member[k, list(group)] = 1 / len(group)
    between = member @ met @ member.T
    # Less than any difference of counts that matters, so that only ties are decided by it.
    noise = np.triu(rng.random((size, size)), 1) * 1e-9
    between = between + noise + noise.T
    np.fill_diagonal(between, np.inf)
    first, second = divmod(int(between.argmin()), size)
    chosen = [first, second]
    while len(chosen) < many:
        cost = between[chosen].sum(axis=0)
        cost[chosen] = np.inf
        chosen.append(int(cost.argmin()))
    return tuple(chosen)


@dataclass(frozen=True, eq=False)
class SystemStrengths:
    """What is known of the systems so far: log strengths, their variances, who met whom."""

    strength: Floats
    variance: Floats
    met: Floats


def strengths_of(counts: Counts) -> SystemStrengths:
    """Strengths after Bradley and Terry with a normal prior, ties as half a win for both.

    Variances are the diagonal of the inverse of the negative Hessian of the log posterior,
    ``n p (1 - p)`` for each pair and the prior's precision.
    """
    strength = BradleyTerry(ties="half", prior=PRIOR).score(counts)
    games = counts.games
    apart = strength[:, None] - strength[None, :]
    information = games / (2 + 2 * np.cosh(apart))  # p (1 - p) of the logistic
    precision = np.diag(PRIOR + information.sum(axis=1)) - information
    return SystemStrengths(strength, np.diag(np.linalg.inv(precision)).copy(), games)


def matchmake(
    groups: OutputGroups, standing: SystemStrengths, rng: np.random.Generator
) -> tuple[int, int]:
    """Two outputs as TrueSkill's matchmaker would choose them.

    With probability 0.2 the pair that met least; else the output whose system has the largest
    posterior variance, against one drawn with weight ``exp(-|Δ|)`` of the difference of strengths.
    An output of several systems has their mean strength and variance.
    """
    if rng.random() < BALANCED_SHARE:
        a, b = balanced(groups, 2, standing.met, rng)
        return a, b
    strength = np.array([standing.strength[list(g)].mean() for g in groups])
    variance = np.array([standing.variance[list(g)].mean() for g in groups])
    best = np.flatnonzero(variance >= variance.max() * (1 - 1e-9))
    first = int(best[rng.integers(len(best))])
    weight = np.exp(-np.abs(strength - strength[first]))
    weight[first] = 0.0
    second = int(rng.choice(len(groups), p=weight / weight.sum()))
    return first, second


FIRST = 3  # tasks of a judge before any check
STRETCH = 200  # tasks for which positions are drawn at a time
Positions = frozenset[int]


def generator_for(seed: int, *words: str | int) -> np.random.Generator:
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
    for share in (repeats, 0.0):  # so few tasks may be left that all repeats would be in step
        for attempt in range(1000):
            rng = generator_for(seed, "schedule", judge, stretch, attempt)
            free = np.arange(start, start + tasks)
            free = free[free >= FIRST]
            late = free[free > distance]
            again = rng.permutation(late)[: checks_among(tasks, share)].tolist()
            left = np.setdiff1d(free, again)
            tests = rng.permutation(left)[: checks_among(tasks, controls)].tolist()
            if not any(map(_evenly_spaced, (again, tests, [*again, *tests]))):
                return frozenset(map(int, tests)), frozenset(map(int, again))
    return frozenset(), frozenset()  # better no check than one in step


def stretch_length(controls: float, repeats: float) -> int:
    """How long a stretch is: enough for four checks of each kind, so that spacing can be seen."""
    shares = [share for share in (controls, repeats) if share > 0]
    return max([STRETCH, *(int(np.ceil(4 / share)) for share in shares)])


def _evenly_spaced(positions: list[int]) -> bool:
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
