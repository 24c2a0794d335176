"""Studies of reference sets as tables."""

from __future__ import annotations

from collections.abc import Sequence

from errata.data import Scores, short_names
from errata.metrics import Metric
from errata.numbers import Interval
from errata.report.table import Cell, Table, joined_signatures
from errata.studies.reference_sets import CurvePoint, ReferenceStudy

__all__ = ["annotator_table", "curve_table", "self_check_table", "study_tables"]


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
        for scores, name in _named(results)
    ]
    return Table(
        ("annotator", "metric", "figure", "score", level),
        tuple(rows),
        signature=joined_signatures(scores.signature for scores, _ in _named(results)),
        title="Annotators as systems, against the other annotators",
        name="annotators_as_systems",
    ).without_empty(level)


def _named(results: Sequence[Sequence[Scores]]) -> list[tuple[Scores, str]]:
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
        tuple(_figure(scores, name) for scores, name in _named(results)),
        signature=joined_signatures(scores.signature for scores, _ in _named(results)),
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
