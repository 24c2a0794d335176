"""The GLEU of 2015, with its weight λ (Napoles, Sakaguchi, Post & Tetreault, ACL 2015).

Superseded by `errata.metrics.gleu`; here because papers report it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.errors import InputError
from errata.metrics.base import Columns, Metric, metric
from errata.metrics.gleu import DENOMINATORS, HYPOTHESIS, NUMERATORS, REFERENCE
from errata.metrics.ngrams import (
    Spaces,
    closest_lengths,
    overlaps,
    reference_tokens,
    source_tokens,
    split_tokens,
)
from errata.numbers import Floats
from errata.parameters import About

__all__ = ["GLEU2015"]


@metric
class GLEU2015(Metric):
    """GLEU as first published, in the two versions of its script.

    H, S and R are multisets of n-grams of hypothesis, source and all references (largest
    counts); sums run over sentences, the score is 0 if any sum is not positive::

        "2015-06"  num_n = |H & (R - S)| + |H & R| - λ |H & (S - R)|
                   den_n = |R - S| + max(0, h + 1 - n)
                   GLEU  = exp(1/4 sum_n log(num_n / den_n))
        "2016-03"  num_n = |H & R\\S| + max(0, |H & R| - λ |H & S\\R|)
                   den_n = |H & R\\S| + max(0, h + 1 - n)
                   GLEU  = exp(min(0, 1 - h/r) + 1/4 sum_n log(num_n / den_n))

    ``-`` is the difference of multisets; ``R\\S`` keeps the n-grams of R that S lacks
    altogether. ``lam`` is the paper's λ; the paper reports 0.1 and 0. ``version="2015-06"`` is
    what the paper's tables were made with: it has no working brevity penalty. ``"2016-03"``
    (``scripts/original_gleu``) takes the closest reference length r (of two, the first), and its
    brevity penalty is inverted: it punishes hypotheses longer than the reference. The paper's
    Eq. 1 differs from both. Sentence scores are not smoothed, as in the scripts.
    ``spaces``: ``"ascii"`` splits tokens as the scripts do, which read bytes.

    >>> corpus = Corpus.from_texts(["He go home now ."], [["He goes home now ."]])
    >>> gleu = GLEU2015(lam=0)
    >>> counts = gleu.count(corpus, Hypotheses("A", ("He goes home now .",)))
    >>> float(gleu.score(counts[:, 0].sum(axis=0)))
    1.0
    """

    name = "gleu2015"
    about = About(paper="Napoles et al. 2015", range="from 0 to 1", needs=("references",))

    lam: float = 0.1
    version: Literal["2015-06", "2016-03"] = "2015-06"
    spaces: Spaces = "unicode"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.lam <= 1000:
            raise InputError(f"gleu2015: lam={self.lam} must be a number from 0 to 1000")

    @property
    def headline(self) -> str:
        """GLEU and its weight."""
        return f"GLEU {self.lam:g} (2015)"

    @property
    def statistics(self) -> tuple[str, ...]:
        """Lengths, then numerator and denominator of each order."""
        return (
            "hypothesis",
            "reference",
            *(f"{x}{n}" for n in (1, 2, 3, 4) for x in ("num", "den")),
        )

    @property
    def columns(self) -> Columns:
        """All references merged into one reading."""
        return "readings"

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Statistics with the references merged: one column."""
        references, first = reference_tokens(corpus, self.spaces)
        hypothesis = split_tokens(corpus, hypotheses.sentences, self.spaces)
        source = source_tokens(corpus, self.spaces)
        found = overlaps(source, hypothesis, references, first, merged=True)
        h = hypothesis.lengths
        total = np.maximum(0, h[:, None] - np.arange(4))
        counts = np.empty((len(h), 1, 10))
        counts[:, 0, HYPOTHESIS] = h
        if self.version == "2015-06":
            counts[:, 0, REFERENCE] = h
            counts[:, 0, NUMERATORS] = found.added + found.matched - self.lam * found.left
            counts[:, 0, DENOMINATORS] = found.wanted + total
        else:
            counts[:, 0, REFERENCE] = closest_lengths(h, references.lengths, first, shorter=False)
            kept = np.maximum(0, found.matched - self.lam * found.kept)
            counts[:, 0, NUMERATORS] = found.gained + kept
            counts[:, 0, DENOMINATORS] = found.gained + total
        return counts

    def score(self, totals: Floats) -> Floats:
        """GLEU of summed statistics."""
        there = np.asarray((totals > 0).all(axis=-1))
        safe = np.where(there[..., None], totals, 1.0)
        logs = np.log(safe[..., NUMERATORS] / safe[..., DENOMINATORS]).sum(axis=-1) / 4
        # In "2015-06" both lengths are the hypothesis's.
        brevity = np.minimum(0.0, 1 - safe[..., HYPOTHESIS] / safe[..., REFERENCE])
        return np.where(there, np.exp(brevity + logs), 0.0)
