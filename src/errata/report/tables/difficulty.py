"""What makes errors hard, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.evaluation import corpus_facts, scores_of
from errata.metrics.difficulty.map import DifficultyMap
from errata.numbers import Floats, Interval, Seed
from errata.parameters import require
from errata.report.heatmap.pieces import weights_from
from errata.report.table import Cell, Table, signed
from errata.report.tables.scores import score_table
from errata.studies.hard_errors import (
    Error,
    KindDifficulty,
    by_kind,
    correction_agreement,
    errors,
    everyone_but,
    missed,
    only,
    weight_intervals,
)

__all__ = [
    "agreement_table",
    "difficulty_tables",
    "error_table",
    "hardest_and_easiest",
    "kind_table",
    "system_errors",
    "uniqueness_table",
]

CONTEXT = 6  # tokens shown on either side of an error


def difficulty_tables(
    found: DifficultyMap,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    remark: str = "",
    types: str = "as_is",
    tier: int = 3,
    top: int = 5,
    chosen: Sequence[str] = (),
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: Seed = 0,
) -> list[Table]:
    """Scores, kinds, the ``top`` hardest and easiest errors, and how alike the systems are.

    ``corpus`` and ``systems`` are those of the map, ``remark`` says who annotated; the errors of
    the ``chosen`` systems follow.
    """
    metric = found.metric
    shown = []
    signature = signed(repr(metric), *metric.context(corpus, systems), *corpus_facts(corpus))
    if systems:
        counts = [found.counts(s) for s in range(len(systems))]
        scores = scores_of(metric, corpus, systems, counts, resamples=resamples, rng=rng)
        signature = scores.signature
        shown.append(score_table(scores, confidence=confidence))
    signature += f" | types:{types} | tier:{tier}"
    many = resamples if len(systems) > 1 and metric.weights == "systems" else 0
    shown.append(
        kind_table(
            by_kind(found, tier=tier, resamples=many, rng=rng, confidence=confidence),
            caption="; ".join(filter(None, (weights_from(found), remark))),
            signature=signature,
        )
    )
    for title, name, several in hardest_and_easiest(found, top):
        intervals = None
        if many:
            chunks = [error.chunk for error in several]
            intervals = weight_intervals(
                found, chunks, resamples=many, rng=rng, confidence=confidence
            )
        shown.append(
            error_table(
                found, several, title=title, name=name, intervals=intervals, signature=signature
            )
        )
    if len(systems) > 1:
        shown += [
            uniqueness_table(found, signature=signature),
            agreement_table(found, signature=signature),
        ]
    for system in chosen:
        shown += system_errors(found, system, top, signature=signature)
    return shown


def kind_table(rows: Sequence[KindDifficulty], *, caption: str = "", signature: str = "") -> Table:
    """Mean weight, SD and frequency by kind of error, as Table 4 of Gotou et al. (2020)."""
    interval = any(not np.isnan(row.low) for row in rows)
    columns = ("kind", "mean weight", "SD", "frequency", *(["interval of the mean"] * interval))
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        bounds = [Interval(row.low, row.high)] if interval else []
        cells.append((row.kind or "-", row.mean, row.sd, row.frequency, *bounds))
    return Table(
        columns,
        tuple(cells),
        title="Difficulty by kind of error",
        name="kinds",
        caption=caption,
        signature=signature,
        formats={"mean weight": ".3f", "SD": ".3f", "interval of the mean": ".3f"},
    )


def error_table(
    found: DifficultyMap,
    several: Sequence[Error],
    *,
    title: str,
    name: str,
    intervals: Floats | None = None,
    signature: str = "",
) -> Table:
    """Errors with their sentence around them; ``intervals`` are those of the weights."""
    columns = ["sentence", "weight", "kind", "error", "correction", "in context", "corrected by"]
    if intervals is not None:
        columns.insert(2, "interval")
    rows = []
    for k, error in enumerate(several):
        row: list[Cell] = [
            found.corpus.number(error.sentence),
            error.weight,
            error.edit.kind or "-",
            error.tokens or "(nothing)",
            error.edit.replacement or "(nothing)",
            _context(found, error),
            ", ".join(error.corrected_by),
        ]
        if intervals is not None:
            row.insert(2, Interval(*intervals[k].tolist()))
        rows.append(tuple(row))
    return Table(
        tuple(columns),
        tuple(rows),
        title=title,
        name=name,
        signature=signature,
        formats={"weight": ".3f", "interval": ".2f"},
    )


def hardest_and_easiest(found: DifficultyMap, top: int) -> list[tuple[str, str, list[Error]]]:
    """The ``top`` errors of the highest and of the lowest weight: title, name and errors.

    Nothing where ``top`` is 0. Errors of one weight keep the order of the text; the title says
    how many share the first.
    """
    result: list[tuple[str, str, list[Error]]] = []
    for word, sign in (("hardest", -1), ("easiest", 1)):
        several = sorted(errors(found), key=lambda e: sign * e.weight)
        alike = sum(e.weight == several[0].weight for e in several) if several else 0
        share = f" ({alike} weigh {several[0].weight:.3f})" if alike > 1 else ""
        if top:
            result.append((f"The {word} errors{share}", word, several[:top]))
    return result


def _context(found: DifficultyMap, error: Error) -> str:
    tokens = found.corpus.sources[error.sentence].split()
    start, end = error.edit.start, error.edit.end
    before, after = tokens[max(0, start - CONTEXT) : start], tokens[end : end + CONTEXT]
    return " ".join(
        [
            *(["…"] if start > CONTEXT else []),
            *before,
            f"[{' '.join(tokens[start:end])}]",
            *after,
            *(["…"] if end + CONTEXT < len(tokens) else []),
        ]
    )


def uniqueness_table(found: DifficultyMap, *, signature: str = "") -> Table:
    """Per system: errors corrected, corrected by it alone, and by everyone but it."""
    every = errors(found)
    by = Counter(error.corrected_by for error in every)  # the systems, in their order
    rows: list[tuple[Cell, ...]] = []
    for s in found.systems:
        others = tuple(name for name in found.systems if name != s)
        corrected = sum(many for who, many in by.items() if s in who)
        rows.append((s, corrected, by[(s,)], by[others] if others else 0))
    return Table(
        ("system", "corrected", "only you", "everyone but you"),
        tuple(rows),
        title=f"Who corrects what ({len(every)} errors)",
        name="uniqueness",
        signature=signature,
    )


def system_errors(
    found: DifficultyMap, system: str, top: int, *, signature: str = ""
) -> list[Table]:
    """One system's own errors: those only it corrects, those everyone else does, easy misses."""
    slug = "".join(c if c.isalnum() else "_" for c in system)
    return [
        error_table(
            found,
            several[:top],
            title=f"{system}: {title} ({len(several)})",
            name=f"{slug}_{name}",
            signature=signature,
        )
        for title, name, several in (
            ("errors only you correct", "only", only(found, system)),
            ("errors everyone but you corrects", "everyone_but", everyone_but(found, system)),
            ("the easiest errors you miss", "missed", missed(found, system)),
        )
    ]


def agreement_table(
    found: DifficultyMap, which: Literal["kappa", "jaccard"] = "kappa", *, signature: str = ""
) -> Table:
    """Cohen's kappa (or Jaccard) between systems over what they correct."""
    require("measure", which, Literal["kappa", "jaccard"])
    kappa, jaccard = correction_agreement(found)
    values = kappa if which == "kappa" else jaccard
    rows = tuple(
        (a, *(None if i == j else float(values[i, j]) for j in range(len(found.systems))))
        for i, a in enumerate(found.systems)
    )
    return Table(
        ("system", *found.systems),
        rows,
        name=f"agreement_{which}",
        signature=signature,
        title="Agreement on which errors are corrected "
        f"({'Cohen’s kappa' if which == 'kappa' else 'Jaccard'})",
        formats=dict.fromkeys(found.systems, ".2f"),
    )
