"""Planning: sizes of campaigns against theory, and which pairs come next."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from errata.core.errors import InputError
from errata.data import Judgment, Scores
from errata.human import compare, rank
from errata.human.plan import next_pairs, plan
from errata.human.ranking import ExpectedWins, NetWins


def pilot(share: float, n: int = 400) -> list[Judgment]:
    """A beats B in a share of single comparisons, each on a sentence of its own."""
    won = round(share * n)
    return [
        Judgment("ann", i, (("A",), ("B",)), (1, 2) if i < won else (2, 1), seconds=30.0)
        for i in range(n)
    ]


@pytest.mark.slow
def test_size_is_that_of_theory() -> None:
    """A binomial campaign: n = ((z_0.975 + z_0.8) sd / difference)²."""
    data = compare(pilot(0.55))
    found = plan(data, NetWins(), "B", "A", simulations=4000, seconds=30.0)
    assert (found.better, found.worse) == ("A", "B")
    assert found.difference == pytest.approx(0.2)
    sd = 2 * np.sqrt(1 - 0.1**2)  # of the difference of the two net win rates, +1 or -1 each
    theory = ((norm.ppf(0.975) + norm.ppf(0.8)) * sd / 0.2) ** 2
    assert found.rankings == pytest.approx(theory, rel=0.1)
    assert found.more == found.rankings - 400
    assert found.hours == pytest.approx(found.more * 30 / 3600)


def test_equal_systems_never_separate() -> None:
    found = plan(compare(pilot(0.5)), NetWins(), "A", "B", largest=20)
    assert found.rankings is found.more is found.hours is None
    assert found.power.max() < 0.1


def test_gain_is_the_expected_gain() -> None:
    """Against simulating what a batch would teach."""
    rng = np.random.default_rng(1)
    values = np.array([0.03, 0.0])
    resampled = np.column_stack(
        [values[0] + rng.normal(scale=0.05, size=200_000), np.zeros(200_000)]
    )
    data = compare([Judgment("ann", i, (("A",), ("B",)), (1, 1)) for i in range(300)])
    gain = next_pairs(Scores("x", ("A", "B"), values, resampled=resampled), data, batch=100).gain[0]
    learned = 0.03 + rng.normal(scale=0.05 * np.sqrt(100 / 400), size=2_000_000)
    assert gain == pytest.approx(np.maximum(learned, 0).mean() - 0.03, rel=0.02)


def test_misuse() -> None:
    data = compare(pilot(0.6))
    with pytest.raises(InputError, match="nothing is known of the system 'C'"):
        plan(data, NetWins(), "A", "C")
    with pytest.raises(InputError, match="the same"):
        plan(data, NetWins(), "A", "A")
    with pytest.raises(InputError, match="confidence"):
        plan(data, NetWins(), "A", "B", confidence=1.0)
    with pytest.raises(InputError, match="a pilot of one"):
        plan(compare(pilot(1, n=1)), NetWins(), "A", "B")
    assert plan(compare(pilot(1, n=2)), NetWins(), "A", "B").better == "A"
    with pytest.raises(InputError, match="needs resamples"):
        next_pairs(rank(ExpectedWins(), data, resamples=0), data)
