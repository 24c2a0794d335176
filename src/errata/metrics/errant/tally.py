"""Edits compared by span, correction and kind, as ERRANT compares them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from errata.data import Edit
from errata.numbers import Floats

__all__ = ["FN", "FP", "TP", "Keyed", "Tables", "is_kind", "keys_of", "summed", "tally"]

TP, FP, FN = range(3)  # where the statistics stand
Keyed = dict[Hashable, list[str]]
Tables = list[list[dict[str, list[int]]]]  # [TP, FP, FN] by kind, of every sentence and reference


def is_kind(kind: str, name: str) -> bool:
    """Whether a kind goes by this name: in full, without the operation, or as operation only."""
    return name in (kind, kind[2:]) or (len(name) == 2 and name[1] == ":" and kind[:2] == name)


def keys_of(edit: Edit, text: str, mode: str, *, alternatives: bool) -> list[tuple[Hashable, ...]]:
    """What is compared of an edit: its span, its tokens, or its span and correction."""
    if mode == "detection":
        return [(edit.start, edit.end)]
    if mode == "token_detection":  # an insertion belongs to the token on its right
        return [(k, k + 1) for k in range(edit.start, max(edit.end, edit.start + 1))]
    if alternatives and edit.alternatives:
        return [(edit.start, edit.end, frozenset(edit.replacements))]
    return [(edit.start, edit.end, text)]


def summed(tables: Sequence[Sequence[dict[str, list[int]]]]) -> Floats:
    """TP, FP and FN over all kinds, ``[sentence, reference, k]``; NaN where there is none."""
    counts = np.full((len(tables), max([1, *map(len, tables)]), 3), np.nan)
    for i, several in enumerate(tables):
        for r, table in enumerate(several):
            counts[i, r] = np.sum(list(table.values()), axis=0) if table else 0.0
    return counts


def tally(proposed: Keyed, gold: Keyed) -> dict[str, list[int]]:
    """[TP, FP, FN] by kind: the gold kind where an edit is right, its own elsewhere."""
    several = {
        (k[0], k[1], text, *k[3:]): k
        for k in gold
        if isinstance(k, tuple) and len(k) > 2 and isinstance(k[2], frozenset)
        for text in k[2]
    }
    table: dict[str, list[int]] = {}

    def add(kinds: Iterable[str], column: int) -> None:
        for kind in kinds:
            table.setdefault(kind, [0, 0, 0])[column] += 1

    hit = set()
    for key, kinds in proposed.items():
        match = several.get(key, key)  # type: ignore[call-overload]
        if match in gold and match not in hit:
            add(gold[match], TP)
            hit.add(match)
        else:
            add(kinds, FP)
    for key, kinds in gold.items():
        if key not in hit:
            add(kinds, FN)
    return table
