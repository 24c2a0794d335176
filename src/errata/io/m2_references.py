"""References as they stand in the text of an M2 file, and made when somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from sys import intern
from typing import Any

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus, Edit, Reference
from errata.edit_places import EditPlaces, EditWords, begins
from errata.kernels import letters, paragraphs, words
from errata.spelling import Bytes, Spelled, Utf8, utf8

__all__ = ["ReadReferences", "References", "TextRows", "texts_between"]

References = tuple[Reference, ...]
TextRows = NDArray[np.intc]
TEXTS = slice(paragraphs.KIND, paragraphs.COMMENT + 2)  # columns of an edit


def texts_between(data: Bytes, begins: NDArray[np.intc], ends: NDArray[np.intc]) -> Spelled:
    """The texts between these places."""
    return Spelled(Utf8(data, begins.astype(np.int64), ends.astype(np.int64)))


@dataclass(frozen=True)
class ReadReferences:
    """References of sentences as they stand in a text; see `errata.data.LaterReferences`.

    ``rows`` are where the texts of edits stand in ``data``, in the order of their ``places``; those
    of sentences that are ``given``, by their numbers behind ``first``, stand nowhere. ``shows`` is
    what the letters of all corrections show.
    """

    data: Bytes
    places: EditPlaces
    implied: NDArray[np.uint8]
    rows: TextRows
    shows: NDArray[np.uint8]
    given: Mapping[int, References] = field(default_factory=dict)
    first: int = 0

    @classmethod
    def of(cls, data: Bytes, rows: TextRows, begin: int = 0) -> ReadReferences:
        """Those of all lines of edits, of which every sound paragraph has one or more.

        ``begin`` is from where on places in ``data`` are counted.
        """
        owner = rows[:, paragraphs.OWNER].astype(np.int64)
        annotator = rows[:, paragraphs.ANNOTATOR].astype(np.int64)
        same = owner[1:] == owner[:-1]
        if (same & (annotator[1:] < annotator[:-1])).any():
            order = np.lexsort((annotator, owner))  # edits of one annotator stay in order
            rows, owner, annotator = rows[order], owner[order], annotator[order]
            same = owner[1:] == owner[:-1]
        news = np.ones(len(rows), np.bool_)  # where a reference begins
        news[1:] = ~same | (annotator[1:] != annotator[:-1])
        heads = np.flatnonzero(news)
        sentences = np.ones(len(heads), np.bool_)
        sentences[1:] = owner[heads][1:] != owner[heads][:-1]
        edited = rows[:, paragraphs.WHAT] == paragraphs.EDIT
        edits = rows[edited]
        places = EditPlaces(
            np.append(np.flatnonzero(sentences), len(heads)),
            annotator[heads],
            np.zeros(len(heads), np.bool_),
            begins(edited)[np.append(heads, len(rows))],
            edits[:, paragraphs.START].astype(np.int64),
            edits[:, paragraphs.STOP].astype(np.int64),
        )
        implied = rows[heads, paragraphs.WHAT] == paragraphs.IMPLIED
        # The other columns are in the places: this is what millions of edits are kept by.
        texts = edits[:, TEXTS] + np.intc(begin)
        shows = letters.show(*_texts(data, texts, paragraphs.CORRECTION).where)
        return cls(data, places, implied.astype(np.uint8), texts, shows)

    def joined(self, *others: ReadReferences) -> ReadReferences:
        """These and, behind them, those of other sentences of the same data."""
        if not others:
            return self
        every = (self, *others)
        places = self.places.joined(*(each.places for each in others))
        before = begins(np.array([len(each.places.sizes) for each in every])).tolist()
        given = {
            k + n: references
            for each, n in zip(every, before[:-1], strict=True)
            for k, references in each.given.items()
        }
        return ReadReferences(
            self.data,
            places,
            np.concatenate([each.implied for each in every]),
            np.concatenate([each.rows for each in every]),
            np.concatenate([each.shows for each in every]),
            given,
        )

    def beside(self, others: Corpus, order: NDArray[np.intp]) -> ReadReferences:
        """These and those of other sentences, all of them in another order."""
        more = others.edit_places
        places, references, edits = self.places.joined(more).taken(order)
        fill = np.zeros((len(more.start), self.rows.shape[1]), np.intc)
        # Where those behind these have come to stand, which are in order among themselves.
        given = np.flatnonzero(order >= len(self.places.sizes)).tolist()
        return ReadReferences(
            self.data,
            places,
            np.concatenate([self.implied, others.edit_words.implied])[references],
            np.concatenate([self.rows, fill])[edits],
            np.concatenate([self.shows, others.edit_words.letters])[edits],
            dict(zip(given, others.references, strict=True)),
        )

    def part(self, begin: int, end: int) -> ReadReferences:
        """Those of the sentences ``begin:end``, not made yet."""
        references, edits = self.places.slices(begin, end)
        return ReadReferences(
            self.data,
            self.places.part(begin, end),
            self.implied[references],
            self.rows[edits],
            self.shows[edits],
            self.given,
            self.first + begin,
        )

    def words(self) -> EditWords:
        """What they say."""
        corrections = self._texts(paragraphs.CORRECTION)
        told = np.ones(len(self.implied), np.uint8)
        edits: dict[int, Edit] = {}
        for i, references in self._given():
            told[slice(*self.places.first[i : i + 2])] = [r.text is None for r in references]
            edits.update(self._given_edits(i, references))
        if edits:
            corrections = _with(corrections, {k: edit.replacement for k, edit in edits.items()})
        several = {k: edit.alternatives for k, edit in edits.items() if edit.alternatives}
        return EditWords(told, self.implied, corrections, several, self.shows)

    def kinds(self) -> list[str]:
        """The kinds of their edits."""
        kinds = _repeated(self._texts(paragraphs.KIND))
        for i, references in self._given():
            for at, edit in self._given_edits(i, references):
                kinds[at] = edit.kind
        return kinds

    def _given_edits(self, i: int, references: References) -> Iterator[tuple[int, Edit]]:
        """The edits of a sentence that is given, with their numbers."""
        first = int(self.places.at[self.places.first[i]])
        return enumerate((edit for each in references for edit in each.edits or ()), first)

    def _given(self) -> list[tuple[int, References]]:
        """The sentences that do not stand in the text, with their references."""
        here = range(self.first, self.first + len(self.places.sizes))
        # Whichever are fewer: a part may be small, and all that are given many.
        both = (self.given, here) if len(self.given) < len(here) else (here, self.given)
        return [(k - self.first, self.given[k]) for k in both[0] if k in both[1]]

    def _texts(self, column: int) -> Spelled:
        return _texts(self.data, self.rows, column)

    def some(self, sentences: Sequence[int]) -> tuple[References, ...]:
        """Those of these sentences."""
        places, references, edits = self.places.taken(np.array(sentences, np.intp))
        given = {k: self.first + i for k, i in enumerate(sentences)}
        return ReadReferences(
            self.data,
            places,
            self.implied[references],
            self.rows[edits],
            self.shows[edits],
            {k: self.given[i] for k, i in given.items() if i in self.given},
        ).every()

    def every(self) -> tuple[References, ...]:
        """Those of all sentences."""
        edits = self._edits()
        at = self.places.at.tolist()
        made = [
            Reference(annotator, tuple(edits[at[r] : at[r + 1]]), implied=bool(implied))
            for r, (annotator, implied) in enumerate(
                zip(self.places.annotators.tolist(), self.implied.tolist(), strict=True)
            )
        ]
        first = self.places.first.tolist()
        found = [tuple(made[a:b]) for a, b in pairwise(first)]
        for i, references in self._given():
            found[i] = references
        return tuple(found)

    def _edits(self) -> list[Edit]:
        """The edits as such, one for all lines that say the same."""
        known: dict[tuple[Any, ...], Edit] = {}
        columns = (paragraphs.CORRECTION, paragraphs.KIND, paragraphs.REQUIRED, paragraphs.COMMENT)
        fields = (
            self.places.start.tolist(),
            self.places.end.tolist(),
            *(self._texts(column).strings() for column in columns),
        )
        found = []
        for line in zip(*fields, strict=True):
            edit = known.get(line)
            if edit is None:
                start, end, correction, kind, required, comment = line
                edit = known[line] = Edit(
                    start, end, correction, intern(kind), (), intern(required), intern(comment)
                )
            found.append(edit)
        return found


def _texts(data: Bytes, rows: TextRows, column: int) -> Spelled:
    """Those of one column."""
    first = column - TEXTS.start
    return texts_between(data, rows[:, first], rows[:, first + 1])


def _repeated(texts: Spelled) -> list[str]:
    """Texts that repeat, as strings of which each is made once, if all of them are single words."""
    ids, at, spelled = words.number(*texts.where, False)
    distinct = spelled.split(b"\n")
    sizes = np.array(list(map(len, distinct)), np.int64)
    one_each = bool((np.diff(at) == 1).all())
    if not one_each or (sizes[ids] != texts.where.ends - texts.where.begins).any():
        return texts.strings()
    known = [word.decode(errors="surrogatepass") for word in distinct]
    return [known[k] for k in ids.tolist()]


def _with(texts: Spelled, others: Mapping[int, str]) -> Spelled:
    """Texts with others in the place of some of them, in bytes of their own."""
    at = begins(texts.where.ends - texts.where.begins + 1)  # a line feed is behind each
    more, which = utf8(others.values()), list(others)
    first, last = at[:-1].copy(), at[1:] - 1
    first[which], last[which] = more.begins + at[-1], more.ends + at[-1]
    data = np.concatenate([words.gather(*texts.where), more.data])
    return Spelled(Utf8(data, first, last))
