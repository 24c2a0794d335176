"""What stands in the cells of the tables: the right figure beside the right name."""

from __future__ import annotations

import numpy as np
import pytest

from errata.core.stats import Interval
from errata.data import Judgment, Scores
from errata.human import compare, head_to_head
from errata.human import tables as human_tables
from errata.human.plan import NextPairs, Plan
from errata.meta import tables as meta_tables
from errata.meta.sentence_level import sentence_levels
from errata.scoring import tables as scoring_tables
from errata.tables.cells import PValue

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


def test_the_column_beats_the_row_head_to_head() -> None:
    comparisons = compare(RANKED)
    table = human_tables.head_to_head_table(head_to_head(comparisons), (0, 1, 2))
    assert table.columns == ("row", "A", "B", "C")
    cell = table.rows[2][1]  # C's row, A's column: A beats C in 10 of 11
    assert isinstance(cell, PValue)
    assert cell.value == pytest.approx(10 / 11)
    assert table.rows[0][1] is None


def test_what_is_needed_may_lie_beyond_what_was_tried() -> None:
    sizes, power = np.array([20, 40, 80]), np.array([0.1, 0.5, 0.9])
    beyond, below = Interval(80, np.inf), Interval(-np.inf, 20)
    for needed, shown in ((None, beyond), (20, below), (40, 40), (80, 80)):
        found = Plan("A", "B", 0.1, 20, sizes, power, needed, None, None, None, ())
        rows = {str(row[0]): row[1] for row in human_tables.plan_tables(found)[0].rows}
        assert rows["rankings needed"] == shown


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
