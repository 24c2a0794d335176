"""``errata score``: systems in, labelled numbers with intervals and signatures out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from errata.cli.input_options import (
    Inputs,
    corpus_options,
    extracting,
    reject_duplicates,
    score_metrics,
    scored_in_batches,
)
from errata.cli.options import (
    CORPUS,
    Bootstrap,
    bootstrap_options,
    data_option,
    extract_option,
    metric_option,
    refuse_unless,
    threads_option,
    tier_option,
)
from errata.cli.output import ProgressBar, emit, format_option, shown_digits
from errata.cli.params import add_help
from errata.core.errors import InputError
from errata.io.files import COMPRESSIONS
from errata.metrics import DEFAULT_METRICS

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses
    from errata.metrics import Metric
    from errata.tables.table import Form, Table


LARGE = 200_000_000  # bytes of files that are no longer held
NEXT = "next: errata report (the same files as a page), errata compare, --details"
FILES = f"Everywhere, files may be compressed ({', '.join(COMPRESSIONS)}), and - is standard input."


@click.command("score", epilog="Example:  errata score --gold gold.m2 baseline.txt ours=out.txt")
@data_option(*CORPUS, outputs="outputs")
@click.argument("outputs", nargs=-1, metavar="[NAME=]FILE...")
@corpus_options()
@metric_option(*DEFAULT_METRICS)
@click.option("--by-sentence", "sentences", is_flag=True, help="Print a row for every sentence.")
@click.option("--compare", is_flag=True, help="Add paired-bootstrap p-values between systems.")
@click.option(
    "--by-type", is_flag=True, help="F, success and false alarms by kind of edit (errant, edits)."
)
@extract_option(
    "for errant, edits, cleme, pt_errant, difficulty and judge, find the edits of all outputs alike"
)
@tier_option
@click.option("--details", is_flag=True, help="With several metrics: a table for each of them.")
@bootstrap_options(kinds=True)
@click.option(
    "--stream/--no-stream",
    "streamed",
    default=None,
    help="Read files batch by batch, in bounded memory, to the same scores. Default: where they "
    f"have over {LARGE // 10**6:,} MB together.",
)
@threads_option
@format_option
@add_help(FILES)
def command(
    outputs: tuple[str, ...],
    inputs: Inputs,
    metrics: tuple[str, ...],
    sentences: bool,
    compare: bool,
    by_type: bool,
    extractor: str | None,
    tier: int,
    details: bool,
    bootstrap: Bootstrap,
    streamed: bool | None,
    threads: int | None,
    form: Form,
) -> None:
    """Score the outputs of one or more systems.

    Give the gold standard as M2 (--gold) or as texts (--source and --refs), then one output
    file per system, one sentence a line.
    """
    from errata.metrics import parse
    from errata.scoring import tables

    refuse_unless(by_type, "tier", "--by-type")
    refuse_unless(not by_type, "sentences compare details", "scores of systems, not --by-type")
    chosen = [parse(text) for text in metrics or (("errant",) if by_type else DEFAULT_METRICS)]
    if extractor is not None:
        chosen = extracting(chosen, extractor)
    if compare and not bootstrap.resamples:
        raise InputError(
            "--compare is a bootstrap test, and --resamples 0 leaves nothing to test with",
            remedy="give some resamples, or leave --compare out",
        )
    reject_duplicates(chosen)
    hindrance = _held_for(chosen, inputs, outputs, by_type=by_type, sentences=sentences)
    if streamed and hindrance is not None:
        raise hindrance
    if streamed is None:
        streamed = hindrance is None and inputs.size(outputs) > LARGE
    if streamed:
        results = scored_in_batches(chosen, inputs, outputs, bootstrap, threads)
    else:
        corpus, systems = inputs.scored(outputs, threads)
        if by_type:
            emit(_by_type(chosen, corpus, systems, tier), form)
            return
        results = score_metrics(chosen, corpus, systems, bootstrap, threads)
    results = tables.unique_labels(results)
    if sentences:
        shown = [tables.sentence_score_table(scores) for scores in results]
        emit(tables.long_table(shown, results) if form == "tsv" and len(shown) > 1 else shown, form)
        return
    confidence = bootstrap.confidence
    shown = tables.displayed_scores(
        results, form=form, confidence=confidence, details=details, digits=shown_digits()
    )
    if compare:
        shown += [tables.comparison_table(scores) for scores in results]
    emit(shown, form, after=NEXT)


def _held_for(
    metrics: list[Metric],
    inputs: Inputs,
    outputs: tuple[str, ...],
    *,
    by_type: bool,
    sentences: bool,
) -> InputError | None:
    """Why a corpus has to be held to be scored so, if it has to."""
    from errata.scoring.accumulator import check_parts

    for asked, why in (
        (by_type, "--by-type looks at all edits at once"),
        (sentences, "--by-sentence shows all sentences"),
        (inputs.sample, "--sample is no file"),
        (inputs.skipped is not None, "--skip-sentences numbers the sentences of the whole"),
        (not outputs, "there is no output to read"),
    ):
        if asked:
            return InputError(f"--stream holds no corpus, and {why}", remedy="leave out --stream")
    try:
        for metric in metrics:
            check_parts(metric)
    except InputError as error:
        return error
    return None


def _by_type(
    metrics: list[Metric], corpus: Corpus, systems: list[Hypotheses], tier: int
) -> list[Table]:
    from errata.metrics.base import describe_data
    from errata.metrics.errant import Edits
    from errata.metrics.errant_by_type import scores_by_type, targeted_scores
    from errata.scoring.contract import check_inputs
    from errata.scoring.results import corpus_facts
    from errata.scoring.tables import changed_sentences_table, targeted_table, type_table
    from errata.tables.table import signed

    tables = []
    for metric in metrics:
        if not isinstance(metric, Edits):
            raise InputError(
                f"{metric.name} has no scores by kind of edit",
                remedy="--by-type goes with -m errant or edits",
            )
        check_inputs(metric, corpus, systems)
        with ProgressBar(metric.name) as progress:
            metric.prepared(corpus, systems, progress)  # of all systems in one go
        scored = [scores_by_type(metric, corpus, system, tier=tier) for system in systems]
        aimed = [targeted_scores(metric, corpus, system, tier=tier) for system in systems]
        described = describe_data(metric, corpus, systems)
        for each, alone in zip(scored, aimed, strict=True):
            signature = signed(
                repr(metric),
                *described.context,
                *corpus_facts(corpus),
                *((f"kinds:gold retyped by {metric.extractor}",) if each.retyped else ()),
                f"tier:{tier}",
            )
            tables.append(
                type_table(each, metric.headline, notes=described.notes, signature=signature)
            )
            tables.append(targeted_table(alone, metric.headline, signature=signature))
        tables.append(changed_sentences_table(aimed, signature=signature))
    return tables
