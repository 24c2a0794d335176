"""``errata stress``: how metrics react to damaged output."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import click

from errata.cli import options
from errata.cli.input_options import Inputs
from errata.cli.output import CommandOptions, emit, map_with_progress
from errata.cli.params import argument, group, option, takes
from errata.core.errors import InputError


@dataclass(frozen=True)
class StressOptions(CommandOptions):
    named: tuple[str, ...] = argument(metavar="METRIC...", several=True)
    output: str | None = option(
        "--damage [NAME=]FILE",
        "The output to damage. Default: the first reference of every sentence.",
    )
    attacks: tuple[str, ...] = option(
        "--attack [NAME=]FILE",
        "A text made to please a metric, scored like the others; may be repeated.",
        multiple=True,
        role="attacks",
    )
    metrics: tuple[str, ...] = options.metric_option()
    inputs: Inputs = group(Inputs)
    bootstrap: options.Bootstrap = group(options.Bootstrap, "kind")
    threads: int | None = options.threads_option()
    figures: options.FigureOptions = options.figure_option(
        {"changes": "the changes, a panel for each metric"}
    )


@click.command("stress", epilog="Example:  errata stress gleu bleu --figure stress.svg")
@takes(StressOptions, data=True)
def command(given: StressOptions) -> None:
    """Show how a metric reacts to damaged output, and to texts made to please it.

    Words deleted, repeated or shuffled, capitals dropped, sentences cut, lengthened or moved to
    the next line; one fluent sentence for every source, other people's sentences that resemble the
    source, orders to the judge: a score that does not fall shows where the metric can be gamed.
    Without files, the references of the built-in sample are damaged.
    """
    from errata.io import read_hypotheses
    from errata.metrics import parse
    from errata.plots.mpl import save_figure
    from errata.stress import PERTURBATIONS, attack_with_texts, stress, stress_plot, stress_table

    inputs = given.inputs
    metrics = [parse(text) for text in (*given.named, *given.metrics)]
    if not metrics:
        raise click.UsageError("no metric to test; name one, as in: errata stress gleu")
    if not (inputs.gold or inputs.source):
        if inputs.refs or given.output or given.attacks:
            remedy = "give --gold, or --source and --refs"
            raise InputError("these files belong to no source", remedy=remedy)
        inputs = replace(inputs, sample=True)
    corpus = inputs.corpus(given.threads)
    hypotheses = read_hypotheses(given.output, corpus=corpus) if given.output else None
    attacks = [read_hypotheses(text, corpus=corpus, guard=False) for text in given.attacks]
    perturbations = [*PERTURBATIONS, *(attack_with_texts(a.system, a.sentences) for a in attacks)]
    cards = map_with_progress(
        metrics,
        partial(
            stress,
            corpus=corpus,
            hypotheses=hypotheses,
            perturbations=perturbations,
            **given.bootstrap.interval_settings,
            threads=given.threads,
        ),
    )
    for _, path in given.figures:
        save_figure(stress_plot(cards), path)
    emit([stress_table(card) for card in cards], given.display)
