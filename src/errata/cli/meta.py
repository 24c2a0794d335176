"""Errata meta."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from errata.cli.input_options import Inputs, ScoreFiles, corpus_options, score_file_options
from errata.cli.judgment_options import (
    JudgmentInputs,
    JudgmentSource,
    MetaInputs,
    SystemSelection,
    choice_options,
    comparisons_of,
    judgment_options,
    judgments_of,
    over_option,
    people_options,
    people_scores,
    unit_option,
)
from errata.cli.options import (
    CORPUS,
    DRAWN,
    Bootstrap,
    FigureOptions,
    bootstrap_options,
    data_option,
    figure_option,
    metric_option,
    refuse_unless,
)
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.cli.params import choice_of, option_group
from errata.core.errors import DataWarning, InputError
from errata.metrics import DEFAULT_METRICS

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses, Judgment, Scores
    from errata.human.comparisons import Comparisons, Unit
    from errata.meta.matching import MatchedScores
    from errata.meta.sentence_level import ConventionName, SentenceLevels
    from errata.meta.system_level import Over
    from errata.metrics import Metric
    from errata.tables.table import Form, Table


# ---- The options of ``errata meta``, gathered: people, systems, views and figures.

Level = Literal["system", "sentence", "both"]


class SystemView(NamedTuple):
    """What is shown of whole systems."""

    over: Over
    window: int | None
    top: int | None
    tests: bool
    matrix: bool
    ensemble: bool


class MetaFigureOptions(NamedTuple):
    """The figures to draw."""

    figures: FigureOptions
    outliers: tuple[str, ...]

    @property
    def systems(self) -> bool:
        """Whether anything is drawn of whole systems."""
        return any(kind not in ("sentences", "ratings") for kind, _ in self.figures)


system_options = option_group(
    "view",
    SystemView,
    {
        "over": over_option,
        "window": click.option(
            "--window",
            type=click.IntRange(2),
            metavar="K",
            help="Also: correlations in every window of K neighbours of the ranking.",
        ),
        "top": click.option(
            "--top",
            type=click.IntRange(2),
            metavar="K",
            help="Also: correlations among the best 2, 3, ... K systems.",
        ),
        "tests": click.option(
            "--tests/--no-tests", default=True, help="Significance between metrics."
        ),
        "matrix": click.option(
            "--matrix",
            is_flag=True,
            help="Also: metrics against each other, and all there is where people say nothing.",
        ),
        "ensemble": click.option(
            "--ensemble",
            is_flag=True,
            help="Also: metrics combined, by mean rank and fitted, with each system left out.",
        ),
    },
)
drawing_options = option_group(
    "drawn",
    MetaFigureOptions,
    {
        "figures": figure_option(
            {
                "scatter": "metrics against people",
                "matrix": "metrics against each other",
                "significance": "maps of p-values, for r and ρ",
                "sentences": "values at sentence level, with stars where the best metric leads",
                "ratings": "agreement with ratings of outputs",
            }
        ),
        "outliers": click.option(
            "--outlier",
            "outliers",
            multiple=True,
            metavar="SYSTEM",
            help="In the scatter plot: draw it hollow, and give r and ρ without it too.",
        ),
    },
)


def check_used(
    people: JudgmentSource,
    score_files: ScoreFiles,
    inputs: Inputs,
    judged: JudgmentInputs,
    level: Level,
    drawn: MetaFigureOptions,
    *,
    computed: bool,
) -> None:
    """Refuse whatever was given and would change nothing."""
    human = score_files.human is not None
    ranked = level != "sentence" or drawn.systems
    refuse_unless(
        computed,
        "metrics gold source refs missing compatible annotators tokens no_guard",
        "outputs to score",
    )
    judgments = bool(inputs.sample or people.judgments)
    refuse_unless(level != "sentence", "over window top matrix ensemble", "--level system or both")
    refuse_unless(judgments or human, "window top tests", "--judgments or --human")
    refuse_unless(
        not (human and level == "system"), "judgments", "--level sentence or both beside --human"
    )
    compared = judgments and not (human and level == "system")
    refuse_unless(compared, "ranker members unit leave_out conventions", "--judgments")
    judged.check_used(bool(people.judgments), "--judgments")
    refuse_unless(ranked and not human, "ranker", "--judgments that are ranked, not --human")
    refuse_unless(level != "system", "conventions", "--level sentence or both")
    if any(kind == "sentences" for kind, _ in drawn.figures) and not (
        level != "system" and judgments
    ):
        raise InputError(
            "the figure sentences shows agreement at sentence level",
            remedy="give --judgments, and --level sentence or both",
        )
    for kind, _ in drawn.figures:
        if kind in ("scatter", "significance") and not (judgments or human):
            raise InputError(
                f"the figure {kind} needs a word from people", remedy="give --judgments or --human"
            )
    scatter = any(kind == "scatter" for kind, _ in drawn.figures)
    refuse_unless(scatter, "outliers", "--figure scatter=FILE")


def check_sentences(given: MetaInputs, level: Level, drawn: MetaFigureOptions) -> None:
    """Refuse to judge sentences of which people said nothing, and scores that would not be read."""
    rated = any(kind == "ratings" for kind, _ in drawn.figures)
    if rated and (level == "system" or given.rated is None):
        raise InputError(
            "the figure ratings shows agreement with ratings of outputs",
            remedy="give them with --human, and --level sentence or both",
        )
    if level != "sentence" or given.rated is not None:
        return
    if given.judgments is None:
        raise InputError(
            "sentence level needs judgments", remedy="give --judgments, or ratings with --human"
        )
    refuse_unless(drawn.systems, "human", "--level system or both, or ratings of sentences")


DEFAULT_CONVENTIONS: tuple[ConventionName, ...] = ("noties", "hties", "tau_b", "accuracy")


@click.command(
    "meta",
    epilog="Example:  errata meta --judgments judgments.xml --gold gold.m2 -m m2 -m gleu outputs/*",
)
@data_option(*CORPUS, "judgments", "human", outputs="systems", scores="files")
@writes_files("figures")
@click.argument("systems", nargs=-1, metavar="[NAME=]FILE...")
@people_options
@score_file_options
@corpus_options()
@metric_option(*DEFAULT_METRICS)
@click.option(
    "--level",
    type=choice_of(Level),
    default="both",
    show_default=True,
    help="Judge scores of systems, of single sentences, or both.",
)
@system_options
@click.option(
    "--convention",
    "conventions",
    multiple=True,
    metavar="NAME",
    help="Sentence level: noties, hties, wmt12, wmt13, wmt14, kendall_like, tau_b, tau_c, tau_23, "
    "accuracy, row_accuracy, row_calibrated, calibrated, seeda, seeda_tau; may be repeated. "
    "Default: noties, hties, tau_b, accuracy.",
)
@unit_option("What sentence-level intervals resample.")
@choice_options
@drawing_options
@judgment_options("sample", "without", "skipped")
@bootstrap_options("what --over and --unit name")
@format_option
def command(
    systems: tuple[str, ...],
    people: JudgmentSource,
    score_files: ScoreFiles,
    inputs: Inputs,
    metrics: tuple[str, ...],
    level: Level,
    view: SystemView,
    conventions: tuple[ConventionName, ...],
    unit: Unit,
    selected: SystemSelection,
    drawn: MetaFigureOptions,
    judged: JudgmentInputs,
    bootstrap: Bootstrap,
    form: Form,
) -> None:
    """Judge metrics by how well they agree with people.

    Metric scores are computed from outputs (as in errata score) or read with --scores; people
    come as --judgments or as --human scores: of systems, or ratings of every output (a row for
    each sentence, a column for each system). Without either, metrics are compared with each other
    (--matrix does so beside people). Sentence level follows every convention of the field by name,
    always with the chance level and with what one judge reaches for another beside it.

    The groups of the judgments are compared with the outputs always, and refused where they do not
    fit: sentences may be counted from 0 or from 1 (--base). --labels given leaves that out.
    """
    from errata.meta.matching import match, match_comparisons
    from errata.metrics import parse

    # What can fail at once does so before anything is computed.
    computed = bool(systems or inputs.sample)
    if not (computed or score_files.files):
        raise InputError(
            "no metric to judge",
            remedy="give outputs with --gold or --source and --refs, or --scores, or --sample",
        )
    check_used(people, score_files, inputs, judged, level, drawn, computed=computed)
    refuse_unless(bootstrap.resamples > 0, "over", DRAWN)
    conventions = _known_conventions(conventions or DEFAULT_CONVENTIONS)
    chosen = [parse(text) for text in (metrics or DEFAULT_METRICS if computed else ())]
    scored = inputs.whole.scored(systems) if chosen else None
    written = inputs.as_written(systems, scored[1]) if scored else []
    judgments = judgments_of(people, inputs.sample, judged, written)
    given = MetaInputs(judgments, *score_files.read(), scored)
    check_sentences(given, level, drawn)
    said_nothing = judgments is None and given.human is None
    if level != "system" and judgments is not None and judged.labels == "check":
        _check_fit(judgments, given.scores, people.judgments or ("--sample",), judged.base)
    given = given.skip(inputs.skipped).without(selected.without)
    origin = (*judged.facts, *inputs.skip_facts, *(f"without:{n}" for n in selected.without))
    comparisons = comparisons_of(given.judgments, people, origin, bootstrap.seed)
    said = None
    if not said_nothing and (level != "sentence" or drawn.systems):
        said = people_scores(given.human, comparisons, people, unit, bootstrap)
    results = given.scores
    if given.scored is not None:
        results += _metric_scores(chosen, *given.scored, bootstrap)

    tables: list[Table] = []
    if said_nothing:
        refuse_unless(False, "ensemble", "--judgments or --human")
        from errata.meta.metric_matrix import match_metrics

        alone = match_metrics(results, common=selected.common, hide=selected.hide)
        tables += _matrix_tables(alone, view, drawn, bootstrap, people=False)
    elif said is not None:
        paired = match(said, results, common=selected.common, hide=selected.hide)
        if level != "sentence":
            tables += _system_tables(paired, view, bootstrap)
        tables += _matrix_tables(paired, view, drawn, bootstrap, people=True)
        _draw(paired, drawn)
    if level != "system" and comparisons is not None:
        by_sentence = _with_sentences(results, alone=level == "sentence")
        left = match_comparisons(
            comparisons, by_sentence, common=selected.common, hide=selected.hide
        )
        if by_sentence:
            found = _sentence_level(left, by_sentence, conventions, unit, bootstrap)
            tables += _sentence_tables(found, view.tests)
            _draw_sentences(found, drawn)
    if level != "system" and given.rated is not None:
        tables += _rating_tables(given.rated, results, selected, drawn, bootstrap)
    emit(tables, form)


def _with_sentences(results: list[Scores], *, alone: bool) -> list[Scores]:
    """The metrics that can be judged by the sentence; of the others it is said."""
    left_out = [scores.label for scores in results if scores.sentences is None]
    if left_out:
        problem = f"no sentence scores of {', '.join(left_out)}"
        if alone and len(left_out) == len(results):
            raise InputError(problem, remedy="give --scores SYSTEMS,SENTENCES, or --level system")
        warnings.warn(f"{problem}; they are judged at system level only", DataWarning, stacklevel=2)
    return [scores for scores in results if scores.sentences is not None]


def _known_conventions(names: tuple[ConventionName, ...]) -> tuple[ConventionName, ...]:
    from errata.core.parameters import require
    from errata.meta.sentence_level import ConventionName

    for name in names:
        require("convention", name, ConventionName)
    return names


def _check_fit(
    judgments: Sequence[Judgment], results: Sequence[Scores], files: Sequence[str], base: int
) -> None:
    """What is computed was compared as texts already; what was read has sentence scores at most."""
    from errata.io.judgments.checks import require_scores_fit

    for scores in results:
        if scores.sentences is not None:
            require_scores_fit(judgments, scores, ", ".join(files), base=base)


def _metric_scores(
    metrics: list[Metric], corpus: Corpus, systems: list[Hypotheses], bootstrap: Bootstrap
) -> list[Scores]:
    from errata.scoring.evaluate import evaluate

    resamples, _, seed, _ = bootstrap
    results = []
    for metric in metrics:
        with ProgressBar(metric.name) as progress:
            results.append(
                evaluate(
                    metric,
                    corpus,
                    systems,
                    resamples=resamples,
                    rng=seed,
                    bootstrap="sentences",  # the same ones for all metrics, which are compared
                    progress=progress,
                )
            )
    return results


def _system_tables(paired: MatchedScores, view: SystemView, bootstrap: Bootstrap) -> list[Table]:
    from errata.meta import tables as report
    from errata.meta.system_level import leave_one_out, system_level, windows

    resamples, confidence, seed, _ = bootstrap
    found = system_level(
        paired, over=view.over, resamples=resamples, confidence=confidence, rng=seed
    )
    tables = [report.system_level_table(found)]
    if view.tests and found.pairs:
        tables.append(report.metric_pair_table(found))
    if len(paired) > 2:
        tables.append(report.leave_one_out_table(leave_one_out(paired)))
    if view.window is not None:
        tables.append(report.window_table(windows(paired, view.window)))
    if view.top is not None:
        tables.append(report.window_table(windows(paired, view.top, top=True), name="top"))
    if view.ensemble:
        from errata.meta.ensembles import ensembles
        from errata.meta.tables import ensemble_table

        tables.append(ensemble_table(ensembles(paired)))
    return tables


def _matrix_tables(
    paired: MatchedScores,
    view: SystemView,
    drawn: MetaFigureOptions,
    bootstrap: Bootstrap,
    *,
    people: bool,
) -> list[Table]:
    """Metrics against each other, drawn and as tables, as far as it was asked for."""
    files = [path for kind, path in drawn.figures if kind == "matrix"]
    if people and not (view.matrix or files):
        return []
    from errata.meta.metric_matrix import metric_matrix
    from errata.meta.tables import matrix_map, matrix_tables
    from errata.plots.mpl import save_figure

    resamples, confidence, seed, _ = bootstrap
    found = metric_matrix(
        paired, people=people, over=view.over, resamples=resamples, confidence=confidence, rng=seed
    )
    for path in files:
        save_figure(matrix_map(found), path)
    return matrix_tables(found) if view.matrix or not people else []


def _sentence_level(
    comparisons: Comparisons,
    results: list[Scores],
    conventions: tuple[ConventionName, ...],
    unit: Unit,
    bootstrap: Bootstrap,
) -> SentenceLevels:
    from errata.meta.sentence_level import sentence_levels

    resamples, confidence, seed, _ = bootstrap
    return sentence_levels(
        comparisons,
        results,
        conventions,
        unit=unit,
        resamples=resamples,
        confidence=confidence,
        rng=seed,
    )


def _sentence_tables(found: SentenceLevels, tests: bool) -> list[Table]:
    from errata.meta import tables as report

    tables = [report.sentence_level_table(found)]
    if tests and found.contests:
        tables.append(report.accuracy_pair_table(found))
    return [*tables, *report.confusion_tables(found)]


def _draw_sentences(found: SentenceLevels, drawn: MetaFigureOptions) -> None:
    from errata.meta.tables import sentence_plot
    from errata.plots.mpl import save_figure

    for kind, path in drawn.figures:
        if kind == "sentences":
            save_figure(sentence_plot(found), path)


def _rating_tables(
    people: Scores,
    results: list[Scores],
    selected: SystemSelection,
    drawn: MetaFigureOptions,
    bootstrap: Bootstrap,
) -> list[Table]:
    from errata.meta.matching import match
    from errata.meta.sentence_level import rating_levels
    from errata.meta.tables import rating_plot, rating_table
    from errata.plots.mpl import save_figure

    by_sentence = [scores for scores in results if scores.sentences is not None]
    if not by_sentence:
        return []
    resamples, confidence, seed, _ = bootstrap
    paired = match(people, by_sentence, common=selected.common, hide=selected.hide)
    found = rating_levels(paired, resamples=resamples, confidence=confidence, rng=seed)
    for kind, path in drawn.figures:
        if kind == "ratings":
            save_figure(rating_plot(found), path)
    return [rating_table(found)]


def _draw(paired: MatchedScores, drawn: MetaFigureOptions) -> None:
    if not drawn.systems:
        return
    from errata.meta import tables as plots
    from errata.meta.system_level import p_value_matrix
    from errata.plots.mpl import save_figure

    for kind, path in drawn.figures:
        if kind == "scatter":
            save_figure(plots.scatter_plot(paired, outliers=drawn.outliers), path)
        elif kind == "significance":
            if len(paired.names) < 2:
                raise InputError(
                    "the figure significance compares metrics with each other",
                    remedy="give a second one with --metric or --scores",
                )
            maps = {
                "Williams' test, Pearson's r": p_value_matrix(paired, kind="pearson"),
                "Williams' test, Spearman's ρ": p_value_matrix(paired, kind="spearman"),
            }
            save_figure(plots.significance_map(maps, paired.names), path)
