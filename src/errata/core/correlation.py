"""Correlations of scores and agreement of decisions, whole arrays at once.

Every correlation takes arrays whose last axis runs over systems and returns one value for each
leading position, so that bootstrap and permutation tests are single calls. An undefined value
(a constant input, a score that is no number) is NaN, never 0. What ties says
`errata.core.stats.merge_ties`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from errata.core.errors import InputError
from errata.core.parameters import require
from errata.core.stats import BLOCK, Floats, Ints, merge_ties, ratio, rescale


def pearson(x: ArrayLike, y: ArrayLike) -> Floats:
    """Pearson's r over the last axis.

    >>> round(float(pearson([1, 2, 3], [1, 2, 4])), 4)
    0.982
    """
    a, b = (_centred(np.asarray(v, np.float64)) for v in (x, y))
    top = (a * b).sum(-1)
    bottom = np.sqrt((a * a).sum(-1) * (b * b).sum(-1))
    r = ratio(top, bottom)
    return np.asarray(np.clip(r, -1, 1), np.float64)


def _centred(values: Floats) -> Floats:
    near = rescale(values)
    # A constant row must centre to exactly 0, whatever its mean rounds to.
    constant = (near == near[..., :1]).all(-1, keepdims=True)
    with np.errstate(invalid="ignore"):  # infinities have no mean, and so no correlation
        return np.where(constant, 0.0, near - near.mean(-1, keepdims=True))


def ranks(values: ArrayLike) -> Floats:
    """Ranks from 1 over the last axis, smallest first; ties share their mean rank.

    What differs by rounding only is a tie (`errata.core.stats.merge_ties`); NaN has
    no rank (NaN).

    >>> ranks([10, 30, 30, 20]).tolist()
    [1.0, 3.5, 3.5, 2.0]
    """
    v = merge_ties(values)
    place = np.argsort(v, axis=-1, kind="stable")
    ordered = np.take_along_axis(v, place, -1)
    n = v.shape[-1]
    starts, ends = np.ones(v.shape, bool), np.ones(v.shape, bool)
    starts[..., 1:] = ends[..., :-1] = ordered[..., 1:] != ordered[..., :-1]
    first = np.maximum.accumulate(np.where(starts, np.arange(n), 0), axis=-1)
    last = np.minimum.accumulate(np.where(ends, np.arange(n), n)[..., ::-1], axis=-1)[..., ::-1]
    shared = np.empty(v.shape)
    np.put_along_axis(shared, place, (first + last) / 2 + 1, -1)
    return np.where(np.isnan(v), np.nan, shared)


def spearman(x: ArrayLike, y: ArrayLike) -> Floats:
    """Spearman's rho: Pearson's r of the ranks, ties at their mean rank.

    >>> float(spearman([1, 2, 3], [1, 9, 4]))
    0.5
    """
    return pearson(ranks(x), ranks(y))


class PairSigns(NamedTuple):
    """Over pairs of systems: how often both sides agree in order, disagree, and who ties."""

    agree: Floats
    disagree: Floats
    tie_x: Floats
    tie_y: Floats
    tie_both: Floats


def _pair_signs(x: ArrayLike, y: ArrayLike) -> PairSigns:
    """Count the pairs of the last axis, some leading positions at a time; NaN where one is NaN."""
    a, b = np.broadcast_arrays(merge_ties(x), merge_ties(y))
    n = a.shape[-1]
    p, q = (side.reshape(-1, n) for side in (a, b))
    step = max(1, ROWS // max(1, n))
    found = [_sorted_pairs(p[i : i + step], q[i : i + step]) for i in range(0, len(p), step)]
    counts = np.concatenate(found, axis=1) if found else np.zeros((5, 0))
    counts[:, np.isnan(p).any(-1) | np.isnan(q).any(-1)] = np.nan
    return PairSigns(*counts.reshape(5, *a.shape[:-1]))


def _sorted_pairs(x: Floats, y: Floats) -> Floats:
    """Agree, disagree, ties of x, of y, of both ``[5, row]``, by sorting (Knight 1966).

    In the order of x, and of y where x is equal, two systems disagree where y is inverted.
    """
    n = x.shape[-1]
    high, low = _levels(x), _levels(y)
    both = np.sort(high * n + low, axis=-1)
    tie_x, tie_y, tie_both = (
        _tied_pairs(levels) for levels in (both // n, np.sort(low, axis=-1), both)
    )
    disagree = _inversions(both % n)
    decided = n * (n - 1) / 2 - tie_x - tie_y + tie_both
    return np.stack([decided - disagree, disagree, tie_x - tie_both, tie_y - tie_both, tie_both])


def _levels(values: Floats) -> Ints:
    """The different values of each row numbered from 0, smallest first."""
    place = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, place, -1)
    number = np.zeros(values.shape, np.int64)
    number[:, 1:] = np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=-1)
    levels = np.empty(values.shape, np.int64)
    np.put_along_axis(levels, place, number, -1)
    return levels


def _tied_pairs(ordered: Ints) -> Floats:
    """How many pairs of each sorted row are equal."""
    n = ordered.shape[-1]
    starts = np.ones(ordered.shape, bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(starts, np.arange(n), 0), axis=-1)
    return np.asarray((np.arange(n) - first).sum(-1), np.float64)  # each with those before it


def _inversions(values: Ints) -> Floats:
    """Count the pairs in falling order of each row, bit by bit from the highest.

    Values that agree in the higher bits keep their order in a group; a 1 before a 0 there is an
    inversion, and then the group is divided.
    """
    rows, n = values.shape
    found = np.zeros(rows)
    for bit in reversed(range(max(1, n - 1).bit_length())):
        group, one = values >> (bit + 1), (values >> bit) & 1
        before = np.cumsum(one, axis=-1) - one
        starts = np.ones(values.shape, bool)
        starts[:, 1:] = group[:, 1:] != group[:, :-1]
        first = np.maximum.accumulate(np.where(starts, np.arange(n), 0), axis=-1)
        inside = before - np.take_along_axis(before, first, -1)
        found += (inside * (1 - one)).sum(-1)
        place = np.argsort(values >> bit, axis=-1, kind="stable")
        values = np.take_along_axis(values, place, -1)
    return found


def kendall(x: ArrayLike, y: ArrayLike) -> Floats:
    """Kendall's tau-b over the last axis, corrected for ties on either side.

    >>> float(kendall([1, 2, 3], [1, 9, 4])).__round__(4)
    0.3333
    """
    p = _pair_signs(x, y)
    decided = p.agree + p.disagree
    return ratio(p.agree - p.disagree, np.sqrt((decided + p.tie_x) * (decided + p.tie_y)))


def kendall_c(x: ArrayLike, y: ArrayLike) -> Floats:
    """Kendall's tau-c over the last axis (Stuart 1953), for sides with few different values.

    ``2 (agree - disagree) / (n² (m - 1) / m)``, m the smaller number of different values.

    >>> float(kendall_c([1, 2, 2, 3], [1, 2, 3, 3])).__round__(4)
    0.75
    """
    p = _pair_signs(x, y)
    n = np.shape(x)[-1]
    least = np.minimum(_classes(x), _classes(y))
    return ratio(2 * (p.agree - p.disagree) * least, n**2 * (least - 1))


def _classes(values: ArrayLike) -> Floats:
    """How many different values there are over the last axis."""
    ordered = np.sort(merge_ties(values), axis=-1)
    return np.asarray(1 + (np.diff(ordered) != 0).sum(-1), np.float64)


def kendall_like(human: ArrayLike, metric: ArrayLike, *, threshold: float = 25.0) -> float:
    """The Kendall-like τ of the WMT (Bojar et al. 2017; Mathur et al. 2020) over ``[row, system]``.

    Pairs of one row count where the human scores lie ``threshold`` or more apart (25 points of
    direct assessment); a metric that does not order such a pair as people do, ties included, is
    wrong: ``(right - wrong) / (right + wrong)`` over all rows. Missing scores (NaN) make no pairs.

    >>> kendall_like([[90.0, 50.0, 40.0]], [[0.9, 0.5, 0.7]])
    1.0
    """
    a, b = (merge_ties(np.atleast_2d(np.asarray(v, np.float64))) for v in (human, metric))
    if a.shape != b.shape or not threshold > 0:
        raise InputError(
            f"scores of shapes {a.shape} and {b.shape} at a threshold of {threshold}",
            remedy="give both sides the same sentences and systems, and a threshold above 0",
        )
    i, j = np.triu_indices(a.shape[-1], 1)
    apart, said = a[:, i] - a[:, j], b[:, i] - b[:, j]
    counts = (np.abs(apart) >= threshold) & ~np.isnan(said)
    right = float((counts & (apart * said > 0)).sum())
    return float(ratio(2 * right - counts.sum(), counts.sum()))


def kendall_w(values: ArrayLike) -> Floats:
    """Kendall's W, how far rankings of the same systems agree, over ``[..., ranking, system]``.

    ``W = 12 S / (m² (n³ - n) - m T)`` for m rankings of n systems (Kendall & Babington Smith 1939):
    S is the sum of squared deviations of the systems' rank sums from their mean, T corrects for
    ties (the sum of t³ - t over every t systems that share a rank). 1 where all rankings are the
    same, 0 where their sums tell nothing; 1 of a single ranking; NaN where nobody ranks anything.

    >>> kendall_w([[[3, 2, 1], [3, 2, 1]], [[3, 2, 1], [1, 2, 3]]]).tolist()
    [1.0, 0.0]
    """
    given = np.asarray(values, np.float64)
    rankings, n = given.shape[-2:]
    placed = ranks(given)
    sums = placed.sum(-2)
    apart = ((sums - (rankings * (n + 1)) / 2) ** 2).sum(-1)
    # Of t systems that share the mean rank, t³ - t is 12 times what their squares are short of.
    short = n * (n + 1) * (2 * n + 1) / 6 - (placed**2).sum(-1)
    most = rankings**2 * (n**3 - n) - rankings * 12 * short.sum(-1)
    w = ratio(12 * apart, np.where(most < 1e-6, 0.0, most))
    return np.asarray(np.clip(w, 0.0, 1.0), np.float64)


def pairwise_accuracy(x: ArrayLike, y: ArrayLike) -> Floats:
    """Share of pairs of systems that both sides order alike; a tie must be a tie on both.

    Kocmi et al. 2021, with ties as mt-metrics-eval's ``Agreement`` counts them.

    >>> float(pairwise_accuracy([1, 2, 3], [1, 9, 4])).__round__(4)
    0.6667
    """
    p = _pair_signs(x, y)
    pairs = np.shape(x)[-1] * (np.shape(x)[-1] - 1) / 2
    return np.asarray((p.agree + p.tie_both) / pairs, np.float64)


def soft_pairwise_accuracy(p: ArrayLike, q: ArrayLike) -> float:
    """Soft pairwise accuracy: ``1 - mean |p - q|`` over pairs of systems (Thompson et al. 2024).

    ``p[a, b]`` and ``q[a, b]`` are one-sided p-values that a is better than b, one matrix from
    people and one from the metric: to be sure where people are sure earns more than the bare
    order. Only the upper triangle is read.
    """
    left, right = np.asarray(p, np.float64), np.asarray(q, np.float64)
    if left.shape != right.shape or left.ndim != 2:
        raise InputError(f"p-values of shapes {left.shape} and {right.shape} do not match")
    upper = np.triu_indices(len(left), 1)
    return float(1 - np.abs(left[upper] - right[upper]).mean())


class ChanceCorrected(NamedTuple):
    """κ, the agreement observed and the agreement that chance would bring."""

    value: Floats
    observed: Floats
    expected: Floats


def chance_corrected(
    table: ArrayLike, *, distance: ArrayLike | None = None, chance: ArrayLike | None = None
) -> ChanceCorrected:
    """Agreement beyond chance of two deciders: ``κ = (observed - expected) / (1 - expected)``.

    ``table[..., a, b]`` is how often the one decided a where the other decided b. With the chance
    of its own margins this is Cohen's κ (1960), with another ``chance[a, b]`` (shares that sum to
    one), as of pooled margins, Scott's π (1955). ``distance[a, b]``, 0 to 1, says how bad it is to
    decide b instead of a (weighted κ, Cohen 1968); without it every difference is. NaN where
    nothing was decided, and κ also where chance cannot but agree.

    >>> float(chance_corrected([[20, 5], [10, 15]]).value).__round__(3)
    0.4
    """
    counts = np.asarray(table, np.float64)
    apart = 1 - np.eye(counts.shape[-1]) if distance is None else np.asarray(distance)
    total = counts.sum((-1, -2))
    if chance is None:
        margins = counts.sum(-1)[..., :, None] * counts.sum(-2)[..., None, :]
        expected = 1 - (apart * ratio(margins, (total**2)[..., None, None])).sum((-1, -2))
    else:
        expected = np.where(total == 0, np.nan, 1 - (apart * np.asarray(chance)).sum((-1, -2)))
    observed = 1 - ratio((apart * counts).sum((-1, -2)), total)
    return ChanceCorrected(ratio(observed - expected, 1 - expected), observed, expected)


ROWS = BLOCK // 16  # numbers of resamples that are correlated at a time
Correlation = Literal["pearson", "spearman", "kendall", "accuracy"]
CORRELATIONS: dict[Correlation, Callable[[ArrayLike, ArrayLike], Floats]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "accuracy": pairwise_accuracy,
}


def correlate(kind: Correlation, x: ArrayLike, y: ArrayLike) -> Floats:
    """The correlation of this name, over the last axis."""
    require("correlation", kind, Correlation)
    if np.shape(x)[-1] != np.shape(y)[-1] or np.shape(x)[-1] < 2:
        raise InputError(
            f"cannot correlate {np.shape(x)[-1]} with {np.shape(y)[-1]} systems",
            remedy="give both sides the same systems, two or more",
        )
    of = CORRELATIONS[kind]
    if np.shape(x) != np.shape(y) or np.ndim(x) != 2:
        return of(x, y)
    # Some rows at a time: ranks and pairs take a dozen tables of the rows' size.
    a, b = np.asarray(x), np.asarray(y)
    step = max(1, ROWS // a.shape[1])
    parts = [of(a[i : i + step], b[i : i + step]) for i in range(0, len(a), step)]
    return np.concatenate(parts) if parts else of(a, b)
