"""Checks stand where no judge can tell them by their places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from errata.collect.design import Design, Scale
from errata.collect.items import shown_edits
from errata.collect.qualification import ShownCheck, first_ranked_best, rule_blocks, share_of_ties
from errata.collect.schedule import generator_for, purpose_at
from errata.core.stats import wilson
from errata.data import Judgment
from errata.human.output_pairs import output_pairs, ranking_columns

SHARES = st.floats(0.005, 0.2)


def places(tasks: int, **settings: object) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {"main": [], "control": [], "repeat": []}
    for task in range(tasks):
        found[purpose_at(task, **settings)].append(task)  # type: ignore[arg-type]
    return found


@given(
    st.integers(0, 10**6),
    st.text(min_size=1, max_size=8),
    st.integers(1, 700),
    st.booleans(),
    SHARES,
    SHARES,
    st.integers(1, 40),
)
def test_no_check_is_early_evenly_spaced_or_too_near(
    seed: int, judge: str, tasks: int, bound: bool, controls: float, repeats: float, distance: int
) -> None:
    found = places(
        tasks,
        seed=seed,
        judge=judge,
        quota=tasks if bound else None,
        controls=controls,
        repeats=repeats,
        distance=distance,
    )
    checks = sorted([*found["control"], *found["repeat"]])
    assert not checks or checks[0] >= 3
    assert not found["repeat"] or found["repeat"][0] > distance
    for each in (found["control"], found["repeat"], checks):
        gaps = np.diff(each)
        if len(gaps) > 4:  # a stretch may be cut where the judge stops
            assert len(set(gaps.tolist())) > 1
    if bound:
        assert abs(len(found["control"]) - controls * tasks) <= 2 + tasks // 200


def test_repeats_that_would_be_in_step_leave_the_controls() -> None:
    """Three repeats after the distance have three places, side by side."""
    found = places(18, seed=0, judge="j", quota=18, controls=0.125, repeats=0.1875, distance=14)
    assert (len(found["control"]), len(found["repeat"])) == (2, 0)


def test_three_checks_are_never_in_step() -> None:
    """With so few places they would often be, by chance."""
    several = 0
    for seed in range(400):
        found = places(10, seed=seed, judge="ann", quota=10, controls=0.3, repeats=0.0, distance=20)
        gaps = np.diff(found["control"])
        assert len(set(gaps.tolist())) == 2
        several += gaps[0] != gaps[-1]
    assert several == 400


def test_a_quota_has_its_share_exactly() -> None:
    found = places(100, seed=3, judge="ann", quota=100, controls=0.05, repeats=0.05, distance=20)
    assert (len(found["control"]), len(found["repeat"])) == (5, 5)


def test_judges_have_schedules_of_their_own() -> None:
    settings = {"seed": 3, "quota": 200, "controls": 0.05, "repeats": 0.05, "distance": 20}
    found = {judge: tuple(places(200, judge=judge, **settings)["control"]) for judge in "abcdefgh"}
    assert len(set(found.values())) == 8
    assert found["a"] == tuple(places(200, judge="a", **settings)["control"])


def test_a_seed_and_words_give_one_generator() -> None:
    assert generator_for(1, "a").random() == generator_for(1, "a").random()
    assert generator_for(1, "a").random() != generator_for(1, "b").random()
    assert generator_for(1, "a").random() != generator_for(2, "a").random()


SOURCE = "He go home ."
SCORE = Design(kind="score", scales=(Scale("x"), Scale("y", 0, 4)), side_by_side=True)
ALONE = Design(kind="score", scales=(Scale("x"),), margin=15)


def test_control_is_passed_if_the_damaged_output_is_strictly_below() -> None:
    for order, ranks, passed in (
        ((0, 1, 2), (1, 3, 2), True),
        ((0, 1, 2), (2, 3, 2), False),
        ((0, 1, 2), (3, 1, 2), False),
        ((2, 1, 0), (3, 3, 2), True),
        ((2, 0, 1), (1, 2, 3), False),
    ):
        answer = dict(zip("ABC", ranks, strict=True))
        check = ShownCheck(Design(), {"worse": 2, "better": 0}, order)
        assert check.control_passed(answer) is passed
        assert check.control_passed(None) is None
    pairs = {"A": True, "B": False, "equal": False, "bad": False}
    check = ShownCheck(Design(kind="pair"), {"worse": 0, "better": 1}, (1, 0))
    assert {answer: check.control_passed(answer) for answer in pairs} == pairs


def test_scores_must_be_lower_by_the_margin() -> None:
    def beside(x: int, y: int) -> bool | None:
        answer = {"A": {"x": x, "y": y}, "B": {"x": 50, "y": 3}}
        return ShownCheck(SCORE, {"worse": 1, "better": 0}, (1, 0)).control_passed(answer)

    assert [beside(40, 2), beside(41, 2), beside(40, 3)] == [True, False, False]
    one = ShownCheck(ALONE, {"worse": 0, "better": None}, (0,))
    assert one.control_passed({"x": 45}, {"x": 60.0}) is True
    assert one.control_passed({"x": 46}, {"x": 60.0}) is False
    assert one.control_passed({"x": 46}) is None


def test_damage_must_not_be_called_good() -> None:
    def passed(answer: dict[str, str], outputs: list[str]) -> bool | None:
        expected = {"worse": 0, "better": 1}
        check = ShownCheck(Design(kind="edits"), expected, (1, 0), SOURCE, outputs)
        return check.control_passed(answer)

    outputs = ["He goes home .", "goes He . home"]  # in the order shown
    made = shown_edits(SOURCE, outputs)
    good = {str(n): "good" for n in range(1, len(made) + 1)}
    fair = {str(n): "bad" if e[3] == (1,) else "good" for n, e in enumerate(made, 1)}
    assert (passed(good, outputs), passed(fair, outputs)) == (False, True)
    # The damaged copy has the good edits of its original too.
    assert passed({"1": "good", "2": "bad"}, ["He goes home .", "He goes home home ."]) is True


@given(st.integers(0, 50), st.integers(1, 50), st.floats(0.5, 0.99))
def test_wilson_is_scipys(passed: int, more: int, confidence: float) -> None:
    of = passed + more - 1 or 1
    passed = min(passed, of)
    known = binomtest(passed, of).proportion_ci(confidence, method="wilson")
    assert wilson(passed, of, confidence)[1:] == pytest.approx((known.low, known.high), abs=1e-9)


def test_wilson_of_nothing_is_everything() -> None:
    assert np.isnan(wilson(0, 0).value)
    assert wilson(0, 0)[1:] == (0, 1)


def test_rules_that_block() -> None:
    failed = [False, None, True, False, False]
    assert rule_blocks((3, 5), failed)
    assert not rule_blocks((3, 3), failed)
    assert not rule_blocks(None, [False] * 9)
    assert not rule_blocks((3, 5), [False] * 2)


def test_ties_and_first_places() -> None:
    groups = (("A",), ("B",), ("C",))
    judgments = [
        Judgment("j", 0, groups, (1, 1, 2)),
        Judgment("j", 1, groups, (1, 2, 3)),
        Judgment("j", 2, groups, (2, 1, 3)),
        Judgment("j", 3, groups, (None, None, None)),
    ]
    others = [
        Judgment("skips", 0, groups, (None, None, None)),
        Judgment("first", 1, groups[:2], (1, 2)),
        Judgment("one", 1, groups[:2], (1, None)),
    ]
    read = ranking_columns([judgments[0], *others, *judgments[1:]])
    assert read.judges == ("j", "skips", "first", "one")
    nan = np.nan
    np.testing.assert_allclose(share_of_ties(output_pairs(read)), [1 / 9, nan, 0, nan])
    first, chance = first_ranked_best(read)
    np.testing.assert_allclose(first, [1 / 2, nan, 1, nan])
    np.testing.assert_allclose(chance, [1 / 3, nan, 1 / 2, nan])
    assert not any(len(each) for each in first_ranked_best(ranking_columns([])))
    assert not len(share_of_ties(output_pairs([])))
