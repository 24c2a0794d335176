"""Comparisons: the published counts, what must hold for any judgments; sizes of campaigns."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from errata.core.errors import InputError
from errata.data import Judgment, Members, Scores
from errata.human import compare, head_to_head, rank
from errata.human.bootstrap import bootstrap_counts
from errata.human.comparisons import Comparisons, Outcome, Unit, compare_columns
from errata.human.output_pairs import ranking_columns
from errata.human.plan import next_pairs, plan
from errata.human.ranking import ExpectedWins, NetWins
from human_data import grundkiewicz, grundkiewicz_comparisons, judgments

some_judgments = st.lists(judgments(), max_size=12)


def naive(given_: list[Judgment]) -> dict[tuple[str, str], list[int]]:
    """Wins of the first, ties, wins of the second, per pair sorted by name."""
    table: dict[tuple[str, str], list[int]] = {}
    for judgment in given_:
        ranks = {
            name: rank
            for group, rank in zip(judgment.groups, judgment.ranks, strict=True)
            for name in group
            if rank is not None
        }
        for a, b in combinations(sorted(ranks), 2):
            cell = table.setdefault((a, b), [0, 0, 0])
            cell[0 if ranks[a] < ranks[b] else 1 if ranks[a] == ranks[b] else 2] += 1
    return table


def test_published_counts(oracles: Path) -> None:
    known = json.loads((oracles / "meta/grundkiewicz_counts.json").read_text())
    expanded, read = grundkiewicz_comparisons(), grundkiewicz()
    unexpanded = compare(read, members="sample")
    assert (len(read), sum(not j.groups for j in read)) == (
        known["n_ranking_items"],
        known["n_skipped_items"],
    )
    assert (
        (len(expanded), len(unexpanded))
        == (known["expanded"], known["unexpanded"])
        == (109_098, 20_516)
    )
    assert expanded.rankings == 2319
    ties = [int((c.outcome == Outcome.TIE).sum()) for c in (expanded, unexpanded)]
    assert ties == [known["expanded_ties"], known["unexpanded_ties"]]
    expected = compare(read, members="expected")
    assert expected.total == pytest.approx(20_516, abs=1e-6)
    assert expected.weight[expected.outcome == Outcome.TIE].sum() == pytest.approx(5694, abs=1e-6)


def test_published_counts_per_judge(oracles: Path) -> None:
    """Table 1: rankings, unexpanded pairs and ties, expanded pairs and ties."""
    known = json.loads((oracles / "meta/grundkiewicz_counts.json").read_text())["per_annotator"]
    read = grundkiewicz()
    tables = [compare(read, members=m).per_judge() for m in ("sample", "all")]
    for j, judge in enumerate(grundkiewicz_comparisons().judges):
        row = [sum(r.judge == judge for r in read)]
        for wins, ties in tables:
            row += [int(wins[j].sum() + ties[j].sum() / 2), int(ties[j].sum() / 2)]
        assert row == known[judge[-1]], judge


def test_published_head_to_head(oracles: Path) -> None:
    known = json.loads((oracles / "meta/grundkiewicz_head2head.json").read_text())
    found = head_to_head(grundkiewicz_comparisons())
    assert len(known) == 156
    for pair, values in known.items():
        row, column = (found.systems.index(name) for name in pair.split("|"))
        assert found.counts.wins[column, row] == values["n_col"]
        assert found.counts.wins[row, column] == values["n_row"]
        assert found.fraction[column, row] == pytest.approx(values["frac_col_better"], abs=1e-15)
        assert found.p[column, row] == pytest.approx(values["p"], rel=1e-9)


@settings(deadline=None)
@given(some_judgments)
def test_counts_agree_with_a_plain_loop(given_: list[Judgment]) -> None:
    found = compare(given_)
    counts = found.counts()
    table = {
        (found.systems[a], found.systems[b]): [
            counts.wins[a, b],
            counts.ties[a, b],
            counts.wins[b, a],
        ]
        for a in range(len(found.systems))
        for b in range(a + 1, len(found.systems))
        if counts.games[a, b]
    }
    assert table == naive(given_)
    assert counts.total == found.total == len(found)
    assert (counts.ties == counts.ties.T).all()


@settings(deadline=None)
@given(some_judgments, st.sampled_from(get_args(Unit)), st.integers(1, 4))
def test_merging_and_batches_lose_nothing(given_: list[Judgment], unit: str, size: int) -> None:
    whole = compare(given_)
    kept = compare(given_, keep=unit, batch=size)
    assert same(compare(given_, batch=size), whole)
    assert kept.systems == whole.systems
    assert kept.rankings == whole.rankings
    for a, b in zip(kept.counts(), whole.counts(), strict=True):
        assert (a == b).all()
    if unit != "pairs":
        assert kept.units(unit)[1] == whole.units(unit)[1]
    if unit == "judges":
        for a, b in zip(kept.per_judge(), whole.per_judge(), strict=True):
            assert (a == b).all()


@settings(deadline=None)
@given(some_judgments, st.integers(1, 4))
def test_columns_of_rankings_are_compared_in_batches(given_: list[Judgment], size: int) -> None:
    columns = ranking_columns(given_)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("errata.human.comparisons.BATCH_OF_COLUMNS", size)
        found = compare_columns(columns)
    whole = compare(given_, keep="sentences", members="all")
    assert (found.systems, found.rankings) == (whole.systems, len(given_))
    for a, b in zip(found.counts(), whole.counts(), strict=True):
        np.testing.assert_array_equal(a, b)


def same(a: Comparisons, b: Comparisons) -> bool:
    return all(
        np.array_equal(getattr(a, c), getattr(b, c))
        for c in ("first", "second", "outcome", "weight", "judge", "sentence", "ranking")
    )


@pytest.mark.parametrize("members", ["sample", "expected"])
def test_members_are_asked_of_nobody_where_all_are_alone(members: Members) -> None:
    pairs = [Judgment("ann", i, (("A",), ("B",)), (1, 2)) for i in range(3)]
    with pytest.raises(InputError, match=f"members='{members}' cannot do anything"):
        compare(pairs, members=members)


def test_parts_of_one_ranking_count_once() -> None:
    part = Judgment("ann", 0, (("A",), ("B",)), (1, 2), "i")
    assert compare([part, replace(part, groups=(("C",), ("D",)))]).rankings == 1
    assert compare([part, replace(part, judge="bob")]).rankings == 2
    nameless = replace(part, item="")
    assert compare([nameless, nameless]).rankings == 2


@pytest.mark.parametrize(
    ("shown", "numbers"),
    [
        (("AB i", "AB j", "BC i"), [0, 1, 0]),  # pairs, wherever they stand
        (("AB i", "AB i", "BC j"), [0, 0, 1]),
        (("ABC i", "AB j", "ABC i"), [0, 0, 0, 1, 2, 2, 2]),  # a whole ranking, made again
        (("ABC i", "AB j", "AB i"), [0, 0, 0, 1, 2]),
        (("AB i", "AB j", "ABC i"), [0, 1, 2, 2, 2]),
        (("AB i", "ABC i", "AB i"), [0, 0, 0, 0, 0]),  # what follows each other
        (("AB", "AB", "BC"), [0, 1, 2]),  # without an item nothing belongs together
    ],
)
def test_which_judgments_are_one_ranking(shown: tuple[str, ...], numbers: list[int]) -> None:
    found = []
    for text in shown:
        names, _, item = text.partition(" ")
        groups = tuple((name,) for name in names)
        found.append(Judgment("ann", 0, groups, tuple(range(1, len(names) + 1)), item))
    pairs = compare(found)
    assert (pairs.ranking.tolist(), pairs.rankings) == (numbers, max(numbers) + 1)


def test_without_a_system() -> None:
    all_, fewer = grundkiewicz_comparisons(), grundkiewicz_comparisons().without("INPUT", "IPN")
    keep = [s for s, name in enumerate(all_.systems) if name not in ("INPUT", "IPN")]
    assert (fewer.counts().wins == all_.counts().wins[np.ix_(keep, keep)]).all()
    with pytest.raises(InputError, match="nothing is known of the system 'HAL'"):
        all_.without("HAL")


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["pairs", "rankings", "sentences", "judges"])
def test_bootstrap_has_the_mean_and_spread_it_should(unit: str) -> None:
    """Against drawing rows by hand: the same distribution of one cell."""
    ranks = np.random.default_rng(7).integers(1, 4, (30, 3)).tolist()
    data = compare(
        [
            Judgment(f"j{i % 3}", i % 5, (("A",), ("B",), ("C",)), tuple(row))
            for i, row in enumerate(ranks)
        ]
    )
    number, units = data.units(unit)
    rng = np.random.default_rng(0)
    rows = [
        np.concatenate([np.flatnonzero(number == u) for u in rng.integers(0, units, units)])
        for _ in range(4000)
    ]
    by_hand = np.array([data.select(r).counts().wins[0, 1] for r in rows])
    found = bootstrap_counts(data, unit, 4000, 1).wins[:, 0, 1]
    error = by_hand.std() / np.sqrt(2000)
    assert abs(found.mean() - by_hand.mean()) < 4 * error
    assert abs(found.std() / by_hand.std() - 1) < 0.06


@pytest.mark.parametrize("unit", get_args(Unit))
def test_balanced_resamples_draw_every_unit_equally_often(unit: str) -> None:
    """Together they hold every comparison as often as there are resamples; each is a resample."""
    data = grundkiewicz_comparisons()
    found, whole = bootstrap_counts(data, unit, 40, 0, balanced=True), data.counts()
    for drawn, given_ in zip(found, whole, strict=True):
        assert (drawn.sum(axis=0) == 40 * given_).all()
        assert not (drawn == given_).all(axis=(1, 2)).any()
    if unit == "pairs":
        assert (found.wins.sum((1, 2)) + found.ties.sum((1, 2)) / 2 == data.total).all()


def test_balanced_misuse() -> None:
    read = grundkiewicz()[:50]
    with pytest.raises(InputError, match="parts of comparisons"):
        bootstrap_counts(compare(read, members="expected"), "pairs", 10, 0, balanced=True)
    assert bootstrap_counts(compare(read, members="expected"), "rankings", 10, 0, balanced=True)
    many = replace(compare(read), weight=np.full(len(compare(read)), 1e6))
    with pytest.raises(InputError, match="too many"):
        bootstrap_counts(many, "pairs", 1000, 0, balanced=True)


def test_misuse() -> None:
    data = compare([Judgment("ann", 0, (("A",), ("B",)), (1, 2))], keep="pairs")
    with pytest.raises(InputError, match="the judges of these comparisons were not kept"):
        data.per_judge()
    for huge in (
        Judgment("ann", 2**31, (("A",), ("B",)), (1, 2)),
        Judgment("ann", 0, (("A",), ("B",)), (1, 2**63)),
    ):
        with pytest.raises(InputError, match="too large"):
            compare([huge])
    with pytest.raises(InputError, match="members 'some' is unknown"):
        compare([], members="some")
    with pytest.raises(InputError, match="unit 'weeks' is unknown"):
        bootstrap_counts(data, "weeks", 10, 0)


def pilot(share: float, n: int = 400) -> list[Judgment]:
    """A beats B in a share of single comparisons, each on a sentence of its own."""
    won = round(share * n)
    return [
        Judgment("ann", i, (("A",), ("B",)), (1, 2) if i < won else (2, 1), seconds=30.0)
        for i in range(n)
    ]


@pytest.mark.slow
def test_size_is_that_of_theory() -> None:
    """A binomial campaign: n = ((z_0.975 + z_0.8) sd / difference)²."""
    data = compare(pilot(0.55))
    found = plan(data, NetWins(), "B", "A", simulations=4000, seconds=30.0)
    assert (found.better, found.worse) == ("A", "B")
    assert found.difference == pytest.approx(0.2)
    sd = 2 * np.sqrt(1 - 0.1**2)  # of the difference of the two net win rates, +1 or -1 each
    theory = ((norm.ppf(0.975) + norm.ppf(0.8)) * sd / 0.2) ** 2
    assert found.rankings == pytest.approx(theory, rel=0.1)
    assert found.more == found.rankings - 400
    assert found.hours == pytest.approx(found.more * 30 / 3600)


def test_equal_systems_never_separate() -> None:
    found = plan(compare(pilot(0.5)), NetWins(), "A", "B", largest=20)
    assert found.rankings is found.more is found.hours is None
    assert found.power.max() < 0.1


def test_gain_is_the_expected_gain() -> None:
    """Against simulating what a batch would teach."""
    rng = np.random.default_rng(1)
    values = np.array([0.03, 0.0])
    resampled = np.column_stack(
        [values[0] + rng.normal(scale=0.05, size=200_000), np.zeros(200_000)]
    )
    data = compare([Judgment("ann", i, (("A",), ("B",)), (1, 1)) for i in range(300)])
    gain = next_pairs(Scores("x", ("A", "B"), values, resampled=resampled), data, batch=100).gain[0]
    learned = 0.03 + rng.normal(scale=0.05 * np.sqrt(100 / 400), size=2_000_000)
    assert gain == pytest.approx(np.maximum(learned, 0).mean() - 0.03, rel=0.02)


def test_what_cannot_be_planned() -> None:
    data = compare(pilot(0.6))
    with pytest.raises(InputError, match="nothing is known of the system 'C'"):
        plan(data, NetWins(), "A", "C")
    with pytest.raises(InputError, match="the same"):
        plan(data, NetWins(), "A", "A")
    with pytest.raises(InputError, match="confidence"):
        plan(data, NetWins(), "A", "B", confidence=1.0)
    with pytest.raises(InputError, match="a pilot of one"):
        plan(compare(pilot(1, n=1)), NetWins(), "A", "B")
    assert plan(compare(pilot(1, n=2)), NetWins(), "A", "B").better == "A"
    with pytest.raises(InputError, match="needs resamples"):
        next_pairs(rank(ExpectedWins(), data, resamples=0), data)
