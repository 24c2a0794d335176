"""Pairs for IMPARA: made of the edits of a sentence, ordered by what the edits do."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from errata.core.errors import InputError
from errata.core.stats import Floats
from errata.data import Corpus, Edit, Reference
from errata.datasets import sample_corpus
from errata.training.fine_tune import Recipe
from errata.training.impara import (
    CorrectedSource,
    corrected_sources,
    draw_pairs,
    impact_texts,
    plan_impara,
)

EDITS = (Edit(0, 1, "She"), Edit(1, 2, "goes"), Edit(3, 3, "now"))


def _embed(texts: Sequence[str]) -> Floats:
    """Vectors in which 'goes' weighs most, then 'She', then 'now'."""
    weight = {"goes": 3.0, "She": 2.0, "now": 1.0}
    return np.array(
        [[10.0, *(weight[w] * (w in t.split()) for w in ("goes", "She", "now"))] for t in texts]
    )


def test_an_edit_weighs_what_the_text_is_without_it() -> None:
    each = CorrectedSource("He go home", EDITS)
    assert impact_texts(each) == [
        "She goes home now",
        "He goes home now",
        "She go home now",
        "She goes home",
    ]


def test_the_better_text_has_the_edits_that_weigh_more() -> None:
    each = CorrectedSource("He go home", EDITS)
    pairs = [
        pair
        for seed in range(40)
        for pair in draw_pairs([each], _embed, np.random.default_rng(seed))
    ]
    assert len({(p.better, p.worse) for p in pairs}) > 10
    weight = {"goes": 2.9, "She": 1.3, "now": 0.3}  # in the order of what they do

    def value(text: str) -> float:
        return sum(weight[w] for w in text.split() if w in weight)

    for pair in pairs:
        assert pair.source == "He go home"
        assert pair.better != pair.worse
        assert value(pair.better) > value(pair.worse)


def test_pairs_come_as_often_as_the_recipe_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """A size from 0 to n, a subset of that size, each edit flipped with chance 1/n: all of them."""
    n, draws = 3, 4000
    expected: Counter[frozenset[tuple[bool, ...]]] = Counter()
    for one, flipped in product(product((False, True), repeat=n), repeat=2):
        other = tuple(a != b for a, b in zip(one, flipped, strict=True))
        chance = 1 / (n + 1) / math.comb(n, sum(one))
        expected[frozenset({one, other})] += chance * math.prod(
            1 / n if flip else 1 - 1 / n for flip in flipped
        )
    monkeypatch.setattr("errata.training.impara.TRIES", 1)
    each, rng = CorrectedSource("He go home", EDITS), np.random.default_rng(0)
    found: Counter[frozenset[tuple[bool, ...]]] = Counter()
    for _ in range(draws):
        for pair in draw_pairs([each], _embed, rng):
            made = (pair.better.split(), pair.worse.split())
            found[frozenset(tuple(e.replacement in words for e in EDITS) for words in made)] += 1
    for both, chance in expected.items():
        if len(both) == 2:  # a text and itself are no pair
            assert abs(found[both] / draws - chance) < 5 * math.sqrt(chance / draws)
    assert set(found) == {both for both in expected if len(both) == 2}


@pytest.mark.parametrize(("n", "tries"), [(2, 1), (3, 3), (4, 6), (5, 10), (8, 10)])
def test_no_source_gives_more_pairs_than_it_is_tried(n: int, tries: int) -> None:
    edits = tuple(Edit(k, k + 1, f"w{k}") for k in range(n))
    each = CorrectedSource(" ".join("abcdefgh"[:n]), edits)

    def embed(texts: Sequence[str]) -> Floats:
        return np.array([[9.0, *((k + 1.0) * (f"w{k}" in t) for k in range(n))] for t in texts])

    most = max(len(draw_pairs([each], embed, np.random.default_rng(k))) for k in range(200))
    assert most == tries


def test_what_the_encoder_cannot_see_makes_no_pair() -> None:
    """Rounding gives the same tokens, read in another batch, cosines a little apart."""
    each = CorrectedSource("He go home", EDITS[1:2])

    def noisy(texts: Sequence[str]) -> Floats:
        return np.array([[1.0, 3e-4 * k] for k in range(len(texts))])

    assert draw_pairs([each], noisy, np.random.default_rng(0)) == []


def test_a_single_edit_gives_one_pair() -> None:
    each = CorrectedSource("He go home", EDITS[1:2])
    found = [draw_pairs([each], _embed, np.random.default_rng(seed)) for seed in range(20)]
    assert {len(pairs) for pairs in found} == {1}
    assert {(p.better, p.worse) for pairs in found for p in pairs} == {
        ("He goes home", "He go home")
    }


def test_corrections_come_from_edits_or_texts_and_overlapping_ones_are_counted() -> None:
    texts = Corpus.from_texts(["He go home", "Fine ."], [["He goes home", "Fine ."]])
    assert corrected_sources(texts) == (
        [CorrectedSource("He go home", (Edit(1, 2, "goes", "R:INFL"),))],
        0,
    )
    overlapping = Reference(0, (Edit(0, 2, "She"), Edit(1, 2, "goes")))
    # What changes nothing is no edit, and one that stands twice is one.
    same = Reference(1, (Edit(0, 1, "He"), Edit(1, 2, "goes"), Edit(1, 2, "goes")))
    edits = Corpus(("He go home",), ((overlapping, same),))
    assert corrected_sources(edits) == ([CorrectedSource("He go home", (Edit(1, 2, "goes"),))], 1)
    with pytest.raises(InputError, match="no sentence was corrected"):
        corrected_sources(Corpus.from_texts(["Fine ."], [["Fine ."]]))


def test_a_plan_says_what_would_be_trained() -> None:
    plan = plan_impara(sample_corpus(), Recipe(), name="some/where/gold.m2", sha256=None)
    assert plan.data.name == "gold.m2"
    assert plan.limit == 4096
    assert sum(size.rows for size in plan.sizes.values()) == plan.data.rows
    assert len(plan.data.sha256) == 64
    with pytest.raises(InputError, match="corrected sentences for"):
        plan_impara(sample_corpus()[:2], Recipe(), name="gold.m2")
