"""Sums that do not depend on the order or the parts they are made in.

Counts are whole numbers, or kept to ``2 ** -60`` (`summable`), which leaves every double from 0.01
up unchanged; their sums are whole numbers too, and become doubles once, at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from errata.core.stats import BLOCK, Floats, Ints

LIMB = 30  # bits of a number that are summed together: 2 ** 12 of them fit into a double
UNIT = 2 ** (2 * LIMB)  # by which a count is a whole number
CHUNK = 4096  # sentences that are summed as doubles
# Multiplications in a product of matrices that BLAS makes in one thread: in several, which wait for
# each other, a product of this kind takes five times the processor time.
ONE_THREAD = 250_000


def quantize(counts: Floats) -> Floats:
    """Counts to ``2 ** -60``, so that sums of them are exact.

    >>> quantize(np.array([3.0, 0.1])).tolist(), quantize(np.array([1e-18])).item() * UNIT
    ([3.0, 0.1], 1.0)
    """
    whole = (counts == np.floor(counts)) | np.isnan(counts)
    return counts if whole.all() else np.asarray(np.rint(counts * UNIT) / UNIT)


def select_reference(counts: Floats, chosen: Ints) -> Floats:
    """Return the counts of the reference that each sentence takes; ignore rows that take none.

    >>> select_reference(np.array([[[1.0], [2.0]], [[3.0], [4.0]]]), np.array([1, 0])).tolist()
    [[2.0], [3.0]]
    """
    sentences, references, k = counts.shape
    fits = chosen.shape == (sentences,) and chosen.dtype.kind in "iu"
    if not fits or chosen.max(initial=0) >= references:
        raise IndexError(f"no choice among {references} references of {sentences} sentences")
    if references == 1:
        return counts[:, 0].copy()
    # Rows of a table are found in half the time that places along two axes take.
    rows = np.arange(sentences) * references + chosen.astype(np.int64)
    found: Floats = counts.reshape(-1, k).take(rows, axis=0)
    return found


@dataclass(frozen=True, eq=False)
class ExactSums:
    """Exact sums ``[draw, k]``, in three limbs: whole numbers, and their fractions.

    >>> tenths, choice = np.full((10, 1, 1), 0.1), np.zeros((1, 10), np.int64)
    >>> parts = ExactSums.of(tenths[:3], choice[:, :3]) + ExactSums.of(tenths[3:], choice[:, 3:])
    >>> ExactSums.of(tenths, choice).floats.item(), parts.floats.item(), sum([0.1] * 10)
    (1.0, 1.0, 0.9999999999999999)
    """

    limbs: tuple[Ints, Ints, Ints]

    @classmethod
    def nothing(cls, draws: int, statistics: int) -> ExactSums:
        """Sums of no sentence."""
        none = np.zeros((draws, statistics), np.int64)
        return cls((none, none, none))

    @classmethod
    def of(cls, counts: Floats, choice: Ints, *, block: int = BLOCK) -> ExactSums:
        """What the chosen references count together, ``choice`` being ``[draw, sentence]``."""
        if len(choice) == 1 and counts.shape[1] > 1:  # only chosen references are read
            mine = select_reference(counts, choice[0])[:, None]
            return cls.of(mine, np.minimum(choice, 0), block=block)
        rest = np.where(np.isnan(counts), 0.0, counts)
        towards_0 = np.trunc(rest)  # towards 0: the rest of a small negative number stays exact
        whole = _sum_chosen(towards_0, choice, block)
        none = np.zeros_like(whole)
        found = cls((whole, none, none))
        rest = (rest - towards_0) * 2**LIMB
        if not rest.any():
            return found
        high = np.trunc(rest)
        low = np.rint((rest - high) * 2**LIMB)
        for start in range(0, len(counts), CHUNK):
            part = slice(start, start + CHUNK)
            a, b = (_sum_chosen(limb[part], choice[:, part], block) for limb in (high, low))
            found = found + cls((none, a, b))
        return found

    def __add__(self, other: ExactSums) -> ExactSums:
        whole, high, low = (a + b for a, b in zip(self.limbs, other.limbs, strict=True))
        high = high + (low >> LIMB)
        mask = 2**LIMB - 1
        return ExactSums((whole + (high >> LIMB), high & mask, low & mask))

    @property
    def floats(self) -> Floats:
        """The nearest doubles."""
        whole, high, low = self.limbs
        if not (high.any() or low.any()):
            return whole.astype(np.float64)
        return np.array([[float(each) for each in self.exactly(d)] for d in range(len(whole))])

    def exactly(self, draw: int = 0) -> tuple[Fraction, ...]:
        """The sums of one draw."""
        rows = zip(*(limb[draw].tolist() for limb in self.limbs), strict=True)
        return tuple(w + Fraction((h << LIMB) + low, UNIT) for w, h, low in rows)


def _sum_chosen(counts: Floats, choice: Ints, block: int) -> Ints:
    """Whole numbers of the chosen references, summed for each draw."""
    sentences, references, k = counts.shape
    step = max(1, min(block // max(1, sentences), ONE_THREAD // max(1, sentences * k)))
    totals = np.zeros((len(choice), k), np.int64)
    # Doubles are multiplied much faster; what they cannot hold is rare.
    kind = np.float64 if np.abs(counts).max(initial=0.0) * sentences < 2.0**53 else np.int64
    for r in range(references):
        mine = np.ascontiguousarray(counts[:, r], kind)
        for i in range(0, len(choice), step):
            found = (choice[i : i + step] == r).astype(kind) @ mine
            totals[i : i + step] += found.astype(np.int64)
    return totals
