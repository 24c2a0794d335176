"""``errata score``: scores of systems with intervals and signatures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from errata.cli.input_options import Inputs, parse_metrics, score_metrics
from errata.cli.options import Bootstrap, extract_option, metric_option, threads_option, tier_option
from errata.cli.output import CommandOptions, ProgressBar, emit
from errata.cli.params import argument, flag, group, option, takes
from errata.core.errors import InputError
from errata.io.files import COMPRESSIONS
from errata.metrics import DEFAULT_METRICS

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses, Scores
    from errata.metrics import Metric

LARGE = 200_000_000  # bytes of files above which they are read batch by batch
NEXT = "next: errata report (the same files as a page), errata compare, --details"
FILES = (
    f"In every command, files may be compressed ({', '.join(COMPRESSIONS)}), and - is standard "
    "input."
)


@dataclass(frozen=True)
class ScoreOptions(CommandOptions):
    outputs: tuple[str, ...] = argument(metavar="[NAME=]FILE...", role="outputs", several=True)
    inputs: Inputs = group(Inputs)
    metrics: tuple[str, ...] = metric_option(*DEFAULT_METRICS)
    sentences: bool = flag("--by-sentence", "Print a row for every sentence.", excludes="--by-type")
    compare: bool = flag(
        "--compare",
        "Add paired-bootstrap p-values between systems.",
        needs="--resamples above 0",
        excludes="--by-type",
    )
    by_type: bool = flag(
        "--by-type", "F, success and false alarms by kind of edit (errant, edits)."
    )
    extractor: str | None = extract_option(
        "for errant, edits, cleme, pt_errant, difficulty and judge, find the edits of all outputs "
        "with one tool"
    )
    tier: int = tier_option(needs="--by-type")
    details: bool = flag(
        "--details", "With several metrics: a table for each of them.", excludes="--by-type"
    )
    bootstrap: Bootstrap = group(Bootstrap)
    stream: bool | None = option(
        "--stream/--no-stream",
        "Read files batch by batch, in bounded memory, with the same scores. Default: if they "
        f"have over {LARGE // 10**6:,} MB together.",
    )
    threads: int | None = threads_option()


@click.command("score", epilog="Example:  errata score --gold gold.m2 baseline.txt ours=out.txt")
@takes(ScoreOptions, data=True, more_help=FILES)
def command(given: ScoreOptions) -> None:
    """Score the outputs of one or more systems.

    Give the gold standard as M2 (--gold) or as texts (--source and --refs), then one output
    file per system, one sentence a line.
    """
    from errata.scoring import tables

    default = ("errant",) if given.by_type else DEFAULT_METRICS
    metrics = parse_metrics(given.metrics, default, given.extractor)
    if _reads_in_batches(metrics, given):
        results = _score_batches(metrics, given)
    else:
        corpus, systems = given.inputs.read_corpus_and_systems(given.outputs, given.threads)
        if given.by_type:
            by_type = []
            for metric in metrics:
                with ProgressBar(metric.name) as progress:
                    by_type += tables.by_type_tables(
                        metric, corpus, systems, tier=given.tier, progress=progress
                    )
            emit(by_type, given.display)
            return
        results = score_metrics(metrics, corpus, systems, given.bootstrap, given.threads)
    results = tables.unique_labels(results)
    form = given.display.form
    if given.sentences:
        shown = [tables.sentence_score_table(scores) for scores in results]
        long = form == "tsv" and len(shown) > 1
        emit(tables.long_table(shown, results) if long else shown, given.display)
        return
    shown = tables.displayed_scores(
        results,
        form=form,
        confidence=given.bootstrap.confidence,
        details=given.details,
        digits=given.display.digits,
    )
    if given.compare:
        shown += [tables.comparison_table(scores) for scores in results]
    emit(shown, given.display, after=NEXT)


def _reads_in_batches(metrics: list[Metric], given: ScoreOptions) -> bool:
    """Return whether files are read batch by batch; refuse --stream where they cannot be."""
    if not given.stream and (
        given.stream is False or given.inputs.total_bytes(given.outputs) <= LARGE
    ):
        return False
    for needs_corpus, why in (
        (given.by_type, "--by-type compares all edits at once"),
        (given.sentences, "--by-sentence shows all sentences"),
        (given.inputs.sample, "--sample is no file"),
        (given.inputs.skipped is not None, "--skip-sentences numbers all sentences"),
        (not given.outputs, "there is no output to read"),
    ):
        if needs_corpus:
            if given.stream:
                remedy = "leave out --stream"
                raise InputError(f"--stream holds no whole corpus, and {why}", remedy=remedy)
            return False
    from errata.scoring.accumulator import check_divisible

    try:
        for metric in metrics:
            check_divisible(metric)
    except InputError:
        if given.stream:
            raise
        return False
    return True


def _score_batches(metrics: list[Metric], given: ScoreOptions) -> list[Scores]:
    """Return the scores of files that are read batch by batch."""
    from errata.io.outputs import list_files_in, split_name, system_name
    from errata.io.shards.batches import stream_batches
    from errata.scoring.evaluate import evaluate_batches

    files = map(split_name, list_files_in(given.outputs))
    given.inputs.require_source()
    sharded = given.inputs.files((name or system_name(path), path) for name, path in files)
    total = Inputs().total_bytes(given.outputs[:1])
    with ProgressBar("scored") as progress:
        done = 0

        def batches() -> Iterator[tuple[Corpus, list[Hypotheses]]]:
            nonlocal done
            for corpus, systems in stream_batches(sharded):
                yield corpus, systems
                done += sum(map(len, systems[0].sentences)) + len(corpus)
                progress(min(done, total), total)

        return evaluate_batches(
            metrics,
            batches(),
            **given.bootstrap.resample_settings,
            bootstrap=given.bootstrap.kind,
            guard=not given.inputs.no_guard,
            threads=given.threads,
        )
