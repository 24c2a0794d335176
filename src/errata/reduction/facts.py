"""What signatures, notes and checks need to know of a part of a corpus, so that it adds up.

What a metric says of its data (`Metric.context`, `Metric.notes`) follows from what there is in
them: references with edits and without, kinds of edits, a correction that had to be split. For
each of these the first sentence that shows it is kept, a witness, and the metric is asked about
all witnesses; so the whole need not be there. Notes that count something are added up (`Counted`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.errors import InputError
from errata.evaluation import checked_counts, facts_said
from errata.metrics.base import Counted, Metric, WholeCountsError
from errata.numbers import Floats
from errata.reduction.running import decides

__all__ = ["PartFacts", "Said", "Witness", "check_parts", "count_part"]

TURNS = 64  # sentences that may have to be found for what one metric says of one part


class Witness(NamedTuple):
    """A sentence that shows something first, with what all systems made of it."""

    source: str
    references: tuple[Reference, ...]
    outputs: tuple[tuple[str, tuple[Edit, ...] | None], ...]
    shows: tuple[str, ...]


class Said(NamedTuple):
    """What a metric says of one part, or of several: of them only notes that add up."""

    metric: str
    context: tuple[str, ...]
    notes: tuple[str, ...]


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
        sizes = {len(refs) for refs in corpus.references}
        said = tuple(
            Said(repr(each), each.context(corpus, systems), each.notes(corpus, systems))
            for each in metrics
        )
        return cls(
            names,
            len(corpus),
            min(sizes),
            max(sizes),
            corpus.annotators,
            _places(corpus),
            corpus.kept,
            corpus.tokens,
            corpus.skipped,
            corpus.name,
            1,
            _witnesses(metrics, corpus, systems, said),
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
            witnesses=_first_to_show((*self.witnesses, *other.witnesses)),
            said=_added(self.said, other.said),
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
        counted = {_key(note): note for note in said.notes} if said is not None else {}
        notes = metric.notes(corpus, systems)
        plain = [_key(note) for note in notes if not isinstance(note, Counted)]
        order = _in_one_order([_key(note) for note in said.notes] if said else [], plain)
        texts = {_key(note): note for note in notes} | counted
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
            _hypotheses(name, [each.outputs[s] for each in self.witnesses])
            for s, name in enumerate(self.systems)
        ]

    def to_json(self) -> dict[str, Any]:
        """The facts as what JSON holds."""
        known = {name: getattr(self, name) for name in self.__dataclass_fields__}
        known["witnesses"] = [
            {
                "source": each.source,
                "references": [asdict(reference) for reference in each.references],
                "outputs": [
                    [text, None if edits is None else [asdict(edit) for edit in edits]]
                    for text, edits in each.outputs
                ],
                "shows": each.shows,
            }
            for each in self.witnesses
        ]
        known["said"] = [
            [said.metric, said.context, [_note_json(note) for note in said.notes]]
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
            Said(name, tuple(context), tuple(_note(note) for note in notes))
            for name, context, notes in given["said"]
        )
        return cls(**known)


def count_part(
    metrics: Sequence[Metric],
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    *,
    guard: bool = True,
    threads: int | None = None,
) -> tuple[list[list[Floats]], PartFacts]:
    """The counts ``[metric][system]`` of a part of a corpus, checked, and its facts.

    A part may have no sentences. What counts only the whole decides is told by `check_parts`.

    >>> from errata.metrics import parse
    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> counts, facts = count_part([parse("m2")], corpus, [Hypotheses("A", ("He goes .",))])
    >>> counts[0][0].tolist(), facts.sentences, facts.told(parse("m2"))
    ([[[1.0, 2.0, 1.0]]], 1, (('edits:aligned',), ()))
    """
    if not len(corpus):
        nothing = [[np.zeros((0, 1, len(m.statistics))) for _ in systems] for m in metrics]
        return nothing, PartFacts.of(metrics, corpus, systems)
    counts = [
        checked_counts(metric, corpus, systems, guard=guard and not at, threads=threads, part=True)
        for at, metric in enumerate(metrics)
    ]
    return counts, PartFacts.of(metrics, corpus, systems)


def check_parts(metric: Metric) -> None:
    """Refuse a metric whose counts of a sentence depend on others, before any part is counted."""
    error = decides(metric)
    if isinstance(error, WholeCountsError):
        raise error


def _places(corpus: Corpus) -> tuple[int | None, ...]:
    found: dict[int, int | None] = {}
    for annotators in {tuple(r.annotator for r in refs) for refs in corpus.references}:
        for place, annotator in enumerate(annotators):
            found[place] = annotator if found.get(place, annotator) == annotator else None
    return tuple(found[place] for place in range(len(found)))


def _witnesses(
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
    for metric, wanted in zip(metrics, said, strict=True):
        for i in _turns(metric, corpus, systems, sorted(shown), wanted):
            shown.setdefault(i, [])
    # The first part of which something is said keeps all its witnesses, of which it is said.
    for each in said:
        text = f"{each.metric}:{each.context}{_uncounted(each.notes)}"
        for place, i in enumerate(sorted(shown)):
            shown[i].append(f"{text}{place}")
    return tuple(
        Witness(
            corpus.sources[i],
            corpus.references[i],
            tuple((h.sentences[i], None if h.edits is None else h.edits[i]) for h in systems),
            tuple(dict.fromkeys(shown[i])),
        )
        for i in sorted(shown)
    )


def _showing(corpus: Corpus, systems: Sequence[Hypotheses]) -> Iterator[tuple[int, list[str]]]:
    """What each sentence shows, of those that show something new."""
    shapes: set[tuple[tuple[bool, bool, bool], ...]] = set()
    kinds: set[tuple[str, str]] = set()
    given = [(f"kind of {s}:", h.edits) for s, h in enumerate(systems) if h.edits is not None]
    for i, references in enumerate(corpus.references):
        shape = tuple([(r.edits is None, r.text is None, r.implied) for r in references])
        known = len(shapes) + len(kinds)
        shapes.add(shape)
        found = [("kind:", e.kind) for r in references for e in r.edits or ()]
        found += [(whose, e.kind) for whose, edits in given for e in edits[i]]
        kinds.update(found)
        if len(shapes) + len(kinds) > known:
            shows = [f"references:{len(references)}", *map(str, shape)]
            yield i, list(dict.fromkeys([*shows, *(f"{whose}{kind}" for whose, kind in found)]))


def _turns(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    witnesses: Sequence[int],
    wanted: Said,
) -> list[int]:
    """Sentences that make witnesses say of a metric's data what the whole part says.

    Of the part's beginnings the shortest that says it ends in one of them: as what is said tells
    what there is, longer ones say it too.
    """

    def same(sentences: Sequence[int]) -> bool:
        here = replace(
            corpus,
            sources=tuple(corpus.sources[i] for i in sentences),
            references=tuple(corpus.references[i] for i in sentences),
            documents=(),
            skipped=(),
            whole=None,
        )
        outputs = [
            _hypotheses(
                h.system,
                [(h.sentences[i], None if h.edits is None else h.edits[i]) for i in sentences],
            )
            for h in systems
        ]
        return metric.context(here, outputs) == wanted.context and _uncounted(
            metric.notes(here, outputs)
        ) == _uncounted(wanted.notes)

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


def _uncounted(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(note for note in notes if not isinstance(note, Counted))


def _hypotheses(system: str, outputs: Sequence[tuple[str, tuple[Edit, ...] | None]]) -> Hypotheses:
    given = [edits for _, edits in outputs if edits is not None]
    return Hypotheses(system, tuple(text for text, _ in outputs), tuple(given) if given else None)


def _first_to_show(witnesses: Sequence[Witness]) -> tuple[Witness, ...]:
    known: set[str] = set()
    found = []
    for witness in witnesses:
        if not known.issuperset(witness.shows):
            found.append(witness)
            known.update(witness.shows)
    return tuple(found)


def _added(one: Sequence[Said], other: Sequence[Said]) -> tuple[Said, ...]:
    """What metrics say of two parts together: notes that count, and where others stand."""
    found = []
    for a, b in zip(one, other, strict=True):
        notes = {_key(note): note for note in a.notes}
        for note in b.notes:
            held = notes.get(_key(note))
            if isinstance(held, Counted) and isinstance(note, Counted):
                notes[_key(note)] = held.added(note)
            else:
                notes.setdefault(_key(note), note)
        order = _in_one_order([*map(_key, a.notes)], [*map(_key, b.notes)])
        found.append(Said(a.metric, (), tuple(notes[key] for key in order)))
    return tuple(found)


def _key(note: str) -> str:
    """What is the same in a note whatever it counts."""
    return note.several if isinstance(note, Counted) else note


def _in_one_order(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Both in one order: what only the second has comes after what is before it there.

    >>> _in_one_order(["a", "c"], ["b", "c", "d"])
    ['b', 'a', 'c', 'd']
    """
    found = list(first)
    place = 0
    for key in second:
        if key in found:
            place = found.index(key) + 1
        else:
            found.insert(place, key)
            place += 1
    return found


def _plain(value: Any) -> Any:
    """Tuples as lists, all the way down."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


def _edits(given: Sequence[Mapping[str, Any]] | None) -> tuple[Edit, ...] | None:
    if given is None:
        return None
    return tuple(Edit(**{**edit, "alternatives": tuple(edit["alternatives"])}) for edit in given)


def _note_json(note: str) -> Any:
    if isinstance(note, Counted):
        return {"one": note.one, "several": note.several, "numbers": list(note.numbers)}
    return note


def _note(given: Any) -> str:
    if isinstance(given, str):
        return given
    return Counted(given["one"], given["several"], *given["numbers"])
