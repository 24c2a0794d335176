"""The three-way alignment behind I-measure's counts, column by column, to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from errata.data import Corpus, Hypotheses, Vocabulary
from errata.errors import InputError
from errata.kernels import threeway
from errata.metrics.imeasure import Aspect, IMeasure
from errata.metrics.imeasure.corrections import nomix_references
from errata.metrics.ngrams import split_words

__all__ = ["AlignedColumn", "ColumnKind", "ThreeWay", "align_three", "alignments"]

ColumnKind = Literal["unchanged", "missed", "needless", "right", "wrong"]
Prefixes = tuple[int, int, int]
GAP, MISMATCH = 2, 3  # what a pair of tokens costs in a column (`errata.kernels.threeway`)
# Which rows have a token, in the order in which steps are preferred.
STEPS: tuple[Prefixes, ...] = (
    *((1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1)),
    *((1, 0, 0), (0, 1, 0), (0, 0, 1)),
)


class AlignedColumn(NamedTuple):
    """One column: what stands in the three rows, None for a gap, and what that is."""

    source: str | None
    hypothesis: str | None
    reference: str | None

    @property
    def kind(self) -> ColumnKind:
        """What became of it: as it should be, missed, needlessly changed, corrected, or wrong."""
        s, h, r = self
        if s == h:
            return "unchanged" if s == r else "missed"
        return "needless" if s == r else "right" if h == r else "wrong"

    def counts_as(self, aspect: Aspect = "correction") -> str:
        """The same in the words of the paper, a wrong correction being FP, FN and FPN at once.

        >>> column = AlignedColumn("go", "went", "goes")
        >>> column.counts_as(), column.counts_as("detection")
        ('FPN', 'TP')
        """
        wrong = "FPN" if aspect == "correction" else "TP"
        words = {"unchanged": "TN", "missed": "FN", "needless": "FP", "right": "TP", "wrong": wrong}
        return words[self.kind]


def align_three(
    source: Sequence[str], hypothesis: Sequence[str], reference: Sequence[str]
) -> tuple[AlignedColumn, ...]:
    """The alignment that I-measure counts, as Felice & Briscoe (2015) and their program make it.

    It is read from its end: the first of `STEPS` that keeps the least cost, which the kernel gives
    for any three beginnings of the sentences.

    >>> [column[1:] for column in align_three("a b c".split(), "a c".split(), "a B c".split())]
    [('a', 'a'), (None, 'B'), ('c', 'c')]
    """
    words = Vocabulary()
    rows = [words.intern_tokens([tokens])[0].tolist() for tokens in (source, hypothesis, reference)]
    texts = (source, hypothesis, reference)
    at: Prefixes = (len(source), len(hypothesis), len(reference))
    least = _cost(rows, at)
    columns = []
    while any(at):
        if min(at) and len({row[k - 1] for row, k in zip(rows, at, strict=True)}) == 1:
            at = (at[0] - 1, at[1] - 1, at[2] - 1)  # equal ends cost nothing, and come first
            columns.append(AlignedColumn(*[source[at[0]]] * 3))
            continue
        for step in STEPS:
            before = (at[0] - step[0], at[1] - step[1], at[2] - step[2])
            if min(before) < 0:
                continue
            cost = _cost(rows, before)
            if cost + _column_cost(rows, at, step) == least:
                break
        columns.append(
            AlignedColumn(
                *(text[k - 1] if s else None for text, k, s in zip(texts, at, step, strict=True))
            )
        )
        at, least = before, cost
    return tuple(reversed(columns))


def _cost(rows: Sequence[Sequence[int]], at: Prefixes) -> int:
    """The least cost of aligning the beginnings of three sentences."""
    parts = [row[:end] for row, end in zip(rows, at, strict=True)]
    ids = np.array([token for part in parts for token in part], np.int32)
    offsets = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    found, _ = threeway.count_columns(ids, offsets, np.array([[0, 1, 2]]))
    return int(found[0, -1])


def _column_cost(rows: Sequence[Sequence[int]], at: Prefixes, step: Prefixes) -> int:
    tokens = [row[k - 1] if s else None for row, k, s in zip(rows, at, step, strict=True)]
    cost = 0
    for a, b in ((0, 1), (0, 2), (1, 2)):
        if tokens[a] != tokens[b]:
            cost += GAP if None in (tokens[a], tokens[b]) else MISMATCH
    return cost


class ThreeWay(NamedTuple):
    """The alignment of one sentence (from 0) of a system with the reference that it takes."""

    sentence: int
    system: str
    annotator: int
    score: float
    columns: tuple[AlignedColumn, ...]
    aspect: Aspect


def alignments(
    metric: IMeasure, corpus: Corpus, hypotheses: Hypotheses, sentences: Sequence[int]
) -> list[ThreeWay]:
    """The alignments behind the counts of some sentences, with the reference that each takes."""
    if metric.references == "mix":
        raise InputError(
            "imeasure: a mixture of several annotators has no alignment to show",
            remedy="leave references='nomix' as it is",
        )
    counts = metric.count(corpus, hypotheses)
    chosen = metric.choose(counts)[0]
    found = []
    for i in sentences:
        source = tuple(corpus.sources[i].split())
        references = nomix_references(source, corpus.references[i], metric.tokenise)
        r = int(chosen[i])
        found.append(
            ThreeWay(
                i,
                hypotheses.system,
                corpus.references[i][r].annotator,
                float(metric.single.score(counts[i, r])),
                align_three(
                    source, split_words(hypotheses.sentences[i], metric.spaces), references[r]
                ),
                metric.aspect,
            )
        )
    return found
