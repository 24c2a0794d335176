"""Leads: by how much one system is ahead of another, and how sure that is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from errata.data import Scores
from errata.numbers import Estimate, percentiles, settled

__all__ = ["Lead", "first_lead", "lead_over", "not_told_apart"]


class Lead(NamedTuple):
    """One system ahead of another; without resamples there is neither interval nor ``p``."""

    better: str
    worse: str
    by: Estimate
    p: float | None


def lead_over(scores: Scores, a: int, b: int, confidence: float = 0.95) -> Lead:
    """The lead of system ``a`` over ``b``, by position, with the paired bootstrap.

    Both are scored on the same resampled sentences: the interval is that of their difference, and
    ``p`` is two-sided, twice the smaller of the two of `Scores.p_values`, at most 1.

    >>> scores = Scores("m2()", ("A", "B"), np.array([0.5, 0.25]))
    >>> lead_over(scores, 0, 1).by.value
    0.25
    """
    by = float(scores.values[a] - scores.values[b])
    names = scores.systems[a], scores.systems[b]
    if scores.resampled is None:
        return Lead(*names, Estimate(by, np.nan, np.nan), None)
    differences = scores.resampled[:, [a]] - scores.resampled[:, [b]]
    low, high = percentiles(differences, confidence)[0].tolist()
    p = scores.select(names).p_values()
    return Lead(*names, Estimate(by, low, high), min(1.0, 2 * float(min(p[0, 1], p[1, 0]))))


def first_lead(scores: Scores, confidence: float = 0.95) -> Lead | None:
    """The lead of the best system over the next; None where fewer than two have a score."""
    ranked = [s for s in scores.order if np.isfinite(scores.values[s])]
    return None if len(ranked) < 2 else lead_over(scores, ranked[0], ranked[1], confidence)


def not_told_apart(scores: Scores, confidence: float = 0.95) -> tuple[bool, ...]:
    """Which systems are not told apart from the best, itself among them.

    Without resamples only equal scores are alike; what is no number is told apart from any.

    >>> not_told_apart(Scores("m2()", ("A", "B", "C"), np.array([0.5, 0.25, 0.5])))
    (True, False, True)
    """
    values = settled(scores.values)
    found = np.isfinite(values)
    if not found.any():
        return tuple(found.tolist())
    best = next(s for s in scores.order if found[s])
    alike = values == values[best]
    if scores.resampled is not None:
        p = scores.p_values()
        alike |= found & (2 * np.minimum(p[best], p[:, best]) > 1 - confidence)
    return tuple(alike.tolist())
