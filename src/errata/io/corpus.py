"""CorpusFiles to corpus and findings; policy raise, warn or collect (errata check)."""

from __future__ import annotations

import os
import warnings
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from errata.core.errors import DataWarning, InputError
from errata.core.stats import plural
from errata.data import Corpus, Hypotheses, Reference
from errata.io.atomic import write_lines
from errata.io.checks import Finding, Severity, raise_or_warn, sort_by_severity
from errata.io.checks.alignment import check_lines, check_sources, check_systems
from errata.io.checks.text import (
    check_characters,
    check_corpus,
    check_gold_characters,
    check_segmentation,
    source_letters,
    source_shapes,
)
from errata.io.files import PathLike, read_lines, shown_name
from errata.io.m2 import M2File, corpus_name, scan_m2
from errata.io.outputs import files_in, is_m2, read_hypotheses_with_findings, split_name
from errata.io.slices import SkippedSentences
from errata.io.tokenisers import AS_IS, Tokeniser, tokenise_corpus, tokeniser

# ---- Plain text, one sentence per line.


def read_text(path: PathLike) -> tuple[str, ...]:
    """Read sentences, one per line, exactly as they stand but without the line ends.

    ``-`` is standard input; gzip is recognised by its content. LF and CRLF end a line. An empty
    line is an empty sentence, at the end of the file too: nothing is dropped.
    """
    lines, findings = read_lines(path)
    raise_or_warn(findings)
    return tuple(lines)


def write_text(sentences: Iterable[str], path: PathLike) -> None:
    """Write sentences, one per line; what `read_text` reads back is exactly what was given."""
    sentences = list(sentences)
    for number, sentence in enumerate(sentences, 1):
        if "\n" in sentence or sentence.endswith("\r"):
            raise InputError(
                "the sentence holds a line end",
                path=os.fspath(path),
                line=number,
                remedy="a text file has one sentence per line",
            )
    if sentences and sentences[0].startswith("\ufeff"):
        raise InputError(
            "the first sentence starts with a byte order mark",
            line=1,
            path=os.fspath(path),
            remedy="remove U+FEFF",
        )
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
    empty reference. A sentence without a reference of some annotator is marked by a line that is
    exactly ``missing`` (``missing="<none>"``, say); without that argument no line means that.
    A ``source`` beside ``gold`` is compared with it, and must be the same sentences.
    ``annotators`` keeps the references of these annotators only. With ``guard=False`` references
    that look unrelated to the source are warned of and not refused. ``tokens`` says what cuts the
    texts into tokens (`errata.io.tokenisers.tokeniser`); outputs read for the corpus are cut alike.
    ``threads`` defaults to the number of cores.
    """
    cut = tokeniser(tokens)
    if gold is not None:
        if references:
            raise InputError(
                "both an M2 gold file and reference texts are given",
                remedy="leave out --gold or --refs",
            )
        file = scan_m2(gold, name=name, compatible=compatible, threads=threads)
        corpus = file.corpus
        raise_or_warn(gold_findings(file, cut))
        if source is not None:
            raise_or_warn(
                check_sources(
                    corpus.sources, read_text(source), shown_name(source), than=shown_name(gold)
                )
            )
        corpus = tokenise_corpus(corpus, cut)
    elif source is None:
        raise InputError(
            "no corpus given",
            remedy="name an M2 gold file (--gold), or a source "
            "and its references (--source, --refs)",
        )
    else:
        corpus = _read_parallel(source, references, missing, name, guard, cut)
    return corpus if annotators is None else keep_annotators(corpus, tuple(annotators))


def gold_findings(file: M2File, cut: Tokeniser) -> list[Finding]:
    """What is odd about a gold file, or a part of it, that will be cut like this."""
    found = [*file.findings, *check_gold_characters(file.corpus, file.path, file.lines)]
    if cut.name == AS_IS:
        shown = source_letters(file.corpus)
        found += check_segmentation(file.corpus.sources, file.path, shown=shown)
    return found


def _read_parallel(
    source: PathLike,
    references: Sequence[PathLike],
    missing: str | None,
    name: str | None,
    guard: bool,
    cut: Tokeniser,
) -> Corpus:
    sources = read_text(source)
    if not sources:
        raise InputError(
            "the file is empty", path=shown_name(source), remedy="give one source sentence per line"
        )
    sets = [read_text(path) for path in references]
    for path, texts in zip(references, sets, strict=True):
        if len(texts) != len(sources):
            raise InputError(
                f"{len(texts)} lines, but the source {shown_name(source)} has {len(sources)}",
                path=shown_name(path),
                line=min(len(texts), len(sources)) + 1,
                remedy="a reference file has one line per source sentence, empty ones included",
            )
    corpus, found = parallel_corpus(
        sources,
        sets,
        [shown_name(path) for path in (source, *references)],
        missing=missing,
        name=name or corpus_name(source),
        cut=cut,
    )
    for findings in found:
        raise_or_warn(findings, guard=guard, stacklevel=4)
    return corpus


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
    """A corpus of sources and as long reference sets, with what is odd about each of the texts.

    ``paths`` are what findings call them, the source first; ``before`` is how many of their lines
    stand before these, where they are a part.
    """
    numbers = range(before + 1, before + len(sources) + 1)
    by = None if cut.name == AS_IS else cut.name
    odd: list[Finding] = []
    if by is not None:
        odd = check_characters(sources, paths[0], numbers=numbers)
        sources = tuple(map(cut, sources))
        sets = [tuple(t if t == missing else cut(t) for t in texts) for texts in sets]
    corpus = Corpus(
        tuple(sources),
        tuple(
            tuple(
                Reference(k, text=texts[i])
                for k, texts in enumerate(sets)
                if missing is None or texts[i] != missing
            )
            for i in range(len(sources))
        ),
        name,
        tokens=cut.signature,
    )
    shown = source_letters(corpus)
    if by is None:
        odd = check_characters(sources, paths[0], numbers=numbers, shown=shown)
    found = [odd + check_segmentation(sources, paths[0], by=by, shown=shown)]
    for path, texts in zip(paths[1:], sets, strict=True):
        there = [
            source if text == missing else text for source, text in zip(sources, texts, strict=True)
        ]
        look = source_shapes(corpus)
        found.append(check_lines(sources, there, path, reference=True, before=before, look=look))
    return corpus, found


def keep_annotators(corpus: Corpus, annotators: tuple[int, ...]) -> Corpus:
    """The references of these annotators only; warns of sentences they did not annotate."""
    check_annotators(annotators, corpus.annotators, corpus.name)
    kept, bare = keep_annotators_with_counts(corpus, annotators)
    if bare:
        said = sentences_without(corpus.name, bare, annotators)
        warnings.warn(said, DataWarning, stacklevel=3)
    return kept


def keep_annotators_with_counts(corpus: Corpus, annotators: tuple[int, ...]) -> tuple[Corpus, int]:
    """The same, with the number of sentences that none of them annotated."""
    bare = sum(not any(r.annotator in annotators for r in refs) for refs in corpus.references)
    return corpus.keep_annotators(*annotators), bare


def check_annotators(annotators: Iterable[int], known: Collection[int], name: str) -> None:
    """Refuse an annotator whom the corpus of this name does not have."""
    for annotator in annotators:
        if annotator not in known:
            raise InputError(
                f"{name} has no annotator {annotator}",
                remedy=f"it has: {', '.join(map(str, sorted(known))) or 'none'}",
            )


def sentences_without(name: str, bare: int, annotators: Iterable[int]) -> str:
    """What is said of sentences that none of the annotators kept has annotated."""
    return (
        f"{name}: {bare} sentences have no annotation by annotator "
        f"{', '.join(map(str, annotators))}; they count as having nothing to "
        "correct, as in a file with these annotators only"
    )


def corrected_text(
    file: M2File, annotator: int, *, missing: str | None = None, copy_missing: bool = False
) -> tuple[str, ...]:
    """The sentences as one annotator corrected them (first alternatives).

    Where the annotator has no reference stands ``missing``, or the source with
    ``copy_missing=True``; with neither that is an error, because a text has no other way to say
    so. A sentence without edits stays exactly as it is, spaces included.
    """
    corpus = file.corpus
    if annotator not in corpus.annotators:
        raise InputError(
            f"no annotator {annotator}",
            path=file.path,
            remedy=f"there are: {', '.join(map(str, corpus.annotators))}",
        )
    lines = []
    for number, source, references in zip(
        file.lines, corpus.sources, corpus.references, strict=True
    ):
        reference = next((r for r in references if r.annotator == annotator), None)
        if reference is None and not copy_missing and missing is None:
            raise InputError(
                f"annotator {annotator} has no reference for this sentence",
                path=file.path,
                line=number,
                remedy="say what to write there: --missing MARK, or --copy-missing for the source",
            )
        text = source if reference is None and copy_missing else missing or ""
        if reference is not None:
            try:
                text = reference.corrected(source)
            except InputError as error:
                raise InputError(
                    error.problem, path=file.path, line=number, remedy=error.remedy
                ) from None
            if text == missing:
                raise InputError(
                    f"the correction is {text!r}, the mark of a missing reference",
                    path=file.path,
                    line=number,
                    remedy="choose another --missing",
                )
        lines.append(text)
    return tuple(lines)


# ---- A linter for a gold set and the outputs of systems: everything found, and a few
# statistics.


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
        """How many findings have this severity."""
        return sum(finding.severity == severity for finding in self.findings)


def check_files(
    outputs: Sequence[PathLike] = (),
    *,
    gold: PathLike | None = None,
    source: PathLike | None = None,
    references: Sequence[PathLike] = (),
    missing: str | None = None,
    compatible: bool = False,
    skipped: SkippedSentences | None = None,
) -> CheckReport:
    """Check a gold set and outputs; whatever is wrong becomes a finding, nothing is raised.

    Without ``gold`` and ``source`` the only M2 file among the outputs is the gold set; without
    one, texts are checked by themselves and against each other. Files of judgments (JSON lines,
    Appraise) are read as `errata rank` reads them. ``compatible`` reads the gold
    set as the official scorer does (see `read_m2`). Of sentences to be ``skipped`` nothing is
    counted, and nothing said but what makes a file unreadable.
    """
    outputs = files_in(outputs)
    gold_like = [path for path in outputs if is_m2(split_name(path)[1])]
    if gold is None and source is None and len(gold_like) == 1:
        gold = gold_like[0]
        outputs.remove(gold)
    findings: list[Finding] = []
    statistics: list[FileStatistics] = []
    corpus = None
    if gold is not None:
        corpus = _gold(gold, compatible, skipped, findings, statistics)
    elif source is not None:
        corpus = _lint_parallel(source, references, missing, skipped, findings, statistics)
    from errata.io.judgments import holds_judgments

    for path in [path for path in outputs if holds_judgments(split_name(path)[1])]:
        outputs.remove(path)
        _judgments(split_name(path)[1], findings, statistics)
    systems = [
        pair for path in outputs for pair in _output(path, corpus, skipped, findings, statistics)
    ]
    findings += check_systems(systems)
    if gold is not None and source is not None and corpus is not None:
        findings += _other_source(corpus, source, shown_name(gold), systems)
    if skipped is not None:
        files = {shown_name(p): p for p in (gold, *(split_name(o)[1] for o in outputs)) if p}
        findings = _on_others(findings, skipped, files)
    return CheckReport(tuple(sort_by_severity(findings)), tuple(statistics))


def _on_others(
    findings: list[Finding], skipped: SkippedSentences, files: Mapping[str, PathLike]
) -> list[Finding]:
    """What was found but in sentences to be skipped; errors stay, since they do for all readers."""
    starts: dict[str, list[int]] = {}
    for shown, path in files.items():
        if is_m2(path) and shown_name(path) != shown_name("-"):
            lines = read_lines(path)[0]
            starts[shown] = [n for n, line in enumerate(lines, 1) if line.split(" ")[0] == "S"]

    def skips(finding: Finding) -> bool:
        if finding.severity == "error" or finding.line is None:
            return False
        own = starts.get(finding.path)
        place = finding.line if own is None else bisect_right(own, finding.line)
        return skipped.holds(place - 1)

    return [finding for finding in findings if not skips(finding)]


def _left(sentences: Sequence[str], skipped: SkippedSentences | None) -> Sequence[str]:
    """The sentences that are not to be skipped."""
    if skipped is None:
        return sentences
    skipped.positions(len(sentences))  # which refuses numbers that are too large
    return [text for i, text in enumerate(sentences) if not skipped.holds(i)]


def _failed(error: InputError, path: PathLike) -> Finding:
    return Finding(
        "error",
        error.path or shown_name(path),
        error.line,
        error.problem,
        error.remedy or "",
        "unreadable",
    )


def _judgments(path: PathLike, findings: list[Finding], statistics: list[FileStatistics]) -> None:
    """What reading judgments says; annotators are the judges."""
    from errata.io.judgments import read_judgments

    name = shown_name(path)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DataWarning)
        try:
            read = list(read_judgments(path))
        except InputError as error:
            findings.append(_failed(error, path))
            read = []
    for each in said:
        if issubclass(each.category, DataWarning):
            problem = str(each.message).removeprefix(f"{name}: ")
            findings.append(
                Finding("warning", name, None, problem, "look at the file", "odd-judgments")
            )
    sentences = len({judgment.sentence for judgment in read})
    judges = len({judgment.judge for judgment in read})
    role = f"{len(read)} {plural('judgment', len(read))}"
    statistics.append(FileStatistics(name, role, sentences, None, judges))


def _gold(
    path: PathLike,
    compatible: bool,
    skipped: SkippedSentences | None,
    findings: list[Finding],
    statistics: list[FileStatistics],
) -> Corpus | None:
    try:
        file = scan_m2(path, compatible=compatible, collect=True)
    except InputError as error:
        findings.append(_failed(error, path))
        return None
    findings += file.findings
    findings += check_corpus(file.corpus, file.path, file.lines)
    left = file.corpus
    if skipped is not None:
        left = left.without_sentences(*skipped.positions(len(left)))
    references = [r for refs in left.references for r in refs]
    edits = sum(len(r.edits or ()) for r in references)
    statistics.append(
        FileStatistics(
            file.path,
            "gold",
            len(left),
            _tokens(left.sources),
            len({r.annotator for r in references}),
            edits,
            sum(bool(r.edits) for r in references) / len(references),
        )
    )
    return file.corpus


def _lint_parallel(
    source: PathLike,
    references: Sequence[PathLike],
    missing: str | None,
    skipped: SkippedSentences | None,
    findings: list[Finding],
    statistics: list[FileStatistics],
) -> Corpus | None:
    try:
        sources, found = read_lines(source)
    except InputError as error:
        findings.append(_failed(error, source))
        return None
    name = shown_name(source)
    corpus = Corpus(tuple(sources), ((),) * len(sources), corpus_name(source))
    findings += found + check_corpus(corpus, name)
    left = _left(sources, skipped)
    statistics.append(FileStatistics(name, "source", len(left), _tokens(left)))
    sets: list[list[str]] = []
    for path in references:
        try:
            lines, found = read_lines(path)
        except InputError as error:
            findings.append(_failed(error, path))
            continue
        findings += found
        if len(lines) == len(sources):
            there = [s if line == missing else line for s, line in zip(sources, lines, strict=True)]
            look = source_shapes(corpus)
            name = shown_name(path)
            findings += check_lines(sources, there, name, reference=True, look=look)
            sets.append(lines)
            changed = _changed(left, _left(there, skipped))
            lines = [*_left(lines, skipped)]
        else:
            findings += check_lines(sources, lines, shown_name(path), reference=True)
            changed = None
        statistics.append(
            FileStatistics(
                shown_name(path), "reference", len(lines), _tokens(lines), changed=changed
            )
        )
    return Corpus(
        tuple(sources),
        tuple(
            tuple(
                Reference(k, text=texts[i]) for k, texts in enumerate(sets) if texts[i] != missing
            )
            for i in range(len(sources))
        ),
        corpus.name,
    )


def _output(
    path: PathLike,
    corpus: Corpus | None,
    skipped: SkippedSentences | None,
    findings: list[Finding],
    statistics: list[FileStatistics],
) -> list[tuple[str, Hypotheses]]:
    shown = shown_name(split_name(path)[1])
    try:
        systems, found = read_hypotheses_with_findings(path, corpus=corpus)
    except InputError as error:
        findings.append(_failed(error, path))
        return []
    findings += found
    for system in systems:
        if corpus is None:
            findings += check_characters(system.sentences, shown)
            if not len(system):
                findings.append(
                    Finding(
                        "error",
                        shown,
                        None,
                        "the file is empty",
                        "give one sentence a line",
                        "empty-file",
                    )
                )
        known = corpus is not None and len(corpus) == len(system)
        left, sources = system, corpus.sources if corpus and known else None
        if skipped is not None and (known or corpus is None):
            left = system.without_sentences(*skipped.positions(len(system)))
            sources = None if sources is None else tuple(_left(sources, skipped))
        statistics.append(
            FileStatistics(
                shown,
                f"output of {left.system}",
                len(left),
                _tokens(left.sentences),
                edits=None if left.edits is None else sum(map(len, left.edits)),
                changed=None if sources is None else _changed(sources, left.sentences),
            )
        )
    return [(shown, system) for system in systems]


def _other_source(
    corpus: Corpus, source: PathLike, gold: str, systems: Sequence[tuple[str, Hypotheses]]
) -> list[Finding]:
    """Compare ``source`` with the gold set, and say if an output is the source in its place."""
    try:
        lines, findings = read_lines(source)
    except InputError as error:
        return [_failed(error, source)]
    differences = check_sources(corpus.sources, lines, shown_name(source), than=gold)
    if differences:
        for path, system in systems:
            if not check_sources(corpus.sources, system.sentences, path):
                return [
                    *findings,
                    Finding(
                        "error",
                        shown_name(source),
                        differences[0].line,
                        f"this is not the source of {gold}, but {path} is",
                        "source and output are swapped: exchange the two files",
                        "swapped",
                    ),
                ]
    return findings + differences


def _tokens(sentences: Sequence[str]) -> int:
    return sum(len(sentence.split()) for sentence in sentences)


def _changed(sources: Sequence[str], lines: Sequence[str]) -> float:
    pairs = list(zip(sources, lines, strict=True))
    return sum(a.split() != b.split() for a, b in pairs) / max(len(pairs), 1)


# ---- Reference sets from files of their own: texts, or M2, that correct the sentences of a
# corpus.

SingleAnnotatorSet = list[
    Reference | None
]  # of one annotator, a sentence each; None where there is none


def read_reference_set(
    paths: Sequence[PathLike],
    corpus: Corpus,
    *,
    name: str,
    missing: str | None = None,
    compatible: bool = False,
) -> Corpus:
    """The sentences of a corpus with the references of these files instead of its own.

    A text is one annotator, an M2 file (``.m2``) as many as it has; they are numbered from 0 in the
    order of the files. ``missing`` and ``compatible`` as in `errata.io.read_corpus`.
    """
    columns: list[SingleAnnotatorSet] = []
    for path in paths:
        if is_m2(path):
            columns += _edits(path, corpus, compatible)
        else:
            columns.append(_texts(path, corpus, missing))
    return replace(
        corpus,
        references=tuple(
            tuple(
                replace(reference, annotator=k)
                for k, reference in enumerate(row)
                if reference is not None
            )
            for row in zip(*columns, strict=True)
        ),
        name=name,
        kept=(),
    )


def _edits(path: PathLike, corpus: Corpus, compatible: bool) -> list[SingleAnnotatorSet]:
    file = scan_m2(path, compatible=compatible)
    shown = shown_name(path)
    raise_or_warn(
        [*file.findings, *check_sources(corpus.sources, file.corpus.sources, shown, file.lines)],
        stacklevel=4,
    )
    columns: list[SingleAnnotatorSet] = []
    for annotator in file.corpus.annotators:
        columns.append(
            [
                next((r for r in refs if r.annotator == annotator), None)
                for refs in file.corpus.references
            ]
        )
    return columns


def _texts(path: PathLike, corpus: Corpus, missing: str | None) -> SingleAnnotatorSet:
    lines = read_text(path)
    shown = shown_name(path)
    if len(lines) != len(corpus):
        raise InputError(
            f"{len(lines)} lines, but the corpus has {len(corpus)} sentences",
            path=shown,
            line=min(len(lines), len(corpus)) + 1,
            remedy="a reference file has one line per source sentence, empty ones included",
        )
    there = [
        source if text == missing else text
        for source, text in zip(corpus.sources, lines, strict=True)
    ]
    look = source_shapes(corpus)
    found = check_lines(corpus.sources, there, shown, reference=True, look=look)
    raise_or_warn(found, stacklevel=4)
    return [None if text == missing else Reference(0, text=text) for text in lines]
