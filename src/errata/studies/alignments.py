"""Alignments to look at: what a metric compared in a sentence before it counted.

I-measure's three rows stand in `errata.metrics.imeasure.three_way`; here are the chunks behind
difficulty weights (Gotou et al. 2020, Figure 2) and the edits of M2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from errata.data import Corpus, Edit, Hypotheses
from errata.metrics.difficulty.chunks import MODIFIED
from errata.metrics.difficulty.map import DifficultyMap
from errata.metrics.m2 import M2
from errata.studies.edit_states import touches

__all__ = ["Chunk", "ChunkedSentence", "EditVerdict", "M2Verdict", "chunked", "m2_verdicts"]

EditVerdict = Literal["correct", "missed", "wrong"]


class Chunk(NamedTuple):
    """One gold chunk: the source there, the correction, and what each system made of it.

    ``source`` is empty where something can only be inserted; a dummy is such a place where the gold
    inserts nothing. ``written`` and ``right`` go by system, ``solved`` of all systems got it right.
    """

    start: int
    end: int
    source: str
    gold: str
    kind: str
    error: bool
    written: tuple[str, ...]
    right: tuple[bool, ...]
    solved: float
    weight: float

    @property
    def dummy(self) -> bool:
        """Whether nothing stands here, neither in the source nor in the gold."""
        return not (self.source or self.gold)

    @property
    def touched(self) -> bool:
        """Whether there is anything to see: more than a dummy that no system filled."""
        return not self.dummy or any(self.written)


class ChunkedSentence(NamedTuple):
    """A sentence (from 0) as one annotator corrected it, in chunks."""

    sentence: int
    annotator: int
    chunks: tuple[Chunk, ...]


def chunked(found: DifficultyMap, sentences: Sequence[int]) -> list[ChunkedSentence]:
    """The chunks of some sentences, once for each of their references.

    >>> from errata.metrics.difficulty.map import map_difficulty
    >>> gold = Corpus.from_texts(["He go home"], [["He goes home"]])
    >>> found = map_difficulty(gold, [Hypotheses("A", ("He goes to home",))])
    >>> [(c.source, c.gold, c.written, c.right) for c in chunked(found, [0])[0].chunks[3:5]]
    [('go', 'goes', ('goes',), (True,)), ('', '', ('to',), (False,))]
    """
    all_chunks = found.chunks
    result = []
    for u, i in enumerate(all_chunks.sentences.tolist()):
        if i not in sentences:
            continue
        first, last = all_chunks.bounds[u : u + 2].tolist()
        reference = found.corpus.references[i][int(all_chunks.references[u])]
        several = tuple(_chunk(found, i, c) for c in range(first, last))
        result.append(ChunkedSentence(i, reference.annotator, several))
    return result


def _chunk(found: DifficultyMap, sentence: int, c: int) -> Chunk:
    start, end = found.chunks.rows[c, :2].tolist()
    source = " ".join(found.corpus.sources[sentence].split()[start:end])
    edit = found.edit(c)
    written = tuple(
        " … ".join(e.replacement for e in found.edits[s][sentence] if touches(e, start, end))
        if found.flags[s, c] & MODIFIED
        else source
        for s in range(len(found.systems))
    )
    return Chunk(
        start,
        end,
        source,
        source if edit is None else edit.replacement,
        "" if edit is None else edit.kind,
        edit is not None,
        written,
        tuple(found.right[:, c].tolist()),
        float(found.tally.solved[c]),
        float(found.weights[c]),
    )


class M2Verdict(NamedTuple):
    """An edit of a sentence (from 0) of a system: gold and made, gold and missed, or made only."""

    sentence: int
    system: str
    annotator: int
    edit: Edit
    verdict: EditVerdict


def m2_verdicts(
    metric: M2, corpus: Corpus, hypotheses: Hypotheses, sentences: Sequence[int]
) -> list[M2Verdict]:
    """The edits that M2 chose for some sentences, beside those of the annotator it took.

    >>> gold = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> found = m2_verdicts(M2(), gold, Hypotheses("A", ("He goes to home .",)), [0])
    >>> [(each.edit.replacement, each.verdict) for each in found]
    [('goes', 'correct'), ('to', 'wrong')]
    """
    explained = metric.explain(corpus, hypotheses)
    result = []
    for i in sentences:
        of = explained[i]
        marked: list[tuple[Edit, EditVerdict]] = [
            *((edit, "correct") for edit in of.correct),
            *((edit, "missed") for edit in of.missed),
            *((edit, "wrong") for edit in of.wrong),
        ]
        result += [
            M2Verdict(i, hypotheses.system, of.annotator, edit, verdict)
            for edit, verdict in sorted(marked, key=lambda each: (each[0].start, each[0].end))
        ]
    return result
