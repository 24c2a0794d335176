"""What was given to a command that takes metrics and people, before anything is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from errata.cli.people import note_skipped_judgments
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.data import Corpus, Hypotheses, Judgment, Scores
    from errata.io.skipping import Skipped

__all__ = ["Given"]


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
