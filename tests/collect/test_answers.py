"""Answers of every kind: what is taken, and everything else that is refused with its field."""

from __future__ import annotations

import re
from importlib import resources
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.collect.answers import SKIPS, AnswerError, check_answer
from errata.collect.design import Design, Scale
from errata.collect.items import TaskView, letters_of, mark_segments, task_of
from errata.io.checks.text import INVISIBLE

SOURCE = "He go to home ."
OUTPUTS = ("He goes home .", "He go home .", "He is going home .")
THREE, TWO, ONE = (
    TaskView(SOURCE, OUTPUTS),
    TaskView(SOURCE, OUTPUTS[:2]),
    TaskView(SOURCE, OUTPUTS[:1]),
)
RANK, PAIR, EDITS = Design(), Design(kind="pair"), Design(kind="edits")
SCALES = (Scale("grammar", 0, 4), Scale("meaning", 0, 4))
SCORE = Design(kind="score", scales=SCALES)
BESIDE = Design(kind="score", scales=SCALES, side_by_side=True)
WRITE, REVIEW = Design(kind="correct"), Design(kind="review")
GOOD: list[tuple[Design, TaskView, Any]] = [
    (RANK, THREE, {"A": 1, "B": 1, "C": 3}),
    (RANK, THREE, {"C": 2, "A": 2, "B": 2}),
    (PAIR, TWO, "A"),
    (PAIR, TWO, "B"),
    (PAIR, TWO, "equal"),
    (PAIR, TWO, "bad"),
    (SCORE, ONE, {"grammar": 0, "meaning": 4}),
    (BESIDE, TWO, {k: {"grammar": 1, "meaning": 2} for k in "AB"}),
    (EDITS, TWO, {"1": "good", "2": "unsure"}),
    (WRITE, TaskView(SOURCE, ()), {"text": "He goes home ."}),
    (WRITE, TaskView(SOURCE, ()), {"unchanged": True}),
    (REVIEW, ONE, {"accept": True}),
    (REVIEW, ONE, {"text": SOURCE}),
]
BAD: list[tuple[Design, TaskView, Any, str]] = [
    (RANK, THREE, {"A": 1, "B": 1}, "answer.C"),
    (RANK, THREE, {"A": 1, "B": 0, "C": 1}, "answer.B"),
    (RANK, THREE, {"A": 1, "B": 4, "C": 1}, "answer.B"),
    (RANK, THREE, {"A": 1, "B": True, "C": 1}, "answer.B"),
    (RANK, THREE, {"A": 1, "B": 1.0, "C": 1}, "answer.B"),
    (RANK, THREE, {"A": 1, "B": "1", "C": 1}, "answer.B"),
    (RANK, THREE, {"A": 1, "B": 1, "C": 1, "D": 1}, "answer"),
    (RANK, THREE, [1, 2, 3], "answer"),
    (RANK, THREE, {}, "answer.A"),
    (PAIR, TWO, "C", "answer"),
    (PAIR, TWO, {"A": 1, "B": 2}, "answer"),
    (PAIR, TWO, ["A"], "answer"),
    (SCORE, ONE, {"grammar": 0}, "answer.meaning"),
    (SCORE, ONE, {"grammar": 5, "meaning": 0}, "answer.grammar"),
    (SCORE, ONE, {"grammar": -1, "meaning": 0}, "answer.grammar"),
    (SCORE, ONE, {"grammar": None, "meaning": 0}, "answer.grammar"),
    (SCORE, ONE, {"grammar": 1, "meaning": 0, "x": 1}, "answer"),
    (BESIDE, TWO, {"A": {"grammar": 1, "meaning": 2}}, "answer.B"),
    (EDITS, TWO, {"1": "good"}, "answer.2"),
    (EDITS, TWO, {"1": "good", "2": "fine"}, "answer.2"),
    (EDITS, TWO, {"1": "good", "2": ["bad"]}, "answer.2"),
    (EDITS, TWO, {"1": "good", "2": "bad", "3": "bad"}, "answer"),
    (WRITE, THREE, {"text": "a\nb"}, "answer.text"),
    (WRITE, THREE, {"text": "a\u2028b"}, "answer.text"),
    (WRITE, THREE, {"text": "a\n"}, "answer.text"),
    (WRITE, THREE, {"text": "x" * (4 * len(SOURCE) + 1001)}, "answer.text"),
    (WRITE, THREE, {"text": SOURCE}, "answer.text"),
    (WRITE, THREE, {"text": f" {SOURCE}  "}, "answer.text"),
    (WRITE, THREE, {"text": "  "}, "answer.text"),
    (WRITE, THREE, {"text": "\ud800"}, "answer.text"),
    (WRITE, THREE, {"text": "a\x00"}, "answer.text"),
    (WRITE, THREE, {"text": "He goes\u200b home ."}, "answer.text"),
    (WRITE, THREE, {"text": "He goes\x1b home ."}, "answer.text"),
    (WRITE, THREE, {"text": "He goes homeâ€™ ."}, "answer.text"),
    (REVIEW, ONE, {"text": "He\u00ad goes ."}, "answer.text"),
    (WRITE, THREE, {"unchanged": False}, "answer"),
    (WRITE, THREE, {"unchanged": 1}, "answer"),
    (WRITE, THREE, {"text": "a", "unchanged": True}, "answer"),
    (WRITE, THREE, "He goes home .", "answer"),
    (REVIEW, ONE, {"accept": False}, "answer"),
    (REVIEW, ONE, {"text": OUTPUTS[0]}, "answer.text"),
    (REVIEW, ONE, {"unchanged": True}, "answer"),
]


def test_valid_answers_are_kept_as_they_are() -> None:
    for design, shown, answer in GOOD:
        assert check_answer(design, shown, answer, None, "fine").answer == answer
    text = {"text": "x" * (4 * len(SOURCE) + 1000)}  # the longest
    assert check_answer(WRITE, THREE, text).answer == text
    for design in (RANK, PAIR, SCORE, EDITS, WRITE, REVIEW):
        for skip in SKIPS:
            assert check_answer(design, THREE, None, skip, "words").skip == skip


def test_invalid_answers_are_refused_with_their_field() -> None:
    for design, shown, answer, field in BAD:
        with pytest.raises(AnswerError) as refused:
            check_answer(design, shown, answer)
        assert refused.value.field == field, answer
        assert refused.value.remedy
    ranks = {"A": 1, "B": 1, "C": 1}
    for answer, skip, comment, field in (
        (None, None, "", "answer"),
        (ranks, "undecided", "", "skip"),
        (None, "bored", "", "skip"),
        (None, ["other"], "", "skip"),
        (None, "other", " ", "comment"),
        (ranks, None, "x" * 2001, "comment"),
        (ranks, None, 7, "comment"),
        (ranks, None, "\udfff", "comment"),
    ):
        with pytest.raises(AnswerError) as refused:
            check_answer(RANK, THREE, answer, skip, comment)  # type: ignore[arg-type]
        assert refused.value.field == field, (skip, comment)


def test_an_invisible_character_is_named_and_that_of_the_source_is_taken() -> None:
    with pytest.raises(AnswerError, match=r"invisible character U\+200B; remove it"):
        check_answer(WRITE, THREE, {"text": "He goes\u200b home ."})
    persian = TaskView("mi\u200cravad", ())
    assert check_answer(WRITE, persian, {"text": "mi\u200cravand"}).answer


def test_the_page_knows_the_invisible_characters_of_the_check() -> None:
    script = (
        resources.files("errata.collect.web").joinpath("static/kinds/text.js").read_text("utf-8")
    )
    (theirs,) = re.findall(r"^const INVISIBLE = /(.*)/g;$", script, re.M)
    for number in range(0x10000):
        if not 0xD800 <= number <= 0xDFFF:
            character = chr(number)
            assert bool(re.fullmatch(theirs, character)) == bool(INVISIBLE.fullmatch(character))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda each: (
        st.lists(each, max_size=4)
        | st.dictionaries(st.sampled_from(["A", "B", "C", "1", "2", "text", "grammar"]), each)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(st.sampled_from([RANK, PAIR, SCORE, BESIDE, EDITS, WRITE, REVIEW]), JSON, JSON, JSON)
def test_reply_or_refusal(design: Design, answer: Any, skip: Any, comment: Any) -> None:
    try:
        reply = check_answer(design, TWO, answer, skip, comment)
    except AnswerError as error:
        refused: AnswerError | None = error
    else:
        refused = None
        assert (reply.answer is None) == (reply.skip is not None)
    assert refused is None or refused.field.split(".")[0] in ("answer", "skip", "comment")


TEXT = st.lists(st.sampled_from(list("abcde")), min_size=1, max_size=8).map(" ".join)


@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
def test_segments_give_both_texts_back(source: str, outputs: list[str]) -> None:
    for output, segments in zip(outputs, mark_segments(source, outputs), strict=True):

        def joined(kinds: str, segments: list[list[str]] = segments) -> str:
            return " ".join(text for kind, text in segments if kind in kinds.split())

        assert joined("same ins new") == output
        assert joined("same del old") == source
        assert all(text for _, text in segments)
        assert not any(a[0] == b[0] == "same" for a, b in pairwise(segments))


def test_tasks_say_nothing_of_systems_or_purposes() -> None:
    for design, shown in ((RANK, THREE), (PAIR, TWO), (EDITS, TWO), (WRITE, ONE), (REVIEW, ONE)):
        task = task_of(design, shown)
        assert set(task) <= {
            "kind", "source", "before", "after", "outputs", "edits", "instruction"
        }  # fmt: skip
    assert [o["key"] for o in task_of(RANK, THREE)["outputs"]] == ["A", "B", "C"]
    assert [e["new"] for e in task_of(EDITS, TWO)["edits"]] == ["goes", ""]
    assert letters_of(9)[-1] == "I"
