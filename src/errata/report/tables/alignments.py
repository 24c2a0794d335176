"""Alignments as tables, a row for each of their columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from errata.metrics.imeasure.three_way import ThreeWay
from errata.report.table import Cell, Table
from errata.studies.alignments import ChunkedSentence, M2Verdict

__all__ = ["chunk_table", "judged_edit_table", "three_way_table"]

Number = Callable[[int], int]  # the number a sentence has for people


def three_way_table(
    several: Sequence[ThreeWay], label: str, number: Number, *, signature: str
) -> Table:
    """One row per column of the alignment; a gap is empty."""
    rows: list[tuple[Cell, ...]] = [
        (
            number(each.sentence),
            each.system,
            each.annotator,
            k,
            *column,
            column.counts_as(each.aspect),
        )
        for each in several
        for k, column in enumerate(each.columns, 1)
    ]
    columns = ("sentence", "system", "annotator", "position", "source", "hypothesis", "reference")
    return Table(
        (*columns, "counts as"),
        tuple(rows),
        title=f"{label}: source, hypothesis and reference aligned",
        name=label,
        signature=signature,
    )


def chunk_table(
    several: Sequence[ChunkedSentence],
    systems: Sequence[str],
    label: str,
    number: Number,
    *,
    dummies: bool = False,
    signature: str,
) -> Table:
    """One row per gold chunk: what stands there, and what each system made of it."""
    by_system = [column for name in systems for column in (name, f"{name} right")]
    rows: list[tuple[Cell, ...]] = [
        (
            number(each.sentence),
            each.annotator,
            k,
            chunk.source,
            chunk.gold,
            chunk.error,
            *(
                cell
                for text, right in zip(chunk.written, chunk.right, strict=True)
                for cell in (text, right)
            ),
            int(chunk.solved),  # of how many systems it is right
            chunk.weight,
        )
        for each in several
        for k, chunk in enumerate(each.chunks)
        if dummies or chunk.touched
    ]
    columns = ("sentence", "annotator", "chunk", "source", "gold", "error", *by_system)
    return Table(
        (*columns, "right", "weight"),
        tuple(rows),
        title=f"{label}: gold chunks, and who gets them right",
        name=label,
        signature=signature,
    )


def judged_edit_table(
    several: Sequence[M2Verdict],
    sources: Sequence[str],
    label: str,
    number: Number,
    *,
    signature: str,
) -> Table:
    """One row per edit: what it changes, and whether it is in the gold, in the output or both."""
    rows: list[tuple[Cell, ...]] = [
        (
            number(each.sentence),
            each.system,
            each.annotator,
            each.edit.start,
            each.edit.end,
            " ".join(sources[each.sentence].split()[each.edit.start : each.edit.end]),
            each.edit.replacement,
            each.edit.kind,
            each.verdict,
        )
        for each in several
    ]
    columns = ("sentence", "system", "annotator", "start", "end", "source", "correction", "kind")
    return Table(
        (*columns, "edit is"),
        tuple(rows),
        title=f"{label}: the edits that were compared",
        name=label,
        signature=signature,
    )
