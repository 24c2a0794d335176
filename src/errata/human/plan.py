"""How many more judgments a question needs, and where to spend them.

Both answers come from pilot data: campaigns of a given size are simulated by drawing the pilot's
units (rankings, sentences...) with replacement, so new judgments are supposed to be like those at
hand, in which systems meet, how often judges tie and how far they agree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.stats import Floats, Progress, Seed, merge_ties, seed_name
from errata.data import Judgment, Scores
from errata.human.bootstrap import counts_in_blocks
from errata.human.comparisons import Comparisons, Unit, unknown_system
from errata.human.ranking import SOLVED, Ranker

LARGEST = 10_000  # pilots a campaign may have; a simulation draws each
FEW = 10  # units of a pilot below which simulated campaigns only repeat them
GROWTH = 1.25  # from one size of campaign tried to the next


@dataclass(frozen=True, eq=False)
class Plan:
    """How large a campaign must be to tell two systems apart.

    ``sizes`` are campaigns in rankings, ``power[k]`` the share of simulated campaigns of size k
    that show ``better`` ahead with the confidence asked for. ``rankings`` is the smallest size
    with enough power and ``more`` the number missing to it; both None where none was large enough.
    ``hours`` of annotators' work go with ``more`` (None without recorded times).
    """

    better: str
    worse: str
    difference: float
    pilot: int
    sizes: NDArray[np.int64]
    power: Floats
    rankings: int | None
    more: int | None
    hours: float | None
    seconds: float | None
    settings: tuple[str, ...]
    notes: tuple[str, ...] = ()


def seconds_per_ranking(judgments: Iterable[Judgment]) -> float | None:
    """The median time a ranking took, None without recorded times.

    The median, because a judge who left the page open did not work all that time.
    """
    times = [j.seconds for j in judgments if j.seconds is not None]
    return float(np.median(times)) if times else None


def plan(
    comparisons: Comparisons,
    ranker: Ranker,
    first: str,
    second: str,
    *,
    confidence: float = 0.95,
    power: float = 0.8,
    unit: Unit = "sentences",
    largest: float = 100.0,
    simulations: int = 500,
    seconds: float | None = None,
    rng: Seed = 0,
    progress: Progress | None = None,
) -> Plan:
    """How many rankings separate two systems, by simulation from pilot data.

    For every size tried, ``simulations`` campaigns are drawn. A campaign separates the systems if
    the score difference it shows is above 0 by ``z`` standard deviations of the difference at
    that size (z is the normal quantile of the two-sided ``confidence``). The answer is the
    smallest size at which a share of ``power`` of the campaigns does so, up to ``largest`` times
    the pilot. The pilot's difference is taken for the true one; if it is near 0, so is the
    chance of ever separating the systems. Sampled TrueSkill is stood in for by its stand-in.
    """
    ranker = ranker.stand_in
    for name in (first, second):
        if name not in comparisons.systems:
            raise unknown_system(name, comparisons.systems)
    if first == second:
        raise InputError("the two systems are the same", remedy="name two different ones")
    if not (0.5 <= confidence < 1 and 0 < power < 1):
        raise InputError("confidence is between 0.5 and 1, power between 0 and 1")
    if not 1 <= largest <= LARGEST:
        raise InputError(
            f"campaigns of up to {largest} pilots cannot be tried", remedy=f"use 1 to {LARGEST}"
        )
    many = comparisons.units(unit)[1] if unit != "pairs" else int(comparisons.total)
    if many < 2:
        raise InputError(
            f"a pilot of one of the {unit} says nothing of chance",
            remedy="judge more first, or draw another unit",
        )
    from scipy.special import ndtri

    generator = np.random.default_rng(rng)
    a, b = (comparisons.systems.index(name) for name in (first, second))
    values = ranker.score(comparisons.counts())
    difference = float(values[a] - values[b])
    if difference < 0:
        a, b, difference = b, a, -difference
    z = float(ndtri((1 + confidence) / 2))
    times = np.geomspace(0.1, largest, 1 + round(np.log(largest / 0.1) / np.log(GROWTH)))
    shares = []
    for done, each in enumerate(times):
        if progress is not None:
            progress(done, len(times))
        drawn = counts_in_blocks(comparisons, unit, simulations, generator, times=each)
        apart = np.concatenate([scores[:, a] - scores[:, b] for scores in map(ranker.score, drawn)])
        shares.append(float((apart > z * apart.std(ddof=1)).mean()))
        if len(shares) >= 3 and min(shares[-3:]) >= power:
            break
    few = (
        f"a pilot of {many} {unit} is small: simulated campaigns repeat what it has, and know "
        "too little of chance",
    )
    answer = _plan_for_pair(
        comparisons,
        (a, b),
        difference,
        times,
        np.array(shares),
        power,
        seconds,
        (
            f"ranker:{ranker!r}",
            f"confidence:{confidence:g}",
            f"power:{power:g}",
            f"unit:{unit}",
            f"simulations:{simulations}",
            f"seed:{seed_name(rng)}",
            *comparisons.facts,
        ),
    )
    return replace(answer, notes=few if many < FEW else ())


def _plan_for_pair(
    comparisons: Comparisons,
    systems: tuple[int, int],
    difference: float,
    times: Floats,
    shares: Floats,
    power: float,
    seconds: float | None,
    settings: tuple[str, ...],
) -> Plan:
    sizes = np.maximum(1, np.ceil(times[: len(shares)] * comparisons.rankings)).astype(np.int64)
    # The last size that falls short; simulation noise may let a smaller one pass by luck.
    short = np.flatnonzero(shares < power)
    place = int(short[-1]) + 1 if len(short) else 0
    rankings = None
    if place < len(shares) and difference > 0:
        around = slice(max(0, place - 1), place + 1)
        rankings = int(np.ceil(np.exp(np.interp(power, shares[around], np.log(sizes[around])))))
    more = None if rankings is None else max(0, rankings - comparisons.rankings)
    hours = None if more is None or seconds is None else more * seconds / 3600
    return Plan(
        comparisons.systems[systems[0]],
        comparisons.systems[systems[1]],
        difference,
        comparisons.rankings,
        sizes,
        shares,
        rankings,
        more,
        hours,
        seconds,
        settings,
    )


@dataclass(frozen=True, eq=False)
class NextPairs:
    """Pairs of systems, the most useful to judge first.

    ``gain`` is how much a batch of comparisons of the pair is expected to add to the score of
    whichever of the two is then thought better; ``doubt`` the chance that their present order is
    wrong; ``compared`` how often they met.
    """

    pairs: tuple[tuple[str, str], ...]
    gain: Floats
    doubt: Floats
    compared: Floats
    batch: int


def next_pairs(scores: Scores, comparisons: Comparisons, *, batch: int = 100) -> NextPairs:
    """Which pairs to judge next: those in doubt that a batch of comparisons may decide.

    The gain is the knowledge gradient (Frazier, Powell & Dayanik 2008): with a difference Δ of
    standard deviation s from n comparisons, m more leave ``s̃ = s sqrt(m / (n + m))`` to be
    learned, worth ``s̃ φ(Δ / s̃) - |Δ| Φ(-|Δ| / s̃)``. Pairs that are settled, and pairs that are
    close but judged so often that a batch changes little, come last.
    """
    if scores.resampled is None:
        raise InputError("choosing pairs needs resamples", remedy="rank(..., resamples=1000)")
    if batch < 1:
        raise InputError(f"a batch of {batch} comparisons", remedy="use at least 1")
    from scipy.special import ndtr

    order = scores.order
    drawn = merge_ties(scores.resampled, within=SOLVED)
    games = comparisons.counts().games
    names, gains, doubts, compared = [], [], [], []
    for k, a in enumerate(order):
        for b in order[k + 1 :]:
            apart = drawn[:, a] - drawn[:, b]
            gap, spread = float(scores.values[a] - scores.values[b]), float(apart.std(ddof=1))
            left = spread * np.sqrt(batch / (games[a, b] + batch))
            z = gap / left if left > 0 else np.inf
            density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
            names.append((scores.systems[a], scores.systems[b]))
            gains.append(0.0 if not left else left * density - gap * float(ndtr(-z)))
            doubts.append(float((apart < 0).mean() + (apart == 0).mean() / 2))
            compared.append(float(games[a, b]))
    best = np.argsort(-np.array(gains), kind="stable")
    return NextPairs(
        tuple(names[k] for k in best),
        np.array(gains)[best],
        np.array(doubts)[best],
        np.array(compared)[best],
        batch,
    )
