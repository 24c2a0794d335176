"""Tables and figures of meta-evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from errata.core.correlation import Correlation, pearson, spearman
from errata.core.stats import Estimate, Floats, Interval, as_integers_if_whole, merge_ties
from errata.meta.ensembles import Ensembles
from errata.meta.matching import MatchedScores
from errata.meta.metric_matrix import MATRIX_KINDS, MetricMatrix
from errata.meta.sentence_level import RatingLevels, SentenceLevel, SentenceLevels
from errata.meta.system_level import SubsetCorrelations, SystemLevel
from errata.plots import Forest, ForestRow, Matrix, Panels, Scatter
from errata.tables.cells import Cell
from errata.tables.table import Table

# ---- Figures: metrics against people, and which difference is significant.

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


def scatter_plot(paired: MatchedScores, *, outliers: Sequence[str] = ()) -> Panels[Scatter]:
    """Human against metric scores, one panel per metric, systems by name, r and ρ above.

    Systems named as ``outliers`` are drawn hollow; r and ρ are given with and without them, as
    Chollampatt & Ng (2018) do for IPN.
    """
    people = paired.people
    others = people.without(*outliers).systems
    stay = np.array([system in others for system in people.systems])
    shapes = []
    for name, metric in zip(paired.names, paired.metrics, strict=True):
        x, y = people.values, metric.values
        notes = [_correlations(x, y)]
        if not stay.all():
            without = ", ".join(system for system in people.systems if system in outliers)
            notes.append(f"without {without}: {_correlations(x[stay], y[stay])}")
        across = people.name.replace("_", " ")
        shapes.append(Scatter(people.systems, x, y, across, metric.headline, name, notes, outliers))
    return Panels(shapes, width=4.2, height=4.0)


def _correlations(x: Floats, y: Floats) -> str:
    return f"r = {float(pearson(x, y)):.3f}, ρ = {float(spearman(x, y)):.3f}"


def significance_map(p_values: Mapping[str, Floats], names: Sequence[str]) -> Panels[Matrix]:
    """Matrices of p-values by title, side by side: green where the row's metric is better.

    Chollampatt & Ng (2018, Figure 2) have one for Pearson's r and one for Spearman's ρ. A square is
    filled only in the row of the better metric, with its p-value written in it, so that the map
    can be read without colours; the others are grey.
    """
    n = len(names)
    shapes = [Matrix(names, p, title, kind="p-value") for title, p in p_values.items()]
    return Panels(shapes, width=1.4 + 0.8 * n, height=1.2 + 0.7 * n)


def sentence_plot(found: SentenceLevels) -> Panels[Forest]:
    """Metrics at sentence level, one panel per convention: values with intervals, best on top.

    A dotted line is the level of chance of each metric, a dashed one what one judge is for
    another. Stars say that the best metric's lead over this one is significant after Holm's
    correction (* 5 %, ** 1 %, *** 0.1 %).
    """
    conventions = list(dict.fromkeys(level.convention for level in found.levels))
    shapes = []
    for convention in conventions:
        levels = [level for level in found.levels if level.convention == convention]
        levels.sort(key=lambda level: -np.nan_to_num(level.value.value, nan=-np.inf))
        rows = [
            ForestRow(level.metric, level.value, note=star, chance=level.floor)
            for level, star in zip(levels, _stars(found, levels), strict=True)
        ]
        shapes.append(Forest(rows, title=convention, ceiling=levels[0].ceiling))
    axis = "agreement with people (dotted: chance, dashed: judge for judge)"
    return Panels(shapes, width=6.4, height=0.9 + 0.28 * len(found.metrics), across=1, axis=axis)


def _stars(found: SentenceLevels, levels: Sequence[SentenceLevel]) -> list[str]:
    """How surely the first of these leads each of the others."""
    best = levels[0]
    sure = {
        pair.worse: pair.holm
        for pair in found.contests
        if pair.convention == best.convention and pair.better == best.metric
    }
    return [
        next((stars for most, stars in STARS if sure.get(level.metric, 1.0) < most), "")
        for level in levels
    ]


def matrix_map(found: MetricMatrix) -> Panels[Matrix]:
    """Correlations as coloured squares, r and ρ side by side: blue agrees, red contradicts.

    Every number is written in its square, so that the map can be read without colours.
    """
    n = len(found.names)
    shapes = [
        Matrix(found.names, np.where(np.eye(n) > 0, np.nan, found.values[kind]), TITLES[kind])
        for kind in SQUARES
    ]
    return Panels(shapes, width=1.6 + 0.62 * n, height=1.6 + 0.62 * n)


def rating_plot(found: RatingLevels) -> Panels[Forest]:
    """Three panels: r over all outputs, r among the outputs of one sentence, and accuracy.

    Metrics are in the order of the second, best on top, with their intervals.
    """
    levels = sorted(
        found.levels, key=lambda level: -np.nan_to_num(level.within["pearson"].value, nan=-np.inf)
    )
    panels = {
        "r, outputs of all sentences": [level.pooled["pearson"] for level in levels],
        "r, outputs of one sentence": [level.within["pearson"] for level in levels],
        "accuracy, one sentence": [level.accuracy for level in levels],
    }
    shapes = [
        Forest(
            [ForestRow(level.metric, each) for level, each in zip(levels, values, strict=True)],
            title=title,
        )
        for title, values in panels.items()
    ]
    return Panels(shapes, width=3.0, height=0.9 + 0.28 * len(levels), same_rows=True)


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
    r = merge_ties([agreement.values["pearson"] for agreement in result.agreements])
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
            as_integers_if_whole(result.pairs).item(),
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
    """Return for each metric the judgments of pairs by people (rows) and by the metric (columns).

    Which output stands first is arbitrary, so the two orders are added up.
    """
    tables = []
    for metric, found in zip(result.metrics, result.tables, strict=True):
        table = found.observed + found.observed[::-1, ::-1]
        better = table[2, 2], table[2, 1], table[2, 0]
        tied = table[1, 1] / 2, table[1, 2]
        agree, half, against, both, lone = as_integers_if_whole([*better, *tied]).tolist()
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


# ---- Metrics combined, as a table.


def ensemble_table(found: Ensembles) -> Table:
    """Metrics alone, then combined: r and ρ as fitted, and with every system left out."""
    names = found.paired.names
    columns = ("what", "r", "ρ", "r held out", "ρ held out", *(f"weight {name}" for name in names))
    rows: list[tuple[Cell, ...]] = [
        (name, r, rho, r, rho, *(None for _ in names))
        for name, (r, rho) in zip(names, found.alone, strict=True)
    ]
    for each in found.combined:
        weights: tuple[float | None, ...] = each.weights or (None,) * len(names)
        rows.append((each.how, each.r, each.rho, each.held_r, each.held_rho, *weights))
    spread = [
        f"{name} {low:.2f} to {high:.2f}"
        for each in found.combined
        if each.how == "fitted weights" and each.spread is not None
        for name, (low, high) in zip(names, each.spread, strict=True)
    ]
    return Table(
        columns,
        tuple(rows),
        title="Metrics combined",
        name="ensemble",
        caption="\n".join(
            [
                "held out: every system scored by what was learned from the others; what learns "
                "nothing has the same figures twice",
                f"fitted weights with a system left out: {', '.join(spread)}",
                *(f"note: {note}" for note in found.notes),
            ]
        ),
        signature=found.signature,
        formats=dict.fromkeys(columns[1:5], ".3f") | dict.fromkeys(columns[5:], ".2f"),
        rules=frozenset({len(names) - 1}),
    )


# ---- Metric against metric as tables.

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


# ---- Metrics against ratings as a table.


def rating_table(result: RatingLevels) -> Table:
    """Return two rows for each metric: over all outputs, and within sentences."""
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
