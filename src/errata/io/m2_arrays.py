"""The text of an M2 file as arrays: what is sound is read by a kernel, and made when asked for.

Nearly all paragraphs of nearly all files are sound, and most metrics ask for the offsets and the
corrections of edits, not for `Edit` and `Reference`. What is not sound is left to whoever reads
line by line (`errata.io.m2`), and put between here. A long text is read in parts, between which
threads can share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus
from errata.io.checks.conventions import letters_in, source_letters
from errata.io.m2_references import ReadReferences, References, TextRows, texts_between
from errata.kernels import paragraphs
from errata.spelling import Bytes, Spelled

__all__ = ["Scanned", "SentencesRead", "TextPart", "joined_corpus", "scan_part", "text_parts"]

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


class SentencesRead(NamedTuple):
    """Sentences of a text as they were read: their sources, where these stand, their references.

    Sources are spelled in bytes, where all of them were read by a kernel; ``shown`` is what their
    letters show (`errata.io.checks.conventions.letters_in`).
    """

    sources: Spelled | list[str]
    lines: NDArray[np.int64]
    shown: NDArray[np.uint8]
    references: ReadReferences


@dataclass(frozen=True)
class Scanned:
    """The paragraphs of a part of a text, sound or not, and the sentences of those that are sound.

    Lines are counted from the beginning of the part.
    """

    data: Bytes
    paragraphs: TextRows
    sentences: SentencesRead
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
    ) -> SentencesRead:
        """All sentences, if the part begins at ``first_line``.

        ``others`` has for each paragraph that is not sound its sentences: their lines, sources and
        references.
        """
        sources, lines, shown, references = self.sentences
        lines = lines + first_line
        flat = [(p, *each) for p, several in others.items() for each in several]
        if not flat:
            return SentencesRead(sources, lines, shown, references)
        # A corpus of their own checks them.
        checked = Corpus(
            tuple(source for _, _, source, _ in flat), tuple(refs for _, _, _, refs in flat)
        )
        owners = np.flatnonzero(self.paragraphs[:, paragraphs.SOUND]).tolist()
        order = np.argsort([*owners, *(p for p, _, _, _ in flat)], kind="stable")
        every = [*sources, *checked.sources]
        return SentencesRead(
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
    sentences = SentencesRead(
        sources,
        sound[:, paragraphs.LINE].astype(np.int64),
        letters_in(sources),
        ReadReferences.of(data, edits, part.begin),
    )
    return Scanned(data, rows, sentences, bool(odd & paragraphs.BREAKS))


def joined_corpus(parts: Sequence[SentencesRead], name: str) -> tuple[Corpus, tuple[int, ...]]:
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
