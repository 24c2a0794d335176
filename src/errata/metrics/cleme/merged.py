"""One sentence cut at the edits of an output and of all references at once.

Spans of edits that overlap or touch become one chunk; what lies between chunks is unchanged in all
texts. A text changes a chunk if it has an edit in it, and two texts agree on it if they have the
same words there (Ye et al. 2023).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from errata.data import Edit, Reference

__all__ = ["MergedChunk", "merged_chunks", "spoken_for"]


class MergedChunk(NamedTuple):
    """What the source has there, and each text: the output first, then the references.

    ``words`` are the tokens of a text, ``changed`` says whether it has an edit there.
    """

    start: int
    length: int
    words: tuple[tuple[str, ...], ...]
    changed: tuple[bool, ...]

    @property
    def size(self) -> int:
        """The longer of source and output, in tokens."""
        return max(self.length, len(self.words[0]))


def spoken_for(references: Sequence[Reference], source: str) -> list[int]:
    """The references that count: those that delete every word do not, unless all do."""
    left = [k for k, each in enumerate(references) if each.corrected(source).strip()]
    return left or list(range(len(references)))


def merged_chunks(
    source: Sequence[str], texts: Sequence[Iterable[Edit]]
) -> tuple[list[MergedChunk], int]:
    """The chunks that some text changes, and the number of stretches between them.

    >>> chunks, between = merged_chunks(
    ...     "He go to home".split(), [[Edit(1, 2, "goes")], [Edit(1, 2, "went"), Edit(2, 3, "")]]
    ... )
    >>> chunks[0].words, between
    ((('goes', 'to'), ('went',)), 2)
    """
    ordered = [sorted(edits, key=lambda edit: (edit.start, edit.end)) for edits in texts]
    spans: list[list[int]] = []
    for start, end in sorted((edit.start, edit.end) for edits in ordered for edit in edits):
        if spans and start <= spans[-1][1]:  # touching counts
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    chunks, position, between = [], 0, 0
    for start, end in spans:
        between += start > position
        position = end
        words, changed = [], []
        for edits in ordered:
            inside = [edit for edit in edits if start <= edit.start and edit.end <= end]
            words.append(_carried_out(source, inside, start, end))
            changed.append(bool(inside))
        chunks.append(MergedChunk(start, end - start, tuple(words), tuple(changed)))
    return chunks, between + (len(source) > position)


def _carried_out(
    source: Sequence[str], edits: Sequence[Edit], start: int, end: int
) -> tuple[str, ...]:
    words: list[str] = []
    position = start
    for edit in edits:
        words += source[position : edit.start]
        words += edit.replacement.split()
        position = max(position, edit.end)
    words += source[position:end]
    return tuple(words)
