"""What stands in the cells of the tables on errors, kinds of edits and reference sets."""

from __future__ import annotations

import pytest

from errata.data import Corpus, Edit, Hypotheses
from errata.difficulty import study as difficulty_study
from errata.difficulty.heatmap import system_text_at
from errata.difficulty.study import correction_agreement
from errata.difficulty.study import errors as hard_errors
from errata.metrics import parse
from errata.metrics.difficulty import DifficultyMap, build_difficulty_map
from errata.references import study

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


def test_systems_agree_on_errors_as_computed(errors: DifficultyMap) -> None:
    kappa, jaccard = correction_agreement(errors)
    table = difficulty_study.agreement_table(errors, "jaccard")
    assert table.rows[0] == ("A", None, jaccard[0, 1], jaccard[0, 2])
    assert jaccard[0, 1] == pytest.approx(2 / 3)
    assert difficulty_study.agreement_table(errors).rows[1][3] == kappa[1, 2]


def test_twenty_subsets_are_drawn_where_there_are_more() -> None:
    many = Corpus.from_texts(["He go ."], [[f"He {word} ."] for word in "abcdefg"])
    points = study.reference_curve(many, parse("gleu"), [Hypotheses("X", ("He a .",))])
    assert [point.subsets for point in points] == [7, 20, 20, 20, 20, 7, 1]


def test_what_a_system_wrote_at_a_spot_is_what_touches_it() -> None:
    edits = [Edit(0, 1, "x"), Edit(1, 1, "v"), Edit(1, 2, "y"), Edit(2, 2, "w"), Edit(2, 3, "")]
    spots = {(1, 2): "v … y", (0, 1): "x", (2, 3): "w … ∅", (0, 3): "x … v … y … w … ∅", (5, 6): ""}
    assert {spot: system_text_at(edits, *spot) for spot in spots} == spots
