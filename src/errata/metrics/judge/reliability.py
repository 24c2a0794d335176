"""Reliability of a judge, rankings, tables."""

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

from errata.core.errors import DataWarning, InputError
from errata.core.stats import Floats, Ints, plural
from errata.data import Corpus, Hypotheses, Judgment, Scores
from errata.metrics.base import Metric
from errata.metrics.judge.client import Answer, Forecast, Question, is_injection
from errata.tables.cells import Cell
from errata.tables.table import Table, join_signatures, make_signature

SOME_UNREAD, MUCH_UNREAD = 0.01, 0.20
SAME = 0.5  # two scores of one output that are nearer than this are the same
# A judge is called biased where chance gives so much in 3 runs of 1,000, and it is no trifle.
BIASED_Z, BIASED_TAU = 3.0, 0.1
BIASED_P, BIASED_SPREAD = 0.0027, 0.5
# A judge is called blind where it gives nearly all of some pairs of different outputs equal scores.
BLIND_TIES, BLIND_PAIRS = 0.95, 20


class Planned(NamedTuple):
    """A planned request: its sentence, turn and targets."""

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
class JudgeRun:
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
    def trust(self) -> Reliability:
        """Position bias, ties and agreement of the judge with itself."""
        return _trust(self)


@dataclass(frozen=True)
class Reliability:
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
        """The faults of the judge, in a few words; empty if there are none."""
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


def assign_answers(
    planned: Sequence[Planned],
    answers: Mapping[Question, Answer],
    shown: Sequence[Sequence[str]],
    systems: Sequence[Hypotheses],
    *,
    schema: bool,
) -> JudgeRun:
    """Put answers to questions; refuse a run that could hardly be read, and warn of bias."""
    found = JudgeRun(
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
            f"the answers come from several models ({', '.join(found.models)}), as what a name "
            "stands for has changed; name one of them with model=",
            DataWarning,
            stacklevel=2,
        )
    if found.trust.remark:
        warnings.warn(found.trust.warning, DataWarning, stacklevel=2)
    return found


def _check_read(found: JudgeRun) -> None:
    unread, total = found.unread, len(found.showings)
    said = f"{unread} of {total} answers of the judge could not be read, even when asked again"
    if unread > MUCH_UNREAD * total:
        raise InputError(said, remedy="take another model, or leave schema on")
    if unread > SOME_UNREAD * total:
        warnings.warn(
            f"{said}: what they were to judge has no score from them", DataWarning, stacklevel=3
        )


def _trust(judged: JudgeRun) -> Reliability:
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
    return Reliability(
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


# ---- A judge's answers as rankings, which are ranked, compared and planned like the rankings of
# people.


def rankings_of(
    judged: JudgeRun, corpus: Corpus, systems: Sequence[Hypotheses], judge: str, *, absolute: bool
) -> list[Judgment]:
    """One ranking for every request: the higher the score, the better; equal scores are ties.

    Systems with the same output are one group. What could not be read was shown and not ranked.
    ``absolute`` scores (``group=1``) were given to each output alone: all outputs of a sentence
    are then one ranking a turn. Sentences have the numbers of the whole corpus, from 0.
    """
    members: dict[tuple[int, str], list[str]] = defaultdict(list)
    for system, targets in zip(systems, judged.shown, strict=True):
        for i, target in enumerate(targets):
            members[i, target].append(system.system)
    rankings = []
    asked: dict[tuple[int, int], int] = defaultdict(int)
    for showing in _join_showings(judged.showings) if absolute else judged.showings:
        i, turn = showing.sentence, showing.turn
        asked[i, turn] += 1
        number = corpus.number(i)
        rankings.append(
            Judgment(
                judge,
                number - 1,
                tuple(tuple(members[i, target]) for target in showing.targets),
                _ranks(showing),
                item=f"{number}.{turn + 1}.{asked[i, turn]}",
            )
        )
    return rankings


def _join_showings(showings: Sequence[Showing]) -> list[Showing]:
    """The showings of a sentence in one turn, as one.

    Targets without a score are left out, unless no target has one.
    """
    found: dict[tuple[int, int], list[Showing]] = defaultdict(list)
    for showing in showings:
        found[showing.sentence, showing.turn].append(showing)
    joined = []
    for place, several in found.items():
        read = [each for each in several if each.scores is not None]
        targets = tuple(target for each in read or several for target in each.targets)
        scores = tuple(score for each in read for score in each.scores or ())
        joined.append(Showing(*place, targets, scores if read else None))
    return joined


def _ranks(showing: Showing) -> tuple[int | None, ...]:
    """1 and how many are better.

    >>> _ranks(Showing(0, 0, ("a", "b", "c"), (3, 5, 3))), _ranks(Showing(0, 0, ("a",), None))
    ((2, 1, 2), (None,))
    """
    scores = showing.scores
    if scores is None:
        return (None,) * len(showing.targets)
    return tuple(1 + sum(other > score for other in scores) for score in scores)


# ---- What a judge says of systems, what it costs, and how far it can be trusted, as tables.

NARROW = {"judge": 18}  # places; names of models are long, and figures stand beside them


class Session(NamedTuple):
    """One judge: its name, what it gave the systems, and all it was shown."""

    judge: str
    scores: Scores
    judged: JudgeRun


def judge_tables(sessions: Sequence[Session], notes: Sequence[str] = ()) -> list[Table]:
    """Scores of systems; how far each judge can be trusted, its costs, and scores by position."""
    signature = join_signatures(session.scores.signature for session in sessions)
    said = [
        *(note for session in sessions for note in session.scores.notes[1:]),  # usage has columns
        *notes,
    ]
    caption = "\n".join(
        (*(f"note: {note}" for note in dict.fromkeys(said)), f"signature: {signature}")
    )
    shared = ("judged", "unparsed", "ties", "agreement", "injections")
    scores: list[tuple[Cell, ...]] = [
        (
            session.judge,
            system,
            float(session.scores.values[s]),
            *(_figure_cell(session.scores.parts[part][s].item()) for part in shared),
        )
        for session in sessions
        for s, system in enumerate(session.scores.systems)
    ]
    return [
        Table(
            ("judge", "system", "score", *shared),
            tuple(scores),
            title="Scores",
            name="judge_scores",
            widths=NARROW,
            caption=caption,
            formats={"score": ".3f", "ties": ".0%", "agreement": ".0%"},
            rules=frozenset(
                sum(len(one.scores.systems) for one in sessions[: i + 1]) - 1
                for i in range(len(sessions) - 1)
            ),
            signature=signature,
        ),
        _trust_table(sessions, signature),
        _usage_table(sessions, signature),
        _position_table(sessions, signature),
    ]


def _trust_table(sessions: Sequence[Session], signature: str) -> Table:
    """One row a judge: how far its scores depend on the position and on chance."""
    rows: list[tuple[Cell, ...]] = []
    for name, _, judged in sessions:
        trust = judged.trust
        figures = (trust.tau, trust.spread, trust.ties, trust.agreement, trust.apart)
        rows.append((name, trust.remark or None, *map(_figure_cell, figures)))
    shares, differences = ("ties", "agreement"), ("spread", "apart")
    return Table(
        ("judge", "remark", "τ position", "spread", "ties", "agreement", "apart"),
        tuple(rows),
        title="How far the judge can be trusted",
        name="judge_trust",
        widths=NARROW,
        formats={
            "τ position": "+.2f",
            **dict.fromkeys(shares, ".0%"),
            **dict.fromkeys(differences, ".2f"),
        },
        caption="τ position: Kendall's between position and score (0: it does not matter); spread: "
        "of mean scores between positions; agreement: share of repeats with the same score; apart: "
        f"their mean difference\nsignature: {signature}",
        signature=signature,
    ).without_empty("remark")


def _usage_table(sessions: Sequence[Session], signature: str) -> Table:
    """One row a judge: what it was asked, what could not be read, and what it took."""
    return Table(
        (*("judge", "answers", "unparsed", "injections", "requests", "tokens in"), "tokens out"),
        tuple(
            (
                name,
                len(judged.showings),
                judged.unread,
                sum(map(sum, judged.injections)),
                judged.requests,
                judged.prompt_tokens,
                judged.completion_tokens,
            )
            for name, _, judged in sessions
        ),
        title="What it took",
        name="judge_usage",
        widths=NARROW,
        caption="injections: outputs that tell the judge to ignore its instructions; requests with "
        f"repeated ones and earlier runs'\nsignature: {signature}",
        signature=signature,
    )


def _position_table(sessions: Sequence[Session], signature: str) -> Table:
    """One row a position: how often something stood there, and what it got."""
    rows: list[tuple[Cell, ...]] = [
        (name, position, int(seen), _figure_cell(float(mean)), _figure_cell(float(beside)))
        for name, _, judged in sessions
        for position, (seen, mean, beside) in enumerate(
            zip(judged.trust.seen, judged.trust.means, judged.trust.beside, strict=True), 1
        )
    ]
    return Table(
        ("judge", "position", "seen", "mean score", "beside its group"),
        tuple(rows),
        title="Scores by position",
        name="judge_positions",
        widths=NARROW,
        formats={"mean score": ".2f", "beside its group": "+.2f"},
        caption="beside its group: mean difference from the mean of what was shown together\n"
        f"signature: {signature}",
        signature=signature,
    )


def cost_table(costs: Sequence[tuple[Metric, Forecast]]) -> Table:
    """What asking would cost, judge by judge."""
    signature = join_signatures(make_signature(repr(judge)) for judge, _ in costs)
    return Table(
        ("judge", "requests", "kept", "tokens in", "tokens out"),
        tuple((judge.label, *cost) for judge, cost in costs),
        title="Questions to be asked",
        name="judge_costs",
        caption="tokens in: about, from the length of the prompts; tokens out: at most\n"
        f"signature: {signature}",
        signature=signature,
    )


def _figure_cell(value: float) -> Cell:
    """A figure, or nothing where there is none."""
    return None if isinstance(value, float) and math.isnan(value) else value
