"""The trend over stored runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from errata.io.runs import RunFigure, StoredRun
from errata.numbers import Estimate, plural
from errata.report.charts import Track, trend_chart
from errata.report.page.section import Section
from errata.report.story.building import Pieces
from errata.report.story.results import Results
from errata.report.table import Cell, Table, joined_signatures

__all__ = ["trend_section"]


def trend_section(results: Results) -> Section | None:
    """A line for each system and a chart for each metric over the runs, and all figures."""
    runs = results.material.runs
    if not runs:
        return None
    pieces = Pieces("trend")
    labels = list(dict.fromkeys(figure.label for run in runs for figure in run.figures))
    moments = list(dict.fromkeys(run.when for run in runs))
    systems = list(dict.fromkeys(run.system for run in runs))
    if len(moments) > 1:
        charts = []
        for label in labels:
            tracks = [_track(runs, name, moments, label) for name in systems]
            days = [when[:10] for when in moments]
            charts.append(trend_chart(f"trend-{label}", f"{label} over time", days, tracks))
        pieces.charts(charts)
    pieces.table(_table(runs, labels))
    corpora = len({tuple(sorted(run.corpus.items())) for run in runs})
    lead = f"{len(runs)} stored {plural('run', len(runs))}."
    if corpora > 1:
        lead += f" They were made on {corpora} different corpora: not all can be compared."
    return pieces.section("Over time", lead)


def _of(run: StoredRun, label: str) -> RunFigure | None:
    return next((figure for figure in run.figures if figure.label == label), None)


def _estimate(figure: RunFigure | None) -> Estimate | None:
    if figure is None or figure.value is None:
        return None
    low, high = (math.nan if bound is None else bound for bound in (figure.low, figure.high))
    return Estimate(figure.value, low, high)


def _track(runs: Sequence[StoredRun], system: str, moments: Sequence[str], label: str) -> Track:
    mine = {run.when: _estimate(_of(run, label)) for run in runs if run.system == system}
    return Track(system, [mine.get(when) for when in moments])


def _table(runs: Sequence[StoredRun], labels: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            run.when,
            run.system,
            *(_estimate(_of(run, label)) for label in labels),
            run.sentences,
            len(run.changed),
            run.remark or None,
        )
        for run in runs
    ]
    return Table(
        ("when", "system", *labels, "sentences", "changed sentences", "remark"),
        tuple(rows),
        title="Stored runs: score ± half the width of its interval",
        name="runs",
        signature=joined_signatures(figure.signature for run in runs for figure in run.figures),
    ).without_empty("remark")
