"""Metrics against each other, and against people."""

from __future__ import annotations

from errata.meta.paired import Paired
from errata.report.charts import Chart, PlacedSystem, scatter_chart, square_chart
from errata.report.page.section import Section
from errata.report.story.building import Pieces
from errata.report.story.results import Results
from errata.report.tables import correlations as report
from errata.report.tables.matrix import matrix_tables
from errata.report.tables.ratings import rating_table

__all__ = ["agreement_section"]


def agreement_section(results: Results) -> Section | None:
    """Which metric to believe: agreement with people on systems and on sentences, and a square."""
    level, sentences, matrix = results.system_level, results.sentence_level, results.matrix
    pieces = Pieces("metrics")
    if level is not None and results.paired is not None:
        pieces.heading("Over systems")
        pieces.charts(_scatters(results.paired))
        pieces.table(report.system_level_table(level))
        if level.pairs:
            pieces.table(report.metric_pair_table(level), folded=True)
    if sentences is not None:
        pieces.heading("Sentence by sentence")
        pieces.table(report.sentence_level_table(sentences))
        if sentences.contests:
            pieces.table(report.accuracy_pair_table(sentences), folded=True)
    ratings = results.rating_level
    if ratings is not None:
        pieces.heading("Output by output")
        pieces.table(rating_table(ratings))
    if matrix is not None:
        pieces.heading("Against each other")
        values = matrix.values["spearman"].tolist()
        title = "Spearman's ρ of every two metrics"
        pieces.charts([square_chart("metrics-matrix", title, matrix.names, values)])
        for table in matrix_tables(matrix):
            pieces.table(table, folded=True)
    if not pieces:
        return None
    judged = any(each is not None for each in (level, sentences, ratings))
    heading = "Which metric to believe" if judged else "Metrics against each other"
    return pieces.section(heading, _lead(results))


def _scatters(paired: Paired) -> list[Chart]:
    people = paired.people
    return [
        scatter_chart(
            f"metrics-people-{name}",
            f"{name} against people",
            [
                PlacedSystem(system, x, y)
                for system, x, y in zip(
                    paired.systems, scores.values.tolist(), people.values.tolist(), strict=True
                )
            ],
            f"{name} {scores.headline}" if name != scores.headline else name,
            people.label,
        )
        for name, scores in zip(paired.names, paired.metrics, strict=True)
    ]


def _lead(results: Results) -> str:
    level = results.system_level
    if level is None:
        return ""
    best = max(level.agreements, key=lambda each: each.values["spearman"])
    rho, n = best.values["spearman"], len(level.paired)
    said = f"Over {n} systems {best.metric} orders them most as people do (ρ = {rho:.2f})."
    sure = any(
        pair.better == best.metric and any(p <= 1 - level.confidence for p in pair.holm.values())
        for pair in level.pairs
    )
    if len(level.agreements) > 1 and not sure:
        said += " No test tells it from the other metrics: so few systems cannot."
    return said
