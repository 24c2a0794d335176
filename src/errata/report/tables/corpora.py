"""Several corpora as tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from errata.numbers import Interval, plural
from errata.report.cells import Places, Ranks
from errata.report.table import Cell, Table, joined_signatures
from errata.report.tables.formats import score_format, unit
from errata.studies.corpora import AcrossCorpora, CorpusFacts, Stability, rank_changes, stability

__all__ = ["across_table", "corpus_kind_table", "corpus_table", "stability_table"]


def corpus_table(facts: Sequence[CorpusFacts], *, signature: str) -> Table:
    """One row per corpus: its size, its references, and how much they change."""
    rows: list[tuple[Cell, ...]] = [
        (
            each.name,
            each.sentences,
            each.tokens,
            Ranks(each.fewest_references, each.most_references),
            each.systems,
            each.error_rate,
            each.changed,
            each.edits_per_100_tokens,
            len(each.kinds),
        )
        for each in facts
    ]
    columns = ("corpus", "sentences", "tokens", "references", "systems", "error rate", "changed")
    return Table(
        (*columns, "edits per 100 tokens", "kinds"),
        tuple(rows),
        title="Corpora",
        name="corpora",
        caption="\n".join(
            [
                "error rate: tokens to insert, delete or exchange by a reference, over tokens of "
                "the source; changed: share of references that change their sentence",
                *_remarks(facts),
            ]
        ),
        formats={"error rate": ".3f", "changed": ".1%", "edits per 100 tokens": ".2f"},
        signature=signature,
    )


def _remarks(facts: Sequence[CorpusFacts]) -> list[str]:
    found = []
    aligned = [each.name for each in facts if each.found and each.most_references]
    if aligned and len(aligned) < len(facts):
        found.append(
            f"note: edits of {', '.join(aligned)} were found by aligning texts, those of the "
            "others are annotated: their numbers do not compare, and their kinds only where "
            "--types gives all of them anew"
        )
    found += [
        f"note: {each.name}: {each.uncarried} {plural('reference', each.uncarried)} with "
        "overlapping edits have no text, and no part in error rate and changed"
        for each in facts
        if each.uncarried
    ]
    found += [f"note: {each.name} has no outputs" for each in facts if not each.systems]
    return found


def corpus_kind_table(facts: Sequence[CorpusFacts], most: int, *, signature: str) -> Table:
    """The most frequent kinds of edit: their share of the edits of each corpus."""
    mean = {
        kind: sum(each.kinds.get(kind, 0) / max(1, each.edits) for each in facts)
        for each in facts
        for kind in each.kinds
    }
    kinds = sorted(mean, key=lambda kind: (-mean[kind], kind))
    shown, others = kinds[:most], kinds[most:]
    rows: list[tuple[Cell, ...]] = [
        (kind, *(each.kinds.get(kind, 0) / max(1, each.edits) for each in facts)) for kind in shown
    ]
    if others:
        rows.append(
            (
                f"({len(others)} others)",
                *(
                    sum(each.kinds.get(kind, 0) for kind in others) / max(1, each.edits)
                    for each in facts
                ),
            )
        )
    names = [each.name for each in facts]
    return Table(
        ("kind", *names),
        tuple(rows),
        title="Kinds of edits, as shares of all edits of a corpus",
        name="kinds",
        formats=dict.fromkeys(names, ".1%"),
        signature=signature,
    )


def across_table(
    across: AcrossCorpora, base: AcrossCorpora | None = None, *, confidence: float = 0.95
) -> Table:
    """Systems as rows: score and rank on every corpus, and the change against a base metric."""
    changes = {} if base is None else rank_changes(across, base)
    columns = ["system"]
    for name in across.corpora:
        columns += [name, f"{name} rank", *([f"{name} change"] if changes else [])]
    rows = []
    for system in across.systems:
        row: list[Cell] = [system]
        for k in range(len(across.corpora)):
            row += [across.estimate(k, system, confidence), across.rank(k, system)]
            if changes:
                moved = changes[system][k]
                row.append(None if moved is None else Places(moved))
        rows.append(tuple(row))
    drawn = any(scores.resampled is not None for scores in across.scores)
    half = f" ± half the width of its {confidence * 100:g} % interval" if drawn else ""
    caption = [
        *([f"change: places gained or lost against {base.label}"] if base is not None else []),
        *_absences(across),
        *dict.fromkeys(f"note: {note}" for scores in across.scores for note in scores.notes),
    ]
    headline = across.scores[0].headline
    return Table(
        tuple(columns),
        tuple(rows),
        title=f"{across.label}: {headline}{unit(across.scores)}{half}, and rank",
        name=across.label,
        formats=dict.fromkeys(across.corpora, score_format(across.scores[0], headline)),
        caption="\n".join(caption),
        signature=joined_signatures(side.signature for side in (across, base) if side is not None),
    )


def _absences(across: AcrossCorpora) -> list[str]:
    """Systems that some corpora lack, those that lack the same ones together."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for system, names in across.missing().items():
        lacking.setdefault(names, []).append(system)
    return [
        f"note: no output on {', '.join(names)}: {', '.join(systems)}"
        for names, systems in lacking.items()
    ]


def stability_table(several: Sequence[AcrossCorpora], *, confidence: float = 0.95) -> Table:
    """One row per metric: Kendall's W over corpora, and how often the first place changes."""
    found = [stability(across, confidence=confidence) for across in several]
    level = f"{confidence * 100:g} %"
    columns = (
        "metric",
        "systems",
        "W",
        f"W {level}",
        "first changes",
        f"first changes {level}",
        "expected",
        "first places",
    )
    rows: list[tuple[Cell, ...]] = [
        (
            across.label,
            each.systems,
            each.w.value,
            Interval(each.w.low, each.w.high),
            each.changes.value,
            Interval(each.changes.low, each.changes.high),
            each.changes_drawn,
            _first_places(each),
        )
        for across, each in zip(several, found, strict=True)
    ]
    corpora = several[0].corpora
    drawn = any(scores.resampled is not None for scores in several[0].scores)
    caption = [
        f"W: Kendall's, 1 where all {len(corpora)} corpora rank alike; first changes: share of "
        "pairs of corpora without a common first"
        + ("; expected: its mean over resampled sentences" if drawn else "")
    ]
    missing = several[0].missing()
    if missing:
        caption.append(
            f"note: not on every corpus, and so without a part in this: {', '.join(missing)}"
        )
    if len(several[0].common) < 2:
        caption.append("note: the corpora share fewer than two systems: nothing can change places")
    else:
        caption += [
            f"note: {across.label}: all systems tie everywhere, so that W is undefined"
            for across, each in zip(several, found, strict=True)
            if np.isnan(each.w.value)
        ]
    table = Table(
        columns,
        tuple(rows),
        title="Does the ranking stay the same over corpora?",
        name="stability",
        caption="\n".join(caption),
        formats=dict.fromkeys(columns[2:7], ".3f"),
        signature=joined_signatures(across.signature for across in several),
    )
    for column in (columns[3], columns[5], columns[6]):
        table = table.without_empty(column)
    return table


def _first_places(found: Stability) -> str:
    """Who is first, with the corpora: one name where it is the same everywhere."""
    if len(set(found.first.values())) == 1:
        return ", ".join(next(iter(found.first.values())))
    return "; ".join(f"{name}: {', '.join(systems)}" for name, systems in found.first.items())
