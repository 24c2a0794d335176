"""Scores as tables: one metric in detail, several side by side, sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from errata.data import Scores
from errata.report.table import Cell, Table

__all__ = ["comparison_table", "score_table", "score_tables", "sentence_table", "summary_table"]


def score_tables(results: Sequence[Scores], *, confidence: float = 0.95) -> list[Table]:
    """One detailed table for one metric; a summary and then the details for several."""
    tables = [score_table(scores, confidence=confidence) for scores in results]
    return tables if len(tables) == 1 else [summary_table(results, confidence=confidence), *tables]


def _name(scores: Scores) -> str:
    return scores.scorer.partition("(")[0]


def _interval_text(low: float, high: float) -> str | None:
    return None if np.isnan(low) else f"{low:.4f} – {high:.4f}"


def _caption(scores: Scores) -> str:
    return "\n".join((f"signature: {scores.signature}", *(f"note: {n}" for n in scores.notes)))


def score_table(scores: Scores, *, confidence: float = 0.95) -> Table:
    """Systems as rows, best first, with interval and parts; equal scores share a rank."""
    intervals = scores.interval(confidence)
    shown = f"{confidence * 100:g} % interval"
    rows: list[tuple[Cell, ...]] = []
    for s in scores.order:
        rank = 1 + int((scores.values > scores.values[s]).sum())
        rows.append((rank, scores.systems[s], float(scores.values[s]),
                     _interval_text(*intervals[s]), *(float(p[s]) for p in scores.parts.values())))
    whole = {name for name, part in scores.parts.items() if (part == np.round(part)).all()
             and np.abs(part).max(initial=0) > 1}
    return Table(
        ("rank", "system", scores.headline, shown, *scores.parts), tuple(rows),
        title=_name(scores), name=_name(scores), caption=_caption(scores),
        formats={scores.headline: ".4f"} | {n: ".0f" if n in whole else ".4f"
                                            for n in scores.parts})


def summary_table(results: Sequence[Scores], *, confidence: float = 0.95,
                  signatures: bool = False) -> Table:
    """Every metric side by side: score and interval, in the order of the first metric."""
    columns = ["system"]
    for scores in results:
        name = _heading(scores, results)
        columns += [f"{name} {scores.headline}".removeprefix(f"{scores.headline.lower()} "),
                    f"{name} {confidence * 100:g} %"]
    rows: list[tuple[Cell, ...]] = []
    intervals = [scores.interval(confidence) for scores in results]
    for s in results[0].order:
        row: list[Cell] = [results[0].systems[s]]
        for scores, interval in zip(results, intervals, strict=True):
            row += [float(scores.values[s]), _interval_text(*interval[s])]
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows), title="Overview", name="overview",
                 caption="\n".join(map(_caption, results)) if signatures else "",
                 formats=dict.fromkeys(columns, ".4f"))


def _heading(scores: Scores, results: Sequence[Scores]) -> str:
    name = _name(scores)
    same = [other for other in results if _name(other) == name]
    return name if len(same) == 1 else f"{name}#{same.index(scores) + 1}"


def sentence_table(scores: Scores) -> Table:
    """One row per system and sentence (numbered from 1): score and parts."""
    assert scores.sentences is not None
    parts = scores.sentence_parts
    rows: list[tuple[Cell, ...]] = [
        (system, i + 1, float(scores.sentences[s, i]), *(float(p[s, i]) for p in parts.values()))
        for s, system in enumerate(scores.systems) for i in range(scores.sentences.shape[1])]
    return Table(("system", "sentence", scores.headline, *parts), tuple(rows),
                 title=f"{_name(scores)}, sentence by sentence", name=f"{_name(scores)}_sentences",
                 caption=_caption(scores),
                 formats=dict.fromkeys(parts, ".6g") | {scores.headline: ".4f"})


def comparison_table(scores: Scores) -> Table:
    """Paired bootstrap p-values: small where the system of the row beats that of the column."""
    p = scores.p_values()
    rows = tuple((scores.systems[a], *(None if a == b else float(p[a, b]) for b in scores.order))
                 for a in scores.order)
    return Table(("better than", *(scores.systems[b] for b in scores.order)), rows,
                 title=f"{_name(scores)}: one-sided p-values of the paired bootstrap",
                 name=f"{_name(scores)}_p_values", caption=scores.signature)
