"""``errata corpora``: the same systems on several corpora."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from errata.cli import options
from errata.cli.input_options import Inputs, parse_metrics, refuse_beside_sample
from errata.cli.output import CommandOptions, ProgressBar, emit, map_with_progress
from errata.cli.params import argument, count_option, goes_with, group, option, takes
from errata.core.errors import InputError
from errata.metrics import DEFAULT_METRICS

if TYPE_CHECKING:
    from errata.datasets.evaluation_sets import EvaluationSet
    from errata.tables.table import Table

EPILOG = """\b
Examples:
  errata corpora essays/ exams/ -m m2 -m 'difficulty(measure=A)' --against m2
  errata corpora conll14-public jfleg --figure corpora.svg
  errata corpora ours.toml
"""


@dataclass(frozen=True)
class CorporaOptions(CommandOptions):
    places: tuple[str, ...] = argument(
        metavar="[NAME=]FOLDER|COLLECTION|FILE.toml...", several=True
    )
    inputs: Inputs = group(
        Inputs,
        "gold",
        "source",
        "refs",
        needs=dict.fromkeys(("missing", "compatible", "no_guard"), "places"),
    )
    metrics: tuple[str, ...] = options.metric_option(*DEFAULT_METRICS)
    against: str | None = option(
        "--against METRIC", "Show by how many places a system rises or falls against this metric."
    )
    extractor: str | None = options.extract_option(
        "for errant, edits, cleme, pt_errant, difficulty and judge, find the edits of all outputs "
        "with one tool"
    )
    types: str = options.types_option()
    tier: int = options.tier_option()
    kinds: int = count_option(
        "--kinds", "How many of the most frequent kinds of edit to list.", 10, least=0
    )
    bootstrap: options.Bootstrap = group(options.Bootstrap, "kind")
    threads: int | None = options.threads_option()
    figures: options.FigureOptions = options.figure_option(
        {"corpora": "a panel for each metric, a line for each system"}
    )


@click.command("corpora", epilog=EPILOG)
@takes(CorporaOptions)
def command(given: CorporaOptions) -> None:
    """Compare corpora, and the ranking of systems on them (Gotou et al. 2020).

    A corpus is a folder with gold.m2, or with source.txt and refs/*.txt, and with outputs/; public
    data by name (see errata data list); or a table of a TOML file with gold, source, references
    and outputs. Prints figures of the corpora, the scores and ranks of the systems on each, and
    how stable the ranking is: Kendall's W, and how often the first place changes.
    """
    from errata import corpora
    from errata.metrics import parse
    from errata.plots.mpl import save_figure

    base = None if given.against is None else parse(given.against)
    metrics = parse_metrics(given.metrics, DEFAULT_METRICS, given.extractor)
    if [base] == metrics:
        remedy = "give another metric with -m"
        raise InputError(f"{metrics[0].label} is compared with itself", remedy=remedy)
    sets = _read_sets(given)
    tables = _corpus_tables(sets, given)
    scored = [each for each in sets if each.systems]
    if scored:
        confidence = given.bootstrap.confidence
        wanted = metrics if base is None or base in metrics else [base, *metrics]
        settings = {**given.bootstrap.resample_settings, "threads": given.threads}
        results = map_with_progress(wanted, partial(corpora.score_across, sets=scored, **settings))
        results = corpora.with_unique_labels(results)
        other = None if base is None else results[wanted.index(base)]
        for across in results:
            beside = other if across is not other else None
            tables.append(corpora.score_and_rank_table(across, beside, confidence=confidence))
        if len(scored) > 1:
            tables.append(corpora.stability_table(results, confidence=confidence))
        for _, path in given.figures:
            save_figure(corpora.corpora_plot(results, confidence=confidence), path)
    else:
        scoring = {"--metric": given.metrics, "--against": base, "--figure": given.figures}
        for name in (name for name, value in scoring.items() if value):
            raise goes_with(name, "outputs to score")
    emit(tables, given.display)


def _read_sets(given: CorporaOptions) -> list[EvaluationSet]:
    from errata.datasets.evaluation_sets import EvaluationSet, read_evaluation_sets

    inputs = given.inputs
    if inputs.sample:
        from errata.datasets import sample_corpora
        from errata.io.corpus import keep_annotators
        from errata.io.tokenisers import tokeniser

        refuse_beside_sample(given.places)
        halves = []
        for half in sample_corpora():
            corpus = keep_annotators(half.corpus, inputs.annotator_numbers)
            kept = EvaluationSet(half.name, corpus, half.systems)
            halves.append(kept.tokenise(tokeniser(inputs.tokenised_by)))
        if inputs.skipped is None:
            return halves
        return [e.without_sentences(*inputs.skipped.positions(len(e.corpus))) for e in halves]
    if not given.places:
        remedy = "name folders, public data or a .toml file, or use --sample"
        raise InputError("no corpus is named", remedy=remedy)
    with ProgressBar("data", after=0.3) as progress:
        sets = read_evaluation_sets(given.places, inputs.files(), progress=progress)
    edited = [each.corpus.has_gold_edits for each in sets]
    if inputs.missing is not None and all(edited):
        raise goes_with("--missing", "reference texts")
    if inputs.compatible and not any(edited):
        raise goes_with("--compatible", "gold.m2")
    return sets


def _corpus_tables(sets: Sequence[EvaluationSet], given: CorporaOptions) -> list[Table]:
    from errata.corpora import corpus_kind_table, corpus_statistics, corpus_table
    from errata.scoring.results import corpus_facts
    from errata.tables.table import make_signature

    statistics = []
    with ProgressBar("edits") as progress:
        for done, each in enumerate(sets):
            progress(done, len(sets))
            systems = len(each.systems)
            statistics.append(
                corpus_statistics(
                    each.corpus, name=each.name, systems=systems, types=given.types, tier=given.tier
                )
            )
    facts = (f"{each.name}({', '.join(corpus_facts(each.corpus))})" for each in sets)
    signature = make_signature(*facts, f"types:{given.types}", f"tier:{given.tier}")
    tables = [corpus_table(statistics, signature=signature)]
    if given.kinds and any(each.kinds for each in statistics):
        tables.append(corpus_kind_table(statistics, given.kinds, signature=signature))
    return tables
