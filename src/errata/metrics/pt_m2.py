"""PT-M2: M2 in which an edit counts as much as it brings the sentence nearer to the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Self

from errata.data import Corpus, Hypotheses
from errata.metrics.base import metric
from errata.metrics.m2 import M2
from errata.metrics.m2.matching import gold_references, proposals
from errata.metrics.weighed_edits import Sides, Total, WeighedEdits, of_fields
from errata.numbers import Progress
from errata.parameters import About

__all__ = ["PTM2"]


@metric
class PTM2(WeighedEdits):
    """F of M2's edits with weights from a pretrained model (Gong et al. 2022), as pygongnlp/PT-M2.

    An edit e beside an annotator whose corrected sentence is R weighs::

        w(e) = |F(S with e alone, R) - F(S, R)|        F: BERTScore, without idf

    and ``P = w(correct) / w(proposed)``, ``R = w(correct) / w(gold)``, sums of weights in place of
    numbers of edits. Proposed edits are those of `M2` beside that annotator; a gold edit that was
    met weighs as the edit that met it, so that a perfect output reaches 1 whichever of several
    corrections it has.

    ``total="mean"``, the authors' recommended ``sentm2``: the mean of the sentences' F, each with
    the annotator best for it; ``"sum"`` is F of the sums. ``zeros``: where all edits of a
    sentence weigh nothing (an uncased model sees no change of case) each of k weighs 1/k
    (``"shared"``, as in the authors' sentence variant; otherwise a wrong edit would go unseen) or
    0 (``"kept"``: P and R are 1); it concerns ``total="mean"`` only. ``model`` and ``layer``: see
    `errata.models.bertscore`. ``rescale`` takes off BERTScore's baseline as the authors do: all
    weights grow by one factor, which P, R and F do not show; so models without a baseline do as
    well. The other fields are those of `M2`. Weights below 0.00001 are 0.
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
    def single(self) -> Self:
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
