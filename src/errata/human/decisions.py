"""What judges decided: which of two outputs of a sentence is better.

Pairs are not expanded: two outputs of one sentence, each with all the systems that wrote it, and
which of them a judge put first. Expanding the systems would count one decision many times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from errata.data import Judgment
from errata.numbers import Floats
from errata.parameters import require

__all__ = ["Orientation", "OutputPairs", "output_pairs", "pairs_in_blocks"]

Orientation = Literal["consistent", "presented"]
DIGITS = str.maketrans("123456789", "0" * 9)


@dataclass(frozen=True, eq=False)
class OutputPairs:
    """Decisions about two outputs of a sentence: ``outcome[i]`` is -1, 0 or 1.

    ``keys[key[i]]`` is (sentence, output, output), outputs named by their systems; 1 says that
    the first of them is better.
    """

    judges: tuple[str, ...]
    keys: tuple[tuple[int, str, str], ...]
    judge: NDArray[np.int64]
    key: NDArray[np.int64]
    outcome: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.key)

    def select(self, rows: NDArray[np.bool_]) -> OutputPairs:
        """Some of the decisions."""
        return OutputPairs(
            self.judges, self.keys, self.judge[rows], self.key[rows], self.outcome[rows]
        )

    def first(self) -> OutputPairs:
        """Of each judge the first decision on a pair of outputs."""
        both = self.key * (len(self.judges) + 1) + self.judge
        rows = np.zeros(len(self), bool)
        rows[np.unique(both, return_index=True)[1]] = True
        return self.select(rows)

    def tallies(self) -> Floats:
        """How often each outcome was given per key, all judges together: ``[key, outcome]``."""
        return (
            np.bincount(self.key * 3 + self.outcome + 1, minlength=3 * len(self.keys))
            .reshape(-1, 3)
            .astype(np.float64)
        )


def output_pairs(
    judgments: Iterable[Judgment], *, orientation: Orientation = "consistent"
) -> OutputPairs:
    """Every pair of ranked outputs in every judgment, in the order of time.

    That is the order of the file where not all judgments say when they were made (ISO 8601).
    The two outputs of a key stand in alphabetical order of their systems. With
    ``orientation="presented"`` the outcome refers to the order in which they were shown although
    the key does not, a slip of computeIAA.py (Sakaguchi et al. 2016) that its published figures
    need.

    >>> found = output_pairs([Judgment("ann", 7, (("B",), ("C", "A")), (1, 2))])
    >>> found.keys, found.outcome.tolist()
    (((7, 'A C', 'B'),), [-1])
    """
    require("orientation", orientation, Orientation)
    judges: dict[str, int] = {}
    names: dict[str, int] = {}
    known: dict[tuple[str, ...], int] = {}
    sentences: dict[int, int] = {}
    judge, sentence, sizes = list[int](), list[int](), list[int]()
    outputs, ranks = list[int](), list[int]()
    for judgment in _by_time(judgments):
        judge.append(judges.setdefault(judgment.judge, len(judges)))
        sentence.append(sentences.setdefault(judgment.sentence, len(sentences)))
        before = len(ranks)
        for group, rank in zip(judgment.groups, judgment.ranks, strict=True):
            if rank is not None:
                if group not in known:
                    known[group] = names.setdefault(" ".join(sorted(group)), len(names))
                outputs.append(known[group])
                ranks.append(rank)
        sizes.append(len(ranks) - before)
    row, left, right = pairs_in_blocks(np.array(sizes, np.int64))
    rank_, output = _whole(ranks), np.array(outputs, np.int64)
    outcome = np.sign(rank_[right] - rank_[left])
    ordered = sorted(names)
    place = np.zeros(len(names), np.int64)
    place[[names[name] for name in ordered]] = np.arange(len(names))
    a, b = place[output[left]], place[output[right]]
    turned = a > b
    if orientation == "consistent":
        outcome = np.where(turned, -outcome, outcome)
    a, b = np.where(turned, b, a), np.where(turned, a, b)
    many = max(1, len(names))
    said, key = _as_they_came((np.array(sentence, np.int64)[row] * many + a) * many + b)
    rest, b = np.divmod(said, many)
    which, a = np.divmod(rest, many)
    numbers = list(sentences)
    keys = tuple(
        (numbers[s], ordered[x], ordered[y])
        for s, x, y in zip(which.tolist(), a.tolist(), b.tolist(), strict=True)
    )
    return OutputPairs(tuple(judges), keys, np.array(judge, np.int64)[row], key, outcome)


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


def _whole(ranks: Sequence[int]) -> NDArray[np.int64]:
    """Ranks as numbers that can be subtracted; such as no computer word holds, by their order."""
    try:
        return np.array(ranks, np.int64)
    except OverflowError:
        order = {rank: k for k, rank in enumerate(sorted(set(ranks)))}
        return np.array([order[rank] for rank in ranks], np.int64)


def _as_they_came(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct codes in the order of their first appearance, and the number of each row."""
    distinct, first, number = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return distinct[order], place[number.reshape(-1)]


def _by_time(judgments: Iterable[Judgment]) -> Sequence[Judgment]:
    given = list(judgments)
    times = [judgment.time or "" for judgment in given]
    # Told by what they look like: written alike, they sort as texts do.
    forms = {re.sub(r"\d", "0", form) for form in {time.translate(DIGITS) for time in times}}
    if len(forms) != 1 or not min(forms).startswith("0000-00-00"):
        return given
    return [given[k] for k in sorted(range(len(given)), key=times.__getitem__)]
