"""Cut all roles at the same sentences.

One cheap pass over every file counts its sentences and notes where the cuts fall. A text is cut at
a line end, M2 between paragraphs; a compressed file is not cut, and neither is what goes with it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError
from errata.core.stats import Progress, plural
from errata.data.tokens import line_starts
from errata.io.corpus import CorpusFiles, check_annotators
from errata.io.files import RemoteFile, compression_of, open_range, open_unpacked, shown_name
from errata.io.outputs import check_single_annotator, is_m2
from errata.io.shards.inputs import (
    CONTENT,
    Piece,
    Shard,
    changed_file_error,
    content_digest,
    group_files_by_position,
    mark_of_digest,
)

# ---- Sentences in a stream of bytes: how many, where each starts, and some at a time.

CHUNK = 1 << 20
# No line, and no paragraph, is longer: one that seems to be is of a file of another kind.
LONGEST = 1 << 28
MARK = b"\xef\xbb\xbf"  # that of the byte order, at the start of some files


class SentenceBlock(NamedTuple):
    """Whole sentences of a file: their bytes, first line, number, and where they start."""

    data: bytes
    first_line: int
    size: int = 0
    start: int = 0


Blocks = Iterator[SentenceBlock]


def read_chunks(file: IO[bytes], name: str, *, m2: bool, at_start: bool = True) -> Blocks:
    """Yield a stream in chunks of whole lines, or whole paragraphs, of a megabyte or more.

    Places count from the start of the stream; at the start of the file a byte order mark is
    dropped.
    """
    start, line, rest = 0, 1, b""
    if at_start:
        rest = file.read(max(CHUNK, len(MARK)))
        if rest.startswith(MARK):
            start, rest = len(MARK), rest[len(MARK) :]
    size = CHUNK
    while True:
        more = file.read(size)
        data = rest + more
        end = _last_complete_end(data, m2) if more else len(data)
        if end:
            yield SentenceBlock(data[:end], line, start=start)
            line += _count_line_ends(data[:end])
            start += end
        elif len(data) > LONGEST:
            problem = f"no {'blank line' if m2 else 'line end'} within {len(data):,} bytes"
            remedy = "is this an M2 file?" if m2 else "is this text, one sentence a line?"
            raise InputError(problem, path=name, line=line, remedy=remedy)
        rest = data[end:]
        size = CHUNK if end else max(CHUNK, len(data))  # or a long line is searched too often
        if not more:
            return


def _last_complete_end(data: bytes, m2: bool) -> int:
    """Up to where these bytes are whole lines, or whole paragraphs."""
    if not m2:
        return data.rfind(b"\n") + 1
    blank = data.rfind(b"\n\n") + 2
    # Behind it only: where there is none at all, everything would be searched.
    blank = max(blank, data.rfind(b"\n\r\n", max(0, blank - 3)) + 3)
    return blank if blank > 2 else 0


def count_sentences(data: bytes, *, m2: bool) -> int:
    r"""How many sentences start in a chunk.

    >>> count_sentences(b"S a b\nA 0 1|||X|||c|||REQUIRED|||-NONE-|||0\n\nS b\n", m2=True)
    2
    >>> count_sentences(b"a\n\nb", m2=False)
    3
    """
    if m2:
        return len(_source_lines(data))
    return _count_line_ends(data) + (not data.endswith(b"\n") and bool(data))


def _count_line_ends(data: bytes) -> int:
    """How many line feeds there are, in a tenth of the time that ``data.count`` takes."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))


def _source_lines(data: bytes) -> NDArray[np.int64]:
    """Where the ``S `` lines of a chunk start."""
    text = np.frombuffer(data, np.uint8)
    starts: NDArray[np.int64] = np.zeros(0, np.int64)
    if data:
        starts = np.append(0, np.flatnonzero(text[:-1] == ord("\n")) + 1)
    starts = starts[text[starts] == ord("S")]
    sure = text[np.minimum(starts + 1, len(data) - 1)] == ord(" ")
    for k in np.flatnonzero(~sure).tolist():  # seldom a line is a bare S
        sure[k] = _is_source(data, int(starts[k]))
    found: NDArray[np.int64] = starts[sure]
    return found


def _is_source(data: bytes, at: int) -> bool:
    return data.startswith((b"S ", b"S\n", b"S\r\n"), at) or data[at : at + 3] in (b"S", b"S\r")


def _sentence_starts(data: bytes, m2: bool) -> NDArray[np.int64]:
    """Where the sentences of a chunk start, or the ``S `` lines of M2."""
    return _source_lines(data) if m2 else line_starts(data)


def _find_cut(data: bytes, n: int, m2: bool, starts: NDArray[np.int64]) -> tuple[int, int]:
    """Return the first sentence from ``n`` on that can be cut off, and the byte where it starts.

    Of two ``S `` lines in a paragraph only the first can be.
    """
    if not n:
        return 0, 0
    for k, at in enumerate(starts[n:].tolist(), n):
        start = _paragraph_start(data, at) if m2 else at
        if start is not None:
            return k, start
    return len(starts) if m2 else n, len(data)


def _paragraph_start(data: bytes, at: int) -> int | None:
    """Where the paragraph starts whose first ``S `` line is at ``at``; None if it is not that."""
    while at:
        before = data.rfind(b"\n", 0, at - 1) + 1
        line = data[before : at - 1]
        if not line.strip() or line.decode("utf-8", "replace").isspace():
            return at
        if _is_source(data, before):
            return None
        at = before
    return at


def _verify_content(several: Blocks, mark: str, uri: str) -> Blocks:
    """The same chunks; an error behind the last one if they are not the content of the mark."""
    digest = content_digest()
    for chunk in several:
        digest.update(chunk.data)
        yield chunk
    if mark_of_digest(digest) != mark:
        raise changed_file_error(uri, "its text is another")


class Sentences:
    """The sentences of a file in some role; content that does not fit ``mark`` is an error."""

    def __init__(
        self, file: IO[bytes], role: str, uri: str, first_line: int, mark: str = ""
    ) -> None:
        self.role, self.uri, self.path = role, uri, shown_name(uri)
        self.m2 = role_is_m2(role, uri)
        self._chunks = read_chunks(file, self.path, m2=self.m2, at_start=first_line == 1)
        if mark.startswith(CONTENT):
            self._chunks = _verify_content(self._chunks, mark, uri)
        self._line = first_line
        self._rest = b""
        self._starts = np.zeros(0, np.int64)  # of the sentences in it

    def take_sentences(self, n: int) -> SentenceBlock:
        """Return the next ``n`` sentences, fewer at the end; more if M2 has several a paragraph."""
        while len(self._starts) <= n:  # up to where the one after them starts
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            starts = _sentence_starts(chunk.data, self.m2) + len(self._rest)
            self._starts = np.concatenate([self._starts, starts])
            self._rest += chunk.data
        taken, end = len(self._starts), len(self._rest)
        if taken > n:
            taken, end = _find_cut(self._rest, n, self.m2, self._starts)
        found = SentenceBlock(self._rest[:end], self._line, taken)
        self._line += _count_line_ends(found.data)
        self._rest, self._starts = self._rest[end:], self._starts[taken:] - end
        return found

    def count_remaining(self) -> int:
        """Count the sentences from here to the end, and drop them."""
        held = len(self._starts) + sum(
            count_sentences(chunk.data, m2=self.m2) for chunk in self._chunks
        )
        self._rest, self._starts = b"", np.zeros(0, np.int64)
        return held


SHARD_BYTES = 64 << 20
_ANNOTATOR = re.compile(rb"^A [^\n]*\|\|\|[ \t]*([0-9]{1,9})[ \t]*\r?$", re.MULTILINE)
_BARE = re.compile(rb"^S [^\n]*\n(?!A |I )", re.MULTILINE)
_XML = re.compile(rb"\s*<")


def plan_shards(
    inputs: CorpusFiles,
    *,
    shard_bytes: int = SHARD_BYTES,
    shard_sentences: int | None = None,
    progress: Progress | None = None,
) -> tuple[Shard, ...]:
    """Cut inputs into shards, in the order of their sentences.

    The k-th files of all roles belong together, and must have equally many sentences. A file is
    cut near multiples of ``shard_bytes`` of the gold (without one, of the longest file), or after
    every ``shard_sentences`` sentences. ``progress`` hears of bytes.
    """
    for name, size in (("shard_bytes", shard_bytes), ("shard_sentences", shard_sentences)):
        if size is not None and size < 1:
            raise InputError(f"{name}={size} is not positive", remedy="give a whole number from 1")
    if inputs.parquet is not None:
        from errata.io.shards.parquet import plan_parquet

        return plan_parquet(inputs, shard_bytes, shard_sentences, progress)
    if shard_sentences is None:
        return _plan_texts(inputs, lambda first: _Wanted(every_bytes=shard_bytes), progress)
    return _plan_texts(inputs, lambda first: _Wanted(every=shard_sentences), progress)


def _plan_texts(
    inputs: CorpusFiles, wanted: Callable[[int], _Wanted], progress: Progress | None
) -> tuple[Shard, ...]:
    groups = group_files_by_position(inputs)
    total = sum(file.size for group in groups for file in group.values())
    done = first = 0
    shards: list[Shard] = []
    annotators: dict[str, set[int]] = {role: set() for role in inputs.roles}
    for group in groups:
        for role, file in group.items():
            if file.uri == "-":
                what = f"standard input ({role}) can be read once only"
                remedy = "save it in a file, or score it as a stream"
                raise InputError(f"{what}, and a plan reads it before a run", remedy=remedy)
        scanned = _find_group_cuts(group, inputs, wanted(first))
        for role, found in scanned.items():
            annotators[role] |= found.annotators
            done += group[role].size
        if progress is not None:
            progress(done, total)
        shards += _make_shards(group, scanned, len(shards), first)
        first += next(iter(scanned.values())).sentences
    if not first:
        path, remedy = next(iter(groups[0].values())).uri, "give at least one sentence"
        raise InputError("the inputs hold no sentence", path=path, remedy=remedy)
    known = annotators["gold"] if "gold" in annotators else range(len(inputs.references))
    check_annotators(inputs.annotators, known, inputs.title)
    for role, systems in annotators.items():
        if role.startswith("output:"):
            check_single_annotator(inputs.roles[role][0], len(systems))
    return tuple(shards)


class _Cut(NamedTuple):
    """Before which sentence, byte and line of a file."""

    sentence: int
    byte: int
    line: int


@dataclass(frozen=True)
class _Wanted:
    """Where the first file of a group is to be cut: by bytes, by sentences, or as given."""

    every_bytes: int | None = None
    every: int | None = None
    given: deque[int] = field(default_factory=deque)

    @property
    def refuses_empty(self) -> bool:
        """Whether no shard is to be empty."""
        return self.every_bytes is not None or self.every is not None

    def cuts_within(self, start: int, seen: int, data: bytes, held: int, m2: bool) -> Iterator[int]:
        """The sentences of a chunk, numbered in their file, to cut before."""
        if self.every_bytes is not None:
            step = self.every_bytes
            for target in range(-(-max(start, 1) // step) * step, start + len(data), step):
                self.given.append(seen + count_sentences(data[: target - start], m2=m2))
        elif self.every is not None:
            step = self.every
            self.given.extend(range(-(-max(seen, 1) // step) * step, seen + held, step))
        while self.given and self.given[0] < seen + held:
            yield self.given.popleft()


@dataclass(frozen=True)
class _Scanned:
    sentences: int
    cuts: tuple[_Cut, ...]
    annotators: frozenset[int]
    marks: tuple[str, ...]  # of the content before, between and behind the cuts


def role_is_m2(role: str, uri: str) -> bool:
    """Whether the file of a role is M2: the gold is, an output by its name."""
    return role == "gold" or (role.startswith("output:") and is_m2(uri))


def _find_group_cuts(
    group: Mapping[str, RemoteFile], inputs: CorpusFiles, wanted: _Wanted
) -> dict[str, _Scanned]:
    # What is compressed is not cut, and neither is what goes with it.
    for file in group.values():
        with open_range(file.uri, 0, 10, storage=inputs.storage) as stream:
            if compression_of(stream.read(10)) is not None:
                wanted = _Wanted()
    # Only the gold may have several sentences in a paragraph, and says where it can be cut.
    lead = "gold" if "gold" in group else max(group, key=lambda role: group[role].size)
    found = {lead: _find_cuts(lead, group[lead], inputs, wanted)}
    for role, file in group.items():
        if role == lead:
            continue
        cuts = deque(cut.sentence for cut in found[lead].cuts)
        found[role] = _find_cuts(role, file, inputs, _Wanted(given=cuts))
        check_equal_counts(
            (role, file.uri, found[role].sentences), (lead, group[lead].uri, found[lead].sentences)
        )
        # M2 may have two sentences in one paragraph where it is to be cut between them.
        for cut, other in zip_longest(found[role].cuts, found[lead].cuts):
            if other is not None and (cut is None or cut.sentence != other.sentence):
                problem = f"the paragraph of sentence {other.sentence} has a second 'S ' line"
                remedy = "put a blank line between sentences"
                raise InputError(problem, path=file.uri, remedy=remedy)
    return {role: found[role] for role in group}


def _find_cuts(role: str, file: RemoteFile, inputs: CorpusFiles, wanted: _Wanted) -> _Scanned:
    """Count the sentences of a file and find the places of its cuts."""
    m2 = role_is_m2(role, file.uri)
    asked = m2 and (role != "gold" or bool(inputs.annotators))
    seen = 0
    marks, digest = list[str](), content_digest()
    cuts: list[_Cut] = []
    annotators: set[int] = set()
    blank = True
    with open_unpacked(file.uri, bounded=False, storage=inputs.storage) as stream:
        for data, line, _, start in read_chunks(stream, file.uri, m2=m2):
            if blank and m2:
                refuse_xml(data, file.uri)
            blank = blank and not data.strip()
            held, taken = count_sentences(data, m2=m2), 0
            for number in wanted.cuts_within(start, seen, data, held, m2):
                n, at = _find_cut(data, number - seen, m2, _sentence_starts(data, m2))
                if n == held or (wanted.refuses_empty and seen + n == (cuts[-1][0] if cuts else 0)):
                    continue
                cuts.append(_Cut(seen + n, start + at, line + data.count(b"\n", 0, at)))
                digest.update(data[taken:at])
                marks.append(mark_of_digest(digest))
                digest, taken = content_digest(), at
            digest.update(data[taken:])
            if asked:
                annotators.update(map(int, {*_ANNOTATOR.findall(data)}))
                if role == "gold" and _BARE.search(data + b"\n"):
                    annotators.add(0)
            seen += held
    if m2 and not seen and not blank:
        problem = "no line starts with 'S ': this is not an M2 file"
        remedy = "give an M2 file, or texts as source and references (--source, --refs)"
        raise InputError(problem, path=shown_name(file.uri), line=1, remedy=remedy)
    return _Scanned(seen, tuple(cuts), frozenset(annotators), (*marks, mark_of_digest(digest)))


def refuse_xml(start: bytes, uri: str) -> None:
    """Refuse I-measure's XML, which is one tree and cannot be read in parts."""
    if _XML.match(start):
        problem = "I-measure's XML is not read in parts"
        remedy = "write it as M2 first (errata convert)"
        raise InputError(problem, path=shown_name(uri), line=1, remedy=remedy)


def check_equal_counts(one: tuple[str, str, int], other: tuple[str, str, int]) -> None:
    """Refuse two files that belong together, each given as role, name and number of sentences."""
    if one[2] != other[2]:
        what = "sentence" if role_is_m2(one[0], one[1]) else "line"
        expected = f"{shown_name(other[1])} ({other[0]}) has {other[2]:,}"
        problem = f"{one[2]:,} {plural(what, one[2])}, but {expected}"
        remedy = "give each one line, or M2 paragraph, per sentence, empty ones included"
        raise InputError(problem, path=shown_name(one[1]), remedy=remedy)


def _make_shards(
    group: Mapping[str, RemoteFile], scanned: Mapping[str, _Scanned], index: int, first: int
) -> Iterator[Shard]:
    lead = next(iter(scanned.values()))
    bounds: dict[str, Sequence[_Cut]] = {
        role: [_Cut(0, 0, 1), *found.cuts, _Cut(lead.sentences, group[role].size, 0)]
        for role, found in scanned.items()
    }
    spans = [*pairwise(range(len(lead.cuts) + 2))]
    for k, (a, b) in enumerate(spans):
        pieces = {}
        for role, (uri, size, _) in group.items():
            start, stop, mark = bounds[role][a], bounds[role][b].byte, scanned[role].marks[k]
            piece = Piece(uri, size, mark, start.byte, stop, start.line, before=start.sentence)
            pieces[role] = (piece,)
        at, end = bounds[next(iter(group))][a].sentence, bounds[next(iter(group))][b].sentence
        yield Shard(index + k, first + at, end - at, pieces)
