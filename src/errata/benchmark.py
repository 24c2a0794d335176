"""Every metric on all judged data sets: data, study, tables, figure.

On every set a metric has four figures. Of whole systems Pearson's r and Spearman's ρ with people's
scores, with intervals over systems; of two outputs of one sentence Kendall's τ-b with people's
comparisons, and the accuracy that counts ties, its threshold calibrated on other sentences, with
intervals over sentences. Outputs with the same text are not compared. The ceiling is what one judge
reaches for the others, the floor what knowing nothing reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from errata.core import stats
from errata.core.correlation import correlate
from errata.core.errors import DISTRIBUTION, InputError, MissingExtraError
from errata.data import Corpus, Hypotheses, Judgment, Scores
from errata.datasets import sample_corpus, sample_judgments, sample_systems
from errata.datasets.catalogue import data_set
from errata.datasets.evaluation_sets import evaluation_files, read_evaluation_set
from errata.datasets.fetch import Report, collection, find_file, role_files
from errata.datasets.load import read_collection
from errata.human import compare, rank
from errata.human.agreement import judge_correlations
from errata.human.comparisons import Comparisons
from errata.human.ranking import ExpectedWins, Ranker
from errata.io.judgments import read_judgment_files
from errata.io.outputs import read_systems
from errata.io.scores import drop_sentences, read_score_files
from errata.io.slices import SkippedSentences, skip_judgments
from errata.meta import matching, sentence_level
from errata.meta.matching import MatchedScores
from errata.meta.pairwise import CONVENTIONS, swap_test
from errata.meta.significance import (
    MetricStanding,
    SignificanceTest,
    permutation_tests,
    standings,
    williams_test,
)
from errata.meta.system_level import system_agreements
from errata.metrics import Metric
from errata.plots import Forest, ForestRow, Panels
from errata.scoring.evaluate import evaluate
from errata.tables.cells import Cell, RankedScore
from errata.tables.table import Column, Table, join_signatures

# The collections with outputs and judgments of them, oldest first; a new one is added here.
JUDGED = (
    *("conll14", "napoles15", "gmeg-fce", "gmeg-wiki"),
    *("seeda-sentence", "seeda-sentence-base", "seeda-edit", "seeda-edit-base"),
)


@dataclass(frozen=True, eq=False)
class JudgedSet:
    """A corpus, outputs on it, and people's word; ``ratings`` where they gave numbers.

    ``outputs`` names corpus and outputs: two sets of one name have the same scores.
    """

    name: str
    corpus: Corpus
    systems: tuple[Hypotheses, ...]
    comparisons: Comparisons
    ratings: Scores | None = None
    outputs: tuple[str, ...] = ()

    def drop_equal_outputs(self, comparisons: Comparisons) -> Comparisons:
        """Return the comparisons of two outputs whose texts differ; equal texts always tie."""
        assert comparisons.sentence is not None
        texts = {system.system: system.sentences for system in self.systems}
        number: dict[str, int] = {}
        table = np.array(
            [
                [number.setdefault(text, len(number)) for text in texts[name]]
                for name in comparisons.systems
            ]
        )
        first, second = (
            table[side, comparisons.sentence] for side in (comparisons.first, comparisons.second)
        )
        kept = comparisons.select(first != second)
        return replace(kept, context=(*kept.context, "outputs:different"))


def is_downloaded(name: str) -> bool:
    """Whether all files of a collection are on disk, so that nothing need be fetched."""
    members = [member for role in collection(name).members.values() for member in role]
    return all(
        find_file(data_set(member.data_set), data_set(member.data_set).file(member.file))
        is not None
        for member in members
    )


def read_judged_set(
    name: str, progress: Report | None = None, *, skipped: SkippedSentences | None = None
) -> JudgedSet:
    """Return a collection with outputs and judgments, without the sentences ``skipped``."""
    chosen = collection(name)
    if not {"outputs", "judgments"} <= {*chosen.roles}:
        problem = f"{name} has no {'outputs' if 'outputs' not in chosen.roles else 'judgments'}"
        raise InputError(problem, remedy=f"name one of {', '.join(JUDGED)}")
    corpus = read_collection(name)
    outputs = role_files(chosen, "outputs", progress)
    systems = tuple(read_systems(outputs, corpus=corpus))
    texts = {system.system: system.sentences for system in systems}
    judgments = read_judgment_files(
        role_files(chosen, "judgments", progress), base=chosen.base, outputs=texts
    )
    human = role_files(chosen, "human", progress)
    files = [file for role in ("gold", "source", "references") for file in role_files(chosen, role)]
    ratings = read_score_files(human)[0] if human else None
    own, read = (corpus, systems), (*files, *outputs)
    return _make_judged_set(name, own, judgments, ratings, skipped, base=chosen.base, outputs=read)


def read_judged_folder(
    place: str, *, base: int, skipped: SkippedSentences | None = None
) -> JudgedSet:
    """Return a folder of one's own, ``NAME=FOLDER``: a corpus with outputs/, and people's word.

    Corpus and outputs are read by `errata.datasets.evaluation_sets`. ``judgments*`` are in any form
    that `errata.io.judgments` reads, ``ratings*`` a table with a row for each sentence and a column
    for each system. ``base`` is the number of the first sentence in the judgments.
    """
    (files,) = evaluation_files(place)
    said, rated = (
        [str(path) for path in sorted(Path(files.place).glob(f"{word}*")) if path.is_file()]
        for word in ("judgments", "ratings")
    )
    if not (said or rated):
        raise InputError(
            "no judgments and no ratings in the folder",
            path=files.place,
            remedy="put judgments.xml (or .csv, .jsonl, ...) there, or ratings.csv with a row for "
            "each sentence and a column for each system",
        )
    if len(rated) > 1 or (said and rated):
        names = ", ".join(Path(file).name for file in (*said, *rated))
        problem = f"human judgments or ratings are in several files: {names}"
        remedy = "keep the judgments, or one table of ratings"
        raise InputError(problem, path=files.place, remedy=remedy)
    whole = read_evaluation_set(files)
    if not whole.systems:
        raise InputError("no outputs in the folder", path=files.place, remedy="put outputs/ there")
    own = (whole.corpus, whole.systems)
    if rated:
        ratings = read_score_files(rated)[0]
        rows = 0 if ratings.sentences is None else ratings.sentences.shape[1]
        if rows != len(whole.corpus):
            problem = f"ratings of {rows} sentences, and the corpus has {len(whole.corpus)}"
            remedy = "write a row for each sentence; leave cells empty where nobody rated"
            raise InputError(problem, path=rated[0], remedy=remedy)
        return _make_judged_set(files.title, own, None, ratings, skipped)
    texts = {system.system: system.sentences for system in whole.systems}
    judgments = list(read_judgment_files(said, base=base, outputs=texts))
    last = max((judgment.sentence for judgment in judgments), default=0)
    if last >= len(whole.corpus):
        problem = f"a judgment is on sentence {last + base}, and the corpus has {len(whole.corpus)}"
        remedy = "are these the judgments of this corpus?"
        raise InputError(problem, path=", ".join(said), remedy=remedy)
    return _make_judged_set(files.title, own, judgments, None, skipped, base=base)


def sample_judged_set(skipped: SkippedSentences | None = None) -> JudgedSet:
    """The built-in sample.

    >>> len(sample_judged_set().systems), sample_judged_set().comparisons.rankings > 0
    (5, True)
    """
    own = (sample_corpus(), tuple(sample_systems()))
    return _make_judged_set("sample", own, sample_judgments(), None, skipped)


def _make_judged_set(
    name: str,
    own: tuple[Corpus, tuple[Hypotheses, ...]],
    judgments: Iterable[Judgment] | None,
    ratings: Scores | None,
    skipped: SkippedSentences | None,
    *,
    base: int = 0,
    outputs: tuple[str, ...] = (),
) -> JudgedSet:
    """The set without the skipped sentences; ratings are compared if there are no judgments."""
    corpus, systems = own
    origin = (f"base:{base}",) if base else ()
    if skipped is not None:
        places = skipped.positions(len(corpus))
        corpus = corpus.without_sentences(*places)
        systems = tuple(system.without_sentences(*places) for system in systems)
        judgments = None if judgments is None else skip_judgments(judgments, skipped)
        ratings = None if ratings is None else drop_sentences(ratings, skipped)
        origin = (*origin, skipped.signature_fact)
    if judgments is not None:
        comparisons = compare(list(judgments), origin=origin)
    else:
        assert ratings is not None
        comparisons = sentence_level.ratings_as_comparisons(ratings)
    return JudgedSet(name, corpus, systems, comparisons, ratings, outputs)


BenchmarkFigure = Literal["pearson", "spearman", "kendall", "accuracy"]
FIGURES: tuple[BenchmarkFigure, ...] = get_args(BenchmarkFigure)
# The metrics compared by default; a new metric is added here.
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
UNKNOWN = stats.Estimate(np.nan, np.nan, np.nan)


class MetricNotRun(Exception):
    """A metric needs a package or model that is not installed; the text names it."""


@dataclass(frozen=True, eq=False)
class SetResult:
    """What came out on one set: by figure, the metrics with their places, ceiling and floor.

    ``ceiling`` at system level is the mean over judges of the correlation of one judge's scores
    with all others' scores, from the worst to the best judge; at sentence level what one judge
    reaches as a metric for another; unknown where judges are not named. ``floor`` is that of
    systems in random order, and of pairs called ties, or decided by a coin, whichever reaches more.
    ``tests`` say which metrics differ significantly.
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
    tests: Mapping[BenchmarkFigure, tuple[SignificanceTest, ...]]
    ceiling: Mapping[BenchmarkFigure, stats.Estimate]
    floor: Mapping[BenchmarkFigure, stats.Estimate]
    signature: str
    notes: tuple[str, ...] = ()


def score_by_length(judged: JudgedSet) -> Scores:
    """Return the number of characters of every output as scores: what a metric must beat."""
    table = np.array([[len(text) for text in h.sentences] for h in judged.systems], np.float64)
    names = tuple(h.system for h in judged.systems)
    return Scores("length()", names, table.mean(axis=1), table, name="length")


def benchmark_scores(
    metric: Metric,
    judged: JudgedSet,
    made: MutableMapping[tuple[str, ...], Scores],
    **settings: Any,
) -> Scores:
    """Return the scores of a metric on a set; ``made`` keeps them for sets of the same outputs.

    Raises `MetricNotRun` where an extra or a model is missing; ``settings`` as for `evaluate`.
    """
    key = (repr(metric), *(judged.outputs or (judged.name,)))
    if key not in made:
        try:
            made[key] = evaluate(metric, judged.corpus, judged.systems, resamples=0, **settings)
        except (MissingExtraError, InputError) as error:
            needs_more = any(f"{DISTRIBUTION}[" in need for need in metric.about.needs)
            if not needs_more and not isinstance(error, MissingExtraError):
                raise
            raise MetricNotRun(str(error)) from None
    return made[key]


def benchmark_set(
    judged: JudgedSet,
    results: Sequence[Scores],
    *,
    ranker: Ranker | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: stats.Seed = 0,
) -> SetResult:
    """Judge metrics on one set, with places at the level that ``confidence`` leaves.

    Places follow Williams' test for r, the permutation of systems for ρ (all swaps of up to 16),
    the paired bootstrap over sentences for τ and the swapping of sentences for accuracy, each with
    Holm's correction (see `errata.meta.significance`). Without ``resamples`` sentences have no
    places.
    """
    if not results:
        raise InputError("no metric to judge", remedy="give at least one")
    results = [*results, score_by_length(judged)]
    ranker = ranker or ExpectedWins()
    people = judged.ratings or rank(ranker, judged.comparisons, resamples=0)
    paired = matching.match(people, results, common=True)
    met = matching.match_comparisons(judged.comparisons, results, common=True)
    met = judged.drop_equal_outputs(met.hide(*(n for n in met.systems if n not in paired.systems)))
    assert met.sentence is not None
    many = len(np.unique(met.sentence))
    if many < sentence_level.FOLDS:
        raise InputError(
            f"{judged.name}: two different outputs of {many} {stats.plural('sentence', many)} were "
            "compared",
            remedy=f"judge {sentence_level.FOLDS} or more, or leave fewer out",
        )
    by_sentence = sentence_level.sentence_levels(
        met, results, ["tau_b"], resamples=resamples, confidence=confidence, rng=rng
    )
    level = 1 - confidence
    labels = tuple(scores.label for scores in paired.metrics)
    names = labels if len({*labels}) == len(labels) else paired.names
    stand: dict[BenchmarkFigure, tuple[MetricStanding, ...]] = {}
    tests: dict[BenchmarkFigure, tuple[SignificanceTest, ...]] = {}
    for figure, (values, p_value) in {
        **_system_figures(paired, resamples, confidence, rng),
        **_sentence_figures(met, results, by_sentence, resamples, confidence, rng),
    }.items():
        stand[figure], tests[figure] = standings(names, values, p_value, level=level)
    left_out = [h.system for h in judged.systems if h.system not in people.systems]
    unjudged = [f"nobody judged {', '.join(left_out)}: left out"] if left_out else []
    settings = (f"set:{judged.name}", f"resamples:{resamples}", f"confidence:{confidence:g}")
    return SetResult(
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
        _judge_ceiling(met, by_sentence, None if judged.ratings is not None else ranker),
        _chance_floor(paired, met, resamples, confidence, rng),
        matching.joint_signature(
            (*settings, f"seed:{stats.seed_name(rng)}"),
            f"{people.signature}; {' | '.join(met.facts)}",
            paired.metrics,
        ),
        (
            *paired.notes,
            *unjudged,
            *matching.notes_of_metrics(paired.metrics),
            *_note_too_few_resamples(len(names) - 1, resamples, level),
        ),
    )


def _note_too_few_resamples(tests: int, resamples: int, level: float) -> tuple[str, ...]:
    """Return a note where no resampled p-value can be small enough to survive Holm's correction."""
    if not resamples or tests / (resamples + 1) <= level:
        return ()
    return (
        f"{resamples} resamples cannot tell {tests + 1} metrics apart at sentence level; use "
        f"{int(np.ceil(tests / level))} or more",
    )


Compared = tuple[list[stats.Estimate], Callable[[int, int], float] | None]


def _system_figures(
    paired: MatchedScores, resamples: int, confidence: float, rng: stats.Seed
) -> dict[BenchmarkFigure, Compared]:
    found = system_agreements(paired, "systems", resamples, confidence, rng)
    human = paired.people.values
    scores = [metric.values for metric in paired.metrics]

    def estimates(kind: Literal["pearson", "spearman"]) -> list[stats.Estimate]:
        nothing = stats.Interval(np.nan, np.nan)
        return [stats.Estimate(a.values[kind], *a.intervals.get(kind, nothing)) for a in found]

    def williams_p_value(a: int, b: int) -> float:
        return williams_test(human, scores[a], scores[b]).p if len(paired) > 3 else float("nan")

    def swap_p_value(a: int, b: int) -> float:
        return permutation_tests(human, scores[a], scores[b], kind="spearman", rng=rng)[0]

    return {
        "pearson": (estimates("pearson"), williams_p_value),
        "spearman": (estimates("spearman"), swap_p_value),
    }


def _sentence_figures(
    met: Comparisons,
    results: Sequence[Scores],
    by_sentence: sentence_level.SentenceLevels,
    resamples: int,
    confidence: float,
    rng: stats.Seed,
) -> dict[BenchmarkFigure, Compared]:
    names = by_sentence.metrics
    p = {(pair.better, pair.worse): pair.p for pair in by_sentence.contests}
    marks = [sentence_level.calibrated_marks(met, scores, rng=rng).marks for scores in results]
    accuracy = [
        stats.Estimate(each.value, *each.interval(met, "sentences", resamples, confidence, rng))
        for each in marks
    ]

    def bootstrap_p_value(a: int, b: int) -> float:
        return p.get((names[a], names[b]), float("nan"))

    def swap_p_value(a: int, b: int) -> float:
        return swap_test(met, marks[a], marks[b], unit="sentences", resamples=resamples, rng=rng)[0]

    return {
        "kendall": (
            [each.value for each in by_sentence.levels],
            bootstrap_p_value if resamples else None,
        ),
        "accuracy": (accuracy, swap_p_value if resamples else None),
    }


def _judge_ceiling(
    met: Comparisons, by_sentence: sentence_level.SentenceLevels, ranker: Ranker | None
) -> dict[BenchmarkFigure, stats.Estimate]:
    """Return what one judge reaches; nothing where judges are not named."""
    if ranker is None or len(met.judges) < 2:
        return dict.fromkeys(FIGURES, UNKNOWN)
    alone = judge_correlations(met, ranker)
    table = by_sentence.tables[0].ceiling

    def mean_and_range(each: stats.Floats) -> stats.Estimate:
        known = each[~np.isnan(each)]
        if not len(known):
            return UNKNOWN
        return stats.Estimate(float(known.mean()), float(known.min()), float(known.max()))

    return {
        "pearson": mean_and_range(alone.rest_r),
        "spearman": mean_and_range(alone.rest_rho),
        "kendall": stats.Estimate(float(CONVENTIONS["tau_b"](table)), np.nan, np.nan),
        "accuracy": stats.Estimate(float(CONVENTIONS["accuracy"](table)), np.nan, np.nan),
    }


def _chance_floor(
    paired: MatchedScores, met: Comparisons, resamples: int, confidence: float, rng: stats.Seed
) -> dict[BenchmarkFigure, stats.Estimate]:
    """Return what chance reaches: systems in random order; all ties, or a coin for all pairs."""
    human = paired.people.values
    ties = float(met.weight[met.outcome == 0].sum() / met.total)
    found: dict[BenchmarkFigure, stats.Estimate] = {
        "kendall": stats.Estimate(0.0, np.nan, np.nan),
        "accuracy": stats.Estimate(max(ties, (1 - ties) / 2), np.nan, np.nan),
    }
    generator = np.random.default_rng(rng)
    shuffled = generator.permuted(np.tile(human, (resamples, 1)), axis=1)
    kinds: tuple[Literal["pearson", "spearman"], ...] = ("pearson", "spearman")
    for kind in kinds:
        low, high = np.nan, np.nan
        if resamples:
            low, high = stats.percentiles(correlate(kind, human, shuffled), confidence).tolist()
        found[kind] = stats.Estimate(0.0, low, high)
    return found


LABELS: dict[BenchmarkFigure, str] = {
    "pearson": "Pearson's r with people",
    "spearman": "Spearman's ρ with people",
    "kendall": "Kendall's τ-b with people",
    "accuracy": "accuracy with ties",
}


def benchmark_plot(found: Sequence[SetResult], figure: BenchmarkFigure) -> Panels[Forest]:
    """Return metrics with intervals, a panel for each set; those tied with the best are filled.

    The dashed line is one judge for the others, the grey band chance.
    """
    metrics = [each.metric for each in found[0].standings[figure]]
    shapes = []
    for each in found:
        by_metric = {standing.metric: standing for standing in each.standings[figure]}
        rows = [
            ForestRow(name, by_metric[name].value, hollow=by_metric[name].place != 1)
            for name in metrics
        ]
        ceiling, chance = each.ceiling[figure].value, each.floor[figure]
        shapes.append(Forest(rows, title=each.name, ceiling=ceiling, chance=chance))
    height, axis = 1.1 + 0.24 * len(metrics), LABELS[figure]
    return Panels(shapes, width=2.6, height=height, margin=1.8, same_rows=True, axis=axis)


TITLES: dict[BenchmarkFigure, str] = {
    "pearson": "Scores of systems, Pearson's r with people",
    "spearman": "Scores of systems, Spearman's ρ with people",
    "kendall": "Two outputs of one sentence, Kendall's τ-b with people",
    "accuracy": "Two outputs of one sentence, accuracy with ties (calibrated on other sentences)",
}
TESTS: dict[BenchmarkFigure, str] = {
    "pearson": "Williams' test",
    "spearman": "systems swapped",
    "kendall": "paired bootstrap of sentences",
    "accuracy": "sentences swapped",
}
PEOPLE, CHANCE, LENGTH = "one judge", "chance", "length"
WIDTH = 13  # places of a column, so that the interval stands below the value


def benchmark_tables(
    found: Sequence[SetResult], *, confidence: float, not_run: Mapping[str, str]
) -> list[Table]:
    """Return a table of the sets and one for each figure; ``not_run`` has reasons by metric."""
    notes = [f"not run: {name}: {why}" for name, why in not_run.items()]
    return [
        _set_table(found, notes),
        *(_figure_table(found, figure, confidence) for figure in FIGURES),
    ]


def _set_table(found: Sequence[SetResult], notes: Sequence[str]) -> Table:
    noted = {note: [s.name for s in found if note in s.notes] for s in found for note in s.notes}
    of_sets = [
        note if len(names) == len(found) else f"{', '.join(names)}: {note}"
        for note, names in noted.items()
    ]
    return Table.of(
        [
            Column("set", [s.name for s in found]),
            Column("systems", [s.systems for s in found]),
            Column("sentences", [s.sentences for s in found]),
            Column("references", [s.references for s in found]),
            Column("people", [s.people for s in found]),
            Column("judges", [s.judges or None for s in found]),
            Column("pairs", [s.pairs for s in found], ".0f"),
            Column("ties %", [100 * s.ties for s in found], ".1f"),
        ],
        title="Where people judged systems",
        name="benchmark_sets",
        caption="pairs: comparisons of two outputs of one sentence that differ; ties: of these",
        notes=[*of_sets, *notes],
        signature=join_signatures(s.signature for s in found),
    )


def _figure_table(found: Sequence[SetResult], figure: BenchmarkFigure, confidence: float) -> Table:
    names = [*_order_metrics(found, figure), LENGTH]
    digits, width = (3, WIDTH + 2) if figure in ("kendall", "accuracy") else (2, WIDTH)

    def set_cells(result: SetResult) -> list[Cell]:
        by_metric = {each.metric: each for each in result.standings[figure]}
        there = [by_metric.get(name) for name in names]
        ranked = [None if each is None else RankedScore(*each.value, each.place) for each in there]
        return [
            _unranked_cell(result.ceiling[figure]),
            *ranked,
            _unranked_cell(result.floor[figure]),
        ]

    firsts = [
        sum(each.metric == name and each.place == 1 for s in found for each in s.standings[figure])
        for name in names
    ]
    return Table.of(
        [
            Column("metric", [PEOPLE, *names, CHANCE]),
            *(Column(s.name, set_cells(s), f".{digits}f", width=width) for s in found),
            Column("first", [None, *firsts, None]),
        ],
        title=TITLES[figure],
        name=f"benchmark_{figure}",
        caption=_figure_caption(figure, confidence, len(found)),
        signature=join_signatures(s.signature for s in found),
        rules=(0, len(names) - 1, len(names)),
    )


def _figure_caption(figure: BenchmarkFigure, confidence: float, sets: int) -> str:
    over = "systems" if figure in ("pearson", "spearman") else "sentences"
    judge = (
        "one judge: mean over judges against all others, from the worst to the best judge"
        if over == "systems"
        else "one judge: what one judge reaches as a metric for another"
    )
    chance = (
        "systems in random order"
        if over == "systems"
        else "every pair a tie, or a coin for each, whichever reaches more"
    )
    return (
        f"value (place) [{confidence * 100:g} % interval over {over}]; place 1: not significantly "
        f"different from the best ({TESTS[figure]}, Holm)\n{judge}; length: characters of the "
        f"output; chance: {chance}; first: in how many of {sets} sets the place is 1"
    )


def _unranked_cell(value: stats.Estimate) -> Cell:
    return RankedScore(*value) if not np.isnan(value.value) else None


def _order_metrics(found: Sequence[SetResult], figure: BenchmarkFigure) -> list[str]:
    """Return the metrics by their mean over the sets, best first, without the baseline."""
    values: dict[str, list[float]] = {}
    for s in found:
        for each in s.standings[figure]:
            if each.metric != LENGTH:
                known = values.setdefault(each.metric, [])
                known += [] if np.isnan(each.value.value) else [each.value.value]
    names = list(values)
    mean = stats.merge_ties([float(np.mean(values[name] or [-np.inf])) for name in names])
    return [names[k] for k in np.argsort(-mean, kind="stable")]


def metric_significance_table(found: Sequence[SetResult]) -> Table:
    """Return every test that decided a place."""
    tests = [
        (s.name, figure, test) for s in found for figure in FIGURES for test in s.tests[figure]
    ]
    return Table.of(
        [
            Column("set", [name for name, _, _ in tests]),
            Column("figure", [figure for _, figure, _ in tests]),
            Column("place", [test.place for _, _, test in tests]),
            Column("best", [test.best for _, _, test in tests]),
            Column("other", [test.other for _, _, test in tests]),
            Column("lead", [test.lead for _, _, test in tests], ".4f"),
            Column("p", [test.p for _, _, test in tests], ".4f"),
            Column("Holm", [test.holm for _, _, test in tests], ".4f"),
        ],
        title="Which metrics differ significantly (one-sided p-values)",
        name="benchmark_tests",
        caption="; ".join(f"{figure}: {test}" for figure, test in TESTS.items()),
        signature=join_signatures(s.signature for s in found),
    )
