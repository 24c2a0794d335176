"""Sentences are drawn with the probabilities that are kept for them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.collect.items import choose_sentences, coverage, stratum_of, wmt_weight
from errata.core.errors import InputError

STRATA = ["short", "short", "long", "long", "long", "long"]


@given(
    st.lists(st.floats(0.01, 10), min_size=1, max_size=30),
    st.integers(1, 60),
    st.integers(1, 3),
    st.integers(0, 2**32),
    st.sampled_from(["all", "uniform", "wmt", "strata"]),
    st.sampled_from(["proportional", "equal"]),
)
def test_as_many_as_wanted_and_none_too_often(
    weights: list[float], wanted: int, most: int, seed: int, sampling: str, allotment: str
) -> None:
    strata = [str(k % 3) for k in range(len(weights))]
    rng = np.random.default_rng(seed)
    found = choose_sentences(  # type: ignore[call-overload, arg-type, unused-ignore]
        sampling, np.array(weights), strata, wanted, rng, most=most, allotment=allotment
    )
    assert found.items.sum() == min(wanted, most * len(weights))
    assert found.items.max() <= most
    assert (found.items[found.probability == 1] >= 1).all()
    assert ((found.probability > 0) & (found.probability <= 1)).all()


@pytest.mark.parametrize("sampling", ["uniform", "wmt", "strata"])
def test_the_probability_of_inclusion_is_what_happens(sampling: str) -> None:
    weights = np.array([4.0, 1.0, 1.0, 1.0, 1.0, 2.0])
    seen = np.zeros(6)
    draws = 4000
    rng = np.random.default_rng(1)
    for _ in range(draws):
        found = choose_sentences(  # type: ignore[arg-type]
            sampling, weights, STRATA, 3, rng, allotment="equal"
        )
        seen += found.items
    assert found.probability.sum() == pytest.approx(3)
    # Four standard errors of a share of 4,000 draws.
    assert np.abs(seen / draws - found.probability).max() < 4 * 0.5 / np.sqrt(draws)
    if sampling == "wmt":  # 3 * 4 / 10 is cut to 1; the others share the rest by their weights
        assert found.probability.tolist() == pytest.approx([1, *[2 / 6] * 4, 4 / 6])
    if sampling == "strata":
        assert found.probability.tolist() == pytest.approx([0.75] * 2 + [0.375] * 4)


def test_strata_get_their_shares() -> None:
    strata = ["a"] * 40 + ["b"] * 60
    for seed in range(20):
        found = choose_sentences("strata", np.ones(100), strata, 10, np.random.default_rng(seed))
        assert found.items[:40].sum() == 4


def test_the_rule_of_the_wmt() -> None:
    """C(M, 2) / C(Cᵢ, 2): of 13 systems with 13 outputs 5 are covered, with 5 outputs all 13."""
    assert coverage([1] * 13, 5) == 5
    assert coverage([9, 1, 1, 1, 1], 5) == 13
    assert wmt_weight([1] * 13, 5) == pytest.approx(1)
    assert wmt_weight([9, 1, 1, 1, 1], 5) == pytest.approx(10 / 78)
    assert wmt_weight([12, 1], 5) == pytest.approx(10 / 78)


def test_covered_is_the_mean_over_all_choices() -> None:
    from itertools import combinations

    groups = [4, 2, 1, 1, 3]
    exact = np.mean([sum(each) for each in combinations(groups, 3)])
    assert coverage(groups, 3) == pytest.approx(exact)


def test_strata_have_names() -> None:
    assert [stratum_of(n, 2) for n in (9, 10, 30)] == [
        "0-9 tokens, 2 outputs",
        "10-19 tokens, 2 outputs",
        "30+ tokens, 2 outputs",
    ]


def test_nothing_to_choose_from() -> None:
    with pytest.raises(InputError, match="no sentence"):
        choose_sentences("all", np.ones(0), [], 3, np.random.default_rng(0))
