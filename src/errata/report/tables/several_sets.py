"""Studies of several reference sets as tables."""

from __future__ import annotations

from collections.abc import Sequence

from errata.data import Scores, short_names
from errata.numbers import Estimate
from errata.report.table import Cell, Table
from errata.report.tables.formats import score_format, unit
from errata.studies.several_sets import SetAgreements, SetCurve, SetOperations, SetScores

__all__ = [
    "metric_names",
    "set_correlation_tables",
    "set_curve_table",
    "set_operation_table",
    "set_rank_table",
    "set_score_table",
]

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
