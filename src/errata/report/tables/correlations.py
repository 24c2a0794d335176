"""Meta-evaluation as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from errata.meta.sentences import SentenceLevel
from errata.meta.systems import SystemLevel, Window
from errata.report.table import Cell, Table

__all__ = [
    "confusion_table",
    "leave_one_out_table",
    "p_value_tables",
    "pair_table",
    "sentence_table",
    "short_names",
    "system_table",
    "window_table",
]

SHOWN = {
    "pearson": "r",
    "spearman": "ρ",
    "kendall": "τ",
    "accuracy": "accuracy",
    "soft_accuracy": "soft accuracy",
}
TESTS = {
    "williams_pearson": "Williams r",
    "williams_spearman": "Williams ρ",
    "permutation_pearson": "permutation r",
    "permutation_spearman": "permutation ρ",
}


def short_names(signatures: Sequence[str]) -> tuple[str, ...]:
    """Metric names for headings: bare where that is enough, otherwise whole signatures."""
    bare = [signature.partition("(")[0] for signature in signatures]
    return tuple(b if bare.count(b) == 1 else s for b, s in zip(bare, signatures, strict=True))


def _interval(low: float, high: float) -> str | None:
    return None if np.isnan(low) else f"{low:.3f} – {high:.3f}"


def system_table(result: SystemLevel, *, confidence: float = 0.95) -> Table:
    """Metrics as rows: every correlation with people, and intervals for r and ρ."""
    kinds = [k for k in SHOWN if any(k in a.values for a in result.agreements)]
    spread = [k for k in ("pearson", "spearman") if k in result.agreements[0].intervals]
    columns = ["metric"]
    for kind in kinds:
        columns.append(SHOWN[kind])
        if kind in spread:
            columns.append(f"{SHOWN[kind]} {confidence * 100:g} %")
    rows = []
    names = short_names([a.metric for a in result.agreements])
    best = sorted(range(len(names)), key=lambda i: -result.agreements[i].values["pearson"])
    for i in best:
        agreement = result.agreements[i]
        row: list[Cell] = [names[i]]
        for kind in kinds:
            row.append(agreement.values.get(kind))
            if kind in spread:
                row.append(_interval(*agreement.intervals[kind]))
        rows.append(tuple(row))
    caption = [
        f"people: {result.human}; {len(result.systems)} systems; intervals over {result.over}",
        *(f"note: {note}" for note in result.notes),
    ]
    return Table(
        tuple(columns),
        tuple(rows),
        title="Agreement with people, system level",
        name="system_level",
        caption="\n".join(caption),
        formats={SHOWN[k]: ".3f" for k in kinds},
    )


def pair_table(result: SystemLevel) -> Table:
    """Pairs of metrics as rows: the lead in r and the p-values of every test."""
    names = dict(
        zip(
            [a.metric for a in result.agreements],
            short_names([a.metric for a in result.agreements]),
            strict=True,
        )
    )
    tests = list(result.p_values)
    rows: list[tuple[Cell, ...]] = [
        (
            names[pair.better],
            names[pair.worse],
            pair.lead,
            pair.smallest,
            *(pair.p[test] for test in tests),
            pair.holm["williams_pearson"],
        )
        for pair in result.pairs
    ]
    columns = (
        "better",
        "worse",
        "lead in r",
        "smallest significant",
        *(TESTS[test] for test in tests),
        "Holm, Williams r",
    )
    return Table(
        columns,
        tuple(rows),
        name="pairs",
        title="Is the better metric really better? (one-sided p-values)",
        caption="Williams ρ: the test with ranks put in, as the field does, without "
        "theory behind it",
        formats=dict.fromkeys(columns[4:], ".5f")
        | {"lead in r": ".3f", "smallest significant": ".3f"},
    )


def p_value_tables(result: SystemLevel) -> list[Table]:
    """One matrix per test: p-values that the metric of the row agrees better than the column's."""
    names = short_names([a.metric for a in result.agreements])
    tables = []
    for test, p in result.p_values.items():
        rows: list[tuple[Cell, ...]] = [
            (name, *(None if a == b else float(p[a, b]) for b in range(len(names))))
            for a, name in enumerate(names)
        ]
        tables.append(
            Table(
                ("better than", *names),
                tuple(rows),
                name=test,
                title=f"p-values: {TESTS[test]}",
                formats=dict.fromkeys(names, ".5f"),
            )
        )
    return tables


def sentence_table(results: Sequence[SentenceLevel], *, confidence: float = 0.95) -> Table:
    """Metrics and conventions as rows: value, interval, chance floor and human ceiling."""
    unique = list(dict.fromkeys(r.metric for r in results))
    names = dict(zip(unique, short_names(unique), strict=True))
    rows = tuple(
        (
            names[r.metric],
            r.convention,
            r.value.value,
            _interval(r.value.low, r.value.high),
            r.floor,
            r.ceiling,
            r.pairs,
        )
        for r in results
    )
    return Table(
        (
            "metric",
            "convention",
            "value",
            f"{confidence * 100:g} % interval",
            "chance",
            "judge for judge",
            "pairs",
        ),
        rows,
        title="Agreement with people, sentence level",
        name="sentence_level",
        caption=f"intervals over {results[0].unit}; chance: a metric that "
        "only knows how often to tie; judge for judge: one judge as a metric for another",
        formats={"value": ".4f", "chance": ".4f", "judge for judge": ".4f", "pairs": ".0f"},
    )


def confusion_table(result: SentenceLevel) -> Table:
    """What people said of two outputs (rows) against what the metric said (columns).

    Which output stands first is arbitrary, so the two orders are added up.
    """
    table = result.table + result.table[::-1, ::-1]
    agree, half, against = table[2, 2], table[2, 1], table[2, 0]
    lone, both = table[1, 2], table[1, 1] / 2
    return Table(
        ("people", "metric agrees", "metric ties", "metric disagrees"),
        (
            ("one is better", float(agree), float(half), float(against)),
            ("tie", None, float(both), float(lone)),
        ),
        title=f"{result.metric.partition('(')[0]}: signs against people",
        name=f"{result.metric.partition('(')[0]}_confusion",
        formats=dict.fromkeys(("metric agrees", "metric ties", "metric disagrees"), ".0f"),
    )


def leave_one_out_table(
    values: Mapping[str, Mapping[str, float]], whole: Mapping[str, float], kind: str
) -> Table:
    """The correlation without each system; rows sorted by the largest change."""
    names = short_names(list(values))
    systems = list(next(iter(values.values())))
    change = {s: max(abs(values[m][s] - whole[m]) for m in values) for s in systems}
    rows: list[tuple[Cell, ...]] = [("(none)", *(whole[m] for m in values))]
    rows += [
        (s, *(values[m][s] for m in values)) for s in sorted(systems, key=lambda s: -change[s])
    ]
    return Table(
        ("without", *names),
        tuple(rows),
        title=f"{kind}, one system left out at a time",
        name="leave_one_out",
        formats=dict.fromkeys(names, ".3f"),
        rules=frozenset({0}),
    )


def window_table(values: Mapping[str, Sequence[Window]], kind: str) -> Table:
    """The correlation in windows of the human ranking, metrics as columns."""
    names = short_names(list(values))
    first = next(iter(values.values()))
    rows: list[tuple[Cell, ...]] = [
        (" ".join(window.systems), *(values[m][i].value for m in values))
        for i, window in enumerate(first)
    ]
    return Table(
        ("systems, best first", *names),
        tuple(rows),
        name="windows",
        title=f"{kind} in parts of the ranking",
        formats=dict.fromkeys(names, ".3f"),
    )
