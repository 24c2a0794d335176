"""The options of ``errata meta``, gathered: people, systems, views and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from errata.cli.figures import Figures, figure_option
from errata.cli.human_scores import People, over_option
from errata.cli.inputs import Inputs
from errata.cli.options import gathered, refuse_unless
from errata.cli.people import JudgmentInputs, note_skipped_judgments
from errata.cli.score_files import ScoreFiles
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses, Judgment, Scores
    from errata.io.skipping import Skipped
    from errata.meta.systems import Over

__all__ = [
    "Drawn",
    "Given",
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


class Given(NamedTuple):
    """What was read, before anything is computed."""

    judgments: list[Judgment] | None
    human: Scores | None
    scores: list[Scores]
    scored: tuple[Corpus, list[Hypotheses]] | None

    def skip(self, skipped: Skipped | None) -> Given:
        """The same without some sentences, on every side that has sentences."""
        if skipped is None:
            return self
        from errata.io.scores import skip_scores
        from errata.io.skipping import skip_judgments

        places = skipped.positions(len(self.scored[0])) if self.scored is not None else ()
        scores = [skip_scores(each, skipped) for each in self.scores]
        human = None if self.human is None else skip_scores(self.human, skipped)
        judgments = None
        if self.judgments is not None:
            judgments = list(skip_judgments(self.judgments, skipped))
            note_skipped_judgments(self.judgments, judgments)
        same = scores == self.scores and judgments == self.judgments and human is self.human
        if same and not places:
            raise InputError(
                "--skip-sentences goes with outputs, judgments or sentence scores of these",
                remedy="leave it out otherwise",
            )
        return Given(
            judgments,
            human,
            scores,
            None
            if self.scored is None
            else (
                self.scored[0].without_sentences(*places),
                [system.without_sentences(*places) for system in self.scored[1]],
            ),
        )

    @property
    def rated(self) -> Scores | None:
        """People's scores where they are ratings of single sentences too."""
        return self.human if self.human is not None and self.human.sentences is not None else None

    def without(self, systems: Sequence[str]) -> Given:
        """The same with these systems gone from every side that has them."""
        if not systems:
            return self
        from errata.human.selection import check_named, without_systems

        tables = [*self.scores, *([] if self.human is None else [self.human])]
        outputs = self.scored[1] if self.scored is not None else []
        judged = {name for j in self.judgments or () for group in j.groups for name in group}
        known = judged.union(*(s.systems for s in tables), (h.system for h in outputs))
        check_named(systems, known)

        def fewer(scores: Scores) -> Scores:
            return scores.without(*(name for name in systems if name in scores.systems))

        return Given(
            None
            if self.judgments is None
            else list(without_systems(self.judgments, [n for n in systems if n in judged])),
            None if self.human is None else fewer(self.human),
            [fewer(scores) for scores in self.scores],
            None
            if self.scored is None
            else (self.scored[0], [h for h in outputs if h.system not in systems]),
        )


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
