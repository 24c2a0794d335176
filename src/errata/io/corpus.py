"""From the files a user names to a checked corpus, and from a corpus to texts again."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence

from errata.data import Corpus, Reference
from errata.errors import DataWarning, InputError
from errata.io.checks.characters import check_characters, check_gold_characters
from errata.io.checks.conventions import source_letters, source_shapes
from errata.io.checks.findings import Finding, raise_or_warn
from errata.io.checks.lines import check_lines
from errata.io.checks.roles import check_sources
from errata.io.checks.segmentation import check_segmentation
from errata.io.files import PathLike, shown_name
from errata.io.m2 import M2File, corpus_name, scan_m2
from errata.io.text import read_text
from errata.io.tokenising import AS_IS, Tokeniser, tokenised, tokeniser

__all__ = ["corrected_text", "keep_annotators", "read_corpus"]


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
    texts into tokens (`errata.io.tokenising.tokeniser`); outputs read for the corpus are cut alike.
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
        corpus = tokenised(corpus, cut)
    elif source is None:
        raise InputError(
            "no corpus given",
            remedy="name an M2 gold file (--gold), or a source "
            "and its references (--source, --refs)",
        )
    else:
        corpus = _parallel(source, references, missing, name, guard, cut)
    return corpus if annotators is None else keep_annotators(corpus, tuple(annotators))


def gold_findings(file: M2File, cut: Tokeniser) -> list[Finding]:
    """What is odd about a gold file, or a part of it, that will be cut like this."""
    found = [*file.findings, *check_gold_characters(file.corpus, file.path, file.lines)]
    if cut.name == AS_IS:
        shown = source_letters(file.corpus)
        found += check_segmentation(file.corpus.spelled_sources, file.path, shown=shown)
    return found


def _parallel(
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
    refuse_absent(annotators, corpus.annotators, corpus.name)
    kept, bare = keep_annotators_counted(corpus, annotators)
    if bare:
        said = sentences_without(corpus.name, bare, annotators)
        warnings.warn(said, DataWarning, stacklevel=3)
    return kept


def keep_annotators_counted(corpus: Corpus, annotators: tuple[int, ...]) -> tuple[Corpus, int]:
    """The same, with the number of sentences that none of them annotated."""
    bare = sum(not any(r.annotator in annotators for r in refs) for refs in corpus.references)
    return corpus.keep_annotators(*annotators), bare


def refuse_absent(annotators: Iterable[int], known: Collection[int], name: str) -> None:
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
