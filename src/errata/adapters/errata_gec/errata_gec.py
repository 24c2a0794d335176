"""Errata's metrics as a module of Hugging Face evaluate: ``evaluate.load(FOLDER)``."""

from typing import Any

import evaluate

import datasets
from errata.data import Corpus, Reference
from errata.scoring.evaluate import evaluate as score

CITATION = "Errata: how good is this grammatical error correction system, and how do we know?"
ABOUT = """Corpus scores of grammatical error correction: sources, predictions, and for every
sentence one or more references. `metric` is any of `errata metrics`, as "m2" or "m2(beta=1)"."""


class ErrataGEC(evaluate.Metric):  # type: ignore[misc]
    """One number per corpus, with its parts, its interval and its signature."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        features = {"sources": text, "predictions": text, "references": datasets.Sequence(text)}
        return evaluate.MetricInfo(
            description=ABOUT,
            citation=CITATION,
            inputs_description=ABOUT,
            features=datasets.Features(features),
        )

    def _compute(
        self,
        sources: list[str],
        predictions: list[str],
        references: list[list[str]],
        metric: str = "m2",
        resamples: int = 1000,
        seed: int = 0,
    ) -> dict[str, Any]:
        corpus = Corpus(
            tuple(sources),
            tuple(tuple(Reference(k, text=t) for k, t in enumerate(r)) for r in references),
        )
        found = score(metric, corpus, predictions, resamples=resamples, rng=seed)
        low, high = found.interval()[0].tolist()
        parts = {name: part[0].item() for name, part in found.parts.items()}
        return {
            found.name: float(found.values[0]),
            "interval": (low, high),
            **parts,
            "signature": found.signature,
        }
