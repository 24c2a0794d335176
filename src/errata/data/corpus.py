"""The nouns of the field, frozen and checked: what every other module takes and gives.

A corpus holds learner sentences and their references; hypotheses hold one system's output;
judgments hold what people said; scores hold what a scorer, metric or people, says of systems.
Tokens are what whitespace separates. No file is touched here.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError, escape_controls, shorten
from errata.core.stats import BLOCK, Bools, Floats, Ints, Seed, merge_ties, percentiles, plural
from errata.data.edits import EditArrays, EditTexts
from errata.data.tokens import Spelled, utf8
from errata.kernels import words

if TYPE_CHECKING:
    import pandas
    import polars

T = TypeVar("T")
Members = Literal["all", "sample", "expected"]
MemberOrder = Literal["name", "given"]
BATCH = 1024  # sentences; large enough for whole-batch kernels, small enough to share out
# The names under which a corpus keeps them.
PLACES, WORDS, LETTERS = "edit places", "edit words", "source letters"
NUMBERED = 16384  # sentences whose words are numbered in one go


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the source tokens ``start:end`` into ``replacement``.

    ``start == end`` inserts, an empty replacement deletes. ``alternatives`` are further
    replacements that are just as right. ``required`` and ``comment`` are the two M2 fields that
    no scorer reads; they are kept so that a file survives being read and written.

    >>> Edit(3, 4, "diseases", "Nn")
    Edit(start=3, end=4, replacement='diseases', kind='Nn')
    """

    start: int
    end: int
    replacement: str
    kind: str = ""
    alternatives: tuple[str, ...] = ()
    required: str = "REQUIRED"
    comment: str = "-NONE-"

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise InputError(
                f"edit {self.start}-{self.end} needs 0 <= start <= end",
                remedy="offsets count tokens from 0; an insertion has start = end",
            )

    def __repr__(self) -> str:
        more = "".join(
            f", {name}={value!r}"
            for name, value, default in (
                ("alternatives", self.alternatives, ()),
                ("required", self.required, "REQUIRED"),
                ("comment", self.comment, "-NONE-"),
            )
            if value != default
        )
        return (
            f"Edit(start={self.start}, end={self.end}, replacement={self.replacement!r}, "
            f"kind={self.kind!r}{more})"
        )

    @property
    def replacements(self) -> tuple[str, ...]:
        """Every replacement that counts as right, the main one first."""
        return (self.replacement, *self.alternatives)


def apply_edits(tokens: Sequence[str], edits: Iterable[Edit]) -> list[str]:
    """Carry out edits (their first replacement) on a tokenised sentence.

    Several insertions at one place keep their order; overlapping edits are an error.

    >>> apply_edits("He go home".split(), [Edit(1, 2, "goes"), Edit(3, 3, "now .")])
    ['He', 'goes', 'home', 'now', '.']
    """
    result: list[str] = []
    position = 0
    several = list(edits)
    if len(several) > 1:
        several.sort(key=attrgetter("start", "end"))
    for edit in several:
        if edit.start < position or edit.end > len(tokens):
            raise InputError(
                f"edit {edit.start}-{edit.end} {edit.replacement!r} overlaps an earlier edit or "
                f"leaves the sentence of {len(tokens)} tokens",
                remedy="edits of one annotator must not overlap",
            )
        result += tokens[position : edit.start]
        result += edit.replacement.split()
        position = edit.end
    result += tokens[position:]
    return result


@dataclass(frozen=True, slots=True)
class Reference:
    """One annotator's correction of one sentence, as edits, as text, or as both.

    Empty ``edits`` say "nothing to correct" (a ``noop`` line). An annotator who did not look at
    the sentence has no `Reference` for it. ``implied`` marks the one empty reference of a
    sentence for which the file has no annotation line at all.
    """

    annotator: int = 0
    edits: tuple[Edit, ...] | None = None
    text: str | None = None
    implied: bool = False

    def __post_init__(self) -> None:
        if self.edits is None and self.text is None:
            raise InputError(
                f"the reference of annotator {self.annotator} has no edits, no text",
                remedy="give edits=() for a sentence without errors",
            )

    def corrected(self, source: str) -> str:
        """The corrected sentence: the text as given, or the edits carried out."""
        if self.text is not None:
            return self.text
        assert self.edits is not None
        return " ".join(apply_edits(source.split(), self.edits)) if self.edits else source


@dataclass(frozen=True, eq=False)
class Tokens:
    """A batch of sentences as integers: sentence ``i`` is ``ids[offsets[i]:offsets[i + 1]]``."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def joined(cls, *batches: Tokens) -> Tokens:
        """Several batches as one.

        >>> words = Vocabulary()
        >>> Tokens.joined(words.intern(["a b"]), words.intern(["c", ""])).offsets.tolist()
        [0, 2, 3, 3]
        """
        ids = np.concatenate([np.zeros(0, np.int32), *(batch.ids for batch in batches)])
        starts = np.cumsum([0, *(len(batch.ids) for batch in batches)])
        offsets = [batch.offsets[:-1] + at for batch, at in zip(batches, starts[:-1], strict=True)]
        return cls(ids, np.concatenate([*offsets, starts[-1:]]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> NDArray[np.int32]:
        return self.ids[self.offsets[i] : self.offsets[i + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many tokens each sentence has."""
        return np.diff(self.offsets)

    def differ(self, other: Tokens) -> Bools:
        """Which sentences have other tokens than those of another batch of as many.

        >>> words = Vocabulary()
        >>> words.intern(["a b", "a", "a"]).differ(words.intern(["a  b", "b", "a a"])).tolist()
        [False, True, True]
        """
        mine, theirs = self.lengths, other.lengths
        different: Bools = mine != theirs
        a = self.ids[np.repeat(~different, mine)]
        b = other.ids[np.repeat(~different, theirs)]
        line = np.repeat(np.flatnonzero(~different), mine[~different])
        different[line[a != b]] = True
        return different


class Vocabulary:
    """Gives every distinct token a number, the same one for as long as the vocabulary lives."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._numbers)

    def intern(self, sentences: Iterable[str], *, ascii_only: bool = False) -> Tokens:
        """Number the whitespace-separated tokens of each sentence.

        ``ascii_only`` splits at the white space of ASCII only, as programs do that read bytes.
        """
        every = sentences if isinstance(sentences, Sequence) else list(sentences)
        parts = [
            self._intern(every[i : i + NUMBERED], ascii_only)
            for i in range(0, len(every), NUMBERED)
        ]
        return parts[0] if len(parts) == 1 else Tokens.joined(*parts)

    def _intern(self, sentences: Sequence[str], ascii_only: bool) -> Tokens:
        """Number so many sentences that their bytes and numbers fit into memory twice.

        Only what is left to do with each distinct word holds the lock, and the GIL.
        """
        ids, offsets, spelled = words.number(*utf8(sentences), ascii_only)
        distinct = spelled.decode(errors="surrogatepass").split("\n")
        distinct.pop()  # what follows the last line feed
        with self._lock:
            numbers = np.fromiter(map(self._numbers.__getitem__, distinct), np.int32, len(distinct))
        return Tokens(numbers[ids], offsets)

    def intern_tokens(self, sentences: Iterable[Sequence[str]]) -> Tokens:
        """Number sentences that are tokenised already."""
        ids: list[int] = []
        offsets = [0]
        with self._lock:
            number = self._numbers.__getitem__
            for tokens in sentences:
                ids.extend(map(number, tokens))
                offsets.append(len(ids))
        return Tokens(np.array(ids, np.int32), np.array(offsets, np.int64))

    def words(self) -> list[str]:
        """The tokens in the order of their numbers."""
        return list(self._numbers)


class LaterReferences(Protocol):
    """References that were read, and are made when somebody asks for them."""

    @property
    def places(self) -> EditArrays:
        """Where their edits stand."""

    def words(self) -> EditTexts:
        """What they say."""

    def kinds(self) -> list[str]:
        """The kinds of their edits."""

    def some(self, sentences: Sequence[int]) -> tuple[tuple[Reference, ...], ...]:
        """Those of these sentences."""

    def every(self) -> tuple[tuple[Reference, ...], ...]:
        """Those of all sentences."""

    def part(self, begin: int, end: int) -> LaterReferences:
        """Those of the sentences ``begin:end``, not made yet."""


@dataclass(frozen=True)
class Corpus:
    """Learner sentences with, for each, the references of one or more annotators.

    Sentences may have different numbers of references, and none where a metric needs none; those
    of a sentence stand in the order of their annotators, however they were given. All batches
    made through one corpus share its vocabulary. ``kept`` names the annotators where the
    references of others were left out; ``skipped`` are the sentences left out of the ``whole``, by
    their place there; ``tokens`` is what cut its texts into tokens; ``first`` is how many
    sentences stand before it, where it is read as a part of a larger one; ``documents`` name what
    each sentence belongs to, where that is known. What follows from a corpus is kept with it
    (`derived`).

    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."], ["He went home ."]])
    >>> len(corpus), corpus.most_references
    (1, 2)
    >>> corpus
    <Corpus 'corpus': 1 sentence, annotators 0, 1>
    """

    sources: tuple[str, ...]
    references: tuple[tuple[Reference, ...], ...]
    name: str = "corpus"
    vocabulary: Vocabulary = field(default_factory=Vocabulary, repr=False, compare=False)
    kept: tuple[int, ...] = field(default=(), kw_only=True)
    skipped: tuple[int, ...] = field(default=(), kw_only=True)
    tokens: str = field(default="as_is", kw_only=True)
    whole: Corpus | None = field(default=None, kw_only=True, repr=False, compare=False)
    first: int = field(default=0, kw_only=True, repr=False, compare=False)
    documents: tuple[str, ...] = field(default=(), kw_only=True, repr=False, compare=False)
    _later: LaterReferences | None = field(default=None, init=False, repr=False, compare=False)
    _spelled: Spelled | None = field(default=None, init=False, repr=False, compare=False)
    _derived: dict[Hashable, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _locks: dict[Hashable, threading.RLock] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _deriving: threading.Lock = field(
        default_factory=threading.Lock, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if len(self.sources) != len(self.references):
            raise InputError(
                f"{len(self.sources)} sources but {len(self.references)} sets of references",
                remedy="give one tuple of references per source",
            )
        self._check_documents()
        places = EditArrays.of(self.references)
        disordered = places.disordered().tolist()
        if disordered or not isinstance(self.references, tuple):
            ordered = list(self.references)
            for i in disordered:
                ordered[i] = tuple(sorted(ordered[i], key=attrgetter("annotator")))
            object.__setattr__(self, "references", tuple(ordered))
            places = EditArrays.of(ordered)
        _check_references(self.sources, self.references, places)
        self._derived[PLACES] = places

    def __repr__(self) -> str:
        return _in_brief(
            self,
            self.name,
            f"{len(self)} {plural('sentence', len(self))}",
            "annotators " + (", ".join(map(str, self.annotators)) or "none"),
        )

    @classmethod
    def from_texts(
        cls,
        sources: Iterable[str],
        references: Iterable[Iterable[str]] = (),
        *,
        name: str = "corpus",
    ) -> Corpus:
        """Build a corpus from parallel texts: ``references`` is one list of sentences per set."""
        sources = tuple(sources)
        sets = [tuple(texts) for texts in references]
        for k, texts in enumerate(sets):
            if len(texts) != len(sources):
                raise InputError(
                    f"reference set {k} has {len(texts)} sentences, the source {len(sources)}",
                    remedy="one line per source sentence",
                )
        return cls(
            sources,
            tuple(
                tuple(Reference(k, text=texts[i]) for k, texts in enumerate(sets))
                for i in range(len(sources))
            ),
            name,
        )

    @classmethod
    def made_later(
        cls, sources: tuple[str, ...] | Spelled, references: LaterReferences, name: str
    ) -> Corpus:
        """A corpus whose references, which whoever read them has checked, are made later.

        So are its sources, where they are spelled in bytes.
        """
        return cls((), (), name)._with_later(references, **_sources(sources))

    def _with_later(self, references: LaterReferences, **changes: Any) -> Corpus:
        """A copy with other references, not made yet."""
        other = self._copied(_later=references, references=None, **changes)
        other._derived[PLACES] = references.places
        return other

    if not TYPE_CHECKING:  # or every wrong name would seem to be one of a corpus

        def __getattr__(self, name: str) -> Any:
            # Asked only for what is not there: what nobody has asked for before.
            later, spelled = self.__dict__.get("_later"), self.__dict__.get("_spelled")
            if name == "references" and later is not None:
                made = self.derived(name, later.every)
            elif name == "sources" and spelled is not None:
                made = self.derived(name, lambda: tuple(spelled.strings()))
            else:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            object.__setattr__(self, name, made)
            return made

    def references_of(self, sentence: int) -> tuple[Reference, ...]:
        """The references of one sentence, without making those of all.

        >>> Corpus.from_texts(["He go ."], [["He goes ."]]).references_of(0)[0].text
        'He goes .'
        """
        return self.references_of_some([sentence])[0]

    def references_of_some(self, sentences: Iterable[int]) -> tuple[tuple[Reference, ...], ...]:
        """The same of several: together, in a fraction of the time."""
        if self._later is None or "references" in self.__dict__:
            return tuple(self.references[i] for i in sentences)
        every = range(len(self))
        return self._later.some([every[i] for i in sentences])

    def __reduce__(self) -> tuple[Callable[[], Corpus], tuple[()]]:
        # Elsewhere all that follows from it is made anew, by words that are numbered anew.
        given = [each.name for each in fields(self) if each.init and each.name != "vocabulary"]
        return partial(type(self), **{name: getattr(self, name) for name in given}), ()

    def __len__(self) -> int:
        return len(self.spelled_sources)

    def __getitem__(self, which: slice) -> Corpus:
        """A part of the corpus that shares its vocabulary, and counts its own sentences."""
        begin, end, step = which.indices(len(self))
        made = "sources" in self.__dict__
        changes: dict[str, Any] = {
            **_sources(self.spelled_sources[which], self.sources[which] if made else None),
            "documents": self.documents[which],
            "skipped": (),
            "whole": None,
            "first": 0,
        }
        end = max(begin, end)
        if self._later is not None and step == 1 and "references" not in self.__dict__:
            part = self._with_later(self._later.part(begin, end), **changes)
        else:
            part = self._copied(references=self.references[which], _later=None, **changes)
        if step == 1:
            places = self.edit_places
            if PLACES not in part._derived:
                part._derived[PLACES] = places.part(begin, end)
            if WORDS in self._derived:
                part._derived[WORDS] = self.edit_words.part(*places.slices(begin, end))
        return part

    def starting_at(self, first: int) -> Corpus:
        """The same corpus as a part of a larger one, behind so many sentences.

        >>> Corpus.from_texts(["a b"]).starting_at(7).number(0)
        8
        """
        return self._same(first=first)

    def in_documents(self, documents: Sequence[str]) -> Corpus:
        """The same corpus, with the document that each sentence belongs to.

        >>> Corpus.from_texts(["a b", "c"]).in_documents(["letter", "letter"]).documents
        ('letter', 'letter')
        """
        named = self._same(documents=tuple(documents))
        named._check_documents()
        return named

    def _check_documents(self) -> None:
        if self.documents and len(self.documents) != len(self):
            raise InputError(
                f"documents of {len(self.documents)} sentences, but there are {len(self)}",
                remedy="name the document of every sentence, or of none",
            )

    def _same(self, **changes: Any) -> Corpus:
        """A copy with the same sentences and references, of which the same is known."""
        other = self._copied(**changes)
        for known in (PLACES, WORDS, LETTERS):
            if known in self._derived:
                other._derived[known] = self._derived[known]
        return other

    def _copied(self, **changes: Any) -> Corpus:
        """A copy, and not `replace`: what was checked of the whole holds for it."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        fresh = {"_derived": {}, "_locks": {}, "_deriving": threading.Lock()}
        for name, value in (changes | fresh).items():
            object.__setattr__(other, name, value)
        for name in ("sources", "references"):
            if other.__dict__.get(name, ()) is None:  # made when it is asked for
                del other.__dict__[name]
        return other

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives, made once for this corpus and kept for as long as it lives.

        A corpus never changes, so what follows from it can stay with it: every system that is
        scored asks for the same gold edits, n-grams and chunks. Threads wait for one another.

        >>> corpus = Corpus.from_texts(["a b"])
        >>> corpus.derived("words", lambda: 2), corpus.derived("words", lambda: 3)
        (2, 2)
        """
        with self._deriving:
            lock = self._locks.setdefault(key, threading.RLock())
        with lock:  # of this key only: what is derived may ask for other things, also in threads
            if key not in self._derived:
                self._derived[key] = make()
        value: T = self._derived[key]
        return value

    @property
    def batches(self) -> tuple[Corpus, ...]:
        """The corpus in parts of 1,024 sentences, 4,096 or 8,192 of many: what threads work on."""
        if len(self) <= BATCH:
            return (self,)
        # The larger they are, the less often threads wait for one another between two kernels.
        step = next((s for s in (BATCH, 4 * BATCH) if len(self) <= 16 * s), 8 * BATCH)
        return self.derived(
            "batches", lambda: tuple(self[i : i + step] for i in range(0, len(self), step))
        )

    @property
    def annotators(self) -> tuple[int, ...]:
        """The numbers of all annotators, in order."""
        return self.derived(
            "annotators", lambda: tuple(np.unique(self.edit_places.annotators).tolist())
        )

    @property
    def most_references(self) -> int:
        """The largest number of references any sentence has."""
        return int(self.edit_places.sizes.max(initial=0))

    @property
    def has_gold_edits(self) -> bool:
        """Whether every reference comes with edits (M2) and not only as text."""
        return not self.edit_places.bare.any()

    @property
    def edit_places(self) -> EditArrays:
        """Where the edits of all references stand."""
        return self.derived(PLACES, lambda: EditArrays.of(self.references))

    @property
    def edit_words(self) -> EditTexts:
        """What the references and their edits say."""
        later = self._later
        make = later.words if later is not None else lambda: EditTexts.of(self.references)
        return self.derived(WORDS, make)

    @property
    def edit_kinds(self) -> Sequence[str]:
        """The kinds of all edits, in the order of their places."""
        if self._later is not None:
            return self.derived("edit kinds", self._later.kinds)
        edits = (e for refs in self.references for r in refs for e in r.edits or ())
        return self.derived("edit kinds", lambda: [edit.kind for edit in edits])

    @property
    def source_tokens(self) -> Tokens:
        """The sources as integers."""
        return self.derived("source tokens", lambda: self.vocabulary.intern(self.spelled_sources))

    @property
    def spelled_sources(self) -> Sequence[str]:
        """The sources, as bytes where they were read as such."""
        return self.sources if self._spelled is None else self._spelled

    def keep_annotators(self, *annotators: int) -> Corpus:
        """The same corpus with the references of these annotators only.

        A sentence that none of them annotated gets an implied reference without edits, as it
        would from a file that holds their lines only.
        """

        def keep(references: tuple[Reference, ...]) -> tuple[Reference, ...]:
            kept = tuple(r for r in references if r.annotator in annotators)
            return kept or (Reference(annotators[0], (), implied=True),)

        return replace(
            self, references=tuple(map(keep, self.references)), kept=tuple(sorted(set(annotators)))
        )

    def without_sentences(self, *sentences: int) -> Corpus:
        """The same corpus without these sentences, counted from 0 as judgments count them.

        What is left keeps its numbers where it is spoken of (`number`).

        >>> corpus = Corpus.from_texts(["a", "b", "c"]).without_sentences(1)
        >>> corpus.sources, corpus.number(1), corpus.skipped
        (('a', 'c'), 3, (1,))
        """
        if not sentences:
            return self
        before = self.whole or self
        gone = {*sentences}
        _check_skipped(gone, len(self))
        stay = [i for i in range(len(self)) if i not in gone]
        left = {original_number(self.skipped, i) - 1 for i in stay}
        return replace(
            self,
            sources=tuple(self.sources[i] for i in stay),
            references=tuple(self.references[i] for i in stay),
            documents=tuple(self.documents[i] for i in stay) if self.documents else (),
            skipped=tuple(i for i in range(len(before)) if i not in left),
            whole=before,
        )

    def number(self, sentence: int) -> int:
        """The number, from 1, that a sentence has in the whole corpus."""
        return self.first + original_number(self.skipped, sentence)


def _sources(
    sources: Sequence[str], made: tuple[str, ...] | None = None
) -> dict[str, Sequence[str] | None]:
    """What a corpus keeps of sources: as bytes, where they are spelled, and made later."""
    if isinstance(sources, Spelled):
        return {"_spelled": sources, "sources": made}
    return {"_spelled": None, "sources": sources}


def original_number(skipped: Sequence[int], sentence: int) -> int:
    """The number, from 1, of a sentence in a text of which some (from 0, in order) are left out.

    >>> [original_number((1, 2, 5), i) for i in range(4)]
    [1, 4, 5, 7]
    """
    place = sentence
    for gone in skipped:
        if gone > place:
            break
        place += 1
    return place + 1


def _check_skipped(sentences: Iterable[int], size: int) -> None:
    """Refuse to leave out sentences that are not there, or all that are."""
    gone = {*sentences}
    for sentence in sorted(gone):
        if not 0 <= sentence < size:
            raise InputError(
                f"there is no sentence {sentence + 1} to leave out of {size}",
                remedy=f"choose from 1 to {size}",
            )
    if gone and len(gone) == size:
        raise InputError(f"all {size} sentences are left out", remedy="leave some of them in")


def _check_references(
    sources: Sequence[str], references: Sequence[tuple[Reference, ...]], places: EditArrays
) -> None:
    """Refuse references, in order, of one annotator twice, and edits outside the sentence."""
    twice = places.doubled()
    reach = places.reach()
    edited = np.flatnonzero(reach)
    words = np.fromiter((len(sources[i].split()) for i in edited.tolist()), np.int64, len(edited))
    outside = edited[reach[edited] > words]
    if len(twice) and not (len(outside) and outside[0] < twice[0]):
        raise InputError(
            f"sentence {twice[0]} has two references of one annotator",
            remedy="number the annotators of a sentence differently",
        )
    if len(outside):
        i = int(outside[0])
        length = len(sources[i].split())
        edit = next(e for r in references[i] for e in r.edits or () if e.end > length)
        raise InputError(
            f"sentence {i}: edit {edit.start}-{edit.end} is outside the sentence "
            f"of {length} tokens",
            remedy="check offsets and tokenisation",
        )


@dataclass(frozen=True)
class Hypotheses:
    """The output of one system: one sentence per source, or also its edits where known.

    >>> Hypotheses("A", ("He goes home .",))
    <Hypotheses 'A': 1 sentence>
    """

    system: str
    sentences: tuple[str, ...]
    edits: tuple[tuple[Edit, ...], ...] | None = None
    _spelled: ClassVar[Spelled | None] = None  # of outputs that were read, an attribute of theirs

    def __post_init__(self) -> None:
        if self.edits is not None and len(self.edits) != len(self.sentences):
            raise InputError(
                f"system {self.system}: {len(self.sentences)} sentences but "
                f"{len(self.edits)} sets of edits"
            )

    @classmethod
    def made_later(cls, system: str, spelled: Spelled) -> Hypotheses:
        """An output that was read as bytes: its sentences become strings for who asks for them.

        >>> Hypotheses.made_later("A", Spelled(utf8(["He goes home ."]))).sentences
        ('He goes home .',)
        """
        made = cls(system, ())
        object.__setattr__(made, "_spelled", spelled)
        del made.__dict__["sentences"]
        return made

    if not TYPE_CHECKING:  # as of `Corpus`

        def __getattr__(self, name: str) -> Any:
            spelled = self.__dict__.get("_spelled")
            if name != "sentences" or spelled is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            # Of two threads that ask at once, both get what the first has made.
            return self.__dict__.setdefault("sentences", tuple(spelled.strings()))

    def __getstate__(self) -> dict[str, Any]:
        # The bytes may be those of a long file, of which this is a small part.
        return {"system": self.system, "sentences": self.sentences, "edits": self.edits}

    @property
    def spelled(self) -> Sequence[str]:
        """The sentences, as bytes where they were read as such: for whoever numbers their words."""
        return self.sentences if self._spelled is None else self._spelled

    def __repr__(self) -> str:
        edited = () if self.edits is None else (f"{sum(map(len, self.edits))} edits",)
        return _in_brief(self, self.system, f"{len(self)} {plural('sentence', len(self))}", *edited)

    def __len__(self) -> int:
        return len(self.spelled)

    def __getitem__(self, which: slice) -> Hypotheses:
        """A part of the output, of the same system."""
        if self._spelled is not None:
            part = Hypotheses.made_later(self.system, self._spelled[which])
            if "sentences" in self.__dict__:
                part.__dict__["sentences"] = self.sentences[which]
            return part
        return Hypotheses(
            self.system, self.sentences[which], None if self.edits is None else self.edits[which]
        )

    def without_sentences(self, *sentences: int) -> Hypotheses:
        """The output without these sentences, counted from 0.

        >>> Hypotheses("A", ("a", "b", "c")).without_sentences(0, 2).sentences
        ('b',)
        """
        gone = {*sentences}
        _check_skipped(gone, len(self))
        stay = [i for i in range(len(self)) if i not in gone]
        return Hypotheses(
            self.system,
            tuple(self.sentences[i] for i in stay),
            None if self.edits is None else tuple(self.edits[i] for i in stay),
        )


def _in_brief(thing: object, name: str, *facts: str) -> str:
    """A large value in one line: what it is, its name, and a few facts."""
    shown = ", ".join(facts[:8]) + (f" and {len(facts) - 8} more" if len(facts) > 8 else "")
    return f"<{type(thing).__name__} {shorten(name)!r}: {escape_controls(shown)}>"


def duplicate_name_errors(
    systems: Sequence[str], places: Sequence[str] = ()
) -> Iterator[InputError]:
    """The error to raise for each system whose name another one before it has.

    ``places`` are the files they come from, where known.

    >>> [error.problem for error in duplicate_name_errors(["A", "B", "A"])]
    ["two systems are called 'A'"]
    >>> [str(error) for error in duplicate_name_errors(["A", "A"], ["x.txt", "y.txt"])]
    ["y.txt: the system 'A' is also in x.txt; name them apart with name=path"]
    """
    first: dict[str, str] = {}
    for system, place in zip(systems, places or [""] * len(systems), strict=True):
        if system in first:
            yield InputError(
                f"two systems are called {system!r}"
                if first[system] == place
                else f"the system {system!r} is also in {first[system]}",
                path=place or None,
                remedy="name them apart with name=path",
            )
        first.setdefault(system, place)


class Entry(NamedTuple):
    """A system in a ranking: its rank, the number of its output, and how much it counts."""

    system: str
    rank: int
    group: int
    weight: float


@dataclass(frozen=True, slots=True)
class Judgment:
    """One annotator's ranking of some systems on one sentence (0-based); rank 1 is best.

    ``groups[g]`` names the systems that share one output text, ``ranks[g]`` is its rank; equal
    ranks are ties, ``None`` says that the output was shown but not ranked. An item that was
    skipped has no groups.
    """

    judge: str
    sentence: int
    groups: tuple[tuple[str, ...], ...]
    ranks: tuple[int | None, ...]
    item: str = ""
    seconds: float | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        if len(self.groups) != len(self.ranks):
            raise InputError(
                f"judgment {self.item or '?'} of {self.judge}: {len(self.groups)} "
                f"groups but {len(self.ranks)} ranks"
            )
        names = [name for group in self.groups for name in group]
        if len(set(names)) < len(names) or not all(self.groups):
            raise InputError(
                f"judgment {self.item or '?'} of {self.judge}: a system is named "
                "twice, or a group is empty"
            )
        if any(rank is not None and rank < 1 for rank in self.ranks):
            raise InputError(f"judgment {self.item or '?'} of {self.judge}: ranks start at 1")

    def without(self, *systems: str) -> Judgment:
        """The judgment as if these systems had never been shown: an output that only they wrote
        is gone, the rank of one that others wrote too stays.

        >>> ranking = Judgment("ann", 0, (("A", "B"), ("C",)), (2, 1))
        >>> ranking.without("A", "C").groups, ranking.without("A", "C").ranks
        ((('B',),), (2,))
        """
        left = [
            (rest, rank)
            for group, rank in zip(self.groups, self.ranks, strict=True)
            if (rest := tuple(name for name in group if name not in systems))
        ]
        return replace(
            self, groups=tuple(group for group, _ in left), ranks=tuple(rank for _, rank in left)
        )

    def entries(
        self, members: Members = "all", order: MemberOrder = "given", draw: MemberDraw | None = None
    ) -> list[Entry]:
        """The systems that were ranked: output by output, or in the order of their names.

        Of the ``members`` of a shared output speak ``"all"``, one drawn at random
        (``"sample"``), or all with the weight that makes them one (``"expected"``).

        >>> Judgment("ann", 0, (("A", "B"), ("C",)), (2, 1)).entries("expected")[0]
        Entry(system='A', rank=2, group=0, weight=0.5)
        """
        found: list[Entry] = []
        speakers: Sequence[Sequence[str]] = self.groups
        if members == "sample":
            assert draw is not None, "a sample needs a draw"
            speakers = [[name] for name in draw.speakers(self)]
        for g, (group, rank) in enumerate(zip(speakers, self.ranks, strict=True)):
            if rank is not None:
                weight = 1 / len(group) if members == "expected" else 1.0
                found += [Entry(name, rank, g, weight) for name in group]
        return sorted(found) if order == "name" else found


class MemberDraw:
    """Draws the one system that speaks for each output of a judgment.

    What is drawn depends on the seed and on what the judgment says, not on where it stands in a
    file: judgments in another order draw alike. Judgments that say the very same are counted, so
    that each draws for itself.

    >>> ranking = Judgment("ann", 0, (("A", "B"), ("C",)), (1, 2))
    >>> MemberDraw(0).speakers(ranking) == MemberDraw(0).speakers(ranking)
    True
    """

    def __init__(self, rng: Seed) -> None:
        self._salt = int(np.random.default_rng(rng).integers(2**63))
        self._seen: Counter[bytes] = Counter()

    def speakers(self, judgment: Judgment) -> tuple[str, ...]:
        """The name of the system that speaks for each output, in the order of the outputs."""
        groups = [sorted(group) for group in judgment.groups]
        said = sorted(zip(groups, map(str, judgment.ranks), strict=True))
        content = self._digest(self._salt, judgment.judge, judgment.sentence, judgment.item, said)
        copy = self._seen[content]
        self._seen[content] += 1
        return tuple(
            group[int.from_bytes(self._digest(content, copy, group), "big") % len(group)]
            for group in groups
        )

    @staticmethod
    def _digest(*content: object) -> bytes:
        text = repr(content).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=8).digest()


@dataclass(frozen=True, eq=False)
class Scores:
    """What one scorer, a metric or people, says of some systems.

    ``values[s]`` is the overall score of system ``s``, ``sentences[s, i]`` its score on sentence
    ``i`` (NaN where there is none), ``parts`` further figures per system (P, R, counts...), and
    ``resampled[b, s]`` the overall score in bootstrap resample ``b``, the same sentences (or
    judgments) for every system, so that intervals and paired tests read the same numbers;
    ``sentence_parts`` holds further figures ``[system, sentence]``.
    Parts that count something are whole numbers. ``scorer`` is the signature of the metric or
    ranker, ``name`` its bare name and ``label`` that with the parameters that are not as usual;
    ``context`` is what else decided the numbers (sentences, references, seed, version);
    ``notes`` what the user should know; ``skipped`` are the sentences of the whole text that are
    not among ``sentences`` because they were left out, by their place in it; ``shares`` names the
    figures (``headline`` and parts) that are shares of one, which people read in percent.

    >>> Scores("m2()", ("A", "B"), np.array([0.3, 0.4])).order
    (1, 0)
    >>> Scores("m2()", ("A", "B"), np.array([0.3, 0.4]))
    <Scores 'm2()': A 0.3000, B 0.4000>
    """

    scorer: str
    systems: tuple[str, ...]
    values: Floats
    sentences: Floats | None = None
    parts: Mapping[str, Floats | Ints] = field(default_factory=dict)
    resampled: Floats | None = None
    sentence_parts: Mapping[str, Floats | Ints] = field(default_factory=dict)
    headline: str = "score"
    context: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    name: str = ""
    label: str = ""
    skipped: tuple[int, ...] = ()
    shares: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.systems)
        for error in duplicate_name_errors(self.systems):
            raise error
        shapes = [
            self.values.shape,
            *(part.shape for part in self.parts.values()),
            *(part.shape[:1] for part in self.sentence_parts.values()),
        ]
        if self.sentences is not None:
            shapes.append(self.sentences.shape[:1])
        if self.resampled is not None:
            shapes.append(self.resampled.shape[1:])
        if any(shape != (n,) for shape in shapes):
            raise InputError(f"{self.scorer}: {n} systems but arrays of shapes {shapes}")
        for name in ("parts", "sentence_parts"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        object.__setattr__(self, "name", self.name or self.scorer)
        object.__setattr__(self, "label", self.label or self.name)

    def __repr__(self) -> str:
        return _in_brief(self, self.label, *(f"{name} {value:.4f}" for name, value in self))

    def __len__(self) -> int:
        return len(self.systems)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return iter(zip(self.systems, self.values.tolist(), strict=True))

    def __getitem__(self, system: str) -> float:
        return float(self.values[self.systems.index(system)])

    @property
    def order(self) -> tuple[int, ...]:
        """Positions of the systems, best score first; equal scores keep the given order.

        Equal is what differs by rounding only (`errata.core.stats.merge_ties`), here and below.
        """
        return tuple(np.argsort(-merge_ties(self.values), kind="stable").tolist())

    @property
    def ranks(self) -> tuple[int | None, ...]:
        """The rank of each system; equal scores share one, and the next is counted on from it.

        What is no number has no rank.

        >>> Scores("m2()", ("A", "B", "C"), np.array([0.3, np.nan, 0.3])).ranks
        (1, None, 1)
        """
        values = merge_ties(self.values)
        return tuple(
            None if np.isnan(value) else 1 + int((values > value).sum()) for value in values
        )

    def select(self, systems: Sequence[str]) -> Scores:
        """The scores of these systems, in this order.

        >>> Scores("m2()", ("A", "B"), np.array([0.3, 0.4])).select(["B"]).values.tolist()
        [0.4]
        """
        at = [self._position(system) for system in systems]
        return replace(
            self,
            systems=tuple(systems),
            values=self.values[at],
            sentences=None if self.sentences is None else self.sentences[at],
            parts={name: part[at] for name, part in self.parts.items()},
            resampled=None if self.resampled is None else self.resampled[:, at],
            sentence_parts={name: part[at] for name, part in self.sentence_parts.items()},
        )

    def without_sentences(self, *sentences: int) -> Scores:
        """The scores without those of these sentences, counted from 0; overall scores stay.

        >>> table = np.array([[0.1, 0.2, 0.3]])
        >>> fewer = Scores("m2()", ("A",), np.array([0.2]), table).without_sentences(1)
        >>> fewer.sentences.tolist(), fewer.skipped
        ([[0.1, 0.3]], (1,))
        """
        if self.sentences is None or not sentences:
            return self
        size = self.sentences.shape[1]
        gone = {*sentences}
        _check_skipped(gone, size)
        stay = [i for i in range(size) if i not in gone]
        out = {original_number(self.skipped, i) - 1 for i in gone}
        return replace(
            self,
            sentences=self.sentences[:, stay],
            sentence_parts={name: part[:, stay] for name, part in self.sentence_parts.items()},
            skipped=tuple(sorted(out.union(self.skipped))),
        )

    def without(self, *systems: str) -> Scores:
        """The scores of all systems but these, which are to have no part in anything after it."""
        return self._fewer("without", systems)

    def hide(self, *systems: str) -> Scores:
        """The scores of all systems but these, which had a part in them and are not looked at."""
        return self._fewer("hide", systems)

    def _fewer(self, word: str, systems: Sequence[str]) -> Scores:
        for system in systems:
            self._position(system)
        left = self.select([system for system in self.systems if system not in systems])
        return replace(left, context=(*self.context, *(f"{word}:{name}" for name in systems)))

    def _position(self, system: str) -> int:
        if system not in self.systems:
            raise InputError(
                f"{self.scorer} knows no system {system!r}",
                remedy=f"it has: {', '.join(self.systems)}",
            )
        return self.systems.index(system)

    @property
    def signature(self) -> str:
        """Everything that decided the numbers, in one line."""
        return " | ".join((self.scorer, *self.context))

    def interval(self, confidence: float = 0.95) -> Floats:
        """Percentile bootstrap interval: ``[system, (low, high)]``; NaN without resamples."""
        if self.resampled is None:
            return np.full((len(self), 2), np.nan)
        return percentiles(self.resampled, confidence)

    def p_values(self) -> Floats:
        """Paired bootstrap: ``p[a, b]``, one-sided, small where ``a`` is better than ``b``.

        The share of resamples in which ``a`` does not beat ``b`` (ties count half), with the
        usual +1 so that no p is 0 (Koehn 2004; Davison & Hinkley 1997). Resamples in which one of
        them has no score are left out.
        """
        if self.resampled is None:
            return np.full((len(self), len(self)), np.nan)
        n, drawn = len(self), merge_ties(self.resampled)
        worse, known = np.zeros((n, n)), np.zeros((n, n))
        step = max(1, BLOCK // max(1, n * n))
        for start in range(0, len(drawn), step):
            a, b = drawn[start : start + step, :, None], drawn[start : start + step, None, :]
            worse += (a < b).sum(0) + 0.5 * (a == b).sum(0)
            known += (~(np.isnan(a) | np.isnan(b))).sum(0)
        return np.asarray((worse + 1) / (known + 1), np.float64)

    def to_pandas(self, *, by_sentence: bool = False) -> pandas.DataFrame:
        """The table of the scores, best first, as a data frame; or a row for every sentence.

        >>> scores = Scores("m2()", ("A", "B"), np.array([0.3, 0.4]))
        >>> scores.to_pandas()[["rank", "system", "score"]].values.tolist()
        [[1, 'B', 0.4], [2, 'A', 0.3]]
        """
        import errata

        frame: pandas.DataFrame = errata._display(self, "pandas", by_sentence=by_sentence)
        return frame

    def to_polars(self, *, by_sentence: bool = False) -> polars.DataFrame:
        """The same as a frame of polars."""
        import errata

        frame: polars.DataFrame = errata._display(self, "polars", by_sentence=by_sentence)
        return frame

    def _repr_html_(self) -> str:
        """What a notebook shows: the table of a report."""
        import errata

        return str(errata._display(self, "html"))


def short_names(scorers: Sequence[Scores]) -> tuple[str, ...]:
    """Names for headings: bare where that is enough, then labels, then whole signatures.

    Bare is what the label begins with: ``errant`` without ERRANT's edits is labelled ``edits``.

    >>> short_names([Scores("m2(beta=1)", (), np.zeros(0), name="m2"),
    ...              Scores("gleu()", (), np.zeros(0), name="gleu")])
    ('m2', 'gleu')
    """
    spellings = [
        [
            scores.name if scores.label.startswith(scores.name) else scores.label.partition("(")[0]
            for scores in scorers
        ],
        [scores.label for scores in scorers],
        [scores.scorer for scores in scorers],
    ]
    return tuple(
        next((names[i] for names in spellings if names.count(names[i]) == 1), spellings[-1][i])
        for i in range(len(scorers))
    )
