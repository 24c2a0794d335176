"""``errata meta``: which metric should you believe?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from errata.cli.common import Progress, emit, format_option, seed_option
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.data import Scores
    from errata.human.comparisons import Comparisons
    from errata.report.table import Table

__all__ = ["command"]


@click.command(
    "meta",
    epilog="Example:  errata meta --judgments judgments.xml --gold gold.m2 -m m2 -m gleu outputs/*",
)
@click.argument("outputs", nargs=-1, metavar="[NAME=]OUTPUT...")
@click.option("--judgments", metavar="FILE", help="Human rankings (Appraise XML, CSV, JSONL).")
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
@click.option("--sample", is_flag=True, help="Use the built-in sample instead of files.")
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
@seed_option
@format_option
def command(
    outputs: tuple[str, ...],
    judgments: str | None,
    human: str | None,
    score_files: tuple[str, ...],
    gold: str | None,
    source: str | None,
    refs: tuple[str, ...],
    metrics: tuple[str, ...],
    sample: bool,
    ranker: str,
    level: str,
    over: str,
    conventions: tuple[str, ...],
    unit: str,
    members: str,
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
) -> None:
    """Judge metrics by how well they agree with people.

    Metric scores are computed from outputs (as in errata score) or read with --scores; people
    come as --judgments or, at system level only, as --human scores. Sentence level follows every
    convention of the field by name, always with the chance level and with what one judge reaches
    for another beside it.
    """
    results = _metric_scores(
        outputs, score_files, gold, source, refs, metrics, sample, resamples, seed
    )
    comparisons = _comparisons(judgments, sample, members, seed)
    people = _human_scores(comparisons, human, ranker, unit, resamples, seed)
    if without:
        results = [scores.without(*without) for scores in results]
        people = people.without(*without)
        comparisons = comparisons.without(*without) if comparisons else None
    tables: list[Table] = []
    if level != "sentence":
        tables += _system_tables(people, results, over, common, window, top, tests, resamples, seed)
    if level == "sentence" and comparisons is None:
        raise InputError("sentence level needs judgments", remedy="give --judgments")
    if level != "system" and comparisons is not None:
        tables += _sentence_tables(comparisons, results, conventions, unit, resamples, seed)
    _draw(people, results, scatter, outliers, map_file)
    emit(tables, form)


def _metric_scores(
    outputs: tuple[str, ...],
    files: tuple[str, ...],
    gold: str | None,
    source: str | None,
    refs: tuple[str, ...],
    metrics: tuple[str, ...],
    sample: bool,
    resamples: int,
    seed: int,
) -> list[Scores]:
    from errata.cli.common import DEFAULT_METRICS, load
    from errata.io.scores import read_any_scores

    results = [read_any_scores(path) for path in files]
    if outputs or sample:
        from errata.evaluation import evaluate
        from errata.metrics import parse

        corpus, systems = load(outputs, gold, source, refs, sample)
        for metric in [parse(text) for text in metrics or DEFAULT_METRICS]:
            with Progress(metric.name) as progress:
                results.append(
                    evaluate(
                        metric, corpus, systems, resamples=resamples, rng=seed, progress=progress
                    )
                )
    if not results:
        raise InputError(
            "no metric to judge",
            remedy="give outputs with --gold or --source and --refs, or --scores, or --sample",
        )
    return results


def _comparisons(
    judgments: str | None, sample: bool, members: str, seed: int
) -> Comparisons | None:
    from errata.cli._judgments import load_judgments
    from errata.human import compare

    if judgments is None and not sample:
        return None
    found = load_judgments(
        () if judgments is None else (judgments,),
        sample=judgments is None,
        base=0,
        leave_out=(),
        outputs=(),
        labels="check",
        statuses=(),
    )
    return compare(found, members=members, rng=seed)


def _human_scores(
    comparisons: Comparisons | None,
    human: str | None,
    ranker: str,
    unit: str,
    resamples: int,
    seed: int,
) -> Scores:
    if human is not None:
        from errata.io.scores import read_any_scores

        return read_any_scores(human)
    if comparisons is None:
        raise InputError("no word from people", remedy="give --judgments or --human scores")
    from errata.human import parse_ranker, rank

    return rank(parse_ranker(ranker), comparisons, unit=unit, resamples=resamples, rng=seed)


def _system_tables(
    people: Scores,
    results: list[Scores],
    over: str,
    common: bool,
    window: int | None,
    top: int | None,
    tests: bool,
    resamples: int,
    seed: int,
) -> list[Table]:
    from errata.meta import systems
    from errata.report.tables import correlations as report

    found = systems.system_level(
        people, results, over=over, common=common, resamples=resamples, rng=seed
    )
    tables = [report.system_table(found)]
    if tests and found.pairs:
        tables.append(report.pair_table(found))
    if len(found.systems) > 2 and not common:
        whole = {a.metric: a.values["pearson"] for a in found.agreements}
        left = {s.scorer: systems.leave_one_out(people, s) for s in results}
        tables.append(report.leave_one_out_table(left, whole, "Pearson's r"))
    for size, best in ((window, False), (top, True)):
        if size:
            spans = {s.scorer: systems.windows(people, s, size, top=best) for s in results}
            tables.append(report.window_table(spans, "Pearson's r"))
    return tables


def _sentence_tables(
    comparisons: Comparisons,
    results: list[Scores],
    conventions: tuple[str, ...],
    unit: str,
    resamples: int,
    seed: int,
) -> list[Table]:
    from errata.meta.sentences import sentence_levels
    from errata.report.tables import correlations as report

    scored = [scores for scores in results if scores.sentences is not None]
    if not scored:
        return []
    levels = sentence_levels(
        comparisons,
        scored,
        conventions or ("noties", "hties", "tau_b", "accuracy"),
        unit=unit,
        resamples=resamples,
        rng=seed,
    )
    first = {level.metric: level for level in reversed(levels)}
    return [
        report.sentence_table(levels),
        *(report.confusion_table(first[scores.scorer]) for scores in scored),
    ]


def _draw(
    people: Scores,
    results: list[Scores],
    scatter: str | None,
    outliers: tuple[str, ...],
    map_file: str | None,
) -> None:
    if scatter is None and map_file is None:
        return
    from errata.meta.systems import p_value_matrix
    from errata.report.figures import correlations as plots
    from errata.report.tables.correlations import short_names

    if scatter is not None:
        plots.save_figure(plots.scatter_plot(people, results, outliers=outliers), scatter)
    if map_file is not None:
        p = p_value_matrix(people, results)
        names = short_names([scores.scorer for scores in results])
        plots.save_figure(plots.significance_map(p, names, "Williams' test, Pearson's r"), map_file)
