"""Errors that a rule-based checker finds before and after, without references.

It has not been validated against people as a metric of correction; it is for looking.
"""

from __future__ import annotations

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.metrics.base import by_name, metric, stacked, whole
from errata.metrics.fluency import stripped
from errata.metrics.grammar_errors import CheckerMetric
from errata.models import Memo
from errata.numbers import Floats, Ints, ratio
from errata.parameters import About

__all__ = ["Harper"]


@metric
class Harper(CheckerMetric):
    """Errors that the rule-based checker Harper reports before and after, per sentence.

    The score is (before - after) / sentences. Harper knows English spelling and a set of
    grammar rules; what has no rule is not an error to it, and a text that says less has fewer.
    A sentence that was emptied keeps its errors: deleting it corrects nothing. ``tokenized``
    takes out the blanks that tokenisation puts before punctuation.
    """

    name = "harper"
    about = About(range="errors per sentence, any sign", needs=("errata-gec[harper]",))

    dialect: str = "american"
    tokenized: bool = True

    @property
    def statistics(self) -> tuple[str, ...]:
        """Errors before and after, and how many sentences."""
        return ("before", "after", "sentences")

    @property
    def headline(self) -> str:
        """What `score` returns."""
        return "errors removed"

    def opened(self) -> Memo:
        """The checker, with its cache."""
        from errata.models.harper import open_harper

        return open_harper(self.dialect, self.tokenized)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """``[sentence, 1, (before, after, 1)]``."""
        checker = self.opened()
        sources, outputs = stripped(corpus.sources), stripped(hypotheses.sentences)
        before, after = checker.rows(sources)[:, 0], checker.rows(outputs)[:, 0]
        emptied = np.array([not output for output in outputs], bool)
        return stacked(
            self.statistics,
            {
                "before": before,
                "after": np.where(emptied, before, after),
                "sentences": np.ones(len(corpus)),
            },
        )

    def score(self, totals: Floats) -> Floats:
        """(before - after) / sentences."""
        figures = by_name(self.statistics, totals)
        return ratio(figures["before"] - figures["after"], figures["sentences"], 0.0)

    def parts(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Errors before and after."""
        figures = by_name(self.statistics, totals)
        return {name: whole(figures[name]) for name in ("before", "after")}
