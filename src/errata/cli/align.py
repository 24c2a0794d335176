"""``errata align``: what metrics compared in a sentence, to be looked at."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from errata.cli.input_options import Inputs, corpus_options
from errata.cli.options import (
    CORPUS,
    data_option,
    extract_option,
    metric_option,
    refuse_unless,
    sentences_option,
)
from errata.cli.output import ProgressBar, emit, emit_texts, format_option
from errata.core.errors import InputError

if TYPE_CHECKING:
    from errata.align import M2EditOutcome, ThreeWay
    from errata.data import Corpus, Hypotheses
    from errata.metrics import Metric
    from errata.metrics.difficulty import Difficulty
    from errata.metrics.imeasure import IMeasure
    from errata.metrics.m2 import M2
    from errata.tables.table import Form, Table

    Shown = TypeVar("Shown", ThreeWay, M2EditOutcome)  # each knows its sentence


VIEWS = ("imeasure", "difficulty", "m2")
FEW = 3  # sentences shown unless told


class View(NamedTuple):
    """What one metric compared, as a table, and as text where that is easier to read."""

    table: Table
    texts: tuple[str, ...] = ()


@click.command(
    "align", epilog="Example:  errata align --gold gold.m2 ours.txt --sentences 3,5-7 -m imeasure"
)
@data_option(*CORPUS, outputs="outputs")
@click.argument("outputs", nargs=-1, metavar="[NAME=]FILE...")
@corpus_options()
@metric_option(*VIEWS)
@sentences_option
@extract_option("difficulty: find the edits of all outputs alike")
@click.option(
    "--dummies",
    is_flag=True,
    help="difficulty: show also the empty places between tokens that nobody filled.",
)
@format_option
def command(
    outputs: tuple[str, ...],
    inputs: Inputs,
    metrics: tuple[str, ...],
    sentences: str | None,
    extractor: str | None,
    dummies: bool,
    form: Form,
) -> None:
    """Show what a metric compared in a sentence before it counted.

    imeasure aligns source, hypothesis and reference in three rows (Chollampatt & Ng 2018, Table
    1); difficulty cuts the sentence into chunks and asks which system got them right (Gotou et al.
    2020, Figure 2); m2 chooses the edits that match most of the gold. Without --sentences, the
    first three are shown.
    """
    from errata.difficulty.heatmap import parse_ranges
    from errata.metrics import parse
    from errata.metrics.difficulty import Difficulty
    from errata.metrics.imeasure import IMeasure
    from errata.metrics.m2 import M2

    chosen = [parse(text) for text in metrics or VIEWS]
    for metric in chosen:
        if not isinstance(metric, IMeasure | Difficulty | M2):
            raise InputError(
                f"{metric.name} has no alignment to show", remedy=f"choose from {', '.join(VIEWS)}"
            )
    weighted = any(isinstance(metric, Difficulty) for metric in chosen)
    refuse_unless(weighted, "extractor dummies", "-m difficulty")
    corpus, systems = inputs.scored(outputs)
    whole = corpus.whole or corpus
    shown: Sequence[int] = range(min(FEW, len(corpus)))
    if sentences is not None:
        shown = parse_ranges(sentences, len(whole), corpus.skipped)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    views = []
    for metric in chosen:
        if isinstance(metric, IMeasure):
            views.append(_three_way(metric, corpus, systems, shown, width))
        elif isinstance(metric, Difficulty):
            metric = metric if extractor is None else metric.extracting(extractor)
            views.append(_chunks(metric, corpus, systems, shown, dummies, width))
        elif isinstance(metric, M2):
            views.append(_edits(metric, corpus, systems, shown))
    if form != "table":
        emit([view.table for view in views], form)
        return
    emit_texts(views)


def _signature(metric: Metric, corpus: Corpus, systems: Sequence[Hypotheses]) -> str:
    from errata.metrics.base import describe_data
    from errata.scoring.contract import check_inputs
    from errata.scoring.results import corpus_facts
    from errata.tables.table import signed

    check_inputs(metric, corpus, systems)
    context = describe_data(metric, corpus, systems).context
    return signed(repr(metric), *context, *corpus_facts(corpus))


def _three_way(
    metric: IMeasure,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    shown: Sequence[int],
    width: int | None,
) -> View:
    from errata.align import alignments, three_way_table, three_way_text

    signature = _signature(metric, corpus, systems)
    found = _in_order(metric, systems, lambda each: alignments(metric, corpus, each, shown))
    return View(
        three_way_table(found, metric.label, corpus.number, signature=signature),
        tuple(
            three_way_text(each, number=corpus.number(each.sentence), width=width) for each in found
        ),
    )


def _chunks(
    metric: Difficulty,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    shown: Sequence[int],
    dummies: bool,
    width: int | None,
) -> View:
    from errata.align import chunk_sentences, chunk_table, chunk_text
    from errata.metrics.difficulty import build_difficulty_map

    signature = _signature(metric, corpus, systems)
    with ProgressBar(metric.name) as progress:
        found = build_difficulty_map(corpus, systems, metric, progress=progress)
    several = chunk_sentences(found, shown)
    names = [system.system for system in systems]
    return View(
        chunk_table(
            several, names, metric.label, corpus.number, dummies=dummies, signature=signature
        ),
        tuple(
            chunk_text(
                each, names, number=corpus.number(each.sentence), dummies=dummies, width=width
            )
            for each in several
        ),
    )


def _in_order(
    metric: Metric, systems: Sequence[Hypotheses], find: Callable[[Hypotheses], Sequence[Shown]]
) -> list[Shown]:
    """What is found for each system, sentence by sentence."""
    found: list[Shown] = []
    with ProgressBar(metric.name) as progress:
        for done, system in enumerate(systems):
            progress(done, len(systems))
            found += find(system)
    return sorted(found, key=lambda each: each.sentence)


def _edits(metric: M2, corpus: Corpus, systems: Sequence[Hypotheses], shown: Sequence[int]) -> View:
    from errata.align import judged_edit_table, m2_verdicts

    signature = _signature(metric, corpus, systems)
    found = _in_order(metric, systems, lambda each: m2_verdicts(metric, corpus, each, shown))
    return View(
        judged_edit_table(found, corpus.sources, metric.label, corpus.number, signature=signature)
    )
