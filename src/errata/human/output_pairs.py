"""Rankings as columns; pairs of outputs per sentence.

Pairs are not expanded: two outputs of one sentence, each with all the systems that wrote it, and
which of them a judge put first. Expanding the systems would count one decision many times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from errata.core.parameters import require
from errata.core.stats import Floats, stable_order
from errata.data import Judgment

# ---- Rankings as columns of integers: a hundred thousand of them take a few megabytes.

DIGITS = str.maketrans("123456789", "0" * 9)
Column = NDArray[np.int32]  # half the memory of 64 bits, for millions of comparisons


@dataclass(frozen=True, eq=False)
class RankingColumns:
    """Rankings in the order of time; of each its ranked outputs in the order shown.

    Ranking i is that of ``judges[judge[i]]`` on sentence ``sentences[sentence[i]]`` and has
    ``size[i]`` entries of ``output`` and ``rank``, none where it was skipped; ``outputs`` names the
    systems that wrote each, ``seconds`` is NaN where they were not recorded.
    """

    judges: tuple[str, ...]
    sentences: tuple[int, ...]
    outputs: tuple[tuple[str, ...], ...]
    judge: Column
    sentence: Column
    seconds: Floats
    size: NDArray[np.int64]
    output: Column
    rank: NDArray[np.signedinteger]

    def __len__(self) -> int:
        return len(self.judge)

    def select(self, rows: NDArray[np.bool_]) -> RankingColumns:
        """Some of the rankings."""
        entries = np.repeat(rows, self.size)
        return RankingColumns(
            self.judges,
            self.sentences,
            self.outputs,
            self.judge[rows],
            self.sentence[rows],
            self.seconds[rows],
            self.size[rows],
            self.output[entries],
            self.rank[entries],
        )


def ranking_columns(judgments: Iterable[Judgment]) -> RankingColumns:
    """Judgments as columns, in the order of time.

    That is the order given where not all judgments say when they were made (ISO 8601).

    >>> found = ranking_columns([Judgment("ann", 7, (("B",), ("C", "A")), (1, 2))])
    >>> found.outputs, found.output.tolist(), found.rank.tolist()
    ((('B',), ('C', 'A')), [0, 1], [1, 2])
    """
    judges: dict[str, int] = {}
    outputs: dict[tuple[str, ...], int] = {}
    sentences: dict[int, int] = {}
    judge, sentence, sizes = list[int](), list[int](), list[int]()
    seconds = list[float | None]()
    shown, ranks = list[int](), list[int]()
    for judgment in _in_order_of_time(judgments):
        judge.append(judges.setdefault(judgment.judge, len(judges)))
        sentence.append(sentences.setdefault(judgment.sentence, len(sentences)))
        seconds.append(judgment.seconds)
        before = len(ranks)
        for group, rank in zip(judgment.groups, judgment.ranks, strict=True):
            if rank is not None:
                shown.append(outputs.setdefault(group, len(outputs)))
                ranks.append(rank)
        sizes.append(len(ranks) - before)
    return RankingColumns(
        tuple(judges),
        tuple(sentences),
        tuple(outputs),
        np.array(judge, np.int32),
        np.array(sentence, np.int32),
        np.array([np.nan if each is None else each for each in seconds], np.float64),
        np.array(sizes, np.int64),
        np.array(shown, np.int32),
        _integer_ranks(ranks),
    )


def _integer_ranks(ranks: Sequence[int]) -> NDArray[np.int64]:
    """Ranks as numbers that can be subtracted; such as no computer word holds, by their order."""
    try:
        return np.array(ranks, np.int64)
    except OverflowError:
        order = {rank: k for k, rank in enumerate(sorted(set(ranks)))}
        return np.array([order[rank] for rank in ranks], np.int64)


def _in_order_of_time(judgments: Iterable[Judgment]) -> Sequence[Judgment]:
    given = list(judgments)
    times = [judgment.time or "" for judgment in given]
    # Told by what they look like: written alike, they sort as texts do.
    forms = {re.sub(r"\d", "0", form) for form in {time.translate(DIGITS) for time in times}}
    if len(forms) != 1 or not min(forms).startswith("0000-00-00"):
        return given
    return [given[k] for k in sorted(range(len(given)), key=times.__getitem__)]


Orientation = Literal["consistent", "presented"]
BATCH = 20_000  # rankings whose pairs are made at a time


@dataclass(frozen=True, eq=False)
class OutputPairs:
    """Decisions about two outputs of a sentence: ``outcome[i]`` is -1, 0 or 1.

    ``keys[key[i]]`` is (sentence, output, output), outputs named by their systems; 1 says that
    the first of them is better. Keys are kept as numbers: row k of ``codes`` has key k's numbers
    in ``sentences`` and twice in ``names``.
    """

    judges: tuple[str, ...]
    sentences: tuple[int, ...]
    names: tuple[str, ...]
    codes: NDArray[np.int32]
    judge: NDArray[np.int32]
    key: NDArray[np.int32]
    outcome: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.key)

    @cached_property
    def keys(self) -> tuple[tuple[int, str, str], ...]:
        """The sentence and the two outputs of every key, written out."""
        sentences, names = self.sentences, self.names
        return tuple((sentences[s], names[a], names[b]) for s, a, b in self.codes.tolist())

    def select(self, rows: NDArray[np.bool_]) -> OutputPairs:
        """Some of the decisions."""
        return replace(self, judge=self.judge[rows], key=self.key[rows], outcome=self.outcome[rows])

    @cached_property
    def decided_again(self) -> OutputPairs:
        """The decisions on outputs that were decided on several times, which alone can agree."""
        often = np.bincount(self.key, minlength=len(self.codes)) > 1
        some = self.select(often[self.key])
        number = np.cumsum(often, dtype=np.int32) - 1
        return replace(some, codes=some.codes[often], key=number[some.key])

    @cached_property
    def first(self) -> OutputPairs:
        """Of each judge the first decision on a pair of outputs."""
        both = self.key.astype(np.int64) * (len(self.judges) + 1) + self.judge
        order = stable_order(both)
        rows = np.zeros(len(self), bool)
        rows[order[np.diff(both[order], prepend=-1) > 0]] = True
        return self.select(rows)

    def tallies(self) -> Floats:
        """How often each outcome was given per key, all judges together: ``[key, outcome]``."""
        place = self.key.astype(np.int64) * 3 + self.outcome + 1
        return np.bincount(place, minlength=3 * len(self.codes)).reshape(-1, 3).astype(np.float64)


def output_pairs(
    judgments: Iterable[Judgment] | RankingColumns, *, orientation: Orientation = "consistent"
) -> OutputPairs:
    """Every pair of ranked outputs in every judgment, in the order of time (`RankingColumns`).

    The two outputs of a key are in alphabetical order of their systems. With
    ``orientation="presented"`` the outcome refers to the order in which they were shown although
    the key does not, a slip of computeIAA.py (Sakaguchi et al. 2016) that its published figures
    need.

    >>> found = output_pairs([Judgment("ann", 7, (("B",), ("C", "A")), (1, 2))])
    >>> found.keys, found.outcome.tolist()
    (((7, 'A C', 'B'),), [-1])
    """
    require("orientation", orientation, Orientation)
    given = judgments if isinstance(judgments, RankingColumns) else ranking_columns(judgments)
    written = [" ".join(sorted(group)) for group in given.outputs]
    names = tuple(sorted(set(written)))
    number = {name: k for k, name in enumerate(names)}
    place = np.array([number[name] for name in written], np.int64)
    many = max(1, len(names))
    ends = np.concatenate(([0], np.cumsum(given.size)))
    parts = []
    for start in range(0, len(given), BATCH):  # few at a time: a stored pair is small
        stop = min(len(given), start + BATCH)
        entries = slice(ends[start], ends[stop])
        row, left, right = pairs_in_blocks(given.size[start:stop])
        rank, output = given.rank[entries], place[given.output[entries]]
        outcome = (rank[right] > rank[left]).astype(np.int8) - (rank[right] < rank[left])
        a, b = output[left], output[right]
        if orientation == "consistent":
            outcome[a > b] *= -1
        row += start
        code = given.sentence[row].astype(np.int64) * many + np.minimum(a, b)
        parts.append((given.judge[row], code * many + np.maximum(a, b), outcome.astype(np.int8)))
    judge, said, outcome = (
        np.concatenate([part[k] for part in parts]) if parts else np.zeros(0, kind)
        for k, kind in enumerate((np.int32, np.int64, np.int8))
    )
    del parts
    said, key = _in_order_of_appearance(said)
    rest, b = np.divmod(said, many)
    codes = np.stack([*np.divmod(rest, many), b], axis=1).astype(np.int32)
    return OutputPairs(given.judges, given.sentences, names, codes, judge, key, outcome)


def pairs_in_blocks(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """All pairs of entries within each block of these sizes: block, left and right entry.

    >>> [column.tolist() for column in pairs_in_blocks(np.array([3, 1, 2]))]
    [[0, 0, 0, 2], [0, 0, 1, 4], [1, 2, 2, 5]]
    """
    starts = np.cumsum(sizes) - sizes
    many = sizes * (sizes - 1) // 2
    offsets = np.cumsum(many) - many
    row, left, right = (np.empty(int(many.sum()), np.int64) for _ in range(3))
    for size in np.unique(sizes[sizes > 1]):
        blocks = np.flatnonzero(sizes == size)
        i, j = np.triu_indices(int(size), 1)
        place = offsets[blocks, None] + np.arange(len(i))
        row[place], left[place], right[place] = (
            blocks[:, None],
            starts[blocks, None] + i,
            starts[blocks, None] + j,
        )
    return row, left, right


def _in_order_of_appearance(
    codes: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The distinct codes in the order of their first appearance, and the number of each row."""
    by_code = stable_order(codes)
    new = np.diff(codes[by_code], prepend=-1) > 0  # codes are no less than 0
    first = by_code[new]  # of equal ones the first, since the sort is stable
    order = stable_order(first)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    number = np.empty(len(codes), np.int32)
    number[by_code] = place[np.cumsum(new, dtype=np.int32) - 1]
    return codes[first[order]], number
