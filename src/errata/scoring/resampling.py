"""Scores in bootstrap resamples of the sentences, from the counts they took.

Four kinds. The data decide unless one is requested (`bootstrap_kind`), never the way the
counts came in:

``histogram``: sentences with equal counts are exchangeable, so a resample is one multinomial draw
over the distinct vectors of counts. This is the sentence bootstrap, at the cost of these vectors.
``sentences``: every resample draws as many sentences as there are, with replacement.
``poisson``: every sentence counts Poisson(1) times, from a generator keyed by the seed and by the
sentence's number, so that nothing has to be held; totals are brought back to the number of
sentences.
``blocks``: sentences of one document, or neighbours where documents are not known, are put into
blocks together, and blocks are drawn, with replacement: such sentences are not independent.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.stats import BLOCK, Floats, Ints, Seed, bootstrap_weights, resampling_generator

BootstrapKind = Literal["auto", "histogram", "sentences", "poisson", "blocks"]
DrawnKind = Literal["histogram", "sentences", "poisson", "blocks"]
KINDS: tuple[BootstrapKind, ...] = get_args(BootstrapKind)
ScoreOfTotals = Callable[[Floats], Floats]

KEYED = 1024  # sentences whose Poisson weights come from one key, and that are summed together
BLOCKS = 4096  # into which sentences are put where blocks are drawn
RUN = 16  # neighbouring sentences that are always in one block


class BootstrapLimits(NamedTuple):
    """Where one kind of bootstrap ends and another begins.

    The histogram is taken where vectors are at most ``distinct``, hold at most ``cells`` numbers,
    and stand for ``share`` sentences each; otherwise sentences are drawn while there are at most
    ``held`` of them. A multinomial draw takes about as long as eight draws of a sentence.
    """

    held: int = 100_000
    distinct: int = 1_000_000
    cells: int = 2_000_000
    share: int = 10

    def most_vectors(self, width: int) -> int:
        """How many vectors of so many numbers a histogram may have."""
        return min(self.distinct, self.cells // max(1, width))


LIMITS = BootstrapLimits()


@dataclass(frozen=True, eq=False)
class Histogram:
    """Distinct rows, and how often each of them is there.

    >>> found = Histogram.of(np.array([[2, 1], [0, 1], [2, 1.0]]))
    >>> both = (found + found).sorted()
    >>> both.rows.tolist(), both.times.tolist()
    ([[0.0, 1.0], [2.0, 1.0]], [2, 4])
    """

    rows: Floats
    times: Ints

    @classmethod
    def of(cls, rows: Floats) -> Histogram:
        """The histogram of rows."""
        return _merge_equal_rows(rows + 0.0, np.ones(len(rows), np.int64))  # 0 for -0

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: Histogram) -> Histogram:
        return _merge_equal_rows(
            np.concatenate([self.rows, other.rows]), np.concatenate([self.times, other.times])
        )

    def sorted(self) -> Histogram:
        """The same with its rows in lexicographic order, whatever order they came in."""
        order = np.lexsort(self.rows.T[::-1]) if self.rows.shape[1] else np.arange(len(self))
        return Histogram(self.rows[order], self.times[order])


def _merge_equal_rows(rows: Floats, times: Ints) -> Histogram:
    """Equal rows as one: found by a hash, which is checked."""
    raw = np.ascontiguousarray(rows).view(np.uint64).reshape(rows.shape)
    odd = np.random.Philox(key=7).random_raw(max(1, rows.shape[1]))[: rows.shape[1]] | np.uint64(1)
    # Doubles of small numbers have zeros below: they are turned down before they are added up.
    mixed = (raw ^ (raw >> np.uint64(32))) * odd
    mixed ^= mixed >> np.uint64(29)
    keys = (mixed * odd[::-1]).sum(axis=1, dtype=np.uint64)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    place = place.reshape(-1)
    if not np.array_equal(rows[first][place], rows):  # two rows of one hash
        _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        place = place.reshape(-1)
    found = np.zeros(len(first), np.int64)
    np.add.at(found, place, times)
    return Histogram(rows[first], found)


@dataclass(frozen=True, eq=False)
class GrowingHistogram:
    """A histogram that grows part by part; None of it is left where it grows too large.

    Small histograms wait until they are as large as the one before: every row is merged a few
    times only, however many parts come.
    """

    width: int
    limits: BootstrapLimits = LIMITS
    levels: tuple[Histogram, ...] | None = ()

    def added(self, more: Histogram) -> GrowingHistogram:
        """With the histogram of further sentences."""
        if self.levels is None:
            return self
        levels = [*self.levels, more]
        while len(levels) > 1 and 2 * len(levels[-1]) >= len(levels[-2]):
            last = levels.pop()
            levels[-1] = levels[-1] + last
        over = any(len(each) > self.limits.most_vectors(self.width) for each in levels)
        return GrowingHistogram(self.width, self.limits, None if over else tuple(levels))

    @property
    def histogram(self) -> Histogram | None:
        """All of it in lexicographic order; None where it is too large."""
        if self.levels is None:
            return None
        found = Histogram(np.empty((0, self.width)), np.empty(0, np.int64))
        for level in reversed(self.levels):
            found = found + level
        return found.sorted() if len(found) <= self.limits.most_vectors(self.width) else None


def bootstrap_kind(
    asked: BootstrapKind,
    sentences: int,
    histogram: Histogram | None,
    limits: BootstrapLimits = LIMITS,
) -> DrawnKind:
    """The kind of bootstrap these sentences get; ``histogram`` is None where it is too large.

    >>> few = Histogram.of(np.zeros((40, 3)))
    >>> bootstrap_kind("auto", 40, few), bootstrap_kind("auto", 40, None)
    ('histogram', 'sentences')
    >>> bootstrap_kind("auto", 1_000_000, None)
    'poisson'
    """
    if asked not in KINDS:
        raise InputError(f"bootstrap={asked!r} is unknown", remedy=f"use one of {', '.join(KINDS)}")
    if asked == "histogram" and histogram is None:
        raise InputError(
            "these sentences have too many different counts for bootstrap=histogram",
            remedy="use bootstrap=auto, which then draws sentences or Poisson weights",
        )
    if asked != "auto":
        return asked
    if histogram is not None and len(histogram) * limits.share <= sentences:
        return "histogram"
    return "sentences" if sentences <= limits.held else "poisson"


def resample(
    score: ScoreOfTotals,
    parts: Iterable[Floats],
    systems: int,
    kind: DrawnKind,
    *,
    sentences: int,
    histogram: Histogram | None,
    resamples: int,
    rng: Seed,
    weights: Callable[[], Iterable[Floats]] | None = None,
    blocks: Iterable[Floats] | None = None,
) -> Floats:
    """Scores ``[resample, system]``; ``parts`` are the counts taken, ``[sentence, system * k]``.

    Parts may be gone through several times. ``weights`` of the sentences may be
    known already; ``blocks`` number the sentences' blocks where documents are known, in the
    same parts or others (`number_document_blocks`).
    """
    if kind == "histogram":
        assert histogram is not None
        drawn = _multinomial(histogram.times, resamples, rng)
        return _score_resamples(score, drawn, histogram.rows, systems)
    if kind == "sentences":
        rows = np.concatenate([*parts])
        known = weights() if weights else bootstrap_weights(sentences, resamples, rng)
        return _score_resamples(score, known, rows, systems)
    if kind == "blocks":
        sums = _block_sums(parts, blocks)
        return _score_resamples(score, bootstrap_weights(len(sums), resamples, rng), sums, systems)
    return _poisson(score, parts, systems, sentences, resamples, rng)


def bootstrap(score: ScoreOfTotals, picked: Sequence[Floats], weights: Iterable[Floats]) -> Floats:
    """Overall scores in bootstrap resamples of the sentences: ``[resample, system]``.

    The choice of reference stays; sums over resampled sentences are one matrix product
    of multinomial ``weights`` (in blocks of resamples) and counts.
    """
    return _score_resamples(score, weights, np.concatenate(picked, axis=1), len(picked))


def _score_resamples(
    score: ScoreOfTotals, weights: Iterable[Floats], rows: Floats, systems: int
) -> Floats:
    step = max(1, BLOCK // max(1, rows.shape[1]))  # a small corpus has many resamples a block
    totals = (
        (block[i : i + step] @ rows).reshape(-1, systems, rows.shape[1] // systems)
        for block in weights
        for i in range(0, len(block), step)
    )
    return np.concatenate([score(each) for each in totals])


def _multinomial(times: Ints, resamples: int, rng: Seed) -> Iterator[Floats]:
    """How often each distinct vector is drawn in each resample, block by block."""
    generator = resampling_generator(resamples, rng)
    total = int(times.sum())
    step = max(1, BLOCK // len(times))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        yield generator.multinomial(total, times / total, size=size).astype(np.float64)


def align_blocks(parts: Iterable[Floats], size: int = KEYED) -> Iterator[Floats]:
    """The rows of parts in blocks of ``size``, wherever the parts were cut.

    >>> [len(block) for block in align_blocks([np.zeros((5, 1)), np.zeros((2, 1))], 3)]
    [3, 3, 1]
    """
    waiting: list[Floats] = []
    held = 0
    for part in parts:
        start = 0
        while held + len(part) - start >= size:
            end = start + size - held
            yield np.concatenate([*waiting, part[start:end]])
            waiting, held, start = [], 0, end
        waiting.append(part[start:].copy())
        held += len(part) - start
    if held:
        yield np.concatenate(waiting)


@lru_cache(maxsize=1)
def _poisson_table() -> NDArray[np.uint8]:
    """The Poisson(1) weight of each of 65,536 equally likely numbers."""
    shares = np.cumsum([math.exp(-1) / math.factorial(n) for n in range(20)])
    middles = (np.arange(65536) + 0.5) / 65536
    return np.searchsorted(shares, middles).astype(np.uint8)


def _poisson_weights(key: int, block: int, start: int, resamples: int) -> Floats:
    """Weights ``[resample, sentence]`` of the sentences of one key, from a resample on."""
    outputs = KEYED // 4  # of 64 bits, four weights each; the generator makes four at a time
    philox = np.random.Philox(key=np.array([key, block], np.uint64))
    raw = philox.advance(start * outputs // 4).random_raw(resamples * outputs)
    return _poisson_table()[raw.view(np.uint16)].reshape(resamples, KEYED).astype(np.float64)


def _poisson(
    score: ScoreOfTotals,
    parts: Iterable[Floats],
    systems: int,
    sentences: int,
    resamples: int,
    rng: Seed,
) -> Floats:
    generator = resampling_generator(resamples, rng)
    seed = int(generator.integers(2**63)) if isinstance(rng, np.random.Generator) else rng
    key = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    found = []
    width = next((part.shape[1] for part in parts), systems)
    group = max(1, BLOCK // max(KEYED, width))
    for start in range(0, resamples, group):
        size = min(group, resamples - start)
        totals, drawn = np.zeros((size, width)), np.zeros(size)
        for block, rows in enumerate(align_blocks(parts)):
            weights = _poisson_weights(key, block, start, size)[:, : len(rows)]
            totals += weights @ rows
            drawn += weights.sum(axis=1)
        totals *= (sentences / np.maximum(drawn, 1.0))[:, None]
        found.append(score(totals.reshape(size, systems, width // systems)))
    return np.concatenate(found)


def number_document_blocks(documents: Sequence[str]) -> Floats:
    """The block of each sentence by its document, ``[sentence, 1]``: the same wherever it stands.

    >>> number_document_blocks(["essay 1", "essay 1", "essay 2"]).ravel().tolist()
    [4059.0, 4059.0, 1457.0]
    """
    known: dict[str, float] = {}
    for name in documents:
        if name not in known:
            digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
            known[name] = float(int.from_bytes(digest[:8], "little") % BLOCKS)
    return np.array([[known[name]] for name in documents], np.float64).reshape(-1, 1)


def _block_sums(parts: Iterable[Floats], blocks: Iterable[Floats] | None) -> Floats:
    """The sums of each block that has sentences, in the order of the blocks."""
    sums: dict[int, Floats] = {}
    documents = None if blocks is None else align_blocks(blocks)
    for number, rows in enumerate(align_blocks(parts)):
        runs = np.arange(number * KEYED, number * KEYED + len(rows)) // RUN
        place = _splitmix(runs.astype(np.uint64)) % np.uint64(BLOCKS)
        if documents is not None:
            place = next(documents)[:, 0].astype(np.uint64)
        for block, several in itertools.groupby(
            zip(place.tolist(), rows, strict=True), key=lambda pair: pair[0]
        ):
            own = np.sum([row for _, row in several], axis=0)
            sums[block] = sums[block] + own if block in sums else own
    return np.array([sums[block] for block in sorted(sums)])


def _splitmix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers spread over 64 bits, each its own (the finaliser of SplitMix64)."""
    mixed = numbers * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)), np.uint64)
