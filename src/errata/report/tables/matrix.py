"""Metric against metric as tables."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from errata.meta.matrix import MATRIX_KINDS, MetricMatrix
from errata.numbers import Interval
from errata.report.table import Cell, Table
from errata.report.tables.correlations import SHOWN, TITLES

__all__ = ["matrix_tables"]

SQUARES = MATRIX_KINDS[:2]


def matrix_tables(found: MetricMatrix) -> list[Table]:
    """A square of Pearson's r, one of Spearman's ρ, and all pairs with their intervals."""
    return [
        *(
            Table(
                ("metric", *found.names),
                tuple(
                    (name, *(None if a == b else float(row[b]) for b in range(len(row))))
                    for a, (name, row) in enumerate(
                        zip(found.names, found.values[kind], strict=True)
                    )
                ),
                title=f"Metric against metric, {TITLES[kind]}",
                name=f"matrix_{kind}",
                formats=dict.fromkeys(found.names, ".3f"),
                signature=found.signature,
            )
            for kind in SQUARES
        ),
        _pairs(found),
    ]


def _pairs(found: MetricMatrix) -> Table:
    level = f"{found.confidence * 100:g} %"
    columns = ["first", "second"]
    for kind in MATRIX_KINDS:
        columns += [SHOWN[kind], f"{SHOWN[kind]} {level}"]
    pairs = list(combinations(range(len(found.names)), 2))
    r = np.array([found.values["pearson"][pair] for pair in pairs])
    rows = []
    for k in np.argsort(-r, kind="stable"):  # what has no r comes last
        pair = pairs[k]
        row: list[Cell] = [found.names[at] for at in pair]
        for kind in MATRIX_KINDS:
            row += [
                float(found.values[kind][pair]),
                Interval(*found.intervals[kind][pair].tolist()),
            ]
        rows.append(tuple(row))
    drawn = f"; intervals over {found.over}" if found.drawn else ""
    table = Table(
        tuple(columns),
        tuple(rows),
        title="Pairs of metrics",
        name="matrix",
        caption="\n".join(
            [f"{len(found.systems)} systems{drawn}", *(f"note: {note}" for note in found.notes)]
        ),
        formats=dict.fromkeys(columns[2:], ".3f"),
        signature=found.signature,
    )
    for column in columns[3::2]:
        table = table.without_empty(column)
    return table
