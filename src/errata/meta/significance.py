"""Williams, permutation, Holm; metrics tied with the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from errata.core.correlation import Correlation, correlate, pearson, ranks
from errata.core.errors import InputError
from errata.core.stats import BLOCK, Estimate, Floats, Seed, holm, merge_ties, rescale

VANISHES = 1e-12  # a determinant of correlations below it is rounding
EXACT = 16  # up to so many systems or units every swap is tried, not sampled


@dataclass(frozen=True)
class Williams:
    """The outcome of `williams`: t, degrees of freedom, one-sided p; NaN where it is undefined."""

    t: float
    df: int
    p: float


def williams(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Williams' test of two correlations that share a variable (Williams 1959; Steiger 1980).

    1 = people, 2 = the metric that may be better, 3 = the other::

        K = 1 - r12² - r13² - r23² + 2 r12 r13 r23,   r̄ = (r12 + r13) / 2
        t = (r12 - r13) √[ (n-1)(1+r23) / ( 2K (n-1)/(n-3) + r̄² (1-r23)³ ) ],   df = n - 3

    ``p`` is one-sided: small where r12 is larger. Correlations are compared with their signs, as
    Chollampatt & Ng (2018) do; Graham & Baldwin (2014) compare absolute values.

    Where the determinant K vanishes, one of the three follows from the others: a perfect
    correlation with people, a metric against itself in percent, exact opposites. There is no
    spread left to test against, and t and p are NaN. (The formula would give 0 or 1, as the last
    bits of the correlations happen to fall.)

    >>> result = williams(0.7, 0.6, 0.9, 13)
    >>> round(result.t, 4), round(result.p, 4)
    (0.9939, 0.1719)
    """
    if n < 4:
        raise InputError(f"Williams' test needs 4 systems or more, not {n}")
    if not _determinant(r12, r13, r23) > VANISHES:
        return Williams(float("nan"), n - 3, float("nan"))
    return _williams(r12, r13, r23, n)


def _determinant(r12: float, r13: float, r23: float) -> float:
    """K of `williams`: how much room three correlations leave each other; 0 is none."""
    return 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23


def _williams(r12: float, r13: float, r23: float, n: int) -> Williams:
    """The formula of `williams`, up to where the determinant vanishes."""
    from scipy.special import stdtr

    room = max(0.0, _determinant(r12, r13, r23))
    bottom = 2 * room * (n - 1) / (n - 3) + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    if not bottom > 0:
        return Williams(float("nan"), n - 3, float("nan"))
    t = (r12 - r13) * float(np.sqrt((n - 1) * (1 + r23) / bottom))
    return Williams(t, n - 3, float(stdtr(n - 3, -t)))


def williams_test(
    human: ArrayLike, better: ArrayLike, worse: ArrayLike, *, kind: Correlation = "pearson"
) -> Williams:
    """Williams' test on scores; ``kind="spearman"`` puts ranks in, as the field does.

    The test is derived for Pearson's r; with ranks it is a heuristic without theory behind it.
    """
    if kind not in ("pearson", "spearman"):
        raise InputError(
            f"Williams' test is not made for {kind}",
            remedy="use pearson or spearman, or a permutation test",
        )
    h, a, b = (
        np.asarray(v, np.float64) if kind == "pearson" else ranks(v) for v in (human, better, worse)
    )
    return williams(float(pearson(h, a)), float(pearson(h, b)), float(pearson(a, b)), h.shape[-1])


def permutation_test(
    human: ArrayLike,
    better: ArrayLike,
    worse: ArrayLike,
    *,
    kind: Correlation = "pearson",
    resamples: int = 10_000,
    rng: Seed = 0,
) -> float:
    """One-sided p that the first metric correlates better, by swapping the metrics' scores.

    Under the null hypothesis the two metrics are exchangeable on every system (PERM-BOTH of
    Deutsch et al. 2021): scores are standardised, then swapped system by system. With 16 systems
    or fewer all swaps are tried and the p-value is exact; otherwise ``resamples`` are drawn and
    the observed one counts among them.
    """
    return permutation_tests(human, better, worse, kind=kind, resamples=resamples, rng=rng)[0]


def permutation_tests(
    human: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    kind: Correlation = "pearson",
    resamples: int = 10_000,
    rng: Seed,
) -> tuple[float, float]:
    """`permutation_test` both ways: that the first metric correlates better, and the second.

    The same swaps serve both questions, with the sign of the difference turned round.
    """
    h, a, b = (np.asarray(v, np.float64) for v in (human, first, second))
    a, b = _standardise(a), _standardise(b)
    n = len(h)
    observed = float(correlate(kind, h, a) - correlate(kind, h, b))
    if n <= EXACT:
        swap = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
        swapped = correlate(kind, h, np.where(swap, b, a))
        null = swapped - swapped[::-1]  # row -1 - k swaps whatever row k does not
    else:
        generator = np.random.default_rng(rng)
        parts = []
        step = max(1, BLOCK // n)
        for start in range(0, resamples, step):
            swap = generator.random((min(step, resamples - start), n)) < 0.5
            parts.append(
                correlate(kind, h, np.where(swap, b, a)) - correlate(kind, h, np.where(swap, a, b))
            )
        null = np.concatenate(parts)
    return both_directions(null, observed, drawn=n > EXACT, within=1e-12)


def both_directions(
    null: Floats, observed: float, *, drawn: bool, within: float
) -> tuple[float, float]:
    """Return one-sided p-values of a difference and of its opposite, from null differences.

    Where these were ``drawn`` the observed one counts among them. Equal sums in another order may
    differ in the last bits: a difference so small, ``within``, is a tie and not a win.

    >>> both_directions(np.array([-1.0, 0.0, 0.0, 1.0]), 1.0, drawn=False, within=1e-12)
    (0.25, 1.0)
    """

    def p_value(null: Floats, observed: float) -> float:
        reached = int((null >= observed - within).sum())
        return (reached + drawn) / (len(null) + drawn)

    return p_value(null, observed), p_value(-null, -observed)


def flip_p_values(sentences: ArrayLike, *, resamples: int = 1000, rng: Seed = 0) -> Floats:
    """Paired permutation over sentences: ``p[a, b]``, one-sided, small where a is better than b.

    ``sentences[s, i]`` are scores of sentences, whose means are compared. Under the null
    hypothesis the sign of each sentence's difference is a coin; the same coins serve all pairs, and
    p is the share of flips that reach the difference observed (pce.py of mt-metrics-eval, for soft
    pairwise accuracy; Thompson et al. 2024). A pair is compared on sentences that all systems have.
    """
    table = np.asarray(sentences, np.float64)
    table = table[:, ~np.isnan(table).any(axis=0)]
    n, systems = table.shape[1], len(table)
    if not n:
        return np.full((systems, systems), np.nan)
    mean = table.mean(axis=1)
    observed = mean[:, None] - mean[None, :]
    generator = np.random.default_rng(rng)
    reached = np.zeros((systems, systems))
    for _ in range(resamples):
        flipped = table @ (2.0 * generator.integers(0, 2, n) - 1) / n
        # Equal sums in another order may differ in the last bits; they reach what they equal.
        reached += flipped[:, None] - flipped[None, :] >= observed - 1e-12
    return reached / resamples


def _standardise(values: Floats) -> Floats:
    near = rescale(values)
    spread = float(near.std())
    return np.asarray((near - near.mean()) / (spread or 1.0), np.float64)


def holm_pairs(p_values: Floats) -> Floats:
    """Holm's correction of a matrix of one-sided p-values, one test per pair.

    Of ``p[a, b]`` and ``p[b, a]`` only the smaller is a test; the other stays NaN.
    """
    kept = np.where(p_values < p_values.T, p_values, np.nan)
    tie = (p_values == p_values.T) & np.triu(np.ones(p_values.shape, bool), 1)
    return holm(np.where(tie, p_values, kept))


def detectable_difference(worse: float, between: float, n: int, *, level: float = 0.05) -> float:
    """The smallest lead over a correlation ``worse`` that Williams' test would call significant.

    ``between`` is the correlation of the two metrics with each other. NaN says that not even a
    perfect metric could differ significantly with ``n`` systems.

    >>> round(detectable_difference(0.6, 0.8, 13), 3)
    0.211
    """
    if n < 4:
        return float("nan")
    # Three correlations are possible together only while their determinant is not negative.
    most = between * worse + float(np.sqrt((1 - between**2) * (1 - worse**2)))
    if not _williams(most, worse, between, n).p <= level:
        return float("nan")
    low, high = worse, most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if _williams(middle, worse, between, n).p <= level else (middle, high)
        )
    return high - worse


# ---- Places of metrics: which are not significantly different from the best, and from the next
# best.


@dataclass(frozen=True)
class MetricStanding:
    """A metric with its value; ``place`` 1 is tied with the best (None: not tested)."""

    metric: str
    value: Estimate
    place: int | None


@dataclass(frozen=True)
class SignificanceTest:
    """A test of the best metric of a place against another that stood behind it.

    ``p`` is one-sided, ``holm`` corrected over all tests of the same best metric.
    """

    place: int
    best: str
    other: str
    lead: float
    p: float
    holm: float


def standings(
    metrics: Sequence[str],
    values: Sequence[Estimate],
    p_value: Callable[[int, int], float] | None,
    *,
    level: float = 0.05,
) -> tuple[tuple[MetricStanding, ...], tuple[SignificanceTest, ...]]:
    """Give metrics their places, in the order given, and say which tests decided.

    The best is compared with all others; those that are not significantly worse (Holm's correction
    over these tests) share the first place with it. Of those left the best opens the second place,
    and so on. ``p_value(a, b)`` is one-sided, small where metric a is really better than b; where a
    test is undefined (NaN) two metrics are tied. A metric without a value has no place.

    >>> p = {(0, 1): 0.2, (0, 2): 0.001}
    >>> values = [Estimate(v, np.nan, np.nan) for v in (0.9, 0.8, 0.1)]
    >>> found, tests = standings(["a", "b", "c"], values, lambda a, b: p[a, b])
    >>> [(each.metric, each.place) for each in found], [round(t.holm, 3) for t in tests]
    ([('a', 1), ('b', 1), ('c', 2)], [0.2, 0.002])
    """
    place: dict[int, int] = {}
    tests: list[SignificanceTest] = []
    size = merge_ties([value.value for value in values])
    left = [k for k in np.argsort(-size, kind="stable").tolist() if not np.isnan(size[k])]
    number = 0
    while left and p_value is not None:
        number += 1
        head, *rest = left
        p = [p_value(head, k) for k in rest]
        adjusted = holm(p).tolist()
        place[head] = number
        left = []
        for k, single, corrected in zip(rest, p, adjusted, strict=True):
            lead = float(size[head] - size[k])
            tests.append(
                SignificanceTest(number, metrics[head], metrics[k], lead, single, corrected)
            )
            if corrected <= level:
                left.append(k)
            else:
                place[k] = number
    stand = tuple(
        MetricStanding(metric, value, place.get(k))
        for k, (metric, value) in enumerate(zip(metrics, values, strict=True))
    )
    return stand, tuple(tests)
