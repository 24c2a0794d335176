"""Public data on which people judged systems: a corpus, outputs and what was said of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from errata.data import Corpus, Hypotheses, Scores
from errata.datasets import sample_corpus, sample_judgments, sample_systems
from errata.datasets.catalogue import data_set
from errata.datasets.collections import collection, role_files
from errata.datasets.fetch import find
from errata.datasets.loaders import read_collection
from errata.datasets.transfer import Report
from errata.errors import InputError
from errata.human import Comparisons, compare
from errata.io.judgments import read_judgment_files
from errata.io.outputs import read_systems
from errata.io.scores import read_score_files

__all__ = ["JUDGED", "JudgedSet", "is_here", "read_judged_set", "sample_set"]

# The collections with outputs and judgments of them, oldest first; whoever adds one adds it here.
JUDGED = (
    *("conll14", "napoles15", "gmeg-fce", "gmeg-wiki"),
    *("seeda-sentence", "seeda-sentence-base", "seeda-edit", "seeda-edit-base"),
)


@dataclass(frozen=True, eq=False)
class JudgedSet:
    """A corpus, outputs on it, and people's word; ``ratings`` where they gave numbers.

    ``outputs`` names corpus and outputs: two sets of one name have the same scores.
    """

    name: str
    corpus: Corpus
    systems: tuple[Hypotheses, ...]
    comparisons: Comparisons
    ratings: Scores | None = None
    outputs: tuple[str, ...] = ()

    def different(self, comparisons: Comparisons) -> Comparisons:
        """The comparisons of two outputs whose texts differ.

        Equal texts tie on both sides by themselves and say nothing of a metric.
        """
        assert comparisons.sentence is not None
        texts = {system.system: system.sentences for system in self.systems}
        number: dict[str, int] = {}
        table = np.array(
            [
                [number.setdefault(text, len(number)) for text in texts[name]]
                for name in comparisons.systems
            ]
        )
        first, second = (
            table[side, comparisons.sentence] for side in (comparisons.first, comparisons.second)
        )
        kept = comparisons.select(first != second)
        return replace(kept, context=(*kept.context, "outputs:different"))


def is_here(name: str) -> bool:
    """Whether all files of a collection are on disk, so that nothing need be fetched."""
    members = [member for role in collection(name).members.values() for member in role]
    return all(
        find(data_set(member.data_set), data_set(member.data_set).file(member.file)) is not None
        for member in members
    )


def read_judged_set(name: str, progress: Report | None = None) -> JudgedSet:
    """A collection by name, fetched first if need be; it must have outputs and judgments."""
    chosen = collection(name)
    if not {"outputs", "judgments"} <= {*chosen.roles}:
        raise InputError(
            f"{name} has no {'outputs' if 'outputs' not in chosen.roles else 'judgments'}",
            remedy=f"name one of {', '.join(JUDGED)}",
        )
    corpus = read_collection(name)
    outputs = role_files(chosen, "outputs", progress)
    systems = tuple(read_systems(outputs, corpus=corpus))
    texts = {system.system: system.sentences for system in systems}
    judgments = read_judgment_files(
        role_files(chosen, "judgments", progress), base=chosen.base, outputs=texts
    )
    origin = (f"base:{chosen.base}",) if chosen.base else ()
    human = role_files(chosen, "human", progress)
    files = [file for role in ("gold", "source", "references") for file in role_files(chosen, role)]
    return JudgedSet(
        name,
        corpus,
        systems,
        compare(judgments, origin=origin),
        read_score_files(human)[0] if human else None,
        (*files, *outputs),
    )


def sample_set() -> JudgedSet:
    """The built-in sample.

    >>> len(sample_set().systems), sample_set().comparisons.rankings > 0
    (5, True)
    """
    systems = tuple(sample_systems())
    return JudgedSet("sample", sample_corpus(), systems, compare(sample_judgments()))
