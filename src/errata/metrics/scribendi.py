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
from dataclasses import field, replace
from typing import Any, Literal, Self

import numpy as np
from rapidfuzz import fuzz, utils
from rapidfuzz.distance import Indel

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
    metric,
    to_int,
)
from errata.models import CachedModel, Options, open_model, perplexity, warn_of_foreign

Rounding = Literal["none", "fuzzywuzzy"]
PERPLEXITIES = {"mean": "token", "sum": "sentence"}
OUTCOMES = ("improved", "unchanged", "worsened", "strayed")


def token_sort_ratio(source: str, hypothesis: str, rounding: Rounding = "none") -> float:
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
    strayed (-1: too far from the source); then, for the sentence view (``level="sentence"``),
    TSR, LDR, whether both perplexities are finite, and the logarithms of those.
    """

    name = "scribendi"
    about = About(
        paper="Islam & Magnani 2021",
        range="from -n to n, for n sentences",
        needs=("a language model", "errata-gec[lm] or errata-gec[trigram]"),
    )
    columns = "none"

    model: str = "gpt2"  # Islam & Magnani 2021, section 4: GPT-2 without fine-tuning
    revision: str = ""
    dtype: str = "float32"
    device: str = field(default="auto", compare=False)
    batch_size: int = field(default=32, compare=False)
    perplexity: Literal["mean", "sum"] = "mean"
    threshold: float = 0.8  # section 4.2, "chosen empirically"
    rounding: Rounding = "none"
    total: Literal["sum", "mean"] = "sum"
    level: Literal["corpus", "sentence"] = "corpus"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.threshold <= 1:
            raise InputError(f"scribendi: threshold={self.threshold} should lie in 0..1")

    @property
    def statistics(self) -> tuple[str, ...]:
        """What became of the sentences, and what the sentence view shows."""
        return (*OUTCOMES, "TSR", "LDR", "finite", "ln PPL source", "ln PPL hypothesis")

    @property
    def headline(self) -> str:
        """What `score` returns."""
        return "Scribendi" if self.total == "sum" else "mean Scribendi"

    @property
    def for_sentences(self) -> Self:
        """With perplexities and likeness beside the score."""
        return replace(self, level="sentence")

    def open_model(self) -> CachedModel:
        """The language model, with its cache."""
        options = Options(self.revision, self.dtype, self.device, self.batch_size)
        return open_model(self.model, options)

    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Every distinct sentence that changed goes to the model once, all systems together."""
        needed: dict[str, None] = {}
        for hypotheses in systems:
            needed.update(dict.fromkeys(_scored_sentences(corpus, hypotheses)))
        model = self.open_model()
        rows = dict(zip(needed, model.rows(list(needed), progress), strict=True))
        sources = [s for source in corpus.sources if (s := source.rstrip()) in needed]
        warn_of_foreign(self.model, sources, [rows[source] for source in sources])
        return count_each(self.count, corpus, systems, threads=threads, progress=progress)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """``[sentence, 1, k]``; see the class for the statistics."""
        texts = _scored_sentences(corpus, hypotheses)
        rows = self.open_model().rows(texts)
        measured = perplexity(rows, PERPLEXITIES[self.perplexity]).tolist()
        values = dict(zip(texts, measured, strict=True))
        counts = np.zeros((len(corpus), 1, len(self.statistics)))
        column = by_name(self.statistics, counts[:, 0])
        for i, (source, hypothesis) in enumerate(_sentence_pairs(corpus, hypotheses)):
            tsr = token_sort_ratio(source, hypothesis, self.rounding)
            ldr = levenshtein_distance_ratio(source, hypothesis)
            column["TSR"][i], column["LDR"][i] = tsr, ldr
            if source == hypothesis:
                column["unchanged"][i] = 1
                continue
            before, after = values[source], values[hypothesis]
            if before <= after:
                column["worsened"][i] = 1
            else:
                column["improved" if max(tsr, ldr) >= self.threshold else "strayed"][i] = 1
            if np.isfinite(before) and np.isfinite(after):
                scale = np.log if self.perplexity == "mean" else float
                column["finite"][i] = 1
                column["ln PPL source"][i] = scale(before)
                column["ln PPL hypothesis"][i] = scale(after)
        return counts

    def score(self, totals: Floats) -> Floats:
        """Improved minus worsened and strayed sentences, as a sum or per sentence."""
        result, n = self._verdict_sums(totals)
        return result if self.total == "sum" else ratio(result, n, 0.0)

    def _verdict_sums(self, totals: Floats) -> tuple[Floats, Floats]:
        """The sum of all verdicts, and of how many sentences."""
        improved, unchanged, worsened, strayed = (
            by_name(self.statistics, totals)[fate] for fate in OUTCOMES
        )
        result = np.asarray(improved - worsened - strayed, np.float64)
        return result, improved + unchanged + worsened + strayed

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """The other total and how many sentences had which fate; of a single sentence, why.

        That is perplexities and their change (where both were computed), TSR and LDR.
        """
        figures = by_name(self.statistics, totals)
        if self.level == "corpus":
            result, n = self._verdict_sums(totals)
            other = {"mean": ratio(result, n, 0.0)} if self.total == "sum" else {"sum": result}
            return {**other, **{fate: to_int(figures[fate]) for fate in OUTCOMES}}
        scale: Any = np.exp if self.perplexity == "mean" else np.asarray
        unit = "PPL" if self.perplexity == "mean" else "-ln P"
        before, after = (
            np.where(figures["finite"] > 0, scale(figures[f"ln PPL {side}"]), np.nan)
            for side in ("source", "hypothesis")
        )
        return {
            f"{unit} source": before,
            f"{unit} hypothesis": after,
            "change": after - before,
            "TSR": figures["TSR"],
            "LDR": figures["LDR"],
        }

    def describe(self, facts: MetricFacts) -> Description:
        """The exact model."""
        return Description((f"model:{self.open_model().revision}",))


def _sentence_pairs(corpus: Corpus, hypotheses: Hypotheses) -> list[tuple[str, str]]:
    return [
        (source.rstrip(), hypothesis.rstrip())
        for source, hypothesis in zip(corpus.sources, hypotheses.sentences, strict=True)
    ]


def _scored_sentences(corpus: Corpus, hypotheses: Hypotheses) -> list[str]:
    """The sentences whose perplexity decides, each once: of changed pairs, both sides."""
    return list(
        dict.fromkeys(
            text
            for pair in _sentence_pairs(corpus, hypotheses)
            if pair[0] != pair[1]
            for text in pair
        )
    )
