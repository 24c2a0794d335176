"""N-gram overlaps: the kernel against counters, compiled against plain Python."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.core.errors import InputError
from errata.data import Corpus, Tokens, Vocabulary
from errata.kernels import ngrams as compiled
from errata.metrics.ngrams import (
    check_references,
    closest_lengths,
    overlaps,
    per_reference,
    reference_tokens,
)
from pure import load_pure

SENTENCE = st.lists(st.sampled_from("abc"), max_size=9).map(" ".join)
GROUP = st.tuples(SENTENCE, SENTENCE, st.lists(SENTENCE, min_size=1, max_size=3))


def counted(text: str, n: int) -> Counter[tuple[str, ...]]:
    words = text.split()
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def by_counters(source: str, hypothesis: str, references: list[str], n: int) -> list[int]:
    """The figures of the kernel, in its order, for the union of the references."""
    h, s = counted(hypothesis, n), counted(source, n)
    r: Counter[tuple[str, ...]] = Counter()
    for text in references:
        r |= counted(text, n)
    return [
        (h & r).total(),
        sum((h & s)[g] for g in h if g not in r),
        ((h & s) - (h & r)).total(),
        sum((h & r)[g] for g in h if g not in s),
        (h & (r - s)).total(),
        (h & (s - r)).total(),
        (r - s).total(),
    ]


def batch(groups: list[tuple[str, str, list[str]]]) -> list[Any]:
    words = Vocabulary()
    tokens = [
        words.intern(texts)
        for texts in (
            [source for source, _, _ in groups],
            [hypothesis for _, hypothesis, _ in groups],
            [text for _, _, texts in groups for text in texts],
        )
    ]
    first = np.cumsum([0, *(len(texts) for _, _, texts in groups)])
    return [array for t in tokens for array in (t.ids.astype(np.int64), t.offsets)] + [first]


@pytest.mark.slow
@given(st.lists(GROUP, max_size=4), st.integers(1, 5))
def test_counts_as_counters_do(groups: list[tuple[str, str, list[str]]], order: int) -> None:
    arrays = batch(groups)
    each = compiled.overlaps(*arrays, order, False)
    expected = [
        [by_counters(s, h, [r], n) for n in range(1, order + 1)]
        for s, h, refs in groups
        for r in refs
    ]
    np.testing.assert_array_equal(each, np.array(expected, np.int64).reshape(each.shape))
    union = compiled.overlaps(*arrays, order, True)
    merged = [[by_counters(s, h, refs, n) for n in range(1, order + 1)] for s, h, refs in groups]
    np.testing.assert_array_equal(union, np.array(merged, np.int64).reshape(union.shape))


@settings(max_examples=40)
@given(st.lists(GROUP, max_size=3), st.booleans())
def test_compiled_equals_plain(groups: list[tuple[str, str, list[str]]], merged: bool) -> None:
    arrays = batch(groups)
    np.testing.assert_array_equal(
        compiled.overlaps(*arrays, 4, merged), load_pure("ngrams").overlaps(*arrays, 4, merged)
    )


@settings(max_examples=40)
@given(st.lists(GROUP, min_size=1, max_size=3), st.booleans(), st.booleans())
def test_systems_together_count_as_each_alone(
    groups: list[tuple[str, str, list[str]]], merged: bool, plain: bool
) -> None:
    kernel = load_pure("ngrams") if plain else compiled
    source, source_at, output, output_at, *others = batch(groups)
    # Three systems: these outputs, the sources, and nothing at all.
    systems = [(output, output_at), (source, source_at), (source[:0], 0 * source_at)]
    ids = np.concatenate([ids for ids, _ in systems])
    lengths = np.concatenate([np.diff(at) for _, at in systems])
    at = np.concatenate([[0], np.cumsum(lengths)])
    together = kernel.overlaps(source, source_at, ids, at, *others, 3, merged)
    alone = [kernel.overlaps(source, source_at, ids, at, *others, 3, merged) for ids, at in systems]
    np.testing.assert_array_equal(together, np.concatenate(alone))


def test_colliding_hashes_do_not_mix() -> None:
    """Token numbers a multiple of the table size apart fall into one slot; all stay distinct."""
    ids = np.arange(12, dtype=np.int64) * (1 << 26)
    at = np.array([0, 12])
    none, nowhere = np.zeros(0, np.int64), np.zeros(2, np.int64)
    first = np.array([0, 1])
    same = compiled.overlaps(none, nowhere, ids, at, ids, at, first, 4, False)
    other = compiled.overlaps(none, nowhere, ids, at, ids + (1 << 25), at, first, 4, False)
    assert same[0, :, compiled.MATCHED].tolist() == [12, 11, 10, 9]
    assert other[0, :, compiled.MATCHED].tolist() == [0, 0, 0, 0]


def test_the_names_of_the_figures() -> None:
    source, hypothesis, reference = "a b b c x", "a b b b d x", "a b d y"
    corpus = Corpus.from_texts([source], [[reference]])
    found = overlaps(
        corpus.source_tokens,
        corpus.vocabulary.intern([hypothesis]),
        *reference_tokens(corpus),
        order=1,
    )
    names = ("matched", "kept", "surplus", "gained", "added", "left", "wanted")
    figures = {name: int(found[0, 0, getattr(compiled, name.upper())]) for name in names}
    assert figures == dict(zip(names, (3, 1, 2, 1, 1, 2, 2), strict=True))


def test_batches_must_fit() -> None:
    """The kernel does not check its bounds, so that its caller must."""
    corpus = Corpus.from_texts(["a b", "c"], [["a b", "c"]])
    short: Tokens = corpus.vocabulary.intern(["a b"])
    with pytest.raises(InputError, match="1 hypotheses for 2 sources"):
        overlaps(corpus.source_tokens, short, *reference_tokens(corpus))


def test_a_sentence_without_reference_is_an_error() -> None:
    corpus = Corpus(("a b", "lonely words"), (Corpus.from_texts(["x"], [["y"]]).references[0], ()))
    with pytest.raises(InputError, match=r"1 of 2 sentences have no reference.*'lonely words'"):
        check_references(corpus)


def test_closest_lengths() -> None:
    hypothesis, first = np.array([5, 5, 0]), np.array([0, 2, 4, 5])
    references = np.array([6, 4, 9, 5, 3])
    assert closest_lengths(hypothesis, references, first, shorter=True).tolist() == [4, 5, 3]
    assert closest_lengths(hypothesis, references, first, shorter=False).tolist() == [6, 5, 3]
    empty = np.zeros(0, np.int64)
    assert closest_lengths(empty, empty, np.zeros(1, np.int64), shorter=True).shape == (0,)


def test_rows_of_references_are_spread_out() -> None:
    spread = per_reference(np.array([[1], [2], [3]]), np.array([0, 2, 3]))
    np.testing.assert_array_equal(spread[:, :, 0], [[1, 2], [3, np.nan]])
