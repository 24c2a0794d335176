"""Whether texts are what they are given as: source, reference or output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from errata.data import Corpus, Hypotheses, Reference, Tokens, namesakes
from errata.errors import InputError
from errata.io.checks.findings import Finding
from errata.io.checks.likeness import likeness_of, same_words
from errata.numbers import Bools, Floats

__all__ = ["called_source", "check_sameness", "check_sources", "check_systems", "check_worse"]

# An output is called worse than its source if so many changed lines, and this share of them, are
# further from every reference. The CoNLL-2014 systems reach 0.45 to 0.90: they did harm.
CHANGED, WORSE = 20, 0.92
# Half of them are enough where the output brings in so many words that no reference has, and that
# many times as often as it takes such words out: learners misspell words, systems seldom do.
UNKNOWN, TIMES = 10, 3
# Sentences of which one, nearly always, tells an output from a reference.
FEW = 32
# What people call the file with the uncorrected sentences.
SOURCES = ("source", "src", "orig", "original", "input", "uncorrected", "learner")


def check_sameness(corpus: Corpus, hypotheses: Hypotheses, path: str) -> list[Finding]:
    """Outputs that are the source itself, or a reference."""
    if not len(corpus):
        return []
    if same_words(corpus.spelled_sources, hypotheses.spelled):
        return [
            Finding(
                "note",
                path,
                None,
                "every line equals its source",
                "right for a baseline that corrects nothing; else the source was given "
                "in place of an output",
                "unchanged",
            )
        ]
    for annotator in corpus.annotators:
        if all(
            _equals(reference, corpus.spelled_sources[i], hypotheses.spelled[i])
            for i, reference in _one_by_one(corpus, annotator)
        ):
            return [
                Finding(
                    "note",
                    path,
                    None,
                    f"every line equals the reference of annotator {annotator}",
                    "a reference scored against itself",
                    "is-reference",
                )
            ]
    return []


def _one_by_one(corpus: Corpus, annotator: int) -> Iterator[tuple[int, Reference]]:
    """An annotator's references, with their sentences: an absent one says nothing.

    Those of all sentences are made only where many are asked for.
    """
    places = corpus.edit_places
    which = np.flatnonzero(places.annotators == annotator)
    for many, asked in enumerate((which[:FEW], which[FEW:])):
        for i in (np.searchsorted(places.first, asked, side="right") - 1).tolist():
            references = corpus.references[i] if many else corpus.references_of(i)
            yield i, next(r for r in references if r.annotator == annotator)


def check_worse(corpus: Corpus, hypotheses: Hypotheses, path: str) -> list[Finding]:
    """An output that is further from the references than its source nearly everywhere.

    Only where references are texts: gold edits come with their sources, which cannot be swapped.
    """
    if not corpus.derived("all references are texts", lambda: _all_texts(corpus)):
        return []
    output = corpus.vocabulary.intern(hypotheses.spelled)
    there = corpus.derived(
        "sentences with references",
        lambda: np.array([bool(refs) for refs in corpus.references], bool),
    )
    changed = np.flatnonzero(output.differ(corpus.source_tokens) & there).tolist()
    if len(changed) < CHANGED:
        return []
    every = corpus.derived(
        "likeness of sources to references",
        lambda: _nearest(corpus, corpus.sources, range(len(corpus))),
    )
    before = every[changed]
    after = _nearest(corpus, hypotheses.spelled, changed)
    worse, better = np.count_nonzero(after < before), np.count_nonzero(after > before)
    said = ""
    if worse < WORSE * len(changed):
        if 2 * worse < len(changed) or worse <= better:
            return []
        brought, taken = _unknown_words(corpus, output, changed)
        if brought < max(UNKNOWN, TIMES * taken):
            return []
        said = (
            f", and the output brings in {brought} words that no reference has, taking out {taken}"
        )
    return [
        Finding(
            "warning",
            path,
            None,
            f"{worse} of {len(changed)} changed lines are further "
            f"from every reference than their sources{said}",
            "are source and output swapped?",
            "worse",
        )
    ]


def _all_texts(corpus: Corpus) -> bool:
    return not corpus.edit_words.told.any()


def _nearest(corpus: Corpus, lines: Sequence[str], which: Sequence[int]) -> Floats:
    """How alike these of the lines are to the reference nearest to each; 0 where there is none."""
    there = [i for i in which if corpus.references[i]]
    pairs = [(lines[i], r.text or "") for i in there for r in corpus.references[i]]
    starts = np.cumsum([0, *(len(corpus.references[i]) for i in there)])[:-1]
    alike = likeness_of([line for line, _ in pairs], [text for _, text in pairs])
    nearest = np.zeros(len(which))
    if there:
        bare = np.array([not corpus.references[i] for i in which])
        nearest[~bare] = np.maximum.reduceat(alike, starts)
    return nearest


def _unknown_words(corpus: Corpus, output: Tokens, changed: Sequence[int]) -> tuple[int, int]:
    """How many words that no reference has an output brings in, and takes out."""
    known = corpus.derived("words of references", lambda: _words_of_references(corpus))
    size = max(len(known), len(corpus.vocabulary))
    unknown = np.ones(size, bool)
    unknown[: len(known)] = ~known
    asked = np.zeros(len(corpus), bool)
    asked[changed] = True
    places, signs = [], []
    for tokens, sign in ((output, 1), (corpus.source_tokens, -1)):
        line = np.repeat(np.arange(len(tokens)), tokens.lengths)
        at = np.flatnonzero(unknown[tokens.ids] & asked[line])
        places.append(line[at] * size + tokens.ids[at])
        signs.append(np.full(len(at), sign))
    _, which = np.unique(np.concatenate(places), return_inverse=True)
    more = np.bincount(which, np.concatenate(signs))
    return int(more[more > 0].sum()), -int(more[more < 0].sum())


def _words_of_references(corpus: Corpus) -> Bools:
    """Of each word of the vocabulary, by its number, whether a reference has it."""
    texts = [
        reference.corrected(source)
        for source, refs in zip(corpus.sources, corpus.references, strict=True)
        for reference in refs
    ]
    words = corpus.vocabulary.intern(texts).ids
    known = np.zeros(len(corpus.vocabulary), bool)
    known[words] = True
    return known


def called_source(corpus: Corpus, hypotheses: Hypotheses, name: str, path: str) -> list[Finding]:
    """An output whose file is called ``source`` or the like, though it is not the source given."""
    called = name.casefold()
    exactly = called in SOURCES
    if not exactly and called.rpartition(".")[2] not in SOURCES[:3]:
        return []
    if len(hypotheses) != len(corpus) or same_words(corpus.spelled_sources, hypotheses.spelled):
        return []
    return [
        Finding(
            "error" if exactly else "warning",
            path,
            None,
            "the file is called a source and given as an output, but differs from the source given",
            "swap them; if it is an output, name it: ours=FILE",
            "swapped",
        )
    ]


def _equals(reference: Reference, source: str, line: str) -> bool:
    try:
        return reference.corrected(source).split() == line.split()
    except InputError:  # overlapping edits give no text to compare
        return False


def check_sources(
    sources: Sequence[str],
    others: Sequence[str],
    path: str,
    numbers: Sequence[int] | None = None,
    *,
    than: str = "the corpus",
    before: int = 0,
) -> list[Finding]:
    """Whether a second copy of the sources is the same, token by token.

    ``before`` is how many of their sentences stand before these, where they are a part.
    """
    if len(sources) != len(others):
        few = min(len(sources), len(others))
        line = few + 1 if numbers is None else numbers[few] if few < len(numbers) else None
        return [
            Finding(
                "error",
                path,
                line,
                f"{len(others)} source sentences, but {than} has {len(sources)}",
                "give files of the same text",
                "line-count",
            )
        ]
    return [
        Finding(
            "error",
            path,
            before + i + 1 if numbers is None else numbers[i],
            f"source sentence {before + i + 1} differs from that of {than}",
            "give the same sources; is this the output of a system?",
            "other-source",
        )
        for i, (a, b) in enumerate(zip(sources, others, strict=True))
        if a != b and a.split() != b.split()
    ]


def check_systems(systems: Sequence[tuple[str, Hypotheses]]) -> list[Finding]:
    """Outputs, given with their paths, that are the same or have the same name."""
    findings = [
        Finding("error", error.path or "", None, error.problem, error.remedy or "", "same-name")
        for error in namesakes([h.system for _, h in systems], [path for path, _ in systems])
    ]
    for k, (path, hypotheses) in enumerate(systems):
        for earlier, other in systems[:k]:
            if len(other) == len(hypotheses) and same_words(other.sentences, hypotheses.sentences):
                findings.append(
                    Finding(
                        "warning",
                        path,
                        None,
                        f"the same text as {earlier}",
                        "is one of them the wrong file?",
                        "same-text",
                    )
                )
    return findings
