"""P, R and F for each kind of edit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.edits import kind_at
from errata.edits.origins import retyped_for
from errata.metrics.base import f_beta, precision_recall
from errata.metrics.errant import Edits
from errata.metrics.errant.tally import FN, FP, TP, summed
from errata.numbers import Floats, Progress

__all__ = ["Kinds", "TypeScores", "comparable", "scores_by_type"]

Kinds = Literal["comparable", "as_is"]


@dataclass(frozen=True)
class TypeScores:
    """One system's counts and scores by kind of edit; ``macro`` is the mean F over the kinds.

    ``retyped`` says whether the gold edits got their kinds from the extractor.
    """

    system: str
    kinds: tuple[str, ...]
    counts: Floats
    precision: Floats
    recall: Floats
    f: Floats
    micro: float
    macro: float
    retyped: bool = False


def comparable(
    metric: Edits,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    kinds: Kinds = "comparable",
    *,
    progress: Progress | None = None,
) -> tuple[Corpus, list[Hypotheses], bool]:
    """The corpus and the outputs with edits whose kinds can be compared, and whether they could be.

    Gold edits whose kinds are of another inventory than the systems' are the same edits under the
    kinds that the extractor gives them.
    """
    gold, found = metric.prepared(corpus, systems, progress)
    each_alike = [kinds == "as_is" or metric.kinds_alike(gold, each) for each in systems]
    alike = all(each_alike)
    return gold if alike else retyped_for(gold, metric.extractor), found, alike


def scores_by_type(
    metric: Edits,
    corpus: Corpus,
    hypotheses: Hypotheses,
    *,
    tier: int = 3,
    kinds: Kinds = "comparable",
) -> TypeScores:
    """Counts, P, R and F for each kind of edit, with the references the corpus score takes.

    ``tier`` 1 groups by operation (M, R, U), 2 by kind without operation (``DET``), 3 shows full
    kinds, as ``errant_compare -cat``. Kinds without an operation (``UNK``) stay as they are.
    Gold kinds of another inventory than the extractor's are replaced by the extractor's, and
    refused where the system's kinds were given; ``kinds="as_is"`` leaves them as they are, as
    ``errant_compare`` does.
    """
    gold, (system,), alike = comparable(metric, corpus, [hypotheses], kinds)
    compared = metric.compare(gold, system)
    choice = metric.choose(metric.with_sentence_f(summed(compared)))[0]
    totals: dict[str, Counter[int]] = {}
    for tables, chosen in zip(compared, choice, strict=True):
        for kind, row in tables[chosen].items() if chosen >= 0 else ():
            name = kind_at(kind, tier)
            totals.setdefault(name, Counter()).update(dict(enumerate(row)))
    named = tuple(sorted(totals))
    counts = np.array([[totals[k][c] for c in range(3)] for k in named], np.float64).reshape(-1, 3)
    precision, recall = precision_recall(counts[:, TP], counts[:, FP], counts[:, FN], 1.0)
    f = f_beta(precision, recall, metric.beta)
    total = counts.sum(axis=0)
    p, r = precision_recall(total[TP], total[FP], total[FN], 1.0)
    return TypeScores(
        hypotheses.system,
        named,
        counts,
        precision,
        recall,
        f,
        float(f_beta(p, r, metric.beta)),
        float(f.mean()) if named else 0.0,
        not alike,
    )
