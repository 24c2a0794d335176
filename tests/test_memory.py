"""Many resamples are held a few at a time: peaks of what is asked for, by tracemalloc."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from errata.comparison.compare import compare
from errata.core.correlation import correlate
from errata.data import Corpus, Hypotheses, Scores
from errata.difficulty.study import by_kind
from errata.meta.matching import match
from errata.meta.sentence_level import rating_levels
from errata.metrics.difficulty import build_difficulty_map
from errata.scoring.evaluate import evaluate

MEGABYTES = 2**20


def peak(work: Callable[[], object]) -> float:
    """The most that was held at a time, in MB."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / MEGABYTES
    finally:
        tracemalloc.stop()


def texts(sentences: int) -> tuple[Corpus, list[Hypotheses]]:
    sources = [f"He go to the house {i} times ." for i in range(sentences)]
    right = [text.replace("go", "goes") for text in sources]
    systems = [
        Hypotheses(f"S{k}", tuple(r if i % (k + 2) else s for i, (s, r) in enumerate(both)))
        for k, both in enumerate([list(zip(sources, right, strict=True))] * 8)
    ]
    return Corpus.from_texts(sources, [right]), systems


@pytest.mark.long
@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall", "accuracy"])
def test_correlations_of_resamples(kind: str) -> None:
    """Together the tables of ranks took 250 MB."""
    x, y = np.random.default_rng(0).random((2, 100_000, 13))
    assert peak(lambda: correlate(kind, x, y)) < 35  # type: ignore[arg-type]


def test_rows_are_correlated_alike_however_many_there_are() -> None:
    x, y = np.random.default_rng(0).integers(0, 5, (2, 50_000, 6)).astype(np.float64)
    for kind in ("pearson", "spearman", "kendall", "accuracy"):
        whole = correlate(kind, x, y)  # type: ignore[arg-type]
        last = correlate(kind, x[-9:], y[-9:])  # type: ignore[arg-type]
        np.testing.assert_array_equal(whole[-9:], last)


@pytest.mark.long
def test_ratings() -> None:
    """The weights of all sentences in all resamples were held: 1.3 GB for 100,000 of CoNLL-2014."""
    table = np.random.default_rng(0).random((3, 400))
    people = Scores("ratings", ("A", "B", "C"), table.mean(axis=1), table)
    metric = Scores("m()", ("A", "B", "C"), table.mean(axis=1), table**3)
    assert peak(lambda: rating_levels(match(people, [metric]), resamples=40_000)) < 80


@pytest.mark.long
def test_difficulty_by_kind() -> None:
    found = build_difficulty_map(*texts(2_000))
    assert peak(lambda: by_kind(found, resamples=20_000)) < 150


@pytest.mark.long
def test_scores_of_a_small_corpus() -> None:
    corpus, systems = texts(10)
    assert peak(lambda: evaluate("gleu", corpus, systems, resamples=100_000)) < 180


@pytest.mark.long
def test_comparisons_of_many_slices() -> None:
    corpus, (base, system, *_) = texts(30)
    slices = {"text": [str(i) for i in range(30)]}

    def work() -> object:
        return compare((), corpus, base, system, slices=slices, resamples=50_000, trials=0)

    assert peak(work) < 150
