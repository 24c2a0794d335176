"""GREEN: F of n-grams that were rightly kept, deleted and inserted (Koyama et al., INLG 2024)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from errata.core.errors import InputError
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, ratio
from errata.data import Corpus, Hypotheses, Tokens
from errata.kernels.ngrams import MATCHED, SURPLUS, WANTED
from errata.metrics.base import (
    Before,
    Metric,
    append_score,
    check_beta,
    mean_own_score,
    metric,
    to_int,
)
from errata.metrics.ngrams import corrections, overlaps, per_reference, reference_tokens

ORDERS = 9  # beyond it n-grams of sentences are nearly all different


@metric
class GREEN(Metric):
    """F of what was rightly kept, deleted and inserted, over n-grams of several orders.

    An n-gram that source, reference and output have s, r and c times is, per sentence and order::

        TP  kept     min(s, r, c)          FP  deleted too much   max(0, min(s, r) - c)
            deleted  max(0, s - max(r, c))     inserted too much  max(0, c - max(s, r))
            inserted max(0, min(r, c) - s) FN  deleted too little max(0, min(s, c) - r)
                                               inserted too little max(0, r - max(s, c))

        P = (Π TPₙ / (TPₙ + FPₙ))^(1/N),   R likewise with FN,   F = (1 + β²) P R / (β² P + R)

    Each sentence takes the reference with the best F over the orders 1..N, of equals that with the
    best over 1..N-1 and so on, of equals the first; the corpus score is F of the sums. ``n`` is N;
    ``unit="char"`` takes n-grams of the characters of the line, blanks included. ``total="mean"``
    is the mean of the sentences' F (the program's ``mgreen``).

    The official program has β = 1 unless told otherwise, its paper and documentation 2, which is
    the default here. It takes P = 1 where nothing was kept, deleted or inserted at all, and R = 0
    where there was nothing to be found (``empty="official"``), so that a text shorter than N
    words scores 0 even if it is right; ``empty="one"`` takes 1 for both.

    >>> from errata.scoring.evaluate import evaluate
    >>> corpus = Corpus.from_texts(["He go home now ."], [["He goes home now ."]])
    >>> round(evaluate("green(n=2)", corpus, {"A": corpus.sources})["A"], 4)
    0.5271
    """

    name = "green"
    about = About(paper="Koyama et al. 2024", range="from 0 to 1", needs=("references",))

    n: int = 4
    beta: float = 2.0
    unit: Literal["word", "char"] = "word"
    empty: Literal["official", "one"] = "official"
    total: Literal["sum", "mean"] = "sum"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta("green", self.beta)
        if not 1 <= self.n <= ORDERS:
            raise InputError(f"green: n={self.n} is not between 1 and {ORDERS}")

    @property
    def headline(self) -> str:
        """F and its weight."""
        return f"GREEN F{self.beta:g}"

    @property
    def statistics(self) -> tuple[str, ...]:
        """TP, FP and FN of each order; with ``total="mean"`` also the sentence's own F."""
        orders = range(1, self.n + 1)
        each = tuple(f"{what}{n}" for what in ("TP", "FP", "FN") for n in orders)
        return (*each, *(("F", "sentences") if self.total == "mean" else ()))

    def _tokens(self, corpus: Corpus, lines: tuple[str, ...]) -> Tokens:
        if self.unit == "word":
            return corpus.vocabulary.intern(lines)
        return corpus.vocabulary.intern_tokens(map(list, lines))

    def _corpus_tokens(self, corpus: Corpus) -> tuple[Tokens, Tokens, Ints]:
        """Return sources, references, and where the references of each sentence begin."""
        references, first = reference_tokens(corpus)  # which refuses a sentence without any
        if self.unit == "word":
            return corpus.source_tokens, references, first
        return corpus.derived(
            "characters",
            lambda: (
                self._tokens(corpus, corpus.sources),
                self._tokens(corpus, tuple(corrections(corpus))),
                first,
            ),
        )

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """TP, FP and FN of each order for every sentence and reference."""
        source, references, first = self._corpus_tokens(corpus)
        output = self._tokens(corpus, hypotheses.sentences)
        found = overlaps(source, output, references, first, order=self.n)
        alone = np.arange(len(corpus) + 1, dtype=np.int64)  # the source as its only reference
        both = overlaps(source, output, source, alone, order=self.n)[..., MATCHED]
        row = np.repeat(np.arange(len(corpus)), np.diff(first))
        s, c, r = (self._sizes(tokens) for tokens in (source, output, references))
        s, c, both = s[row], c[row], both[row]
        shared = r - found[..., WANTED]  # |S & R|
        tp = s - shared - found[..., SURPLUS] + found[..., MATCHED]
        fp = c + shared - both - found[..., MATCHED]
        fn = r + both - shared - found[..., MATCHED]
        counts = per_reference(np.concatenate([tp, fp, fn], axis=1), first)
        if self.total == "sum":
            return counts
        return append_score(counts, self._f(counts, self.n))

    def _sizes(self, tokens: Tokens) -> Ints:
        """How many n-grams of each order a text has: ``[sentence, order]``."""
        sizes: Ints = np.maximum(0, tokens.lengths[:, None] - np.arange(self.n))
        return sizes

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The reference that is best over all orders, then over fewer; of equals the first."""
        best = np.full(counts.shape[:2], True)
        for orders in range(self.n, 0, -1):
            f = np.where(best, np.nan_to_num(self._f(counts, orders), nan=-1.0), -1.0)
            best &= f == f.max(axis=1, keepdims=True)
        chosen: Ints = best.argmax(axis=1)[None]
        return chosen

    def score(self, totals: Floats) -> Floats:
        """F of summed counts, or the mean of the sentences' F."""
        if self.total == "mean":
            return mean_own_score(totals)
        return self._f(totals, self.n)

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Precision and recall, and the counts of single words or characters."""
        p, r = self._precision_recall(totals, self.n)
        return {
            "P": p,
            "R": r,
            **{
                what: to_int(totals[..., k * self.n])
                for k, what in enumerate(("TP1", "FP1", "FN1"))
            },
        }

    def _precision_recall(self, totals: Floats, orders: int) -> tuple[Floats, Floats]:
        """Geometric means over the first so many orders."""
        tp, fp, fn = (totals[..., k * self.n : k * self.n + orders] for k in range(3))
        p = ratio(tp, tp + fp, 1.0)
        r = ratio(tp, tp + fn, 0.0 if self.empty == "official" else 1.0)
        return p.prod(axis=-1) ** (1 / orders), r.prod(axis=-1) ** (1 / orders)

    def _f(self, totals: Floats, orders: int) -> Floats:
        p, r = self._precision_recall(totals, orders)
        alpha = 1 / (1 + self.beta**2)
        with np.errstate(divide="ignore"):
            return np.where((p == 0) | (r == 0), 0.0, 1 / (alpha / p + (1 - alpha) / r))
