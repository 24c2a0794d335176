"""The three-way alignment: against a full table, compiled and not, and what it costs."""

import random
import tracemalloc
from collections.abc import Sequence
from itertools import accumulate, product
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.kernels import cuts, threeway
from pure import load_pure
from slow_threeway import align_slowly

Sentence = Sequence[int]
sentences = st.lists(st.integers(0, 3), max_size=7)


def full_table(*texts: Sentence) -> list[int]:
    """Return how many columns of each kind the definition gives, and what they cost."""
    cost, columns = align_slowly(*texts)
    found = [0] * 5
    for s, h, r in columns:
        found[(0 if h == r else 1) if s == h else 2 if s == r else 3 if h == r else 4] += 1
    return [*found, cost]


def align(
    triples: list[tuple[Sentence, Sentence, Sentence]],
    module: ModuleType = threeway,
    **options: int,
) -> tuple[list[list[int]], int]:
    rows = [row for triple in triples for row in triple]
    ids = np.array([token for row in rows for token in row], np.int32)
    offsets = np.array([0, *accumulate(map(len, rows))], np.int64)
    found, cells = module.count_columns(
        ids, offsets, np.arange(len(rows)).reshape(-1, 3), **options
    )
    return found.tolist(), cells


def changed(rng: random.Random, sentence: Sentence, words: int, times: int) -> list[int]:
    result = list(sentence)
    for _ in range(times):
        at = rng.randrange(len(result) + 1)
        result[at : at + rng.randrange(2)] = [rng.randrange(words) for _ in range(rng.randrange(2))]
    return result


def examples(number: int, seed: int) -> list[tuple[Sentence, Sentence, Sentence]]:
    rng = random.Random(seed)
    triples = []
    for _ in range(number):
        words = rng.choice([2, 3, 5])
        a = [rng.randrange(words) for _ in range(rng.randrange(10))]
        b = changed(rng, a, words + 1, rng.choice([0, 1, 3, 8]))
        c = changed(rng, rng.choice([a, b]), words + 1, rng.choice([0, 1, 3, 8]))
        triples.append((a, b, c))
    return triples


@settings(max_examples=150, deadline=None)
@given(sentences, sentences, sentences)
def test_equals_the_full_table(a: Sentence, b: Sentence, c: Sentence) -> None:
    assert align([(a, b, c)])[0] == [full_table(a, b, c)]


def test_equals_the_full_table_on_related_sentences() -> None:
    triples = examples(300, seed=1)
    assert align(triples)[0] == [full_table(*triple) for triple in triples]


@pytest.mark.parametrize("limit", [1, 7, 40, 1000])
def test_bounded_memory_changes_nothing(limit: int) -> None:
    triples = examples(1000, seed=2)
    assert align(triples, limit=limit)[0] == align(triples)[0]


@pytest.mark.parametrize("limit", [20, 1 << 20])
def test_uncompiled_gives_the_same(limit: int) -> None:
    triples = examples(200, seed=3)
    pure = load_pure("threeway")
    assert pure.count_columns is not threeway.count_columns
    assert align(triples, pure, limit=limit) == align(triples, limit=limit)


def test_no_triples() -> None:
    found, cells = threeway.count_columns(np.zeros(0, np.int32), np.zeros(1, np.int64), [])
    assert found.shape == (0, 6)
    assert cells == 0


def test_long_similar_sentences_cost_little() -> None:
    rng = random.Random(4)
    a = [rng.randrange(100) for _ in range(227)]
    triple = (a, changed(rng, a, 100, 12), changed(rng, a, 100, 25))
    found, cells = align([triple])
    assert cells < 1000  # of 12 million
    assert sum(found[0][:5]) >= 227


def test_unrelated_sentences_stay_in_bounds() -> None:
    rng = random.Random(5)
    triple = tuple([rng.randrange(30) for _ in range(n)] for n in (200, 190, 180))
    tracemalloc.start()
    found, cells = align([triple], limit=1 << 20)  # type: ignore[list-item]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert cells > 1 << 20
    assert peak < 16 << 20
    assert align([triple])[0] == found  # type: ignore[list-item]


def costs(a: Sentence, b: Sentence, c: Sentence) -> dict[tuple[int, int, int], int]:
    return {
        (i, j, k): full_table(a[:i], b[:j], c[:k])[5]
        for i in range(len(a) + 1)
        for j in range(len(b) + 1)
        for k in range(len(c) + 1)
    }


@pytest.mark.slow
def test_planes_of_one_reference_are_the_table() -> None:
    """With one text per stage, V + W is what a point costs more than the way through X."""
    rng = random.Random(6)
    for _ in range(25):
        a = [rng.randrange(3) for _ in range(4)]
        b, c = changed(rng, a, 4, 2), changed(rng, a, 4, 2)
        k = len(c) // 2
        arrays = np.array(a, np.int32), np.array(b, np.int32)
        low, high, at, first, _, least = threeway.band(*arrays)
        x = (2, int(first[2]))
        xi, xj = np.array([0, 2, len(a)], np.int32), np.array([0, x[1], len(b)], np.int32)
        stages = np.array([0, 1, 2])
        turned = (len(b) - high[::-1]).copy(), (len(b) - low[::-1]).copy()
        turned_at = np.array([0, *np.cumsum(turned[1] - turned[0] + 1)])
        back = cuts.planes(
            *(array[::-1].copy() for array in arrays),
            *turned,
            turned_at,
            (len(a) - xi[::-1]).copy(),
            (len(b) - xj[::-1]).copy(),
            stages,
            np.array([0, len(c) - k, len(c)]),
            np.array(c[::-1], np.int32),
            least,
        )
        texts = stages, np.array([0, k, len(c)]), np.array(c, np.int32)
        ahead = [
            cuts.planes(*arrays, low, high, at, xi, xj, *texts, *known)
            for known in ((), (least,), (least, back))
        ]
        before, after = costs(a, b, c), costs(a[::-1], b[::-1], c[::-1])
        through = {
            (i, j): before[i, j, k] + after[len(a) - i, len(b) - j, len(c) - k]
            for i in range(len(a) + 1)
            for j in range(len(b) + 1)
        }
        optimum = full_table(a, b, c)[5]
        assert min(through.values()) == optimum
        for each, ((i, j), cost) in product(ahead, through.items()):
            if low[i] <= j <= high[i]:
                found = int((each + back[::-1, ::-1])[1, at[i] + j - low[i]]) + through[x]
                assert found >= cost
                assert found == cost or cost > optimum
            else:
                assert cost > optimum


@pytest.mark.parametrize("room", [load_pure("cuts").LARGEST_WORK, 0])
def test_uncompiled_planes_are_the_same(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there is no room to keep what options begin with, which then is found anew."""
    rng = random.Random(7)
    pure = load_pure("cuts")
    monkeypatch.setattr(pure, "LARGEST_WORK", room)
    for _ in range(40):
        a = [rng.randrange(3) for _ in range(rng.randrange(8))]
        b = changed(rng, a, 4, 3)
        arrays = np.array(a, np.int32), np.array(b, np.int32)
        bands = threeway.band(*arrays), load_pure("threeway").band(*arrays)
        for ours, theirs in zip(*bands, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        low, high, at, first, _, least = bands[0]
        middle = len(a) // 2
        xi = np.array([0, middle, len(a)], np.int32)
        xj = np.array([0, first[middle], len(b)], np.int32)
        texts = [
            changed(rng, a[:middle], 4, 1),
            a[:middle],
            a[middle:],
            changed(rng, a[middle:], 4, 2),
        ]
        options = np.array([0, *accumulate(map(len, texts))], np.int64)
        tokens = np.array([token for text in texts for token in text], np.int32)
        given = *arrays, low, high, at, xi, xj, np.array([0, 2, 4]), options, tokens
        beyond = np.random.default_rng(7).integers(-9, 9, (3, int(at[-1])), np.int32)
        for known in ((), (least,), (least, beyond)):
            ours, theirs = (module.planes(*given, *known) for module in (cuts, pure))
            np.testing.assert_array_equal(ours, theirs)


def test_a_node_holds_where_nothing_else_costs_as_little() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        found, back = (rng.integers(0, 4, (3, 5), np.int32) for _ in range(2))
        cells = rng.integers(0, 5, 3)
        both = found + back[::-1, ::-1]
        own = both[np.arange(3), cells]
        both[np.arange(3), cells] = 99
        for kernel in (cuts, load_pure("cuts")):
            assert kernel.held(found, back, cells).tolist() == (both.min(axis=1) > own).tolist()
