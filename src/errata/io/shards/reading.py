"""Shards, and streams of files, as batches of a corpus with the outputs of systems.

A batch is what `read_corpus` and `read_systems` would make of these lines of the whole files: the
same texts, edits, annotators and checks, with the true files and lines in what is said of them.
Every batch has a vocabulary of its own, so that memory does not grow with what was read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from errata.data import Corpus, Hypotheses
from errata.errors import InputError
from errata.io.checks.findings import Finding
from errata.io.checks.lines import check_alignment, looked_at
from errata.io.checks.roles import called_source, check_sources
from errata.io.corpus import (
    gold_findings,
    keep_annotators_counted,
    parallel_corpus,
    refuse_absent,
    sentences_without,
)
from errata.io.files import checked_lines, decode
from errata.io.m2 import M2File, scan_m2_text
from errata.io.opened import opened, opened_part, plain_name, shown_name
from errata.io.outputs import refuse_several, system_name, systems_of
from errata.io.shards.cutting import refuse_unequal, refuse_xml, role_is_m2
from errata.io.shards.listing import check_unchanged, groups_of
from errata.io.shards.named import Piece, Shard, ShardedInputs, name_of
from errata.io.shards.noted import Noted
from errata.io.shards.sentence_streams import Sentences, Taken, count
from errata.io.tokenising import (
    AS_IS,
    Tokeniser,
    edits_gone,
    tokenised_counted,
    tokenised_output,
    tokeniser,
)

__all__ = ["CorpusBatch", "read_shard", "stream_batches"]

BATCH = 4096
CorpusBatch = tuple[Corpus, list[Hypotheses]]


def read_shard(shard: Shard, inputs: ShardedInputs, *, batch: int = BATCH) -> Iterator[CorpusBatch]:
    """The sentences of a shard, ``batch`` at a time, once its files are the ones planned.

    Warnings are given when the last batch was taken, each once for the shard.
    """
    for several in shard.pieces.values():
        for piece in several:
            check_unchanged(piece, inputs.storage)
    if not shard.sentences:
        return
    pieces = {role: several[0] for role, several in shard.pieces.items()}
    reading = _Reading(inputs)
    yield from _batches(pieces, reading, batch, shard.first)
    reading.noted.tell()


def stream_batches(inputs: ShardedInputs, *, batch: int = BATCH) -> Iterator[CorpusBatch]:
    """The sentences of all files, read side by side as they come; ``-`` is standard input.

    Nothing is counted before: files that belong together and end at different sentences are
    refused where the shorter ends. Warnings are given when the last batch was taken.
    """
    reading = _Reading(inputs)
    first = 0
    groups = groups_of(inputs)
    for group in groups:
        pieces = {role: Piece(*file, 0, file.size) for role, file in group.items()}
        for corpus, systems in _batches(pieces, reading, batch, first):
            yield corpus, systems
            first += len(corpus)
    if not first:
        raise InputError(
            "the inputs hold no sentence", path=shown_name(next(iter(groups[0].values())).uri)
        )
    known = reading.annotators if inputs.gold is not None else range(len(inputs.references))
    refuse_absent(inputs.annotators, known, name_of(inputs))
    reading.noted.tell()


@dataclass(frozen=True)
class _Side:
    """One of the files that are read side by side."""

    role: str
    uri: str
    stream: Sentences

    @property
    def path(self) -> str:
        return shown_name(self.uri)


@dataclass
class _Reading:
    """What the batches of one reading share."""

    inputs: ShardedInputs
    noted: Noted = field(default_factory=Noted)
    annotators: set[int] = field(default_factory=set)
    systems: dict[str, set[int]] = field(default_factory=dict)

    @property
    def cut(self) -> Tokeniser:
        return tokeniser(self.inputs.tokens)


def _batches(
    pieces: Mapping[str, Piece], reading: _Reading, batch: int, first: int
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
            some = _Some(reading, sides, before, first + before - start)
            # What is left at the end may be too little to refuse a file for.
            held = count(taken.data, m2=lead.stream.m2)
            found = some.read(
                taken, reading.inputs.guard and (before == start or 2 * held >= batch)
            )
            before += len(found[0])
            yield found
        for side in sides.values():
            if left := side.stream.left():
                refuse_unequal((side.role, side.uri, before + left), (lead.role, lead.uri, before))


def _side(role: str, piece: Piece, reading: _Reading, stack: ExitStack) -> _Side:
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


@dataclass
class _Some:
    """One batch: the sentences after ``before`` of their files, after ``first`` of all."""

    reading: _Reading
    sides: Mapping[str, _Side]
    before: int
    first: int
    guard: bool = True
    size: int = 0

    def read(self, taken: Taken, guard: bool) -> CorpusBatch:
        """The corpus of a batch, which begins with these sentences of its first file, and outputs.

        ``guard`` refuses texts that look unrelated or shifted.
        """
        self.guard = guard
        lead = next(iter(self.sides.values()))
        corpus = self._gold(lead, taken) if lead.role == "gold" else self._parallel(lead, taken)
        inputs = self.reading.inputs
        if inputs.annotators:
            self.reading.annotators |= {*corpus.annotators}
            corpus, bare = keep_annotators_counted(corpus, inputs.annotators)
            self.reading.noted.add(
                "bare", bare, lambda n: sentences_without(corpus.name, n, inputs.annotators)
            )
        corpus = replace(corpus, first=self.first)
        return corpus, [
            self._output(side, corpus)
            for role, side in self.sides.items()
            if role.startswith("output:")
        ]

    def _note(self, side: _Side, findings: Iterable[Finding]) -> None:
        self.reading.noted.note(side.path, self.size, findings, self.guard)

    def _gold(self, side: _Side, taken: Taken) -> Corpus:
        inputs, cut = self.reading.inputs, self.reading.cut
        file = _m2(side, taken, name=name_of(inputs), compatible=inputs.compatible)
        self.size = len(file.corpus)
        self._note(side, gold_findings(file, cut))
        if "source" in self.sides:
            beside = self.sides["source"]
            others = self._lines(beside)
            found = check_sources(
                file.corpus.sources, others, beside.path, than=side.path, before=self.before
            )
            self._note(beside, found)
        corpus, gone = tokenised_counted(file.corpus, cut)
        self.reading.noted.add("gone", gone, lambda n: edits_gone(corpus.name, n))
        return corpus

    def _parallel(self, side: _Side, taken: Taken) -> Corpus:
        sources, odd = _split(side, taken)
        self.size = len(sources)
        self._note(side, odd)
        sides = [s for role, s in self.sides.items() if role.startswith("refs:")]
        sets = [self._lines(each) for each in sides]
        corpus, found = parallel_corpus(
            sources,
            sets,
            [each.path for each in (side, *sides)],
            missing=self.reading.inputs.missing,
            name=name_of(self.reading.inputs),
            cut=self.reading.cut,
            before=self.before,
        )
        for each, findings in zip((side, *sides), found, strict=True):
            self._note(each, findings)
        return corpus

    def _lines(self, side: _Side) -> list[str]:
        """As many lines of a text as the batch has sentences."""
        lines, odd = _split(side, side.stream.take(self.size))
        self._check_size(side, len(lines))
        self._note(side, odd)
        return lines

    def _check_size(self, side: _Side, found: int) -> None:
        if found != self.size:
            lead = next(iter(self.sides.values()))
            have, should = self.before + found, self.before + self.size
            refuse_unequal(
                (side.role, side.uri, have + side.stream.left()),
                (lead.role, lead.uri, should + lead.stream.left()),
            )

    def _output(self, side: _Side, corpus: Corpus) -> Hypotheses:
        name, cut = side.role.removeprefix("output:"), self.reading.cut
        if side.stream.m2:
            system = self._edited(side, name, corpus)
        else:
            lines = self._lines(side)
            text = tuple(lines) if cut.name == AS_IS else tuple(map(cut, lines))
            system = Hypotheses(name, text)
        found = check_alignment(corpus, system, path=side.path, before=self.before)
        if not side.stream.m2 and name == system_name(side.uri):
            found += called_source(corpus, system, name, side.path)
        self._note(side, found)
        looked_at(corpus).add(system.sentences)
        return system

    def _edited(self, side: _Side, name: str, corpus: Corpus) -> Hypotheses:
        """A system given by its edits."""
        taken = side.stream.take(self.size)
        self._check_size(side, count(taken.data, m2=True))
        file = _m2(side, taken)
        systems, findings = systems_of(file, side.uri, [name])
        numbers = self.reading.systems.setdefault(side.role, set())
        numbers |= {r.annotator for refs in file.corpus.references for r in refs if not r.implied}
        refuse_several(side.path, len(numbers))
        sources, cut = file.corpus.sources, self.reading.cut
        if cut.name != AS_IS:
            systems = [tokenised_output(system, sources, cut) for system in systems]
            sources = tuple(map(cut, sources))
        findings += check_sources(
            corpus.sources, sources, side.path, file.lines, before=self.before
        )
        self._note(side, findings)
        return systems[0]


def _text(side: _Side, taken: Taken) -> str:
    try:
        return taken.data.decode("utf-8")
    except UnicodeDecodeError:
        return decode(taken.data, side.path, first_line=taken.first_line)  # raises, with the line


def _split(side: _Side, taken: Taken) -> tuple[list[str], list[Finding]]:
    return checked_lines(_text(side, taken), side.path, first_line=taken.first_line)


def _m2(side: _Side, taken: Taken, *, name: str = "", compatible: bool = False) -> M2File:
    text = _text(side, taken)
    return scan_m2_text(
        text, side.path, first_line=taken.first_line, name=name, compatible=compatible
    )
