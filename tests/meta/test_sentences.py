"""Sentence level: the published counts, hand-made tables, and what must not matter."""

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from errata.core.errors import InputError
from errata.data import Judgment, Scores
from errata.human.comparisons import Comparisons, compare
from errata.meta.pairwise import CONVENTIONS, confusion, sign_tables
from errata.meta.sentence_level import (
    ConventionName,
    calibrated_accuracy,
    seeda_accuracy,
    sentence_level,
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


systems = ("A", "B", "C", "D")


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


def test_seeda_depends_on_names_and_is_kept_apart() -> None:
    pairs, scores = build([("x", 0, [1, 2, 3, 3])], [0] * 16)
    other, renamed = build([("x", 0, [1, 2, 3, 3])], [0] * 16, ("d", "c", "b", "a"))
    assert seeda_accuracy(pairs, scores) == 0.0  # every tie is given to the later name
    assert seeda_accuracy(other, renamed) == 1.0
    assert "seeda" not in CONVENTIONS


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
