"""What a judge was shown and what it said, and how far it can be trusted."""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from errata.data import Hypotheses
from errata.errors import DataWarning, InputError
from errata.metrics.judge.asking import Answer, Question
from errata.metrics.judge.injection import is_injection
from errata.numbers import Floats, Ints, plural

__all__ = ["Judged", "Planned", "Showing", "Trust", "kendall_of_pairs"]

SOME_UNREAD, MUCH_UNREAD = 0.01, 0.20
SAME = 0.5  # two scores of one output that are nearer than this are the same
# A judge is called biased where chance gives so much in 3 runs of 1,000, and it is no trifle.
BIASED_Z, BIASED_TAU = 3.0, 0.1
BIASED_P, BIASED_SPREAD = 0.0027, 0.5
# A judge is called blind where it gives nearly all of some pairs of different outputs equal scores.
BLIND_TIES, BLIND_PAIRS = 0.95, 20


class Planned(NamedTuple):
    """A request to be made: of which sentence, in which turn, with which targets."""

    sentence: int
    turn: int
    targets: tuple[str, ...]
    question: Question


class Showing(NamedTuple):
    """Targets that a judge saw together, in this order, and their scores, None if unread."""

    sentence: int
    turn: int
    targets: tuple[str, ...]
    scores: tuple[float, ...] | None


@dataclass(frozen=True)
class Judged:
    """All showings of a run; ``shown[s][i]`` is what stood for sentence i of system s.

    ``injections[s][i]`` says whether that output speaks to the judge.
    """

    showings: tuple[Showing, ...]
    shown: tuple[tuple[str, ...], ...]
    injections: tuple[tuple[bool, ...], ...]
    models: tuple[str, ...]
    refused: bool  # the server would not take the schema
    requests: int
    prompt_tokens: int
    completion_tokens: int

    @property
    def usage(self) -> str:
        """What all answers took, be they of this run or kept from an earlier one."""
        return (
            f"{self.requests:,} {plural('request', self.requests)}, {self.prompt_tokens:,} tokens "
            f"in and {self.completion_tokens:,} out"
        )

    @property
    def unread(self) -> int:
        """How many showings have no scores."""
        return sum(showing.scores is None for showing in self.showings)

    @cached_property
    def views(self) -> dict[tuple[int, str], list[tuple[Showing, int]]]:
        """By sentence and target: where it was shown, and at which position (from 0)."""
        found = defaultdict(list)
        for showing in self.showings:
            for position, target in enumerate(showing.targets):
                found[showing.sentence, target].append((showing, position))
        return dict(found)

    @cached_property
    def trust(self) -> Trust:
        """Position bias, ties and agreement of the judge with itself."""
        return _trust(self)


@dataclass(frozen=True)
class Trust:
    """How far a judge's scores depend on what they should not depend on.

    ``means`` are mean scores by position; ``beside`` the same as differences from the mean of the
    group, which sentences of different quality cannot confound, and ``spread`` their largest less
    their smallest. ``tau`` is Kendall's between position and score (1: the later, the better),
    ``z`` how many standard errors it is from 0; ``chance`` is how probable such differences between
    positions are where order does not matter, also of those that rise and fall again. ``ties`` is
    the share of the ``pairs`` in a group with equal scores; ``agreement`` that of pairs of showings
    of one output whose scores are the same, ``apart`` their mean difference. NaN where nothing can
    be said.
    """

    pairs: int
    seen: Ints
    means: Floats
    beside: Floats
    spread: float
    tau: float
    z: float
    chance: float
    ties: float
    agreement: float
    apart: float

    @property
    def biased(self) -> bool:
        """Whether the position decides more than chance and trifles would explain."""
        return self.inclined or (self.chance < BIASED_P and self.spread >= BIASED_SPREAD)

    @property
    def inclined(self) -> bool:
        """Whether later positions have the higher scores, or earlier ones."""
        return abs(self.z) >= BIASED_Z and abs(self.tau) >= BIASED_TAU

    @property
    def blind(self) -> bool:
        """Whether it hardly tells outputs apart."""
        return self.pairs >= BLIND_PAIRS and self.ties >= BLIND_TIES

    @property
    def remark(self) -> str:
        """What is wrong with the judge, in a few words; empty where nothing is."""
        return "goes by the position" if self.biased else "sees no difference" if self.blind else ""

    @property
    def warning(self) -> str:
        """What to say of a judge that goes by the position, or that sees no difference."""
        if self.blind and not self.biased:
            return (
                f"the judge hardly tells outputs apart: {self.ties:.0%} of {self.pairs} pairs of "
                "different outputs have equal scores; take another model, or expectation=True"
            )
        where = "later" if self.tau > 0 else "earlier"
        what = f"of two outputs the {where} one gets the higher score"
        if not self.inclined:
            best = int(np.nanargmax(self.beside)) + 1
            what = f"what stands at position {best} gets the highest scores"
        return (
            f"the judge goes by the position: {what} (Kendall's τ between position and score is "
            f"{self.tau:+.2f}, and means differ by {self.spread:.2f} between positions); do not "
            "trust its scores: take another model, or group=1"
        )


def kendall_of_pairs(later: Floats, earlier: Floats, tied: Floats) -> Floats:
    """Kendall's τ_b between position and score, from pairs within groups; NaN without any.

    ``later`` and ``earlier`` count pairs in which that one has the higher score; positions are
    never tied.

    >>> kendall_of_pairs(np.array(3.0), np.array(1.0), np.array(0.0)).item()
    0.5
    """
    untied = later + earlier
    below = np.sqrt(untied * (untied + tied))
    return np.where(below > 0, (later - earlier) / np.where(below > 0, below, 1.0), np.nan)


def pair_outcomes(scores: Sequence[float]) -> Iterator[tuple[int, int, int]]:
    """Every pair of positions (from 0), and whether the later score is higher (1), lower, equal.

    >>> list(pair_outcomes((4.0, 2.0, 4.0)))
    [(0, 1, -1), (0, 2, 0), (1, 2, 1)]
    """
    for (i, first), (j, second) in combinations(enumerate(scores), 2):
        yield i, j, (second > first) - (second < first)


def put_together(
    planned: Sequence[Planned],
    answers: Mapping[Question, Answer],
    shown: Sequence[Sequence[str]],
    systems: Sequence[Hypotheses],
    *,
    schema: bool,
) -> Judged:
    """Put answers to questions; refuse a run that could hardly be read, and warn of bias."""
    found = Judged(
        tuple(Showing(*each[:3], answers[each.question].scores) for each in planned),
        tuple(map(tuple, shown)),
        tuple(tuple(map(is_injection, system.sentences)) for system in systems),
        tuple(sorted({answer.model for answer in answers.values()})),
        schema and any(answer.plain for answer in answers.values()),
        sum(answer.requests for answer in answers.values()),
        sum(answer.prompt_tokens for answer in answers.values()),
        sum(answer.completion_tokens for answer in answers.values()),
    )
    _check_read(found)
    if len(found.models) > 1:
        warnings.warn(
            f"the answers are those of several models ({', '.join(found.models)}), as what a name "
            "stands for has changed; name one of them with model=",
            DataWarning,
            stacklevel=2,
        )
    if found.trust.remark:
        warnings.warn(found.trust.warning, DataWarning, stacklevel=2)
    return found


def _check_read(found: Judged) -> None:
    unread, total = found.unread, len(found.showings)
    said = f"{unread} of {total} answers of the judge could not be read, even when asked again"
    if unread > MUCH_UNREAD * total:
        raise InputError(said, remedy="take another model, or leave schema on")
    if unread > SOME_UNREAD * total:
        warnings.warn(
            f"{said}: what they were to judge has no score from them", DataWarning, stacklevel=3
        )


def _trust(judged: Judged) -> Trust:
    size = max((len(showing.targets) for showing in judged.showings), default=1)
    seen, total, beside = np.zeros(size, np.int64), np.zeros(size), np.zeros(size)
    later = earlier = tied = 0
    variance = 0.0
    for showing in judged.showings:
        if showing.scores is None or len(showing.targets) < 2:
            continue
        n, scores = len(showing.scores), np.array(showing.scores)
        seen[:n] += 1
        total[:n] += scores
        beside[:n] += scores - scores.mean()
        variance += n * (n - 1) * (2 * n + 5) / 18  # of Kendall's S where order is chance
        for _, _, sign in pair_outcomes(showing.scores):
            later, earlier, tied = later + (sign > 0), earlier + (sign < 0), tied + (sign == 0)
    apart = [
        abs(a - b)
        for views in judged.views.values()
        for a, b in combinations(
            [showing.scores[at] for showing, at in views if showing.scores is not None], 2
        )
    ]
    pairs, below = later + earlier + tied, np.where(seen > 0, seen, 1)
    differences = (beside / below)[seen > 0]
    counts = (np.array(float(number)) for number in (later, earlier, tied))
    return Trust(
        pairs,
        seen,
        np.where(seen > 0, total / below, np.nan),
        np.where(seen > 0, beside / below, np.nan),
        float(np.ptp(differences)) if len(differences) else math.nan,
        float(kendall_of_pairs(*counts)),
        (later - earlier) / math.sqrt(variance) if variance else 0.0,
        _chance_of_positions(judged.showings),
        tied / pairs if pairs else math.nan,
        float(np.mean([each < SAME for each in apart])) if apart else math.nan,
        float(np.mean(apart)) if apart else math.nan,
    )


def _chance_of_positions(showings: Sequence[Showing]) -> float:
    """How probable it is that means of positions differ so much where the order is drawn.

    Friedman's test (1937) on scores in place of ranks, groups of one size together. An order and
    its reverse are not two draws: every second turn is left out.
    """
    from scipy.special import chdtrc

    drawn: dict[int, list[tuple[float, ...]]] = defaultdict(list)
    for showing in showings:
        if showing.scores is not None and len(showing.scores) > 1 and showing.turn % 2 == 0:
            drawn[len(showing.scores)].append(showing.scores)
    statistic, freedom = 0.0, 0
    for size, several in drawn.items():
        beside = np.array(several) - np.mean(several, axis=1, keepdims=True)
        squares = float((beside**2).sum())
        if squares > 0:
            statistic += (size - 1) * float((beside.sum(axis=0) ** 2).sum()) / squares
            freedom += size - 1
    return float(chdtrc(freedom, statistic)) if freedom else 1.0
