"""Checks that the readers of judgments share."""

from __future__ import annotations

import difflib
import warnings
from collections import Counter
from collections.abc import Iterable

from errata.errors import DataWarning, InputError

__all__ = ["UnknownWords", "is_duration", "unique_columns"]

CLOSE = 0.8  # how alike two words must be to be taken for one: a letter in ten
LONGEST_TIME = 1e9  # seconds; some thirty years


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


class UnknownWords:
    """Words of a file that nobody reads: a slip of the pen is refused, others are said once.

    >>> UnknownWords("x.xml").meet("attribute", "skiped", ("skipped", "user"), 3)
    Traceback (most recent call last):
    errata.errors.InputError: x.xml:3: unknown attribute 'skiped'; did you mean 'skipped'?
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._met: dict[str, int] = {}

    def meet(self, what: str, word: str, known: Iterable[str], line: int) -> None:
        """Note a word that is none of those known; refuse it where it resembles one of them."""
        shown = f"{what} {word[:60]!r}"
        if shown in self._met:
            return
        spelt = {one.casefold(): one for one in known}
        close = difflib.get_close_matches(word[:60].casefold(), spelt, 1, CLOSE)
        if close:
            raise InputError(
                f"unknown {shown}",
                path=self.name,
                line=line,
                remedy=f"did you mean {spelt[close[0]]!r}?",
            )
        if len(self._met) < 20:
            self._met[shown] = line

    def warn(self) -> None:
        """Say what was not read."""
        if self._met:
            line = next(iter(self._met.values()))
            warnings.warn(
                f"{self.name}:{line}: not read: {', '.join(self._met)}; remove it, or check how "
                "it is spelt",
                DataWarning,
                stacklevel=3,
            )
