"""Sources in parts, rows in batches, pairs for IMPARA, figures on what was held out."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from errata.core.errors import InputError
from errata.core.stats import Floats
from errata.data import Corpus, Edit, Reference
from errata.datasets import sample_corpus
from errata.io.judgments.sheets import Ratings, read_ratings
from errata.training import fine_tune
from errata.training.impara import (
    CorrectedSource,
    corrected_sources,
    draw_pairs,
    impact_texts,
    plan_impara,
)
from errata.training.sub_metrics import plan_some
from rated_outputs import rated_csv

SOURCES = [f"Sentence {k // 3} is here ." for k in range(900)]


@pytest.fixture
def ratings(tmp_path: Path) -> Ratings:
    path = tmp_path / "rated.csv"
    path.write_text(rated_csv(), "utf-8")
    return read_ratings(path)


def test_no_source_is_in_two_parts() -> None:
    split = fine_tune.split_rows(SOURCES)
    assert sorted(np.concatenate(list(split.values())).tolist()) == list(range(900))
    of = {part: {SOURCES[k] for k in rows.tolist()} for part, rows in split.items()}
    assert not any(of[a] & of[b] for a in fine_tune.PARTS for b in fine_tune.PARTS if a != b)
    shares = {part: size.rows / 900 for part, size in fine_tune.part_sizes(SOURCES, split).items()}
    assert_allclose([shares[part] for part in fine_tune.PARTS], [0.8, 0.1, 0.1], atol=0.05)


def test_a_part_depends_on_nothing_but_the_words() -> None:
    assert [fine_tune.part_of(s.upper().replace(" ", "  ")) for s in SOURCES] == [
        *map(fine_tune.part_of, SOURCES)
    ]
    assert {*fine_tune.split_rows(SOURCES[:90])["test"].tolist()} == {
        k for k in fine_tune.split_rows(SOURCES)["test"].tolist() if k < 90
    }


def test_every_tenth_is_held_out_once() -> None:
    tested = [k for fold in range(10) for k in fine_tune.split_rows(SOURCES, fold)["test"].tolist()]
    assert sorted(tested) == list(range(900))
    with pytest.raises(InputError, match="fold=10"):
        fine_tune.Recipe(fold=10)


def test_fewer_rows_are_whole_sources_and_some_of_the_more() -> None:
    few, more = fine_tune.limit_by_source(SOURCES, 100), fine_tune.limit_by_source(SOURCES, 200)
    assert len(few) == 99  # sources have three rows
    assert {*few} < {*more}
    assert (
        fine_tune.limit_by_source(SOURCES, None)
        == fine_tune.limit_by_source(SOURCES, 900)
        == list(range(900))
    )


def test_batches_hold_every_row_once_with_rows_of_like_length() -> None:
    lengths = np.random.default_rng(0).integers(1, 100, 1000)
    batches = fine_tune.epoch_batches(lengths, 32, np.random.default_rng(1))
    assert sorted(k for batch in batches for k in batch.tolist()) == list(range(1000))
    padded = sum(int(lengths[b].max()) * len(b) for b in batches)
    assert padded < 1.1 * lengths.sum()
    mixed = np.random.default_rng(2).permutation(1000)
    assert sum(lengths[mixed[k : k + 32]].max() * 32 for k in range(0, 1000, 32)) > 1.7 * padded
    again = fine_tune.epoch_batches(lengths, 32, np.random.default_rng(1))
    assert all((a == b).all() for a, b in zip(batches, again, strict=True))
    longest_first = list(fine_tune.by_length(lengths, 300))
    assert lengths[longest_first[0]].min() >= lengths[longest_first[-1]].max()


def test_figures_on_held_out_sources() -> None:
    rng = np.random.default_rng(0)
    people = rng.normal(size=900)
    good = fine_tune.held_out_r(people + rng.normal(size=900), people, SOURCES)
    assert good.low < good.value < good.high
    assert_allclose(good.value, 0.707, atol=0.05)
    # Rows of a source that say the same are one row: the interval is wider than that of as many.
    same = np.repeat(people[:300], 3)
    noise = np.repeat(rng.normal(size=300), 3)
    wide = fine_tune.held_out_r(same + noise, same, SOURCES)
    narrow = fine_tune.held_out_r(same + noise, same, [str(k) for k in range(900)])
    assert wide.high - wide.low > 1.4 * (narrow.high - narrow.low)
    assert np.isnan(fine_tune.held_out_r(people[:2], people[:2], SOURCES[:2]).value)
    assert fine_tune.held_out_accuracy(np.array([1.0, -1.0, 0.0, 2.0]), SOURCES[:4]).value == 0.625
    assert fine_tune.negative_length(["ab", ""]).tolist() == [-2, 0]


def test_a_plan_says_what_would_be_trained(ratings: Ratings) -> None:
    plan = plan_some(ratings, fine_tune.Recipe(threads=1))
    assert plan.heads == ("grammer", "fluency", "meaning")
    assert sum(size.rows for size in plan.sizes.values()) == plan.data.rows == 240
    assert plan.data.name == "rated.csv"
    assert plan.data.notes[0] == "left out as no ratings (0, other): 240 of meaning"
    assert plan.data.licence == "not stated"
    length = plan.baselines["grammer"]
    assert length.rows == plan.sizes["test"].rows
    assert -1 < length.length.low < length.length.high < 1
    less = plan_some(ratings, fine_tune.Recipe(threads=1), heads=["fluency"], rows=40)
    assert less.heads == ("fluency",)
    assert less.sizes["train"].rows == 40
    assert less.sizes["test"] == plan.sizes["test"]
    # Rows that were made, not read, have no lines to tell them apart.
    made = replace(ratings, rows=tuple(replace(row, line=0) for row in ratings.rows))
    assert (
        plan_some(made, fine_tune.Recipe(threads=1), heads=["fluency"], rows=40).sizes == less.sizes
    )


def test_rows_that_say_nothing_or_say_it_twice_are_counted(ratings: Ratings) -> None:
    rows = [
        replace(row, ratings={**row.ratings, "fluency": ()}) if k % 4 == 0 else row
        for k, row in enumerate(ratings.rows)
    ]
    rows.append(rows[1])
    known = len({(row.source, row.output) for row in rows})
    given = replace(ratings, rows=tuple(rows), others={})
    assert plan_some(given, fine_tune.Recipe(threads=1)).data.notes == (
        "outputs that nobody rated, left out: 60 of fluency",
        f"{len(rows) - known} rows rate an output of a source once more: every row counts",
    )
    distinct = {(row.source, row.output): row for row in ratings.rows}.values()
    once = replace(ratings, rows=tuple(distinct), others={})
    assert plan_some(once, fine_tune.Recipe(threads=1), heads=["grammer"]).data.notes == ()


def test_a_card_holds_no_path_of_an_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "models" / "mine").mkdir(parents=True)
    for given in ("~/models/mine", f"{tmp_path}/models/mine/"):
        assert fine_tune.Recipe(encoder=given).settings["encoder"] == "mine"
    assert fine_tune.Recipe(encoder="bert-base-cased").settings["encoder"] == "bert-base-cased"


def test_public_data_go_by_their_name(data_sets: Path) -> None:
    path = next(data_sets.glob("tmu-nlp/TMU-GFM-Dataset/*/tmu-gfm-dataset.csv"))
    data = plan_some(read_ratings(path), fine_tune.Recipe()).data
    assert data.name == "tmu-gfm"
    assert "states none" in data.licence
    assert "Yoshimura" in data.citations[0]


def test_what_cannot_be_trained_is_refused(ratings: Ratings) -> None:
    few = replace(ratings, rows=ratings.rows[:8])
    with pytest.raises(InputError, match="rows of grammer for"):
        plan_some(few, fine_tune.Recipe())
    # Nothing can be correlated with ratings that are all alike.
    for part in fine_tune.PARTS:
        alike = tuple(
            replace(r, ratings={"fluency": (4, 3)}) if fine_tune.part_of(r.source) == part else r
            for r in ratings.rows
        )
        with pytest.raises(InputError, match=rf"fluency for {part}, all with the same rating, of"):
            plan_some(replace(ratings, rows=alike), fine_tune.Recipe(), heads=["fluency"])
    bare = replace(ratings, rows=tuple(replace(r, ratings={"fluency": (1,)}) for r in ratings.rows))
    with pytest.raises(InputError, match=r"nothing was rated for meaning; it has: fluency"):
        plan_some(bare, fine_tune.Recipe(), heads=["meaning"])


@pytest.mark.parametrize(
    "given",
    [{"epochs": 0}, {"learning_rate": float("nan")}, {"batch_size": 0}, {"max_length": 10**6}],
)
def test_recipes_that_make_no_sense_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(given))):
        fine_tune.Recipe(**given)  # type: ignore[arg-type]


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


def test_a_plan_says_which_pairs_would_be_trained() -> None:
    plan = plan_impara(sample_corpus(), fine_tune.Recipe(), name="some/where/gold.m2", sha256=None)
    assert plan.data.name == "gold.m2"
    assert plan.limit == 4096
    assert sum(size.rows for size in plan.sizes.values()) == plan.data.rows
    assert len(plan.data.sha256) == 64
    with pytest.raises(InputError, match="corrected sentences for"):
        plan_impara(sample_corpus()[:2], fine_tune.Recipe(), name="gold.m2")
