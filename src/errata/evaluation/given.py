"""What is to be scored as people have it, and what no score can be made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from errata.data import Corpus, Hypotheses
from errata.errors import InputError
from errata.metrics.base import Metric

__all__ = ["check_inputs", "systems_in"]


def systems_in(given: object) -> list[Hypotheses]:
    """Outputs as people have them: with names or without, as sentences or as `Hypotheses`."""
    if isinstance(given, Hypotheses):
        return [given]
    if isinstance(given, Mapping):
        return [
            replace(each, system=str(name))
            if isinstance(each, Hypotheses)
            else Hypotheses(str(name), _lines(f"{name}: ", each))
            for name, each in given.items()
        ]
    if isinstance(given, str | bytes):
        return [Hypotheses("hypotheses", _lines("", given))]
    several: list[Any] = list(given) if isinstance(given, Iterable) else [given]
    if several and all(isinstance(each, str) for each in several):
        return [Hypotheses("hypotheses", tuple(several))]
    odd = [each for each in several if not isinstance(each, Hypotheses)]
    if odd:
        raise InputError(
            "systems are Hypotheses or sentences, not Hypotheses together with texts"
            if isinstance(odd[0], str)
            else f"a system is Hypotheses or a list of sentences, not a {type(odd[0]).__name__}",
            remedy="name several systems in a dict: {'ours': sentences, 'theirs': sentences}",
        )
    return several


def _lines(whose: str, given: Any) -> tuple[str, ...]:
    """Sentences of a system, refusing the text of one that would be taken for its characters."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        what = "a single text" if isinstance(given, str | bytes) else f"a {type(given).__name__}"
        raise InputError(
            f"{whose}{what} is no list of sentences",
            remedy="give a list of them, one per source; errata.io.read_hypotheses reads a file",
        )
    sentences = tuple(given)
    odd = [each for each in sentences if not isinstance(each, str)]
    if odd:
        raise InputError(f"{whose}a sentence is a text, not a {type(odd[0]).__name__}")
    return sentences


def check_inputs(metric: Metric, corpus: Corpus, systems: Sequence[Hypotheses]) -> None:
    """Refuse what no score can be made of."""
    if not systems:
        raise InputError("there is no system to score", remedy="give at least one output file")
    if not len(corpus):
        raise InputError("the corpus is empty", remedy="give at least one sentence")
    for hypotheses in systems:
        if len(hypotheses) != len(corpus):
            raise InputError(
                f"{hypotheses.system} has {len(hypotheses)} sentences, the corpus {len(corpus)}",
                remedy="one line per source sentence",
            )
    if metric.columns == "none":
        return
    if not corpus.most_references:
        raise InputError(
            f"there are no references, and {metric.name} needs them",
            remedy="give corrected texts (--refs) or an M2 file (--gold)",
        )
    without = np.flatnonzero(corpus.edit_places.sizes == 0)
    if len(without):
        number = corpus.number(int(without[0]))
        raise InputError(
            f"sentence {number} has no reference, and {metric.name} needs one",
            remedy="give references or leave the sentence out",
        )
