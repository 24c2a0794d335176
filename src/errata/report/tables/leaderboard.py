"""A leaderboard as tables: the ranking, what was found in submissions, and what was scored when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from errata.io.checks.findings import summarise
from errata.io.runs import StoredRun
from errata.numbers import plural
from errata.report.cells import Ranks
from errata.report.table import Cell, Table, joined_signatures, signed
from errata.report.tables.formats import unit
from errata.report.tables.scores import summary_table, told_apart
from errata.studies.leaderboard import BoardStanding, CheckedSubmission, RankedSet

__all__ = ["board_table", "finding_table", "history_table", "submission_table"]


def board_table(ranked: RankedSet, *, groups: bool) -> Table:
    """Systems in the order of the first metric, a line where its clusters end, every metric."""
    first, results = ranked.rankings[0], ranked.results
    summary = summary_table(results, confidence=first.confidence, notes=True)
    figures = {row[0]: row[1:] for row in summary.rows}
    rows: list[tuple[Cell, ...]] = []
    for position, system in enumerate(first.systems):
        card = ranked.submissions[system].card
        rows.append(
            (
                int(first.cluster[position]),
                Ranks(int(first.low[position]), int(first.high[position])),
                system,
                *figures[system],
                *((card.group,) if groups else ()),
                card.date,
            )
        )
    ends = [k for k in range(len(rows) - 1) if first.cluster[k] != first.cluster[k + 1]]
    by = told_apart(results)[0].label
    group = ("group",) if groups else ()
    return replace(
        summary,
        columns=("cluster", "range", "system", *summary.columns[1:], *group, "date"),
        rows=tuple(rows),
        title=f"{ranked.name}: {len(rows)} {plural('system', len(rows))}, clusters by {by}"
        + unit(results),
        name=f"board_{ranked.name}",
        rules=frozenset(ends),
    )


def submission_table(standing: BoardStanding) -> Table:
    """Every submission: whether it was scored, in this run or before, and what was found in it."""
    new = standing.new
    rows: list[tuple[Cell, ...]] = []
    for each in standing.checked:
        card = None if each.submission is None else each.submission.card
        counts = [
            sum(finding.severity == severity for finding in each.findings)
            for severity in ("error", "warning")
        ]
        system = None if card is None else card.system
        state = "refused" if not each.fits else "scored now" if system in new else "as before"
        rows.append((each.name, system, state, *counts))
    return Table(
        ("submission", "system", "state", "errors", "warnings"),
        tuple(rows),
        title="Submissions",
        name="submissions",
        signature=signed("board", f"submissions:{len(rows)}"),
    )


def finding_table(checked: Sequence[CheckedSubmission]) -> Table:
    """What the guard found, the fourth and later of a kind counted."""
    return Table(
        ("submission", "severity", "file", "line", "problem", "remedy"),
        tuple(
            (
                each.name,
                finding.severity,
                finding.path.replace("\\", "/").rpartition("/")[2],
                finding.line,
                finding.problem,
                finding.remedy,
            )
            for each in checked
            for finding in summarise(each.findings)
        ),
        title="Findings",
        name="findings",
        signature=signed("board", "check"),
        widths={"problem": 40, "remedy": 30},
    )


def history_table(runs: Sequence[StoredRun]) -> Table:
    """Every run, the newest first: what each metric said of the output of that day."""
    labels = list(dict.fromkeys(figure.label for run in runs for figure in run.figures))
    rows: list[tuple[Cell, ...]] = []
    for run in reversed(runs):
        by_label = {figure.label: figure.value for figure in run.figures}
        rows.append((run.when[:10], run.system, *(by_label.get(label) for label in labels)))
    return Table(
        ("scored on", "system", *labels),
        tuple(rows),
        title="Every run",
        name="history",
        signature=joined_signatures(f.signature for run in runs for f in run.figures),
    )
