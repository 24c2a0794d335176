"""``errata score``: systems in, labelled numbers with intervals and signatures out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from errata.cli.options import (
    DEFAULT_METRICS,
    Bootstrap,
    Inputs,
    bootstrap_options,
    corpus_options,
    metric_option,
    threads_option,
    tier_option,
)
from errata.cli.output import ProgressBar, emit, format_option
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses
    from errata.metrics import Metric
    from errata.report.table import Form, Table

__all__ = ["command"]


@click.command("score", epilog="Example:  errata score --gold gold.m2 baseline.txt ours=out.txt")
@click.argument("outputs", nargs=-1, metavar="[NAME=]FILE...")
@corpus_options()
@metric_option(*DEFAULT_METRICS)
@click.option("--by-sentence", "sentences", is_flag=True, help="Print a row for every sentence.")
@click.option("--compare", is_flag=True, help="Add paired-bootstrap p-values between systems.")
@click.option("--by-type", is_flag=True, help="A table of ERRANT's F by kind of edit.")
@tier_option
@click.option("--details", is_flag=True, help="With several metrics: a table for each of them.")
@bootstrap_options()
@threads_option
@format_option
def command(
    outputs: tuple[str, ...],
    inputs: Inputs,
    metrics: tuple[str, ...],
    sentences: bool,
    compare: bool,
    by_type: bool,
    tier: int,
    details: bool,
    bootstrap: Bootstrap,
    threads: int | None,
    form: Form,
) -> None:
    """Score the outputs of one or more systems.

    Give the gold standard as M2 (--gold) or as texts (--source and --refs), then one output
    file per system, one sentence a line; gzip and - for standard input work everywhere.
    """
    from errata.evaluation import evaluate
    from errata.metrics import parse
    from errata.report.tables import scores as tables

    chosen = [parse(text) for text in metrics or (("errant",) if by_type else DEFAULT_METRICS)]
    corpus, systems = inputs.scored(outputs)
    if by_type:
        emit(_by_type(chosen, corpus, systems, tier), form)
        return
    results = []
    for metric in chosen:
        with ProgressBar(metric.name) as progress:
            results.append(
                evaluate(
                    metric,
                    corpus,
                    systems,
                    resamples=bootstrap.resamples,
                    rng=bootstrap.seed,
                    threads=threads,
                    progress=progress,
                )
            )
    if sentences:
        emit([tables.sentence_score_table(scores) for scores in results], form)
        return
    confidence = bootstrap.confidence
    shown = tables.score_tables(results, confidence=confidence)
    if len(results) > 1 and form == "table" and not details:
        shown = [tables.summary_table(results, confidence=confidence, signatures=True)]
    if compare:
        shown += [tables.comparison_table(scores) for scores in results]
    emit(shown, form)


def _by_type(
    metrics: list[Metric], corpus: Corpus, systems: list[Hypotheses], tier: int
) -> list[Table]:
    from errata.edits import extract_systems
    from errata.evaluation import corpus_facts
    from errata.metrics.errant import Errant, scores_by_type
    from errata.report.table import signed
    from errata.report.tables.kinds import type_table

    tables = []
    for metric in metrics:
        if not isinstance(metric, Errant):
            raise InputError(
                f"{metric.name} has no scores by kind of edit",
                remedy="--by-type goes with -m errant",
            )
        with ProgressBar(metric.name) as progress:
            systems = extract_systems(
                corpus, systems, extractor=metric.extractor, progress=progress
            )
            signature = signed(
                repr(metric),
                *metric.context(corpus, systems),
                *corpus_facts(corpus),
                f"tier:{tier}",
            )
            tables += [
                type_table(
                    scores_by_type(metric, corpus, system, tier=tier),
                    metric.headline,
                    signature=signature,
                )
                for system in systems
            ]
    return tables
