"""Do judges rank the systems alike? Each judge's ranking against another's, and the others'."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from errata.correlation import pearson, spearman
from errata.errors import InputError
from errata.human.clusters import SOLVED
from errata.human.comparisons import Comparisons
from errata.human.counts import Counts
from errata.human.expected_wins import ExpectedWins
from errata.human.ranking import Ranker
from errata.numbers import Floats, settled

__all__ = ["JudgeCorrelations", "judge_correlations"]


@dataclass(frozen=True, eq=False)
class JudgeCorrelations:
    """Spearman's ρ and Pearson's r of every two judges' scores, and of one against the rest.

    ``scores[j, s]`` is system s by judge j alone, NaN where that judge never met it; correlations
    are over the systems both sides have scored, NaN below three.
    """

    ranker: str
    judges: tuple[str, ...]
    systems: tuple[str, ...]
    scores: Floats
    rho: Floats
    r: Floats
    rest_rho: Floats
    rest_r: Floats


def judge_correlations(
    comparisons: Comparisons, ranker: Ranker | None = None, *, digits: int | None = None
) -> JudgeCorrelations:
    """Correlate the rankings by single judges (Grundkiewicz et al. 2015, Table 6).

    The published table needs ``ExpectedWins(denominator="beaten")`` and scores rounded to four
    ``digits`` as EW.pl prints them; by default the ranker is that one, and nothing is rounded.
    """
    ranker = (ranker or ExpectedWins(denominator="beaten")).stand_in
    if len(comparisons.judges) < 2:
        raise InputError("there is only one judge", remedy="leave-one-out needs two or more")
    each = comparisons.per_judge()
    whole = comparisons.counts()
    rest = Counts(whole.wins - each.wins, whole.ties - each.ties)
    alone, others = (_scores(ranker, counts, digits) for counts in (each, rest))
    order = np.argsort(np.array(comparisons.judges), kind="stable")
    alone, others = alone[order], others[order]
    n = len(order)
    rho, r = np.full((n, n), np.nan), np.full((n, n), np.nan)
    for a in range(n):
        for b in range(n):
            if a != b:
                rho[a, b], r[a, b] = _correlate(alone[a], alone[b])
    with_rest = np.array([_correlate(alone[j], others[j]) for j in range(n)])
    return JudgeCorrelations(
        repr(ranker),
        tuple(comparisons.judges[j] for j in order),
        comparisons.systems,
        alone,
        rho,
        r,
        with_rest[:, 0],
        with_rest[:, 1],
    )


def _scores(ranker: Ranker, counts: Counts, digits: int | None) -> Floats:
    scores: Floats = np.where(counts.games.sum(-1) > 0, ranker.score(counts), np.nan)
    return scores if digits is None else np.asarray(np.round(scores, digits), np.float64)


def _correlate(a: Floats, b: Floats) -> tuple[float, float]:
    """ρ and r over the systems that both scored."""
    both = np.isfinite(a) & np.isfinite(b)
    if both.sum() < 3:
        return float("nan"), float("nan")
    # Scores that differ by rounding only share their place, as in a ranking.
    rho = spearman(*(settled(side[both], within=SOLVED) for side in (a, b)))
    return float(rho), float(pearson(a[both], b[both]))
