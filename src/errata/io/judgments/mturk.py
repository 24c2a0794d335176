"""Rankings as Mechanical Turk returns them, with the columns of Sakaguchi et al. (2016).

``Input.systemK`` names the systems of output K (separated by blanks, ``###`` where there is no
output K), ``Input.sentenceK`` holds its text and ``Answer.rank_K`` its rank.
"""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from errata.data import Judgment
from errata.errors import DataWarning, InputError
from errata.io.judgments.fields import is_duration
from errata.io.judgments.labels import Labels, Outputs, require_fit, same_text
from errata.io.judgments.mturk_columns import mturk_columns
from errata.io.judgments.repeats import Repeats
from errata.io.whole_numbers import whole_number
from errata.parameters import require

__all__ = ["parse_mturk"]

NOTHING = "###"


@dataclass(frozen=True)
class Assignment:
    """A judgment with the texts that were shown and the line it stands on."""

    judgment: Judgment
    texts: tuple[str, ...]
    line: int


def parse_mturk(
    lines: Iterable[str],
    name: str,
    *,
    delimiter: str = ",",
    base: int = 0,
    statuses: tuple[str, ...] | None = None,
    labels: Labels = "check",
    outputs: Outputs | None = None,
    repeats: Repeats | None = None,
) -> Iterator[Judgment]:
    """Read rankings from an MTurk result file.

    ``statuses`` says which assignments count; by default the approved ones, with a warning if
    there are others. ``labels="check"`` compares the names of the systems with ``outputs`` and
    refuses labels that do not fit; without outputs it warns where one text stands under two
    labels. ``labels="text"`` names the systems by the outputs that equal the text shown (blanks
    and quotation marks aside); of a text shown twice the first rank counts, and a text that no
    system wrote is left out, with a warning. ``labels="given"`` takes the labels as they are.
    """
    require("labels", labels, Labels)
    repeats = repeats or Repeats()
    repeats.start(name)
    assignments = [
        assignment
        for assignment in _assignments(lines, name, delimiter, base, statuses)
        if repeats.counts(assignment.judgment, assignment.line)
    ]
    repeats.finish()
    if labels == "text":
        if outputs is None:
            raise InputError(
                "labels='text' needs the outputs of the systems",
                path=name,
                remedy="give outputs (--outputs FOLDER)",
            )
        yield from _relabelled(assignments, outputs, name)
        return
    judgments = [assignment.judgment for assignment in assignments]
    if labels == "check":
        if outputs is not None:
            require_fit(
                judgments,
                outputs,
                name,
                remedy="name the systems by the texts shown (--labels text)",
            )
        else:
            _warn_of_repeats(assignments, name)
    yield from judgments


def _assignments(
    lines: Iterable[str], name: str, delimiter: str, base: int, statuses: tuple[str, ...] | None
) -> Iterator[Assignment]:
    rows = csv.DictReader(lines, strict=True, delimiter=delimiter)
    wanted = ("Approved",) if statuses is None else statuses
    left_out: Counter[str] = Counter()
    try:
        rows.fieldnames, count = mturk_columns(rows.fieldnames or (), name, statuses)
        for row in rows:
            status = row.get("AssignmentStatus", "Approved")
            if status in wanted:
                yield _assignment(row, count, name, rows.line_num, base)
            else:
                left_out[status] += 1
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", path=name, line=rows.line_num) from None
    if left_out and statuses is None:
        shown = ", ".join(f"{number} {status}" for status, number in left_out.items())
        warnings.warn(
            f"{name}: assignments left out: {shown}; name the statuses that count to "
            "decide otherwise (--status)",
            DataWarning,
            stacklevel=3,
        )


def _assignment(row: dict[str, str], count: int, name: str, line: int, base: int) -> Assignment:
    groups, ranks, texts = [], [], []
    item = row.get("HITId", "")

    def error(problem: str) -> InputError:
        return InputError(
            f"item {item or '?'} of {row['WorkerId']}: {problem}", path=name, line=line
        )

    # Only the cells that are read: MTurk leaves the last ones out where nobody filled them in.
    if any(
        value is None
        for title, value in row.items()
        if title and title.startswith(("WorkerId", "WorkTime", "Input.", "Answer.rank"))
    ):
        raise error("the row is cut off")
    if None in row:
        raise error("the row has more cells than there are columns")
    for k in range(1, count + 1):
        systems, rank = row[f"Input.system{k}"], row.get(f"Answer.rank_{k}", "").strip()
        if systems.strip() in ("", NOTHING):
            if rank:
                raise error(f"rank {rank} for output {k}, which was not there")
            continue
        place = whole_number(rank, 1)
        if rank and place is None:
            raise error(f"rank {rank!r} is not a whole number from 1")
        groups.append(tuple(systems.split()))
        ranks.append(place)
        texts.append(row.get(f"Input.sentence{k}") or "")
    number = whole_number(row["Input.sentID"], base)
    if number is None:
        raise error(f"sentence number {row['Input.sentID']!r} is not a whole number from {base}")
    seconds = row.get("WorkTimeInSeconds") or None
    try:
        if seconds is not None and not is_duration(float(seconds)):
            raise ValueError
        judgment = Judgment(
            row["WorkerId"],
            number - base,
            tuple(groups),
            tuple(ranks),
            item,
            None if seconds is None else float(seconds),
            row.get("SubmitTime") or None,
        )
    except InputError as problem:
        raise error(problem.problem) from None
    except ValueError:
        raise error(f"WorkTimeInSeconds {seconds!r} is not a number from 0") from None
    return Assignment(judgment, tuple(texts), line)


def _warn_of_repeats(assignments: list[Assignment], name: str) -> None:
    repeated = [
        a
        for a in assignments
        if len(shown := [t for t in map(same_text, a.texts) if t]) > len(set(shown))
    ]
    # One slip among hundreds is a slip; one ranking in ten is a shift.
    if len(repeated) > 0.1 * len(assignments):
        warnings.warn(
            f"{name}:{repeated[0].line}: {len(repeated)} of {len(assignments)} rankings show one "
            "text under two labels, so the labels belong to other sentences; give the outputs to "
            "check them (--outputs), or labels='text' to name the systems by the texts",
            DataWarning,
            stacklevel=3,
        )


def _relabelled(assignments: list[Assignment], outputs: Outputs, name: str) -> Iterator[Judgment]:
    systems = {system: [same_text(text) for text in texts] for system, texts in outputs.items()}
    unknown = changed = cells = 0
    for assignment in assignments:
        judgment = assignment.judgment
        groups: dict[str, tuple[tuple[str, ...], int | None]] = {}
        for group, rank, text in zip(
            judgment.groups, judgment.ranks, map(same_text, assignment.texts), strict=True
        ):
            cells += 1
            wrote = (
                tuple(
                    sorted(
                        system
                        for system, texts in systems.items()
                        if judgment.sentence < len(texts) and texts[judgment.sentence] == text
                    )
                )
                if text
                else ()
            )
            unknown += not wrote
            changed += bool(wrote) and set(wrote) != set(group)
            if wrote and groups.get(text, ((), None))[1] is None:
                groups[text] = (wrote, rank)
        yield replace(
            judgment,
            groups=tuple(group for group, _ in groups.values()),
            ranks=tuple(rank for _, rank in groups.values()),
        )
    if unknown or changed:
        warnings.warn(
            f"{name}: of {cells} outputs shown, {changed} had other labels than the "
            f"systems that wrote them (corrected), {unknown} were written by no system "
            "(left out)",
            DataWarning,
            stacklevel=3,
        )
