"""``errata rank``: systems ranked from judgments, with ranges and clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from errata.cli import judgment_options
from errata.cli.options import Bootstrap, FigureOptions, figure_option, threads_option
from errata.cli.output import CommandOptions, ProgressBar, emit
from errata.cli.params import choice_option, flag, group, takes
from errata.human.ranking import RankingOrder, Reported

if TYPE_CHECKING:
    from errata.data import Members
    from errata.human.comparisons import Unit

DRAWN = "--resamples above 0"


@dataclass(frozen=True)
class RankOptions(CommandOptions):
    ranker: str = judgment_options.ranker_option(
        "expected_wins, trueskill, trueskill_meanfield, bradley_terry or net_wins, with parameters "
        "as in 'bradley_terry(ties=rao_kupper)'."
    )
    unit: Unit = judgment_options.resampled_unit_option(
        "What the bootstrap draws. Pairs, as published, gives ranges that are too narrow: the "
        "pairs of one ranking depend on each other.",
        needs=DRAWN,
    )
    bootstrap: Bootstrap = group(Bootstrap, "kind")
    members: Members = judgment_options.group_members_option()
    value: Reported = choice_option(
        "--value",
        Reported,
        "Report the score of the data, or the mean over resamples, as published.",
        "data",
        needs=DRAWN,
    )
    balanced: bool = flag(
        "--balanced",
        "Draw every unit equally often over all resamples, so that their mean hardly depends "
        "on chance.",
        needs=DRAWN,
    )
    order: RankingOrder = choice_option(
        "--order", RankingOrder, "What the table is sorted by.", "score", needs=DRAWN
    )
    hide: tuple[str, ...] = judgment_options.hide_system_option()
    head_to_head: bool = flag("--head-to-head", "Add the table of pairs with sign tests.")
    figures: FigureOptions = figure_option({"ranking": "scores with their ranges"}, needs=DRAWN)
    threads: int | None = threads_option()
    files: judgment_options.JudgmentInputs = group(judgment_options.JudgmentInputs)
    judgments: tuple[str, ...] = judgment_options.judgments_argument()


@click.command(
    "rank",
    epilog="Example:  errata rank judgments.xml --ranker trueskill --unit pairs --figure r.svg",
)
@takes(RankOptions, data=True, more_help=judgment_options.JUDGMENT_FORMS)
def command(given: RankOptions) -> None:
    """Rank systems from human judgments.

    Systems in different clusters differ significantly at the level of --confidence.
    """
    from errata import human
    from errata.human.ranking import cluster
    from errata.human.tables import (
        head_to_head_table,
        plain_ranking_table,
        ranking_plot,
        ranking_table,
    )
    from errata.plots.mpl import save_figure

    ranker, bootstrap = human.parse_ranker(given.ranker), given.bootstrap
    comparisons = human.compare(
        given.files.read_judgments(given.judgments),
        members=given.members,
        rng=bootstrap.seed,
        keep=given.unit,
        origin=given.files.signature_facts,
    )
    with ProgressBar(ranker.name) as progress:
        scores = human.rank(
            ranker,
            comparisons,
            unit=given.unit,
            **bootstrap.resample_settings,
            value=given.value,
            balanced=given.balanced,
            threads=given.threads,
            progress=progress,
        )
    scores = scores.hide(*given.hide)
    best_first = scores.order
    if bootstrap.resamples:
        ranking = cluster(scores, confidence=bootstrap.confidence, order=given.order)
        best_first = ranking.order
        tables = [ranking_table(ranking)]
        for _, path in given.figures:
            save_figure(ranking_plot(scores, ranking, bootstrap.confidence), path)
    else:
        tables = [plain_ranking_table(scores)]
    if given.head_to_head:
        shown = comparisons.hide(*given.hide)
        pairs = human.head_to_head(shown)
        tables.append(head_to_head_table(pairs, best_first, context=shown.facts))
    emit(tables, given.display)
