"""Edits and references, as objects and, for a whole corpus, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain, pairwise
from operator import attrgetter
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.stats import Bools
from errata.data.tokens import utf8
from errata.kernels import letters

T = TypeVar("T")
REQUIRED, NO_COMMENT = "REQUIRED", "-NONE-"
EDIT_COLUMNS = ("replacements", "kinds", "alternatives", "required", "comments")


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
    required: str = REQUIRED
    comment: str = NO_COMMENT

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
                ("required", self.required, REQUIRED),
                ("comment", self.comment, NO_COMMENT),
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


def apply_edits(
    tokens: Sequence[str], edits: Iterable[Edit], *, overlapping: bool = False
) -> list[str]:
    """Carry out edits (their first replacement) on a tokenised sentence.

    Several insertions at one place keep their order. Edits that overlap are an error; where
    ``overlapping`` ones are allowed, an edit that overlaps one to its left is left out.

    >>> apply_edits("He go home".split(), [Edit(1, 2, "goes"), Edit(3, 3, "now .")])
    ['He', 'goes', 'home', 'now', '.']
    >>> apply_edits("a b c".split(), [Edit(0, 2, "x"), Edit(1, 3, "y")], overlapping=True)
    ['x', 'c']
    """
    result: list[str] = []
    position = 0
    several = list(edits)
    if len(several) > 1:
        several.sort(key=attrgetter("start", "end"))
    for edit in several:
        if overlapping and edit.start < position and edit.end <= len(tokens):
            continue
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

    def corrected(self, source: str, *, overlapping: bool = False) -> str:
        """The corrected sentence: the text as given, or the edits carried out (`apply_edits`)."""
        if self.text is not None:
            return self.text
        if not self.edits:
            return source
        return " ".join(apply_edits(source.split(), self.edits, overlapping=overlapping))


def offsets(sizes: NDArray[Any]) -> NDArray[np.int64]:
    """Return where parts of these sizes begin, and where the last one ends.

    >>> offsets(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    at = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=at[1:])
    return at


@dataclass(frozen=True, eq=False)
class ReferenceTable(Sequence[tuple[Reference, ...]]):
    """The references of all sentences, and their edits, as columns.

    Sentence ``i`` has the references ``reference_offsets[i]:reference_offsets[i + 1]``, reference
    ``r`` the edits ``edit_offsets[r]:edit_offsets[r + 1]``. ``bare`` references have a text but no
    edits. An empty column of ``texts``, ``alternatives``, ``required`` or ``comments`` says that
    every value is the default of `Reference` or `Edit`. As a sequence, it holds the tuple of
    `Reference` objects of each sentence (`rows`).

    >>> table = ReferenceTable.of([[Reference(0, (Edit(0, 1, "He"),))], []])
    >>> table.start.tolist(), table.replacements, table[1]
    ([0], ['He'], ())
    """

    reference_offsets: NDArray[np.int64]
    annotators: NDArray[np.int64]
    bare: Bools
    implied: Bools
    edit_offsets: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    replacements: Sequence[str]
    kinds: Sequence[str]
    texts: Sequence[str | None] = ()
    alternatives: Sequence[tuple[str, ...]] = ()
    required: Sequence[str] = ()
    comments: Sequence[str] = ()

    @classmethod
    def of(cls, references: Sequence[Sequence[Reference]]) -> ReferenceTable:
        """Return the columns of the references of each sentence."""
        every = list(chain.from_iterable(references))
        edits = [reference.edits for reference in every]
        flat = list(chain.from_iterable(filter(None, edits)))
        bare = np.zeros(len(every), np.bool_)
        if None in edits:
            bare[:] = [each is None for each in edits]
        return cls(
            offsets(np.fromiter(map(len, references), np.int64, len(references))),
            _integers("annotator", every),
            bare,
            np.fromiter(map(attrgetter("implied"), every), np.bool_, len(every)),
            offsets(np.fromiter([len(each or ()) for each in edits], np.int64, len(edits))),
            texts=_attribute_column("text", every, None),
            **_edit_columns(flat),
        )

    @classmethod
    def of_output(cls, edits: Sequence[Sequence[Edit]]) -> ReferenceTable:
        """Return the columns of a system's edits, as if they were the only reference.

        >>> ReferenceTable.of_output([(), (Edit(0, 1, "He"),)]).edit_offsets.tolist()
        [0, 0, 1]
        """
        if isinstance(edits, OutputEdits):
            return edits.table
        sizes = np.fromiter(map(len, edits), np.int64, len(edits))
        return cls.of_columns(offsets(sizes), **_edit_columns(list(chain.from_iterable(edits))))

    @classmethod
    def of_columns(cls, edit_offsets: NDArray[np.int64], **columns: Any) -> ReferenceTable:
        """Return a table with one reference for each sentence, from the columns of its edits."""
        size = len(edit_offsets) - 1
        bare, implied = np.zeros((2, size), np.bool_)
        annotators = np.zeros(size, np.int64)
        return cls(np.arange(size + 1), annotators, bare, implied, edit_offsets, **columns)

    def __len__(self) -> int:
        return len(self.reference_offsets) - 1

    @overload
    def __getitem__(self, which: int) -> tuple[Reference, ...]: ...
    @overload
    def __getitem__(self, which: slice) -> ReferenceTable: ...

    def __getitem__(self, which: int | slice) -> tuple[Reference, ...] | ReferenceTable:
        if not isinstance(which, slice):
            return self.rows[which]
        begin, end, step = which.indices(len(self))
        if step == 1:
            return self.slice(begin, max(begin, end))
        return self.take(np.arange(begin, end, step))

    def __iter__(self) -> Iterator[tuple[Reference, ...]]:
        return iter(self.rows)

    def __eq__(self, other: object) -> bool:
        return self.rows == (other.rows if isinstance(other, ReferenceTable) else other)

    def __hash__(self) -> int:
        return hash(self.rows)

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def rows(self) -> tuple[tuple[Reference, ...], ...]:
        """The references of each sentence as objects; equal edits are one object."""
        edits = self.every_edit
        at = self.edit_offsets.tolist()
        every = [
            Reference(annotator, None if bare else tuple(edits[a:b]), text, implied)
            for annotator, bare, implied, text, (a, b) in zip(
                self.annotators.tolist(),
                self.bare.tolist(),
                self.implied.tolist(),
                self.texts or [None] * len(self.annotators),
                pairwise(at),
                strict=True,
            )
        ]
        return tuple(tuple(every[a:b]) for a, b in pairwise(self.reference_offsets.tolist()))

    @cached_property
    def every_edit(self) -> list[Edit]:
        """All edits as objects, one reference after the other."""
        size = len(self.start)
        columns = (
            self.start.tolist(),
            self.end.tolist(),
            self.replacements,
            self.kinds,
            self.alternatives or [()] * size,
            self.required or [REQUIRED] * size,
            self.comments or [NO_COMMENT] * size,
        )
        known: dict[Any, Edit] = {}
        found = []
        for line in zip(*columns, strict=True):
            edit = known.get(line)
            if edit is None:
                edit = known[line] = Edit(*line)
            found.append(edit)
        return found

    def sentence(self, i: int) -> tuple[Reference, ...]:
        """Return the references of one sentence without making all objects."""
        return self.rows[i] if "rows" in self.__dict__ else self.slice(i, i + 1).rows[0]

    def slice(self, begin: int, end: int) -> ReferenceTable:
        """Return the references of the sentences ``begin:end``."""
        own = self.reference_offsets[begin : end + 1]
        references = slice(*own[[0, -1]].tolist())
        at = self.edit_offsets[references.start : references.stop + 1]
        edits = slice(*at[[0, -1]].tolist())
        return ReferenceTable(
            own - own[0],
            self.annotators[references],
            self.bare[references],
            self.implied[references],
            at - at[0],
            self.start[edits],
            self.end[edits],
            self.replacements[edits],
            self.kinds[edits],
            _no_default(self.texts[references], None),
            _no_default(self.alternatives[edits], ()),
            _no_default(self.required[edits], REQUIRED),
            _no_default(self.comments[edits], NO_COMMENT),
        )

    def take(self, sentences: NDArray[Any]) -> ReferenceTable:
        """Return the references of these sentences, in this order."""
        references = members(self.reference_offsets, sentences)
        edits = members(self.edit_offsets, references)
        return ReferenceTable(
            offsets(self.sizes[sentences]),
            self.annotators[references],
            self.bare[references],
            self.implied[references],
            offsets(np.diff(self.edit_offsets)[references]),
            self.start[edits],
            self.end[edits],
            _take_items(self.replacements, edits),
            _take_items(self.kinds, edits),
            _no_default(_take_items(self.texts, references), None),
            _no_default(_take_items(self.alternatives, edits), ()),
            _no_default(_take_items(self.required, edits), REQUIRED),
            _no_default(_take_items(self.comments, edits), NO_COMMENT),
        )

    def in_order(self) -> ReferenceTable:
        """Return the table with the edits of each reference sorted by where they stand."""
        order = np.lexsort((self.end, self.start, self.reference_of_edit))
        if (np.diff(order) == 1).all():
            return self
        lists: dict[str, Any] = {
            name: _take_items(getattr(self, name), order) for name in EDIT_COLUMNS
        }
        return replace(self, start=self.start[order], end=self.end[order], **lists)

    def join(self, *others: ReferenceTable) -> ReferenceTable:
        """Return these references followed by the references of other sentences."""
        if not others:
            return self
        every = (self, *others)
        references, edits = (
            offsets(np.array([len(getattr(each, name)) for each in every])).tolist()
            for name in ("annotators", "start")
        )

        def shifted(name: str, ends: list[int]) -> NDArray[np.int64]:
            parts = [getattr(t, name)[:-1] + n for t, n in zip(every, ends[:-1], strict=True)]
            return np.concatenate([*parts, ends[-1:]])

        def arrays(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(each, name) for each in every])

        def lists(name: str, default: object, size: str) -> list[Any]:
            columns = [(getattr(each, name), len(getattr(each, size))) for each in every]
            if not any(column for column, _ in columns):
                return []
            return list(chain.from_iterable(c or [default] * n for c, n in columns))

        return ReferenceTable(
            shifted("reference_offsets", references),
            arrays("annotators"),
            arrays("bare"),
            arrays("implied"),
            shifted("edit_offsets", edits),
            arrays("start"),
            arrays("end"),
            lists("replacements", "", "start"),
            lists("kinds", "", "start"),
            lists("texts", None, "annotators"),
            lists("alternatives", (), "start"),
            lists("required", REQUIRED, "start"),
            lists("comments", NO_COMMENT, "start"),
        )

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return the number of references of each sentence."""
        return np.diff(self.reference_offsets)

    @cached_property
    def replacement_flags(self) -> NDArray[np.uint8]:
        """What characters the replacements have; see `errata.kernels.letters`."""
        found: NDArray[np.uint8] = letters.show(*utf8(self.replacements))
        return found

    @cached_property
    def reference_of_edit(self) -> NDArray[np.int64]:
        """The reference that each edit belongs to."""
        return np.repeat(np.arange(len(self.annotators)), np.diff(self.edit_offsets))

    @cached_property
    def sentence_of_reference(self) -> NDArray[np.int64]:
        """The sentence that each reference belongs to."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def joined_replacements(self) -> Sequence[str]:
        """All replacements of each edit in one text, as M2 files write them: ``a||b``."""
        if not self.alternatives:
            return self.replacements
        return [
            "||".join((text, *others)) if others else text
            for text, others in zip(self.replacements, self.alternatives, strict=True)
        ]

    def all_replacements(self, edit: int) -> tuple[str, ...]:
        """Return every correct replacement of an edit, the main one first."""
        return (self.replacements[edit], *(self.alternatives[edit] if self.alternatives else ()))

    def has_overlaps(self) -> bool:
        """Whether two edits of one reference overlap; insertions at one place do not."""
        owner = self.reference_of_edit
        order = np.lexsort((self.end, self.start, owner))
        owner, start, end = owner[order], self.start[order], self.end[order]
        far = int(end.max(initial=0)) + 1  # keeps the edits of references apart
        reached = np.maximum.accumulate(owner * far + end)
        return bool((owner[1:] * far + start[1:] < reached[:-1]).any())

    def annotators_by_sentence(self) -> NDArray[np.float64]:
        """Return the annotator of each reference, ``[sentence, reference]``; NaN where none is.

        >>> table = ReferenceTable.of([[Reference(3, ())], [Reference(1, ()), Reference(3, ())]])
        >>> table.annotators_by_sentence().tolist()
        [[3.0, nan], [1.0, 3.0]]
        """
        sizes = self.sizes
        found = np.full((len(self), int(sizes.max(initial=0))), np.nan)
        found[np.arange(found.shape[1]) < sizes[:, None]] = self.annotators
        return found

    def sentences_where(self, with_next: Bools) -> NDArray[np.int64]:
        """Return the sentences in which this holds for a reference and the next one."""
        owner = self.sentence_of_reference
        return np.unique(owner[1:][with_next & (np.diff(owner) == 0)])

    def last_ends(self) -> NDArray[np.int64]:
        """Return the largest end of an edit in each sentence; 0 without edits."""
        found = np.zeros(len(self), np.int64)
        begin = self.edit_offsets[self.reference_offsets]
        edited = np.flatnonzero(np.diff(begin))
        if len(edited):
            found[edited] = np.maximum.reduceat(self.end, begin[edited])
        return found


@dataclass(frozen=True, eq=False, repr=False)
class OutputEdits(Sequence[tuple[Edit, ...]]):
    """The edits of a system's output as columns; as a sequence, the edits of each sentence.

    >>> edits = OutputEdits(ReferenceTable.of_output([(), (Edit(0, 1, "He"),)]))
    >>> edits.table.replacements, edits[0], edits == ((), (Edit(0, 1, "He"),))
    (['He'], (), True)
    """

    table: ReferenceTable

    @cached_property
    def rows(self) -> tuple[tuple[Edit, ...], ...]:
        """The edits of each sentence as objects."""
        every = self.table.every_edit
        return tuple(tuple(every[a:b]) for a, b in pairwise(self.table.edit_offsets.tolist()))

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, which: int) -> tuple[Edit, ...]: ...
    @overload
    def __getitem__(self, which: slice) -> OutputEdits: ...

    def __getitem__(self, which: int | slice) -> tuple[Edit, ...] | OutputEdits:
        return OutputEdits(self.table[which]) if isinstance(which, slice) else self.rows[which]

    def __iter__(self) -> Iterator[tuple[Edit, ...]]:
        return iter(self.rows)

    def __eq__(self, other: object) -> bool:
        return self.rows == (other.rows if isinstance(other, OutputEdits) else other)

    def __hash__(self) -> int:
        return hash(self.rows)

    def __repr__(self) -> str:
        return repr(self.rows)


def members(at: NDArray[np.int64], parts: NDArray[Any]) -> NDArray[np.int64]:
    """Return the numbers of all members of some parts; part p has ``at[p]:at[p + 1]``.

    >>> members(np.array([0, 2, 2, 5]), np.array([2, 0])).tolist()
    [2, 3, 4, 0, 1]
    """
    sizes = np.diff(at)[parts]
    before = offsets(sizes)
    numbers: NDArray[np.int64] = np.arange(before[-1]) + np.repeat(at[parts] - before[:-1], sizes)
    return numbers


def _take_items(column: Sequence[T], which: NDArray[np.int64]) -> Sequence[T]:
    return [column[i] for i in which.tolist()] if column else ()


def _edit_columns(edits: Sequence[Edit]) -> dict[str, Any]:
    """Return the columns of a `ReferenceTable` that come from its edits."""
    return {
        "start": _integers("start", edits),
        "end": _integers("end", edits),
        "replacements": _attribute_column("replacement", edits),
        "kinds": _attribute_column("kind", edits),
        "alternatives": _attribute_column("alternatives", edits, ()),
        "required": _attribute_column("required", edits, REQUIRED),
        "comments": _attribute_column("comment", edits, NO_COMMENT),
    }


def _attribute_column(name: str, things: Sequence[object], *default: object) -> Any:
    """Return one attribute of every thing; nothing if all have the default."""
    return _no_default(list(map(attrgetter(name), things)), *default)


def _no_default(column: Any, *default: object) -> Any:
    """Return a column, or an empty one if all its values are the default."""
    return [] if default and column.count(default[0]) == len(column) else column


def _integers(name: str, things: Sequence[object]) -> NDArray[np.int64]:
    """Return one number of every thing."""
    try:
        return np.fromiter(map(attrgetter(name), things), np.int64, len(things))
    except OverflowError:
        owner = "a reference" if name == "annotator" else "an edit"
        raise InputError(
            f"{max(map(attrgetter(name), things), key=abs)} is too large for the {name} of {owner}",
            remedy="number annotators, and tokens, from 0",
        ) from None
