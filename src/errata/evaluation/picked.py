"""What sentences take of their counts: sums, means over draws, and scores of single sentences."""

from __future__ import annotations

import numpy as np

from errata.data import Corpus
from errata.evaluation.contract import checked_choice
from errata.metrics.base import Metric, scored_alone
from errata.numbers import BLOCK, Floats, Ints
from errata.sums import Sums, taken

__all__ = ["chosen_counts", "draw_totals", "sentence_scores"]


def draw_totals(counts: Floats, choice: Ints, *, block: int = BLOCK) -> Floats:
    """Chosen counts summed over sentences, for each draw: ``[draw, k]``."""
    return Sums.of(counts, choice, block=block).floats


def chosen_counts(counts: Floats, choice: Ints) -> Floats:
    """Chosen counts of each sentence, mean over draws: ``[sentence, k]``."""
    if len(choice) == 1:
        found = taken(counts, choice[0])
        nothing = choice[0] < 0
        return np.where(nothing[:, None], 0.0, found) if nothing.any() else found
    picked = np.zeros((counts.shape[0], counts.shape[2]))
    known = _there(counts)
    for r in range(counts.shape[1]):
        share = (choice == r).mean(axis=0)
        picked += share[:, None] * known[:, r]
    return picked


def _there(counts: Floats) -> Floats:
    """Counts with 0 for missing references, which no choice takes: 0 times NaN would be NaN."""
    return np.where(np.isnan(counts).all(axis=2, keepdims=True), 0.0, counts)


def sentence_scores(
    metric: Metric, counts: Floats, corpus: Corpus | None = None
) -> tuple[Floats, dict[str, Floats | Ints]]:
    """Scores and further figures of every sentence scored alone (mean over draws).

    Among the figures is the annotator whose reference was taken, where the corpus is given.
    """
    single = metric.single
    choice = checked_choice(single, counts, single.choose(counts))
    mean = scored_alone(metric, counts, choice)
    more = dict(single.parts(chosen_counts(counts, choice)))
    if corpus is None:
        return mean, more
    # With one reference there is no choice to speak of.
    several = counts.shape[1] > 1 and corpus.most_references > 1
    if metric.columns == "annotators" and len(choice) == 1 and several:
        more["annotator"] = _annotators(corpus, choice[0])
    return mean, more


def _annotators(corpus: Corpus, chosen: Ints) -> Floats | Ints:
    """The numbers of the annotators whose references were taken; NaN where none was."""
    places = corpus.edit_places
    at = np.minimum(places.first[:-1] + np.maximum(chosen, 0), len(places.annotators) - 1)
    named = places.annotators[at]
    if (chosen < 0).any():
        return np.where(chosen < 0, np.nan, named)
    return named
