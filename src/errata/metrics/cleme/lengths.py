"""Weights of chunks by their lengths, which the mean length in the whole corpus decides.

A part of a corpus is counted as lists of chunks by fate and length, and the lengths of what the
references change as a sum and a number; weights come with the mean, when all parts are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.edits import with_edits
from errata.edits.origins import edits_of
from errata.metrics.base import fixed_point, join_counts
from errata.metrics.cleme.fates import (
    FN,
    FP,
    FPNE,
    KINDS,
    TN,
    TP,
    ComparedChunks,
    FateOf,
    compared_chunks,
    fates_of,
)
from errata.metrics.unsettled import Unsettled, join_unsettled, pad_lists
from errata.numbers import Floats, Progress
from errata.workers import in_order

if TYPE_CHECKING:
    from errata.metrics.cleme import CLEME

__all__ = ["ChunkLengths"]

# The length weights of the released program: other values that its papers name never take effect.
SHARPNESS, LIGHTEST, HEAVIEST = 2.0, 0.75, 1.25
BITS = 40  # behind the point of weights: the sum of a corpus keeps the program's six digits
# Of each reference: the lengths of what it changes, summed and counted, and chunks nobody touches.
# Then its chunks: their lengths, five times, and their kind, from 1 on; 0 is none.
SIZES, CHANGES, UNTOUCHED, CHUNKS = range(4)


class ChunkLengths(Unsettled):
    """Chunks by fate and length, and the weights they come to."""

    def __init__(self, metric: CLEME) -> None:
        self.metric = metric

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """The chunks of every system; edits of all of them are found in one go."""
        gold, found = self._edited(corpus, systems, progress)
        return in_order(
            lambda system: join_unsettled([*self._listed(gold, system)]),
            found,
            threads=threads,
            progress=progress,
        )

    def settle_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """The counts of a whole corpus."""
        gold, found = self._edited(corpus, systems, progress)

        def counted(system: Hypotheses) -> Floats:
            parts = [*self._listed(gold, system)]
            whole = self.whole(parts)
            return join_counts([self.settled(part, whole) for part in parts])

        return in_order(counted, found, threads=threads, progress=progress)

    def _edited(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None
    ) -> tuple[Corpus, list[Hypotheses]]:
        m = self.metric
        gold = with_edits(corpus, m.gold, m.extractor, progress)
        return gold, edits_of(corpus, systems, m.outputs, extractor=m.extractor, progress=progress)

    def _listed(self, gold: Corpus, system: Hypotheses) -> Iterator[Floats]:
        """The chunks of batches: one sentence with very many makes few others wide."""
        start = 0
        for batch in gold.batches:
            own = system[start : start + len(batch)]
            yield _listed(compared_chunks(batch, own), at_once=self.metric.mode == "independent")
            start += len(batch)

    def whole(self, parts: Iterable[Floats]) -> tuple[int, ...]:
        """The lengths of what references change: their sum, and how many they are."""
        total = np.zeros(2, np.int64)
        for part in parts:
            total += np.nansum(part[..., SIZES:UNTOUCHED], axis=(0, 1)).astype(np.int64)
        return tuple(total.tolist())

    def settled(self, part: Floats, whole: tuple[int, ...]) -> Floats:
        """The weights of chunks by fate, ``[sentence, reference, k]``."""
        total, number = whole
        middle = total / number if number else 0.0
        if self.metric.middle is not None:
            middle = self.metric.middle
        missing = np.isnan(part[..., SIZES])
        listed = np.where(missing[..., None], 0, part[..., CHUNKS:]).astype(np.int64)
        size, kind = np.divmod(np.maximum(listed - 1, 0), len(KINDS))
        counts = np.zeros((*part.shape[:2], len(KINDS)))
        counts[..., TN] = part[..., UNTOUCHED]
        sizes, place = np.unique(size, return_inverse=True)
        for fate, kinds in ((TP, (TP,)), (FP, (FP, FPNE)), (FN, (FN,)), (FPNE, (FPNE,))):
            weights = _weights(sizes, middle, wrong=fate in (FP, FPNE))[place].reshape(size.shape)
            counts[..., fate] = (weights * (np.isin(kind, kinds) & (listed > 0))).sum(axis=-1)
        counts[missing] = np.nan
        return self.metric.completed(counts)


def _listed(sentences: Sequence[ComparedChunks], *, at_once: bool) -> Floats:
    columns = 1 if at_once else max((each.columns for each in sentences), default=1)
    nothing: list[int] = []
    lists = [[nothing] * columns for _ in sentences]
    for row, each in zip(lists, sentences, strict=True):
        for column, which, fate_of in fates_of(each, at_once=at_once):
            row[column] = _of_reference(each, which, fate_of)
    flat = [numbers for row in lists for numbers in row]
    found = pad_lists(flat)
    found[[not numbers for numbers in flat]] = np.nan
    return found.reshape(len(sentences), columns, -1)


def _of_reference(each: ComparedChunks, which: Sequence[int], fate_of: FateOf) -> list[int]:
    sizes = [
        max(chunk.length, len(chunk.words[k]))
        for chunk in each.chunks
        for k in which
        if chunk.changed[k]
    ]
    found = [sum(sizes), len(sizes), each.between]
    for chunk in each.chunks:
        fate, due = fate_of(chunk, which)
        if fate == TN:
            found[UNTOUCHED] += 1
        else:
            found.append(1 + len(KINDS) * chunk.size + (FPNE if fate == FP and due else fate))
    return found


def _weights(sizes: Floats, middle: float, *, wrong: bool) -> Floats:
    """What chunks of these sizes weigh, as FP where they are ``wrong``, else as TP or FN."""
    away = sizes - middle if wrong else middle - sizes
    # Far from the middle the exponential is beyond what is clipped anyway.
    steep = np.exp(np.clip(away, -50, 50))
    value = SHARPNESS / (1 + (SHARPNESS - 1) * steep)
    return fixed_point(np.clip(value, LIGHTEST, HEAVIEST), BITS)
