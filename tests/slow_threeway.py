"""The three-way alignment by the official recurrence and its order of steps, cell by cell."""

from collections.abc import Sequence
from itertools import product
from typing import Any

STEPS = ((1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1))


def _price(column: Sequence[object]) -> int:
    pairs = ((column[a], column[b]) for a, b in ((0, 1), (0, 2), (1, 2)))
    return sum(0 if a == b else 2 if None in (a, b) else 3 for a, b in pairs)


def align_slowly(*texts: Sequence[Any]) -> tuple[int, list[tuple[Any, ...]]]:
    """Return the cost and the columns of three texts; None stands for no word."""
    best: dict[tuple[int, ...], tuple[int, Any, tuple[Any, ...]]] = {}
    for cell in product(*(range(len(text) + 1) for text in texts)):
        found = [] if any(cell) else [(0, None, ())]
        for step in STEPS:
            before = tuple(i - d for i, d in zip(cell, step, strict=True))
            if before in best:
                at = zip(texts, before, step, strict=True)
                column = tuple(text[i] if d else None for text, i, d in at)
                found.append((best[before][0] + _price(column), before, column))
        best[cell] = min(found, key=lambda way: way[0])
    cost, before, column = best[cell]
    columns = []
    while before is not None:
        columns.append(column)
        _, before, column = best[before]
    return cost, columns[::-1]
