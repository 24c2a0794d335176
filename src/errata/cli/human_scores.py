"""What people say of systems, for the commands that hold metrics against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from errata.cli.options import Bootstrap, choice_of, gathered
from errata.cli.output import ProgressBar
from errata.cli.people import members_option, ranker_option
from errata.errors import InputError
from errata.meta.systems import Over

if TYPE_CHECKING:
    from errata.cli.people import JudgmentInputs
    from errata.data import Hypotheses, Judgment, Members, Scores
    from errata.human.comparisons import Comparisons, Unit

__all__ = [
    "People",
    "comparisons_of",
    "judgments_of",
    "over_option",
    "people_options",
    "people_scores",
]


class People(NamedTuple):
    """Where people's word stands, and how it becomes scores of systems."""

    judgments: tuple[str, ...]
    ranker: str
    members: Members


people_options = gathered(
    "people",
    People,
    {
        "judgments": click.option(
            "--judgments",
            multiple=True,
            metavar="FILE",
            help="Human rankings in any form that errata rank reads; may be repeated.",
        ),
        "ranker": ranker_option("How judgments become scores (see errata rank)."),
        "members": members_option,
    },
)
over_option = click.option(
    "--over",
    type=choice_of(Over),
    default="systems",
    show_default=True,
    help="What system-level intervals resample.",
)


def judgments_of(
    people: People, sample: bool, judged: JudgmentInputs, outputs: Sequence[Hypotheses]
) -> list[Judgment] | None:
    """The judgments that were given, or those of the sample; checked against the outputs."""
    if not people.judgments and not sample:
        return None
    return list(replace(judged, sample=not people.judgments).read(people.judgments, outputs))


def comparisons_of(
    judgments: Sequence[Judgment] | None, people: People, origin: Sequence[str], seed: int
) -> Comparisons | None:
    """The pairwise comparisons of judgments, where there are any."""
    from errata.human import compare

    if judgments is None:
        return None
    return compare(judgments, members=people.members, rng=seed, origin=origin)


def people_scores(
    human: Scores | None,
    comparisons: Comparisons | None,
    people: People,
    unit: Unit,
    bootstrap: Bootstrap,
) -> Scores:
    """People's scores of systems: as they were given, or ranked from comparisons."""
    if human is not None:
        return human
    if comparisons is None:
        raise InputError("no word from people", remedy="give --judgments or --human scores")
    from errata.human import parse_ranker, rank

    chosen = parse_ranker(people.ranker)
    with ProgressBar(chosen.name) as progress:
        return rank(
            chosen,
            comparisons,
            unit=unit,
            resamples=bootstrap.resamples,
            rng=bootstrap.seed,
            progress=progress,
        )
