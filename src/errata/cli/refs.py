"""``errata refs``: reference sets as objects of study."""

from __future__ import annotations

import os

import click

from errata.cli.common import Progress, emit, format_option, seed_option
from errata.errors import InputError

__all__ = ["command"]


@click.command("refs", epilog="Example:  errata refs --source src.txt --refs a.txt --refs b.txt")
@click.argument("outputs", nargs=-1, metavar="[NAME=]OUTPUT...")
@click.option("--gold", metavar="M2", help="An M2 file with two annotators or more.")
@click.option("--source", metavar="TEXT", help="The uncorrected sentences, one a line.")
@click.option("--refs", multiple=True, metavar="TEXT", help="Corrected sentences; repeatable.")
@click.option("--missing", metavar="MARK", help="A line that is exactly MARK is no reference.")
@click.option("--sample", is_flag=True, help="Study the references of the built-in sample.")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    help="A metric to score annotators with; may be repeated. Default: m2, gleu.",
)
@click.option(
    "--worst",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="How many sentences with the largest disagreement to show.",
)
@click.option("--cased", is_flag=True, help="Count changes of case as edits in sTER.")
@click.option("--resamples", type=click.IntRange(0), default=1000, show_default=True)
@seed_option
@format_option
def command(
    outputs: tuple[str, ...],
    gold: str | None,
    source: str | None,
    refs: tuple[str, ...],
    missing: str | None,
    sample: bool,
    metrics: tuple[str, ...],
    worst: int,
    cased: bool,
    resamples: int,
    seed: int,
    form: str,
) -> None:
    """Compare reference sets with the source and with each other.

    How much annotators change and by which operations, how often they agree, what each would
    score against the others, whether every reference scores perfectly against itself, and where
    they disagree most. With system outputs also: their scores against the number of references.
    """
    from errata.cli.score import load
    from errata.io import read_corpus
    from errata.metrics import parse
    from errata.report.table import signed
    from errata.report.tables import reference_sets as report
    from errata.studies import reference_sets as study

    if sample or outputs:
        corpus, systems = load(outputs, gold, source, refs, sample, (), missing)
    else:
        corpus, systems = (
            read_corpus(gold=gold, source=source, references=refs, missing=missing),
            [],
        )
    names = [os.path.basename(path) for path in refs] or None
    if names and len(set(names)) < len(names):
        names = list(refs)
    chosen = [parse(text) for text in metrics or ("m2", "gleu")]
    if len(study.annotators_of(corpus)) < 2:
        raise InputError(
            "one reference set cannot be compared with others", remedy="give two or more"
        )
    with Progress("TER") as progress:
        tables = report.study_tables(
            study.study_references(
                corpus, names=names, lowercase=not cased, worst=worst, progress=progress
            ),
            signature=signed(f"ster(lowercase={not cased})", f"sentences:{len(corpus)}"),
        )
    tables.append(
        report.annotator_table(
            [
                study.annotators_as_systems(
                    corpus, metric, names=names, resamples=resamples, rng=seed
                )
                for metric in chosen
            ]
        )
    )
    tables.append(
        report.self_check_table(
            [study.self_check(corpus, metric, names=names) for metric in chosen]
        )
    )
    tables += [
        report.curve_table(
            study.reference_curve(corpus, metric, systems, rng=seed),
            [h.system for h in systems],
            metric,
            signature=signed(repr(metric), f"annotators:{len(corpus.annotators)}", f"seed:{seed}"),
        )
        for metric in chosen
        if systems
    ]
    emit(tables, form)
