"""N-gram overlaps of a hypothesis with its source and references, one batch at a time.

GLEU, the GLEU of 2015 and BLEU are readings of the same figures. H, S and R are the multisets of
the n-grams (of one order) of hypothesis, source and reference, or of the union (largest count)
of a sentence's references.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from errata.core.errors import InputError, warn_of_data
from errata.core.stats import Floats, Ints
from errata.data import Corpus, Tokens
from errata.kernels import ngrams as kernel

# What separates tokens: any white space, or, as in scripts that read bytes, that of ASCII.
Spaces = Literal["unicode", "ascii"]
ASCII = re.compile(r"[^ \t\n\r\f\v]+")


def overlaps(
    source: Tokens,
    hypothesis: Tokens,
    references: Tokens,
    first: Ints,
    *,
    order: int = 4,
    merged: bool = False,
) -> Ints:
    """Compare the n-grams of a batch, n = 1..order: ``[row, order, figure]``.

    There is one row per reference, or per sentence if ``merged``. Figures, of the n-grams H, R and
    S of hypothesis, reference and source: ``MATCHED`` ``|H & R|``, the clipped matches; ``KEPT``
    ``sum of min(H, S)`` and ``GAINED`` ``sum of min(H, R)`` over n-grams that R, or S, lacks
    altogether; ``SURPLUS`` ``sum of max(0, min(H, S) - min(H, R))``; ``ADDED`` ``|H & (R - S)|``,
    ``LEFT`` ``|H & (S - R)|`` and ``WANTED`` ``|R - S|``, with differences of multisets.

    The references of sentence ``i`` are the rows ``first[i]:first[i + 1]`` of ``references``. The
    hypotheses may come from several systems, one system behind the other; so are the rows then.

    >>> from errata.kernels.ngrams import KEPT, MATCHED
    >>> corpus = Corpus.from_texts(["he go home"], [["he goes home"]])
    >>> hypothesis = corpus.vocabulary.intern(["he go home"])
    >>> both = overlaps(corpus.source_tokens, hypothesis, *reference_tokens(corpus), order=2)
    >>> both[..., MATCHED].tolist(), both[..., KEPT].tolist()
    ([[2, 0]], [[1, 2]])
    """
    sentences = len(first) - 1
    systems = len(hypothesis) // sentences if sentences else 0
    fits = len(hypothesis) == systems * sentences and (systems > 0 or not sentences)
    if not (fits and len(source) == sentences and len(references) == first[-1]):
        raise InputError(
            f"{len(hypothesis)} hypotheses for {len(source)} sources and "
            f"{sentences} sets of references",
            remedy="give one hypothesis per source sentence",
        )
    ids = [tokens.ids.astype(np.int64) for tokens in (source, hypothesis, references)]
    found: Ints = kernel.overlaps(
        ids[0],
        source.offsets,
        ids[1],
        hypothesis.offsets,
        ids[2],
        references.offsets,
        first,
        order,
        merged,
    )
    return found


def split_tokens(corpus: Corpus, sentences: Iterable[str], spaces: Spaces = "unicode") -> Tokens:
    """Sentences as integers of the corpus, split at any white space or at that of ASCII only.

    >>> corpus = Corpus.from_texts([])
    >>> text = ["10\\u00a0km on"]
    >>> [split_tokens(corpus, text, how).lengths.tolist() for how in ("unicode", "ascii")]
    [[3], [2]]
    """
    return corpus.vocabulary.intern(sentences, ascii_only=spaces == "ascii")


def split_words(sentence: str, spaces: Spaces) -> list[str]:
    """The tokens of a sentence, split so.

    >>> split_words("10\\u00a0km on", "ascii")
    ['10\\xa0km', 'on']
    """
    return sentence.split() if spaces == "unicode" else ASCII.findall(sentence)


def source_tokens(corpus: Corpus, spaces: Spaces = "unicode") -> Tokens:
    """The sources as integers, split so."""
    if spaces == "unicode":
        return corpus.source_tokens
    return corpus.derived(
        ("source tokens", spaces), lambda: split_tokens(corpus, corpus.sources, spaces)
    )


def reference_tokens(corpus: Corpus, spaces: Spaces = "unicode") -> tuple[Tokens, Ints]:
    """Return all corrected sentences as integers, and where each sentence's references begin.

    Every sentence must have a reference.
    """

    return corpus.derived(
        ("reference tokens", spaces),
        lambda: (split_tokens(corpus, corrections(corpus), spaces), check_references(corpus)),
    )


def corrections(corpus: Corpus) -> Iterator[str]:
    """The text of every reference, sentence by sentence.

    Of edits that overlap, the one to the left is carried out, with a warning.
    """
    for several in corrections_by_sentence(corpus):
        yield from several


def corrections_by_sentence(corpus: Corpus) -> Iterator[list[str]]:
    """The texts of the references of each sentence; see `corrections`."""
    allowed = corpus.derived("edits overlap", lambda: _warn_of_overlaps(corpus))
    for source, references in zip(corpus.sources, corpus.references, strict=True):
        yield [reference.corrected(source, overlapping=allowed) for reference in references]


def _warn_of_overlaps(corpus: Corpus) -> bool:
    """Whether edits of one annotator overlap in any sentence."""
    if not corpus.edits.has_overlaps():
        return False
    warn_of_data(
        f"{corpus.name}: edits of one annotator overlap; metrics that need a corrected text carry "
        "out the first of them from left to right",
        stacklevel=4,
    )
    return True


def check_references(corpus: Corpus) -> Ints:
    """Where the references of each sentence begin: ``[sentence + 1]``; each must have one."""
    numbers = [len(references) for references in corpus.references]
    if 0 in numbers:
        source = corpus.sources[numbers.index(0)]
        raise InputError(
            f"{corpus.name}: {numbers.count(0)} of {len(numbers)} sentences have no "
            f"reference, the first is {source[:60]!r}",
            remedy="give every sentence a reference, or leave the sentence out",
        )
    return np.concatenate([[0], np.cumsum(numbers, dtype=np.int64)]).astype(np.int64)


def per_reference(rows: NDArray[np.int64] | Floats, first: Ints) -> Floats:
    """Turn one row per reference into ``[sentence, reference, ...]``, NaN where there is none.

    >>> per_reference(np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 3]))[:, :, 0].tolist()
    [[1.0, nan], [2.0, 3.0]]
    """
    numbers = np.diff(first)
    result = np.full((len(numbers), int(np.max(numbers, initial=1)), *rows.shape[1:]), np.nan)
    sentence = np.repeat(np.arange(len(numbers)), numbers)
    result[sentence, np.arange(len(rows)) - first[sentence]] = rows
    return result


def closest_lengths(hypothesis: Ints, references: Ints, first: Ints, *, shorter: bool) -> Ints:
    """Per sentence the length of the reference nearest in length to the hypothesis.

    Of two that are equally near it is the shorter one, or the one that comes first.

    >>> closest_lengths(np.array([5]), np.array([6, 4]), np.array([0, 2]), shorter=True).tolist()
    [4]
    """
    lengths = per_reference(references, first)
    distance = np.abs(lengths - hypothesis[:, None])
    if shorter:
        distance = distance + np.where(lengths < hypothesis[:, None], -0.25, 0)
    nearest = np.nanargmin(distance, axis=1) if len(lengths) else np.zeros(0, np.int64)
    return references[first[:-1] + nearest].astype(np.int64)
