"""Scores as tables: one metric in detail, several side by side, sentence by sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from errata.data import Scores, number_beside
from errata.numbers import Estimate, Interval
from errata.report.table import Cell, Table, joined_signatures

__all__ = [
    "comparison_table",
    "metric_heading",
    "score_table",
    "score_tables",
    "sentence_score_table",
    "summary_table",
    "told_apart",
]


def score_tables(results: Sequence[Scores], *, confidence: float = 0.95) -> list[Table]:
    """One detailed table for one metric; a summary and then the details for several."""
    tables = [score_table(scores, confidence=confidence) for scores in results]
    return tables if len(tables) == 1 else [summary_table(results, confidence=confidence), *tables]


def told_apart(results: Sequence[Scores]) -> list[Scores]:
    """The same with labels that differ: a second ``gleu`` becomes ``gleu [2]``."""
    seen: Counter[str] = Counter()
    apart = []
    for scores in results:
        seen[scores.label] += 1
        nth = seen[scores.label]
        apart.append(scores if nth == 1 else replace(scores, label=f"{scores.label} [{nth}]"))
    return apart


def _caption(scores: Scores) -> str:
    return "\n".join((f"signature: {scores.signature}", *(f"note: {n}" for n in scores.notes)))


def score_table(scores: Scores, *, confidence: float = 0.95) -> Table:
    """Systems as rows, best first, with interval and parts; equal scores share a rank."""
    intervals = scores.interval(confidence)
    sampled = scores.resampled is not None
    rows: list[tuple[Cell, ...]] = []
    for s in scores.order:
        rank = scores.ranks[s]
        interval = (Interval(*intervals[s].tolist()),) if sampled else ()
        rows.append(
            (
                rank,
                scores.systems[s],
                float(scores.values[s]),
                *interval,
                *(part[s].item() for part in scores.parts.values()),
            )
        )
    shown = (f"{confidence * 100:g} % interval",) if sampled else ()
    label = scores.label
    return Table(
        ("rank", "system", scores.headline, *shown, *scores.parts),
        tuple(rows),
        title=label,
        name=label,
        caption=_caption(scores),
        signature=scores.signature,
    )


def summary_table(
    results: Sequence[Scores], *, confidence: float = 0.95, signatures: bool = False
) -> Table:
    """Every metric side by side: score and interval, in the order of the first metric."""
    columns = ("system", *map(metric_heading, told_apart(results)))
    intervals = [scores.interval(confidence) for scores in results]
    rows: list[tuple[Cell, ...]] = [
        (
            results[0].systems[s],
            *(
                Estimate(float(scores.values[s]), *interval[s].tolist())
                for scores, interval in zip(results, intervals, strict=True)
            ),
        )
        for s in results[0].order
    ]
    sampled = any(scores.resampled is not None for scores in results)
    what = f": score ± half the width of its {confidence * 100:g} % interval" if sampled else ""
    return Table(
        columns,
        tuple(rows),
        title=f"Overview{what}",
        name="overview",
        caption="\n".join(map(_caption, results)) if signatures else "",
        signature=joined_signatures(scores.signature for scores in results),
    )


def metric_heading(scores: Scores) -> str:
    """Metric and what its score is called, once where both are the same word."""
    if scores.name.rpartition(":")[2].lower() == scores.headline.lower():  # file.py:overlap
        return scores.headline + scores.label.removeprefix(scores.name)
    return f"{scores.label} {scores.headline}"


def sentence_score_table(scores: Scores) -> Table:
    """One row per system and sentence (numbered from 1): score and parts."""
    assert scores.sentences is not None
    parts = scores.sentence_parts
    columns = [part.tolist() for part in parts.values()]
    values = scores.sentences.tolist()
    rows: list[tuple[Cell, ...]] = [
        (
            system,
            number_beside(scores.skipped, i),
            values[s][i],
            *(column[s][i] for column in columns),
        )
        for s, system in enumerate(scores.systems)
        for i in range(scores.sentences.shape[1])
    ]
    label = scores.label
    return Table(
        ("system", "sentence", scores.headline, *parts),
        tuple(rows),
        title=f"{label}, sentence by sentence",
        name=f"{label}_sentences",
        caption=_caption(scores),
        signature=scores.signature,
        formats=dict.fromkeys([n for n, p in parts.items() if p.dtype.kind == "f"], ".6g")
        | {scores.headline: ".4f"},
    )


def comparison_table(scores: Scores) -> Table:
    """Paired bootstrap p-values: small where the system of the row beats that of the column."""
    p = scores.p_values()
    rows = tuple(
        (scores.systems[a], *(None if a == b else float(p[a, b]) for b in scores.order))
        for a in scores.order
    )
    return Table(
        ("better than", *(scores.systems[b] for b in scores.order)),
        rows,
        title=f"{scores.label}: one-sided p-values of the paired bootstrap",
        name=f"{scores.label}_p_values",
        caption=f"signature: {scores.signature}",
        signature=scores.signature,
    )
