"""The thread pool; many resamples are held a few at a time, by tracemalloc."""

import sys
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar

import numpy as np
import pytest

from errata.comparison.compare import compare
from errata.core.correlation import correlate
from errata.core.parallel import _beside, leave_core_to, parallel_map
from errata.data import Corpus, Hypotheses, Scores
from errata.difficulty.study import difficulty_by_kind
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
    assert peak(lambda: difficulty_by_kind(found, resamples=20_000)) < 150


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


def test_threads_take_turns_quickly_and_leave_things_as_they_were() -> None:
    before = sys.getswitchinterval()
    seen = parallel_map(
        lambda n: (
            sys.getswitchinterval(),
            parallel_map(lambda _: sys.getswitchinterval(), [1, 2], threads=n),
        ),
        [2, 2, 2],
        threads=2,
    )
    assert [each for each, _ in seen] == pytest.approx([1e-3] * 3)
    assert all(value == pytest.approx(1e-3) for _, inner in seen for value in inner)
    assert sys.getswitchinterval() == before


def test_one_thread_less_works_while_something_goes_on_beside() -> None:
    """Two jobs meet at a time, twice; then the other thing is over, and three meet at a time."""
    lock, now, most, met = threading.Lock(), 0, [0, 0], 0
    over = threading.Event()

    def pair_met() -> None:
        nonlocal met
        met += 1
        if met == 2:
            over.set()

    pairs = threading.Barrier(2, pair_met, timeout=60)
    triples = threading.Barrier(3, timeout=60)

    def meet(job: int) -> int:
        nonlocal now
        with lock:
            now += 1
            ended = over.is_set()
            most[ended] = max(most[ended], now)
        (triples if ended else pairs).wait()
        with lock:
            now -= 1
        return job

    with ThreadPoolExecutor(1) as pool, leave_core_to(pool.submit(over.wait, 60)):
        assert parallel_map(meet, range(10), threads=3) == list(range(10))
    assert most == [2, 3]
    assert parallel_map(meet, range(3), threads=3) == [0, 1, 2]


def test_what_is_over_already_leaves_all_threads() -> None:
    both = threading.Barrier(2, timeout=60)
    over: Future[None] = Future()
    over.set_result(None)
    with leave_core_to(over):
        assert sorted(parallel_map(lambda _: both.wait(), range(2), threads=2)) == [0, 1]


def test_jobs_see_the_context_of_who_wants_them_done() -> None:
    word: ContextVar[str] = ContextVar("word", default="none")
    both = threading.Barrier(2, timeout=60)

    def job(_: int) -> tuple[str, object]:
        both.wait()
        found = word.get(), _beside.get()
        word.set("of a job")  # which is nobody else's
        both.wait()
        return found

    token = word.set("mine")
    with leave_core_to(done := Future[None]()):
        done.set_result(None)
        assert parallel_map(job, range(4), threads=2) == [("mine", None)] * 4
    assert word.get() == "mine"
    word.reset(token)
