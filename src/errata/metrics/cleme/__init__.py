"""CLEME and CLEME2.0: edits of all texts merged into chunks before they are compared.

Ye et al., EMNLP 2023 and ACL 2025. Boundaries of edits that another annotator or extractor would
have drawn differently do not decide, since every text is read over the same chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import Literal, Self

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.edits import GoldEditing, split_extractor
from errata.edits.origins import OutputEditing
from errata.errors import InputError
from errata.metrics.base import (
    Before,
    by_name,
    check_beta,
    f_beta,
    fixed_point,
    mean_own_score,
    metric,
    precision_recall,
    whole,
)
from errata.metrics.choice import RunningRule, Share, best_alone, best_references, f_share, rounded
from errata.metrics.cleme.fates import FN, FP, FPNE, KINDS, TN, TP
from errata.metrics.cleme.lengths import BITS, ChunkLengths
from errata.metrics.cleme.merging import Merging, Mode
from errata.metrics.unsettled import unsettled_of
from errata.numbers import Floats, Ints, Progress, ratio
from errata.parameters import About

__all__ = ["CLEME", "CLEME2"]

TIES = ((TP, 1), (FP, -1), (FN, -1), (TN, 1))
DIGITS = 4  # to which the program rounds P, R, F and accuracy
NOISE = 12  # digits beyond which two scores differ by rounding only


@metric
class CLEME(Merging):
    """F over chunks that are the same for output and references (Ye et al. 2023).

    Beside a reference (``mode="dependent"``) a chunk that the output changes is TP if both have the
    same words there and FP otherwise; one it leaves alone is FN if they differ and TN otherwise.
    Each sentence takes the reference best for F of the sentences so far, of equals that with most
    TP, fewest FP, fewest FN, most TN. ``mode="independent"`` takes the references at once: TP is
    equal to any of them, FN what all of them change. P and R are 1 where nothing is there, and
    rounded to four digits together with F while references are chosen, as in the program.

    ``weights="length"``, the program's default: a chunk of ℓ tokens (the longer of source and
    output) weighs ``2 / (1 + e^(b - ℓ))`` as TP or FN and ``2 / (1 + e^(ℓ - b))`` as FP, between
    .75 and 1.25, with b the mean ℓ of what references change in the whole corpus. The chunks hang
    on the output too, and so does b; ``middle`` gives another b to all. ``weights="similarity"``:
    those of `CLEME2`, except that a chunk which makes no difference weighs 1, as in the program.
    ``total="mean"`` is the mean of the sentences' F, each rounded to four digits.

    >>> from errata.evaluation import evaluate
    >>> from errata import Corpus
    >>> corpus = Corpus.from_texts(["He go to home"], [["He goes home"]])
    >>> evaluate("cleme(weights=none)", corpus, {"A": ["He goes to home"]}).parts["P"].item()
    0.0
    """

    name = "cleme"
    about = About(
        paper="Ye et al. 2023",
        range="from 0 to 1",
        needs=("gold edits or references",),
        amounts=("TP", "FP", "FN", "TN"),
    )
    _nothing = 1.0  # as in the program

    mode: Mode = "dependent"
    weights: Literal["length", "similarity", "none"] = "length"
    middle: float | None = None
    beta: float = 0.5
    gold: GoldEditing = "as_is"
    extractor: str = "aligned"
    outputs: OutputEditing = "alike"
    choice: Literal["sequential", "isolated"] = "sequential"
    total: Literal["sum", "mean"] = "sum"
    model: str = "bert-base-uncased"
    layer: int | None = None
    revision: str = ""
    dtype: str = "float32"
    device: str = field(default="auto", compare=False)
    batch_size: int = field(default=64, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta(self.name, self.beta)
        split_extractor(self.extractor)

    @property
    def statistics(self) -> tuple[str, ...]:
        """Weights of the chunks by fate; with ``total="mean"`` also the sentence's own F."""
        return (*KINDS, *(("F", "sentences") if self.total == "mean" else ()))

    @property
    def headline(self) -> str:
        """F with its beta."""
        return f"F{self.beta:g}"

    def _own_score(self, counts: Floats) -> Floats:
        return self._figures(counts)[2].round(DIGITS)

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """As the others, or with weights by length."""
        if self.weights == "length":
            lengths = ChunkLengths(self)
            return lengths.settle_all(corpus, systems, threads=threads, progress=progress)
        return super().count_all(corpus, systems, threads=threads, progress=progress)

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The reference of each sentence (see the class)."""
        alone = self.choice == "isolated" or self.total == "mean"  # a mean is best piece by piece
        if alone:
            return best_alone(counts, self._alone, TIES)
        share = f_share(self.beta, len(self.statistics), empty=1)

        def ranked(totals: Sequence[Fraction]) -> int:
            return rounded(share.of(totals), DIGITS, lambda: self._so_far(totals))

        return best_references(counts, RunningRule(ranked, (share,), DIGITS, TIES), before=before)

    @property
    def single(self) -> Self:
        """With the reference best for the sentence alone."""
        return replace(self, choice="isolated")

    def score(self, totals: Floats) -> Floats:
        """F of summed weights, or the mean of the sentences' F."""
        if self.total == "mean":
            return mean_own_score(totals)
        return self._figures(totals)[2]

    def parts(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Precision, recall, accuracy, and the weights behind them."""
        p, r, _, accuracy = self._figures(totals)
        counts: dict[str, Floats | Ints] = dict(by_name(KINDS[:FPNE], totals))
        if self.weights == "none":
            counts = {name: whole(count) for name, count in by_name(KINDS[:FPNE], totals).items()}
        return {"P": p, "R": r, "accuracy": accuracy, **counts}

    def _figures(self, totals: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        tp, fp, fn, tn = (totals[..., k] for k in (TP, FP, FN, TN))
        p, r = precision_recall(tp, fp, fn, 1.0)
        return p, r, f_beta(p, r, self.beta), ratio(tp + tn, tp + fp + fn + tn, 0.0)

    def _rounded(self, totals: Sequence[float]) -> list[float]:
        return [round(float(each), DIGITS) for each in self._figures(np.array(totals, np.float64))]

    def _so_far(self, totals: Sequence[Fraction]) -> float:
        return float(self._figures(np.array(totals, np.float64))[2])

    def _alone(self, totals: Sequence[float]) -> tuple[float, ...]:
        p, r, f, accuracy = self._rounded(totals)
        return f, p, r, accuracy


@unsettled_of.register(CLEME)
def _unsettled(metric: CLEME) -> ChunkLengths | None:
    """Chunks by their lengths, where these decide what they weigh."""
    return ChunkLengths(metric) if metric.weights == "length" else None


@metric
class CLEME2(Merging):
    """Hits, errors, omissions and overcorrections over merged chunks (Ye et al. 2025).

    With the fates of `CLEME`, FP split into those where a change is due (ne) and not (un)::

        hit   = TP / (TP + FPne + FN)      wrong = FPne / (TP + FPne + FN)
        under = FN / (TP + FPne + FN)      over  = FPun / (TP + FP)
        score = .45 hit + .35 (1 - wrong) + .15 (1 - under) + .05 (1 - over)

    each 0 where nothing is there; for single sentences the factors are .35, .25, .20 and .20.
    ``factors`` are those of the corpus score in place of the paper's. An output that changes
    nothing scores .40 there. The reference is chosen by the score so far, ties as in `CLEME`; for a
    single sentence by its score, and of equals, as in the program, by the larger share of over.
    ``total="mean"`` is the mean of the sentences' scores.

    ``weights="similarity"``: a chunk weighs as much as it alone brings the source nearer to the
    reference or takes it away, by BERTScore's F (not rescaled)::

        TP, FP:  |F(source with the output's words, reference) - F(source, reference)|
        FN:      |F(source with the reference's words, reference) - F(source, reference)|      TN: 1

    ``mode="independent"`` knows no single reference: there it is the mean over those that decide,
    the ones that agree for TP and all of them for FP and FN. ``model`` and ``layer``: see
    `errata.models.bertscore`; a weight below 0.00001 is 0.

    >>> from errata.evaluation import evaluate
    >>> from errata import Corpus
    >>> corpus = Corpus.from_texts(["He go to home"], [["He goes home"]])
    >>> round(evaluate("cleme2", corpus, {"A": ["He go to home"]})["A"], 4)
    0.4
    """

    name = "cleme2"
    about = About(
        paper="Ye et al. 2025",
        range="from 0 to 1",
        needs=("gold edits or references",),
        amounts=KINDS,
    )
    _nothing = 0.0

    mode: Mode = "dependent"
    weights: Literal["none", "similarity"] = "none"
    factors: tuple[float, ...] = (0.45, 0.35, 0.15, 0.05)
    sentence_factors: tuple[float, ...] = (0.35, 0.25, 0.2, 0.2)
    gold: GoldEditing = "as_is"
    extractor: str = "aligned"
    outputs: OutputEditing = "alike"
    choice: Literal["sequential", "isolated"] = "sequential"
    total: Literal["sum", "mean"] = "sum"
    model: str = "bert-base-uncased"
    layer: int | None = None
    revision: str = ""
    dtype: str = "float32"
    device: str = field(default="auto", compare=False)
    batch_size: int = field(default=64, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        split_extractor(self.extractor)
        for name in ("factors", "sentence_factors"):
            given = getattr(self, name)
            if len(given) != 4 or min(given) < 0 or not 0.999 < sum(given) < 1.001:
                raise InputError(
                    f"cleme2: {name}={given} are not four shares of 1",
                    remedy="give the weights of hit, wrong, under and over, as "
                    "(0.45, 0.35, 0.15, 0.05)",
                )

    @property
    def statistics(self) -> tuple[str, ...]:
        """Chunks by fate; with ``total="mean"`` also the sentence's own score."""
        return (*KINDS, *(("score", "sentences") if self.total == "mean" else ()))

    @property
    def headline(self) -> str:
        """What the score is called."""
        return "CLEME2.0"

    def _own_score(self, counts: Floats) -> Floats:
        return fixed_point(self._weighed(counts, self.sentence_factors), BITS)

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The reference of each sentence (see the class)."""
        factors = self.sentence_factors if self.total == "mean" else self.factors

        def by_itself(totals: Sequence[float]) -> tuple[float, float]:
            own = np.array(totals, np.float64)
            score, over = self._weighed(own, factors), _shares(own)[3]
            return round(float(score), NOISE), round(float(over), NOISE)

        if self.choice == "isolated" or self.total == "mean":
            return best_alone(counts, by_itself)
        shares = self._exact_shares()

        def ranked(totals: Sequence[Fraction]) -> Fraction:
            return sum((share.of(totals) for share in shares), Fraction(0))

        rule = RunningRule(ranked, shares, ties=TIES)
        return best_references(counts, rule, before=before)

    def _exact_shares(self) -> tuple[Share, Share]:
        """The score as two quotients, but for what is the same for all."""
        hit, wrong, under, over = (Fraction(repr(float(factor))) for factor in self.factors)
        none, one = Fraction(0), Fraction(1)

        def share(above: dict[int, Fraction], below: tuple[int, ...]) -> Share:
            every = range(len(self.statistics))
            return Share(
                tuple(above.get(k, none) for k in every),
                tuple(one if k in below else none for k in every),
            )

        needed = share({TP: hit, FPNE: -wrong, FN: -under}, (TP, FPNE, FN))
        return needed, share({FP: -over, FPNE: over}, (TP, FP))

    @property
    def single(self) -> Self:
        """With the factors and the reference of single sentences."""
        return replace(self, choice="isolated", factors=self.sentence_factors)

    def score(self, totals: Floats) -> Floats:
        """The weighed shares of summed chunks, or the mean of the sentences' scores."""
        if self.total == "mean":
            return mean_own_score(totals)
        return self._weighed(totals, self.factors)

    def parts(self, totals: Floats) -> dict[str, Floats | Ints]:
        """The four shares, and the chunks behind them."""
        shares = dict(zip(("hit", "wrong", "under", "over"), _shares(totals), strict=True))
        counts: dict[str, Floats | Ints] = dict(by_name(KINDS, totals))
        if self.weights == "none":
            counts = {name: whole(count) for name, count in by_name(KINDS, totals).items()}
        return {**shares, **counts}

    def _weighed(self, totals: Floats, factors: tuple[float, ...]) -> Floats:
        hit, wrong, under, over = _shares(totals)
        a, b, c, d = factors
        return np.asarray(a * hit + b * (1 - wrong) + c * (1 - under) + d * (1 - over))


def _shares(totals: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Hit, wrong, under and over."""
    tp, fp, fn, due = (totals[..., k] for k in (TP, FP, FN, FPNE))
    needed = tp + due + fn
    return (
        ratio(tp, needed, 0.0),
        ratio(due, needed, 0.0),
        ratio(fn, needed, 0.0),
        ratio(fp - due, tp + fp, 0.0),
    )
