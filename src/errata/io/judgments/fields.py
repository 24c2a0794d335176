"""Checks that the readers of judgments share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from errata.errors import InputError

__all__ = ["is_duration", "unique_columns"]

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
