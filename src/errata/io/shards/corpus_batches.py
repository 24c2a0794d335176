"""One batch: lines of files that belong together, checked and made a corpus with its outputs.

Whatever the files are, what is said of a batch is said here, in the words for whole files and with
the lines (of a table, the rows) that the sentences have in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from errata.data import Corpus, Hypotheses
from errata.io.checks.findings import Finding
from errata.io.checks.lines import check_alignment, look_no_more
from errata.io.checks.roles import called_source, check_sources
from errata.io.corpus import (
    gold_findings,
    keep_annotators_counted,
    parallel_corpus,
    refuse_absent,
    sentences_without,
)
from errata.io.m2 import M2File
from errata.io.outputs import output_of_lines, refuse_several, system_name, systems_of
from errata.io.shards.named import ShardedInputs, name_of
from errata.io.shards.noted import Noted
from errata.io.tokenising import (
    AS_IS,
    Tokeniser,
    edits_gone,
    tokenised_counted,
    tokenised_output,
    tokeniser,
)

__all__ = ["BATCH", "BatchMaker", "CorpusBatch", "PartReading"]

BATCH = 16_384  # sentences that a stream, or a task of a run, holds at a time
CorpusBatch = tuple[Corpus, list[Hypotheses]]


@dataclass(frozen=True)
class PartReading:
    """What the batches of one reading share."""

    inputs: ShardedInputs
    noted: Noted = field(default_factory=Noted)
    annotators: set[int] = field(default_factory=set)
    systems: dict[str, set[int]] = field(default_factory=dict)

    @property
    def cut(self) -> Tokeniser:
        """What cuts the texts."""
        return tokeniser(self.inputs.tokens)

    def finish(self, *, everything: bool) -> None:
        """Say what was found; where ``everything`` was read, refuse annotators that nobody is."""
        if everything:
            known = self.annotators | {*range(len(self.inputs.references))}
            refuse_absent(self.inputs.annotators, known, name_of(self.inputs))
        self.noted.tell()


@dataclass(frozen=True)
class BatchMaker:
    """Makes the batch of ``size`` sentences after ``before`` of their files, ``first`` of all.

    ``guard`` refuses texts that look unrelated to their sources, or shifted.
    """

    reading: PartReading
    size: int
    before: int
    first: int
    guard: bool

    def note(self, path: str, findings: Iterable[Finding]) -> None:
        """Take in what was found in a file."""
        self.reading.noted.note(path, self.before, self.size, findings, self.guard)

    def gold(self, file: M2File, beside: tuple[str, Sequence[str]] | None = None) -> Corpus:
        """The corpus of M2; ``beside`` is the path of a second copy of its sources, and these."""
        self.note(file.path, gold_findings(file, self.reading.cut))
        if beside is not None:
            path, others = beside
            found = check_sources(
                file.corpus.sources, others, path, than=file.path, before=self.before
            )
            self.note(path, found)
        corpus, gone = tokenised_counted(file.corpus, self.reading.cut)
        self.reading.noted.add("gone", gone, lambda n: edits_gone(corpus.name, n))
        return self._finished(corpus)

    def parallel(
        self, sources: Sequence[str], sets: Sequence[Sequence[str | None]], paths: Sequence[str]
    ) -> Corpus:
        """The corpus of texts; ``paths`` are those of the source and of its references.

        None is where a reference is missing.
        """
        inputs = self.reading.inputs
        mark = inputs.missing
        if any(text is None for texts in sets for text in texts):
            mark = mark or "\0"  # which no text holds
        corpus, found = parallel_corpus(
            sources,
            [[mark or "" if text is None else text for text in texts] for texts in sets],
            paths,
            missing=mark,
            name=name_of(inputs),
            cut=self.reading.cut,
            before=self.before,
        )
        for path, findings in zip(paths, found, strict=True):
            self.note(path, findings)
        return self._finished(corpus)

    def _finished(self, corpus: Corpus) -> Corpus:
        kept = self.reading.inputs.annotators
        if kept:
            self.reading.annotators.update(corpus.annotators)
            corpus, bare = keep_annotators_counted(corpus, kept)
            name = corpus.name
            self.reading.noted.add("bare", bare, lambda n: sentences_without(name, n, kept))
        return corpus.starting_at(self.first)

    def output(self, name: str, lines: Sequence[str], path: str, corpus: Corpus) -> Hypotheses:
        """The output of a system as text."""
        cut = self.reading.cut
        system = output_of_lines(name, lines, None if cut.name == AS_IS else cut)
        called = name == system_name(path)
        named = called_source(corpus, system, name, path) if called else []
        return self._aligned(system, named, path, corpus)

    def edited_output(self, name: str, role: str, file: M2File, corpus: Corpus) -> Hypotheses:
        """The output of a system as edits."""
        systems, findings = systems_of(file, file.path, [name])
        numbers = self.reading.systems.setdefault(role, set())
        numbers |= {r.annotator for refs in file.corpus.references for r in refs if not r.implied}
        refuse_several(file.path, len(numbers))
        sources, cut = file.corpus.sources, self.reading.cut
        if cut.name != AS_IS:
            systems = [tokenised_output(system, sources, cut) for system in systems]
            sources = tuple(map(cut, sources))
        found = check_sources(corpus.sources, sources, file.path, file.lines, before=self.before)
        self.note(file.path, [*findings, *found])
        return self._aligned(systems[0], [], file.path, corpus)

    def _aligned(
        self, system: Hypotheses, found: list[Finding], path: str, corpus: Corpus
    ) -> Hypotheses:
        found = check_alignment(corpus, system, path=path, before=self.before) + found
        self.note(path, found)
        look_no_more(corpus, system)
        return system
