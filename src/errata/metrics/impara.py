"""IMPARA: a model that learnt which of two corrections does more, behind a gate of similarity.

Maeda, Kaneko & Okazaki 2022, "IMPARA: Impact-based metric for GEC using parallel data" (COLING);
Sakai et al. 2025 for IMPARA-GED.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import field
from typing import Literal

import numpy as np

from errata.core.errors import InputError
from errata.core.parameters import About
from errata.core.stats import Bools, Floats, Ints, ratio
from errata.data import Corpus, Hypotheses
from errata.metrics.base import Description, MetricFacts, by_name, fixed_point, metric, stack_counts
from errata.metrics.encoder_metric import (
    EncoderRequest,
    ReferenceFreeMetric,
    lines_of,
    output_lengths,
)
from errata.models import CachedModel
from errata.models.cards import ModelCard, read_model_card
from errata.models.checkpoint import locate
from errata.models.encoder import open_encoder, open_regressor

ENCODER, THRESHOLD = "bert-base-cased", 0.9  # Maeda et al. 2022, section 3.3


def logistic(values: Floats) -> Floats:
    """``1 / (1 + exp(-x))``, without overflow.

    >>> logistic(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    small = np.exp(-np.abs(values))
    return np.asarray(np.where(values >= 0, 1.0, small) / (1 + small))


def cosines(first: Floats, second: Floats) -> Floats:
    """The cosine of each row of one matrix with that of the other; 0 where a row is 0.

    >>> cosines(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 1.0], [1.0, 1.0]])).round(3)
    array([0.707, 0.   ])
    """
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return ratio(np.einsum("id,id->i", first, second), lengths, 0.0)


def _base_name(model: str) -> str:
    """The last part of a name on the hub, or of a folder."""
    return re.split(r"[/\\]", model.rstrip("/\\"))[-1]


@metric
class IMPARA(ReferenceFreeMetric):
    """``σ(R(output))`` where source and output are alike, else 0; the mean over sentences.

    R is a model with one output that reads the output alone, trained to put the better of two
    corrections above the other: ``model``, the public reimplementation's by default (the authors
    published none). Alike are sentences whose vectors (the mean of the last layer of ``similarity``
    over all tokens) have a cosine ``>`` ``threshold``, as the reimplementation has it; ``gate`` may
    be ``'>='``, as gec-metrics has it, or ``'none'``, which is IMPARA-GED with the right ``model``.
    An output that is its source is alike by definition.
    ``output='logit'`` leaves σ out (a gated sentence gets 0 anyway): the scores that
    SEEDA printed must be such. ``gated`` is the share of sentences that the gate gave 0: they are
    ties. ``characters``, the mean length of an output, is what a learned metric must beat.
    """

    name = "impara"
    about = About(
        paper="Maeda et al. 2022",
        range="from 0 to 1, or any (logit)",
        needs=("a trained model", "an encoder", "errata-gec[lm]"),
        amounts=("characters",),
    )

    model: str = "gotutiyan/IMPARA-QE"
    similarity: str = ENCODER
    threshold: float = THRESHOLD
    gate: Literal[">", ">=", "none"] = ">"
    output: Literal["probability", "logit"] = "probability"
    tokenizer: str = ""
    max_length: int = 128
    revision: str = ""
    dtype: str = "float32"
    device: str = field(default="auto", compare=False)
    batch_size: int = field(default=32, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not math.isfinite(self.threshold):
            raise InputError(
                f"impara: threshold={self.threshold} is no number", remedy="gate='none' opens it"
            )

    @property
    def statistics(self) -> tuple[str, ...]:
        """The sums of R behind the gate, of the cosines, of gated sentences, and of sentences."""
        return ("rated", "similarity", "gated", "characters", "sentences")

    @property
    def headline(self) -> str:
        """What `score` returns."""
        return "IMPARA" if self.output == "probability" else "mean R"

    def open_model(self) -> CachedModel:
        """The model R, with its cache."""
        return open_regressor(
            self.model,
            self._run_options(self.revision),
            tokenizer=self.tokenizer,
            max_length=self.max_length,
        )

    def _encoder(self) -> CachedModel:
        return open_encoder(self.similarity, self._run_options(), max_length=self.max_length)

    def requests(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> list[EncoderRequest]:
        """Outputs for R; for the similarity, both sides of sentences that were changed."""
        sources = lines_of(corpus.sources)
        outputs = [lines_of(hypotheses.sentences) for hypotheses in systems]
        texts = list(dict.fromkeys(text for each in outputs for text in each))
        asked = [EncoderRequest("model", self.open_model(), texts)]
        if self.gate != "none":
            changed = dict.fromkeys(
                text
                for each in outputs
                for pair in zip(sources, each, strict=True)
                if pair[0] != pair[1]
                for text in pair
            )
            asked.append(EncoderRequest("similarity", self._encoder(), list(changed)))
        return asked

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """``[sentence, 1, k]``; see `statistics`."""
        sources, outputs = lines_of(corpus.sources), lines_of(hypotheses.sentences)
        rated = self.open_model().rows(outputs)[:, 0]
        if self.output == "probability":
            rated = logistic(rated)
        alike = self._cosine_similarity(sources, outputs)
        gated = ~self._passes_gate(alike)
        return stack_counts(
            self.statistics,
            {
                "rated": np.where(gated, 0.0, fixed_point(rated)),
                "similarity": fixed_point(alike),
                "gated": gated,
                "characters": output_lengths(outputs),
                "sentences": np.ones(len(outputs)),
            },
        )

    def _cosine_similarity(self, sources: Sequence[str], outputs: Sequence[str]) -> Floats:
        alike = np.ones(len(outputs))
        changed = [
            i for i, pair in enumerate(zip(sources, outputs, strict=True)) if len({*pair}) > 1
        ]
        if self.gate != "none" and changed:
            encoder = self._encoder()
            before, after = (
                encoder.rows([texts[i] for i in changed])[:, :-1] for texts in (sources, outputs)
            )
            alike[changed] = cosines(before, after)
        return alike

    def _passes_gate(self, alike: Floats) -> Bools:
        if self.gate == "none":
            return np.ones(alike.shape, bool)
        passed: Bools = alike > self.threshold if self.gate == ">" else alike >= self.threshold
        return passed

    def score(self, totals: Floats) -> Floats:
        """The mean of what passed the gate, over all sentences."""
        sums = by_name(self.statistics, totals)
        return ratio(sums["rated"], sums["sentences"], 0.0)

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """The share of gated sentences and the mean cosine; the mean length of an output."""
        sums = by_name(self.statistics, totals)
        shown = ("characters",) if self.gate == "none" else ("gated", "similarity", "characters")
        return {name: ratio(sums[name], sums["sentences"], 0.0) for name in shown}

    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        """What every encoder metric knows; how many outputs a gate for another encoder stopped."""
        found = super().facts(corpus, systems)
        if not self._has_foreign_threshold:
            return found
        sources = lines_of(corpus.sources)
        alike = [self._cosine_similarity(sources, lines_of(each.sentences)) for each in systems]
        gated = sum(int((~self._passes_gate(each)).sum()) for each in alike)
        return {**found, "gated": gated, "outputs": sum(map(len, alike))}

    def describe(self, facts: MetricFacts) -> Description:
        """What was cut, what the card says, and a threshold that was set for another encoder."""
        context, notes = super().describe(facts)
        card = read_model_card(locate(self.model))
        notes = notes if card is None else (*notes, *card.facts)
        if not self._has_foreign_threshold:
            return Description(context, notes)
        note = (
            f"threshold {THRESHOLD:g} was set for {ENCODER}, not for "
            f"{_base_name(self.similarity)}: it gave 0 to {facts['gated']:,} of "
            f"{facts['outputs']:,} outputs; "
        )
        if card is None or card.gate is None or not self._reads_like(card):
            note += "gate=none lets all pass"
        else:
            note += (
                f"threshold={card.gate.threshold:g} keeps {card.gate.kept:.1%} of "
                f"{card.gate.rows:,} corrections with it (the model's card)"
            )
        return Description(context, (*notes, note))

    @property
    def _has_foreign_threshold(self) -> bool:
        """Whether the gate has the default threshold, but not the encoder it was set for."""
        usual = self.gate != "none" and self.threshold == THRESHOLD
        return usual and _base_name(self.similarity) != ENCODER

    def _reads_like(self, card: ModelCard) -> bool:
        """Whether the card speaks of the encoder that the gate uses."""
        own, other = (
            text.partition(" dtype:")[0] for text in (self._encoder().revision, card.encoder)
        )
        return own == other
