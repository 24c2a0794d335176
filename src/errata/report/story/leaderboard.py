"""All metrics and people side by side, and each metric with its intervals and clusters."""

from __future__ import annotations

from dataclasses import replace

from errata.data import Scores
from errata.human.clusters import Ranking
from errata.numbers import plural
from errata.report.charts import Chart, ForestRow, forest_plot
from errata.report.page.section import Section
from errata.report.story.building import Pieces, one_of
from errata.report.story.results import Results
from errata.report.table import Table
from errata.report.tables.formats import score_format
from errata.report.tables.rankings import ranking_table
from errata.report.tables.scores import score_table, summary_table

__all__ = ["forest_of", "leaderboard_section"]

ROWS_DRAWN = 60  # rows of a chart


def forest_of(scores: Scores, ranking: Ranking | None, confidence: float, *, key: str) -> Chart:
    """A metric's scores with their intervals, best first, clusters apart."""
    spec = score_format(scores, scores.headline)
    percent = spec.endswith("p")  # drawn as the tables show it
    by = 100 if percent else 1
    low, high = (by * scores.interval(confidence).T).tolist()
    values = (by * scores.values).tolist()
    order = ranking.order if ranking is not None else scores.order
    groups = ranking.cluster.tolist() if ranking is not None else [0] * len(order)
    rows = [
        ForestRow(scores.systems[s], values[s], low[s], high[s], group)
        for s, group in zip(order, groups, strict=True)
    ][:ROWS_DRAWN]
    axis = f"{scores.headline}, percent" if percent else scores.headline
    spec = spec.replace("p", "f")
    return forest_plot(f"{key}-{scores.label}", scores.label, rows, axis, spec=spec)


def leaderboard_section(results: Results) -> Section | None:
    """The leaderboard: an overview, a chart per metric, and the details folded."""
    found = results.scores
    if not found:
        return None
    given = results.material
    several = len(found) > 1 and len({scores.systems for scores in found}) == 1
    pieces = Pieces("leaderboard")
    if several:
        overview = summary_table(found, confidence=given.confidence, notes=True)
        pieces.table(overview, best=overview.columns[1:])
    pieces.charts(
        [
            forest_of(scores, results.rankings.get(scores.label), given.confidence, key="scores")
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
        pieces.table(_clusters(label, ranking), folded=True)
    return pieces.section("Leaderboard", _lead(results))


def _clusters(label: str, ranking: Ranking) -> Table:
    """Which systems a metric can tell apart; the table that people's rankings have."""
    table = ranking_table(ranking)
    keep = [table.columns.index(name) for name in ("cluster", "range", "system")]
    keep += [table.columns.index(ranking.scores.headline), table.columns.index("mean rank")]
    return replace(
        table,
        columns=tuple(table.columns[c] for c in keep),
        rows=tuple(tuple(row[c] for c in keep) for row in table.rows),
        title=f"{label}: clusters at the {ranking.confidence * 100:g} % level",
        name=f"{label}_clusters",
        formats={ranking.scores.headline: score_format(ranking.scores, ranking.scores.headline, 2)}
        | {"mean rank": ".2f"},
        caption="",
    )


def _lead(results: Results) -> str:
    found, n = results.scores, len(results.scores[0].systems)
    firsts: dict[str, list[str]] = {}
    for scores in found:
        if len(scores):
            firsts.setdefault(scores.systems[scores.order[0]], []).append(scores.label)
    said = "; ".join(f"{one_of(labels)}: {name} first" for name, labels in firsts.items())
    drawn = (
        f" Whiskers are {results.material.level} intervals; dotted lines part clusters."
        if results.rankings
        else ""
    )
    return f"{n} {plural('system', n)}. {said}.{drawn}"
