"""Reference sets as objects of study: what annotators change, and how much they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from errata.core.errors import InputError
from errata.core.stats import Floats, Progress, ratio
from errata.data import Corpus, Hypotheses, Reference, Scores
from errata.metrics.base import Metric, describe_data
from errata.metrics.ter import edit_counts, operation_counts
from errata.scoring.evaluate import evaluate
from errata.scoring.results import corpus_facts

SUBSETS = 20  # subsets of annotators tried for one point of the curve


EDIT_KINDS = ("insertions", "deletions", "substitutions", "shifts")


@dataclass(frozen=True)
class ReferenceSet:
    """What one annotator or set of annotators changed.

    ``references`` counts the annotators, ``changed`` is the share of corrections that differ from
    the source, ``ster`` the TER edits per correction, followed by its parts.
    """

    name: str
    references: int
    sentences: int
    changed: float
    ster: float
    insertions: float
    deletions: float
    substitutions: float
    shifts: float


@dataclass(frozen=True)
class ReferencePair:
    """Two annotators on the sentences both corrected: share identical, edits apart (sTER)."""

    first: str
    second: str
    sentences: int
    identical: float
    identical_unchanged: float
    ster: float


@dataclass(frozen=True)
class Disagreement:
    """A sentence on which annotators are far apart: mean edits between their texts per word.

    ``sentence`` counts from 0; ``number`` from 1, sentences that were left out among them.
    """

    sentence: int
    distance: float
    source: str
    texts: tuple[str, ...]
    number: int


@dataclass(frozen=True)
class ReferenceStudy:
    """Everything `study_references` finds."""

    sets: tuple[ReferenceSet, ...]
    pairs: tuple[ReferencePair, ...]
    disagreements: tuple[Disagreement, ...]


def annotators_of(corpus: Corpus) -> tuple[int, ...]:
    """Return the annotators of a corpus in order of their numbers."""
    found = list(corpus.annotators)
    if not found:
        raise InputError(f"{corpus.name} has no references", remedy="give --gold or --refs")
    return tuple(found)


def _corrected_texts(corpus: Corpus) -> dict[int, dict[int, str]]:
    """Return corrected texts by annotator and sentence."""
    texts: dict[int, dict[int, str]] = {a: {} for a in annotators_of(corpus)}
    for i, (source, refs) in enumerate(zip(corpus.sources, corpus.references, strict=True)):
        for reference in refs:
            words = reference.corrected(source, overlapping=True).split()
            texts[reference.annotator][i] = " ".join(words)
    return texts


def _annotator_names(annotators: Sequence[int], names: Sequence[str] | None) -> dict[int, str]:
    if names is None:
        return {a: str(a) for a in annotators}
    if len(names) != len(annotators):
        raise InputError(f"{len(names)} names for {len(annotators)} annotators")
    return dict(zip(annotators, names, strict=True))


def study_references(
    corpus: Corpus,
    *,
    names: Sequence[str] | None = None,
    lowercase: bool = True,
    worst: int = 5,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ReferenceStudy:
    """Compare the reference sets of a corpus with the source and with each other.

    sTER is the mean number of TER edits per sentence, not divided by length (Sakaguchi et al.
    2016); ``lowercase`` as Tercom does by default. "Identical" compares texts as they are.
    """
    texts = _corrected_texts(corpus)
    shown = _annotator_names(tuple(texts), names)
    sources = [" ".join(source.split()) for source in corpus.sources]
    jobs = {(a, b): sorted(texts[a].keys() & texts[b].keys()) for a, b in combinations(texts, 2)}
    flat = [(texts[a][i], texts[b][i]) for (a, b), both in jobs.items() for i in both]
    counts = edit_counts(flat, lowercase=lowercase, threads=threads, progress=progress)
    distance = np.zeros(len(sources))
    compared = np.zeros(len(sources))
    pairs, start = [], 0
    for (a, b), both in jobs.items():
        edits = counts[start : start + len(both)]
        start += len(both)
        same = [i for i in both if texts[a][i] == texts[b][i]]
        kept = sum(texts[a][i] == sources[i] for i in same)
        distance[both] += edits
        compared[both] += 1
        n = len(both)
        identical = len(same) / n if n else np.nan
        unchanged = kept / len(same) if same else np.nan
        ster = float(edits.mean()) if n else np.nan
        pairs.append(ReferencePair(shown[a], shown[b], n, identical, unchanged, ster))
    sets = tuple(_study_annotator(shown[a], texts[a], sources, lowercase, threads) for a in texts)
    apart = _largest_disagreements(corpus, texts, sources, distance, compared, worst)
    return ReferenceStudy(sets, tuple(pairs), apart)


def _study_annotator(
    name: str, texts: dict[int, str], sources: list[str], lowercase: bool, threads: int | None
) -> ReferenceSet:
    changed = [(sources[i], text) for i, text in texts.items() if text != sources[i]]
    sums = operation_counts(changed, lowercase=lowercase, threads=threads).sum(axis=0)
    n = len(texts)
    return ReferenceSet(name, 1, n, len(changed) / n, float(sums.sum() / n), *(sums / n).tolist())


def _largest_disagreements(
    corpus: Corpus,
    texts: dict[int, dict[int, str]],
    sources: list[str],
    distance: Floats,
    compared: Floats,
    worst: int,
) -> tuple[Disagreement, ...]:
    lengths = np.array([max(1, len(source.split())) for source in sources])
    mean = ratio(distance, compared * lengths, 0.0)
    order = np.argsort(-mean, kind="stable")[:worst]
    return tuple(
        Disagreement(
            int(i),
            float(mean[i]),
            sources[i],
            tuple(texts[a][i] for a in texts if i in texts[a]),
            corpus.number(int(i)),
        )
        for i in order
        if mean[i] > 0
    )


def _select_sentences(
    corpus: Corpus, keep: Sequence[int], references: Sequence[tuple[Reference, ...]]
) -> Corpus:
    """Return some sentences of a corpus, with these references in place of their own."""
    return replace(
        corpus,
        documents=tuple(corpus.documents[i] for i in keep) if corpus.documents else (),
        sources=tuple(corpus.sources[i] for i in keep),
        references=tuple(references[i] for i in keep),
    )


def _texts_as_system(corpus: Corpus, annotator: int, name: str, keep: Sequence[int]) -> Hypotheses:
    return Hypotheses(
        name,
        tuple(
            next(r for r in corpus.references[i] if r.annotator == annotator).corrected(
                corpus.sources[i], overlapping=True
            )
            for i in keep
        ),
    )


def _score_annotators(
    corpus: Corpus,
    metric: Metric,
    names: Sequence[str] | None,
    *,
    own: bool,
    progress: Progress | None = None,
    **drawing: Any,
) -> list[Scores]:
    """Score each annotator's text against his or her ``own`` references, or all the others."""
    annotators = annotators_of(corpus)
    shown = _annotator_names(annotators, names)
    results = []
    for done, annotator in enumerate(annotators):
        if progress is not None:
            progress(done, len(annotators))
        chosen = [
            tuple(r for r in refs if (r.annotator == annotator) == own)
            for refs in corpus.references
        ]
        keep = [
            i
            for i, refs in enumerate(corpus.references)
            if chosen[i] and any(r.annotator == annotator for r in refs)
        ]
        if keep:
            part = _select_sentences(corpus, keep, chosen)
            system = _texts_as_system(corpus, annotator, shown[annotator], keep)
            results.append(evaluate(metric, part, [system], guard=False, **drawing))
    return results


def annotators_as_systems(
    corpus: Corpus,
    metric: Metric,
    *,
    names: Sequence[str] | None = None,
    progress: Progress | None = None,
    **drawing: Any,
) -> list[Scores]:
    """Score each annotator like a system against all the others: how well can people do?

    One result per annotator, over the sentences that he or she and another corrected.
    """
    if len(annotators_of(corpus)) < 2:
        remedy = "give two reference sets or more"
        raise InputError("one annotator cannot be scored against the others", remedy=remedy)
    return _score_annotators(corpus, metric, names, own=False, progress=progress, **drawing)


def score_against_self(
    corpus: Corpus, metric: Metric, *, names: Sequence[str] | None = None
) -> list[Scores]:
    """Score each annotator's text against the same annotator's references: perfect, or a fault.

    It falls short where a metric does not find the gold edits in the corrected text, or where edits
    and text of a reference do not fit.
    """
    return _score_annotators(corpus, metric, names, own=True, resamples=0)


@dataclass(frozen=True)
class CurvePoint:
    """Mean score with so many references, over subsets of the annotators, and its spread."""

    references: int
    subsets: int
    values: tuple[float, ...]
    spread: tuple[float, ...]

    @property
    def mean_min_max(self) -> tuple[float, float, float]:
        """Return mean, minimum and maximum over the systems.

        >>> CurvePoint(1, 2, (0.25, 0.75), (0.0, 0.0)).mean_min_max
        (0.5, 0.25, 0.75)
        """
        return float(np.mean(self.values)), min(self.values), max(self.values)


def reference_curve(
    corpus: Corpus,
    metric: Metric,
    systems: Sequence[Hypotheses],
    *,
    rng: int | np.random.Generator = 0,
    progress: Progress | None = None,
) -> tuple[CurvePoint, ...]:
    """Score systems against 1, 2, ... references (Sakaguchi et al. 2016, Figure 5).

    Over the sentences that every annotator corrected; for each number of references all subsets
    of annotators, or 20 drawn at random where there are more.
    """
    annotators = annotators_of(corpus)
    part, outputs = _keep_fully_corrected(corpus, systems)
    generator = np.random.default_rng(rng)
    points = []
    for k in range(1, len(annotators) + 1):
        if progress is not None:
            progress(k - 1, len(annotators))
        subsets = _annotator_subsets(annotators, k, generator)
        corpora = [part.keep_annotators(*subset) for subset in subsets]
        found = [evaluate(metric, c, outputs, resamples=0, guard=False) for c in corpora]
        values = np.array([scores.values for scores in found])
        mean, spread = tuple(values.mean(0).tolist()), tuple(values.std(0).tolist())
        points.append(CurvePoint(k, len(subsets), mean, spread))
    return tuple(points)


def curve_context(corpus: Corpus, metric: Metric, systems: Sequence[Hypotheses]) -> tuple[str, ...]:
    """Return the facts of a curve's signature beside the metric: edits, sentences, references."""
    part, outputs = _keep_fully_corrected(corpus, systems)
    return (*describe_data(metric, part, outputs).context, *corpus_facts(part))


def _keep_fully_corrected(
    corpus: Corpus, systems: Sequence[Hypotheses]
) -> tuple[Corpus, list[Hypotheses]]:
    """Return the sentences that every annotator corrected, and the outputs on them."""
    all_of_them = len(annotators_of(corpus))
    keep = [i for i, refs in enumerate(corpus.references) if len(refs) == all_of_them]
    if not keep:
        remedy = "keep fewer annotators"
        raise InputError("no sentence was corrected by every annotator", remedy=remedy)
    gone = {*range(len(corpus))}.difference(keep)
    outputs = [each.without_sentences(*gone) for each in systems]
    return _select_sentences(corpus, keep, corpus.references), outputs


def _annotator_subsets(
    annotators: tuple[int, ...], k: int, rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Return all subsets of ``k`` annotators, or `SUBSETS` random ones if there are more.

    >>> {len({*each}) for each in _annotator_subsets(tuple(range(30)), 9, np.random.default_rng(0))}
    {9}
    """
    if comb(len(annotators), k) <= SUBSETS:
        return list(combinations(annotators, k))
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < SUBSETS:
        picked = rng.choice(len(annotators), k, replace=False)
        drawn[tuple(sorted(annotators[i] for i in picked))] = None
    return list(drawn)
