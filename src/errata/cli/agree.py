"""``errata agree``: how well judges agree with each other, with themselves and with the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from errata.cli.input_options import split_names
from errata.cli.judgment_options import (
    JudgmentInputs,
    judgment_options,
    judgments_argument,
    ranker_option,
)
from errata.cli.options import FigureOptions, data_option, figure_option, refuse_unless
from errata.cli.output import emit, format_option, writes_files
from errata.cli.params import choice_of
from errata.core.errors import InputError
from errata.human.agreement import ChanceModel, KappaWeights

if TYPE_CHECKING:
    from errata.human.agreement import GroupAgreement
    from errata.tables.table import Form


EPILOG = """\b
Examples:
  errata agree judgments.xml --chance cohen --kappa-weights linear
  errata agree judgments.xml --group experts=ann,bob --group 'crowd=*' --without INPUT
"""


@click.command("agree", epilog=EPILOG)
@data_option("judgments")
@writes_files("figures")
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
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME=JUDGE,...",
    help="Judges that belong together, by name, or a file with one a line; * are all in no other "
    "group. Agreement within and between groups follows, and how they rank the systems; repeat it.",
)
@figure_option({"rankings": "the ranks of the systems by each --group, joined by lines"})
@ranker_option("How single judges' rankings are scored.", "expected_wins(denominator='beaten')")
@judgment_options()
@format_option
@judgments_argument
def command(
    judgments: tuple[str, ...],
    chance: ChanceModel,
    weights: KappaWeights,
    minimum: int,
    groups: tuple[str, ...],
    figures: FigureOptions,
    ranker: str,
    judged: JudgmentInputs,
    form: Form,
) -> None:
    """Say how well judges agree with each other and with themselves.

    Agreement is counted on pairs of different outputs. Judges who agree with nobody are marked,
    and each judge's ranking of the systems is correlated with the others'. With --group the same
    is asked of groups: within each, between every two, and of their rankings.
    """
    from errata import human
    from errata.human.agreement import group_agreement, judge_agreement, judge_correlations
    from errata.human.tables import agreement_tables, correlation_table, group_tables

    named = _named_groups(groups)
    judged.check_used(bool(judgments))
    refuse_unless(len(named) > 1, "figures", "two --group or more")
    chosen = human.parse_ranker(ranker)
    read = list(judged.read(judgments))
    found = judge_agreement(read, chance=chance, weights=weights, minimum=minimum)
    tables = agreement_tables(found, context=judged.facts)
    if len({judgment.judge for judgment in read}) > 1:
        comparisons = human.compare(read, keep="judges", origin=judged.facts)
        correlations = judge_correlations(comparisons, chosen)
        tables.append(correlation_table(correlations, context=comparisons.facts))
    if named:
        together = group_agreement(
            read,
            named,
            chance=chance,
            weights=weights,
            minimum=minimum,
            ranker=chosen,
            origin=judged.facts,
        )
        tables += group_tables(together)
        _draw(together, chosen.label, figures)
    emit(tables, form)


def _named_groups(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The judges of each group, as they were named."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, judges = text.partition("=")
        if not (name and equals):
            raise InputError(
                f"--group {text[:100]!r} does not name a group",
                remedy="write --group NAME=JUDGE,JUDGE",
            )
        if name in found:
            raise InputError(f"two groups are called {name!r}", remedy="name them apart")
        if name == "system" or name.startswith("rank by "):  # headings of their own
            raise InputError(f"a group cannot be called {name!r}", remedy="give it another name")
        if not judges.strip():
            raise InputError(
                f"the group {name!r} has no judge", remedy="write --group NAME=JUDGE,JUDGE"
            )
        found[name] = tuple(split_names(judges, "--group"))
    return found


def _draw(found: GroupAgreement, ranker: str, figures: FigureOptions) -> None:
    from errata.human.agreement import group_scores
    from errata.plots.mpl import save_figure
    from errata.references.tables import slope_graph

    for _, path in figures:
        save_figure(slope_graph({ranker: group_scores(found)}), path)
