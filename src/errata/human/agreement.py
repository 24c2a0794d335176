"""How far judges agree with each other and with themselves.

Agreement is counted on unexpanded pairs: two outputs of one sentence, each with all the systems
that wrote it, and which of them a judge put first. Expanding the systems would count one decision
many times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from errata.correlation import chance_corrected
from errata.data import Judgment
from errata.numbers import Floats
from errata.parameters import require

__all__ = [
    "Agreement",
    "ChanceModel",
    "Kappa",
    "KappaWeights",
    "Orientation",
    "OutputPairs",
    "Tallies",
    "judge_agreement",
    "judge_tallies",
    "kappa",
    "kappa_between",
    "krippendorff",
    "output_pairs",
    "pooled_kappa",
    "within_table",
]

ChanceModel = Literal["pooled", "cohen", "symmetric"]
KappaWeights = Literal["none", "linear", "quadratic"]
AlphaLevel = Literal["nominal", "ordinal", "interval"]
Orientation = Literal["consistent", "presented"]
LEVELS: dict[KappaWeights, AlphaLevel] = {
    "none": "nominal",
    "linear": "ordinal",
    "quadratic": "interval",
}


@dataclass(frozen=True, eq=False)
class OutputPairs:
    """Decisions about two outputs of a sentence: ``outcome[i]`` is -1, 0 or 1.

    ``keys[key[i]]`` is (sentence, output, output), outputs named by their systems; 1 says that
    the first of them is better.
    """

    judges: tuple[str, ...]
    keys: tuple[tuple[int, str, str], ...]
    judge: NDArray[np.int64]
    key: NDArray[np.int64]
    outcome: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.key)

    def select(self, rows: NDArray[np.bool_]) -> OutputPairs:
        """Some of the decisions."""
        return OutputPairs(
            self.judges, self.keys, self.judge[rows], self.key[rows], self.outcome[rows]
        )

    def tallies(self) -> Floats:
        """How often each outcome was given per key, all judges together: ``[key, outcome]``."""
        return (
            np.bincount(self.key * 3 + self.outcome + 1, minlength=3 * len(self.keys))
            .reshape(-1, 3)
            .astype(np.float64)
        )


def output_pairs(
    judgments: Iterable[Judgment], *, orientation: Orientation = "consistent"
) -> OutputPairs:
    """Every pair of ranked outputs in every judgment, in the order of time.

    That is the order of the file where not all judgments say when they were made (ISO 8601).
    The two outputs of a key stand in alphabetical order of their systems. With
    ``orientation="presented"`` the outcome refers to the order in which they were shown although
    the key does not, a slip of computeIAA.py (Sakaguchi et al. 2016) that its published figures
    need.
    """
    require("orientation", orientation, Orientation)
    judges: dict[str, int] = {}
    keys: dict[tuple[int, str, str], int] = {}
    rows: list[tuple[int, int, int]] = []
    for judgment in _by_time(judgments):
        judge = judges.setdefault(judgment.judge, len(judges))
        ranked = [
            (" ".join(sorted(group)), rank)
            for group, rank in zip(judgment.groups, judgment.ranks, strict=True)
            if rank is not None
        ]
        for (a, rank_a), (b, rank_b) in combinations(ranked, 2):
            outcome = (rank_b > rank_a) - (rank_b < rank_a)
            if a > b:
                a, b = b, a
                outcome = -outcome if orientation == "consistent" else outcome
            key = keys.setdefault((judgment.sentence, a, b), len(keys))
            rows.append((judge, key, outcome))
    table = np.array(rows, np.int64).reshape(-1, 3)
    return OutputPairs(tuple(judges), tuple(keys), table[:, 0], table[:, 1], table[:, 2])


def _by_time(judgments: Iterable[Judgment]) -> Iterable[Judgment]:
    given = list(judgments)
    times = [judgment.time or "" for judgment in given]
    # Told by what they look like: written alike, they sort as texts do.
    forms = {re.sub(r"\d", "0", time) for time in times}
    if len(forms) != 1 or not min(forms).startswith("0000-00-00"):
        return given
    return [given[k] for k in sorted(range(len(given)), key=times.__getitem__)]


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
    count = float(table.sum())
    if not count:
        return Kappa(np.nan, 0.0, np.nan, np.nan, np.nan)
    chance = None if pooled is None else np.outer(pooled, pooled) / pooled.sum() ** 2
    found = chance_corrected(table, distance=_distance(weights), chance=chance)
    value, observed, expected = map(float, found)
    if expected == 1:  # everybody said the same of everything: no chance to disagree
        return Kappa(np.nan, count, observed, expected, np.nan)
    error = np.sqrt(max(0.0, observed * (1 - observed)) / count) / (1 - expected)
    return Kappa(value, count, observed, expected, float(error))


def within_table(tallies: Floats) -> Floats:
    """The table of all pairs of decisions on one key, each pair both ways round, halved."""
    return (tallies.T @ tallies - np.diag(tallies.sum(0))) / 2


def pooled_kappa(pairs: OutputPairs, *, weights: KappaWeights = "none") -> Kappa:
    """κ over all pairs of decisions on the same outputs, whoever made them.

    This is how Sakaguchi et al. (2016, Table 7) pool a group of judges. A pair has no first and
    second judge, so the margins are those of both ways round.
    """
    return kappa(within_table(pairs.tallies()), weights=weights)


def krippendorff(pairs: OutputPairs, *, level: AlphaLevel = "nominal") -> float:
    """Krippendorff's α over all judges, the first decision of a judge on a pair of outputs.

    The first is that of ``pairs``, which `output_pairs` puts in the order of time.

    ``level`` is the distance between outcomes: ``"nominal"``, ``"ordinal"`` or ``"interval"``.
    """
    require("level", level, AlphaLevel)
    both = pairs.key * (len(pairs.judges) + 1) + pairs.judge
    first = np.unique(both, return_index=True)[1]
    rows = np.zeros(len(pairs), bool)
    rows[first] = True
    tallies = pairs.select(rows).tallies()
    judged = tallies.sum(1)
    tallies, judged = tallies[judged > 1], judged[judged > 1]
    if not len(judged):
        return float("nan")
    shares = tallies / (judged - 1)[:, None]
    met = tallies.T @ shares - np.diag(shares.sum(0))
    totals = met.sum(0)
    chance = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    distance = _level(level, totals)
    expected = float((chance * distance).sum())
    return 1 - float((met * distance).sum()) / expected if expected else float("nan")


def _level(level: AlphaLevel, totals: Floats) -> Floats:
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
    judgments: Iterable[Judgment],
    *,
    chance: ChanceModel = "pooled",
    weights: KappaWeights = "none",
    minimum: int = 50,
    confidence: float = 0.95,
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
    is asked of the symmetric κ always, since names should brand nobody.
    """
    require("chance", chance, ChanceModel)
    require("weights", weights, KappaWeights)
    kept = list(judgments)
    pairs = output_pairs(kept)
    number = {name: j for j, name in enumerate(sorted(pairs.judges))}
    judges = tuple(number)
    tallies = {name: judge_tallies(pairs, j) for j, name in enumerate(pairs.judges)}
    n = len(judges)
    each = [tallies[name] for name in judges]
    values, counts, errors = _matrices(each, chance, weights)
    fair = _matrices(each, "symmetric", weights)
    rankings, seconds = _times(kept, judges)
    level = LEVELS[weights]
    return Agreement(
        judges,
        values,
        counts,
        errors,
        _mean(values, counts, minimum, ~np.eye(n, dtype=bool)),
        _mean(values, counts, minimum, np.eye(n, dtype=bool)),
        krippendorff(pairs, level=level),
        _outsiders(judges, *fair, minimum, confidence),
        rankings,
        seconds,
        (f"chance:{chance}", f"weights:{weights}", f"minimum:{minimum}", f"alpha:{level}"),
        minimum,
    )


Tallies = tuple[NDArray[np.int64], Floats]


def _matrices(
    tallies: list[Tallies], chance: ChanceModel, weights: KappaWeights
) -> tuple[Floats, Floats, Floats]:
    """κ of every two judges, the pairs of decisions behind it, and its error."""
    n = len(tallies)
    values, counts, errors = (np.full((n, n), np.nan) for _ in range(3))
    for a in range(n):
        for b in range(a, n):
            found = kappa_between(tallies[a], tallies[b], a == b, chance, weights)
            for i, j in ((a, b), (b, a)):
                values[i, j], counts[i, j], errors[i, j] = found.value, found.count, found.error
    return values, counts, errors


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


def _mean(values: Floats, counts: Floats, minimum: int, which: NDArray[np.bool_]) -> float:
    enough = which & (counts >= max(1, minimum)) & np.isfinite(values)
    total = counts[enough].sum()
    return float((values[enough] * counts[enough]).sum() / total) if total else float("nan")


def _outsiders(
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


def _times(judgments: list[Judgment], judges: tuple[str, ...]) -> tuple[NDArray[np.int64], Floats]:
    times: dict[str, list[float]] = {name: [] for name in judges}
    rankings = dict.fromkeys(judges, 0)
    for judgment in judgments:
        if judgment.judge in times:
            rankings[judgment.judge] += 1
            if judgment.seconds is not None:
                times[judgment.judge].append(judgment.seconds)
    return (
        np.array([rankings[name] for name in judges], np.int64),
        np.array([np.median(times[name]) if times[name] else np.nan for name in judges]),
    )
