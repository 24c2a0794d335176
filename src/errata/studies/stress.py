"""A stress card: how a metric's score moves when good output is damaged on purpose.

Take a text that deserves a good score, damage it in ways that no reader would accept, or put a text
in its place that was made to please the metric, and score it again. A metric that does not go down,
or goes up, can be gamed that way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from errata.data import Corpus, Hypotheses, Scores
from errata.errors import InputError
from errata.evaluation import evaluate
from errata.metrics.base import Metric
from errata.numbers import Floats, Progress, percentiles
from errata.studies.attacks import ATTACKS, Attack
from errata.studies.damage import DAMAGE, Perturbation

__all__ = ["PERTURBATIONS", "StressCard", "stress"]

PERTURBATIONS: tuple[Perturbation | Attack, ...] = (*DAMAGE, *ATTACKS)


@dataclass(frozen=True, eq=False)
class StressCard:
    """What a metric makes of damaged output.

    ``scores`` holds the undamaged text first, then one "system" per perturbation. ``changes[p]``
    is the damaged score minus the undamaged, ``intervals[p]`` the bootstrap interval of that
    difference (the same resamples on both sides; NaN without resamples); ``altered[p]`` is the
    share of sentences that differ from the undamaged text, ``rewarded[p]`` the share of those
    that score higher than before.
    """

    metric: str
    corpus: str
    base: str
    perturbations: tuple[Perturbation | Attack, ...]
    scores: Scores
    confidence: float
    intervals: Floats
    altered: Floats
    rewarded: Floats

    @property
    def changes(self) -> Floats:
        """Damaged minus undamaged score, per perturbation."""
        return np.asarray(self.scores.values[1:] - self.scores.values[0])

    @property
    def verdicts(self) -> tuple[str, ...]:
        """``lower``, ``same`` or ``HIGHER``: where the whole interval lies (or the difference).

        Only ``lower`` is what a reader would want of damaged text.
        """
        bounds = np.where(np.isnan(self.intervals), self.changes[:, None], self.intervals)
        noise = 1e-12 * max(1.0, float(np.abs(self.scores.values).max()))  # of adding floats
        return tuple(
            "lower" if high < -noise else "HIGHER" if low > noise else "same"
            for low, high in bounds.tolist()
        )


def stress(
    metric: Metric,
    corpus: Corpus,
    hypotheses: Hypotheses | None = None,
    *,
    perturbations: Iterable[Perturbation | Attack] = PERTURBATIONS,
    confidence: float = 0.95,
    resamples: int = 1000,
    rng: int | np.random.Generator = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> StressCard:
    """Score damaged output with one metric.

    The damage is done to ``hypotheses``, or without them to each sentence's first reference.
    ``rng`` seeds the damage and the bootstrap; every metric sees the same damage, whichever
    other perturbations there are.

    >>> from errata.metrics import parse
    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> stress(parse("gleu"), corpus, resamples=0).verdicts[0]
    'lower'
    """
    chosen = tuple(perturbations)
    base = hypotheses if hypotheses is not None else _first_reference(corpus)
    if len(base) != len(corpus):
        raise InputError(
            f"{base.system} has {len(base)} sentences, the corpus {len(corpus)}",
            remedy="one line per source sentence",
        )
    seed = rng if isinstance(rng, int) else int(rng.integers(2**63))
    systems = [Hypotheses(base.system, base.sentences)]
    for perturbation in chosen:
        own = np.random.default_rng([seed, *perturbation.name.encode()])
        if isinstance(perturbation, Attack):
            texts = perturbation.texts(corpus.sources, base.sentences, own)
            damaged = _most_pleasing(metric, corpus, texts, threads)
        else:
            damaged = perturbation.damage(corpus.sources, base.sentences, own)
        systems.append(Hypotheses(perturbation.name, tuple(damaged)))
    scores = evaluate(
        metric,
        corpus,
        systems,
        resamples=resamples,
        rng=seed,
        guard=False,  # damage is the point
        threads=threads,
        progress=progress,
    )
    altered = np.array(
        [
            [a != b for a, b in zip(system.sentences, base.sentences, strict=True)]
            for system in systems[1:]
        ],
        bool,
    ).reshape(len(chosen), len(corpus))
    assert scores.sentences is not None
    higher = (scores.sentences[1:] > scores.sentences[0]) & altered
    return StressCard(
        repr(metric),
        corpus.name,
        base.system,
        chosen,
        scores,
        confidence,
        _difference_intervals(scores, confidence),
        altered.mean(axis=1),
        higher.sum(axis=1) / np.maximum(altered.sum(axis=1), 1),
    )


def _most_pleasing(
    metric: Metric, corpus: Corpus, texts: Sequence[Sequence[str]], threads: int | None
) -> list[str]:
    """Of several texts the sentences that the metric, asked about each, likes best."""
    if len(texts) == 1:
        return list(texts[0])
    tried = [Hypotheses(f"text {k}", tuple(text)) for k, text in enumerate(texts)]
    scores = evaluate(metric, corpus, tried, resamples=0, guard=False, threads=threads)
    assert scores.sentences is not None
    liked = np.nan_to_num(scores.sentences, nan=-np.inf).argmax(axis=0)
    return [texts[k][i] for i, k in enumerate(liked.tolist())]


def _first_reference(corpus: Corpus) -> Hypotheses:
    bare = next((i for i, refs in enumerate(corpus.references) if not refs), None)
    if bare is not None:
        raise InputError(
            f"sentence {corpus.number(bare)} has no reference to damage",
            remedy="give the output of a system",
        )
    return Hypotheses(
        "first reference",
        tuple(
            refs[0].corrected(source)
            for source, refs in zip(corpus.sources, corpus.references, strict=True)
        ),
    )


def _difference_intervals(scores: Scores, confidence: float) -> Floats:
    if scores.resampled is None:
        return np.full((len(scores) - 1, 2), np.nan)
    return percentiles(scores.resampled[:, 1:] - scores.resampled[:, :1], confidence)
