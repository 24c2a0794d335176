"""The running choice of references: exact in whole numbers, where doubles are not."""

from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.core.errors import InputError
from errata.kernels import m2_counts
from errata.metrics.running_choice import f_weights, running_choice
from pure import load_pure

KERNELS = [m2_counts, load_pure("m2_counts")]
Counts = Any


def slow_choice(
    counts: Counts, weights: tuple[int, int, int], alone: bool, carry: tuple[int, ...] = (0, 0, 0)
) -> list[int]:
    """The official rule with fractions, written with tuples."""
    totals, chosen = [int(x) for x in carry], []
    for sentence in counts.tolist():
        ranked = []
        for r, own in enumerate(sentence):
            if own[0] >= 0:
                sums = own if alone else [t + x for t, x in zip(totals, own, strict=True)]
                cost = weights[1] * sums[1] + weights[2] * sums[2]
                f = Fraction(weights[0] * sums[0], cost) if cost else Fraction(1)
                ranked.append((-f, -sums[0], cost, r))
        chosen.append(min(ranked)[3] if ranked else -1)
        if ranked:
            totals = [t + x for t, x in zip(totals, sentence[chosen[-1]], strict=True)]
    return chosen


def by_doubles(counts: Counts, carry: tuple[int, ...]) -> int:
    """The first of one sentence's references with the best F0.5 as a double."""
    sums = [[t + x for t, x in zip(carry, own, strict=True)] for own in counts[0].tolist()]
    f = [1.25 * c / (0.25 * g + p) for c, p, g in sums]
    ranked = [(-f[r], -c, 0.25 * g + p, r) for r, (c, p, g) in enumerate(sums)]
    return int(min(ranked)[3])


@pytest.mark.parametrize("kernel", KERNELS, ids=["compiled", "plain"])
@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("beta", [0.5, 1.0, 0.3, 2.0])
def test_it_is_the_official_rule(kernel: ModuleType, alone: bool, beta: float) -> None:
    rng = np.random.default_rng(0)
    weights = f_weights(beta)
    for _ in range(50):
        counts = rng.integers(0, 3, (40, 3, 3))
        counts[rng.random((40, 3)) < 0.2] = -1
        carry = rng.integers(0, 9, 3)
        chosen, after = kernel.choose(counts, np.array(weights), carry, alone)
        assert chosen.tolist() == slow_choice(counts, weights, alone, tuple(carry))
        taken = np.flatnonzero(chosen >= 0)
        assert (after == carry + counts[taken, chosen[taken]].sum(axis=0)).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=["compiled", "plain"])
@pytest.mark.parametrize("bits", [20, 26, 29, 40, 53, 58])
def test_large_totals_are_decided_rightly(kernel: ModuleType, bits: int) -> None:
    """Of N/D either (N + 5) / (D + 8) or N / (D + 1), the latter larger by 5 / D²: one double."""
    correct = 2**bits // 7
    proposed, gold = divmod(7 * correct - 2, 4)
    carry = (correct, proposed, gold)
    counts = np.array([[[1, 2, 0], [0, 0, 1]]])
    weights = f_weights(0.5)
    chosen, _ = kernel.choose(counts, np.array(weights), np.array(carry), False)
    assert chosen.tolist() == slow_choice(counts, weights, False, carry) == [1]
    assert by_doubles(counts, carry) == (0 if bits > 28 else 1)


@given(
    st.lists(st.integers(0, 2**62 - 1), min_size=4, max_size=4),
    st.sampled_from([0, 1, 2**31 - 1, 2**31, 2**32, 2**62 - 1]),
)
def test_products_of_126_bits_have_the_right_sign(numbers: list[int], edge: int) -> None:
    sign = load_pure("m2_counts")._sign
    for a, b, c, d in (numbers, [edge, *numbers[1:]], [numbers[0], edge, edge, numbers[3]]):
        assert sign(a, b, c, d) == (a * b > c * d) - (a * b < c * d)


@pytest.mark.parametrize("alone", [False, True])
def test_what_is_too_large_for_the_kernel_is_decided_all_the_same(alone: bool) -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 4, (60, 3, 3)).astype(np.float64)
    counts[rng.random((60, 3)) < 0.2] = np.nan
    known = np.where(np.isnan(counts), -1, counts).astype(np.int64)
    for beta in (0.333333333, 0.5):
        carry = np.array([2**58, 2**60, 2**60]) if beta == 0.5 else np.zeros(3, np.int64)
        chosen, _ = running_choice(counts, beta, alone=alone, carry=carry.tolist())
        weights = f_weights(beta)
        assert sum(weights) * float(carry.max() + 180) >= 2**62
        assert chosen.tolist() == slow_choice(known, weights, alone, tuple(carry.tolist()))


@pytest.mark.parametrize("kernel", KERNELS, ids=["compiled", "plain"])
def test_totals_that_would_go_round_are_refused(kernel: ModuleType) -> None:
    counts = np.full((1, 1, 3), 2**60)
    with pytest.raises(InputError, match="62 bits"):
        kernel.choose(counts, np.array([5, 4, 1]), np.zeros(3, np.int64), False)
