"""Between references as edits and references as texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from errata.data import Corpus, Edit, Reference
from errata.errors import InputError
from errata.io.m2 import M2File

__all__ = ["corrected_text", "with_edits"]

Extractor = Callable[[Sequence[str], Sequence[str]], Sequence[tuple[Edit, ...]]]


def corrected_text(
    file: M2File, annotator: int, *, missing: str | None = None, copy_missing: bool = False
) -> tuple[str, ...]:
    """The sentences as one annotator corrected them (first alternatives).

    Where the annotator has no reference stands ``missing``, or the source with
    ``copy_missing=True``; with neither that is an error, because a text has no other way to say
    so. A sentence without edits stays exactly as it is, spaces included.
    """
    corpus = file.corpus
    if all(r.annotator != annotator for refs in corpus.references for r in refs):
        known = sorted({r.annotator for refs in corpus.references for r in refs})
        raise InputError(
            f"no annotator {annotator}",
            path=file.path,
            remedy=f"there are: {', '.join(map(str, known))}",
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


def with_edits(corpus: Corpus, extract: Extractor) -> Corpus:
    """Turn the references of a corpus that are texts into edits.

    ``extract(sources, targets)`` finds the edits of many sentences, as
    `errata.edits.aligned.extract_aligned` does. References that have edits keep them.
    """
    pairs = [
        (i, k)
        for i, refs in enumerate(corpus.references)
        for k, r in enumerate(refs)
        if r.edits is None
    ]
    found = extract(
        [corpus.sources[i] for i, _ in pairs],
        [corpus.references[i][k].text or "" for i, k in pairs],
    )
    references = [list(refs) for refs in corpus.references]
    for (i, k), edits in zip(pairs, found, strict=True):
        references[i][k] = Reference(references[i][k].annotator, edits)
    return replace(corpus, references=tuple(map(tuple, references)))
