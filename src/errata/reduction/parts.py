"""A part of a corpus: its counts by every metric, and its facts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.evaluation import checked_counts
from errata.metrics.base import Metric, WholeCountsError
from errata.numbers import Floats
from errata.reduction.facts import PartFacts
from errata.reduction.running import decides

__all__ = ["check_parts", "count_part"]


def count_part(
    metrics: Sequence[Metric],
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    guard: bool = True,
    threads: int | None = None,
) -> tuple[list[list[Floats]], PartFacts]:
    """The counts ``[metric][system]`` of a part of a corpus, checked, and its facts.

    A part may have no sentences. What counts only the whole decides is told by `check_parts`.

    >>> from errata.metrics import parse
    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> counts, facts = count_part([parse("m2")], corpus, [Hypotheses("A", ("He goes .",))])
    >>> counts[0][0].tolist(), facts.sentences, facts.told(parse("m2"))
    ([[[1.0, 2.0, 1.0]]], 1, (('edits:aligned',), ()))
    """
    if not len(corpus):
        nothing = [[np.zeros((0, 1, len(m.statistics))) for _ in systems] for m in metrics]
        return nothing, PartFacts.of(metrics, corpus, systems)
    counts = [
        checked_counts(metric, corpus, systems, guard=guard and not at, threads=threads, part=True)
        for at, metric in enumerate(metrics)
    ]
    return counts, PartFacts.of(metrics, corpus, systems)


def check_parts(metric: Metric) -> None:
    """Refuse a metric whose counts of a sentence depend on others, before any part is counted."""
    error = decides(metric)
    if isinstance(error, WholeCountsError):
        raise error
