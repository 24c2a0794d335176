"""All metrics on all data that people judged: the table of the field.

On every set a metric has four figures. Of whole systems Pearson's r and Spearman's ρ with people's
scores, with intervals over systems; of two outputs of one sentence Kendall's τ-b with people's
comparisons, and the accuracy that counts ties, its threshold calibrated on other sentences, with
intervals over sentences. Outputs that are the same text are not compared. Beside them stand what
one judge reaches for the others (the ceiling), what somebody reaches who knows nothing (the floor),
and the number of characters as a metric.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from errata.correlation import correlate
from errata.data import Scores
from errata.errors import InputError, MissingExtraError
from errata.evaluation import evaluate
from errata.human import rank
from errata.human.comparisons import Comparisons
from errata.human.expected_wins import ExpectedWins
from errata.human.judge_rankings import judge_correlations
from errata.human.ranking import Ranker
from errata.meta.marks import swap_test
from errata.meta.paired import Paired, joint_signature, match, match_comparisons, notes_of_metrics
from errata.meta.sentences import FOLDS, SentenceLevels, calibrated_marks, sentence_levels
from errata.meta.significance import permutation_tests, williams_test
from errata.meta.signs import CONVENTIONS
from errata.meta.standings import MetricStanding, Told, standings
from errata.meta.systems import system_agreements
from errata.metrics import Metric
from errata.numbers import (
    Estimate,
    Floats,
    Interval,
    Progress,
    Seed,
    percentiles,
    plural,
    seed_name,
)
from errata.studies.judged_sets import JudgedSet

__all__ = [
    "BENCHMARKED",
    "FIGURES",
    "LEARNED",
    "METRIC_GROUPS",
    "BenchmarkFigure",
    "NotRunHere",
    "SetStandings",
    "benchmark_scores",
    "benchmark_set",
    "length_scores",
]

BenchmarkFigure = Literal["pearson", "spearman", "kendall", "accuracy"]
FIGURES: tuple[BenchmarkFigure, ...] = get_args(BenchmarkFigure)
# What is compared unless somebody says otherwise; a new metric is a new word here.
BENCHMARKED = (
    *("m2", "m2(total=mean)", "imeasure", "gleu", "gleu2015", "bleu", "green"),
    *("errant", "errant(total=mean)", "cleme", "cleme2", "difficulty"),
    *("scribendi", "scribendi(model=trigram)", "fluency", "fluency(model=trigram)", "harper"),
)
# Those whose numbers an encoder gives: minutes to hours of a processor. Models with `_minilm` in
# their names are what `errata train` makes, in the folder of ERRATA_MODELS; IMPARA's threshold is
# the one that its card names for MiniLM.
LEARNED = (
    *("some(models=some_minilm)", "some"),
    "impara(model=impara_minilm, similarity=minilm, threshold=0.77)",
    *("impara", "bertscore(model=minilm)", "bertscore", "pt_m2(model=minilm)"),
    *("pt_errant(model=minilm)", "cleme2(weights=similarity, model=minilm)"),
)
# Names for several metrics at once.
METRIC_GROUPS = {"default": BENCHMARKED, "learned": LEARNED}
UNKNOWN = Estimate(np.nan, np.nan, np.nan)


class NotRunHere(Exception):
    """A metric needs what is not installed; the text says what."""


@dataclass(frozen=True, eq=False)
class SetStandings:
    """What came out on one set: by figure, the metrics with their places, ceiling and floor.

    ``ceiling`` at system level is the mean over judges of the correlation of one judge's scores
    with those of all others, from the worst to the best judge; at sentence level what one judge
    reaches as a metric for another; unknown where judges are not told apart. ``floor`` is that of
    systems in random order, and of pairs called ties, or decided by a coin, whichever reaches more.
    ``tests`` say which metrics were told apart.
    """

    name: str
    systems: int
    sentences: int
    references: int
    judges: int
    pairs: float
    ties: float
    people: str
    standings: Mapping[BenchmarkFigure, tuple[MetricStanding, ...]]
    tests: Mapping[BenchmarkFigure, tuple[Told, ...]]
    ceiling: Mapping[BenchmarkFigure, Estimate]
    floor: Mapping[BenchmarkFigure, Estimate]
    signature: str
    notes: tuple[str, ...] = ()


def length_scores(judged: JudgedSet) -> Scores:
    """The number of characters of every output: what a metric must beat."""
    table = np.array([[len(text) for text in h.sentences] for h in judged.systems], np.float64)
    names = tuple(h.system for h in judged.systems)
    return Scores("length()", names, table.mean(axis=1), table, name="length")


def benchmark_scores(
    metric: Metric,
    judged: JudgedSet,
    made: MutableMapping[tuple[str, ...], Scores],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Scores:
    """The scores of a metric on a set; ``made`` remembers them for sets of the same outputs.

    Raises `NotRunHere` where the metric needs an extra, or a model, that is not there.
    """
    key = (repr(metric), *(judged.outputs or (judged.name,)))
    if key not in made:
        needs_more = any("errata-gec[" in need for need in metric.about.needs)
        try:
            made[key] = evaluate(
                metric,
                judged.corpus,
                judged.systems,
                resamples=0,
                threads=threads,
                progress=progress,
            )
        except MissingExtraError as error:
            raise NotRunHere(str(error)) from None
        except InputError as error:
            if not needs_more:
                raise
            raise NotRunHere(str(error)) from None
    return made[key]


def benchmark_set(
    judged: JudgedSet,
    results: Sequence[Scores],
    *,
    ranker: Ranker | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: Seed = 0,
) -> SetStandings:
    """Judge metrics on one set, with places at the level that ``confidence`` leaves.

    Places follow Williams' test for r, the permutation of systems for ρ (all swaps of up to 16),
    the paired bootstrap over sentences for τ and the swapping of sentences for accuracy, each with
    Holm's correction (see `errata.meta.standings`). Without ``resamples`` sentences have no places.
    """
    if not results:
        raise InputError("no metric to judge", remedy="give at least one")
    results = [*results, length_scores(judged)]
    ranker = ranker or ExpectedWins()
    people = judged.ratings or rank(ranker, judged.comparisons, resamples=0)
    paired = match(people, results, common=True)
    met = match_comparisons(judged.comparisons, results, common=True)
    met = judged.different(met.hide(*(n for n in met.systems if n not in paired.systems)))
    assert met.sentence is not None
    many = len(np.unique(met.sentence))
    if many < FOLDS:
        raise InputError(
            f"{judged.name}: two different outputs of {many} {plural('sentence', many)} were "
            "compared",
            remedy=f"judge {FOLDS} or more, or leave fewer out",
        )
    by_sentence = sentence_levels(
        met, results, ["tau_b"], resamples=resamples, confidence=confidence, rng=rng
    )
    level = 1 - confidence
    labels = tuple(scores.label for scores in paired.metrics)
    names = labels if len({*labels}) == len(labels) else paired.names
    stand: dict[BenchmarkFigure, tuple[MetricStanding, ...]] = {}
    tests: dict[BenchmarkFigure, tuple[Told, ...]] = {}
    for figure, (values, p_value) in {
        **_of_systems(paired, resamples, confidence, rng),
        **_of_sentences(met, results, by_sentence, resamples, confidence, rng),
    }.items():
        stand[figure], tests[figure] = standings(names, values, p_value, level=level)
    settings = (f"set:{judged.name}", f"resamples:{resamples}", f"confidence:{confidence:g}")
    return SetStandings(
        judged.name,
        len(paired),
        len(judged.corpus),
        judged.corpus.most_references,
        len(met.judges) if judged.ratings is None else 0,
        met.total,
        float(met.weight[met.outcome == 0].sum() / met.total),
        people.label,
        stand,
        tests,
        _ceiling(met, by_sentence, None if judged.ratings is not None else ranker),
        _floor(paired, met, resamples, confidence, rng),
        joint_signature(
            (*settings, f"seed:{seed_name(rng)}"),
            f"{people.signature}; {' | '.join(met.facts)}",
            paired.metrics,
        ),
        (
            *paired.notes,
            *_unjudged(judged, people),
            *notes_of_metrics(paired.metrics),
            *_limits(len(names) - 1, resamples, level),
        ),
    )


def _unjudged(judged: JudgedSet, people: Scores) -> tuple[str, ...]:
    """A note on outputs that nobody judged."""
    names = [h.system for h in judged.systems if h.system not in people.systems]
    return (f"nobody judged {', '.join(names)}: left out",) if names else ()


def _limits(tests: int, resamples: int, level: float) -> tuple[str, ...]:
    """A note where no resampled p-value can be small enough to survive Holm's correction."""
    if not resamples or tests / (resamples + 1) <= level:
        return ()
    return (
        f"{resamples} resamples cannot tell {tests + 1} metrics apart at sentence level; use "
        f"{int(np.ceil(tests / level))} or more",
    )


Compared = tuple[list[Estimate], Callable[[int, int], float] | None]


def _of_systems(
    paired: Paired, resamples: int, confidence: float, rng: Seed
) -> dict[BenchmarkFigure, Compared]:
    found = system_agreements(paired, "systems", resamples, confidence, rng)
    human = paired.people.values
    scores = [metric.values for metric in paired.metrics]

    def values(kind: Literal["pearson", "spearman"]) -> list[Estimate]:
        nothing = Interval(np.nan, np.nan)
        return [Estimate(a.values[kind], *a.intervals.get(kind, nothing)) for a in found]

    def williams(a: int, b: int) -> float:
        return williams_test(human, scores[a], scores[b]).p if len(paired) > 3 else float("nan")

    def swapped(a: int, b: int) -> float:
        return permutation_tests(human, scores[a], scores[b], kind="spearman", rng=rng)[0]

    return {"pearson": (values("pearson"), williams), "spearman": (values("spearman"), swapped)}


def _of_sentences(
    met: Comparisons,
    results: Sequence[Scores],
    by_sentence: SentenceLevels,
    resamples: int,
    confidence: float,
    rng: Seed,
) -> dict[BenchmarkFigure, Compared]:
    names = by_sentence.metrics
    p = {(pair.better, pair.worse): pair.p for pair in by_sentence.contests}
    marks = [calibrated_marks(met, scores, rng=rng).marks for scores in results]
    accuracy = [
        Estimate(each.value, *each.interval(met, "sentences", resamples, confidence, rng))
        for each in marks
    ]

    def bootstrap(a: int, b: int) -> float:
        return p.get((names[a], names[b]), float("nan"))

    def swapped(a: int, b: int) -> float:
        return swap_test(met, marks[a], marks[b], unit="sentences", resamples=resamples, rng=rng)[0]

    return {
        "kendall": ([each.value for each in by_sentence.levels], bootstrap if resamples else None),
        "accuracy": (accuracy, swapped if resamples else None),
    }


def _ceiling(
    met: Comparisons, by_sentence: SentenceLevels, ranker: Ranker | None
) -> dict[BenchmarkFigure, Estimate]:
    """What one judge reaches; nothing where there are no judges to be told apart."""
    if ranker is None or len(met.judges) < 2:
        return dict.fromkeys(FIGURES, UNKNOWN)
    alone = judge_correlations(met, ranker)
    table = by_sentence.tables[0].ceiling

    def spread(each: Floats) -> Estimate:
        known = each[~np.isnan(each)]
        if not len(known):
            return UNKNOWN
        return Estimate(float(known.mean()), float(known.min()), float(known.max()))

    return {
        "pearson": spread(alone.rest_r),
        "spearman": spread(alone.rest_rho),
        "kendall": Estimate(float(CONVENTIONS["tau_b"](table)), np.nan, np.nan),
        "accuracy": Estimate(float(CONVENTIONS["accuracy"](table)), np.nan, np.nan),
    }


def _floor(
    paired: Paired, met: Comparisons, resamples: int, confidence: float, rng: Seed
) -> dict[BenchmarkFigure, Estimate]:
    """What knowing nothing reaches: systems in random order; all ties, or a coin for all pairs."""
    human = paired.people.values
    ties = float(met.weight[met.outcome == 0].sum() / met.total)
    found: dict[BenchmarkFigure, Estimate] = {
        "kendall": Estimate(0.0, np.nan, np.nan),
        "accuracy": Estimate(max(ties, (1 - ties) / 2), np.nan, np.nan),
    }
    generator = np.random.default_rng(rng)
    shuffled = generator.permuted(np.tile(human, (resamples, 1)), axis=1)
    kinds: tuple[Literal["pearson", "spearman"], ...] = ("pearson", "spearman")
    for kind in kinds:
        low, high = np.nan, np.nan
        if resamples:
            low, high = percentiles(correlate(kind, human, shuffled), confidence).tolist()
        found[kind] = Estimate(0.0, low, high)
    return found
