"""What metrics are compared with people on, without the sentences and systems left out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from errata.core.errors import NOTICE, InputError
from errata.core.stats import plural
from errata.data import Corpus, Hypotheses, Judgment, Scores
from errata.human.comparisons import check_named, drop_systems
from errata.io.scores import drop_sentences
from errata.io.slices import SkippedSentences, skip_judgments

_LOG = logging.getLogger(__name__)


def skipped_judgments(judgments: Sequence[Judgment], skipped: SkippedSentences) -> list[Judgment]:
    """Return the judgments on other sentences; log how many are left out, and refuse all."""
    remaining = list(skip_judgments(judgments, skipped))
    count = len(judgments) - len(remaining)
    if count and not remaining:
        raise InputError(
            f"all {count} judgments are on sentences to be left out", remedy="leave some of them in"
        )
    if not count:
        return remaining
    word = "is on a sentence" if count == 1 else "are on sentences"
    message = f"{count} {plural('judgment', count)} {word} to be skipped, and left out"
    _LOG.log(NOTICE, "%s", message)
    return remaining


@dataclass(frozen=True)
class MetaInputs:
    """Judgments, human scores, scores from files, and a corpus with outputs."""

    judgments: list[Judgment] | None
    human: Scores | None
    scores: list[Scores]
    scored: tuple[Corpus, list[Hypotheses]] | None

    def skip(self, skipped: SkippedSentences | None) -> MetaInputs:
        """Return the same without some sentences, in everything that has sentences."""
        if skipped is None:
            return self
        places = skipped.positions(len(self.scored[0])) if self.scored is not None else ()
        scores = [drop_sentences(each, skipped) for each in self.scores]
        human = None if self.human is None else drop_sentences(self.human, skipped)
        judgments = None
        if self.judgments is not None:
            judgments = skipped_judgments(self.judgments, skipped)
        same = scores == self.scores and judgments == self.judgments and human is self.human
        if same and not places:
            raise InputError(
                "--skip-sentences goes with outputs, judgments or sentence scores of these",
                remedy="leave it out otherwise",
            )
        scored = None
        if self.scored is not None:
            corpus, systems = self.scored
            shorter = [system.without_sentences(*places) for system in systems]
            scored = (corpus.without_sentences(*places), shorter)
        return MetaInputs(judgments, human, scores, scored)

    @property
    def rated(self) -> Scores | None:
        """Human scores that are ratings of single sentences too."""
        return self.human if self.human is not None and self.human.sentences is not None else None

    def without(self, systems: Sequence[str]) -> MetaInputs:
        """Return the same without these systems."""
        if not systems:
            return self
        tables = [*self.scores, *([] if self.human is None else [self.human])]
        outputs = self.scored[1] if self.scored is not None else []
        judged = {name for j in self.judgments or () for group in j.groups for name in group}
        known = judged.union(*(s.systems for s in tables), (h.system for h in outputs))
        check_named(systems, known)

        def fewer(scores: Scores) -> Scores:
            return scores.without(*(name for name in systems if name in scores.systems))

        judgments = self.judgments
        if judgments is not None:
            judgments = list(drop_systems(judgments, [n for n in systems if n in judged]))
        return replace(
            self,
            judgments=judgments,
            human=None if self.human is None else fewer(self.human),
            scores=[fewer(scores) for scores in self.scores],
            scored=self.scored
            and (self.scored[0], [h for h in outputs if h.system not in systems]),
        )
