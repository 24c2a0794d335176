"""Metrics combined: what a fit gains on the systems it saw, and what is left on others."""

import numpy as np
import pytest
from scipy.optimize import nnls

from errata.core.errors import InputError
from errata.core.stats import Floats
from errata.data import Scores
from errata.meta.ensembles import ensembles
from errata.meta.matching import MatchedScores, match

SYSTEMS = tuple(f"s{k:02}" for k in range(12))


def scores(name: str, values: Floats) -> Scores:
    return Scores(name, SYSTEMS[: len(values)], values)


def test_a_good_metric_among_bad_ones_gets_the_weight() -> None:
    rng = np.random.default_rng(2)
    people = rng.normal(size=12)
    good = people + 0.1 * rng.normal(size=12)
    metrics = [scores("bad", rng.normal(size=12)), scores("good", 100 * good + 7)]
    found = ensembles(match(scores("people", people), metrics))
    _, best, fitted = found.combined
    assert best.weights == (0.0, 1.0)
    assert best.r == best.held_r == pytest.approx(np.corrcoef(people, good)[0, 1])
    assert fitted.weights[1] > 0.85
    assert sum(fitted.weights) == pytest.approx(1)
    assert all(
        low <= w <= high for w, (low, high) in zip(fitted.weights, fitted.spread, strict=True)
    )


def test_mean_ranks_are_those_of_the_metrics() -> None:
    people = np.array([1.0, 2, 3, 4])
    found = ensembles(
        match(
            scores("people", people),
            [scores("a", np.array([1.0, 3, 2, 4])), scores("b", np.array([2.0, 1, 3, 3]))],
        )
    )
    wanted = np.corrcoef(people, [1.5, 2, 2.75, 3.75])[0, 1]  # of ties the mean rank
    assert found.combined[0].r == pytest.approx(wanted)


def test_a_metric_that_says_the_same_of_all_is_not_the_best() -> None:
    people = np.arange(6.0)
    flat, poor = scores("flat", np.full(6, 3.0)), scores("poor", np.array([2.0, 1, 0, 3, 1, 2]))
    best = ensembles(match(scores("people", people), [flat, poor])).combined[1]
    assert best.weights == (0.0, 1.0)
    assert best.r == pytest.approx(np.corrcoef(people, poor.values)[0, 1])


def test_how_far_weights_move_where_a_system_is_left_out() -> None:
    """One system makes the second metric the best of all; without it the first one is."""
    people = np.arange(6.0)
    first = np.array([1.0, 0, 2, 3, 4, 0])
    second = np.array([1.0, 0, 3, 2, 4, 9])
    found = ensembles(match(scores("people", people), [scores("a", first), scores("b", second)]))
    best, fitted = found.combined[1:]
    assert best.weights == (0.0, 1.0)
    assert best.spread == ((0.0, 1.0), (0.0, 1.0))
    left = []
    for gone in range(6):
        kept = [k for k in range(6) if k != gone]
        columns = [(m[kept] - m[kept].mean()) / m[kept].std() for m in (first, second, people)]
        weights = nnls(np.stack(columns[:2], axis=1), columns[2])[0]
        left.append(weights / weights.sum())
    assert fitted.spread == pytest.approx(
        np.stack([np.min(left, axis=0), np.max(left, axis=0)], axis=1)
    )


def test_metrics_that_contradict_people_count_alike() -> None:
    people = np.arange(6.0)
    found = ensembles(
        match(scores("people", people), [scores("a", -people), scores("b", -(people**2))])
    )
    assert found.combined[2].weights == (0.5, 0.5)


@pytest.mark.parametrize(
    ("systems", "metrics", "said"), [(3, 2, "2 metrics and 3 systems"), (5, 1, "1 metric and 5")]
)
def test_too_little_to_combine_is_refused(systems: int, metrics: int, said: str) -> None:
    several = [scores(f"m{k}", np.arange(systems) + 0.5 * k) for k in range(metrics)]
    with pytest.raises(InputError, match=said):
        ensembles(match(scores("people", np.arange(float(systems))), several))


def test_a_system_without_a_score_is_refused_as_where_metrics_are_matched() -> None:
    people, known = np.arange(5.0), np.array([1.0, 0, 2, 3, 4])
    gap = np.array([np.nan, 1, 2, 3, 4])
    matched = MatchedScores(scores("people", people), (scores("a", known), scores("b", gap)))
    for combine in (lambda: ensembles(matched), lambda: match(matched.people, matched.metrics)):
        with pytest.raises(InputError, match=r"\(--without\)"):
            combine()
