"""Places: who is not told apart from the best, and who opens the next place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.core.stats import Estimate, holm
from errata.meta.significance import standings


def estimates(values: list[float]) -> list[Estimate]:
    return [Estimate(value, np.nan, np.nan) for value in values]


def places(values: list[float], p: dict[tuple[int, int], float]) -> list[int | None]:
    names = [f"m{k}" for k in range(len(values))]
    found, _ = standings(names, estimates(values), lambda a, b: p.get((a, b), 1.0))
    return [each.place for each in found]


def test_those_not_told_from_the_best_share_its_place() -> None:
    told = {(1, 0): 0.001, (1, 3): 0.001, (0, 3): 0.5}
    assert places([0.5, 0.9, 0.8, 0.4], told) == [2, 1, 1, 2]


def test_the_best_of_those_left_opens_the_next_place() -> None:
    told = {(0, 1): 0.001, (0, 2): 0.001, (1, 2): 0.001}
    assert places([0.9, 0.5, 0.1], told) == [1, 2, 3]


def test_tests_of_one_best_are_corrected_together() -> None:
    told = {(0, 1): 0.03, (0, 2): 0.03}
    assert places([0.9, 0.5, 0.4], told) == [1, 1, 1]  # 0.03 twice is 0.06
    names = ["a", "b", "c"]
    _, tests = standings(names, estimates([0.9, 0.5, 0.4]), lambda a, b: told[a, b])
    assert [test.holm for test in tests] == holm([0.03, 0.03]).tolist()
    assert [(test.best, test.other, test.place) for test in tests] == [("a", "b", 1), ("a", "c", 1)]
    assert [test.lead for test in tests] == pytest.approx([0.4, 0.5])


def test_an_undefined_test_tells_nobody_apart_and_nothing_has_no_place() -> None:
    assert places([0.9, 0.5, np.nan], {(0, 1): float("nan")}) == [1, 1, None]
    found, tests = standings(["a", "b"], estimates([0.9, 0.5]), None)
    assert [each.place for each in found] == [None, None]
    assert tests == ()


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=7), st.integers(0, 99), st.data())
def test_places_depend_on_values_alone(values: list[float], seed: int, data: st.DataObject) -> None:
    values = [round(value, 3) + k * 1e-5 for k, value in enumerate(values)]  # no two alike
    p = np.random.default_rng(seed).random((len(values), len(values))) / 4
    names = [f"m{k}" for k in range(len(values))]
    found, _ = standings(names, estimates(values), lambda a, b: float(p[a, b]))
    order = data.draw(st.permutations(range(len(values))))
    other, _ = standings(
        [names[k] for k in order],
        estimates([values[k] for k in order]),
        lambda a, b: float(p[order[a], order[b]]),
    )
    assert {each.metric: each.place for each in found} == {e.metric: e.place for e in other}
    given = sorted(each.place or 0 for each in found)
    assert set(given) == set(range(1, given[-1] + 1))
    best = max(found, key=lambda each: each.value.value)
    assert best.place == 1
