"""Counting the columns of I-measure: references made once a corpus, outputs aligned in batches."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from errata.core.stats import Floats, Ints
from errata.data import Corpus, Hypotheses, Tokens
from errata.kernels import threeway
from errata.metrics.imeasure.mixtures import (
    LIMITS,
    Ids,
    Limits,
    NumberedChain,
    Stage,
    Vector,
    best_mixture,
    chain_of,
    number_chain,
    possible_mixtures,
    stages_of,
)
from errata.metrics.imeasure.references import clusters_of, nomix_references
from errata.metrics.ngrams import Spaces, split_tokens

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
SourceAndOutput = tuple[Ids, Ids]


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
    every = Tokens.joined(corpus.source_tokens, tokens)
    triples = np.stack([owner, owner, len(corpus) + np.arange(len(owner))], axis=1)
    base, _ = threeway.count_columns(every.ids, every.offsets, triples)
    return Prepared(owner, np.array(columns, np.int64), tokens, base[:, KINDS].astype(np.float64))


def count_nomix(
    corpus: Corpus, prepared: Prepared, hypotheses: Hypotheses, spaces: Spaces = "unicode"
) -> Floats:
    """Columns of every sentence with each of its references."""
    n = len(corpus)
    counts = np.full((n, int(prepared.columns.max(initial=0)) + 1, len(STATISTICS)), np.nan)
    tokens = split_tokens(corpus, hypotheses.sentences, spaces)
    every = Tokens.joined(corpus.source_tokens, tokens, prepared.tokens)
    found = prepared.base.copy()
    todo = np.flatnonzero(tokens.differ(corpus.source_tokens)[prepared.owners])
    owners = prepared.owners[todo]
    found[todo] = threeway.count_columns(
        every.ids, every.offsets, np.stack([owners, n + owners, 2 * n + todo], axis=1)
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
        prepared.append(number_chain(tuple(sources[i].tolist()), chain, tuple(elements), limits))
    return prepared


def count_mix(
    corpus: Corpus,
    prepared: list[NumberedChain],
    systems: Sequence[Hypotheses],
    weight: float,
    choice: str,
    spaces: Spaces = "unicode",
) -> list[Floats]:
    """Columns of every sentence with its best mixture, or all that can be best in a corpus.

    What several systems write alike is looked at once.
    """
    texts = [sentence for hypotheses in systems for sentence in hypotheses.sentences]
    tokens = split_tokens(corpus, texts, spaces)
    ids, ends = tokens.ids.tolist(), tokens.offsets.tolist()
    n = len(corpus)
    outputs = [(at % n, tuple(ids[ends[at] : ends[at + 1]])) for at in range(len(texts))]
    plans = {place: stages_of(prepared[place[0]], place[1]) for place in dict.fromkeys(outputs)}
    jobs: dict[SourceAndOutput, dict[Ids, None]] = {}
    for stages, _ in plans.values():
        for source, hypothesis, several in stages:
            every = dict.fromkeys(several)  # hashed once
            for pair in ((source, hypothesis), (source, source)):
                jobs.setdefault(pair, {}).update(every)
    found = align_all(jobs)
    rows = {
        place: _mixed_rows(prepared[place[0]].source, place[1], *plan, found, weight, choice)
        for place, plan in plans.items()
    }
    counts = []
    for k in range(len(systems)):
        own = [rows[place] for place in outputs[k * n : (k + 1) * n]]
        mine = np.full((n, max(map(len, own), default=1), len(STATISTICS)), np.nan)
        for i, row in enumerate(own):
            mine[i, : len(row)] = row
        counts.append(mine)
    return counts


def _mixed_rows(
    source: Ids,
    output: Ids,
    stages: Sequence[Stage],
    proven: bool,
    found: Mapping[SourceAndOutput, Mapping[Ids, tuple[int, ...]]],
    weight: float,
    choice: str,
) -> list[Vector]:
    """The columns of the best mixture of one output, or of all that can be best in a corpus."""
    vectors = []
    for s in stages:
        own, base = found[s.source, s.hypothesis], found[s.source, s.source]
        vectors.append([own[text] + base[text][:2] for text in s.texts])
    if proven and choice == "corpus":
        return [(*vector, 0) for vector in possible_mixtures(vectors, weight)]
    chosen = best_mixture(vectors, weight)
    if proven:
        return [(*map(sum, zip(*chosen, strict=True)), 0)]
    text = sum(
        (
            s.texts[vector.index(best)]
            for s, vector, best in zip(stages, vectors, chosen, strict=True)
        ),
        (),
    )
    again = align_all({pair: {text: None} for pair in ((source, output), (source, source))})
    return [(*again[source, output][text], *again[source, source][text][:2], 1)]


def align_all(
    jobs: Mapping[SourceAndOutput, Mapping[Ids, None]],
) -> dict[SourceAndOutput, dict[Ids, tuple[int, ...]]]:
    """The columns of source and hypothesis with each text that stands beside them."""
    sentences = [each for pair, texts in jobs.items() for each in (*pair, *texts)]
    offsets = np.cumsum([0, *map(len, sentences)]).astype(np.int64)
    ids = np.fromiter(itertools.chain.from_iterable(sentences), np.int32, int(offsets[-1]))
    sizes = np.fromiter(map(len, jobs.values()), np.int64, len(jobs))
    pairs = np.repeat(np.cumsum(sizes + 2) - sizes - 2, sizes)
    within = np.arange(len(pairs)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    triples = np.stack([pairs, pairs + 1, pairs + 2 + within], axis=1)
    columns = map(tuple, threeway.count_columns(ids, offsets, triples)[0][:, KINDS].tolist())
    return {
        pair: dict(zip(texts, itertools.islice(columns, len(texts)), strict=True))
        for pair, texts in jobs.items()
    }
