"""``errata meta``: which metric should you believe?"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from errata.cli.given import Given
from errata.cli.human_scores import (
    People,
    comparisons_of,
    judgments_of,
    people_options,
    people_scores,
)
from errata.cli.inputs import Inputs, corpus_options
from errata.cli.meta_options import (
    Drawn,
    Level,
    SystemView,
    check_sentences,
    check_used,
    drawing_options,
    system_options,
)
from errata.cli.named_data import CORPUS, data_option
from errata.cli.options import (
    DEFAULT_METRICS,
    DRAWN,
    Bootstrap,
    bootstrap_options,
    choice_of,
    metric_option,
    refuse_unless,
)
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.cli.people import Chosen, JudgmentInputs, choice_options, judgment_options, unit_option
from errata.cli.score_files import ScoreFiles, score_file_options
from errata.errors import DataWarning, InputError

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses, Judgment, Scores
    from errata.human.comparisons import Comparisons, Unit
    from errata.meta.paired import Paired
    from errata.meta.sentences import ConventionName, SentenceLevels
    from errata.metrics import Metric
    from errata.report.table import Form, Table

__all__ = ["command"]

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
    people: People,
    score_files: ScoreFiles,
    inputs: Inputs,
    metrics: tuple[str, ...],
    level: Level,
    view: SystemView,
    conventions: tuple[ConventionName, ...],
    unit: Unit,
    selected: Chosen,
    drawn: Drawn,
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
    from errata.meta.paired import match, match_comparisons
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
    given = Given(judgments, *score_files.read(), scored)
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
        from errata.meta.matrix import match_metrics

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
    from errata.meta.sentences import ConventionName
    from errata.parameters import require

    for name in names:
        require("convention", name, ConventionName)
    return names


def _check_fit(
    judgments: Sequence[Judgment], results: Sequence[Scores], files: Sequence[str], base: int
) -> None:
    """What is computed was compared as texts already; what was read has sentence scores at most."""
    from errata.io.judgments.labels import require_scores_fit

    for scores in results:
        if scores.sentences is not None:
            require_scores_fit(judgments, scores, ", ".join(files), base=base)


def _metric_scores(
    metrics: list[Metric], corpus: Corpus, systems: list[Hypotheses], bootstrap: Bootstrap
) -> list[Scores]:
    from errata.evaluation import evaluate

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


def _system_tables(paired: Paired, view: SystemView, bootstrap: Bootstrap) -> list[Table]:
    from errata.meta.systems import leave_one_out, system_level, windows
    from errata.report.tables import correlations as report

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
        from errata.report.tables.ensembles import ensemble_table

        tables.append(ensemble_table(ensembles(paired)))
    return tables


def _matrix_tables(
    paired: Paired, view: SystemView, drawn: Drawn, bootstrap: Bootstrap, *, people: bool
) -> list[Table]:
    """Metrics against each other, drawn and as tables, as far as it was asked for."""
    files = [path for kind, path in drawn.figures if kind == "matrix"]
    if people and not (view.matrix or files):
        return []
    from errata.meta.matrix import metric_matrix
    from errata.report.figures import save_figure
    from errata.report.figures.matrix import matrix_map
    from errata.report.tables.matrix import matrix_tables

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
    from errata.meta.sentences import sentence_levels

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
    from errata.report.tables import correlations as report

    tables = [report.sentence_level_table(found)]
    if tests and found.contests:
        tables.append(report.accuracy_pair_table(found))
    return [*tables, *report.confusion_tables(found)]


def _draw_sentences(found: SentenceLevels, drawn: Drawn) -> None:
    from errata.report.figures import save_figure
    from errata.report.figures.correlations import sentence_plot

    for kind, path in drawn.figures:
        if kind == "sentences":
            save_figure(sentence_plot(found), path)


def _rating_tables(
    people: Scores, results: list[Scores], selected: Chosen, drawn: Drawn, bootstrap: Bootstrap
) -> list[Table]:
    from errata.meta.paired import match
    from errata.meta.ratings import rating_levels
    from errata.report.figures import save_figure
    from errata.report.figures.ratings import rating_plot
    from errata.report.tables.ratings import rating_table

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


def _draw(paired: Paired, drawn: Drawn) -> None:
    if not drawn.systems:
        return
    from errata.meta.systems import p_value_matrix
    from errata.report.figures import correlations as plots
    from errata.report.figures import save_figure

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
