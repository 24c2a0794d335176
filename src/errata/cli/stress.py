"""``errata stress``: how metrics react to damaged output."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from errata.cli.input_options import Inputs, corpus_options
from errata.cli.options import (
    CORPUS,
    Bootstrap,
    FigureOptions,
    bootstrap_options,
    data_option,
    figure_option,
    metric_option,
    threads_option,
)
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.core.errors import InputError

if TYPE_CHECKING:
    from errata.tables.table import Form


@click.command("stress", epilog="Example:  errata stress gleu bleu --figure stress.svg")
@data_option(*CORPUS, attacks="attacks")
@writes_files("figures")
@click.argument("named", nargs=-1, metavar="METRIC...")
@click.option(
    "--damage",
    "output",
    metavar="[NAME=]FILE",
    help="The output to damage. Default: the first reference of every sentence.",
)
@click.option(
    "--attack",
    "attacks",
    multiple=True,
    metavar="[NAME=]FILE",
    help="A text made to please a metric, scored beside the others; may be repeated.",
)
@metric_option()
@corpus_options()
@bootstrap_options()
@threads_option
@figure_option({"changes": "the changes, a panel for each metric"})
@format_option
def command(
    named: tuple[str, ...],
    metrics: tuple[str, ...],
    output: str | None,
    attacks: tuple[str, ...],
    inputs: Inputs,
    bootstrap: Bootstrap,
    threads: int | None,
    figures: FigureOptions,
    form: Form,
) -> None:
    """Show how a metric reacts when good output is damaged, and to texts made to please it.

    Words deleted, repeated or shuffled, capitals dropped, sentences cut, lengthened or moved to
    the next line; one fluent sentence for every source, other people's sentences that are like the
    source, orders to the judge: a score that does not fall shows where the metric can be gamed.
    Without files, the references of the built-in sample are damaged.
    """
    from errata.io import read_hypotheses
    from errata.metrics import parse
    from errata.plots.mpl import save_figure
    from errata.stress import PERTURBATIONS, published_attack, stress, stress_plot, stress_table

    chosen = [parse(text) for text in (*named, *metrics)]
    if not chosen:
        raise click.UsageError("no metric to test; name one, as in: errata stress gleu")
    if not (inputs.gold or inputs.source):
        if inputs.refs or output or attacks:
            raise InputError(
                "these files belong to no source", remedy="give --gold, or --source and --refs"
            )
        inputs = replace(inputs, sample=True)
    corpus = inputs.corpus(threads)
    hypotheses = read_hypotheses(output, corpus=corpus) if output else None
    others = [read_hypotheses(text, corpus=corpus, guard=False) for text in attacks]
    perturbations = [*PERTURBATIONS, *(published_attack(o.system, o.sentences) for o in others)]
    cards = []
    for metric in chosen:
        with ProgressBar(metric.name) as progress:
            cards.append(
                stress(
                    metric,
                    corpus,
                    hypotheses,
                    perturbations=perturbations,
                    confidence=bootstrap.confidence,
                    rng=bootstrap.seed,
                    resamples=bootstrap.resamples,
                    threads=threads,
                    progress=progress,
                )
            )
    for _, path in figures:
        save_figure(stress_plot(cards), path)
    emit([stress_table(card) for card in cards], form)
