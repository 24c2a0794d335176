"""Scores by kind of edit, as tables."""

from __future__ import annotations

from errata.metrics.errant.by_type import TypeScores
from errata.report.table import Cell, Table

__all__ = ["type_table"]


def type_table(
    scores: TypeScores, headline: str, *, notes: tuple[str, ...] = (), signature: str = ""
) -> Table:
    """TP, FP, FN, P, R and F for each kind of edit, then over all (micro) and as mean (macro)."""
    if scores.retyped:
        notes = ("the gold edits have the kinds that the extractor gives them", *notes)
    said = [*([f"signature: {signature}"] * bool(signature)), *(f"note: {note}" for note in notes)]
    rows: list[tuple[Cell, ...]] = []
    for k, kind in enumerate(scores.kinds):
        tp, fp, fn = (int(x) for x in scores.counts[k])
        rows.append(
            (
                kind or "-",
                tp,
                fp,
                fn,
                float(scores.precision[k]),
                float(scores.recall[k]),
                float(scores.f[k]),
            )
        )
    last = len(rows) - 1
    tp, fp, fn = (int(x) for x in scores.counts.sum(axis=0))
    rows.append(
        (
            "all (micro average)",
            tp,
            fp,
            fn,
            tp / (tp + fp) if fp else 1.0,
            tp / (tp + fn) if fn else 1.0,
            scores.micro,
        )
    )
    rows.append(
        (
            "mean of kinds (macro average)",
            None,
            None,
            None,
            float(scores.precision.mean()) if last >= 0 else None,
            float(scores.recall.mean()) if last >= 0 else None,
            scores.macro,
        )
    )
    return Table(
        ("kind", "TP", "FP", "FN", "P", "R", headline),
        tuple(rows),
        caption="\n".join(said),
        signature=signature,
        title=f"{scores.system} by kind of edit",
        name=f"{scores.system}_by_type",
        rules=frozenset({last}),
        formats=dict.fromkeys(("P", "R", headline), ".4f"),
    )
