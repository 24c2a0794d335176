"""What is known of a judge's care: controls passed, agreement with oneself, ties, first places.

None of this blocks anybody: it flags. A campaign may have a rule (``block = "3 of 5"``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from errata.collect.design import Design, Scale
from errata.collect.items import shown_edits
from errata.collect.readings import shown_ranks
from errata.collect.tasks import letters_of
from errata.data import Judgment
from errata.human.agreement import Kappa, judge_tallies, kappa_between
from errata.human.decisions import OutputPairs, output_pairs
from errata.human.ranking_columns import RankingColumns
from errata.numbers import Floats, ratio

__all__ = ["control_passed", "first_ranked_best", "rule_blocks", "self_agreement", "share_of_ties"]

MARGIN = 0.1  # of a scale's range, where the campaign sets none


def control_passed(
    design: Design,
    expected: Mapping[str, Any],
    order: Sequence[int],
    answer: Any,
    *,
    source: str = "",
    outputs: Sequence[str] = (),
    usual: Mapping[str, float] | None = None,
) -> bool | None:
    """Whether the damaged output of a control stands strictly below the one it is a copy of.

    ``order`` is the order shown, ``expected`` the positions in the item. A single score is compared
    with the judge's ``usual`` (mean) scores on each scale, and must be lower by the margin on every
    scale; an organiser's own may say ``between`` which scores it lies. Of edits, none that only the
    damage made may be called good. None where nothing can be said (skipped, or a single score of a
    judge without others).
    """
    if answer is None:
        return None
    if "between" in expected:
        ranges = expected["between"].items()
        return all(low <= answer[name] <= high for name, (low, high) in ranges)
    worse = list(order).index(expected["worse"])
    if design.kind == "edits":
        made = shown_edits(source, outputs)
        return all(
            answer[str(number)] != "good"
            for number, (*_, whose) in enumerate(made, 1)
            if whose == (worse,)
        )
    if design.kind == "score" and expected.get("better") is None:
        if not usual:
            return None
        return all(
            answer[scale.name] <= usual[scale.name] - margin_of(design, scale)
            for scale in design.scales
        )
    better = list(order).index(expected["better"])
    if design.kind == "score":
        keys = letters_of(len(order))
        low, high = answer[keys[worse]], answer[keys[better]]
        return all(
            low[scale.name] <= high[scale.name] - margin_of(design, scale)
            for scale in design.scales
        )
    ranks = shown_ranks(answer, len(order))
    return ranks[worse] > ranks[better]


def margin_of(design: Design, scale: Scale) -> float:
    """By how much a damaged output must be scored lower: as set, or a tenth of the range."""
    return design.margin if design.margin is not None else MARGIN * (scale.high - scale.low)


def rule_blocks(rule: tuple[int, int] | None, passed: Sequence[bool | None]) -> bool:
    """Whether a rule (3, 5) blocks: three of the last five controls that say something failed.

    >>> rule_blocks((2, 3), [False, True, False]), rule_blocks((2, 3), [False, False, True, True])
    (True, False)
    """
    if rule is None:
        return False
    known = [each for each in passed if each is not None][-rule[1] :]
    return known.count(False) >= rule[0]


def self_agreement(judgments: Iterable[Judgment], judge: str) -> Kappa | None:
    """κ of a judge with himself over the pairs of outputs that came again; None without any.

    It is the diagonal of `errata.human.agreement.judge_agreement`.
    """
    pairs = output_pairs(j for j in judgments if j.judge == judge)
    if not len(pairs):
        return None
    own = judge_tallies(pairs, 0)
    found = kappa_between(own, own, True, "pooled", "none")
    return found if found.count else None


def share_of_ties(pairs: OutputPairs) -> Floats:
    """Of each judge: the share of pairs of outputs put at the same rank; NaN without pairs."""
    many = len(pairs.judges)
    tied = np.bincount(pairs.judge[pairs.outcome == 0], minlength=many)
    return ratio(tied, np.bincount(pairs.judge, minlength=many))


def first_ranked_best(rankings: RankingColumns) -> tuple[Floats, Floats]:
    """Of each judge: how often the output shown first was best alone, and how often by chance.

    Chance is 1 / n for n outputs; rankings in which several are best count for neither.

    >>> from errata.human.ranking_columns import ranking_columns
    >>> first_ranked_best(ranking_columns([Judgment("j", 0, (("A",), ("B",)), (1, 2))]))
    (array([1.]), array([0.5]))
    """
    several = np.flatnonzero(rankings.size > 1)
    sizes, judge, many = rankings.size[several], rankings.judge[several], len(rankings.judges)
    if not len(several):
        return np.full(many, np.nan), np.full(many, np.nan)
    # Entries of rankings with fewer outputs stand between: each block ends where its own do.
    starts = (np.cumsum(rankings.size) - rankings.size)[several]
    ranks = rankings.rank[np.repeat(rankings.size > 1, rankings.size)]
    blocks = np.cumsum(sizes) - sizes
    best = np.minimum.reduceat(ranks, blocks)
    alone = np.add.reduceat((ranks == np.repeat(best, sizes)).astype(np.int64), blocks) == 1
    first = (rankings.rank[starts] == best)[alone]
    counted = np.bincount(judge[alone], minlength=many)
    hits = np.bincount(judge[alone], first, minlength=many)
    chance = np.bincount(judge[alone], 1 / sizes[alone], minlength=many)
    return ratio(hits, counted), ratio(chance, counted)
