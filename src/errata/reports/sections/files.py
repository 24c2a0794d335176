"""Findings in files; how the report was made."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import get_args

from errata import __version__
from errata.core.errors import shorten
from errata.core.stats import plural
from errata.io.checks import Finding, Severity, join_similar_findings, sort_by_severity
from errata.io.corpus import CheckReport
from errata.reports.page import Section, SectionBuilder
from errata.reports.results import ReportResults
from errata.tables.cells import Cell
from errata.tables.table import Table


def severity_counts_text(checked: CheckReport) -> str:
    """How many errors, warnings and notes there are, in words."""
    counts = [(severity, checked.count(severity)) for severity in get_args(Severity)]
    return ", ".join(f"{count} {plural(severity, count)}" for severity, count in counts)


def findings_table(checked: CheckReport, shown: Sequence[Finding], *, signature: str = "") -> Table:
    """The findings to be shown, one a row."""
    return Table(
        ("severity", "file", "line", "code", "problem", "remedy"),
        tuple((f.severity, f.path, f.line, f.code, shorten(f.problem), f.remedy) for f in shown),
        title="Findings",
        caption=severity_counts_text(checked),
        name="findings",
        signature=signature,
    )


def files_table(checked: CheckReport, *, signature: str = "") -> Table:
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


LISTED_IN_FULL = 12  # findings shown in full; the table has all of them


def findings_section(results: ReportResults, warnings: Sequence[str]) -> Section | None:
    """Findings of the file check, warnings while reading and counting, and missing results.

    None if no file was checked and there were no warnings.
    """
    checked = results.material.checked
    found = sort_by_severity(join_similar_findings(checked.findings)) if checked is not None else []
    known = {str(finding) for finding in found}
    warned = [text for text in dict.fromkeys(warnings) if text not in known]
    pieces = SectionBuilder("findings")
    serious = [finding for finding in found if finding.severity != "note"]
    if serious or warned or results.missing_notes:
        pieces.template(
            "findings.html.j2",
            findings=[
                {
                    "severity": finding.severity,
                    "place": _finding_place(finding),
                    "problem": shorten(finding.problem),
                    "remedy": shorten(finding.remedy),
                }
                for finding in serious[:LISTED_IN_FULL]
            ],
            warnings=[shorten(text) for text in warned],
            missing=[shorten(text) for text in results.missing_notes],
        )
    if checked is not None:
        if found:
            table = replace(findings_table(checked, found), title="All findings of the file check")
            pieces.table(table, folded=True)
        title = "Files: sentences, tokens, and how many sentences were changed"
        pieces.table(replace(files_table(checked), title=title), folded=True)
    return (
        pieces.section("Before you believe it", _findings_lead(checked, warned)) if pieces else None
    )


def _findings_lead(checked: CheckReport | None, warned: list[str]) -> str:
    if checked is None:
        return ""
    others = f"; {len(warned)} more {plural('warning', len(warned))} on the way" if warned else ""
    if not checked.findings and not warned:
        return (
            "The file check found nothing: lines fit their sources, characters and tokens are in "
            "order."
        )
    return f"The file check found {severity_counts_text(checked)}{others}."


def _finding_place(finding: Finding) -> str:
    line = "" if finding.line is None else f", line {finding.line}"
    return f"{os.path.basename(finding.path) or finding.path}{line}"


LIBRARIES = ("numpy", "scipy", "rapidfuzz", "sacrebleu", "jinja2")


def provenance_section(results: ReportResults) -> Section:
    """Return the command that makes the report again, and what signatures and files it used."""
    given = results.material
    pieces = SectionBuilder("made")
    if given.command:
        pieces.heading("The command that makes it again")
        pieces.template("command.html.j2", command=given.command)
    signatures: list[tuple[Cell, ...]] = [
        (scores.label, scores.signature) for scores in results.scores
    ]
    if results.human_scores is not None:
        signatures.append((results.human_scores.label, results.human_scores.signature))
    if signatures:
        title = "Signatures (settings that reproduce these numbers)"
        head = ("metric", "signature")
        pieces.table(Table(head, tuple(signatures), title=title, name="signatures"), folded=True)
    if given.files:
        title, rows = "Files read, and their fingerprints", tuple(map(tuple, given.files))
        table = Table(("file", "bytes", "SHA-256"), rows, title=title, name="digests")
        pieces.table(table, folded=True)
    pieces.table(_version_table(), folded=True)
    return pieces.section("How it was made")


def _version_table() -> Table:
    rows: list[tuple[Cell, ...]] = [
        ("errata", __version__),
        ("Python", platform.python_version()),
        *((name, known) for name in LIBRARIES if (known := _installed_version(name))),
    ]
    return Table(("what", "version"), tuple(rows), title="Versions", name="versions")


def _installed_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
