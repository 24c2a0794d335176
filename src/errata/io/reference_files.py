"""Reference sets from files of their own: texts, or M2, that correct the sentences of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from errata.data import Corpus, Reference
from errata.errors import InputError
from errata.io.checks.conventions import source_shapes
from errata.io.checks.findings import raise_or_warn
from errata.io.checks.lines import check_lines
from errata.io.checks.roles import check_sources
from errata.io.files import PathLike, shown_name
from errata.io.m2 import scan_m2
from errata.io.outputs import is_m2
from errata.io.text import read_text

__all__ = ["read_reference_set"]

OneAnnotator = list[Reference | None]  # of one annotator, a sentence each; None where there is none


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
    columns: list[OneAnnotator] = []
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


def _edits(path: PathLike, corpus: Corpus, compatible: bool) -> list[OneAnnotator]:
    file = scan_m2(path, compatible=compatible)
    shown = shown_name(path)
    raise_or_warn(
        [*file.findings, *check_sources(corpus.sources, file.corpus.sources, shown, file.lines)],
        stacklevel=4,
    )
    columns: list[OneAnnotator] = []
    for annotator in file.corpus.annotators:
        columns.append(
            [
                next((r for r in refs if r.annotator == annotator), None)
                for refs in file.corpus.references
            ]
        )
    return columns


def _texts(path: PathLike, corpus: Corpus, missing: str | None) -> OneAnnotator:
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
