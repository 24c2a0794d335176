"""``errata align``: what metrics compared in a sentence."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import click

from errata.cli.input_options import Inputs
from errata.cli.options import extract_option, metric_option, sentences_option
from errata.cli.output import CommandOptions, ProgressBar, emit, emit_texts
from errata.cli.params import argument, flag, goes_with, group, takes
from errata.core.errors import InputError

VIEWS = ("imeasure", "difficulty", "m2")
FEW = 3  # sentences shown by default


@dataclass(frozen=True)
class AlignOptions(CommandOptions):
    outputs: tuple[str, ...] = argument(metavar="[NAME=]FILE...", role="outputs", several=True)
    inputs: Inputs = group(Inputs)
    metrics: tuple[str, ...] = metric_option(*VIEWS)
    sentences: str | None = sentences_option()
    extractor: str | None = extract_option(
        "difficulty: find the edits of all outputs with one tool"
    )
    dummies: bool = flag(
        "--dummies", "difficulty: show also the empty places between tokens that nobody filled."
    )


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
    from errata.align import alignment_view
    from errata.difficulty.heatmap import parse_ranges
    from errata.metrics import parse
    from errata.metrics.difficulty import Difficulty
    from errata.metrics.imeasure import IMeasure
    from errata.metrics.m2 import M2

    metrics = [parse(text) for text in given.metrics or VIEWS]
    for metric in metrics:
        if not isinstance(metric, IMeasure | Difficulty | M2):
            remedy = f"choose from {', '.join(VIEWS)}"
            raise InputError(f"{metric.name} has no alignment to show", remedy=remedy)
    if not any(isinstance(metric, Difficulty) for metric in metrics):
        for name, value in (("--extract", given.extractor), ("--dummies", given.dummies)):
            if value:
                raise goes_with(name, "-m difficulty")
    corpus, systems = given.inputs.read_corpus_and_systems(given.outputs)
    whole = corpus.whole or corpus
    shown: Sequence[int] = range(min(FEW, len(corpus)))
    if given.sentences is not None:
        shown = parse_ranges(given.sentences, len(whole), corpus.skipped)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    views = []
    for metric in metrics:
        if isinstance(metric, Difficulty) and given.extractor is not None:
            metric = metric.extracting(given.extractor)
        with ProgressBar(metric.name) as progress:
            views.append(
                alignment_view(
                    metric,
                    corpus,
                    systems,
                    shown,
                    dummies=given.dummies,
                    width=width,
                    progress=progress,
                )
            )
    if given.display.form == "table":
        emit_texts(views, given.display)
    else:
        emit([view.table for view in views], given.display)
