"""What a table means, in a sentence."""

from __future__ import annotations

from errata.data import Scores
from errata.meta.leads import first_lead
from errata.report.cells import as_text
from errata.report.tables.formats import score_format

__all__ = ["p_text", "verdict"]


def p_text(p: float) -> str:
    """A p-value as papers print it.

    >>> p_text(0.0234), p_text(0.0004), p_text(1.0)
    ('p = .023', 'p < .001', 'p = 1')
    """
    if p < 0.001:
        return "p < .001"
    return "p = " + (f"{p:.3f}".lstrip("0") if p < 0.9995 else "1")


def verdict(scores: Scores, confidence: float = 0.95, *, digits: int = 1) -> str:
    """Who is best, by how much, and how sure that is; empty for a single system.

    The difference has the interval of the paired bootstrap, and its two-sided p-value.
    """
    lead = first_lead(scores, confidence)
    if lead is None:
        return ""
    spec = score_format(scores, scores.headline, digits)
    by, low, high = (as_text(float(number), spec) for number in lead.by)
    sure = "" if lead.p is None else f" [{low}, {high}], {p_text(lead.p)}"
    if lead.by.value == 0:
        return f"{scores.label}: {lead.better} and {lead.worse} have the same score{sure}"
    if lead.p is not None and lead.p > 1 - confidence:
        return f"{scores.label}: {lead.better} and {lead.worse} are not told apart: {by}{sure}"
    ahead = "is better than" if lead.p is not None else "is ahead of"
    return f"{scores.label}: {lead.better} {ahead} {lead.worse} by {by}{sure}"
