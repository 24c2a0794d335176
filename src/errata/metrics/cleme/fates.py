"""What an output did with each chunk, and what that weighs by the likeness of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from errata.data import Corpus, Edit, Hypotheses
from errata.errors import InputError
from errata.metrics.base import fixed_point
from errata.metrics.cleme.merged import MergedChunk, merged_chunks, spoken_for
from errata.metrics.similarity import WeighedChange, Weights, plain_text, reference_texts
from errata.numbers import Floats

__all__ = [
    "KINDS",
    "ComparedChunks",
    "FateOf",
    "WeighChunk",
    "asked",
    "by_likeness",
    "changes",
    "compared_chunks",
    "counted_chunks",
    "fates_of",
]

KINDS = ("TP", "FP", "FN", "TN", "FPne")
TP, FP, FN, TN, FPNE = range(5)


class ComparedChunks(NamedTuple):
    """A sentence of one system: its chunks, the stretches between, and which references count.

    ``corrected`` are the texts of those references.
    """

    source: list[str]
    chunks: list[MergedChunk]
    between: int
    references: list[int]
    columns: int
    corrected: list[str]


WeighChunk = Callable[[int, ComparedChunks, MergedChunk, Sequence[int]], float]
FateOf = Callable[[MergedChunk, Sequence[int]], tuple[int, bool]]


def compared_chunks(
    gold: Corpus, output: Hypotheses, *, texts: bool = False
) -> list[ComparedChunks]:
    """The chunks of every sentence; ``texts`` also makes the references' texts."""
    result = []
    corrected = reference_texts(gold) if texts else [[]] * len(gold)
    for source, references, written, mine in zip(
        gold.sources, gold.references, corrected, output.edits or (), strict=True
    ):
        if not references:
            raise InputError(
                f"{gold.name}: a sentence has no reference, {source[:60]!r}",
                remedy="give every sentence a reference, or leave the sentence out",
            )
        left = spoken_for(references, source)
        several = [mine, *(references[k].edits or () for k in left)]
        tokens = source.split()
        chunks, between = merged_chunks(tokens, several)
        own = [written[k] for k in left] if texts else []
        result.append(ComparedChunks(tokens, chunks, between, left, len(references), own))
    return result


def counted_chunks(
    sentences: Sequence[ComparedChunks], weigh: WeighChunk, *, at_once: bool
) -> Floats:
    """The weights of chunks by fate, ``[sentence, reference, k]``; ``at_once`` has one column."""
    columns = 1 if at_once else max((each.columns for each in sentences), default=1)
    counts = np.full((len(sentences), columns, len(KINDS)), np.nan)
    for row, each in zip(counts, sentences, strict=True):
        for column, which, fate_of in fates_of(each, at_once=at_once):
            row[column] = _fates(each, weigh, which, fate_of)
    return counts


def fates_of(each: ComparedChunks, *, at_once: bool) -> Iterator[tuple[int, Sequence[int], FateOf]]:
    """The columns of a sentence: for each its place, the texts it looks at, and how it judges."""
    if at_once:
        yield 0, range(1, len(each.references) + 1), _of_all
        return
    for k, reference in enumerate(each.references, 1):
        yield reference, (k,), _of_one


def _of_one(chunk: MergedChunk, which: Sequence[int]) -> tuple[int, bool]:
    """The fate of a chunk beside one reference, and whether that changes it."""
    (k,) = which
    same = chunk.words[0] == chunk.words[k]
    if chunk.changed[0]:
        return (TP if same else FP), chunk.changed[k]
    return (TN if same else FN), chunk.changed[k]


def _of_all(chunk: MergedChunk, which: Sequence[int]) -> tuple[int, bool]:
    """The same beside all references at once, any of which may be right."""
    due = any(chunk.changed[k] for k in which)
    if chunk.changed[0]:
        return (TP if any(chunk.words[0] == chunk.words[k] for k in which) else FP), due
    return (FN if all(chunk.changed[k] for k in which) else TN), due


def _fates(
    each: ComparedChunks, weigh: WeighChunk, which: Sequence[int], fate_of: FateOf
) -> list[float]:
    counts = [0.0] * len(KINDS)
    counts[TN] = float(each.between)
    for chunk in each.chunks:
        fate, due = fate_of(chunk, which)
        weight = weigh(fate, each, chunk, which)
        counts[fate] += weight
        if fate == FP and due:
            counts[FPNE] += weight
    return counts


def by_likeness(weights: Weights, *, nothing: float) -> WeighChunk:
    """Weights by similarity; ``nothing`` is that of a chunk which makes no difference.

    Beside several references at once it is the mean over those that decide: the ones that agree
    where the output is right, all elsewhere.
    """

    def weight(fate: int, each: ComparedChunks, chunk: MergedChunk, which: Sequence[int]) -> float:
        if fate == TN:
            return 1.0
        worth = [weights.of[change] for change in changes(fate, each, chunk, which)]
        mean = float(fixed_point(np.array(sum(worth) / len(worth))))
        return mean or nothing

    return weight


def changes(
    fate: int, each: ComparedChunks, chunk: MergedChunk, which: Sequence[int]
) -> Iterator[WeighedChange]:
    """What the weight of a chunk hangs on: the output's words there, or those it should have."""
    if fate == TN:
        return
    before = plain_text(each.source)
    for k in which:
        if fate == TP and chunk.words[k] != chunk.words[0]:
            continue
        words = " ".join(chunk.words[k if fate == FN else 0])
        edit = Edit(chunk.start, chunk.start + chunk.length, words)
        yield WeighedChange(before, plain_text(each.source, [edit]), each.corrected[k - 1])


def asked(systems: Sequence[Sequence[ComparedChunks]], *, at_once: bool) -> list[WeighedChange]:
    """Everything that `by_likeness` will ask for, sentence by sentence."""
    found: list[WeighedChange] = []

    def note(fate: int, each: ComparedChunks, chunk: MergedChunk, which: Sequence[int]) -> float:
        found.extend(changes(fate, each, chunk, which))
        return 0.0

    for sentences in zip(*systems, strict=True):
        counted_chunks(sentences, note, at_once=at_once)
    return found
