"""What signatures, notes and checks need to know of a part of a corpus, so that it adds up.

What a metric says of its data (`Metric.context`, `Metric.notes`) follows from what there is in
them: references with edits and without, kinds of edits, a correction that had to be split. For
each of these the first sentence that shows it is kept, a witness, and the metric is asked about
all witnesses; so the whole need not be there. Notes that count something are added up (`Counted`).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.errors import InputError
from errata.evaluation import facts_said
from errata.metrics.base import Counted, Metric
from errata.reduction.said import Said, added_words, in_one_order, note_json, note_key, note_of
from errata.reduction.witnesses import Witness, find_witnesses, first_to_show, hypotheses_of

__all__ = ["PartFacts"]


@dataclass(frozen=True)
class PartFacts:
    """What is to be known of a part; ``+`` are the facts of a part and the one after it.

    ``places`` is the annotator of each column of references, None where they differ. ``parts``
    counts those that have sentences. Sentences that were ``skipped`` are numbered in the text of
    the part with them.
    """

    systems: tuple[str, ...]
    sentences: int = 0
    fewest: int = 0
    most: int = 0
    annotators: tuple[int, ...] = ()
    places: tuple[int | None, ...] = ()
    kept: tuple[int, ...] = ()
    tokens: str = "as_is"
    skipped: tuple[int, ...] = ()
    name: str = "corpus"
    parts: int = 0
    witnesses: tuple[Witness, ...] = ()
    said: tuple[Said, ...] = ()

    @classmethod
    def of(
        cls, metrics: Sequence[Metric], corpus: Corpus, systems: Sequence[Hypotheses]
    ) -> PartFacts:
        """The facts of one part, after it was counted."""
        names = tuple(each.system for each in systems)
        if not len(corpus):
            return cls(names, skipped=corpus.skipped)
        sizes = corpus.edit_places.sizes
        said = tuple(
            Said(repr(each), each.context(corpus, systems), each.notes(corpus, systems))
            for each in metrics
        )
        return cls(
            names,
            len(corpus),
            int(sizes.min()),
            int(sizes.max()),
            corpus.annotators,
            _places(corpus),
            corpus.kept,
            corpus.tokens,
            corpus.skipped,
            corpus.name,
            1,
            find_witnesses(metrics, corpus, systems, said),
            said,
        )

    def __add__(self, other: PartFacts) -> PartFacts:
        if self.systems != other.systems:
            raise InputError(
                f"a part has the systems {', '.join(self.systems)}, another one "
                f"{', '.join(other.systems)}",
                remedy="count all systems in every part, in one order",
            )
        before = self.sentences + len(self.skipped)
        skipped = (*self.skipped, *(place + before for place in other.skipped))
        if not self.parts or not other.parts:
            return replace(self if self.parts else other, skipped=skipped)
        for what in ("kept", "tokens"):
            if getattr(self, what) != getattr(other, what):
                raise InputError(f"parts of a corpus were read differently ({what})")
        return replace(
            self,
            sentences=self.sentences + other.sentences,
            fewest=min(self.fewest, other.fewest),
            most=max(self.most, other.most),
            annotators=tuple(sorted({*self.annotators, *other.annotators})),
            places=tuple(
                a if b == -1 else b if a == -1 else a if a == b else None
                for a, b in itertools.zip_longest(self.places, other.places, fillvalue=-1)
            ),
            skipped=skipped,
            parts=self.parts + other.parts,
            witnesses=first_to_show((*self.witnesses, *other.witnesses)),
            said=added_words(self.said, other.said),
        )

    @property
    def corpus_facts(self) -> tuple[str, ...]:
        """What every signature says of a corpus (see `errata.evaluation.corpus_facts`)."""
        return facts_said(
            self.sentences, self.fewest, self.most, self.kept, self.skipped, self.tokens
        )

    def told(self, metric: Metric) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What the metric would say of the whole: its context and its notes."""
        said = next((each for each in self.said if each.metric == repr(metric)), None)
        if self.parts == 1 and said is not None:
            return said.context, said.notes
        corpus, systems = self.witnessed()
        counted = {note_key(note): note for note in said.notes} if said is not None else {}
        notes = metric.notes(corpus, systems)
        plain = [note_key(note) for note in notes if not isinstance(note, Counted)]
        order = in_one_order([note_key(note) for note in said.notes] if said else [], plain)
        texts = {note_key(note): note for note in notes} | counted
        chosen = (key for key in order if key in plain or isinstance(texts[key], Counted))
        return metric.context(corpus, systems), tuple(str(texts[key]) for key in chosen)

    def witnessed(self) -> tuple[Corpus, list[Hypotheses]]:
        """A small corpus and outputs of which metrics say what they would say of the whole."""
        corpus = Corpus(
            tuple(each.source for each in self.witnesses),
            tuple(each.references for each in self.witnesses),
            self.name,
            kept=self.kept,
            tokens=self.tokens,
        )
        return corpus, [
            hypotheses_of(name, [each.outputs[s] for each in self.witnesses])
            for s, name in enumerate(self.systems)
        ]

    def to_json(self) -> dict[str, Any]:
        """The facts as what JSON holds."""
        known = {name: getattr(self, name) for name in self.__dataclass_fields__}
        known["witnesses"] = [
            {
                "source": each.source,
                "references": [
                    {**_fields(reference), "edits": _listed(reference.edits)}
                    for reference in each.references
                ],
                "outputs": [[text, _listed(edits)] for text, edits in each.outputs],
                "shows": each.shows,
            }
            for each in self.witnesses
        ]
        known["said"] = [
            [said.metric, said.context, [note_json(note) for note in said.notes]]
            for said in self.said
        ]
        plain: dict[str, Any] = _plain(known)
        return plain

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> PartFacts:
        """What `to_json` gave."""
        known: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
        }
        known["witnesses"] = tuple(
            Witness(
                each["source"],
                tuple(
                    Reference(**{**reference, "edits": _edits(reference["edits"])})
                    for reference in each["references"]
                ),
                tuple((text, _edits(edits)) for text, edits in each["outputs"]),
                tuple(each["shows"]),
            )
            for each in given["witnesses"]
        )
        known["said"] = tuple(
            Said(name, tuple(context), tuple(note_of(note) for note in notes))
            for name, context, notes in given["said"]
        )
        return cls(**known)


def _places(corpus: Corpus) -> tuple[int | None, ...]:
    found: dict[int, int | None] = {}
    places = corpus.edit_places
    for i in places.first_of_kind(places.annotators):
        annotators = places.annotators[places.first[i] : places.first[i + 1]]
        for place, annotator in enumerate(annotators.tolist()):
            found[place] = annotator if found.get(place, annotator) == annotator else None
    return tuple(found[place] for place in range(len(found)))


def _plain(value: Any) -> Any:
    """Tuples as lists, all the way down."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


def _fields(thing: Reference | Edit) -> dict[str, Any]:
    """The fields of a frozen thing by their names; `asdict` takes ten times as long."""
    return {name: getattr(thing, name) for name in thing.__dataclass_fields__}


def _listed(edits: Sequence[Edit] | None) -> list[dict[str, Any]] | None:
    return None if edits is None else list(map(_fields, edits))


def _edits(given: Sequence[Mapping[str, Any]] | None) -> tuple[Edit, ...] | None:
    if given is None:
        return None
    return tuple(Edit(**{**edit, "alternatives": tuple(edit["alternatives"])}) for edit in given)
