"""``errata agree``: how well judges agree with each other and with themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from errata.cli import judgment_options
from errata.cli.options import FigureOptions, figure_option
from errata.cli.output import CommandOptions, emit
from errata.cli.params import choice_option, count_option, group, option, takes
from errata.core.errors import InputError
from errata.human.agreement import ChanceModel, KappaWeights

if TYPE_CHECKING:
    from collections.abc import Mapping

EPILOG = """\b
Examples:
  errata agree judgments.xml --chance cohen --kappa-weights linear
  errata agree judgments.xml --group experts=ann,bob --group 'crowd=*' --without INPUT
"""


def _parse_judge_groups(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, judges = text.partition("=")
        if not (name and equals):
            remedy = "write --group NAME=JUDGE,JUDGE"
            raise InputError(f"--group {text[:100]!r} does not name a group", remedy=remedy)
        if name in groups:
            raise InputError(f"two groups are called {name!r}", remedy="give each its own name")
        if name == "system" or name.startswith("rank by "):  # headings of their own
            raise InputError(f"a group cannot be called {name!r}", remedy="give it another name")
        if not judges.strip():
            remedy = "write --group NAME=JUDGE,JUDGE"
            raise InputError(f"the group {name!r} has no judge", remedy=remedy)
        groups[name] = tuple(judgment_options.split_names(judges, "--group"))
    return groups


@dataclass(frozen=True)
class AgreeOptions(CommandOptions):
    chance: ChanceModel = choice_option(
        "--chance",
        ChanceModel,
        "Agreement by chance: from both judges' outcomes together (Grundkiewicz et al. 2015), "
        "from each judge's own (Cohen), or together and ignoring the order of names.",
        "pooled",
    )
    weights: KappaWeights = choice_option(
        "--kappa-weights",
        KappaWeights,
        "How much worse it is to swap two outputs than to tie them.",
        "none",
    )
    minimum: int = count_option(
        "--minimum", "Pairs of decisions a κ needs to be shown and to count.", 50
    )
    groups: Mapping[str, tuple[str, ...]] = option(
        "--group NAME=JUDGE,...",
        "Judges that belong together, by name, or a file with one a line; * are all in no "
        "other group. Adds agreement within and between groups, and their rankings; repeat it.",
        multiple=True,
        parse=_parse_judge_groups,
    )
    figures: FigureOptions = figure_option(
        {"rankings": "the ranks of the systems by each --group, joined by lines"}, needs="--group"
    )
    ranker: str = judgment_options.ranker_option(
        "How single judges' rankings are scored.", "expected_wins(denominator='beaten')"
    )
    files: judgment_options.JudgmentInputs = group(judgment_options.JudgmentInputs)
    judgments: tuple[str, ...] = judgment_options.judgments_argument()

    def __post_init__(self) -> None:
        """Refuse a figure of groups that shows one group alone."""
        if self.figures and len(self.groups) < 2:
            raise InputError("--figure needs two groups or more", remedy="add a --group")


@click.command("agree", epilog=EPILOG)
@takes(AgreeOptions, data=True, more_help=judgment_options.JUDGMENT_FORMS)
def command(given: AgreeOptions) -> None:
    """Measure how well judges agree with each other and with themselves.

    Agreement is counted on pairs of different outputs. Judges who agree with nobody are marked,
    and each judge's ranking of the systems is correlated with the others'. With --group the same
    is computed within each group, between groups, and for their rankings.
    """
    from errata import human
    from errata.human import agreement
    from errata.human.tables import agreement_tables, correlation_table, group_tables
    from errata.plots.mpl import save_figure
    from errata.references.tables import slope_graph

    ranker = human.parse_ranker(given.ranker)
    judgments = list(given.files.read_judgments(given.judgments))
    facts = given.files.signature_facts
    settings = {"chance": given.chance, "weights": given.weights, "minimum": given.minimum}
    tables = agreement_tables(agreement.judge_agreement(judgments, **settings), context=facts)  # type: ignore[arg-type]
    if len({judgment.judge for judgment in judgments}) > 1:
        comparisons = human.compare(judgments, keep="judges", origin=facts)
        correlations = agreement.judge_correlations(comparisons, ranker)
        tables.append(correlation_table(correlations, context=comparisons.facts))
    if given.groups:
        groups = agreement.group_agreement(
            judgments,
            given.groups,
            ranker=ranker,
            origin=facts,
            **settings,  # type: ignore[arg-type]
        )
        tables += group_tables(groups)
        for _, path in given.figures:
            save_figure(slope_graph({ranker.label: agreement.group_scores(groups)}), path)
    emit(tables, given.display)
