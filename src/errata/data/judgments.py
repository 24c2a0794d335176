"""Rankings of outputs by people, and the systems that wrote each output."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from errata.core.errors import InputError
from errata.core.stats import Seed

Members = Literal["all", "sample", "expected"]
MemberOrder = Literal["name", "given"]


class Entry(NamedTuple):
    """A system in a ranking: its rank, the number of its output, and how much it counts."""

    system: str
    rank: int
    group: int
    weight: float


@dataclass(frozen=True, slots=True)
class Judgment:
    """One annotator's ranking of some systems on one sentence (0-based); rank 1 is best.

    ``groups[g]`` names the systems that share one output text, ``ranks[g]`` is its rank; equal
    ranks are ties, ``None`` says that the output was shown but not ranked. An item that was
    skipped has no groups.
    """

    judge: str
    sentence: int
    groups: tuple[tuple[str, ...], ...]
    ranks: tuple[int | None, ...]
    item: str = ""
    seconds: float | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        if len(self.groups) != len(self.ranks):
            raise InputError(
                f"judgment {self.item or '?'} of {self.judge}: {len(self.groups)} "
                f"groups but {len(self.ranks)} ranks"
            )
        names = [name for group in self.groups for name in group]
        if len(set(names)) < len(names) or not all(self.groups):
            raise InputError(
                f"judgment {self.item or '?'} of {self.judge}: a system is named "
                "twice, or a group is empty"
            )
        if any(rank is not None and rank < 1 for rank in self.ranks):
            raise InputError(f"judgment {self.item or '?'} of {self.judge}: ranks start at 1")

    def without(self, *systems: str) -> Judgment:
        """The judgment as if these systems had never been shown: an output that only they wrote
        is gone, the rank of one that others wrote too stays.

        >>> ranking = Judgment("ann", 0, (("A", "B"), ("C",)), (2, 1))
        >>> ranking.without("A", "C").groups, ranking.without("A", "C").ranks
        ((('B',),), (2,))
        """
        left = [
            (rest, rank)
            for group, rank in zip(self.groups, self.ranks, strict=True)
            if (rest := tuple(name for name in group if name not in systems))
        ]
        return replace(
            self, groups=tuple(group for group, _ in left), ranks=tuple(rank for _, rank in left)
        )

    def entries(
        self, members: Members = "all", order: MemberOrder = "given", draw: MemberDraw | None = None
    ) -> list[Entry]:
        """The systems that were ranked: output by output, or in the order of their names.

        Of the ``members`` of a shared output speak ``"all"``, one drawn at random
        (``"sample"``), or all with the weight that makes them one (``"expected"``).

        >>> Judgment("ann", 0, (("A", "B"), ("C",)), (2, 1)).entries("expected")[0]
        Entry(system='A', rank=2, group=0, weight=0.5)
        """
        found: list[Entry] = []
        speakers: Sequence[Sequence[str]] = self.groups
        if members == "sample":
            assert draw is not None, "a sample needs a draw"
            speakers = [[name] for name in draw.speakers(self)]
        for g, (group, rank) in enumerate(zip(speakers, self.ranks, strict=True)):
            if rank is not None:
                weight = 1 / len(group) if members == "expected" else 1.0
                found += [Entry(name, rank, g, weight) for name in group]
        return sorted(found) if order == "name" else found


class MemberDraw:
    """Draws the one system that speaks for each output of a judgment.

    The draw depends on the seed and on what the judgment says, not on its place in a
    file: judgments in another order draw alike. Judgments that say the very same are counted, so
    that each draws for itself.

    >>> ranking = Judgment("ann", 0, (("A", "B"), ("C",)), (1, 2))
    >>> MemberDraw(0).speakers(ranking) == MemberDraw(0).speakers(ranking)
    True
    """

    def __init__(self, rng: Seed) -> None:
        self._salt = int(np.random.default_rng(rng).integers(2**63))
        self._seen: Counter[bytes] = Counter()

    def speakers(self, judgment: Judgment) -> tuple[str, ...]:
        """The name of the system that speaks for each output, in the order of the outputs."""
        groups = [sorted(group) for group in judgment.groups]
        said = sorted(zip(groups, map(str, judgment.ranks), strict=True))
        content = self._digest(self._salt, judgment.judge, judgment.sentence, judgment.item, said)
        copy = self._seen[content]
        self._seen[content] += 1
        return tuple(
            group[int.from_bytes(self._digest(content, copy, group), "big") % len(group)]
            for group in groups
        )

    @staticmethod
    def _digest(*content: object) -> bytes:
        text = repr(content).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=8).digest()
