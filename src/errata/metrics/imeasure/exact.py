"""What references are ranked by over a corpus (WAcc, I, Acc), in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

from errata.metrics.choice import RunningRule, Share
from errata.metrics.imeasure.columns import KINDS, STATISTICS

__all__ = ["exact_improvement", "running_rule"]

ONE = Fraction(1)


def running_rule(weight: float) -> RunningRule:
    """By WAcc, I and Acc of correction, then those of detection; then the first."""
    w = Fraction(repr(float(weight)))
    base = _share({"base_unchanged": ONE}, {"base_unchanged": ONE, "base_missed": ONE})
    waccs = _wacc(w, "correction"), _wacc(w, "detection")
    accuracies = _accuracy("correction"), _accuracy("detection")

    def ranked(totals: Sequence[Fraction]) -> tuple[Fraction, ...]:
        unchanged = base.of(totals)
        ranks: list[Fraction] = []
        for share, accuracy in zip(waccs, accuracies, strict=True):
            wacc = share.of(totals)
            ranks += [wacc, exact_improvement(wacc, unchanged), accuracy.of(totals)]
        return tuple(ranks)

    return RunningRule(ranked, waccs[:1], ties=(), all_is_said=False)


def _wacc(w: Fraction, aspect: Literal["correction", "detection"]) -> Share:
    """WAcc as a quotient of sums; a wrong correction is right detection."""
    above = {"unchanged": ONE, "right": w}
    below = {"unchanged": ONE, "missed": ONE, "needless": w, "right": w}
    if aspect == "detection":
        return _share({**above, "wrong": w}, {**below, "wrong": w})
    return _share(above, {**below, "wrong": (w + 1) / 2})


def _accuracy(aspect: Literal["correction", "detection"]) -> Share:
    """Right columns among all."""
    right = ("unchanged", "right", *(("wrong",) if aspect == "detection" else ()))
    return _share(dict.fromkeys(right, ONE), dict.fromkeys(STATISTICS[KINDS], ONE))


def _share(above: Mapping[str, Fraction], below: Mapping[str, Fraction]) -> Share:
    weights = [tuple(each.get(name, Fraction(0)) for name in STATISTICS) for each in (above, below)]
    return Share(weights[0], weights[1], empty=1)


def exact_improvement(wacc: Fraction, base: Fraction) -> Fraction:
    """I from a weighted accuracy and its baseline.

    >>> exact_improvement(Fraction(3, 4), Fraction(1, 2)), exact_improvement(ONE, ONE)
    (Fraction(1, 2), Fraction(1, 1))
    """
    if wacc == base:
        return Fraction(math.floor(wacc))
    return (wacc - base) / (1 - base) if wacc > base else wacc / base - 1
