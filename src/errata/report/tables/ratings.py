"""Metrics against ratings as a table."""

from __future__ import annotations

import math

from errata.meta.ratings import RatingLevels
from errata.numbers import Estimate, Interval
from errata.report.table import Cell, Table

__all__ = ["rating_table"]


def rating_table(result: RatingLevels) -> Table:
    """Two rows for each metric: over the outputs of all sentences, and among those of one."""
    level = f"{result.confidence * 100:g} %"
    columns = ("r", "ρ", "accuracy")
    rows: list[tuple[Cell, ...]] = []
    for found in result.levels:
        for what, by in (("all sentences", found.pooled), ("one sentence", found.within)):
            among = what == "one sentence"
            figures = [by["pearson"], by["spearman"]]
            accuracy = found.accuracy if among else None
            cells = [cell for figure in (*figures, accuracy) for cell in _apart(figure)]
            rows.append((found.metric, what, *cells, found.threshold if among else None))
    heads = [head for name in columns for head in (name, f"{name} {level}")]
    drawn = (
        "" if math.isnan(result.levels[0].pooled["pearson"].low) else "; intervals over sentences"
    )
    caption = (
        f"{result.outputs} rated outputs of {result.sentences} sentences{drawn}",
        "one sentence: mean over sentences of the correlation among its outputs; accuracy: pairs "
        "of outputs of one sentence, ties included (acc_eq, Deutsch et al. 2023), a metric tie "
        "being a difference up to ε chosen on other sentences (five folds; shown is the mean)",
        *(f"note: {note}" for note in result.notes),
        f"signature: {result.signature}",
    )
    table = Table(
        ("metric", "outputs of", *heads, "ε"),
        tuple(rows),
        title="Agreement with people's ratings",
        name="ratings",
        caption="\n".join(caption),
        signature=result.signature,
        formats=dict.fromkeys(heads, ".3f") | {"ε": ".3g"},
    )
    for name in columns:
        table = table.without_empty(f"{name} {level}")
    return table


def _apart(figure: Estimate | None) -> tuple[Cell, Cell]:
    if figure is None:
        return None, None
    return figure.value, Interval(figure.low, figure.high)
