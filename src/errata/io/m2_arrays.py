"""Read sound M2 paragraphs as arrays, the fast path.

Nearly all paragraphs are sound, and most metrics need arrays of offsets and corrections, not `Edit`
and `Reference`. Other paragraphs are read line by line (`errata.io.m2`) and merged here. Threads
share the parts of a long text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from sys import intern
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus, Reference, ReferenceTable
from errata.data.edits import NO_COMMENT, REQUIRED, offsets
from errata.data.tokens import Bytes, Utf8
from errata.io.checks.text import letter_flags, source_letter_flags
from errata.kernels import letters, paragraphs, words

References = tuple[Reference, ...]
TextRows = NDArray[np.intc]


def _column_texts(data: Bytes, rows: TextRows, column: int, begin: int = 0) -> Utf8:
    """Return the texts of one column, whose offsets count from ``begin``."""
    first, last = (rows[:, k].astype(np.int64) + begin for k in (column, column + 1))
    return Utf8(data, first, last)


def _make_reference_table(data: Bytes, rows: TextRows, begin: int) -> ReferenceTable:
    """Return the references of edit lines, whose offsets in ``data`` count from ``begin``."""
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

    def column(which: int, default: str | None = None) -> list[str]:
        """Return the texts of a column; none if all of them are the default."""
        texts = _column_texts(data, edits, which, begin)
        if default is not None:
            same = np.frombuffer(f"{default}\n".encode() * len(edits), np.uint8)
            if np.array_equal(words.gather(*texts), same):
                return []
        return texts.decode()

    return ReferenceTable(
        np.append(np.flatnonzero(sentences), len(heads)),
        annotator[heads],
        np.zeros(len(heads), np.bool_),
        rows[heads, paragraphs.WHAT] == paragraphs.IMPLIED,
        offsets(edited)[np.append(heads, len(rows))],
        edits[:, paragraphs.START].astype(np.int64),
        edits[:, paragraphs.STOP].astype(np.int64),
        column(paragraphs.CORRECTION),
        _decode_words(_column_texts(data, edits, paragraphs.KIND, begin)),
        required=column(paragraphs.REQUIRED, REQUIRED),
        comments=column(paragraphs.COMMENT, NO_COMMENT),
    )


def _decode_words(texts: Utf8) -> list[str]:
    """Return texts as strings, each distinct one made once if all are single words."""
    ids, at, spelled = words.number(*texts, False)
    distinct = spelled.split(b"\n")
    sizes = np.array(list(map(len, distinct)), np.int64)
    one_each = bool((np.diff(at) == 1).all())
    if not one_each or (sizes[ids] != texts.ends - texts.begins).any():
        return texts.decode()
    known = [intern(word.decode(errors="surrogatepass")) for word in distinct]
    return [known[k] for k in ids.tolist()]


TOGETHER = 2**21  # bytes that a kernel reads in one go: what its tables hold stays near
LINE_END = ord("\n")
COUNTED = np.iinfo(np.intc).max  # bytes of a text: places in it are C ints


class TextPart(NamedTuple):
    """Whole paragraphs of a text: where they begin and end, and how many lines are before them."""

    begin: int
    end: int
    line: int


def split_text(data: bytes, size: int | None = None) -> list[TextPart]:
    """A text in parts of about so many bytes, cut behind empty lines; none if it is too long.

    >>> split_text(b"S a\\n\\nS b\\n", 1)
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
    """The sources of a text, their lines, `letter_flags` (``shown``) and references."""

    sources: list[str]
    lines: NDArray[np.int64]
    shown: NDArray[np.uint8]
    references: ReferenceTable


@dataclass(frozen=True)
class Scanned:
    """The paragraphs of a part of a text and its sound sentences; lines count from its start."""

    data: Bytes
    paragraphs: TextRows
    sentences: ScannedSentences
    odd_breaks: bool  # whether a line holds a character at which some programs break it

    @property
    def unsound_paragraphs(self) -> list[int]:
        """The paragraphs that are to be read line by line."""
        places: list[int] = np.flatnonzero(self.paragraphs[:, paragraphs.SOUND] == 0).tolist()
        return places

    def paragraph_lines(self, paragraph: int, first_line: int) -> list[tuple[int, str]]:
        """The lines of a paragraph with their numbers, if the part begins at ``first_line``."""
        row = self.paragraphs[paragraph].tolist()
        text = self.data[row[paragraphs.BEGIN] : row[paragraphs.END]].tobytes().decode()
        return list(enumerate(text.split("\n"), first_line + row[paragraphs.LINE]))

    def merge_unsound(
        self, others: Mapping[int, Sequence[tuple[int, str, References]]], first_line: int
    ) -> ScannedSentences:
        """Merge the sentences of unsound paragraphs (line, source, references) with the others."""
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
            np.concatenate([shown, letter_flags(checked.sources)])[order],
            references.join(checked.edits).take(order),
        )


def scan_part(data: Bytes, part: TextPart) -> Scanned | None:
    """Scan a part of a text; return None where all has to be read line by line.

    That is where it is not UTF-8, and where lines seem blank that are not.

    >>> text = b"S I go\\nA 1 2|||V|||went|||REQUIRED|||-NONE-|||0\\n\\nS Hi\\n"
    >>> found = scan_part(np.frombuffer(text, np.uint8), *split_text(text))
    >>> len(found.paragraphs), list(found.sentences.sources), found.unsound_paragraphs
    (2, ['I go', 'Hi'], [])
    """
    rows, edits, odd = paragraphs.scan(data[part.begin : part.end])
    if odd & (paragraphs.BLANKS | paragraphs.BROKEN):
        return None
    for column in (paragraphs.BEGIN, paragraphs.END, paragraphs.SOURCE_END):
        rows[:, column] += part.begin
    sound = rows[rows[:, paragraphs.SOUND] == 1]
    begins, ends = sound[:, paragraphs.BEGIN] + 2, sound[:, paragraphs.SOURCE_END]
    sources = Utf8(data, begins.astype(np.int64), ends.astype(np.int64))
    sentences = ScannedSentences(
        sources.decode(),
        sound[:, paragraphs.LINE].astype(np.int64),
        letters.show(*sources),
        _make_reference_table(data, edits, part.begin),
    )
    return Scanned(data, rows, sentences, bool(odd & paragraphs.BREAKS))


def joined_corpus(parts: Sequence[ScannedSentences], name: str) -> tuple[Corpus, tuple[int, ...]]:
    """The corpus of all parts of a text, and the lines of its sources."""
    first, *others = (part.references for part in parts)
    sources = tuple(chain.from_iterable(part.sources for part in parts))
    corpus = Corpus(sources, first.join(*others), name, checked=True)
    source_letter_flags(corpus, np.concatenate([part.shown for part in parts]))
    return corpus, tuple(np.concatenate([part.lines for part in parts]).tolist())
