"""What a judge says of systems, what it costs, and how far it can be trusted, as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from errata.data import Scores
from errata.metrics.base import Metric
from errata.metrics.judge.asking import Forecast
from errata.metrics.judge.trust import Judged
from errata.report.table import Cell, Table, joined_signatures, signed

__all__ = ["Session", "cost_table", "judge_tables"]


NARROW = {"judge": 18}  # places; names of models are long, and figures stand beside them


class Session(NamedTuple):
    """One judge: its name, what it gave the systems, and all it was shown."""

    judge: str
    scores: Scores
    judged: Judged


def judge_tables(sessions: Sequence[Session], notes: Sequence[str] = ()) -> list[Table]:
    """Scores of systems; how far each judge can be trusted, its costs, and scores by position."""
    signature = joined_signatures(session.scores.signature for session in sessions)
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
            *(_cell(session.scores.parts[part][s].item()) for part in shared),
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
        rows.append((name, trust.remark or None, *map(_cell, figures)))
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
        f"those made again, and those of earlier runs\nsignature: {signature}",
        signature=signature,
    )


def _position_table(sessions: Sequence[Session], signature: str) -> Table:
    """One row a position: how often something stood there, and what it got."""
    rows: list[tuple[Cell, ...]] = [
        (name, position, int(seen), _cell(float(mean)), _cell(float(beside)))
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
    signature = joined_signatures(signed(repr(judge)) for judge, _ in costs)
    return Table(
        ("judge", "requests", "kept", "tokens in", "tokens out"),
        tuple((judge.label, *cost) for judge, cost in costs),
        title="What is to be asked",
        name="judge_costs",
        caption="tokens in: about, from the length of the prompts; tokens out: at most\n"
        f"signature: {signature}",
        signature=signature,
    )


def _cell(value: float) -> Cell:
    """A figure, or nothing where there is none."""
    return None if isinstance(value, float) and math.isnan(value) else value
