"""The M2 grammar: read, check, lint, write.

One paragraph per sentence, separated by blank lines::

    S People get certain disease because of genetic changes .
    A 3 4|||Nn|||diseases|||REQUIRED|||-NONE-|||0
    A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

The fields of an ``A`` line are token offsets, type, correction (alternatives apart by ``||``,
``-NONE-`` or nothing to delete), two fields no scorer reads, and the annotator's number.
`docs/formats.md` lists what the official scorer (nusnlp/m2scorer) reads differently.
"""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple

import numpy as np

from errata.core.errors import InputError
from errata.core.parallel import circles_left, parallel_map
from errata.data import Corpus, Edit, Reference, apply_edits
from errata.data.tokens import Bytes
from errata.io import files
from errata.io.atomic import write_lines
from errata.io.checks import Finding, raise_or_warn
from errata.io.m2_arrays import ScannedSentences, TextPart, joined_corpus, scan_part, split_text

# ---- The ``A`` lines of an M2 file: one edit each, checked, and their order.

REMEMBERED = 4096  # lines, a few hundred kilobytes
AnnotatedEdit = tuple[int, Edit | None]
REQUIREMENTS = ("REQUIRED", "OPTIONAL")  # the fourth field of sound files


@dataclass
class EditLineReader:
    """What the functions below share while one file is read."""

    path: str
    compatible: bool
    findings: list[Finding] = field(default_factory=list)
    # What lines say that were read before and need no remark, by all but their annotator: systems
    # often make the same edit, and most have the same noop line.
    known: dict[str, Edit | None] = field(default_factory=dict)

    def warn(self, line: int, code: str, problem: str, remedy: str) -> None:
        self.findings.append(Finding("warning", self.path, line, problem, remedy, code))

    def error(self, line: int, problem: str, remedy: str) -> InputError:
        return InputError(problem, path=self.path, line=line, remedy=remedy)


def read_edit(line: str, number: int, length: int, reading: EditLineReader) -> AnnotatedEdit:
    """One ``A`` line as annotator and edit; a noop has no edit."""
    body, _, last = line.rpartition("|||")
    annotator = _parse_integer(last)
    if annotator is not None and annotator >= 0 and body in reading.known:
        edit = reading.known[body]
        if edit is None or edit.end <= length:
            return annotator, edit
    remarks = len(reading.findings)
    annotator, edit = _parse_edit(line, number, length, reading)
    if len(reading.findings) == remarks:
        if len(reading.known) >= REMEMBERED:
            reading.known.clear()
        reading.known[body] = edit
    return annotator, edit


def _parse_edit(line: str, number: int, length: int, reading: EditLineReader) -> AnnotatedEdit:
    fields = line[2:].split("|||")
    form = "write A start end|||type|||correction|||REQUIRED|||-NONE-|||annotator"
    if len(fields) != 6:
        raise reading.error(number, f"{len(fields)} fields apart by '|||' and not 6", form)
    span, kind, correction, required, comment, annotator_field = fields
    annotator = _parse_integer(annotator_field)
    if annotator is None or annotator < 0:
        problem = f"the annotator {annotator_field!r} is not a number"
        raise reading.error(number, problem, "number the annotators 0, 1, 2, ...")
    offsets = _parse_offsets(span)
    if offsets is None:
        remedy = "write the first token and the one after the last, counted from 0"
        raise reading.error(number, f"the offsets {span!r} are not two numbers", remedy)
    start, end = offsets
    if kind == "noop":
        if (start, end) != (-1, -1):
            problem = f"a noop with offsets {start} {end} counts as 'nothing to correct', as in "
            problem += "the official scorer"
            remedy = "write -1 -1, or give the edit its type"
            reading.warn(number, "noop-with-offsets", problem, remedy)
        return annotator, None
    if not 0 <= start <= end <= length:
        return _report_bad_offsets(annotator, start, end, length, number, reading)
    if required.startswith("|"):
        problem = "an empty alternative at the end cannot be told from the field separator; only "
        problem += f"{correction!r} is read, as in the official scorer"
        remedy = "write -NONE- for an alternative that deletes"
        reading.warn(number, "empty-alternative", problem, remedy)
    elif required not in REQUIREMENTS or correction in REQUIREMENTS:
        problem = f"the fourth field is {required[:40]!r}, the correction {correction[:40]!r}: a "
        problem += "field seems to be lost or added"
        reading.warn(number, "shifted-fields", problem, form)
    # Types and the two unread fields repeat: one string each keeps large files small.
    kind, required, comment = intern(kind), intern(required), intern(comment)
    if "||" not in correction:
        text = "" if correction == "-NONE-" else correction.strip()
        return annotator, Edit(start, end, text, kind, (), required, comment)
    texts = ["" if text == "-NONE-" else text.strip() for text in correction.split("||")]
    return annotator, Edit(start, end, texts[0], kind, tuple(texts[1:]), required, comment)


def _report_bad_offsets(
    annotator: int, start: int, end: int, length: int, number: int, reading: EditLineReader
) -> tuple[int, None]:
    """Report the fault of the offsets; the official scorer drops some such edits silently."""
    if start > end:
        remedy = "an insertion has start = end, every other edit start < end"
        raise reading.error(number, f"the edit starts at {start}, after its end {end}", remedy)
    problem = f"edit {start}-{end} is outside the sentence of {length} tokens"
    remedy = "offsets count white-space tokens from 0; check the tokenisation"
    if start < 0:
        problem = f"the offset {start} is negative"
        remedy = "the type of a -1 -1 line is noop, in small letters"
    if not reading.compatible:
        raise reading.error(number, problem, remedy)
    problem += "; dropped, as in the official scorer"
    reading.warn(number, "edit-dropped", problem, "correct the offsets")
    return annotator, None


@lru_cache(4096)
def _parse_offsets(span: str) -> tuple[int, int] | None:
    values = [_parse_integer(offset) for offset in span.split()]
    if len(values) != 2 or values[0] is None or values[1] is None:
        return None
    return values[0], values[1]


@lru_cache(4096)
def _parse_integer(text: str) -> int | None:
    text = text.strip()
    digits = text[1:] if text[:1] == "-" else text
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None


def check_edit_order(
    annotator: int, edits: list[tuple[int, Edit]], reading: EditLineReader
) -> None:
    """Warn of edits that are not apart and in order from left to right."""
    previous: Edit | None = None
    for _, edit in edits:
        if previous is not None and (
            edit.start < previous.end or (edit.start, edit.end) == (previous.start, previous.end)
        ):
            break
        previous = edit
    else:
        return
    seen: dict[tuple[int, int, tuple[str, ...]], int] = {}
    once: list[tuple[int, int, int]] = []
    highest = (-1, -1)
    for number, edit in edits:
        key = (edit.start, edit.end, edit.replacements)
        span = f"{edit.start}-{edit.end}"
        if key in seen:
            first = f"first on line {seen[key]}"
            what = f"the edit {span} {edit.replacement!r} twice"
            problem = f"annotator {annotator} has {what}, {first}"
            remedy = "delete one; the official scorer counts both"
            reading.warn(number, "duplicate-edit", problem, remedy)
            continue
        seen[key] = number
        once.append((edit.start, edit.end, number))
        if (edit.start, edit.end) < highest:
            before = f"{highest[0]}-{highest[1]}"
            problem = f"the edit {span} of annotator {annotator} stands after {before}"
            remedy = "sort edits by offset; the official scorer misses matches of unsorted edits"
            reading.warn(number, "unsorted-edits", problem, remedy)
        highest = max(highest, (edit.start, edit.end))
    _check_overlap(annotator, sorted(once), reading)


def _check_overlap(
    annotator: int, spans: list[tuple[int, int, int]], reading: EditLineReader
) -> None:
    """Warn of edits that change a token which an edit before them changes too."""
    reach, reached = -1, (0, 0)
    for start, end, number in spans:
        if start < reach:
            problem = f"the edit {start}-{end} of annotator {annotator} overlaps "
            problem += f"{reached[0]}-{reached[1]}"
            remedy = "join them, or give one of them to another annotator"
            reading.warn(number, "overlapping-edits", problem, remedy)
        if end > reach:
            reach, reached = end, (start, end)


NumberedLines = list[tuple[int, str]]
_TAG = re.compile(r"\s*<")
# What may be one by its bytes; which of those beyond ASCII are white space, only a text shows.
_MAYBE_TAG = re.compile(rb"[\s\x1c-\x1f\x80-\xff]*<")
_NOOP_LINE = "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||"


@dataclass(frozen=True)
class M2File:
    """An M2 file as read: the corpus, where each sentence stands, what was found on the way."""

    path: str
    corpus: Corpus
    lines: tuple[int, ...]
    findings: tuple[Finding, ...]

    def without_sentences(self, *sentences: int) -> M2File:
        """The same without these sentences, counted from 0; what was found stays."""
        gone = {*sentences}
        lines = tuple(line for i, line in enumerate(self.lines) if i not in gone)
        return replace(self, corpus=self.corpus.without_sentences(*sentences), lines=lines)


def read_m2(path: files.PathLike, *, name: str | None = None, compatible: bool = False) -> Corpus:
    """Read an M2 file (plain or gzip; ``-`` is standard input) as a corpus.

    References are sorted by annotator, edits stay in file order. A sentence without ``A`` lines has
    one empty reference of annotator 0, marked ``implied``; an annotator without a line for a
    sentence that others annotated is absent there; a ``noop`` line is an empty reference.

    Unreadable content is an `InputError`; content that looks wrong (unsorted, repeated or
    overlapping edits...) is a `DataWarning`. ``compatible=True`` reads some broken files as
    nusnlp/m2scorer does: several ``S`` lines in one paragraph share their edits without re-basing
    them, and edits outside the sentence are dropped (both with a warning).
    """
    file = read_m2_file(path, name=name, compatible=compatible)
    raise_or_warn(file.findings)
    return file.corpus


def read_m2_file(
    path: files.PathLike,
    *,
    name: str | None = None,
    compatible: bool = False,
    collect: bool = False,
    threads: int | None = None,
) -> M2File:
    """Read an M2 file, or I-measure's XML (which starts with ``<``), with its findings.

    ``collect=True`` also makes findings of errors, and leaves the sentences that have one without
    edits: for a linter, not for scoring.
    """
    shown = files.shown_name(path)
    data = files.read_bytes(path)
    name = name or corpus_name(path)
    if _MAYBE_TAG.match(data) and _TAG.match(text := files.decode(data, shown)):
        from errata.io.imeasure_xml import parse_imeasure_xml

        return parse_imeasure_xml(files.split_lines(text), shown, name=name)
    if data.startswith(BOM_UTF8):
        files.decode(data, shown)  # what it says of bytes that are no text counts the mark
        data = data.removeprefix(BOM_UTF8)
    return read_m2_bytes(
        data, shown, name=name, compatible=compatible, collect=collect, threads=threads
    )


def read_m2_text(
    text: str, path: str = "<text>", *, threads: int | None = None, **given: Any
) -> M2File:
    """What `read_m2_bytes` gives with the same arguments, for a text.

    >>> read_m2_text("S He go .\\nA 1 2|||V|||goes|||REQUIRED|||-NONE-|||0\\n", first_line=7).lines
    (7,)
    """
    try:
        data = text.encode()
    except UnicodeEncodeError:  # half a character, which no file has
        return _read_by_lines(text, path, **given)
    return read_m2_bytes(data, path, threads=threads, **given)


def read_m2_bytes(
    data: bytes,
    path: str = "<text>",
    *,
    first_line: int = 1,
    name: str = "corpus",
    compatible: bool = False,
    collect: bool = False,
    threads: int | None = None,
) -> M2File:
    """Read the bytes of whole paragraphs of an M2 file, as `read_m2_file` does.

    ``first_line`` is the number of their first line in the file, for messages and positions.
    """
    text = data.replace(b"\r\n", b"\n").removesuffix(b"\r") if b"\r" in data else data
    whole = np.frombuffer(text, np.uint8)

    with circles_left():
        found = parallel_map(
            lambda part: _read_text_part(
                whole, part, first_line, EditLineReader(path, compatible), collect
            ),
            split_text(text),
            threads=threads,
        )
        parts = [part for part in found if part is not None]
        if len(parts) < len(found) or not any(part.sound for part in parts):
            whole_text = files.decode(data, path, first_line=first_line, keep_mark=True)
            how = {"name": name, "compatible": compatible, "collect": collect}
            return _read_by_lines(whole_text, path, first_line=first_line, **how)
        for part in parts:
            if part.error is not None:
                # A copy, which nothing here holds: what was read is not to live on in a circle.
                raise copy(part.error)
        corpus, numbers = joined_corpus([part.sentences for part in parts], name)
    findings = [finding for part in parts for finding in part.findings]
    if any(part.odd_breaks for part in parts):
        findings[:0] = files.scan_lines(data.decode(), path, first_line=first_line)[1]
    return M2File(path, corpus, numbers, tuple(findings))


class _PartRead(NamedTuple):
    """What was read of a part of a text, or why it was not."""

    sentences: ScannedSentences
    findings: list[Finding]
    error: InputError | None
    sound: bool
    odd_breaks: bool


def _read_text_part(
    data: Bytes, part: TextPart, first_line: int, reading: EditLineReader, collect: bool
) -> _PartRead | None:
    """All sentences of a part: unsound paragraphs are read line by line; None if all have to be."""
    scanned = scan_part(data, part)
    if scanned is None:
        return None
    sound, odd_breaks = bool(scanned.sentences.sources), scanned.odd_breaks
    line = first_line + part.line
    try:
        others = {
            p: _read_or_record_error(scanned.paragraph_lines(p, line), reading, collect)
            for p in scanned.unsound_paragraphs
        }
        sentences = scanned.merge_unsound(others, line)
    except InputError as error:  # the first error is raised, once all parts are read
        error.__traceback__ = None
        return _PartRead(scanned.sentences, [], error, sound, odd_breaks)
    return _PartRead(sentences, reading.findings, None, sound, odd_breaks)


def _read_by_lines(text: str, path: str, *, first_line: int = 1, **given: Any) -> M2File:
    lines, findings = files.scan_lines(text, path, first_line=first_line)
    file = parse_m2(lines, path, first_line=first_line, **given)
    return replace(file, findings=(*findings, *file.findings))


def corpus_name(path: files.PathLike) -> str:
    """The file name without its folder and its ``.m2`` (or ``.xml``, ``.ixml``) and ``.gz``."""
    name = os.fspath(path)
    if name == "-":
        return "stdin"
    name = Path(files.unpacked_name(name)).name
    return name.removesuffix(".m2").removesuffix(".xml").removesuffix(".ixml")


def parse_m2(
    lines: list[str],
    path: str = "<text>",
    *,
    first_line: int = 1,
    name: str = "corpus",
    compatible: bool = False,
    collect: bool = False,
) -> M2File:
    """Read the lines of an M2 file, or of whole paragraphs of it from ``first_line`` on."""
    reading = EditLineReader(path, compatible)
    sources: list[str] = []
    references: list[tuple[Reference, ...]] = []
    numbers: list[int] = []
    if not any(line.startswith("S ") or line == "S" for line in lines):
        first = next((n for n, line in enumerate(lines, first_line) if line.strip()), None)
        if first is not None:
            problem = "no line starts with 'S ': this is not an M2 file"
            remedy = "give an M2 file, or texts as source and references (--source, --refs)"
            raise InputError(problem, path=path, line=first, remedy=remedy)
    for paragraph in _split_paragraphs(lines, first_line, reading):
        for number, source, refs in _read_or_record_error(paragraph, reading, collect):
            numbers.append(number)
            sources.append(source)
            references.append(refs)
    if not sources:
        problem = "the file holds no sentence"
        raise InputError(problem, path=path, remedy="an M2 file has an 'S ' line for each sentence")
    corpus = Corpus(tuple(sources), tuple(references), name)
    return M2File(path, corpus, tuple(numbers), tuple(reading.findings))


def _read_or_record_error(
    paragraph: NumberedLines, reading: EditLineReader, collect: bool
) -> list[tuple[int, str, tuple[Reference, ...]]]:
    """The sentences of a paragraph; with ``collect`` an error is one of the findings."""
    try:
        return _read_paragraph(paragraph, reading)
    except InputError as error:
        if not collect:
            raise
        problem, remedy = error.problem, error.remedy or ""
        found = Finding("error", reading.path, error.line, problem, remedy, "unreadable")
        reading.findings.append(found)
        bare = (Reference(0, (), implied=True),)
        return [(number, source, bare) for number, source in _source_lines(paragraph)]


def _split_paragraphs(
    lines: list[str], first_line: int, reading: EditLineReader
) -> Iterator[NumberedLines]:
    paragraph: NumberedLines = []
    for number, line in enumerate(lines, first_line):
        if line and not line.isspace():
            paragraph.append((number, line))
            continue
        if line:
            problem = "the line holds only white space and is read as a blank line"
            remedy = "empty the line; the official scorer stops here"
            reading.warn(number, "blank-with-spaces", problem, remedy)
        if paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def _source_lines(paragraph: NumberedLines) -> NumberedLines:
    return [(number, line[2:]) for number, line in paragraph if line[:2] == "S " or line == "S"]


def _read_paragraph(
    paragraph: NumberedLines, reading: EditLineReader
) -> list[tuple[int, str, tuple[Reference, ...]]]:
    sentences = _source_lines(paragraph)
    if not sentences:
        remedy = "give the source sentence; blank lines stand between sentences only"
        raise reading.error(paragraph[0][0], "the paragraph has no 'S ' line", remedy)
    if len(sentences) > 1 and not reading.compatible:
        remedy = "put a blank line between sentences, or read with --compatible "
        remedy += "(in Python compatible=True) to get what the official scorer makes of it"
        raise reading.error(sentences[1][0], "a second 'S ' line in one paragraph", remedy)
    for number, source in sentences:
        if "|||" in source:
            problem = "'|||' in a source sentence: an 'A ' line seems to be glued to it"
            remedy = "put every 'A ' line on a line of its own"
            reading.warn(number, "glued-lines", problem, remedy)
    tokens = " ".join(source for _, source in sentences).split()
    annotations: dict[int, list[tuple[int, Edit]]] = {}
    noops: dict[int, int] = {}
    seen_source = False
    for number, line in paragraph:
        kind = line[:2]
        if kind == "A ":
            if not seen_source:
                remedy = "the source sentence comes first in its paragraph"
                raise reading.error(number, "an 'A ' line before the 'S ' line", remedy)
            annotator, edit = read_edit(line, number, len(tokens), reading)
            edits = annotations.setdefault(annotator, [])
            if edit is not None:
                edits.append((number, edit))
            elif "|||noop|||" in line and noops.setdefault(annotator, number) != number:
                problem = f"a second noop line of annotator {annotator}"
                reading.warn(number, "noop-twice", problem, "keep one")
        elif kind == "S " or line == "S":
            seen_source = True
        elif kind != "I ":
            problem = f"unknown kind of line: {line[:40]!r}"
            raise reading.error(number, problem, "lines start with 'S ', 'A ' or 'I '")
    for annotator, number in noops.items():
        if annotations[annotator]:
            problem = f"annotator {annotator} has a noop line and edits; the noop is ignored"
            remedy = "delete the noop line or the edits"
            reading.warn(number, "noop-and-edits", problem, remedy)
    if len(sentences) > 1:
        return _share_paragraph_edits(sentences, annotations, tokens, reading)
    return [(*sentences[0], _make_references(annotations, reading))]


def _make_references(
    annotations: dict[int, list[tuple[int, Edit]]], reading: EditLineReader
) -> tuple[Reference, ...]:
    if not annotations:
        return (Reference(0, (), implied=True),)
    for annotator, edits in annotations.items():
        if len(edits) > 1:
            check_edit_order(annotator, edits, reading)
    return tuple(
        [
            Reference(k, tuple([edit for _, edit in edits])) if edits else _empty_reference(k)
            for k, edits in sorted(annotations.items())
        ]
    )


@lru_cache(maxsize=4096)
def _empty_reference(annotator: int) -> Reference:
    """The reference of an annotator who found nothing to correct: one for all sentences."""
    return Reference(annotator, ())


def _share_paragraph_edits(
    sentences: NumberedLines,
    annotations: dict[int, list[tuple[int, Edit]]],
    tokens: list[str],
    reading: EditLineReader,
) -> list[tuple[int, str, tuple[Reference, ...]]]:
    """What the official scorer makes of several sentences in one paragraph.

    Each sentence gets every edit whose offsets do not exceed the number of tokens up to its end,
    with offsets and original words counted over the whole paragraph. Such an edit counts as gold
    but, where its words are not the sentence's own, can never be matched: it stands here with a
    correction that holds two spaces, which no output has.
    """
    problem = f"{len(sentences)} 'S ' lines in one paragraph share its edits, as in the official "
    problem += "scorer"
    remedy = "put a blank line between sentences"
    reading.warn(sentences[1][0], "several-sources", problem, remedy)
    result = []
    reach = 0
    for number, source in sentences:
        own = source.split()
        reach += len(own)
        mine: dict[int, list[tuple[int, Edit]]] = {annotator: [] for annotator in annotations}
        strange: set[int] = set()
        for annotator, edits in annotations.items():
            for at, edit in edits:
                if edit.end > reach:
                    continue
                if edit.end <= len(own) and (
                    own[edit.start : edit.end] == tokens[edit.start : edit.end]
                ):
                    mine[annotator].append((at, edit))
                else:
                    strange.add(annotator)
                    start, end = min(edit.start, len(own)), min(edit.end, len(own))
                    text = f"{' '.join(tokens[edit.start : edit.end])}  {edit.replacement}"
                    mine[annotator].append((at, Edit(start, end, text, edit.kind)))
        references = list(_make_references(mine, reading))
        for k, reference in enumerate(references):
            if reference.annotator in strange:  # nothing is ever corrected by another's edits
                kept = [edit for edit in reference.edits or () if "  " not in edit.replacement]
                references[k] = replace(reference, text=" ".join(apply_edits(own, kept)))
        result.append((number, source, tuple(references)))
    return result


def write_m2(corpus: Corpus, path: files.PathLike) -> None:
    """Write a corpus as M2 so that `read_m2` reads back exactly the same references.

    References as text only, sentences without references, ``|||`` in a correction and the like are
    an `InputError`.
    """
    write_lines(format_m2(corpus, os.fspath(path)), path)


def format_m2(corpus: Corpus, path: str = "<text>") -> list[str]:
    """The lines of a corpus as M2."""
    if not corpus.sources:
        raise InputError("a corpus without sentences cannot be written as M2", path=path)
    lines: list[str] = []
    for i, (source, references) in enumerate(zip(corpus.sources, corpus.references, strict=True)):
        if "\n" in source or source.endswith("\r"):
            raise _write_error(i, "its source holds a line end", path)
        lines.append(f"S {source}")
        length = len(source.split())
        if not references:
            problem = "it has no reference, which M2 reads as 'nothing to correct'"
            raise _write_error(i, problem, path)
        for reference in references:
            lines += _format_reference(i, reference, length, len(references), path)
        lines.append("")
    return lines


def _format_reference(i: int, reference: Reference, length: int, of: int, path: str) -> list[str]:
    edits, annotator = reference.edits, reference.annotator
    if edits is None or reference.text is not None:
        problem = f"the reference of annotator {annotator} is given as text"
        remedy = "find its edits first: errata convert, or Reference(edits=...)"
        raise _write_error(i, problem, path, remedy)
    if reference.implied:
        if edits or annotator or of > 1:
            raise _write_error(i, "an implied reference is empty, alone, and of annotator 0", path)
        return []
    if not edits:
        return [f"{_NOOP_LINE}{annotator}"]
    reading = EditLineReader(path, compatible=False)
    lines = []
    for edit in edits:
        texts = edit.replacements
        correction = texts[0] if len(texts) == 1 else "||".join(text or "-NONE-" for text in texts)
        line = (
            f"A {edit.start} {edit.end}|||{edit.kind}|||{correction}|||{edit.required}|||"
            f"{edit.comment}|||{annotator}"
        )
        # Reading the line back is the one test that covers all ways of meddling with separators.
        try:
            same = "\n" not in line and read_edit(line, 1, length, reading) == (annotator, edit)
        except InputError:
            same = False
        if not same:
            problem = f"M2 cannot hold {edit!r} of annotator {annotator}"
            remedy = "corrections have no blanks at their ends, no '||' and no line ends; '-NONE-' "
            remedy += "and the type 'noop' have a meaning"
            raise _write_error(i, problem, path, remedy)
        lines.append(line)
    return lines


def _write_error(i: int, problem: str, path: str, remedy: str | None = None) -> InputError:
    return InputError(
        f"sentence {i} (counted from 0) cannot be written: {problem}", path=path, remedy=remedy
    )
