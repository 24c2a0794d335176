"""A language model for tests: deterministic, instant, and it counts how often it is asked."""

from collections.abc import Sequence

import numpy as np

from errata.core.stats import Floats
from errata.models.language import Options

BAD = {"go", "sit", "likes", "have", "school", "goes"}


class FakeModel:
    """-1 per word, and -3 more for each word in `BAD`; ``asked`` lists every sentence it saw."""

    revision = "fake@1"

    def __init__(self, options: Options | None = None) -> None:
        self.batch_size = (options or Options()).batch_size
        self.asked: list[str] = []

    def log_probs(self, sentences: Sequence[str]) -> Floats:
        self.asked += sentences
        rows = []
        for sentence in sentences:
            words = sentence.lower().rstrip(" .").split()
            rows.append((-len(words) - 3.0 * sum(word in BAD for word in words), len(words)))
        return np.array(rows, np.float64).reshape(-1, 2)
