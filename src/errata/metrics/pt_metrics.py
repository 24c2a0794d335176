"""PT-M2 and PT-ERRANT."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import field, fields, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np

from errata.core.parallel import parallel_map
from errata.core.parameters import About
from errata.core.stats import Floats, Ints, Progress
from errata.data import Corpus, Edit, Hypotheses
from errata.edits import GoldEditing, OutputEditing
from errata.edits.errant import open_extractor
from errata.metrics.base import (
    Before,
    Description,
    Metric,
    MetricFacts,
    Scope,
    append_score,
    check_beta,
    fixed_point,
    join_counts,
    metric,
)
from errata.metrics.encoder_metric import (
    WeightedChange,
    Weights,
    plain_text,
    reference_texts,
    text_windows,
    truncation_note,
    weigh,
)
from errata.metrics.errant import FN, FP, TP, Errant
from errata.metrics.m2 import M2
from errata.metrics.m2.matching import gold_references, proposals
from errata.models import CachedModel, Options

SCALE = 2.0**30  # weights are multiples of its inverse, so times this they are whole
Total = Literal["sum", "mean"]
M = TypeVar("M", bound=Metric)


class Sides(NamedTuple):
    """Edits of one sentence beside one reference, under the three statistics they count for."""

    first: Sequence[Edit]
    second: Sequence[Edit]
    third: Sequence[Edit]


# What the edits of a sentence make of it, beside one reference, by statistic.
SideChanges = tuple[tuple[WeightedChange, ...], ...]


@metric
class WeightedEdits(Metric):
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

    def open_model(self) -> CachedModel:
        """BERTScore, with its cache."""
        from errata.models.encoder import open_bertscore

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
        memo = self.open_model()
        gold, outputs = self.prepared(corpus, systems, progress)
        counted, cut, done = [], 0, 0
        for window, several in text_windows(gold, outputs):

            def matched(output: Hypotheses, window: Corpus = window) -> list[list[SideChanges]]:
                return _weigh_changes_of_sides(window, self.sides(window, output))

            found = parallel_map(matched, several, threads=threads)
            weights = weigh(memo, _by_sentence(found))
            counted.append([self._weighted_counts(each, weights) for each in found])
            cut, done = cut + weights.cut, done + len(window)
            if progress is not None:
                progress(done, len(corpus))
        self._cuts(corpus)[tuple(h.system for h in systems)] = cut
        return [join_counts(each) for each in zip(*counted, strict=True)]

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        """The weights of the edits of each sentence, by annotator."""
        return self.count_all(corpus, [hypotheses])[0]

    def _weighted_counts(self, changes: list[list[SideChanges]], weights: Weights) -> Floats:
        counts = np.full((len(changes), max([1, *map(len, changes)]), 3), np.nan)
        shared = self.zeros == "shared" and self.total == "mean"
        for i, several in enumerate(changes):
            for r, each in enumerate(several):
                counts[i, r] = _sum_weights(each, weights, shared=shared)
        if self.total == "sum":
            return counts
        own = fixed_point(self.plain("sum").score(np.nan_to_num(counts)))
        return append_score(counts, np.where(np.isnan(counts[..., 0]), np.nan, own))

    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        """The annotator of each sentence, as the metric without weights chooses."""
        scaled = counts * SCALE  # whole numbers with the same F
        if before is not None:
            before = Before(before.sentences, tuple(each * int(SCALE) for each in before.totals))
        return self.plain(self.total).choose(scaled, before)

    @property
    def scope(self) -> Scope:
        """That of the metric without weights."""
        return self.plain(self.total).scope

    def score(self, totals: Floats) -> Floats:
        """F of summed weights, or the mean of the sentences' F."""
        return self.plain(self.total).score(totals)

    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        """Precision, recall, and the weights behind them."""
        weights = {name: totals[..., k] for k, name in enumerate(self.statistics[:3])}
        return {**self.plain(self.total).figures(totals), **weights}

    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        """The facts of the metric without weights, and how many texts were too long."""
        cut = self._cuts(corpus).get(tuple(h.system for h in systems), 0)
        return {**self.plain(self.total).facts(corpus, systems), "cut": cut}

    def describe(self, facts: MetricFacts) -> Description:
        """What the metric without weights describes, the exact model, and texts it cut."""
        own = self.plain(self.total).describe(facts)
        context = (*own.context, f"model:{self.open_model().revision}")
        return Description(context, (*own.notes, *truncation_note(facts["cut"])))

    def _cuts(self, corpus: Corpus) -> dict[tuple[str, ...], int]:
        """How many texts were cut when these systems were counted."""
        return corpus.derived(("cut", self), dict)


def of_fields(cls: type[M], given: Metric, **others: Any) -> M:
    """A metric with those parameters that it has in common with another one."""
    own: Any = cls
    common = {f.name: getattr(given, f.name) for f in fields(own) if hasattr(given, f.name)}
    return cls(**{**common, **others})


def _weigh_changes_of_sides(window: Corpus, sides: list[list[Sides]]) -> list[list[SideChanges]]:
    """Edits as what they make of the sentence, beside the text of the reference."""
    texts = zip(window.sources, sides, reference_texts(window), strict=True)
    return [
        [
            tuple(_weighted_changes(source.split(), edits, reference) for edits in each)
            for each, reference in zip(several, references, strict=True)
        ]
        for source, several, references in texts
    ]


def _weighted_changes(
    tokens: Sequence[str], edits: Sequence[Edit], reference: str
) -> tuple[WeightedChange, ...]:
    before = plain_text(tokens)
    return tuple(WeightedChange(before, plain_text(tokens, [edit]), reference) for edit in edits)


def _by_sentence(found: list[list[list[SideChanges]]]) -> Iterable[WeightedChange]:
    """Return the changes of all systems, sentence by sentence: similar texts are neighbours."""
    return (
        change
        for of_sentence in zip(*found, strict=True)
        for references in of_sentence
        for sides in references
        for side in sides
        for change in side
    )


def _sum_weights(sides: SideChanges, weights: Weights, *, shared: bool) -> list[float]:
    """The weight of each side; ``shared`` gives edits that all weigh nothing 1 together."""
    every = {change: weights.of[change] for side in sides for change in side}
    if shared and every and not any(every.values()):
        every = dict.fromkeys(every, float(fixed_point(np.array(1 / len(every)))))
    return [sum(every[change] for change in side) for side in sides]


# ---- PT-ERRANT: ERRANT in which an edit counts as much as it brings the sentence to the
# reference.


@metric
class PTErrant(WeightedEdits):
    """F of ERRANT's edits with weights from a pretrained model (Gong et al. 2022).

    The weights are made as in `errata.metrics.pt_metrics.PTM2`, the edits as in
    `errata.metrics.errant.Errant`, found by ERRANT in output and gold alike, and TP, FP and FN are
    sums of weights. A gold edit that was met weighs as the edit that met it.

    ``total="mean"`` with ``zeros="shared"`` is the authors' ``senterrant``; ``total="sum"``, where
    edits without weight count for nothing, is what gec-metrics calls PT-ERRANT. ``duplicates``,
    ``alternatives``, ``gold``, ``extractor``, ``outputs`` and ``choice`` are as in `Errant`, the
    other fields as in `PTM2`.
    """

    name = "pt_errant"
    about = About(
        paper="Gong et al. 2022",
        range="from 0 to 1",
        needs=(
            "gold edits or references",
            "an encoder",
            "errata-gec[lm], errata-gec[errant] and a spaCy pipeline for English",
        ),
        amounts=("TP", "FP", "FN"),
    )

    gold: GoldEditing = "auto"  # type: ignore[assignment]  # settled when it is made
    extractor: str = "auto"
    outputs: OutputEditing = "alike"
    alternatives: Literal["literal", "any"] = "literal"
    duplicates: bool = False
    choice: Literal["sequential", "isolated"] = "sequential"

    def __post_init__(self) -> None:
        settled = Errant(gold=self.gold, extractor=self.extractor)
        object.__setattr__(self, "gold", settled.gold)
        object.__setattr__(self, "extractor", settled.extractor)
        super().__post_init__()

    def plain(self, total: Total) -> Errant:
        """Return ERRANT, or Errata's own extractor where ERRANT is not installed."""
        return of_fields(Errant, self, total=total)

    @property
    def label(self) -> str:
        """Return the name, with the parameters that differ from this machine's defaults."""
        usual = type(self)(extractor=self.extractor)
        changed = [
            f.name
            for f in fields(self)
            if f.compare and getattr(self, f.name) != getattr(usual, f.name)
        ]
        if self.extractor not in ("errant", open_extractor()):
            changed.append("extractor")
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in changed)
        return self.name + (f"({shown})" if shown else "")

    @property
    def for_sentences(self) -> Self:
        """With the annotator best for the sentence alone."""
        return replace(self, choice="isolated")

    def extracting(self, extractor: str) -> Self:
        """The same with the edits of all outputs found by this extractor."""
        plain = self.plain(self.total).extracting(extractor)
        return replace(self, gold=plain.gold, extractor=plain.extractor, outputs=plain.outputs)

    def prepared(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> tuple[Corpus, list[Hypotheses]]:
        """Return both with their edits; all systems are extracted together."""
        return self.plain(self.total).prepared(corpus, systems, progress)

    def sides(self, corpus: Corpus, hypotheses: Hypotheses) -> list[list[Sides]]:
        """Right, needless and missed edits."""
        matched = self.plain("sum").compare(corpus, hypotheses)
        mine, theirs = matched.output.table.every_edit, matched.gold.table.every_edit
        sides: list[tuple[list[Edit], ...]] = [([], [], []) for _ in corpus.edits.annotators]
        asked = matched.gold.edit.tolist()
        for r, made, edit in zip(
            matched.gold.row.tolist(), matched.met_by.tolist(), asked, strict=True
        ):
            if made >= 0:
                sides[r][TP].append(mine[matched.output.edit[made]])
            else:
                sides[r][FN].append(theirs[edit])
        for r, entry in zip(
            matched.needless_reference.tolist(), matched.needless.tolist(), strict=True
        ):
            sides[r][FP].append(mine[matched.output.edit[entry]])
        first = corpus.edits.reference_offsets.tolist()
        return [[Sides(*each) for each in sides[a:b]] for a, b in pairwise(first)]


# ---- PT-M2: M2 in which an edit counts as much as it brings the sentence nearer to the
# reference.


@metric
class PTM2(WeightedEdits):
    """F of M2's edits with weights from a pretrained model (Gong et al. 2022), as pygongnlp/PT-M2.

    An edit e beside an annotator whose corrected sentence is R weighs::

        w(e) = |F(S with e alone, R) - F(S, R)|        F: BERTScore, without idf

    and ``P = w(correct) / w(proposed)``, ``R = w(correct) / w(gold)``, sums of weights in place of
    numbers of edits. Proposed edits are found as in `M2` for that annotator; a gold edit that was
    met weighs as the edit that met it, so that a perfect output reaches 1 whichever of several
    corrections it has.

    ``total="mean"``, the authors' recommended ``sentm2``: the mean of the sentences' F, each with
    the annotator best for it; ``"sum"`` is F of the sums. ``zeros``: where all edits of a
    sentence weigh nothing (an uncased model sees no change of case) each of k weighs 1/k
    (``"shared"``, as in the authors' sentence variant; otherwise a wrong edit would go unseen) or
    0 (``"kept"``: P and R are 1); it concerns ``total="mean"`` only. ``model`` and ``layer``: see
    `errata.models.encoder`. ``rescale`` takes off BERTScore's baseline as the authors do: all
    weights grow by one factor, which P, R and F do not show; so models without a baseline do as
    well. The other fields mean the same as in `M2`. Weights below 0.00001 are 0.
    """

    name = "pt_m2"
    about = About(
        paper="Gong et al. 2022",
        range="from 0 to 1",
        needs=("gold edits", "an encoder", "errata-gec[lm]"),
        amounts=("correct", "proposed", "gold"),
    )

    max_unchanged: int = 2
    ignore_case: bool = False
    choice: Literal["sequential", "optimal", "isolated", "last"] = "sequential"
    sentences: Literal["isolated", "last"] = "isolated"
    duplicates: Literal["once", "official"] = "once"
    version: Literal["head", "3.2"] = "head"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.plain(self.total)

    def plain(self, total: Total) -> M2:
        """M2."""
        return of_fields(M2, self, total=total)

    @property
    def for_sentences(self) -> Self:
        """With the annotator that ``sentences`` says."""
        return replace(self, choice=self.sentences)

    def prepared(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> tuple[Corpus, list[Hypotheses]]:
        """Both as they are: edits are found when they are matched."""
        return corpus, list(systems)

    def sides(self, corpus: Corpus, hypotheses: Hypotheses) -> list[list[Sides]]:
        """Correct, proposed and gold edits."""
        gold, matched = self.plain("sum").matched(corpus, hypotheses)
        references = gold_references(corpus, gold)
        result = []
        for i, output in enumerate(hypotheses.sentences):
            words, beside = output.split(), []
            for r in range(*gold.first[i : i + 2].tolist()):
                proposed, met = proposals(words, gold, matched, r)
                correct = [proposed[e] for e in met if e >= 0]
                missed = [edit for edit, e in zip(references[r][1], met, strict=True) if e < 0]
                beside.append(Sides(correct, list(proposed.values()), [*correct, *missed]))
            result.append(beside)
        return result
