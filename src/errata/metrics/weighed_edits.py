"""What PT-M2 and PT-ERRANT share: matched edits, each with the weight a language model gives it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import field, fields
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from errata.data import Corpus, Edit, Hypotheses
from errata.metrics.base import (
    Before,
    Metric,
    check_beta,
    fixed_point,
    join_counts,
    metric,
    with_own_score,
)
from errata.metrics.similarity import (
    WeighedChange,
    Weights,
    cut_note,
    plain_text,
    reference_texts,
    text_windows,
    weigh,
)
from errata.models import Memo, Options
from errata.numbers import Floats, Ints, Progress
from errata.workers import in_order

__all__ = ["Sides", "WeighedEdits", "of_fields"]

SCALE = 2.0**30  # weights are multiples of its inverse, so times this they are whole
Total = Literal["sum", "mean"]
M = TypeVar("M", bound=Metric)


class Sides(NamedTuple):
    """Edits of one sentence beside one reference, under the three statistics they count for."""

    first: Sequence[Edit]
    second: Sequence[Edit]
    third: Sequence[Edit]


# What the edits of a sentence make of it, beside one reference, by statistic.
SideChanges = tuple[tuple[WeighedChange, ...], ...]


@metric
class WeighedEdits(Metric):
    """An edit metric whose edits have weights in place of 1; the rest is that metric's."""

    model: str = "bert-base-uncased"  # as the authors' program and gec-metrics
    layer: int | None = None
    rescale: bool = False
    revision: str = ""
    dtype: str = "float32"
    device: str = field(default="auto", compare=False)
    batch_size: int = field(default=64, compare=False)
    beta: float = 0.5
    total: Total = "mean"
    zeros: Literal["shared", "kept"] = "shared"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta(self.name, self.beta)

    @abstractmethod
    def plain(self, total: Total) -> Metric:
        """The metric without weights, whose matching, choice and arithmetic are used."""

    @abstractmethod
    def prepared(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> tuple[Corpus, list[Hypotheses]]:
        """The corpus and the outputs with what matching needs."""

    @abstractmethod
    def sides(self, corpus: Corpus, hypotheses: Hypotheses) -> list[list[Sides]]:
        """The edits that each statistic counts, of every sentence beside every reference."""

    @property
    def statistics(self) -> tuple[str, ...]:
        """Weights by what became of the edits; with ``total="mean"`` also the sentence's own F."""
        return self.plain(self.total).statistics

    @property
    def headline(self) -> str:
        """F with its beta, as F0.5."""
        return self.plain(self.total).headline

    def opened(self) -> Memo:
        """BERTScore, with its cache."""
        from errata.models.bertscore import open_bertscore

        options = Options(self.revision, self.dtype, self.device, self.batch_size)
        return open_bertscore(self.model, options, layer=self.layer, rescale=self.rescale)

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Every distinct pair of texts goes to the model once, for all systems and annotators."""
        memo = self.opened()
        gold, outputs = self.prepared(corpus, systems, progress)
        counted, cut, done = [], 0, 0
        for window, several in text_windows(gold, outputs):

            def matched(output: Hypotheses, window: Corpus = window) -> list[list[SideChanges]]:
                return _changes(window, self.sides(window, output))

            found = in_order(matched, several, threads=threads)
            weights = weigh(memo, _by_sentence(found))
            counted.append([self._weighed(each, weights) for each in found])
            cut, done = cut + weights.cut, done + len(window)
            if progress is not None:
                progress(done, len(corpus))
        self._cuts(corpus)[tuple(h.system for h in systems)] = cut
        return [join_counts(each) for each in zip(*counted, strict=True)]

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """The weights of the edits of each sentence, by annotator."""
        return self.count_all(corpus, [hypotheses])[0]

    def _weighed(self, changes: list[list[SideChanges]], weights: Weights) -> Floats:
        counts = np.full((len(changes), max([1, *map(len, changes)]), 3), np.nan)
        shared = self.zeros == "shared" and self.total == "mean"
        for i, several in enumerate(changes):
            for r, each in enumerate(several):
                counts[i, r] = _summed(each, weights, shared=shared)
        if self.total == "sum":
            return counts
        own = fixed_point(self.plain("sum").score(np.nan_to_num(counts)))
        return with_own_score(counts, np.where(np.isnan(counts[..., 0]), np.nan, own))

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The annotator of each sentence, as the metric without weights chooses."""
        scaled = counts * SCALE  # whole numbers with the same F
        if before is not None:
            before = Before(
                before.sentences,
                _scaled(before.totals),
                None if before.whole is None else _scaled(before.whole),
            )
        return self.plain(self.total).choose(scaled, before)

    def score(self, totals: Floats) -> Floats:
        """F of summed weights, or the mean of the sentences' F."""
        return self.plain(self.total).score(totals)

    def parts(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Precision, recall, and the weights behind them."""
        weights = {name: totals[..., k] for k, name in enumerate(self.statistics[:3])}
        return {**self.plain(self.total).parts(totals), **weights}

    def context(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> tuple[str, ...]:
        """Where the edits come from, and the exact model."""
        own = self.plain(self.total).context(corpus, systems)
        return (*own, f"model:{self.opened().revision}")

    def notes(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> tuple[str, ...]:
        """What the metric without weights says, and how many texts were too long."""
        cut = self._cuts(corpus).get(tuple(h.system for h in systems), 0)
        return (*self.plain(self.total).notes(corpus, systems), *cut_note(cut))

    def _cuts(self, corpus: Corpus) -> dict[tuple[str, ...], int]:
        """How many texts were cut when these systems were counted."""
        return corpus.derived(("cut", self), dict)


def _scaled(sums: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return tuple(total * int(SCALE) for total in sums)


def of_fields(cls: type[M], given: Metric, **others: Any) -> M:
    """A metric with those parameters that it has in common with another one."""
    own: Any = cls
    common = {f.name: getattr(given, f.name) for f in fields(own) if hasattr(given, f.name)}
    return cls(**{**common, **others})


def _changes(window: Corpus, sides: list[list[Sides]]) -> list[list[SideChanges]]:
    """Edits as what they make of the sentence, beside the text of the reference."""
    texts = zip(window.sources, sides, reference_texts(window), strict=True)
    return [
        [
            tuple(_made(source.split(), edits, reference) for edits in each)
            for each, reference in zip(several, references, strict=True)
        ]
        for source, several, references in texts
    ]


def _made(
    tokens: Sequence[str], edits: Sequence[Edit], reference: str
) -> tuple[WeighedChange, ...]:
    before = plain_text(tokens)
    return tuple(WeighedChange(before, plain_text(tokens, [edit]), reference) for edit in edits)


def _by_sentence(found: list[list[list[SideChanges]]]) -> Iterable[WeighedChange]:
    """The changes of all systems, sentence by sentence, so that what is alike lies together."""
    return (
        change
        for of_sentence in zip(*found, strict=True)
        for references in of_sentence
        for sides in references
        for side in sides
        for change in side
    )


def _summed(sides: SideChanges, weights: Weights, *, shared: bool) -> list[float]:
    """The weight of each side; ``shared`` gives edits that all weigh nothing 1 together."""
    every = {change: weights.of[change] for side in sides for change in side}
    if shared and every and not any(every.values()):
        every = dict.fromkeys(every, float(fixed_point(np.array(1 / len(every)))))
    return [sum(every[change] for change in side) for side in sides]
