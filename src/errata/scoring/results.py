"""Scores with facts, notes and signature context.

What a metric says of its data (`Metric.context`, `Metric.notes`) follows from what there is in
them: references with edits and without, kinds of edits, a correction that had to be split. For
each of these the first sentence that shows it is kept, a witness, and the metric is asked about
all witnesses; so the whole need not be there. Notes that count something are added up (`Counted`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata import __version__
from errata.core.errors import InputError
from errata.core.registry import origin
from errata.core.stats import Floats, Ints, Seed, seed_name
from errata.data import Corpus, Edit, Hypotheses, Reference, Scores
from errata.data.edits import offsets
from errata.io.slices import skip_signature
from errata.metrics import METRICS
from errata.metrics.base import Counted, Metric, WholeCountsError
from errata.scoring.resampling import DrawnKind

# ---- From sums to scores: the figures, and what is said beside them.


class Description(NamedTuple):
    """What scores say beside their numbers: of the data, of the sentences left out, to readers."""

    context: tuple[str, ...]
    notes: tuple[str, ...]
    skipped: tuple[int, ...]


def build_scores(
    metric: Metric,
    systems: Sequence[str],
    totals: Sequence[Floats],
    resampled: Floats | None,
    drawn: tuple[str, ...],
    told: Description,
    alone: Sequence[tuple[Floats, dict[str, Floats | Ints]]] = (),
) -> Scores:
    """The scores of summed counts ``[draw, k]`` of each system, with what is said of them.

    ``alone`` are the scores and the figures of the sentences of each system, if they are wanted.
    """
    METRICS.refuse_disguise(metric)
    values = [metric.score(each).mean() for each in totals]
    parts = _gather(
        [{name: _over_draws(part) for name, part in metric.parts(each).items()} for each in totals]
    )
    return Scores(
        scorer=repr(metric),
        systems=tuple(systems),
        values=np.array(values),
        sentences=np.stack([scores for scores, _ in alone]) if alone else None,
        parts=parts,
        resampled=resampled,
        sentence_parts=_gather([more for _, more in alone]) if alone else {},
        headline=metric.headline,
        context=whole_context(metric, *told.context, *drawn),
        notes=(*told.notes, *_undefined(systems, values)),
        name=metric.name,
        label=metric.label,
        skipped=told.skipped,
        shares=_shares(metric, parts),
    )


def whole_context(metric: Metric, *facts: str) -> tuple[str, ...]:
    """What stands after the metric in a signature: where it is from, facts, and by which Errata."""
    return (*origin(type(metric)), *facts, f"errata:{__version__}")


def different_draws(totals: Floats) -> Floats:
    """Totals ``[draw, k]``; of draws that are all alike, one."""
    return totals[:1] if bool((totals == totals[:1]).all()) else totals


def drawn_facts(
    resamples: int, rng: Seed, kind: DrawnKind | None, *, documents: bool = False
) -> tuple[str, ...]:
    """What a signature says of resamples; ``documents``: blocks are of these.

    >>> drawn_facts(9, 0, "blocks", documents=True)
    ('resamples:9', 'seed:0', 'bootstrap:blocks of documents')
    """
    if not resamples:
        return ()
    of = " of documents" if kind == "blocks" and documents else ""
    return (f"resamples:{resamples}", f"seed:{seed_name(rng)}", f"bootstrap:{kind}{of}")


def corpus_facts(corpus: Corpus) -> tuple[str, ...]:
    """What every signature says of a corpus: its size, references, and how it was read."""
    sizes = corpus.edits.sizes
    return signature_facts(
        len(corpus), int(sizes.min()), int(sizes.max()), corpus.kept, corpus.skipped, corpus.tokens
    )


def signature_facts(
    sentences: int,
    fewest: int,
    most: int,
    kept: Sequence[int] = (),
    skipped: tuple[int, ...] = (),
    tokens: str = "as_is",
) -> tuple[str, ...]:
    """The same, of what is known of a corpus.

    >>> signature_facts(1312, 2, 3)
    ('sentences:1312', 'references:2-3')
    """
    whose = f" of annotator {','.join(map(str, kept))}" if kept else ""
    spread = f"-{most}" if most > fewest else ""
    return (
        f"sentences:{sentences}",
        f"references:{fewest}{spread}{whose}",
        *skip_signature(skipped),
        *((f"tokens:{tokens}",) if tokens != "as_is" else ()),
    )


def _shares(metric: Metric, parts: Mapping[str, Floats | Ints]) -> tuple[str, ...]:
    """Which figures are shares of one: the score and its fractions, but for what are sums."""
    if not metric.about.share:
        return ()
    fractions = (name for name, part in parts.items() if part.dtype.kind == "f")
    return metric.headline, *(name for name in fractions if name not in metric.about.amounts)


def _undefined(systems: Sequence[str], values: Sequence[float]) -> tuple[str, ...]:
    """What a reader must know of scores that are no numbers."""
    without = [name for name, value in zip(systems, values, strict=True) if not np.isfinite(value)]
    return (f"no score, being no number: {', '.join(without)}",) if without else ()


def _over_draws(part: Floats | Ints) -> Floats | Ints:
    """The mean over draws; whole numbers stay whole where there is one draw."""
    if len(part) == 1:
        only: Floats | Ints = part[0]
        return only
    mean: Floats = part.mean(axis=0)
    return mean


def _gather(rows: list[dict[str, Floats | Ints]]) -> dict[str, Floats | Ints]:
    def column(name: str) -> Floats | Ints:
        stacked: Any = np.stack([row[name] for row in rows])
        return stacked  # type: ignore[no-any-return]

    return {name: column(name) for name in rows[0]}


# ---- What metrics say of parts, and of several together: notes that count, and where others
# stand.


class Said(NamedTuple):
    """What a metric says of one part, or of several: of them only notes that add up."""

    metric: str
    context: tuple[str, ...]
    notes: tuple[str, ...]


def added_words(one: Sequence[Said], other: Sequence[Said]) -> tuple[Said, ...]:
    """What metrics say of two parts together: notes that count, and where others stand."""
    found = []
    for a, b in zip(one, other, strict=True):
        notes = {note_key(note): note for note in a.notes}
        for note in b.notes:
            held = notes.get(note_key(note))
            if isinstance(held, Counted) and isinstance(note, Counted):
                notes[note_key(note)] = held.added(note)
            else:
                notes.setdefault(note_key(note), note)
        order = in_one_order([*map(note_key, a.notes)], [*map(note_key, b.notes)])
        found.append(Said(a.metric, (), tuple(notes[key] for key in order)))
    return tuple(found)


def note_key(note: str) -> str:
    """What is the same in a note whatever it counts."""
    return note.several if isinstance(note, Counted) else note


def uncounted(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(note for note in notes if not isinstance(note, Counted))


def in_one_order(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Both in one order: what only the second has comes after what is before it there.

    >>> in_one_order(["a", "c"], ["b", "c", "d"])
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


def note_json(note: str) -> Any:
    if isinstance(note, Counted):
        return {"one": note.one, "several": note.several, "numbers": list(note.numbers)}
    return note


def note_of(given: Any) -> str:
    if isinstance(given, str):
        return given
    return Counted(given["one"], given["several"], *given["numbers"])


# ---- The sentences of a part that show what there is: metrics say of them what they say of all.

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
    references: dict[int, tuple[Reference, ...]] = {}

    def references_of(i: int) -> tuple[Reference, ...]:
        if i not in references:
            references[i] = corpus.edits.sentence(i)
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
            corpus.sources[i],
            references_of(i),
            tuple((h.sentences[i], None if h.edits is None else h.edits[i]) for h in systems),
            tuple(dict.fromkeys(shown[i])),
        )
        for i in sorted(shown)
    )


def _showing(corpus: Corpus, systems: Sequence[Hypotheses]) -> Iterator[tuple[int, list[str]]]:
    """What each sentence shows, of those that show something new."""
    given = [(f"kind of {s}:", h.edits) for s, h in enumerate(systems) if h.edits is not None]
    table = corpus.edits
    no_text = np.array([text is None for text in table.texts] or [True] * len(table.annotators))
    shape = 4 * table.bare + 2 * no_text + table.implied
    at = table.edit_offsets[table.reference_offsets]
    new = {*table.first_of_kind(shape), *_firsts(table.kinds, at)}
    for _, several in given:
        kinds = (edit.kind for each in several for edit in each)
        new.update(_firsts(kinds, offsets(np.fromiter(map(len, several), np.int64, len(several)))))
    for i in sorted(new):
        bits = shape[slice(*table.reference_offsets[i : i + 2])].tolist()
        found = [("kind:", kind) for kind in table.kinds[at[i] : at[i + 1]]]
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
            sources=tuple(corpus.sources[i] for i in sentences),
            references=tuple(map(of, sentences)),
            documents=(),
            skipped=(),
            whole=None,
        )
        outputs = [
            hypotheses_of(
                h.system,
                [(h.sentences[i], None if h.edits is None else h.edits[i]) for i in sentences],
            )
            for h in systems
        ]
        return metric.context(here, outputs) == wanted.context and uncounted(
            metric.notes(here, outputs)
        ) == uncounted(wanted.notes)

    from errata.scoring.accumulator import decides

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


@dataclass(frozen=True)
class Facts:
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
    def of(cls, metrics: Sequence[Metric], corpus: Corpus, systems: Sequence[Hypotheses]) -> Facts:
        """The facts of one part, after it was counted."""
        names = tuple(each.system for each in systems)
        if not len(corpus):
            return cls(names, skipped=corpus.skipped)
        sizes = corpus.edits.sizes
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

    def __add__(self, other: Facts) -> Facts:
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
        """What every signature says of a corpus (see `errata.scoring.evaluate.corpus_facts`)."""
        return signature_facts(
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
    def from_json(cls, given: Mapping[str, Any]) -> Facts:
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
    table = corpus.edits
    for i in table.first_of_kind(table.annotators):
        annotators = table.annotators[slice(*table.reference_offsets[i : i + 2])]
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
