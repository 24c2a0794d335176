"""Difficulty-weighted precision, recall, F and accuracy (Gotou et al. 2020, GoToScorer)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import Literal, Self

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.edits import GoldEditing, split_extractor
from errata.edits.origins import OutputEditing, origins
from errata.errors import InputError
from errata.metrics.base import (
    Before,
    Metric,
    by_name,
    check_beta,
    f_beta,
    metric,
    precision_recall,
    whole,
)
from errata.metrics.beside import files_beside
from errata.metrics.choice import RunningRule, Share, best_references, f_share
from errata.metrics.difficulty.chunks import IGNORED, LONGEST, Matching
from errata.metrics.difficulty.map import map_difficulty, read_weight_file, weight
from errata.metrics.difficulty.placed import PlacedChunks
from errata.metrics.unsettled import unsettled_of
from errata.numbers import Floats, Ints, Progress, ratio
from errata.parameters import About

__all__ = ["Difficulty"]


@metric
class Difficulty(Metric):
    """P, R, F and accuracy in which an error weighs more the fewer systems correct it.

    Sentences are cut into chunks (edits, unchanged tokens, and dummies between them); n_i of N
    systems get gold chunk i right, which then weighs ``w_i = a - (n_i + b) / (N + c)``. Summed
    weights of right and wrong chunks are TP, FP, FN and TN; ``P = TP / (TP + FP)``,
    ``R = TP / (TP + FN)``, ``A = (TP + TN) / all weights``, each 0 where nothing is there.

    ``weights="systems"`` takes N and n_i from the systems scored together (the default of the
    released scorer, gotutiyan/GTS), ``"none"`` gives every chunk the weight 1 (its
    ``-no_weight``), anything else is the path of a weight file. ``leave_out=True`` leaves the
    scored system itself out of N and n_i. ``measure`` is the score: ``"F"`` (of ``beta``) or
    ``"A"``. ``matching="released"`` compares chunks by position as the released scorer does,
    ``"elastic"`` aligns them as the paper describes (sentences of more than ``longest`` tokens
    are then refused before memory is asked for). ``gold``, ``extractor``, ``outputs``
    are those of `errata.metrics.errant.Edits`; edits of the kinds ``ignore`` are left out, in gold
    and output (as in the released scorer).

    With several references each sentence takes the one with the best score over the sentences so
    far, or the one best for it alone (``choice="isolated"``, as single sentences always do);
    weights are counted for each reference by itself.
    """

    name = "difficulty"
    about = About(
        paper="Gotou et al. 2020",
        range="from 0 to 1",
        amounts=("TP", "TN", "FP", "FN", "wrong"),
        needs=("gold edits or references", "several systems, or a weight file"),
    )
    weights: str = "systems"
    leave_out: bool = False
    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    beta: float = 0.5
    measure: Literal["F", "A"] = "F"
    matching: Matching = "released"
    gold: GoldEditing = "as_is"
    extractor: str = "aligned"
    outputs: OutputEditing = "alike"
    ignore: tuple[str, ...] = IGNORED
    choice: Literal["sequential", "isolated"] = "sequential"
    longest: int = field(default=LONGEST, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta(self.name, self.beta)
        for name in "abc":
            if not abs(getattr(self, name)) <= 1e6:
                raise InputError(
                    f"difficulty: {name}={getattr(self, name)!r} must be a number up to a million"
                )
        if self.leave_out and self.weights != "systems":
            raise InputError(
                "difficulty: leave_out needs weights from the systems themselves",
                remedy="leave weights='systems' as it is",
            )
        split_extractor(self.extractor)

    @property
    def statistics(self) -> tuple[str, ...]:
        """Summed weights of right and wrong chunks; FP and FN overlap, ``wrong`` is both."""
        return ("TP", "FP", "FN", "TN", "wrong")

    @property
    def headline(self) -> str:
        """F with its beta, as F0.5, or A."""
        return f"F{self.beta:g}" if self.measure == "F" else "A"

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """What an error weighs depends on all systems: they are compared with the gold together."""
        found = map_difficulty(corpus, systems, self, threads=threads, progress=progress)
        return [found.counts(s) for s in range(len(systems))]

    def extracting(self, extractor: str) -> Self:
        """The same with all outputs' edits found by this extractor, whether some came or not."""
        return replace(self, extractor=extractor, outputs="reextracted")

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """The counts of one system, weighed by itself alone unless weights come from a file."""
        plain = replace(self, leave_out=False)
        return map_difficulty(corpus, [hypotheses], plain, threads=1).counts(0)

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The reference with the best score of the sentences so far, or of the sentence alone."""
        rule = RunningRule(self._value, (self._share,))
        return best_references(counts, rule, alone=self.choice == "isolated", before=before)

    @property
    def single(self) -> Self:
        """With the reference best for the sentence alone."""
        return replace(self, choice="isolated")

    def score(self, totals: Floats) -> Floats:
        """F or A of summed weights."""
        if self.measure == "A":
            return self._accuracy(totals)
        return f_beta(*self._precision_recall(totals), self.beta)

    def parts(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Precision, recall, the other measure, and the weights behind them."""
        precision, recall = self._precision_recall(totals)
        other = {"A": self._accuracy(totals)}
        if self.measure == "A":
            other = {f"F{self.beta:g}": f_beta(precision, recall, self.beta)}
        weights = by_name(self.statistics[:4], totals)
        counted = self.weights == "none"  # then the weights are numbers of chunks
        return {
            "P": precision,
            "R": recall,
            **other,
            **{name: whole(w) if counted else w for name, w in weights.items()},
        }

    def _precision_recall(self, totals: Floats) -> tuple[Floats, Floats]:
        w = by_name(self.statistics, totals)
        return precision_recall(w["TP"], w["FP"], w["FN"], 0.0)

    def _accuracy(self, totals: Floats) -> Floats:
        # FP and FN overlap, so the weights of all chunks are those of right and of wrong ones.
        w = by_name(self.statistics, totals)
        right = w["TP"] + w["TN"]
        return ratio(right, right + w["wrong"], 0.0)

    def context(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> tuple[str, ...]:
        """The systems behind the weights, and the exact extractor."""
        known = []
        if self.weights != "none":
            counted, origin = self._counted(corpus, systems)
            known.append(f"weights:{counted} systems" + (f" of {origin}" if origin else ""))
        found = self.gold == "reextracted" or not corpus.has_gold_edits
        return (*known, *origins(systems, self.outputs, self.extractor, gold=found))

    def notes(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> tuple[str, ...]:
        """Whether weights can be negative, or come from one system alone."""
        if self.weights == "none":
            return ()
        counted, _ = self._counted(corpus, systems)
        if self.weights == "systems" and counted == 1:
            return (
                "the weights come from the one system that is scored: what it corrects weighs "
                "least; give more systems, a weight file, or weights='none'",
            )
        all_right = np.array([float(counted)])
        lowest = float(weight(all_right, counted, self.a, self.b, self.c)[0])
        if lowest >= 0:
            return ()
        return (
            f"a, b and c make weights negative (down to {lowest:.3f}, where all systems are "
            "right): P, R and A need not lie between 0 and 1",
        )

    def _counted(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> tuple[int, str]:
        """How many systems the weights come from, and the file they stand in."""
        if self.weights == "systems":
            return len(systems), ""
        file, origin = read_weight_file(self.weights, corpus)
        return file.systems, origin

    @property
    def _share(self) -> Share:
        """The score as a quotient of sums, where no weight is negative."""
        if self.measure == "F":
            return f_share(self.beta, len(self.statistics), empty=0)
        one, none = Fraction(1), Fraction(0)
        return Share((one, none, none, one, none), (one, none, none, one, one))

    def _value(self, totals: Sequence[Fraction]) -> Fraction:
        """The score of exact sums; weights below 0, which a, b and c can make, are no shares."""
        if self.measure == "A":
            return self._share.of(totals)
        tp, fp, fn = totals[:3]
        p, r = (tp / (tp + x) if tp + x else Fraction(0) for x in (fp, fn))
        square = Fraction(repr(float(self.beta))) ** 2
        below = square * p + r
        return (1 + square) * p * r / below if below else Fraction(0)


@files_beside.register(Difficulty)
def _files(metric: Difficulty) -> tuple[str, ...]:
    """The file of weights, where there is one."""
    return () if metric.weights in ("none", "systems") else (metric.weights,)


@unsettled_of.register(Difficulty)
def _unsettled(metric: Difficulty) -> PlacedChunks | None:
    """Chunks with their places, which a file of weights goes by."""
    return None if metric.weights in ("none", "systems") else PlacedChunks(metric)
