"""``errata report``: one HTML page on systems, metrics and people."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from errata.cli import options
from errata.cli.input_options import Inputs, accepts_extractor, check_system_name, parse_metrics
from errata.cli.judgment_options import PeopleOptions, ScoreFiles, read_meta_inputs
from errata.cli.output import CommandOptions, ProgressBar, emit
from errata.cli.params import argument, group, option, takes
from errata.core.errors import InputError
from errata.metrics import DEFAULT_METRICS

if TYPE_CHECKING:
    from errata.comparison.gate import Condition
    from errata.data import Corpus, Hypotheses
    from errata.io import CheckReport
    from errata.metrics import Metric
    from errata.reports.report import ReportPage
    from errata.tables.table import Form, Table

EPILOG = """\b
Examples:
  errata report --gold gold.m2 baseline.txt ours=out.txt -o report.html
  errata report --judgments judgments.xml -o people.html
  errata report --gold gold.m2 v1.txt v2.txt --old v1 --runs runs/ -o build.html
"""
SCORED = "outputs or --sample"


@dataclass(frozen=True)
class ReportOptions(CommandOptions):
    outputs: tuple[str, ...] = argument(metavar="[NAME=]FILE...", role="outputs", several=True)
    output: str = option(
        "-o", "--output PATH", "The page to write.", default="report.html", writes="file"
    )
    title: str = option("--title WORDS", "The title of the page.", default="")
    old: str | None = options.old_system_option(
        "The system that the others are compared with.", needs=SCORED
    )
    slices: str | None = options.slices_option(needs=SCORED)
    fail_if: tuple[Condition, ...] = options.fail_if_option(needs="--old")
    bound: options.Bound = options.gate_bound_option()
    runs: str | None = option("--runs FOLDER", "Stored runs, to be drawn over time.")
    inputs: Inputs = group(Inputs, needs={"*": SCORED, "sample": "", "skipped": ""})
    metrics: tuple[str, ...] = options.metric_option(*DEFAULT_METRICS, needs=SCORED)
    extractor: str | None = options.extract_option(
        "find the edits of all outputs with one tool, for kinds, difficulty and sentences",
        needs=SCORED,
    )
    people: PeopleOptions = group(PeopleOptions)
    scores: ScoreFiles = group(ScoreFiles)
    bootstrap: options.Bootstrap = group(options.Bootstrap, "kind")
    threads: int | None = options.threads_option()

    def __post_init__(self) -> None:
        """Refuse a report on nothing, before the name of the page is looked at."""
        inputs = self.inputs
        people = self.people.judgments or self.scores.human
        if not (self.outputs or inputs.sample or people or self.scores.files or self.runs):
            raise InputError(
                "nothing to report on: outputs, judgments and scores are all missing",
                remedy="name outputs with --gold (or --source and --refs), or give --judgments, "
                "--human, --scores, --runs, or --sample",
            )


@click.command("report", epilog=EPILOG)
@takes(ReportOptions, data=True)
def command(given: ReportOptions) -> None:
    """Build a one-page HTML report on the systems.

    From the same files as errata score, rank, meta, difficulty and compare, any part of them: the
    answer in three sentences, a leaderboard, kinds of error, every sentence, the rankings of
    people, what changed against --old, and the trend over --runs. Sections without data are left
    out. The page is one file that needs no network.
    """
    from errata.io.files import files_read
    from errata.io.records import file_digests
    from errata.io.slices import read_slices
    from errata.io.stored_runs import read_runs
    from errata.reports.report import build_report_page
    from errata.reports.results import ReportInputs, captured_warnings
    from errata.reports.sections.changes import metrics_to_compare

    inputs, people = given.inputs, given.people
    with captured_warnings() as warnings:
        scored = None
        if given.outputs or inputs.sample:
            scored = inputs.with_all_sentences.read_corpus_and_systems(given.outputs, given.threads)
        metrics = _choose_metrics(given, scored)
        found = read_meta_inputs(inputs, given.outputs, people, given.scores, scored)
        found = found.skip(inputs.skipped).without(people.without)
        runs = () if given.runs is None else read_runs(given.runs)
        corpus, systems = found.scored or (None, [])
        check_system_name(given.old, systems)
        slices = read_slices(given.slices, corpus) if given.slices and corpus is not None else None
        files = file_digests(dict.fromkeys(files_read.names()))
        checked = _check_input_files(given.outputs, inputs)
    arguments = click.get_current_context().find_root().meta.get("errata.arguments", ("report",))
    with ProgressBar("report") as progress:
        page = build_report_page(
            ReportInputs(
                corpus=corpus,
                systems=tuple(systems),
                metrics=tuple(metrics),
                compared=metrics_to_compare(metrics, usual=not given.metrics),
                scores=tuple(found.scores),
                judgments=found.judgments,
                human=found.human,
                base=given.old,
                slices=slices,
                fail_if=given.fail_if,
                bound=given.bound,
                runs=runs,
                checked=checked,
                warnings=tuple(warnings),
                files=tuple(files),
                command=shlex.join(("errata", *arguments)),
                title=given.title,
                extractor=given.extractor,
                people=people.settings(inputs),
                **given.bootstrap.interval_settings,
                threads=given.threads,
                progress=progress,
            )
        )
    page.save(given.output)
    emit(_section_tables(page, given.output, given.display.form), given.display)
    if not page.passed:
        sys.exit(1)


def _choose_metrics(
    given: ReportOptions, scored: tuple[Corpus, list[Hypotheses]] | None
) -> list[Metric]:
    """Return the metrics asked for; the default ones only where there are references."""
    if scored is None:
        return []
    default = DEFAULT_METRICS if scored[0].most_references else ()
    metrics = parse_metrics(given.metrics, default)
    if given.extractor is not None and any(map(accepts_extractor, metrics)):
        return parse_metrics(given.metrics, default, given.extractor)
    return metrics


def _check_input_files(outputs: tuple[str, ...], inputs: Inputs) -> CheckReport | None:
    """Return the check of the files, where there are files that can be read twice."""
    if inputs.sample or not (outputs or inputs.has_files):
        return None
    from errata.io import check_files
    from errata.io.files import shown_name

    named = (*outputs, *inputs.refs, inputs.gold or "", inputs.source or "")
    if any(shown_name(path.rpartition("=")[2]) == "<stdin>" for path in named):
        return None
    return check_files(outputs, inputs.files())


def _section_tables(page: ReportPage, path: str, form: Form) -> list[Table]:
    """Return the list of sections, and for programs also the tables of the page."""
    from errata.tables.table import Table

    contents = Table(
        ("section", "title", "tables"),
        tuple((s.key, s.title, len(s.tables)) for s in page.sections),
        title=f"{page.title}: {path}",
        name="report",
        caption=f"{len(page.html.encode('utf-8', 'replace')) / 1e6:.1f} MB in one file",
    )
    return [contents] if form == "table" else [contents, *page.tables]
