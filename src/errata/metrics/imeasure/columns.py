"""Counting the columns of I-measure: references made once a corpus, outputs aligned in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from errata.data import Corpus, Hypotheses, Tokens
from errata.kernels import threeway
from errata.metrics.imeasure.best_mixture import Vector, best_mixture, possible_mixtures
from errata.metrics.imeasure.corrections import clusters_of, nomix_references
from errata.metrics.imeasure.mixtures import (
    LIMITS,
    Ids,
    Limits,
    NumberedChain,
    chain_of,
    numbered,
    stages_of,
)
from errata.metrics.ngrams import Spaces, split_tokens
from errata.numbers import Floats, Ints

__all__ = [
    "BASE",
    "KINDS",
    "RIGHT",
    "STATISTICS",
    "UNCHANGED",
    "UNPROVEN",
    "WRONG",
    "count_mix",
    "count_nomix",
    "prepare_mix",
    "prepare_nomix",
]

STATISTICS = (
    "unchanged",
    "missed",
    "needless",
    "right",
    "wrong",
    "base_unchanged",
    "base_missed",
    "unproven",
)
UNCHANGED, RIGHT, WRONG = (STATISTICS.index(name) for name in ("unchanged", "right", "wrong"))
KINDS = slice(0, 5)  # what became of the columns of the alignment
BASE = slice(5, 7)  # the same of the unchanged source, which can only be right or miss
UNPROVEN = STATISTICS.index("unproven")
T = TypeVar("T")
Triple = tuple[Ids, Ids, Ids]


@dataclass(frozen=True, eq=False)
class Prepared:
    """The references of a part of a corpus as tokens, and the baseline columns of each."""

    owners: Ints
    columns: Ints
    tokens: Tokens
    base: Floats


def prepare_nomix(corpus: Corpus, tokenise: str) -> Prepared:
    """Carry out the gold edits and align the references with their sources.

    A column is an annotator, in the order of their numbers. Of equal references only the first
    is there.
    """
    owners, columns, sentences = [], [], []
    for i, (source, given) in enumerate(zip(corpus.sources, corpus.references, strict=True)):
        corrected = nomix_references(tuple(source.split()), given, tokenise)
        for words in dict.fromkeys(corrected):
            owners.append(i)
            columns.append(corrected.index(words))
            sentences.append(words)
    tokens = corpus.vocabulary.intern_tokens(sentences)
    owner = np.array(owners, np.int64)
    ids, offsets = both(corpus.source_tokens, tokens)
    triples = np.stack([owner, owner, len(corpus) + np.arange(len(owner))], axis=1)
    base, _ = threeway.count_columns(ids, offsets, triples)
    return Prepared(owner, np.array(columns, np.int64), tokens, base[:, KINDS].astype(np.float64))


def both(*batches: Tokens) -> tuple[NDArray[np.int32], Ints]:
    """Several batches of sentences as one."""
    ids = np.concatenate([batch.ids for batch in batches])
    starts = np.cumsum([0, *(len(batch.ids) for batch in batches)])
    offsets = [batch.offsets[:-1] + start for batch, start in zip(batches, starts, strict=False)]
    return ids, np.concatenate([*offsets, starts[-1:]])


def count_nomix(
    corpus: Corpus, prepared: Prepared, hypotheses: Hypotheses, spaces: Spaces = "unicode"
) -> Floats:
    """Columns of every sentence with each of its references."""
    n = len(corpus)
    counts = np.full((n, int(prepared.columns.max(initial=0)) + 1, len(STATISTICS)), np.nan)
    tokens = split_tokens(corpus, hypotheses.sentences, spaces)
    ids, offsets = both(corpus.source_tokens, tokens, prepared.tokens)
    found = prepared.base.copy()
    same = np.array(
        [np.array_equal(corpus.source_tokens[i], tokens[i]) for i in range(n)], np.bool_
    )
    todo = np.flatnonzero(~same[prepared.owners])
    owners = prepared.owners[todo]
    found[todo] = threeway.count_columns(
        ids, offsets, np.stack([owners, n + owners, 2 * n + todo], axis=1)
    )[0][:, KINDS]
    at = prepared.owners, prepared.columns
    counts[(*at, KINDS)] = found
    counts[(*at, BASE)] = prepared.base[:, :2]
    counts[(*at, UNPROVEN)] = 0.0
    return counts


def prepare_mix(corpus: Corpus, tokenise: str, limits: Limits = LIMITS) -> list[NumberedChain]:
    """Lay the clusters of each sentence out and find where mixtures can be cut."""
    chains = [
        chain_of(source, clusters_of(source, references, tokenise), limits)
        for source, references in zip(
            (tuple(s.split()) for s in corpus.sources), corpus.references, strict=True
        )
    ]
    sources = corpus.source_tokens
    texts = corpus.vocabulary.intern_tokens(
        text for chain in chains for element in chain.elements for text in element.texts
    )
    ids, ends = texts.ids.tolist(), texts.offsets.tolist()
    prepared, at = [], 0
    for i, chain in enumerate(chains):
        elements = []
        for element in chain.elements:
            elements.append(
                tuple(tuple(ids[ends[t] : ends[t + 1]]) for t in range(at, at + len(element.texts)))
            )
            at += len(element.texts)
        prepared.append(numbered(tuple(sources[i].tolist()), chain, tuple(elements), limits))
    return prepared


def count_mix(
    corpus: Corpus,
    prepared: list[NumberedChain],
    hypotheses: Hypotheses,
    weight: float,
    choice: str,
    spaces: Spaces = "unicode",
) -> Floats:
    """Columns of every sentence with its best mixture, or all that can be best in a corpus."""
    tokens = split_tokens(corpus, hypotheses.sentences, spaces)
    outputs = [tuple(tokens[i].tolist()) for i in range(len(tokens))]
    plans = [stages_of(chain, output) for chain, output in zip(prepared, outputs, strict=True)]
    jobs: dict[Triple, None] = {}
    for stages, _ in plans:
        for source, hypothesis, texts in stages:
            for text in texts:
                jobs[source, hypothesis, text] = jobs[source, source, text] = None
    found = align_all(jobs)
    rows: list[list[Vector]] = []
    for i, (stages, proven) in enumerate(plans):
        vectors = [
            [
                found[s.source, s.hypothesis, text] + found[s.source, s.source, text][:2]
                for text in s.texts
            ]
            for s in stages
        ]
        if proven and choice == "corpus":
            rows.append([(*vector, 0) for vector in possible_mixtures(vectors, weight)])
            continue
        chosen = best_mixture(vectors, weight)
        if proven:
            rows.append([(*map(sum, zip(*chosen, strict=True)), 0)])
        else:
            text = sum(
                (
                    s.texts[vector.index(best)]
                    for s, vector, best in zip(stages, vectors, chosen, strict=True)
                ),
                (),
            )
            source = prepared[i].source
            whole, base = (source, outputs[i], text), (source, source, text)
            again = align_all(dict.fromkeys((whole, base)))
            rows.append([(*again[whole], *again[base][:2], 1)])
    counts = np.full((len(corpus), max(map(len, rows), default=1), len(STATISTICS)), np.nan)
    for i, row in enumerate(rows):
        counts[i, : len(row)] = row
    return counts


def align_all(jobs: dict[Triple, None]) -> dict[Triple, tuple[int, ...]]:
    """The columns of each triple of token sequences."""
    sentences = [sentence for job in jobs for sentence in job]
    offsets = np.cumsum([0, *map(len, sentences)]).astype(np.int64)
    ids = np.array([token for sentence in sentences for token in sentence], np.int32)
    triples = np.arange(len(sentences)).reshape(-1, 3)
    found = threeway.count_columns(ids, offsets, triples)[0][:, KINDS].tolist()
    return dict(zip(jobs, map(tuple, found), strict=True))
