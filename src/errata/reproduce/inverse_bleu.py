"""BLEU as the script of Sakaguchi et al. (2016) computed it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from errata.data import Corpus, Hypotheses, Scores
from errata.metrics.bleu import BLEU
from errata.metrics.ngrams import closest_lengths, reference_tokens

__all__ = ["inverse_bleu"]


def inverse_bleu(corpus: Corpus, systems: Sequence[Hypotheses]) -> Scores:
    """BLEU with the inverse brevity penalty, ``exp(min(0, 1 - h/r))``, from 0 to 1.

    The script passed the lengths in the wrong order, so that it punished hypotheses longer than
    the reference; of two references equally close in length it took the first. Unsmoothed.
    """
    metric = BLEU()
    references, first = reference_tokens(corpus)
    values = []
    for hypotheses in systems:
        counts = metric.count(corpus, hypotheses)[:, 0]
        h = corpus.vocabulary.intern(hypotheses.sentences).lengths
        r = closest_lengths(h, references.lengths, first, shorter=False)
        totals = counts.sum(axis=0)
        correct, total = totals[2:6], totals[6:10]
        brevity = min(0.0, 1 - float(h.sum()) / float(r.sum()))
        values.append(
            0.0 if not correct.all() else float(np.exp(brevity + np.log(correct / total).mean()))
        )
    return Scores("bleu-inverse", tuple(s.system for s in systems), np.array(values))
