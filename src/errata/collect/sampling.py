"""Which sentences are judged, and with which probability each came in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from errata.collect.design import Allotment, Sampling
from errata.errors import InputError
from errata.numbers import Floats, Ints

__all__ = ["ItemCounts", "choose_sentences", "covered", "stratum_of", "wmt_weight"]

LENGTHS = (10, 20, 30)  # tokens: the borders between strata of length


class ItemCounts(NamedTuple):
    """How many items each sentence gets, and how probable it was to get one."""

    items: Ints
    probability: Floats


def covered(groups: Sequence[int], outputs: int) -> float:
    """How many systems ``outputs`` distinct outputs cover on average; ``groups`` are their sizes.

    At most as many as there are: of D distinct outputs of S systems, m are drawn without
    replacement, and each covers S / D on average.

    >>> covered([1, 1, 1, 5], 2), covered([1, 1], 5)
    (4.0, 2.0)
    """
    return min(outputs, len(groups)) * sum(groups) / len(groups)


def wmt_weight(groups: Sequence[int], outputs: int) -> float:
    """The WMT's weight of a sentence, ``C(M, 2) / C(Cᵢ, 2)`` (Grundkiewicz et al. 2015).

    M outputs are shown, Cᵢ systems are expected to be covered by them: a sentence on which
    systems agree gives more comparisons an item, and is drawn less often.

    >>> wmt_weight([1] * 12, 5), round(wmt_weight([2] * 6, 5), 3)
    (1.0, 0.222)
    """
    systems = covered(groups, outputs)
    return outputs * (outputs - 1) / (systems * (systems - 1))


def stratum_of(tokens: int, different: int) -> str:
    """The stratum of a sentence: its length and the number of its different outputs.

    >>> stratum_of(12, 3)
    '10-19 tokens, 3 outputs'
    """
    place = sum(tokens >= border for border in LENGTHS)
    low, high = (0, *LENGTHS)[place], (*LENGTHS, 0)[place]
    length = f"{low}-{high - 1}" if high else f"{low}+"
    return f"{length} tokens, {different} {'output' if different == 1 else 'outputs'}"


def choose_sentences(
    sampling: Sampling,
    weights: Floats,
    strata: Sequence[str],
    wanted: int,
    rng: np.random.Generator,
    *,
    most: int | Ints = 1,
    allotment: Allotment = "proportional",
) -> ItemCounts:
    """Choose sentences for ``wanted`` items, none for more than ``most`` of them.

    They are drawn systematically from a random order, so that the number of items of a sentence is
    its expectation rounded up or down, and the probability of inclusion is exact: the expectation,
    or 1 where that is more. ``all`` and ``uniform`` expect as many of each (in proportion to
    ``most`` where that differs), ``wmt`` in proportion to weights, ``strata`` as many of each
    sentence or (``equal``) of each stratum. Expectations above ``most`` are cut, and the rest
    shared out again.
    """
    many = len(weights)
    if not many:
        raise InputError("there is no sentence to choose from")
    caps = np.broadcast_to(np.asarray(most, np.float64), (many,))
    wanted = min(wanted, int(caps.sum()))
    if sampling == "strata":
        expected = _stratified(strata, wanted, caps, allotment)
    else:
        expected = _expected(weights if sampling == "wmt" else caps, wanted, caps)
    same = [""] * many
    items = _systematic(expected, strata if sampling == "strata" else same, rng)
    return ItemCounts(items, np.minimum(expected, 1.0))


def _expected(weights: Floats, wanted: float, most: Floats) -> Floats:
    """Expected numbers of items in proportion to weights, none above its ``most``."""
    expected = np.zeros(len(weights))
    free = np.ones(len(weights), bool)
    while free.any():
        left = max(0.0, wanted - float(most[~free].sum()))
        expected[free] = weights[free] * (left / weights[free].sum())
        over = free & (expected > most * (1 + 1e-12))
        if not over.any():
            break
        expected[over] = most[over]
        free &= ~over
    return np.minimum(expected, most)


def _stratified(strata: Sequence[str], wanted: int, most: Floats, allotment: Allotment) -> Floats:
    if allotment == "proportional":
        return _expected(most, wanted, most)
    members: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(strata):
        members[name].append(i)
    room = np.array([most[places].sum() for places in members.values()])
    shares = _expected(np.ones(len(room)), wanted, room)  # what a small one cannot take, others do
    expected = np.zeros(len(strata))
    for share, places in zip(shares.tolist(), members.values(), strict=True):
        expected[places] = _expected(most[places], share, most[places])
    return expected


def _systematic(expected: Floats, strata: Sequence[str], rng: np.random.Generator) -> Ints:
    """Numbers with these expectations, each rounded up or down (Madow 1949).

    The order is random within strata, which so get their shares, rounded up or down, too.
    """
    number = np.unique(np.asarray(strata), return_inverse=True)[1]
    order = np.lexsort((rng.random(len(expected)), number))
    ends = np.cumsum(expected[order])
    if abs(ends[-1] - round(float(ends[-1]))) < 1e-6:  # rounding must not lose or add an item
        ends[-1] = round(float(ends[-1]))
    ticks = np.ceil(ends - float(rng.random())).astype(np.int64)
    items = np.zeros(len(expected), np.int64)
    items[order] = np.diff(np.maximum(ticks, 0), prepend=0)
    return items
