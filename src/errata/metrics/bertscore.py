"""BERTScore of outputs and references (Zhang et al. 2020); see `errata.models.encoder`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Literal

import numpy as np

from errata.core.errors import InputError
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, ratio
from errata.data import Corpus, Hypotheses
from errata.metrics.base import by_name, fixed_point, metric, stack_counts
from errata.metrics.encoder_metric import EncoderMetric, EncoderRequest
from errata.metrics.ngrams import check_references, corrections_by_sentence
from errata.models import CachedModel
from errata.models.encoder import join_pair, open_bertscore


@metric
class BERTScore(EncoderMetric):
    """The mean over sentences of BERTScore P, R or F (``measure``), no idf.

    Of several references, P, R and F each take the best, which need not be the same one. ``model``
    is ``bert-base-uncased``, ``roberta-large``, ``minilm`` (from a wheel) or any other encoder, for
    which ``layer`` must be given. ``rescale`` gives (x - b) / (1 - b), with
    the authors' baseline b of the model and layer: it spreads the scores and changes no order.
    Both sides are read without the blanks around them; an empty one gets 0. A system that changes
    nothing scores high, since most words are right.
    """

    name = "bertscore"
    about = About(
        paper="Zhang et al. 2020",
        range="up to 1",
        needs=("references", "an encoder", "errata-gec[lm]"),
    )
    columns = "readings"

    model: str = "bert-base-uncased"
    layer: int | None = None
    measure: Literal["P", "R", "F"] = "F"
    rescale: bool = False
    tokenizer: str = ""
    max_length: int = 512
    revision: str = ""
    dtype: str = "float32"
    device: str = field(default="auto", compare=False)
    batch_size: int = field(default=32, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layer is not None and (type(self.layer) is not int or self.layer < 1):
            raise InputError(f"bertscore: layer={self.layer!r} should be 1 or more")

    @property
    def statistics(self) -> tuple[str, ...]:
        """The sums of P, R and F, and of sentences."""
        return ("P", "R", "F", "sentences")

    @property
    def headline(self) -> str:
        """What `score` returns."""
        return f"BERTScore {self.measure}"

    def open_model(self) -> CachedModel:
        """The model, with its cache."""
        return open_bertscore(
            self.model,
            self._run_options(self.revision),
            layer=self.layer,
            rescale=self.rescale,
            tokenizer=self.tokenizer,
            max_length=self.max_length,
        )

    def requests(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> list[EncoderRequest]:
        """Return pairs of output and reference, grouped by sentence: they share texts."""
        outputs = [hypotheses.sentences for hypotheses in systems]
        pairs = dict.fromkeys(
            join_pair(output, reference)
            for references, *several in zip(corrections_by_sentence(corpus), *outputs, strict=True)
            for output in several
            for reference in references
        )
        return [EncoderRequest("model", self.open_model(), list(pairs))]

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """``[sentence, 1, k]``; see `statistics`."""
        first = check_references(corpus)
        pairs = [
            join_pair(output, reference)
            for references, output in zip(
                corrections_by_sentence(corpus), hypotheses.sentences, strict=True
            )
            for reference in references
        ]
        rows = self.open_model().rows(pairs)[:, :3]
        best = np.maximum.reduceat(rows, first[:-1]) if len(corpus) else rows
        figures = dict(zip("PRF", fixed_point(best).T, strict=True))
        return stack_counts(self.statistics, {**figures, "sentences": np.ones(len(corpus))})

    def score(self, totals: Floats) -> Floats:
        """The mean of the measure."""
        return self._means(totals)[self.measure]

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """The means of P, R and F that are not the score."""
        return {name: v for name, v in self._means(totals).items() if name != self.measure}

    def _means(self, totals: Floats) -> dict[str, Floats]:
        sums = by_name(self.statistics, totals)
        return {name: ratio(sums[name], sums["sentences"], 0.0) for name in "PRF"}
