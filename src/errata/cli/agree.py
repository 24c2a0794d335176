"""``errata agree``: how well judges agree with each other, with themselves and with the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from errata.cli.named_data import data_option
from errata.cli.options import choice_of
from errata.cli.output import emit, format_option
from errata.cli.people import JudgmentInputs, judgment_options, judgments_argument, ranker_option
from errata.human.agreement import ChanceModel, KappaWeights

if TYPE_CHECKING:
    from errata.report.table import Form


__all__ = ["command"]


@click.command(
    "agree", epilog="Example:  errata agree judgments.xml --chance cohen --kappa-weights linear"
)
@data_option("judgments")
@click.option(
    "--chance",
    type=choice_of(ChanceModel),
    default="pooled",
    show_default=True,
    help="Agreement by chance: from both judges' outcomes together "
    "(Grundkiewicz et al. 2015), from each judge's own (Cohen), or together and without "
    "regard to the order of names.",
)
@click.option(
    "--kappa-weights",
    "weights",
    type=choice_of(KappaWeights),
    default="none",
    show_default=True,
    help="How much worse it is to swap two outputs than to tie them.",
)
@click.option(
    "--minimum",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Pairs of decisions a κ needs to be shown and to count.",
)
@ranker_option("How single judges' rankings are scored.", "expected_wins(denominator='beaten')")
@judgment_options()
@format_option
@judgments_argument
def command(
    judgments: tuple[str, ...],
    chance: ChanceModel,
    weights: KappaWeights,
    minimum: int,
    ranker: str,
    judged: JudgmentInputs,
    form: Form,
) -> None:
    """Say how well judges agree with each other and with themselves.

    Agreement is counted on pairs of different outputs. Judges who agree with nobody are marked,
    and each judge's ranking of the systems is correlated with the others'.
    """
    from errata import human
    from errata.human.agreement import judge_agreement
    from errata.human.judge_rankings import judge_correlations
    from errata.report.tables.rankings import agreement_tables, correlation_table

    judged.check_used(bool(judgments))
    chosen = human.parse_ranker(ranker)
    read = list(judged.read(judgments))
    found = judge_agreement(read, chance=chance, weights=weights, minimum=minimum)
    tables = agreement_tables(found, context=judged.facts)
    if len({judgment.judge for judgment in read}) > 1:
        comparisons = human.compare(read, keep="judges", origin=judged.facts)
        correlations = judge_correlations(comparisons, chosen)
        tables.append(correlation_table(correlations, context=comparisons.facts))
    emit(tables, form)
