"""What resamples draw: one distribution by every kind, the same digits of every partition."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from errata.core.errors import InputError
from errata.core.stats import Floats
from errata.metrics import parse
from errata.scoring import resampling


def total(totals: Floats) -> Floats:
    return np.asarray(totals[..., 0], np.float64)


def some_rows(sentences: int) -> Floats:
    """What sentences of two systems took: correct, proposed and gold edits."""
    rng = np.random.default_rng(4)
    gold = rng.integers(0, 3, sentences)
    rows = [(rng.binomial(gold, p), gold + rng.integers(0, 2, sentences), gold) for p in (0.4, 0.6)]
    return np.column_stack([column for row in rows for column in row]).astype(np.float64)


def drawn(
    kind: resampling.DrawnKind,
    rows: Floats,
    *,
    score: Callable[[Floats], Floats] = total,
    cuts: tuple[int, ...] = (),
    resamples: int = 4000,
    seed: int = 0,
) -> Floats:
    parts = [rows[a:b] for a, b in itertools.pairwise((0, *cuts, len(rows)))]
    tallies = resampling.GrowingHistogram(rows.shape[1])
    for part in parts:
        tallies = tallies.added(resampling.Histogram.of(part))
    return resampling.resample(
        score,
        parts,
        2,
        kind,
        sentences=len(rows),
        histogram=tallies.histogram,
        resamples=resamples,
        rng=seed,
    )


@pytest.mark.parametrize("kind", ["histogram", "poisson"])
def test_kinds_have_the_distribution_of_the_sentence_bootstrap(kind: resampling.DrawnKind) -> None:
    """Mean, deviation, quantiles, correlation of two systems; four standard errors apart."""
    rows = some_rows(1500)
    m2 = parse("m2")
    for score in (total, m2.score):
        one, other = (drawn(each, rows, score=score) for each in (kind, "sentences"))
        spread = other.std(axis=0)
        np.testing.assert_allclose(one.mean(0), other.mean(0), atol=5 * spread.max() / 4000**0.5)
        np.testing.assert_allclose(one.std(axis=0), spread, rtol=0.06)
        for q in (0.025, 0.25, 0.75, 0.975):
            found, wanted = (np.quantile(each, q, axis=0) for each in (one, other))
            np.testing.assert_allclose(found, wanted, atol=16 * spread.max() / 4000**0.5)
        pairs = [np.corrcoef(each.T)[0, 1] for each in (one, other)]
        assert abs(pairs[0] - pairs[1]) < 0.05


def test_poisson_weights_do_not_change_the_number_of_sentences() -> None:
    """A sum that is no ratio would else vary with how many sentences were drawn."""
    rows = np.ones((500, 2))
    np.testing.assert_allclose(drawn("poisson", rows, resamples=200), 500.0, rtol=1e-14)


def test_blocks_keep_neighbours_together() -> None:
    """Sentences that come in equal runs of sixteen: a bootstrap by sentences would be too sure."""
    rows = np.repeat(np.random.default_rng(1).normal(size=(500, 2)), 16, axis=0)
    by_blocks, by_sentences = (
        drawn(kind, rows, resamples=500).std(axis=0) for kind in ("blocks", "sentences")
    )
    assert (by_blocks > 3 * by_sentences).all()


def test_runs_of_neighbours_are_spread_over_all_blocks() -> None:
    """Wherever they stand: with few blocks, or the same ones again, intervals would be rough."""
    sums = resampling._block_sums([np.ones((16 * 4 * resampling.BLOCKS, 1))], None)
    assert len(sums) > 0.9 * resampling.BLOCKS  # 1 - exp(-4) of them, about
    assert sums.sum() == 16 * 4 * resampling.BLOCKS
    assert (sums % 16 == 0).all()
    assert sums.max() <= 16 * 20


@pytest.mark.parametrize("kind", ["histogram", "poisson", "blocks", "sentences"])
@given(cuts=st.lists(st.integers(0, 2500), max_size=6), fraction=st.sampled_from([1.0, 0.1, 1 / 3]))
def test_cuts_change_no_digit(kind: resampling.DrawnKind, cuts: list[int], fraction: float) -> None:
    rows = some_rows(2500) * fraction
    whole = drawn(kind, rows, resamples=7)
    assert drawn(kind, rows, cuts=tuple(sorted(cuts)), resamples=7).tolist() == whole.tolist()


def test_poisson_weights_belong_to_sentences_and_resamples() -> None:
    several = resampling._poisson_weights(5, 3, 0, 50)
    assert several.shape == (50, resampling.KEYED)
    np.testing.assert_array_equal(several[20:], resampling._poisson_weights(5, 3, 20, 30))
    for key, block in ((6, 3), (5, 4)):
        assert (several != resampling._poisson_weights(key, block, 0, 50)).mean() > 0.5


def test_the_table_is_that_of_poisson() -> None:
    share = np.bincount(resampling._poisson_table()) / 65536
    wanted = np.exp(-1) / np.cumprod([1, *range(1, len(share))])
    np.testing.assert_allclose(share, wanted, atol=2 / 65536)


@given(arrays(np.float64, (9, 2), elements=st.sampled_from([0.0, -0.0, 1.0, 0.1, 2.0**40])))
def test_histograms_count_rows(rows: Floats) -> None:
    found = (resampling.Histogram.of(rows[:4]) + resampling.Histogram.of(rows[4:])).sorted()
    wanted, times = np.unique(rows + 0.0, axis=0, return_counts=True)
    assert (found.rows.tolist(), found.times.tolist()) == (wanted.tolist(), times.tolist())


def test_distinct_vectors_are_in_lexicographic_order() -> None:
    rows = np.random.default_rng(2).integers(0, 9, (200, 2)).astype(np.float64)
    found = resampling.GrowingHistogram(2).added(resampling.Histogram.of(rows)).histogram
    assert list(map(tuple, found.rows.tolist())) == sorted({*map(tuple, rows.tolist())})


def test_rows_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    class Even:
        def __init__(self, key: int) -> None: ...

        def random_raw(self, size: int) -> Floats:
            return np.zeros(size, np.uint64)

    monkeypatch.setattr("errata.scoring.resampling.np.random.Philox", Even)
    found = resampling.Histogram.of(np.array([[1, 2], [2, 1], [1, 2.0]])).sorted()
    assert (found.rows.tolist(), found.times.tolist()) == ([[1.0, 2.0], [2.0, 1.0]], [2, 1])


@pytest.mark.parametrize("size", [1, 3, 50])
def test_a_histogram_that_grows_too_large_is_dropped(size: int) -> None:
    limits = resampling.BootstrapLimits(distinct=20)
    numbers = np.arange(21.0)[:, None]
    for rows, there in ((numbers, False), (numbers[:20], True)):
        tallies = resampling.GrowingHistogram(1, limits)
        for start in range(0, len(rows), size):
            tallies = tallies.added(resampling.Histogram.of(rows[start : start + size]))
        assert (tallies.histogram is not None) == there
    assert resampling.BootstrapLimits(cells=30).most_vectors(3) == 10


def test_the_data_decide_the_kind() -> None:
    few, many = (
        resampling.Histogram.of(np.zeros((10, 1))),
        resampling.Histogram.of(np.arange(11.0)[:, None]),
    )
    assert resampling.bootstrap_kind("auto", 10, few) == "histogram"
    assert resampling.bootstrap_kind("auto", 9, few) == "sentences"
    assert resampling.bootstrap_kind("auto", 109, many) == "sentences"
    assert resampling.bootstrap_kind("auto", 110, many) == "histogram"
    assert resampling.bootstrap_kind("auto", 100_000, None) == "sentences"
    assert resampling.bootstrap_kind("auto", 100_001, None) == "poisson"
    for asked in resampling.KINDS[1:]:
        assert resampling.bootstrap_kind(asked, 9, few) == asked
    with pytest.raises(InputError, match="too many different counts"):
        resampling.bootstrap_kind("histogram", 9, None)
    with pytest.raises(InputError, match="'jackknife' is unknown"):
        resampling.bootstrap_kind("jackknife", 9, few)  # type: ignore[arg-type]


@given(st.lists(st.integers(0, 9), max_size=8))
def test_blocks_of_rows_are_where_they_were(sizes: list[int]) -> None:
    rows = np.arange(float(sum(sizes)))[:, None]
    ends = np.cumsum([0, *sizes]).tolist()
    parts = [rows[a:b] for a, b in itertools.pairwise(ends)]
    found = list(resampling.align_blocks(parts, 4))
    assert [len(each) for each in found[:-1]] == [4] * (len(found) - 1)
    assert [row for each in found for row in each[:, 0].tolist()] == rows[:, 0].tolist()


def test_documents_are_drawn_as_blocks() -> None:
    """Sentences of a document that are alike say no more than one: intervals are wider by √10."""
    rng = np.random.default_rng(3)
    rows = np.repeat(rng.random((100, 1)), 10, axis=0)
    order = rng.permutation(1000)  # and not beside each other
    documents = [f"essay {i // 10}" for i in order]
    blocks = [resampling.number_document_blocks(documents)]

    def spread(blocks: list[Floats] | None) -> float:
        found = resampling.resample(
            lambda totals: totals[..., 0] / totals[..., 1],
            [np.concatenate([rows[order], np.ones((1000, 1))], axis=1)],
            1,
            "blocks",
            sentences=1000,
            histogram=None,
            resamples=2000,
            rng=0,
            blocks=blocks,
        )
        return float(found.std())

    ratio = spread(blocks) / (rows.std() * 10**0.5 / 1000**0.5)
    assert 0.9 < ratio < 1.1
