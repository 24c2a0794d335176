"""Metrics against people at every level, in one call: systems, sentences and ratings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from errata.core.errors import DataWarning, InputError
from errata.core.stats import Seed
from errata.data import Scores
from errata.human.comparisons import Comparisons, Unit
from errata.meta.ensembles import Ensembles, ensembles
from errata.meta.matching import MatchedScores, match, match_comparisons
from errata.meta.metric_matrix import MetricMatrix, match_metrics, metric_matrix
from errata.meta.sentence_level import (
    ConventionName,
    RatingLevels,
    SentenceLevels,
    rating_levels,
    sentence_levels,
)
from errata.meta.system_level import (
    Over,
    SubsetCorrelations,
    SystemLevel,
    leave_one_out,
    p_value_matrix,
    system_level,
    windows,
)
from errata.meta.tables import (
    accuracy_pair_table,
    confusion_tables,
    ensemble_table,
    leave_one_out_table,
    matrix_map,
    matrix_tables,
    metric_pair_table,
    rating_plot,
    rating_table,
    scatter_plot,
    sentence_level_table,
    sentence_plot,
    significance_map,
    system_level_table,
    window_table,
)
from errata.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Level = Literal["system", "sentence", "both"]
DEFAULT_CONVENTIONS: tuple[ConventionName, ...] = ("noties", "hties", "tau_b", "accuracy")


@dataclass(frozen=True)
class MetaEvaluation:
    """How well metrics agree with people; what was not asked for, or has no data, is None."""

    paired: MatchedScores | None = None
    systems: SystemLevel | None = None
    leave_one_out: SubsetCorrelations | None = None
    windows: SubsetCorrelations | None = None
    top: SubsetCorrelations | None = None
    ensembles: Ensembles | None = None
    matrix: MetricMatrix | None = None
    sentences: SentenceLevels | None = None
    ratings: RatingLevels | None = None

    def tables(self, *, tests: bool = True, matrix: bool = True) -> list[Table]:
        """Return all tables; without ``tests`` no significance between metrics."""
        found: list[Table] = []
        if self.systems is not None:
            found.append(system_level_table(self.systems))
            if tests and self.systems.pairs:
                found.append(metric_pair_table(self.systems))
        if self.leave_one_out is not None:
            found.append(leave_one_out_table(self.leave_one_out))
        if self.windows is not None:
            found.append(window_table(self.windows))
        if self.top is not None:
            found.append(window_table(self.top, name="top"))
        if self.ensembles is not None:
            found.append(ensemble_table(self.ensembles))
        if self.matrix is not None and matrix:
            found += matrix_tables(self.matrix)
        if self.sentences is not None:
            found.append(sentence_level_table(self.sentences))
            if tests and self.sentences.contests:
                found.append(accuracy_pair_table(self.sentences))
            found += confusion_tables(self.sentences)
        if self.ratings is not None:
            found.append(rating_table(self.ratings))
        return found

    def figure(self, kind: str, *, outliers: Sequence[str] = ()) -> Figure | None:
        """Return a figure by its kind, or None if what it shows was not computed.

        Kinds are scatter, matrix, significance, sentences and ratings.
        """
        match kind:
            case "sentences":
                return None if self.sentences is None else sentence_plot(self.sentences)
            case "ratings":
                return None if self.ratings is None else rating_plot(self.ratings)
            case "matrix":
                return None if self.matrix is None else matrix_map(self.matrix)
        if self.paired is None:
            return None
        if kind == "scatter":
            return scatter_plot(self.paired, outliers=outliers)
        if len(self.paired.names) < 2:
            raise InputError(
                "the figure significance compares metrics with each other",
                remedy="give a second one with --metric or --scores",
            )
        maps = {
            "Williams' test, Pearson's r": p_value_matrix(self.paired, kind="pearson"),
            "Williams' test, Spearman's ρ": p_value_matrix(self.paired, kind="spearman"),
        }
        return significance_map(maps, self.paired.names)


def meta_evaluate(
    metrics: Sequence[Scores],
    people: Scores | None = None,
    *,
    comparisons: Comparisons | None = None,
    ratings: Scores | None = None,
    level: Level = "both",
    matrix: bool = False,
    ensemble: bool = False,
    window: int | None = None,
    top: int | None = None,
    conventions: Sequence[ConventionName] = DEFAULT_CONVENTIONS,
    over: Over = "systems",
    unit: Unit = "sentences",
    common: bool = False,
    hide: Sequence[str] = (),
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: Seed = 0,
) -> MetaEvaluation:
    """Return how well metrics agree with people.

    ``people`` are human scores of systems, ``comparisons`` the judgments of single sentences,
    ``ratings`` human scores of every output. Without any, metrics are compared with each other, as
    with ``matrix``. For the others see `system_level`, `sentence_levels` and `match`.
    """
    drawn: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "rng": rng}
    chosen: dict[str, Any] = {"common": common, "hide": hide}
    found: dict[str, Any] = {}
    if people is None and comparisons is None and ratings is None:
        paired = match_metrics(metrics, **chosen)
        return MetaEvaluation(
            paired, matrix=metric_matrix(paired, people=False, over=over, **drawn)
        )
    if people is not None:
        found["paired"] = paired = match(people, metrics, **chosen)
        if level != "sentence":
            found["systems"] = system_level(paired, over=over, **drawn)
            if len(paired) > 2:
                found["leave_one_out"] = leave_one_out(paired)
            if window is not None:
                found["windows"] = windows(paired, window)
            if top is not None:
                found["top"] = windows(paired, top, top=True)
            if ensemble:
                found["ensembles"] = ensembles(paired)
        if matrix:
            found["matrix"] = metric_matrix(paired, people=True, over=over, **drawn)
    by_sentence = [scores for scores in metrics if scores.sentences is not None]
    if level != "system" and comparisons is not None:
        _warn_without_sentences(metrics, only_sentences=level == "sentence")
        left = match_comparisons(comparisons, by_sentence, **chosen)
        if by_sentence:
            found["sentences"] = sentence_levels(left, by_sentence, conventions, unit=unit, **drawn)
    if level != "system" and ratings is not None and by_sentence:
        found["ratings"] = rating_levels(match(ratings, by_sentence, **chosen), **drawn)
    return MetaEvaluation(**found)


def _warn_without_sentences(metrics: Sequence[Scores], *, only_sentences: bool) -> None:
    """Warn about metrics without sentence scores; refuse if no metric has any."""
    without = [scores.label for scores in metrics if scores.sentences is None]
    if without:
        problem = f"no sentence scores of {', '.join(without)}"
        if only_sentences and len(without) == len(metrics):
            raise InputError(problem, remedy="give --scores SYSTEMS,SENTENCES, or --level system")
        warnings.warn(f"{problem}; they are judged at system level only", DataWarning, stacklevel=3)
