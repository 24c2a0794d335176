"""What stands in the cells of the tables: the right figure beside the right name."""

from __future__ import annotations

import re

import numpy as np
import pytest

from command import errata
from errata.core.signatures import short_signature
from errata.core.stats import Interval
from errata.data import Corpus, Edit, Hypotheses, Judgment, Scores
from errata.datasets import sample_corpus, sample_systems
from errata.difficulty import study as difficulty_study
from errata.difficulty.heatmap import system_text_at
from errata.difficulty.study import errors as hard_errors
from errata.human import compare
from errata.human import tables as human_tables
from errata.human.plan import Plan
from errata.meta import tables as meta_tables
from errata.meta.sentence_level import sentence_levels
from errata.metrics import parse
from errata.metrics.difficulty import DifficultyMap, build_difficulty_map
from errata.scoring import tables as scoring_tables
from errata.scoring.evaluate import evaluate
from errata.scoring.tables import displayed_scores, summary_table
from errata.scoring.verdicts import lead_over, tied_with_best, verdict_sentence
from errata.tables.cells import display_width
from errata.tables.table import render

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


def test_what_is_needed_may_lie_beyond_what_was_tried() -> None:
    sizes, power = np.array([20, 40, 80]), np.array([0.1, 0.5, 0.9])
    beyond, below = Interval(80, np.inf), Interval(-np.inf, 20)
    for needed, shown in ((None, beyond), (20, below), (40, 40), (80, 80)):
        found = Plan("A", "B", 0.1, 20, sizes, power, needed, None, None, None, ())
        rows = {str(row[0]): row[1] for row in human_tables.plan_tables(found)[0].rows}
        assert rows["rankings needed"] == shown


def test_a_plain_ranking_has_ranks_and_whole_counts() -> None:
    parts = {"wins": np.array([1, 2, 2]), "ties": np.array([0.5, 0.0, 0.0])}
    values = np.array([0.1, 0.7, 0.7 + 1e-11])
    table = human_tables.plain_ranking_table(Scores("x()", ("A", "B", "C"), values, parts=parts))
    assert [row[:2] for row in table.rows] == [(1, "B"), (1, "C"), (3, "A")]
    assert [row[3:] for row in table.rows] == [(2, 0.0), (2, 0.0), (1, 0.5)]
    assert table.texts()[2][2:] == ["0.100", "1", "0.5"]


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


def test_what_a_system_wrote_at_a_spot_is_what_touches_it() -> None:
    edits = [Edit(0, 1, "x"), Edit(1, 1, "v"), Edit(1, 2, "y"), Edit(2, 2, "w"), Edit(2, 3, "")]
    spots = {(1, 2): "v … y", (0, 1): "x", (2, 3): "w … ∅", (0, 3): "x … v … y … w … ∅", (5, 6): ""}
    assert {spot: system_text_at(edits, *spot) for spot in spots} == spots


@pytest.mark.parametrize("text", ["m2", "m2(beta=1)", "gleu(n=2)", "imeasure(weight=1.5)", "bleu"])
def test_a_short_signature_makes_its_metric_again(text: str) -> None:
    metric = parse(text)
    short = short_signature(f"{metric!r} | sentences:72 | errata:0.1.0")
    assert short.partition("#")[0] == metric.label
    assert parse(short.partition("#")[0]) == metric


def test_what_is_no_metric_keeps_its_first_words() -> None:
    assert short_signature("agreement of judges | x").startswith("agreement_of_judges#")
    assert short_signature("mine.py:overlap(n=2) | x").startswith("mine.py:overlap(n=2)#")


@pytest.mark.parametrize("width", [40, 47, 60, 80])
@pytest.mark.parametrize(
    "name", ["日本語のとても長い名前のシステムです", "a_name_" * 9, "many short words " * 4]
)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    """Wide characters take two places; a name without blanks is cut in the end."""
    values = np.array([0.5, 0.25])
    results = [
        Scores(f"{m}()", (name.strip(), "B"), values, headline=f"{m} score", shares=(f"{m} score",))
        for m in ("m2", "gleu", "imeasure")
    ]
    table = displayed_scores(results)[0]
    lines = render(table, width=width).splitlines()
    shown = [line for line in lines if not line.startswith("signature: ")]
    assert max(map(display_width, shown)) <= max(width, 16 + display_width(name) * ("_" in name))
    grid = shown[: next(i for i, line in enumerate(shown) if line.startswith(("note", "*")))]
    assert max(map(display_width, grid)) <= width
    assert "".join(name.split()) in "".join("".join(shown).split())


def test_verdicts_have_the_digits_asked_for() -> None:
    one = Scores("m2()", ("A",), np.array([0.5]), headline="F", shares=("F",), label="m2")
    # No place is kept for marks that nobody has.
    assert render(summary_table([one])).splitlines()[1:4:2] == ["system  m2 F", "A       50.0"]
    two = Scores(
        "m2()", ("A", "B"), np.array([0.51234, 0.25]), headline="F", shares=("F",), label="m2"
    )
    assert verdict_sentence(two) == "m2: A is ahead of B by 26.2"
    assert verdict_sentence(two, digits=3) == "m2: A is ahead of B by 26.234"
    shown = errata("score", "--sample", "-m", "m2", "--digits", 3).stdout
    assert re.search(r"m2: eager is tied with cautious: \d+\.\d{3} \[", shown)


@pytest.mark.parametrize("metric", ["m2", "gleu", "bleu"])
def test_marks_intervals_and_p_values_say_the_same(metric: str) -> None:
    """Against a slow count over the resamples, for every pair of systems."""
    scores = evaluate(metric, sample_corpus(), sample_systems(), resamples=200, rng=1)
    assert scores.resampled is not None
    drawn = scores.resampled.tolist()
    one_sided = scores.p_values()
    alike = tied_with_best(scores)
    best = scores.order[0]
    for a in range(len(scores)):
        for b in set(range(len(scores))) - {a}:
            apart = sorted(row[a] - row[b] for row in drawn)
            lost = sum(d < -1e-12 for d in apart) + sum(abs(d) <= 1e-12 for d in apart) / 2
            assert one_sided[a, b] == pytest.approx((lost + 1) / 201)
            lead = lead_over(scores, a, b)
            other = (200 - lost + 1) / 201
            assert lead.p == pytest.approx(min(1, 2 * min((lost + 1) / 201, other)))
            assert lead.by.low == pytest.approx(np.quantile(apart, 0.025))
            assert (lead.p > 0.05) == (lead.by.low <= 0 <= lead.by.high)
            if a == best:
                assert alike[b] == (lead.p > 0.05)
