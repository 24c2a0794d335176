"""Leads between systems and the sentence that states them (decision procedure goes here)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from errata.core.signatures import facts_by_name
from errata.core.stats import Estimate, merge_ties, percentiles
from errata.data import Scores
from errata.scoring.decisions import RULES, p_value, too_few_to_rank
from errata.tables.cells import as_text, score_format

# ---- Leads: by how much one system is ahead of another, and how sure that is.


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


def first_lead(scores: Scores, confidence: float) -> Lead | None:
    """The lead of the best system over the next; None where fewer than two have a score."""
    ranked = [s for s in scores.order if np.isfinite(scores.values[s])]
    return None if len(ranked) < 2 else lead_over(scores, ranked[0], ranked[1], confidence)


def tied_with_best(scores: Scores, confidence: float = 0.95) -> tuple[bool, ...]:
    """Return which systems are not significantly different from the best, itself included.

    Without resamples only equal scores are tied; NaN is tied with nothing.

    >>> tied_with_best(Scores("m2()", ("A", "B", "C"), np.array([0.5, 0.25, 0.5])))
    (True, False, True)
    """
    values = merge_ties(scores.values)
    found = np.isfinite(values)
    if not found.any():
        return tuple(found.tolist())
    best = next(s for s in scores.order if found[s])
    alike = values == values[best]
    if scores.resampled is not None:
        p = scores.p_values()
        alike |= found & (2 * np.minimum(p[best], p[:, best]) > 1 - confidence)
    return tuple(alike.tolist())


def verdict_sentence(scores: Scores, confidence: float = 0.95, *, digits: int = 1) -> str:
    """Who is best, by how much, and how sure that is; empty for a single system.

    The difference has the interval of the paired bootstrap, and its two-sided p-value.
    """
    lead = first_lead(scores, confidence)
    if lead is None:
        return ""
    sentences = facts_by_name(scores.context).get("sentences", "")
    if sentences.isdecimal() and int(sentences) < RULES.sentences:
        return f"{scores.label}: {too_few_to_rank(len(scores), int(sentences))}"
    spec = score_format(scores, scores.headline, digits)
    by, low, high = (as_text(float(number), spec) for number in lead.by)
    sure = "" if lead.p is None else f" [{low}, {high}], {p_value(lead.p)}"
    if lead.by.value == 0:
        return f"{scores.label}: {lead.better} and {lead.worse} have the same score{sure}"
    if lead.p is not None and lead.p > 1 - confidence:
        return f"{scores.label}: {lead.better} is tied with {lead.worse}: {by}{sure}"
    ahead = "is better than" if lead.p is not None else "is ahead of"
    return f"{scores.label}: {lead.better} {ahead} {lead.worse} by {by}{sure}"
