"""``errata stress``: how metrics react to damaged output."""

from __future__ import annotations

import click

from errata.cli.common import Progress, emit, format_option, seed_option
from errata.errors import InputError

__all__ = ["command"]


@click.command("stress", epilog="Example:  errata stress gleu bleu --plot stress.svg")
@click.argument("metrics", nargs=-1, required=True, metavar="METRIC...")
@click.option(
    "--output",
    metavar="[NAME=]TEXT",
    help="The output to damage. Default: the first reference of every sentence.",
)
@click.option("--gold", metavar="M2", help="Gold edits: an M2 file with one or more annotators.")
@click.option("--source", metavar="TEXT", help="The uncorrected sentences, one a line.")
@click.option(
    "--refs",
    multiple=True,
    metavar="TEXT",
    help="A file of corrected sentences; repeat it for several references.",
)
@click.option(
    "--resamples",
    type=click.IntRange(0),
    default=1000,
    show_default=True,
    help="Bootstrap resamples of the sentences; 0 leaves intervals out.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Level of the intervals.",
)
@click.option("--threads", type=click.IntRange(1), help="Default: all cores.")
@click.option("--plot", metavar="FILE", help="Draw the changes into an .svg, .png or .pdf.")
@seed_option
@format_option
def command(
    metrics: tuple[str, ...],
    output: str | None,
    gold: str | None,
    source: str | None,
    refs: tuple[str, ...],
    resamples: int,
    confidence: float,
    threads: int | None,
    plot: str | None,
    seed: int,
    form: str,
) -> None:
    """Show how a metric reacts when good output is damaged.

    Words deleted, repeated or shuffled, capitals dropped, sentences cut, lengthened or moved to
    the next line: a score that does not fall shows where the metric can be gamed. Without files,
    the references of the built-in sample are damaged.
    """
    from errata.metrics import parse
    from errata.report.figures import figure_form, save_figure
    from errata.report.figures.stress import stress_plot
    from errata.report.tables.stress import stress_table
    from errata.studies.stress import stress

    if plot is not None:
        figure_form(plot)  # before the work, not after it
    chosen = [parse(text) for text in metrics]
    if gold is None and source is None:
        from errata.datasets import sample_corpus

        if refs or output:
            raise InputError(
                "these files belong to no source", remedy="give --gold, or --source and --refs"
            )
        corpus, hypotheses = sample_corpus(), None
    else:
        from errata.io import read_corpus, read_hypotheses

        corpus = read_corpus(gold=gold, source=source, references=refs)
        hypotheses = read_hypotheses(output, corpus=corpus) if output else None
    cards = []
    for metric in chosen:
        with Progress(metric.name) as progress:
            cards.append(
                stress(
                    metric,
                    corpus,
                    hypotheses,
                    confidence=confidence,
                    rng=seed,
                    resamples=resamples,
                    threads=threads,
                    progress=progress,
                )
            )
    if plot is not None:
        save_figure(stress_plot(cards), plot)
    emit([stress_table(card) for card in cards], form)
