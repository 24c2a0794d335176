"""The next task of a judge: a pure function over what it reads.

`assign` decides; whoever calls it (`errata.collect.web.store`, in one transaction a claim) carries
the decision out. What must be looked up comes through a `Reader`, a few rows at a time, so that a
claim costs the same in a small campaign and in one of a hundred thousand judgments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np

from errata.collect.design import Design
from errata.collect.items import drawn_order, judges_of_overlap
from errata.collect.schedule import SystemStrengths, matchmake, purpose_at

CandidateSource = Literal["freed", "begun", "fresh"]
LOOKED_AT = 50  # items compared for who shares least with a judge
WhyNot = Literal[
    "paused", "closed", "blocked", "withdrawn", "finished", "budget", "nothing", "leases", "failed"
]


class Candidate(NamedTuple):
    """An item that a judge may get: its outputs, and the judges who have it already.

    ``groups`` are the systems, by number, of each different output of its sentence, for items
    whose outputs are chosen now; ``outputs`` is how many outputs it has otherwise.
    """

    item: int
    outputs: int
    judges: tuple[int, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()


class JudgeView(NamedTuple):
    """What a claim knows of its judge; ``given`` counts tasks beside tutorials, returned ones not.

    ``tutorial`` is how the tutorial stands: to do, passed (or none), failed.
    """

    id: int
    name: str
    state: str
    quota: int | None
    given: int
    open: int
    tutorial: Literal["todo", "passed", "failed"] = "passed"


class Reader(Protocol):
    """What `assign` asks of the store; nothing it gives has been seen by the judge before."""

    def campaign_state(self) -> str: ...

    def judgments_left(self) -> int | None:
        """How many main judgments the budget still allows; None without a budget."""

    def held(self, judge: int) -> Sequence[int]:
        """The open assignments of the judge, oldest first; then own expired ones still wanted."""

    def tutorial(self, judge: int) -> Candidate | None: ...

    def control(self, judge: int) -> Candidate | None: ...

    def repeatable(self, judge: int, distance: int) -> Candidate | None:
        """The judge's oldest done main item at least ``distance`` tasks back, not yet repeated."""

    def candidates(self, judge: int, source: CandidateSource, limit: int) -> Sequence[Candidate]:
        """Main items with room: given back or expired, begun by others, or begun by nobody."""

    def shared(self, judge: int) -> Mapping[int, int]:
        """How many items the judge has in common with each other judge."""


@dataclass(frozen=True)
class Assign:
    """Give an item: the order its outputs are shown in, as positions among them.

    A ``repeat`` is a new item with the outputs of ``item``; ``chosen`` are the outputs of an item
    whose outputs are chosen now, by their places among the different outputs of the sentence.
    """

    item: int
    purpose: Literal["main", "repeat", "control", "tutorial"]
    order: tuple[int, ...]
    chosen: tuple[int, ...] = ()


@dataclass(frozen=True)
class KeepCurrent:
    """The judge holds an assignment already: show it again."""

    assignment: int


@dataclass(frozen=True)
class NoTask:
    """There is no task, and why."""

    reason: WhyNot


Decision = Assign | KeepCurrent | NoTask


def assign(
    reader: Reader,
    design: Design,
    judge: JudgeView,
    rng: np.random.Generator,
    *,
    standing: SystemStrengths | None = None,
    known: Sequence[int] = (),
    ahead: int,
) -> Decision:
    """The next task of a judge (see the steps a to e of the design).

    ``known`` are assignments the page has already; at most ``ahead`` are held at a time.
    """
    state = reader.campaign_state()
    if judge.state in ("blocked", "withdrawn"):
        return NoTask("blocked" if judge.state == "blocked" else "withdrawn")
    if state == "closed":
        return NoTask("closed")
    for assignment in reader.held(judge.id):  # (a) on whatever device
        if assignment not in known:
            return KeepCurrent(assignment)
    if state != "open":  # (b)
        return NoTask("paused")
    if judge.open >= ahead:
        return NoTask("leases")
    if judge.tutorial == "failed":
        return NoTask("failed")
    if judge.tutorial == "todo":  # (c)
        example = reader.tutorial(judge.id)
        if example is not None:
            return _assign_candidate(example, "tutorial", rng)
        return NoTask("leases")  # the last one is being answered
    if judge.quota is not None and judge.given >= judge.quota:
        return NoTask("finished")
    left = reader.judgments_left()
    if left is not None and left <= 0:
        return NoTask("budget")
    check = _scheduled_check(reader, design, judge, rng)
    return check or _main_task(reader, design, judge, rng, standing)


def _scheduled_check(
    reader: Reader, design: Design, judge: JudgeView, rng: np.random.Generator
) -> Decision | None:
    """What the schedule says for this task; a check that cannot be had is a main task."""
    purpose = purpose_at(
        judge.given,
        seed=design.seed,
        judge=judge.name,
        quota=judge.quota,
        controls=design.control_share,
        repeats=design.repeats,
        distance=design.distance,
    )
    if purpose == "control":
        found = reader.control(judge.id)
        return None if found is None else _assign_candidate(found, "control", rng)
    if purpose == "repeat":
        found = reader.repeatable(judge.id, design.distance)
        return None if found is None else _assign_candidate(found, "repeat", rng)
    return None


def _main_task(
    reader: Reader,
    design: Design,
    judge: JudgeView,
    rng: np.random.Generator,
    standing: SystemStrengths | None,
) -> Decision:
    """(d): given back or expired; for the overlap share what others have begun; a new one."""
    freed = reader.candidates(judge.id, "freed", 1)
    if freed:
        return _assign_candidate(freed[0], "main", rng, standing)
    more = design.overlap * (judges_of_overlap(design) - 1)
    sources: tuple[CandidateSource, CandidateSource] = ("fresh", "begun")
    if rng.random() < more / (1 + more):  # as many second judgments as the design has
        sources = ("begun", "fresh")
    for source in sources:
        found = reader.candidates(judge.id, source, LOOKED_AT if source == "begun" else 1)
        if found:
            best = found[0] if source == "fresh" else _pick_item_by_overlap(reader, judge, found)
            return _assign_candidate(best, "main", rng, standing)
    return NoTask("nothing")


def _pick_item_by_overlap(
    reader: Reader, judge: JudgeView, found: Sequence[Candidate]
) -> Candidate:
    """The item whose judges have least in common with this one; the oldest of several."""
    shared = reader.shared(judge.id)
    return min(found, key=lambda each: sum(shared.get(other, 0) for other in each.judges))


def _assign_candidate(
    found: Candidate,
    purpose: Literal["main", "repeat", "control", "tutorial"],
    rng: np.random.Generator,
    standing: SystemStrengths | None = None,
) -> Assign:
    if found.outputs == 0 and found.groups:  # adaptive: chosen now
        assert standing is not None, "adaptive items need a standing"
        chosen = matchmake(found.groups, standing, rng)
        return Assign(found.item, purpose, drawn_order(2, rng), chosen)
    return Assign(found.item, purpose, drawn_order(found.outputs, rng))
