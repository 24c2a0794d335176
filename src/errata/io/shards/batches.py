"""Read shards and streams as corpus batches.

A batch is what `read_corpus` and `read_systems` would make of these lines of the whole files: the
same texts, edits, annotators and checks, with true files and lines in messages. Every batch has its
own vocabulary, so that memory does not grow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from errata.core.errors import InputError, warn_of_data
from errata.data import Corpus, Hypotheses
from errata.io.checks import Finding, join_similar_findings, raise_first_error
from errata.io.checks.alignment import check_alignment, is_named_source, mark_aligned, match_sources
from errata.io.corpus import (
    CorpusFiles,
    check_annotators,
    gold_findings,
    keep_known_annotators,
    parallel_corpus,
)
from errata.io.files import decode, open_range, open_unpacked, scan_lines, shown_name, unpacked_name
from errata.io.m2 import M2File, read_m2_bytes
from errata.io.outputs import check_single_annotator, system_name, systems_in_m2
from errata.io.shards.inputs import Piece, Shard, check_unchanged, group_files_by_position
from errata.io.shards.plan import (
    SentenceBlock,
    Sentences,
    check_equal_counts,
    count_sentences,
    refuse_xml,
)
from errata.io.tokenisers import AS_IS, Tokeniser, tokenise_corpus, tokenise_output, tokeniser

# ---- Findings batch by batch, reported once, in bounded memory.

# As many as a summary may name: the first, five more, and whether there are others.
KEPT = 7


class WarningCollector:
    """Findings of one reading, collected until its end.

    An error is raised where it is met. A finding about a line is kept if it is among the first of
    its kind in its file. One about a text as a whole (it looks untokenised, say) was made of a
    batch, and is reported if it holds for batches with more than half of the sentences.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], list[Finding]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._whole: dict[tuple[str, str], Finding] = {}
        self._holds: Counter[tuple[str, str]] = Counter()
        self._sentences: Counter[str] = Counter()
        self._batch: dict[str, int] = {}
        self._sums: dict[str, tuple[int, Callable[[int], str]]] = {}

    def collect(
        self, path: str, before: int, sentences: int, findings: Iterable[Finding], guard: bool
    ) -> None:
        """Take in findings of a batch: so many sentences of a file, after ``before`` of them."""
        if self._batch.get(path) != before:
            self._batch[path] = before
            self._sentences[path] += sentences
        for finding in raise_first_error(findings, guard=guard):
            key = finding.code, finding.path
            if finding.severity != "warning":
                continue
            if finding.line is None:
                self._whole.setdefault(key, finding)
                self._holds[key] += sentences
                continue
            self._counts[key] += 1
            kept = self._kept.setdefault(key, [])
            if len(kept) < KEPT:
                kept.append(finding)

    def add_to_sum(self, what: str, number: int, said: Callable[[int], str]) -> None:
        """Add to a number that is reported at the end, unless it is 0."""
        self._sums[what] = (self._sums.get(what, (0, said))[0] + number, said)

    def warn(self) -> None:
        first = [finding for kept in self._kept.values() for finding in kept]
        for finding in join_similar_findings(first, counts=self._counts):
            warn_of_data(str(finding))
        for key, finding in self._whole.items():
            if 2 * self._holds[key] > self._sentences[key[1]]:
                warn_of_data(str(finding))
        for number, said in self._sums.values():
            if number:
                warn_of_data(said(number))


# ---- One batch: lines of files that belong together, as a corpus with its outputs.

BATCH = 16_384  # sentences that a stream, or a task of a run, holds at a time
CorpusBatch = tuple[Corpus, list[Hypotheses]]


@dataclass(frozen=True)
class PartReading:
    """What the batches of one reading share."""

    inputs: CorpusFiles
    warnings: WarningCollector = field(default_factory=WarningCollector)
    annotators: set[int] = field(default_factory=set)
    systems: dict[str, set[int]] = field(default_factory=dict)

    @property
    def tokeniser(self) -> Tokeniser:
        """What cuts the texts."""
        return tokeniser(self.inputs.tokens)

    def finish_reading(self, *, everything: bool) -> None:
        """Say what was found; where ``everything`` was read, refuse annotators that nobody is."""
        if everything:
            known = self.annotators | {*range(len(self.inputs.references))}
            check_annotators(self.inputs.annotators, known, self.inputs.title)
        self.warnings.warn()


@dataclass(frozen=True)
class BatchBuilder:
    """Makes the batch of ``size`` sentences after ``before`` in its files and ``first`` in all."""

    reading: PartReading
    size: int
    before: int
    first: int
    guard: bool

    def collect(self, path: str, findings: Iterable[Finding]) -> None:
        """Take in what was found in a file."""
        self.reading.warnings.collect(path, self.before, self.size, findings, self.guard)

    def build_gold(self, file: M2File, beside: tuple[str, Sequence[str]] | None = None) -> Corpus:
        """The corpus of M2; ``beside`` is the path of a second copy of its sources, and these."""
        self.collect(file.path, gold_findings(file, self.reading.tokeniser))
        if beside is not None:
            path, others = beside
            sources, before = file.corpus.sources, self.before
            self.collect(path, match_sources(sources, others, path, than=file.path, before=before))
        warn = self.reading.warnings.add_to_sum
        return self._select_annotators(tokenise_corpus(file.corpus, self.reading.tokeniser, warn))

    def build_parallel(
        self, sources: Sequence[str], sets: Sequence[Sequence[str | None]], paths: Sequence[str]
    ) -> Corpus:
        """Return the corpus of texts; ``paths`` begin with the source, None is no reference."""
        inputs = self.reading.inputs
        mark = inputs.missing
        if any(text is None for texts in sets for text in texts):
            mark = mark or "\0"  # which no text holds
        corpus, found = parallel_corpus(
            sources,
            [[mark or "" if text is None else text for text in texts] for texts in sets],
            paths,
            missing=mark,
            name=inputs.title,
            cut=self.reading.tokeniser,
            before=self.before,
        )
        for path, findings in zip(paths, found, strict=True):
            self.collect(path, findings)
        return self._select_annotators(corpus)

    def _select_annotators(self, corpus: Corpus) -> Corpus:
        kept = self.reading.inputs.annotators
        if kept:
            self.reading.annotators.update(corpus.annotators)
            corpus = keep_known_annotators(corpus, kept, self.reading.warnings.add_to_sum)
        return corpus.starting_at(self.first)

    def build_output(
        self, name: str, lines: Sequence[str], path: str, corpus: Corpus
    ) -> Hypotheses:
        """The output of a system as text."""
        cut = self.reading.tokeniser
        system = Hypotheses(name, tuple(lines if cut.name == AS_IS else map(cut, lines)))
        called = name == system_name(path)
        named = is_named_source(corpus, system, name, path) if called else []
        return self._check_alignment(system, named, path, corpus)

    def build_edited_output(self, name: str, role: str, file: M2File, corpus: Corpus) -> Hypotheses:
        systems, findings = systems_in_m2(file, file.path, [name])
        numbers = self.reading.systems.setdefault(role, set())
        numbers |= {r.annotator for refs in file.corpus.references for r in refs if not r.implied}
        check_single_annotator(file.path, len(numbers))
        sources, cut = file.corpus.sources, self.reading.tokeniser
        if cut.name != AS_IS:
            systems = [tokenise_output(system, sources, cut) for system in systems]
            sources = tuple(map(cut, sources))
        found = match_sources(corpus.sources, sources, file.path, file.lines, before=self.before)
        self.collect(file.path, [*findings, *found])
        return self._check_alignment(systems[0], [], file.path, corpus)

    def _check_alignment(
        self, system: Hypotheses, found: list[Finding], path: str, corpus: Corpus
    ) -> Hypotheses:
        found = check_alignment(corpus, system, path=path, before=self.before) + found
        self.collect(path, found)
        mark_aligned(corpus, system)
        return system


def read_shard(shard: Shard, inputs: CorpusFiles, *, batch: int = BATCH) -> Iterator[CorpusBatch]:
    """Yield the sentences of a shard, ``batch`` at a time, after checking its files; then warn."""
    for several in shard.pieces.values():
        for piece in several:
            check_unchanged(piece, inputs.storage)
    if not shard.sentences:
        return
    reading = PartReading(inputs)
    if inputs.parquet is not None:
        from errata.io.shards.parquet import parquet_batches as batches
    else:
        batches = _text_batches
    # In the order of the inputs, whatever order a manifest has.
    pieces = {role: shard.pieces[role][0] for role in inputs.roles}
    yield from batches(pieces, reading, batch, shard.first)
    reading.finish_reading(everything=False)


def stream_batches(inputs: CorpusFiles, *, batch: int = BATCH) -> Iterator[CorpusBatch]:
    """Yield the sentences of all files, read side by side; ``-`` is standard input.

    Files that belong together and end at different sentences are refused where the shorter ends.
    """
    reading = PartReading(inputs)
    if inputs.parquet is not None:
        from errata.io.shards.parquet import parquet_batches as batches
    else:
        batches = _text_batches
    first = 0
    groups = group_files_by_position(inputs)
    for group in groups:
        pieces = {role: Piece(*file, 0, file.size) for role, file in group.items()}
        for corpus, systems in batches(pieces, reading, batch, first):
            yield corpus, systems
            first += len(corpus)
    if not first:
        path, remedy = next(iter(groups[0].values())).uri, "give at least one sentence"
        raise InputError("the inputs hold no sentence", path=shown_name(path), remedy=remedy)
    reading.finish_reading(everything=True)


def _text_batches(
    pieces: Mapping[str, Piece], reading: PartReading, batch: int, first: int
) -> Iterator[CorpusBatch]:
    """The batches of files that belong together, or of the same stretch of each."""
    with ExitStack() as stack:
        sides = {role: _open_file(role, piece, reading, stack) for role, piece in pieces.items()}
        lead = next(iter(sides.values()))
        start = before = pieces[lead.role].before
        while (taken := lead.take_sentences(batch)).data:
            if before == 0 and lead.role == "gold":
                refuse_xml(taken.data, lead.uri)
            if lead.role == "gold" and not taken.data.strip():
                break  # a file of blank lines
            size = taken.size
            # The rest at the end may be too little to refuse a file for.
            guard = reading.inputs.guard and (before == start or 2 * size >= batch)
            reader = _BatchReader(reading, size, before, first + before - start, guard, sides)
            yield reader.read_batch(taken)
            before += size
        for side in sides.values():
            if left := side.count_remaining():
                found = side.role, side.uri, before + left
                check_equal_counts(found, (lead.role, lead.uri, before))


def _open_file(role: str, piece: Piece, reading: PartReading, stack: ExitStack) -> Sentences:
    if unpacked_name(piece.uri).endswith(".json"):
        remedy = "give the output it was made of, as text or M2"
        raise InputError("a stored run is not read in parts", path=piece.uri, remedy=remedy)
    storage = reading.inputs.storage
    file = stack.enter_context(
        open_unpacked(piece.uri, bounded=False, storage=storage)
        if piece.start == 0 and piece.stop == piece.size
        else open_range(piece.uri, piece.start, piece.stop, storage=storage)
    )
    return Sentences(file, role, piece.uri, piece.first_line, piece.mark)


@dataclass(frozen=True)
class _BatchReader(BatchBuilder):
    """Reads one batch from files side by side."""

    sides: Mapping[str, Sentences]

    def read_batch(self, taken: SentenceBlock) -> CorpusBatch:
        """The batch that begins with these sentences of its first file."""
        lead = next(iter(self.sides.values()))
        if lead.role != "gold":
            corpus = self._read_parallel(lead, taken)
        elif (source := self.sides.get("source")) is not None:
            file, lines = self._read_m2(lead, taken), self._take_lines(source)
            corpus = self.build_gold(file, (source.path, lines))
        else:
            corpus = self.build_gold(self._read_m2(lead, taken))
        outputs = [side for role, side in self.sides.items() if role.startswith("output:")]
        return corpus, [self._read_output(side, corpus) for side in outputs]

    def _read_parallel(self, side: Sentences, taken: SentenceBlock) -> Corpus:
        sources = self._split_lines(side, taken)
        sides = [each for role, each in self.sides.items() if role.startswith("refs:")]
        sets = [self._take_lines(each) for each in sides]
        return self.build_parallel(sources, sets, [each.path for each in (side, *sides)])

    def _read_output(self, side: Sentences, corpus: Corpus) -> Hypotheses:
        name = side.role.removeprefix("output:")
        if not side.m2:
            return self.build_output(name, self._take_lines(side), side.path, corpus)
        taken = side.take_sentences(self.size)
        self._check_size(side, count_sentences(taken.data, m2=True))
        return self.build_edited_output(name, side.role, self._read_m2(side, taken), corpus)

    def _read_m2(self, side: Sentences, taken: SentenceBlock) -> M2File:
        inputs, lead = self.reading.inputs, side.role == "gold"
        return read_m2_bytes(
            taken.data,
            side.path,
            first_line=taken.first_line,
            name=inputs.title if lead else "",
            compatible=inputs.compatible and lead,
            threads=1,
        )

    def _split_lines(self, side: Sentences, taken: SentenceBlock) -> list[str]:
        text = decode(taken.data, side.path, first_line=taken.first_line, keep_mark=True)
        lines, odd = scan_lines(text, side.path, first_line=taken.first_line)
        self._check_size(side, len(lines))
        self.collect(side.path, odd)
        return lines

    def _take_lines(self, side: Sentences) -> list[str]:
        """As many lines of a text as the batch has sentences."""
        return self._split_lines(side, side.take_sentences(self.size))

    def _check_size(self, side: Sentences, found: int) -> None:
        if found != self.size:
            lead = next(iter(self.sides.values()))
            have, should = self.before + found, self.before + self.size
            mine = side.role, side.uri, have + side.count_remaining()
            check_equal_counts(mine, (lead.role, lead.uri, should + lead.count_remaining()))
