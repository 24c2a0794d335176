"""All metrics side by side; trend over stored runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from errata.core.stats import Estimate, plural
from errata.data import Scores
from errata.human.ranking import Ranking
from errata.human.tables import ranking_plot, ranking_table
from errata.io.stored_runs import StoredRun
from errata.plots import Line, Lines
from errata.plots.svg import Chart, svg_chart
from errata.reports.page import Section, SectionBuilder, join_names
from errata.reports.results import ReportResults
from errata.scoring.tables import score_table, summary_table
from errata.tables.cells import score_format
from errata.tables.table import Column, Table, join_signatures

ROWS_DRAWN = 60  # rows of a chart


def forest_chart(scores: Scores, ranking: Ranking | None, confidence: float, *, key: str) -> Chart:
    """A metric's scores with their intervals, best first, clusters apart."""
    (forest,) = ranking_plot(scores, ranking, confidence).shapes
    drawn = replace(forest, rows=forest.rows[:ROWS_DRAWN])
    return svg_chart(f"{key}-{scores.label}", scores.label, drawn)


def leaderboard_section(results: ReportResults) -> Section | None:
    """The leaderboard: an overview, a chart per metric, and the details folded."""
    found = results.scores
    if not found:
        return None
    given = results.material
    several = len(found) > 1 and len({scores.systems for scores in found}) == 1
    pieces = SectionBuilder("leaderboard")
    if several:
        overview = summary_table(found, confidence=given.confidence, notes=True)
        pieces.table(overview, best=overview.columns[1:])
    pieces.charts(
        [
            forest_chart(scores, results.rankings.get(scores.label), given.confidence, key="scores")
            for scores in found
            if len(scores) > 1
        ]
    )
    for scores in found:
        best = () if several else (scores.headline,)
        table = score_table(scores, confidence=given.confidence)
        if several:
            table = replace(table, title=f"{scores.label} in detail")
        pieces.table(table, folded=several, best=best)
    for label, ranking in results.rankings.items():
        pieces.table(_cluster_table(label, ranking), folded=True)
    return pieces.section("Leaderboard", _leaderboard_lead(results))


def _cluster_table(label: str, ranking: Ranking) -> Table:
    """Which systems a metric can tell apart; the table that people's rankings have."""
    table = ranking_table(ranking)
    keep = [table.columns.index(name) for name in ("cluster", "range", "system")]
    keep += [table.columns.index(ranking.scores.headline), table.columns.index("mean rank")]
    return replace(
        table.select_columns(keep),
        title=f"{label}: clusters at the {ranking.confidence * 100:g} % level",
        name=f"{label}_clusters",
        formats={ranking.scores.headline: score_format(ranking.scores, ranking.scores.headline, 2)}
        | {"mean rank": ".2f"},
        caption="",
    )


def _leaderboard_lead(results: ReportResults) -> str:
    found, n = results.scores, len(results.scores[0].systems)
    firsts: dict[str, list[str]] = {}
    for scores in found:
        if len(scores):
            firsts.setdefault(scores.systems[scores.order[0]], []).append(scores.label)
    said = "; ".join(f"{join_names(labels)}: {name} first" for name, labels in firsts.items())
    lead = f"{n} {plural('system', n)}. {said}."
    if results.rankings:
        level = results.material.confidence_text
        lead += f" Whiskers are {level} intervals; dotted lines separate clusters."
    return lead


def trend_section(results: ReportResults) -> Section | None:
    """A line for each system and a chart for each metric over the runs, and all figures."""
    runs = results.material.runs
    if not runs:
        return None
    pieces = SectionBuilder("trend")
    labels = list(dict.fromkeys(figure.label for run in runs for figure in run.figures))
    moments = list(dict.fromkeys(run.when for run in runs))
    systems = list(dict.fromkeys(run.system for run in runs))
    if len(moments) > 1:
        charts = []
        for label in labels:
            lines = []
            for name in systems:
                mine = {run.when: estimate_of_run(run, label) for run in runs if run.system == name}
                lines.append(Line(name, [mine.get(when) for when in moments]))
            title, days = f"{label} over time", [when[:10] for when in moments]
            charts.append(svg_chart(f"trend-{label}", title, Lines(lines, days, title)))
        pieces.charts(charts)
    pieces.table(_run_table(runs, labels))
    corpora = len({tuple(sorted(run.corpus.items())) for run in runs})
    lead = f"{len(runs)} stored {plural('run', len(runs))}."
    if corpora > 1:
        lead += f" They were made on {corpora} different corpora: not all can be compared."
    return pieces.section("Over time", lead)


def estimate_of_run(run: StoredRun, label: str) -> Estimate | None:
    """The figure of a run, NaN where its interval has no bound."""
    figure = next((figure for figure in run.figures if figure.label == label), None)
    if figure is None or figure.value is None:
        return None
    low, high = (math.nan if bound is None else bound for bound in (figure.low, figure.high))
    return Estimate(figure.value, low, high)


def _run_table(runs: Sequence[StoredRun], labels: Sequence[str]) -> Table:
    return Table.of(
        [
            Column("when", [run.when for run in runs]),
            Column("system", [run.system for run in runs]),
            *(Column(label, [estimate_of_run(run, label) for run in runs]) for label in labels),
            Column("sentences", [run.sentences for run in runs]),
            Column("changed sentences", [len(run.changed) for run in runs]),
            Column("remark", [run.remark or None for run in runs], optional=True),
        ],
        title="Stored runs: score ± half the width of its interval",
        name="runs",
        signature=join_signatures(figure.signature for run in runs for figure in run.figures),
    )
