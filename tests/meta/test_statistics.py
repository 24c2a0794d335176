"""Correlations and tests against scipy, published figures and closed forms."""

import csv
import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given
from hypothesis import strategies as st

from errata.core.correlation import (
    Correlation,
    correlate,
    kendall,
    kendall_c,
    kendall_like,
    pairwise_accuracy,
    pearson,
    ranks,
    soft_pairwise_accuracy,
    spearman,
)
from errata.core.errors import InputError
from errata.core.stats import Estimate, group_ids, holm, merge_ties, stable_order
from errata.data import Judgment, Scores
from errata.human import compare
from errata.human.ranking import ranks_of
from errata.meta import significance
from errata.meta.pairwise import CONVENTIONS, confusion

values = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=3, max_size=12)


@given(values)
def test_correlations_equal_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, float).T
    np.testing.assert_array_equal(ranks(x), scipy.stats.rankdata(x))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan([pearson(x, y), spearman(x, y), kendall(x, y)]).all()
        return
    np.testing.assert_allclose(pearson(x, y), scipy.stats.pearsonr(x, y)[0], atol=1e-12)
    np.testing.assert_allclose(spearman(x, y), scipy.stats.spearmanr(x, y)[0], atol=1e-12)
    np.testing.assert_allclose(kendall(x, y), scipy.stats.kendalltau(x, y)[0], atol=1e-12)
    tau_c = scipy.stats.kendalltau(x, y, variant="c")[0]
    np.testing.assert_allclose(kendall_c(x, y), tau_c, atol=1e-12)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-3, 3)), min_size=2, max_size=40))
def test_pairs_are_counted_as_in_two_loops(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, float).T
    signs = [(np.sign(a - c), np.sign(b - d)) for (a, b), (c, d) in combinations(pairs, 2)]
    assert float(pairwise_accuracy(x, y)) == pytest.approx(np.mean([p == q for p, q in signs]))
    net = sum(p * q for p, q in signs)
    ties = [sum(s[k] != 0 for s in signs) for k in (0, 1)]
    if all(ties):
        assert float(kendall(x, y)) == pytest.approx(net / np.sqrt(ties[0] * ties[1]))


def test_kendall_like_by_hand() -> None:
    human = [[80.0, 50.0, 40.0], [10.0, 90.0, np.nan]]
    # 80-50 and 80-40 are apart, 50-40 is not; 10-90 is.
    assert kendall_like(human, [[3, 2, 1], [1, 2, 0]]) == 1.0
    assert kendall_like(human, [[3, 3, 1], [2, 1, 0]]) == pytest.approx((1 - 2) / 3)
    assert kendall_like(human, [[3, 2, 9], [1, 2, 0]], threshold=10) == 0.0
    assert np.isnan(kendall_like([[1.0, 2.0]], [[1.0, 2.0]]))
    with pytest.raises(InputError, match="threshold"):
        kendall_like(human, human, threshold=0)


def test_flips_are_those_of_all_signs() -> None:
    """Many flips come near what trying every one gives."""
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(3, 8)) + np.array([[0.0], [0.4], [1.0]])
    signs = 1 - 2 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)
    found = significance.flip_p_values(scores, resamples=20_000, rng=1)
    for a in range(3):
        for b in range(3):
            apart = scores[a] - scores[b]
            exact = ((signs * apart).sum(1) >= apart.sum() - 1e-12).mean()
            assert found[a, b] == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 20_000))
    some = np.where(np.arange(8) == 3, np.nan, scores)
    np.testing.assert_array_equal(
        significance.flip_p_values(some), significance.flip_p_values(np.delete(scores, 3, axis=1))
    )
    assert np.isnan(significance.flip_p_values(np.full((2, 4), np.nan))).all()


def test_soft_accuracy() -> None:
    sure = np.array([[0.5, 0.0], [1.0, 0.5]])
    assert soft_pairwise_accuracy(sure, sure) == 1
    assert soft_pairwise_accuracy(sure, 1 - sure) == 0
    assert soft_pairwise_accuracy(sure, np.full((2, 2), 0.5)) == 0.5
    with pytest.raises(InputError):
        soft_pairwise_accuracy(sure, sure[:1])


def test_bad_correlations() -> None:
    with pytest.raises(InputError, match="correlation 'cosine' is unknown"):
        correlate("cosine", [1, 2], [1, 2])
    with pytest.raises(InputError, match="cannot correlate 2 with 3"):
        correlate("pearson", [1, 2], [1, 2, 3])


def test_williams_equals_the_published_p_values(oracles: Path) -> None:
    with open(oracles / "meta" / "chollampatt_williams.tsv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 48
    for row in rows:
        r12, r13, r23 = (float(row[name]) for name in ("r12", "r13", "r23"))
        result = significance.williams(r12, r13, r23, int(row["n"]))
        assert result.t == pytest.approx(float(row["t"]), rel=1e-12)
        assert result.p == pytest.approx(float(row["one_sided_p"]), rel=1e-10)
    with pytest.raises(InputError):
        significance.williams(0.5, 0.4, 0.3, 3)
    with pytest.raises(InputError, match="not made for kendall"):
        significance.williams_test([1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 4, 3], kind="kendall")


PEOPLE = [0.62, 0.57, 0.56, 0.55, 0.54, 0.51, 0.3]
METRIC = [0.35, 0.21, 0.37, 0.36, 0.09, 0.07, 0.01]


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (METRIC, [100 * x for x in METRIC]),  # itself in percent
        (METRIC, [-x for x in METRIC]),
        (METRIC, [x / 3 + 0.7 for x in METRIC]),
        ([2 * x + 1 for x in PEOPLE], METRIC),  # perfect
        ([-x for x in PEOPLE], METRIC),
    ],
)
def test_williams_is_undefined_where_nothing_is_left_to_chance(
    first: list[float], second: list[float], kind: Correlation
) -> None:
    for x, y in ((first, second), (second, first)):
        result = significance.williams_test(PEOPLE, x, y, kind=kind)
        assert np.isnan([result.t, result.p]).all()


def test_permutation_test_is_exact_for_few_systems() -> None:
    rng = np.random.default_rng(3)
    human = rng.normal(size=8)
    good, bad = human + 0.3 * rng.normal(size=8), rng.normal(size=8)
    p = significance.permutation_test(human, good, bad)
    assert p == significance.permutation_test(human, good, bad, rng=9)
    assert 1 / 256 <= p < 0.05
    assert significance.permutation_test(human, bad, good) > 0.9
    assert significance.permutation_test(human, good, good) == 1.0


def test_holm_equals_a_worked_example() -> None:
    # Sorted p: .005 .01 .03 .04 -> x4, x3, x2, x1, then made monotone.
    np.testing.assert_allclose(
        holm([0.01, np.nan, 0.04, 0.03, 0.005]), [0.03, np.nan, 0.06, 0.06, 0.02]
    )
    assert holm([[0.9, 0.8]]).tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("scale", [1e308, 1e-320])
def test_extreme_scores_have_the_same_figures(scale: float) -> None:
    """Squares of such numbers overflow or vanish; correlations do not depend on the scale."""
    people = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    good, bad = np.array([3, -6, 9, 12, 13]) / 16, np.array([9, 6, -3, 12, 1]) / 16
    far = [np.round(v * 64) * (scale / 64) for v in (good, bad)]
    near = [v / scale for v in far]
    for kind in ("pearson", "spearman", "kendall", "accuracy"):
        assert correlate(kind, far[0], people) == pytest.approx(correlate(kind, near[0], people))
    # Warnings are errors here: nothing overflows on the way.
    p, q = (significance.permutation_test(people, *v, resamples=200, rng=0) for v in (far, near))
    assert p == pytest.approx(q)


def estimates(values: list[float]) -> list[Estimate]:
    return [Estimate(value, np.nan, np.nan) for value in values]


def places(values: list[float], p: dict[tuple[int, int], float]) -> list[int | None]:
    names = [f"m{k}" for k in range(len(values))]
    found, _ = significance.standings(names, estimates(values), lambda a, b: p.get((a, b), 1.0))
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
    _, tests = significance.standings(names, estimates([0.9, 0.5, 0.4]), lambda a, b: told[a, b])
    assert [test.holm for test in tests] == holm([0.03, 0.03]).tolist()
    assert [(test.best, test.other, test.place) for test in tests] == [("a", "b", 1), ("a", "c", 1)]
    assert [test.lead for test in tests] == pytest.approx([0.4, 0.5])


def test_an_undefined_test_tells_nobody_apart_and_nothing_has_no_place() -> None:
    assert places([0.9, 0.5, np.nan], {(0, 1): float("nan")}) == [1, 1, None]
    found, tests = significance.standings(["a", "b"], estimates([0.9, 0.5]), None)
    assert [each.place for each in found] == [None, None]
    assert tests == ()


GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "meta.json").read_text(encoding="utf-8")
)


OURS = {
    "noties": "noties",
    "hties": "hties",
    "wmt13": "tau_wmt13_dropmetricties",
    "wmt14": "wmt14",
    "tau_b": "tau_b_pairs",
    "accuracy": "acc_eq",
}


@pytest.mark.parametrize(
    "row",
    GOLDEN["williams"],
    ids=lambda r: "-".join(map(str, (r["human"], r["corr"], r["higher"], r["lower"], r["n"]))),
)
def test_williams_of_other_implementations(row: dict[str, Any]) -> None:
    result = significance.williams(row["r12"], row["r13"], row["r23"], row["n"])
    assert result.t == pytest.approx(row["t"], rel=1e-12)
    assert result.p == pytest.approx(row["one_sided_p"], rel=1e-10)


@pytest.mark.parametrize("name", GOLDEN["sentences"])
def test_conventions_of_other_implementations(name: str) -> None:
    case = GOLDEN["sentences"][name]
    signs = (-1, 0, 1)
    table = np.array([[float(case["confusion"][f"{h},{m}"]) for m in signs] for h in signs])
    for ours, theirs in OURS.items():
        assert float(CONVENTIONS[ours](table)) == pytest.approx(case[theirs], rel=1e-12), ours


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
