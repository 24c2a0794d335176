"""``errata meta``: which metric should you believe?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from errata.cli._judgments import judgment_options, load_judgments
from errata.cli.common import Progress, emit, format_option, seed_option
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses, Members, Scores
    from errata.human.comparisons import Comparisons, Unit
    from errata.meta.paired import Paired
    from errata.meta.sentences import ConventionName
    from errata.meta.systems import Over
    from errata.metrics import Metric
    from errata.report.table import Table

__all__ = ["command"]

DEFAULT_CONVENTIONS: tuple[ConventionName, ...] = ("noties", "hties", "tau_b", "accuracy")


@click.command(
    "meta",
    epilog="Example:  errata meta --judgments judgments.xml --gold gold.m2 -m m2 -m gleu outputs/*",
)
@click.argument("systems", nargs=-1, metavar="[NAME=]OUTPUT...")
@click.option(
    "--judgments",
    multiple=True,
    metavar="FILE",
    help="Human rankings (Appraise XML, CSV, JSONL); may be repeated.",
)
@click.option("--human", metavar="FILE", help="Human system scores instead of judgments.")
@click.option(
    "--scores",
    "score_files",
    multiple=True,
    metavar="FILE",
    help="Scores of a metric from a file instead of computing them; may be repeated.",
)
@click.option("--gold", metavar="M2", help="Gold edits, to compute metrics now.")
@click.option("--source", metavar="TEXT", help="The uncorrected sentences, one a line.")
@click.option("--refs", multiple=True, metavar="TEXT", help="Corrected sentences; repeatable.")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    help="A metric to compute and judge; default: m2, imeasure, gleu, bleu.",
)
@click.option(
    "--ranker",
    default="trueskill_meanfield",
    show_default=True,
    help="How judgments become system scores (see errata rank).",
)
@click.option(
    "--level", type=click.Choice(["system", "sentence", "both"]), default="both", show_default=True
)
@click.option(
    "--over",
    type=click.Choice(["systems", "sentences", "judgments", "both"]),
    default="systems",
    show_default=True,
    help="What system-level intervals resample.",
)
@click.option(
    "--convention",
    "conventions",
    multiple=True,
    metavar="NAME",
    help="Sentence level: noties, hties, wmt12, wmt13, wmt14, tau_b, accuracy, "
    "calibrated, seeda; may be repeated. Default: noties, hties, tau_b, accuracy.",
)
@click.option(
    "--unit",
    type=click.Choice(["pairs", "rankings", "sentences", "judges"]),
    default="rankings",
    show_default=True,
    help="What sentence-level intervals resample.",
)
@click.option(
    "--members",
    type=click.Choice(["all", "sample", "expected"]),
    default="all",
    show_default=True,
    help="Systems with one output: all of them (expanded), one drawn "
    "at random (unexpanded), or the mean over that choice.",
)
@click.option("--without", multiple=True, metavar="SYSTEM", help="Leave a system out.")
@click.option("--common", is_flag=True, help="Judge the systems that both sides know.")
@click.option(
    "--window",
    type=click.IntRange(2),
    metavar="K",
    help="Also: correlations in every window of K neighbours of the ranking.",
)
@click.option(
    "--top",
    type=click.IntRange(2),
    metavar="K",
    help="Also: correlations among the best 2, 3, ... K systems.",
)
@click.option("--tests/--no-tests", default=True, help="Significance between metrics.")
@click.option("--scatter", metavar="FILE", help="Plot metrics against people (.svg, .png, .pdf).")
@click.option(
    "--outlier",
    "outliers",
    multiple=True,
    metavar="SYSTEM",
    help="With --scatter: draw it hollow, and give r and ρ without it too.",
)
@click.option("--map", "map_file", metavar="FILE", help="Plot the map of p-values.")
@click.option("--resamples", type=click.IntRange(0), default=1000, show_default=True)
@judgment_options
@seed_option
@format_option
def command(
    systems: tuple[str, ...],
    judgments: tuple[str, ...],
    human: str | None,
    score_files: tuple[str, ...],
    gold: str | None,
    source: str | None,
    refs: tuple[str, ...],
    metrics: tuple[str, ...],
    ranker: str,
    level: str,
    over: Over,
    conventions: tuple[ConventionName, ...],
    unit: Unit,
    members: Members,
    without: tuple[str, ...],
    common: bool,
    window: int | None,
    top: int | None,
    tests: bool,
    scatter: str | None,
    outliers: tuple[str, ...],
    map_file: str | None,
    resamples: int,
    seed: int,
    form: str,
    **options: Any,
) -> None:
    """Judge metrics by how well they agree with people.

    Metric scores are computed from outputs (as in errata score) or read with --scores; people
    come as --judgments or, at system level only, as --human scores. Sentence level follows every
    convention of the field by name, always with the chance level and with what one judge reaches
    for another beside it.
    """
    from errata.cli.inputs import DEFAULT_METRICS, load_inputs
    from errata.io.scores import read_any_scores
    from errata.meta.paired import match
    from errata.metrics import parse
    from errata.report.figures.ranking import figure_form

    sample = options["sample"]
    # What can fail at once does so before anything is computed.
    if not (systems or sample or score_files):
        raise InputError(
            "no metric to judge",
            remedy="give outputs with --gold or --source and --refs, or --scores, or --sample",
        )
    for path in (scatter, map_file):
        if path is not None:
            figure_form(path)
    conventions = _known_conventions(conventions or DEFAULT_CONVENTIONS)
    texts = metrics or DEFAULT_METRICS if systems or sample else ()
    chosen = [parse(text) for text in texts]
    comparisons = _comparisons(judgments, members, seed, options)
    if level == "sentence" and comparisons is None:
        raise InputError("sentence level needs judgments", remedy="give --judgments")
    people = None
    if level != "sentence" or scatter or map_file:
        people = _human_scores(comparisons, human, ranker, unit, resamples, seed)
    results = [read_any_scores(path) for path in score_files]
    if chosen:
        inputs = load_inputs(systems, gold, source, refs, sample)
        results += _metric_scores(chosen, *inputs, resamples, seed)

    tables: list[Table] = []
    if people is not None:
        paired = match(people, results, common=common, without=without)
        if level != "sentence":
            tables += _system_tables(paired, over, window, top, tests, resamples, seed)
        _draw(paired, scatter, outliers, map_file)
    if level != "system" and comparisons is not None:
        scored = [scores for scores in results if scores.sentences is not None]
        judged = _left(comparisons, scored, common, without)
        tables += _sentence_tables(judged, scored, conventions, unit, resamples, seed)
    emit(tables, form)


def _known_conventions(names: tuple[ConventionName, ...]) -> tuple[ConventionName, ...]:
    from errata.meta.sentences import ConventionName
    from errata.parameters import require

    for name in names:
        require("convention", name, ConventionName)
    return names


def _comparisons(
    files: tuple[str, ...], members: Members, seed: int, options: dict[str, Any]
) -> Comparisons | None:
    from errata.human import compare

    if not files and not options["sample"]:
        return None
    found = load_judgments(files, **options | {"sample": not files})
    return compare(found, members=members, rng=seed)


def _human_scores(
    comparisons: Comparisons | None,
    human: str | None,
    ranker: str,
    unit: Unit,
    resamples: int,
    seed: int,
) -> Scores:
    if human is not None:
        from errata.io.scores import read_any_scores

        return read_any_scores(human)
    if comparisons is None:
        raise InputError("no word from people", remedy="give --judgments or --human scores")
    from errata.human import parse_ranker, rank

    chosen = parse_ranker(ranker)
    with Progress(chosen.name) as progress:
        return rank(
            chosen, comparisons, unit=unit, resamples=resamples, rng=seed, progress=progress
        )


def _metric_scores(
    metrics: list[Metric], corpus: Corpus, systems: list[Hypotheses], resamples: int, seed: int
) -> list[Scores]:
    from errata.evaluation import evaluate

    results = []
    for metric in metrics:
        with Progress(metric.name) as progress:
            results.append(
                evaluate(metric, corpus, systems, resamples=resamples, rng=seed, progress=progress)
            )
    return results


def _system_tables(
    paired: Paired,
    over: Over,
    window: int | None,
    top: int | None,
    tests: bool,
    resamples: int,
    seed: int,
) -> list[Table]:
    from errata.meta.systems import leave_one_out, system_level, windows
    from errata.report.tables import correlations as report

    found = system_level(paired, over=over, resamples=resamples, rng=seed)
    tables = [report.system_level_table(found)]
    if tests and found.pairs:
        tables.append(report.metric_pair_table(found))
    if len(paired) > 2:
        tables.append(report.leave_one_out_table(leave_one_out(paired)))
    if window is not None:
        tables.append(report.window_table(windows(paired, window)))
    if top is not None:
        tables.append(report.window_table(windows(paired, top, top=True)))
    return tables


def _left(
    comparisons: Comparisons, results: list[Scores], common: bool, without: tuple[str, ...]
) -> Comparisons:
    """The comparisons of the systems that are to be judged."""
    named = set(comparisons.systems)
    elsewhere = {name for scores in results for name in scores.systems} - named
    out = [name for name in without if name not in elsewhere]  # of a name nobody knows it is said
    if common:
        out += sorted({name for s in results for name in named - set(s.systems)} - set(out))
    return comparisons.without(*out)


def _sentence_tables(
    comparisons: Comparisons,
    results: list[Scores],
    conventions: tuple[ConventionName, ...],
    unit: Unit,
    resamples: int,
    seed: int,
) -> list[Table]:
    from errata.meta.sentences import sentence_levels
    from errata.report.tables import correlations as report

    if not results:
        return []
    found = sentence_levels(
        comparisons, results, conventions, unit=unit, resamples=resamples, rng=seed
    )
    return [report.sentence_level_table(found), *report.confusion_tables(found)]


def _draw(
    paired: Paired, scatter: str | None, outliers: tuple[str, ...], map_file: str | None
) -> None:
    from errata.report.figures import correlations as plots
    from errata.report.figures.ranking import save_figure

    if scatter is not None:
        save_figure(plots.scatter_plot(paired, outliers=outliers), scatter)
    if map_file is not None:
        from errata.meta.systems import p_value_matrix

        title = "Williams' test, Pearson's r"
        save_figure(plots.significance_map(p_value_matrix(paired), paired.names, title), map_file)
