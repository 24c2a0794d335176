"""``errata refs``: reference sets as objects of study."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from errata.cli.named_data import CORPUS, data_option
from errata.cli.options import Bootstrap, Inputs, bootstrap_options, corpus_options, metric_option
from errata.cli.output import ProgressBar, emit, format_option
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.report.table import Form

__all__ = ["command"]

METRICS = ("m2", "gleu")


@click.command("refs", epilog="Example:  errata refs --source src.txt --refs a.txt --refs b.txt")
@data_option(*CORPUS, outputs="outputs")
@click.argument("outputs", nargs=-1, metavar="[NAME=]FILE...")
@corpus_options()
@metric_option(*METRICS)
@click.option(
    "--worst",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="How many sentences with the largest disagreement to show.",
)
@click.option("--cased", is_flag=True, help="Count changes of case as edits in sTER.")
@bootstrap_options()
@format_option
def command(
    outputs: tuple[str, ...],
    inputs: Inputs,
    metrics: tuple[str, ...],
    worst: int,
    cased: bool,
    bootstrap: Bootstrap,
    form: Form,
) -> None:
    """Compare reference sets with the source and with each other.

    How much annotators change and by which operations, how often they agree, what each would
    score against the others, whether every reference scores perfectly against itself, and where
    they disagree most. With system outputs also: their scores against the number of references.
    """
    from errata.evaluation import corpus_facts
    from errata.metrics import parse
    from errata.report.table import signed
    from errata.report.tables import reference_sets as report
    from errata.studies import reference_sets as study

    chosen = [parse(text) for text in metrics or METRICS]
    corpus = inputs.corpus()
    systems = inputs.systems(outputs, corpus)
    if len(study.annotators_of(corpus)) < 2:
        raise InputError(
            "one reference set cannot be compared with others", remedy="give two or more"
        )
    names = _names(inputs)
    with ProgressBar("TER") as progress:
        tables = report.study_tables(
            study.study_references(
                corpus, names=names, lowercase=not cased, worst=worst, progress=progress
            ),
            signature=signed(f"ster(lowercase={not cased})", *corpus_facts(corpus)),
        )
    resamples, _, seed = bootstrap
    alike = []
    for metric in chosen:
        with ProgressBar(metric.name) as progress:
            alike.append(
                study.annotators_as_systems(
                    corpus, metric, names=names, resamples=resamples, rng=seed, progress=progress
                )
            )
    tables += [
        report.annotator_table(alike, confidence=bootstrap.confidence),
        report.self_check_table(
            [study.self_check(corpus, metric, names=names) for metric in chosen]
        ),
    ]
    for metric in chosen if systems else ():
        with ProgressBar(f"{metric.name}, references") as progress:
            curve = study.reference_curve(corpus, metric, systems, rng=seed, progress=progress)
        facts = study.curve_facts(corpus, metric, systems)
        signature = signed(repr(metric), *facts, f"seed:{seed}")
        called = [h.system for h in systems]
        tables.append(report.curve_table(curve, called, metric, signature=signature))
    emit(tables, form)


def _names(inputs: Inputs) -> list[str] | None:
    """What the annotators are called: their files, with folders where these are needed."""
    if inputs.chosen or not inputs.refs:
        return None
    names = [os.path.basename(path) for path in inputs.refs]
    return names if len(set(names)) == len(names) else list(inputs.refs)
