"""Metrics combined, as a table."""

from __future__ import annotations

from errata.meta.ensembles import Ensembles
from errata.report.table import Cell, Table

__all__ = ["ensemble_table"]


def ensemble_table(found: Ensembles) -> Table:
    """Metrics alone, then combined: r and ρ as fitted, and with every system left out."""
    names = found.paired.names
    columns = ("what", "r", "ρ", "r held out", "ρ held out", *(f"weight {name}" for name in names))
    rows: list[tuple[Cell, ...]] = [
        (name, r, rho, r, rho, *(None for _ in names))
        for name, (r, rho) in zip(names, found.alone, strict=True)
    ]
    for each in found.combined:
        weights: tuple[float | None, ...] = each.weights or (None,) * len(names)
        rows.append((each.how, each.r, each.rho, each.held_r, each.held_rho, *weights))
    spread = [
        f"{name} {low:.2f} to {high:.2f}"
        for each in found.combined
        if each.how == "fitted weights" and each.spread is not None
        for name, (low, high) in zip(names, each.spread, strict=True)
    ]
    return Table(
        columns,
        tuple(rows),
        title="Metrics combined",
        name="ensemble",
        caption="\n".join(
            [
                "held out: every system scored by what was learned from the others; what learns "
                "nothing has the same figures twice",
                f"fitted weights with a system left out: {', '.join(spread)}",
                *(f"note: {note}" for note in found.notes),
            ]
        ),
        signature=found.signature,
        formats=dict.fromkeys(columns[1:5], ".3f") | dict.fromkeys(columns[5:], ".2f"),
        rules=frozenset({len(names) - 1}),
    )
