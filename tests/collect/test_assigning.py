"""The next task of a judge, decided from what a reader tells; whole campaigns are in `web`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from errata.collect.assignment import (
    Assign,
    Candidate,
    CandidateSource,
    Decision,
    JudgeView,
    KeepCurrent,
    NoTask,
    assign,
)
from errata.collect.design import Design
from errata.collect.schedule import strengths_of
from errata.human.comparisons import Counts

DESIGN = Design(judges=3, overlap=1.0, controls=0, repeats=0)
VIEW = JudgeView(0, "j0", "active", None, 0, 0)


@dataclass
class Told:
    """A reader whose answers are given."""

    state: str = "open"
    left: int | None = None
    open: tuple[int, ...] = ()
    examples: list[int] = field(default_factory=list)
    checks: dict[str, Candidate] = field(default_factory=dict)
    mains: dict[CandidateSource, Sequence[Candidate]] = field(default_factory=dict)
    common: Mapping[int, int] = field(default_factory=dict)

    def campaign_state(self) -> str:
        return self.state

    def judgments_left(self) -> int | None:
        return self.left

    def held(self, judge: int) -> Sequence[int]:
        return self.open

    def tutorial(self, judge: int) -> Candidate | None:
        return Candidate(self.examples[0], 2) if self.examples else None

    def control(self, judge: int) -> Candidate | None:
        return self.checks.get("control")

    def repeatable(self, judge: int, distance: int) -> Candidate | None:
        return self.checks.get("repeat")

    def candidates(self, judge: int, source: CandidateSource, limit: int) -> Sequence[Candidate]:
        return self.mains.get(source, ())[:limit]

    def shared(self, judge: int) -> Mapping[int, int]:
        return self.common


def decided(
    reader: Told, view: JudgeView = VIEW, design: Design = DESIGN, seed: int = 0, **more: Any
) -> Decision:
    return assign(reader, design, view, np.random.default_rng(seed), **more)


def test_states_that_give_nothing() -> None:
    for campaign, judge, reason in (
        ("open", "blocked", "blocked"),
        ("open", "withdrawn", "withdrawn"),
        ("closed", "active", "closed"),
        ("paused", "active", "paused"),
        ("draft", "active", "paused"),
        ("open", "active", "nothing"),
    ):
        assert decided(Told(campaign), VIEW._replace(state=judge)) == NoTask(reason)  # type: ignore[arg-type]


def test_held_tasks_come_first_and_no_more_than_two() -> None:
    fresh = {"fresh": [Candidate(7, 3)]}
    assert decided(Told(open=(5, 6), mains=fresh)) == KeepCurrent(5)
    assert decided(Told(open=(5, 6), mains=fresh), known=[5]) == KeepCurrent(6)
    assert decided(Told("paused", open=(5,))) == KeepCurrent(5)
    two = VIEW._replace(open=2)
    assert decided(Told(open=(5, 6), mains=fresh), two, known=[5, 6]) == NoTask("leases")
    one = decided(Told(open=(5,), mains=fresh), VIEW._replace(open=1), known=[5])
    assert isinstance(one, Assign)
    assert (one.item, one.purpose, sorted(one.order)) == (7, "main", [0, 1, 2])


def test_tutorial_quota_and_budget_in_this_order() -> None:
    reader = Told(left=1, examples=[3], mains={"fresh": [Candidate(7, 3)]})
    todo = VIEW._replace(tutorial="todo", quota=0)
    found = decided(reader, todo)
    assert isinstance(found, Assign)
    assert (found.item, found.purpose) == (3, "tutorial")
    reader.examples.clear()
    assert decided(reader, todo) == NoTask("leases")  # the last one is being answered
    assert decided(reader, todo._replace(tutorial="failed")) == NoTask("failed")
    reader.left = 0
    assert decided(reader, VIEW._replace(quota=2, given=2)) == NoTask("finished")
    assert decided(reader, VIEW._replace(quota=2, given=1)) == NoTask("budget")


def test_freed_items_come_first_and_begun_ones_as_often_as_the_overlap_asks() -> None:
    mains: dict[CandidateSource, Sequence[Candidate]] = {
        "fresh": [Candidate(1, 2), Candidate(2, 2)],
        "begun": [Candidate(3, 2, (1,)), Candidate(4, 2, (2,)), Candidate(5, 2, (1, 2))],
    }
    reader = Told(mains=mains, common={1: 8})
    given = Counter(getattr(decided(reader, seed=seed), "item", None) for seed in range(600))
    assert set(given) == {1, 4}  # of begun items that of judges who share least with this one
    assert abs(given[4] - 300) < 60  # half, where every item wants two judges
    alone = Design(judges=3, overlap=0, controls=0, repeats=0)
    only = {getattr(decided(reader, design=alone, seed=seed), "item", None) for seed in range(40)}
    assert only == {1}
    mains["freed"] = [Candidate(9, 2)]
    assert {getattr(decided(reader, seed=seed), "item", None) for seed in range(40)} == {9}


def test_check_that_cannot_be_had_is_a_main_task() -> None:
    design = Design(controls=0.2, repeats=0.2, distance=5)
    checks = {"control": Candidate(10, 3), "repeat": Candidate(11, 3)}
    for known in ({}, checks):
        reader = Told(checks=known, mains={"fresh": [Candidate(1, 3)], "begun": [Candidate(1, 3)]})
        found = [decided(reader, VIEW._replace(given=k), design) for k in range(60)]
        purposes = Counter(each.purpose for each in found if isinstance(each, Assign))
        assert set(purposes) == ({"main", "control", "repeat"} if known else {"main"})
        assert {each.item for each in found if isinstance(each, Assign)} == (
            {1, 10, 11} if known else {1}
        )


def test_adaptive_outputs_are_chosen_and_orders_are_drawn() -> None:
    groups = ((0,), (1, 2), (3,))
    reader = Told(mains={"fresh": [Candidate(1, 0, (), groups)]})
    nothing = strengths_of(Counts(np.zeros((4, 4)), np.zeros((4, 4))))
    design = Design(kind="pair", policy="adaptive", controls=0, repeats=0)
    chosen, orders = set(), Counter[tuple[int, ...]]()
    for seed in range(100):
        found = decided(reader, design=design, seed=seed, standing=nothing)
        assert isinstance(found, Assign)
        chosen.add(tuple(sorted(found.chosen)))
        orders[found.order] += 1
    assert chosen == {(0, 1), (0, 2), (1, 2)}
    assert min(orders[0, 1], orders[1, 0]) > 25
