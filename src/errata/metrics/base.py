"""The metric contract: count, choose, score.

``count`` turns a corpus and one system's output into sufficient statistics per sentence and
reference; ``choose`` says which reference each sentence takes; ``score`` is a pure function of
summed statistics. Corpus scores, sentence scores, bootstrap intervals and distributed runs all
read the same counts (see `errata.evaluation`).

A metric is a frozen dataclass: its fields are its parameters, and its repr is its signature and
what `parse` reads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar, dataclass_transform

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.numbers import Floats, Ints, Progress, ratio
from errata.parameters import Parameterised, build, parse_arguments

__all__ = ["Floats", "Ints", "Metric", "build", "f_beta", "metric", "parse_arguments", "ratio"]

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def metric(cls: type[T]) -> type[T]:
    """Make a class a metric: a frozen, keyword-only dataclass with `Metric`'s repr."""
    return dataclass(frozen=True, kw_only=True, repr=False)(cls)


class Metric(Parameterised, ABC):
    """One way of scoring a system; see the module for the contract.

    ``name`` is what users write; ``statistics`` names the k counts. Missing references are NaN
    in the counts and are never chosen.
    """

    needs_references: ClassVar[bool] = True

    @property
    @abstractmethod
    def statistics(self) -> tuple[str, ...]:
        """The names of the sufficient statistics, in the order of the last axis of `count`."""

    @property
    def headline(self) -> str:
        """The name of what `score` returns, as a table heads it."""
        return self.name

    @property
    def by_annotator(self) -> bool:
        """Whether the second axis of `count` is the annotators, in the order of their numbers."""
        return True

    @abstractmethod
    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """Sufficient statistics ``[sentence, reference, k]``; a missing reference is NaN."""

    def choose(self, counts: Floats) -> Ints:
        """The reference each sentence takes: ``[draw, sentence]``; -1 takes none.

        Several draws are several equally valid choices; the corpus score is their mean.
        """
        return np.zeros((1, counts.shape[0]), np.int64)

    @abstractmethod
    def score(self, totals: Floats) -> Floats:
        """The score of summed statistics, ``[..., k] -> [...]``; higher is better."""

    def parts(self, totals: Floats) -> dict[str, Floats]:
        """Further figures of the same totals (P, R, counts...), in the order to be shown."""
        return {}

    @property
    def counted(self) -> frozenset[str]:
        """Which parts count something and are shown without decimals where they are whole."""
        return frozenset(self.statistics)

    def choose_sentences(self, counts: Floats) -> Ints:
        """The choice of reference when every sentence is scored alone; as in the corpus."""
        return self.choose(counts)

    def score_sentences(self, picked: Floats) -> Floats:
        """The score of single sentences where it differs from `score` (smoothing)."""
        return self.score(picked)

    def sentence_parts(self, picked: Floats) -> dict[str, Floats]:
        """Further figures of single sentences, shown beside their scores."""
        return self.parts(picked)

    def prepare(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> None:
        """Do, before anything is counted, what is cheaper for all systems at once."""
        return

    def adapt(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> Corpus:
        """The corpus as this metric counts it beside these systems; itself for most metrics.

        What is counted may depend on the systems scored together (difficulty weights do); it
        then travels with the corpus and its parts. Adapting an adapted corpus changes nothing.
        """
        return corpus

    def context(self, corpus: Corpus) -> tuple[str, ...]:
        """What of this corpus decided the numbers and belongs in the signature."""
        return ()

    def notes(self, corpus: Corpus) -> tuple[str, ...]:
        """What a reader of the scores should know (a limit that was hit, say)."""
        return ()


def f_beta(precision: Floats, recall: Floats, beta: float) -> Floats:
    """``(1 + β²)PR / (β²P + R)``, 0 where both are 0 (the M2 scorer's rule).

    >>> float(f_beta(np.array(0.5), np.array(0.25), 0.5))
    0.4166666666666667
    """
    square = beta * beta
    return ratio((1 + square) * precision * recall, square * precision + recall, 0.0)
