"""Every gold chunk with its weight and what each system did to it: what all of difficulty reads.

Scores, tables by kind of error and the heat map are readings of one `DifficultyMap`, for which
each system is compared with the gold chunks once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus, Edit, Hypotheses
from errata.edits import with_edits
from errata.edits.origins import edits_of
from errata.errors import InputError
from errata.io.weights import WeightFile, read_weights
from errata.metrics.difficulty.chunks import (
    CORRECT,
    MODIFIED,
    Chunks,
    Flags,
    chunk_references,
    compare_chunks,
)
from errata.numbers import Bools, Floats, Ints, Progress
from errata.workers import in_order

if TYPE_CHECKING:
    from errata.metrics.difficulty import Difficulty

__all__ = [
    "DifficultyMap",
    "Tally",
    "check_weights",
    "map_difficulty",
    "outcomes",
    "read_weight_file",
    "refuse_annotators",
    "weigh_units",
    "weight",
]


class Tally(NamedTuple):
    """How many of how many systems got each gold chunk right, and where that comes from."""

    solved: Floats
    systems: int
    origin: str = ""


def weight(
    solved: Floats, systems: float, a: float = 1.0, b: float = 0.0, c: float = 0.0
) -> Floats:
    """``w = a - (n + b) / (N + c)``: the more systems get a chunk right, the less it weighs.

    Where no system is known at all (``N = c = 0``) every chunk weighs ``a``.

    >>> weight(np.array([0.0, 1.0, 3.0]), 3).round(3).tolist()
    [1.0, 0.667, 0.0]
    """
    if systems == c == 0:
        return np.full(np.shape(solved), a)
    if systems + c <= 0:
        raise InputError(
            f"difficulty: N + c must be positive, but N={systems:g} and c={c:g}",
            remedy=f"choose c above {-systems:g}",
        )
    return np.asarray(a - (solved + b) / (systems + c), np.float64)


def outcomes(flags: Flags, erroneous: Bools) -> Floats:
    """Which of TP, FP, FN, TN each chunk is, and whether it is wrong, as ones: ``[chunk, 5]``.

    As in the released scorer a wrong change of an erroneous chunk is a false positive and a
    false negative at once.
    """
    modified, correct = (flags & MODIFIED) > 0, (flags & CORRECT) > 0
    kinds = (
        modified & correct,
        modified & ~correct,
        ~correct & (erroneous | ~modified),
        ~modified & correct,
        ~correct,
    )
    return np.stack(kinds, axis=1).astype(np.float64)


def weigh_units(columns: Floats, weights: Floats, bounds: Ints) -> Floats:
    """What chunks ``[chunk, k]`` weigh together, unit by unit: ``[unit, k]``."""
    if not len(weights):
        return np.zeros((len(bounds) - 1, columns.shape[1]))
    # Every unit has chunks (at least a dummy), so reduceat never sees an empty stretch.
    summed: Floats = np.add.reduceat(columns * weights[:, None], bounds[:-1], axis=0)
    return summed


@dataclass(frozen=True, eq=False)
class DifficultyMap:
    """Every gold chunk of a corpus with its weight and what each system did to it.

    ``flags[s, c]`` holds `MODIFIED` and `CORRECT` of system s on chunk c; ``tally`` says how many
    systems got it right (other systems than ``systems`` where the weights come from a file).
    ``corpus`` is the one with the gold edits that were cut into ``chunks``.
    """

    metric: Difficulty
    corpus: Corpus
    systems: tuple[str, ...]
    edits: tuple[tuple[tuple[Edit, ...], ...], ...]
    chunks: Chunks
    flags: NDArray[np.int8]
    tally: Tally

    @cached_property
    def right(self) -> Bools:
        """Whether system s got chunk c right: ``[s, c]``."""
        return np.asarray((self.flags & CORRECT) > 0)

    @cached_property
    def false_positive(self) -> Bools:
        """Whether system s changed chunk c, which is no error, wrongly: ``[s, c]``."""
        wrong = ((self.flags & MODIFIED) > 0) & ~self.right
        return np.asarray(wrong & ~self.chunks.erroneous)

    @cached_property
    def weights(self) -> Floats:
        """The weight of each chunk, of all systems (``leave_out`` concerns scores only)."""
        return self._weights(self.tally.solved, self.tally.systems)

    def _weights(self, solved: Floats, systems: int) -> Floats:
        m = self.metric
        return (
            np.ones(len(solved)) if m.weights == "none" else weight(solved, systems, m.a, m.b, m.c)
        )

    def edit(self, chunk: int) -> Edit | None:
        """The gold edit of a chunk; None where the chunk is no error."""
        number = int(self.chunks.rows[chunk, 3])
        return self.chunks.edits[int(self.chunks.unit_of[chunk])][number] if number >= 0 else None

    def counts(self, system: int) -> Floats:
        """The metric's statistics ``[sentence, reference, k]`` of one system."""
        weights = self.weights
        if self.metric.leave_out:
            weights = self._weights(self.tally.solved - self.right[system], self.tally.systems - 1)
        columns = outcomes(self.flags[system], self.chunks.erroneous)
        shape = (len(self.corpus), max(1, self.corpus.most_references), columns.shape[1])
        counts = np.full(shape, np.nan)
        own = weigh_units(columns, weights, self.chunks.bounds)
        counts[self.chunks.sentences, self.chunks.references] = own
        return counts


def map_difficulty(
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    metric: Difficulty | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> DifficultyMap:
    """Cut the references into chunks, compare every system with them once, and weigh the chunks.

    Weights come from the systems, or from the file that ``metric.weights`` names; systems may then
    be missing.

    >>> gold = Corpus.from_texts(["He go home"], [["He goes home"]])
    >>> outputs = [Hypotheses("A", ("He goes home",)), Hypotheses("B", ("He go home",))]
    >>> found = map_difficulty(gold, outputs)
    >>> found.weights[found.chunks.erroneous].tolist(), found.right[:, 3].tolist()
    ([0.5], [True, False])
    """
    if metric is None:
        from errata.metrics.difficulty import Difficulty

        metric = Difficulty()
    own = metric.weights in ("systems", "none")
    if own and not systems:
        raise InputError(
            "difficulty needs systems or a weight file",
            remedy="name one output per system, or give --weights",
        )
    if metric.leave_out and len(systems) < 2:
        raise InputError("difficulty: leave_out needs at least two systems")
    gold = with_edits(corpus, metric.gold, metric.extractor, progress)
    chunks = chunk_references(gold, metric.ignore)
    found = edits_of(corpus, systems, metric.outputs, extractor=metric.extractor, progress=progress)
    edits = tuple(h.edits or () for h in found)

    def compare(several: tuple[tuple[Edit, ...], ...]) -> Flags:
        return compare_chunks(
            gold,
            chunks,
            several,
            matching=metric.matching,
            ignore=metric.ignore,
            longest=metric.longest,
        )

    flags = in_order(compare, edits, threads=threads)
    each = np.stack(flags) if flags else np.zeros((0, len(chunks.rows)), np.int8)
    solved = ((each & CORRECT) > 0).sum(axis=0).astype(np.float64)
    tally = Tally(solved, len(systems)) if own else read_tally(metric.weights, gold, chunks)
    return DifficultyMap(metric, gold, tuple(h.system for h in systems), edits, chunks, each, tally)


def read_tally(path: str, gold: Corpus, chunks: Chunks) -> Tally:
    """The counts of a weight file, which must have been made for these chunks."""
    file, origin = read_weight_file(path, gold)
    refuse_annotators(path, gold)
    numbers = np.arange(len(gold))
    solved = check_weights(path, file, numbers, np.diff(chunks.bounds), len(gold), gold.number)
    return Tally(solved, file.systems, origin)


def read_weight_file(path: str, gold: Corpus) -> tuple[WeightFile, str]:
    """A weight file without the sentences that the corpus leaves out, and what to call it."""
    file = read_weights(path)
    counts = file.counts
    if gold.whole is not None and len(counts) == len(gold.whole):
        counts = [n for i, n in enumerate(counts) if i not in gold.skipped]
    digest = hashlib.sha256(b" ".join(n.astype("<i4").tobytes() for n in counts)).hexdigest()
    return WeightFile(file.systems, counts), f"{Path(path).name}@{digest[:8]}"


def refuse_annotators(path: str, corpus: Corpus) -> None:
    """Refuse a weight file for several annotators."""
    if corpus.most_references > 1:
        raise InputError(
            f"the weights are those of one annotator, but the corpus has {corpus.most_references}",
            path=path,
            remedy="choose the annotator they were made for (--annotator 0)",
        )


def check_weights(
    path: str,
    file: WeightFile,
    sentences: Ints,
    sizes: Ints,
    whole: int,
    number: Callable[[int], int] | None = None,
) -> Floats:
    """The counts of these sentences, which have so many chunks each, one after the other.

    ``whole`` is how many sentences there are; ``number`` is what they are called, from 1.
    """
    if len(file.counts) != whole:
        raise InputError(
            f"weights of {len(file.counts)} sentences, but the corpus has {whole}",
            path=path,
            remedy="weights belong to one gold file; use that one",
        )
    counts = [file.counts[i] for i in sentences.tolist()]
    for i, n, size in zip(sentences.tolist(), counts, sizes.tolist(), strict=True):
        if len(n) != size:
            called = i + 1 if number is None else number(i)
            raise InputError(
                f"{len(n)} weights, but sentence {called} of the corpus has {size} chunks",
                path=path,
                line=i + 2,
                remedy="weights belong to one gold file, annotator and extractor; use those they "
                "were made with",
            )
    return np.concatenate([*counts, np.zeros(0)]).astype(np.float64)
