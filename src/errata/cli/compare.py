"""``errata compare``: what changed between versions of a system."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from errata.cli.chosen import extracting, refuse_twins
from errata.cli.gate import GateOptions, gate_options
from errata.cli.inputs import Inputs, corpus_options
from errata.cli.named_data import CORPUS, data_option
from errata.cli.options import (
    DEFAULT_METRICS,
    Bootstrap,
    bootstrap_options,
    extract_option,
    metric_option,
    old_option,
    threads_option,
    tier_option,
)
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.errors import InputError
from errata.numbers import MOST_RESAMPLES

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses, Scores
    from errata.metrics import Metric
    from errata.metrics.errant import Edits
    from errata.report.table import Form
    from errata.studies.comparison import Comparison

__all__ = ["command"]

EPILOG = """\b
Examples:
  errata compare --gold gold.m2 v1=old.txt v2=new.txt
  errata compare --source src.txt old.txt new.txt
  errata compare --gold gold.m2 --baseline main.json new.txt --fail-if 'm2 < -0.005'
  errata compare --gold gold.m2 --slices domains.tsv --old v1 v1.txt v2.txt v3.txt
"""


@click.command("compare", epilog=EPILOG)
@writes_files("junit", "markdown")
@data_option(*CORPUS, outputs="outputs")
@click.argument("outputs", nargs=-1, metavar="[NAME=]OLD [NAME=]NEW...")
@corpus_options()
@metric_option(*DEFAULT_METRICS, "edits")
@old_option("The system that the others are compared with. Default: the first.")
@click.option(
    "--slices",
    metavar="FILE",
    help="A table with a header and a row for every sentence: domain, level... Length is always "
    "one of the slices.",
)
@extract_option("find the edits of all outputs alike")
@tier_option
@click.option(
    "--show",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="How many sentences to show that got better, and how many that got worse.",
)
@click.option("--by-edit", is_flag=True, help="Print a row for every edit that changed.")
@bootstrap_options()
@click.option(
    "--trials",
    type=click.IntRange(0, MOST_RESAMPLES),
    default=10_000,
    show_default=True,
    help="Swaps of approximate randomisation; 0 leaves p-values out.",
)
@gate_options
@threads_option
@format_option
def command(
    outputs: tuple[str, ...],
    inputs: Inputs,
    metrics: tuple[str, ...],
    old: str | None,
    slices: str | None,
    extractor: str | None,
    tier: int,
    show: int,
    by_edit: bool,
    bootstrap: Bootstrap,
    trials: int,
    gate: GateOptions,
    threads: int | None,
    form: Form,
) -> None:
    """Say what changed between an old system and new ones.

    Prints for every metric the difference with its interval and p-value; which errors were gained
    or lost and which false alarms are new, in total, by kind, by difficulty and by slice; and the
    sentences that got better and worse. Give the gold standard as for errata score; with --source
    alone, edits are counted by kind and nothing is judged.

    With --fail-if it is a gate: it ends with code 1 where something got worse. The old system may
    be a --baseline, a small file that --update-baseline renews.
    """
    from errata.io.slices import read_slices
    from errata.report.tables.comparison import comparison_tables, edit_change_table
    from errata.report.tables.gate import gate_table
    from errata.studies.comparison import compare
    from errata.studies.gate_run import hold_conditions, slices_without

    began = time.monotonic()
    gate.check_used()
    corpus, systems = inputs.scored(outputs)
    chosen, keeper = _metrics(metrics, corpus, extractor)
    if gate.baseline is not None:
        base, others = gate.old(corpus, systems), systems
        if gate.update_baseline and len(others) > 1:
            raise InputError("a baseline is one system", remedy="give one output")
        if base is None:
            gate.store(corpus, others[0], _scored(chosen, corpus, others[0], bootstrap))
            return
    else:
        base, others = _parted(systems, old)
    columns = None if slices is None else read_slices(slices, corpus)

    def compared(left_out: Sequence[int]) -> tuple[Comparison, ...]:
        with ProgressBar("compare") as progress:
            return compare(
                chosen,
                corpus.without_sentences(*left_out),
                base.without_sentences(*left_out),
                [each.without_sentences(*left_out) for each in others],
                edits=keeper,
                slices=slices_without(columns, left_out),
                tier=tier,
                resamples=bootstrap.resamples,
                trials=trials,
                confidence=bootstrap.confidence,
                rng=bootstrap.seed,
                guard=False,
                threads=threads,
                progress=progress,
            )

    found = compared(())
    verdicts = hold_conditions(
        gate.fail_if, corpus, columns, lambda out: compared(out) if out else found, bound=gate.bound
    )
    gate.tell(verdicts, found, began)
    shown = [gate_table(verdicts, signature=found[0].edits)] if verdicts else []
    if by_edit:
        _require_references(corpus)
        shown += [edit_change_table(each, corpus.sources) for each in found]
    else:
        everything = form not in ("table", "latex")
        for each in found:
            shown += comparison_tables(each, largest=show, every_figure=everything)
    emit(shown, form)
    if gate.update_baseline and not any(each.failed for each in verdicts):
        gate.store(corpus, others[0], _scored(chosen, corpus, others[0], bootstrap))
    gate.end(verdicts)


def _scored(
    metrics: Sequence[Metric], corpus: Corpus, system: Hypotheses, bootstrap: Bootstrap
) -> list[Scores]:
    """The scores that a stored run keeps of a system."""
    from errata.evaluation import evaluate

    return [
        evaluate(
            each, corpus, [system], resamples=bootstrap.resamples, rng=bootstrap.seed, guard=False
        )
        for each in metrics
    ]


def _parted(systems: list[Hypotheses], old: str | None) -> tuple[Hypotheses, list[Hypotheses]]:
    """The system to compare with, and the others."""
    names = [each.system for each in systems]
    if old is not None and old not in names:
        raise InputError(f"there is no system {old!r}", remedy=f"known: {', '.join(names)}")
    if len(systems) < 2:
        raise InputError(
            "one output is nothing to compare", remedy="give the old output and then the new one"
        )
    at = 0 if old is None else names.index(old)
    return systems[at], [each for s, each in enumerate(systems) if s != at]


def _metrics(
    given: tuple[str, ...], corpus: Corpus, extractor: str | None
) -> tuple[list[Metric], Edits]:
    """The metrics to show, and the one that finds and compares edits."""
    from errata.metrics import parse
    from errata.metrics.errant import Edits

    judged = bool(corpus.most_references)
    chosen = [parse(text) for text in given or ((*DEFAULT_METRICS, "edits") if judged else ())]
    keeper = next((each for each in chosen if isinstance(each, Edits)), None)
    every = chosen if keeper is not None else [*chosen, Edits()]
    if extractor is not None:
        every = extracting(every, extractor)
    refuse_twins(every)
    found = next(each for each in every if isinstance(each, Edits))
    return every[: len(chosen)], found


def _require_references(corpus: Corpus) -> None:
    if not corpus.most_references:
        raise InputError(
            "without references no edit is right or wrong, and --by-edit has nothing to show",
            remedy="give corrected texts (--refs) or an M2 file (--gold)",
        )
