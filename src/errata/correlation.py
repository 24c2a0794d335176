"""Correlations between what a metric says of systems and what people say, whole arrays at once.

Every function takes arrays whose last axis runs over systems and returns one value for each
leading position, so that bootstrap and permutation tests are single calls. An undefined value
(a constant input) is NaN, never 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from errata.errors import InputError
from errata.numbers import Floats, ratio

__all__ = [
    "CORRELATIONS",
    "correlate",
    "kendall",
    "pairwise_accuracy",
    "pearson",
    "ranks",
    "soft_pairwise_accuracy",
    "spearman",
]


def pearson(x: ArrayLike, y: ArrayLike) -> Floats:
    """Pearson's r over the last axis.

    >>> round(float(pearson([1, 2, 3], [1, 2, 4])), 4)
    0.982
    """
    a, b = (_centred(np.asarray(v, np.float64)) for v in (x, y))
    top = (a * b).sum(-1)
    bottom = np.sqrt((a * a).sum(-1) * (b * b).sum(-1))
    r = ratio(top, bottom)
    return np.asarray(np.clip(r, -1, 1), np.float64)


def _centred(values: Floats) -> Floats:
    # A constant row must centre to exactly 0, whatever its mean rounds to.
    constant = (values == values[..., :1]).all(-1, keepdims=True)
    return np.where(constant, 0.0, values - values.mean(-1, keepdims=True))


def ranks(values: ArrayLike) -> Floats:
    """Ranks from 1 over the last axis, smallest first; ties share their mean rank.

    >>> ranks([10, 30, 30, 20]).tolist()
    [1.0, 3.5, 3.5, 2.0]
    """
    v = np.asarray(values, np.float64)
    smaller = (v[..., None, :] < v[..., :, None]).sum(-1)
    equal = (v[..., None, :] == v[..., :, None]).sum(-1)
    return np.asarray(smaller + (equal + 1) / 2, np.float64)


def spearman(x: ArrayLike, y: ArrayLike) -> Floats:
    """Spearman's rho: Pearson's r of the ranks, ties at their mean rank.

    >>> float(spearman([1, 2, 3], [1, 9, 4]))
    0.5
    """
    return pearson(ranks(x), ranks(y))


def _signs(values: ArrayLike) -> Floats:
    v = np.asarray(values, np.float64)
    upper = np.triu_indices(v.shape[-1], 1)
    return np.sign(v[..., upper[0]] - v[..., upper[1]])


def kendall(x: ArrayLike, y: ArrayLike) -> Floats:
    """Kendall's tau-b over the last axis, corrected for ties on either side.

    >>> float(kendall([1, 2, 3], [1, 9, 4])).__round__(4)
    0.3333
    """
    a, b = _signs(x), _signs(y)
    bottom = np.sqrt((a * a).sum(-1) * (b * b).sum(-1))
    return ratio((a * b).sum(-1), bottom)


def pairwise_accuracy(x: ArrayLike, y: ArrayLike) -> Floats:
    """Share of pairs of systems that both sides order alike; a tie must be a tie on both.

    Kocmi et al. 2021, with ties as mt-metrics-eval's ``Agreement`` counts them.

    >>> float(pairwise_accuracy([1, 2, 3], [1, 9, 4])).__round__(4)
    0.6667
    """
    return np.asarray((_signs(x) == _signs(y)).mean(-1), np.float64)


def soft_pairwise_accuracy(p: ArrayLike, q: ArrayLike) -> float:
    """Soft pairwise accuracy: ``1 - mean |p - q|`` over pairs of systems (Thompson et al. 2024).

    ``p[a, b]`` and ``q[a, b]`` are one-sided p-values that a is better than b, one matrix from
    people and one from the metric: to be sure where people are sure earns more than the bare
    order. Only the upper triangle is read.
    """
    left, right = np.asarray(p, np.float64), np.asarray(q, np.float64)
    if left.shape != right.shape or left.ndim != 2:
        raise InputError(f"p-values of shapes {left.shape} and {right.shape} do not match")
    upper = np.triu_indices(len(left), 1)
    return float(1 - np.abs(left[upper] - right[upper]).mean())


CORRELATIONS: dict[str, Callable[[ArrayLike, ArrayLike], Floats]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "accuracy": pairwise_accuracy,
}


def correlate(kind: str, x: ArrayLike, y: ArrayLike) -> Floats:
    """The correlation of this name."""
    if kind not in CORRELATIONS:
        raise InputError(
            f"unknown correlation {kind!r}", remedy=f"use one of {', '.join(CORRELATIONS)}"
        )
    if np.shape(x)[-1] != np.shape(y)[-1] or np.shape(x)[-1] < 2:
        raise InputError(
            f"cannot correlate {np.shape(x)[-1]} with {np.shape(y)[-1]} systems",
            remedy="give both sides the same systems, two or more",
        )
    return CORRELATIONS[kind](x, y)
