"""The verdicts of a gate, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from errata.report.table import Cell, Table
from errata.studies.gate import HeldCondition

__all__ = ["gate_table"]

MEANT = {
    "confident": "a condition fails where it holds of the whole interval",
    "point": "a condition fails where it holds of the value",
    "cautious": "a condition fails where it holds of any part of the interval",
}


def gate_table(verdicts: Sequence[HeldCondition], *, signature: str = "") -> Table:
    """A row per condition and system: the figure, its interval, and whether the build fails."""
    rows: list[tuple[Cell, ...]] = [
        (
            "FAILED" if each.failed else "passed",
            each.condition.text,
            each.system,
            each.value,
            each.interval,
        )
        for each in verdicts
    ]
    failed = sum(each.failed for each in verdicts)
    said = f"{failed} of {len(verdicts)} failed" if failed else f"all {len(verdicts)} passed"
    level = "interval"
    return Table(
        ("verdict", "fails if", "system", "value", level),
        tuple(rows),
        title=f"Gate: {said}",
        name="gate",
        caption=MEANT[verdicts[0].bound] if verdicts else "",
        signature=signature,
        formats={"value": ".4g", level: ".4g"},
    ).without_empty(level)
