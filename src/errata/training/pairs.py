"""Pairs of texts of which one is better, made from corrections (IMPARA, Maeda et al. 2022).

Of a source with n edits, a subset of them is carried out, and for its partner each edit is flipped
with chance 1/n. An edit weighs what it does to the corrected text T: its impact is
``1 - cos(T, T without it)``. The text whose edits weigh more is the better one.

The official recipe draws a size from 0 to n and tries at most 10 times, and never more than
n (n - 1) / 2 times; a source with one edit, which that leaves out, gives one pair here: with the
edit and without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from errata.data import Corpus, Edit, apply_edits
from errata.edits import with_edits
from errata.errors import InputError
from errata.metrics.learned.impara import cosines
from errata.numbers import Floats

__all__ = [
    "CorrectedSource",
    "Embedding",
    "ImpactPair",
    "corrected_sources",
    "draw_pairs",
    "impact_texts",
]

Embedding = Callable[[Sequence[str]], Floats]
TRIES = 10
# Cosines of the same tokens in another batch differ by this much: what is nearer weighs the same,
# as do edits that the encoder cannot see (of case, where it is uncased).
NOISE = 1e-6


@dataclass(frozen=True, slots=True)
class CorrectedSource:
    """A source and one annotator's edits of it, of which each changes something."""

    source: str
    edits: tuple[Edit, ...]

    def text(self, chosen: Sequence[bool]) -> str:
        """The source with some of the edits carried out."""
        kept = (edit for edit, own in zip(self.edits, chosen, strict=True) if own)
        return " ".join(apply_edits(self.source.split(), kept))


@dataclass(frozen=True, slots=True)
class ImpactPair:
    """Two texts of one source, and by how much the better one weighs more."""

    source: str
    better: str
    worse: str
    weight: float


def corrected_sources(
    corpus: Corpus, extractor: str = "aligned"
) -> tuple[list[CorrectedSource], int]:
    """Every source with the edits of each annotator who corrected it, and how many had to go.

    Where edits of one annotator overlap (as some of CoNLL-2013 do), no subset of them makes a
    text: such a correction is left out, and counted.
    """
    gold = with_edits(corpus, "as_is", extractor)
    found, overlapping = [], 0
    for source, references in zip(gold.sources, gold.references, strict=True):
        tokens = source.split()
        for reference in references:
            edits = tuple(
                edit
                for edit in dict.fromkeys(reference.edits or ())
                if tokens[edit.start : edit.end] != edit.replacement.split()
            )
            if not edits:
                continue
            try:
                apply_edits(tokens, edits)
            except InputError:
                overlapping += 1
                continue
            found.append(CorrectedSource(source, edits))
    if not found:
        raise InputError("no sentence was corrected", remedy="give gold edits, or corrected texts")
    return found, overlapping


def impact_texts(each: CorrectedSource) -> list[str]:
    """The corrected text, and after it the same without the first, second... edit."""
    n = len(each.edits)
    return [each.text([True] * n), *(each.text([k != left for k in range(n)]) for left in range(n))]


def impacts(vectors: Floats) -> Floats:
    """What each edit does: ``1 - cos`` of the first vector and of those after it.

    >>> impacts(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).tolist()
    [0.0, 1.0]
    """
    return 1 - cosines(vectors[1:], np.broadcast_to(vectors[0], vectors[1:].shape))


def draw_pairs(
    sources: Sequence[CorrectedSource], embed: Embedding, rng: np.random.Generator
) -> list[ImpactPair]:
    """Pairs of every source, in the order of the sources; ``embed`` gives the vectors of texts."""
    texts = list(dict.fromkeys(text for each in sources for text in impact_texts(each)))
    place = {text: k for k, text in enumerate(texts)}
    vectors = embed(texts)
    found: list[ImpactPair] = []
    for each in sources:
        weights = impacts(vectors[[place[text] for text in impact_texts(each)]])
        found += _pairs(each, weights, rng)
    return found


def _pairs(each: CorrectedSource, weights: Floats, rng: np.random.Generator) -> list[ImpactPair]:
    n = len(each.edits)
    seen: dict[tuple[str, str], ImpactPair] = {}
    for _ in range(min(TRIES, max(1, n * (n - 1) // 2))):
        one = np.zeros(n, bool)
        one[rng.permutation(n)[: int(rng.integers(0, n + 1))]] = True
        other = one ^ (rng.random(n) < 1 / n)
        margin = float(weights[one].sum() - weights[other].sum())
        if abs(margin) < NOISE:
            continue
        better, worse = (one, other) if margin > 0 else (other, one)
        pair = ImpactPair(
            each.source, each.text(better.tolist()), each.text(worse.tolist()), abs(margin)
        )
        if pair.better != pair.worse:
            seen.setdefault((pair.better, pair.worse), pair)
    return list(seen.values())
