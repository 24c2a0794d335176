"""Sentences left out by number: ``3,7-9``, or a file with a number or a range a line.

Sentences are counted from 1 here, as Errata prints them and as files have their lines, whatever
the numbers in a file of judgments begin with.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from errata.data import Judgment
from errata.errors import InputError
from errata.io.files import PathLike, read_lines, shown_name
from errata.io.whole_numbers import whole_number

__all__ = ["NumberRange", "Skipped", "read_skipped", "skip_fact", "skip_judgments"]

LISTED = 20  # ranges that a signature names; of more it has the number and a digest
_RANGES = re.compile(r"[\d\s,-]*\d[\d\s,-]*", re.ASCII)


class NumberRange(NamedTuple):
    """Sentences from ``first`` to ``last``, counted from 1, and the line they stand in."""

    first: int
    last: int
    line: int | None = None


@dataclass(frozen=True)
class Skipped:
    """The sentences to be left out, as they were asked for; ``path`` is the file, if it was one.

    >>> skipped = read_skipped("3,7-9")
    >>> skipped.positions(12), skipped.holds(6), skipped.before(9)
    ((2, 6, 7, 8), True, 4)
    """

    ranges: tuple[NumberRange, ...]
    path: str | None = None

    def positions(self, size: int) -> tuple[int, ...]:
        """The places, from 0, of the sentences in a text of ``size``; others are refused."""
        for first, last, line in self.ranges:
            if last > size:
                raise InputError(
                    f"there is no sentence {max(first, size + 1)} to leave out: "
                    f"the text has {size}",
                    path=self.path,
                    line=line,
                    remedy=f"sentences count from 1 to {size}",
                )
        return tuple(i for first, last in _merged(self.ranges) for i in range(first - 1, last))

    def holds(self, position: int) -> bool:
        """Whether the sentence at this place, from 0, is left out."""
        return any(first <= position + 1 <= last for first, last, _ in self.ranges)

    def before(self, position: int) -> int:
        """How many of the sentences before this place are left out."""
        return sum(
            min(last, position) - first + 1
            for first, last in _merged(self.ranges)
            if first <= position
        )

    @property
    def fact(self) -> str:
        """What a signature says of them."""
        return _fact(_merged(self.ranges))


def read_skipped(given: PathLike) -> Skipped:
    """Read sentence numbers: ``3,7-9``, or the name of a file with one or a range a line.

    In a file ``#`` begins a comment. What looks like numbers is no file (``./3`` is).
    """
    text = str(given)
    if not text.strip() or _RANGES.fullmatch(text):
        return Skipped(tuple(_ranges(text, None, None)))
    path = shown_name(given)
    ranges: list[NumberRange] = []
    for number, line in enumerate(read_lines(given)[0], 1):
        said = line.partition("#")[0].strip()
        if said:
            ranges += _ranges(said, path, number)
    if not ranges:
        raise InputError(
            "no sentence is named", path=path, remedy="write a number or a range (7-9) a line"
        )
    return Skipped(tuple(ranges), path)


def _ranges(text: str, path: str | None, line: int | None) -> Iterator[NumberRange]:
    for word in text.split(","):
        first, dash, last = word.partition("-")
        low = whole_number(first, 1)
        high = whole_number(last, 1) if dash else low
        if low is None or high is None or low > high:
            raise InputError(
                f"cannot read {word.strip()[:40]!r} as sentences to leave out",
                path=path,
                line=line,
                remedy="write numbers and ranges as in 3,7-9, counting from 1",
            )
        yield NumberRange(low, high, line)


def _merged(ranges: Iterable[NumberRange]) -> list[tuple[int, int]]:
    """The ranges in order, joined where they touch: every sentence is in one."""
    merged: list[tuple[int, int]] = []
    for first, last, _ in sorted(ranges, key=lambda each: each[:2]):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def skip_fact(skipped: Sequence[int]) -> tuple[str, ...]:
    """What a signature says of sentences left out (from 0): their numbers from 1, if any.

    >>> skip_fact((2, 6, 7, 8)), skip_fact(())
    (('skip_sentences:3,7-9',), ())
    """
    if not skipped:
        return ()
    return (_fact(_merged([NumberRange(i + 1, i + 1) for i in skipped])),)


def _fact(merged: Sequence[tuple[int, int]]) -> str:
    text = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in merged)
    if len(merged) > LISTED:
        count = sum(last - first + 1 for first, last in merged)
        text = f"{count} @{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return f"skip_sentences:{text}"


def skip_judgments(judgments: Iterable[Judgment], skipped: Skipped) -> Iterator[Judgment]:
    """The judgments on the other sentences, which are counted as if these had never been.

    >>> said = [Judgment("ann", i, (("A",), ("B",)), (1, 2)) for i in range(4)]
    >>> [judgment.sentence for judgment in skip_judgments(said, read_skipped("2"))]
    [0, 1, 2]
    """
    places: dict[int, int | None] = {}
    for judgment in judgments:
        place = judgment.sentence
        if place not in places:
            places[place] = None if skipped.holds(place) else place - skipped.before(place)
        now = places[place]
        if now is not None:
            yield judgment if now == place else replace(judgment, sentence=now)
