"""What was found in the files before anything was counted, and how healthy the texts are."""

from __future__ import annotations

import os
from dataclasses import replace

from errata.errors import shortened
from errata.io.checks.findings import Finding, summarise, worst_first
from errata.io.linter import Checked
from errata.numbers import plural
from errata.report.page.section import Section
from errata.report.story.building import Pieces, told
from errata.report.story.results import Results
from errata.report.tables.checks import files_table, findings_table, severities

__all__ = ["findings_section"]

FULLY_TOLD = 12  # findings that are told in full; the table has all of them


def findings_section(results: Results) -> Section | None:
    """Findings of the file check, warnings while reading and counting, and what is missing.

    Nothing where no file was checked and nothing was warned of.
    """
    given = results.material
    checked = given.checked
    found = worst_first(summarise(checked.findings)) if checked is not None else []
    known = {str(finding) for finding in found}
    warned = [text for text in dict.fromkeys(given.warnings) if text not in known]
    pieces = Pieces("findings")
    serious = [finding for finding in found if finding.severity != "note"]
    pieces.html(_listed(serious[:FULLY_TOLD], warned, results.missing))
    if checked is not None:
        if found:
            table = replace(findings_table(checked, found), title="All findings of the file check")
            pieces.table(table, folded=True)
        title = "Files: sentences, tokens, and how many sentences were changed"
        pieces.table(replace(files_table(checked), title=title), folded=True)
    return pieces.section("Before you believe it", _lead(checked, warned)) if pieces else None


def _lead(checked: Checked | None, warned: list[str]) -> str:
    if checked is None:
        return ""
    others = f"; {len(warned)} more {plural('warning', len(warned))} on the way" if warned else ""
    if not checked.findings and not warned:
        return (
            "The file check found nothing: lines fit their sources, characters and tokens are in "
            "order."
        )
    return f"The file check found {severities(checked)}{others}."


def _listed(found: list[Finding], warned: list[str], missing: list[str]) -> str:
    rows = []
    for finding in found:
        line = "" if finding.line is None else f", line {finding.line}"
        rows.append(
            f'<li class="{finding.severity}"><b>{finding.severity}</b> '
            f"{told(os.path.basename(finding.path) or finding.path)}{line}: "
            f"{told(shortened(finding.problem))}"
            f'<span class="remedy">{told(shortened(finding.remedy))}</span></li>'
        )
    rows += [f'<li class="warning"><b>warning</b> {told(shortened(text))}</li>' for text in warned]
    rows += [f'<li class="note"><b>left out</b> {told(shortened(text))}</li>' for text in missing]
    return f'<ul class="findings">{"".join(rows)}</ul>' if rows else ""
