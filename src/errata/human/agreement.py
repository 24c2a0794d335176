"""Kappa, alpha, agreement of judges and groups, correlations of judges."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from errata.core.correlation import chance_corrected, pearson, spearman
from errata.core.errors import InputError
from errata.core.parameters import require, suggest_name
from errata.core.stats import BLOCK, Floats, merge_ties, ratio
from errata.data import Judgment, Scores
from errata.human.comparisons import Comparisons, Counts, compare
from errata.human.output_pairs import OutputPairs, RankingColumns, output_pairs, ranking_columns
from errata.human.ranking import SOLVED, ExpectedWins, Ranker

ChanceModel = Literal["pooled", "cohen", "symmetric"]
KappaWeights = Literal["none", "linear", "quadratic"]
AlphaLevel = Literal["nominal", "ordinal", "interval"]
KEYS = 20_000  # pairs of outputs looked at together, for the memory
PAIRS = 200_000  # of decisions that are compared together
LEVELS: dict[KappaWeights, AlphaLevel] = {
    "none": "nominal",
    "linear": "ordinal",
    "quadratic": "interval",
}


@dataclass(frozen=True)
class Kappa:
    """Chance-corrected agreement of ``count`` pairs of decisions, and its standard error."""

    value: float
    count: float
    observed: float
    expected: float
    error: float


def _distance(weights: KappaWeights) -> Floats:
    require("weights", weights, KappaWeights)
    apart = np.abs(np.subtract.outer(np.arange(3), np.arange(3))).astype(np.float64)
    if weights == "none":
        return (apart > 0).astype(np.float64)
    return apart / 2 if weights == "linear" else apart**2 / 4


def kappa(table: Floats, *, weights: KappaWeights = "none", pooled: Floats | None = None) -> Kappa:
    """κ of a 3 x 3 table of decisions, ``1 - disagreement / disagreement by chance``.

    Chance reads the table's own margins (Cohen 1960, 1968 with weights), or ``pooled`` shares of
    the outcomes, the same for both sides (Scott 1955). The error is the large-sample one of the
    observed agreement, ``sqrt(p (1 - p) / n) / (1 - chance)``; it takes decisions for
    independent.

    >>> round(kappa(np.array([[20., 5, 0], [10, 15, 0], [0, 0, 0]])).value, 3)
    0.4
    """
    found = _kappas(table[None], weights, None if pooled is None else pooled[None])
    return Kappa(*(float(each[0]) for each in found))


def _kappas(tables: Floats, weights: KappaWeights, pooled: Floats | None) -> tuple[Floats, ...]:
    """`kappa` of many tables, ``[..., 3, 3]``: the fields of `Kappa`, an array of each."""
    count = tables.sum((-1, -2))
    chance = None
    if pooled is not None:
        both = pooled[..., :, None] * pooled[..., None, :]
        chance = ratio(both, (pooled.sum(-1) ** 2)[..., None, None])
    found = chance_corrected(tables, distance=_distance(weights), chance=chance)
    value, observed, expected = found
    # Where everybody said the same of everything there is no chance to disagree.
    sure = expected == 1
    spread = np.sqrt(ratio(np.maximum(0.0, observed * (1 - observed)), count))
    error = ratio(spread, np.where(sure, 0.0, 1 - expected))
    return np.where(sure, np.nan, value), count, observed, expected, error


def within_table(tallies: Floats) -> Floats:
    """The table of all pairs of decisions on one key, each pair both ways round, halved."""
    return (tallies.T @ tallies - np.diag(tallies.sum(0))) / 2


def pooled_kappa(pairs: OutputPairs, *, weights: KappaWeights = "none") -> Kappa:
    """Return κ over all pairs of decisions on the same outputs, by any two judges.

    This is how Sakaguchi et al. (2016, Table 7) pool a group of judges. A pair has no first and
    second judge, so the margins count both ways round.
    """
    return kappa(within_table(pairs.tallies()), weights=weights)


def krippendorff(pairs: OutputPairs, *, level: AlphaLevel = "nominal") -> float:
    """Krippendorff's α over all judges, the first decision of a judge on a pair of outputs.

    The first is that of ``pairs``, which `output_pairs` puts in the order of time.

    ``level`` is the distance between outcomes: ``"nominal"``, ``"ordinal"`` or ``"interval"``.
    """
    require("level", level, AlphaLevel)
    tallies = pairs.first.tallies()
    judged = tallies.sum(1)
    tallies, judged = tallies[judged > 1], judged[judged > 1]
    if not len(judged):
        return float("nan")
    shares = tallies / (judged - 1)[:, None]
    met = tallies.T @ shares - np.diag(shares.sum(0))
    totals = met.sum(0)
    chance = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    distance = _distances_of_outcomes(level, totals)
    expected = float((chance * distance).sum())
    return 1 - float((met * distance).sum()) / expected if expected else float("nan")


def _distances_of_outcomes(level: AlphaLevel, totals: Floats) -> Floats:
    if level == "nominal":
        return 1 - np.eye(3)
    place = np.arange(3.0) if level == "interval" else np.cumsum(totals) - totals / 2
    distance: Floats = np.subtract.outer(place, place) ** 2
    return distance


@dataclass(frozen=True, eq=False)
class Agreement:
    """κ of every two judges; the diagonal is a judge with themselves on repeated outputs.

    ``counts`` are the pairs of decisions behind each κ. ``between`` and ``within`` are means
    weighted by them over those with at least ``minimum``. ``outsiders`` agree with no other judge
    better than chance. ``rankings`` and ``seconds`` (median, NaN where not recorded) are per
    judge.
    """

    judges: tuple[str, ...]
    kappa: Floats
    counts: Floats
    errors: Floats
    between: float
    within: float
    alpha: float
    outsiders: tuple[str, ...]
    rankings: NDArray[np.int64]
    seconds: Floats
    settings: tuple[str, ...]
    minimum: int


def judge_agreement(
    judgments: Iterable[Judgment] | RankingColumns,
    *,
    chance: ChanceModel = "pooled",
    weights: KappaWeights = "none",
    minimum: int = 50,
    confidence: float = 0.95,
    pairs: OutputPairs | None = None,
) -> Agreement:
    """Agreement between and within judges (Grundkiewicz et al. 2015, Table 2).

    Two judges are compared by all pairs of their decisions on the same two outputs.
    ``chance="pooled"`` takes the shares of the three outcomes over both judges' decisions on the
    outputs they share, which the paper calls Cohen's κ; ``"cohen"`` takes each judge's own. Both
    call the output with the alphabetically first systems "first", so that chance depends on
    whether good systems have early names; ``"symmetric"`` pools and gives "first" and "second"
    the mean of their shares, which frees κ of the names.
    ``minimum`` is how many pairs of decisions a κ needs to count in the means. A judge is an
    outsider if no κ with another judge is above 0 at the level ``confidence`` (Bonferroni); that
    is asked of the symmetric κ always, since names should brand nobody. ``pairs`` belong to
    `output_pairs` of the judgments, if they are already there.
    """
    require("chance", chance, ChanceModel)
    require("weights", weights, KappaWeights)
    given = judgments if isinstance(judgments, RankingColumns) else ranking_columns(judgments)
    pairs = (output_pairs(given) if pairs is None else pairs).decided_again
    order = np.array(sorted(range(len(pairs.judges)), key=pairs.judges.__getitem__), np.int64)
    judges = tuple(pairs.judges[j] for j in order)
    n = len(judges)
    (values, counts, errors), fair = _kappa_matrices(pairs, order, (chance, "symmetric"), weights)
    rankings, seconds = _ranking_times(given, order)
    level = LEVELS[weights]
    return Agreement(
        judges,
        values,
        counts,
        errors,
        _mean_agreement(values, counts, minimum, ~np.eye(n, dtype=bool)),
        _mean_agreement(values, counts, minimum, np.eye(n, dtype=bool)),
        krippendorff(pairs, level=level),
        _outlying_judges(judges, *fair, minimum, confidence),
        rankings,
        seconds,
        (f"chance:{chance}", f"weights:{weights}", f"minimum:{minimum}", f"alpha:{level}"),
        minimum,
    )


Tallies = tuple[NDArray[np.int64], Floats]


def _kappa_matrices(
    pairs: OutputPairs,
    order: NDArray[np.int64],
    chances: Sequence[ChanceModel],
    weights: KappaWeights,
) -> list[tuple[Floats, Floats, Floats]]:
    """By each model of chance: κ of every two judges, the pairs of decisions behind it, its error.

    `kappa_between` of each two, many at a time; judge ``order[j]`` stands at place j. Sums are of
    whole numbers, so that no digit depends on the order in which it is done.
    """
    n = len(order)
    made = [(np.empty((n, n)), np.empty((n, n)), np.empty((n, n))) for _ in chances]
    for rows, tables, pooled in _judge_tables(pairs, order):
        for chance, (values, counts, errors) in zip(chances, made, strict=True):
            shares = (pooled + pooled[..., ::-1]) / 2 if chance == "symmetric" else pooled
            found = _kappas(tables, weights, None if chance == "cohen" else shares)
            values[rows], counts[rows], errors[rows] = found[0], found[1], found[4]
    below = np.tril_indices(n, -1)
    for each in (matrix for matrices in made for matrix in matrices):
        each[below] = each.T[below]
    return made


def _judge_tables(
    pairs: OutputPairs, order: NDArray[np.int64]
) -> Iterator[tuple[slice, Floats, Floats]]:
    """For some judges at a time, and all others: tables ``[a, b, 3, 3]``, outcomes ``[a, b, 3]``.

    The table has the pairs of decisions on the same outputs, one of a and one of b, the outcomes
    belong to both on the outputs that they share; neither is filled in where b < a.
    """
    n, number = len(order), np.argsort(order)
    step = max(1, BLOCK // max(1, 9 * n))
    for start in range(0, n, step):
        some = min(n - start, step)
        met, besides = np.zeros(9 * some * n), np.zeros(3 * some * n)
        again, alike = np.zeros(3 * some), np.zeros(3 * some)
        for first in range(0, len(pairs.codes), KEYS):  # for the memory
            key, judge, outcome, often, new, several = _key_outcomes(pairs, number, first)
            own = (judge >= start) & (judge < start + some)
            left, right = (judge - start) * 9 * n + outcome * 3, judge * 9 + outcome
            for a, b in _later_rows(key, np.flatnonzero(own)):
                met += np.bincount(left[a] + right[b], often[a] * often[b], len(met))
            # A decision counts once on shared outputs, however often the other judge decided.
            more = new - often
            for a, b in _later_rows(key, np.flatnonzero(own & np.isin(key, key[more != 0]))):
                cell = ((judge[a] - start) * n + judge[b]) * 3
                besides += np.bincount(cell + outcome[a], often[a] * more[b], len(besides))
                besides += np.bincount(cell + outcome[b], often[b] * more[a], len(besides))
            place = ((judge - start) * 3 + outcome)[own]
            alike += np.bincount(place, (often * (often - 1))[own], len(alike))
            again += np.bincount(place, (often * several)[own], len(again))
        tables = met.reshape(some, n, 3, 3)
        pooled = tables.sum(-1) + tables.sum(-2) + besides.reshape(some, n, 3)
        here = np.arange(some), np.arange(start, start + some)
        both = tables[here] + tables[here].swapaxes(1, 2)
        tables[here] = (both + alike.reshape(some, 3, 1) * np.eye(3)) / 2
        pooled[here] = again.reshape(some, 3)
        yield slice(start, start + some), tables, pooled


def _key_outcomes(
    pairs: OutputPairs, number: NDArray[np.int64], first: int
) -> tuple[NDArray[np.int64], ...]:
    """Return the judgments of `KEYS` keys from ``first`` on, sorted by key, judge and outcome.

    Of each that stands there once: key, judge (by ``number``), outcome from 0, how often it was
    said, whether it is the judge's first of that key, and whether the judge decided several times.
    """
    rows = np.flatnonzero((pairs.key >= first) & (pairs.key < first + KEYS))
    n = max(1, len(number))
    decided = (pairs.key[rows].astype(np.int64) - first) * n + number[pairs.judge[rows]]
    distinct, often = np.unique(decided * 3 + pairs.outcome[rows] + 1, return_counts=True)
    decided, outcome = np.divmod(distinct, 3)
    new = np.diff(decided, prepend=-1) > 0
    who = np.cumsum(new) - 1
    several = (np.bincount(who, often) > 1)[who]
    return *np.divmod(decided, n), outcome, often, new.astype(np.int64), several.astype(np.int64)


def _later_rows(
    key: NDArray[np.int64], rows: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """These rows with each later one of the same key, about `PAIRS` of them at a time.

    >>> pairs = _later_rows(np.array([0, 0, 0, 2]), np.array([0, 1, 3]))
    >>> [(rows.tolist(), later.tolist()) for rows, later in pairs]
    [([0, 0, 1], [1, 2, 2])]
    """
    many = np.searchsorted(key, key[rows], "right") - rows - 1
    part = np.cumsum(many) // PAIRS
    for number in np.unique(part):
        some, size = rows[part == number], many[part == number]
        begin = some + 1 - (np.cumsum(size) - size)
        yield np.repeat(some, size), np.repeat(begin, size) + np.arange(size.sum())


def judge_tallies(pairs: OutputPairs, judge: int) -> Tallies:
    """The keys a judge decided on and how often they gave each outcome there."""
    rows = pairs.judge == judge
    keys, place = np.unique(pairs.key[rows], return_inverse=True)
    table = np.bincount(place * 3 + pairs.outcome[rows] + 1, minlength=3 * len(keys))
    return keys, table.reshape(-1, 3).astype(np.float64)


def kappa_between(
    a: Tallies, b: Tallies, same: bool, chance: ChanceModel, weights: KappaWeights
) -> Kappa:
    """κ of all pairs of decisions, one of each side, on the outputs that both decided on.

    ``same`` says that both sides are one judge, whose decisions are compared with each other.
    """
    if same:
        counts = a[1][a[1].sum(1) > 1]
        table, pooled = within_table(counts), counts.sum(0)
    else:
        _, in_a, in_b = np.intersect1d(a[0], b[0], assume_unique=True, return_indices=True)
        left, right = a[1][in_a], b[1][in_b]
        table, pooled = left.T @ right, left.sum(0) + right.sum(0)
    if chance == "symmetric":
        pooled = (pooled + pooled[::-1]) / 2
    return kappa(table, weights=weights, pooled=None if chance == "cohen" else pooled)


def _mean_agreement(
    values: Floats, counts: Floats, minimum: int, which: NDArray[np.bool_]
) -> float:
    enough = which & (counts >= max(1, minimum)) & np.isfinite(values)
    total = counts[enough].sum()
    return float((values[enough] * counts[enough]).sum() / total) if total else float("nan")


def _outlying_judges(
    judges: tuple[str, ...],
    values: Floats,
    counts: Floats,
    errors: Floats,
    minimum: int,
    confidence: float,
) -> tuple[str, ...]:
    from scipy.special import ndtri

    found = []
    for j, name in enumerate(judges):
        known = (counts[j] >= max(1, minimum)) & np.isfinite(values[j])
        known[j] = False
        tests = int(known.sum())
        if tests and (values[j] <= ndtri(1 - (1 - confidence) / tests) * errors[j])[known].all():
            found.append(name)
    return tuple(found)


def _ranking_times(
    given: RankingColumns, order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Floats]:
    """How many rankings each judge gave, and the median of their seconds; NaN without any."""
    many = np.bincount(given.judge, minlength=len(order))
    timed = ~np.isnan(given.seconds)
    rows = np.flatnonzero(timed)[np.argsort(given.judge[timed], kind="stable")]
    several = np.split(given.seconds[rows], np.searchsorted(given.judge[rows], range(1, len(many))))
    medians = [float(np.median(each)) if len(each) else np.nan for each in several]
    return many[order], np.array(medians[: len(many)], np.float64)[order]


# ---- Do judges rank the systems alike? Each judge's ranking against another's, and the others'.


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
    rho = spearman(*(merge_ties(side[both], within=SOLVED) for side in (a, b)))
    return float(rho), float(pearson(a[both], b[both]))


# ---- Judges in groups: do experts agree among themselves, a crowd, and both with each other?

JudgeGroups = Mapping[str, tuple[str, ...]]
OTHERS = "*"  # stands for all judges who are in no other group
NAMED = 8  # judges of a group that a signature names; of more it has the number and a digest


def resolve_groups(groups: JudgeGroups, judges: Sequence[str]) -> JudgeGroups:
    """Return the groups with all judges by name: `OTHERS` holds judges of no other group.

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
                    remedy=f"{suggest_name(judge, known)}there are: {', '.join(known)}",
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
    `errata.human.agreement.judge_correlations`; ``origin`` is what a signature says of how
    the judgments were read. All pairs of decisions of a group are pooled into one table, as
    Sakaguchi et al. (2016) do, but for a judge with himself. Judges in no group are left
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
                one, other = _add_tallies(each[first]), _add_tallies(each[second])
                found = kappa_between(one, other, False, chance, weights)
            for i, j in ((a, b), (b, a)):
                values[i, j], counts[i, j], errors[i, j] = found.value, found.count, found.error
    by_group = dict.fromkeys(members, 0)
    for judgment in kept:
        by_group[owner[judgment.judge]] += 1
    facts = (*origin, *(_group_fact(group, judges) for group, judges in members.items()))
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
        group: Scores(ranked.ranker, ranked.systems, merge_ties(scores, within=SOLVED))
        for group, scores in zip(found.names, ranked.scores, strict=True)
    }


def _add_tallies(several: Sequence[Tallies]) -> Tallies:
    """Return the decisions of several judges as if one judge had made them."""
    if not several:
        return np.zeros(0, np.int64), np.zeros((0, 3))
    keys, place = np.unique(np.concatenate([keys for keys, _ in several]), return_inverse=True)
    table = np.zeros((len(keys), 3))
    np.add.at(table, place, np.concatenate([counts for _, counts in several]))
    return keys, table


def _within_group(several: Sequence[Tallies], chance: ChanceModel, weights: KappaWeights) -> Kappa:
    """κ of decisions by two different judges of a group."""
    keys, together = _add_tallies(several)
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


def _group_fact(group: str, judges: Sequence[str]) -> str:
    """What a signature says of a group."""
    text = ",".join(judges)
    if len(judges) > NAMED:
        digest = hashlib.sha256("\0".join(sorted(judges)).encode("utf-8", "surrogatepass"))
        text = f"{len(judges)} judges @{digest.hexdigest()[:12]}"
    return f"group:{group}={text}"
