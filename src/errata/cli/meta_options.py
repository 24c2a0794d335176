"""The options of ``errata meta``, gathered: people, systems, views and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from errata.cli.figures import Figures, figure_option
from errata.cli.given import Given
from errata.cli.human_scores import People, over_option
from errata.cli.inputs import Inputs
from errata.cli.options import gathered, refuse_unless
from errata.cli.people import JudgmentInputs
from errata.cli.score_files import ScoreFiles
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.meta.systems import Over

__all__ = [
    "Drawn",
    "Level",
    "SystemView",
    "check_sentences",
    "check_used",
    "drawing_options",
    "system_options",
]


Level = Literal["system", "sentence", "both"]


class SystemView(NamedTuple):
    """What is shown of whole systems."""

    over: Over
    window: int | None
    top: int | None
    tests: bool
    matrix: bool
    ensemble: bool


class Drawn(NamedTuple):
    """The figures to draw."""

    figures: Figures
    outliers: tuple[str, ...]

    @property
    def systems(self) -> bool:
        """Whether anything is drawn of whole systems."""
        return any(kind not in ("sentences", "ratings") for kind, _ in self.figures)


system_options = gathered(
    "view",
    SystemView,
    {
        "over": over_option,
        "window": click.option(
            "--window",
            type=click.IntRange(2),
            metavar="K",
            help="Also: correlations in every window of K neighbours of the ranking.",
        ),
        "top": click.option(
            "--top",
            type=click.IntRange(2),
            metavar="K",
            help="Also: correlations among the best 2, 3, ... K systems.",
        ),
        "tests": click.option(
            "--tests/--no-tests", default=True, help="Significance between metrics."
        ),
        "matrix": click.option(
            "--matrix",
            is_flag=True,
            help="Also: metrics against each other, and all there is where people say nothing.",
        ),
        "ensemble": click.option(
            "--ensemble",
            is_flag=True,
            help="Also: metrics combined, by mean rank and fitted, with each system left out.",
        ),
    },
)
drawing_options = gathered(
    "drawn",
    Drawn,
    {
        "figures": figure_option(
            {
                "scatter": "metrics against people",
                "matrix": "metrics against each other",
                "significance": "maps of p-values, for r and ρ",
                "sentences": "values at sentence level, with stars where the best metric leads",
                "ratings": "agreement with ratings of outputs",
            }
        ),
        "outliers": click.option(
            "--outlier",
            "outliers",
            multiple=True,
            metavar="SYSTEM",
            help="In the scatter plot: draw it hollow, and give r and ρ without it too.",
        ),
    },
)


def check_used(
    people: People,
    score_files: ScoreFiles,
    inputs: Inputs,
    judged: JudgmentInputs,
    level: Level,
    drawn: Drawn,
    *,
    computed: bool,
) -> None:
    """Refuse whatever was given and would change nothing."""
    human = score_files.human is not None
    ranked = level != "sentence" or drawn.systems
    refuse_unless(
        computed,
        "metrics gold source refs missing compatible annotators tokens no_guard",
        "outputs to score",
    )
    judgments = bool(inputs.sample or people.judgments)
    refuse_unless(level != "sentence", "over window top matrix ensemble", "--level system or both")
    refuse_unless(judgments or human, "window top tests", "--judgments or --human")
    refuse_unless(
        not (human and level == "system"), "judgments", "--level sentence or both beside --human"
    )
    compared = judgments and not (human and level == "system")
    refuse_unless(compared, "ranker members unit leave_out conventions", "--judgments")
    judged.check_used(bool(people.judgments), "--judgments")
    refuse_unless(ranked and not human, "ranker", "--judgments that are ranked, not --human")
    refuse_unless(level != "system", "conventions", "--level sentence or both")
    if any(kind == "sentences" for kind, _ in drawn.figures) and not (
        level != "system" and judgments
    ):
        raise InputError(
            "the figure sentences shows agreement at sentence level",
            remedy="give --judgments, and --level sentence or both",
        )
    for kind, _ in drawn.figures:
        if kind in ("scatter", "significance") and not (judgments or human):
            raise InputError(
                f"the figure {kind} needs a word from people", remedy="give --judgments or --human"
            )
    scatter = any(kind == "scatter" for kind, _ in drawn.figures)
    refuse_unless(scatter, "outliers", "--figure scatter=FILE")


def check_sentences(given: Given, level: Level, drawn: Drawn) -> None:
    """Refuse to judge sentences of which people said nothing, and scores that would not be read."""
    rated = any(kind == "ratings" for kind, _ in drawn.figures)
    if rated and (level == "system" or given.rated is None):
        raise InputError(
            "the figure ratings shows agreement with ratings of outputs",
            remedy="give them with --human, and --level sentence or both",
        )
    if level != "sentence" or given.rated is not None:
        return
    if given.judgments is None:
        raise InputError(
            "sentence level needs judgments", remedy="give --judgments, or ratings with --human"
        )
    refuse_unless(drawn.systems, "human", "--level system or both, or ratings of sentences")
