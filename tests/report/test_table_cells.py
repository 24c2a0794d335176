"""What stands in the cells of the tables: the right figure beside the right name."""

from __future__ import annotations

import numpy as np
import pytest

from errata import stress
from errata.core.stats import Interval
from errata.data import Corpus, Judgment, Scores
from errata.human import compare, head_to_head, parse_ranker, rank
from errata.human import tables as human_tables
from errata.human.agreement import judge_agreement, judge_correlations
from errata.human.plan import NextPairs, Plan, next_pairs, plan
from errata.human.ranking import cluster
from errata.meta import tables as meta_tables
from errata.meta.matching import match
from errata.meta.sentence_level import sentence_levels
from errata.meta.system_level import leave_one_out, system_level, windows
from errata.metrics import parse
from errata.scoring import tables as scoring_tables
from errata.stress import stress as stress_card
from errata.tables.cells import BestScore, PValue, Ranks

DRAWN = np.array([[0.2, 0.5, 0.5, 0.1], [0.4, 0.5, 0.3, 0.1], [0.6, 0.5, 0.4, 0.2]])
SCORES = Scores(
    "m(x=1)",
    ("A", "B", "C", "D"),
    np.array([0.4, 0.5, 0.4, 0.1]),
    sentences=np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, np.nan]]),
    parts={"P": np.array([0.1, 0.2, 0.3, 0.4]), "TP": np.array([1, 2, 3, 4])},
    resampled=DRAWN,
    sentence_parts={"R": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])},
    headline="F",
    name="m",
)


def test_equal_scores_share_a_rank_and_the_next_is_counted_on() -> None:
    table = scoring_tables.score_table(SCORES, confidence=0.5)
    assert table.columns == ("rank", "system", "F", "50 % interval", "P", "TP")
    assert [row[:3] for row in table.rows] == [
        (1, "B", 0.5),
        (2, "A", 0.4),
        (2, "C", 0.4),
        (4, "D", 0.1),
    ]
    low, high = np.percentile(DRAWN[:, 0], [25, 75])
    assert table.rows[1][3] == Interval(pytest.approx(low), pytest.approx(high))
    assert [row[4:] for row in table.rows] == [(0.2, 2), (0.1, 1), (0.3, 3), (0.4, 4)]


def test_the_summary_follows_the_first_metric() -> None:
    other = Scores("n()", SCORES.systems, np.array([1.0, 2.0, 3.0, 4.0]), headline="N", name="n")
    table = scoring_tables.summary_table([SCORES, other], confidence=0.5)
    assert table.columns == ("system", "m F", "N")
    assert [row[0] for row in table.rows] == ["B", "A", "C", "D"]
    first, second = table.rows[2][1:]
    assert isinstance(first, BestScore)
    assert isinstance(second, BestScore)
    assert first.value == 0.4
    assert (first.low, first.high) == tuple(np.percentile(DRAWN[:, 2], [25, 75]))
    assert second.value == 3.0


def test_sentences_are_counted_from_one() -> None:
    table = scoring_tables.sentence_score_table(SCORES)
    assert table.columns == ("system", "sentence", "F", "R")
    assert table.rows[:3] == (("A", 1, 0.1, 1.0), ("A", 2, 0.2, 2.0), ("B", 1, 0.3, 3.0))
    assert len(table.rows) == 8


def test_a_small_p_says_that_the_row_beats_the_column() -> None:
    table = scoring_tables.comparison_table(SCORES)
    assert table.columns == ("better than", "B", "A", "C", "D")
    best, *_, worst = table.rows
    assert (best[0], worst[0]) == ("B", "D")
    assert best[1] is None
    assert best[4] == (0 + 1) / 4  # in no resample of three does D come up to B
    assert worst[1] == (3 + 1) / 4


HUMAN = Scores("people()", ("A", "B", "C", "D", "E"), np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
GOOD = Scores("good()", HUMAN.systems, np.array([1.0, 2.0, 3.1, 4.0, 5.0]), name="good")
ODD = Scores("odd()", HUMAN.systems, np.array([9.0, 2.0, 3.0, 3.5, 5.0]), name="odd")


def test_the_system_that_matters_most_is_left_out_first() -> None:
    found = leave_one_out(match(HUMAN, [GOOD, ODD]))
    table = meta_tables.leave_one_out_table(found)
    assert table.columns == ("without", "good", "odd")
    assert [row[0] for row in table.rows[:2]] == ["(none)", "A"]
    whole = [float(np.corrcoef(HUMAN.values, m.values)[0, 1]) for m in (GOOD, ODD)]
    np.testing.assert_allclose(np.array(table.rows[0][1:], float), whole)
    kept = [i for i, name in enumerate(HUMAN.systems) if name != "A"]
    without = [float(np.corrcoef(HUMAN.values[kept], m.values[kept])[0, 1]) for m in (GOOD, ODD)]
    np.testing.assert_allclose(np.array(table.rows[1][1:], float), without)
    changes = [
        max(abs(a - b) for a, b in zip(np.array(row[1:], float), whole, strict=True))
        for row in table.rows[1:]
    ]
    assert changes == sorted(changes, reverse=True)


def test_windows_name_the_systems_they_are_of() -> None:
    table = meta_tables.window_table(windows(match(HUMAN, [GOOD, ODD]), 3))
    assert [row[0] for row in table.rows] == ["E D C", "D C B", "C B A"]
    expected = float(np.corrcoef(HUMAN.values[:3], ODD.values[:3])[0, 1])
    assert table.rows[2][2] == pytest.approx(expected)


def test_metrics_stand_with_their_own_figures_the_best_first() -> None:
    found = system_level(match(HUMAN, [ODD, GOOD]), resamples=20, rng=0)
    table = meta_tables.system_level_table(found)
    assert [row[0] for row in table.rows] == ["good", "odd"]
    place = table.columns.index("r")
    assert table.rows[1][place] == pytest.approx(np.corrcoef(HUMAN.values, ODD.values)[0, 1])
    pairs = meta_tables.metric_pair_table(found)
    assert pairs.rows[0][:2] == ("good", "odd")
    lead = [float(np.corrcoef(HUMAN.values, m.values)[0, 1]) for m in (GOOD, ODD)]
    assert pairs.rows[0][2] == pytest.approx(lead[0] - lead[1])


def test_signs_against_people_are_counted_where_they_belong() -> None:
    """Agreement twice, a tie of the metric, of people, of both, and disagreement."""
    said = [
        Judgment("j", 0, (("A",), ("B",)), (1, 2)),
        Judgment("j", 1, (("A",), ("B",)), (1, 2)),
        Judgment("j", 2, (("A",), ("B",)), (1, 1)),
        Judgment("j", 3, (("A",), ("B",)), (2, 1)),
        Judgment("j", 4, (("A",), ("B",)), (1, 2)),
        Judgment("j", 5, (("A",), ("B",)), (1, 1)),
    ]
    metric = Scores(
        "m()",
        ("A", "B"),
        np.array([0.5, 0.4]),
        sentences=np.array([[0.9, 0.5, 0.7, 0.8, 0.9, 0.4], [0.1, 0.5, 0.2, 0.3, 0.2, 0.4]]),
        name="m",
    )
    found = sentence_levels(compare(said), [metric], ["noties"], resamples=0)
    (table,) = meta_tables.confusion_tables(found)
    assert table.columns == ("people", "metric agrees", "metric ties", "metric disagrees")
    assert table.rows == (("one is better", 2, 1, 1), ("tie", None, 1, 1))
    assert [type(cell) for row in table.rows for cell in row[2:]] == [int] * 4


RANKED = [
    Judgment(judge, i, (("A",), ("B",), ("C",)), ranks, seconds=10.0 + i)
    for i, (judge, ranks) in enumerate(
        [("x", (1, 2, 3))] * 5
        + [("y", (1, 3, 2))] * 3
        + [("y", (2, 1, 3))]
        + [("x", (1, 1, 2))]
        + [("x", (3, 2, 1))]
    )
]


def test_a_ranking_has_each_systems_own_counts() -> None:
    ranking = cluster(rank(parse_ranker("expected_wins"), compare(RANKED), resamples=50, rng=0))
    table = human_tables.ranking_table(ranking)
    assert [row[2] for row in table.rows] == ["A", "B", "C"]
    at = {name: table.columns.index(name) for name in ("wins", "ties", "losses")}
    first, second, third = table.rows
    assert [first[at[c]] for c in at] == [18, 1, 3]
    assert [second[at[c]] for c in at] == [9, 1, 12]
    assert [third[at[c]] for c in at] == [5, 0, 17]
    assert first[1] == Ranks(int(ranking.low[0]), int(ranking.high[0]))
    assert first[4] == Interval(*ranking.scores.interval()[ranking.order[0]].tolist())


def test_the_column_beats_the_row_head_to_head() -> None:
    comparisons = compare(RANKED)
    table = human_tables.head_to_head_table(head_to_head(comparisons), (0, 1, 2))
    assert table.columns == ("row", "A", "B", "C")
    cell = table.rows[2][1]  # C's row, A's column: A beats C in 10 of 11
    assert isinstance(cell, PValue)
    assert cell.value == pytest.approx(10 / 11)
    assert table.rows[0][1] is None


def test_rho_stands_above_and_r_below_the_diagonal() -> None:
    found = judge_correlations(compare(RANKED, keep="judges"), parse_ranker("expected_wins"))
    table = human_tables.correlation_table(found)
    assert table.columns == ("judge", "x", "y", "ρ others", "r others")
    assert table.rows[0][2] == found.rho[0, 1]
    assert table.rows[1][1] == found.r[1, 0]
    assert table.rows[0][2] != table.rows[1][1]
    assert table.rows[1][3:] == (found.rest_rho[1], found.rest_r[1])


def test_agreement_counts_pairs_between_and_within() -> None:
    again = [Judgment(j.judge, j.sentence % 3, j.groups, j.ranks, seconds=4.0) for j in RANKED]
    found = judge_agreement(again, minimum=1)
    summary, matrix, judges = human_tables.agreement_tables(found)
    x, y = (found.judges.index(name) for name in "xy")
    assert summary.rows[0][1:] == (found.between, float(found.counts[x, y]))
    assert summary.rows[1][1:] == (found.within, float(found.counts[x, x] + found.counts[y, y]))
    assert matrix.rows[x][1 + y] == found.kappa[x, y]
    assert judges.rows[x][:2] == ("x", 7)
    assert judges.rows[x][3] == found.kappa[x, x]
    assert judges.rows[x][2] == found.kappa[x, y]


def test_a_plan_shows_the_power_of_every_size() -> None:
    comparisons = compare(RANKED * 6)
    ranker = parse_ranker("expected_wins")
    found = plan(comparisons, ranker, "B", "A", simulations=60, rng=0, seconds=30.0)
    what, power = human_tables.plan_tables(found)
    rows = {str(row[0]): row[1] for row in what.rows}
    assert rows["systems"] == "A > B"
    assert rows["rankings in the pilot"] == len(RANKED) * 6
    assert rows["median seconds a ranking"] == 30.0
    assert power.rows[0] == (int(found.sizes[0]), float(found.power[0]))
    scored = rank(ranker, comparisons, resamples=50, rng=0)
    pairs = next_pairs(scored, comparisons)
    table = human_tables.next_pairs_table(pairs, 2)
    assert len(table.rows) == 2
    assert table.rows[0][:2] == pairs.pairs[0]
    assert table.rows[0][2:] == (pairs.gain[0], pairs.doubt[0], pairs.compared[0])


def test_what_is_needed_may_lie_beyond_what_was_tried() -> None:
    sizes, power = np.array([20, 40, 80]), np.array([0.1, 0.5, 0.9])
    beyond, below = Interval(80, np.inf), Interval(-np.inf, 20)
    for needed, shown in ((None, beyond), (20, below), (40, 40), (80, 80)):
        found = Plan("A", "B", 0.1, 20, sizes, power, needed, None, None, None, ())
        rows = {str(row[0]): row[1] for row in human_tables.plan_tables(found)[0].rows}
        assert rows["rankings needed"] == shown


def test_a_stress_card_has_each_damages_own_score() -> None:
    corpus = Corpus.from_texts(
        ["He go home now .", "I likes green tea ."], [["He goes home now .", "I like green tea ."]]
    )
    card = stress_card(parse("gleu"), corpus, resamples=20)
    table = stress.stress_table(card)
    assert table.rows[0][:3] == (f"({card.base})", float(card.scores.values[0]), None)
    for row, perturbation, value, change in zip(
        table.rows[1:], card.perturbations, card.scores.values[1:], card.changes, strict=True
    ):
        assert row[:3] == (perturbation.name, value, change)
        assert row[2] == pytest.approx(value - card.scores.values[0])


def test_ten_pairs_are_proposed_unless_told() -> None:
    names = tuple((f"A{k}", f"B{k}") for k in range(12))
    numbers = np.arange(12.0)
    found = NextPairs(names, numbers, numbers / 20, numbers * 3, 100)
    assert [row[0] for row in human_tables.next_pairs_table(found).rows] == [
        f"A{k}" for k in range(10)
    ]
    assert human_tables.next_pairs_table(found, 2).rows[1] == ("A1", "B1", 1.0, 0.05, 3.0)


def test_a_plain_ranking_has_ranks_and_whole_counts() -> None:
    parts = {"wins": np.array([1, 2, 2]), "ties": np.array([0.5, 0.0, 0.0])}
    values = np.array([0.1, 0.7, 0.7 + 1e-11])
    table = human_tables.plain_ranking_table(Scores("x()", ("A", "B", "C"), values, parts=parts))
    assert [row[:2] for row in table.rows] == [(1, "B"), (1, "C"), (3, "A")]
    assert [row[3:] for row in table.rows] == [(2, 0.0), (2, 0.0), (1, 0.5)]
    assert table.texts()[2][2:] == ["0.100", "1", "0.5"]
