"""Chunks of a part of a corpus, weighed by a file of the whole when their places are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus, Hypotheses
from errata.errors import InputError
from errata.io.weights import WeightFile, read_weights
from errata.metrics.difficulty.chunks import CORRECT, MODIFIED
from errata.metrics.difficulty.map import (
    check_weights,
    map_difficulty,
    outcomes,
    refuse_annotators,
    weigh_units,
    weight,
)
from errata.metrics.unsettled import Unsettled
from errata.numbers import Floats, Ints, Progress

if TYPE_CHECKING:
    from errata.metrics.difficulty import Difficulty

__all__ = ["PlacedChunks"]

ERRONEOUS = 4  # beside MODIFIED and CORRECT
DIGITS, BASE = 6, 128  # in which the number of a sentence is written, so that all of it is small


class PlacedChunks(Unsettled):
    """What a system did to each chunk, after the number of the sentence in the whole corpus."""

    def __init__(self, metric: Difficulty) -> None:
        self.metric = metric

    @cached_property
    def _file(self) -> WeightFile:
        return read_weights(self.metric.weights)

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """``[sentence, 1, number and chunks]``; 0 is no chunk."""
        refuse_annotators(self.metric.weights, corpus)
        plain = replace(self.metric, weights="none")
        found = map_difficulty(corpus, systems, plain, threads=threads, progress=progress)
        bounds = found.chunks.bounds
        lengths = np.diff(bounds)
        counts = np.zeros((len(corpus), 1, DIGITS + int(lengths.max(initial=0))))
        numbers = corpus.first + np.arange(len(corpus))
        counts[:, 0, :DIGITS] = numbers[:, None] // BASE ** np.arange(DIGITS) % BASE
        row = np.repeat(np.arange(len(corpus)), lengths)
        place = np.arange(len(row)) - np.repeat(bounds[:-1], lengths)
        result = []
        for flags in found.flags:
            own = counts.copy()
            own[row, 0, DIGITS + place] = 1 + flags + ERRONEOUS * found.chunks.erroneous
            result.append(own)
        return result

    def whole(self, parts: Iterable[Floats]) -> tuple[int, ...]:
        """How many sentences there are, by the number of the last."""
        last = -1
        for part in parts:
            numbers = np.concatenate([[last], _numbers(part)])
            if (np.diff(numbers) < 1).any():
                raise InputError(
                    "the parts of the corpus do not say where they stand in it",
                    remedy="give each the number of sentences before it: replace(part, first=...)",
                )
            last = int(numbers[-1])
        return (last + 1,)

    def settled(self, part: Floats, whole: tuple[int, ...]) -> Floats:
        """The weights of right and wrong chunks."""
        m, file = self.metric, self._file
        numbers = _numbers(part)
        listed = part[:, 0, DIGITS:].astype(np.int64)
        there = listed > 0
        sizes = there.sum(axis=1)
        solved = check_weights(m.weights, file, numbers, sizes, whole[0])
        flags = (listed[there] - 1).astype(np.int8)
        columns = outcomes(flags & (MODIFIED | CORRECT), (flags & ERRONEOUS) > 0)
        weights = weight(solved, file.systems, m.a, m.b, m.c)
        bounds = np.concatenate([[0], sizes.cumsum()])
        return weigh_units(columns, weights, bounds)[:, None]


def _numbers(part: Floats) -> Ints:
    digits: NDArray[np.int64] = part[:, 0, :DIGITS].astype(np.int64)
    return np.asarray((digits * BASE ** np.arange(DIGITS)).sum(axis=1))
