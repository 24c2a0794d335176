"""``errata benchmark``: every metric on all data that people judged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from errata.benchmark import BENCHMARKED, FIGURES, METRIC_GROUPS
from errata.cli import options
from errata.cli.input_options import (
    parse_metrics,
    refuse_beside_sample,
    same_metric,
    sample_option,
    skip_option,
)
from errata.cli.judgment_options import first_sentence_option, ranker_option
from errata.cli.main import note
from errata.cli.output import CommandOptions, ProgressBar, emit
from errata.cli.params import argument, flag, goes_with, group, takes
from errata.core.errors import InputError

if TYPE_CHECKING:
    from errata.benchmark import JudgedSet
    from errata.data import Scores
    from errata.io.slices import SkippedSentences
    from errata.metrics import Metric

EPILOG = """\b
Examples:
  errata benchmark
  errata benchmark ours/ -m gleu -m m2
  errata benchmark seeda-edit seeda-edit-base -m default -m mine.py:MyMetric --figure kendall=b.svg
"""


@dataclass(frozen=True)
class BenchmarkOptions(CommandOptions):
    sets: tuple[str, ...] = argument(metavar="[SET|[NAME=]FOLDER...]", several=True)
    metrics: tuple[str, ...] = options.metric_option(*BENCHMARKED)
    sample: bool = sample_option()
    base: int = first_sentence_option(needs="sets")
    skipped: SkippedSentences | None = skip_option()
    ranker: str = ranker_option(
        "How judgments become scores of systems (see errata rank); ratings are averaged."
    )
    contests: bool = flag("--contests", "Also print every test that decided a place.")
    figures: options.FigureOptions = options.figure_option(
        {figure: f"the table {figure}, a panel for each set" for figure in FIGURES}
    )
    bootstrap: options.Bootstrap = group(options.Bootstrap, "kind")
    threads: int | None = options.threads_option()


@click.command("benchmark", epilog=EPILOG)
@takes(BenchmarkOptions)
def command(given: BenchmarkOptions) -> None:
    """Evaluate metrics on all data that people judged, in one table.

    A SET is public data with outputs and judgments (see errata data list); the default is all of
    them that are on disk. A FOLDER of your own has gold.m2, or source.txt and refs/*.txt; outputs/;
    and judgments* as errata rank reads them (--base is for these), or ratings* (a row for each
    sentence, a column for each system).

    Four tables: correlation with human scores of systems (r, ρ), and with human preferences between
    two outputs of a sentence (τ-b, accuracy with ties), each with an interval and the place of
    the metric: metrics in place 1 do not differ significantly from the best. "One judge" is the
    agreement of a judge with the others, "chance" that of random guesses. A default metric that
    needs a missing package is named and left out; -m default -m MINE compares one more with the
    default ones, -m default -m learned all metrics with encoders too, which takes long.
    """
    from errata.benchmark import (
        benchmark_plot,
        benchmark_set,
        benchmark_tables,
        metric_significance_table,
    )
    from errata.human import parse_ranker
    from errata.metrics import parse
    from errata.plots.mpl import save_figure

    asked = parse_metrics([text for text in given.metrics if text not in METRIC_GROUPS])
    groups = [text for text in given.metrics if text in METRIC_GROUPS]
    if not given.metrics:
        groups = ["default"]
    grouped = [parse(text) for name in groups for text in METRIC_GROUPS[name]]
    grouped = [metric for metric in grouped if not any(same_metric(metric, a) for a in asked)]
    ranker = parse_ranker(given.ranker)
    judged_sets = _judged_sets(given)
    not_run: dict[str, str] = {}
    cached: dict[tuple[str, ...], Scores] = {}
    results = []
    for judged in judged_sets:
        scores = _score_metrics(judged, grouped, asked, not_run, cached, given.threads)
        results.append(
            benchmark_set(judged, scores, ranker=ranker, **given.bootstrap.interval_settings)
        )
    confidence = given.bootstrap.confidence
    tables = benchmark_tables(results, confidence=confidence, not_run=not_run)
    if given.contests:
        tables.append(metric_significance_table(results))
    for kind, path in given.figures:
        save_figure(benchmark_plot(results, kind), path)  # type: ignore[arg-type]
    emit(tables, given.display)


def _judged_sets(given: BenchmarkOptions) -> list[JudgedSet]:
    """Return the sets that are named, or all that are on disk; print which ones are not."""
    from errata.benchmark import JUDGED, is_downloaded, sample_judged_set

    if given.sample:
        refuse_beside_sample(given.sets)
        return [sample_judged_set(given.skipped)]
    names = list(given.sets) or [name for name in JUDGED if is_downloaded(name)]
    missing = [] if given.sets else [name for name in JUDGED if name not in names]
    if not names:
        remedy = f"fetch some, as in: errata data get {JUDGED[0]}; or use --sample"
        raise InputError("no data that people judged are on disk", remedy=remedy)
    if missing:
        note(f"not on disk, and left out: {', '.join(missing)}; fetch them with errata data get")
    judged: list[JudgedSet] = []
    for name in names:
        read = _judged_set(name, given)
        if any(read.name == other.name for other in judged):
            remedy = "give each once, or name folders with NAME=FOLDER"
            raise InputError(f"two sets are called {read.name!r}", remedy=remedy)
        judged.append(read)
    based = (_is_folder(n) and each.ratings is None for n, each in zip(names, judged, strict=True))
    if given.base and not any(based):
        raise goes_with("--base", "judgments of a folder")
    return judged


def _is_folder(place: str) -> bool:
    """Return whether a set is a folder, or meant as one."""
    return "=" in place or os.sep in place or os.path.isdir(place)


def _judged_set(name: str, given: BenchmarkOptions) -> JudgedSet:
    from errata.benchmark import read_judged_folder, read_judged_set

    if _is_folder(name):
        return read_judged_folder(name, base=given.base, skipped=given.skipped)
    with ProgressBar(name, after=0.3) as progress:
        return read_judged_set(name, progress, skipped=given.skipped)


def _score_metrics(
    judged: JudgedSet,
    grouped: Sequence[Metric],
    asked: Sequence[Metric],
    not_run: dict[str, str],
    cached: dict[tuple[str, ...], Scores],
    threads: int | None,
) -> list[Scores]:
    """Return the scores of all metrics on a set; note a default metric that cannot run."""
    from errata.benchmark import MetricNotRun, benchmark_scores

    results = []
    for metric in (*grouped, *asked):
        if metric.label in not_run:
            continue
        with ProgressBar(f"{judged.name}, {metric.label}") as progress:
            try:
                results.append(
                    benchmark_scores(metric, judged, cached, threads=threads, progress=progress)
                )
            except MetricNotRun as error:
                if metric in asked:
                    raise InputError(str(error)) from None
                not_run[metric.label] = str(error)
    return results
