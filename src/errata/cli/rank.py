"""``errata rank``: judgments in, ranked systems with ranges and clusters out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from errata.cli.judgment_options import (
    JudgmentInputs,
    hide_option,
    judgment_options,
    judgments_argument,
    members_option,
    ranker_option,
    unit_option,
)
from errata.cli.options import (
    DRAWN,
    Bootstrap,
    FigureOptions,
    bootstrap_options,
    data_option,
    figure_option,
    refuse_unless,
    threads_option,
)
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.cli.params import choice_of
from errata.human.ranking import RankingOrder, Reported

if TYPE_CHECKING:
    from errata.data import Members
    from errata.human.comparisons import Unit
    from errata.tables.table import Form


@click.command(
    "rank",
    epilog="Example:  errata rank judgments.xml --ranker trueskill --unit pairs --figure r.svg",
)
@data_option("judgments")
@writes_files("figures")
@ranker_option(
    "expected_wins, trueskill, trueskill_meanfield, bradley_terry or net_wins, "
    "with parameters as in 'bradley_terry(ties=rao_kupper)'."
)
@unit_option(
    "What the bootstrap draws. Pairs, as published, gives ranges that are too "
    "narrow: the pairs of one ranking depend on each other."
)
@bootstrap_options("the units")
@members_option
@click.option(
    "--value",
    type=choice_of(Reported),
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
    type=choice_of(RankingOrder),
    default="score",
    show_default=True,
    help="What the table is sorted by.",
)
@hide_option
@click.option("--head-to-head", is_flag=True, help="Add the table of pairs with sign tests.")
@figure_option({"ranking": "scores with their ranges"})
@threads_option
@judgment_options()
@format_option
@judgments_argument
def command(
    judgments: tuple[str, ...],
    ranker: str,
    unit: Unit,
    bootstrap: Bootstrap,
    members: Members,
    value: Reported,
    balanced: bool,
    order: RankingOrder,
    hide: tuple[str, ...],
    head_to_head: bool,
    figures: FigureOptions,
    threads: int | None,
    judged: JudgmentInputs,
    form: Form,
) -> None:
    """Rank systems from human judgments.

    Systems in different clusters differ at the level asked for.
    """
    from errata import human
    from errata.human import tables as report
    from errata.human.ranking import cluster
    from errata.human.tables import ranking_plot
    from errata.plots.mpl import save_figure

    refuse_unless(bootstrap.resamples > 0, "unit value balanced order figures", DRAWN)
    judged.check_used(bool(judgments))
    chosen = human.parse_ranker(ranker)
    comparisons = human.compare(
        judged.read(judgments), members=members, rng=bootstrap.seed, keep=unit, origin=judged.facts
    )
    with ProgressBar(chosen.name) as progress:
        scores = human.rank(
            chosen,
            comparisons,
            unit=unit,
            resamples=bootstrap.resamples,
            rng=bootstrap.seed,
            value=value,
            balanced=balanced,
            threads=threads,
            progress=progress,
        )
    scores = scores.hide(*hide)
    best_first = scores.order
    if bootstrap.resamples:
        ranking = cluster(scores, confidence=bootstrap.confidence, order=order)
        best_first = ranking.order
        tables = [report.ranking_table(ranking)]
        for _, path in figures:
            save_figure(ranking_plot(scores, ranking, bootstrap.confidence), path)
    else:
        tables = [report.plain_ranking_table(scores)]
    if head_to_head:
        shown = comparisons.hide(*hide)
        head = human.head_to_head(shown)
        tables.append(report.head_to_head_table(head, best_first, context=shown.facts))
    emit(tables, form)
