"""The benchmark of metrics as tables: a row for each metric, a column for each set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from errata.numbers import Estimate, settled
from errata.report.cells import Graded
from errata.report.table import Cell, Table, joined_signatures
from errata.studies.benchmark import FIGURES, BenchmarkFigure, SetStandings

__all__ = ["benchmark_tables", "told_table"]

TITLES: dict[BenchmarkFigure, str] = {
    "pearson": "Scores of systems, Pearson's r with people",
    "spearman": "Scores of systems, Spearman's ρ with people",
    "kendall": "Two outputs of one sentence, Kendall's τ-b with people",
    "accuracy": "Two outputs of one sentence, accuracy with ties (calibrated on other sentences)",
}
TESTS: dict[BenchmarkFigure, str] = {
    "pearson": "Williams' test",
    "spearman": "systems swapped",
    "kendall": "paired bootstrap of sentences",
    "accuracy": "sentences swapped",
}
PEOPLE, CHANCE, LENGTH = "one judge", "chance", "length"
WIDTH = 13  # places of a column, so that the interval stands below the value


def benchmark_tables(
    found: Sequence[SetStandings], *, confidence: float, not_run: Mapping[str, str]
) -> list[Table]:
    """What the sets are, and a table for each figure; ``not_run`` names metrics with the reason."""
    notes = [f"not run: {name}: {why}" for name, why in not_run.items()]
    return [_sets(found, notes), *(_figure(found, figure, confidence) for figure in FIGURES)]


def _sets(found: Sequence[SetStandings], notes: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (s.name, s.systems, s.sentences, s.references, s.people, s.judges or None, s.pairs)
        + (100 * s.ties,)
        for s in found
    ]
    said = {note: [s.name for s in found if note in s.notes] for s in found for note in s.notes}
    lines = [
        f"note: {note}" if len(names) == len(found) else f"note: {', '.join(names)}: {note}"
        for note, names in said.items()
    ]
    return Table(
        ("set", "systems", "sentences", "references", "people", "judges", "pairs", "ties %"),
        tuple(rows),
        title="Where people judged systems",
        name="benchmark_sets",
        caption="\n".join(
            [
                "pairs: comparisons of two outputs of one sentence that differ; ties: of these",
                *lines,
                *(f"note: {note}" for note in notes),
            ]
        ),
        signature=joined_signatures(s.signature for s in found),
        formats={"pairs": ".0f", "ties %": ".1f"},
    )


def _figure(found: Sequence[SetStandings], figure: BenchmarkFigure, confidence: float) -> Table:
    metrics = _ordered(found, figure)
    by_set = [{each.metric: each for each in s.standings[figure]} for s in found]
    rows: list[tuple[Cell, ...]] = [(PEOPLE, *(_plain(s.ceiling[figure]) for s in found), None)]
    for metric in (*metrics, LENGTH):
        there = [standing.get(metric) for standing in by_set]
        cells = [None if each is None else Graded(*each.value, each.place) for each in there]
        rows.append((metric, *cells, sum(each is not None and each.place == 1 for each in there)))
    rows.append((CHANCE, *(_plain(s.floor[figure]) for s in found), None))
    columns = tuple(s.name for s in found)
    return Table(
        ("metric", *columns, "first"),
        tuple(rows),
        title=TITLES[figure],
        name=f"benchmark_{figure}",
        caption=_caption(figure, confidence, len(found)),
        signature=joined_signatures(s.signature for s in found),
        formats=dict.fromkeys(columns, ".3f" if figure in ("kendall", "accuracy") else ".2f"),
        rules=frozenset((0, len(metrics), len(metrics) + 1)),
        widths=dict.fromkeys(columns, WIDTH + 2 if figure in ("kendall", "accuracy") else WIDTH),
    )


def _caption(figure: BenchmarkFigure, confidence: float, sets: int) -> str:
    over = "systems" if figure in ("pearson", "spearman") else "sentences"
    judge = (
        "one judge: mean over judges against all others, from the worst to the best judge"
        if over == "systems"
        else "one judge: what one judge reaches as a metric for another"
    )
    chance = (
        "systems in random order"
        if over == "systems"
        else "every pair a tie, or a coin for each, whichever reaches more"
    )
    return (
        f"value (place) [{confidence * 100:g} % interval over {over}]; place 1: not told apart "
        f"from the best ({TESTS[figure]}, Holm)\n{judge}; length: characters of the output; "
        f"chance: {chance}; first: in how many of {sets} sets the place is 1"
    )


def _plain(value: Estimate) -> Cell:
    return Graded(*value) if not np.isnan(value.value) else None


def _ordered(found: Sequence[SetStandings], figure: BenchmarkFigure) -> list[str]:
    """The metrics by their mean over the sets, best first and those without any value last.

    The baseline stands apart.
    """
    values: dict[str, list[float]] = {}
    for s in found:
        for each in s.standings[figure]:
            if each.metric != LENGTH:
                known = values.setdefault(each.metric, [])
                known += [] if np.isnan(each.value.value) else [each.value.value]
    names = list(values)
    mean = settled([float(np.mean(values[name] or [-np.inf])) for name in names])
    return [names[k] for k in np.argsort(-mean, kind="stable")]


def told_table(found: Sequence[SetStandings]) -> Table:
    """Every test that decided a place."""
    rows: list[tuple[Cell, ...]] = [
        (s.name, figure, told.place, told.best, told.other, told.lead, told.p, told.holm)
        for s in found
        for figure in FIGURES
        for told in s.tests[figure]
    ]
    return Table(
        ("set", "figure", "place", "best", "other", "lead", "p", "Holm"),
        tuple(rows),
        title="Which metrics are told apart (one-sided p-values)",
        name="benchmark_tests",
        caption="; ".join(f"{figure}: {test}" for figure, test in TESTS.items()),
        signature=joined_signatures(s.signature for s in found),
        formats={"lead": ".4f", "p": ".4f", "Holm": ".4f"},
    )
