"""Edits compared by span, correction and kind, as ERRANT compares them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from errata.data import Edit
from errata.numbers import Floats

__all__ = ["FN", "FP", "TP", "Keyed", "Tables", "is_kind", "keys_of", "matched", "summed", "tally"]

TP, FP, FN = range(3)  # where the statistics stand
Keyed = dict[Hashable, list[Edit]]  # edits by what is compared of them
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
            counts[i, r] = [sum(column) for column in zip(*table.values(), strict=True)] or 0.0
    return counts


def matched(
    proposed: Keyed, gold: Keyed, *, alternatives: bool = True
) -> tuple[list[tuple[Edit, Edit | None]], list[Edit]]:
    """Every gold edit with the proposed one that is the same, or None; and the proposed others.

    Gold edits come in the order of the file, whatever was proposed. One proposal meets one gold
    edit (or those that stand for it twice in the file); of two for one the second is needless.
    Without ``alternatives`` no gold edit is known to have several corrections.
    """
    several = {
        (k[0], k[1], text, *k[3:]): k
        for k in (gold if alternatives else ())
        if isinstance(k, tuple) and len(k) > 2 and isinstance(k[2], frozenset)
        for text in k[2]
    }
    met: dict[Hashable, Edit] = {}
    needless: list[Edit] = []
    for key, edits in proposed.items():
        match = several.get(key, key)  # type: ignore[call-overload]
        if match in gold and match not in met:
            met[match] = edits[0]
        else:
            needless += edits
    return [(edit, met.get(key)) for key, edits in gold.items() for edit in edits], needless


def tally(proposed: Keyed, gold: Keyed, *, alternatives: bool = True) -> dict[str, list[int]]:
    """[TP, FP, FN] by kind: the gold kind where an edit is right, its own elsewhere."""
    table: dict[str, list[int]] = {}
    asked, needless = matched(proposed, gold, alternatives=alternatives)
    for edit, made in asked:
        table.setdefault(edit.kind, [0, 0, 0])[FN if made is None else TP] += 1
    for edit in needless:
        table.setdefault(edit.kind, [0, 0, 0])[FP] += 1
    return table
