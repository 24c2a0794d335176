"""What metrics share that put texts through an encoder: each text once, nothing cut silently."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.metrics.base import Columns, Counted, Metric, count_each
from errata.metrics.fluency import stripped
from errata.models import Memo, Options
from errata.models.encoder import is_pair, unbroken
from errata.numbers import Floats, Progress

__all__ = ["Asked", "EncoderMetric", "ReferenceFreeMetric", "lines_of", "output_lengths"]


class Asked(NamedTuple):
    """A model with the texts it is to read; the last number of its rows counts tokens cut off."""

    role: str
    model: Memo
    texts: list[str]


class EncoderMetric(Metric):
    """A metric whose numbers are those of models, for every distinct text of all systems once.

    Its fields are among ``revision``, ``dtype``, ``device``, ``batch_size`` and ``max_length``.
    """

    dtype: str
    device: str
    batch_size: int
    max_length: int

    @abstractmethod
    def asked(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> list[Asked]:
        """What is asked of which model; nothing is loaded for it."""

    def _options(self, revision: str = "") -> Options:
        return Options(revision, self.dtype, self.device, self.batch_size)

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Every distinct text goes through the models once, all systems together."""
        for _, model, texts in self.asked(corpus, systems):
            model.rows(texts, progress)
        return count_each(self.count, corpus, systems, threads=threads, progress=progress)

    def context(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> tuple[str, ...]:
        """The exact models."""
        return tuple(f"{role}:{model.revision}" for role, model, _ in self.asked(corpus, systems))

    def notes(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> tuple[str, ...]:
        """How many texts were too long for a model, and lost their ends.

        A text that several systems wrote for one sentence counts once, in other sentences again.
        """
        said = []
        for at, (role, model, texts) in enumerate(self.asked(corpus, systems)):
            cut = dict(zip(texts, model.rows(texts)[:, -1].astype(int).tolist(), strict=True))
            if not any(cut.values()):
                continue
            alone = (
                self.asked(corpus[i : i + 1], [each[i : i + 1] for each in systems])[at][-1]
                for i in range(len(corpus))
            )
            lost = [cut[text] for own in alone for text in own if cut[text] > 0]
            what = " of texts" if is_pair(texts[0]) else ""
            one, several = (f"pair{what}", f"pairs{what}") if what else ("text", "texts")
            why = (
                f"longer than {self.max_length} tokens (max_length) or than the model takes, and "
                "{1:,} tokens not read"
            )
            said.append(
                Counted(
                    f"{role}: {{0:,}} {one} was {why}",
                    f"{role}: {{0:,}} {several} were {why}",
                    *(len(lost), sum(lost)),
                )
            )
        return tuple(said)


class ReferenceFreeMetric(EncoderMetric):
    """An encoder metric that looks at source and output alone."""

    @property
    def columns(self) -> Columns:
        """None: there are no references."""
        return "none"

    def notes(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> tuple[str, ...]:
        """How many texts were cut, and how many outputs are empty: a model rates those too."""
        empty = sum(not text for each in systems for text in stripped(each.sentences))
        said = super().notes(corpus, systems)
        if empty:
            rated = "rated like any other text"
            said += (
                Counted(f"{{0:,}} empty output, {rated}", f"{{0:,}} empty outputs, {rated}", empty),
            )
        return said


def lines_of(sentences: Sequence[str]) -> list[str]:
    """Sentences as a model reads them alone: without white space at their ends, one line each."""
    return [unbroken(text) for text in stripped(sentences)]


def output_lengths(sentences: Sequence[str]) -> Floats:
    """The lengths of sentences, the floor that a metric must beat to have learnt anything.

    >>> output_lengths(["He goes .", ""]).tolist()
    [9.0, 0.0]
    """
    return np.array([len(sentence) for sentence in sentences], np.float64)
