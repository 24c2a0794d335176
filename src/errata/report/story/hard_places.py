"""Which errors are hard: the kinds, the hardest and easiest errors, and who corrects them alone."""

from __future__ import annotations

from errata.report.page.section import Section
from errata.report.story.building import Pieces
from errata.report.story.error_kinds import difficulty_chart
from errata.report.story.results import Results
from errata.report.tables.difficulty import difficulty_tables

__all__ = ["difficulty_section"]


def difficulty_section(results: Results) -> Section | None:
    """What `errata difficulty` prints, its kinds drawn too, and the way to the map.

    The map is that of the explorer, which marks the same errors sentence by sentence; what systems
    raise false alarms at is on the page of ``errata difficulty --figure map.html``.
    """
    found = results.difficulty
    if found is None:
        return None
    given = results.material
    hard, corpus, remark = found
    tables = difficulty_tables(
        hard,
        corpus,
        given.systems,
        remark=remark,
        resamples=given.resamples,
        confidence=given.confidence,
        rng=given.seed,
    )
    pieces = Pieces("difficulty")
    pieces.html(
        '<p><a href="#sentences?difficulty=true">The difficulty map</a>: every sentence, its '
        "errors shaded from those that all systems correct to those that none does.</p>"
    )
    kinds = next(table for table in tables if table.name == "kinds")
    if kinds.rows:
        pieces.charts([difficulty_chart(kinds)])
    for table in tables:
        pieces.table(table, folded=table.name not in ("kinds", "hardest"))
    n = len(given.systems)
    lead = f"An error is hard if few of the {n} systems correct it."
    return pieces.section("Which errors are hard", lead)
