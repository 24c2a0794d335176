"""``errata compare``: what changed between versions of a system."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from errata.cli import options
from errata.cli.input_options import Inputs, check_system_name, parse_metrics, score_metrics
from errata.cli.main import note, print_stderr
from errata.cli.output import CommandOptions, ProgressBar, emit
from errata.cli.params import argument, count_option, flag, group, option, takes
from errata.core.errors import InputError
from errata.core.stats import MOST_RESAMPLES
from errata.metrics import DEFAULT_METRICS

if TYPE_CHECKING:
    from errata.comparison.compare import Comparison
    from errata.comparison.gate import CheckedCondition, Condition
    from errata.data import Corpus, Hypotheses
    from errata.metrics import Metric
    from errata.metrics.errant import Edits
    from errata.tables.table import Table

EPILOG = """\b
Examples:
  errata compare --gold gold.m2 v1=old.txt v2=new.txt
  errata compare --source src.txt old.txt new.txt
  errata compare --gold gold.m2 --baseline main.json new.txt --fail-if 'm2 < -0.005'
  errata compare --scores big/result.json --old v1
  errata compare --gold gold.m2 --slices domains.tsv --old v1 v1.txt v2.txt v3.txt
"""


@dataclass(frozen=True)
class Gate:
    """Conditions under which a build fails, and the files written about them."""

    fail_if: tuple[Condition, ...] = options.fail_if_option()
    bound: options.Bound = options.gate_bound_option()
    baseline: str | None = option(
        "--baseline FILE",
        "The old system as a stored run (JSON), in place of its output.",
        excludes="--old",
    )
    update_baseline: bool = flag(
        "--update-baseline",
        "Store the new system in the baseline, unless a condition fails.",
        needs="--baseline",
    )
    junit: str | None = option(
        "--junit FILE", "Write the verdicts as JUnit XML.", needs="--fail-if", writes="file"
    )
    markdown: str | None = option(
        "--markdown FILE", "Write what changed, and the verdicts, as Markdown.", writes="file"
    )
    annotate: bool = flag(
        "--annotate",
        "Show the verdicts on GitHub (workflow commands on standard error).",
        needs="--fail-if",
    )


@dataclass(frozen=True)
class CompareOptions(CommandOptions):
    outputs: tuple[str, ...] = argument(
        metavar="[NAME=]OLD [NAME=]NEW...", role="outputs", several=True
    )
    inputs: Inputs = group(Inputs)
    metrics: tuple[str, ...] = options.metric_option(*DEFAULT_METRICS, "edits")
    scores: tuple[str, ...] = option(
        "--scores [NAME=]FILE",
        "Compare scores that were computed before, as result.json of errata scale, instead "
        "of outputs; may be repeated.",
        multiple=True,
        excludes="outputs or --gold or --source or --refs or --sample or --metric or --slices or "
        "--extract or --tier or --show or --by-edit or --resamples or --seed or --trials or "
        "--fail-if or --baseline or --markdown or --threads",
    )
    old: str | None = options.old_system_option(
        "The system that the others are compared with. Default: the first."
    )
    slices: str | None = options.slices_option()
    extractor: str | None = options.extract_option("find the edits of all outputs with one tool")
    tier: int = options.tier_option()
    show: int = count_option(
        "--show",
        "How many sentences to show that got better, and how many that got worse.",
        10,
        least=0,
    )
    details: bool = flag(
        "--details", "Print every table in a terminal, not the answer and one screen."
    )
    by_edit: bool = flag("--by-edit", "Print a row for every edit that changed.")
    bootstrap: options.Bootstrap = group(options.Bootstrap, "kind")
    trials: int = count_option(
        "--trials",
        "Swaps of approximate randomisation; 0 leaves p-values out.",
        10_000,
        least=0,
        most=MOST_RESAMPLES,
    )
    gate: Gate = group(Gate)
    threads: int | None = options.threads_option()


@click.command("compare", epilog=EPILOG)
@takes(CompareOptions, data=True)
def command(given: CompareOptions) -> None:
    """Show what changed between an old system and new ones.

    Prints for every metric the difference with its interval and p-value; which errors were gained
    or lost and which false alarms are new, in total, by kind, by difficulty and by slice; and the
    sentences that got better and worse. Give the gold standard as for errata score; with --source
    alone, edits are counted by kind and none is right or wrong.

    With --fail-if it is a gate: it ends with exit code 1 if something got worse. The old system may
    be a --baseline, a small file that --update-baseline renews.
    """
    from errata.comparison.gate import compare_and_check_gate, read_baseline_output
    from errata.io.slices import read_slices

    if given.scores:
        _compare_scores(given)
        return
    began = time.monotonic()
    gate = given.gate
    corpus, systems = given.inputs.read_corpus_and_systems(given.outputs, given.threads)
    metrics, edits = _choose_metrics(given.metrics, corpus, given.extractor)
    if given.by_edit and not corpus.most_references:
        problem = "without references no edit is right or wrong, and --by-edit has nothing to show"
        raise InputError(problem, remedy="give corrected texts (--refs) or an M2 file (--gold)")
    if gate.baseline is not None:
        update = gate.update_baseline
        base, others = read_baseline_output(gate.baseline, corpus, systems, update=update), systems
    else:
        base, others = _split_old_and_new(systems, given.old)
    columns = None if given.slices is None else read_slices(given.slices, corpus)
    with ProgressBar("compare") as progress:
        compared, verdicts = compare_and_check_gate(
            gate.fail_if,
            metrics,
            corpus,
            base,
            others,
            slices=columns,
            bound=gate.bound,
            edits=edits,
            tier=given.tier,
            trials=given.trials,
            **given.bootstrap.interval_settings,
            threads=given.threads,
            progress=progress,
        )
    # Write what build servers read, and annotate the run.
    from errata.comparison.gate import gate_summary, github_annotations, junit_xml
    from errata.io.atomic import write_bytes

    if gate.junit is not None:
        write_bytes(junit_xml(verdicts, time.monotonic() - began), gate.junit)
    if gate.markdown is not None:
        write_bytes(gate_summary(verdicts, compared).encode("utf-8"), gate.markdown)
    for line in github_annotations(verdicts) if gate.annotate else ():
        print_stderr(line)
    display = given.display
    tables = _tables_to_print(verdicts, compared, corpus, given)
    emit(tables, display)
    if any(each.failed for each in verdicts):
        sys.exit(1)
    if gate.update_baseline:
        results = score_metrics(metrics, corpus, others, given.bootstrap, given.threads)
        from errata.io.stored_runs import make_run, write_run

        assert gate.baseline is not None
        run = make_run(corpus, others[0], results, confidence=given.bootstrap.confidence)
        write_run(gate.baseline, run, renew=True)
        note(f"{others[0].system} is stored in {gate.baseline}")


def _compare_scores(given: CompareOptions) -> None:
    """Print what changed by scores that are in files, from the resamples that they hold."""
    from errata.io.scores import read_score_files
    from errata.scoring.tables import score_change_table

    results = read_score_files(given.scores)
    confidence = given.bootstrap.confidence
    emit(score_change_table(results, given.old, confidence=confidence), given.display)


def _tables_to_print(
    verdicts: Sequence[CheckedCondition],
    compared: Sequence[Comparison],
    corpus: Corpus,
    given: CompareOptions,
) -> list[Table]:
    """Return the verdicts, then what changed or every edit that did."""
    from errata.comparison.gate import gate_table
    from errata.comparison.tables import comparison_summary, comparison_tables, edit_change_table

    form = given.display.form
    shown = [gate_table(verdicts, signature=compared[0].edits)] if verdicts else []
    if given.by_edit:
        return shown + [edit_change_table(each, corpus.sources) for each in compared]
    every_figure = form not in ("table", "latex")
    for each in compared:
        if form == "table" and not given.details and (each.answer or not each.differing):
            shown += comparison_summary(each)
        else:
            shown += comparison_tables(each, largest=given.show, every_figure=every_figure)
    if verdicts and len(compared) == 1:  # the answer comes first
        shown[:2] = [replace(table, answer=None) for table in shown[:2]]
        shown[0] = replace(shown[0], answer=compared[0].answer)
    return shown


def _split_old_and_new(
    systems: list[Hypotheses], old: str | None
) -> tuple[Hypotheses, list[Hypotheses]]:
    """Return the system to compare with, and the others."""
    names = check_system_name(old, systems)
    if len(systems) < 2:
        remedy = "give the old output and then the new one"
        raise InputError("one output is nothing to compare", remedy=remedy)
    at = 0 if old is None else names.index(old)
    return systems[at], [*systems[:at], *systems[at + 1 :]]


def _choose_metrics(
    texts: tuple[str, ...], corpus: Corpus, extractor: str | None
) -> tuple[list[Metric], Edits]:
    """Return the metrics to show, and the one that finds and compares edits."""
    from errata.metrics.errant import Edits

    default = (*DEFAULT_METRICS, "edits") if corpus.most_references else ()
    shown = parse_metrics(texts, default)
    more = [] if any(isinstance(each, Edits) for each in shown) else ["edits"]
    every = parse_metrics([*(texts or default), *more], extractor=extractor)
    return every[: len(shown)], next(each for each in every if isinstance(each, Edits))
