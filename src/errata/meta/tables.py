"""Tables and figures of meta-evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from errata.scoring.decisions import METRIC_TITLES, RULES, JudgedMetric, decide_metrics
from errata.tables.table import Answer, Column, Table, estimate_columns

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
    r = merge_ties([agreement.values["pearson"] for agreement in result.agreements])
    # What has no r comes last.
    rows = [result.agreements[k] for k in np.argsort(-r, kind="stable")]
    columns = [Column("metric", [row.metric for row in rows])]
    drawn = bool(rows[0].intervals)
    for kind in (k for k in SHOWN if any(k in row.values for row in rows)):
        values = [row.values.get(kind) for row in rows]
        columns.append(Column(SHOWN[kind], values, ".3f"))
        if drawn and kind in ("pearson", "spearman"):
            level = f"{SHOWN[kind]} {result.confidence * 100:g} %"
            columns.append(Column(level, [row.intervals[kind] for row in rows], ".3f"))
    paired = result.paired
    over = f"; intervals over {result.over}" if drawn else ""
    caption = [
        f"people: {paired.people.scorer}; {len(paired)} systems{over}",
        *(f"note: {note}" for note in result.notes),
        f"signature: {result.signature}",
    ]
    table = Table.of(
        columns,
        title="Agreement with people, system level",
        name="system_level",
        caption="\n".join(caption),
        signature=result.signature,
    )
    return replace(table, answer=metrics_answer(result))


def metrics_answer(result: SystemLevel) -> Answer | None:
    """Which metric to report, by Pearson's r over these systems; None without intervals.

    The best metric is tested against each other one by permutation.
    """
    agreements, rules = result.agreements, replace(RULES, alpha=1 - result.confidence)
    if result.over != "systems" or not agreements[0].intervals:
        return None
    r = merge_ties([each.values["pearson"] for each in agreements])
    order = [k for k in np.argsort(-r, kind="stable").tolist() if not np.isnan(r[k])]
    if not order:
        return None
    p = result.p_values.get("permutation_pearson")
    metrics = []
    for k in order:
        name, interval = agreements[k].metric, agreements[k].intervals["pearson"]
        tested = 1.0 if p is None or k == order[0] else float(p[order[0], k])
        value = Estimate(agreements[k].values["pearson"], interval.low, interval.high)
        metrics.append(JudgedMetric(METRIC_TITLES.get(name, name), value, tested))
    return decide_metrics(len(result.paired), metrics, rules)


def metric_pair_table(result: SystemLevel) -> Table:
    """Pairs of metrics as rows: the lead in r and the p-values of every test."""
    pairs = result.pairs
    return Table.of(
        [
            Column("better", [pair.better for pair in pairs]),
            Column("worse", [pair.worse for pair in pairs]),
            Column("lead in r", [pair.lead for pair in pairs], ".3f"),
            Column("smallest significant", [pair.smallest for pair in pairs], ".3f"),
            *(Column(TESTS[t], [pair.p[t] for pair in pairs], ".5f") for t in result.p_values),
            Column("Holm, Williams r", [pair.holm["williams_pearson"] for pair in pairs], ".5f"),
        ],
        name="pairs",
        title="Is the better metric really better? (one-sided p-values)",
        caption="Williams ρ: the test with ranks put in, as the field does, without theory "
        "behind it",
        notes=result.notes,
        signature=result.signature,
    )


def leave_one_out_table(result: SubsetCorrelations) -> Table:
    """The correlation without each system; rows sorted by the largest change."""
    change = np.nan_to_num(np.abs(result.values - result.whole[:, None])).max(axis=0)
    order = np.argsort(-change, kind="stable")
    return Table.of(
        [
            Column("without", ["(none)", *(result.paired.systems[i] for i in order)]),
            *(
                Column(name, [whole, *values[order].tolist()], ".3f")
                for name, whole, values in zip(
                    result.paired.names, result.whole.tolist(), result.values, strict=True
                )
            ),
        ],
        title=f"{TITLES[result.kind]}, one system left out at a time",
        name="leave_one_out",
        signature=result.signature,
        rules=[0],
    )


def window_table(result: SubsetCorrelations, *, name: str = "windows") -> Table:
    """The correlation in windows of the human ranking, metrics as columns."""
    metrics = zip(result.paired.names, result.values.tolist(), strict=True)
    return Table.of(
        [
            Column("systems, best first", [" ".join(systems) for systems in result.subsets]),
            *(Column(metric, values, ".3f") for metric, values in metrics),
        ],
        name=name,
        title=f"{TITLES[result.kind]} in parts of the ranking",
        signature=result.signature,
    )


def sentence_level_table(result: SentenceLevels) -> Table:
    """Metrics and conventions as rows: value, interval, chance floor and human ceiling."""
    levels = result.levels
    intervals = [Interval(level.value.low, level.value.high) for level in levels]
    drawn = not all(np.isnan(interval.low) for interval in intervals)
    caption = (f"intervals over {result.unit}; " if drawn else "") + (
        "chance: a metric that only knows how often to tie; "
        "judge for judge: one judge as a metric for another"
    )
    conventions = [
        f"{level.convention} (in-sample)" if level.in_sample else level.convention
        for level in levels
    ]
    pairs = as_integers_if_whole(result.pairs).item()
    return Table.of(
        [
            Column("metric", [level.metric for level in levels]),
            Column("convention", conventions),
            Column("value", [level.value.value for level in levels], ".4f"),
            Column(f"{result.confidence * 100:g} % interval", intervals, ".3f", optional=True),
            Column("chance", [level.floor for level in levels], ".4f"),
            Column("judge for judge", [level.ceiling for level in levels], ".4f"),
            Column("pairs", [pairs for _ in levels], ".0f"),
        ],
        title="Agreement with people, sentence level",
        name="sentence_level",
        caption="\n".join(
            [caption, *(f"note: {note}" for note in result.notes), f"signature: {result.signature}"]
        ),
        signature=result.signature,
    )


def accuracy_pair_table(result: SentenceLevels) -> Table:
    """Pairs of metrics under each convention: the lead, and a p-value with its test."""
    pairs = result.contests
    used = {pair.test for pair in pairs}
    tests = {
        "permutation": f"permutation: what two metrics got right swapped by whole {result.unit}",
        "bootstrap": f"bootstrap: share of resamples of {result.unit} in which the lead is gone",
    }
    return Table.of(
        [
            Column("convention", [pair.convention for pair in pairs]),
            Column("better", [pair.better for pair in pairs]),
            Column("worse", [pair.worse for pair in pairs]),
            Column("lead", [pair.lead for pair in pairs], ".4f"),
            Column("test", [pair.test for pair in pairs]),
            Column("p", [pair.p for pair in pairs], ".4f"),
            Column("Holm", [pair.holm for pair in pairs], ".4f"),
        ],
        title="Is the better metric really nearer to people? (one-sided p-values)",
        name="sentence_pairs",
        caption="\n".join(text for test, text in tests.items() if test in used),
        signature=result.signature,
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
    names, alone, combined = found.paired.names, found.alone, found.combined
    spread = [
        f"{name} {low:.2f} to {high:.2f}"
        for each in combined
        if each.how == "fitted weights" and each.spread is not None
        for name, (low, high) in zip(names, each.spread, strict=True)
    ]
    without = [None for _ in names]
    weights = [each.weights or without for each in combined]
    r, rho = ([*pair] for pair in zip(*alone, strict=True))
    return Table.of(
        [
            Column("what", [*names, *(each.how for each in combined)]),
            Column("r", [*r, *(each.r for each in combined)], ".3f"),
            Column("ρ", [*rho, *(each.rho for each in combined)], ".3f"),
            Column("r held out", [*r, *(each.held_r for each in combined)], ".3f"),
            Column("ρ held out", [*rho, *(each.held_rho for each in combined)], ".3f"),
            *(
                Column(f"weight {name}", [*without, *(each[k] for each in weights)], ".2f")
                for k, name in enumerate(names)
            ),
        ],
        title="Metrics combined",
        name="ensemble",
        caption="held out: every system scored by what was learned from the others; what learns "
        "nothing has the same figures twice\n"
        f"fitted weights with a system left out: {', '.join(spread)}",
        notes=found.notes,
        signature=found.signature,
        rules=[len(names) - 1],
    )


# ---- Metric against metric as tables.

SQUARES = MATRIX_KINDS[:2]


def matrix_tables(found: MetricMatrix) -> list[Table]:
    """A square of Pearson's r, one of Spearman's ρ, and all pairs with their intervals."""
    names = found.names

    def correlations(kind: Correlation, b: int) -> list[float | None]:
        return [None if a == b else float(found.values[kind][a, b]) for a in range(len(names))]

    squares = [
        Table.of(
            [
                Column("metric", names),
                *(Column(name, correlations(kind, b), ".3f") for b, name in enumerate(names)),
            ],
            title=f"Metric against metric, {TITLES[kind]}",
            name=f"matrix_{kind}",
            signature=found.signature,
        )
        for kind in SQUARES
    ]
    pairs = list(combinations(range(len(names)), 2))
    r = np.array([found.values["pearson"][pair] for pair in pairs])
    pairs = [pairs[k] for k in np.argsort(-r, kind="stable")]  # what has no r comes last
    columns = [
        Column("first", [names[a] for a, _ in pairs]),
        Column("second", [names[b] for _, b in pairs]),
    ]
    for kind in MATRIX_KINDS:
        values, ends = found.values[kind], found.intervals[kind]
        estimates = [Estimate(float(values[pair]), *ends[pair].tolist()) for pair in pairs]
        columns += estimate_columns(SHOWN[kind], estimates, ".3f", found.confidence)
    drawn = f"; intervals over {found.over}" if found.has_intervals else ""
    listed = Table.of(
        columns,
        title="Pairs of metrics",
        name="matrix",
        caption=f"{len(found.systems)} systems{drawn}",
        notes=found.notes,
        signature=found.signature,
    )
    return [*squares, listed]


# ---- Metrics against ratings as a table.


def rating_table(result: RatingLevels) -> Table:
    """Return two rows for each metric: over all outputs, and within sentences."""
    levels = result.levels
    columns = [
        Column("metric", [level.metric for level in levels for _ in range(2)]),
        Column("outputs of", ["all sentences", "one sentence"] * len(levels)),
    ]
    figures: dict[str, list[Estimate | None]] = {
        "r": [e for level in levels for e in (level.pooled["pearson"], level.within["pearson"])],
        "ρ": [e for level in levels for e in (level.pooled["spearman"], level.within["spearman"])],
        "accuracy": [e for level in levels for e in (None, level.accuracy)],
    }
    for name, estimates in figures.items():
        columns += estimate_columns(name, estimates, ".3f", result.confidence)
    columns.append(Column("ε", [e for level in levels for e in (None, level.threshold)], ".3g"))
    drawn = "" if math.isnan(levels[0].pooled["pearson"].low) else "; intervals over sentences"
    caption = (
        f"{result.outputs} rated outputs of {result.sentences} sentences{drawn}",
        "one sentence: mean over sentences of the correlation among its outputs; accuracy: pairs "
        "of outputs of one sentence, ties included (acc_eq, Deutsch et al. 2023), a metric tie "
        "being a difference up to ε chosen on other sentences (five folds; shown is the mean)",
        *(f"note: {note}" for note in result.notes),
        f"signature: {result.signature}",
    )
    return Table.of(
        columns,
        title="Agreement with people's ratings",
        name="ratings",
        caption="\n".join(caption),
        signature=result.signature,
    )
