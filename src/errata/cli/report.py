"""``errata report``: one page that tells the story."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from errata.cli.input_options import (
    Inputs,
    ScoreFiles,
    check_old,
    corpus_options,
    extracting,
    finds_edits,
    reject_duplicates,
    score_file_options,
)
from errata.cli.judgment_options import (
    JudgmentInputs,
    JudgmentSource,
    MetaInputs,
    SystemSelection,
    choice_options,
    judgment_options,
    judgments_of,
    people_options,
    unit_option,
)
from errata.cli.options import (
    CORPUS,
    Bootstrap,
    Bound,
    bootstrap_options,
    bound_option,
    data_option,
    extract_option,
    fail_if_option,
    metric_option,
    old_option,
    refuse_unless,
    slices_option,
    threads_option,
)
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.cli.params import option_group
from errata.core.errors import InputError
from errata.metrics import DEFAULT_METRICS

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses
    from errata.human.comparisons import Unit
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


class ReportOptions(NamedTuple):
    """What else a report tells, and where it goes."""

    output: str
    title: str
    old: str | None
    slices: str | None
    fail_if: tuple[str, ...]
    bound: Bound
    runs: str | None


report_options = option_group(
    "told",
    ReportOptions,
    {
        "output": click.option(
            "-o",
            "--output",
            metavar="PATH",
            default="report.html",
            show_default=True,
            help="The page to write.",
        ),
        "title": click.option(
            "--title", metavar="WORDS", default="", help="The title of the page."
        ),
        "old": old_option("The system that the others are compared with."),
        "slices": slices_option,
        "fail_if": fail_if_option,
        "bound": bound_option,
        "runs": click.option(
            "--runs", metavar="FOLDER", help="Stored runs, to be drawn over time."
        ),
    },
)


@click.command("report", epilog=EPILOG)
@data_option(*CORPUS, "judgments", "human", outputs="systems", scores="files")
@writes_files("output")
@click.argument("systems", nargs=-1, metavar="[NAME=]FILE...")
@report_options
@corpus_options()
@metric_option(*DEFAULT_METRICS)
@extract_option("find the edits of all outputs alike, for kinds, difficulty and sentences")
@people_options
@score_file_options
@unit_option("What is drawn when judgments are resampled.")
@choice_options
@judgment_options("sample", "without", "skipped")
@bootstrap_options("the sentences, and of what --unit names")
@threads_option
@format_option
def command(
    systems: tuple[str, ...],
    told: ReportOptions,
    inputs: Inputs,
    metrics: tuple[str, ...],
    extractor: str | None,
    people: JudgmentSource,
    score_files: ScoreFiles,
    unit: Unit,
    selected: SystemSelection,
    judged: JudgmentInputs,
    bootstrap: Bootstrap,
    threads: int | None,
    form: Form,
) -> None:
    """Make one page of everything that is known of systems.

    From the same files as errata score, rank, meta, difficulty and compare, any part of them: the
    answer in three sentences, a leaderboard, kinds of error, every sentence to look at, people's
    rankings, what changed against --old, and the trend over --runs. Only what there is something
    to say of is shown. The page is one file that needs no network.
    """
    from errata.io.files import files_read
    from errata.io.records import file_digests
    from errata.io.slices import read_slices
    from errata.io.stored_runs import read_runs
    from errata.reports.report import make_report
    from errata.reports.results import ReportInputs, captured_warnings
    from errata.reports.sections.changes import compared_metrics

    _check_used(systems, inputs, people, score_files, judged, told)
    with captured_warnings() as heard:
        given, origin, chosen = _read(
            systems, inputs, people, score_files, judged, selected, metrics, extractor, threads
        )
        runs = () if told.runs is None else read_runs(told.runs)
        corpus, outputs = given.scored or (None, [])
        check_old(told.old, outputs)
        slices = read_slices(told.slices, corpus) if told.slices and corpus is not None else None
        files = file_digests(dict.fromkeys(files_read.names()))
        checked = _checked(systems, inputs)
    with ProgressBar("report") as progress:
        made = make_report(
            ReportInputs(
                corpus=corpus,
                systems=tuple(outputs),
                metrics=tuple(chosen),
                compared=compared_metrics(chosen, usual=not metrics),
                scores=tuple(given.scores),
                judgments=given.judgments,
                human=given.human,
                base=told.old,
                slices=slices,
                fail_if=told.fail_if,
                bound=told.bound,
                runs=runs,
                checked=checked,
                warnings=tuple(heard),
                files=tuple(files),
                command=_command_line(),
                title=told.title,
                extractor=extractor,
                ranker=people.ranker,
                members=people.members,
                unit=unit,
                origin=origin,
                hide=selected.hide,
                common=selected.common,
                resamples=bootstrap.resamples,
                confidence=bootstrap.confidence,
                seed=bootstrap.seed,
                threads=threads,
                progress=progress,
            )
        )
    made.save(told.output)
    emit(_tables(made, told.output, form), form)
    if not made.passed:
        sys.exit(1)


def _check_used(
    systems: tuple[str, ...],
    inputs: Inputs,
    people: JudgmentSource,
    score_files: ScoreFiles,
    judged: JudgmentInputs,
    told: ReportOptions,
) -> None:
    """Refuse a report of nothing, and options that would change nothing."""
    computed = bool(systems or inputs.sample)
    judgments = bool(people.judgments or inputs.sample)
    if not (computed or judgments or score_files.files or score_files.human or told.runs):
        raise InputError(
            "nothing to report on",
            remedy="give outputs, --judgments, --human, --scores, --runs, or --sample",
        )
    refuse_unless(
        computed,
        "metrics gold source refs missing compatible annotators tokens no_guard extractor old "
        "slices",
        "outputs to score",
    )
    refuse_unless(told.old is not None, "fail_if", "--old")
    refuse_unless(bool(told.fail_if), "bound", "--fail-if")
    refuse_unless(judgments, "ranker members unit leave_out", "--judgments")
    judged.check_used(bool(people.judgments), "--judgments")
    refuse_unless(
        (computed or bool(score_files.files)) and (judgments or score_files.human is not None),
        "common hide",
        "metrics and people",
    )
    if computed:
        inputs.check_used()


def _read(
    systems: tuple[str, ...],
    inputs: Inputs,
    people: JudgmentSource,
    score_files: ScoreFiles,
    judged: JudgmentInputs,
    selected: SystemSelection,
    metrics: tuple[str, ...],
    extractor: str | None,
    threads: int | None,
) -> tuple[MetaInputs, tuple[str, ...], list[Metric]]:
    """Everything that was given, as errata meta reads it."""
    scored = inputs.whole.scored(systems, threads) if systems or inputs.sample else None
    chosen = _metrics(metrics, extractor, scored)
    written = inputs.as_written(systems, scored[1]) if scored else []
    judgments = judgments_of(people, inputs.sample, judged, written)
    human, scores = score_files.read()
    given = (
        MetaInputs(judgments, human, scores, scored).skip(inputs.skipped).without(selected.without)
    )
    origin = (*judged.facts, *inputs.skip_facts, *(f"without:{n}" for n in selected.without))
    return given, origin, chosen


def _metrics(
    given: tuple[str, ...], extractor: str | None, scored: tuple[Corpus, list[Hypotheses]] | None
) -> list[Metric]:
    """The metrics asked for; the usual ones where there are references and none was named."""
    from errata.metrics import parse

    if scored is None:
        return []
    usual = DEFAULT_METRICS if scored[0].most_references else ()
    chosen = [parse(text) for text in given or usual]
    if extractor is not None and any(map(finds_edits, chosen)):
        chosen = extracting(chosen, extractor)
    reject_duplicates(chosen)
    return chosen


def _checked(systems: tuple[str, ...], inputs: Inputs) -> CheckReport | None:
    """The check of the files, where there are files."""
    if inputs.sample or not (systems or inputs.named):
        return None
    from errata.io.files import shown_name

    named = (*systems, *inputs.refs, inputs.gold or "", inputs.source or "")
    if any(shown_name(path.rpartition("=")[2]) == "<stdin>" for path in named):
        return None  # which can be read once
    return inputs.checked(systems)


def _command_line() -> str:
    given = click.get_current_context().find_root().meta.get("errata.arguments", ("report",))
    return shlex.join(("errata", *given))


def _tables(made: ReportPage, path: str, form: Form) -> list[Table]:
    """What was made: the sections, and for programs the tables of the page with their numbers."""
    from errata.tables.table import Table

    contents = Table(
        ("section", "title", "tables"),
        tuple((s.key, s.title, len(s.tables)) for s in made.sections),
        title=f"{made.title}: {path}",
        name="report",
        caption=f"{len(made.html.encode('utf-8', 'replace')) / 1e6:.1f} MB in one file",
    )
    return [contents] if form == "table" else [contents, *made.tables]
