"""Tables and figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from errata.core.stats import Estimate, Interval
from errata.data import Scores, short_names
from errata.meta.system_level import SystemAgreement
from errata.metrics import Metric
from errata.plots import (
    BETWEEN,
    COLOURS,
    FAINT,
    LETTER,
    SHADES,
    Bars,
    BarSeries,
    Line,
    Lines,
    Panels,
    Slopes,
)
from errata.references.sets import SetAgreements, SetCurve, SetOperations, SetScores
from errata.references.study import CurvePoint, ReferenceStudy
from errata.tables.cells import Cell, score_format, unit
from errata.tables.table import Table, joined_signatures


def edit_bars(found: Sequence[SetOperations]) -> Panels[Bars]:
    """The share of sentences changed and, by kind, the edits per sentence, a bar for each set."""
    names = [f"{each.name} ({each.references})" for each in found]

    def series(name: str, values: Sequence[float], colour: str) -> BarSeries:
        return BarSeries(name, [Estimate(v, math.nan, math.nan) for v in values], [colour])

    changed = series("changed", [100 * each.changed for each in found], FAINT)
    kinds = [
        series(kind, [each.kinds[kind] for each in found], shade)
        for kind, shade in zip(found[0].kinds, SHADES, strict=True)
    ]
    shapes = [
        Bars(names, [changed], "sentences changed (%)", limits=Interval(0, 100)),
        Bars(names, kinds, "TER edits per sentence", stacked=True),
    ]
    return Panels(shapes, width=4.2, height=1.3 + 0.32 * len(found), same_rows=True)


def correlation_bars(found: SetAgreements, names: Sequence[str]) -> Panels[Bars]:
    """Correlations with people: a group of bars for each metric, a bar for each reference set.

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
                    [COLOURS[k % len(COLOURS)]],
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
    """Scores against the number of references, a panel for each metric, a line for each set.

    The line is the mean over the systems, the bars reach from the worst to the best of them
    (Sakaguchi et al. 2016, Figure 5).
    """
    shapes = []
    for (name, several), headline in zip(curves.items(), headlines, strict=True):
        most = max(point.references for curve in several for point in curve.points)
        lines = []
        for curve in several:
            known = {point.references: Estimate(*point.over_systems) for point in curve.points}
            lines.append(Line(curve.name, [known.get(n) for n in range(1, most + 1)]))
        places = [str(n) for n in range(1, most + 1)]
        shapes.append(Lines(lines, places, name, "references", headline))
    names = [curve.name for curve in next(iter(curves.values()))]
    legend = names if len(names) > 1 else ()
    return Panels(shapes, width=3.6, height=3.4, margin=1.2, legend=legend)


def slope_graph(rankings: Mapping[str, Mapping[str, Scores]]) -> Panels[Slopes]:
    """Rankings side by side, a panel for each metric: a line joins the places of a system.

    ``rankings[metric][column]`` are scores of the same systems, best on top. Systems of equal
    score share the mean of their places; lines that fall or rise by three places or more stand out
    (Sakaguchi et al. 2016, Figure 4).
    """
    every = [scores for columns in rankings.values() for scores in columns.values()]
    systems = max(map(len, every))
    wide = max(map(len, rankings.values()))
    shapes = [
        Slopes({column: _places(scores) for column, scores in columns.items()}, name)
        for name, columns in rankings.items()
    ]
    longest = max(len(name) for scores in every for name in scores.systems)
    width = 1.9 + BETWEEN * wide + 2 * max(0.0, LETTER * longest - BETWEEN)
    # Long rankings are below each other.
    across = 1 if wide > 4 else len(rankings)
    return Panels(shapes, width=width, height=0.9 + 0.26 * systems, across=across)


def _places(scores: Scores) -> dict[str, float]:
    """The place of each system, from 1; equal scores share the mean of their places."""
    ranks = [rank if rank is not None else len(scores) for rank in scores.ranks]
    return {
        system: rank + (ranks.count(rank) - 1) / 2
        for system, rank in zip(scores.systems, ranks, strict=True)
    }


# ---- Studies of reference sets as tables.


def study_tables(study: ReferenceStudy, *, signature: str = "") -> list[Table]:
    """What annotators change, how much they agree, and where they do not."""
    sets = Table(
        (
            "annotator",
            "sentences",
            "changed %",
            "sTER",
            "insertions",
            "deletions",
            "substitutions",
            "shifts",
        ),
        tuple(
            (
                s.annotator,
                s.sentences,
                100 * s.changed,
                s.ster,
                s.insertions,
                s.deletions,
                s.substitutions,
                s.shifts,
            )
            for s in study.sets
        ),
        title="What annotators change",
        name="reference_sets",
        signature=signature,
        caption="sTER: TER edits per sentence between source and correction; its four parts "
        "beside it",
        formats={"changed %": ".1f"}
        | dict.fromkeys(("sTER", "insertions", "deletions", "substitutions", "shifts"), ".2f"),
    )
    tables = [sets]
    if study.pairs:
        tables.append(
            Table(
                ("first", "second", "sentences", "identical %", "of these unchanged %", "sTER"),
                tuple(
                    (
                        p.first,
                        p.second,
                        p.sentences,
                        100 * p.identical,
                        100 * p.identical_unchanged,
                        p.ster,
                    )
                    for p in study.pairs
                ),
                title="How much annotators agree",
                name="reference_pairs",
                signature=signature,
                formats={"identical %": ".1f", "of these unchanged %": ".1f", "sTER": ".2f"},
            )
        )
    if study.disagreements:
        rows: list[tuple[Cell, ...]] = []
        for found in study.disagreements:
            rows.append((found.number, found.distance, "source", found.source))
            rows += [(None, None, "correction", text) for text in dict.fromkeys(found.texts)]
        tables.append(
            Table(
                ("sentence", "edits per word", "version", "text"),
                tuple(rows),
                title="Where annotators disagree most",
                name="disagreements",
                signature=signature,
                formats={"edits per word": ".2f"},
            )
        )
    return tables


def annotator_table(results: Sequence[Sequence[Scores]], *, confidence: float = 0.95) -> Table:
    """Each annotator scored against the others, a row per annotator and metric."""
    level = f"{confidence * 100:g} % interval"
    rows: list[tuple[Cell, ...]] = [
        (*_figure(scores, name), Interval(*scores.interval(confidence)[0].tolist()))
        for scores, name in _named_scores(results)
    ]
    return Table(
        ("annotator", "metric", "figure", "score", level),
        tuple(rows),
        signature=joined_signatures(scores.signature for scores, _ in _named_scores(results)),
        title="Annotators as systems, against the other annotators",
        name="annotators_as_systems",
    ).without_empty(level)


def _named_scores(results: Sequence[Sequence[Scores]]) -> list[tuple[Scores, str]]:
    """The scores of all metrics, each with a name that tells it from the other metrics."""
    names = short_names([scores[0] for scores in results if scores])
    return [
        (one, name)
        for scores, name in zip(filter(None, results), names, strict=True)
        for one in scores
    ]


def _figure(scores: Scores, name: str) -> tuple[Cell, ...]:
    return scores.systems[0], name, scores.headline, float(scores.values[0])


def self_check_table(results: Sequence[Sequence[Scores]]) -> Table:
    """Each annotator scored against the same annotator."""
    return Table(
        ("annotator", "metric", "figure", "score"),
        tuple(_figure(scores, name) for scores, name in _named_scores(results)),
        signature=joined_signatures(scores.signature for scores, _ in _named_scores(results)),
        name="self_check",
        title="Self-check: every reference against itself",
        caption="less than a perfect score: the metric does not find its own gold again",
    )


def curve_table(
    points: Sequence[CurvePoint], systems: Sequence[str], metric: Metric, *, signature: str = ""
) -> Table:
    """Scores against the number of references."""
    rows: list[tuple[Cell, ...]] = [(p.references, p.subsets, *p.values) for p in points]
    return Table(
        ("references", "subsets", *systems),
        tuple(rows),
        name=f"{metric.name}_curve",
        title=f"{metric.label} against the number of references",
        signature=signature,
        caption="mean over subsets of annotators, on sentences all of them corrected",
    )


# ---- Studies of several reference sets as tables.

PEOPLE = "people"
KINDS = {"spearman": "ρ", "pearson": "r"}


def metric_names(scored: Sequence[SetScores]) -> tuple[str, ...]:
    """The metrics as a heading names them."""
    return short_names([found.scores[0] for found in scored])


def set_operation_table(
    found: Sequence[SetOperations], *, notes: Sequence[str] = (), signature: str = ""
) -> Table:
    """The kinds of edit by reference set."""
    kinds = tuple(found[0].kinds)
    return Table(
        ("set", "references", "sentences", "changed %", "sTER", *kinds),
        tuple(
            (s.name, s.references, s.sentences, 100 * s.changed, s.ster, *s.kinds.values())
            for s in found
        ),
        title="What the reference sets change",
        name="set_edits",
        signature=signature,
        caption="\n".join(
            (
                "means over all corrections of a set; sTER: TER edits per sentence, its parts "
                "beside it",
                *(f"note: {note}" for note in notes),
            )
        ),
        formats={"changed %": ".1f"} | dict.fromkeys(("sTER", *kinds), ".2f"),
    )


def set_score_table(found: SetScores, name: str, *, confidence: float = 0.95) -> Table:
    """Systems as rows, reference sets as columns, in the order of the first set."""
    intervals = [scores.interval(confidence) for scores in found.scores]
    first = found.scores[0]
    sampled = first.resampled is not None
    what = f" ± half the width of the {confidence * 100:g} % interval" if sampled else ""
    rows: list[tuple[Cell, ...]] = [
        (
            first.systems[s],
            *(
                Estimate(float(scores.values[s]), *interval[s].tolist())
                for scores, interval in zip(found.scores, intervals, strict=True)
            ),
        )
        for s in first.order
    ]
    return Table(
        ("system", *(each.name for each in found.sets)),
        tuple(rows),
        title=f"{name}: {first.headline} by reference set{unit(found.scores)}{what}",
        name=f"{name}_by_set",
        formats={each.name: score_format(first, first.headline) for each in found.sets},
        signature=found.signature,
    )


def set_rank_table(found: SetScores, name: str, people: Scores | None) -> Table:
    """The rank of each system by every reference set, and by people where they were asked."""
    systems = found.scores[0].systems
    leader = found.scores[0]
    if people is not None:
        systems = tuple(system for system in people.systems if system in systems)
        leader = people.select(systems)
    sides = ([] if people is None else [leader]) + [s.select(systems) for s in found.scores]
    ranks = [side.ranks for side in sides]
    order = leader.select(systems).order
    return Table(
        ("system", *(() if people is None else (PEOPLE,)), *(each.name for each in found.sets)),
        tuple((systems[s], *(rank[s] for rank in ranks)) for s in order),
        title=f"{name}: ranks by reference set",
        name=f"{name}_ranks",
        signature="; ".join(
            (*(() if people is None else (f"people: {people.signature}",)), found.signature)
        ),
    )


def set_correlation_tables(found: SetAgreements) -> list[Table]:
    """Correlations of metrics with people, a row per reference set; then each with its interval."""
    names = metric_names(found.scored)
    sets = found.scored[0].sets
    columns = [f"{name} {symbol}" for name in names for symbol in KINDS.values()]
    matrix: list[tuple[Cell, ...]] = [
        (
            each.name,
            each.references,
            *(by_set[k].values[kind] for by_set in found.agreements for kind in KINDS),
        )
        for k, each in enumerate(sets)
    ]
    people = f"people: {found.paired.people.scorer}; {len(found.paired)} systems"
    tables = [
        Table(
            ("set", "references", *columns),
            tuple(matrix),
            title="Agreement with people by reference set",
            name="set_correlations",
            caption="\n".join((people, *(f"note: {note}" for note in found.notes))),
            signature=found.signature,
            formats=dict.fromkeys(columns, ".3f"),
        )
    ]
    if found.agreements[0][0].intervals:
        tables.append(_intervals(found, names))
    return tables


def _intervals(found: SetAgreements, names: Sequence[str]) -> Table:
    level = f"{found.confidence * 100:g} %"
    sets = found.scored[0].sets
    rows: list[tuple[Cell, ...]] = []
    for name, by_set in zip(names, found.agreements, strict=True):
        for each, one in zip(sets, by_set, strict=True):
            cells = [(one.values[kind], one.intervals[kind]) for kind in KINDS]
            rows.append((name, each.name, *(cell for pair in cells for cell in pair)))
    columns = [c for symbol in KINDS.values() for c in (symbol, f"{symbol} {level}")]
    return Table(
        ("metric", "set", *columns),
        tuple(rows),
        title="The same with intervals",
        name="set_correlation_intervals",
        signature=found.signature,
        formats=dict.fromkeys(columns, ".3f"),
        rules=frozenset(range(len(sets) - 1, len(rows) - 1, len(sets))),
    )


def set_curve_table(curves: Sequence[SetCurve], name: str, *, signature: str = "") -> Table:
    """Mean, minimum and maximum over systems against the number of references of each set."""
    rows: list[tuple[Cell, ...]] = [
        (curve.name, point.references, point.subsets, *point.over_systems)
        for curve in curves
        for point in curve.points
    ]
    return Table(
        ("set", "references", "subsets", "mean", "minimum", "maximum"),
        tuple(rows),
        title=f"{name} over the systems, against the number of references",
        name=f"{name}_set_curve",
        signature=signature,
        caption="means over subsets of a set's annotators, on sentences all of them corrected; "
        "then mean, minimum and maximum over the systems",
    )
