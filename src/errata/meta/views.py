"""Tables and figures of a meta-evaluation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from errata.core.errors import DataWarning, InputError
from errata.data import Scores
from errata.meta import tables as report
from errata.meta.ensembles import ensembles
from errata.meta.system_level import leave_one_out, p_value_matrix, windows
from errata.tables.table import Table

if TYPE_CHECKING:
    from errata.meta.evaluate import MetaEvaluation


def check_sentence_scores(metrics: Sequence[Scores], *, required: bool) -> None:
    """Warn about metrics without sentence scores; refuse if one is required and none has any."""
    without = [scores.label for scores in metrics if scores.sentences is None]
    if without:
        problem = f"no sentence scores of {', '.join(without)}"
        if required and len(without) == len(metrics):
            raise InputError(problem, remedy="give --scores SYSTEMS,SENTENCES, or --level system")
        warnings.warn(f"{problem}; they are judged at system level only", DataWarning, stacklevel=2)


def meta_tables(
    found: MetaEvaluation,
    *,
    level: Literal["system", "sentence", "both"] = "both",
    tests: bool,
    matrix: bool,
    ensemble: bool,
    window: int | None = None,
    top: int | None = None,
) -> list[Table]:
    """Return the tables of the levels asked for; without human data, metrics with each other."""
    tables: list[Table] = []
    if level != "sentence" and found.people is not None:
        tables += _system_tables(found, tests, ensemble, window, top)
    if matrix or (found.judgments is None and found.human is None):
        tables += report.matrix_tables(found.matrix)
    if level != "system" and found.sentences is not None:
        tables.append(report.sentence_level_table(found.sentences))
        if tests and found.sentences.contests:
            tables.append(report.accuracy_pair_table(found.sentences))
        tables += report.confusion_tables(found.sentences)
    if level != "system" and found.ratings is not None:
        tables.append(report.rating_table(found.ratings))
    return tables


def _system_tables(
    found: MetaEvaluation, tests: bool, ensemble: bool, window: int | None, top: int | None
) -> list[Table]:
    level, matched = found.systems, found.matched
    assert level is not None
    tables = [report.system_level_table(level)]
    if tests and level.pairs:
        tables.append(report.metric_pair_table(level))
    if len(matched) > 2:
        tables.append(report.leave_one_out_table(leave_one_out(matched)))
    if window is not None:
        tables.append(report.window_table(windows(matched, window)))
    if top is not None:
        tables.append(report.window_table(windows(matched, top, top=True), name="top"))
    if ensemble:
        tables.append(report.ensemble_table(ensembles(matched)))
    return tables


def meta_figure(found: MetaEvaluation, kind: str, *, outliers: Sequence[str] = ()) -> Any:
    """Return a figure by its kind, or None if what it shows has no data.

    Kinds are scatter, matrix, significance, sentences and ratings.
    """
    match kind:
        case "sentences":
            return None if found.sentences is None else report.sentence_plot(found.sentences)
        case "ratings":
            return None if found.ratings is None else report.rating_plot(found.ratings)
        case "matrix":
            return report.matrix_map(found.matrix)
        case "scatter":
            return report.scatter_plot(found.matched, outliers=outliers)
    if len(found.matched.names) < 2:
        raise InputError(
            "the figure significance compares metrics with each other",
            remedy="give a second one with --metric or --scores",
        )
    maps = {
        "Williams' test, Pearson's r": p_value_matrix(found.matched, kind="pearson"),
        "Williams' test, Spearman's ρ": p_value_matrix(found.matched, kind="spearman"),
    }
    return report.significance_map(maps, found.matched.names)
