"""Counts of a part of a corpus that only the whole corpus settles.

Where a weight hangs on all sentences (CLEME's on their mean length) or on their places (a file of
difficulty weights), a part is counted without it: as whole numbers of what is weighed. When all
parts are counted, what the whole says is known, and each is settled: the same counts as if the
corpus had been counted at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import singledispatch

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.numbers import Floats, Progress

__all__ = ["Unsettled", "join_unsettled", "pad_lists", "unsettled_of"]


class Unsettled(ABC):
    """How a metric counts parts, and what makes counts of them (see `unsettled_of`).

    Unsettled counts are ``[sentence, reference, number]``; how many numbers there are may differ
    from part to part. Those of a reference that is missing are NaN.
    """

    @abstractmethod
    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """The unsettled counts of every system."""

    @abstractmethod
    def whole(self, parts: Iterable[Floats]) -> tuple[int, ...]:
        """What the parts of one system say together; they may be gone through again."""

    @abstractmethod
    def settled(self, part: Floats, whole: tuple[int, ...]) -> Floats:
        """The counts of a part, with what the whole said."""


@singledispatch
def unsettled_of(metric: object) -> Unsettled | None:
    """How parts of a corpus are counted, where only the whole settles their counts.

    Metrics whose counts hang on the sentence alone, as almost all, need nothing; others register
    what they do: ``@unsettled_of.register(CLEME)``.

    >>> unsettled_of("m2") is None
    True
    """
    return None


def pad_lists(rows: Sequence[Sequence[int]]) -> Floats:
    """Lists of numbers as rows of one length, with 0 behind them.

    >>> pad_lists([[1, 2], [], [3]]).tolist()
    [[1.0, 2.0], [0.0, 0.0], [3.0, 0.0]]
    """
    found = np.zeros((len(rows), max(map(len, rows), default=0)))
    for row, numbers in zip(found, rows, strict=True):
        row[: len(numbers)] = numbers
    return found


def join_unsettled(parts: Sequence[Floats]) -> Floats:
    """Unsettled counts of consecutive batches as those of one: 0 behind the shorter ones.

    >>> join_unsettled([np.ones((1, 1, 1)), np.full((1, 2, 2), 2.0)])[:, :, 1].tolist()
    [[0.0, nan], [2.0, 2.0]]
    """
    references = max(part.shape[1] for part in parts)
    width = max(part.shape[2] for part in parts)
    found = np.full((sum(map(len, parts)), references, width), np.nan)
    start = 0
    for part in parts:
        here = found[start : start + len(part), : part.shape[1]]
        here[:] = np.where(np.isnan(part[..., :1]), np.nan, 0.0)
        here[..., : part.shape[2]] = part
        start += len(part)
    return found
