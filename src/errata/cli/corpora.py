"""``errata corpora``: the same systems on several corpora."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from errata.cli.input_options import Inputs, corpus_options, extracting, reject_duplicates
from errata.cli.options import (
    Bootstrap,
    FigureOptions,
    bootstrap_options,
    extract_option,
    figure_option,
    metric_option,
    refuse_beside_sample,
    refuse_unless,
    threads_option,
    tier_option,
    types_option,
)
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.core.errors import InputError
from errata.metrics import DEFAULT_METRICS

if TYPE_CHECKING:
    from errata.corpora import AcrossCorpora
    from errata.datasets.evaluation_sets import EvaluationSet
    from errata.metrics import Metric
    from errata.tables.table import Form, Table


EPILOG = """\b
Examples:
  errata corpora essays/ exams/ -m m2 -m 'difficulty(measure=A)' --against m2
  errata corpora conll14-public jfleg --figure corpora.svg
  errata corpora ours.toml
"""


@click.command("corpora", epilog=EPILOG)
@writes_files("figures")
@click.argument("places", nargs=-1, metavar="[NAME=]FOLDER|COLLECTION|FILE.toml...")
@corpus_options("gold", "source", "refs")
@metric_option(*DEFAULT_METRICS)
@click.option(
    "--against",
    metavar="METRIC",
    help="Show by how many places a system rises or falls against this metric.",
)
@extract_option(
    "for errant, edits, cleme, pt_errant, difficulty and judge, find the edits of all outputs alike"
)
@types_option
@tier_option
@click.option(
    "--kinds",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="How many of the most frequent kinds of edit to list.",
)
@bootstrap_options()
@threads_option
@figure_option({"corpora": "a panel for each metric, a line for each system"})
@format_option
def command(
    places: tuple[str, ...],
    inputs: Inputs,
    metrics: tuple[str, ...],
    against: str | None,
    extractor: str | None,
    types: str,
    tier: int,
    kinds: int,
    bootstrap: Bootstrap,
    threads: int | None,
    figures: FigureOptions,
    form: Form,
) -> None:
    """Compare corpora, and the ranking of systems on them (Gotou et al. 2020).

    A corpus is a folder with gold.m2, or with source.txt and refs/*.txt, and with outputs/; public
    data by name (see errata data list); or a table of a TOML file with gold, source, references
    and outputs. Prints what the corpora are like, the scores and ranks of the systems on each, and
    how stable the ranking is: Kendall's W, and how often the first place changes.
    """
    from errata import corpora as report
    from errata.corpora import corpora_plot
    from errata.metrics import parse
    from errata.plots.mpl import save_figure

    base = None if against is None else parse(against)
    chosen = [parse(text) for text in metrics or DEFAULT_METRICS]
    if extractor is not None:
        chosen = extracting(chosen, extractor)
    reject_duplicates(chosen)
    if [base] == chosen:
        raise InputError(
            f"{chosen[0].label} is compared with itself", remedy="give another metric with -m"
        )
    sets = _sets(places, inputs)
    tables = _corpus_tables(sets, types, tier, kinds)
    scored = [each for each in sets if each.systems]
    refuse_unless(bool(scored), "metrics against resamples seed figures", "outputs to score")
    if scored:
        wanted = chosen if base is None or base in chosen else [base, *chosen]
        found = _told_apart([_across(metric, scored, bootstrap, threads) for metric in wanted])
        beside = None if base is None else found[wanted.index(base)]
        tables += [
            report.across_table(
                across, beside if across is not beside else None, confidence=bootstrap.confidence
            )
            for across in found
        ]
        if len(scored) > 1:
            tables.append(report.stability_table(found, confidence=bootstrap.confidence))
        for _, path in figures:
            save_figure(corpora_plot(found, confidence=bootstrap.confidence), path)
    emit(tables, form)


def _sets(places: Sequence[str], inputs: Inputs) -> list[EvaluationSet]:
    from errata.datasets.evaluation_sets import EvaluationSet, read_evaluation_sets

    if inputs.sample:
        from errata.datasets import sample_corpora
        from errata.io.tokenisers import tokeniser

        refuse_beside_sample(places)
        refuse_unless(False, "missing compatible no_guard", "files")
        cut = tokeniser(inputs.tokens)
        halves = [
            EvaluationSet(each.name, inputs.annotated(each.corpus), each.systems).tokenised(cut)
            for each in sample_corpora()
        ]
        if inputs.skipped is None:
            return halves
        return [e.without_sentences(*inputs.skipped.positions(len(e.corpus))) for e in halves]
    if not places:
        raise InputError(
            "no corpus to look at",
            remedy="name folders, public data or a .toml file, or use --sample",
        )
    with ProgressBar("data", after=0.3) as progress:
        sets = read_evaluation_sets(places, inputs.files(), progress=progress)
    edited = [each.corpus.has_gold_edits for each in sets]
    refuse_unless(not all(edited), "missing", "reference texts")
    refuse_unless(any(edited), "compatible", "gold.m2")
    return sets


def _corpus_tables(sets: Sequence[EvaluationSet], types: str, tier: int, kinds: int) -> list[Table]:
    from errata import corpora as report
    from errata.corpora import corpus_statistics
    from errata.scoring.results import corpus_facts
    from errata.tables.table import signed

    facts = []
    with ProgressBar("edits") as progress:
        for done, each in enumerate(sets):
            progress(done, len(sets))
            facts.append(
                corpus_statistics(
                    each.corpus, name=each.name, systems=len(each.systems), types=types, tier=tier
                )
            )
    known = (f"{each.name}({', '.join(corpus_facts(each.corpus))})" for each in sets)
    signature = signed(*known, f"types:{types}", f"tier:{tier}")
    tables = [report.corpus_table(facts, signature=signature)]
    if kinds and any(each.kinds for each in facts):
        tables.append(report.corpus_kind_table(facts, kinds, signature=signature))
    return tables


def _across(
    metric: Metric, sets: Sequence[EvaluationSet], bootstrap: Bootstrap, threads: int | None
) -> AcrossCorpora:
    from errata.corpora import AcrossCorpora, source_groups
    from errata.scoring.evaluate import evaluate

    results = []
    for each in sets:
        with ProgressBar(f"{metric.name}, {each.name}") as progress:
            try:
                scores = evaluate(
                    metric,
                    each.corpus,
                    each.systems,
                    resamples=bootstrap.resamples,
                    rng=bootstrap.seed,
                    threads=threads,
                    progress=progress,
                )
            except InputError as error:
                raise InputError(
                    f"{metric.name} on {each.name}: {error.problem}",
                    path=error.path,
                    line=error.line,
                    remedy=error.remedy,
                ) from None
            results.append(scores)
    names = tuple(each.name for each in sets)
    return AcrossCorpora(names, tuple(results), source_groups([each.corpus for each in sets]))


def _told_apart(several: list[AcrossCorpora]) -> list[AcrossCorpora]:
    """The same with labels that differ, on every corpus alike."""
    from dataclasses import replace

    from errata.scoring.tables import unique_labels

    labels = [scores.label for scores in unique_labels([across.scores[0] for across in several])]
    return [
        replace(across, scores=tuple(replace(scores, label=label) for scores in across.scores))
        for across, label in zip(several, labels, strict=True)
    ]
