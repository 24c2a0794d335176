"""Kinds of error: what systems find of each, how often they are right, and how hard it is."""

from __future__ import annotations

import math
from collections.abc import Sequence

from errata.evaluation import corpus_facts
from errata.metrics.errant.by_type import TypeScores, scores_by_type
from errata.metrics.errant.tally import FN, TP
from errata.report.charts import Chart, ForestRow, Spread, forest_plot, spread_chart
from errata.report.page.section import Section
from errata.report.story.building import Pieces
from errata.report.story.results import Results
from errata.report.table import Table, signed
from errata.report.tables.kinds import type_table

__all__ = ["difficulty_chart", "kinds_section", "scores_of_kinds", "weakest_kind"]

KINDS_DRAWN = 18  # rows of the chart; the tables have all
FEWEST_EDITS = 20  # of a kind, to advise on it


def scores_of_kinds(results: Results) -> list[TypeScores]:
    """P, R and F of every system by kind of edit, as `errata score --by-type` counts them."""
    corpus, systems = results.references, results.material.systems
    if corpus is None or not systems:
        return []
    metric = results.edits
    metric.prepared(corpus, systems)  # of all systems in one go
    return [scores_by_type(metric, corpus, system) for system in systems]


def kinds_section(results: Results, scored: Sequence[TypeScores]) -> Section | None:
    """Recall, precision and difficulty by kind, with the tables of every system."""
    pieces = Pieces("kinds")
    leader = results.leader()
    tables = _type_tables(results, scored)
    if scored and any(each.kinds for each in scored):
        first = next((each for each in scored if each.system == leader), scored[0])
        pieces.charts([_chart(first, scored)], "Dots: " + first.system + _others(scored))
        for each, table in zip(scored, tables, strict=True):
            if each is first:
                pieces.table(table)
        for each, table in zip(scored, tables, strict=True):
            if each is not first:
                pieces.table(table, folded=True)
    return pieces.section("Kinds of error", _lead(scored, leader)) if pieces else None


def _others(scored: Sequence[TypeScores]) -> str:
    return "; bars: from the worst to the best of all systems." if len(scored) > 1 else "."


def _type_tables(results: Results, scored: Sequence[TypeScores]) -> list[Table]:
    corpus, systems, metric = results.references, results.material.systems, results.edits
    if corpus is None:
        return []
    notes = metric.notes(corpus, systems)
    return [
        type_table(
            each,
            metric.headline,
            notes=notes,
            signature=signed(
                repr(metric),
                *metric.context(corpus, systems),
                *corpus_facts(corpus),
                *((f"kinds:gold retyped by {metric.extractor}",) if each.retyped else ()),
                "tier:3",
            ),
        )
        for each in scored
    ]


def _asked(scores: TypeScores, kind: str) -> int:
    k = scores.kinds.index(kind)
    return int(scores.counts[k, TP] + scores.counts[k, FN])


def _figures(scores: TypeScores, kind: str) -> tuple[float, float]:
    """Recall and precision of a kind; NaN where nothing is asked for, or nothing was done."""
    if kind not in scores.kinds:
        return math.nan, math.nan
    k = scores.kinds.index(kind)
    tp, fp, fn = scores.counts[k]
    recall = float(scores.recall[k]) if tp + fn else math.nan
    return recall, float(scores.precision[k]) if tp + fp else math.nan


def _chart(first: TypeScores, scored: Sequence[TypeScores]) -> Chart:
    frequent = sorted(first.kinds, key=lambda kind: (-_asked(first, kind), kind))
    rows = []
    for kind in [kind for kind in frequent if _asked(first, kind)][:KINDS_DRAWN]:
        panels = []
        for figure in (0, 1):
            values = [_figures(each, kind)[figure] for each in scored]
            known = [value for value in values if not math.isnan(value)]
            ends = (min(known), max(known)) if len(known) > 1 else (math.nan, math.nan)
            panels.append((*ends, _figures(first, kind)[figure]))
        rows.append(Spread(kind or "-", _asked(first, kind), panels))
    about = f"{first.system}, and the range over {len(scored)} systems."
    return spread_chart(
        "kinds-recall-precision",
        "Recall and precision of the most frequent kinds",
        rows,
        ("recall", "precision"),
        about,
    )


def weakest_kind(scored: Sequence[TypeScores], system: str | None) -> tuple[str, int, int] | None:
    """The kind of which a system misses most edits: its name, how many it misses, of how many."""
    of = next((each for each in scored if each.system == system), None)
    if of is None:
        return None
    missed = [
        (float(of.counts[k, FN]), kind)
        for k, kind in enumerate(of.kinds)
        if _asked(of, kind) >= FEWEST_EDITS and of.counts[k, FN] and kind
    ]
    if not missed:
        return None
    most, kind = max(missed)
    return kind, int(most), _asked(of, kind)


def _lead(scored: Sequence[TypeScores], leader: str | None) -> str:
    weak = weakest_kind(scored, leader)
    if weak is None or leader is None:
        return ""
    kind, missed, asked = weak
    return f"{leader} misses most in {kind}: {missed:,} of the {asked:,} that are asked for."


def difficulty_chart(table: Table) -> Chart:
    """The mean difficulty of the most frequent kinds, with intervals where there are some."""
    times = table.columns.index("frequency")
    often = sorted(table.rows, key=lambda row: -_number(row[times]))[:KINDS_DRAWN]
    rows = []
    for row in sorted(often, key=lambda row: -_number(row[1])):
        bounds = row[4] if len(row) > 4 and isinstance(row[4], tuple) else (math.nan, math.nan)
        low, high = (_number(bound) for bound in bounds[:2])
        rows.append(ForestRow(str(row[0]), _number(row[1]), low, high))
    title = "Difficulty of the most frequent kinds"
    return forest_plot(
        "difficulty-kinds", title, rows, "mean weight: 0 all correct it, 1 none does"
    )


def _number(cell: object) -> float:
    return float(cell) if isinstance(cell, int | float) else math.nan
