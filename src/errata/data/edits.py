"""Where all edits of a corpus stand, and what they say, as arrays and lists.

Every metric would else gather these for itself; and who reads them need not make the edits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.stats import Bools
from errata.data.tokens import utf8
from errata.kernels import letters

NONE: Mapping[int, tuple[str, ...]] = MappingProxyType({})


def offsets(sizes: NDArray[Any]) -> NDArray[np.int64]:
    """Where parts of these sizes begin, and where the last ends.

    >>> offsets(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    at = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=at[1:])
    return at


class EditArrays(NamedTuple):
    """References by sentence (``first[i]:first[i + 1]``), and where the edits of each stand.

    Edits of reference r are ``at[r]:at[r + 1]``; ``bare`` references have none because they came
    as text.
    """

    first: NDArray[np.int64]
    annotators: NDArray[np.int64]
    bare: Bools
    at: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    @classmethod
    def of(cls, references: Sequence[Sequence[Any]]) -> EditArrays:
        """Those of the references of each sentence."""
        every = list(chain.from_iterable(references))
        edits = [reference.edits for reference in every]
        flat = list(chain.from_iterable(filter(None, edits)))
        bare = np.zeros(len(every), np.bool_)
        if None in edits:
            bare[:] = [each is None for each in edits]
        return cls(
            offsets(np.fromiter(map(len, references), np.int64, len(references))),
            _each("annotator", every),
            bare,
            offsets(np.fromiter([len(each or ()) for each in edits], np.int64, len(edits))),
            _each("start", flat),
            _each("end", flat),
        )

    def slices(self, begin: int, end: int) -> tuple[slice, slice]:
        """Which references the sentences ``begin:end`` have, and which edits these."""
        first = self.first[[begin, end]]
        return slice(*first.tolist()), slice(*self.at[first].tolist())

    def part(self, begin: int, end: int) -> EditArrays:
        """Those of the sentences ``begin:end``."""
        first = self.first[begin : end + 1]
        at = self.at[first[0] : first[-1] + 1]
        references, edits = self.slices(begin, end)
        return EditArrays(
            first - first[0],
            self.annotators[references],
            self.bare[references],
            at - at[0],
            self.start[edits],
            self.end[edits],
        )

    def joined(self, *others: EditArrays) -> EditArrays:
        """Those of these sentences and, behind them, of others."""
        every = (self, *others)
        references = offsets(np.array([len(each.annotators) for each in every]))
        edits = offsets(np.array([len(each.start) for each in every]))
        first = [each.first[:-1] + n for each, n in zip(every, references[:-1], strict=True)]
        at = [each.at[:-1] + n for each, n in zip(every, edits[:-1], strict=True)]
        return EditArrays(
            np.concatenate([*first, references[-1:]]),
            np.concatenate([each.annotators for each in every]),
            np.concatenate([each.bare for each in every]),
            np.concatenate([*at, edits[-1:]]),
            np.concatenate([each.start for each in every]),
            np.concatenate([each.end for each in every]),
        )

    def taken(
        self, order: NDArray[np.intp]
    ) -> tuple[EditArrays, NDArray[np.int64], NDArray[np.int64]]:
        """Those of these sentences, in this order; which references these are, and which edits."""
        references = _numbers(self.first, order)
        edits = _numbers(self.at, references)
        places = EditArrays(
            offsets(self.sizes[order]),
            self.annotators[references],
            self.bare[references],
            offsets(np.diff(self.at)[references]),
            self.start[edits],
            self.end[edits],
        )
        return places, references, edits

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many references each sentence has."""
        return np.diff(self.first)

    def first_of_kind(self, each: NDArray[Any]) -> list[int]:
        """The sentences of whose references an array has what it has of none before.

        >>> from errata.data import Reference
        >>> places = EditArrays.of([[Reference(0, ())], [Reference(0, ())], [Reference(1, ())], []])
        >>> places.first_of_kind(places.annotators)
        [0, 2, 3]
        """
        found = []
        for size in np.unique(self.sizes).tolist():
            sentences = np.flatnonzero(self.sizes == size)
            rows = each[self.first[sentences][:, None] + np.arange(size)]
            if (rows == rows[:1]).all():  # as in most files
                found.append(int(sentences[0]))
            else:
                found += sentences[np.unique(rows, axis=0, return_index=True)[1]].tolist()
        return sorted(found)

    def disordered(self) -> NDArray[np.int64]:
        """The sentences whose references are not in the order of their annotators."""
        return self._sentences(self.annotators[1:] < self.annotators[:-1])

    def doubled(self) -> NDArray[np.int64]:
        """The sentences with two references of one annotator, where all are in order."""
        return self._sentences(self.annotators[1:] == self.annotators[:-1])

    def _sentences(self, next_one: Bools) -> NDArray[np.int64]:
        """The sentences in which this is true of a reference and the next of the same sentence."""
        owner = np.repeat(np.arange(len(self.first) - 1), self.sizes)
        return np.unique(owner[1:][next_one & (np.diff(owner) == 0)])

    def reach(self) -> NDArray[np.int64]:
        """The largest end of an edit in each sentence; 0 without edits."""
        found = np.zeros(len(self.first) - 1, np.int64)
        begin = self.at[self.first]
        there = np.flatnonzero(np.diff(begin))
        if len(there):
            # Between the beginnings of sentences that have edits stand theirs alone.
            found[there] = np.maximum.reduceat(self.end, begin[there])
        return found


class EditTexts(NamedTuple):
    """What references and edits say, in the order of their `EditArrays`.

    Of references: ``told`` by edits alone, without a text, and ``implied``. Of edits: their
    ``corrections``, ``alternatives`` of the few that have some, and what the letters of the
    corrections show (`errata.kernels.letters`), where whoever read them ``shows`` it.
    """

    told: NDArray[np.uint8]
    implied: NDArray[np.uint8]
    corrections: Sequence[str]
    alternatives: Mapping[int, tuple[str, ...]] = NONE
    shows: NDArray[np.uint8] | None = None

    @classmethod
    def of(cls, references: Sequence[Sequence[Any]]) -> EditTexts:
        """Those of the references of each sentence."""
        every = list(chain.from_iterable(references))
        edits = list(chain.from_iterable(r.edits for r in every if r.edits))
        several = list(map(attrgetter("alternatives"), edits))
        return cls(
            np.fromiter((r.text is None for r in every), np.uint8, len(every)),
            np.fromiter(map(attrgetter("implied"), every), np.uint8, len(every)),
            list(map(attrgetter("replacement"), edits)),
            {k: each for k, each in enumerate(several) if each} if any(several) else NONE,
        )

    def part(self, references: slice, edits: slice) -> EditTexts:
        """Those of some references, and of their edits."""
        first, last, _ = edits.indices(len(self.corrections))
        several = {k - first: each for k, each in self.alternatives.items() if first <= k < last}
        return EditTexts(
            self.told[references],
            self.implied[references],
            self.corrections[edits],
            several or NONE,
            None if self.shows is None else self.shows[edits],
        )

    @property
    def letters(self) -> NDArray[np.uint8]:
        """What the letters of the corrections show."""
        if self.shows is not None:
            return self.shows
        found: NDArray[np.uint8] = letters.show(*utf8(self.corrections))
        return found

    def replacements(self, edit: int) -> tuple[str, ...]:
        """Every replacement of an edit that counts as right, the main one first."""
        return (self.corrections[edit], *self.alternatives.get(edit, ()))


def _numbers(at: NDArray[np.int64], parts: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers of all things in these parts, which begin at ``at``.

    >>> _numbers(np.array([0, 2, 2, 5]), np.array([2, 0])).tolist()
    [2, 3, 4, 0, 1]
    """
    sizes = np.diff(at)[parts]
    before = offsets(sizes)
    numbers: NDArray[np.int64] = np.arange(before[-1]) + np.repeat(at[parts] - before[:-1], sizes)
    return numbers


def _each(name: str, things: Sequence[object]) -> NDArray[np.int64]:
    """One number of every thing."""
    try:
        return np.fromiter(map(attrgetter(name), things), np.int64, len(things))
    except OverflowError:
        whose = "a reference" if name == "annotator" else "an edit"
        raise InputError(
            f"{max(map(attrgetter(name), things), key=abs)} is too large for the {name} of {whose}",
            remedy="number annotators, and tokens, from 0",
        ) from None
