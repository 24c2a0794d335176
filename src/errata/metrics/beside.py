"""Files that metrics read beside the corpus: where one of them changes, numbers do."""

from __future__ import annotations

from functools import singledispatch

__all__ = ["files_beside"]


@singledispatch
def files_beside(metric: object) -> tuple[str, ...]:
    """The files that a metric reads beside the corpus and the outputs.

    Almost all metrics read none; others register what they read:
    ``@files_beside.register(Difficulty)``.

    >>> from errata.metrics import parse
    >>> files_beside(parse("m2")), files_beside(parse("difficulty(weights='n.txt')"))
    ((), ('n.txt',))
    """
    return ()
