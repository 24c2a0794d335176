"""The sentences of a part that show what there is: metrics say of them what they say of all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.edit_places import begins
from errata.metrics.base import Metric, WholeCountsError
from errata.reduction.running import decides
from errata.reduction.said import Said, uncounted

__all__ = ["Witness", "find_witnesses", "first_to_show", "hypotheses_of"]

TURNS = 64  # sentences that may have to be found for what one metric says of one part


class Witness(NamedTuple):
    """A sentence that shows something first, with what all systems made of it."""

    source: str
    references: tuple[Reference, ...]
    outputs: tuple[tuple[str, tuple[Edit, ...] | None], ...]
    shows: tuple[str, ...]


def find_witnesses(
    metrics: Sequence[Metric], corpus: Corpus, systems: Sequence[Hypotheses], said: Sequence[Said]
) -> tuple[Witness, ...]:
    """The first sentences to show each thing there is, and what turns what metrics say."""
    shown: dict[int, list[str]] = {}
    known: set[str] = set()
    for i, shows in _showing(corpus, systems):
        new = [each for each in shows if each not in known]
        if new:
            known.update(new)
            shown.setdefault(i, []).extend(shows)
    references = dict(zip(shown, corpus.references_of_some(shown), strict=True))

    def references_of(i: int) -> tuple[Reference, ...]:
        if i not in references:
            references[i] = corpus.references_of(i)
        return references[i]

    for metric, wanted in zip(metrics, said, strict=True):
        for i in _turns(metric, corpus, systems, sorted(shown), wanted, references_of):
            shown.setdefault(i, [])
    # The first part of which something is said keeps all its witnesses, of which it is said.
    for each in said:
        text = f"{each.metric}:{each.context}{uncounted(each.notes)}"
        for place, i in enumerate(sorted(shown)):
            shown[i].append(f"{text}{place}")
    return tuple(
        Witness(
            corpus.spelled_sources[i],
            references_of(i),
            tuple((h.spelled[i], None if h.edits is None else h.edits[i]) for h in systems),
            tuple(dict.fromkeys(shown[i])),
        )
        for i in sorted(shown)
    )


def _showing(corpus: Corpus, systems: Sequence[Hypotheses]) -> Iterator[tuple[int, list[str]]]:
    """What each sentence shows, of those that show something new."""
    given = [(f"kind of {s}:", h.edits) for s, h in enumerate(systems) if h.edits is not None]
    places, words = corpus.edit_places, corpus.edit_words
    shape = 4 * places.bare.astype(np.uint8) + 2 * words.told + words.implied
    at = places.at[places.first]
    new = {*places.first_of_kind(shape), *_firsts(corpus.edit_kinds, at)}
    for _, several in given:
        kinds = (edit.kind for each in several for edit in each)
        new.update(_firsts(kinds, begins(np.fromiter(map(len, several), np.int64, len(several)))))
    for i in sorted(new):
        bits = shape[places.first[i] : places.first[i + 1]].tolist()
        found = [("kind:", kind) for kind in corpus.edit_kinds[at[i] : at[i + 1]]]
        found += [(whose, e.kind) for whose, several in given for e in several[i]]
        # Of each reference: whether it has no edits, no text, and is implied.
        each = [str((bool(b & 4), bool(b & 2), bool(b & 1))) for b in bits]
        shows = [f"references:{len(bits)}", *each]
        yield i, list(dict.fromkeys([*shows, *(f"{whose}{kind}" for whose, kind in found)]))


def _firsts(things: Iterable[Hashable], at: NDArray[np.int64]) -> Iterable[int]:
    """The sentences in which a thing is for the first time; its things begin at ``at``."""
    several = list(things)
    size = len(several)
    # What is written last stays: of everything the first.
    first = dict(zip(reversed(several), range(size - 1, -1, -1), strict=True))
    found: list[int] = (np.searchsorted(at, [*first.values()], side="right") - 1).tolist()
    return found


def _turns(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    witnesses: Sequence[int],
    wanted: Said,
    references_of: Callable[[int], tuple[Reference, ...]],
) -> list[int]:
    """Sentences that make witnesses say of a metric's data what the whole part says.

    Of the part's beginnings the shortest that says it ends in one of them: as what is said tells
    what there is, longer ones say it too.
    """

    def same(sentences: Sequence[int]) -> bool:
        # One after the other, the references of many take longer than those of all at once.
        few = len(sentences) <= len(witnesses) + TURNS
        of = references_of if few else corpus.references.__getitem__
        here = replace(
            corpus,
            sources=tuple(corpus.spelled_sources[i] for i in sentences),
            references=tuple(map(of, sentences)),
            documents=(),
            skipped=(),
            whole=None,
        )
        outputs = [
            hypotheses_of(
                h.system,
                [(h.spelled[i], None if h.edits is None else h.edits[i]) for i in sentences],
            )
            for h in systems
        ]
        return metric.context(here, outputs) == wanted.context and uncounted(
            metric.notes(here, outputs)
        ) == uncounted(wanted.notes)

    if isinstance(decides(metric), WholeCountsError):
        return []  # it will be asked about the whole only
    every = range(len(corpus))
    found = list(witnesses)
    turns: list[int] = []
    while not same(sorted(found)) and len(turns) < TURNS:
        low, high = 0, len(corpus)
        while high - low > 1:
            middle = (low + high) // 2
            enough = same(sorted({*found, *every[:middle]}))
            low, high = (low, middle) if enough else (middle, high)
        found.append(high - 1)
        turns.append(high - 1)
    return turns


def hypotheses_of(
    system: str, outputs: Sequence[tuple[str, tuple[Edit, ...] | None]]
) -> Hypotheses:
    given = [edits for _, edits in outputs if edits is not None]
    return Hypotheses(system, tuple(text for text, _ in outputs), tuple(given) if given else None)


def first_to_show(witnesses: Sequence[Witness]) -> tuple[Witness, ...]:
    known: set[str] = set()
    found = []
    for witness in witnesses:
        if not known.issuperset(witness.shows):
            found.append(witness)
            known.update(witness.shows)
    return tuple(found)
