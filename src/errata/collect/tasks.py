"""What a judge is shown: texts in marked segments, outputs under letters, edits under numbers.

Nothing here says which system wrote what, what an item is for, or what is expected; tasks of all
purposes have the same fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from errata.collect.design import Design
from errata.collect.items import shown_edits
from errata.edits import extract_all

__all__ = ["Shown", "drawn_order", "letters_of", "marked", "task_of"]

LETTERS = "ABCDEFGHI"
Segment = list[str]  # [kind, text]; the kinds are same, ins, del, old and new


class Shown(NamedTuple):
    """What an assignment shows: outputs in the order shown, context and instruction."""

    source: str
    outputs: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    instruction: str = ""
    reference: str = ""


def letters_of(many: int) -> tuple[str, ...]:
    """The letters of outputs, in the order shown.

    >>> letters_of(3)
    ('A', 'B', 'C')
    """
    return tuple(LETTERS[:many]) if many <= len(LETTERS) else tuple(f"O{k}" for k in range(many))


def drawn_order(many: int, rng: np.random.Generator) -> tuple[int, ...]:
    """The order in which the outputs of an item are shown to one judge: a random one."""
    return tuple(rng.permutation(many).tolist())


def marked(source: str, outputs: Sequence[str]) -> list[list[Segment]]:
    """Each output as segments: what is the same, inserted, deleted, and changed (old, then new).

    The text of an output is its ``same``, ``ins`` and ``new`` segments, joined by blanks.

    >>> marked("He go to home .", ["He goes home ."])[0]
    [['same', 'He'], ['old', 'go'], ['new', 'goes'], ['del', 'to'], ['same', 'home .']]
    """
    tokens = source.split()
    found = []
    for edits in extract_all([source] * len(outputs), list(outputs)):
        segments: list[Segment] = []
        position = 0
        for edit in edits:
            if edit.start > position:
                segments.append(["same", " ".join(tokens[position : edit.start])])
            old, new = " ".join(tokens[edit.start : edit.end]), edit.replacement
            if old:
                segments.append(["old" if new else "del", old])
            if new:
                segments.append(["new" if old else "ins", new])
            position = edit.end
        if position < len(tokens):
            segments.append(["same", " ".join(tokens[position:])])
        found.append(segments)
    return found


def task_of(design: Design, shown: Shown) -> dict[str, Any]:
    """The part of a task that depends on its texts, as the API sends it."""
    task: dict[str, Any] = {
        "kind": design.kind,
        "source": shown.source,
        "before": list(shown.before),
        "after": list(shown.after),
    }
    if design.show_reference:
        task["reference"] = marked(shown.source, [shown.reference])[0]
    if design.kind == "correct":
        return task | {"instruction": shown.instruction, "outputs": []}
    if design.kind == "edits":
        tokens = shown.source.split()
        edits = shown_edits(shown.source, shown.outputs)
        return task | {
            "outputs": [],
            "edits": [
                {
                    "key": str(number),
                    "start": start,
                    "end": end,
                    "old": " ".join(tokens[start:end]),
                    "new": replacement,
                }
                for number, (start, end, replacement, _) in enumerate(edits, 1)
            ],
        }
    keys = letters_of(len(shown.outputs))
    segments = marked(shown.source, shown.outputs)
    return task | {
        "outputs": [
            {"key": key, "segments": each} for key, each in zip(keys, segments, strict=True)
        ]
    }
