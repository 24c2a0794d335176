"""Fast path: sound M2 paragraphs read as arrays.

Nearly all paragraphs of nearly all files are sound, and most metrics ask for the offsets and the
corrections of edits, not for `Edit` and `Reference`. What is not sound is left to whoever reads
line by line (`errata.io.m2`), and put between here. A long text is read in parts, between which
threads can share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from sys import intern
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus, Edit, Reference
from errata.data.edits import EditArrays, EditTexts, offsets
from errata.data.tokens import Bytes, Spelled, Utf8, utf8
from errata.io.checks.text import letters_in, source_letters
from errata.kernels import letters, paragraphs, words

# ---- References as they stand in the text of an M2 file, and made when somebody asks for them.

References = tuple[Reference, ...]
TextRows = NDArray[np.intc]
TEXTS = slice(paragraphs.KIND, paragraphs.COMMENT + 2)  # columns of an edit


def texts_between(data: Bytes, begins: NDArray[np.intc], ends: NDArray[np.intc]) -> Spelled:
    """The texts between these places."""
    return Spelled(Utf8(data, begins.astype(np.int64), ends.astype(np.int64)))


@dataclass(frozen=True)
class ReferenceArrays:
    """References of sentences as they stand in a text; see `errata.data.corpus.LaterReferences`.

    ``rows`` are where the texts of edits stand in ``data``, in the order of their ``places``; those
    of sentences that are ``given``, by their numbers behind ``first``, stand nowhere. ``shows`` is
    what the letters of all corrections show.
    """

    data: Bytes
    places: EditArrays
    implied: NDArray[np.uint8]
    rows: TextRows
    shows: NDArray[np.uint8]
    given: Mapping[int, References] = field(default_factory=dict)
    first: int = 0

    @classmethod
    def of(cls, data: Bytes, rows: TextRows, begin: int = 0) -> ReferenceArrays:
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
        places = EditArrays(
            np.append(np.flatnonzero(sentences), len(heads)),
            annotator[heads],
            np.zeros(len(heads), np.bool_),
            offsets(edited)[np.append(heads, len(rows))],
            edits[:, paragraphs.START].astype(np.int64),
            edits[:, paragraphs.STOP].astype(np.int64),
        )
        implied = rows[heads, paragraphs.WHAT] == paragraphs.IMPLIED
        # The other columns are in the places: this is what millions of edits are kept by.
        texts = edits[:, TEXTS] + np.intc(begin)
        shows = letters.show(*_texts(data, texts, paragraphs.CORRECTION).where)
        return cls(data, places, implied.astype(np.uint8), texts, shows)

    def joined(self, *others: ReferenceArrays) -> ReferenceArrays:
        """These and, behind them, those of other sentences of the same data."""
        if not others:
            return self
        every = (self, *others)
        places = self.places.joined(*(each.places for each in others))
        before = offsets(np.array([len(each.places.sizes) for each in every])).tolist()
        given = {
            k + n: references
            for each, n in zip(every, before[:-1], strict=True)
            for k, references in each.given.items()
        }
        return ReferenceArrays(
            self.data,
            places,
            np.concatenate([each.implied for each in every]),
            np.concatenate([each.rows for each in every]),
            np.concatenate([each.shows for each in every]),
            given,
        )

    def beside(self, others: Corpus, order: NDArray[np.intp]) -> ReferenceArrays:
        """These and those of other sentences, all of them in another order."""
        more = others.edit_places
        places, references, edits = self.places.joined(more).taken(order)
        fill = np.zeros((len(more.start), self.rows.shape[1]), np.intc)
        # Where those behind these have come to stand, which are in order among themselves.
        given = np.flatnonzero(order >= len(self.places.sizes)).tolist()
        return ReferenceArrays(
            self.data,
            places,
            np.concatenate([self.implied, others.edit_words.implied])[references],
            np.concatenate([self.rows, fill])[edits],
            np.concatenate([self.shows, others.edit_words.letters])[edits],
            dict(zip(given, others.references, strict=True)),
        )

    def part(self, begin: int, end: int) -> ReferenceArrays:
        """Those of the sentences ``begin:end``, not made yet."""
        references, edits = self.places.slices(begin, end)
        return ReferenceArrays(
            self.data,
            self.places.part(begin, end),
            self.implied[references],
            self.rows[edits],
            self.shows[edits],
            self.given,
            self.first + begin,
        )

    def words(self) -> EditTexts:
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
        return EditTexts(told, self.implied, corrections, several, self.shows)

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
        return ReferenceArrays(
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
    at = offsets(texts.where.ends - texts.where.begins + 1)  # a line feed is behind each
    more, which = utf8(others.values()), list(others)
    first, last = at[:-1].copy(), at[1:] - 1
    first[which], last[which] = more.begins + at[-1], more.ends + at[-1]
    data = np.concatenate([words.gather(*texts.where), more.data])
    return Spelled(Utf8(data, first, last))


TOGETHER = 2**21  # bytes that a kernel reads in one go: what its tables hold stays near
LINE_END = ord("\n")
COUNTED = np.iinfo(np.intc).max  # bytes of a text: places in it are C ints


class TextPart(NamedTuple):
    """Whole paragraphs of a text: where they begin and end, and how many lines are before them."""

    begin: int
    end: int
    line: int


def text_parts(data: bytes, size: int | None = None) -> list[TextPart]:
    """A text in parts of about so many bytes, cut behind empty lines; none if it is too long.

    >>> text_parts(b"S a\\n\\nS b\\n", 1)
    [TextPart(begin=0, end=5, line=0), TextPart(begin=5, end=9, line=2)]
    """
    if len(data) > COUNTED:
        return []
    text, parts = np.frombuffer(data, np.uint8), list[TextPart]()
    begin = line = 0
    while begin < len(data) or not parts:
        found = data.find(b"\n\n", begin + (size or TOGETHER))
        end = len(data) if found < 0 else found + 2
        parts.append(TextPart(begin, end, line))
        line += int(np.count_nonzero(text[begin:end] == LINE_END))
        begin = end
    return parts


class ScannedSentences(NamedTuple):
    """Sentences of a text as they were read: their sources, where these stand, their references.

    Sources are spelled in bytes, where all of them were read by a kernel; ``shown`` is what their
    letters show (`errata.io.checks.text.letters_in`).
    """

    sources: Spelled | list[str]
    lines: NDArray[np.int64]
    shown: NDArray[np.uint8]
    references: ReferenceArrays


@dataclass(frozen=True)
class Scanned:
    """The paragraphs of a part of a text, sound or not, and the sentences of those that are sound.

    Lines are counted from the beginning of the part.
    """

    data: Bytes
    paragraphs: TextRows
    sentences: ScannedSentences
    odd_breaks: bool  # whether a line holds a character at which some programs break it

    @property
    def unsound(self) -> list[int]:
        """The paragraphs that are to be read line by line."""
        places: list[int] = np.flatnonzero(self.paragraphs[:, paragraphs.SOUND] == 0).tolist()
        return places

    def lines(self, paragraph: int, first_line: int) -> list[tuple[int, str]]:
        """The lines of a paragraph with their numbers, if the part begins at ``first_line``."""
        row = self.paragraphs[paragraph].tolist()
        text = self.data[row[paragraphs.BEGIN] : row[paragraphs.END]].tobytes().decode()
        return list(enumerate(text.split("\n"), first_line + row[paragraphs.LINE]))

    def beside(
        self, others: Mapping[int, Sequence[tuple[int, str, References]]], first_line: int
    ) -> ScannedSentences:
        """All sentences, if the part begins at ``first_line``.

        ``others`` has for each paragraph that is not sound its sentences: their lines, sources and
        references.
        """
        sources, lines, shown, references = self.sentences
        lines = lines + first_line
        flat = [(p, *each) for p, several in others.items() for each in several]
        if not flat:
            return ScannedSentences(sources, lines, shown, references)
        # A corpus of their own checks them.
        checked = Corpus(
            tuple(source for _, _, source, _ in flat), tuple(refs for _, _, _, refs in flat)
        )
        owners = np.flatnonzero(self.paragraphs[:, paragraphs.SOUND]).tolist()
        order = np.argsort([*owners, *(p for p, _, _, _ in flat)], kind="stable")
        every = [*sources, *checked.sources]
        return ScannedSentences(
            [every[i] for i in order.tolist()],
            np.append(lines, [line for _, line, _, _ in flat])[order],
            np.concatenate([shown, letters_in(checked.sources)])[order],
            references.beside(checked, order),
        )


def scan_part(data: Bytes, part: TextPart) -> Scanned | None:
    """What a kernel reads of a part of a text; None where all has to be read line by line.

    That is where it is not UTF-8, and where lines seem blank that are not.

    >>> text = b"S I go\\nA 1 2|||V|||went|||REQUIRED|||-NONE-|||0\\n\\nS Hi\\n"
    >>> found = scan_part(np.frombuffer(text, np.uint8), *text_parts(text))
    >>> len(found.paragraphs), list(found.sentences.sources), found.unsound
    (2, ['I go', 'Hi'], [])
    """
    rows, edits, odd = paragraphs.scan(data[part.begin : part.end])
    if odd & (paragraphs.BLANKS | paragraphs.BROKEN):
        return None
    for column in (paragraphs.BEGIN, paragraphs.END, paragraphs.SOURCE_END):
        rows[:, column] += part.begin
    sound = rows[rows[:, paragraphs.SOUND] == 1]
    sources = texts_between(data, sound[:, paragraphs.BEGIN] + 2, sound[:, paragraphs.SOURCE_END])
    sentences = ScannedSentences(
        sources,
        sound[:, paragraphs.LINE].astype(np.int64),
        letters_in(sources),
        ReferenceArrays.of(data, edits, part.begin),
    )
    return Scanned(data, rows, sentences, bool(odd & paragraphs.BREAKS))


def joined_corpus(parts: Sequence[ScannedSentences], name: str) -> tuple[Corpus, tuple[int, ...]]:
    """The corpus of all parts of a text, and the lines of its sources."""
    first, *others = (part.references for part in parts)
    spelled = [part.sources for part in parts if isinstance(part.sources, Spelled)]
    if len(spelled) == len(parts):
        sources: Spelled | tuple[str, ...] = spelled[0].joined(*spelled[1:])
    else:
        sources = tuple(chain.from_iterable(part.sources for part in parts))
    corpus = Corpus.made_later(sources, first.joined(*others), name)
    source_letters(corpus, np.concatenate([part.shown for part in parts]))
    return corpus, tuple(np.concatenate([part.lines for part in parts]).tolist())
