"""``errata rank``: judgments in, ranked systems with ranges and clusters out."""

from __future__ import annotations

from typing import Any

import click

from errata.cli._judgments import judgment_options, load_judgments
from errata.cli.common import Progress, emit, format_option, seed_option

__all__ = ["command"]


@click.command(
    "rank",
    epilog="Example:  errata rank judgments.xml --method trueskill --unit pairs --plot ranking.svg",
)
@click.argument("judgments", nargs=-1)
@click.option(
    "-m",
    "--method",
    default="expected_wins",
    show_default=True,
    metavar="RANKER",
    help="expected_wins, trueskill, trueskill_meanfield, bradley_terry or net_wins, "
    "with parameters as in 'bradley_terry(ties=rao_kupper)'.",
)
@click.option(
    "--unit",
    type=click.Choice(("pairs", "rankings", "sentences", "judges")),
    default="sentences",
    show_default=True,
    help="What the bootstrap draws. Pairs, as published, gives ranges that are too "
    "narrow: the pairs of one ranking depend on each other.",
)
@click.option("--resamples", type=click.IntRange(1), default=1000, show_default=True)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Level of ranges and intervals.",
)
@click.option(
    "--members",
    type=click.Choice(("all", "sample", "expected")),
    default="all",
    show_default=True,
    help="Which systems of a shared output are compared: all of "
    "them, one drawn at random, or the mean over that draw.",
)
@click.option(
    "--value",
    type=click.Choice(("data", "mean")),
    default="data",
    show_default=True,
    help="Report the score of the data, or the mean over resamples, as published.",
)
@click.option(
    "--balanced",
    is_flag=True,
    help="Draw every unit equally often over all resamples, "
    "so that their mean is hardly left to chance.",
)
@click.option(
    "--order",
    type=click.Choice(("score", "mean_rank")),
    default="score",
    show_default=True,
    help="What the table is sorted by.",
)
@click.option(
    "--without", multiple=True, metavar="SYSTEM", help="Leave out this system; may be repeated."
)
@click.option("--head-to-head", is_flag=True, help="Add the table of pairs with sign tests.")
@click.option("--plot", metavar="FILE", help="Draw scores with ranges into an .svg, .png or .pdf.")
@click.option("--threads", type=click.IntRange(1), help="Default: all cores.")
@judgment_options
@seed_option
@format_option
def command(
    judgments: tuple[str, ...],
    method: str,
    unit: str,
    resamples: int,
    confidence: float,
    members: str,
    value: str,
    balanced: bool,
    order: str,
    without: tuple[str, ...],
    head_to_head: bool,
    plot: str | None,
    threads: int | None,
    seed: int,
    form: str,
    **options: Any,
) -> None:
    """Rank systems from human judgments.

    JUDGMENTS are Appraise XML, pairwise CSV (WMT), MTurk results or JSONL; the form is told from
    the content. Systems in different clusters differ at the level asked for.
    """
    from errata import human
    from errata.human.clusters import cluster
    from errata.report.figures import figure_form, save_figure
    from errata.report.figures.ranking import ranking_plot
    from errata.report.tables.rankings import head_to_head_table, ranking_table

    if plot is not None:
        figure_form(plot)  # before the work, not after it
    ranker = human.parse_ranker(method)
    comparisons = human.compare(
        load_judgments(judgments, **options), members=members, rng=seed, keep=unit
    )
    if without:
        comparisons = comparisons.without(*without)
    with Progress(ranker.name) as progress:
        scores = human.rank(
            ranker,
            comparisons,
            unit=unit,
            resamples=resamples,
            rng=seed,
            value=value,
            balanced=balanced,
            threads=threads,
            progress=progress,
        )
    ranking = cluster(scores, confidence=confidence, order=order)
    tables = [ranking_table(ranking)]
    if head_to_head:
        tables.append(
            head_to_head_table(
                human.head_to_head(comparisons), ranking.order, context=comparisons.context
            )
        )
    emit(tables, form)
    if plot is not None:
        save_figure(ranking_plot(ranking), plot)
