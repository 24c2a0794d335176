"""Decisions and κ worked out many at a time, against loops over judgments and pairs of judges."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from errata.data import Judgment
from errata.human import agreement, bootstrap, compare, parse_ranker, rank
from errata.human import output_pairs as human_output_pairs
from errata.human.agreement import ChanceModel, KappaWeights, judge_agreement, judge_tallies
from errata.human.output_pairs import Orientation, OutputPairs, output_pairs


def random_judgments(rng: np.random.Generator, many: int, *, timed: bool) -> list[Judgment]:
    """Rankings of 0 to 5 outputs, some shared, some not ranked, some again by the same judge."""
    made = []
    for _ in range(many):
        names = rng.permutation(list("ABCDEFGH")).tolist()
        cuts = np.cumsum(rng.integers(1, 3, rng.integers(0, 6)))
        groups = tuple(tuple(group) for group in np.split(names, cuts)[:-1] if len(group))
        groups = tuple(tuple(map(str, group)) for group in groups)
        ranks = tuple(None if rng.random() < 0.05 else int(rng.integers(1, 4)) for _ in groups)
        time = f"2025-01-01T00:{rng.integers(60):02}:{rng.integers(60):02}Z" if timed else None
        judge, sentence = f"j{rng.integers(6)}", int(rng.integers(8))
        made.append(Judgment(judge, sentence, groups, ranks, seconds=1.0, time=time))
    return made


@pytest.fixture(autouse=True, params=[7, 20_000])
def few_at_a_time(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many rankings are looked at together decides nothing."""
    monkeypatch.setattr(human_output_pairs, "BATCH", request.param)
    monkeypatch.setattr(agreement, "PAIRS", request.param)
    monkeypatch.setattr(agreement, "KEYS", request.param)


def pairs_one_by_one(judgments: list[Judgment], orientation: Orientation) -> OutputPairs:
    judges: dict[str, int] = {}
    keys: dict[tuple[int, str, str], int] = {}
    rows = []
    for judgment in sorted(judgments, key=lambda j: j.time or ""):
        judge = judges.setdefault(judgment.judge, len(judges))
        ranked = [
            (" ".join(sorted(group)), rank)
            for group, rank in zip(judgment.groups, judgment.ranks, strict=True)
            if rank is not None
        ]
        for (a, rank_a), (b, rank_b) in combinations(ranked, 2):
            outcome = (rank_b > rank_a) - (rank_b < rank_a)
            if a > b:
                a, b = b, a
                outcome = -outcome if orientation == "consistent" else outcome
            rows.append((judge, keys.setdefault((judgment.sentence, a, b), len(keys)), outcome))
    sentences = tuple(dict.fromkeys(judgment.sentence for judgment in judgments))
    names = tuple(sorted({name for _, *both in keys for name in both}))
    codes = [(sentences.index(s), names.index(a), names.index(b)) for s, a, b in keys]
    judge, key, outcome = np.array(rows, np.int32).reshape(-1, 3).T
    code = np.array(codes, np.int32).reshape(-1, 3)
    return OutputPairs(tuple(judges), sentences, names, code, judge, key, outcome.astype(np.int8))


def kappa_one_by_one(
    pairs: OutputPairs, chance: ChanceModel, weights: KappaWeights
) -> Iterator[tuple[str, str, float, float, float]]:
    """κ, count and error of each two judges, with the operations in the order of the formula."""
    apart = np.abs(np.subtract.outer(np.arange(3), np.arange(3))).astype(np.float64)
    distance = {"none": (apart > 0) * 1.0, "linear": apart / 2, "quadratic": apart**2 / 4}[weights]
    by_name = sorted(range(len(pairs.judges)), key=pairs.judges.__getitem__)
    for a, b in combinations_with_replacement(by_name, 2):
        one, two = (dict(zip(*judge_tallies(pairs, j), strict=True)) for j in (a, b))
        table, pooled = np.zeros((3, 3)), np.zeros(3)
        for key in one.keys() & two.keys():
            if a != b:
                table += np.outer(one[key], two[key])
                pooled += one[key] + two[key]
            elif one[key].sum() > 1:
                table += (np.outer(one[key], one[key]) - np.diag(one[key])) / 2
                pooled += one[key]
        count = table.sum()
        if chance == "symmetric":
            pooled = (pooled + pooled[::-1]) / 2
        value = error = np.nan
        if count:
            by_chance = np.outer(pooled, pooled) / pooled.sum() ** 2
            if chance == "cohen":
                by_chance = np.outer(table.sum(1), table.sum(0)) / count**2
            expected = 1 - (distance * by_chance).sum()
            observed = 1 - (distance * table).sum() / count
            if expected != 1:
                value = (observed - expected) / (1 - expected)
                error = np.sqrt(max(0.0, observed * (1 - observed)) / count) / (1 - expected)
        yield pairs.judges[a], pairs.judges[b], value, count, error


@pytest.mark.parametrize("orientation", ["consistent", "presented"])
@pytest.mark.parametrize("timed", [True, False])
def test_pairs_are_those_of_the_loop(timed: bool, orientation: Orientation) -> None:
    rng = np.random.default_rng(4)
    for many in (0, 1, 30, 300):
        judgments = random_judgments(rng, many, timed=timed)
        found = output_pairs(judgments, orientation=orientation)
        known = pairs_one_by_one(judgments, orientation)
        assert (found.judges, found.keys) == (known.judges, known.keys)
        for column in ("judge", "key", "outcome"):
            np.testing.assert_array_equal(getattr(found, column), getattr(known, column))
            assert getattr(found, column).dtype == getattr(known, column).dtype


def test_ranks_beyond_any_word_are_compared() -> None:
    large = Judgment("ann", 0, (("A",), ("B",), ("C",)), (10**30, 1, 10**30))
    assert output_pairs([large]).outcome.tolist() == [-1, 0, 1]


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
@pytest.mark.parametrize("chance", ["pooled", "cohen", "symmetric"])
@pytest.mark.parametrize("block", [1, 10**6])
def test_kappa_has_the_digits_of_the_loop(
    chance: ChanceModel, weights: KappaWeights, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All digits: not only close, whatever number of judges is looked at together."""
    monkeypatch.setattr(agreement, "BLOCK", block)
    rng = np.random.default_rng(7)
    for many in (1, 25, 250):
        judgments = random_judgments(rng, many, timed=False)
        if many == 25:  # everything is a tie, and chance cannot disagree
            judgments = [
                Judgment(j.judge, j.sentence, j.groups, (1,) * len(j.ranks)) for j in judgments
            ]
        found = judge_agreement(judgments, chance=chance, weights=weights, minimum=2)
        place = {name: k for k, name in enumerate(found.judges)}
        known = kappa_one_by_one(output_pairs(judgments), chance, weights)
        for one, two, value, count, error in known:
            a, b = place[one], place[two]
            got = [found.kappa[a, b], found.counts[a, b], found.errors[a, b]]
            np.testing.assert_array_equal(got, [value, count, error])
            assert (found.counts == found.counts.T).all()


def test_seconds_that_nobody_noted_are_not_nought() -> None:
    noted = [Judgment("ann", k, (("A",), ("B",)), (1, 2), seconds=s) for k, s in enumerate((4, 8))]
    silent = [Judgment("bo", 0, (("A",), ("B",)), (1, 2)), replace(noted[0], judge="cy")]
    found = judge_agreement([*noted, *silent, replace(silent[0], judge="cy")])
    np.testing.assert_array_equal(found.seconds, [6.0, np.nan, 4.0])


@pytest.mark.parametrize("ranker", ["net_wins", "bradley_terry", "expected_wins"])
def test_full_tables_are_drawn_with_the_digits_of_sparse_ones(
    ranker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    systems = "ABCDEFGHIJKLMNO"  # of fewer, sums come to the same in any order
    rng = np.random.default_rng(3)
    groups = tuple((name,) for name in systems)
    given = [
        Judgment("ann", k % 30, groups, tuple(rng.integers(1, 4, 15).tolist())) for k in range(200)
    ]
    found = []
    for full in (0.0, 2.0):
        monkeypatch.setattr(bootstrap, "FULL", full)
        scores = rank(parse_ranker(ranker), compare(given, keep="sentences"), resamples=200)
        found.append(scores.resampled)
    np.testing.assert_array_equal(*found)
