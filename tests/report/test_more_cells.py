"""What stands in the cells of the tables on errors, kinds of edits and reference sets."""

from __future__ import annotations

import numpy as np
import pytest

from errata.core.stats import Interval
from errata.data import Corpus, Edit, Hypotheses
from errata.difficulty import study as difficulty_study
from errata.difficulty.heatmap import system_text_at
from errata.difficulty.study import by_kind, correction_agreement
from errata.difficulty.study import errors as hard_errors
from errata.metrics import parse
from errata.metrics.difficulty import DifficultyMap, build_difficulty_map
from errata.metrics.errant_by_type import TypeScores
from errata.references import study
from errata.references import tables as references_tables
from errata.scoring.tables import type_table

SOURCES = ["He go home .", "I likes tea .", "They was late ."]
CORPUS = Corpus.from_texts(SOURCES, [["He goes home .", "I like tea .", "They were late ."]])


@pytest.fixture(scope="module")
def errors() -> DifficultyMap:
    """A corrects all three, B the second, C nothing."""
    return build_difficulty_map(
        CORPUS,
        [
            Hypotheses("A", ("He goes home .", "I like tea .", "They were late .")),
            Hypotheses("B", (SOURCES[0], "I like tea .", "They were late .")),
            Hypotheses("C", (SOURCES[0], SOURCES[1], "They were late .")),
        ],
    )


def test_the_hardest_come_first_and_the_easiest_last(errors: DifficultyMap) -> None:
    (_, hard, first), (_, easy, last) = difficulty_study.hardest_and_easiest(errors, 2)
    assert (hard, easy) == ("hardest", "easiest")
    assert [e.sentence for e in first] == [0, 1]
    assert [e.sentence for e in last] == [2, 1]
    table = difficulty_study.error_table(errors, first, title="t", name="n")
    assert table.rows[0][0] == 1
    assert table.rows[0][1] == pytest.approx(2 / 3)
    assert table.rows[0][3:5] == ("go", "goes")
    assert [row[-1] for row in table.rows] == ["A", "A, B"]
    assert difficulty_study.hardest_and_easiest(errors, 0) == []


def test_errors_that_share_the_first_weight_are_counted(errors: DifficultyMap) -> None:
    assert [title for title, *_ in difficulty_study.hardest_and_easiest(errors, 2)] == [
        "The hardest errors",
        "The easiest errors",
    ]
    nobody = build_difficulty_map(CORPUS, [Hypotheses("A", tuple(SOURCES))])
    (title, *_), _ = difficulty_study.hardest_and_easiest(nobody, 2)
    assert title == "The hardest errors (3 weigh 1.000)"


def test_error_stands_between_six_words_on_either_side() -> None:
    words = [str(k) for k in range(20)]
    for place, shown in (
        (0, "[x] 1 2 3 4 5 6 …"),
        (6, "0 1 2 3 4 5 [x] 7 8 9 10 11 12 …"),
        (7, "… 1 2 3 4 5 6 [x] 8 9 10 11 12 13 …"),
        (13, "… 7 8 9 10 11 12 [x] 14 15 16 17 18 19"),
        (12, "… 6 7 8 9 10 11 [x] 13 14 15 16 17 18 …"),
        (19, "… 13 14 15 16 17 18 [x]"),
    ):
        source = " ".join([*words[:place], "x", *words[place + 1 :]])
        corpus = Corpus.from_texts([source], [[" ".join(words)]])
        found = build_difficulty_map(corpus, [Hypotheses("A", (source,))])
        table = difficulty_study.error_table(found, hard_errors(found), title="t", name="n")
        assert table.rows[0][table.columns.index("in context")] == shown


def test_who_corrects_what_alone_and_who_alone_misses(errors: DifficultyMap) -> None:
    table = difficulty_study.uniqueness_table(errors)
    assert table.columns == ("system", "corrected", "only you", "everyone but you")
    assert table.rows == (("A", 3, 1, 0), ("B", 2, 0, 0), ("C", 1, 0, 1))


def test_systems_agree_on_errors_as_computed(errors: DifficultyMap) -> None:
    kappa, jaccard = correction_agreement(errors)
    table = difficulty_study.agreement_table(errors, "jaccard")
    assert table.rows[0] == ("A", None, jaccard[0, 1], jaccard[0, 2])
    assert jaccard[0, 1] == pytest.approx(2 / 3)
    assert difficulty_study.agreement_table(errors).rows[1][3] == kappa[1, 2]


def test_kinds_have_their_own_means_and_frequencies(errors: DifficultyMap) -> None:
    rows = by_kind(errors, resamples=30, rng=0)
    table = difficulty_study.kind_table(rows)
    assert table.columns[-1] == "interval of the mean"
    assert sum(row.frequency for row in rows) == 3
    for shown, row in zip(table.rows, rows, strict=True):
        assert shown == (
            row.kind or "-",
            row.mean,
            row.sd,
            row.frequency,
            Interval(row.low, row.high),
        )


def test_averages_over_kinds_stand_below_the_kinds() -> None:
    found = TypeScores(
        system="A",
        kinds=("M:DET", "R:VERB"),
        counts=np.array([[3, 1, 2], [1, 0, 4]]),
        precision=np.array([0.75, 1.0]),
        recall=np.array([0.6, 0.2]),
        f=np.array([0.7, 0.5]),
        micro=0.6,
        macro=0.65,
    )
    table = type_table(found, "F")
    assert table.rows[0] == ("M:DET", 3, 1, 2, 0.75, 0.6, 0.7)
    label, *micro = table.rows[2]
    assert label == "all (micro average)"
    assert micro == [4, 1, 6, 4 / 5, 4 / 10, 0.6]
    assert table.rows[3][1:] == (None, None, None, 0.875, 0.4, 0.65)
    assert table.rules == {1}


TWO = Corpus.from_texts(
    SOURCES,
    [
        ["He goes home .", "I like tea .", "They was late ."],
        ["He goes home .", "I do like some tea .", "They were late ."],
    ],
)


def test_annotators_stand_with_what_they_changed() -> None:
    found = study.study_references(TWO, names=["ann", "bob"], worst=1)
    sets, pairs, worst = references_tables.study_tables(found)
    assert [row[:2] for row in sets.rows] == [("ann", 3), ("bob", 3)]
    changed = sets.columns.index("changed %")
    assert [row[changed] for row in sets.rows] == [pytest.approx(200 / 3), 100.0]
    assert pairs.rows[0][:4] == ("ann", "bob", 3, pytest.approx(100 / 3))
    assert pairs.rows[0][4] == 0.0
    (sentence, distance, what, text), *corrections = worst.rows
    assert (sentence, what, text) == (2, "source", "I likes tea .")
    assert distance == found.disagreements[0].distance
    assert [row[2:] for row in corrections] == [
        ("correction", "I like tea ."),
        ("correction", "I do like some tea ."),
    ]


def test_the_curve_has_a_row_for_each_number_of_references() -> None:
    systems = [Hypotheses("X", TWO.sources), Hypotheses("Y", ("He goes home .", *SOURCES[1:]))]
    points = study.reference_curve(TWO, parse("gleu"), systems)
    table = references_tables.curve_table(points, ["X", "Y"], parse("gleu"))
    assert table.columns == ("references", "subsets", "X", "Y")
    assert [row[:2] for row in table.rows] == [(1, 2), (2, 1)]
    assert table.rows[1][2:] == points[1].values


def test_twenty_subsets_are_drawn_where_there_are_more() -> None:
    many = Corpus.from_texts(["He go ."], [[f"He {word} ."] for word in "abcdefg"])
    points = study.reference_curve(many, parse("gleu"), [Hypotheses("X", ("He a .",))])
    assert [point.subsets for point in points] == [7, 20, 20, 20, 20, 7, 1]


def test_what_a_system_wrote_at_a_spot_is_what_touches_it() -> None:
    edits = [Edit(0, 1, "x"), Edit(1, 1, "v"), Edit(1, 2, "y"), Edit(2, 2, "w"), Edit(2, 3, "")]
    spots = {(1, 2): "v … y", (0, 1): "x", (2, 3): "w … ∅", (0, 3): "x … v … y … w … ∅", (5, 6): ""}
    assert {spot: system_text_at(edits, *spot) for spot in spots} == spots
