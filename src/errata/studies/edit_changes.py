"""What became of every edit between two systems: found, lost, spoilt, or a false alarm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from errata.data import Edit
from errata.studies.edit_states import EditState, JudgedEdit, JudgedSentence, touches

__all__ = ["ChangeCounts", "EditChange", "change_counts", "edit_changes", "error_state"]

Alarms = dict[tuple[int, int, tuple[str, ...]], list[Edit]]
Weigh = Callable[[int, int | None, Edit], float]


@dataclass(frozen=True)
class EditChange:
    """One error or false alarm whose state changed, in a sentence counted from 0.

    ``before`` and ``after`` of an error that the annotator asks to mend are ``right``, ``missed``
    or ``wrong``: missed with an edit of the system at that place (`error_state`); ``edit`` is the
    annotator's. Of a false alarm one of them is ``wrong`` and the other None; ``edit`` is the
    system's, and ``difficulty``, the share of systems that do not have an error right, is NaN.
    """

    sentence: int
    annotator: int | None
    edit: Edit
    kind: str
    before: EditState | None
    after: EditState | None
    difficulty: float = float("nan")

    @property
    def name(self) -> str:
        """What happened, as ``missed → right``, ``new false alarm`` or ``false alarm gone``."""
        if self.before is None:
            return "new false alarm"
        if self.after is None:
            return "false alarm gone"
        return f"{self.before} → {self.after}"


class ChangeCounts(NamedTuple):
    """How many errors and false alarms changed their state, and in which way."""

    missed_right: int = 0
    wrong_right: int = 0
    right_missed: int = 0
    right_wrong: int = 0
    missed_wrong: int = 0
    wrong_missed: int = 0
    new_alarms: int = 0
    alarms_gone: int = 0

    @property
    def gained(self) -> int:
        """Errors that are right now and were not."""
        return self.missed_right + self.wrong_right

    @property
    def lost(self) -> int:
        """Errors that were right and are not any more."""
        return self.right_missed + self.right_wrong


def error_state(asked: JudgedEdit, wrong: Iterable[JudgedEdit]) -> EditState:
    """What a system did about an error: right, wrong where it made another edit there, or missed.

    There is where the two edits share a token, or insert at one place (`touches`).
    """
    if asked.state == "right" or asked.gold is None:
        return "right"
    place = asked.gold
    return "wrong" if any(touches(e.edit, place.start, place.end) for e in wrong) else "missed"


def edit_changes(
    old: Sequence[JudgedSentence], new: Sequence[JudgedSentence], difficulty: Weigh | None = None
) -> tuple[EditChange, ...]:
    """Every error and every false alarm whose state two systems disagree on, in order.

    Both must have been held against the same annotators (`judged_edits` with ``together``). The
    errors account for all differences of TP and FN, the false alarms for those of FP: where a right
    edit turns into another one, the error is ``right → wrong`` and the other edit a new alarm.
    """
    changes: list[EditChange] = []
    for i, (before, after) in enumerate(zip(old, new, strict=True)):
        if before.edits == after.edits:
            continue
        was_alarm, is_alarm = _by_text(before.wrong), _by_text(after.wrong)
        found = []
        for was, now in zip(before.asked, after.asked, strict=True):
            states = error_state(was, before.wrong), error_state(now, after.wrong)
            if states[0] != states[1]:
                assert now.gold is not None
                weight = float("nan")
                if difficulty is not None:
                    weight = difficulty(i, after.annotator, now.gold)
                found.append(EditChange(i, after.annotator, now.gold, now.kind, *states, weight))
        for edit in _without(was_alarm, is_alarm):
            found.append(EditChange(i, after.annotator, edit, edit.kind, "wrong", None))
        for edit in _without(is_alarm, was_alarm):
            found.append(EditChange(i, after.annotator, edit, edit.kind, None, "wrong"))
        changes += sorted(found, key=lambda change: (change.edit.start, change.edit.end))
    return tuple(changes)


def _by_text(several: Sequence[JudgedEdit]) -> Alarms:
    """False alarms by place and text; one that stands for several tokens stands here as often."""
    found: Alarms = {}
    for each in several:
        edit = each.edit
        found.setdefault((edit.start, edit.end, edit.replacements), []).append(edit)
    return found


def _without(mine: Alarms, theirs: Alarms) -> list[Edit]:
    """The edits of one that the other does not have, or not as often."""
    return [edit for key, several in mine.items() for edit in several[len(theirs.get(key, ())) :]]


def change_counts(changes: Iterable[EditChange]) -> ChangeCounts:
    """Changes counted by what happened.

    >>> change_counts([EditChange(0, 0, Edit(1, 2, "goes"), "R:INFL", "missed", "right")]).gained
    1
    """
    counts = Counter((change.before, change.after) for change in changes)
    order: tuple[tuple[EditState | None, EditState | None], ...] = (
        ("missed", "right"),
        ("wrong", "right"),
        ("right", "missed"),
        ("right", "wrong"),
        ("missed", "wrong"),
        ("wrong", "missed"),
        (None, "wrong"),
        ("wrong", None),
    )
    return ChangeCounts(*(counts[pair] for pair in order))
