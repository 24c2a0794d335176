"""PT-ERRANT: ERRANT in which an edit counts as much as it brings the sentence to the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Literal, Self

from errata.data import Corpus, Hypotheses
from errata.edits import GoldEditing
from errata.edits.errant import found_extractor
from errata.edits.origins import OutputEditing
from errata.metrics.base import metric
from errata.metrics.errant import Errant
from errata.metrics.errant.tally import matched
from errata.metrics.weighed_edits import Sides, Total, WeighedEdits, of_fields
from errata.numbers import Progress
from errata.parameters import About

__all__ = ["PTErrant"]


@metric
class PTErrant(WeighedEdits):
    """F of ERRANT's edits with weights from a pretrained model (Gong et al. 2022).

    The weights are those of `errata.metrics.pt_m2.PTM2`; the edits are those of
    `errata.metrics.errant.Errant`, found by ERRANT in output and gold alike, and TP, FP and FN are
    sums of weights. A gold edit that was met weighs as the edit that met it.

    ``total="mean"`` with ``zeros="shared"`` is the authors' ``senterrant``; ``total="sum"``, where
    edits without weight count for nothing, is what gec-metrics calls PT-ERRANT. ``duplicates``,
    ``alternatives``, ``gold``, ``extractor``, ``outputs`` and ``choice`` are those of `Errant`, the
    other fields those of `PTM2`.
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
        """ERRANT, or what stands in for it where it is not installed."""
        return of_fields(Errant, self, total=total)

    @property
    def label(self) -> str:
        """The name, and what is not as usual on this machine."""
        usual = type(self)(extractor=self.extractor)
        changed = [
            f.name
            for f in fields(self)
            if f.compare and getattr(self, f.name) != getattr(usual, f.name)
        ]
        if self.extractor not in ("errant", found_extractor()):
            changed.append("extractor")
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in changed)
        return self.name + (f"({shown})" if shown else "")

    @property
    def single(self) -> Self:
        """With the annotator best for the sentence alone."""
        return replace(self, choice="isolated")

    def extracting(self, extractor: str) -> Self:
        """The same with the edits of all outputs found by this extractor."""
        plain = self.plain(self.total).extracting(extractor)
        return replace(self, gold=plain.gold, extractor=plain.extractor, outputs=plain.outputs)

    def prepared(
        self, corpus: Corpus, systems: Sequence[Hypotheses], progress: Progress | None = None
    ) -> tuple[Corpus, list[Hypotheses]]:
        """Both with their edits, those of all systems found in one go."""
        return self.plain(self.total).prepared(corpus, systems, progress)

    def sides(self, corpus: Corpus, hypotheses: Hypotheses) -> list[list[Sides]]:
        """Right, needless and missed edits."""
        plain = self.plain("sum")
        several = self.alternatives == "any"
        result = []
        for edits, asked in zip(hypotheses.edits or (), plain.keyed_gold(corpus), strict=True):
            mine, beside = plain.keyed(edits, gold=False), []
            for each in asked:
                met, needless = matched(mine, each, alternatives=several)
                right = [made for _, made in met if made is not None]
                missed = [edit for edit, made in met if made is None]
                beside.append(Sides(right, needless, missed))
            result.append(beside)
        return result
