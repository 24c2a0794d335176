"""I-measure's three rows: the papers' example, and the counts they must give."""

from __future__ import annotations

import time
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from errata.align import align_three, alignments
from errata.core.errors import InputError
from errata.data import Corpus, Hypotheses
from errata.datasets import sample_corpus, sample_systems
from errata.kernels import threeway
from errata.metrics.imeasure import IMeasure
from errata.metrics.imeasure.alignment_counts import KINDS, STATISTICS

WORDS = st.lists(st.sampled_from("abc"), max_size=5)


def test_the_example_of_chollampatt_and_ng() -> None:
    """Their Table 1, thirteen positions."""
    shown = (
        "Thus , advice from hospital plays the important role for this .",
        "Thus , advice from hospital plays an important role for this .",
        "Thus , advice from the hospital plays an important role in this .",
    )
    columns = align_three(*(text.split() for text in shown))
    source, hypothesis, reference = (
        " ".join(word or "∅" for word in row) for row in zip(*columns, strict=True)
    )
    assert source == "Thus , advice from ∅ hospital plays the important role for this ."
    assert hypothesis == "Thus , advice from ∅ hospital plays an important role for this ."
    assert reference == "Thus , advice from the hospital plays an important role in this ."
    counted = Counter(column.counts_as() for column in columns)
    assert counted == {"TN": 10, "TP": 1, "FN": 2}
    assert [k for k, c in enumerate(columns, 1) if c.kind != "unchanged"] == [5, 8, 11]


def _slowly(s: list[str], h: list[str], r: list[str]) -> list[tuple[str | None, ...]]:
    """The official recurrence and its order of steps, cell by cell."""

    def pair(a: str | None, b: str | None) -> int:
        return 0 if a == b else 2 if None in (a, b) else 3

    def price(column: tuple[str | None, ...]) -> int:
        return sum(pair(column[a], column[b]) for a, b in ((0, 1), (0, 2), (1, 2)))

    steps = [(1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)]

    @cache
    def best(i: int, j: int, k: int) -> tuple[int, tuple[tuple[str | None, ...], ...]]:
        if i == j == k == 0:
            return 0, ()
        found = []
        for di, dj, dk in steps:
            if i >= di and j >= dj and k >= dk:
                column = (
                    s[i - 1] if di else None,
                    h[j - 1] if dj else None,
                    r[k - 1] if dk else None,
                )
                cost, path = best(i - di, j - dj, k - dk)
                found.append((cost + price(column), (*path, column)))
        return min(found, key=lambda each: each[0])

    return list(best(len(s), len(h), len(r))[1])


# Ties between steps that random words seldom have.
@example(list("ab"), list("ba"), list("aaaa"))
@example(list("b"), list("bba"), list("bab"))
@given(WORDS, WORDS, WORDS)
def test_columns_are_those_of_the_recurrence_and_add_up_to_the_counts(
    s: list[str], h: list[str], r: list[str]
) -> None:
    columns = align_three(s, h, r)
    assert [tuple(column) for column in columns] == _slowly(s, h, r)
    for row, words in zip(range(3), (s, h, r), strict=True):
        assert [column[row] for column in columns if column[row] is not None] == words
    ids = np.array([ord(word) for words in (s, h, r) for word in words], np.int32)
    offsets = np.cumsum([0, len(s), len(h), len(r)]).astype(np.int64)
    counted = threeway.count_columns(ids, offsets, np.array([[0, 1, 2]]))[0][0, KINDS]
    kinds = Counter(column.kind for column in columns)
    assert [kinds[name] for name in STATISTICS[KINDS]] == counted.tolist()  # type: ignore[index]


def test_the_sample_counts_what_its_columns_show() -> None:
    corpus, system = sample_corpus(), sample_systems()[1]
    metric = IMeasure()
    counts = metric.count(corpus, system)
    chosen = metric.choose(counts)[0]
    for found in alignments(metric, corpus, system, range(0, 72, 5)):
        kinds = Counter(column.kind for column in found.columns)
        row = counts[found.sentence, chosen[found.sentence], KINDS]
        assert [kinds[name] for name in STATISTICS[KINDS]] == row.tolist()  # type: ignore[index]
        assert (
            found.annotator == corpus.references[found.sentence][chosen[found.sentence]].annotator
        )


def test_parameters_of_the_metric_are_kept() -> None:
    corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    went = Hypotheses("A", ("He\u00a0x went home .",))
    (found,) = alignments(IMeasure(spaces="ascii", aspect="detection"), corpus, went, [0])
    assert [column.hypothesis for column in found.columns] == ["He\u00a0x", "went", "home", "."]
    assert [column.counts_as(found.aspect) for column in found.columns] == ["FP", "TP", "TN", "TN"]
    with pytest.raises(InputError, match="a mixture of several annotators has no alignment"):
        alignments(IMeasure(references="mix"), corpus, went, [0])


@pytest.mark.slow
def test_a_long_sentence_is_aligned_where_it_differs() -> None:
    source = [f"w{k % 50}" for k in range(3000)]
    hypothesis, reference = [*source], [*source]
    hypothesis[700], reference[2000] = "x", "y"
    start = time.process_time()
    columns = align_three(source, hypothesis, reference)
    assert time.process_time() - start < 5  # every column took its own alignment, for minutes
    assert [column.kind for column in columns if column.kind != "unchanged"] == [
        "needless",
        "missed",
    ]
