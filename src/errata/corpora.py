"""The same systems on several corpora: corpus facts, stability of ranks, tables, figure.

Mita et al. (2019) and Gotou et al. (2020) score the same systems on six corpora and find that the
ranking by F0.5 changes from corpus to corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from errata.core import stats
from errata.core.correlation import kendall_w
from errata.core.errors import InputError
from errata.data import Corpus, Scores
from errata.datasets.evaluation_sets import EvaluationSet
from errata.edits import kind_at, retype, with_edits
from errata.metrics import Metric
from errata.plots import Line, Lines, Panels
from errata.scoring.evaluate import evaluate
from errata.scoring.tables import unique_labels
from errata.tables.cells import RankChange, Ranks, percent_suffix, score_format
from errata.tables.table import Column, Table, estimate_columns, join_signatures


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
        """Return edits per 100 tokens that an annotator read."""
        return 100 * self.edits / self.read_tokens if self.read_tokens else np.nan


def corpus_statistics(
    corpus: Corpus, *, name: str = "", systems: int = 0, types: str = "as_is", tier: int = 3
) -> CorpusFacts:
    """Count sentences, tokens, references, errors and kinds of edits of a corpus.

    ``types`` names who gives the edits their kinds, ``as_is`` for the kinds in the file; edits of
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
            except InputError:  # overlapping edits have no corrected text
                uncarried += 1
                continue
            distance += Levenshtein.distance(words, corrected)
            counted += len(words)
            changed += corrected != words
            texts += 1
    gold = with_edits(corpus, "as_is", "aligned" if types == "as_is" else types)
    if types != "as_is":
        gold = retype(gold, types)
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
    def metric_label(self) -> str:
        """Return the label of the metric."""
        return self.scores[0].label

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Return all systems by their mean rank over the corpora that have them, best first."""
        placed: dict[str, list[int]] = {}
        for scores in self.scores:
            for system, rank in zip(scores.systems, scores.ranks, strict=True):
                placed.setdefault(system, []).extend([] if rank is None else [rank])
        mean = {name: np.mean(several) if several else np.inf for name, several in placed.items()}
        return tuple(sorted(placed, key=lambda name: mean[name]))

    @cached_property
    def common_systems(self) -> tuple[str, ...]:
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

    def missing_corpora(self) -> dict[str, tuple[str, ...]]:
        """Systems that some corpora lack, with the names of these."""
        return {
            name: tuple(
                corpus
                for corpus, scores in zip(self.corpora, self.scores, strict=True)
                if name not in scores.systems
            )
            for name in self.systems
            if name not in self.common_systems
        }

    def rank_on_corpus(self, corpus: int, system: str) -> int | None:
        """Return the rank of a system among all that a corpus has, or None."""
        scores = self.scores[corpus]
        return scores.ranks[scores.systems.index(system)] if system in scores.systems else None

    def score_on_corpus(self, corpus: int, system: str, confidence: float) -> stats.Estimate | None:
        """Return the score of a system on a corpus with its interval, or None."""
        scores = self.scores[corpus]
        if system not in scores.systems:
            return None
        s = scores.systems.index(system)
        return stats.Estimate(float(scores.values[s]), *scores.interval(confidence)[s].tolist())


def rank_changes_from_metric(
    across: AcrossCorpora, base: AcrossCorpora
) -> dict[str, tuple[int | None, ...]]:
    """Return how many places each system gains (above 0) or loses against ``base``, by corpus."""

    def change(corpus: int, system: str) -> int | None:
        here, there = across.rank_on_corpus(corpus, system), base.rank_on_corpus(corpus, system)
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

    w: stats.Estimate
    changes: stats.Estimate
    changes_drawn: float
    systems: int
    first: Mapping[str, tuple[str, ...]]


def ranking_stability(across: AcrossCorpora, *, confidence: float = 0.95) -> Stability:
    """Return Kendall's W over corpora and how often the first place changes, with intervals.

    Resamples are paired where corpora have the same sources, and shifted against each other
    otherwise: with one seed, corpora of one size would be resampled by the same pattern.

    >>> a, b = (Scores("m()", ("A", "B"), np.array(v)) for v in ([0.3, 0.2], [0.1, 0.4]))
    >>> found = ranking_stability(AcrossCorpora(("one", "two"), (a, b)))
    >>> found.w.value, found.changes.value, found.first["two"]
    (0.0, 1.0, ('B',))
    """
    sides = [scores.select(across.common_systems) for scores in across.scores]
    nothing = stats.Estimate(np.nan, np.nan, np.nan)
    first = {
        name: tuple(np.array(scores.systems)[_first_placed(scores.values)].tolist())
        for name, scores in zip(across.corpora, sides, strict=True)
    }
    if len(sides) < 2 or len(across.common_systems) < 2:
        return Stability(nothing, nothing, np.nan, len(across.common_systems), first)
    values = np.stack([scores.values for scores in sides])
    drawn = _stack_resamples(sides, across.alike)
    w_bounds = c_bounds = [np.nan, np.nan]
    mean = np.nan
    if drawn is not None:
        w_bounds = stats.percentiles(kendall_w(drawn), confidence).tolist()
        moved = first_place_changes(drawn)
        c_bounds, mean = stats.percentiles(moved, confidence).tolist(), float(np.nanmean(moved))
    w = stats.Estimate(float(kendall_w(values)), *w_bounds)
    changes = stats.Estimate(float(first_place_changes(values)), *c_bounds)
    return Stability(w, changes, mean, len(across.common_systems), first)


def _stack_resamples(sides: Sequence[Scores], alike: Sequence[int]) -> stats.Floats | None:
    """Return resampled scores ``[resample, corpus, system]``, or None if some are missing."""
    found = [scores.resampled for scores in sides if scores.resampled is not None]
    if len(found) < len(sides):
        return None
    shifts = alike or range(len(found))
    turned = [np.roll(each, k, axis=0) for each, k in zip(found, shifts, strict=True)]
    return np.stack(turned, axis=1)


def _first_placed(values: stats.Floats) -> stats.Bools:
    """Return who is first over the last axis, all that tie for it."""
    same = stats.merge_ties(np.where(np.isnan(values), -np.inf, values))
    best = same.max(axis=-1, keepdims=True, initial=-np.inf)
    return np.asarray((same == best) & np.isfinite(best))


def first_place_changes(values: stats.Floats) -> stats.Floats:
    """Return the share of pairs of corpora without a common first, ``[..., corpus, system]``.

    >>> float(first_place_changes(np.array([[2.0, 1.0], [2.0, 1.0], [1.0, 2.0]]))).__round__(4)
    0.6667
    """
    first = _first_placed(values)
    pairs = list(combinations(range(values.shape[-2]), 2))
    both = [(first[..., a, :] & first[..., b, :]).any(-1) for a, b in pairs]
    return np.asarray(1 - np.mean(both, axis=0), np.float64)


def group_by_sources(corpora: Sequence[Corpus]) -> tuple[int, ...]:
    """Return a number for each corpus, the same for the same sources."""
    known: dict[tuple[str, ...], int] = {}
    return tuple(known.setdefault(corpus.sources, len(known)) for corpus in corpora)


def corpora_plot(several: Sequence[AcrossCorpora], *, confidence: float) -> Panels[Lines]:
    """Return a panel for each metric, with a line for each system over the corpora.

    Gotou et al. (2020), Figure 3. Systems have the same colour and mark in every panel.
    """
    systems = several[0].systems
    shapes = []
    for across in several:
        corpora = range(len(across.corpora))
        lines = [
            Line(system, [across.score_on_corpus(k, system, confidence) for k in corpora])
            for system in systems
        ]
        headline = across.scores[0].headline
        shapes.append(Lines(lines, across.corpora, across.metric_label, up=headline))
    return Panels(shapes, width=3.4, height=3.6, margin=1.6, legend=systems)


def corpus_table(facts: Sequence[CorpusFacts], *, signature: str) -> Table:
    """Return one row per corpus: its size, its references, and how much they change."""
    references = [Ranks(each.fewest_references, each.most_references) for each in facts]
    return Table.of(
        [
            Column("corpus", [each.name for each in facts]),
            Column("sentences", [each.sentences for each in facts]),
            Column("tokens", [each.tokens for each in facts]),
            Column("references", references),
            Column("systems", [each.systems for each in facts]),
            Column("error rate", [each.error_rate for each in facts], ".3f"),
            Column("changed", [each.changed for each in facts], ".1%"),
            Column("edits per 100 tokens", [each.edits_per_100_tokens for each in facts], ".2f"),
            Column("kinds", [len(each.kinds) for each in facts]),
        ],
        title="Corpora",
        name="corpora",
        caption="error rate: tokens to insert, delete or exchange by a reference, over tokens of "
        "the source; changed: share of references that change their sentence",
        notes=_corpus_notes(facts),
        signature=signature,
    )


def _corpus_notes(facts: Sequence[CorpusFacts]) -> list[str]:
    found = []
    aligned = [each.name for each in facts if each.found and each.most_references]
    if aligned and len(aligned) < len(facts):
        found.append(
            f"edits of {', '.join(aligned)} were found by aligning texts, the edits of the "
            "others are annotated: their numbers do not compare, and their kinds only where "
            "--types retypes all of them"
        )
    found += [
        f"{each.name}: {each.uncarried} {stats.plural('reference', each.uncarried)} with "
        "overlapping edits have no text, and no part in error rate and changed"
        for each in facts
        if each.uncarried
    ]
    found += [f"{each.name} has no outputs" for each in facts if not each.systems]
    return found


def corpus_kind_table(facts: Sequence[CorpusFacts], most: int, *, signature: str) -> Table:
    """Return the shares of the most frequent kinds of edit in each corpus."""
    mean = {
        kind: sum(each.kinds.get(kind, 0) / max(1, each.edits) for each in facts)
        for each in facts
        for kind in each.kinds
    }
    kinds = sorted(mean, key=lambda kind: (-mean[kind], kind))
    shown, others = kinds[:most], kinds[most:]
    rest = [f"({len(others)} others)"] if others else []

    def shares(facts: CorpusFacts) -> list[float]:
        counts = [facts.kinds.get(kind, 0) for kind in shown]
        counts += [sum(facts.kinds.get(kind, 0) for kind in others) for _ in rest]
        return [count / max(1, facts.edits) for count in counts]

    return Table.of(
        [
            Column("kind", [*shown, *rest]),
            *(Column(each.name, shares(each), ".1%") for each in facts),
        ],
        title="Kinds of edits, as shares of all edits of a corpus",
        name="kinds",
        signature=signature,
    )


def score_and_rank_table(
    across: AcrossCorpora, base: AcrossCorpora | None = None, *, confidence: float
) -> Table:
    """Return score and rank of each system by corpus, and the change against a base metric."""
    changes = {} if base is None else rank_changes_from_metric(across, base)
    headline = across.scores[0].headline
    spec = score_format(across.scores[0], headline)
    columns = [Column("system", across.systems)]
    for k, name in enumerate(across.corpora):
        values = [across.score_on_corpus(k, system, confidence) for system in across.systems]
        columns.append(Column(name, values, spec))
        columns.append(
            Column(f"{name} rank", [across.rank_on_corpus(k, each) for each in across.systems])
        )
        if changes:
            moved = [changes[system][k] for system in across.systems]
            cells = [None if places is None else RankChange(places) for places in moved]
            columns.append(Column(f"{name} change", cells))
    drawn = any(scores.resampled is not None for scores in across.scores)
    half = f" ± half the width of its {confidence * 100:g} % interval" if drawn else ""
    return Table.of(
        columns,
        title=f"{across.metric_label}: {headline}{percent_suffix(across.scores)}{half}, and rank",
        name=across.metric_label,
        caption=""
        if base is None
        else f"change: places gained or lost against {base.metric_label}",
        notes=[
            *_missing_output_notes(across),
            *dict.fromkeys(note for scores in across.scores for note in scores.notes),
        ],
        signature=join_signatures(side.signature for side in (across, base) if side is not None),
    )


def _missing_output_notes(across: AcrossCorpora) -> list[str]:
    """Return notes on systems that some corpora lack, those that lack the same ones together."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for system, names in across.missing_corpora().items():
        lacking.setdefault(names, []).append(system)
    return [
        f"no output on {', '.join(names)}: {', '.join(systems)}"
        for names, systems in lacking.items()
    ]


def stability_table(several: Sequence[AcrossCorpora], *, confidence: float) -> Table:
    """Return Kendall's W over corpora and changes of the first place, one row per metric."""
    found = [ranking_stability(across, confidence=confidence) for across in several]
    drawn = any(scores.resampled is not None for scores in several[0].scores)
    missing = several[0].missing_corpora()
    notes = []
    if missing:
        notes.append(f"not on every corpus, and so without a part in this: {', '.join(missing)}")
    if len(several[0].common_systems) < 2:
        notes.append("the corpora share fewer than two systems: nothing can change places")
    else:
        notes += [
            f"{across.metric_label}: all systems tie everywhere, so that W is undefined"
            for across, each in zip(several, found, strict=True)
            if np.isnan(each.w.value)
        ]
    return Table.of(
        [
            Column("metric", [across.metric_label for across in several]),
            Column("systems", [each.systems for each in found]),
            *estimate_columns("W", [each.w for each in found], ".3f", confidence),
            *estimate_columns("first changes", [each.changes for each in found], ".3f", confidence),
            Column("expected", [each.changes_drawn for each in found], ".3f", optional=True),
            Column("first places", [_first_place_text(each) for each in found]),
        ],
        title="Does the ranking stay the same over corpora?",
        name="stability",
        caption=f"W: Kendall's, 1 where all {len(several[0].corpora)} corpora rank alike; first "
        "changes: share of pairs of corpora without a common first"
        + ("; expected: its mean over resampled sentences" if drawn else ""),
        notes=notes,
        signature=join_signatures(across.signature for across in several),
    )


def _first_place_text(found: Stability) -> str:
    """Return who is first, with the corpora unless they agree."""
    if len(set(found.first.values())) == 1:
        return ", ".join(next(iter(found.first.values())))
    return "; ".join(f"{name}: {', '.join(systems)}" for name, systems in found.first.items())


def score_across(metric: Metric, sets: Sequence[EvaluationSet], **settings: Any) -> AcrossCorpora:
    """Score systems on every corpus, ``settings`` as for `evaluate`; an error names the corpus."""
    results = []
    for each in sets:
        try:
            results.append(evaluate(metric, each.corpus, each.systems, **settings))
        except InputError as error:
            problem = f"{metric.name} on {each.name}: {error.problem}"
            remedy = error.remedy
            raise InputError(problem, path=error.path, line=error.line, remedy=remedy) from None
    names = tuple(each.name for each in sets)
    return AcrossCorpora(names, tuple(results), group_by_sources([each.corpus for each in sets]))


def with_unique_labels(results: Sequence[AcrossCorpora]) -> list[AcrossCorpora]:
    """Return the results with metrics labelled differently, with one label on every corpus."""
    labels = [scores.label for scores in unique_labels([across.scores[0] for across in results])]
    return [
        replace(across, scores=tuple(replace(scores, label=label) for scores in across.scores))
        for across, label in zip(results, labels, strict=True)
    ]
