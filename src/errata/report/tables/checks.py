"""What the check of files found, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from errata.errors import shortened
from errata.io.checks.findings import Finding, Severity
from errata.io.linter import Checked
from errata.numbers import plural
from errata.report.table import Table

__all__ = ["files_table", "findings_table", "severities"]


def severities(checked: Checked) -> str:
    """How many errors, warnings and notes there are, in words."""
    counts = [(severity, checked.count(severity)) for severity in get_args(Severity)]
    return ", ".join(f"{count} {plural(severity, count)}" for severity, count in counts)


def findings_table(checked: Checked, shown: Sequence[Finding], *, signature: str = "") -> Table:
    """The findings to be shown, one a row."""
    return Table(
        ("severity", "file", "line", "code", "problem", "remedy"),
        tuple((f.severity, f.path, f.line, f.code, shortened(f.problem), f.remedy) for f in shown),
        title="Findings",
        caption=severities(checked),
        name="findings",
        signature=signature,
    )


def files_table(checked: Checked, *, signature: str = "") -> Table:
    """What each file holds."""
    return Table(
        ("file", "role", "sentences", "tokens", "annotators", "edits", "changed"),
        tuple(
            (s.path, s.role, s.sentences, s.tokens, s.annotators, s.edits, s.changed)
            for s in checked.statistics
        ),
        title="Files",
        name="files",
        signature=signature,
        formats={"changed": ".1%"},
    )
