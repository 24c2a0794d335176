"""The next task of a judge, in campaigns that are played through."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campaigns import Memory, material
from errata.collect.assigning import Giving, Holding, JudgeView, Nothing, assign
from errata.collect.budget import outlook
from errata.collect.design import Design
from errata.collect.items import Example, build_items
from errata.collect.policies import standing_of
from errata.human.counts import Counts

NOBODY = standing_of(Counts(np.zeros((5, 5)), np.zeros((5, 5))))


def play(
    memory: Memory,
    judges: int,
    seed: int,
    ends: tuple[str, ...] = ("done",),
    quota: int | None = None,
) -> Counter[str]:
    """Let judges come in random order until nobody gets anything; why each stopped."""
    rng = np.random.default_rng(seed)
    working = list(range(judges))
    why: Counter[str] = Counter()
    for _ in range(5000):
        if not working:
            return why
        judge = working[int(rng.integers(len(working)))]
        found = memory.claim(judge, rng, quota, NOBODY)
        if isinstance(found, Nothing):
            why[found.reason] += 1
            working.remove(judge)
            continue
        memory.end(judge, ends[int(rng.integers(len(ends)))])
    raise AssertionError("the campaign never ends")


def check_rules(memory: Memory, distance: int = 20) -> None:
    design = memory.design
    for k, item in enumerate(memory.items):
        if isinstance(item["wanted"], int):
            assert memory.counted(k) <= item["wanted"]
        assert (item["origin"] is not None) == (item["purpose"] == "repeat")
    tasks = defaultdict(list)
    for given_ in memory.given:
        tasks[given_.judge].append(given_)
    for mine in tasks.values():
        assert len({g.item for g in mine}) == len(mine)
        main = [g for g in mine if g.purpose != "repeat"]
        sentences = [memory.items[g.item]["sentence"] for g in main]
        if not design.other_outputs:
            assert len(set(sentences)) == len(sentences)  # a sentence once
        for place, g in enumerate(mine):
            if g.purpose == "control":
                assert place >= 3
            if g.purpose == "repeat":
                origin = memory.items[g.item]["origin"]
                before = next(p for p, each in enumerate(mine) if each.item == origin)
                assert place - before >= distance


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["rank", "pair", "score", "correct"]),
    st.integers(1, 4),
    st.integers(0, 999),
    st.booleans(),
    st.sampled_from([("done",), ("done", "done", "skipped"), ("done", "expired", "returned")]),
    st.one_of(st.none(), st.integers(5, 80)),
)
def test_every_campaign_keeps_the_rules(
    kind: str, judges: int, seed: int, adaptive: bool, ends: tuple[str, ...], quota: int | None
) -> None:
    policy = "adaptive" if adaptive and kind == "pair" else "balanced"
    design = Design(kind=kind, judges=judges, seed=seed, policy=policy)  # type: ignore[arg-type]
    memory = Memory(design, build_items(design, material(60, 5, seed)))
    play(memory, judges, seed, ends, quota)
    check_rules(memory)
    if quota is not None:
        given_ = Counter(g.judge for g in memory.given)
        assert max(given_.values()) <= quota


@pytest.mark.parametrize("judges", [1, 2, 3, 5])
def test_a_campaign_is_finished(judges: int) -> None:
    """With willing judges every item gets the judges it wants, and every two judges their share."""
    design = Design(judges=judges, seed=judges, overlap=0.5)
    built = build_items(design, material(90, 6, 1))
    memory = Memory(design, built)
    assert play(memory, judges, 2) == {"nothing": judges}
    for k, item in enumerate(memory.items):
        if item["purpose"] == "main":
            assert memory.counted(k) == item["wanted"]
    check_rules(memory)
    purposes = Counter(g.purpose for g in memory.given)
    assert purposes["control"] > 0
    assert purposes["repeat"] > 0 or judges == 5  # whose tasks are too few
    if judges > 2:
        common = [
            len({g.item for g in memory.of(a)} & {g.item for g in memory.of(b)})
            for a in range(judges)
            for b in range(a)
        ]
        controls = min(common)  # controls are common to all; mains are spread evenly over pairs
        assert max(common) - controls <= outlook(design, built).common_items + 4


def test_an_item_of_those_who_share_least_is_preferred() -> None:
    design = Design(judges=3, overlap=1.0, controls=0, repeats=0)
    memory = Memory(design, build_items(design, material(60, 5)))
    fresh = [c.item for c in memory.candidates(0, "fresh", 30)]
    for item in fresh[:8]:  # judges 0 and 1 have eight items in common
        for judge in (0, 1):
            memory.give(judge, Giving(item, "main", (0, 1)))
            memory.end(judge, "done")
    for judge, item in ((1, fresh[8]), (2, fresh[9])):  # and each of two others has begun one
        memory.give(judge, Giving(item, "main", (0, 1)))
        memory.end(judge, "done")
    found = [memory.claim(0, np.random.default_rng(seed)) for seed in range(1)]
    for seed in range(30):
        memory.given = [g for g in memory.given if g.state == "done"]
        found.append(memory.claim(0, np.random.default_rng(seed)))
    begun = {f.item for f in found if isinstance(f, Giving)} & {fresh[8], fresh[9]}
    assert begun == {fresh[9]}


def test_what_a_judge_holds_comes_first_and_no_more_than_two() -> None:
    design = Design(judges=2)
    memory = Memory(design, build_items(design, material(30, 5)))
    rng = np.random.default_rng(0)
    first = memory.claim(0, rng)
    assert isinstance(first, Giving)
    assert memory.claim(0, rng) == Holding(0)  # another device asks again
    view = JudgeView(0, "j0", "active", None, 1, 1)
    second = assign(memory, design, view, rng, known=[0])
    assert isinstance(second, Giving)
    memory.give(0, second)
    view = view._replace(given=2, open=2)
    assert assign(memory, design, view, rng, known=[0, 1]) == Nothing("leases")


def test_returned_items_come_before_others() -> None:
    design = Design(judges=2, overlap=0)
    memory = Memory(design, build_items(design, material(30, 5)))
    rng = np.random.default_rng(0)
    for _ in range(3):
        memory.claim(0, rng)
        memory.end(0, "done")
    memory.claim(0, rng)
    item = memory.given[-1].item
    memory.end(0, "returned")
    found = memory.claim(1, rng)
    assert isinstance(found, Giving)
    assert found.item == item


@pytest.mark.parametrize(
    ("campaign", "judge", "reason"),
    [
        ("open", "blocked", "blocked"),
        ("open", "withdrawn", "withdrawn"),
        ("closed", "active", "closed"),
        ("paused", "active", "paused"),
        ("draft", "active", "paused"),
    ],
)
def test_states_that_give_nothing(campaign: str, judge: str, reason: str) -> None:
    design = Design()
    memory = Memory(design, build_items(design, material(30, 5)), state=campaign)
    view = JudgeView(0, "j0", judge, None, 0, 0)
    assert assign(memory, design, view, np.random.default_rng(0)) == Nothing(reason)  # type: ignore[arg-type]


def test_quota_and_budget_end_the_work() -> None:
    design = Design()
    memory = Memory(design, build_items(design, material(30, 5)), budget=4)
    assert play(memory, 1, 0, quota=3) == {"finished": 1}
    assert play(memory, 2, 0) == {"budget": 2}
    assert len(memory.given) == 4


def test_the_tutorial_comes_first() -> None:
    design = Design()
    own = [Example(f"a {k} .", ("b", "c"), {"worse": 1, "better": 0}) for k in range(2)]
    memory = Memory(design, build_items(design, material(30, 5), examples=own))
    rng = np.random.default_rng(0)
    view = JudgeView(0, "j0", "active", None, 0, 0, "todo")
    for k in range(2):
        found = assign(memory, design, view, rng)
        assert isinstance(found, Giving)
        assert (found.purpose, found.item) == ("tutorial", k)
        memory.give(0, found)
        memory.end(0, "done")
    assert assign(memory, design, view, rng) == Nothing("leases")
    assert assign(memory, design, view._replace(tutorial="failed"), rng) == Nothing("failed")


def test_orders_are_drawn_for_each_judge() -> None:
    design = Design(judges=2, overlap=1.0, controls=0, repeats=0)
    memory = Memory(design, build_items(design, material(60, 6, 5, sharing=0)))
    rng = np.random.default_rng(0)
    orders = defaultdict(list)
    for _ in range(40):
        for judge in (0, 1):
            found = memory.claim(judge, rng)
            assert isinstance(found, Giving)
            orders[found.item].append(found.order)
            memory.end(judge, "done")
    both = [each for each in orders.values() if len(each) == 2]
    assert len(both) > 20
    assert sum(a == b for a, b in both) < len(both) / 4
    firsts = Counter(order[0] for each in orders.values() for order in each)
    assert max(firsts.values()) < 2.5 * min(firsts.values())


def test_a_repeat_has_the_same_outputs_in_a_new_order() -> None:
    design = Design(repeats=0.2, controls=0)
    memory = Memory(design, build_items(design, material(90, 6, 5, sharing=0)))
    play(memory, 1, 3)
    repeats = [i for i in memory.items if i["purpose"] == "repeat"]
    assert len(repeats) > 5
    for each in repeats:
        assert isinstance(each["origin"], int)
        assert each["outputs"] == memory.items[each["origin"]]["outputs"]
