"""What a tie is: numbers that differ by rounding only are the same number."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from errata.core.correlation import kendall, pairwise_accuracy, pearson, ranks, spearman
from errata.core.stats import group_ids, merge_ties, stable_order
from errata.data import Judgment, Scores
from errata.human import compare
from errata.human.ranking import ranks_of
from errata.meta.pairwise import confusion

whole = st.integers(0, 2000)
TWO_WAYS = 5 / 11, 1 - 6 / 11  # 0.45454545454545453 and 0.4545454545454546


@given(st.lists(st.tuples(whole, whole), min_size=2, max_size=12))
def test_ratios_of_whole_numbers_are_compared_exactly(counts: list[tuple[int, int]]) -> None:
    """F of true, false and missed edits, by two formulas that round differently."""
    exact, found = [], []
    for k, (right, wrong) in enumerate(counts):
        proposed, gold = right + wrong + 1, right + 3
        exact.append(Fraction(5 * right, 4 * proposed + gold))
        p, r = right / proposed, right / gold
        by_hand = 1.25 * p * r / (0.25 * p + r) if right else 0.0
        found.append(by_hand if k % 2 else 5 * right / (4 * proposed + gold))
    values = merge_ties(found)
    for i in range(len(exact)):
        for j in range(len(exact)):
            assert (values[i] < values[j]) == (exact[i] < exact[j])
            assert (values[i] == values[j]) == (exact[i] == exact[j])


def test_ties_are_ties_everywhere() -> None:
    a, b = TWO_WAYS
    assert a != b
    x, y = [0.9, a, b, 0.1], [4.0, 2.0, 2.0, 1.0]
    assert ranks(x).tolist() == ranks(y).tolist() == [4, 2.5, 2.5, 1]
    assert float(kendall(x, y)) == pytest.approx(1.0)
    assert float(pairwise_accuracy(x, y)) == 1.0
    assert float(spearman(x, y)) == pytest.approx(1.0)
    assert [place.tolist() for place in ranks_of(np.array(x))] == [[1, 2, 2, 4], [1, 3, 3, 4]]
    scores = Scores("f", ("A", "B", "C"), np.array([a, b, 0.5]), resampled=np.array([[a, b, 0.5]]))
    assert scores.ranks == (2, 2, 1)
    assert scores.order == (2, 0, 1)
    assert scores.p_values()[0, 1] == scores.p_values()[1, 0]
    single = Scores("f", ("A", "B"), np.array([a, b]), np.array([[a], [b]]))
    said = compare([Judgment("ann", 0, (("A",), ("B",)), (1, 2))])
    assert confusion(said, single)[:, 1].sum() == 1


def test_around_zero_and_at_the_ends() -> None:
    assert merge_ties([0.0, 0.1 + 0.2 - 0.3, 0.5])[1] == 0.0
    for far in (1e-320, 1e308):
        assert len(set(merge_ties([far, far / 2, far / 4]).tolist())) == 3
    assert len(set(merge_ties([1.0, 2.0, 3.0, 1e308]).tolist())) == 4
    values = merge_ties([np.inf, 1.0, np.nan, -np.inf, np.inf])
    np.testing.assert_equal(values, [np.inf, 1.0, np.nan, -np.inf, np.inf])
    assert merge_ties([]).shape == (0,)
    assert merge_ties(np.zeros((2, 0))).shape == (2, 0)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20))
def test_what_is_settled_stays_so_and_keeps_its_order(values: list[float]) -> None:
    once = merge_ties(values)
    np.testing.assert_array_equal(merge_ties(once), once)
    order = np.argsort(values, kind="stable")
    assert (np.diff(once[order]) >= 0).all()
    np.testing.assert_allclose(once, values, rtol=0, atol=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e-320, 1e308, 2.0**-1000])
def test_correlations_of_very_large_and_small_scores(scale: float) -> None:
    x = np.array([0.1, 0.35, 0.7, 0.4]) * scale
    assert float(pearson(x, [1, 2, 4, 3])) == pytest.approx(
        float(pearson(x / scale, [1, 2, 4, 3])), abs=1e-3 if scale == 1e-320 else 1e-12
    )


def test_what_is_no_number_has_no_rank() -> None:
    x, y = [0.1, np.nan, 0.3, 0.4], [1.0, 2.0, 3.0, 4.0]
    np.testing.assert_equal(ranks(x), [1, np.nan, 2, 3])
    for correlation in (pearson, spearman, kendall, pairwise_accuracy):
        assert np.isnan(correlation(x, y))
        assert np.isnan(correlation(y, x))
        assert np.isnan(correlation([x, y], y)).tolist() == [True, False]


@example([2**63 - 1])
@given(st.lists(st.one_of(st.integers(0, 9), st.integers(0, 2**63 - 1)), max_size=40))
def test_numbers_are_sorted_as_numpy_does(numbers: list[int]) -> None:
    """Such as fit into a word with their place, and such as do not."""
    given_ = np.array(numbers, np.int64)
    np.testing.assert_array_equal(stable_order(given_), np.argsort(given_, kind="stable"))
    for found, known in zip(group_ids(given_), np.unique(given_, return_inverse=True), strict=True):
        np.testing.assert_array_equal(found, known)
