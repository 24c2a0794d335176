"""``errata plan``: how many more judgments two systems need, and which pairs to judge next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from errata.cli import judgment_options
from errata.cli.options import FiniteRange, confidence_option, seed_option
from errata.cli.output import CommandOptions, ProgressBar, emit
from errata.cli.params import count_option, group, option, takes
from errata.core.errors import InputError
from errata.human.plan import LARGEST

if TYPE_CHECKING:
    from errata.human.comparisons import Unit


@dataclass(frozen=True)
class PlanOptions(CommandOptions):
    systems: tuple[str, str] | None = option(
        "--systems A B", "The two systems to separate.", nargs=2
    )
    ranker: str = judgment_options.ranker_option("How judgments become scores (see errata rank).")
    confidence: float = confidence_option()
    power: float = option(
        "--power",
        "Share of campaigns that should separate them.",
        type=FiniteRange(0, 1, min_open=True, max_open=True),
        default=0.8,
    )
    unit: Unit = judgment_options.resampled_unit_option("What simulated campaigns draw.")
    largest: float = option(
        "--largest",
        "The largest campaign tried, in pilots.",
        type=FiniteRange(1, LARGEST),
        default=100.0,
    )
    simulations: int = count_option(
        "--simulations", "Simulated campaigns of each size.", 500, least=50, most=100_000
    )
    batch: int = count_option("--batch", "Comparisons a pair would get next.", 100)
    pairs: int = count_option("--pairs", "How many pairs to judge next are shown.", 10)
    files: judgment_options.JudgmentInputs = group(judgment_options.JudgmentInputs)
    seed: int = seed_option()
    judgments: tuple[str, ...] = judgment_options.judgments_argument()


@click.command("plan", epilog="Example:  errata plan pilot.jsonl --systems ours baseline")
@takes(PlanOptions, data=True, more_help=judgment_options.JUDGMENT_FORMS)
def command(given: PlanOptions) -> None:
    """Plan how many more judgments are needed, from a pilot.

    With --systems: how many rankings, and hours of annotators' work, until the two separate.
    Always: which pairs of systems are most worth judging next.
    """
    from errata import human
    from errata.human.plan import next_pairs, plan, seconds_per_ranking
    from errata.human.tables import next_pairs_table, plan_tables

    ranker = human.parse_ranker(given.ranker)
    judgments = list(given.files.read_judgments(given.judgments))
    comparisons = human.compare(judgments, keep=given.unit, origin=given.files.signature_facts)
    scores = human.rank(ranker.stand_in, comparisons, unit=given.unit, rng=given.seed)
    tables = []
    if given.systems:
        with ProgressBar("campaigns") as progress:
            planned = plan(
                comparisons,
                ranker,
                *given.systems,
                confidence=given.confidence,
                power=given.power,
                unit=given.unit,
                largest=given.largest,
                simulations=given.simulations,
                rng=given.seed,
                seconds=seconds_per_ranking(judgments),
                progress=progress,
            )
        tables += plan_tables(planned)
    elif len(comparisons.systems) < 2:
        raise InputError("fewer than two systems", remedy="give judgments of two or more")
    pairs = next_pairs(scores, comparisons, batch=given.batch)
    tables.append(next_pairs_table(pairs, given.pairs, signature=scores.signature))
    emit(tables, given.display)
