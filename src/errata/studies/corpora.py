"""Several corpora: what they are like, and whether systems keep their places from one to another.

Mita et al. (2019) and Gotou et al. (2020) score the same systems on six corpora and find that the
ranking by F0.5 changes from corpus to corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from rapidfuzz.distance import Levenshtein

from errata.correlation import kendall_w
from errata.data import Corpus, Scores
from errata.edits import kind_at, retyped, with_edits
from errata.errors import InputError
from errata.numbers import Bools, Estimate, Floats, percentiles, settled

__all__ = [
    "AcrossCorpora",
    "CorpusFacts",
    "Stability",
    "corpus_statistics",
    "first_place_changes",
    "rank_changes",
    "sources_alike",
    "stability",
]


@dataclass(frozen=True)
class CorpusFacts:
    """What a corpus is like (Gotou et al. 2020, Table 1, and more).

    ``error_rate`` is the number of tokens to insert, delete or exchange (Levenshtein) by the
    references, over the tokens of the source; ``changed`` the share of references that change
    their sentence; both over all references. ``uncarried`` counts references whose edits overlap:
    they have no corrected text and no part in the two. ``kinds`` counts edits; ``found`` says that
    texts were aligned to find them; ``read_tokens`` counts the source once for each reference.
    """

    name: str
    sentences: int
    tokens: int
    fewest_references: int
    most_references: int
    systems: int
    error_rate: float
    changed: float
    edits: int
    kinds: Mapping[str, int]
    found: bool
    uncarried: int
    read_tokens: int

    @property
    def edits_per_100_tokens(self) -> float:
        """Edits by 100 tokens that an annotator read."""
        return 100 * self.edits / self.read_tokens if self.read_tokens else np.nan


def corpus_statistics(
    corpus: Corpus, *, name: str = "", systems: int = 0, types: str = "as_is", tier: int = 3
) -> CorpusFacts:
    """Count sentences, tokens, references, errors and kinds of edits of a corpus.

    ``types`` names who gives the edits their kinds, ``as_is`` for those of the file; the edits of
    references that are texts are found by alignment. ``tier`` is that of `errata.edits.kind_at`.

    >>> corpus = Corpus.from_texts(["He go home .", "Yes ."], [["He goes home .", "Yes ."]])
    >>> facts = corpus_statistics(corpus)
    >>> facts.tokens, round(facts.error_rate, 4), facts.changed, dict(facts.kinds)
    (6, 0.1667, 0.5, {'R:INFL': 1})
    """
    distance = counted = changed = texts = read = uncarried = 0
    for source, references in zip(corpus.sources, corpus.references, strict=True):
        words = source.split()
        read += len(words) * len(references)
        for reference in references:
            try:
                corrected = reference.corrected(source).split()
            except InputError:  # overlapping edits, which say what is wrong and not what is right
                uncarried += 1
                continue
            distance += Levenshtein.distance(words, corrected)
            counted += len(words)
            changed += corrected != words
            texts += 1
    gold = with_edits(corpus, "as_is", "aligned" if types == "as_is" else types)
    if types != "as_is":
        gold = retyped(gold, types)
    kinds = Counter(
        kind_at(edit.kind, tier) or "-"
        for references in gold.references
        for reference in references
        for edit in reference.edits or ()
    )
    sizes = [len(references) for references in corpus.references]
    return CorpusFacts(
        name or corpus.name,
        len(corpus),
        sum(len(source.split()) for source in corpus.sources),
        min(sizes, default=0),
        max(sizes, default=0),
        systems,
        distance / counted if counted else np.nan,
        changed / texts if texts else np.nan,
        kinds.total(),
        dict(kinds.most_common()),
        not corpus.has_gold_edits,
        uncarried,
        read,
    )


@dataclass(frozen=True, eq=False)
class AcrossCorpora:
    """What one metric says of systems on several corpora: ``scores[k]`` is that of ``corpora[k]``.

    ``alike[k]`` numbers the sentences of a corpus: corpora with the same sources are resampled
    together, others by themselves.
    """

    corpora: tuple[str, ...]
    scores: tuple[Scores, ...]
    alike: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """The metric as a heading names it."""
        return self.scores[0].label

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """All systems, by their mean rank over the corpora that have them, best first."""
        placed: dict[str, list[int]] = {}
        for scores in self.scores:
            for system, rank in zip(scores.systems, scores.ranks, strict=True):
                placed.setdefault(system, []).extend([] if rank is None else [rank])
        mean = {name: np.mean(several) if several else np.inf for name, several in placed.items()}
        return tuple(sorted(placed, key=lambda name: mean[name]))

    @cached_property
    def common(self) -> tuple[str, ...]:
        """The systems that every corpus has."""
        return tuple(
            name for name in self.systems if all(name in scores.systems for scores in self.scores)
        )

    @property
    def signature(self) -> str:
        """What decided the numbers in one line: what holds for all corpora, then what differs."""
        contexts = [scores.context for scores in self.scores]
        shared = [fact for fact in contexts[0] if all(fact in context for context in contexts)]
        own = [", ".join(fact for fact in context if fact not in shared) for context in contexts]
        corpora = (
            f"{name}({facts})" if facts else name
            for name, facts in zip(self.corpora, own, strict=True)
        )
        return " | ".join((self.scores[0].scorer, f"on {', '.join(corpora)}", *shared))

    def missing(self) -> dict[str, tuple[str, ...]]:
        """Systems that some corpora lack, with the names of these."""
        return {
            name: tuple(
                corpus
                for corpus, scores in zip(self.corpora, self.scores, strict=True)
                if name not in scores.systems
            )
            for name in self.systems
            if name not in self.common
        }

    def rank(self, corpus: int, system: str) -> int | None:
        """The rank of a system on a corpus, among all that the corpus has."""
        scores = self.scores[corpus]
        return scores.ranks[scores.systems.index(system)] if system in scores.systems else None

    def estimate(self, corpus: int, system: str, confidence: float) -> Estimate | None:
        """The score of a system on a corpus with its interval, if the corpus has the system."""
        scores = self.scores[corpus]
        if system not in scores.systems:
            return None
        s = scores.systems.index(system)
        return Estimate(float(scores.values[s]), *scores.interval(confidence)[s].tolist())


def rank_changes(across: AcrossCorpora, base: AcrossCorpora) -> dict[str, tuple[int | None, ...]]:
    """How many places a system gains (above 0) or loses by a metric beside ``base``, by corpus."""

    def change(corpus: int, system: str) -> int | None:
        here, there = across.rank(corpus, system), base.rank(corpus, system)
        return None if here is None or there is None else there - here

    return {
        system: tuple(change(corpus, system) for corpus in range(len(across.corpora)))
        for system in across.systems
    }


@dataclass(frozen=True)
class Stability:
    """How far the rankings of several corpora agree, over the systems that all of them have.

    ``w`` is Kendall's W; ``changes`` the share of pairs of corpora in which no system is first in
    both; each with the interval over resampled sentences. ``changes_drawn`` is the mean of the
    latter over resamples: what new sentences from the same corpora would let one expect.
    ``first`` names who of them is first where, all that tie for it.
    """

    w: Estimate
    changes: Estimate
    changes_drawn: float
    systems: int
    first: Mapping[str, tuple[str, ...]]


def stability(across: AcrossCorpora, *, confidence: float = 0.95) -> Stability:
    """Kendall's W over corpora and how often the first place changes, with bootstrap intervals.

    Resamples are those of the scores. They are paired where corpora have the same sources, and
    turned against each other where not: with one seed, corpora of one size would otherwise be
    resampled by the same pattern.

    >>> a, b = (Scores("m()", ("A", "B"), np.array(v)) for v in ([0.3, 0.2], [0.1, 0.4]))
    >>> found = stability(AcrossCorpora(("one", "two"), (a, b)))
    >>> found.w.value, found.changes.value, found.first["two"]
    (0.0, 1.0, ('B',))
    """
    sides = [scores.select(across.common) for scores in across.scores]
    nothing = Estimate(np.nan, np.nan, np.nan)
    first = {
        name: tuple(np.array(scores.systems)[_first(scores.values)].tolist())
        for name, scores in zip(across.corpora, sides, strict=True)
    }
    if len(sides) < 2 or len(across.common) < 2:
        return Stability(nothing, nothing, np.nan, len(across.common), first)
    values = np.stack([scores.values for scores in sides])
    drawn = _drawn(sides, across.alike)
    w_bounds = c_bounds = [np.nan, np.nan]
    mean = np.nan
    if drawn is not None:
        w_bounds = percentiles(kendall_w(drawn), confidence).tolist()
        moved = first_place_changes(drawn)
        c_bounds, mean = percentiles(moved, confidence).tolist(), float(np.nanmean(moved))
    w = Estimate(float(kendall_w(values)), *w_bounds)
    changes = Estimate(float(first_place_changes(values)), *c_bounds)
    return Stability(w, changes, mean, len(across.common), first)


def _drawn(sides: Sequence[Scores], alike: Sequence[int]) -> Floats | None:
    """Resampled scores ``[resample, corpus, system]``, where every side has them."""
    found = [scores.resampled for scores in sides if scores.resampled is not None]
    if len(found) < len(sides):
        return None
    turned = [
        np.roll(each, k, axis=0) for each, k in zip(found, alike or range(len(found)), strict=True)
    ]
    return np.stack(turned, axis=1)


def _first(values: Floats) -> Bools:
    """Who is first over the last axis, all that tie for it."""
    same = settled(np.where(np.isnan(values), -np.inf, values))
    best = same.max(axis=-1, keepdims=True, initial=-np.inf)
    return np.asarray((same == best) & np.isfinite(best))


def first_place_changes(values: Floats) -> Floats:
    """The share of pairs of corpora in which no system is first in both, ``[..., corpus, system]``.

    >>> float(first_place_changes(np.array([[2.0, 1.0], [2.0, 1.0], [1.0, 2.0]]))).__round__(4)
    0.6667
    """
    first = _first(values)
    pairs = list(combinations(range(values.shape[-2]), 2))
    both = [(first[..., a, :] & first[..., b, :]).any(-1) for a, b in pairs]
    return np.asarray(1 - np.mean(both, axis=0), np.float64)


def sources_alike(corpora: Sequence[Corpus]) -> tuple[int, ...]:
    """A number for each corpus, the same where the sources are the same."""
    known: dict[tuple[str, ...], int] = {}
    return tuple(known.setdefault(corpus.sources, len(known)) for corpus in corpora)
