"""Data on which people judged systems: a corpus, outputs and what was said of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from errata.data import Corpus, Hypotheses, Judgment, Scores
from errata.datasets import sample_corpus, sample_judgments, sample_systems
from errata.datasets.catalogue import data_set
from errata.datasets.collections import collection, role_files
from errata.datasets.evaluation_sets import evaluation_files
from errata.datasets.fetch import find
from errata.datasets.loaders import read_collection
from errata.datasets.transfer import Report
from errata.errors import InputError
from errata.human import Comparisons, compare
from errata.io.judgments import read_judgment_files
from errata.io.outputs import read_systems
from errata.io.scores import read_score_files, skip_scores
from errata.io.skipping import Skipped, skip_judgments
from errata.meta.ratings import ratings_as_comparisons

__all__ = ["JUDGED", "JudgedSet", "is_here", "read_judged_folder", "read_judged_set", "sample_set"]

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


def read_judged_set(
    name: str, progress: Report | None = None, *, skipped: Skipped | None = None
) -> JudgedSet:
    """A collection by name, fetched first if need be; it must have outputs and judgments.

    Sentences that are ``skipped`` are left out of every side.
    """
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
    human = role_files(chosen, "human", progress)
    files = [file for role in ("gold", "source", "references") for file in role_files(chosen, role)]
    return _judged(
        name,
        (corpus, systems),
        judgments,
        read_score_files(human)[0] if human else None,
        skipped,
        base=chosen.base,
        outputs=(*files, *outputs),
    )


def read_judged_folder(place: str, *, base: int = 0, skipped: Skipped | None = None) -> JudgedSet:
    """A folder of one's own, ``NAME=FOLDER``: a corpus with outputs/, and people's word.

    Corpus and outputs as `errata.datasets.evaluation_sets` reads them; beside them stand
    ``judgments*``, in any form that `errata.io.judgments` reads, or ``ratings*``, a table with a
    row for each sentence and a column for each system. ``base`` is the number of the first
    sentence in the judgments.
    """
    (files,) = evaluation_files(place)
    said, rated = (
        [str(path) for path in sorted(Path(files.place).glob(f"{word}*")) if path.is_file()]
        for word in ("judgments", "ratings")
    )
    if not (said or rated):
        raise InputError(
            "nobody's word in the folder",
            path=files.place,
            remedy="put judgments.xml (or .csv, .jsonl, ...) there, or ratings.csv with a row for "
            "each sentence and a column for each system",
        )
    if len(rated) > 1 or (said and rated):
        raise InputError(
            f"two words from people: {', '.join(Path(file).name for file in (*said, *rated))}",
            path=files.place,
            remedy="keep the judgments, or one table of ratings",
        )
    whole = files.read()
    if not whole.systems:
        raise InputError("no outputs in the folder", path=files.place, remedy="put outputs/ there")
    own = (whole.corpus, whole.systems)
    if rated:
        ratings = read_score_files(rated)[0]
        rows = 0 if ratings.sentences is None else ratings.sentences.shape[1]
        if rows != len(whole.corpus):
            raise InputError(
                f"ratings of {rows} sentences, and the corpus has {len(whole.corpus)}",
                path=rated[0],
                remedy="write a row for each sentence; leave cells empty where nobody rated",
            )
        return _judged(files.name, own, None, ratings, skipped)
    texts = {system.system: system.sentences for system in whole.systems}
    judgments = list(read_judgment_files(said, base=base, outputs=texts))
    last = max((judgment.sentence for judgment in judgments), default=0)
    if last >= len(whole.corpus):
        raise InputError(
            f"a judgment is on sentence {last + base}, and the corpus has {len(whole.corpus)}",
            path=", ".join(said),
            remedy="are these the judgments of this corpus?",
        )
    return _judged(files.name, own, judgments, None, skipped, base=base)


def sample_set(skipped: Skipped | None = None) -> JudgedSet:
    """The built-in sample.

    >>> len(sample_set().systems), sample_set().comparisons.rankings > 0
    (5, True)
    """
    own = (sample_corpus(), tuple(sample_systems()))
    return _judged("sample", own, sample_judgments(), None, skipped)


def _judged(
    name: str,
    own: tuple[Corpus, tuple[Hypotheses, ...]],
    judgments: Iterable[Judgment] | None,
    ratings: Scores | None,
    skipped: Skipped | None,
    *,
    base: int = 0,
    outputs: tuple[str, ...] = (),
) -> JudgedSet:
    """The set without what is left out; without judgments, ratings are compared."""
    corpus, systems = own
    origin = (f"base:{base}",) if base else ()
    if skipped is not None:
        places = skipped.positions(len(corpus))
        corpus = corpus.without_sentences(*places)
        systems = tuple(system.without_sentences(*places) for system in systems)
        judgments = None if judgments is None else skip_judgments(judgments, skipped)
        ratings = None if ratings is None else skip_scores(ratings, skipped)
        origin = (*origin, skipped.fact)
    if judgments is not None:
        comparisons = compare(list(judgments), origin=origin)
    else:
        assert ratings is not None
        comparisons = ratings_as_comparisons(ratings)
    return JudgedSet(name, corpus, systems, comparisons, ratings, outputs)
