"""Judges in groups: do experts agree among themselves, a crowd, and both with each other?

Sakaguchi et al. (2016, Table 7) ask so of experts and of non-experts, by κ and by the rankings of
the systems that follow from the judgments of each group; Napoles et al. (2015, Table 1) of single
judges.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from errata.data import Judgment, Scores
from errata.errors import InputError
from errata.human.agreement import (
    ChanceModel,
    Kappa,
    KappaWeights,
    Tallies,
    judge_tallies,
    kappa,
    kappa_between,
    within_table,
)
from errata.human.clusters import SOLVED
from errata.human.comparisons import compare
from errata.human.decisions import output_pairs
from errata.human.judge_rankings import JudgeCorrelations, judge_correlations
from errata.human.ranking import Ranker
from errata.numbers import Floats, settled
from errata.parameters import nearest, require

__all__ = [
    "OTHERS",
    "GroupAgreement",
    "JudgeGroups",
    "group_agreement",
    "group_scores",
    "resolve_groups",
]

JudgeGroups = Mapping[str, tuple[str, ...]]
OTHERS = "*"  # stands for all judges who are in no other group
NAMED = 8  # judges of a group that a signature names; of more it has the number and a digest


def resolve_groups(groups: JudgeGroups, judges: Sequence[str]) -> JudgeGroups:
    """The groups with every judge by name: `OTHERS` is whoever is in no other group.

    >>> resolve_groups({"experts": ("ann",), "crowd": ("*",)}, ["ann", "bob", "cyd"])
    {'experts': ('ann',), 'crowd': ('bob', 'cyd')}
    """
    known = sorted(set(judges))
    owner: dict[str, str] = {}
    for group, members in groups.items():
        for judge in members:
            if judge == OTHERS:
                continue
            if judge not in known:
                raise InputError(
                    f"no judgment by {judge!r}, of the group {group!r}",
                    remedy=f"{nearest(judge, known)}there are: {', '.join(known)}",
                )
            if judge in owner:
                raise InputError(
                    f"the judge {judge!r} is in the groups {owner[judge]!r} and {group!r}"
                    if owner[judge] != group
                    else f"the judge {judge!r} is in the group {group!r} twice",
                    remedy="name each judge once",
                )
            owner[judge] = group
    rest = tuple(judge for judge in known if judge not in owner)
    open_ended = [group for group, members in groups.items() if OTHERS in members]
    if len(open_ended) > 1:
        raise InputError(
            f"all other judges are in the groups {open_ended[0]!r} and {open_ended[1]!r}",
            remedy=f"write {OTHERS} in one of them",
        )
    found = {
        group: tuple(one for judge in members for one in (rest if judge == OTHERS else (judge,)))
        for group, members in groups.items()
    }
    for group, members in found.items():
        if not members:
            raise InputError(
                f"the group {group!r} has no judge", remedy="name one, or leave it out"
            )
    return found


@dataclass(frozen=True, eq=False)
class GroupAgreement:
    """κ within and between groups, and how their rankings of the systems correlate.

    ``kappa[a, a]`` is of decisions by two different judges of a group, ``kappa[a, b]`` of one by a
    judge of each, all such pairs pooled; ``counts`` are the pairs behind it. ``correlations`` has a
    row for each group, in the order of ``groups``; None where there is one group.
    """

    groups: JudgeGroups
    kappa: Floats
    counts: Floats
    errors: Floats
    rankings: NDArray[np.int64]
    correlations: JudgeCorrelations | None
    left_out: tuple[str, ...]
    minimum: int
    facts: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The groups in the order they were given."""
        return tuple(self.groups)


def group_agreement(
    judgments: Sequence[Judgment],
    groups: JudgeGroups,
    *,
    chance: ChanceModel = "pooled",
    weights: KappaWeights = "none",
    minimum: int = 50,
    ranker: Ranker | None = None,
    origin: Sequence[str] = (),
) -> GroupAgreement:
    """Agreement within and between groups of judges.

    Options as in `errata.human.agreement.judge_agreement` and
    `errata.human.judge_rankings.judge_correlations`; ``origin`` is what a signature says of how
    the judgments were read. All pairs of decisions of a group are pooled into one table, as
    Sakaguchi et al. (2016) do, but for those of a judge with himself. Judges in no group are left
    out.

    >>> names = ("ann", "bob", "cyd")
    >>> said = [Judgment(name, 0, (("A",), ("B",)), (1, 2)) for name in names]
    >>> found = group_agreement(said, {"first": ("ann", "bob"), "last": ("cyd",)})
    >>> found.counts.tolist()
    [[1.0, 2.0], [2.0, 0.0]]
    """
    require("chance", chance, ChanceModel)
    require("weights", weights, KappaWeights)
    members = resolve_groups(groups, [judgment.judge for judgment in judgments])
    owner = {judge: group for group, judges in members.items() for judge in judges}
    kept = [judgment for judgment in judgments if judgment.judge in owner]
    pairs = output_pairs(kept)
    number = {judge: j for j, judge in enumerate(pairs.judges)}
    each = {
        group: [judge_tallies(pairs, number[judge]) for judge in judges if judge in number]
        for group, judges in members.items()
    }
    n = len(members)
    values, counts, errors = (np.full((n, n), np.nan) for _ in range(3))
    for a, first in enumerate(members):
        for b, second in enumerate(members):
            if a > b:
                continue
            if a == b:
                found = _within_group(each[first], chance, weights)
            else:
                one, other = _together(each[first]), _together(each[second])
                found = kappa_between(one, other, False, chance, weights)
            for i, j in ((a, b), (b, a)):
                values[i, j], counts[i, j], errors[i, j] = found.value, found.count, found.error
    by_group = dict.fromkeys(members, 0)
    for judgment in kept:
        by_group[owner[judgment.judge]] += 1
    facts = (*origin, *(_fact(group, judges) for group, judges in members.items()))
    left_out = sorted({judgment.judge for judgment in judgments} - owner.keys())
    return GroupAgreement(
        members,
        values,
        counts,
        errors,
        np.array([*by_group.values()], np.int64),
        _rankings(kept, owner, tuple(members), ranker, facts) if n > 1 else None,
        tuple(left_out),
        minimum,
        (f"chance:{chance}", f"weights:{weights}", f"minimum:{minimum}", *facts),
    )


def group_scores(found: GroupAgreement) -> dict[str, Scores]:
    """The scores of the systems by each group; equal is what iterative rankers leave equal."""
    ranked = found.correlations
    if ranked is None:
        return {}
    return {
        group: Scores(ranked.ranker, ranked.systems, settled(scores, within=SOLVED))
        for group, scores in zip(found.names, ranked.scores, strict=True)
    }


def _together(several: Sequence[Tallies]) -> Tallies:
    """The decisions of several judges as those of one."""
    if not several:
        return np.zeros(0, np.int64), np.zeros((0, 3))
    keys, place = np.unique(np.concatenate([keys for keys, _ in several]), return_inverse=True)
    table = np.zeros((len(keys), 3))
    np.add.at(table, place, np.concatenate([counts for _, counts in several]))
    return keys, table


def _within_group(several: Sequence[Tallies], chance: ChanceModel, weights: KappaWeights) -> Kappa:
    """κ of decisions by two different judges of a group."""
    keys, together = _together(several)
    table = within_table(together)
    judged = np.zeros(len(keys))
    for own_keys, own in several:
        table = table - within_table(own)
        judged[np.searchsorted(keys, own_keys)] += 1
    pooled = together[judged > 1].sum(0)
    if chance == "symmetric":
        pooled = (pooled + pooled[::-1]) / 2
    return kappa(table, weights=weights, pooled=None if chance == "cohen" else pooled)


def _rankings(
    judgments: Sequence[Judgment],
    owner: Mapping[str, str],
    groups: Sequence[str],
    ranker: Ranker | None,
    facts: Sequence[str],
) -> JudgeCorrelations:
    """The systems as each group ranks them: one judge who said all that its judges did."""
    spoken = [replace(judgment, judge=owner[judgment.judge]) for judgment in judgments]
    found = judge_correlations(compare(spoken, keep="judges", origin=facts), ranker)
    order = [found.judges.index(group) for group in groups]
    return replace(
        found,
        judges=tuple(groups),
        scores=found.scores[order],
        rho=found.rho[np.ix_(order, order)],
        r=found.r[np.ix_(order, order)],
        rest_rho=found.rest_rho[order],
        rest_r=found.rest_r[order],
    )


def _fact(group: str, judges: Sequence[str]) -> str:
    """What a signature says of a group."""
    text = ",".join(judges)
    if len(judges) > NAMED:
        digest = hashlib.sha256("\0".join(sorted(judges)).encode("utf-8", "surrogatepass"))
        text = f"{len(judges)} judges @{digest.hexdigest()[:12]}"
    return f"group:{group}={text}"
