"""Meta-evaluation as tables."""

from __future__ import annotations

import numpy as np

from errata.correlation import Correlation
from errata.meta.sentences import SentenceLevels
from errata.meta.systems import SubsetCorrelations, SystemLevel
from errata.numbers import Interval, counted, settled
from errata.report.table import Cell, Table

__all__ = [
    "accuracy_pair_table",
    "confusion_tables",
    "leave_one_out_table",
    "metric_pair_table",
    "sentence_level_table",
    "system_level_table",
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
TITLES: dict[Correlation, str] = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "kendall": "Kendall's τ",
    "accuracy": "Pairwise accuracy",
}


def system_level_table(result: SystemLevel) -> Table:
    """Metrics as rows: every correlation with people, and intervals for r and ρ."""
    kinds = [k for k in SHOWN if any(k in a.values for a in result.agreements)]
    spread = [k for k in ("pearson", "spearman") if k in result.agreements[0].intervals]
    columns = ["metric"]
    for kind in kinds:
        columns.append(SHOWN[kind])
        if kind in spread:
            columns.append(f"{SHOWN[kind]} {result.confidence * 100:g} %")
    rows = []
    r = settled([agreement.values["pearson"] for agreement in result.agreements])
    for k in np.argsort(-r, kind="stable"):  # what has no r comes last
        agreement = result.agreements[k]
        row: list[Cell] = [agreement.metric]
        for kind in kinds:
            row.append(agreement.values.get(kind))
            if kind in spread:
                row.append(agreement.intervals[kind])
        rows.append(tuple(row))
    paired = result.paired
    drawn = f"; intervals over {result.over}" if spread else ""
    caption = [
        f"people: {paired.people.scorer}; {len(paired)} systems{drawn}",
        *(f"note: {note}" for note in result.notes),
        f"signature: {result.signature}",
    ]
    return Table(
        tuple(columns),
        tuple(rows),
        title="Agreement with people, system level",
        name="system_level",
        caption="\n".join(caption),
        signature=result.signature,
        formats=dict.fromkeys(columns[1:], ".3f"),
    )


def metric_pair_table(result: SystemLevel) -> Table:
    """Pairs of metrics as rows: the lead in r and the p-values of every test."""
    tests = list(result.p_values)
    rows: list[tuple[Cell, ...]] = [
        (
            pair.better,
            pair.worse,
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
        caption="\n".join(
            [
                "Williams ρ: the test with ranks put in, as the field does, without theory "
                "behind it",
                *(f"note: {note}" for note in result.notes),
            ]
        ),
        signature=result.signature,
        formats=dict.fromkeys(columns[4:], ".5f")
        | {"lead in r": ".3f", "smallest significant": ".3f"},
    )


def leave_one_out_table(result: SubsetCorrelations) -> Table:
    """The correlation without each system; rows sorted by the largest change."""
    names, systems = result.paired.names, result.paired.systems
    change = np.nan_to_num(np.abs(result.values - result.whole[:, None])).max(axis=0)
    rows: list[tuple[Cell, ...]] = [("(none)", *result.whole.tolist())]
    rows += [
        (systems[i], *result.values[:, i].tolist()) for i in np.argsort(-change, kind="stable")
    ]
    return Table(
        ("without", *names),
        tuple(rows),
        title=f"{TITLES[result.kind]}, one system left out at a time",
        name="leave_one_out",
        signature=result.signature,
        formats=dict.fromkeys(names, ".3f"),
        rules=frozenset({0}),
    )


def window_table(result: SubsetCorrelations, *, name: str = "windows") -> Table:
    """The correlation in windows of the human ranking, metrics as columns."""
    names = result.paired.names
    rows: list[tuple[Cell, ...]] = [
        (" ".join(systems), *values)
        for systems, values in zip(result.subsets, result.values.T.tolist(), strict=True)
    ]
    return Table(
        ("systems, best first", *names),
        tuple(rows),
        name=name,
        title=f"{TITLES[result.kind]} in parts of the ranking",
        signature=result.signature,
        formats=dict.fromkeys(names, ".3f"),
    )


def sentence_level_table(result: SentenceLevels) -> Table:
    """Metrics and conventions as rows: value, interval, chance floor and human ceiling."""
    interval = f"{result.confidence * 100:g} % interval"
    rows: list[tuple[Cell, ...]] = [
        (
            level.metric,
            f"{level.convention} (in-sample)" if level.in_sample else level.convention,
            level.value.value,
            Interval(level.value.low, level.value.high),
            level.floor,
            level.ceiling,
            counted(result.pairs).item(),
        )
        for level in result.levels
    ]
    drawn = not all(np.isnan(level.value.low) for level in result.levels)
    caption = (f"intervals over {result.unit}; " if drawn else "") + (
        "chance: a metric that only knows how often to tie; "
        "judge for judge: one judge as a metric for another"
    )
    return Table(
        ("metric", "convention", "value", interval, "chance", "judge for judge", "pairs"),
        tuple(rows),
        title="Agreement with people, sentence level",
        name="sentence_level",
        caption="\n".join(
            [caption, *(f"note: {note}" for note in result.notes), f"signature: {result.signature}"]
        ),
        signature=result.signature,
        formats={
            "value": ".4f",
            interval: ".3f",
            "chance": ".4f",
            "judge for judge": ".4f",
            "pairs": ".0f",
        },
    ).without_empty(interval)


def accuracy_pair_table(result: SentenceLevels) -> Table:
    """Pairs of metrics under each convention: the lead, and a p-value with its test."""
    rows: list[tuple[Cell, ...]] = [
        (pair.convention, pair.better, pair.worse, pair.lead, pair.test, pair.p, pair.holm)
        for pair in result.contests
    ]
    used = {pair.test for pair in result.contests}
    said = {
        "permutation": f"permutation: what two metrics got right swapped by whole {result.unit}",
        "bootstrap": f"bootstrap: share of resamples of {result.unit} in which the lead is gone",
    }
    return Table(
        ("convention", "better", "worse", "lead", "test", "p", "Holm"),
        tuple(rows),
        title="Is the better metric really nearer to people? (one-sided p-values)",
        name="sentence_pairs",
        caption="\n".join(text for test, text in said.items() if test in used),
        signature=result.signature,
        formats={"lead": ".4f", "p": ".4f", "Holm": ".4f"},
    )


def confusion_tables(result: SentenceLevels) -> list[Table]:
    """Of each metric: what people said of two outputs (rows) against what it said (columns).

    Which output stands first is arbitrary, so the two orders are added up.
    """
    tables = []
    for metric, found in zip(result.metrics, result.tables, strict=True):
        table = found.observed + found.observed[::-1, ::-1]
        better = table[2, 2], table[2, 1], table[2, 0]
        tied = table[1, 1] / 2, table[1, 2]
        agree, half, against, both, lone = counted([*better, *tied]).tolist()
        tables.append(
            Table(
                ("people", "metric agrees", "metric ties", "metric disagrees"),
                (("one is better", agree, half, against), ("tie", None, both, lone)),
                title=f"{metric}: signs against people",
                name=f"{metric}_confusion",
                signature=result.signature,
                formats=dict.fromkeys(("metric agrees", "metric ties", "metric disagrees"), ".0f"),
            )
        )
    return tables
