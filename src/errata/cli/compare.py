"""``errata compare``: what changed between versions of a system."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from errata.cli.input_options import (
    Inputs,
    check_old,
    corpus_options,
    extracting,
    reject_duplicates,
    score_metrics,
)
from errata.cli.options import (
    CORPUS,
    Bootstrap,
    GateOptions,
    bootstrap_options,
    data_option,
    extract_option,
    gate_options,
    metric_option,
    old_option,
    refuse_unless,
    slices_option,
    threads_option,
    tier_option,
)
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.core.errors import InputError
from errata.core.stats import MOST_RESAMPLES
from errata.metrics import DEFAULT_METRICS

if TYPE_CHECKING:
    from errata.comparison.compare import Comparison
    from errata.comparison.gate import CheckedCondition, SliceColumns
    from errata.data import Corpus, Hypotheses
    from errata.metrics import Metric
    from errata.metrics.errant import Edits
    from errata.tables.table import Form, Table


# Options that say how something is computed, which scores in files are already.
COMPUTED = (
    "metrics slices extractor tier show by_edit resamples seed trials fail_if bound baseline "
    "update_baseline junit markdown annotate threads"
)
EPILOG = """\b
Examples:
  errata compare --gold gold.m2 v1=old.txt v2=new.txt
  errata compare --source src.txt old.txt new.txt
  errata compare --gold gold.m2 --baseline main.json new.txt --fail-if 'm2 < -0.005'
  errata compare --scores big/result.json --old v1
  errata compare --gold gold.m2 --slices domains.tsv --old v1 v1.txt v2.txt v3.txt
"""


@click.command("compare", epilog=EPILOG)
@writes_files("junit", "markdown")
@data_option(*CORPUS, outputs="outputs")
@click.argument("outputs", nargs=-1, metavar="[NAME=]OLD [NAME=]NEW...")
@corpus_options()
@metric_option(*DEFAULT_METRICS, "edits")
@click.option(
    "--scores",
    "files",
    multiple=True,
    metavar="[NAME=]FILE",
    help="Compare scores that were computed before, as result.json of errata scale, instead of "
    "outputs; may be repeated.",
)
@old_option("The system that the others are compared with. Default: the first.")
@slices_option
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
    files: tuple[str, ...],
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

    if files:
        _compare_scores(files, outputs, inputs, old, bootstrap, form)
        return
    began = time.monotonic()
    gate.check_used()
    corpus, systems = inputs.scored(outputs, threads)
    chosen, keeper = _metrics(metrics, corpus, extractor)
    if by_edit:
        _require_references(corpus)
    if gate.baseline is not None:
        base, others = gate.old(corpus, systems), systems
    else:
        base, others = _parted(systems, old)
    columns = None if slices is None else read_slices(slices, corpus)
    drawn = {"resamples": bootstrap.resamples, "trials": trials, "rng": bootstrap.seed}
    settings = {"edits": keeper, "tier": tier, "confidence": bootstrap.confidence, **drawn}
    compared = _comparer(chosen, corpus, base, others, columns, threads=threads, **settings)
    found = compared(())
    verdicts = _verdicts(gate, corpus, columns, compared, found)
    gate.tell(verdicts, found, began)
    emit(_tables(verdicts, found, corpus, show, by_edit, form), form)
    if any(each.failed for each in verdicts):
        sys.exit(1)
    if gate.update_baseline:
        results = score_metrics(chosen, corpus, others, bootstrap, threads)
        gate.store(corpus, others[0], results, confidence=bootstrap.confidence)


def _compare_scores(
    files: tuple[str, ...],
    outputs: tuple[str, ...],
    inputs: Inputs,
    old: str | None,
    bootstrap: Bootstrap,
    form: Form,
) -> None:
    """Print what changed by scores that are in files, from the resamples that they hold."""
    from errata.io.scores import read_score_files
    from errata.scoring.tables import score_change_table

    refuse_unless(False, COMPUTED, "outputs, and scores were given")
    if outputs or inputs.named or inputs.sample:
        raise InputError(
            "both scores and what to compute them of are given", remedy="leave out either of them"
        )
    results = read_score_files(files)
    emit(score_change_table(results, old, confidence=bootstrap.confidence), form)


def _comparer(
    metrics: Sequence[Metric],
    corpus: Corpus,
    base: Hypotheses,
    others: Sequence[Hypotheses],
    columns: SliceColumns | None,
    **settings: Any,
) -> Callable[[Sequence[int]], tuple[Comparison, ...]]:
    """What compares the systems without some sentences, counted from 0."""
    from errata.comparison.gate import compare_excluding

    def compared(left_out: Sequence[int]) -> tuple[Comparison, ...]:
        with ProgressBar("compare") as progress:
            return compare_excluding(
                left_out,
                metrics,
                corpus,
                base,
                others,
                slices=columns,
                progress=progress,
                **settings,
            )

    return compared


def _verdicts(
    gate: GateOptions,
    corpus: Corpus,
    columns: SliceColumns | None,
    compared: Callable[[Sequence[int]], tuple[Comparison, ...]],
    whole: tuple[Comparison, ...],
) -> tuple[CheckedCondition, ...]:
    """The conditions of the gate, held; what is compared already is not compared again."""
    from errata.comparison.gate import check_conditions

    return check_conditions(
        gate.fail_if, corpus, columns, lambda out: compared(out) if out else whole, bound=gate.bound
    )


def _tables(
    verdicts: Sequence[CheckedCondition],
    found: Sequence[Comparison],
    corpus: Corpus,
    show: int,
    by_edit: bool,
    form: Form,
) -> list[Table]:
    """What is printed: the verdicts, then what changed or every edit that did."""
    from errata.comparison.gate import gate_table
    from errata.comparison.tables import comparison_tables, edit_change_table

    shown = [gate_table(verdicts, signature=found[0].edits)] if verdicts else []
    if by_edit:
        return shown + [edit_change_table(each, corpus.sources) for each in found]
    everything = form not in ("table", "latex")
    for each in found:
        tables = comparison_tables(each, largest=show, every_figure=everything)
        if form == "table" and not each.differing:  # the others would say it ten times
            said = "\n".join(filter(None, (tables[0].caption, "no sentence differs")))
            tables = [replace(tables[0], caption=said)]
        shown += tables
    return shown


def _parted(systems: list[Hypotheses], old: str | None) -> tuple[Hypotheses, list[Hypotheses]]:
    """The system to compare with, and the others."""
    names = check_old(old, systems)
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
    reject_duplicates(every)
    found = next(each for each in every if isinstance(each, Edits))
    return every[: len(chosen)], found


def _require_references(corpus: Corpus) -> None:
    if not corpus.most_references:
        raise InputError(
            "without references no edit is right or wrong, and --by-edit has nothing to show",
            remedy="give corrected texts (--refs) or an M2 file (--gold)",
        )
