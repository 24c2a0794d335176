"""``errata score``: systems in, labelled numbers with intervals and signatures out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from errata.cli.chosen import extracting, refuse_twins, scored_by
from errata.cli.inputs import Inputs, corpus_options
from errata.cli.named_data import CORPUS, data_option
from errata.cli.options import (
    DEFAULT_METRICS,
    Bootstrap,
    bootstrap_options,
    extract_option,
    metric_option,
    refuse_unless,
    threads_option,
    tier_option,
)
from errata.cli.output import ProgressBar, emit, format_option, shown_digits
from errata.cli.words import also_says
from errata.errors import InputError
from errata.io.opened import COMPRESSIONS

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses
    from errata.metrics import Metric
    from errata.report.table import Form, Table

__all__ = ["command"]

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
@bootstrap_options()
@threads_option
@format_option
@also_says(FILES)
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
    threads: int | None,
    form: Form,
) -> None:
    """Score the outputs of one or more systems.

    Give the gold standard as M2 (--gold) or as texts (--source and --refs), then one output
    file per system, one sentence a line.
    """
    from errata.metrics import parse
    from errata.report.tables import scores as tables

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
    refuse_twins(chosen)
    corpus, systems = inputs.scored(outputs)
    if by_type:
        emit(_by_type(chosen, corpus, systems, tier), form)
        return
    results = tables.told_apart(scored_by(chosen, corpus, systems, bootstrap, threads))
    if sentences:
        shown = [tables.sentence_score_table(scores) for scores in results]
        emit(tables.long_table(shown, results) if form == "tsv" and len(shown) > 1 else shown, form)
        return
    confidence = bootstrap.confidence
    shown = tables.shown_scores(
        results, form=form, confidence=confidence, details=details, digits=shown_digits()
    )
    if compare:
        shown += [tables.comparison_table(scores) for scores in results]
    emit(shown, form, after=NEXT)


def _by_type(
    metrics: list[Metric], corpus: Corpus, systems: list[Hypotheses], tier: int
) -> list[Table]:
    from errata.evaluation import check_inputs, corpus_facts
    from errata.metrics.errant import Edits
    from errata.metrics.errant.aimed import aimed_scores
    from errata.metrics.errant.by_type import scores_by_type
    from errata.report.table import signed
    from errata.report.tables.kinds import aimed_table, touched_table, type_table

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
        aimed = [aimed_scores(metric, corpus, system, tier=tier) for system in systems]
        for each, alone in zip(scored, aimed, strict=True):
            signature = signed(
                repr(metric),
                *metric.context(corpus, systems),
                *corpus_facts(corpus),
                *((f"kinds:gold retyped by {metric.extractor}",) if each.retyped else ()),
                f"tier:{tier}",
            )
            notes = metric.notes(corpus, systems)
            tables.append(type_table(each, metric.headline, notes=notes, signature=signature))
            tables.append(aimed_table(alone, metric.headline, signature=signature))
        tables.append(touched_table(aimed, signature=signature))
    return tables
