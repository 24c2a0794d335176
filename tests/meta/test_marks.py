"""Accuracy pair by pair: rankings that count alike, thresholds, swaps; against plain loops."""

from itertools import combinations, product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from errata.core.errors import InputError
from errata.data import Judgment, Scores
from errata.human import Comparisons, compare
from errata.meta import pairwise
from errata.meta.sentence_level import sentence_level

SYSTEMS = ("A", "B", "C", "D", "E")


def material(rankings: int = 40, seed: int = 0) -> tuple[list[Judgment], list[Scores]]:
    """Rankings of three to five systems, with ties, and two metrics, one of them coarse."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(5, rankings)) + np.arange(5)[:, None] / 3
    judgments = []
    for s in range(rankings):
        shown = rng.permutation(5)[: rng.integers(3, 6)]
        ranks = tuple(int(r) for r in rng.integers(1, 4, len(shown)))
        groups = tuple((SYSTEMS[k],) for k in shown)
        judgments.append(Judgment("ann", s, groups, ranks, f"i{s}"))
    fine = quality + rng.normal(size=quality.shape)
    coarse = np.round(quality)
    return judgments, [
        Scores(name, SYSTEMS, table.mean(1), table)
        for name, table in (("fine", fine), ("coarse", coarse))
    ]


def plain_rows(judgments: list[Judgment], scores: Scores) -> list[list[tuple[float, float]]]:
    """Of each ranking the human and metric differences of its pairs."""
    rows = []
    for j in judgments:
        said = [
            (-rank, scores.sentences[SYSTEMS.index(group[0]), j.sentence])
            for group, rank in zip(j.groups, j.ranks, strict=True)
            if rank is not None
        ]
        rows.append([(a[0] - b[0], a[1] - b[1]) for a, b in combinations(said, 2)])
    return rows


def right(human: float, metric: float, threshold: float = 0.0) -> bool:
    said = 0.0 if abs(metric) <= threshold else np.sign(metric)
    return bool(np.sign(human) == said)


def test_row_accuracy_is_a_mean_of_means() -> None:
    judgments, metrics = material()
    pairs = compare(judgments)
    for scores in metrics:
        rows = plain_rows(judgments, scores)
        expected = np.mean([np.mean([right(h, m) for h, m in row]) for row in rows])
        found = sentence_level(pairs, scores, convention="row_accuracy", resamples=200)
        assert found.value.value == pytest.approx(expected, abs=1e-12)
        assert found.value.low < expected < found.value.high
        flat = [right(h, m) for row in rows for h, m in row]
        assert found.value.value != pytest.approx(np.mean(flat), abs=1e-6)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2))))
def test_the_best_threshold_is_the_smallest_with_most_right(pairs: list[tuple[int, int]]) -> None:
    pairs.sort()
    reached = {t: sum(gain for size, gain in pairs if size <= t) for t in (0, *dict(pairs))}
    best = min(t for t in reached if reached[t] == max(reached.values()))
    size, gain = np.array(pairs, np.float64).reshape(-1, 2).T
    assert pairwise.best_threshold(size, gain) == best


def test_in_sample_calibration_tries_every_threshold_and_is_marked() -> None:
    judgments, metrics = material()
    pairs = compare(judgments)
    for scores in metrics:
        rows = plain_rows(judgments, scores)
        best = max(
            np.mean([np.mean([right(h, m, eps) for h, m in row]) for row in rows])
            for eps in {0.0, *(abs(m) for row in rows for _, m in row)}
        )
        found = sentence_level(pairs, scores, convention="row_calibrated", resamples=20)
        assert found.value.value == pytest.approx(best, abs=1e-12)
        assert found.in_sample
        plain = sentence_level(pairs, scores, convention="row_accuracy", resamples=0)
        assert found.value.value >= plain.value.value
        assert not plain.in_sample


def test_tau_c_is_scipy_s_in_every_ranking() -> None:
    judgments, metrics = material()
    pairs = compare(judgments)
    for scores in metrics:
        values = []
        for j in judgments:
            mine = [scores.sentences[SYSTEMS.index(g[0]), j.sentence] for g in j.groups]
            people = [-rank for rank in j.ranks if rank is not None]
            if len(set(mine)) > 1 and len(set(people)) > 1:
                values.append(scipy.stats.kendalltau(people, mine, variant="c")[0])
        found = sentence_level(pairs, scores, convention="tau_c", resamples=200)
        assert found.value.value == pytest.approx(np.mean(values), abs=1e-12)
        assert found.value.low < found.value.value < found.value.high
        assert found.floor == 0.0


def test_tau_c_needs_whole_systems() -> None:
    pairs = compare([Judgment("ann", 0, (("A", "B"), ("C",)), (1, 2))], members="expected")
    with pytest.raises(InputError, match="expected members are parts"):
        pairwise.tau_c_of_rankings(pairs, np.zeros(len(pairs), np.int8), "rankings", 0, 0.95, 0)


def marks(pairs: Comparisons, scores: Scores, **options: bool) -> pairwise.PairOutcomes:
    return pairwise.pair_outcomes(pairs, pairwise.differences(pairs, scores), **options)


def test_swaps_are_tried_all_where_they_are_few() -> None:
    judgments, metrics = material(8)
    pairs = compare(judgments)
    first, second = (marks(pairs, scores, rows=True) for scores in metrics)
    number, many = pairs.units("rankings")
    lead = first.weight * first.right - second.weight * second.right
    units = [float(lead[number == k].sum()) for k in range(many)]
    sums = [float(np.dot(signs, units)) for signs in product((1, -1), repeat=many)]
    better = np.mean([s >= sum(units) - 1e-9 for s in sums])
    worse = np.mean([s <= sum(units) + 1e-9 for s in sums])
    found = pairwise.swap_test(pairs, first, second, unit="rankings")
    assert found == pytest.approx((better, worse))
    assert pairwise.swap_test(pairs, second, first, unit="rankings") == pytest.approx(found[::-1])
    assert pairwise.swap_test(pairs, first, first) == (1.0, 1.0)


@pytest.mark.parametrize("units", [15, 16, 17])
def test_up_to_sixteen_units_swaps_are_tried_all(units: int) -> None:
    pairs = compare([Judgment("ann", k, (("A",), ("B",)), (1, 2), f"i{k}") for k in range(units)])
    right = np.arange(units) > 3
    first, second = (pairwise.PairOutcomes(side, np.ones(units)) for side in (right, ~right))
    p, _ = pairwise.swap_test(pairs, first, second, resamples=100)
    exact = scipy.stats.binom.sf(units - 5, units, 0.5)
    if units <= 16:
        assert p == pytest.approx(exact, rel=1e-12)
    else:
        assert p != pytest.approx(exact, rel=1e-3)
        assert p * 101 == pytest.approx(round(p * 101))
