"""``errata plan``: how many more judgments two systems need, and which pairs to judge next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from errata.cli.judgment_options import (
    JudgmentInputs,
    judgment_options,
    judgments_argument,
    ranker_option,
    unit_option,
)
from errata.cli.options import FiniteRange, confidence_option, data_option, seed_option
from errata.cli.output import ProgressBar, emit, format_option
from errata.core.errors import InputError
from errata.human.plan import LARGEST

if TYPE_CHECKING:
    from errata.human.comparisons import Unit
    from errata.tables.table import Form


@click.command("plan", epilog="Example:  errata plan pilot.jsonl --systems ours baseline")
@data_option("judgments")
@click.option("--systems", nargs=2, metavar="A B", help="The two systems to tell apart.")
@ranker_option("How judgments become scores (see errata rank).")
@confidence_option
@click.option(
    "--power",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Share of campaigns that should separate them.",
)
@unit_option("What simulated campaigns draw.")
@click.option(
    "--largest",
    type=FiniteRange(1, LARGEST),
    default=100.0,
    show_default=True,
    help="The largest campaign tried, in pilots.",
)
@click.option(
    "--simulations",
    type=click.IntRange(50, 100_000),
    default=500,
    show_default=True,
    help="Simulated campaigns of each size.",
)
@click.option(
    "--batch",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Comparisons a pair would get next.",
)
@click.option(
    "--pairs",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="How many pairs to judge next are shown.",
)
@judgment_options()
@seed_option
@format_option
@judgments_argument
def command(
    judgments: tuple[str, ...],
    systems: tuple[str, str] | None,
    ranker: str,
    confidence: float,
    power: float,
    unit: Unit,
    largest: float,
    simulations: int,
    batch: int,
    pairs: int,
    judged: JudgmentInputs,
    seed: int,
    form: Form,
) -> None:
    """Plan a campaign from a pilot.

    With --systems: how many rankings, and hours of annotators' work, until the two separate.
    Always: which pairs of systems are most worth judging next.
    """
    from errata import human
    from errata.human import plan as human_plan
    from errata.human.tables import next_pairs_table, plan_tables

    judged.check_used(bool(judgments))
    chosen = human.parse_ranker(ranker)
    read = list(judged.read(judgments))
    comparisons = human.compare(read, keep=unit, origin=judged.facts)
    scores = human.rank(chosen.stand_in, comparisons, unit=unit, rng=seed)
    tables = []
    if systems:
        with ProgressBar("campaigns") as progress:
            planned = human_plan.plan(
                comparisons,
                chosen,
                *systems,
                confidence=confidence,
                power=power,
                unit=unit,
                largest=largest,
                simulations=simulations,
                rng=seed,
                seconds=human_plan.seconds_per_ranking(read),
                progress=progress,
            )
        tables += plan_tables(planned)
    elif len(comparisons.systems) < 2:
        raise InputError("fewer than two systems", remedy="give judgments of two or more")
    found = human_plan.next_pairs(scores, comparisons, batch=batch)
    tables.append(next_pairs_table(found, pairs, signature=scores.signature))
    emit(tables, form)
