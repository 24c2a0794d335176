"""Sentences as chunks, and which of them a system got right: the ground of difficulty weights.

See `errata.kernels.chunks` for what a chunk is and for the two ways of matching.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus, Edit
from errata.errors import InputError
from errata.kernels import chunks as kernel
from errata.parameters import require

__all__ = [
    "CORRECT",
    "IGNORED",
    "LONGEST",
    "MODIFIED",
    "Chunks",
    "Flags",
    "Matching",
    "chunk_references",
    "compare_chunks",
]

MODIFIED, CORRECT = 1, 2
Matching = Literal["released", "elastic"]
IGNORED = ("UNK", "Um")  # detected but not corrected; the released scorer leaves them out
Flags = NDArray[np.int8]
LONGEST = 5000  # tokens of a sentence; elastic matching of twice as many chunks takes 800 MB


@dataclass(frozen=True, eq=False)
class Chunks:
    """The gold chunks of a corpus: unit u is one reference of sentence ``sentences[u]``.

    Rows ``bounds[u]:bounds[u + 1]`` of ``rows`` are its chunks: start, end, text, and the number
    of the edit among the unit's sorted edits (-1 for an unchanged token or a dummy).
    """

    sentences: NDArray[np.intc]
    references: NDArray[np.intc]
    rows: NDArray[np.intc]
    bounds: NDArray[np.int64]
    edits: tuple[tuple[Edit, ...], ...]

    @property
    def erroneous(self) -> NDArray[np.bool_]:
        """Whether each chunk is an error, that is a gold edit."""
        return np.asarray(self.rows[:, 3] >= 0)

    @property
    def unit_of(self) -> NDArray[np.int64]:
        """The unit of each chunk."""
        return np.repeat(np.arange(len(self.sentences)), np.diff(self.bounds))


def chunk_references(corpus: Corpus, ignore: Sequence[str] = IGNORED) -> Chunks:
    """Cut every sentence into chunks, once for each of its references.

    >>> from errata.data import Reference
    >>> corpus = Corpus(("a b",), ((Reference(0, (Edit(1, 2, "B"),)),),))
    >>> chunk_references(corpus).rows[:, :2].tolist()
    [[0, 0], [0, 1], [1, 1], [1, 2], [2, 2]]
    """
    key = ("chunks", tuple(ignore))
    return corpus.derived(key, lambda: _chunk_references(corpus, ignore))


def _chunk_references(corpus: Corpus, ignore: Sequence[str]) -> Chunks:
    units = [
        (i, r, reference)
        for i, refs in enumerate(corpus.references)
        for r, reference in enumerate(refs)
    ]
    edits = [
        _sorted(reference.edits or (), ignore, i, reference.annotator) for i, _, reference in units
    ]
    sentences = np.array([i for i, _, _ in units], np.intc)
    tokens = corpus.source_tokens
    rows, bounds = kernel.chunk(
        sentences, tokens.ids, tokens.offsets, *_flat(corpus, edits), _empty(corpus)
    )
    return Chunks(
        sentences, np.array([r for _, r, _ in units], np.intc), rows, bounds, tuple(edits)
    )


def compare_chunks(
    corpus: Corpus,
    chunks: Chunks,
    edits: Sequence[Sequence[Edit]],
    *,
    matching: Matching = "released",
    ignore: Sequence[str] = IGNORED,
    longest: int = LONGEST,
) -> Flags:
    """For every gold chunk: `MODIFIED` if the system changed it, + `CORRECT` if it is right.

    ``edits`` are the system's, sentence by sentence.
    """
    require("matching", matching, Matching)
    if len(edits) != len(corpus):
        raise InputError(
            f"edits of {len(edits)} sentences, but the corpus has {len(corpus)}",
            remedy="give the edits of every sentence, () where there are none",
        )
    mine = [_sorted(several, ignore, i) for i, several in enumerate(edits)]
    tokens = corpus.source_tokens
    n = int(tokens.lengths.max(initial=0))
    if matching == "elastic" and n > longest:
        raise InputError(
            f"difficulty: sentence {int(tokens.lengths.argmax()) + 1} has {n} tokens, for which "
            f"matching='elastic' asks for about {4 * n * n * 8 / 1e9:.1f} GB",
            remedy=f"give one sentence a line, or lift the limit: longest={n} (--longest {n})",
        )
    for i, (several, length) in enumerate(zip(mine, tokens.lengths.tolist(), strict=True)):
        if several and several[-1].end > length:  # sorted and apart, so the last reaches furthest
            raise InputError(
                f"sentence {i + 1}: an edit of the system ends at token "
                f"{several[-1].end}, but the sentence has {length}",
                remedy="edits must have been made for this corpus",
            )
    flags: Flags = kernel.compare(
        chunks.sentences,
        tokens.ids,
        tokens.offsets,
        chunks.rows,
        chunks.bounds,
        *_flat(corpus, mine),
        _empty(corpus),
        matching == "elastic",
    )
    return flags


def _sorted(
    edits: Sequence[Edit], ignore: Sequence[str], sentence: int, annotator: int | None = None
) -> tuple[Edit, ...]:
    if not edits:
        return ()
    kept = tuple(sorted([e for e in edits if e.kind not in ignore], key=lambda e: (e.start, e.end)))
    end = 0
    for edit in kept:
        if edit.start < end:
            whose = "the system" if annotator is None else f"annotator {annotator}"
            raise InputError(
                f"sentence {sentence + 1}: edit {edit.start}-{edit.end} "
                f"{edit.replacement!r} of {whose} overlaps another",
                remedy="chunks need edits that do not overlap; gold='reextracted' finds such",
            )
        end = edit.end
    return kept


def _flat(
    corpus: Corpus, edits: Sequence[Sequence[Edit]]
) -> tuple[NDArray[np.int64], NDArray[np.intc], NDArray[np.intc], NDArray[np.intc]]:
    """Offsets by unit, starts, ends and texts (numbers) of all edits."""
    # Alternatives stay one literal text, as in the released scorer.
    texts = corpus.vocabulary.intern_tokens(
        ["||".join(e.replacements) if e.alternatives else e.replacement for e in several]
        for several in edits
    )
    starts = np.array([e.start for several in edits for e in several], np.intc)
    ends = np.array([e.end for several in edits for e in several], np.intc)
    return texts.offsets, starts, ends, texts.ids


def _empty(corpus: Corpus) -> int:
    return int(corpus.vocabulary.intern_tokens([[""]]).ids[0])
