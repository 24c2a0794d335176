"""Compare(): figures, kinds, bands, slices, sentences.

A `Comparison` holds a new system against an old one on the same sentences. Figures come with the
interval of a paired bootstrap and the p-value of approximate randomisation
(`errata.comparison.paired_tests`); edits are compared with the same annotator in both outputs
(`errata.comparison.edits`), so that only what the systems wrote differently can change.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import errata
from errata import __version__
from errata.comparison import paired_tests
from errata.comparison.edits import (
    ChangeCounts,
    EditChange,
    EditFigures,
    JudgedSentence,
    change_counts,
    count_judged_edits,
    count_unjudged_edits,
    edit_changes,
)
from errata.comparison.paired_tests import Difference, TwoSystems
from errata.core.errors import InputError
from errata.core.parallel import circles_left
from errata.core.registry import plugin_errors
from errata.core.stats import Estimate, Floats, Progress, Seed, percentiles, seed_name
from errata.data import Corpus, Hypotheses, Scores, duplicate_name_errors
from errata.edits import extract_all, kind_at
from errata.io.checks.alignment import check_alignment_once
from errata.metrics import Metric, parse
from errata.metrics.errant import FN, FP, TP, Edits
from errata.scoring import decisions
from errata.scoring.accumulator import chosen_counts
from errata.scoring.contract import as_systems, validate_counts
from errata.scoring.decisions import ComparedPair, PartDifference, PointDifference
from errata.scoring.evaluate import resample_weights, scores_of
from errata.tables.table import Answer

if TYPE_CHECKING:
    import pandas
    import polars


# Bands of difficulty: the share of systems that do not have an error right, up to here.
BANDS = (("easy", 1 / 3), ("medium", 2 / 3), ("hard", 1.0))
LENGTHS = (10, 20, 30, 40)  # words; the last words of the slices by length
FigureChanges = Mapping[str, Difference]


@dataclass(frozen=True)
class KindChange:
    """One kind of edit: how many ``errors`` of it the annotators ask for, and what changed.

    ``figures`` are by name: P, R, F and success with both sides restricted to the kind, and false
    alarms per 1,000 words (`errata.metrics.errant_by_type`); without references only edits per
    1,000 words. Each has Holm's correction over the kinds.
    """

    kind: str
    errors: int
    changes: ChangeCounts
    figures: FigureChanges


@dataclass(frozen=True)
class BandChange:
    """Errors of like difficulty, from above ``low`` to ``high``: how many were and are right."""

    name: str
    low: float
    high: float
    errors: int
    old_right: int
    new_right: int
    changes: ChangeCounts


@dataclass(frozen=True)
class SliceChange:
    """The sentences that have one value in one column; ``figures`` by name, as P, R and F."""

    column: str
    value: str
    sentences: int
    changes: ChangeCounts
    figures: FigureChanges


@dataclass(frozen=True)
class SentenceChange:
    """A sentence (from 0) that got better or worse, by ``gain`` edits.

    ``gain`` is the difference of right minus wrong edits; ``scores`` are the differences of the
    sentence's score by metric. Without references ``gain`` is 0, and ``size`` says how many words
    stand apart between the two outputs.
    """

    sentence: int
    gain: int
    size: int
    source: str
    old: str
    new: str
    changes: tuple[EditChange, ...]
    scores: Mapping[str, float]


def changes_by_kind(
    figures: Mapping[str, FigureChanges],
    changes: Sequence[EditChange],
    errors: Mapping[str, int],
    tier: int,
) -> tuple[KindChange, ...]:
    """The changes of every kind, with Holm's correction of each figure over the kinds."""
    by_kind = defaultdict(list)
    for change in changes:
        by_kind[kind_at(change.kind, tier)].append(change)
    adjusted = _adjust_p_values(figures)
    return tuple(
        KindChange(kind, errors.get(kind, 0), change_counts(by_kind[kind]), adjusted[kind])
        for kind in figures
    )


def _adjust_p_values(figures: Mapping[str, FigureChanges]) -> dict[str, dict[str, Difference]]:
    """Holm's correction of figures of one name, over what they are figures of."""
    found: dict[str, dict[str, Difference]] = {key: {} for key in figures}
    for name in dict.fromkeys(name for each in figures.values() for name in each):
        adjusted = paired_tests.holm_adjusted([each[name] for each in figures.values()])
        for key, difference in zip(figures, adjusted, strict=True):
            found[key][name] = difference
    return found


def changes_by_difficulty(
    old: Sequence[JudgedSentence], new: Sequence[JudgedSentence], changes: Sequence[EditChange]
) -> tuple[BandChange, ...]:
    """The errors of two systems by difficulty; those without a weight are left out."""
    known, was_right, is_right = ([0] * len(BANDS) for _ in range(3))
    for before, after in zip(old, new, strict=True):
        for was, now in zip(before.gold_edits, after.gold_edits, strict=True):
            band = _difficulty_band(now.difficulty)
            if band is not None:
                known[band] += 1
                was_right[band] += was.state == "right"
                is_right[band] += now.state == "right"
    by_band = defaultdict(list)
    for change in changes:
        by_band[_difficulty_band(change.difficulty)].append(change)
    lows = (0.0, *(high for _, high in BANDS[:-1]))
    return tuple(
        BandChange(name, low, high, known[b], was_right[b], is_right[b], change_counts(by_band[b]))
        for b, ((name, high), low) in enumerate(zip(BANDS, lows, strict=True))
    )


def _difficulty_band(weight: float) -> int | None:
    """The band of a weight; 1 - 2/3 is a third, whatever its last bits."""
    return next((b for b, (_, high) in enumerate(BANDS) if weight <= high + 1e-9), None)


def length_slices(corpus: Corpus) -> list[str]:
    """The slice by length that each source belongs to.

    >>> length_slices(Corpus.from_texts(["a b", " ".join("abcdefghijkl")]))
    ['1-10', '11-20']
    """
    starts = (1, *(last + 1 for last in LENGTHS[:-1]))
    names = [f"{first}-{last}" for first, last in zip(starts, LENGTHS, strict=True)]
    names.append(f"{LENGTHS[-1] + 1} or more")
    at = np.searchsorted(np.array(LENGTHS), corpus.source_tokens.lengths)
    return [names[each] for each in at.tolist()]


def check_slice_lengths(columns: Mapping[str, Sequence[str]], sentences: int) -> None:
    """Refuse columns that do not say of every sentence what it belongs to."""
    for name, values in columns.items():
        if len(values) != sentences:
            problem = f"{name} is known of {len(values)} sentences, the corpus has {sentences}"
            raise InputError(problem, remedy="give one row per sentence")


def changes_by_slice(
    columns: Mapping[str, Sequence[str]],
    figures: Mapping[tuple[str, str], FigureChanges],
    changes: Sequence[EditChange],
) -> tuple[SliceChange, ...]:
    """The changes of every slice, with Holm's correction of each figure over a column's values."""
    found = []
    for column, values in columns.items():
        by_value = defaultdict(list)
        for change in changes:
            by_value[values[change.sentence]].append(change)
        own = {value: each for (name, value), each in figures.items() if name == column}
        adjusted = _adjust_p_values(own)
        found += [
            SliceChange(
                column, value, list(values).count(value), change_counts(by_value[value]), each
            )
            for value, each in adjusted.items()
        ]
    return tuple(found)


Pair = tuple[Hypotheses, Hypotheses]
PairScores = Mapping[str, tuple[Scores, int, int]]  # by label: scores, and the two systems there


def sentences_that_gained(
    corpus: Corpus,
    pair: Pair,
    judged: Sequence[Sequence[JudgedSentence]],
    changes: Sequence[EditChange],
    scores: PairScores,
) -> tuple[SentenceChange, ...]:
    """The sentences with more or fewer right edits, less the wrong ones; largest change first."""
    of_sentence = defaultdict(list)
    for change in changes:
        of_sentence[change.sentence].append(change)
    found = []
    weight = {"right": 1, "wrong": -1, "missed": 0}
    for i, own in sorted(of_sentence.items()):
        before, after = (sum(weight[edit.state] for edit in each[i].edits) for each in judged)
        if after != before:
            found.append(_sentence_change(corpus, pair, i, scores, after - before, 0, tuple(own)))
    return tuple(sorted(found, key=_change_sort_key))


def differing_sentences(
    corpus: Corpus, pair: Pair, scores: PairScores
) -> tuple[SentenceChange, ...]:
    """The sentences that two systems wrote differently, those furthest apart first."""
    texts = zip(pair[0].sentences, pair[1].sentences, strict=True)
    apart = [i for i, (old, new) in enumerate(texts) if old != new]
    edits = extract_all(*([each.sentences[i] for i in apart] for each in pair))
    sizes = [sum(max(e.end - e.start, len(e.replacement.split())) for e in own) for own in edits]
    found = [
        _sentence_change(corpus, pair, i, scores, 0, size, ())
        for i, size in zip(apart, sizes, strict=True)
    ]
    return tuple(sorted(found, key=_change_sort_key))


def _sentence_change(
    corpus: Corpus,
    pair: Pair,
    i: int,
    scores: PairScores,
    gain: int,
    size: int,
    changes: tuple[EditChange, ...],
) -> SentenceChange:
    alone = {}
    for label, (each, old, new) in scores.items():
        if each.sentences is not None:
            alone[label] = float(each.sentences[new, i] - each.sentences[old, i])
    texts = (corpus.sources[i], pair[0].sentences[i], pair[1].sentences[i])
    return SentenceChange(i, gain, size, *texts, changes, alone)


def _change_sort_key(change: SentenceChange) -> tuple[float, ...]:
    first = next(iter(change.scores.values()), 0.0)
    moved = abs(first) if first == first else 0.0
    return -abs(change.gain), -change.size, -moved, change.sentence


LOWER_IS_BETTER = ("false alarms", "clean sentences touched")
PER_THOUSAND = ("false alarms", "edits")  # words; all other figures of edits are shares
# What turns a score of such a range into percent points.
POINTS = {"from 0 to 100": 1.0, "from 0 to 1": 100.0, "from -1 to 1": 100.0, "up to 1": 100.0}


@dataclass(frozen=True)
class Comparison:
    """A system against the one it is to replace; see the module.

    ``differences`` has one `Difference` for every metric, in the order given, with Holm's
    correction over them. ``rates`` are figures of the edits: false alarms per 1,000 words, the
    share of clean sentences touched, of sentences changed, and the mean F over kinds; without
    references edits per 1,000 words and sentences changed. ``changes`` lists every error and false
    alarm whose state changed, ``counts`` how many in which way. ``kinds``, ``bands`` of difficulty
    and ``slices`` say where. ``sentences`` are those that got better or worse, the largest change
    first, or without references those that differ. ``edits`` is the signature behind the edits,
    ``tests`` that of what was swapped for p-values; empty where nothing was. ``answer`` says by
    the first metric what the comparison comes to, with the ``parts`` (slices by that metric, and
    kinds) that it looked at; None where intervals, p-values or metrics in points are missing.
    """

    base: str
    system: str
    size: int
    differing: int
    differences: tuple[Difference, ...]
    rates: tuple[Difference, ...]
    changes: tuple[EditChange, ...]
    counts: ChangeCounts
    kinds: tuple[KindChange, ...]
    bands: tuple[BandChange, ...]
    slices: tuple[SliceChange, ...]
    sentences: tuple[SentenceChange, ...]
    edits: str
    tests: str
    judged: bool
    confidence: float
    skipped: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    answer: Answer | None = None
    parts: tuple[PartDifference, ...] = ()

    @property
    def better(self) -> tuple[SentenceChange, ...]:
        """The sentences that gained more edits than they lost, the largest gain first."""
        return tuple(each for each in self.sentences if each.gain > 0)

    @property
    def worse(self) -> tuple[SentenceChange, ...]:
        """The sentences that lost more edits than they gained, the largest loss first."""
        return tuple(each for each in self.sentences if each.gain < 0)

    def kind(self, name: str) -> KindChange | None:
        """What changed in one kind of edit; None where neither system nor gold has any."""
        return next((each for each in self.kinds if each.kind == name), None)

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """One of the tables as a data frame: ``metrics`` (the default), ``rates``, ``kinds``...

        The names are those that ``errata compare --json`` has behind the name of the system.
        """
        frame: pandas.DataFrame = errata._display(self, "pandas", table=table)
        return frame

    def to_polars(self, table: str | None = None) -> polars.DataFrame:
        frame: polars.DataFrame = errata._display(self, "polars", table=table)
        return frame

    def _repr_html_(self) -> str:
        """What a notebook shows: the first table of a report."""
        return str(errata._display(self, "html"))

    def __repr__(self) -> str:
        shown = ", ".join(f"{d.label} {d.difference.value:+.4f}" for d in self.differences[:4])
        return (
            f"<Comparison {self.base!r} → {self.system!r}: {shown or f'{self.differing} differ'}>"
        )


@circles_left()  # hundreds of thousands of edits, none in a circle
def compare(
    metrics: Metric | str | Sequence[Metric | str],
    corpus: Corpus,
    base: Any,
    systems: Any,
    *,
    edits: Edits | None = None,
    slices: Mapping[str, Sequence[str]] | None = None,
    tier: int = 3,
    resamples: int = 1000,
    trials: int = 10_000,
    confidence: float = 0.95,
    rng: Seed = 0,
    guard: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
    scored: Sequence[ScoredMetric] = (),
) -> tuple[Comparison, ...]:
    """Compare systems with an old one, the ``base``: one `Comparison` for each.

    ``metrics`` are one or several, as `errata.evaluate` takes them, or none; ``base`` and
    ``systems`` are outputs as it takes them. ``edits`` finds and compares the edits; the first of
    the metrics that does is the default, else ``edits()``. ``slices`` name for every sentence
    what it belongs to, by column (domain, level); length is always one of them. ``tier`` groups
    kinds (3: in full). ``resamples`` of the sentences give intervals, ``trials`` of swaps p-values,
    both from the seed ``rng``; 0 leaves them out. Difficulty of an error is the share of the
    systems given, the base among them, that do not have it right. ``scored`` are metrics that were
    scored already (`score_metric`), with the same resamples and seed.

    Without references there is nothing to judge edits by: then edits are counted by kind, and
    sentences shown that the systems changed differently.

    >>> corpus = Corpus.from_texts(["He go home .", "Fine ."], [["He goes home .", "Fine ."]])
    >>> old, new = ["He go home .", "Fine ."], ["He goes home .", "Very fine ."]
    >>> (found,) = compare("m2", corpus, {"v1": old}, {"v2": new})
    >>> found
    <Comparison 'v1' → 'v2': m2 +0.5556>
    >>> [(change.name, change.kind) for change in found.changes]
    [('missed → right', 'R:INFL'), ('new false alarm', 'M:OTHER'), ('new false alarm', 'R:ORTH')]
    >>> [(each.label, each.new) for each in found.rates[:2]]
    [('false alarms', 333.3333333333333), ('clean sentences touched', 1.0)]
    """
    several = [metrics] if isinstance(metrics, Metric | str) else metrics
    chosen = [parse(each) if isinstance(each, str) else each for each in several]
    every = [*_base_system(base), *as_systems(systems)]
    for error in duplicate_name_errors([each.system for each in every]):
        raise error
    if len(every) < 2:
        raise InputError("there is no system to compare with the base", remedy="give its output")
    if not len(corpus):
        raise InputError("the corpus is empty", remedy="give at least one sentence")
    for hypotheses in every if guard else ():
        check_alignment_once(corpus, hypotheses)
    seed = rng if isinstance(rng, int) else int(rng.integers(2**32))

    def score_all(metric: Metric, resamples: int) -> ScoredMetric:
        known = next((each for each in scored if each.metric == metric), None)
        if known is not None:
            return known.with_systems(corpus, every, resamples, seed)
        return score_metric(
            metric, corpus, every, resamples, seed, guard=False, threads=threads, progress=progress
        )

    keeper = edits or next((each for each in chosen if isinstance(each, Edits)), Edits())
    by_metric = [score_all(each, resamples) for each in chosen]
    if corpus.most_references:
        of_edits = next((each for each in by_metric if each.metric == keeper), None)
        of_edits = of_edits or score_all(keeper, 0)
        facts = count_judged_edits(keeper, corpus, every, of_edits.counts, tier, progress)
    else:
        facts = count_unjudged_edits(keeper, corpus, every, tier, progress)
    columns = {"length": length_slices(corpus)} | dict(slices or {})
    check_slice_lengths(columns, len(corpus))
    drawn = (resamples, trials, seed, seed_name(rng), confidence)
    comparer = _Comparer(corpus, facts, by_metric, columns, tier, *drawn, progress)
    return tuple(comparer.add_answers([comparer.compare_system(s) for s in range(1, len(every))]))


def _base_system(given: Any) -> list[Hypotheses]:
    found = as_systems(given)
    if len(found) != 1:
        raise InputError(f"the base is one system, not {len(found)}", remedy="give one output")
    plain = not isinstance(given, Mapping | Hypotheses) and found[0].system == "hypotheses"
    return [replace(found[0], system="base")] if plain else found


@dataclass(frozen=True, eq=False)
class ScoredMetric:
    """A metric, its scores, and the counts of every system beside every reference."""

    metric: Metric
    scores: Scores
    counts: Sequence[Floats]

    def with_systems(
        self, corpus: Corpus, systems: Sequence[Hypotheses], resamples: int, rng: int
    ) -> ScoredMetric:
        """Return the same with the systems in another order, on which resamples depend."""
        names = [each.system for each in systems]
        if names == [*self.scores.systems]:
            return self
        counts = [self.counts[self.scores.systems.index(name)] for name in names]
        scores = scores_of(self.metric, corpus, systems, counts, resamples=resamples, rng=rng)
        return ScoredMetric(self.metric, scores, counts)

    @cached_property
    def picked(self) -> list[Floats]:
        """The counts of the references that the metric took."""
        return [chosen_counts(each, self.metric.choose(each)) for each in self.counts]

    def figures_of_totals(self, totals: Floats) -> dict[str, Floats]:
        return {self.metric.headline: self.metric.score(totals)}

    @property
    def points_factor(self) -> float | None:
        """What turns a score into percent points; None where it is no such score."""
        return POINTS.get(self.metric.about.range)


def score_metric(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    resamples: int,
    rng: int,
    *,
    guard: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ScoredMetric:
    """Score systems with a metric, and keep the counts."""
    counts = validate_counts(
        metric, corpus, systems, guard=guard, threads=threads, progress=progress
    )
    with plugin_errors(metric):
        scores = scores_of(metric, corpus, systems, counts, resamples=resamples, rng=rng)
    return ScoredMetric(metric, scores, counts)


ComparisonKey = tuple[str, ...]
Pairs = dict[ComparisonKey, TwoSystems]


def _natural_sort_key(value: str) -> tuple[int, str]:
    """Numbers by their size, then texts by the alphabet: 1-10, 11-20, 41 or more."""
    digits = re.match(r"[0-9]{1,9}", value)
    return (int(digits[0]) if digits else 10**9, value)


@dataclass(frozen=True)
class _Comparer:
    """Compares the systems of ``facts`` with the first of them, the base."""

    corpus: Corpus
    facts: EditFigures
    scored: Sequence[ScoredMetric]
    columns: Mapping[str, Sequence[str]]
    tier: int
    resamples: int
    trials: int
    seed: int
    seed_name: str
    confidence: float
    progress: Progress | None

    def compare_system(self, s: int) -> Comparison:
        """The comparison of system ``s``, whose answer depends on the others."""
        corpus, facts = self.corpus, self.facts
        pairs = self._pairs_to_test(s)
        p_values = paired_tests.swap_p_values(
            pairs, len(corpus), trials=self.trials, rng=self.seed, progress=self.progress
        )
        signature = self._signature()
        found = paired_tests.paired_differences(
            {key: pair for key, pair in pairs.items() if key[0] != "metric"},
            lambda: resample_weights(corpus, self.resamples, self.seed),
            p_values,
            resamples=self.resamples,
            confidence=self.confidence,
            signature=signature,
        )
        pair = (facts.systems[0], facts.systems[s])
        judged = facts.judge_pair(0, s)
        changes = edit_changes(judged[0], judged[1]) if judged else ()
        asked = Counter(
            kind_at(e.kind, self.tier) for one in judged[:1] for j in one for e in j.gold_edits
        )
        by_label = {each.scores.label: (each.scores, 0, s) for each in self.scored}
        kinds = {
            key[1]: _mark_units_and_directions(each)
            for key, each in found.items()
            if key[0] == "kind"
        }
        in_slices = {(key[1], key[2]): each for key, each in found.items() if key[0] == "slice"}
        rates = [
            each for key, several in found.items() if key[0] == "rate" for each in several.values()
        ]
        differences = [
            self._score_change(each, s, p_values["metric", str(m)])
            for m, each in enumerate(self.scored)
        ]
        notes = (*facts.notes, *(note for each in self.scored for note in each.scores.notes))
        parts: tuple[PartDifference, ...] = ()
        if facts.judged:
            parts = (*self._slice_differences(pairs, found, s), *_kind_differences(pairs, kinds))
        return Comparison(
            pair[0].system,
            pair[1].system,
            len(corpus),
            sum(a != b for a, b in zip(pair[0].sentences, pair[1].sentences, strict=True)),
            (*differences[:1], *paired_tests.holm_adjusted(differences[1:])),
            paired_tests.holm_adjusted(
                [*_mark_units_and_directions({each.label: each for each in rates}).values()]
            ),
            changes,
            change_counts(changes),
            changes_by_kind(kinds, changes, asked, self.tier),
            changes_by_difficulty(judged[0], judged[1], changes) if judged else (),
            changes_by_slice(self.columns, in_slices, changes),
            sentences_that_gained(corpus, pair, judged, changes, by_label)
            if judged
            else differing_sentences(corpus, pair, by_label),
            signature,
            self._test_signature(),
            facts.judged,
            self.confidence,
            corpus.skipped,
            tuple(dict.fromkeys(notes)),
            parts=parts,
        )

    def _pairs_to_test(self, s: int) -> Pairs:
        """Everything that is compared between the base and system ``s``."""
        facts, pairs = self.facts, Pairs()
        for m, each in enumerate(self.scored):
            pairs["metric", str(m)] = TwoSystems(
                each.figures_of_totals, each.picked[0], each.picked[s]
            )
        for name, pair in facts.rate_pairs(0, s).items():
            pairs["rate", name] = pair
        for kind, pair in facts.pairs_by_kind(0, s).items():
            pairs["kind", kind] = pair
        for column, values in self.columns.items():
            known = np.array(values, np.str_)
            for value in sorted({*values}, key=_natural_sort_key):
                inside = known == value
                pairs["slice", column, value] = facts.slice_pair(0, s, inside)
                if facts.judged and self.scored and self.scored[0].points_factor is not None:
                    first = self.scored[0]
                    old, new = (first.picked[k] * inside[:, None] for k in (0, s))
                    pairs["part", column, value] = TwoSystems(first.figures_of_totals, old, new)
        return pairs

    def _slice_differences(
        self, pairs: Pairs, found: Mapping[ComparisonKey, FigureChanges], s: int
    ) -> Iterator[PartDifference]:
        """The slices by the first metric, in points, with the gold edits it counts."""
        shared = Counter(value for values in self.columns.values() for value in {*values})
        shared.update(key[1] for key in found if key[0] == "kind")
        for key, figures in found.items():
            if key[0] != "part":
                continue
            _, column, value = key
            inside = np.array(self.columns[column], np.str_) == value
            [difference] = figures.values()
            name = f"{column} = {value}" if shared[value] > 1 else value
            errors = int(self.facts.counts[s][inside][:, [TP, FN]].sum())
            tested = _difference_in_points(name, difference, self.scored[0].points_factor or 1.0)
            sizes = (int(inside.sum()), errors, pairs[key].changed_count)
            yield PartDifference(name, tested.difference, tested.p, *sizes)

    def _score_change(
        self, scored: ScoredMetric, s: int, p_values: Mapping[str, float]
    ) -> Difference:
        scores, resampled = scored.scores, scored.scores.resampled
        found = paired_tests.make_difference(
            scores.label,
            scores.signature,
            float(scores.values[0]),
            float(scores.values[s]),
            [] if resampled is None else [(resampled[:, 0], resampled[:, s])],
            p_values[scored.metric.headline],
            confidence=self.confidence,
        )
        share = scored.metric.about.range == "from 0 to 1"
        return replace(found, share=share, percent=scored.points_factor == 100)

    def add_answers(self, found: Sequence[Comparison]) -> Iterator[Comparison]:
        """The comparisons with their answers; their tests by the first metric are one family."""
        if not self.scored:
            yield from found
            return
        firsts = paired_tests.holm_adjusted([each.differences[0] for each in found])
        rules = replace(decisions.RULES, alpha=1 - self.confidence)
        for s, (each, first) in enumerate(zip(found, firsts, strict=True), start=1):
            tested = replace(each, differences=(first, *each.differences[1:]))
            pair = self._facts_to_decide(tested, s, rules.alpha)
            answer = None if pair is None else decisions.decide_pair(pair, rules)
            yield replace(tested, answer=answer)

    def _facts_to_decide(self, found: Comparison, s: int, alpha: float) -> ComparedPair | None:
        """What decides about a comparison by the first metric, and whether others contradict it."""
        scales = [each.points_factor for each in self.scored]
        first = self.scored[0]
        resampled = first.scores.resampled
        if scales[0] is None or resampled is None or not self.trials:
            return None
        primary, *others = (
            _difference_in_points(decisions.METRIC_TITLES.get(each.label, each.label), each, scale)
            for each, scale in zip(found.differences, scales, strict=True)
            if scale is not None
        )
        apart = scales[0] * (resampled[:, s] - resampled[:, 0])
        low, high = percentiles(apart, max(0.0, 1 - 2 * alpha)).tolist()
        return ComparedPair(
            found.base,
            found.system,
            found.size,
            TwoSystems(first.figures_of_totals, first.picked[0], first.picked[s]).changed_count,
            replace(primary, p=found.differences[0].p_holm),
            (low, high),
            float(apart.std(ddof=1)) if len(apart) > 1 else 0.0,
            others,
            found.parts,
        )

    def _signature(self) -> str:
        """What decided the edits and what was drawn."""
        shared = ("annotators:shared",) if self.facts.judged else ()
        resampled = (f"resamples:{self.resamples}",) if self.resamples else ()
        swapped = (f"trials:{self.trials}",) if self.trials else ()
        seed = (f"seed:{self.seed_name}",) if self.resamples or self.trials else ()
        facts = (repr(self.facts.metric), *self.facts.context)
        return " | ".join((*facts, *shared, *resampled, *swapped, *seed, f"errata:{__version__}"))

    def _test_signature(self) -> str:
        """What decided the p-values, beside the scores; nothing where none was asked for."""
        if not self.trials:
            return ""
        drawn = (f"trials:{self.trials}", f"seed:{self.seed_name}", f"errata:{__version__}")
        return " | ".join(("approximate randomisation", f"sentences:{len(self.corpus)}", *drawn))


def _difference_in_points(name: str, each: Difference, scale: float) -> PointDifference:
    return PointDifference(name, Estimate(*(scale * part for part in each.difference)), each.p)


def _kind_differences(pairs: Pairs, kinds: Mapping[str, FigureChanges]) -> Iterator[PartDifference]:
    """The kinds by their F, in points, with the gold and proposed edits of each."""
    for kind, figures in kinds.items():
        lead = next((each for name, each in figures.items() if name.startswith("F")), None)
        if lead is None:
            continue
        pair = pairs["kind", kind]
        pair = replace(pair, old=pair.old[:, [TP, FP, FN]], new=pair.new[:, [TP, FP, FN]])
        sentences = int(((pair.old > 0) | (pair.new > 0)).any(axis=1).sum())
        tp, fp, fn = pair.new.sum(axis=0)
        tested = _difference_in_points(kind, lead, 100.0)
        edits = int(2 * tp + fp + fn)  # gold and proposed
        yield PartDifference(
            kind, tested.difference, tested.p, sentences, edits, pair.changed_count
        )


def _mark_units_and_directions(figures: Mapping[str, Difference]) -> dict[str, Difference]:
    """Figures marked as shares, or as better if lower."""
    return {
        name: replace(
            each,
            lower_is_better=name in LOWER_IS_BETTER,
            share=name not in PER_THOUSAND,
            percent=name not in PER_THOUSAND,
        )
        for name, each in figures.items()
    }
