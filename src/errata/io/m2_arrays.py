"""The text of an M2 file as arrays: what is sound is read by a kernel, and made when asked for.

Nearly all paragraphs of nearly all files are sound, and most metrics ask for the offsets and the
corrections of edits, not for `Edit` and `Reference`. What is not sound is left to whoever reads
line by line (`errata.io.m2`), and put between here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from sys import intern

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus, Edit, Reference
from errata.edit_places import EditPlaces, EditWords, begins
from errata.kernels import paragraphs

__all__ = ["ReadReferences", "Scanned", "scan_paragraphs"]

References = tuple[Reference, ...]
TextRows = NDArray[np.intc]
TEXTS = slice(paragraphs.KIND, paragraphs.COMMENT + 2)  # columns of an edit
COUNTED = np.iinfo(np.intc).max  # bytes of a text: places in it are C ints


@dataclass(frozen=True)
class Scanned:
    """The paragraphs of a text, sound or not, and the edits of those that are sound."""

    text: str
    paragraphs: TextRows
    edits: TextRows
    odd_breaks: bool  # whether a line holds a character at which some programs break it

    @property
    def unsound(self) -> list[int]:
        """The paragraphs that are to be read line by line."""
        places: list[int] = np.flatnonzero(self.paragraphs[:, paragraphs.SOUND] == 0).tolist()
        return places

    def lines(self, paragraph: int, first_line: int) -> list[tuple[int, str]]:
        """The lines of a paragraph with their numbers, if the text begins at ``first_line``."""
        row = self.paragraphs[paragraph].tolist()
        lines = self.text[row[paragraphs.BEGIN] : row[paragraphs.END]].split("\n")
        return list(enumerate(lines, first_line + row[paragraphs.LINE]))

    def corpus(
        self,
        others: Mapping[int, Sequence[tuple[int, str, References]]],
        first_line: int,
        name: str,
    ) -> tuple[Corpus, tuple[int, ...]]:
        """The corpus, and the lines of its sources.

        ``others`` has for each paragraph that is not sound its sentences: their lines, sources and
        references.
        """
        sound = self.paragraphs[self.paragraphs[:, paragraphs.SOUND] == 1]
        sources = _between(
            self.text, sound[:, paragraphs.BEGIN] + 2, sound[:, paragraphs.SOURCE_END]
        )
        lines = [line + first_line for line in sound[:, paragraphs.LINE].tolist()]
        read = ReadReferences.of(self.text, self.edits)
        if not others:
            return Corpus.made_later(tuple(sources), read, name), tuple(lines)
        flat = [(p, *each) for p, several in others.items() for each in several]
        owners = np.flatnonzero(self.paragraphs[:, paragraphs.SOUND])
        order = np.argsort([*owners, *(p for p, _, _, _ in flat)], kind="stable")
        sources += [source for _, _, source, _ in flat]
        lines += [line for _, line, _, _ in flat]
        # A corpus of their own checks them.
        checked = Corpus(
            tuple(source for _, _, source, _ in flat), tuple(refs for _, _, _, refs in flat)
        )
        among = read.beside(checked, order)
        numbers = order.tolist()
        return (
            Corpus.made_later(tuple([sources[i] for i in numbers]), among, name),
            tuple([lines[i] for i in numbers]),
        )


def scan_paragraphs(text: str) -> Scanned | None:
    """What a kernel reads of a text of M2; None where it has to be read line by line.

    That is where no paragraph is sound, where lines seem blank that are not, and where the text has
    more bytes than the kernel can number.

    >>> found = scan_paragraphs("S He go .\\nA 1 2|||V|||goes|||REQUIRED|||-NONE-|||0\\n\\nS Hi\\n")
    >>> len(found.paragraphs), len(found.edits), found.unsound
    (2, 2, [])
    >>> scan_paragraphs("S He go .\\n \\nS Hi") is None
    True
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r")
    # A text given in Python may have half a character.
    data = np.frombuffer(bytearray(text, "utf-8", "surrogatepass"), np.uint8)
    if len(data) > COUNTED:
        return None
    rows, edits, odd = paragraphs.scan(data)
    if odd & paragraphs.BLANKS or not rows[:, paragraphs.SOUND].any():
        return None
    return Scanned(text, rows, edits, bool(odd & paragraphs.BREAKS))


def _between(text: str, begins: NDArray[np.intc], ends: NDArray[np.intc]) -> list[str]:
    """The texts between these places."""
    return list(map(text.__getitem__, map(slice, begins.tolist(), ends.tolist())))


@dataclass(frozen=True)
class ReadReferences:
    """References of sentences as they stand in a text; see `errata.data.LaterReferences`.

    ``rows`` are where the texts of edits stand in ``text``, in the order of their ``places``; those
    of sentences that are ``given``, by their numbers behind ``first``, stand nowhere.
    """

    text: str
    places: EditPlaces
    implied: NDArray[np.uint8]
    rows: TextRows
    given: Mapping[int, References] = field(default_factory=dict)
    first: int = 0

    @classmethod
    def of(cls, text: str, rows: TextRows) -> ReadReferences:
        """Those of all lines of edits of a text, in which every paragraph has one or more."""
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
        texts = np.ascontiguousarray(edits[:, TEXTS])
        return cls(text, places, implied.astype(np.uint8), texts)

    def beside(self, others: Corpus, order: NDArray[np.intp]) -> ReadReferences:
        """These and those of other sentences, all of them in another order."""
        more = others.edit_places
        places, references, edits = self.places.joined(more).taken(order)
        fill = np.zeros((len(more.start), self.rows.shape[1]), np.intc)
        # Where those behind these have come to stand, which are in order among themselves.
        given = np.flatnonzero(order >= len(self.places.sizes)).tolist()
        return ReadReferences(
            self.text,
            places,
            np.concatenate([self.implied, others.edit_words.implied])[references],
            np.concatenate([self.rows, fill])[edits],
            dict(zip(given, others.references, strict=True)),
        )

    def part(self, begin: int, end: int) -> ReadReferences:
        """Those of the sentences ``begin:end``, not made yet."""
        references, edits = self.places.slices(begin, end)
        return ReadReferences(
            self.text,
            self.places.part(begin, end),
            self.implied[references],
            self.rows[edits],
            self.given,
            self.first + begin,
        )

    def words(self) -> EditWords:
        """What they say."""
        corrections = self._texts(paragraphs.CORRECTION)
        alternatives = {}
        told = np.ones(len(self.implied), np.uint8)
        for i, references in self._given():
            told[slice(*self.places.first[i : i + 2])] = [r.text is None for r in references]
            for at, edit in self._given_edits(i, references):
                corrections[at] = edit.replacement
                if edit.alternatives:
                    alternatives[at] = edit.alternatives
        return EditWords(told, self.implied, corrections, alternatives)

    def kinds(self) -> list[str]:
        """The kinds of their edits."""
        kinds = self._texts(paragraphs.KIND)
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

    def _texts(self, column: int) -> list[str]:
        first = column - TEXTS.start
        return _between(self.text, self.rows[:, first], self.rows[:, first + 1])

    def one(self, sentence: int) -> References:
        """Those of one sentence."""
        return self.part(sentence, sentence + 1).every()[0]

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
        known: dict[tuple[int, int, str, str, str, str], Edit] = {}
        fields = (
            self.places.start.tolist(),
            self.places.end.tolist(),
            self._texts(paragraphs.CORRECTION),
            self._texts(paragraphs.KIND),
            self._texts(paragraphs.REQUIRED),
            self._texts(paragraphs.COMMENT),
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
