"""Several metrics as one: does their mean rank, or a fit to people, agree better than any alone?

With a dozen systems a fit can agree with people by chance. So every figure of a fit stands beside
the same figure with each system predicted by what was fitted without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from errata.core.correlation import correlate, ranks
from errata.core.errors import InputError
from errata.core.stats import Floats, rescale
from errata.meta.matching import MatchedScores, notes_of_metrics

Combination = Literal["mean rank", "best metric", "fitted weights"]
FEWEST = 4  # systems: with two left nothing can be fitted


@dataclass(frozen=True)
class Ensemble:
    """One way of combining metrics: ``r`` and ``rho`` over the systems it was made on.

    ``held_r`` and ``held_rho`` are with every system scored by what was learned from the others.
    ``weights`` of the metrics are in the order of their names, None where there are none;
    ``spread`` their smallest and largest with a system left out.
    """

    how: Combination
    r: float
    rho: float
    held_r: float
    held_rho: float
    weights: tuple[float, ...] | None = None
    spread: tuple[tuple[float, float], ...] | None = None


@dataclass(frozen=True, eq=False)
class Ensembles:
    """Return all combinations of the metrics of ``paired``, and each metric alone (r, ρ)."""

    paired: MatchedScores
    alone: tuple[tuple[float, float], ...]
    combined: tuple[Ensemble, ...]
    notes: tuple[str, ...]
    signature: str


def ensembles(paired: MatchedScores) -> Ensembles:
    """Combine metrics in three ways, and say how much of the gain is left on unseen systems.

    *Mean rank*: the mean of a system's ranks by all metrics; nothing is learned, so that held-out
    figures are its own. *Best metric*: the one with the highest r, which is a choice that overfits
    too. *Fitted weights*: non-negative least squares on standardised scores (Lawson & Hanson 1974).

    >>> from errata.data import Scores
    >>> from errata.meta.matching import match
    >>> systems = tuple("ABCDE")
    >>> people = Scores("p", systems, np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> good = Scores("a", systems, np.array([1.0, 2.0, 3.0, 5.0, 4.0]))
    >>> bad = Scores("b", systems, np.array([5.0, 1.0, 4.0, 2.0, 3.0]))
    >>> [round(each.held_r, 2) for each in ensembles(match(people, [good, bad])).combined]
    [0.55, 0.9, 0.84]
    """
    n, k = len(paired), len(paired.metrics)
    if n < FEWEST or k < 2:
        raise InputError(
            f"{k} {'metric' if k == 1 else 'metrics'} and {n} systems cannot be combined",
            remedy=f"give two metrics or more, and {FEWEST} systems or more",
        )
    people = rescale(paired.people.values)
    table = np.stack([rescale(metric.values) for metric in paired.metrics], axis=1)
    if np.isnan(table).any() or np.isnan(people).any():
        raise InputError(
            "a system without a score cannot be combined", remedy="leave the system out (--without)"
        )
    mean_rank = np.stack([ranks(column) for column in table.T]).mean(axis=0)
    alone = tuple(_agreement_with_people(people, column) for column in table.T)
    both = _agreement_with_people(people, mean_rank)
    return Ensembles(
        paired,
        alone,
        (
            Ensemble("mean rank", *both, *both),
            _learn_weights("best metric", people, table, _best_single_metric),
            _learn_weights("fitted weights", people, table, _nonnegative_fit),
        ),
        (*paired.notes, *notes_of_metrics(paired.metrics)),
        paired.signature("ensemble:leave-one-system-out"),
    )


def _agreement_with_people(people: Floats, scores: Floats) -> tuple[float, float]:
    return (
        float(correlate("pearson", people, scores)),
        float(correlate("spearman", people, scores)),
    )


def _learn_weights(
    how: Combination, people: Floats, table: Floats, learn: Callable[[Floats, Floats], Floats]
) -> Ensemble:
    """Learn weights of standardised scores on all systems, and on all but each.

    A system that was left out is scored by the weights of the others on the same standardised
    scores: people's scores of the others, their mean least of all, must not tell where it stands.
    """
    standard = _standardise(table)
    everything = learn(people, table)
    learned = []
    for system in range(len(people)):
        left = np.arange(len(people)) != system
        learned.append(learn(people[left], table[left]))
    predicted, held = standard @ everything, (standard * np.array(learned)).sum(axis=1)
    several = np.array(learned)
    return Ensemble(
        how,
        *_agreement_with_people(people, predicted),
        *_agreement_with_people(people, held),
        tuple(everything.tolist()),
        tuple(zip(several.min(axis=0).tolist(), several.max(axis=0).tolist(), strict=True)),
    )


def _standardise(values: Floats) -> Floats:
    spread = values.std(axis=0)
    return np.asarray((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _best_single_metric(people: Floats, table: Floats) -> Floats:
    """All weight on the metric with the highest r; of equals the first."""
    r = np.array([float(correlate("pearson", people, column)) for column in table.T])
    return np.asarray(np.arange(len(r)) == np.nan_to_num(r, nan=-2.0).argmax(), np.float64)


def _nonnegative_fit(people: Floats, table: Floats) -> Floats:
    """Non-negative least squares, weights as shares of their sum."""
    from scipy.optimize import nnls

    weights = np.asarray(nnls(_standardise(table), _standardise(people))[0], np.float64)
    total = float(weights.sum())
    # No metric agrees with people: each counts alike.
    return weights / total if total > 0 else np.full(table.shape[1], 1 / table.shape[1])
