"""The loop: learn from batches, look at the validation part, keep the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from errata.errors import InputError
from errata.models.checkpoint import INSTALL
from errata.models.language import load_extra
from errata.models.trainable import TextsRead, Trainable
from errata.numbers import Floats, Ints, Progress
from errata.training.batches import by_length, epoch_batches
from errata.training.recipe import Recipe

__all__ = ["Fitted", "fit", "predictions"]

LOOKS = 2  # at the validation part, in an epoch
WARM_UP = 0.1  # of all steps
WEIGHT_DECAY = 0.01
GRADIENT_NORM = 1.0  # its norm, above which it is shortened


class Fitted(NamedTuple):
    """When an output was best, how good it was on the validation part, and the weights then."""

    step: int
    steps: int
    validation: float
    weights: dict[str, Any]


def fit(
    network: Trainable,
    lengths: Ints,
    loss: Callable[[Ints], Any],
    judge: Callable[[], Sequence[float]],
    recipe: Recipe,
    progress: Progress | None = None,
) -> list[Fitted]:
    """Train until the validation part gets no better; the best of every output.

    ``loss`` of the rows of a batch is what is made small, ``judge`` says how good each output is,
    higher being better. ``progress`` counts steps, and jumps to the end where training stops early.
    """
    torch = load_extra("torch", "training", INSTALL)
    rng = np.random.default_rng(recipe.seed)
    per_epoch = -(-len(lengths) // recipe.batch_size)
    steps = per_epoch * recipe.epochs
    looks = {round(per_epoch * (k + 1) / LOOKS) for k in range(LOOKS)}
    optimiser = torch.optim.AdamW(_groups(network.model), lr=recipe.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate(step, steps))
    best = [Fitted(0, steps, -np.inf, network.state())] * network.model.config.num_labels
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
            now = [Fitted(step, steps, found, {}) for found in judge()]
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


def _groups(model: Any) -> list[dict[str, Any]]:
    """Matrices, which decay, and the rest (biases, norms), which does not."""
    parameters = list(model.parameters())
    return [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": WEIGHT_DECAY},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]


def _rate(step: int, steps: int) -> float:
    """The share of the learning rate at a step: up over the first tenth, then down to 0.

    >>> [round(_rate(step, 20), 2) for step in (0, 1, 2, 11, 20)]
    [0.5, 1.0, 1.0, 0.5, 0.0]
    """
    warm = max(1, round(steps * WARM_UP))
    return (step + 1) / warm if step < warm else (steps - step) / max(1, steps - warm)


def predictions(network: Trainable, texts: Sequence[TextsRead], size: int) -> Floats:
    """What the model says of texts ``[text, output]``, in batches of like length."""
    found = np.zeros((len(texts), network.model.config.num_labels))
    for rows in by_length([sum(map(len, each)) for each in texts], size):
        found[rows] = network.predict([texts[k] for k in rows.tolist()])
    return found
