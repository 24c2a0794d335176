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
    judgment_options,
    judgments_of,
    over_option,
    people_options,
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
    from errata.human.comparisons import Unit
    from errata.meta.evaluate import MetaEvaluation
    from errata.meta.sentence_level import ConventionName
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
    from errata.human import parse_ranker
    from errata.meta.evaluate import DEFAULT_CONVENTIONS, meta_evaluate
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
    _check_conventions(conventions)
    chosen = [parse(text) for text in (metrics or DEFAULT_METRICS if computed else ())]
    ranker = parse_ranker(people.ranker)
    scored = inputs.whole.scored(systems) if chosen else None
    written = inputs.as_written(systems, scored[1]) if scored else []
    judgments = judgments_of(people, inputs.sample, judged, written)
    given = MetaInputs(judgments, *score_files.read(), scored)
    check_sentences(given, level, drawn)
    if judgments is None and given.human is None:
        refuse_unless(False, "ensemble", "--judgments or --human")
    if level != "system" and judgments is not None and judged.labels == "check":
        _check_fit(judgments, given.scores, people.judgments or ("--sample",), judged.base)
    given = given.skip(inputs.skipped).without(selected.without)
    results = given.scores
    if given.scored is not None:
        results += _metric_scores(chosen, *given.scored, bootstrap)
    if level != "system" and given.judgments is not None:
        _check_sentence_scores(results, alone=level == "sentence")
    with ProgressBar(ranker.name) as progress:
        found = meta_evaluate(
            results,
            given.judgments,
            human=given.human,
            ranker=ranker,
            members=people.members,
            unit=unit,
            over=view.over,
            conventions=conventions or DEFAULT_CONVENTIONS,
            hide=selected.hide,
            common=selected.common,
            origin=(*judged.facts, *inputs.skip_facts, *(f"without:{n}" for n in selected.without)),
            resamples=bootstrap.resamples,
            confidence=bootstrap.confidence,
            rng=bootstrap.seed,
            progress=progress,
        )
        tables = _tables(found, level, view, drawn)
    emit(tables, form)


def _tables(
    found: MetaEvaluation, level: Level, view: SystemView, drawn: MetaFigureOptions
) -> list[Table]:
    """Return the tables of the levels asked for, and save the figures."""
    tables: list[Table] = []
    judged = found.judgments is not None or found.human is not None
    if judged and level != "sentence":
        tables += _system_tables(found, view)
    if view.matrix or not judged:
        from errata.meta.tables import matrix_tables

        tables += matrix_tables(found.matrix)
    if level != "system":
        tables += _sentence_tables(found, view.tests)
    _draw(found, drawn)
    return tables


def _check_sentence_scores(results: list[Scores], *, alone: bool) -> None:
    """Warn about metrics without sentence scores; refuse if no metric has any and one is needed."""
    left_out = [scores.label for scores in results if scores.sentences is None]
    if left_out:
        problem = f"no sentence scores of {', '.join(left_out)}"
        if alone and len(left_out) == len(results):
            raise InputError(problem, remedy="give --scores SYSTEMS,SENTENCES, or --level system")
        warnings.warn(f"{problem}; they are judged at system level only", DataWarning, stacklevel=2)


def _check_conventions(names: tuple[ConventionName, ...]) -> None:
    from errata.core.parameters import require
    from errata.meta.sentence_level import ConventionName

    for name in names:
        require("convention", name, ConventionName)


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


def _system_tables(found: MetaEvaluation, view: SystemView) -> list[Table]:
    from errata.meta import tables as report
    from errata.meta.ensembles import ensembles
    from errata.meta.system_level import leave_one_out, windows

    level, matched = found.systems, found.matched
    assert level is not None
    tables = [report.system_level_table(level)]
    if view.tests and level.pairs:
        tables.append(report.metric_pair_table(level))
    if len(matched) > 2:
        tables.append(report.leave_one_out_table(leave_one_out(matched)))
    if view.window is not None:
        tables.append(report.window_table(windows(matched, view.window)))
    if view.top is not None:
        tables.append(report.window_table(windows(matched, view.top, top=True), name="top"))
    if view.ensemble:
        tables.append(report.ensemble_table(ensembles(matched)))
    return tables


def _sentence_tables(found: MetaEvaluation, tests: bool) -> list[Table]:
    from errata.meta import tables as report

    tables = []
    if found.sentences is not None:
        tables.append(report.sentence_level_table(found.sentences))
        if tests and found.sentences.contests:
            tables.append(report.accuracy_pair_table(found.sentences))
        tables += report.confusion_tables(found.sentences)
    if found.ratings is not None:
        tables.append(report.rating_table(found.ratings))
    return tables


def _draw(found: MetaEvaluation, drawn: MetaFigureOptions) -> None:
    if not drawn.figures:
        return
    from errata.meta import tables as plots
    from errata.meta.system_level import p_value_matrix
    from errata.plots.mpl import save_figure

    for kind, path in drawn.figures:
        if kind == "matrix":
            save_figure(plots.matrix_map(found.matrix), path)
        elif kind == "scatter":
            save_figure(plots.scatter_plot(found.matched, outliers=drawn.outliers), path)
        elif kind == "sentences" and found.sentences is not None:
            save_figure(plots.sentence_plot(found.sentences), path)
        elif kind == "ratings" and found.ratings is not None:
            save_figure(plots.rating_plot(found.ratings), path)
        elif kind == "significance":
            matched = found.matched
            if len(matched.names) < 2:
                raise InputError(
                    "the figure significance compares metrics with each other",
                    remedy="give a second one with --metric or --scores",
                )
            maps = {
                "Williams' test, Pearson's r": p_value_matrix(matched, kind="pearson"),
                "Williams' test, Spearman's ρ": p_value_matrix(matched, kind="spearman"),
            }
            save_figure(plots.significance_map(maps, matched.names), path)
