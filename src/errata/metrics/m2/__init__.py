"""M2, the MaxMatch metric: the F-score of edits, matched in the system's favour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, ratio
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.metrics.base import (
    Before,
    Description,
    Metric,
    MetricFacts,
    Scope,
    append_score,
    check_beta,
    f_beta,
    mean_own_score,
    metric,
    to_int,
)
from errata.metrics.m2.matching import (
    Gold,
    MatchedEdits,
    SentenceEdits,
    gold_edits,
    gold_references,
    match_edits,
    proposals,
    shrink,
)
from errata.metrics.running_choice import f_weights, running_choice

__all__ = ["M2", "SentenceEdits", "optimal_choice"]

CORRECT, PROPOSED, GOLD = range(3)


@metric
class M2(Metric):
    """F of proposed edits against gold edits (Dahlmeier and Ng 2012), as nusnlp/m2scorer.

    Among all cheapest alignments of source and hypothesis, the edits are those that match most
    gold edits; neighbouring changes may form one edit across a few unchanged words. Then::

        P = correct / proposed (1 if none)     R = correct / gold (1 if none)
        F = (1 + β²) P R / (β² P + R)          (0 if P = R = 0)

    ``beta``: weighs precision (below 1) or recall (above 1); 0.5 as in CoNLL-2014.
    ``max_unchanged``: unchanged words one edit may span (the scorer's ``max_unchanged_words``).
    ``ignore_case``: drop proposed edits that change only case and spaces, after matching (the
    scorer's ``ignore_whitespace_casing``; gold edits of that kind become misses).
    ``choice``: which annotator a sentence takes. ``"sequential"`` is the scorer's: sentence
    after sentence, the one best for the totals so far, so that the order of sentences matters.
    ``"optimal"`` is the best F any choice can give, whatever the order. ``"isolated"`` takes the
    annotator best for the sentence alone, ``"last"`` the last one.
    ``sentences``: which annotator a sentence takes that is scored alone: the one best for it, or
    the ``"last"``, as the published sentence scores of Chollampatt and Ng (2018) do.
    ``duplicates``: ``"once"`` counts a gold edit listed twice once; ``"official"`` as the scorer,
    which lets one proposed edit match both, so that P may exceed 1.
    ``version``: ``"3.2"`` as the last release of the scorer, which misses insertions of two words
    or more at the start of a sentence; ``"head"`` as the program after it.
    ``total``: ``"mean"`` is the mean of the sentences' F (as SEEDA's SentM2) in place of the F of
    their sums, each with the annotator best for it.

    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> m2 = M2()
    >>> m2.count(corpus, Hypotheses("A", ("He goes to home .",))).tolist()
    [[[1.0, 2.0, 1.0]]]
    """

    name = "m2"
    about = About(paper="Dahlmeier & Ng 2012", range="from 0 to 1", needs=("gold edits",))

    beta: float = 0.5
    max_unchanged: int = 2
    ignore_case: bool = False
    choice: Literal["sequential", "optimal", "isolated", "last"] = "sequential"
    sentences: Literal["isolated", "last"] = "isolated"
    duplicates: Literal["once", "official"] = "once"
    version: Literal["head", "3.2"] = "head"
    total: Literal["sum", "mean"] = "sum"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta(self.name, self.beta)
        if type(self.max_unchanged) is not int or not 0 <= self.max_unchanged <= 10_000:
            raise InputError(
                f"m2: max_unchanged={self.max_unchanged!r} is no number of words",
                remedy="use 2, as the official scorer, or 0 to keep edits apart",
            )

    @property
    def statistics(self) -> tuple[str, ...]:
        """Correct, proposed and gold edits; with ``total="mean"`` also the sentence's own F."""
        return ("correct", "proposed", "gold", *(("F", "sentences") * (self.total == "mean")))

    @property
    def headline(self) -> str:
        """F with its beta, as F0.5."""
        return f"F{self.beta:g}"

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Correct, proposed and gold edits of each sentence, annotators in order of their ids."""
        gold, matched = self.matched(corpus, hypotheses)
        counts = _by_sentence(gold, matched)
        if self.total == "sum":
            return counts
        return append_score(counts, f_beta(*_precision_recall(counts), self.beta))

    def matched(self, corpus: Corpus, hypotheses: Hypotheses) -> tuple[Gold, MatchedEdits]:
        """The gold edits, and what was proposed beside each reference and which of them it met."""
        gold = gold_edits(corpus, self.duplicates)
        return gold, match_edits(
            corpus,
            hypotheses,
            gold,
            max_unchanged=self.max_unchanged,
            ignore_case=self.ignore_case,
            once=self.duplicates == "once",
            release=self.version == "3.2",
        )

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The annotator of each sentence (see ``choice``)."""
        if self.choice == "optimal" and self.total == "sum":
            return optimal_choice(counts, self.beta)[None]
        if self.choice == "last":
            there = ~np.isnan(counts[:, :, CORRECT])
            last: Ints = np.where(there, np.arange(counts.shape[1]), -1).max(axis=1)
            return last[None]
        alone = self.choice == "isolated" or self.total == "mean"  # a mean is best piece by piece
        carry = tuple(map(int, before.totals[:3])) if before is not None else (0, 0, 0)
        return running_choice(counts[..., :3], self.beta, alone=alone, carry=carry)[0][None]

    @property
    def scope(self) -> Scope:
        """The whole corpus for the optimal choice, the sentences before for the scorer's."""
        if self.choice in ("isolated", "last") or self.total == "mean":
            return "sentence"
        return "corpus" if self.choice == "optimal" else "running"

    @property
    def for_sentences(self) -> Self:
        """With the annotator that ``sentences`` says."""
        return replace(self, choice=self.sentences)

    def score(self, totals: Floats) -> Floats:
        """F of summed counts, or the mean of sentences' F."""
        if self.total == "mean":
            return mean_own_score(totals)
        return f_beta(*_precision_recall(totals), self.beta)

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Precision, recall, and the counts behind them."""
        precision, recall = _precision_recall(totals)
        names = self.statistics[:3]
        return {
            "P": precision,
            "R": recall,
            **{name: to_int(totals[..., k]) for k, name in enumerate(names)},
        }

    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        """Whether references have edits or are texts."""
        bare = corpus.edits.bare
        kinds = (("gold", not bare.all()), ("aligned", bare.any()))
        return {"edits": frozenset(name for name, found in kinds if found)}

    def describe(self, facts: MetricFacts) -> Description:
        """Whether edits were given or come from aligning texts."""
        return Description((f"edits:{'+'.join(sorted(facts['edits'], reverse=True))}",))

    def explain(self, corpus: Corpus, hypotheses: Hypotheses) -> tuple[SentenceEdits, ...]:
        """The correct, missed and wrong edits of every sentence, for the annotator it takes.

        >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
        >>> M2().explain(corpus, Hypotheses("A", ("He goes to home .",)))[0].wrong
        (Edit(start=2, end=2, replacement='to', kind=''),)
        """
        gold, matched = self.matched(corpus, hypotheses)
        chosen = self.choose(_by_sentence(gold, matched))[0]
        if (chosen < 0).any():
            raise InputError(f"sentence {int(chosen.argmin()) + 1} has no reference")
        references = gold_references(corpus, gold)
        return tuple(
            _explain(
                corpus.sources[i].split(),
                proposals(hypotheses.sentences[i].split(), gold, matched, r),
                *references[r],
            )
            for i, r in enumerate((gold.first[:-1] + chosen).tolist())
        )


def _precision_recall(counts: Floats) -> tuple[Floats, Floats]:
    correct = counts[..., CORRECT]
    return ratio(correct, counts[..., PROPOSED], 1.0), ratio(correct, counts[..., GOLD], 1.0)


def _by_sentence(gold: Gold, matched: MatchedEdits) -> Floats:
    """Counts as ``[sentence, reference, k]``, NaN where a sentence has fewer references."""
    sizes = np.diff(gold.first)
    counts = np.full((len(sizes), sizes.max(initial=1), 3), np.nan)
    there = np.arange(counts.shape[1]) < sizes[:, None]
    counts[there] = np.column_stack([matched.counts, np.diff(gold.arrays.gold_at)])
    return counts


def _explain(
    source: list[str],
    beside: tuple[dict[int, Edit], list[int]],
    reference: Reference,
    edits: tuple[Edit, ...],
) -> SentenceEdits:
    proposed, met = beside
    return SentenceEdits(
        reference.annotator,
        tuple(
            Edit(edit.start, edit.end, proposed[e].replacement, edit.kind)
            for edit, e in zip(edits, met, strict=True)
            if e >= 0
        ),
        tuple(edit for edit, e in zip(edits, met, strict=True) if e < 0),
        tuple(shrink(edit, source) for e, edit in proposed.items() if e not in met),
    )


def optimal_choice(counts: Floats, beta: float) -> Ints:
    """The choice of references with the highest F of the totals, whatever the order.

    F is a ratio of sums, so Dinkelbach's (1967) iteration finds its maximum: given F = N/D, every
    sentence takes the reference with the largest ``D w0 correct - N (w1 proposed + w2 gold)``;
    the new F is no lower, and when no sentence gains, no choice is better. All numbers are whole,
    so that the result is exact. Of equal references the one with most correct edits is taken,
    then the first.

    >>> two = np.array([[[1, 3, 10], [0, 3, 0.0]], [[10, 10, 10], [np.nan] * 3]])
    >>> optimal_choice(two, 0.5).tolist()
    [1, 0]
    """
    there = ~np.isnan(counts[:, :, CORRECT])
    size = int(np.nansum(counts)) * sum(f_weights(beta)) + 1
    gain, cost = _gain_and_cost(counts, beta, size * size)
    free = _largest((-cost, gain), there)
    numerator, denominator = 0, 1
    while True:
        chosen = _largest((denominator * gain - numerator * cost, gain, -cost), there)
        top, bottom = _total(gain, chosen), _total(cost, chosen)
        if bottom == 0 or top * denominator <= numerator * bottom:
            break
        numerator, denominator = top, bottom
    # F of nothing proposed and nothing to correct is 1
    return free if _total(cost, free) == 0 and numerator < denominator else chosen


def _gain_and_cost(counts: Floats, beta: float, largest: int) -> tuple[Ints, Ints]:
    """What each reference adds to both terms of F, fit for products as large as ``largest``."""
    whole: NDArray[np.int64] = np.nan_to_num(counts).astype(np.int64)
    if largest > 2**62:
        whole = whole.astype(object)
    w0, w1, w2 = f_weights(beta)
    cost: Ints = w1 * whole[:, :, PROPOSED] + w2 * whole[:, :, GOLD]
    return w0 * whole[:, :, CORRECT], cost


def _largest(keys: tuple[Ints, ...], there: NDArray[np.bool_]) -> Ints:
    """The first column where the first key is largest, then the second...; -1 where none is."""
    best = np.full(len(there), -1)
    rows = np.arange(len(there))
    for column in range(there.shape[1]):
        larger = best < 0
        tied = ~larger
        for key in keys:
            held = key[rows, best]
            larger |= tied & (key[:, column] > held)
            tied &= key[:, column] == held
        best[larger & there[:, column]] = column
    return best


def _total(key: Ints, chosen: Ints) -> int:
    taken = np.flatnonzero(chosen >= 0)
    return int(key[taken, chosen[taken]].sum())
