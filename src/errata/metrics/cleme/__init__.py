"""CLEME and CLEME2.0: edits of all texts merged into chunks before they are compared.

Ye et al., EMNLP 2023 and ACL 2025. Boundaries of edits that another annotator or extractor would
have drawn differently do not decide, since every text is read over the same chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, Self

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.edits import GoldEditing, split_extractor, with_edits
from errata.edits.origins import OutputEditing, edits_of, origins
from errata.errors import InputError
from errata.metrics.base import (
    Columns,
    Metric,
    by_name,
    check_beta,
    f_beta,
    fixed_point,
    mean_own_score,
    metric,
    precision_recall,
    whole,
    with_own_score,
)
from errata.metrics.choice import best_references
from errata.metrics.cleme.merged import MergedChunk, merged_chunks, spoken_for
from errata.numbers import Floats, Ints, Progress, ratio
from errata.parameters import About
from errata.workers import in_order

__all__ = ["CLEME", "CLEME2"]

Mode = Literal["dependent", "independent"]
KINDS = ("TP", "FP", "FN", "TN", "FPne")
TP, FP, FN, TN, FPNE = range(5)
TIES = ((TP, 1), (FP, -1), (FN, -1), (TN, 1))
# The length weights of the released program: other values that its papers name never take effect.
SHARPNESS, LIGHTEST, HEAVIEST = 2.0, 0.75, 1.25
BITS = 40  # behind the point of weights: the sum of a corpus keeps the program's six digits
DIGITS = 4  # to which the program rounds P, R, F and accuracy
NOISE = 12  # digits beyond which two scores differ by rounding only


class _Compared(NamedTuple):
    """A sentence of one system: its chunks, the stretches between, and which references count."""

    chunks: list[MergedChunk]
    between: int
    references: list[int]
    columns: int


class _Merging(Metric):
    """What CLEME and CLEME2.0 share: chunks, and what an output did with each."""

    mode: Mode
    gold: GoldEditing
    extractor: str
    outputs: OutputEditing

    @property
    def columns(self) -> Columns:
        """The annotators, or all of them as one."""
        return "annotators" if self.mode == "dependent" else "readings"

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Edits of all systems are found in one go; a system is then counted as a whole."""
        gold = with_edits(corpus, self.gold, self.extractor, progress)
        found = edits_of(corpus, systems, self.outputs, extractor=self.extractor, progress=progress)
        return in_order(
            lambda system: self._counted(gold, system), found, threads=threads, progress=progress
        )

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """What became of the chunks of each sentence: TP, FP, FN, TN, and FP where one is due."""
        return self.count_all(corpus, [hypotheses])[0]

    def context(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> tuple[str, ...]:
        """Where the edits come from."""
        finds = self.gold == "reextracted" or not corpus.has_gold_edits
        return origins(systems, self.outputs, self.extractor, gold=finds)

    def _counted(self, gold: Corpus, output: Hypotheses) -> Floats:
        compared = _compared(gold, output)
        weigh = self._weights(compared)
        columns = max((each.columns for each in compared), default=1)
        if self.mode == "independent":
            columns = 1
        counts = np.full((len(compared), columns, len(KINDS)), np.nan)
        for row, each in zip(counts, compared, strict=True):
            if self.mode == "independent":
                row[0] = _fates(each, weigh, range(1, len(each.references) + 1), _of_all)
                continue
            for k, reference in enumerate(each.references, 1):
                row[reference] = _fates(each, weigh, (k,), _of_one)
        return counts

    def _weights(self, compared: Sequence[_Compared]) -> Callable[[int, int], float]:
        """The weight of a chunk by its fate and its size."""
        return lambda fate, size: 1.0


def _compared(gold: Corpus, output: Hypotheses) -> list[_Compared]:
    result = []
    for source, references, mine in zip(
        gold.sources, gold.references, output.edits or (), strict=True
    ):
        if not references:
            raise InputError(
                f"{gold.name}: a sentence has no reference, {source[:60]!r}",
                remedy="give every sentence a reference, or leave the sentence out",
            )
        left = spoken_for(references, source)
        texts = [mine, *(references[k].edits or () for k in left)]
        chunks, between = merged_chunks(source.split(), texts)
        result.append(_Compared(chunks, between, left, len(references)))
    return result


def _of_one(chunk: MergedChunk, which: Sequence[int]) -> tuple[int, bool]:
    """The fate of a chunk beside one reference, and whether that changes it."""
    (k,) = which
    same = chunk.words[0] == chunk.words[k]
    if chunk.changed[0]:
        return (TP if same else FP), chunk.changed[k]
    return (TN if same else FN), chunk.changed[k]


def _of_all(chunk: MergedChunk, which: Sequence[int]) -> tuple[int, bool]:
    """The same beside all references at once, any of which may be right."""
    due = any(chunk.changed[k] for k in which)
    if chunk.changed[0]:
        return (TP if any(chunk.words[0] == chunk.words[k] for k in which) else FP), due
    return (FN if all(chunk.changed[k] for k in which) else TN), due


def _fates(
    each: _Compared,
    weigh: Callable[[int, int], float],
    which: Sequence[int],
    fate_of: Callable[[MergedChunk, Sequence[int]], tuple[int, bool]],
) -> list[float]:
    counts = [0.0] * len(KINDS)
    counts[TN] = float(each.between)
    for chunk in each.chunks:
        fate, due = fate_of(chunk, which)
        weight = weigh(fate, chunk.size)
        counts[fate] += weight
        if fate == FP and due:
            counts[FPNE] += weight
    return counts


@metric
class CLEME(_Merging):
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
    on the output too, and so does b; ``middle`` gives another b to all. ``total="mean"`` is the
    mean of the sentences' F, each rounded to four digits.

    >>> from errata.evaluation import evaluate
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

    mode: Mode = "dependent"
    weights: Literal["length", "none"] = "length"
    middle: float | None = None
    beta: float = 0.5
    gold: GoldEditing = "as_is"
    extractor: str = "aligned"
    outputs: OutputEditing = "alike"
    choice: Literal["sequential", "isolated"] = "sequential"
    total: Literal["sum", "mean"] = "sum"

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

    def _counted(self, gold: Corpus, output: Hypotheses) -> Floats:
        counts = super()._counted(gold, output)
        if self.total == "sum":
            return counts
        f = np.where(np.isnan(counts[..., TP]), np.nan, self._figures(counts)[2].round(DIGITS))
        return with_own_score(counts, f)

    def _weights(self, compared: Sequence[_Compared]) -> Callable[[int, int], float]:
        if self.weights == "none":
            return super()._weights(compared)
        sizes = [
            max(chunk.length, len(words))
            for each in compared
            for chunk in each.chunks
            for words, changed in zip(chunk.words[1:], chunk.changed[1:], strict=True)
            if changed
        ]
        mean = sum(sizes) / len(sizes) if sizes else 0.0
        middle = mean if self.middle is None else self.middle

        def weight(fate: int, size: int) -> float:
            if fate == TN:
                return 1.0
            away = size - middle if fate == FP else middle - size
            # Far from the middle the exponential is beyond what is clipped anyway.
            steep = float(np.exp(np.clip(away, -50, 50)))
            value = SHARPNESS / (1 + (SHARPNESS - 1) * steep)
            return float(fixed_point(np.clip(value, LIGHTEST, HEAVIEST), BITS))

        return weight

    def choose(self, counts: Floats) -> Ints:
        """The reference of each sentence (see the class)."""
        alone = self.choice == "isolated" or self.total == "mean"  # a mean is best piece by piece
        score = self._alone if alone else self._so_far
        return best_references(counts, score, alone=alone, ties=TIES)

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
        return [round(float(each), DIGITS) for each in self._figures(np.array(totals))]

    def _so_far(self, totals: Sequence[float]) -> float:
        return self._rounded(totals)[2]

    def _alone(self, totals: Sequence[float]) -> tuple[float, ...]:
        p, r, f, accuracy = self._rounded(totals)
        return f, p, r, accuracy


@metric
class CLEME2(_Merging):
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

    >>> from errata.evaluation import evaluate
    >>> corpus = Corpus.from_texts(["He go to home"], [["He goes home"]])
    >>> round(evaluate("cleme2", corpus, {"A": ["He go to home"]})["A"], 4)
    0.4
    """

    name = "cleme2"
    about = About(paper="Ye et al. 2025", range="from 0 to 1", needs=("gold edits or references",))

    mode: Mode = "dependent"
    factors: tuple[float, ...] = (0.45, 0.35, 0.15, 0.05)
    sentence_factors: tuple[float, ...] = (0.35, 0.25, 0.2, 0.2)
    gold: GoldEditing = "as_is"
    extractor: str = "aligned"
    outputs: OutputEditing = "alike"
    choice: Literal["sequential", "isolated"] = "sequential"
    total: Literal["sum", "mean"] = "sum"

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

    def _counted(self, gold: Corpus, output: Hypotheses) -> Floats:
        counts = super()._counted(gold, output)
        if self.total == "sum":
            return counts
        own = np.where(
            np.isnan(counts[..., TP]), np.nan, self._weighed(counts, self.sentence_factors)
        )
        return with_own_score(counts, fixed_point(own, BITS))

    def choose(self, counts: Floats) -> Ints:
        """The reference of each sentence (see the class)."""
        alone = self.choice == "isolated" or self.total == "mean"
        factors = self.sentence_factors if self.total == "mean" else self.factors

        def so_far(totals: Sequence[float]) -> float:
            return round(float(self._weighed(np.array(totals), factors)), NOISE)

        def by_itself(totals: Sequence[float]) -> tuple[float, float]:
            return so_far(totals), round(float(_shares(np.array(totals))[3]), NOISE)

        if alone:
            return best_references(counts, by_itself, alone=True, ties=())
        return best_references(counts, so_far, alone=False, ties=TIES)

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
        counts = by_name(KINDS, totals)
        return {**shares, **{name: whole(count) for name, count in counts.items()}}

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
