"""What is known of the work and care of every judge, a row of the organiser's page for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from errata.collect.checks import first_ranked_best, share_of_ties
from errata.collect.design import WRITING, Design
from errata.human.decisions import OutputPairs
from errata.human.ranking_columns import RankingColumns
from errata.report.cells import Cell
from errata.web.answering import controls_of
from errata.web.clock import iso_time
from errata.web.gathering import Work
from errata.web.schema import assignments, items, judgments
from errata.web.tallies import share_passed, share_pasted

__all__ = ["CareOfJudges"]

_BY_JUDGE = judgments.join(assignments, assignments.c.id == judgments.c.assignment)
_STATES = select(assignments.c.judge, assignments.c.state, func.count()).group_by(
    assignments.c.judge, assignments.c.state
)
_DISPLAYS = select(assignments.c.judge, judgments.c.display).select_from(_BY_JUDGE)
_CHECKED = (  # who has answered controls, how many answers to them there are, and which is the last
    select(assignments.c.judge, func.count(), func.max(judgments.c.id))
    .join(items, items.c.id == assignments.c.item)
    .join(judgments, judgments.c.assignment == assignments.c.id)
    .where(assignments.c.state == "done", items.c.purpose == "control")
    .group_by(assignments.c.judge)
)


class CareOfJudges:
    """Rows of judges; what controls said is kept until a judge has answered one again."""

    def __init__(self) -> None:
        self._controls: dict[int, tuple[object, list[bool]]] = {}

    def rows(
        self,
        connection: Connection,
        design: Design,
        people: Sequence[Any],
        work: Mapping[int, Work],
        rankings: RankingColumns,
        pairs: OutputPairs,
    ) -> list[tuple[Cell, ...]]:
        """A row for each of ``people``, in their order."""
        states: dict[tuple[int, str], int] = {}
        for judge, state, many in connection.execute(_STATES):
            states[judge, state] = many
        displays: dict[int, list[Any]] = {}
        if design.kind in WRITING:
            displays = _lists(connection, _DISPLAYS)
        checked = {judge: known for judge, *known in connection.execute(_CHECKED)}
        first, chance = first_ranked_best(rankings)
        habits = np.stack([share_of_ties(pairs), first, chance], axis=1).tolist()
        number = {name: k for k, name in enumerate(rankings.judges)}
        rows: list[tuple[Cell, ...]] = []
        for row in people:
            own = work.get(row.id)
            passed = list[bool]()
            if own is not None and row.id in checked:
                # Where a control is held against a judge's usual scores, any answer counts.
                state = (*checked[row.id], own.last if design.kind == "score" else None)
                passed = self._passed(connection, design, row.id, state)
            rows.append(
                (
                    row.name,
                    row.state,
                    states.get((row.id, "done"), 0),
                    states.get((row.id, "skipped"), 0),
                    None if own is None else own.seconds,
                    *share_passed(passed),
                    *(habits[number[row.name]] if row.name in number else (None,) * 3),
                    share_pasted(displays.get(row.id, [])) if design.kind in WRITING else None,
                    None if own is None else iso_time(own.time)[:19].replace("T", " "),
                )
            )
        return rows

    def _passed(
        self, connection: Connection, design: Design, judge: int, state: object
    ) -> list[bool]:
        """Whether a judge passed the controls; ``state`` is another one when that may change."""
        before, passed = self._controls.get(judge, (None, []))
        if before != state:
            found = controls_of(connection, design, judge)
            passed = [each for each in found if each is not None]
            self._controls[judge] = state, passed
        return passed


def _lists(connection: Connection, query: Any) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for judge, value in connection.execute(query):
        found.setdefault(judge, []).append(value)
    return found
