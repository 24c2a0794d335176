"""Shards, and streams of files, as batches of a corpus with the outputs of systems.

A batch is what `read_corpus` and `read_systems` would make of these lines of the whole files: the
same texts, edits, annotators and checks, with the true files and lines in what is said of them.
Every batch has a vocabulary of its own, so that memory does not grow with what was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from errata.data import Corpus, Hypotheses
from errata.errors import InputError
from errata.io.checks.findings import Finding
from errata.io.files import checked_spelled
from errata.io.m2 import M2File, scan_m2_bytes
from errata.io.opened import opened, opened_part, plain_name, shown_name
from errata.io.shards.corpus_batches import BATCH, BatchMaker, CorpusBatch, PartReading
from errata.io.shards.cutting import refuse_unequal, refuse_xml, role_is_m2
from errata.io.shards.listing import check_unchanged, groups_of
from errata.io.shards.named import Piece, Shard, ShardedInputs, name_of
from errata.io.shards.sentence_streams import Sentences, Taken, count
from errata.spelling import strings

__all__ = ["read_shard", "stream_batches"]


def read_shard(shard: Shard, inputs: ShardedInputs, *, batch: int = BATCH) -> Iterator[CorpusBatch]:
    """The sentences of a shard, ``batch`` at a time, once its files are the ones planned.

    Warnings are given when the last batch was taken, each once for the shard.
    """
    for several in shard.pieces.values():
        for piece in several:
            check_unchanged(piece, inputs.storage)
    if not shard.sentences:
        return
    reading = PartReading(inputs)
    if inputs.parquet is not None:
        from errata.io.shards.parquet import parquet_batches as batches
    else:
        batches = _batches
    yield from batches(shard.pieces_of(inputs), reading, batch, shard.first)
    reading.finish(everything=False)


def stream_batches(inputs: ShardedInputs, *, batch: int = BATCH) -> Iterator[CorpusBatch]:
    """The sentences of all files, read side by side as they come; ``-`` is standard input.

    Nothing is counted before: files that belong together and end at different sentences are
    refused where the shorter ends. Warnings are given when the last batch was taken.
    """
    reading = PartReading(inputs)
    if inputs.parquet is not None:
        from errata.io.shards.parquet import parquet_batches as batches
    else:
        batches = _batches
    first = 0
    groups = groups_of(inputs)
    for group in groups:
        pieces = {role: Piece(*file, 0, file.size) for role, file in group.items()}
        for corpus, systems in batches(pieces, reading, batch, first):
            yield corpus, systems
            first += len(corpus)
    if not first:
        raise InputError(
            "the inputs hold no sentence",
            path=shown_name(next(iter(groups[0].values())).uri),
            remedy="give at least one sentence",
        )
    reading.finish(everything=True)


@dataclass(frozen=True)
class _Side:
    """One of the files that are read side by side."""

    role: str
    uri: str
    stream: Sentences

    @property
    def path(self) -> str:
        return shown_name(self.uri)


def _batches(
    pieces: Mapping[str, Piece], reading: PartReading, batch: int, first: int
) -> Iterator[CorpusBatch]:
    """The batches of files that belong together, or of the same stretch of each."""
    with ExitStack() as stack:
        sides = {role: _side(role, piece, reading, stack) for role, piece in pieces.items()}
        lead = next(iter(sides.values()))
        start = before = pieces[lead.role].before
        while (taken := lead.stream.take(batch)).data:
            if before == 0 and lead.role == "gold":
                refuse_xml(taken.data, lead.uri)
            if lead.role == "gold" and not taken.data.strip():
                break  # a file of blank lines
            size = taken.size
            # What is left at the end may be too little to refuse a file for.
            guard = reading.inputs.guard and (before == start or 2 * size >= batch)
            maker = BatchMaker(reading, size, before, first + before - start, guard)
            yield _Some(sides, maker).read(taken)
            before += size
        for side in sides.values():
            if left := side.stream.left():
                refuse_unequal((side.role, side.uri, before + left), (lead.role, lead.uri, before))


def _side(role: str, piece: Piece, reading: PartReading, stack: ExitStack) -> _Side:
    if plain_name(piece.uri).endswith(".json"):
        raise InputError(
            "a stored run is not read in parts",
            path=piece.uri,
            remedy="give the output it was made of, as text or M2",
        )
    storage = reading.inputs.storage
    file = stack.enter_context(
        opened(piece.uri, bounded=False, storage=storage)
        if piece.whole
        else opened_part(piece.uri, piece.start, piece.stop, storage=storage)
    )
    m2 = role_is_m2(role, piece.uri)
    sentences = Sentences(file, shown_name(piece.uri), m2=m2, first_line=piece.first_line)
    return _Side(role, piece.uri, sentences)


@dataclass(frozen=True)
class _Some:
    """The sentences of one batch in files side by side."""

    sides: Mapping[str, _Side]
    maker: BatchMaker

    def read(self, taken: Taken) -> CorpusBatch:
        """The batch that begins with these sentences of its first file."""
        lead = next(iter(self.sides.values()))
        corpus = self._gold(lead, taken) if lead.role == "gold" else self._parallel(lead, taken)
        return corpus, [
            self._output(side, corpus)
            for role, side in self.sides.items()
            if role.startswith("output:")
        ]

    def _gold(self, side: _Side, taken: Taken) -> Corpus:
        inputs = self.maker.reading.inputs
        file = _m2(side, taken, name=name_of(inputs), compatible=inputs.compatible)
        if (source := self.sides.get("source")) is None:
            return self.maker.gold(file)
        return self.maker.gold(file, (source.path, self._lines(source)))

    def _parallel(self, side: _Side, taken: Taken) -> Corpus:
        sources, odd = _split(side, taken)
        self.maker.note(side.path, odd)
        sides = [each for role, each in self.sides.items() if role.startswith("refs:")]
        sets = [strings(self._lines(each)) for each in sides]
        return self.maker.parallel(strings(sources), sets, [each.path for each in (side, *sides)])

    def _output(self, side: _Side, corpus: Corpus) -> Hypotheses:
        name = side.role.removeprefix("output:")
        if not side.stream.m2:
            return self.maker.output(name, self._lines(side), side.path, corpus)
        taken = side.stream.take(self.maker.size)
        self._check_size(side, count(taken.data, m2=True))
        return self.maker.edited_output(name, side.role, _m2(side, taken), corpus)

    def _lines(self, side: _Side) -> Sequence[str]:
        """As many lines of a text as the batch has sentences."""
        lines, odd = _split(side, side.stream.take(self.maker.size))
        self._check_size(side, len(lines))
        self.maker.note(side.path, odd)
        return lines

    def _check_size(self, side: _Side, found: int) -> None:
        if found != self.maker.size:
            lead = next(iter(self.sides.values()))
            have, should = self.maker.before + found, self.maker.before + self.maker.size
            refuse_unequal(
                (side.role, side.uri, have + side.stream.left()),
                (lead.role, lead.uri, should + lead.stream.left()),
            )


def _split(side: _Side, taken: Taken) -> tuple[Sequence[str], list[Finding]]:
    return checked_spelled(taken.data, side.path, first_line=taken.first_line)


def _m2(side: _Side, taken: Taken, *, name: str = "", compatible: bool = False) -> M2File:
    return scan_m2_bytes(
        taken.data,
        side.path,
        first_line=taken.first_line,
        name=name,
        compatible=compatible,
        threads=1,
    )
