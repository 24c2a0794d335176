"""What CLEME and CLEME2.0 share: edits, chunks, and what an output did with each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.edits import GoldEditing, with_edits
from errata.edits.origins import OutputEditing, edits_of, origins
from errata.metrics.base import Columns, Metric, join_counts, with_own_score
from errata.metrics.cleme.fates import TP, asked, by_likeness, compared_chunks, counted_chunks
from errata.metrics.similarity import cut_note, text_windows, weigh
from errata.models import Memo, Options
from errata.numbers import Floats, Progress
from errata.workers import in_order

__all__ = ["Merging", "Mode"]

Mode = Literal["dependent", "independent"]


class Merging(Metric):
    """What CLEME and CLEME2.0 share: chunks, and what an output did with each."""

    mode: Mode
    weights: str
    gold: GoldEditing
    extractor: str
    outputs: OutputEditing
    total: Literal["sum", "mean"]
    model: str
    layer: int | None
    revision: str
    dtype: str
    device: str
    batch_size: int
    _nothing: ClassVar[float]  # the weight of a chunk that makes no difference

    @property
    def columns(self) -> Columns:
        """The annotators, or all of them as one."""
        return "annotators" if self.mode == "dependent" else "readings"

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Edits of all systems are found in one go; a system is then counted as a whole."""
        gold = with_edits(corpus, self.gold, self.extractor, progress)
        found = edits_of(corpus, systems, self.outputs, extractor=self.extractor, progress=progress)
        if self.weights == "similarity":
            counts, cut = self._likened(gold, found, threads, progress)
            self._cuts(corpus)[tuple(h.system for h in systems)] = cut
            return counts
        return in_order(
            lambda system: self._counted(gold, system), found, threads=threads, progress=progress
        )

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """What became of the chunks of each sentence: TP, FP, FN, TN, and FP where one is due."""
        return self.count_all(corpus, [hypotheses])[0]

    def context(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> tuple[str, ...]:
        """Where the edits come from, and the exact model where one weighs."""
        finds = self.gold == "reextracted" or not corpus.has_gold_edits
        found = origins(systems, self.outputs, self.extractor, gold=finds)
        if self.weights != "similarity":
            return found
        return (*found, f"model:{self.opened().revision}")

    def notes(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> tuple[str, ...]:
        """How many texts were too long for the model."""
        return cut_note(self._cuts(corpus).get(tuple(h.system for h in systems), 0))

    def extracting(self, extractor: str) -> Self:
        """The same with the edits of all outputs found by this extractor."""
        own: Any = self
        changed: Self = replace(own, extractor=extractor, outputs="reextracted")
        return changed

    def opened(self) -> Memo:
        """BERTScore, with its cache."""
        from errata.models.bertscore import open_bertscore

        options = Options(self.revision, self.dtype, self.device, self.batch_size)
        return open_bertscore(self.model, options, layer=self.layer)

    def _cuts(self, corpus: Corpus) -> dict[tuple[str, ...], int]:
        """How many texts were cut when these systems were counted."""
        return corpus.derived(("cut", self), dict)

    def _counted(self, gold: Corpus, output: Hypotheses) -> Floats:
        """The counts with every chunk of one weight."""
        at_once = self.mode == "independent"
        counts = counted_chunks(compared_chunks(gold, output), lambda *_: 1.0, at_once=at_once)
        return self.completed(counts)

    def _likened(
        self,
        gold: Corpus,
        outputs: Sequence[Hypotheses],
        threads: int | None,
        progress: Progress | None,
    ) -> tuple[list[Floats], int]:
        """The counts with weights by similarity, and how many texts were cut for them."""
        memo, at_once = self.opened(), self.mode == "independent"
        result, cut, done = [], 0, 0
        for window, several in text_windows(gold, outputs):
            of_window = [compared_chunks(window, output, texts=True) for output in several]
            weights = weigh(memo, asked(of_window, at_once=at_once))
            worth = by_likeness(weights, nothing=self._nothing)
            result.append([counted_chunks(each, worth, at_once=at_once) for each in of_window])
            cut, done = cut + weights.cut, done + len(window)
            if progress is not None:
                progress(done, len(gold))
        joined = [join_counts(each) for each in zip(*result, strict=True)]
        return [self.completed(each) for each in joined], cut

    def completed(self, counts: Floats) -> Floats:
        """Counts with what ``total="mean"`` needs, where it is asked for."""
        if self.total == "sum":
            return counts
        own = np.where(np.isnan(counts[..., TP]), np.nan, self._own_score(np.nan_to_num(counts)))
        return with_own_score(counts, own)

    @abstractmethod
    def _own_score(self, counts: Floats) -> Floats:
        """The score of each sentence by itself."""
