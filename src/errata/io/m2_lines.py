"""The ``A`` lines of an M2 file: one edit each, checked, and their order."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from sys import intern

from errata.data import Edit
from errata.errors import InputError
from errata.io.checks.findings import Finding

__all__ = ["Reading", "check_order", "read_edit"]

REMEMBERED = 4096  # lines, a few hundred kilobytes
REQUIREMENTS = ("REQUIRED", "OPTIONAL")  # what stands in the fourth field of sound files


@dataclass
class Reading:
    """What the functions below share while one file is read."""

    path: str
    compatible: bool
    findings: list[Finding] = field(default_factory=list)
    # What lines say that were read before and need no remark, by all but their annotator: systems
    # often make the same edit, and most have the same noop line.
    known: dict[str, Edit | None] = field(default_factory=dict)

    def warn(self, line: int, code: str, problem: str, remedy: str) -> None:
        self.findings.append(Finding("warning", self.path, line, problem, remedy, code))

    def error(self, line: int, problem: str, remedy: str) -> InputError:
        return InputError(problem, path=self.path, line=line, remedy=remedy)


def read_edit(line: str, number: int, length: int, reading: Reading) -> tuple[int, Edit | None]:
    """One ``A`` line as annotator and edit; a noop has no edit."""
    body, _, last = line.rpartition("|||")
    annotator = _integer(last)
    if annotator is not None and annotator >= 0 and body in reading.known:
        edit = reading.known[body]
        if edit is None or edit.end <= length:
            return annotator, edit
    remarks = len(reading.findings)
    annotator, edit = _read_edit(line, number, length, reading)
    if len(reading.findings) == remarks:
        if len(reading.known) >= REMEMBERED:
            reading.known.clear()
        reading.known[body] = edit
    return annotator, edit


def _read_edit(line: str, number: int, length: int, reading: Reading) -> tuple[int, Edit | None]:
    fields = line[2:].split("|||")
    if len(fields) != 6:
        raise reading.error(
            number,
            f"{len(fields)} fields apart by '|||' and not 6",
            "write A start end|||type|||correction|||REQUIRED|||-NONE-|||annotator",
        )
    span, kind, correction, required, comment, annotator_field = fields
    annotator = _integer(annotator_field)
    if annotator is None or annotator < 0:
        raise reading.error(
            number,
            f"the annotator {annotator_field!r} is not a number",
            "number the annotators 0, 1, 2, ...",
        )
    offsets = _offsets(span)
    if offsets is None:
        raise reading.error(
            number,
            f"the offsets {span!r} are not two numbers",
            "write the first token and the one after the last, counted from 0",
        )
    start, end = offsets
    if kind == "noop":
        if (start, end) != (-1, -1):
            reading.warn(
                number,
                "noop-with-offsets",
                f"a noop with offsets {start} {end} counts "
                "as 'nothing to correct', as in the official scorer",
                "write -1 -1, or give the edit its type",
            )
        return annotator, None
    if not 0 <= start <= end <= length:
        return _refuse(annotator, start, end, length, number, reading)
    if required.startswith("|"):
        reading.warn(
            number,
            "empty-alternative",
            "an empty alternative at the end cannot be told "
            f"from the field separator; only {correction!r} is read, as in the official "
            "scorer",
            "write -NONE- for an alternative that deletes",
        )
    elif required not in REQUIREMENTS or correction in REQUIREMENTS:
        reading.warn(
            number,
            "shifted-fields",
            f"the fourth field is {required[:40]!r}, the correction {correction[:40]!r}: a field "
            "seems to be lost or added",
            "write A start end|||type|||correction|||REQUIRED|||-NONE-|||annotator",
        )
    # Types and the two unread fields repeat: one string each keeps large files small.
    kind, required, comment = intern(kind), intern(required), intern(comment)
    if "||" not in correction:
        text = "" if correction == "-NONE-" else correction.strip()
        return annotator, Edit(start, end, text, kind, (), required, comment)
    texts = ["" if text == "-NONE-" else text.strip() for text in correction.split("||")]
    return annotator, Edit(start, end, texts[0], kind, tuple(texts[1:]), required, comment)


def _refuse(
    annotator: int, start: int, end: int, length: int, number: int, reading: Reading
) -> tuple[int, None]:
    """Say what is wrong with the offsets; the official scorer drops some such edits unsaid."""
    if start > end:
        raise reading.error(
            number,
            f"the edit starts at {start}, after its end {end}",
            "an insertion has start = end, every other edit start < end",
        )
    problem = f"edit {start}-{end} is outside the sentence of {length} tokens"
    if start < 0:
        problem = f"the offset {start} is negative"
    if not reading.compatible:
        raise reading.error(
            number,
            problem,
            "the type of a -1 -1 line is noop, in small letters"
            if start < 0
            else "offsets count white-space tokens from 0; check the tokenisation",
        )
    reading.warn(
        number,
        "edit-dropped",
        f"{problem}; dropped, as in the official scorer",
        "correct the offsets",
    )
    return annotator, None


@lru_cache(4096)
def _offsets(span: str) -> tuple[int, int] | None:
    values = [_integer(offset) for offset in span.split()]
    if len(values) != 2 or values[0] is None or values[1] is None:
        return None
    return values[0], values[1]


@lru_cache(4096)
def _integer(text: str) -> int | None:
    text = text.strip()
    digits = text[1:] if text[:1] == "-" else text
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None


def check_order(annotator: int, edits: list[tuple[int, Edit]], reading: Reading) -> None:
    """Warn of edits that are not apart and in order from left to right."""
    previous: Edit | None = None
    for _, edit in edits:
        if previous is not None and (
            edit.start < previous.end or (edit.start, edit.end) == (previous.start, previous.end)
        ):
            break
        previous = edit
    else:
        return
    seen: dict[tuple[int, int, tuple[str, ...]], int] = {}
    once: list[tuple[int, int, int]] = []
    highest = (-1, -1)
    for number, edit in edits:
        key = (edit.start, edit.end, edit.replacements)
        if key in seen:
            reading.warn(
                number,
                "duplicate-edit",
                f"annotator {annotator} has the edit "
                f"{edit.start}-{edit.end} {edit.replacement!r} twice, first on line "
                f"{seen[key]}",
                "delete one; the official scorer counts both",
            )
            continue
        seen[key] = number
        once.append((edit.start, edit.end, number))
        if (edit.start, edit.end) < highest:
            reading.warn(
                number,
                "unsorted-edits",
                f"the edit {edit.start}-{edit.end} of annotator "
                f"{annotator} stands after {highest[0]}-{highest[1]}",
                "sort edits by their offsets; the official scorer misses matches of unsorted edits",
            )
        highest = max(highest, (edit.start, edit.end))
    _check_overlap(annotator, sorted(once), reading)


def _check_overlap(annotator: int, spans: list[tuple[int, int, int]], reading: Reading) -> None:
    """Warn of edits that change a token which an edit before them changes too."""
    reach, reached = -1, (0, 0)
    for start, end, number in spans:
        if start < reach:
            reading.warn(
                number,
                "overlapping-edits",
                f"the edit {start}-{end} of annotator "
                f"{annotator} overlaps {reached[0]}-{reached[1]}",
                "join them, or give one of them to another annotator",
            )
        if end > reach:
            reach, reached = end, (start, end)
