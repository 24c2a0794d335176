"""Kinds of error, difficulty, references."""

from __future__ import annotations

import math
from collections.abc import Sequence

from errata.core.stats import Estimate, Interval
from errata.difficulty.study import difficulty_tables
from errata.metrics.base import describe_data
from errata.metrics.errant import FN, TP
from errata.metrics.errant_by_type import TypeScores, scores_by_type
from errata.plots import Forest, ForestRow
from errata.plots.svg import Chart, svg_chart
from errata.references.study import annotators_of, study_references
from errata.references.tables import study_tables
from errata.reports.page import Section, SectionBuilder
from errata.reports.results import ReportResults
from errata.scoring.results import corpus_facts
from errata.scoring.tables import type_table
from errata.tables.table import Table, make_signature

KINDS_DRAWN = 18  # rows of the chart; the tables have all
FEWEST_EDITS = 20  # of a kind, to advise on it


def scores_of_kinds(results: ReportResults) -> list[TypeScores]:
    """P, R and F of every system by kind of edit, as `errata score --by-type` counts them."""
    corpus, systems = results.reference_corpus, results.material.systems
    if corpus is None or not systems:
        return []
    metric = results.edit_metric
    metric.prepared(corpus, systems)  # of all systems in one go
    return [scores_by_type(metric, corpus, system) for system in systems]


def kinds_section(results: ReportResults, scored: Sequence[TypeScores]) -> Section | None:
    """Recall, precision and difficulty by kind, with the tables of every system."""
    pieces = SectionBuilder("kinds")
    leader = results.leader()
    tables = _type_tables(results, scored)
    if scored and any(each.kinds for each in scored):
        first = next((each for each in scored if each.system == leader), scored[0])
        others = "; bars: from the worst to the best of all systems." if len(scored) > 1 else "."
        pieces.charts([_kinds_chart(first, scored)], f"Dots: {first.system}{others}")
        for each, table in zip(scored, tables, strict=True):
            if each is first:
                pieces.table(table)
        for each, table in zip(scored, tables, strict=True):
            if each is not first:
                pieces.table(table, folded=True)
    return pieces.section("Kinds of error", _kinds_lead(scored, leader)) if pieces else None


def _type_tables(results: ReportResults, scored: Sequence[TypeScores]) -> list[Table]:
    corpus, systems = results.reference_corpus, results.material.systems
    metric = results.edit_metric
    if corpus is None:
        return []
    described, tables = describe_data(metric, corpus, systems), []
    facts = (repr(metric), *described.context, *corpus_facts(corpus))
    for each in scored:
        retyped = (f"kinds:gold retyped by {metric.extractor}",) if each.retyped else ()
        signature = make_signature(*facts, *retyped, "tier:3")
        notes = described.notes
        tables.append(type_table(each, metric.headline, notes=notes, signature=signature))
    return tables


def _gold_count(scores: TypeScores, kind: str) -> int:
    k = scores.kinds.index(kind)
    return int(scores.counts[k, TP] + scores.counts[k, FN])


def _recall_and_precision(scores: TypeScores, kind: str) -> tuple[float, float]:
    """Recall and precision of a kind; NaN where nothing is asked for, or nothing was done."""
    if kind not in scores.kinds:
        return math.nan, math.nan
    k = scores.kinds.index(kind)
    tp, fp, fn = scores.counts[k]
    recall = float(scores.recall[k]) if tp + fn else math.nan
    return recall, float(scores.precision[k]) if tp + fp else math.nan


def _kinds_chart(first: TypeScores, scored: Sequence[TypeScores]) -> Chart:
    frequent = sorted(first.kinds, key=lambda kind: (-_gold_count(first, kind), kind))
    kinds = [kind for kind in frequent if _gold_count(first, kind)][:KINDS_DRAWN]
    forests = []
    for k, title in enumerate(("recall", "precision")):
        rows = []
        for kind in kinds:
            known = [
                v
                for v in (_recall_and_precision(each, kind)[k] for each in scored)
                if not math.isnan(v)
            ]
            ends = (min(known), max(known)) if len(known) > 1 else (math.nan, math.nan)
            estimate = Estimate(_recall_and_precision(first, kind)[k], *ends)
            rows.append(ForestRow(kind or "-", estimate, note=str(_gold_count(first, kind))))
        limits = Interval(0, 1)
        forests.append(Forest(rows, title=title, notes="times", limits=limits, spec=".2f"))
    about = f"{first.system}, and the range over {len(scored)} systems."
    title = "Recall and precision of the most frequent kinds"
    return svg_chart("kinds-recall-precision", title, *forests, about=about)


def weakest_kind(scored: Sequence[TypeScores], system: str | None) -> tuple[str, int, int] | None:
    """The kind with the most missed edits: its name, how many are missed, of how many."""
    of = next((each for each in scored if each.system == system), None)
    if of is None:
        return None
    missed = [
        (float(of.counts[k, FN]), kind)
        for k, kind in enumerate(of.kinds)
        if _gold_count(of, kind) >= FEWEST_EDITS and of.counts[k, FN] and kind
    ]
    if not missed:
        return None
    most, kind = max(missed)
    return kind, int(most), _gold_count(of, kind)


def _kinds_lead(scored: Sequence[TypeScores], leader: str | None) -> str:
    weak = weakest_kind(scored, leader)
    if weak is None or leader is None:
        return ""
    kind, missed, asked = weak
    return f"{leader} misses most in {kind}: {missed:,} of the {asked:,} that are asked for."


def difficulty_chart(table: Table) -> Chart:
    """The mean difficulty of the most frequent kinds, with intervals where there are some."""
    times = table.columns.index("frequency")
    often = sorted(table.rows, key=lambda row: -_number_or_nan(row[times]))[:KINDS_DRAWN]
    rows = []
    for row in sorted(often, key=lambda row: -_number_or_nan(row[1])):
        bounds = row[4] if len(row) > 4 and isinstance(row[4], tuple) else (math.nan, math.nan)
        low, high = (_number_or_nan(bound) for bound in bounds[:2])
        rows.append(ForestRow(str(row[0]), Estimate(_number_or_nan(row[1]), low, high)))
    forest = Forest(rows, "mean weight: 0 all correct it, 1 none does")
    return svg_chart("difficulty-kinds", "Difficulty of the most frequent kinds", forest)


def _number_or_nan(cell: object) -> float:
    return float(cell) if isinstance(cell, int | float) else math.nan


def difficulty_section(results: ReportResults) -> Section | None:
    """What `errata difficulty` prints, its kinds drawn too, and the way to the map.

    The map is that of the explorer, which marks the same errors sentence by sentence; what systems
    raise false alarms at is on the page of ``errata difficulty --figure map.html``.
    """
    found = results.difficulty
    if found is None:
        return None
    given = results.material
    hard, corpus, remark = found
    tables = difficulty_tables(hard, corpus, given.systems, remark=remark, **given.interval_options)
    pieces = SectionBuilder("difficulty")
    pieces.template("difficulty_link.html.j2")
    kinds = next(table for table in tables if table.name == "kinds")
    if kinds.rows:
        pieces.charts([difficulty_chart(kinds)])
    for table in tables:
        pieces.table(table, folded=table.name not in ("kinds", "hardest"))
    n = len(given.systems)
    lead = f"An error is hard if few of the {n} systems correct it."
    return pieces.section("Which errors are hard", lead)


MOST_PAIRS = 30_000  # of sentences to compare; more take longer than all the rest


def references_section(results: ReportResults) -> Section | None:
    """What `errata references` says of the annotators, where there are several."""
    corpus = results.reference_corpus
    if corpus is None:
        return None
    several = annotators_of(corpus)
    n = len(several)
    if n < 2:
        return None
    if n * (n - 1) // 2 * len(corpus) > MOST_PAIRS:
        results.missing_notes.append(
            f"reference sets: {n} annotators of {len(corpus):,} sentences take too long here; see "
            "errata references"
        )
        return None
    found = study_references(corpus, lowercase=True, worst=5)
    signature = make_signature("ster(lowercase=True)", *corpus_facts(corpus))
    pieces = SectionBuilder("references")
    for k, table in enumerate(study_tables(found, signature=signature)):
        pieces.table(table, folded=k > 1)
    lead = f"{n} annotators corrected these sentences, and no two of them alike."
    if found.pairs:
        identical = sum(p.identical * p.sentences for p in found.pairs)
        same = identical / sum(p.sentences for p in found.pairs)
        lead = f"{n} annotators corrected these sentences; two of them agree on {same:.0%}."
    return pieces.section("References", lead)
