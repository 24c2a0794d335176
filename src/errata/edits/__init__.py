"""Edits from a sentence and its correction, by the name of an extractor.

``aligned`` needs nothing and knows no language (`errata.edits.aligned`); ``errant`` runs the ERRANT
package with a spaCy pipeline for English, ``errant:PIPELINE`` with the pipeline of that name or
path. All give the same `errata.data.Edit`, typed ``M:``, ``U:`` or ``R:`` and a kind.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from errata.data import Corpus, Edit, Hypotheses, Reference, apply_edits
from errata.edits.aligned import aligned_kinds, extract_aligned
from errata.errors import InputError
from errata.numbers import Progress

__all__ = [
    "EXTRACTORS",
    "classify_all",
    "extract",
    "extract_all",
    "extract_hypotheses",
    "extractor_version",
    "reextract",
]

EXTRACTORS = ("aligned", "errant")
DETECTED = ("UNK",)  # kinds of edits that say where an error is and not what it should be
REMEMBERED = 200_000  # pairs of sentences whose edits are kept in memory

_memory: dict[tuple[str, str, str], tuple[Edit, ...]] = {}
_lock = threading.Lock()


def extract(source: str, target: str, *, extractor: str = "aligned") -> tuple[Edit, ...]:
    """The edits that turn a sentence into its correction.

    >>> extract("He go home .", "He goes home .")
    (Edit(start=1, end=2, replacement='goes', kind='R:INFL'),)
    """
    return extract_all([source], [target], extractor=extractor)[0]


def extract_all(
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    extractor: str = "aligned",
    progress: Progress | None = None,
    processes: int | None = None,
) -> list[tuple[Edit, ...]]:
    """The edits of many sentences; the same pair is worked on once.

    ``processes`` (default: all cores) and ``progress`` concern ``errant`` only.
    """
    base, pipeline = split_extractor(extractor)
    if len(sources) != len(targets):
        raise InputError(
            f"{len(sources)} sources but {len(targets)} targets",
            remedy="give one target per source",
        )
    pairs = list(zip(sources, targets, strict=True))
    with _lock:
        known = {pair: _memory[extractor, *pair] for pair in pairs if (extractor, *pair) in _memory}
    missing = [pair for pair in dict.fromkeys(pairs) if pair not in known]
    if missing:
        if base == "aligned":
            found = extract_aligned([s for s, _ in missing], [t for _, t in missing])
        else:
            from errata.edits import errant

            found = errant.annotate(missing, pipeline, progress, processes)
        fresh = dict(zip(missing, found, strict=True))
        _remember(extractor, fresh)
        known.update(fresh)
    return [known[pair] for pair in pairs]


def _remember(extractor: str, found: dict[tuple[str, str], tuple[Edit, ...]]) -> None:
    with _lock:
        if len(_memory) + len(found) > REMEMBERED:
            _memory.clear()
        _memory.update({(extractor, *pair): edits for pair, edits in found.items()})


def classify_all(
    sources: Sequence[str], edits: Sequence[tuple[Edit, ...]], *, extractor: str = "aligned"
) -> list[tuple[Edit, ...]]:
    """The same edits, offsets and all, with the kinds that the extractor gives them.

    >>> classify_all(["He go home ."], [(Edit(1, 2, "goes", "SVA"),)])
    [(Edit(start=1, end=2, replacement='goes', kind='R:INFL'),)]
    """
    base, pipeline = split_extractor(extractor)
    if base == "aligned":
        flat = [
            (source.split()[e.start : e.end], e.replacement.split())
            for source, several in zip(sources, edits, strict=True)
            for e in several
        ]
        kinds = iter(aligned_kinds([old for old, _ in flat], [new for _, new in flat]))
    else:
        from errata.edits import errant

        kinds = iter(errant.classify(sources, edits, pipeline))
    return [tuple(replace(e, kind=next(kinds)) for e in several) for several in edits]


def reextract(
    corpus: Corpus, *, extractor: str = "aligned", progress: Progress | None = None
) -> Corpus:
    """The corpus with every reference's edits found anew by the extractor.

    Gold spans and kinds become comparable with a system's, so that a perfect system gets full
    marks. Edits that only detect an error (``UNK``) are kept and not carried out, as in ERRANT's
    ``errant_m2 -auto``; of the others the first alternatives are (also of NUCLE's ``Um``, which
    ``errant_m2`` leaves out: reference texts have them).
    """
    flat = [
        (source, *_corrected(source, r))
        for source, refs in zip(corpus.sources, corpus.references, strict=True)
        for r in refs
    ]
    found = iter(
        extract_all(
            [s for s, _, _ in flat], [t for _, t, _ in flat], extractor=extractor, progress=progress
        )
    )
    kept = iter([detected for _, _, detected in flat])
    references = tuple(
        tuple(
            Reference(r.annotator, _merged(next(found), next(kept)), r.text, r.implied)
            for r in refs
        )
        for refs in corpus.references
    )
    return Corpus(corpus.sources, references, corpus.name, corpus.vocabulary)


def _corrected(source: str, reference: Reference) -> tuple[str, tuple[Edit, ...]]:
    """The corrected sentence, and the edits that only detect an error."""
    detected = tuple(e for e in reference.edits or () if e.kind in DETECTED)
    if not detected or reference.text is not None:
        return reference.corrected(source), detected
    others = [e for e in reference.edits or () if e.kind not in DETECTED]
    return " ".join(apply_edits(source.split(), others)), detected


def _merged(found: tuple[Edit, ...], detected: tuple[Edit, ...]) -> tuple[Edit, ...]:
    return tuple(sorted((*found, *detected), key=lambda e: (e.start, e.end))) if detected else found


def extract_hypotheses(
    corpus: Corpus,
    hypotheses: Hypotheses,
    *,
    extractor: str = "aligned",
    progress: Progress | None = None,
) -> tuple[tuple[Edit, ...], ...]:
    """A system's edits: its own where the output came as M2, found by the extractor otherwise."""
    if hypotheses.edits is not None:
        return hypotheses.edits
    return tuple(
        extract_all(corpus.sources, hypotheses.sentences, extractor=extractor, progress=progress)
    )


def split_extractor(extractor: str) -> tuple[str, str]:
    """Check an extractor's name and split it: ``errant:en_core_web_md`` has a pipeline.

    >>> split_extractor("errant"), split_extractor("errant:en_core_web_md")
    (('errant', ''), ('errant', 'en_core_web_md'))
    """
    base, _, pipeline = extractor.partition(":")
    if base not in EXTRACTORS or (base == "aligned" and pipeline):
        raise InputError(
            f"there is no extractor {extractor!r}",
            remedy="use 'aligned', 'errant' or 'errant:PIPELINE'",
        )
    return base, pipeline


def extractor_version(extractor: str) -> str:
    """What decided the edits, for a signature: the extractor and the versions behind it."""
    base, pipeline = split_extractor(extractor)
    if base == "aligned":
        return "aligned"
    from errata.edits import errant

    return errant.version(pipeline)
