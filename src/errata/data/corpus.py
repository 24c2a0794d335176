"""Learner sentences with their references."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import InitVar, dataclass, field, fields, replace
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

from errata.core.errors import InputError, escape_controls, shorten
from errata.core.stats import plural
from errata.data.edits import Reference, ReferenceTable
from errata.data.tokens import Tokens, Vocabulary

T = TypeVar("T")
BATCH = 1024  # sentences; large enough for whole-batch kernels, small enough to share out
COLUMNS, LETTERS = "reference columns", "source letters"  # keys of `Corpus.derived`


@dataclass(frozen=True)
class Corpus:
    """Learner sentences with, for each, the references of one or more annotators.

    Sentences may have different numbers of references, and none where a metric needs none; the
    references of a sentence are sorted by annotator. All batches made through one corpus share its
    vocabulary. ``kept`` names the annotators where the references of others were left out;
    ``skipped`` are the sentences left out of the ``whole``, by their place there; ``tokens`` names
    the tokeniser of its texts, and ``raw`` is the corpus before these were tokenised; ``first`` is
    the number of sentences before it, where it is a part of a larger corpus; ``documents`` name the
    document of each sentence, where known;
    ``tokenised_edits`` says that the file has its corrections tokenised as I-measure wants them.
    Values computed from a corpus are kept with it (`derived`).

    >>> corpus = Corpus.from_texts(["He go home ."], [["He goes home ."], ["He went home ."]])
    >>> len(corpus), corpus.most_references
    (1, 2)
    >>> corpus
    <Corpus 'corpus': 1 sentence, annotators 0, 1>
    """

    sources: tuple[str, ...]
    references: Sequence[tuple[Reference, ...]]
    name: str = "corpus"
    vocabulary: Vocabulary = field(default_factory=Vocabulary, repr=False, compare=False)
    kept: tuple[int, ...] = field(default=(), kw_only=True)
    skipped: tuple[int, ...] = field(default=(), kw_only=True)
    tokens: str = field(default="as_is", kw_only=True)
    whole: Corpus | None = field(default=None, kw_only=True, repr=False, compare=False)
    raw: Corpus | None = field(default=None, kw_only=True, repr=False, compare=False)
    first: int = field(default=0, kw_only=True, repr=False, compare=False)
    documents: tuple[str, ...] = field(default=(), kw_only=True, repr=False, compare=False)
    tokenised_edits: bool = field(default=False, kw_only=True, repr=False)
    checked: InitVar[bool] = field(default=False, kw_only=True)
    _derived: dict[Hashable, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _locks: dict[Hashable, threading.RLock] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _lock: threading.Lock = field(
        default_factory=threading.Lock, init=False, repr=False, compare=False
    )

    def __post_init__(self, checked: bool) -> None:
        """Check and sort the references, unless the caller has ``checked`` them."""
        if self.documents and len(self.documents) != len(self):
            raise InputError(
                f"documents of {len(self.documents)} sentences, but there are {len(self)}",
                remedy="name the document of every sentence, or of none",
            )
        if checked:
            return
        if len(self.sources) != len(self.references):
            raise InputError(
                f"{len(self.sources)} sources but {len(self.references)} sets of references",
                remedy="give one tuple of references per source",
            )
        table = self.edits
        numbers = table.annotators
        unordered = table.sentences_where(numbers[1:] < numbers[:-1]).tolist()
        if unordered or not isinstance(self.references, tuple | ReferenceTable):
            ordered = list(self.references)
            for i in unordered:
                ordered[i] = tuple(sorted(ordered[i], key=attrgetter("annotator")))
            object.__setattr__(self, "references", tuple(ordered))
            table = self._derived[COLUMNS] = ReferenceTable.of(ordered)
        _check_annotators_and_offsets(self.sources, table)

    def __repr__(self) -> str:
        return describe_briefly(
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

    def __reduce__(self) -> tuple[Callable[[], Corpus], tuple[()]]:
        # Derived values and the vocabulary are not copied to another process.
        given = [each.name for each in fields(self) if each.init and each.name != "vocabulary"]
        values = {name: getattr(self, name) for name in given}
        return partial(type(self), **values, checked=True), ()

    def __len__(self) -> int:
        return len(self.sources)

    def __getitem__(self, which: slice) -> Corpus:
        """Return a part that shares the vocabulary; its sentences are numbered from 0."""
        part = replace(
            self,
            sources=self.sources[which],
            references=self.references[which],
            documents=self.documents[which],
            skipped=(),
            whole=None,
            raw=self.raw and self.raw[which],
            first=0,
            checked=True,
        )
        if not isinstance(self.references, ReferenceTable):
            part._derived[COLUMNS] = self.edits[which]
        return part

    def starting_at(self, first: int) -> Corpus:
        """Return the corpus as a part of a larger one, after ``first`` sentences.

        >>> Corpus.from_texts(["a b"]).starting_at(7).number(0)
        8
        """
        return self._with(first=first)

    def in_documents(self, documents: Sequence[str]) -> Corpus:
        """Return the corpus with the document of each sentence.

        >>> Corpus.from_texts(["a b", "c"]).in_documents(["letter", "letter"]).documents
        ('letter', 'letter')
        """
        return self._with(documents=tuple(documents))

    def _with(self, **changes: Any) -> Corpus:
        """Return a copy with the same sentences and references, and the columns derived of them."""
        other = replace(self, **changes, checked=True)
        for key in (COLUMNS, LETTERS):
            if key in self._derived:
                other._derived[key] = self._derived[key]
        return other

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of ``make``, called once for this corpus; threads wait for each other.

        A corpus never changes, so values that depend on it alone are kept with it: all systems
        share its gold edits, n-grams and chunks.

        >>> corpus = Corpus.from_texts(["a b"])
        >>> corpus.derived("words", lambda: 2), corpus.derived("words", lambda: 3)
        (2, 2)
        """
        with self._lock:
            lock = self._locks.setdefault(key, threading.RLock())
        with lock:  # one lock a key: `make` may derive other values, also in threads
            if key not in self._derived:
                self._derived[key] = make()
        value: T = self._derived[key]
        return value

    @property
    def edits(self) -> ReferenceTable:
        """The references and their edits as columns."""
        if isinstance(self.references, ReferenceTable):
            return self.references
        return self.derived(COLUMNS, lambda: ReferenceTable.of(self.references))

    @property
    def batches(self) -> tuple[Corpus, ...]:
        """The corpus in parts of 1,024 sentences (4,096 or 8,192 if it is long) for threads."""
        if len(self) <= BATCH:
            return (self,)
        # Threads wait for each other between two kernels: less often if batches are large.
        step = next((s for s in (BATCH, 4 * BATCH) if len(self) <= 16 * s), 8 * BATCH)
        return self.derived(
            "batches", lambda: tuple(self[i : i + step] for i in range(0, len(self), step))
        )

    @property
    def annotators(self) -> tuple[int, ...]:
        """The numbers of all annotators, in order."""
        return self.derived("annotators", lambda: tuple(np.unique(self.edits.annotators).tolist()))

    @property
    def most_references(self) -> int:
        """The largest number of references any sentence has."""
        return int(self.edits.sizes.max(initial=0))

    @property
    def has_gold_edits(self) -> bool:
        """Whether every reference comes with edits (M2) and not only as text."""
        return not self.edits.bare.any()

    @property
    def source_tokens(self) -> Tokens:
        """The sources as integers."""
        return self.derived("source tokens", lambda: self.vocabulary.intern(self.sources))

    def keep_annotators(self, *annotators: int) -> Corpus:
        """Return the corpus with the references of these annotators only.

        A sentence that none of them annotated gets an implied reference without edits, as it
        would from a file that holds their lines only.
        """
        if not annotators:
            raise InputError("no annotator to keep", remedy="name at least one annotator")

        def keep(references: tuple[Reference, ...]) -> tuple[Reference, ...]:
            kept = tuple(r for r in references if r.annotator in annotators)
            return kept or (Reference(annotators[0], (), implied=True),)

        return replace(
            self,
            references=tuple(map(keep, self.references)),
            kept=tuple(sorted(set(annotators))),
            raw=self.raw and self.raw.keep_annotators(*annotators),
        )

    def without_sentences(self, *sentences: int) -> Corpus:
        """Return the corpus without these sentences, counted from 0; the others keep their numbers.

        >>> corpus = Corpus.from_texts(["a", "b", "c"]).without_sentences(1)
        >>> corpus.sources, corpus.number(1), corpus.skipped
        (('a', 'c'), 3, (1,))
        """
        if not sentences:
            return self
        before = self.whole or self
        gone = {*sentences}
        check_skipped(gone, len(self))
        stay = [i for i in range(len(self)) if i not in gone]
        left = {original_number(self.skipped, i) - 1 for i in stay}
        return replace(
            self,
            sources=tuple(self.sources[i] for i in stay),
            references=tuple(self.references[i] for i in stay),
            documents=tuple(self.documents[i] for i in stay) if self.documents else (),
            skipped=tuple(i for i in range(len(before)) if i not in left),
            whole=before,
            raw=self.raw and self.raw.without_sentences(*sentences),
        )

    def number(self, sentence: int) -> int:
        """Return the number, from 1, that a sentence has in the whole corpus."""
        return self.first + original_number(self.skipped, sentence)


def original_number(skipped: Sequence[int], sentence: int) -> int:
    """Return the number, from 1, that a sentence had before some (from 0, in order) were skipped.

    >>> [original_number((1, 2, 5), i) for i in range(4)]
    [1, 4, 5, 7]
    """
    place = sentence
    for gone in skipped:
        if gone > place:
            break
        place += 1
    return place + 1


def check_skipped(sentences: Iterable[int], size: int) -> None:
    """Refuse to leave out sentences that do not exist, or all of them."""
    gone = {*sentences}
    for sentence in sorted(gone):
        if not 0 <= sentence < size:
            raise InputError(
                f"there is no sentence {sentence + 1} to leave out of {size}",
                remedy=f"choose from 1 to {size}",
            )
    if gone and len(gone) == size:
        raise InputError(f"all {size} sentences are left out", remedy="leave some of them in")


def _check_annotators_and_offsets(sources: Sequence[str], table: ReferenceTable) -> None:
    """Refuse two references of one annotator, and edits outside the sentence."""
    twice = table.sentences_where(table.annotators[1:] == table.annotators[:-1])
    ends = table.last_ends()
    edited = np.flatnonzero(ends)
    words = np.fromiter((len(sources[i].split()) for i in edited.tolist()), np.int64, len(edited))
    outside = edited[ends[edited] > words]
    if len(twice) and not (len(outside) and outside[0] < twice[0]):
        raise InputError(
            f"sentence {twice[0]} has two references of one annotator",
            remedy="number the annotators of a sentence differently",
        )
    if len(outside):
        i = int(outside[0])
        length = len(sources[i].split())
        edits = (e for r in table.sentence(i) for e in r.edits or ())
        edit = next(edit for edit in edits if edit.end > length)
        raise InputError(
            f"sentence {i}: edit {edit.start}-{edit.end} is outside the sentence "
            f"of {length} tokens",
            remedy="check offsets and tokenisation",
        )


def describe_briefly(thing: object, name: str, *facts: str) -> str:
    """Return a large value in one line: its class, its name and at most eight facts."""
    shown = ", ".join(facts[:8]) + (f" and {len(facts) - 8} more" if len(facts) > 8 else "")
    return f"<{type(thing).__name__} {shorten(name)!r}: {escape_controls(shown)}>"
