"""``errata score``: systems in, labelled numbers with intervals and signatures out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from errata.cli.common import Progress, emit, format_option, seed_option
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses
    from errata.metrics import Metric
    from errata.report.table import Table

__all__ = ["DEFAULT_METRICS", "command", "load"]

DEFAULT_METRICS = ("m2", "imeasure", "gleu", "bleu")


@click.command("score", epilog="Example:  errata score --gold gold.m2 baseline.txt ours=out.txt")
@click.argument("outputs", nargs=-1, metavar="[NAME=]OUTPUT...")
@click.option("--gold", metavar="M2", help="Gold edits: an M2 file with one or more annotators.")
@click.option("--source", metavar="TEXT", help="The uncorrected sentences, one a line.")
@click.option(
    "--refs",
    multiple=True,
    metavar="TEXT",
    help="A file of corrected sentences; repeat it for several references.",
)
@click.option(
    "--missing",
    metavar="MARK",
    help="A line of a --refs file that is exactly MARK is no reference; an empty line "
    "is an empty one.",
)
@click.option(
    "--compatible",
    is_flag=True,
    help="Read odd M2 as the official scorer does: several S lines share their edits, "
    "edits outside the sentence are dropped with a warning.",
)
@click.option("--sample", is_flag=True, help="Score the built-in sample instead of files.")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    help="A metric with its parameters, as m2 or 'm2(beta=1)'; may be repeated. "
    f"Default: {', '.join(DEFAULT_METRICS)}.",
)
@click.option(
    "--annotator",
    "annotators",
    multiple=True,
    type=int,
    metavar="ID",
    help="Use only this annotator of the gold file; may be repeated.",
)
@click.option("--sentences", is_flag=True, help="Print a row for every sentence.")
@click.option("--compare", is_flag=True, help="Add paired-bootstrap p-values between systems.")
@click.option("--by-type", is_flag=True, help="A table of ERRANT's F by kind of edit.")
@click.option(
    "--tier",
    type=click.IntRange(1, 3),
    default=3,
    show_default=True,
    help="With --by-type: kinds by operation (1), without it (2), or in full (3).",
)
@click.option("--details", is_flag=True, help="With several metrics: a table for each of them.")
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
@seed_option
@format_option
def command(
    outputs: tuple[str, ...],
    gold: str | None,
    source: str | None,
    refs: tuple[str, ...],
    missing: str | None,
    compatible: bool,
    sample: bool,
    metrics: tuple[str, ...],
    annotators: tuple[int, ...],
    sentences: bool,
    compare: bool,
    by_type: bool,
    tier: int,
    details: bool,
    resamples: int,
    confidence: float,
    threads: int | None,
    seed: int,
    form: str,
) -> None:
    """Score the outputs of one or more systems.

    Give the gold standard as M2 (--gold) or as texts (--source and --refs), then one output
    file per system, one sentence a line; gzip and - for standard input work everywhere.
    """
    from errata.evaluation import evaluate
    from errata.metrics import parse
    from errata.report.tables import scores as tables

    chosen = [parse(text) for text in metrics or (("errant",) if by_type else DEFAULT_METRICS)]
    corpus, systems = load(outputs, gold, source, refs, sample, annotators, missing, compatible)
    if by_type:
        emit(_by_type(chosen, corpus, systems, tier), form)
        return
    results = []
    for metric in chosen:
        with Progress(metric.name) as progress:
            results.append(
                evaluate(
                    metric,
                    corpus,
                    systems,
                    resamples=resamples,
                    rng=seed,
                    threads=threads,
                    progress=progress,
                )
            )
    if sentences:
        emit([tables.sentence_score_table(scores) for scores in results], form)
        return
    shown = tables.score_tables(results, confidence=confidence)
    if len(results) > 1 and form == "table" and not details:
        shown = [tables.summary_table(results, confidence=confidence, signatures=True)]
    if compare:
        shown += [tables.comparison_table(scores) for scores in results]
    emit(shown, form)


def _by_type(
    metrics: list[Metric], corpus: Corpus, systems: list[Hypotheses], tier: int
) -> list[Table]:
    from errata.metrics.errant import Errant, scores_by_type
    from errata.report.tables.kinds import type_table

    tables = []
    for metric in metrics:
        if not isinstance(metric, Errant):
            raise InputError(
                f"{metric.name} has no scores by kind of edit",
                remedy="--by-type goes with -m errant",
            )
        with Progress(metric.name) as progress:
            metric.prepare(corpus, systems, progress)
            tables += [
                type_table(
                    scores_by_type(metric, corpus, system, tier=tier),
                    metric.headline,
                    signature=repr(metric),
                )
                for system in systems
            ]
    return tables


def load(
    outputs: tuple[str, ...],
    gold: str | None,
    source: str | None,
    refs: tuple[str, ...],
    sample: bool,
    annotators: tuple[int, ...] = (),
    missing: str | None = None,
    compatible: bool = False,
) -> tuple[Corpus, list[Hypotheses]]:
    """The corpus and the systems that the options name."""
    from errata.io.corpus import keep_annotators, read_corpus, read_hypotheses, split_name

    if sample:
        if outputs or gold or source or refs:
            raise InputError("--sample takes no files", remedy="leave out either of them")
        from errata.datasets import sample_corpus, sample_systems

        corpus, systems = sample_corpus(), sample_systems()
        return keep_annotators(corpus, annotators) if annotators else corpus, systems

    if not outputs:
        raise InputError("no output to score", remedy="name one file per system, or use --sample")
    corpus = read_corpus(
        gold=gold,
        source=source,
        references=refs,
        annotators=annotators or None,
        missing=missing,
        compatible=compatible,
    )
    systems, files = [], dict[str, str]()
    for path in outputs:
        systems.append(read_hypotheses(path, corpus=corpus))
        name, file = systems[-1].system, split_name(path)[1]
        if files.setdefault(name, file) != file or len(files) < len(systems):
            raise InputError(
                f"the system {name!r} is also in {files[name]}",
                path=file,
                remedy="name them apart with name=path",
            )
    return corpus, systems
