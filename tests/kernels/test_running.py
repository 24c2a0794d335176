"""The running choices of references decide what exact fractions decide."""

import itertools
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.core.errors import InputError
from errata.core.stats import Floats
from errata.kernels import m2_counts, running
from errata.metrics import parse, running_choice
from errata.metrics.base import Before, Metric
from errata.metrics.running_choice import RunningRule, best_references, f_weights
from pure import load_pure

KERNELS = [running, load_pure("running")]
METRICS = (
    *("edits", "edits(beta=1)", "edits(beta=0.3)", "difficulty", "difficulty(measure=A)"),
    *("cleme(middle=1.5)", "cleme(weights=none)", "cleme2", "imeasure(choice=corpus)"),
    "imeasure(choice=corpus, weight=3)",
)


@pytest.fixture(params=KERNELS, ids=["compiled", "plain"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    found: ModuleType = request.param
    monkeypatch.setattr(running_choice, "running", found)
    return found


def rule_of(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> RunningRule:
    seen: list[RunningRule] = []

    def watched(counts: Floats, rule: RunningRule, **_: object) -> Floats:
        seen.append(rule)
        return np.zeros((1, len(counts)), np.int64)

    with monkeypatch.context() as patched:
        module = __import__(type(metric).__module__, fromlist=["best_references"])
        patched.setattr(module, "best_references", watched)
        metric.choose(np.zeros((1, 2, len(metric.statistics))))
    return seen[0]


def slow_choice(counts: Floats, rule: RunningRule, totals: list[Fraction]) -> list[int]:
    """The rule in fractions alone, one sentence after the other."""
    chosen = []
    for options in counts.tolist():
        ranked = [
            (
                rule.key([t + Fraction(x) for t, x in zip(totals, own, strict=True)]),
                *(sign * own[k] for k, sign in rule.ties),
                -r,
            )
            for r, own in enumerate(options)
            if own[0] == own[0]
        ]
        best = -max(ranked)[-1]
        chosen.append(best)
        totals = [t + Fraction(x) for t, x in zip(totals, options[best], strict=True)]
    return chosen


def some_counts(rng: np.random.Generator, metric: Metric, sentences: int) -> Floats:
    """Counts of whole things, or of weights where a metric has such; some are missing."""
    counts = rng.integers(0, 4, (sentences, 3, len(metric.statistics))).astype(float)
    if metric.name == "cleme2" or metric.name == "cleme":
        counts[..., 4] = np.minimum(counts[..., 4], counts[..., 1])  # FPne are FP
    if metric.name == "difficulty" or (metric.name == "cleme" and "middle" in repr(metric)):
        counts *= np.rint(rng.random(counts.shape) * 2**40) / 2**40
    counts[rng.random((sentences, 3)) < 0.2] = np.nan
    counts[:, 0] = np.nan_to_num(counts[:, 0])
    return counts


@pytest.mark.parametrize("text", METRICS)
@pytest.mark.parametrize("bits", [0, 12, 26, 40, 53, 70])
def test_fractions_decide_alike(
    text: str, bits: int, kernel: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From totals of any size on, 2 ** 26 and 2 ** 53 among them."""
    metric, rng = parse(text), np.random.default_rng(bits)
    rule = rule_of(metric, monkeypatch)
    for _ in range(6):
        counts = some_counts(rng, metric, 12)
        before = [Fraction(int(2**bits * x)) for x in rng.random(counts.shape[2])]
        if metric.name.startswith("cleme"):
            before[4] = min(before[4], before[1])
        found = best_references(counts, rule, before=Before(9, tuple(before)))
        assert found.tolist() == [slow_choice(counts, rule, before)]


@pytest.mark.parametrize("bits", [26, 53, 60])
@pytest.mark.parametrize("text", METRICS)
def test_fractions_decide_what_doubles_cannot(
    text: str, bits: int, kernel: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Options whose scores are equal as doubles, found by trying, are told apart."""
    metric, rng = parse(text), np.random.default_rng(bits)
    rule = rule_of(metric, monkeypatch)
    names = len(metric.statistics)
    told = 0
    for trial in range(400):
        if trial >= 100 and (told or bits < 50):
            break
        before = [Fraction(int(2**bits * (1 + x))) for x in rng.random(names)]
        if rule.digits is not None:  # next to a half of the last digit
            before = _near_half(rule, before, int(rng.integers(1, 9000)))
        if metric.name == "cleme2":
            before[4] = min(before[4], before[1])
        counts = rng.integers(0, 3, (1, 2, names)).astype(float)
        if metric.name == "cleme2":
            counts[..., 4] = np.minimum(counts[..., 4], counts[..., 1])
        wanted = slow_choice(counts, rule, before)
        assert best_references(counts, rule, before=Before(9, tuple(before))).tolist() == [wanted]
        told += _by_doubles(counts, rule, before) != wanted
    assert told > 0 or bits < 50


def _near_half(rule: RunningRule, totals: list[Fraction], at: int) -> list[Fraction]:
    """Totals whose share is next to ``at + 1/2`` of the last digit."""
    (share,) = rule.shares
    tp, fp = totals[:2]
    target = (Fraction(at) + Fraction(1, 2)) / 10 ** (rule.digits or 0)
    _, w1, w2 = share.denominator[:3]
    # w0 TP / (w0 TP + w1 FP + w2 FN) is the target: solved for TP, down to a whole number.
    below = w1 * fp + w2 * totals[2]
    tp = Fraction(int(target * below / (share.numerator[0] * (1 - target))))
    return [tp, *totals[1:]]


def _by_doubles(counts: Floats, rule: RunningRule, totals: list[Fraction]) -> list[int]:
    """The first of the options with the best score in doubles."""
    sums = [float(t) for t in totals]
    ranked = []
    for r, own in enumerate(counts[0].tolist()):
        after = [t + x for t, x in zip(sums, own, strict=True)]
        score = 0.0
        for share in rule.shares:
            above, below = (
                sum(float(w) * t for w, t in zip(each, after, strict=True)) for each in share[:2]
            )
            score += above / below if below else share.empty
        if rule.digits is not None:
            score = round(score, rule.digits)
        ranked.append((score, *(sign * own[k] for k, sign in rule.ties), -r))
    return [-max(ranked)[-1]]


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=2),
        min_size=1,
        max_size=30,
    ),
    alone=st.booleans(),
)
def test_both_kernels_stop_at_the_same_sentences(
    rows: list[list[tuple[int, int, int]]], alone: bool
) -> None:
    counts = np.array(rows, np.float64)
    above, below = np.array([[5.0, 0, 0]]), np.array([[5.0, 4, 1]])
    for scale, said in itertools.product((0.0, 1e4), (False, True)):
        found = []
        for kernel in KERNELS:
            chosen = np.full(len(counts), -1, np.int64)
            at = kernel.decide(
                *(counts, above, below, np.ones(1), np.array([[0, 1], [1, -1]])),
                *(np.zeros((3, 2)), scale, said, alone, 0, chosen),
            )
            found.append((at, chosen[:at].tolist()))
        assert found[0] == found[1]


def test_the_sieve_leaves_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is decided in fractions costs a thousand times as much."""
    rng = np.random.default_rng(0)
    asked = []
    exactly = running_choice._best_reference
    monkeypatch.setattr(
        running_choice, "_best_reference", lambda *args: asked.append(1) or exactly(*args)
    )
    for text in METRICS:
        metric = parse(text)
        metric.choose(some_counts(rng, metric, 3000))
    assert len(asked) < 3000 * len(METRICS) / 100


def test_a_half_goes_where_the_official_doubles_go() -> None:
    """3/160 is .01875, whose double is below it; 1/32 is exact, and goes to the even digit."""
    halves = [
        running_choice.rounded(Fraction(*f), 4, lambda f=f: f[0] / f[1])
        for f in ((3, 160), (1, 32))
    ]
    assert halves == [round(round(3 / 160, 4) * 10**4), 312]


def test_negative_counts_are_refused_by_the_kernel_and_decided_without_it(
    kernel: ModuleType,
) -> None:
    counts = np.array([[[1.0, -1, 0, 0, 0], [1, 0, 0, 0, 0]]])
    with pytest.raises(InputError, match="negative"):
        kernel.decide(
            *(counts, np.ones((1, 5)), np.ones((1, 5)), np.ones(1), np.zeros((0, 2), np.int64)),
            *(np.zeros((5, 2)), 0.0, True, False, 0, np.zeros(1, np.int64)),
        )
    assert parse("difficulty(a=0, b=1)").choose(counts).tolist() == [[1]]


M2_KERNELS = [m2_counts, load_pure("m2_counts")]
Counts = Any


def slow_m2_choice(
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


@pytest.mark.parametrize("kernel", M2_KERNELS, ids=["compiled", "plain"])
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
        assert chosen.tolist() == slow_m2_choice(counts, weights, alone, tuple(carry))
        taken = np.flatnonzero(chosen >= 0)
        assert (after == carry + counts[taken, chosen[taken]].sum(axis=0)).all()


@pytest.mark.parametrize("kernel", M2_KERNELS, ids=["compiled", "plain"])
@pytest.mark.parametrize("bits", [20, 26, 29, 40, 53, 58])
def test_large_totals_are_decided_rightly(kernel: ModuleType, bits: int) -> None:
    """Of N/D either (N + 5) / (D + 8) or N / (D + 1), the latter larger by 5 / D²: one double."""
    correct = 2**bits // 7
    proposed, gold = divmod(7 * correct - 2, 4)
    carry = (correct, proposed, gold)
    counts = np.array([[[1, 2, 0], [0, 0, 1]]])
    weights = f_weights(0.5)
    chosen, _ = kernel.choose(counts, np.array(weights), np.array(carry), False)
    assert chosen.tolist() == slow_m2_choice(counts, weights, False, carry) == [1]
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
        chosen, _ = running_choice.running_choice(counts, beta, alone=alone, carry=carry.tolist())
        weights = f_weights(beta)
        assert sum(weights) * float(carry.max() + 180) >= 2**62
        assert chosen.tolist() == slow_m2_choice(known, weights, alone, tuple(carry.tolist()))


@pytest.mark.parametrize("kernel", M2_KERNELS, ids=["compiled", "plain"])
def test_totals_that_would_go_round_are_refused(kernel: ModuleType) -> None:
    counts = np.full((1, 1, 3), 2**60)
    with pytest.raises(InputError, match="62 bits"):
        kernel.choose(counts, np.array([5, 4, 1]), np.zeros(3, np.int64), False)
