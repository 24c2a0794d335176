"""Measures of texts: how alike corrections are, how much they change, how hard errors are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from errata.align import align_three
from errata.corpora import CorpusFacts, corpus_statistics
from errata.data import Corpus, Hypotheses, Scores
from errata.datasets.fetch import fetch_file
from errata.difficulty.study import KindDifficulty, difficulty_by_kind
from errata.edits import retype
from errata.io import read_hypotheses
from errata.metrics.difficulty import IGNORED, Difficulty, build_difficulty_map
from errata.metrics.ter import edit_counts
from errata.reproduce.data import ExperimentData as Data
from errata.reproduce.data import NotRun, cache_result, index_of, look_up, name_at_position
from errata.reproduce.run import register_measure
from errata.scoring.evaluate import evaluate

MEASURES: dict[str, Literal["F", "A"]] = {"F": "F", "A": "A"}
Pairs = Mapping[str, Sequence[Sequence[str]]]


def _ter_edits(data: Data, pairs: Pairs) -> dict[tuple[str, str], NDArray[np.int64]]:
    """Edits between all these texts, computed together; sentences are Sakaguchi's 1,278."""
    names = [(a, b) for several in pairs.values() for a, b in several]

    def count_edits() -> dict[tuple[str, str], NDArray[np.int64]]:
        kept = data.kept_sentences()
        texts = [(data.sentences(a), data.sentences(b)) for a, b in names]
        sentences = [(one[i], other[i]) for one, other in texts for i in kept]
        counts = edit_counts(sentences)
        return dict(zip(names, counts.reshape(len(names), -1), strict=True))

    return data.get_or_make(("edits", tuple(names)), count_edits)


@register_measure("ster")
def mean_ter_edits(data: Data, pair: str, pairs: Pairs, what: str = "") -> float:
    """Mean number of TER's edits a sentence between two texts, mean over several pairs."""
    found = _ter_edits(data, pairs)
    return float(np.mean([found[a, b].mean() for a, b in look_up(pair, pairs)]))


@register_measure("identical")
def percent_identical(data: Data, pair: str, pairs: Pairs, what: str = "") -> float:
    """Percent of the sentences that are the same in two texts, mean over several pairs."""
    kept = data.kept_sentences()
    texts = [(data.sentences(a), data.sentences(b)) for a, b in look_up(pair, pairs)]
    same = [sum(a[i].split() == b[i].split() for i in kept) for a, b in texts]
    return float(np.mean([100 * each / len(kept) for each in same]))


@register_measure("changed")
def percent_changed(data: Data, pair: str, pairs: Pairs, what: str = "") -> float:
    """Percent of the sentences that differ between two texts, mean over several pairs."""
    return 100 - percent_identical(data, pair, pairs)


@register_measure("distinct_outputs")
def distinct_outputs(data: Data, texts: str, what: str) -> float:
    """What systems do to a sentence, each distinct output counted once (capitals aside).

    ``what`` is the mean number of TER's edits or the percent of outputs that change anything; the
    mean over the outputs of a sentence, then over Sakaguchi's sentences. ``texts`` names the row.
    """

    return look_up(what, _distinct_outputs(data))


@cache_result
def _distinct_outputs(data: Data) -> dict[str, float]:
    sources, numbers = data.sentences("source"), data.kept_sentences()
    outputs = [s.sentences for s in data.systems() if s.system != "INPUT"]
    pairs, owner = [], []
    for i in numbers:
        for text in dict.fromkeys(" ".join(each[i].lower().split()) for each in outputs):
            pairs.append((sources[i], text))
            owner.append(i)
    edits = edit_counts(pairs)
    places = np.searchsorted(numbers, owner)
    share = np.bincount(places)
    return {
        "sTER": float((np.bincount(places, edits) / share).mean()),
        "changed": float((np.bincount(places, edits > 0) / share).mean() * 100),
    }


@cache_result
def _kind_difficulties(data: Data, weights: str, types: str) -> list[KindDifficulty]:
    gold = data.gold().keep_annotators(0)
    if types == "errant":
        gold = retype(gold, data.extractor, IGNORED)
    metric = Difficulty(weights=str(fetch_file("gts-weights", weights)))
    return difficulty_by_kind(build_difficulty_map(gold, [], metric), tier=2)


@register_measure("difficulty")
def gold_error_difficulty(
    data: Data, what: str, weights: str, kind: str = "", types: str = "gold"
) -> float | int:
    """Mean weight, SD or number of the gold errors of annotator 0, of one kind or of all."""
    rows = _kind_difficulties(data, weights, types)
    if kind:
        found = {row.kind: row for row in rows}
        if kind not in found:
            raise NotRun(f"no gold error is of the kind {kind}")
        row = found[kind]
        return look_up(what, {"mean": row.mean, "SD": row.sd, "frequency": row.frequency})
    total = sum(row.frequency for row in rows)
    if what == "frequency":
        return total
    return sum(row.mean * row.frequency for row in rows) / total


@cache_result
def _public_system_scores(data: Data, measure: str) -> Scores:
    """Four later systems by the released weights of eight, or by plain F0.5 of M2."""
    if measure != "m2":
        data.software_version("extractor", {})  # says so where it cannot be had, before any work

    corpus = data.gold()
    metric: str | Difficulty = "m2"
    if measure != "m2":
        corpus = corpus.keep_annotators(0)
        metric = Difficulty(
            weights=str(fetch_file("gts-weights", "conll14_8sys.txt")),
            extractor=data.extractor,
            measure=look_up(measure, MEASURES),
        )
    systems = data.outputs_of("conll14-public")
    return evaluate(metric, corpus, systems, resamples=0, guard=False)


@register_measure("weighted_score")
def weighted_score(data: Data, system: str, measure: str) -> float:
    """Gotou et al., Tables 2 and 3: a public system by the weights of all eight, in percent."""
    found = _public_system_scores(data, measure)
    return 100 * float(found.values[index_of(system, found.systems)])


@register_measure("weighted_place")
def rank_by_weighted_score(data: Data, system: str, measure: str) -> int:
    """Its place (from 1) among the public systems."""
    found = _public_system_scores(data, measure)
    return 1 + index_of(system, [found.systems[i] for i in found.order])


@register_measure("change_of_place")
def ranks_gained_by_weights(data: Data, system: str, measure: str) -> int:
    """How many places it is better than by plain F0.5."""
    weighted = rank_by_weighted_score(data, system, measure)
    return rank_by_weighted_score(data, system, "m2") - weighted


@register_measure("public_variant")
@cache_result
def score_of_released_output(known: Data, data: str, file: str) -> float:
    """Plain F0.5 of one of the released outputs of a system, in percent."""
    output = read_hypotheses(fetch_file(data, file))
    scores = evaluate("m2", known.gold(), [output], resamples=0, guard=False)
    return 100 * float(scores.values[0])


@register_measure("corpus_fact")
def corpus_statistic(data: Data, corpus: str, what: str, references: str = "first") -> float:
    """Gotou et al., Table 1: sentences and error rate of a corpus, by its first reference or all.

    The ``error-rate`` is that of tokens to change.
    """

    def count() -> CorpusFacts:
        found = data.corpus(corpus)
        return corpus_statistics(
            look_up(references, {"first": found.keep_annotators(0), "all": found})
        )

    facts = data.get_or_make(("facts", *data.recipe_key("", corpus), references), count)
    return look_up(what, {"sentences": facts.sentences, "error-rate": facts.error_rate})


@register_measure("aligned_column")
def alignment_column(data: Data, position: str, rows: str, sentences: Mapping[str, str]) -> str:
    """Chollampatt & Ng, Table 1: a column (from 1) of I-measure's alignment, ``_`` for a gap.

    ``rows`` names the column of the printed table: input, hypothesis and reference.
    """
    three = [sentences[name].split() for name in ("source", "hypothesis", "reference")]
    found = ["|".join(token or "_" for token in column) for column in align_three(*three)]
    return name_at_position(position, found)


@register_measure("example_difficulty")
def example_difficulty(
    data: Data, error: str, what: str, sentences: Mapping[str, str]
) -> float | int | str:
    """Gotou et al., examples (1) and (3): what systems do to an error (from 1) of a sentence.

    ``sentences`` are its ``source``, its ``correct`` form and outputs by any names; ``what`` is the
    number n of systems that get it right, their share, the reciprocal of this, or the ``weight``.
    """
    texts = dict(sentences)
    source, correct = texts.pop("source"), texts.pop("correct")
    outputs = [Hypotheses(name, (text,)) for name, text in texts.items()]
    gold = Corpus.from_texts([source], [[correct]])
    found = build_difficulty_map(gold, outputs, Difficulty(extractor="aligned"))
    errors = [str(k) for k in range(1, 1 + int(found.chunks.erroneous.sum()))]
    right = found.right[:, found.chunks.erroneous].sum(axis=0)
    n = int(right[index_of(error, errors)])
    share = Fraction(n, len(outputs))
    found_as: dict[str, float | int | str] = {
        "n": n,
        "rate": float(share),
        "reciprocal": float(1 / share) if share else math.inf,
        "weight": str(1 - share),
    }
    return look_up(what, found_as)


@register_measure("printed_difficulty")
def printed_difficulty(data: Data, what: str, experiment: str, table: str) -> float | int:
    """The sum of the frequencies of a printed table, or its mean weighted by them."""
    rows: dict[str, dict[str, float]] = {}
    for (kind, column), text in data.printed_cells(experiment, table).items():
        rows.setdefault(kind, {})[column] = float(text or "nan")
    total = sum(row["frequency"] for row in rows.values())
    if what == "frequency":
        return round(total)
    return sum(row["mean"] * row["frequency"] for row in rows.values()) / total
