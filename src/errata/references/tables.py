"""Tables and figures of reference sets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from errata import plots
from errata.core.stats import Estimate, Interval
from errata.data import Scores, short_names
from errata.meta.system_level import SystemAgreement
from errata.metrics import Metric
from errata.plots import Bars, BarSeries, Line, Lines, Panels, Slopes
from errata.references.sets import SetAgreements, SetCurve, SetScores
from errata.references.study import EDIT_KINDS, CurvePoint, ReferenceSet, ReferenceStudy
from errata.tables.cells import Cell, percent_suffix, score_format
from errata.tables.table import Column, Table, estimate_columns, join_signatures


def edit_bars(found: Sequence[ReferenceSet]) -> Panels[Bars]:
    """Return the share of sentences changed and the edits by kind, a bar for each set."""
    names = [f"{each.name} ({each.references})" for each in found]

    def series(name: str, values: Sequence[float], colour: str) -> BarSeries:
        return BarSeries(name, [Estimate(v, math.nan, math.nan) for v in values], [colour])

    changed = series("changed", [100 * each.changed for each in found], plots.FAINT)
    kinds = [
        series(kind, [getattr(each, kind) for each in found], shade)
        for kind, shade in zip(EDIT_KINDS, plots.SHADES, strict=True)
    ]
    shapes = [
        Bars(names, [changed], "sentences changed (%)", limits=Interval(0, 100)),
        Bars(names, kinds, "TER edits per sentence", stacked=True),
    ]
    return Panels(shapes, width=4.2, height=1.3 + 0.32 * len(found), same_rows=True)


def correlation_bars(found: SetAgreements, names: Sequence[str]) -> Panels[Bars]:
    """Return correlations with people: bars for each metric, one for each reference set.

    Spearman's ρ and Pearson's r; whiskers are the intervals (Sakaguchi et al. 2016, Figure 3).
    """
    sets = [f"{each.name} ({each.references})" for each in found.scored[0].sets]

    def estimate(agreement: SystemAgreement, kind: str) -> Estimate:
        return Estimate(
            agreement.values[kind], *agreement.intervals.get(kind, (math.nan, math.nan))
        )

    shapes = [
        Bars(
            names,
            [
                BarSeries(
                    name,
                    [estimate(by_set[k], kind) for by_set in found.agreements],
                    [plots.COLOURS[k % len(plots.COLOURS)]],
                )
                for k, name in enumerate(sets)
            ],
            symbol,
            limits=Interval(-1.05, 1.05),
        )
        for kind, symbol in (("spearman", "Spearman's ρ"), ("pearson", "Pearson's r"))
    ]
    height = 1.0 + max(0.4, 0.16 * len(sets)) * len(names)
    return Panels(shapes, width=4.0, height=height, margin=1.2, same_rows=True, legend=sets)


def curve_plot(curves: Mapping[str, Sequence[SetCurve]], headlines: Sequence[str]) -> Panels[Lines]:
    """Return scores against the number of references, a panel per metric and a line per set.

    The line is the mean over the systems, the bars reach from the worst to the best of them
    (Sakaguchi et al. 2016, Figure 5).
    """
    shapes = []
    for (name, several), headline in zip(curves.items(), headlines, strict=True):
        most = max(point.references for curve in several for point in curve.points)
        lines = []
        for curve in several:
            known = {point.references: Estimate(*point.mean_min_max) for point in curve.points}
            lines.append(Line(curve.name, [known.get(n) for n in range(1, most + 1)]))
        places = [str(n) for n in range(1, most + 1)]
        shapes.append(Lines(lines, places, name, "references", headline))
    names = [curve.name for curve in next(iter(curves.values()))]
    legend = names if len(names) > 1 else ()
    return Panels(shapes, width=3.6, height=3.4, margin=1.2, legend=legend)


def slope_graph(rankings: Mapping[str, Mapping[str, Scores]]) -> Panels[Slopes]:
    """Return rankings side by side, a panel for each metric: a line joins the places of a system.

    ``rankings[metric][column]`` are scores of the same systems, best on top. Lines that fall or
    rise by three places or more are highlighted (Sakaguchi et al. 2016, Figure 4).
    """
    every = [scores for columns in rankings.values() for scores in columns.values()]
    systems = max(map(len, every))
    wide = max(map(len, rankings.values()))
    shapes = [
        Slopes({column: _mean_ranks(scores) for column, scores in columns.items()}, name)
        for name, columns in rankings.items()
    ]
    longest = max(len(name) for scores in every for name in scores.systems)
    width = 1.9 + plots.BETWEEN * wide + 2 * max(0.0, plots.LETTER * longest - plots.BETWEEN)
    # Long rankings are below each other.
    across = 1 if wide > 4 else len(rankings)
    return Panels(shapes, width=width, height=0.9 + 0.26 * systems, across=across)


def _mean_ranks(scores: Scores) -> dict[str, float]:
    """Return the rank of each system; equal scores share the mean of their ranks."""
    ranks = [rank if rank is not None else len(scores) for rank in scores.ranks]
    return {
        system: rank + (ranks.count(rank) - 1) / 2
        for system, rank in zip(scores.systems, ranks, strict=True)
    }


def study_tables(study: ReferenceStudy, *, signature: str = "") -> list[Table]:
    """Return what annotators change, how much they agree, and where they do not."""
    sets, pairs = study.sets, study.pairs
    tables = [
        Table.of(
            [Column("annotator", [s.name for s in sets]), *_edit_kind_columns(sets)],
            title="What annotators change",
            name="reference_sets",
            caption="sTER: TER edits per sentence between source and correction; its four parts "
            "beside it",
            signature=signature,
        )
    ]
    if pairs:
        unchanged = [100 * p.identical_unchanged for p in pairs]
        tables.append(
            Table.of(
                [
                    Column("first", [p.first for p in pairs]),
                    Column("second", [p.second for p in pairs]),
                    Column("sentences", [p.sentences for p in pairs]),
                    Column("identical %", [100 * p.identical for p in pairs], ".1f"),
                    Column("of these unchanged %", unchanged, ".1f"),
                    Column("sTER", [p.ster for p in pairs], ".2f"),
                ],
                title="How much annotators agree",
                name="reference_pairs",
                signature=signature,
            )
        )
    if study.disagreements:
        rows: list[tuple[Cell, ...]] = []
        for found in study.disagreements:
            rows.append((found.number, found.distance, "source", found.source))
            rows += [(None, None, "correction", text) for text in dict.fromkeys(found.texts)]
        head = ("sentence", "edits per word", "version", "text")
        table = Table(head, tuple(rows), "Where annotators disagree most", name="disagreements")
        formats = {"edits per word": ".2f"}
        tables.append(replace(table, signature=signature, formats=formats))
    return tables


def _edit_kind_columns(sets: Sequence[ReferenceSet]) -> list[Column]:
    return [
        Column("sentences", [s.sentences for s in sets]),
        Column("changed %", [100 * s.changed for s in sets], ".1f"),
        Column("sTER", [s.ster for s in sets], ".2f"),
        *(Column(kind, [getattr(s, kind) for s in sets], ".2f") for kind in EDIT_KINDS),
    ]


def annotator_table(results: Sequence[Sequence[Scores]], *, confidence: float) -> Table:
    """Return each annotator scored against the others, a row per annotator and metric."""
    named = _flatten_named_scores(results)
    intervals = [Interval(*one.interval(confidence)[0].tolist()) for one, _ in named]
    return Table.of(
        [
            *_score_columns(named),
            Column(f"{confidence * 100:g} % interval", intervals, optional=True),
        ],
        title="Annotators as systems, against the other annotators",
        name="annotators_as_systems",
        signature=join_signatures(scores.signature for scores, _ in named),
    )


def _flatten_named_scores(results: Sequence[Sequence[Scores]]) -> list[tuple[Scores, str]]:
    """Return the scores of all metrics in one list, each with a unique name of its metric."""
    names = short_names([scores[0] for scores in results if scores])
    return [
        (one, name)
        for scores, name in zip(filter(None, results), names, strict=True)
        for one in scores
    ]


def _score_columns(named: Sequence[tuple[Scores, str]]) -> list[Column]:
    return [
        Column("annotator", [one.systems[0] for one, _ in named]),
        Column("metric", [name for _, name in named]),
        Column("figure", [one.headline for one, _ in named]),
        Column("score", [float(one.values[0]) for one, _ in named]),
    ]


def self_check_table(results: Sequence[Sequence[Scores]]) -> Table:
    """Return each annotator scored against the same annotator."""
    named = _flatten_named_scores(results)
    return Table.of(
        _score_columns(named),
        title="Self-check: every reference against itself",
        name="self_check",
        caption="less than a perfect score: the metric does not find its own gold again",
        signature=join_signatures(scores.signature for scores, _ in named),
    )


def curve_table(
    points: Sequence[CurvePoint], systems: Sequence[str], metric: Metric, *, signature: str = ""
) -> Table:
    """Return scores against the number of references."""
    return Table.of(
        [
            Column("references", [p.references for p in points]),
            Column("subsets", [p.subsets for p in points]),
            *(Column(system, [p.values[k] for p in points]) for k, system in enumerate(systems)),
        ],
        title=f"{metric.label} against the number of references",
        name=f"{metric.name}_curve",
        caption="mean over subsets of annotators, on sentences all of them corrected",
        signature=signature,
    )


PEOPLE = "people"
KINDS = {"spearman": "ρ", "pearson": "r"}


def metric_names(scored: Sequence[SetScores]) -> tuple[str, ...]:
    return short_names([found.scores[0] for found in scored])


def set_operation_table(
    found: Sequence[ReferenceSet], *, notes: Sequence[str] = (), signature: str = ""
) -> Table:
    """Return the kinds of edit by reference set."""
    return Table.of(
        [
            Column("set", [s.name for s in found]),
            Column("references", [s.references for s in found]),
            *_edit_kind_columns(found),
        ],
        title="What the reference sets change",
        name="set_edits",
        caption="means over all corrections of a set; sTER: TER edits per sentence, its parts "
        "beside it",
        notes=notes,
        signature=signature,
    )


def set_score_table(found: SetScores, name: str, *, confidence: float) -> Table:
    """Return scores with systems as rows and reference sets as columns."""
    first = found.scores[0]
    spec = score_format(first, first.headline)
    sampled = first.resampled is not None
    what = f" ± half the width of the {confidence * 100:g} % interval" if sampled else ""

    def cells(scores: Scores) -> list[Cell]:
        ends = scores.interval(confidence).tolist()
        return [Estimate(float(scores.values[s]), *ends[s]) for s in first.order]

    return Table.of(
        [
            Column("system", [first.systems[s] for s in first.order]),
            *(
                Column(each.name, cells(scores), spec)
                for each, scores in zip(found.sets, found.scores, strict=True)
            ),
        ],
        title=f"{name}: {first.headline} by reference set{percent_suffix(found.scores)}{what}",
        name=f"{name}_by_set",
        signature=found.signature,
    )


def set_rank_table(found: SetScores, name: str, people: Scores | None) -> Table:
    """Return the rank of each system by every reference set, and by people if they were asked."""
    systems = found.scores[0].systems
    if people is not None:
        systems = tuple(system for system in people.systems if system in systems)
    sides = {} if people is None else {PEOPLE: people.select(systems)}
    sides |= {
        each.name: scores.select(systems)
        for each, scores in zip(found.sets, found.scores, strict=True)
    }
    order = next(iter(sides.values())).order
    asked = () if people is None else (f"people: {people.signature}",)
    return Table.of(
        [
            Column("system", [systems[s] for s in order]),
            *(Column(head, [side.ranks[s] for s in order]) for head, side in sides.items()),
        ],
        title=f"{name}: ranks by reference set",
        name=f"{name}_ranks",
        signature="; ".join((*asked, found.signature)),
    )


def set_correlation_tables(found: SetAgreements) -> list[Table]:
    """Return correlations of metrics with people by reference set; then each with its interval."""
    names, sets = metric_names(found.scored), found.scored[0].sets
    by_metric = list(zip(names, found.agreements, strict=True))
    tables = [
        Table.of(
            [
                Column("set", [each.name for each in sets]),
                Column("references", [each.references for each in sets]),
                *(
                    Column(f"{name} {symbol}", [each.values[kind] for each in by_set], ".3f")
                    for name, by_set in by_metric
                    for kind, symbol in KINDS.items()
                ),
            ],
            title="Agreement with people by reference set",
            name="set_correlations",
            caption=f"people: {found.paired.people.scorer}; {len(found.paired)} systems",
            notes=found.notes,
            signature=found.signature,
        )
    ]
    if not found.agreements[0][0].intervals:
        return tables
    columns = [
        Column("metric", [name for name in names for _ in sets]),
        Column("set", [each.name for _ in names for each in sets]),
    ]
    for kind, symbol in KINDS.items():
        flat = [
            Estimate(each.values[kind], *each.intervals[kind])
            for by_set in found.agreements
            for each in by_set
        ]
        columns += estimate_columns(symbol, flat, ".3f", found.confidence)
    ends = range(len(sets) - 1, len(names) * len(sets) - 1, len(sets))
    title, name = "The same with intervals", "set_correlation_intervals"
    tables.append(Table.of(columns, title=title, name=name, signature=found.signature, rules=ends))
    return tables


def set_curve_table(curves: Sequence[SetCurve], name: str, *, signature: str = "") -> Table:
    """Return mean, minimum and maximum over systems by number of references of each set."""
    points = [(curve.name, point) for curve in curves for point in curve.points]
    return Table.of(
        [
            Column("set", [owner for owner, _ in points]),
            Column("references", [point.references for _, point in points]),
            Column("subsets", [point.subsets for _, point in points]),
            *(
                Column(head, [point.mean_min_max[k] for _, point in points])
                for k, head in enumerate(("mean", "minimum", "maximum"))
            ),
        ],
        title=f"{name} over the systems, against the number of references",
        name=f"{name}_set_curve",
        caption="means over subsets of a set's annotators, on sentences all of them corrected; "
        "then mean, minimum and maximum over the systems",
        signature=signature,
    )
