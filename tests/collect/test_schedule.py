"""Checks stand where no judge can tell them by their places."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from errata.collect.schedule import generator_for, purpose_at

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
