"""From counts to scores, the same way for every metric.

The only caller of `Metric.count_all`, `choose` and `score`: the corpus score is the score of the
chosen counts summed over sentences (mean over draws), sentence scores are the scores of the
chosen counts with the metric set for single sentences, and the bootstrap weighs them
(`errata.resampling`). Corpora that come in parts go through `errata.reduction`, to the same scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from errata.data import Corpus, Hypotheses, Scores
from errata.evaluation.assembling import (
    SaidOfScores,
    assembled,
    corpus_facts,
    different_draws,
    drawn_facts,
    facts_said,
    whole_context,
)
from errata.evaluation.contract import MANY, check_given, checked_choice, checked_counts
from errata.evaluation.given import check_inputs, systems_in
from errata.evaluation.picked import chosen_counts, draw_totals, sentence_scores
from errata.metrics import METRICS, parse
from errata.metrics.base import Metric
from errata.numbers import BLOCK, Floats, Ints, Progress, Seed, bootstrap_weights
from errata.plugins import blamed
from errata.resampling import (
    LIMITS,
    BootstrapKind,
    BootstrapLimits,
    GrowingHistogram,
    Histogram,
    bootstrap_kind,
    document_blocks,
    resample,
)
from errata.workers import in_order

__all__ = [
    "SaidOfScores",
    "assembled",
    "check_inputs",
    "checked_choice",
    "checked_counts",
    "chosen_counts",
    "corpus_facts",
    "different_draws",
    "draw_totals",
    "drawn_facts",
    "evaluate",
    "facts_said",
    "resample_weights",
    "scores_of",
    "sentence_scores",
    "systems_in",
    "vectors",
    "whole_context",
]


def evaluate(
    metric: Metric | str,
    corpus: Corpus,
    systems: Hypotheses | Sequence[Hypotheses] | Sequence[str] | Mapping[str, Sequence[str]],
    *,
    resamples: int = 1000,
    rng: Seed = 0,
    bootstrap: BootstrapKind = "auto",
    guard: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
    limits: BootstrapLimits = LIMITS,
) -> Scores:
    """Score one or more systems with one metric: overall, per sentence, and in resamples.

    ``metric`` may be its signature (``"m2(beta=1)"``). ``systems`` may be plain sentences, of a
    system then called ``hypotheses``, or a mapping from names to sentences. ``rng`` seeds the
    bootstrap, whose kind the data decide (see `errata.resampling`); with ``bootstrap="sentences"``
    and the same seed every metric sees the same resamples. Unless ``guard=False``,
    outputs that do not fit the corpus line by line are refused or warned of, once (see
    `errata.io.check_alignment`). ``threads`` defaults to the number of cores. ``progress`` is
    called with (done, total).

    >>> from errata import Corpus, Hypotheses
    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> scores = evaluate("m2", corpus, Hypotheses("A", ("He goes home .",)))
    >>> scores["A"]
    1.0
    >>> evaluate("m2", corpus, {"B": ["He go home ."]})["B"]
    0.0
    """
    if isinstance(metric, str):
        metric = parse(metric)
    systems = systems_in(systems)
    counts = checked_counts(
        metric, corpus, systems, guard=guard, threads=threads, progress=progress
    )
    with blamed(metric):
        return _scores_of(
            metric, corpus, systems, counts, resamples, rng, bootstrap, limits, threads=threads
        )


def scores_of(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    counts: Sequence[Floats],
    *,
    resamples: int = 1000,
    rng: Seed = 0,
    bootstrap: BootstrapKind = "auto",
    limits: BootstrapLimits = LIMITS,
) -> Scores:
    """The scores that follow from counts ``[sentence, reference, k]``, one array per system.

    This is the entry for counts made elsewhere: on other machines, in a cache, or by a study
    that needs them itself.
    """
    check_given(metric, corpus, systems, counts)
    return _scores_of(metric, corpus, systems, counts, resamples, rng, bootstrap, limits)


def _scores_of(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    counts: Sequence[Floats],
    resamples: int,
    rng: Seed,
    bootstrap: BootstrapKind,
    limits: BootstrapLimits,
    *,
    threads: int | None = 1,
) -> Scores:
    METRICS.refuse_disguise(metric)
    together, alone = _taken(metric, corpus, counts, threads, keep=bool(resamples))
    resampled, kind = None, None
    if resamples:
        stacked = np.concatenate([picked for _, picked in together], axis=1)
        histogram = vectors(stacked, bootstrap, limits)
        kind = bootstrap_kind(bootstrap, len(corpus), histogram, limits)
        resampled = resample(
            metric.score,
            [stacked],
            len(systems),
            kind,
            sentences=len(corpus),
            histogram=histogram,
            resamples=resamples,
            rng=rng,
            weights=lambda: resample_weights(corpus, resamples, rng),
            blocks=[document_blocks(corpus.documents)] if corpus.documents else None,
        )
    return assembled(
        metric,
        [each.system for each in systems],
        [totals for totals, _ in together],
        resampled,
        drawn_facts(resamples, rng, kind, documents=bool(corpus.documents)),
        SaidOfScores(
            (*metric.context(corpus, systems), *corpus_facts(corpus)),
            metric.notes(corpus, systems),
            corpus.skipped,
        ),
        alone,
    )


def _taken(
    metric: Metric, corpus: Corpus, counts: Sequence[Floats], threads: int | None, *, keep: bool
) -> tuple[list[tuple[Floats, Floats]], list[tuple[Floats, dict[str, Floats | Ints]]]]:
    """What sentences take of the counts of each system, together and alone.

    Together: the sums of each draw, and what each sentence took, if that is to be kept.
    """

    def together(each: Floats) -> tuple[Floats, Floats]:
        choice = checked_choice(metric, each, metric.choose(each))
        totals = different_draws(draw_totals(each, choice))
        return totals, chosen_counts(each, choice) if keep else np.zeros((0, 0))

    def alone(each: Floats) -> tuple[Floats, dict[str, Floats | Ints]]:
        return sentence_scores(metric, each, corpus)

    found: list[Any] = in_order(
        lambda job: job[0](job[1]),
        [(way, each) for way in (together, alone) for each in counts],
        threads=threads if len(corpus) > MANY else 1,
    )
    return found[: len(counts)], found[len(counts) :]


def vectors(
    stacked: Floats, bootstrap: BootstrapKind = "auto", limits: BootstrapLimits = LIMITS
) -> Histogram | None:
    """The histogram of what sentences took, where the kind of bootstrap may ask for it."""
    if bootstrap not in ("auto", "histogram"):
        return None
    return GrowingHistogram(stacked.shape[1], limits).added(Histogram.of(stacked)).histogram


def resample_weights(corpus: Corpus, resamples: int, rng: Seed) -> Iterable[Floats]:
    """Bootstrap weights of the sentences; every metric with one seed sees the same, drawn once."""
    n = len(corpus)
    if not isinstance(rng, int) or n * resamples > BLOCK:
        return bootstrap_weights(n, resamples, rng)
    key = ("bootstrap weights", resamples, rng)
    return corpus.derived(key, lambda: list(bootstrap_weights(n, resamples, rng)))
