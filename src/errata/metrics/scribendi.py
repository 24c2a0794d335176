"""The Scribendi Score: did the sentence get more fluent, and is it still the same sentence?

Islam & Magnani 2021, "Is this the end of the gold standard? A straightforward reference-less
grammatical error correction metric" (EMNLP). For a source s and a hypothesis h:

    0   if h = s
    -1  if PPL(s) <= PPL(h)
    +1  if max(TSR(s, h), LDR(s, h)) >= 0.8
    -1  otherwise

and a system's score is the sum over sentences. PPL is the perplexity of a language model; TSR the
token sort ratio; LDR = 1 - LD / (|s| + |h|) over characters, with substitutions at cost 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from rapidfuzz import fuzz, utils
from rapidfuzz.distance import Indel

from errata.data import Corpus, Hypotheses
from errata.errors import InputError
from errata.metrics.base import Metric, metric
from errata.models import Memo, Options, open_model, perplexity
from errata.numbers import Floats, Progress, ratio

__all__ = ["Scribendi", "levenshtein_distance_ratio", "token_sort_ratio"]

PERPLEXITIES = {"mean": "token", "sum": "sentence"}


def token_sort_ratio(source: str, hypothesis: str, rounding: str = "none") -> float:
    """TSR: the similarity of the two sentences' sorted words, 0 to 1.

    Lower-cased, everything but letters and digits made blank, words sorted, then LDR: this gives
    the figures printed in the paper. ``rounding='fuzzywuzzy'`` rounds to whole per cent as that
    library does, so that 79.5 % passes a threshold of 80 %. Without any letter or digit in both
    sentences the ratio is 1.

    >>> round(token_sort_ratio("We can not let it go.", "We cannot let it go."), 4)
    0.8205
    """
    value: float = fuzz.token_sort_ratio(source, hypothesis, processor=utils.default_process)
    return round(value) / 100 if rounding == "fuzzywuzzy" else value / 100


def levenshtein_distance_ratio(source: str, hypothesis: str) -> float:
    """LDR: 1 - LD / (|s| + |h|) over characters, a substitution costing 2.

    >>> round(levenshtein_distance_ratio("We can not let it go .", "We cannot let it go ."), 4)
    0.9767
    """
    return Indel.normalized_similarity(source, hypothesis)


@metric
class Scribendi(Metric):
    """+1, 0 or -1 per sentence, by perplexity and likeness to the source.

    ``model`` is ``gpt2`` as in the paper, or any other of `errata.models.open_model`.
    ``perplexity`` is the paper's mean over tokens, or ``sum``: the log-probability of the whole
    sentence, which does not prefer texts that fall into more tokens (``can not`` over ``cannot``).
    ``rounding`` see `token_sort_ratio`. ``total`` is the paper's sum, or the mean over sentences,
    which can be compared between test sets. Perplexities are computed for changed sentences only,
    and an empty one is infinite: emptying a sentence, or filling an empty one, is -1. White space
    at the end of a sentence is no part of it (the public reimplementations read with ``rstrip``).

    Statistics: sentences improved (+1), unchanged (0), worsened (-1: no lower perplexity) and
    strayed (-1: too far from the source); then, for the sentence view, TSR, LDR, whether
    both perplexities are finite, and the logarithms of those.
    """

    name: ClassVar[str] = "scribendi"
    needs_references: ClassVar[bool] = False

    model: str = "gpt2"  # Islam & Magnani 2021, section 4: GPT-2 without fine-tuning
    revision: str = ""
    dtype: str = "float32"
    device: str = "auto"
    batch_size: int = 32
    perplexity: str = "mean"
    threshold: float = 0.8  # section 4.2, "chosen empirically"
    rounding: str = "none"
    total: str = "sum"

    def __post_init__(self) -> None:
        self._check_choice("perplexity", tuple(PERPLEXITIES))
        self._check_choice("rounding", ("none", "fuzzywuzzy"))
        self._check_choice("total", ("sum", "mean"))
        if not 0 <= self.threshold <= 1:
            raise InputError(f"scribendi: threshold={self.threshold} should lie in 0..1")

    @property
    def statistics(self) -> tuple[str, ...]:
        return (
            "improved",
            "unchanged",
            "worsened",
            "strayed",
            "TSR",
            "LDR",
            "finite",
            "ln PPL source",
            "ln PPL hypothesis",
        )

    @property
    def headline(self) -> str:
        return "Scribendi" if self.total == "sum" else "mean Scribendi"

    def opened(self) -> Memo:
        """The language model, with its cache."""
        return open_model(
            self.model, Options(self.revision, self.dtype, self.device, self.batch_size)
        )

    def prepare(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> None:
        """Give every distinct sentence that changed to the model once, all systems together."""
        needed: dict[str, None] = {}
        for hypotheses in systems:
            needed.update(dict.fromkeys(_changed(corpus, hypotheses)))
        self.opened().rows(list(needed), progress)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """``[sentence, 1, k]``; see the class for the statistics."""
        texts = _changed(corpus, hypotheses)
        values = dict(
            zip(
                texts,
                perplexity(self.opened().rows(texts), PERPLEXITIES[self.perplexity]).tolist(),
                strict=True,
            )
        )
        counts = np.zeros((len(corpus), 1, len(self.statistics)))
        for i, (source, hypothesis) in enumerate(_pairs(corpus, hypotheses)):
            tsr = token_sort_ratio(source, hypothesis, self.rounding)
            ldr = levenshtein_distance_ratio(source, hypothesis)
            counts[i, 0, 4:6] = tsr, ldr
            if source == hypothesis:
                counts[i, 0, 1] = 1
                continue
            before, after = values[source], values[hypothesis]
            if before <= after:
                counts[i, 0, 2] = 1
            else:
                counts[i, 0, 0 if max(tsr, ldr) >= self.threshold else 3] = 1
            if np.isfinite(before) and np.isfinite(after):
                scale = np.log if self.perplexity == "mean" else float
                counts[i, 0, 6:] = 1, scale(before), scale(after)
        return counts

    def score(self, totals: Floats) -> Floats:
        """Improved minus worsened and strayed sentences, as a sum or per sentence."""
        improved, unchanged, worsened, strayed = np.moveaxis(totals[..., :4], -1, 0)
        result = improved - worsened - strayed
        if self.total == "sum":
            return np.asarray(result, np.float64)
        return ratio(result, improved + unchanged + worsened + strayed, 0.0)

    def parts(self, totals: Floats) -> dict[str, Floats]:
        """The other total, and how many sentences had which fate."""
        n = totals[..., :4].sum(-1)
        result = totals[..., 0] - totals[..., 2] - totals[..., 3]
        other = {"mean": ratio(result, n, 0.0)} if self.total == "sum" else {"sum": result}
        return other | {name: totals[..., k] for k, name in enumerate(self.statistics[:4])}

    def sentence_parts(self, picked: Floats) -> dict[str, Floats]:
        """Perplexities and their change (where both were computed), TSR and LDR."""
        finite = picked[..., 6] > 0
        scale: Any = np.exp if self.perplexity == "mean" else np.asarray
        unit = "PPL" if self.perplexity == "mean" else "-ln P"
        before, after = (np.where(finite, scale(picked[..., k]), np.nan) for k in (7, 8))
        return {
            f"{unit} source": before,
            f"{unit} hypothesis": after,
            "change": after - before,
            "TSR": picked[..., 4],
            "LDR": picked[..., 5],
        }

    def context(self, corpus: Corpus) -> tuple[str, ...]:
        """The exact model."""
        return (f"model:{self.opened().revision}",)


def _pairs(corpus: Corpus, hypotheses: Hypotheses) -> list[tuple[str, str]]:
    return [
        (source.rstrip(), hypothesis.rstrip())
        for source, hypothesis in zip(corpus.sources, hypotheses.sentences, strict=True)
    ]


def _changed(corpus: Corpus, hypotheses: Hypotheses) -> list[str]:
    """The sentences whose perplexity decides, each once: of changed pairs, both sides."""
    return list(
        dict.fromkeys(
            text for pair in _pairs(corpus, hypotheses) if pair[0] != pair[1] for text in pair
        )
    )
