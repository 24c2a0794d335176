"""Rankings as columns of integers: a hundred thousand of them take a few megabytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from errata.data import Judgment
from errata.numbers import Floats

__all__ = ["Column", "RankingColumns", "ranking_columns"]

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
    for judgment in _by_time(judgments):
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
        _whole(ranks),
    )


def _whole(ranks: Sequence[int]) -> NDArray[np.int64]:
    """Ranks as numbers that can be subtracted; such as no computer word holds, by their order."""
    try:
        return np.array(ranks, np.int64)
    except OverflowError:
        order = {rank: k for k, rank in enumerate(sorted(set(ranks)))}
        return np.array([order[rank] for rank in ranks], np.int64)


def _by_time(judgments: Iterable[Judgment]) -> Sequence[Judgment]:
    given = list(judgments)
    times = [judgment.time or "" for judgment in given]
    # Told by what they look like: written alike, they sort as texts do.
    forms = {re.sub(r"\d", "0", form) for form in {time.translate(DIGITS) for time in times}}
    if len(forms) != 1 or not min(forms).startswith("0000-00-00"):
        return given
    return [given[k] for k in sorted(range(len(given)), key=times.__getitem__)]
