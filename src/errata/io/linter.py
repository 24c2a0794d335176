"""A linter for a gold set and the outputs of systems: everything found, and a few statistics."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from errata.data import Corpus, Hypotheses, Reference
from errata.errors import DataWarning, InputError
from errata.io.checks.characters import check_characters, check_corpus
from errata.io.checks.conventions import source_shapes
from errata.io.checks.findings import Finding, Severity, worst_first
from errata.io.checks.lines import check_lines
from errata.io.checks.roles import check_sources, check_systems
from errata.io.files import PathLike, read_lines, shown_name
from errata.io.judgments import holds_judgments, read_judgments
from errata.io.m2 import corpus_name, scan_m2
from errata.io.outputs import files_in, is_m2, scan_hypotheses, split_name
from errata.io.skipping import Skipped
from errata.numbers import plural

__all__ = ["Checked", "FileStatistics", "check_files"]


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
class Checked:
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
    skipped: Skipped | None = None,
) -> Checked:
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
        corpus = _parallel(source, references, missing, skipped, findings, statistics)
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
    return Checked(tuple(worst_first(findings)), tuple(statistics))


def _on_others(
    findings: list[Finding], skipped: Skipped, files: Mapping[str, PathLike]
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


def _left(sentences: Sequence[str], skipped: Skipped | None) -> Sequence[str]:
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
    skipped: Skipped | None,
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


def _parallel(
    source: PathLike,
    references: Sequence[PathLike],
    missing: str | None,
    skipped: Skipped | None,
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
    skipped: Skipped | None,
    findings: list[Finding],
    statistics: list[FileStatistics],
) -> list[tuple[str, Hypotheses]]:
    shown = shown_name(split_name(path)[1])
    try:
        systems, found = scan_hypotheses(path, corpus=corpus)
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
