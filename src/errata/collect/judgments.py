"""Stored answers as the nouns that rankers and agreement read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from errata.collect.answers import pair_ranks
from errata.collect.items import letters_of
from errata.data import Judgment


class StoredAnswer(NamedTuple):
    """The last revision of an assignment of a ranking or a pair, outputs in the order shown."""

    item: str
    judge: str
    sentence: int
    systems: tuple[tuple[str, ...], ...]
    answer: Any
    skip: str | None
    active_ms: int | None
    time: str | None


def item_name(sentence: int, item: int, origin: int | None = None) -> str:
    """The name of an item in exports; a repeat has its origin's name and ``#2``.

    >>> item_name(23, 7), item_name(23, 90, 7)
    ('s23.7', 's23.7#2')
    """
    return f"s{sentence}.{item}" if origin is None else f"s{sentence}.{origin}#2"


def shown_ranks(answer: Any, many: int) -> tuple[int, ...]:
    """The rank of each output in the order shown, of a ranking or a pair.

    >>> shown_ranks({"A": 2, "B": 1}, 2), shown_ranks("equal", 2)
    ((2, 1), (1, 1))
    """
    if isinstance(answer, str):
        return pair_ranks(answer)
    return tuple(answer[key] for key in letters_of(many))


def to_judgment(stored: StoredAnswer) -> Judgment:
    """A stored ranking or pair as a `Judgment`; what was skipped has no ranks.

    >>> stored = StoredAnswer("s0.1", "j1", 0, (("B",), ("A", "C")), {"A": 1, "B": 2}, None, 9, "t")
    >>> to_judgment(stored).ranks, to_judgment(stored).seconds
    ((1, 2), 0.009)
    """
    many = len(stored.systems)
    ranks: Sequence[int | None] = [None] * many
    if stored.skip is None:
        ranks = shown_ranks(stored.answer, many)
    return Judgment(
        stored.judge,
        stored.sentence,
        stored.systems,
        tuple(ranks),
        stored.item,
        None if stored.active_ms is None else stored.active_ms / 1000,
        stored.time,
    )
