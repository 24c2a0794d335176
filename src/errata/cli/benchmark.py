"""``errata benchmark``: every metric on all data that people judged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from errata.benchmark import BENCHMARKED, FIGURES, METRIC_GROUPS
from errata.cli.input_options import (
    read_skip_option,
    reject_duplicates,
    same_metric,
    sample_option,
    skip_option,
)
from errata.cli.judgment_options import base_option, ranker_option
from errata.cli.main import note
from errata.cli.options import (
    Bootstrap,
    FigureOptions,
    bootstrap_options,
    figure_option,
    metric_option,
    refuse_beside_sample,
    refuse_unless,
    threads_option,
)
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.core.errors import InputError

if TYPE_CHECKING:
    from errata.benchmark import JudgedSet
    from errata.data import Scores
    from errata.io.slices import SkippedSentences
    from errata.metrics import Metric
    from errata.tables.table import Form


EPILOG = """\b
Examples:
  errata benchmark
  errata benchmark ours/ -m gleu -m m2
  errata benchmark seeda-edit seeda-edit-base -m default -m mine.py:MyMetric --figure kendall=b.svg
"""


@click.command("benchmark", epilog=EPILOG)
@writes_files("figures")
@click.argument("sets", nargs=-1, metavar="[SET|[NAME=]FOLDER...]")
@metric_option(*BENCHMARKED)
@sample_option
@base_option
@skip_option
@ranker_option("How judgments become scores of systems (see errata rank); ratings are averaged.")
@click.option("--contests", is_flag=True, help="Also print every test that decided a place.")
@figure_option({figure: f"the table {figure}, a panel for each set" for figure in FIGURES})
@bootstrap_options("systems and of sentences")
@threads_option
@format_option
def command(
    sets: tuple[str, ...],
    metrics: tuple[str, ...],
    sample: bool,
    base: int,
    skipped: str | None,
    ranker: str,
    contests: bool,
    figures: FigureOptions,
    bootstrap: Bootstrap,
    threads: int | None,
    form: Form,
) -> None:
    """Judge metrics on all data that people judged, in one table.

    A SET is public data with outputs and judgments (see errata data list); the default are all of
    them that are on disk. A FOLDER of your own has gold.m2, or source.txt and refs/*.txt; outputs/;
    and judgments* as errata rank reads them (--base is for these), or ratings* (a row for each
    sentence, a column for each system).

    Four tables: correlation with people's scores of systems (r, ρ), and with what people said of
    two outputs of one sentence (τ-b, accuracy with ties), each with an interval and the place of
    the metric: those in place 1 are not told apart from the best. One judge is what a judge
    reaches for the others, chance what knowing nothing reaches. A default metric that needs what
    is not installed is named and left out; -m default -m MINE compares one more with the default
    ones, -m default -m learned all metrics with encoders too, which takes long.
    """
    from errata import benchmark as report
    from errata.benchmark import benchmark_plot, benchmark_set
    from errata.human import parse_ranker
    from errata.metrics import parse
    from errata.plots.mpl import save_figure

    asked = [parse(text) for text in metrics if text not in METRIC_GROUPS]
    groups = [text for text in metrics if text in METRIC_GROUPS] if metrics else ["default"]
    reject_duplicates(asked)
    usual = [parse(text) for group in groups for text in METRIC_GROUPS[group]]
    usual = [metric for metric in usual if not any(same_metric(metric, one) for one in asked)]
    chosen_ranker = parse_ranker(ranker)
    judged_sets = _sets(sets, sample, base, read_skip_option(skipped))
    not_run: dict[str, str] = {}
    made: dict[tuple[str, ...], Scores] = {}
    found = []
    for judged in judged_sets:
        results = _scores(judged, usual, asked, not_run, made, threads)
        found.append(
            benchmark_set(
                judged,
                results,
                ranker=chosen_ranker,
                resamples=bootstrap.resamples,
                confidence=bootstrap.confidence,
                rng=bootstrap.seed,
            )
        )
    tables = report.benchmark_tables(found, confidence=bootstrap.confidence, not_run=not_run)
    if contests:
        tables.append(report.significance_table(found))
    for kind, path in figures:
        save_figure(benchmark_plot(found, kind), path)  # type: ignore[arg-type]
    emit(tables, form)


def _sets(
    names: Sequence[str], sample: bool, base: int, skipped: SkippedSentences | None
) -> list[JudgedSet]:
    """The sets that are named, or all that are there; of those that are not, it is said."""
    from errata.benchmark import JUDGED, is_available, sample_set

    if sample:
        refuse_unless(False, "base", "judgments of a folder")
        refuse_beside_sample(names)
        return [sample_set(skipped)]
    chosen = list(names) or [name for name in JUDGED if is_available(name)]
    missing = [] if names else [name for name in JUDGED if name not in chosen]
    if not chosen:
        raise InputError(
            "no data that people judged are on disk",
            remedy=f"fetch some, as in: errata data get {JUDGED[0]}; or use --sample",
        )
    if missing:
        note(f"not on disk, and left out: {', '.join(missing)}; fetch them with errata data get")
    read: list[JudgedSet] = []
    for name in chosen:
        found = _read(name, base, skipped)
        if any(found.name == other.name for other in read):
            raise InputError(
                f"two sets are called {found.name!r}",
                remedy="give each once, or name folders apart with NAME=FOLDER",
            )
        read.append(found)
    judged = [
        _is_folder(name) and each.ratings is None for name, each in zip(chosen, read, strict=True)
    ]
    refuse_unless(any(judged), "base", "judgments of a folder")
    return read


def _is_folder(place: str) -> bool:
    """Whether a set is a folder, or meant as one."""
    return "=" in place or os.sep in place or os.path.isdir(place)


def _read(name: str, base: int, skipped: SkippedSentences | None) -> JudgedSet:
    from errata.benchmark import read_judged_folder, read_judged_set

    if _is_folder(name):
        return read_judged_folder(name, base=base, skipped=skipped)
    with ProgressBar(name, after=0.3) as progress:
        return read_judged_set(name, progress, skipped=skipped)


def _scores(
    judged: JudgedSet,
    usual: Sequence[Metric],
    asked: Sequence[Metric],
    not_run: dict[str, str],
    made: dict[tuple[str, ...], Scores],
    threads: int | None,
) -> list[Scores]:
    """The scores of all metrics on a set; a default one that cannot run is noted and left out."""
    from errata.benchmark import MetricNotRun, benchmark_scores

    results = []
    for metric in (*usual, *asked):
        if metric.label in not_run:
            continue
        with ProgressBar(f"{judged.name}, {metric.label}") as progress:
            try:
                results.append(
                    benchmark_scores(metric, judged, made, threads=threads, progress=progress)
                )
            except MetricNotRun as error:
                if metric in asked:
                    raise InputError(str(error)) from None
                not_run[metric.label] = str(error)
    return results
