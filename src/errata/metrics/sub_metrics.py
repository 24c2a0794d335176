"""SOME: grammaticality, fluency and meaning, each by a model that was trained on ratings of it.

Yoshimura, Kaneko, Kajiwara & Komachi 2020, "SOME: Reference-less sub-metrics optimized for manual
evaluations of grammatical error correction" (COLING).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import field
from pathlib import Path

import numpy as np

from errata.core.cache import BlobCache, folder_digest
from errata.core.errors import InputError
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, ratio
from errata.data import Corpus, Hypotheses
from errata.io.judgments.sheets import HIGHEST, LOWEST
from errata.metrics.base import Description, MetricFacts, by_name, fixed_point, metric, stack_counts
from errata.metrics.encoder_metric import (
    EncoderRequest,
    ReferenceFreeMetric,
    lines_of,
    output_lengths,
)
from errata.models import CachedModel, default_cache
from errata.models.cards import CARD_JSON, read_model_card
from errata.models.checkpoint import has_tokenizer, locate
from errata.models.encoder import join_pair, open_regressor

# The folders of the models, in the authors' spelling, by the figure they give.
HEADS = {"G": "grammer", "F": "fluency", "M": "meaning"}
WEIGHTS = (0.55, 0.43, 0.02)  # in that order, as the authors tuned them


def from_scale(rating: Floats) -> Floats:
    """Ratings on the scale from 1 to 4, brought to 0 to 1; what lies outside stays outside.

    >>> from_scale(np.array([1.0, 2.5, 4.3])).round(2).tolist()
    [0.0, 0.5, 1.1]
    """
    return (rating - LOWEST) / (HIGHEST - LOWEST)


def normalised_weights(
    heads: Collection[str], weights: Sequence[float] = WEIGHTS
) -> tuple[float, ...]:
    """The weights where only these models are there: in the same proportion, 1 together.

    >>> normalised_weights(["grammer", "fluency"])
    (0.56, 0.44, 0.0)
    """
    kept = [w * (head in heads) for head, w in zip(HEADS.values(), weights, strict=True)]
    return tuple(round(w / (sum(kept) or 1), 2) for w in kept)


@metric
class SOME(ReferenceFreeMetric):
    """``.55 G + .43 F + .02 M``, the mean over sentences, of three regressors.

    Each is a model with one output, trained on people's ratings from 1 to 4; ``(y - 1) / 3`` brings
    them to 0 to 1 and nothing is clipped. Grammaticality and fluency read the output alone, meaning
    the pair of source and output. ``models`` is a folder that holds the folders ``grammer`` (so in
    the authors' zip, gfm-models), ``fluency`` and ``meaning``; ``errata train some`` writes one.
    ``weights`` are those that the authors tuned on the judgments of Grundkiewicz et al. (2015); a
    model with weight 0 is not needed. Folders without a tokenizer take that of ``fluency``, or the
    one of ``tokenizer``. Texts are cut at ``max_length`` tokens, as the authors do, and notes say
    how many were. ``characters``, the mean length of an output, stands beside the figures: a
    learned metric that only follows it has learnt nothing.
    """

    name = "some"
    about = About(
        paper="Yoshimura et al. 2020",
        range="about 0 to 1",
        needs=("three trained models", "errata-gec[lm]"),
        amounts=("characters",),
    )
    headline = "SOME"

    models: str = "gfm-models"
    weights: tuple[float, ...] = WEIGHTS
    tokenizer: str = ""
    max_length: int = 128
    dtype: str = "float32"
    device: str = field(default="auto", compare=False)
    batch_size: int = field(default=32, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers = [w for w in self.weights if isinstance(w, int | float) and math.isfinite(w)]
        if len(self.weights) != 3 or len(numbers) != 3 or min(numbers) < 0 or not any(numbers):
            raise InputError(
                f"some: weights={self.weights} are not three weights",
                remedy="give weights of grammaticality, fluency and meaning, as (0.55, 0.43, 0.02)",
            )
        object.__setattr__(self, "weights", tuple(map(float, numbers)))

    @property
    def _weighted_figures(self) -> dict[str, float]:
        """The figures that have a weight."""
        return {part: w for part, w in zip(HEADS, self.weights, strict=True) if w}

    @property
    def statistics(self) -> tuple[str, ...]:
        """The sums of the figures that have a weight, of characters, and of sentences."""
        return (*self._weighted_figures, "characters", "sentences")

    @property
    def _models_folder(self) -> Path:
        return locate(self.models)

    def open_model(self, part: str) -> CachedModel:
        """The model of a figure (G, F or M), with its cache."""
        folder = self._models_folder / HEADS[part]
        if not folder.is_dir():
            wanted = " and ".join(f"FOLDER/{HEADS[each]}" for each in self._weighted_figures)
            there = {head for head in HEADS.values() if (self._models_folder / head).is_dir()}
            left = normalised_weights(there, self.weights)
            without = f", or leave out missing ones: weights={left}" if any(left) else ""
            raise InputError(
                f"there is no folder {folder.name} with a trained model",
                path=self.models,
                remedy=f"some(models=FOLDER) reads {wanted}: train them with errata "
                f"train some, or unpack the authors' gfm-models.zip{without}",
            )
        tokenizer = self.tokenizer
        fluency = self._models_folder / HEADS["F"]
        if not tokenizer and not has_tokenizer(folder) and has_tokenizer(fluency):
            tokenizer = str(fluency)
        return open_regressor(
            str(folder), self._run_options(), tokenizer=tokenizer, max_length=self.max_length
        )

    def requests(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> list[EncoderRequest]:
        """Outputs for G and F, pairs of source and output for M."""
        sources = lines_of(corpus.sources)
        asked = []
        for part in self._weighted_figures:
            texts = [
                join_pair(source, output) if part == "M" else output
                for hypotheses in systems
                for source, output in zip(sources, lines_of(hypotheses.sentences), strict=True)
            ]
            asked.append(EncoderRequest(part, self.open_model(part), list(dict.fromkeys(texts))))
        return asked

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """``[sentence, 1, k]``; see `statistics`."""
        sources, outputs = lines_of(corpus.sources), lines_of(hypotheses.sentences)
        pairs = [join_pair(*both) for both in zip(sources, outputs, strict=True)]
        figures: dict[str, Floats] = {
            part: fixed_point(
                from_scale(self.open_model(part).rows(pairs if part == "M" else outputs)[:, 0])
            )
            for part in self._weighted_figures
        }
        figures["characters"] = output_lengths(outputs)
        figures["sentences"] = np.ones(len(corpus))
        return stack_counts(self.statistics, figures)

    def score(self, totals: Floats) -> Floats:
        """The weighted sum of the figures, per sentence."""
        sums = by_name(self.statistics, totals)
        total = sum(weight * sums[part] for part, weight in self._weighted_figures.items())
        return ratio(total, sums["sentences"], 0.0)

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """The means of the figures, and of the length of an output in characters."""
        sums = by_name(self.statistics, totals)
        return {
            part: ratio(sums[part], sums["sentences"], 0.0)
            for part in (*self._weighted_figures, "characters")
        }

    def describe(self, facts: MetricFacts) -> Description:
        """What every encoder metric describes, and the card of the training where there is one."""
        context, notes = super().describe(facts)
        path, card = self._models_folder / CARD_JSON, read_model_card(self._models_folder)
        if path.is_file():
            digest = folder_digest(path, BlobCache(default_cache().path))
            context += (f"card:sha256-{digest[:16]}",)
        return Description(context, notes if card is None else (*notes, *card.facts))
