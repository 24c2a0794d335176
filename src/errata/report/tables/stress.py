"""Stress cards as tables."""

from __future__ import annotations

from errata.numbers import Interval
from errata.report.table import Cell, Table
from errata.studies.stress import StressCard

__all__ = ["stress_table"]


def stress_table(card: StressCard) -> Table:
    """One row per perturbation: the score, how far it moved, and the verdict."""
    headline, values = card.scores.headline, card.scores.values
    interval = f"{card.confidence * 100:g} % interval"
    rows: list[tuple[Cell, ...]] = [
        (f"({card.base})", float(values[0]), None, None, None, None, None)
    ]
    for p, perturbation in enumerate(card.perturbations):
        rows.append(
            (
                perturbation.name,
                float(values[p + 1]),
                float(card.changes[p]),
                Interval(*card.intervals[p].tolist()),
                card.verdicts[p],
                float(card.altered[p]),
                float(card.rewarded[p]),
            )
        )
    return Table(
        ("damage", headline, "change", interval, "score is", "altered", "rewarded"),
        tuple(rows),
        title=f"Stress card of {card.scores.name}, on {card.corpus}",
        name="stress",
        rules=frozenset({0}),
        formats={
            headline: ".4f",
            "change": "+.4f",
            interval: "+.4f",
            "altered": ".0%",
            "rewarded": ".0%",
        },
        caption="altered: share of sentences the damage changes; rewarded: share of "
        f"these that score higher than before\nsignature: {card.scores.signature}",
        signature=card.scores.signature,
    ).without_empty(interval)
