"""How well a model does on sources it never saw, beside the length of the output."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from errata.correlation import pearson
from errata.numbers import Estimate, Floats, bootstrap_weights, percentiles, ratio

__all__ = ["held_out_accuracy", "held_out_r", "minus_length"]

RESAMPLES, CONFIDENCE = 1000, 0.95


def minus_length(outputs: Sequence[str]) -> Floats:
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
