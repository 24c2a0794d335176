"""CorpusFiles to corpus and findings; policy raise, warn or collect (errata check)."""

from __future__ import annotations

import os
import warnings
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from errata.core.errors import DataWarning, InputError
from errata.core.stats import plural
from errata.data import Corpus, Hypotheses, Reference, duplicate_name_errors
from errata.io import checks
from errata.io.atomic import write_lines
from errata.io.checks import Finding, FindingSink, Severity
from errata.io.checks.alignment import compare_lines, find_equal_systems, match_sources
from errata.io.checks.damage import check_edit_offsets, check_plain_text
from errata.io.checks.text import (
    check_characters,
    check_gold_characters,
    check_segmentation,
    lint_edits,
    source_conventions,
    source_letter_flags,
)
from errata.io.files import PathLike, read_lines, shown_name
from errata.io.m2 import M2File, corpus_name, read_m2_file
from errata.io.outputs import is_m2, list_files_in, read_output_file, split_name
from errata.io.slices import SkippedSentences
from errata.io.tokenisers import AS_IS, Tokeniser, tokenise_corpus, tokeniser

# A path, a pattern or a URL; several where files are read in parts, in that order.
Pattern = str | tuple[str, ...]


@dataclass(frozen=True)
class CorpusFiles:
    """Where a corpus and the outputs on it are, and how they are read.

    Everything that changes a number when files are read is a field. The gold standard is M2
    (``gold``), or ``source`` and ``references``, one pattern per reference set; ``outputs`` are
    pairs of a system's name ("" for that of its file) and its pattern. ``parquet`` (files, or a
    folder of them) stands for all of them; outputs beside it are Parquet files too. ``storage``
    are options for fsspec (``endpoint_url``, ``anon``...), which are neither shown nor written;
    ``place`` is where the files were listed.

    >>> files = CorpusFiles(gold="gold-*.m2", outputs=(("ours", "ours-*.txt"),))
    >>> list(files.roles), files.title
    (['gold', 'output:ours'], 'gold-*')
    """

    gold: Pattern | None = None
    source: Pattern | None = None
    references: tuple[Pattern, ...] = ()
    outputs: tuple[tuple[str, Pattern], ...] = ()
    parquet: Pattern | None = None
    missing: str | None = None
    compatible: bool = False
    annotators: tuple[int, ...] = ()
    tokens: str = AS_IS
    guard: bool = True
    name: str | None = None
    storage: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    skipped: SkippedSentences | None = None
    place: str = ""

    def refuse_contradictions(self) -> None:
        """Refuse files that contradict each other, and no files at all."""
        if self.parquet is not None and (self.gold or self.source or self.references):
            remedy = "leave out the Parquet files, or gold, source and references"
            raise InputError("both Parquet files and texts are given", remedy=remedy)
        if self.gold is not None and self.references:
            problem = "both an M2 gold file and reference texts are given"
            raise InputError(problem, remedy="leave out --gold or --refs")
        if self.gold is None and self.source is None and self.parquet is None:
            remedy = "name an M2 gold file (--gold), or a source and references (--source, --refs)"
            raise InputError("no corpus given", remedy=remedy)
        named = [(name, " ".join(pattern_tuple(pattern))) for name, pattern in self.outputs if name]
        for error in duplicate_name_errors([name for name, _ in named], [at for _, at in named]):
            raise error

    @property
    def roles(self) -> Mapping[str, tuple[str, ...]]:
        """The patterns of each role: ``gold``, ``source``, ``refs:0``..., ``output:NAME``."""
        self.refuse_contradictions()
        named = {"parquet": self.parquet, "gold": self.gold, "source": self.source}
        named |= {f"refs:{k}": pattern for k, pattern in enumerate(self.references)}
        named |= {f"output:{name}": pattern for name, pattern in self.outputs}
        return MappingProxyType(
            {role: pattern_tuple(each) for role, each in named.items() if each is not None}
        )

    @property
    def title(self) -> str:
        """The name of the corpus: as given, or that of its file or pattern."""
        return corpus_name(next(iter(self.roles.values()))[0]) if self.name is None else self.name

    @property
    def output_paths(self) -> tuple[str, ...]:
        """The outputs as a user names them: FILE, NAME=FILE, or a folder."""
        return tuple(
            f"{name}={path}" if name else path
            for name, pattern in self.outputs
            for path in pattern_tuple(pattern)
        )

    def read_corpus(self, *, threads: int | None = None) -> Corpus:
        """Read the corpus; errors are raised, the rest are warnings (see `read_corpus`)."""
        self.refuse_contradictions()
        cut = tokeniser(self.tokens)
        sink = FindingSink(guard=self.guard)
        if self.gold is not None:
            corpus = tokenise_corpus(self.read_gold(sink, cut, threads).corpus, cut)
        else:
            corpus = self.read_parallel(sink, cut)[0]
        corpus = keep_annotators(corpus, self.annotators)
        if self.skipped is None:
            return corpus
        return corpus.without_sentences(*self.skipped.positions(len(corpus)))

    def read_gold(self, sink: FindingSink, cut: Tokeniser, threads: int | None = None) -> M2File:
        """The gold edits, compared with a second copy of the sources if there is one."""
        path = _single_path(self.gold)
        file = read_m2_file(
            path, name=self.name, compatible=self.compatible, collect=sink.collect, threads=threads
        )
        sink.add(gold_findings(file, cut))
        if self.source is not None and not sink.collect:
            source = _single_path(self.source)
            others = read_text(source)
            found = match_sources(file.corpus.sources, others, shown_name(source), than=file.path)
            sink.add(found)
        return file

    def read_parallel(
        self, sink: FindingSink, cut: Tokeniser
    ) -> tuple[Corpus, list[tuple[str, list[str]]]]:
        """The corpus of texts, and each text with its file, the source first."""
        source = _single_path(self.source)
        path = shown_name(source)
        sources, found = read_lines(source)
        if not sources:
            remedy = "give one source sentence per line"
            raise InputError("the file is empty", path=path, remedy=remedy)
        sink.add(found)
        texts, paths, sets = [(path, sources)], [path], []
        for reference in map(_single_path, self.references):
            path = shown_name(reference)
            with sink.collecting_errors(path):
                lines, found = read_lines(reference)
                sink.add(found)
                texts.append((path, lines))
                if len(lines) == len(sources):
                    paths.append(path)
                    sets.append(lines)
                else:
                    sink.add(compare_lines(sources, lines, path, reference=True))
        name = self.name or corpus_name(source)
        corpus, by_text = parallel_corpus(
            sources, sets, paths, missing=self.missing, name=name, cut=cut
        )
        for found in by_text:
            sink.add(found)
        return corpus, texts

    def to_json(self) -> dict[str, Any]:
        """The fields of files read in parts; not ``storage``, which may hold secrets."""
        names = [each.name for each in fields(self)]
        left_out = ("storage", "skipped", "place")
        return {name: getattr(self, name) for name in names if name not in left_out}

    @classmethod
    def from_json(
        cls, data: Mapping[str, Any], *, storage: Mapping[str, Any] | None = None
    ) -> CorpusFiles:
        """What `to_json` gave, also after it was written and read."""
        return cls(**{key: _to_tuples(value) for key, value in data.items()}, storage=storage or {})


def pattern_tuple(pattern: Pattern) -> tuple[str, ...]:
    """The patterns of a role, one or several."""
    return (pattern,) if isinstance(pattern, str) else tuple(pattern)


def _single_path(pattern: Pattern | None) -> str:
    names = pattern_tuple(() if pattern is None else pattern)
    if len(names) != 1:
        raise InputError(f"{len(names)} files where one is read", remedy="join them, or name one")
    return names[0]


def _to_tuples(value: Any) -> Any:
    """Lists, as JSON has them, as tuples."""
    return tuple(map(_to_tuples, value)) if isinstance(value, list | tuple) else value


def read_text(path: PathLike) -> tuple[str, ...]:
    """Read sentences, one per line, without the line ends (LF or CRLF).

    ``-`` is standard input, and gzip is recognised. Empty lines are empty sentences, also at the
    end.
    """
    lines, findings = read_lines(path)
    checks.raise_or_warn(findings)
    return tuple(lines)


def write_text(sentences: Iterable[str], path: PathLike) -> None:
    """Write sentences, one per line; what `read_text` reads back is exactly what was given."""
    sentences = list(sentences)
    for number, sentence in enumerate(sentences, 1):
        if "\n" in sentence or sentence.endswith("\r"):
            problem = "the sentence holds a line end"
            remedy = "a text file has one sentence per line"
            raise InputError(problem, path=os.fspath(path), line=number, remedy=remedy)
    if sentences and sentences[0].startswith("\ufeff"):
        problem = "the first sentence starts with a byte order mark"
        raise InputError(problem, line=1, path=os.fspath(path), remedy="remove U+FEFF")
    write_lines(sentences, path)


def read_corpus(
    *,
    gold: PathLike | None = None,
    source: PathLike | None = None,
    references: Sequence[PathLike] = (),
    annotators: Iterable[int] | None = None,
    missing: str | None = None,
    name: str | None = None,
    compatible: bool = False,
    guard: bool = True,
    tokens: str = AS_IS,
    threads: int | None = None,
) -> Corpus:
    """Read a corpus from an M2 file (``gold``) or from parallel text (``source, references``).

    Reference files have as many lines as the source; file k is annotator k. An empty line is an
    empty reference; a line that is exactly ``missing`` (``missing="<none>"``, say) is no reference.
    A ``source`` beside ``gold`` must have the same sentences. ``annotators`` keeps the references
    of these annotators only. With ``guard=False`` references that look unrelated to the source
    cause a warning and no error. ``tokens`` names the tokeniser (`errata.io.tokenisers.tokeniser`),
    also for outputs read for the corpus. ``threads`` defaults to the number of cores.
    """
    kept = None if annotators is None else tuple(annotators)
    if kept == ():
        raise InputError("no annotator to keep", remedy="name at least one annotator")
    return CorpusFiles(
        None if gold is None else os.fspath(gold),
        None if source is None else os.fspath(source),
        tuple(os.fspath(path) for path in references),
        missing=missing,
        compatible=compatible,
        annotators=kept or (),
        tokens=tokens,
        guard=guard,
        name=name,
    ).read_corpus(threads=threads)


def gold_findings(file: M2File, cut: Tokeniser) -> list[Finding]:
    """Oddities of a gold file, or a part of it, that will be cut like this."""
    found = [*file.findings, *check_gold_characters(file.corpus, file.path, file.lines)]
    found += check_edit_offsets(file.corpus, file.path)
    if cut.name == AS_IS:
        shown = source_letter_flags(file.corpus)
        found += check_segmentation(file.corpus.sources, file.path, shown=shown)
    return found


def parallel_corpus(
    sources: Sequence[str],
    sets: Sequence[Sequence[str]],
    paths: Sequence[str],
    *,
    missing: str | None,
    name: str,
    cut: Tokeniser,
    before: int = 0,
) -> tuple[Corpus, list[list[Finding]]]:
    """Return the corpus of sources and reference sets, and the findings on each text.

    ``paths`` name the texts, the source first; ``before`` is the number of lines before these.
    """
    numbers = range(before + 1, before + len(sources) + 1)
    by = None if cut.name == AS_IS else cut.name
    odd: list[Finding] = []
    corpus = _corpus_of_texts(sources, sets, missing, name)
    if by is not None:
        odd = check_characters(sources, paths[0], numbers=numbers)
        sources = tuple(map(cut, sources))
        sets = [tuple(t if t == missing else cut(t) for t in texts) for texts in sets]
        tokenised = _corpus_of_texts(sources, sets, missing, name)
        corpus = replace(tokenised, tokens=cut.signature, raw=corpus)
    shown = source_letter_flags(corpus)
    if by is None:
        odd = check_characters(sources, paths[0], numbers=numbers, shown=shown)
    container = [] if before else check_plain_text(sources, paths[0])
    found = [container + odd + check_segmentation(sources, paths[0], by=by, shown=shown)]
    for path, texts in zip(paths[1:], sets, strict=True):
        there, look = _fill_missing(texts, sources, missing), source_conventions(corpus)
        found.append(compare_lines(sources, there, path, reference=True, before=before, look=look))
    return corpus, found


def _fill_missing(
    lines: Sequence[str], sources: Sequence[str], missing: str | None
) -> Sequence[str]:
    """Return lines with the source where one is the mark of a missing reference."""
    if len(lines) != len(sources):
        return lines
    return [s if line == missing else line for s, line in zip(sources, lines, strict=True)]


def _corpus_of_texts(
    sources: Sequence[str], sets: Sequence[Sequence[str]], missing: str | None, name: str
) -> Corpus:
    """Return the corpus of parallel texts; a line that is ``missing`` is no reference."""
    columns = [
        [None if text == missing else Reference(k, text=text) for text in texts]
        for k, texts in enumerate(sets)
    ]
    rows = zip(*columns, strict=True) if columns else [()] * len(sources)
    return Corpus(tuple(sources), tuple([tuple([r for r in row if r]) for row in rows]), name)


def keep_annotators(corpus: Corpus, annotators: tuple[int, ...]) -> Corpus:
    """Return the references of these annotators only, or all; warn about sentences without any."""
    if not annotators:
        return corpus
    check_annotators(annotators, corpus.annotators, corpus.name)
    return keep_known_annotators(corpus, annotators)


def keep_known_annotators(
    corpus: Corpus, annotators: tuple[int, ...], warn: Callable[..., None] = checks.warn_unless_zero
) -> Corpus:
    """The references of these annotators only; ``warn`` hears of sentences without any."""
    bare = sum(not any(r.annotator in annotators for r in refs) for refs in corpus.references)
    numbers = ", ".join(map(str, annotators))
    warn(
        "bare",
        bare,
        lambda n: (
            f"{corpus.name}: {n} sentences have no annotation by annotator {numbers}; they "
            "count as having nothing to correct, as in a file with these annotators only"
        ),
    )
    return corpus.keep_annotators(*annotators)


def check_annotators(annotators: Iterable[int], known: Collection[int], name: str) -> None:
    """Refuse an annotator whom the corpus of this name does not have."""
    for annotator in annotators:
        if annotator not in known:
            remedy = f"it has: {', '.join(map(str, sorted(known))) or 'none'}"
            raise InputError(f"{name} has no annotator {annotator}", remedy=remedy)


def corrected_text(
    file: M2File, annotator: int, *, missing: str | None = None, copy_missing: bool = False
) -> tuple[str, ...]:
    """Return the sentences as one annotator corrected them (first alternatives).

    A sentence without a reference is ``missing``, or with ``copy_missing`` its source; with neither
    it is an error. A sentence without edits stays unchanged, spaces included.
    """
    corpus = file.corpus
    if annotator not in corpus.annotators:
        remedy = f"there are: {', '.join(map(str, corpus.annotators))}"
        raise InputError(f"no annotator {annotator}", path=file.path, remedy=remedy)
    lines = []
    rows = zip(file.lines, corpus.sources, corpus.references, strict=True)
    for number, source, references in rows:
        reference = next((r for r in references if r.annotator == annotator), None)
        if reference is None and not copy_missing and missing is None:
            problem = f"annotator {annotator} has no reference for this sentence"
            remedy = "say what to write there: --missing MARK, or --copy-missing for the source"
            raise InputError(problem, path=file.path, line=number, remedy=remedy)
        text = source if reference is None and copy_missing else missing or ""
        if reference is not None:
            try:
                text = reference.corrected(source)
            except InputError as error:
                problem, remedy = error.problem, error.remedy or ""
                raise InputError(problem, path=file.path, line=number, remedy=remedy) from None
            if text == missing:
                problem = f"the correction is {text!r}, the mark of a missing reference"
                remedy = "choose another --missing"
                raise InputError(problem, path=file.path, line=number, remedy=remedy)
        lines.append(text)
    return tuple(lines)


# ---- A linter for a gold set and the outputs of systems.


@dataclass(frozen=True, slots=True)
class FileStatistics:
    """What a file holds; ``changed`` is the share of sentences that differ from the source."""

    path: str
    role: str
    sentences: int
    tokens: int | None
    annotators: int | None = None
    edits: int | None = None
    changed: float | None = None


@dataclass(frozen=True)
class CheckReport:
    """The outcome of `check_files`."""

    findings: tuple[Finding, ...]
    statistics: tuple[FileStatistics, ...]

    def count(self, severity: Severity) -> int:
        return sum(finding.severity == severity for finding in self.findings)


def check_files(outputs: Sequence[PathLike] = (), files: CorpusFiles | None = None) -> CheckReport:
    """Check a gold set and outputs; whatever is wrong becomes a finding, nothing is raised.

    Without a corpus the only M2 file among the outputs is the gold set; without one, texts are
    checked alone and against each other. Judgments (JSON lines, Appraise) are read as by `errata
    rank`. Skipped sentences are neither counted nor reported, unless the file is unreadable.
    """
    outputs, files = list_files_in(outputs), files or CorpusFiles()
    gold_like = [path for path in outputs if is_m2(split_name(path)[1])]
    if files.gold is None and files.source is None and len(gold_like) == 1:
        outputs.remove(gold_like[0])
        files = replace(files, gold=split_name(gold_like[0])[1])
    check = _Check(files)
    check.read_corpus()
    from errata.io.judgments import holds_judgments

    for path in [path for path in outputs if holds_judgments(split_name(path)[1])]:
        outputs.remove(path)
        check.read_judgments(split_name(path)[1])
    systems = [pair for path in outputs for pair in check.read_output(path)]
    check.sink.add(find_equal_systems(systems))
    check.compare_source(systems)
    findings = check.sink.findings
    if files.skipped is not None:
        paths = [*pattern_tuple(files.gold or ()), *(split_name(o)[1] for o in outputs)]
        findings = _drop_skipped_findings(findings, files.skipped, paths)
    return CheckReport(tuple(checks.sort_by_severity(findings)), tuple(check.statistics))


class _Check:
    """Reads files one after the other, and collects findings and statistics."""

    def __init__(self, files: CorpusFiles) -> None:
        self.files, self.skipped = files, files.skipped
        self.sink = FindingSink(collect=True)
        self.statistics: list[FileStatistics] = []
        self.corpus: Corpus | None = None

    def without_skipped(self, sentences: Sequence[str]) -> Sequence[str]:
        if self.skipped is None:
            return sentences
        self.skipped.positions(len(sentences))  # which refuses numbers that are too large
        return [text for i, text in enumerate(sentences) if not self.skipped.skips(i)]

    def read_corpus(self) -> None:
        """Read the corpus, if files name one."""
        cut, files = tokeniser(AS_IS), self.files
        path = shown_name(_single_path(files.gold or files.source or "-"))
        if files.gold is not None:
            with self.sink.collecting_errors(path):
                file = files.read_gold(self.sink, cut)
                self.sink.add(lint_edits(file.corpus, file.path, file.lines))
                self.corpus = file.corpus
            if self.corpus is not None:
                self._add_gold_statistics(file)
        elif files.source is not None:
            with self.sink.collecting_errors(path):
                self.corpus, texts = files.read_parallel(self.sink, cut)
                bare = replace(self.corpus, references=((),) * len(self.corpus))
                self.sink.add(lint_edits(bare, path))
            if self.corpus is not None:
                self._add_text_statistics(texts)

    def _add_gold_statistics(self, file: M2File) -> None:
        corpus = file.corpus
        if self.skipped is not None:
            corpus = corpus.without_sentences(*self.skipped.positions(len(corpus)))
        references = [r for refs in corpus.references for r in refs]
        edits = [reference.edits or () for reference in references]
        self.add_statistics(
            file.path,
            "gold",
            corpus.sources,
            annotators=len({r.annotator for r in references}),
            edits=sum(map(len, edits)),
            changed=sum(map(bool, edits)) / len(references),
        )

    def add_statistics(
        self, path: str, role: str, sentences: Sequence[str], **counts: float | None
    ) -> None:
        """Add the sizes of a text, and its counts."""
        tokens = sum(len(sentence.split()) for sentence in sentences)
        entry = FileStatistics(path, role, len(sentences), tokens, **counts)  # type: ignore[arg-type]
        self.statistics.append(entry)

    def _add_text_statistics(self, texts: Sequence[tuple[str, Sequence[str]]]) -> None:
        (name, sources), *references = texts
        left = self.without_skipped(sources)
        self.add_statistics(name, "source", left)
        for path, lines in references:
            changed = None
            if len(lines) == len(sources):
                lines = self.without_skipped(lines)
                changed = _share_changed(left, _fill_missing(lines, left, self.files.missing))
            self.add_statistics(path, "reference", lines, changed=changed)

    def read_judgments(self, path: PathLike) -> None:
        """Collect what reading judgments says; annotators are the judges."""
        from errata.io.judgments import read_judgments

        name = shown_name(path)
        read = []
        with warnings.catch_warnings(record=True) as caught, self.sink.collecting_errors(name):
            warnings.simplefilter("always", DataWarning)
            read = list(read_judgments(path))
        for each in caught:
            if issubclass(each.category, DataWarning):
                problem = str(each.message).removeprefix(f"{name}: ")
                found = Finding("warning", name, None, problem, "look at the file", "odd-judgments")
                self.sink.add([found])
        sentences = len({judgment.sentence for judgment in read})
        judges = len({judgment.judge for judgment in read})
        role = f"{len(read)} {plural('judgment', len(read))}"
        self.statistics.append(FileStatistics(name, role, sentences, None, judges))

    def read_output(self, path: PathLike) -> list[tuple[str, Hypotheses]]:
        """Read the systems of a file, each with the name of the file."""
        shown, corpus = shown_name(split_name(path)[1]), self.corpus
        systems: list[Hypotheses] = []
        with self.sink.collecting_errors(shown):
            systems, found = read_output_file(path, corpus=corpus)
            self.sink.add(found)
        for system in systems:
            if corpus is None:
                self.sink.add(check_characters(system.sentences, shown))
                if not len(system):
                    problem, remedy = "the file is empty", "give one sentence a line"
                    empty = Finding("error", shown, None, problem, remedy, "empty-file")
                    self.sink.add([empty])
            left, sources = system, None
            if corpus is not None and len(corpus) == len(system):
                sources = self.without_skipped(corpus.sources)
            if self.skipped is not None and (sources is not None or corpus is None):
                left = system.without_sentences(*self.skipped.positions(len(system)))
            self.add_statistics(
                shown,
                f"output of {left.system}",
                left.sentences,
                edits=None if left.edits is None else sum(map(len, left.edits)),
                changed=None if sources is None else _share_changed(sources, left.sentences),
            )
        return [(shown, system) for system in systems]

    def compare_source(self, systems: Sequence[tuple[str, Hypotheses]]) -> None:
        """Compare a source beside the gold set, and see whether an output is in its place."""
        files, corpus = self.files, self.corpus
        if files.gold is None or files.source is None or corpus is None:
            return
        source, gold = shown_name(_single_path(files.source)), shown_name(_single_path(files.gold))
        with self.sink.collecting_errors(source):
            lines, found = read_lines(_single_path(files.source))
            self.sink.add(found)
            differences = match_sources(corpus.sources, lines, source, than=gold)
            equal = (p for p, s in systems if not match_sources(corpus.sources, s.sentences, p))
            if differences and (path := next(equal, None)) is not None:
                problem = f"this is not the source of {gold}, but {path} is"
                remedy, line = "source and output are swapped: exchange them", differences[0].line
                differences = [Finding("error", source, line, problem, remedy, "swapped")]
            self.sink.add(differences)


def _drop_skipped_findings(
    findings: Sequence[Finding], skipped: SkippedSentences, paths: Iterable[PathLike]
) -> list[Finding]:
    """The findings outside sentences to be skipped; errors stay, since they do for all readers."""
    starts: dict[str, list[int]] = {}
    for path in paths:
        if is_m2(path) and shown_name(path) != shown_name("-"):
            lines = read_lines(path)[0]
            numbered = enumerate(lines, 1)
            starts[shown_name(path)] = [n for n, line in numbered if line.split(" ")[0] == "S"]

    def skips(finding: Finding) -> bool:
        if finding.severity == "error" or finding.line is None:
            return False
        own = starts.get(finding.path)
        place = finding.line if own is None else bisect_right(own, finding.line)
        return skipped.skips(place - 1)

    return [finding for finding in findings if not skips(finding)]


def _share_changed(sources: Sequence[str], lines: Sequence[str]) -> float:
    pairs = list(zip(sources, lines, strict=True))
    return sum(a.split() != b.split() for a, b in pairs) / max(len(pairs), 1)


# ---- Reference sets from texts, or M2, that correct the sentences of a corpus.


def read_reference_set(files: CorpusFiles, corpus: Corpus) -> Corpus:
    """Return the corpus with the references of ``files`` instead of its own.

    Annotators are numbered in the order of the files: one per text, those of an M2 file (``.m2``).
    """
    columns: list[list[Reference | None]] = []
    for path in map(_single_path, files.references):
        if is_m2(path):
            columns += _references_in_m2(path, corpus, files.compatible)
        else:
            columns.append(_references_in_text(path, corpus, files.missing))
    references = tuple(
        tuple(replace(r, annotator=k) for k, r in enumerate(row) if r is not None)
        for row in zip(*columns, strict=True)
    )
    return replace(corpus, references=references, name=files.title, kept=())


def _references_in_m2(path: str, corpus: Corpus, compatible: bool) -> list[list[Reference | None]]:
    """The references of each annotator of a file, None where there is none."""
    file = read_m2_file(path, compatible=compatible)
    found = match_sources(corpus.sources, file.corpus.sources, file.path, file.lines)
    checks.raise_or_warn([*file.findings, *found], stacklevel=4)
    return [
        [next((r for r in refs if r.annotator == k), None) for refs in file.corpus.references]
        for k in file.corpus.annotators
    ]


def _references_in_text(path: str, corpus: Corpus, missing: str | None) -> list[Reference | None]:
    lines, sources, look = read_text(path), corpus.sources, source_conventions(corpus)
    there = _fill_missing(lines, sources, missing)
    found = compare_lines(sources, there, shown_name(path), reference=True, look=look)
    checks.raise_or_warn(found, stacklevel=4)
    return [None if text == missing else Reference(0, text=text) for text in lines]
