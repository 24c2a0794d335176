"""Checks that the readers of judgments share."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable

from errata.data import Judgment
from errata.errors import DataWarning, InputError

__all__ = ["Repeats", "is_duration", "unique_columns"]

LONGEST_TIME = 1e9  # seconds; some thirty years
REMEMBERED = 200_000  # items known by name, so that a file of any size takes little memory


def is_duration(seconds: float) -> bool:
    """Whether this can be a time that somebody took: not negative, for ever or NaN."""
    return 0 <= seconds < LONGEST_TIME


def unique_columns(titles: Iterable[str], name: str) -> None:
    """Refuse a CSV file with two columns of the same title."""
    twice = [title for title, count in Counter(titles).items() if count > 1 and title.strip()]
    if twice:
        raise InputError(
            f"two columns {', '.join(twice)}", path=name, line=1, remedy="remove one of them"
        )


class Repeats:
    """Remembers the items a file has named, to say which of them stand there twice.

    Judges may well rank a sentence again, but then as another item; the same item of the same
    judge twice is a file put together wrongly. The first `REMEMBERED` items are looked for.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._seen: set[int] = set()
        self._first = ""
        self._count = 0

    def see(self, judgment: Judgment, line: int) -> None:
        """Note an item; items without a name are never the same."""
        if not judgment.item:
            return
        key = hash((judgment.judge, judgment.sentence, judgment.item))
        if key in self._seen:
            self.repeated(judgment.judge, judgment.item, line)
        elif len(self._seen) < REMEMBERED:
            self._seen.add(key)

    def repeated(self, judge: str, item: str, line: int) -> None:
        """Note that an item stands there again."""
        self._first = self._first or f"{self.name}:{line}: item {item!r} of {judge}"
        self._count += 1

    def warn(self) -> None:
        """Say what was found."""
        if self._count:
            more = f" (and {self._count - 1} more)" if self._count > 1 else ""
            warnings.warn(
                f"{self._first} stands there twice{more}; each time counts. Remove one, "
                "or name the items apart if both were judged",
                DataWarning,
                stacklevel=3,
            )
