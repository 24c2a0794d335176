"""What metrics say of parts, and of several together: notes that count, and where others stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from errata.metrics.base import Counted

__all__ = ["Said", "added_words", "in_one_order", "note_json", "note_key", "note_of", "uncounted"]


class Said(NamedTuple):
    """What a metric says of one part, or of several: of them only notes that add up."""

    metric: str
    context: tuple[str, ...]
    notes: tuple[str, ...]


def added_words(one: Sequence[Said], other: Sequence[Said]) -> tuple[Said, ...]:
    """What metrics say of two parts together: notes that count, and where others stand."""
    found = []
    for a, b in zip(one, other, strict=True):
        notes = {note_key(note): note for note in a.notes}
        for note in b.notes:
            held = notes.get(note_key(note))
            if isinstance(held, Counted) and isinstance(note, Counted):
                notes[note_key(note)] = held.added(note)
            else:
                notes.setdefault(note_key(note), note)
        order = in_one_order([*map(note_key, a.notes)], [*map(note_key, b.notes)])
        found.append(Said(a.metric, (), tuple(notes[key] for key in order)))
    return tuple(found)


def note_key(note: str) -> str:
    """What is the same in a note whatever it counts."""
    return note.several if isinstance(note, Counted) else note


def uncounted(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(note for note in notes if not isinstance(note, Counted))


def in_one_order(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Both in one order: what only the second has comes after what is before it there.

    >>> in_one_order(["a", "c"], ["b", "c", "d"])
    ['b', 'a', 'c', 'd']
    """
    found = list(first)
    place = 0
    for key in second:
        if key in found:
            place = found.index(key) + 1
        else:
            found.insert(place, key)
            place += 1
    return found


def note_json(note: str) -> Any:
    if isinstance(note, Counted):
        return {"one": note.one, "several": note.several, "numbers": list(note.numbers)}
    return note


def note_of(given: Any) -> str:
    if isinstance(given, str):
        return given
    return Counted(given["one"], given["several"], *given["numbers"])
