"""IMeasure and its ranking key.

Mariano Felice and Ted Briscoe, "Towards a standard evaluation method for grammatical error
detection and correction", NAACL 2015; official program: github.com/mfelice/imeasure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.parallel import circles_left
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, Progress, ratio
from errata.data import Corpus, Hypotheses
from errata.metrics.base import (
    Before,
    Columns,
    Description,
    Metric,
    MetricFacts,
    Scope,
    check_beta,
    count_together,
    f_beta,
    metric,
    precision_recall,
    to_int,
)
from errata.metrics.imeasure.alignment_counts import (
    BASE,
    KINDS,
    RIGHT,
    STATISTICS,
    UNCHANGED,
    UNPROVEN,
    WRONG,
    count_mix,
    count_nomix,
    prepare_mix,
    prepare_nomix,
)
from errata.metrics.imeasure.references import treebank_tokens
from errata.metrics.ngrams import Spaces
from errata.metrics.running_choice import Ratio, RunningRule, best_references

# ---- What references are ranked by over a corpus (WAcc, I, Acc), in exact fractions.

ONE = Fraction(1)


def ranking_key(weight: float) -> RunningRule:
    """By WAcc, I and Acc of correction, then of detection; then the first."""
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


def _wacc(w: Fraction, aspect: Literal["correction", "detection"]) -> Ratio:
    """WAcc as a quotient of sums; a wrong correction is right detection."""
    above = {"unchanged": ONE, "right": w}
    below = {"unchanged": ONE, "missed": ONE, "needless": w, "right": w}
    if aspect == "detection":
        return _share({**above, "wrong": w}, {**below, "wrong": w})
    return _share(above, {**below, "wrong": (w + 1) / 2})


def _accuracy(aspect: Literal["correction", "detection"]) -> Ratio:
    """Right columns among all."""
    right = ("unchanged", "right", *(("wrong",) if aspect == "detection" else ()))
    return _share(dict.fromkeys(right, ONE), dict.fromkeys(STATISTICS[KINDS], ONE))


def _share(above: Mapping[str, Fraction], below: Mapping[str, Fraction]) -> Ratio:
    weights = [tuple(each.get(name, Fraction(0)) for name in STATISTICS) for each in (above, below)]
    return Ratio(weights[0], weights[1], empty=1)


def exact_improvement(wacc: Fraction, base: Fraction) -> Fraction:
    """I from a weighted accuracy and its baseline.

    >>> exact_improvement(Fraction(3, 4), Fraction(1, 2)), exact_improvement(ONE, ONE)
    (Fraction(1, 2), Fraction(1, 1))
    """
    if wacc == base:
        return Fraction(math.floor(wacc))
    return (wacc - base) / (1 - base) if wacc > base else wacc / base - 1


Aspect = Literal["correction", "detection"]
Tokenisation = Literal["official", "none"]
LONGEST = 5000  # tokens of a sentence
CELL = 36  # bytes for each pair of tokens of two sentences (`errata.kernels.threeway`)


@metric
class IMeasure(Metric):
    """I-measure: the gain in weighted accuracy over leaving the source unchanged.

    Source, hypothesis and reference are aligned token by token in three rows. A column in which
    all agree is a TN; a hypothesis that corrects as the reference does a TP, that misses a
    correction a FN, that changes what should stay a FP; a wrong correction of an error is a FP,
    a FN and a FPN at once, one column. With weight w (2 in the paper and the program):

        WAcc = (w·TP + TN) / (w·(TP + FP) + TN + FN - (w + 1)·FPN/2)
        I = (WAcc - WAcc_base) / (1 - WAcc_base)   if WAcc > WAcc_base
            WAcc / WAcc_base - 1                   if WAcc < WAcc_base
            1 if both are 1, else 0                if they are equal

    where the baseline is the unchanged source against the same reference. I is a fraction from
    -1 to 1; published tables print I·100. Each sentence takes the reference with the best
    (WAcc, I, Acc) for correction, then for detection.

    ``references="nomix"`` takes each annotator's whole correction (the official ``-nomix``,
    what published figures use); ``"mix"``, the official default, also lets corrections of
    several annotators be combined, cluster by cluster. ``tokenise="official"`` splits the
    corrections of an M2 file as the official converter does, which published figures need; those
    of the converter's own XML are split already. In the detection
    aspect a wrong correction is a TP. ``choice="corpus"`` chooses references by running totals
    (``-opt:corpus``); the result depends on the order of the sentences. ``spaces="ascii"`` splits
    outputs as the official program does, which reads bytes: a no-break space is part of a token.
    A sentence of more than ``longest`` tokens is refused before memory is asked for.

    >>> from errata import Corpus, Hypotheses
    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> metric = IMeasure()
    >>> counts = metric.count(corpus, Hypotheses("A", ("He went home .",)))
    >>> round(float(metric.score(counts[0, 0])), 4)  # WAcc 3/4.5 after 3/4
    -0.1111
    """

    name = "imeasure"
    about = About(
        paper="Felice & Briscoe 2015", range="from -1 to 1", needs=("gold edits or references",)
    )
    statistics = STATISTICS

    references: Literal["nomix", "mix"] = "nomix"
    aspect: Aspect = "correction"
    weight: float = 2.0
    beta: float = 1.0
    choice: Literal["sentence", "corpus"] = "sentence"
    tokenise: Tokenisation = "official"
    spaces: Spaces = "unicode"
    longest: int = field(default=LONGEST, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta(self.name, self.beta)
        if self.longest < 1:
            raise InputError(f"imeasure: longest={self.longest} must be at least 1")
        if not 0.001 <= self.weight <= 1000:
            raise InputError(
                f"imeasure: weight={self.weight!r} is not between 0.001 and 1000",
                remedy="the paper uses 2",
            )

    @property
    def headline(self) -> str:
        """What `score` returns."""
        return "I" if self.aspect == "correction" else "I (detection)"

    @property
    def columns(self) -> Columns:
        """The annotators, or mixtures of them."""
        return "annotators" if self.references == "nomix" else "readings"

    @property
    def scope(self) -> Scope:
        """The sentences before, where the corpus chooses."""
        return "running" if self.choice == "corpus" else "sentence"

    @property
    def for_sentences(self) -> Self:
        """Return the metric with the reference that is best for each sentence alone."""
        return replace(self, choice="sentence")

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Columns by kind ``[sentence, reference, kind]``.

        Of mixtures only the best one is there, or, if references are chosen by running totals,
        those that some totals would make the best.
        """
        if self.references == "mix":
            return self._count_mix(corpus, [hypotheses])[0]
        self._check_lengths(corpus, hypotheses)
        tokenise = self.tokenisation(corpus)
        key = ("imeasure", self.references, tokenise)
        prepared = corpus.derived(key, lambda: prepare_nomix(corpus, tokenise))
        return count_nomix(corpus, prepared, hypotheses, self.spaces)

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """The counts of every system; an output that several have is mixed for once."""
        if self.references == "mix":
            with circles_left():  # hundreds of thousands of texts and columns, none in a circle
                return count_together(
                    self._count_mix, corpus, systems, threads=threads, progress=progress
                )
        return super().count_all(corpus, systems, threads=threads, progress=progress)

    def _count_mix(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> list[Floats]:
        for hypotheses in systems:
            self._check_lengths(corpus, hypotheses)
        tokenise = self.tokenisation(corpus)
        key = ("imeasure", self.references, tokenise)
        chains = corpus.derived(key, lambda: prepare_mix(corpus, tokenise))
        return count_mix(corpus, chains, systems, self.weight, self.choice, self.spaces)

    def tokenisation(self, corpus: Corpus) -> Tokenisation:
        """How the corrections of a corpus are split: not again where its file has them split."""
        return "none" if corpus.tokenised_edits else self.tokenise

    def _check_lengths(self, corpus: Corpus, hypotheses: Hypotheses) -> None:
        """Refuse what would ask for gigabytes: tables grow with the square of a sentence."""
        for i, texts in enumerate(zip(corpus.sources, hypotheses.sentences, strict=True)):
            if max(map(len, texts)) <= self.longest:  # characters, and tokens are no more
                continue
            n = max(len(text.split()) for text in texts)
            if n > self.longest:
                raise InputError(
                    f"imeasure: sentence {i + 1} of {hypotheses.system} has {n} tokens, which asks "
                    f"for about {n * n * CELL / 1e9:.1f} GB",
                    remedy=f"give one sentence a line, or lift the limit: imeasure(longest={n})",
                )

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The reference with the best (WAcc, I, Acc), correction before detection; the first."""
        if self.scope == "running":
            return best_references(counts, ranking_key(self.weight), before=before)
        best = np.zeros(len(counts), np.int64)
        if counts.shape[1] > 1:
            ranks = self._ranks(counts)
            here = ranks[:, 0]
            for r in range(1, counts.shape[1]):
                better = beats(ranks[:, r], here)
                best[better] = r
                here = np.where(better[:, None], ranks[:, r], here)
        return best[None]

    def _ranks(self, counts: Floats) -> Floats:
        """What references are compared by, in order: ``[..., 6]``; -1 where one is missing."""
        base = self._wacc(_unchanged_columns(counts))
        ranks = []
        for aspect in get_args(Aspect):
            columns = _aspect_columns(counts, aspect)
            wacc = self._wacc(columns)
            ranks += [wacc, improvement(wacc, base), column_accuracy(columns)]
        return np.where(np.isnan(counts[..., :1]), -1.0, np.stack(ranks, axis=-1))

    def _wacc(self, columns: Floats) -> Floats:
        unchanged, missed, needless, right, wrong = np.moveaxis(columns, -1, 0)
        w = self.weight
        tp, fp, fn = right, needless + wrong, missed + wrong
        return ratio(w * tp + unchanged, w * (tp + fp) + unchanged + fn - (w + 1) * wrong / 2, 1.0)

    def score(self, totals: Floats) -> Floats:
        """I of summed columns."""
        return improvement(
            self._wacc(_aspect_columns(totals, self.aspect)), self._wacc(_unchanged_columns(totals))
        )

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """WAcc and its baseline, Acc, P, R, F and the counts, of the chosen aspect."""
        columns = _aspect_columns(totals, self.aspect)
        tn, missed, needless, tp, wrong = np.moveaxis(columns, -1, 0)
        fp, fn = needless + wrong, missed + wrong
        precision, recall = precision_recall(tp, fp, fn, 1.0)
        counted = {"TP": tp, "TN": tn, "FP": fp, "FN": fn, "FPN": wrong}
        if self.references == "mix":
            counted["unproven"] = totals[..., UNPROVEN]
        return {
            "WAcc": self._wacc(columns),
            "WAcc base": self._wacc(_unchanged_columns(totals)),
            "Acc": column_accuracy(columns),
            "P": precision,
            "R": recall,
            f"F{self.beta:g}": f_beta(precision, recall, self.beta),
            **{name: to_int(count) for name, count in counted.items()},
        }

    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        """How many references are texts, and how many corrections the tokeniser splits."""
        split = self.tokenisation(corpus) != "none" and sum(
            treebank_tokens(text) != tuple(text.split()) for text in corpus.edits.replacements
        )
        return {"texts": int(corpus.edits.bare.sum()), "split": int(split)}

    def describe(self, facts: MetricFacts) -> Description:
        """Whether the gold had edits or only text, and whether corrections were split.

        ``tokenise='official'`` splits them as the official converter does; a fact of the
        signature, since it is no mistake of anybody.
        """
        return Description(
            (
                "gold:text" if facts["texts"] else "gold:edits",
                *(["corrections:tokenised anew"] if facts["split"] else []),
            )
        )


def _unchanged_columns(counts: Floats) -> Floats:
    """The columns of the unchanged source: some as they should be, the others missed."""
    columns = np.zeros((*counts.shape[:-1], 5))
    columns[..., :2] = counts[..., BASE]
    return columns


def _aspect_columns(counts: Floats, aspect: Aspect) -> Floats:
    """The columns as an aspect sees them: a wrong correction is right detection."""
    columns = counts[..., KINDS]
    if aspect == "detection":
        columns = columns.copy()
        columns[..., RIGHT] += columns[..., WRONG]
        columns[..., WRONG] = 0.0
    return columns


def improvement(wacc: Floats, base: Floats) -> Floats:
    """I from a weighted accuracy and its baseline; floats are compared exactly, as officially.

    >>> improvement(np.array([0.75, 0.5, 0.5, 1.0]), np.array([0.5, 0.75, 0.5, 1.0])).round(3)
    array([ 0.5  , -0.333,  0.   ,  1.   ])
    """
    better = (wacc - base) / np.where(base < 1, 1 - base, 1.0)
    worse = wacc / np.where(base > 0, base, 1.0) - 1
    return np.where(wacc == base, np.floor(wacc), np.where(wacc > base, better, worse))


def column_accuracy(columns: Floats) -> Floats:
    """Right columns, changed or not, among all: (TP + TN) / (TP + TN + FP + FN - FPN)."""
    return ratio(columns[..., UNCHANGED] + columns[..., RIGHT], columns.sum(axis=-1), 1.0)


def beats(new: Floats, old: Floats) -> NDArray[np.bool_]:
    """Return where rows of ``new`` follow the rows of ``old`` in lexicographic order."""
    differs = new != old
    first = differs.argmax(axis=-1)
    rows = np.arange(len(new))
    return np.asarray(differs.any(axis=-1) & (new[rows, first] > old[rows, first]))


__all__ = ["IMeasure"]
