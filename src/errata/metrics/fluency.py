"""Graded views without references: fluency and meaning as two columns, and a rule-based count.

Scribendi folds fluency and likeness into three values; here each is a number of its own. None of
these has been validated against people as a metric of correction; they are for looking.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.metrics.base import Metric, metric
from errata.metrics.scribendi import levenshtein_distance_ratio, token_sort_ratio
from errata.models import Memo, Options, open_model
from errata.numbers import Floats, Progress, ratio

__all__ = ["Fluency", "Harper"]


@metric
class Fluency(Metric):
    """How many times less surprising the output is than the source, beside how like it is to it.

    The score is the geometric mean over sentences of PPL(source) / PPL(hypothesis), with
    perplexities per token: 1 is no change, above 1 more fluent. The other columns say at what
    price: TSR and LDR as in Scribendi, ``meaning`` the mean of the larger of the two, and with
    ``embeddings='minilm'`` the mean ``cosine`` of sentence embeddings. Fluency alone is easily
    gamed: a fluent sentence about something else wins. Sentences where one side is empty have no
    perplexity; they are left out of the ratio and counted as ``undefined``.
    """

    name: ClassVar[str] = "fluency"
    needs_references: ClassVar[bool] = False

    model: str = "gpt2"
    revision: str = ""
    dtype: str = "float32"
    device: str = "auto"
    batch_size: int = 32
    embeddings: str = "none"

    def __post_init__(self) -> None:
        self._check_choice("embeddings", ("none", "minilm"))

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("ln ratio", "sentences", "undefined", "TSR", "LDR", "larger", "cosine")

    @property
    def headline(self) -> str:
        return "PPL ratio"

    def opened(self) -> Memo:
        """The language model, with its cache."""
        return open_model(
            self.model, Options(self.revision, self.dtype, self.device, self.batch_size)
        )

    def _embedder(self) -> Memo | None:
        if self.embeddings == "none":
            return None
        from errata.models.embedding import open_minilm

        return open_minilm()

    def prepare(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> None:
        """Give every distinct sentence to the models once, all systems together."""
        sentences = _distinct(corpus, *systems)
        self.opened().rows(sentences, progress)
        embedder = self._embedder()
        if embedder is not None:
            embedder.rows(sentences, progress)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """``[sentence, 1, k]``; see the class for the statistics."""
        model, embedder = self.opened(), self._embedder()
        sources, outputs = _stripped(corpus.sources), _stripped(hypotheses.sentences)
        before, after = model.rows(sources), model.rows(outputs)
        counts = np.zeros((len(corpus), 1, len(self.statistics)))
        defined = (before[:, 1] > 0) & (after[:, 1] > 0)
        same = np.array([a == b for a, b in zip(sources, outputs, strict=True)], bool)
        log_ratio = after[:, 0] / np.maximum(after[:, 1], 1) - before[:, 0] / np.maximum(
            before[:, 1], 1
        )
        counts[:, 0, 0] = np.where(defined, log_ratio, 0.0)
        counts[:, 0, 1] = defined | same
        counts[:, 0, 2] = ~(defined | same)
        counts[:, 0, 3] = [token_sort_ratio(*pair) for pair in zip(sources, outputs, strict=True)]
        counts[:, 0, 4] = [
            levenshtein_distance_ratio(*pair) for pair in zip(sources, outputs, strict=True)
        ]
        counts[:, 0, 5] = counts[:, 0, 3:5].max(axis=1)
        if embedder is not None:
            cosines = np.einsum("id,id->i", embedder.rows(sources), embedder.rows(outputs))
            counts[:, 0, 6] = np.where(same, 1.0, cosines)
        return counts

    def score(self, totals: Floats) -> Floats:
        """``exp(Σ ln(PPL(s) / PPL(h)) / n)``; 1 where nothing is defined."""
        return np.exp(ratio(totals[..., 0], totals[..., 1], 0.0))

    def parts(self, totals: Floats) -> dict[str, Floats]:
        """Likeness to the source, and how many sentences have no ratio."""
        n = totals[..., 1] + totals[..., 2]
        shown = {"meaning": 5, "TSR": 3, "LDR": 4}
        if self.embeddings != "none":
            shown["cosine"] = 6
        return {name: ratio(totals[..., k], n, 0.0) for name, k in shown.items()} | {
            "undefined": totals[..., 2]
        }

    def context(self, corpus: Corpus) -> tuple[str, ...]:
        """The exact models."""
        embedder = self._embedder()
        return (
            f"model:{self.opened().revision}",
            *(() if embedder is None else (f"embeddings:{embedder.revision}",)),
        )


@metric
class Harper(Metric):
    """Errors that the rule-based checker Harper reports before and after, per sentence.

    The score is (before - after) / sentences. Harper knows English spelling and a set of
    grammar rules; what has no rule is not an error to it, and a text that says less has fewer.
    A sentence that was emptied keeps its errors: deleting it corrects nothing. ``tokenized``
    takes out the blanks that tokenisation puts before punctuation.
    """

    name: ClassVar[str] = "harper"
    needs_references: ClassVar[bool] = False

    dialect: str = "american"
    tokenized: bool = True

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("before", "after", "sentences")

    @property
    def headline(self) -> str:
        return "errors removed"

    def _opened(self) -> Memo:
        from errata.models.harper import open_harper

        return open_harper(self.dialect, self.tokenized)

    def prepare(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> None:
        """Check every distinct sentence once, all systems together."""
        self._opened().rows(_distinct(corpus, *systems), progress)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """``[sentence, 1, (before, after, 1)]``."""
        checker = self._opened()
        sources, outputs = _stripped(corpus.sources), _stripped(hypotheses.sentences)
        before, after = checker.rows(sources)[:, 0], checker.rows(outputs)[:, 0]
        emptied = np.array([not output for output in outputs], bool)
        columns = before, np.where(emptied, before, after), np.ones(len(corpus))
        return np.stack(columns, axis=-1)[:, None, :]

    def score(self, totals: Floats) -> Floats:
        """(before - after) / sentences."""
        return ratio(totals[..., 0] - totals[..., 1], totals[..., 2], 0.0)

    def parts(self, totals: Floats) -> dict[str, Floats]:
        """Errors before and after."""
        return {"before": totals[..., 0], "after": totals[..., 1]}

    def context(self, corpus: Corpus) -> tuple[str, ...]:
        """The version of the checker."""
        return (f"checker:{self._opened().revision}",)


def _stripped(sentences: Sequence[str]) -> list[str]:
    return [sentence.rstrip() for sentence in sentences]


def _distinct(corpus: Corpus, *systems: Hypotheses) -> list[str]:
    texts = [*corpus.sources, *(s for hypotheses in systems for s in hypotheses.sentences)]
    return list(dict.fromkeys(_stripped(texts)))
