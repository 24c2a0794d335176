"""Pass or fail, with the thresholds."""

from __future__ import annotations

from collections.abc import Sequence

from errata.errors import InputError
from errata.report.page.section import Section
from errata.report.story.building import Pieces
from errata.report.story.changes import comparisons_of_base
from errata.report.story.results import Results
from errata.report.story.story_material import GateVerdict
from errata.report.tables.gate import gate_table
from errata.studies.comparison import Comparison
from errata.studies.gate_run import hold_conditions

__all__ = ["gate_section", "held_gate"]


def held_gate(results: Results, compared: Sequence[Comparison]) -> GateVerdict | None:
    """The conditions held against every system, as `errata compare --fail-if` holds them."""
    given = results.material
    if not given.fail_if or given.corpus is None:
        return given.gate
    if not compared:
        raise InputError(
            "there is nothing to hold conditions against", remedy="say which system is --old"
        )
    verdicts = hold_conditions(
        given.fail_if,
        given.corpus,
        given.slices,
        lambda out: comparisons_of_base(results, out) if out else compared,
        bound=given.bound,
    )
    table = gate_table(verdicts, signature=compared[0].edits)
    return GateVerdict(not any(each.failed for each in verdicts), table)


def gate_section(gate: GateVerdict | None) -> Section | None:
    """What a gate says: one word, and one row per threshold."""
    if gate is None:
        return None
    pieces = Pieces("gate")
    word, kind = ("✓ Pass", "pass") if gate.passed else ("✗ Fail", "fail")
    pieces.say(word, f"verdict {kind}")
    pieces.table(gate.table)
    return pieces.section("Pass or fail")
