"""BERTScore for tests: whatever a function says of two texts, and what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np
import pytest

from errata.core.stats import Floats
from errata.models import CachedModel, default_cache
from errata.models.encoder import split_pair

NUMBERS = count()


class FakeBERTScore:
    """``likeness(text, reference)`` is F; ``asked`` lists every pair that was computed."""

    def __init__(self, likeness: Callable[[str, str], float], cut: float = 0.0) -> None:
        self.likeness, self.cut = likeness, cut
        self.asked: list[str] = []
        self.memo = CachedModel(
            self.compute, f"fake@{next(NUMBERS)}", default_cache(), columns=4, batch_size=1000
        )

    def compute(self, pairs: Sequence[str]) -> Floats:
        self.asked += pairs
        f = [self.likeness(*split_pair(pair)) for pair in pairs]
        return np.array([(0.0, 0.0, value, self.cut) for value in f]).reshape(-1, 4)

    def put(self, patch: pytest.MonkeyPatch) -> FakeBERTScore:
        """Let every metric ask this."""

        def open_model(*_: Any, **__: Any) -> CachedModel:
            return self.memo

        patch.setattr("errata.models.encoder.open_bertscore", open_model)
        return self


def weight_of_one(sources: Sequence[str]) -> Callable[[str, str], float]:
    """A likeness that gives every change the weight 1."""
    plain = {" ".join(source.split()) for source in sources}
    return lambda text, _: 0.0 if text in plain else 1.0
