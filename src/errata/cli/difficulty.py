"""``errata difficulty``: which errors are hard, which systems correct them, and a heat map."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from errata.cli import options
from errata.cli.input_options import Inputs
from errata.cli.judgment_options import names_option, split_names
from errata.cli.output import CommandOptions, ProgressBar, emit
from errata.cli.params import argument, choice_option, count_option, flag, group, option, takes
from errata.core.errors import InputError
from errata.difficulty.heatmap import Concealed
from errata.metrics.difficulty import Matching

if TYPE_CHECKING:
    from errata.metrics.difficulty import Difficulty, DifficultyMap

EPILOG = """\b
Examples:
  errata difficulty --gold gold.m2 A.txt B.txt ours=out.txt --figure map.html
  errata difficulty --gold gold.m2 all.m2 --names A,B,C --tier 2
  errata difficulty --gold conll14.m2 --weights conll14_8sys.txt --types errant --tier 2
"""
SHOWN = "--figure or --terminal"
OF_EDITS = ("extractor", "mixed", "reextract")  # options of the metric that are no parameters


@dataclass(frozen=True)
class MetricOptions:
    """How errors are weighed and edits are found."""

    weights: str = option(
        "--weights FILE",
        "A file of weights; 'none' weighs all errors alike; 'systems' counts them from the "
        "outputs.",
        default="systems",
    )
    leave_out: bool = flag(
        "--exclude-own", "A system's own corrections do not lower the weights it is scored with."
    )
    matching: Matching = choice_option(
        "--matching", Matching, "Compare chunks as the released scorer or as the paper.", "released"
    )
    longest: int = count_option(
        "--longest",
        "With --matching elastic: the longest sentence, in tokens; memory grows with its square.",
        5000,
    )
    a: float = option(
        "--a", "The weight is a - (n + b) / (N + c), for n of N systems.", type=float, default=1.0
    )
    b: float = option("--b", "See --a.", type=float, default=0.0)
    c: float = option("--c", "See --a.", type=float, default=0.0)
    extractor: str | None = options.extract_option(
        "find the edits of all outputs with one tool, also of M2 (by default: aligned, for texts)",
        excludes="--mixed",
    )
    mixed: bool = flag("--mixed", "Compare edits given in M2 with edits found in texts.")
    reextract: bool = flag("--reextract", "Find the gold edits with the same tool too.")

    @property
    def metric(self) -> Difficulty:
        from errata.metrics.difficulty import Difficulty

        own = {key: value for key, value in vars(self).items() if key not in OF_EDITS}
        metric = Difficulty(
            **own,
            gold="reextracted" if self.reextract else "as_is",
            outputs="mixed" if self.mixed else "alike",
        )
        return metric if self.extractor is None else metric.extracting(self.extractor)


@dataclass(frozen=True)
class DifficultyOptions(CommandOptions):
    outputs: tuple[str, ...] = argument(metavar="[NAME=]FILE...", role="outputs", several=True)
    inputs: Inputs = group(Inputs)
    names: str | None = names_option()
    scoring: MetricOptions = group(MetricOptions)
    write_weights: str | None = option(
        "--write-weights FILE", "Write the counts behind the weights.", writes="file"
    )
    types: str = options.types_option()
    tier: int = options.tier_option()
    examples: int = count_option(
        "--examples", "How many of the hardest and easiest errors to list.", 5, least=0
    )
    chosen: tuple[str, ...] = option(
        "--system NAME",
        "List the errors only this system corrects, and those it misses.",
        multiple=True,
    )
    figures: options.FigureOptions = options.figure_option(
        {"map": "the heat map, as a page for a browser or a picture"}, pages=("map",)
    )
    terminal: bool = flag("--terminal", "Print the heat map instead of tables.")
    sentences: str | None = options.sentences_option(needs=SHOWN)
    conceal: tuple[Concealed, ...] = choice_option(
        "--conceal",
        Concealed,
        "Leave these marks out of the map (a page can show them); may be repeated.",
        multiple=True,
        needs=SHOWN,
    )
    bootstrap: options.Bootstrap = group(options.Bootstrap, "kind")

    def system_names(self) -> list[str] | None:
        """Return the names given to the systems of one M2 file."""
        if self.names is None:
            return None
        names = split_names(self.names)
        if len(self.outputs) != 1:
            problem = "--names belongs to one M2 file with the edits of several systems"
            raise InputError(problem, remedy="write name=path for each of several files")
        return names


@click.command("difficulty", epilog=EPILOG)
@takes(DifficultyOptions, data=True)
def command(given: DifficultyOptions) -> None:
    """Show which errors are hard and which systems correct them (Gotou et al. 2020).

    Outputs are texts, or M2 files with the edits of one or more systems. Prints scores in which
    hard errors weigh more, the difficulty of each kind of error, the hardest and easiest errors,
    and how similar the systems are; --figure writes a page for a browser. Without --annotator, the
    corrections of the first annotator count, as in the released scorer, if that annotator corrected
    all sentences.
    """
    from errata.difficulty.study import choose_annotators, difficulty_tables
    from errata.edits import retype, with_edits
    from errata.metrics.difficulty import build_difficulty_map, write_map_weights

    metric, inputs = given.scoring.metric, given.inputs
    corpus, remark = choose_annotators(
        replace(inputs, annotators=()).corpus(),
        inputs.annotator_numbers,
        every=bool(inputs.annotators),
    )
    systems = inputs.systems(given.outputs, corpus, names=given.system_names(), several=True)
    with ProgressBar("edits") as progress:
        if given.types == "as_is":
            weighed = build_difficulty_map(corpus, systems, metric, progress=progress)
        else:
            edited = with_edits(corpus, metric.gold, metric.extractor)
            typed = retype(edited, given.types, metric.ignore)
            plain = replace(metric, gold="as_is")
            weighed = build_difficulty_map(typed, systems, plain, progress=progress)
            weighed = replace(weighed, metric=metric)
    if given.write_weights:
        write_map_weights(weighed, given.write_weights)
    _draw_heat_map(weighed, given)
    if not given.terminal:
        tables = difficulty_tables(
            weighed,
            corpus,
            systems,
            remark=remark,
            types=given.types,
            tier=given.tier,
            top=given.examples,
            chosen=given.chosen,
            **given.bootstrap.interval_settings,
        )
        emit(tables, given.display)


def _draw_heat_map(weighed: DifficultyMap, given: DifficultyOptions) -> None:
    """Write the heat map into files, and print it with --terminal."""
    from errata.difficulty.heatmap import heat_map, heat_map_figure, heat_map_text, parse_ranges
    from errata.io.atomic import write_bytes
    from errata.plots.mpl import figure_form_of_path

    corpus, conceal = weighed.corpus, given.conceal
    sentences = None
    if given.sentences:
        sentences = parse_ranges(given.sentences, len(corpus.whole or corpus), corpus.skipped)
    for _, path in given.figures:
        if options.is_html_path(path):
            text = heat_map(
                weighed,
                sentences=sentences,
                signature=repr(weighed.metric),
                title=f"Difficulty heat map: {corpus.name}",
                conceal=conceal,
            )
            write_bytes(text.encode("utf-8", "replace"), path)
        else:
            part = sentences or range(min(10, len(corpus)))
            form = figure_form_of_path(path)
            write_bytes(heat_map_figure(weighed, part, form=form, conceal=conceal), path)
    if given.terminal:
        screen = sys.stdout.isatty()
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        click.echo(
            heat_map_text(
                weighed,
                sentences=sentences,
                colours=screen and not plain,
                width=shutil.get_terminal_size().columns if screen else None,
                conceal=conceal,
            )
        )
