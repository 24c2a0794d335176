"""Score tables, by type, by sentence, differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from errata.core.errors import InputError
from errata.core.stats import Interval, Progress
from errata.data import Corpus, Hypotheses, Scores, original_number
from errata.metrics import Metric
from errata.scoring.verdicts import first_lead, lead_over, tied_with_best, verdict_sentence
from errata.tables.cells import BestScore, Cell, percent_suffix, score_format, score_formats
from errata.tables.table import Form, Table, join_signatures, make_signature

if TYPE_CHECKING:  # imported only where edits are counted by kind
    from errata.metrics.errant_by_type import TargetedScores, TypeScores

# ---- Scores by kind of edit, as tables.

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


def targeted_table(scores: TargetedScores, headline: str, *, signature: str = "") -> Table:
    """Each kind alone: F with both sides restricted to it, success, and false alarms."""
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
        title=f"{scores.system}, each kind alone, percent",
        name=f"{scores.system}_aimed",
        rules=frozenset({last}),
        formats=dict.fromkeys(figures, SHARE) | {"alarms per 1,000 words": ".2f"},
    )


def changed_sentences_table(several: Sequence[TargetedScores], *, signature: str = "") -> Table:
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


def score_tables(results: Sequence[Scores], *, confidence: float) -> list[Table]:
    """One detailed table for one metric; a summary and then the details for several."""
    tables = [score_table(scores, confidence=confidence) for scores in results]
    return tables if len(tables) == 1 else [summary_table(results, confidence=confidence), *tables]


def displayed_scores(
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
        sentences = [str(row[-1]) for row in verdicts.rows]
        caption = "\n".join(filter(None, (shown[0].caption, *sentences)))
        shown[0] = replace(shown[0], caption=caption)
    elif form == "json" and verdicts.rows:
        shown.append(verdicts)
    return shown


def unique_labels(results: Sequence[Scores]) -> list[Scores]:
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
        title=label + percent_suffix([scores]),
        name=label,
        caption=_caption(scores),
        signature=scores.signature,
        formats=formats | dict.fromkeys(shown, formats[scores.headline]),
    )


def summary_table(
    results: Sequence[Scores], *, confidence: float = 0.95, notes: bool = False
) -> Table:
    """Every metric side by side: score and interval, in the order of the first metric.

    The best of each is marked, and those tied with it (`tied_with_best`). With
    ``notes`` the table says below it what the marks mean, and what the metrics have to say.
    """
    apart = unique_labels(results)
    columns = ("system", *map(metric_heading, apart))
    cells = []
    for scores in results:
        bounds, tied = scores.interval(confidence), tied_with_best(scores, confidence)
        marked = [len(scores) > 1 and each for each in tied]
        cells.append(
            [
                BestScore(
                    float(scores.values[s]),
                    float(bounds[s, 0]),
                    float(bounds[s, 1]),
                    "" if not marked[s] else "best" if scores.ranks[s] == 1 else "tie",
                )
                for s in range(len(scores))
            ]
        )
    rows: list[tuple[Cell, ...]] = [
        (results[0].systems[s], *(column[s] for column in cells)) for s in results[0].order
    ]
    sampled = any(scores.resampled is not None for scores in results)
    level = f"{confidence * 100:g} %"
    what = f": score ± half the width of its {level} interval" if sampled else ""
    said = [f"note: {note}" for scores in results for note in scores.notes]
    if len(results[0]) > 1:
        alike = (
            f"not significantly different from it (paired bootstrap, {level})"
            if sampled
            else "as good"
        )
        said.insert(0, f"* best   = {alike}")
    return Table(
        columns,
        tuple(rows),
        title=f"Overview{what}{percent_suffix(results)}",
        name="overview",
        caption="\n".join(said) if notes else "",
        signature=join_signatures(scores.signature for scores in results),
        formats={
            name: score_format(scores, scores.headline)
            for name, scores in zip(columns[1:], results, strict=True)
        },
    )


def lead_table(results: Sequence[Scores], *, confidence: float, digits: int | None = None) -> Table:
    """Compare the best system of each metric with the next one (see ``verdict_sentence``)."""
    rows: list[tuple[Cell, ...]] = []
    for scores in unique_labels(results):
        lead = first_lead(scores, confidence)
        if lead is not None:
            said = verdict_sentence(scores, confidence, digits=1 if digits is None else digits)
            rows.append((scores.label, lead.better, lead.worse, lead.by, lead.p, said))
    return Table(
        ("metric", "better", "worse", "by", "p", "verdict"),
        tuple(rows),
        title="The best system against the next",
        name="verdicts",
        signature=join_signatures(scores.signature for scores in results),
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
            original_number(scores.skipped, i),
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


def scores_as_table(scores: Scores, *, by_sentence: bool = False) -> Table:
    """Return the table that a data frame of scores is made of."""
    return sentence_score_table(scores) if by_sentence else score_table(scores)


# ---- Scores computed elsewhere: the difference to one system, metric by metric.


def score_change_table(
    results: Sequence[Scores], old: str | None = None, *, confidence: float
) -> Table:
    """A row for every metric and system: its score against the old one, by the paired bootstrap.

    ``old`` is the first system where none is named. Intervals and p-values come from the resamples
    that the scores bring along; where there are none, they are missing.
    """
    rows: list[tuple[Cell, ...]] = []
    for scores in unique_labels(results):
        names = scores.systems
        if old is not None and old not in names:
            raise InputError(
                f"{scores.label} knows no system {old!r}", remedy=f"it has: {', '.join(names)}"
            )
        base = 0 if old is None else names.index(old)
        for s, name in enumerate(names):
            if s == base:
                continue
            lead = lead_over(scores, s, base, confidence)
            interval = None if lead.p is None else Interval(lead.by.low, lead.by.high)
            before, after = float(scores.values[base]), float(scores.values[s])
            rows.append(
                (scores.label, names[base], name, before, after, lead.by.value, interval, lead.p)
            )
    if not rows:
        raise InputError(
            "one system is nothing to compare", remedy="give scores of two systems or more"
        )
    level = f"{confidence * 100:g} %"
    return Table(
        ("metric", "old", "new", "old score", "new score", "change", level, "p"),
        tuple(rows),
        title="What changed",
        name="score_changes",
        formats={**dict.fromkeys(("old score", "new score"), ".4f"), "change": "+.4f", "p": ".3g"},
        signature=join_signatures([scores.signature for scores in results]),
    )


def by_type_tables(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    tier: int,
    progress: Progress | None = None,
) -> list[Table]:
    """Return the scores of each system by kind of edit, by a metric that counts edits."""
    from errata.metrics.base import describe_data
    from errata.metrics.errant import Edits
    from errata.metrics.errant_by_type import scores_by_type, targeted_scores
    from errata.scoring.contract import check_inputs
    from errata.scoring.results import corpus_facts

    if not isinstance(metric, Edits):
        raise InputError(
            f"{metric.name} has no scores by kind of edit",
            remedy="--by-type goes with -m errant or edits",
        )
    check_inputs(metric, corpus, systems)
    metric.prepared(corpus, systems, progress)  # of all systems in one go
    by_system = [scores_by_type(metric, corpus, system, tier=tier) for system in systems]
    targeted = [targeted_scores(metric, corpus, system, tier=tier) for system in systems]
    described = describe_data(metric, corpus, systems)
    tables, signature = [], ""
    for scored, aimed in zip(by_system, targeted, strict=True):
        signature = make_signature(
            repr(metric),
            *described.context,
            *corpus_facts(corpus),
            *((f"kinds:gold retyped by {metric.extractor}",) if scored.retyped else ()),
            f"tier:{tier}",
        )
        notes = described.notes
        tables.append(type_table(scored, metric.headline, notes=notes, signature=signature))
        tables.append(targeted_table(aimed, metric.headline, signature=signature))
    tables.append(changed_sentences_table(targeted, signature=signature))
    return tables
