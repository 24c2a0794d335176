"""The public data sets as the nouns the rest of Errata works on.

The files come from `errata.datasets.fetch`: from ``ERRATA_DATA``, the cache, or the network.
"""

from __future__ import annotations

from dataclasses import replace

from errata.data import Corpus, Hypotheses
from errata.datasets.collections import collection, role_files
from errata.io.corpus import read_corpus
from errata.io.outputs import read_systems

__all__ = [
    "load_conll14",
    "load_conll14_systems",
    "load_conll14_texts",
    "read_collection",
    "read_outputs_of",
]


def read_collection(name: str) -> Corpus:
    """The corpus of a collection, by its name (see `errata data list`)."""
    chosen = collection(name)
    gold, source = (role_files(chosen, role) for role in ("gold", "source"))
    return read_corpus(
        gold=gold[0] if gold else None,
        source=source[0] if source else None,
        references=role_files(chosen, "references"),
        name=name,
    )


def read_outputs_of(name: str, corpus: Corpus | None = None) -> list[Hypotheses]:
    """The outputs of a collection, compared with the corpus where one is given."""
    return read_systems(role_files(collection(name), "outputs"), corpus=corpus)


def load_conll14() -> Corpus:
    """The CoNLL-2014 test set: 1,312 sentences with the edits of two annotators (M2)."""
    return read_collection("conll14")


def load_conll14_texts() -> Corpus:
    """The CoNLL-2014 test set with the two corrected texts in place of edits."""
    return replace(read_collection("conll14-texts"), name="conll14")


def load_conll14_systems(*, check: bool = True) -> list[Hypotheses]:
    """The outputs of the 12 CoNLL-2014 systems and INPUT, by name.

    The files are known to be odd in places (lines around 40 of NTHU are shifted, POST has an
    empty line); with ``check`` each output is compared with the source and `DataWarning` says so.
    """
    return read_outputs_of("conll14", load_conll14() if check else None)
