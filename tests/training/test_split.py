"""Sources in parts, rows in batches, and figures on what was held out: no model needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from errata.core.errors import InputError
from errata.io.judgments.sheets import Ratings, read_ratings
from errata.training.fine_tune import (
    PARTS,
    Recipe,
    by_length,
    epoch_batches,
    held_out_accuracy,
    held_out_r,
    limit_by_source,
    negative_length,
    part_of,
    part_sizes,
    split_rows,
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
    split = split_rows(SOURCES)
    assert sorted(np.concatenate(list(split.values())).tolist()) == list(range(900))
    of = {part: {SOURCES[k] for k in rows.tolist()} for part, rows in split.items()}
    assert not any(of[a] & of[b] for a in PARTS for b in PARTS if a != b)
    shares = {part: size.rows / 900 for part, size in part_sizes(SOURCES, split).items()}
    assert_allclose([shares[part] for part in PARTS], [0.8, 0.1, 0.1], atol=0.05)


def test_a_part_depends_on_nothing_but_the_words() -> None:
    assert [part_of(s.upper().replace(" ", "  ")) for s in SOURCES] == [*map(part_of, SOURCES)]
    assert {*split_rows(SOURCES[:90])["test"].tolist()} == {
        k for k in split_rows(SOURCES)["test"].tolist() if k < 90
    }


def test_every_tenth_is_held_out_once() -> None:
    tested = [k for fold in range(10) for k in split_rows(SOURCES, fold)["test"].tolist()]
    assert sorted(tested) == list(range(900))
    with pytest.raises(InputError, match="fold=10"):
        Recipe(fold=10)


def test_fewer_rows_are_whole_sources_and_some_of_the_more() -> None:
    few, more = limit_by_source(SOURCES, 100), limit_by_source(SOURCES, 200)
    assert len(few) == 99  # sources have three rows
    assert {*few} < {*more}
    assert limit_by_source(SOURCES, None) == limit_by_source(SOURCES, 900) == list(range(900))


def test_batches_hold_every_row_once_with_rows_of_like_length() -> None:
    lengths = np.random.default_rng(0).integers(1, 100, 1000)
    batches = epoch_batches(lengths, 32, np.random.default_rng(1))
    assert sorted(k for batch in batches for k in batch.tolist()) == list(range(1000))
    padded = sum(int(lengths[b].max()) * len(b) for b in batches)
    assert padded < 1.1 * lengths.sum()
    mixed = np.random.default_rng(2).permutation(1000)
    assert sum(lengths[mixed[k : k + 32]].max() * 32 for k in range(0, 1000, 32)) > 1.7 * padded
    again = epoch_batches(lengths, 32, np.random.default_rng(1))
    assert all((a == b).all() for a, b in zip(batches, again, strict=True))
    longest_first = list(by_length(lengths, 300))
    assert lengths[longest_first[0]].min() >= lengths[longest_first[-1]].max()


def test_figures_on_held_out_sources() -> None:
    rng = np.random.default_rng(0)
    people = rng.normal(size=900)
    good = held_out_r(people + rng.normal(size=900), people, SOURCES)
    assert good.low < good.value < good.high
    assert_allclose(good.value, 0.707, atol=0.05)
    # Rows of a source that say the same are one row: the interval is wider than that of as many.
    same = np.repeat(people[:300], 3)
    noise = np.repeat(rng.normal(size=300), 3)
    wide = held_out_r(same + noise, same, SOURCES)
    narrow = held_out_r(same + noise, same, [str(k) for k in range(900)])
    assert wide.high - wide.low > 1.4 * (narrow.high - narrow.low)
    assert np.isnan(held_out_r(people[:2], people[:2], SOURCES[:2]).value)
    assert held_out_accuracy(np.array([1.0, -1.0, 0.0, 2.0]), SOURCES[:4]).value == 0.625
    assert negative_length(["ab", ""]).tolist() == [-2, 0]


def test_a_plan_says_what_would_be_trained(ratings: Ratings) -> None:
    plan = plan_some(ratings, Recipe(threads=1))
    assert plan.heads == ("grammer", "fluency", "meaning")
    assert sum(size.rows for size in plan.sizes.values()) == plan.data.rows == 240
    assert plan.data.name == "rated.csv"
    assert plan.data.notes[0] == "left out as no ratings (0, other): 240 of meaning"
    assert plan.data.licence == "not stated"
    length = plan.baselines["grammer"]
    assert length.rows == plan.sizes["test"].rows
    assert -1 < length.length.low < length.length.high < 1
    less = plan_some(ratings, Recipe(threads=1), heads=["fluency"], rows=40)
    assert less.heads == ("fluency",)
    assert less.sizes["train"].rows == 40
    assert less.sizes["test"] == plan.sizes["test"]
    # Rows that were made, not read, have no lines to tell them apart.
    made = replace(ratings, rows=tuple(replace(row, line=0) for row in ratings.rows))
    assert plan_some(made, Recipe(threads=1), heads=["fluency"], rows=40).sizes == less.sizes


def test_rows_that_say_nothing_or_say_it_twice_are_counted(ratings: Ratings) -> None:
    rows = [
        replace(row, ratings={**row.ratings, "fluency": ()}) if k % 4 == 0 else row
        for k, row in enumerate(ratings.rows)
    ]
    rows.append(rows[1])
    known = len({(row.source, row.output) for row in rows})
    given = replace(ratings, rows=tuple(rows), others={})
    assert plan_some(given, Recipe(threads=1)).data.notes == (
        "outputs that nobody rated, left out: 60 of fluency",
        f"{len(rows) - known} rows rate an output of a source once more: every row counts",
    )
    distinct = {(row.source, row.output): row for row in ratings.rows}.values()
    once = replace(ratings, rows=tuple(distinct), others={})
    assert plan_some(once, Recipe(threads=1), heads=["grammer"]).data.notes == ()


def test_a_card_holds_no_path_of_an_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "models" / "mine").mkdir(parents=True)
    for given in ("~/models/mine", f"{tmp_path}/models/mine/"):
        assert Recipe(encoder=given).settings["encoder"] == "mine"
    assert Recipe(encoder="bert-base-cased").settings["encoder"] == "bert-base-cased"


def test_public_data_go_by_their_name(data_sets: Path) -> None:
    path = next(data_sets.glob("tmu-nlp/TMU-GFM-Dataset/*/tmu-gfm-dataset.csv"))
    data = plan_some(read_ratings(path), Recipe()).data
    assert data.name == "tmu-gfm"
    assert "states none" in data.licence
    assert "Yoshimura" in data.citations[0]


def test_what_cannot_be_trained_is_refused(ratings: Ratings) -> None:
    few = replace(ratings, rows=ratings.rows[:8])
    with pytest.raises(InputError, match="rows of grammer for"):
        plan_some(few, Recipe())
    # Nothing can be correlated with ratings that are all alike.
    for part in PARTS:
        alike = tuple(
            replace(r, ratings={"fluency": (4, 3)}) if part_of(r.source) == part else r
            for r in ratings.rows
        )
        with pytest.raises(InputError, match=rf"fluency for {part}, all with the same rating, of"):
            plan_some(replace(ratings, rows=alike), Recipe(), heads=["fluency"])
    bare = replace(ratings, rows=tuple(replace(r, ratings={"fluency": (1,)}) for r in ratings.rows))
    with pytest.raises(InputError, match=r"nothing was rated for meaning; it has: fluency"):
        plan_some(bare, Recipe(), heads=["meaning"])


@pytest.mark.parametrize(
    "given",
    [{"epochs": 0}, {"learning_rate": float("nan")}, {"batch_size": 0}, {"max_length": 10**6}],
)
def test_recipes_that_make_no_sense_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(given))):
        Recipe(**given)  # type: ignore[arg-type]
