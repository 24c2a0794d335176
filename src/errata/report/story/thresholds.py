"""Pass or fail, with the thresholds."""

from __future__ import annotations

from errata.report.page.section import Section
from errata.report.story.building import Pieces
from errata.report.story.results import Results

__all__ = ["gate_section"]


def gate_section(results: Results) -> Section | None:
    """What a gate says: one word, and one row per threshold."""
    gate = results.material.gate
    if gate is None:
        return None
    pieces = Pieces("gate")
    word, kind = ("✓ Pass", "pass") if gate.passed else ("✗ Fail", "fail")
    pieces.say(word, f"verdict {kind}")
    pieces.table(gate.table)
    return pieces.section("Pass or fail")
