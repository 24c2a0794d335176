"""Errors found by Harper or LanguageTool."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import field
from typing import Literal

import numpy as np

from errata.core.errors import InputError
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, Progress, ratio
from errata.data import Corpus, Hypotheses
from errata.metrics.base import (
    Description,
    Metric,
    MetricFacts,
    by_name,
    count_each,
    fixed_point,
    metric,
    stack_counts,
    to_int,
)
from errata.metrics.fluency import distinct, stripped
from errata.models import CachedModel
from errata.models.checkers import NAPOLES


class CheckerMetric(Metric):
    """What metrics share that ask a checker about single sentences, without references."""

    @abstractmethod
    def open_model(self) -> CachedModel:
        """The checker, with its cache."""

    columns = "none"

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Every distinct sentence is checked once, all systems together."""
        self.open_model().rows(distinct(corpus, systems), progress)
        return count_each(self.count, corpus, systems, threads=threads, progress=progress)

    def describe(self, facts: MetricFacts) -> Description:
        """The version of the checker."""
        return Description((f"checker:{self.open_model().revision}",))


@metric
class Errors(CheckerMetric):
    """How few errors a rule-based checker finds in the output.

    ``measure="per_token"``: the mean over sentences of ``1 - errors / tokens`` (tokens at least 1),
    which Napoles et al. (2016b) call a grammaticality-based metric. ``"removed"`` is the errors of
    the source less the output's, per sentence. A sentence that was emptied keeps its errors
    and its tokens, which the paper does not say: deleting a sentence corrects nothing.
    A checker sees what it has rules for, and neither whether the meaning was kept nor whether
    anything was corrected: interpolate it with a metric that has references (`interpolate`).

    ``checker="harper"`` runs in this process (English, ``language`` is a dialect: ``en-US``,
    ``en-GB``, ``en-AU``, ``en-CA``, ``en-IN``); ``"languagetool"`` asks the server at ``url``, with
    the rules in ``disabled`` off (by default as in the paper). ``tokenized`` takes out the
    blanks that tokenisation puts before punctuation.
    """

    name = "errors"
    about = About(
        paper="Napoles et al. 2016b",
        range="up to 1 (per_token), any (removed)",
        needs=("errata-gec[harper] or a LanguageTool server",),
    )

    checker: Literal["harper", "languagetool"] = "harper"
    measure: Literal["per_token", "removed"] = "per_token"
    language: str = "en-US"
    url: str = field(default="", compare=False)
    disabled: tuple[str, ...] = NAPOLES
    tokenized: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.checker == "harper" and self.language not in DIALECT:
            raise InputError(
                f"errors: Harper does not know the language {self.language!r}",
                remedy=f"use {', '.join(DIALECT)}, or checker='languagetool'",
            )
        if self.checker == "harper" and (self.url or self.disabled != NAPOLES):
            raise InputError(
                "errors: url and disabled are for LanguageTool", remedy="add checker='languagetool'"
            )

    @property
    def statistics(self) -> tuple[str, ...]:
        """Errors before and after, tokens, the share without errors, and sentences."""
        return ("before", "after", "tokens", "right", "sentences")

    @property
    def headline(self) -> str:
        """What `score` returns."""
        return "1 - errors/token" if self.measure == "per_token" else "errors removed"

    def open_model(self) -> CachedModel:
        """The checker, with its cache."""
        if self.checker == "harper":
            from errata.models.checkers import open_harper

            return open_harper(DIALECT[self.language], self.tokenized)
        from errata.models.checkers import open_languagetool

        return open_languagetool(self.url, self.language, self.disabled, self.tokenized)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """``[sentence, 1, k]``; see `statistics`."""
        checker = self.open_model()
        sources, outputs = stripped(corpus.sources), stripped(hypotheses.sentences)
        before, after = checker.rows(sources)[:, 0], checker.rows(outputs)[:, 0]
        emptied = np.array([not output for output in outputs], bool)
        after = np.where(emptied, before, after)
        left = (s if gone else o for s, o, gone in zip(sources, outputs, emptied, strict=True))
        tokens = np.array([len(text.split()) for text in left], np.float64)
        right = 1 - after / np.maximum(tokens, 1)
        return stack_counts(
            self.statistics,
            {
                "before": before,
                "after": after,
                "tokens": tokens,
                "right": fixed_point(right),
                "sentences": np.ones(len(corpus)),
            },
        )

    def score(self, totals: Floats) -> Floats:
        """The mean over sentences of what ``measure`` says."""
        figures = by_name(self.statistics, totals)
        if self.measure == "per_token":
            return ratio(figures["right"], figures["sentences"], 0.0)
        return ratio(figures["before"] - figures["after"], figures["sentences"], 0.0)

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Errors before and after, and the tokens of the output."""
        figures = by_name(self.statistics, totals)
        return {name: to_int(figures[name]) for name in ("before", "after", "tokens")}


DIALECT = {
    "en-US": "american",
    "en-GB": "british",
    "en-AU": "australian",
    "en-CA": "canadian",
    "en-IN": "indian",
}


# ---- Errors that a rule-based checker finds before and after, without references.


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
    headline = "errors removed"

    dialect: str = "american"
    tokenized: bool = True

    @property
    def statistics(self) -> tuple[str, ...]:
        """Errors before and after, and how many sentences."""
        return ("before", "after", "sentences")

    def open_model(self) -> CachedModel:
        """The checker, with its cache."""
        from errata.models.checkers import open_harper

        return open_harper(self.dialect, self.tokenized)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """``[sentence, 1, (before, after, 1)]``."""
        checker = self.open_model()
        sources, outputs = stripped(corpus.sources), stripped(hypotheses.sentences)
        before, after = checker.rows(sources)[:, 0], checker.rows(outputs)[:, 0]
        emptied = np.array([not output for output in outputs], bool)
        return stack_counts(
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

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Errors before and after."""
        figures = by_name(self.statistics, totals)
        return {name: to_int(figures[name]) for name in ("before", "after")}
