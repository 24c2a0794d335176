"""Sentence level: the published counts, hand-made tables, and what must not matter."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.core.errors import DataWarning, InputError
from errata.data import Judgment, Scores
from errata.human.comparisons import Comparisons, compare
from errata.meta import pairwise
from errata.meta.pairwise import CONVENTIONS, chance, confusion, human_ceiling, sign_tables
from errata.meta.sentence_level import (
    ConventionName,
    calibrated_accuracy,
    seeda_accuracy,
    sentence_level,
    sentence_levels,
)


def published_scores(path: Path, name: str) -> Scores:
    """Sentence scores as nusnlp/gecmetrics releases them."""
    values: dict[str, list[float]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for _, _, _, system, sentence, value in csv.reader(file, delimiter="\t"):
            assert len(values.setdefault(system, [])) == int(sentence)
            values[system].append(float(value))
    table = np.array(list(values.values()))
    return Scores(name, tuple(values), table.mean(1), table)


def published_pairs(path: Path) -> Iterator[Judgment]:
    """One judgment per published pair."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            names = tuple((row[f"system{k}Id"].split(".")[1],) for k in (1, 2))
            ranks = tuple(int(row[f"system{k}rank"]) for k in (1, 2))
            yield Judgment(row["judgeID"], int(row["segmentId"]), names, ranks, row["rankingID"])


@pytest.mark.slow
@pytest.mark.parametrize("form", ["expanded", "unexpanded"])
def test_published_sentence_level(oracles: Path, data_sets: Path, form: str) -> None:
    oracle = json.loads((oracles / "meta" / "chollampatt_sentence.json").read_text())
    scores = next(data_sets.glob("nusnlp/gecmetrics/*/scores"))
    pairs = compare(published_pairs(scores / f"sentence_pairwiseranks_humans/{form}.csv.gz"))
    for metric in ("gleu", "imeasure", "m2score"):
        expected = oracle[f"{form}/{metric}"]
        result = published_scores(scores / f"sentence_scores_metrics/{metric}.txt.gz", metric)
        table = confusion(pairs, result)
        # Who stands first is arbitrary: the oracle keeps the order of the file, as we do.
        assert {
            f"{h},{m}": table[h + 1, m + 1] for h in (-1, 0, 1) for m in (-1, 0, 1)
        } == expected["confusion"]
        for ours, theirs in (
            ("noties", "noties"),
            ("hties", "hties"),
            ("wmt14", "wmt14"),
            ("wmt13", "tau_wmt13_dropmetricties"),
            ("tau_b", "tau_b_pairs"),
            ("accuracy", "acc_eq"),
        ):
            assert float(CONVENTIONS[ours](table)) == pytest.approx(expected[theirs], rel=1e-12)
        (tables,) = sign_tables(pairs, [result], unit="pairs", resamples=4000)
        for name in ("noties", "hties"):
            low, high = np.quantile(CONVENTIONS[name](tables.resampled), [0.025, 0.975])
            np.testing.assert_allclose([low, high], expected[f"{name}_ci95"], atol=0.0015)


TABLE = np.array([[10, 2, 3], [4, 5, 6], [1, 7, 20]], float)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("noties", (30 - 4) / 43),
        ("wmt14", (30 - 4) / 43),
        ("hties", (30 + 5 - 4) / 58),
        ("wmt12", (30 - 4 - 9) / 43),
        ("wmt13", (30 - 4) / 34),
        ("accuracy", 35 / 58),
        ("tau_b", 26 / np.sqrt((34 + 9) * (34 + 10))),
    ],
)
def test_conventions_by_hand(name: str, value: float) -> None:
    assert float(CONVENTIONS[name](TABLE)) == pytest.approx(value, rel=1e-14)
    many = np.stack([TABLE, 2 * TABLE, np.zeros((3, 3))])
    np.testing.assert_allclose(CONVENTIONS[name](many), [value, value, np.nan])


def test_chance_knows_only_the_share_of_ties() -> None:
    table = chance(TABLE)
    np.testing.assert_allclose(table.sum(1), TABLE.sum(1))
    np.testing.assert_allclose(table[:, 1] / table.sum(1), 14 / 58)
    for name in ("noties", "wmt13", "tau_b"):
        assert float(CONVENTIONS[name](table)) == pytest.approx(0, abs=1e-12)


systems = ("A", "B", "C", "D")
rankings = st.lists(
    st.tuples(
        st.sampled_from("xyz"),
        st.integers(0, 3),
        st.lists(st.integers(1, 3), min_size=4, max_size=4),
    ),
    min_size=1,
    max_size=12,
)
grid = st.lists(st.integers(0, 2), min_size=16, max_size=16)


def build(
    given_rankings: list[tuple[str, int, list[int]]],
    values: list[int],
    names: tuple[str, ...] = systems,
) -> tuple[Comparisons, Scores]:
    judgments = [
        Judgment(judge, sentence, tuple((name,) for name in names), tuple(ranks))
        for judge, sentence, ranks in given_rankings
    ]
    table = np.array(values, float).reshape(4, 4)
    return compare(judgments), Scores("toy", names, table.mean(1), table)


@given(rankings, grid, st.permutations(["p", "q", "r", "s"]), st.permutations(range(4)))
def test_names_and_order_of_systems_never_matter(
    given_rankings: list[tuple[str, int, list[int]]],
    values: list[int],
    names: list[str],
    order: list[int],
) -> None:
    pairs, scores = build(given_rankings, values)
    other, renamed = build(given_rankings, values, tuple(names))
    shuffled = Scores(
        "toy", tuple(names[i] for i in order), renamed.values[order], renamed.sentences[order]
    )
    for name, convention in CONVENTIONS.items():
        ours = float(convention(confusion(pairs, scores)))
        theirs = float(convention(confusion(other, shuffled)))
        assert ours == theirs or (np.isnan(ours) and np.isnan(theirs)), name
        ceiling = [float(convention(human_ceiling(each))) for each in (pairs, other)]
        np.testing.assert_allclose(ceiling[0], ceiling[1], atol=1e-12)
        floor = [
            float(convention(chance(confusion(*each))))
            for each in ((pairs, scores), (other, shuffled))
        ]
        np.testing.assert_allclose(floor[0], floor[1], atol=1e-12)


def test_seeda_depends_on_names_and_is_kept_apart() -> None:
    pairs, scores = build([("x", 0, [1, 2, 3, 3])], [0] * 16)
    other, renamed = build([("x", 0, [1, 2, 3, 3])], [0] * 16, ("d", "c", "b", "a"))
    assert seeda_accuracy(pairs, scores) == 0.0  # every tie is given to the later name
    assert seeda_accuracy(other, renamed) == 1.0
    assert "seeda" not in CONVENTIONS


def test_the_ceiling_is_what_judges_reach_for_each_other() -> None:
    judgments = [
        Judgment("x", 0, (("A",), ("B",)), (1, 2)),
        Judgment("y", 0, (("A",), ("B",)), (1, 2)),
        Judgment("z", 0, (("B",), ("A",)), (1, 2)),
        Judgment("x", 1, (("A",), ("B",)), (1, 1)),
        Judgment("x", 1, (("A",), ("B",)), (1, 2)),
    ]
    table = human_ceiling(compare(judgments))
    # Sentence 0: x-y agree (2 ordered pairs), x-z and y-z disagree (4); sentence 1: one judge.
    assert table.sum() == 6
    assert float(CONVENTIONS["noties"](table)) == pytest.approx((2 - 4) / 6)


def test_units_add_up_to_the_whole() -> None:
    rng = np.random.default_rng(0)
    given_rankings = [
        (str(rng.choice(list("xyz"))), int(rng.integers(4)), rng.integers(1, 4, 4).tolist())
        for _ in range(40)
    ]
    pairs, scores = build(given_rankings, rng.integers(0, 3, 16).tolist())
    for unit, n in (("rankings", 40), ("sentences", 4), ("judges", 3)):
        tables = confusion(pairs, scores, unit=unit)
        assert len(tables) == n
        np.testing.assert_array_equal(tables.sum(0), confusion(pairs, scores))


def test_pairs_of_one_ranking_are_dependent() -> None:
    """Copying every ranking's pairs narrows the interval over pairs, not that over rankings."""
    rng = np.random.default_rng(1)
    quality = np.array([0.0, 0.4, 0.8, 1.2])
    judgments, values = [], rng.normal(size=(4, 60)) + quality[:, None]
    for sentence in range(60):
        seen = quality + rng.normal(size=4)
        ranks = tuple(int((seen > s).sum()) + 1 for s in seen)
        judgments.append(Judgment("x", sentence, tuple((s,) for s in systems), ranks))
    scores = Scores("toy", systems, values.mean(1), values)
    once = compare(judgments)
    five = once.select(np.repeat(np.arange(len(once)), 5))

    def width(pairs: Comparisons, unit: str) -> float:
        value = sentence_level(pairs, scores, unit=unit, resamples=2000).value
        return value.high - value.low

    assert width(five, "pairs") < 0.6 * width(once, "pairs")
    assert width(five, "rankings") == pytest.approx(width(once, "rankings"), rel=0.1)


def test_calibration_is_out_of_sample() -> None:
    """On noise the calibrated accuracy does not beat what always saying tie would reach."""
    rng = np.random.default_rng(2)
    judgments = [
        Judgment("x", s, (("A",), ("B",)), (1, int(rng.integers(1, 3)))) for s in range(400)
    ]
    values = rng.normal(size=(2, 400))
    pairs = compare(judgments)
    scores = Scores("noise", ("A", "B"), values.mean(1), values)
    result = calibrated_accuracy(pairs, scores, folds=5, rng=0)
    ties = float((pairs.outcome == 0).mean())
    assert abs(result.accuracy - ties) < 0.06
    assert len(result.thresholds) == 5


def test_calibration_finds_the_threshold() -> None:
    judgments, values = [], np.zeros((2, 100))
    for s in range(100):
        small = s % 2 == 0
        values[0, s] = 0.1 if small else 1.0
        judgments.append(Judgment("x", s, (("A",), ("B",)), (1, 1 if small else 2)))
    scores = Scores("toy", ("A", "B"), values.mean(1), values)
    result = calibrated_accuracy(compare(judgments), scores)
    assert result.accuracy == 1.0
    assert result.thresholds == (0.1,) * 5
    plain = sentence_level(compare(judgments), scores, convention="accuracy", resamples=0)
    assert plain.value.value == 0.5


def test_one_computation_many_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine conventions: differences once per metric, the ceiling once in all."""
    rng = np.random.default_rng(4)
    given_rankings = [
        (str(rng.choice(list("xyz"))), int(rng.integers(4)), rng.integers(1, 4, 4).tolist())
        for _ in range(30)
    ]
    pairs, scores = build(given_rankings * 2, rng.integers(0, 3, 16).tolist())
    other = replace(
        scores, scorer="other", name="other", label="other", sentences=rng.normal(size=(4, 4))
    )
    alone = {
        (m.scorer, c): sentence_level(pairs, m, convention=c, resamples=50, rng=7)
        for m in (scores, other)
        for c in CONVENTIONS
    }
    calls: list[str] = []

    def counting(module: ModuleType, name: str) -> None:
        function = getattr(module, name)

        def counted(*arguments: object, **keywords: object) -> object:
            calls.append(name)
            return function(*arguments, **keywords)

        monkeypatch.setattr(module, name, counted)

    for name in ("differences", "human_ceiling"):
        counting(pairwise, name)
    with pytest.warns(DataWarning, match="names of systems"):
        found = sentence_levels(
            pairs, [scores, other], get_args(ConventionName), resamples=50, rng=7, folds=2
        )
    assert sorted(calls) == ["differences", "differences", "human_ceiling"]
    assert len(found.levels) == 2 * len(get_args(ConventionName))
    for level in found.levels:
        if level.convention in CONVENTIONS:
            assert level == alone[level.metric, level.convention]
        elif level.convention in ("calibrated", "seeda", "seeda_tau", "row_calibrated"):
            assert np.isnan(level.value.low)
        assert level.in_sample == (level.convention == "row_calibrated")
    assert found.metrics == ("toy", "other")
    for part in ("level:sentence | unit:sentences | resamples:50 | seed:7", "members:all"):
        assert part in found.signature
    assert found.signature.endswith("rankings:60; metric: toy; metric: other")


@pytest.mark.parametrize("convention", [c for c in get_args(ConventionName) if "seeda" not in c])
@pytest.mark.parametrize("resamples", [0, 5])
def test_where_no_two_scored_systems_met(convention: ConventionName, resamples: int) -> None:
    said = [Judgment("a", k, ((x,), (y,)), (1, 2)) for k, (x, y) in enumerate(("AB", "CD"))]
    scores = Scores("m", ("A", "C"), np.array([1.0, 2.0]), np.ones((2, 2)))
    with pytest.raises(InputError, match="no judgment compares two systems that the metrics"):
        sentence_level(compare(said), scores, convention=convention, resamples=resamples)


def test_bad_input() -> None:
    pairs, scores = build([("x", 0, [1, 2, 3, 3])], [0] * 16)
    with pytest.raises(InputError, match="convention 'tau' is unknown"):
        sentence_level(pairs, scores, convention="tau")
    with pytest.raises(InputError, match="no sentence scores"):
        confusion(pairs, replace(scores, sentences=None))
    with pytest.raises(InputError, match="no scores for D"):
        confusion(pairs, Scores("m", ("A", "B", "C"), np.zeros(3), np.zeros((3, 4))))
    late, _ = build([("x", 3, [1, 2, 3, 3])], [0] * 16)
    with pytest.raises(InputError, match=r"sentence 3 .* has 2 sentences"):
        confusion(late, Scores("m", systems, np.zeros(4), np.zeros((4, 2))))
    with pytest.raises(InputError, match="no score for sentence 0"):
        confusion(pairs, Scores("m", systems, np.zeros(4), np.full((4, 2), np.nan)))
    with pytest.raises(InputError, match="folds"):
        calibrated_accuracy(pairs, scores)


def test_a_fold_has_no_part_in_its_threshold() -> None:
    """Against a plain search: the threshold of a fold is the best one on all other sentences."""
    rng = np.random.default_rng(4)
    judgments, values = [], rng.integers(0, 6, (2, 30)) / 2
    for s in range(30):  # people see large differences more often than small ones
        seen = rng.normal() + (values[0, s] - values[1, s])
        ranks = (1, 1) if abs(seen) < 1.2 else (1, 2) if seen > 0 else (2, 1)
        judgments.append(Judgment("x", s, (("A",), ("B",)), ranks))
    pairs = compare(judgments)
    scores = Scores("toy", ("A", "B"), values.mean(1), values)
    folds = 6
    fold = np.random.default_rng(11).permutation(30) % folds  # as sentences are dealt
    difference = values[0] - values[1]
    outcome = np.array([np.sign(j.ranks[1] - j.ranks[0]) for j in judgments])

    def right(threshold: float, rows: np.ndarray) -> int:
        said = np.where(np.abs(difference) <= threshold, 0, np.sign(difference))
        return int((said == outcome)[rows].sum())

    levels = sorted({0.0, *np.abs(difference)})
    best = [max(levels, key=lambda t: (right(t, fold != k), -t)) for k in range(folds)]
    expected = sum(right(best[k], fold == k) for k in range(folds)) / 30
    found = calibrated_accuracy(pairs, scores, folds=folds, rng=11)
    assert found.thresholds == tuple(best)
    assert found.accuracy == pytest.approx(expected)
    cheating = [max(levels, key=lambda t: (right(t, fold >= 0), -t))] * folds
    assert list(found.thresholds) != cheating
