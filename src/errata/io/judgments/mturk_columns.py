"""The columns of an MTurk result file: found by title, none missing, none overlooked."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

from errata.errors import DataWarning, InputError
from errata.io.judgments.fields import UnknownWords, unique_columns
from errata.io.sheet import column_key

__all__ = ["mturk_columns"]

NEEDED = ("WorkerId", "Input.sentID", "Input.system1", "Answer.rank_1")
STATUS = "AssignmentStatus"
# What Mechanical Turk writes beside the task's own columns, and what ranking tasks have too.
KNOWN = (
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime",
    "MaxAssignments", "RequesterAnnotation", "AssignmentDurationInSeconds",
    "AutoApprovalDelayInSeconds", "Expiration", "NumberOfSimilarHITs", "LifetimeInSeconds",
    "AssignmentId", "AcceptTime", "SubmitTime", "AutoApprovalTime", "ApprovalTime",
    "RejectionTime", "RequesterFeedback", "WorkTimeInSeconds", "LifetimeApprovalRate",
    "Last30DaysApprovalRate", "Last7DaysApprovalRate", "Approve", "Reject",
    "Input.type", "Input.source", "Input.context", "Answer.Comments",
)  # fmt: skip
NUMBERED = ("Input.system", "Input.sentence", "Input.markup", "Answer.rank_")
_NUMBERED = re.compile(r"(inputsystem|inputsentence|inputmarkup|answerrank)([0-9]{1,4})")


def mturk_columns(
    titles: Sequence[str], name: str, statuses: tuple[str, ...] | None
) -> tuple[list[str], int]:
    """The titles as they should be spelt, and how many outputs a row has.

    Case, blanks and marks are no part of a title. A gap in the numbered columns and a title that
    resembles one that is needed are errors; other titles nobody knows are warned of.
    """
    unique_columns((column_key(title) for title in titles), name)
    spelt = {column_key(title): title for title in (*NEEDED, STATUS, *KNOWN)}
    keys = [column_key(title) for title in titles]
    numbers: dict[str, set[int]] = {kind: set() for kind in map(column_key, NUMBERED)}
    for key in keys:
        match = _NUMBERED.fullmatch(key)
        if match is not None:
            numbers[match[1]].add(int(match[2]))
            kind = next(kind for kind in NUMBERED if column_key(kind) == match[1])
            spelt[key] = f"{kind}{int(match[2])}"
    for title in NEEDED:
        if column_key(title) not in keys:
            raise _missing(title, name)
    count = len(numbers["inputsystem"])
    unread = UnknownWords(name)
    for key, title in zip(keys, titles, strict=True):
        if key and key not in spelt:
            close = [f"{kind}{k}" for kind in NUMBERED for k in range(1, count + 2)]
            unread.meet("column", title, (*NEEDED, STATUS, *close, *KNOWN), 1)
    wanted = set(range(1, count + 1))
    for kind in NUMBERED:
        found = numbers[column_key(kind)]
        if found and found != wanted:
            gap = min(wanted ^ found)
            raise (
                _missing(f"{kind}{gap}", name)
                if gap in wanted
                else InputError(
                    f"a column {kind}{gap}, but there are {count} systems",
                    path=name,
                    line=1,
                    remedy="number the columns without a gap",
                )
            )
    unread.warn()
    _check_status(keys, name, statuses)
    return [spelt.get(key, title) for key, title in zip(keys, titles, strict=True)], count


def _missing(title: str, name: str) -> InputError:
    return InputError(
        f"no column {title}",
        path=name,
        line=1,
        remedy="is this an MTurk result file of a ranking task?",
    )


def _check_status(keys: list[str], name: str, statuses: tuple[str, ...] | None) -> None:
    if column_key(STATUS) in keys:
        return
    if statuses is not None:
        raise InputError(
            f"no column {STATUS}, by which assignments are chosen", path=name, line=1,
            remedy="leave out --status",
        )  # fmt: skip
    warnings.warn(
        f"{name}:1: no column {STATUS}; every assignment counts, rejected ones too",
        DataWarning,
        stacklevel=4,
    )
