"""Scores as tables: one metric in detail, several side by side, sentence by sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from errata.data import Scores, number_beside
from errata.meta.leads import first_lead, not_told_apart
from errata.numbers import Interval
from errata.report.cells import Leading
from errata.report.table import Cell, Form, Table, joined_signatures
from errata.report.tables.formats import score_format, score_formats, unit
from errata.report.verdicts import verdict

__all__ = [
    "comparison_table",
    "lead_table",
    "long_table",
    "metric_heading",
    "score_table",
    "score_tables",
    "sentence_score_table",
    "shown_scores",
    "summary_table",
    "told_apart",
    "with_verdicts",
]


def score_tables(results: Sequence[Scores], *, confidence: float = 0.95) -> list[Table]:
    """One detailed table for one metric; a summary and then the details for several."""
    tables = [score_table(scores, confidence=confidence) for scores in results]
    return tables if len(tables) == 1 else [summary_table(results, confidence=confidence), *tables]


def shown_scores(
    results: Sequence[Scores],
    *,
    form: Form = "table",
    confidence: float = 0.95,
    details: bool = False,
    digits: int | None = None,
) -> list[Table]:
    """What a reader of this form is shown of several metrics: an overview, details, verdicts."""
    several = len(results) > 1
    if several and not details and form not in ("json", "tsv"):
        shown = [summary_table(results, confidence=confidence, notes=True)]
    else:
        shown = score_tables(results, confidence=confidence)
        if form == "tsv" and several:  # one table: what the overview has, the others have too
            shown = [long_table(shown[1:], results)]
    verdicts = lead_table(results, confidence=confidence, digits=digits)
    if form == "table":
        shown = [with_verdicts(shown[0], verdicts), *shown[1:]]
    elif form == "json" and verdicts.rows:
        shown.append(verdicts)
    return shown


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
    return "\n".join(f"note: {note}" for note in scores.notes)


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
    formats = score_formats(scores, (scores.headline, *scores.parts), 2)
    return Table(
        ("rank", "system", scores.headline, *shown, *scores.parts),
        tuple(rows),
        title=label + unit([scores]),
        name=label,
        caption=_caption(scores),
        signature=scores.signature,
        formats=formats | dict.fromkeys(shown, formats[scores.headline]),
    )


def summary_table(
    results: Sequence[Scores], *, confidence: float = 0.95, notes: bool = False
) -> Table:
    """Every metric side by side: score and interval, in the order of the first metric.

    The best of each is marked, and what is not told apart from it (`not_told_apart`). With
    ``notes`` the table says below it what the marks mean, and what the metrics have to say.
    """
    apart = told_apart(results)
    columns = ("system", *map(metric_heading, apart))
    cells = [_leading(scores, confidence) for scores in results]
    rows: list[tuple[Cell, ...]] = [
        (results[0].systems[s], *(column[s] for column in cells)) for s in results[0].order
    ]
    sampled = any(scores.resampled is not None for scores in results)
    level = f"{confidence * 100:g} %"
    what = f": score ± half the width of its {level} interval" if sampled else ""
    said = [f"note: {note}" for scores in results for note in scores.notes]
    if len(results[0]) > 1:
        alike = f"not told apart from it (paired bootstrap, {level})" if sampled else "as good"
        said.insert(0, f"* best   = {alike}")
    return Table(
        columns,
        tuple(rows),
        title=f"Overview{what}{unit(results)}",
        name="overview",
        caption="\n".join(said) if notes else "",
        signature=joined_signatures(scores.signature for scores in results),
        formats={
            name: score_format(scores, scores.headline)
            for name, scores in zip(columns[1:], results, strict=True)
        },
    )


def _leading(scores: Scores, confidence: float) -> list[Leading]:
    """The score of each system, marked where it is the best or not told apart from it."""
    bounds = scores.interval(confidence)
    alike = not_told_apart(scores, confidence)
    marked = len(scores) > 1
    return [
        Leading(
            float(scores.values[s]),
            float(bounds[s, 0]),
            float(bounds[s, 1]),
            "" if not (marked and alike[s]) else "best" if scores.ranks[s] == 1 else "tie",
        )
        for s in range(len(scores))
    ]


def lead_table(
    results: Sequence[Scores], *, confidence: float = 0.95, digits: int | None = None
) -> Table:
    """The best system of each metric against the next one; what it says stands in ``verdict``."""
    rows: list[tuple[Cell, ...]] = []
    for scores in told_apart(results):
        lead = first_lead(scores, confidence)
        if lead is not None:
            said = verdict(scores, confidence, digits=1 if digits is None else digits)
            rows.append((scores.label, lead.better, lead.worse, lead.by, lead.p, said))
    return Table(
        ("metric", "better", "worse", "by", "p", "verdict"),
        tuple(rows),
        title="The best system against the next",
        name="verdicts",
        signature=joined_signatures(scores.signature for scores in results),
    )


def long_table(tables: Sequence[Table], results: Sequence[Scores]) -> Table:
    """The tables of several metrics as one, for programs: ``figure`` says what ``score`` is."""
    heads = [
        tuple("score" if c == r.headline else c for c in t.columns)
        for t, r in zip(tables, results, strict=True)
    ]
    first = ("figure", "score")
    before = [c for c in heads[0] if heads[0].index(c) < heads[0].index("score")]
    rest = dict.fromkeys(c for head in heads for c in head if c not in {*before, *first})
    columns = ("metric", *before, *first, *rest, "signature")
    rows = []
    for table, head, scores in zip(tables, heads, results, strict=True):
        own: dict[str, Cell] = {
            "metric": scores.label,
            "figure": scores.headline,
            "signature": scores.signature,
        }
        for row in table.rows:
            cells = own | dict(zip(head, row, strict=True))
            rows.append(tuple(cells.get(name) for name in columns))
    return Table(columns, tuple(rows), name=tables[0].name)


def with_verdicts(table: Table, verdicts: Table) -> Table:
    """A table of scores with a sentence below it for each metric."""
    said = [str(row[-1]) for row in verdicts.rows]
    return replace(table, caption="\n".join(filter(None, (table.caption, *said))))


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
        signature=scores.signature,
    )
