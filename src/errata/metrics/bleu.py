"""BLEU as sacrebleu computes it (Papineni et al. 2002; Post 2018), on counts of our own.

sacrebleu tokenises and writes the signature; n-grams are counted by the kernel that GLEU uses and
the score is vectorised. The tests hold both equal to sacrebleu's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from errata.core.errors import InputError
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, ratio
from errata.data import Corpus, Hypotheses, Tokens, Vocabulary
from errata.kernels.ngrams import MATCHED
from errata.metrics.base import Description, Metric, MetricFacts, metric
from errata.metrics.ngrams import (
    check_references,
    closest_lengths,
    corrections,
    overlaps,
    reference_tokens,
)

# Tokenisers of sacrebleu that need neither a download nor a further package.
Tokenizer = Literal["none", "13a", "intl", "char", "zh"]
HYPOTHESIS, REFERENCE = 0, 1  # where the lengths stand among the statistics
SMOOTH_VALUES = {"floor": 0.1, "add-k": 1.0}  # Chen & Cherry (2014), sacrebleu's defaults


@metric
class BLEU(Metric):
    """BLEU, from 0 to 100, with all references of a sentence merged::

        BLEU = 100 exp(min(0, 1 - r/h) + 1/N sum_n log(|H & R| / max(0, h + 1 - n)))

    R has each n-gram as often as the reference that has it most often; r is the length of the
    reference closest to the hypothesis (of two, the shorter). Sums run over sentences.

    ``tokenize``: a tokeniser of sacrebleu; ``"none"`` takes the tokens as they are, which is what
    GEC data need and what sacrebleu's own default (``"13a"``) would disturb.
    ``lowercase``: fold the case first.
    ``smooth``: what a precision of 0 becomes, with sacrebleu's names: ``"exp"`` (halved for each
    order, as in mteval-v13a), ``"floor"``, ``"add-k"``, ``"none"``; ``smooth_value`` is the value
    of floor (0 stands for 0.1) and add-k (0 stands for 1).
    ``n``: the longest n-gram N.

    ``effective``: leave out orders that the hypothesis is too short for, as sacrebleu advises for
    single sentences, which are always scored so.
    ``brevity``: ``"inverse"`` is what the script of Sakaguchi et al. (2016) did by mistake: it
    punishes hypotheses longer than the reference, and takes the first of two references equally
    close in length. ``"none"`` leaves the penalty out, as in Table 2 of Napoles et al. (2015).

    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> bleu = BLEU()
    >>> counts = bleu.count(corpus, Hypotheses("A", ("He goes home .",)))
    >>> round(float(bleu.score(counts[:, 0].sum(axis=0))), 6)
    100.0
    """

    name = "bleu"
    about = About(paper="Papineni et al. 2002", range="from 0 to 100", needs=("references",))
    headline = "BLEU"
    columns = "readings"

    tokenize: Tokenizer = "none"
    lowercase: bool = False
    smooth: Literal["exp", "floor", "add-k", "none"] = "exp"
    smooth_value: float = 0.0
    n: int = 4
    effective: bool = False
    brevity: Literal["fixed", "inverse", "none"] = "fixed"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.n <= 100:
            raise InputError(f"bleu: n={self.n} must lie between 1 and 100")
        taken = self.smooth in SMOOTH_VALUES
        if not 0 <= self.smooth_value <= 1000 or (self.smooth_value and not taken):
            raise InputError(
                f"bleu: smooth_value={self.smooth_value} does not go with smooth={self.smooth!r}",
                remedy="only floor and add-k take a value, up to 1000",
            )

    @property
    def statistics(self) -> tuple[str, ...]:
        """Lengths, then matches and n-grams of each order: sacrebleu's order."""
        orders = range(1, self.n + 1)
        return (
            "hypothesis",
            "reference",
            *(f"correct{n}" for n in orders),
            *(f"total{n}" for n in orders),
        )

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Statistics with the references merged: one column."""
        first = check_references(corpus)
        vocabulary, references = self._references(corpus)
        hypothesis = vocabulary.intern(self._prepare(hypotheses.sentences))
        h = hypothesis.lengths
        no_source = Tokens(np.zeros(0, np.int32), np.zeros(len(h) + 1, np.int64))
        found = overlaps(no_source, hypothesis, references, first, order=self.n, merged=True)
        counts = np.empty((len(h), 1, 2 + 2 * self.n))
        counts[:, 0, HYPOTHESIS] = h
        counts[:, 0, REFERENCE] = closest_lengths(
            h, references.lengths, first, shorter=self.brevity == "fixed"
        )
        correct, total = self._matches(counts[:, 0])
        correct[:] = found[..., MATCHED]
        total[:] = np.maximum(0, h[:, None] - np.arange(self.n))
        return counts

    def score(self, totals: Floats) -> Floats:
        """Corpus BLEU of summed statistics."""
        correct, total = self._matches(totals)
        value = self.smooth_value or SMOOTH_VALUES.get(self.smooth, 0.0)
        hopeless = ~(correct > 0).any(axis=-1)
        if self.smooth == "add-k":
            longer = np.where(np.arange(self.n) > 0, value, 0.0)
            correct, total = correct + longer, total + longer
        known = np.cumprod(total > 0, axis=-1) > 0  # an order without n-grams ends the count
        missed = known & (correct == 0)
        if self.smooth == "exp":
            correct = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), correct)
        elif self.smooth == "floor":
            correct = np.where(missed, value, correct)
        precision = np.where(known, ratio(correct, total, 0.0), 0.0)
        order = np.maximum(1, known.sum(axis=-1)) if self.effective else self.n
        used = known | (not self.effective)
        zero = hopeless | (used & (precision == 0)).any(axis=-1)
        logs = np.where(used, np.log(np.where(precision > 0, precision, 1.0)), 0.0).sum(axis=-1)
        return np.where(zero, 0.0, 100 * self._brevity(totals) * np.exp(logs / order))

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """The n-gram precisions, unsmoothed, in percent, and the brevity penalty."""
        correct, total = self._matches(totals)
        precisions = 100 * ratio(correct, total, 0.0)
        return {
            **{f"p{n + 1}": precisions[..., n] for n in range(self.n)},
            "BP": self._brevity(totals),
        }

    @property
    def for_sentences(self) -> Self:
        """Sentence BLEU: the same smoothing, effective order."""
        return replace(self, effective=True)

    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        """The numbers of references that sentences have."""
        return {"references": frozenset(map(str, set(corpus.edits.sizes.tolist())))}

    def describe(self, facts: MetricFacts) -> Description:
        """The signature of sacrebleu, and where its signature for single sentences differs."""
        if self.brevity != "fixed":  # which sacrebleu does not know
            return Description()
        numbers = facts["references"]
        scorer = self._sacrebleu()
        scorer.num_refs = int(min(numbers)) if len(numbers) == 1 else -1
        return Description((f"sacrebleu:{scorer.get_signature()}", "sentence scores:eff:yes"))

    def _matches(self, totals: Floats) -> tuple[Floats, Floats]:
        """Matches and n-grams by order."""
        lengths = 2  # of hypothesis and reference, which come first
        return totals[..., lengths : lengths + self.n], totals[..., lengths + self.n :]

    def _brevity(self, totals: Floats) -> Floats:
        h, r = totals[..., HYPOTHESIS], totals[..., REFERENCE]
        if self.brevity == "none":
            return np.ones_like(h)
        if self.brevity == "inverse":
            h, r = r, h
        short = np.exp(np.minimum(0.0, 1 - ratio(r, h, 0.0)))
        return np.where((h == 0) & (r > 0), 0.0, short)

    def _references(self, corpus: Corpus) -> tuple[Vocabulary, Tokens]:
        """The references as this metric tokenises them, once for all systems."""
        if self.tokenize == "none" and not self.lowercase:
            return corpus.vocabulary, reference_tokens(corpus)[0]

        def make() -> tuple[Vocabulary, Tokens]:
            # Tokens of our own making do not belong into the corpus's vocabulary.
            vocabulary = Vocabulary()
            return vocabulary, vocabulary.intern(self._prepare(corrections(corpus)))

        return corpus.derived(("bleu", self.tokenize, self.lowercase), make)

    def _prepare(self, sentences: Iterable[str]) -> Iterable[str]:
        if self.lowercase:
            sentences = (sentence.lower() for sentence in sentences)
        if self.tokenize == "none":
            return sentences
        tokenizer = self._sacrebleu().tokenizer
        return (tokenizer(sentence.rstrip()) for sentence in sentences)

    def _sacrebleu(self) -> Any:
        from sacrebleu.metrics.bleu import BLEU as SacreBLEU

        return SacreBLEU(
            tokenize=self.tokenize,
            lowercase=self.lowercase,
            smooth_method=self.smooth,
            smooth_value=self.smooth_value or None,
            max_ngram_order=self.n,
            effective_order=self.effective,
        )
