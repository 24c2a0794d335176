"""What is known of the work and care of every judge, a row of the organiser's page for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from errata.collect.checks import first_ranked_best
from errata.collect.design import WRITING, Design
from errata.data import Judgment
from errata.human.decisions import OutputPairs
from errata.report.cells import Cell
from errata.web.answering import controls_of
from errata.web.clock import iso_time
from errata.web.schema import assignments, items, judgments
from errata.web.tallies import share_passed, share_pasted

__all__ = ["CareOfJudges"]

_BY_JUDGE = judgments.join(assignments, assignments.c.id == judgments.c.assignment)
_STATES = select(assignments.c.judge, assignments.c.state, func.count()).group_by(
    assignments.c.judge, assignments.c.state
)
_LATEST = (
    select(assignments.c.judge, func.max(judgments.c.id), func.max(judgments.c.server_time))
    .select_from(_BY_JUDGE)
    .group_by(assignments.c.judge)
)
_TIMES = (
    select(assignments.c.judge, judgments.c.active_ms)
    .select_from(_BY_JUDGE)
    .where(judgments.c.active_ms.is_not(None))
)
_DISPLAYS = select(assignments.c.judge, judgments.c.display).select_from(_BY_JUDGE)
_CHECKED = (
    select(assignments.c.judge)
    .join(items, items.c.id == assignments.c.item)
    .where(assignments.c.state == "done", items.c.purpose == "control")
    .distinct()
)


class CareOfJudges:
    """Rows of judges; what controls said is kept until a judge has answered again."""

    def __init__(self) -> None:
        self._controls: dict[int, tuple[int, list[bool]]] = {}

    def rows(
        self,
        connection: Connection,
        design: Design,
        people: Sequence[Any],
        by_judge: Mapping[str, Sequence[Judgment]],
        pairs: OutputPairs,
    ) -> list[tuple[Cell, ...]]:
        """A row for each of ``people``, in their order."""
        states: dict[tuple[int, str], int] = {}
        for judge, state, many in connection.execute(_STATES):
            states[judge, state] = many
        latest = {judge: (most, last) for judge, most, last in connection.execute(_LATEST)}
        times, displays = _lists(connection, _TIMES), dict[int, list[Any]]()
        if design.kind in WRITING:
            displays = _lists(connection, _DISPLAYS)
        checked = set(connection.execute(_CHECKED).scalars())
        ties = _ties(pairs)
        rows: list[tuple[Cell, ...]] = []
        for row in people:
            answer, last = latest.get(row.id, (0, None))
            passed = list[bool]()
            if row.id in checked:
                passed = self._passed(connection, design, row.id, answer)
            own, ms = by_judge.get(row.name, []), times.get(row.id)
            rows.append(
                (
                    row.name,
                    row.state,
                    states.get((row.id, "done"), 0),
                    states.get((row.id, "skipped"), 0),
                    round(median(each / 1000 for each in ms), 1) if ms else None,
                    *share_passed(passed),
                    ties.get(row.name, float("nan")) if own else None,
                    *(first_ranked_best(own) if own else (None, None)),
                    share_pasted(displays.get(row.id, [])) if design.kind in WRITING else None,
                    None if last is None else iso_time(last)[:19].replace("T", " "),
                )
            )
        return rows

    def _passed(
        self, connection: Connection, design: Design, judge: int, answer: int
    ) -> list[bool]:
        """Whether a judge passed the controls; ``answer`` is the number of the last answer."""
        before, passed = self._controls.get(judge, (-1, []))
        if before != answer:
            found = controls_of(connection, design, judge)
            passed = [each for each in found if each is not None]
            self._controls[judge] = answer, passed
        return passed


def _lists(connection: Connection, query: Any) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for judge, value in connection.execute(query):
        found.setdefault(judge, []).append(value)
    return found


def _ties(pairs: OutputPairs) -> dict[str, float]:
    """`errata.collect.checks.share_of_ties` of every judge who decided anything."""
    many = len(pairs.judges)
    decided = np.bincount(pairs.judge, minlength=many)
    tied = np.bincount(pairs.judge[pairs.outcome == 0], minlength=many)
    return {
        name: float(tied[j]) / float(decided[j])
        for j, name in enumerate(pairs.judges)
        if decided[j]
    }
