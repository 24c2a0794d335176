"""Controls, repeats, ties and first places; stored answers as judgments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from errata.collect.design import Design, Scale
from errata.collect.items import shown_edits
from errata.collect.qualification import ShownCheck, first_ranked_best, rule_blocks, share_of_ties
from errata.core.stats import wilson
from errata.data import Judgment
from errata.human.output_pairs import output_pairs, ranking_columns

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
