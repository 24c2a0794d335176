"""Scores that were computed elsewhere, held against those of one system, metric by metric."""

from __future__ import annotations

from collections.abc import Sequence

from errata.data import Scores
from errata.errors import InputError
from errata.meta.leads import lead_over
from errata.numbers import Interval
from errata.report.table import Cell, Table, joined_signatures
from errata.report.tables.scores import told_apart

__all__ = ["score_change_table"]


def score_change_table(
    results: Sequence[Scores], old: str | None = None, *, confidence: float = 0.95
) -> Table:
    """A row for every metric and system: its score against the old one, by the paired bootstrap.

    ``old`` is the first system where none is named. Intervals and p-values come from the resamples
    that the scores bring along; where there are none, they are missing.
    """
    rows: list[tuple[Cell, ...]] = []
    for scores in told_apart(results):
        names = scores.systems
        if old is not None and old not in names:
            raise InputError(
                f"{scores.label} knows no system {old!r}", remedy=f"it has: {', '.join(names)}"
            )
        base = 0 if old is None else names.index(old)
        for s, name in enumerate(names):
            if s == base:
                continue
            lead = lead_over(scores, s, base, confidence)
            interval = None if lead.p is None else Interval(lead.by.low, lead.by.high)
            before, after = float(scores.values[base]), float(scores.values[s])
            rows.append(
                (scores.label, names[base], name, before, after, lead.by.value, interval, lead.p)
            )
    if not rows:
        raise InputError(
            "one system is nothing to compare", remedy="give scores of two systems or more"
        )
    level = f"{confidence * 100:g} %"
    return Table(
        ("metric", "old", "new", "old score", "new score", "change", level, "p"),
        tuple(rows),
        title="What changed",
        name="score_changes",
        formats={**dict.fromkeys(("old score", "new score"), ".4f"), "change": "+.4f", "p": ".3g"},
        signature=joined_signatures([scores.signature for scores in results]),
    )
