"""How a model is trained: everything that changes its weights."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass

from errata.errors import InputError
from errata.io.model_cards import Setting

__all__ = ["IMPARA_RECIPE", "SOME_RECIPE", "Recipe"]

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


# What `errata train` does unless it is told otherwise.
SOME_RECIPE = Recipe()
IMPARA_RECIPE = Recipe(epochs=5)
