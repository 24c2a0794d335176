"""``errata align``: what metrics compared in a sentence."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from errata.cli.input_options import Inputs
from errata.cli.options import extract_option, metric_option, sentences_option
from errata.cli.output import Display, ProgressBar, emit, emit_texts
from errata.cli.params import argument, group, option, takes
from errata.core.errors import InputError

if TYPE_CHECKING:
    from errata.align import M2EditOutcome, ThreeWay
    from errata.data import Corpus, Hypotheses
    from errata.metrics import Metric
    from errata.metrics.difficulty import Difficulty
    from errata.metrics.imeasure import IMeasure
    from errata.metrics.m2 import M2
    from errata.tables.table import Table

    Shown = TypeVar("Shown", ThreeWay, M2EditOutcome)  # each knows its sentence


VIEWS = ("imeasure", "difficulty", "m2")
FEW = 3  # sentences shown by default


class View(NamedTuple):
    """What one metric compared, as a table, and as text where that is easier to read."""

    table: Table
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class AlignOptions:
    """Options of ``errata align``."""

    outputs: tuple[str, ...] = argument(metavar="[NAME=]FILE...", role="outputs", several=True)
    inputs: Inputs = group(Inputs)
    metrics: tuple[str, ...] = metric_option(*VIEWS)
    sentences: str | None = sentences_option()
    extractor: str | None = extract_option(
        "difficulty: find the edits of all outputs with one tool"
    )
    dummies: bool = option(
        "--dummies",
        default=False,
        help="difficulty: show also the empty places between tokens that nobody filled.",
    )
    display: Display = group(Display)


@click.command(
    "align", epilog="Example:  errata align --gold gold.m2 ours.txt --sentences 3,5-7 -m imeasure"
)
@takes(AlignOptions, data=True)
def command(given: AlignOptions) -> None:
    """Show what a metric compared in a sentence before it counted.

    imeasure aligns source, hypothesis and reference in three rows (Chollampatt & Ng 2018, Table
    1); difficulty cuts the sentence into chunks and shows which systems corrected them (Gotou et
    al. 2020, Figure 2); m2 chooses the edits that match most of the gold. Without --sentences, the
    first three are shown.
    """
    from errata.difficulty.heatmap import parse_ranges
    from errata.metrics import parse
    from errata.metrics.difficulty import Difficulty
    from errata.metrics.imeasure import IMeasure
    from errata.metrics.m2 import M2

    metrics = [parse(text) for text in given.metrics or VIEWS]
    for metric in metrics:
        if not isinstance(metric, IMeasure | Difficulty | M2):
            raise InputError(
                f"{metric.name} has no alignment to show", remedy=f"choose from {', '.join(VIEWS)}"
            )
    if not any(isinstance(metric, Difficulty) for metric in metrics):
        for name, value in (("--extract", given.extractor), ("--dummies", given.dummies)):
            if value:
                raise InputError(f"{name} goes with -m difficulty", remedy="leave it out otherwise")
    corpus, systems = given.inputs.scored(given.outputs)
    whole = corpus.whole or corpus
    shown: Sequence[int] = range(min(FEW, len(corpus)))
    if given.sentences is not None:
        shown = parse_ranges(given.sentences, len(whole), corpus.skipped)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    views = []
    for metric in metrics:
        if isinstance(metric, IMeasure):
            views.append(_three_way(metric, corpus, systems, shown, width))
        elif isinstance(metric, Difficulty):
            if given.extractor is not None:
                metric = metric.extracting(given.extractor)
            views.append(_chunks(metric, corpus, systems, shown, given.dummies, width))
        elif isinstance(metric, M2):
            views.append(_edits(metric, corpus, systems, shown))
    if given.display.form == "table":
        emit_texts(views, given.display)
    else:
        emit([view.table for view in views], given.display)


def _signature(metric: Metric, corpus: Corpus, systems: Sequence[Hypotheses]) -> str:
    from errata.scoring.contract import check_inputs
    from errata.scoring.results import corpus_facts
    from errata.tables.table import signed

    check_inputs(metric, corpus, systems)
    return signed(repr(metric), *metric.context(corpus, systems), *corpus_facts(corpus))


def _three_way(
    metric: IMeasure,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    shown: Sequence[int],
    width: int | None,
) -> View:
    from errata.align import alignments, three_way_table, three_way_text

    signature = _signature(metric, corpus, systems)
    aligned = _by_sentence(metric, systems, lambda each: alignments(metric, corpus, each, shown))
    texts = [
        three_way_text(each, number=corpus.number(each.sentence), width=width) for each in aligned
    ]
    return View(
        three_way_table(aligned, metric.label, corpus.number, signature=signature), tuple(texts)
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
        difficulties = build_difficulty_map(corpus, systems, metric, progress=progress)
    sentences = chunk_sentences(difficulties, shown)
    names = [system.system for system in systems]
    texts = [
        chunk_text(each, names, number=corpus.number(each.sentence), dummies=dummies, width=width)
        for each in sentences
    ]
    table = chunk_table(
        sentences, names, metric.label, corpus.number, dummies=dummies, signature=signature
    )
    return View(table, tuple(texts))


def _edits(metric: M2, corpus: Corpus, systems: Sequence[Hypotheses], shown: Sequence[int]) -> View:
    from errata.align import judged_edit_table, m2_verdicts

    signature = _signature(metric, corpus, systems)
    verdicts = _by_sentence(metric, systems, lambda each: m2_verdicts(metric, corpus, each, shown))
    return View(
        judged_edit_table(
            verdicts, corpus.sources, metric.label, corpus.number, signature=signature
        )
    )


def _by_sentence(
    metric: Metric, systems: Sequence[Hypotheses], find: Callable[[Hypotheses], Sequence[Shown]]
) -> list[Shown]:
    """Return the results of all systems, sentence by sentence."""
    results: list[Shown] = []
    with ProgressBar(metric.name) as progress:
        for done, system in enumerate(systems):
            progress(done, len(systems))
            results += find(system)
    return sorted(results, key=lambda each: each.sentence)
