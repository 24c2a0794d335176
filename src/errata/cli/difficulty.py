"""``errata difficulty``: which errors are hard, who corrects them, and a map to look at."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from errata.cli.input_options import Inputs, corpus_options, names_option, split_names
from errata.cli.options import (
    CORPUS,
    Bootstrap,
    FigureOptions,
    bootstrap_options,
    data_option,
    extract_option,
    figure_option,
    is_page,
    refuse_unless,
    sentences_option,
    tier_option,
    types_option,
)
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.cli.params import choice_of, option_group
from errata.core.errors import InputError
from errata.difficulty.heatmap import Concealed
from errata.metrics.difficulty import Matching

if TYPE_CHECKING:
    from errata.data import Corpus
    from errata.metrics.difficulty import Difficulty, DifficultyMap
    from errata.tables.table import Form


EPILOG = """\b
Examples:
  errata difficulty --gold gold.m2 A.txt B.txt ours=out.txt --figure map.html
  errata difficulty --gold gold.m2 all.m2 --names A,B,C --tier 2
  errata difficulty --gold conll14.m2 --weights conll14_8sys.txt --types errant --tier 2
"""


def _metric(reextract: bool, extractor: str | None, mixed: bool, **parameters: Any) -> Difficulty:
    from errata.metrics.difficulty import Difficulty

    if mixed and extractor is not None:
        raise click.UsageError("--extract finds all edits alike; --mixed is the opposite")
    made = Difficulty(
        **parameters,
        gold="reextracted" if reextract else "as_is",
        outputs="mixed" if mixed else "alike",
    )
    return made if extractor is None else made.extracting(extractor)


metric_options = option_group(
    "metric",
    _metric,
    {
        "weights": click.option(
            "--weights",
            default="systems",
            show_default=True,
            metavar="FILE",
            help="A file of weights; 'none' weighs all errors alike; 'systems' counts them from "
            "the outputs.",
        ),
        "leave_out": click.option(
            "--exclude-own",
            "leave_out",
            is_flag=True,
            help="A system's own corrections do not lower the weights it is scored with.",
        ),
        "matching": click.option(
            "--matching",
            type=choice_of(Matching),
            default="released",
            show_default=True,
            help="Compare chunks as the released scorer or as the paper.",
        ),
        "longest": click.option(
            "--longest",
            type=click.IntRange(1),
            default=5000,
            show_default=True,
            help="With --matching elastic: the longest sentence, in tokens; memory grows with "
            "its square.",
        ),
        "a": click.option(
            "--a",
            type=float,
            default=1.0,
            show_default=True,
            help="The weight is a - (n + b) / (N + c), for n of N systems.",
        ),
        "b": click.option("--b", type=float, default=0.0, show_default=True, help="See --a."),
        "c": click.option("--c", type=float, default=0.0, show_default=True, help="See --a."),
        "extractor": extract_option(
            "find the edits of all outputs alike, also of M2 (by default those of texts, aligned)"
        ),
        "mixed": click.option(
            "--mixed", is_flag=True, help="Edits of M2 as given beside edits found in texts."
        ),
        "reextract": click.option(
            "--reextract", is_flag=True, help="Find the gold edits anew too."
        ),
    },
)


class MapView(NamedTuple):
    """Where the heat map goes, and what of it is shown."""

    figures: FigureOptions
    terminal: bool
    sentences: str | None
    conceal: tuple[Concealed, ...]


_map_options = option_group(
    "view",
    MapView,
    {
        "figures": figure_option(
            {"map": "the heat map, as a page to look at or a picture"}, pages=("map",)
        ),
        "terminal": click.option(
            "--terminal", is_flag=True, help="Print the heat map instead of tables."
        ),
        "sentences": sentences_option,
        "conceal": click.option(
            "--conceal",
            multiple=True,
            type=choice_of(Concealed),
            help="Leave these marks out of the map (a page can show them); may be repeated.",
        ),
    },
)


@click.command("difficulty", epilog=EPILOG)
@data_option(*CORPUS, outputs="outputs")
@writes_files("write_weights", "figures")
@click.argument("outputs", nargs=-1, metavar="[NAME=]FILE...")
@corpus_options()
@names_option
@metric_options
@click.option("--write-weights", metavar="FILE", help="Write the counts behind the weights.")
@types_option
@tier_option
@click.option(
    "--examples",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="How many of the hardest and easiest errors to list.",
)
@click.option(
    "--system",
    "chosen",
    multiple=True,
    metavar="NAME",
    help="List the errors only this system corrects, and those it misses.",
)
@_map_options
@bootstrap_options("sentences (scores) and systems (weights)")
@format_option
def command(
    outputs: tuple[str, ...],
    inputs: Inputs,
    names: str | None,
    metric: Difficulty,
    write_weights: str | None,
    types: str,
    tier: int,
    examples: int,
    chosen: tuple[str, ...],
    view: MapView,
    bootstrap: Bootstrap,
    form: Form,
) -> None:
    """Show which errors are hard and who corrects them (Gotou et al. 2020).

    Outputs are texts, or M2 files with the edits of one or more systems. Prints scores in which
    hard errors weigh more, the difficulty of each kind of error, the hardest and easiest errors,
    and how alike the systems are; --figure writes a page to look at. Unless --annotator says
    otherwise, the corrections of the first annotator count, as in the released scorer, if there
    are some for all sentences.
    """
    from errata.difficulty.study import difficulty_tables
    from errata.edits import retype, with_edits
    from errata.metrics.difficulty import build_difficulty_map

    refuse_unless(
        bool(view.figures or view.terminal), "sentences conceal", "--figure or --terminal"
    )
    corpus, remark = _annotated(inputs)
    systems = inputs.systems(outputs, corpus, names=_names(names, outputs), several=True)
    with ProgressBar("edits") as progress:
        if types == "as_is":
            found = build_difficulty_map(corpus, systems, metric, progress=progress)
        else:
            typed = retype(with_edits(corpus, metric.gold, metric.extractor), types, metric.ignore)
            plain = replace(metric, gold="as_is")
            found = replace(
                build_difficulty_map(typed, systems, plain, progress=progress), metric=metric
            )
    if write_weights:
        _write_weights(found, write_weights)
    _draw(found, view)
    if not view.terminal:
        resamples, confidence, seed, _ = bootstrap
        tables = difficulty_tables(
            found,
            corpus,
            systems,
            remark=remark,
            types=types,
            tier=tier,
            top=examples,
            chosen=chosen,
            resamples=resamples,
            confidence=confidence,
            rng=seed,
        )
        emit(tables, form)


def _annotated(inputs: Inputs) -> tuple[Corpus, str]:
    """The corpus with the annotators asked for, or the first, and a remark on who they are."""
    from errata.difficulty.study import with_annotators

    corpus = replace(inputs, annotators=()).corpus()
    return with_annotators(corpus, inputs.chosen, every=bool(inputs.annotators))


def _names(names: str | None, outputs: tuple[str, ...]) -> list[str] | None:
    """The names given to the systems of one M2 file."""
    if names is None:
        return None
    called = split_names(names)
    if len(outputs) != 1:
        raise InputError(
            "--names belongs to one M2 file with the edits of several systems",
            remedy="write name=path for each of several files",
        )
    return called


def _write_weights(found: DifficultyMap, path: str) -> None:
    import numpy as np

    from errata.metrics.difficulty import write_weights

    if found.corpus.most_references > 1:
        raise InputError(
            "a weight file holds one annotator's weights", remedy="choose one with --annotator"
        )
    counts = np.split(found.tally.solved.astype(int), found.chunks.bounds[1:-1])
    write_weights(found.tally.systems, counts, path)


def _draw(found: DifficultyMap, view: MapView) -> None:
    from errata.difficulty.heatmap import heat_map, heat_map_figure, heat_map_text, parse_ranges
    from errata.io.atomic import write_bytes
    from errata.plots.mpl import figure_form

    whole, shown = found.corpus.whole or found.corpus, view.sentences
    chosen = parse_ranges(shown, len(whole), found.corpus.skipped) if shown else None
    conceal = view.conceal
    for _, path in view.figures:
        if is_page(path):
            text = heat_map(
                found,
                sentences=chosen,
                signature=repr(found.metric),
                title=f"Difficulty heat map: {found.corpus.name}",
                conceal=conceal,
            )
            write_bytes(text.encode("utf-8", "replace"), path)
        else:
            part = chosen or range(min(10, len(found.corpus)))
            form = figure_form(path)
            write_bytes(heat_map_figure(found, part, form=form, conceal=conceal), path)
    if view.terminal:
        screen = sys.stdout.isatty()
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        click.echo(
            heat_map_text(
                found,
                sentences=chosen,
                colours=screen and not plain,
                width=shutil.get_terminal_size().columns if screen else None,
                conceal=conceal,
            )
        )
