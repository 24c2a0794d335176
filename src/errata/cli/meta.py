"""``errata meta``: how well metrics agree with people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click

from errata.cli.input_options import Inputs, score_metrics
from errata.cli.judgment_options import (
    PEOPLE,
    PeopleOptions,
    ScoreFiles,
    read_meta_inputs,
    resample_over_option,
)
from errata.cli.options import Bootstrap, FigureOptions, figure_option, metric_option
from errata.cli.output import CommandOptions, ProgressBar, emit
from errata.cli.params import (
    argument,
    choice_option,
    count_option,
    flag,
    goes_with,
    group,
    option,
    takes,
)
from errata.core.errors import InputError
from errata.human import DEFAULT_RANKER
from errata.meta.evaluate import DEFAULT_CONVENTIONS
from errata.metrics import DEFAULT_METRICS

if TYPE_CHECKING:
    from errata.meta.inputs import MetaInputs
    from errata.meta.sentence_level import ConventionName
    from errata.meta.system_level import Over

Level = Literal["system", "sentence", "both"]
SCORED = "outputs or --sample"
OF_SYSTEMS = "--level system|both"


def _parse_conventions(texts: tuple[str, ...]) -> tuple[ConventionName, ...]:
    from errata.core.parameters import require
    from errata.meta.sentence_level import ConventionName

    for text in texts:
        require("convention", text, ConventionName)
    return texts  # type: ignore[return-value]


@dataclass(frozen=True)
class MetaOptions(CommandOptions):
    outputs: tuple[str, ...] = argument(metavar="[NAME=]FILE...", role="outputs", several=True)
    people: PeopleOptions = group(PeopleOptions)
    scores: ScoreFiles = group(ScoreFiles)
    inputs: Inputs = group(Inputs, needs={"*": SCORED, "sample": "", "skipped": ""})
    metrics: tuple[str, ...] = metric_option(*DEFAULT_METRICS, needs=SCORED)
    level: Level = choice_option(
        "--level", Level, "Evaluate scores of systems, of single sentences, or both.", "both"
    )
    over: Over = resample_over_option(needs=(OF_SYSTEMS, "--resamples above 0"))
    window: int | None = count_option(
        "--window K",
        "Also: correlations in every window of K neighbours of the ranking.",
        least=2,
        needs=(OF_SYSTEMS, PEOPLE),
    )
    top: int | None = count_option(
        "--top K",
        "Also: correlations among the best 2, 3, ... K systems.",
        least=2,
        needs=(OF_SYSTEMS, PEOPLE),
    )
    tests: bool = option(
        "--tests/--no-tests", "Significance between metrics.", default=True, needs=PEOPLE
    )
    matrix: bool = flag(
        "--matrix",
        "Also: metrics against each other, which is all there is without human data.",
        needs=OF_SYSTEMS,
    )
    ensemble: bool = flag(
        "--ensemble",
        "Also: metrics combined, by mean rank and fitted, with each system left out.",
        needs=(OF_SYSTEMS, PEOPLE),
    )
    conventions: tuple[ConventionName, ...] = option(
        "--convention NAME",
        "Sentence level: noties, hties, wmt12, wmt13, wmt14, kendall_like, tau_b, tau_c, "
        "tau_23, accuracy, row_accuracy, row_calibrated, calibrated, seeda, seeda_tau; may be "
        f"repeated. Default: {', '.join(DEFAULT_CONVENTIONS)}.",
        multiple=True,
        parse=_parse_conventions,
        needs=("--judgments or --sample", "--level sentence|both"),
    )
    figures: FigureOptions = figure_option(
        {
            "scatter": "metrics against people",
            "matrix": "metrics against each other",
            "significance": "maps of p-values, for r and ρ",
            "sentences": "values at sentence level, with stars where the best metric leads",
            "ratings": "agreement with ratings of outputs",
        }
    )
    outliers: tuple[str, ...] = option(
        "--outlier SYSTEM",
        "In the scatter plot: draw it hollow, and give r and ρ without it too.",
        multiple=True,
        needs="--figure scatter",
    )
    bootstrap: Bootstrap = group(Bootstrap, "kind")

    @property
    def figure_kinds(self) -> set[str]:
        """The kinds of figures to draw."""
        return {kind for kind, _ in self.figures}

    @property
    def has_system_figure(self) -> bool:
        """Whether a figure shows scores of systems."""
        return bool(self.figure_kinds - {"sentences", "ratings"})

    def __post_init__(self) -> None:
        """Refuse what cannot be computed or would change nothing."""
        scored = self.outputs or self.inputs.sample
        human, judged = self.scores.human, self.people.judgments or self.inputs.sample
        if not (scored or self.scores.files):
            problem = "no metric to evaluate: outputs and --scores are both missing"
            remedy = "give outputs with --gold or --source and --refs, or --scores, or --sample"
            raise InputError(problem, remedy=remedy)
        if human and self.people.judgments and self.level == "system":
            raise goes_with("--judgments", "--level sentence or both beside --human")
        ranks = self.level != "sentence" or self.has_system_figure
        if self.people.ranker != DEFAULT_RANKER and (human or not ranks):
            raise goes_with("--ranker", "--judgments that are ranked, not --human")
        if "sentences" in self.figure_kinds and not (judged and self.level != "system"):
            problem = "the figure sentences shows agreement at sentence level"
            raise InputError(problem, remedy="give --judgments, and --level sentence or both")
        for kind in self.figure_kinds & {"scatter", "significance"}:
            if not (judged or human):
                remedy = "give --judgments or --human"
                raise InputError(f"the figure {kind} compares metrics with people", remedy=remedy)


@click.command(
    "meta",
    epilog="Example:  errata meta --judgments judgments.xml --gold gold.m2 -m m2 -m gleu outputs/*",
)
@takes(MetaOptions, data=True)
def command(given: MetaOptions) -> None:
    """Measure how well metrics agree with people.

    Metric scores are computed from outputs (as in errata score) or read with --scores; human data
    are --judgments or --human scores: of systems, or ratings of every output (a row for each
    sentence, a column for each system). Without either, metrics are compared with each other
    (--matrix does so beside people). Sentence level follows every convention of the field by name,
    always with the chance level and the agreement of one judge with another.

    The groups of the judgments are compared with the outputs, and refused if they do not fit:
    sentences may be counted from 0 or from 1 (--base). --labels given skips this check.
    """
    from errata.human import parse_ranker
    from errata.io.judgments.checks import require_labels_match_scores
    from errata.meta.evaluate import meta_evaluate
    from errata.meta.views import check_sentence_scores, meta_figure, meta_tables
    from errata.metrics import parse
    from errata.plots.mpl import save_figure

    inputs, people, level = given.inputs, given.people, given.level
    ranker = parse_ranker(people.ranker)
    scored, metrics = None, []
    if given.outputs or inputs.sample:
        metrics = [parse(text) for text in given.metrics or DEFAULT_METRICS]
        scored = inputs.with_all_sentences.read_corpus_and_systems(given.outputs)
    found = read_meta_inputs(inputs, given.outputs, people, given.scores, scored)
    _check_levels(found, given)
    if level != "system" and found.judgments is not None and people.files.labels == "check":
        # Scores computed from outputs were compared as texts already.
        files = ", ".join(people.judgments or ("--sample",))
        for scores in found.scores:
            if scores.sentences is not None:
                require_labels_match_scores(found.judgments, scores, files, base=people.files.base)
    found = found.skip(inputs.skipped).without(people.without)
    results = found.scores
    if found.scored is not None:  # all metrics see the same resamples, as they are compared
        results += score_metrics(metrics, *found.scored, given.bootstrap, kind="sentences")
    if level != "system" and found.judgments is not None:
        check_sentence_scores(results, required=level == "sentence")
    with ProgressBar(ranker.name) as progress:
        evaluation = meta_evaluate(
            results,
            found.judgments,
            human=found.human,
            **people.settings(inputs),
            over=given.over,
            conventions=given.conventions or DEFAULT_CONVENTIONS,
            **given.bootstrap.interval_settings,
            progress=progress,
        )
        tables = meta_tables(
            evaluation,
            level=level,
            tests=given.tests,
            matrix=given.matrix,
            ensemble=given.ensemble,
            window=given.window,
            top=given.top,
        )
        for kind, path in given.figures:
            figure = meta_figure(evaluation, kind, outliers=given.outliers)
            if figure is not None:
                save_figure(figure, path)
    emit(tables, given.display)


def _check_levels(found: MetaInputs, given: MetaOptions) -> None:
    """Refuse sentence level without data on sentences, and scores that would not be read."""
    if "ratings" in given.figure_kinds and (given.level == "system" or found.rated is None):
        problem = "the figure ratings shows agreement with ratings of outputs"
        raise InputError(problem, remedy="give them with --human, and --level sentence or both")
    if given.level != "sentence" or found.rated is not None:
        return
    if found.judgments is None:
        remedy = "give --judgments, or ratings with --human"
        raise InputError("sentence level needs judgments", remedy=remedy)
    if found.human is not None and not given.has_system_figure:
        raise goes_with("--human", "--level system or both, or ratings of sentences")
