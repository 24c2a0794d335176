"""Tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from errata.core.errors import escape_controls
from errata.core.stats import Estimate, Interval
from errata.data import Scores, short_names
from errata.metrics import Metric
from errata.plots.mpl import (
    ACCENT,
    FAINT,
    INK,
    LETTER,
    add_legend,
    new_figure,
    panel_title,
    panels_in_rows,
    with_style,
)
from errata.references.sets import SetAgreements, SetCurve, SetOperations, SetScores
from errata.references.study import CurvePoint, ReferenceStudy
from errata.tables.cells import Cell, score_format, unit
from errata.tables.table import Table, joined_signatures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Dark to light: told apart in print and by people who see few colours.
SHADES = ("#14406b", "#3f7fbf", "#9cc3e6", "#d9a441")
LINES = (INK, ACCENT, "#5a7d2a", "#7a4f9a", "#b8860b", "#2a8c8c", "#555555", "#c06090")
MARKS = "os^Dv<>P"
HATCHES = ("", "////", "....", "xxxx")
ABREAST = 4  # columns of a ranking, for panels that stand abreast
APART = 1.1  # inches between two columns of a ranking
FAR = 3  # places between two rankings that make a line stand out


@with_style
def edit_bars(found: Sequence[SetOperations]) -> Figure:
    """The share of sentences changed and, by kind, the edits per sentence, a bar for each set."""
    n = len(found)
    figure = new_figure(7.6, 1.3 + 0.32 * n)
    shares, edits = figure.subplots(1, 2, sharey=True, width_ratios=(2, 3))
    places = np.arange(n)
    shares.barh(places, [100 * each.changed for each in found], color=FAINT, height=0.7)
    shares.set_xlabel("sentences changed (%)")
    shares.set_xlim(0, 100)
    left = np.zeros(n)
    for kind, shade in zip(found[0].kinds, SHADES, strict=True):
        wide = np.array([each.kinds[kind] for each in found])
        edits.barh(places, wide, left=left, color=shade, height=0.7, label=kind)
        left += wide
    edits.set_xlabel("TER edits per sentence")
    edits.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), handlelength=1)
    names = [escape_controls(f"{each.name} ({each.references})") for each in found]
    shares.set_yticks(places, names, parse_math=False)
    shares.invert_yaxis()
    for panel in (shares, edits):
        panel.grid(axis="x")
        panel.tick_params(axis="y", length=0)
    return figure


@with_style
def correlation_bars(found: SetAgreements, names: Sequence[str]) -> Figure:
    """Correlations with people: a group of bars for each metric, a bar for each reference set.

    Spearman's ρ above and Pearson's r below; whiskers are the intervals (Sakaguchi et al. 2016,
    Figure 3).
    """
    sets = [f"{each.name} ({each.references})" for each in found.scored[0].sets]
    width = 0.8 / len(sets)
    figure = new_figure(2.4 + 0.32 * len(sets) * len(names), 5.6)
    panels = figure.subplots(2, 1, sharex=True)
    for panel, (kind, symbol) in zip(
        panels, (("spearman", "Spearman's ρ"), ("pearson", "Pearson's r")), strict=True
    ):
        for k in range(len(sets)):
            at = np.arange(len(names)) - 0.4 + (k + 0.5) * width
            values = np.array([by_set[k].values[kind] for by_set in found.agreements])
            look = {"color": LINES[k % len(LINES)]}
            if k >= len(LINES):  # where colours come again
                look |= {"hatch": HATCHES[k // len(LINES) % len(HATCHES)], "edgecolor": "white"}
            panel.bar(at, values, width * 0.92, **look)
            for x, by_set in zip(at, found.agreements, strict=True):
                if by_set[k].intervals:
                    interval = by_set[k].intervals[kind]
                    panel.plot([x, x], [interval.low, interval.high], color="black", linewidth=0.8)
        panel.axhline(0, color="black", linewidth=0.8)
        panel.set_ylabel(symbol)
        panel.set_ylim(-1.05, 1.05)
        panel.grid(axis="y")
    labels = [escape_controls(name) for name in names]
    panels[-1].set_xticks(range(len(names)), labels, parse_math=False)
    add_legend(figure, panels[0].containers, sets, loc="outside right upper")
    return figure


@with_style
def curve_plot(curves: Mapping[str, Sequence[SetCurve]], headlines: Sequence[str]) -> Figure:
    """Scores against the number of references, a panel for each metric, a line for each set.

    The line is the mean over the systems, the bars reach from the worst to the best of them
    (Sakaguchi et al. 2016, Figure 5).
    """
    figure, panels = panels_in_rows(len(curves), 3.6, 3.4, beside=1.2)
    for panel, (name, several), headline in zip(panels, curves.items(), headlines, strict=True):
        for k, curve in enumerate(several):
            _curve(panel, curve, k, (k - (len(several) - 1) / 2) * 0.08)
        most = max(point.references for curve in several for point in curve.points)
        panel.set_xticks(range(1, most + 1))
        panel.set_xlim(0.5, most + 0.5)
        panel.set_title(panel_title(name, 3.6), parse_math=False)
        panel.set_xlabel("references")
        panel.set_ylabel(escape_controls(headline), parse_math=False)
        panel.grid(axis="y")
    names = [curve.name for curve in next(iter(curves.values()))]
    if len(names) > 1:  # beside the panels, where it covers no bar
        add_legend(figure, panels[0].get_lines(), names, loc="outside right upper")
    return figure


def _curve(panel: Axes, curve: SetCurve, k: int, aside: float) -> None:
    x = np.array([point.references for point in curve.points]) + aside
    mean, low, high = np.array([point.over_systems for point in curve.points]).T
    colour = LINES[k % len(LINES)]
    panel.vlines(x, low, high, color=colour, linewidth=1, alpha=0.6)
    panel.plot(x, mean, color=colour, marker=MARKS[k % len(MARKS)], markersize=4)


@with_style
def slope_graph(rankings: Mapping[str, Mapping[str, Scores]]) -> Figure:
    """Rankings side by side, a panel for each metric: a line joins the places of a system.

    ``rankings[metric][column]`` are scores of the same systems, best on top. Systems of equal
    score share the mean of their places; lines that fall or rise by three places or more stand out
    (Sakaguchi et al. 2016, Figure 4).
    """
    systems = max(len(scores) for columns in rankings.values() for scores in columns.values())
    wide = max(len(columns) for columns in rankings.values())
    below = wide > ABREAST  # long rankings stand below each other
    across, down = (1, len(rankings)) if below else (len(rankings), 1)
    longest = max(len(name) for columns in rankings.values() for name in _systems(columns))
    beside = 2 * max(0.0, LETTER * longest - APART)  # what names take beside the panel
    figure = new_figure((1.9 + APART * wide + beside) * across, (0.9 + 0.26 * systems) * down)
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for panel, (name, columns) in zip(panels, rankings.items(), strict=True):
        places = {column: _places(scores) for column, scores in columns.items()}
        for system in _systems(columns):
            heights = [place[system] for place in places.values()]
            for x, (one, other) in enumerate(pairwise(heights)):
                far = abs(one - other) >= FAR
                colour, line = (ACCENT, 1.4) if far else (INK, 0.9)
                panel.plot([x, x + 1], [one, other], color=colour, linewidth=line)
            panel.scatter(range(len(heights)), heights, s=14, color=INK, zorder=3)
        ends = [*places.values()]
        _write_names(panel, ends[0], -0.08, "right")
        _write_names(panel, ends[-1], len(ends) - 0.92, "left")
        panel.set_title(escape_controls(name), parse_math=False)
        _bare(panel, [panel_title(column, APART) for column in columns], systems)
    return figure


def _systems(columns: Mapping[str, Scores]) -> tuple[str, ...]:
    return next(iter(columns.values())).systems


def _write_names(panel: Axes, places: Mapping[str, float], x: float, side: str) -> None:
    """Write the systems at one end; those of one place below each other, as many as its places."""
    for height in sorted({*places.values()}):
        names = "\n".join(
            escape_controls(name) for name, place in places.items() if place == height
        )
        panel.text(x, height, names, ha=side, va="center", parse_math=False)


def _bare(panel: Axes, columns: Sequence[str], systems: int) -> None:
    """Nothing but the columns' names: places are read from the lines."""
    panel.set_xticks(range(len(columns)), columns, parse_math=False)
    panel.set_xlim(-1.1, len(columns) + 0.1)
    panel.set_ylim(systems + 0.6, 0.4)
    panel.set_yticks([])
    panel.tick_params(axis="x", length=0, labeltop=True, labelbottom=False)
    for edge in panel.spines.values():
        edge.set_visible(False)


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
