"""Which outputs of a sentence are shown together: balanced, random, or where most is to learn.

In simulation all policies are within noise for five outputs, where ``balanced`` covers the pairs
best. For pairs the matchmaker halves the comparisons needed, but leaves some pairs almost unmet;
so one pair in five is chosen by balance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from errata.human.bradley_terry import BradleyTerry
from errata.human.counts import Counts
from errata.numbers import Floats

__all__ = ["SystemStrengths", "balanced", "matchmake", "standing_of"]

OutputGroups = Sequence[Sequence[int]]  # for each different output the numbers of its systems
BALANCED_SHARE = 0.2  # of adaptive pairs
PRIOR = 1.0  # precision of the normal prior on log strengths
AFTER = 25  # judgments after which strengths are computed anew


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


def standing_of(counts: Counts) -> SystemStrengths:
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
