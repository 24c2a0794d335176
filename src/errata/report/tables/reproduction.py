"""Reproductions as tables: every cell, the findings, and how many cells came out how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from errata.report.table import Cell, Table, joined_signatures, signed
from errata.reproduce import ClaimResult, Reproduction, TableResult
from errata.reproduce.paper import Experiment
from errata.reproduce.verdict import VERDICTS

__all__ = [
    "cell_table",
    "experiment_table",
    "finding_tables",
    "reproduction_tables",
    "verdict_table",
]


def experiment_table(experiments: Iterable[Experiment]) -> Table:
    """What can be reproduced: papers, their tables and how many cells these have."""
    rows = tuple(
        (
            e.name,
            e.citation.partition(". ")[0],
            _year(e),
            ", ".join(t.name for t in e.tables),
            e.cells,
            len(e.findings),
        )
        for e in experiments
    )
    return Table(
        ("experiment", "authors", "year", "tables", "cells", "findings"),
        rows,
        title="Published tables that can be recomputed",
        name="experiments",
        caption="errata reproduce NAME recomputes one of them, errata reproduce all "
        "all; cells count every way of recomputing",
    )


def _year(experiment: Experiment) -> Cell:
    year = experiment.citation.split(". ")[1]
    return int(year) if year.isdecimal() else year


def _measured(measure: str, arguments: Mapping[str, object]) -> str:
    return signed(f"{measure}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})")


def cell_table(result: TableResult, name: str) -> Table:
    """One published table: a row per cell and way."""
    table = result.table
    several = len(table.ways) > 1
    depends = any(way.software for way in table.ways)
    rows = []
    for cell in result.cells:
        rows.append(
            (
                *cell.key,
                *((cell.way,) if several else ()),
                cell.published,
                cell.recomputed,
                cell.difference,
                cell.verdict.name,
                *((cell.software or None,) if depends else ()),
            )
        )
    reasons = dict.fromkeys(
        f"{cell.verdict.name}: {cell.verdict.reason}"
        for cell in result.cells
        if cell.verdict.reason
    )
    size = len(table.cells)
    return Table(
        (
            *table.by,
            *(("from",) if several else ()),
            "published",
            "recomputed",
            "difference",
            "verdict",
            *(("software",) if depends else ()),
        ),
        tuple(rows),
        title=f"{name}, {table.origin}: {table.title}",
        name=f"{name}_{table.name}",
        caption="\n".join((*(() if several else (f"from {table.ways[0].origin}",)), *reasons)),
        formats={"recomputed": ".6g", "difference": "+.3g"},
        signature=joined_signatures(_measured(table.measure, way.arguments) for way in table.ways),
        rules=frozenset(range(size - 1, len(rows) - 1, size)),
    )


def finding_tables(results: Sequence[ClaimResult], name: str) -> list[Table]:
    """One table per finding: what is printed, what comes out."""
    tables = []
    for result in results:
        rows = tuple(
            (
                one.evidence.what,
                one.evidence.printed or None,
                one.recomputed,
                "not run"
                if one.confirmed is None
                else "confirmed"
                if one.confirmed
                else "NOT CONFIRMED",
            )
            for one in result.evidence
        )
        tables.append(
            Table(
                ("evidence", "printed", "recomputed", "verdict"),
                rows,
                title=f"Finding, {name}: {result.finding.title}",
                name=f"{name}_finding_{result.finding.name}",
                caption=result.finding.text,
                formats={"recomputed": ".6g"},
                signature=joined_signatures(
                    _measured(one.evidence.measure, one.evidence.arguments)
                    for one in result.evidence
                ),
            )
        )
    return tables


def verdict_table(results: Sequence[Reproduction]) -> Table:
    """How many cells of each table came out how, each way by itself."""
    rows: list[tuple[Cell, ...]] = []
    rules = []
    for result in results:
        for table in result.tables:
            for way in table.table.ways:
                counts = [table.count(verdict, way.origin) for verdict in VERDICTS]
                rows.append(
                    (result.experiment.name, table.table.name, way.origin, sum(counts), *counts)
                )
        rules.append(len(rows) - 1)
    groups = dict.fromkeys(result.experiment.group for result in results)
    several = len(groups) > 1
    for group in [*(groups if several else ()), None]:
        mine = {r.experiment.name for r in results if group in (None, r.experiment.group)}
        total = [
            sum(n for row in rows if row[0] in mine and isinstance(n := row[c], int))
            for c in range(3, 4 + len(VERDICTS))
        ]
        rows.append(("all" if group is None else group or "others", None, None, *total))
    findings = [one for result in results for f in result.findings for one in f.evidence]
    confirmed = sum(one.confirmed is True for one in findings)
    return Table(
        ("experiment", "table", "from", "cells", *VERDICTS),
        tuple(rows),
        title="Verdicts",
        name="summary",
        rules=frozenset(rules),
        signature=signed(*(result.experiment.name for result in results)),
        caption="\n".join(
            (
                *(_distinct(results, group) for group in groups),
                f"findings: {confirmed} of {len(findings)} pieces of evidence confirmed",
            )
        ),
    )


def _distinct(results: Sequence[Reproduction], group: str) -> str:
    counts = [result.distinct() for result in results if result.experiment.group == group]
    printed, exact = (sum(column) for column in zip(*counts, strict=True))
    return (
        f"{group or 'figures'}: {printed} printed, each counted once; {exact} exact from raw data"
    )


def reproduction_tables(results: Sequence[Reproduction], *, summary: bool = False) -> list[Table]:
    """All cells and findings of some experiments, then the verdicts; or these alone."""
    tables: list[Table] = []
    for result in results:
        name = result.experiment.name
        if not summary:
            tables += [cell_table(table, name) for table in result.tables]
        tables += finding_tables(result.findings, name)
    return [*tables, verdict_table(results)]
