"""Between references as edits and references as texts."""

from __future__ import annotations

from errata.errors import InputError
from errata.io.m2 import M2File

__all__ = ["corrected_text"]


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
