"""Scores by kind of edit, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from errata.metrics.errant.aimed import AimedScores
from errata.metrics.errant.by_type import TypeScores
from errata.report.table import Cell, Table

__all__ = ["aimed_table", "touched_table", "type_table"]

SHARE = ".1p"  # percent, as the tables of scores show shares


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
        title=f"{scores.system} by kind of edit, percent",
        name=f"{scores.system}_by_type",
        rules=frozenset({last}),
        formats=dict.fromkeys(("P", "R", headline), SHARE),
    )


def aimed_table(scores: AimedScores, headline: str, *, signature: str = "") -> Table:
    """Each kind by itself: F with both sides restricted to it, success, and false alarms."""
    rows: list[tuple[Cell, ...]] = [
        (
            kind or "-",
            *(int(x) for x in scores.counts[k]),
            float(scores.precision[k]),
            float(scores.recall[k]),
            float(scores.f[k]),
            float(scores.success[k]),
            int(scores.asked[k]),
            float(scores.alarms[k]),
        )
        for k, kind in enumerate(scores.kinds)
    ]
    last = len(rows) - 1
    means = (scores.precision, scores.recall, scores.f, scores.success)
    macro = (scores.macro(figure) for figure in means)
    rows.append(("mean of kinds asked for", None, None, None, *macro, None, None))
    figures = ("P", "R", headline, "success")
    return Table(
        ("kind", "TP", "FP", "FN", *figures, "of sentences", "alarms per 1,000 words"),
        tuple(rows),
        signature=signature,
        title=f"{scores.system}, each kind by itself, percent",
        name=f"{scores.system}_aimed",
        rules=frozenset({last}),
        formats=dict.fromkeys(figures, SHARE) | {"alarms per 1,000 words": ".2f"},
    )


def touched_table(several: Sequence[AimedScores], *, signature: str = "") -> Table:
    """How much systems change, and how much of what needed no change."""
    return Table(
        ("system", "sentences changed", "clean sentences", "clean ones changed")
        + ("alarms per 1,000 words",),
        tuple((s.system, s.changed, s.clean, s.overcorrected, s.all_alarms) for s in several),
        signature=signature,
        title="What was changed, and what needed no change, percent",
        name="touched",
        formats={
            "sentences changed": SHARE,
            "clean ones changed": SHARE,
            "alarms per 1,000 words": ".2f",
        },
    )
