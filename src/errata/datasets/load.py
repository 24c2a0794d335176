"""Load_* functions and the sample.

Nothing in it comes from a data set and nothing in it is evidence; see `sample/README.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from errata.core.errors import InputError
from errata.data import Corpus, Hypotheses, Judgment
from errata.io.m2 import read_m2
from errata.io.outputs import read_hypotheses, read_systems

if TYPE_CHECKING:
    from errata.datasets.evaluation_sets import EvaluationSet


def read_collection(name: str) -> Corpus:
    """The corpus of a collection, by its name (see `errata data list`)."""
    from errata.datasets.fetch import collection, role_files
    from errata.io.corpus import read_corpus

    chosen = collection(name)
    gold, source = (role_files(chosen, role) for role in ("gold", "source"))
    return read_corpus(
        gold=gold[0] if gold else None,
        source=source[0] if source else None,
        references=role_files(chosen, "references"),
        name=name,
    )


def read_collection_outputs(name: str, corpus: Corpus | None = None) -> list[Hypotheses]:
    """The outputs of a collection, compared with the corpus where one is given."""
    from errata.datasets.fetch import collection, role_files

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
    return read_collection_outputs("conll14", load_conll14() if check else None)


SAMPLE_SYSTEMS = ("cautious", "eager", "fluent", "noisy", "nothing")
SAMPLE_FILES = (
    "source.txt",
    "gold.m2",
    "reference0.txt",
    "reference1.txt",
    *(f"{system}.txt" for system in SAMPLE_SYSTEMS),
    "judgments.jsonl",
    "ratings.csv",
    "README.md",
)


@contextmanager
def sample_file(name: str) -> Iterator[Path]:
    """One file of the sample as a real path, also where the package is a zip archive."""
    with as_file(files("errata.datasets") / "sample" / name) as path:
        yield path


def sample_paths(name: str | None = None) -> dict[str, Path]:
    """Return the paths of the sample's files by their names, or of one of them."""
    if name is not None and name not in SAMPLE_FILES:
        remedy = f"it has: {', '.join(SAMPLE_FILES)}"
        raise InputError(f"the sample has no file {name!r}", remedy=remedy)
    paths = {}
    for each in (name,) if name else SAMPLE_FILES:
        with sample_file(each) as path:
            paths[each] = path
    return paths


def sample_corpus() -> Corpus:
    """The sample's sentences with the edits of two or three annotators each.

    >>> corpus = sample_corpus()
    >>> len(corpus), corpus.most_references
    (72, 3)
    """
    with sample_file("gold.m2") as path:
        return read_m2(path, name="sample")


def sample_texts() -> Corpus:
    """The sample's sentences with two corrected texts each, for metrics that need no edits."""
    from errata.io.corpus import read_corpus

    with (
        sample_file("source.txt") as source,
        sample_file("reference0.txt") as first,
        sample_file("reference1.txt") as second,
    ):
        return read_corpus(source=source, references=[first, second], name="sample")


def sample_systems() -> list[Hypotheses]:
    """The outputs of the five imaginary systems.

    >>> [system.system for system in sample_systems()]
    ['cautious', 'eager', 'fluent', 'noisy', 'nothing']
    """
    systems = []
    for name in SAMPLE_SYSTEMS:
        with sample_file(f"{name}.txt") as path:
            systems.append(read_hypotheses(path, name=name))
    return systems


def sample_corpora() -> list[EvaluationSet]:
    """The sample as two small corpora, its first and its second half, with the same systems.

    >>> sample_corpora()[1]
    EvaluationSet('second', 36 sentences, 5 systems)
    """
    from errata.datasets.evaluation_sets import EvaluationSet

    corpus, systems = sample_corpus(), sample_systems()
    middle = len(corpus) // 2
    halves = {"first": slice(0, middle), "second": slice(middle, None)}
    return [
        EvaluationSet(name, replace(corpus[half], name=name), tuple(each[half] for each in systems))
        for name, half in halves.items()
    ]


def sample_judgments() -> list[Judgment]:
    """The rankings by the three imaginary judges, in the order in which they were made.

    >>> judgments = sample_judgments()
    >>> sorted({judgment.judge for judgment in judgments})
    ['ana', 'bo', 'cleo']
    """
    from errata.io.judgments import read_judgments

    with sample_file("judgments.jsonl") as path:
        return list(read_judgments(path))
