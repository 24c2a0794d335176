"""Tutorial and qualification: what is told after an answer, when it is passed, and when not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from called import Client
from campaigns import material
from errata.collect.design import Design, Scale
from errata.collect.items import CampaignTexts, Example
from errata.collect.qualification import example_for
from errata.collect.web.dashboard import Dashboard
from errata.collect.web.exports import export_lines, text_files
from errata.collect.web.schema import items
from errata.core.errors import InputError
from stored_campaigns import LESSONS as EXAMPLES
from stored_campaigns import WHY, Make, next_task


def better_key(task: dict[str, Any]) -> str:
    return next(o["key"] for o in task["outputs"] if ["new", "goes"] in o["segments"])


def answered(call: Client, *, right: bool, who: int = 1) -> tuple[dict[str, Any], dict[str, Any]]:
    """Claim a task of two outputs of the tutorial, answer it, and give both."""
    body = call("POST", "tasks", {"ahead": 2}, who=who).json()
    (task,) = body["tasks"]
    assert body["state"] == "tutorial"
    good = better_key(task)
    ranks = {o["key"]: 1 if (o["key"] == good) is right else 2 for o in task["outputs"]}
    answer = call.answer(task, ranks, who=who)
    assert answer.status_code == 201
    return task, answer.json()


def test_feedback_gives_what_was_expected_and_why(make_sqlite: Make) -> None:
    call = Client(make_sqlite(Design(judges=2), examples=EXAMPLES))
    assert call("GET", "me").json()["progress"] == {"done": 0, "quota": 2}
    task, found = answered(call, right=True)
    assert "twice" not in json.dumps(task)
    assert "expected" not in json.dumps(task)
    assert found["feedback"]["passed"] is True
    assert found["progress"] == {"done": 1, "quota": 2}
    told, why = found["feedback"]["blocks"]
    assert told["inline"][0][1].startswith(f"We find text {better_key(task)} better")
    assert why["inline"][1:] == [["em", "word"], ["text", " stands there twice <b>."]]
    again = call.answer(task, found["stored"]["answer"])  # a retry gets the same
    assert (again.status_code, again.json()) == (200, found)
    _, found = answered(call, right=False)
    assert (found["feedback"]["passed"], found["state"]) == (False, "working")
    assert call("GET", "tasks?last=5").json()["tasks"] == []
    assert "feedback" not in call.answer(call.task()).json()


def test_two_attempts_and_then_no_task(make_sqlite: Make) -> None:
    call = Client(make_sqlite(Design(judges=2, pass_mark=1.0), examples=EXAMPLES))
    answered(call, right=True)
    _, found = answered(call, right=False)
    assert (found["state"], found["progress"]) == ("tutorial", {"done": 0, "quota": 2})
    last = found["feedback"]["blocks"][-1]["inline"][0][1]
    assert last.startswith("You saw 1 of 2 as we do, and 2 are needed")
    answered(call, right=True)
    _, found = answered(call, right=False)
    assert found["state"] == "failed"
    assert len(found["feedback"]["blocks"]) == 2
    assert (call.claim(), call.state()) == (None, "failed")
    assert call("GET", "me").json()["state"] == "failed"
    for right in (False, False, True):
        answered(call, right=right, who=2)
    _, found = answered(call, right=True, who=2)  # the second attempt alone counts
    assert found["state"] == "working"
    assert call("POST", "tasks", {"ahead": 2}, who=2).json()["state"] == "working"


def test_answer_changed_after_the_feedback_does_not_pass(make: Make) -> None:
    made = make(Design(pass_mark=1.0, attempts=1), examples=EXAMPLES)
    for _ in range(2):
        task = made.claim()
        for revision, answer in enumerate([(1, 1), (1, 2), (2, 1)], 1):
            made.submit(1, task, dict(zip("AB", answer, strict=True)), revision=revision)
    assert getattr(next_task(made.store, 1), "reason", "") == "failed"


def test_skipped_and_returned_examples_do_not_pass_and_stay_for_others(make: Make) -> None:
    made = make(Design(judges=4, pass_mark=0.5, attempts=1), examples=EXAMPLES)
    for judge in (1, 2, 3):
        made.submit(judge, made.claim(judge))
        made.store.give_back(judge, made.claim(judge))
        assert getattr(next_task(made.store, judge), "reason", "") == "failed"
    assert not any(made.scalars(select(items.c.parked)))  # three skips park no example
    made.claim(4)
    figures = Dashboard(made.store).status()["figures"]
    assert ["Tutorial", "0 passed", "3 failed, 1 not through it yet"] in figures


SCORE = Example("He go .", ("He goes .",), {"between": {"fluency": [60, 100]}, "why": "x"})
CASES: dict[str, tuple[Design, Example, Any, Any, str]] = {
    "pair": (Design(kind="pair"), EXAMPLES[0], None, "equal", "better than"),
    "score": (
        Design(kind="score", scales=(Scale("fluency"),)),
        SCORE,
        {"fluency": 60},
        {"fluency": 59},
        "fluency: we would give from 60 to 100.",
    ),
    "edits": (
        Design(kind="edits"),
        Example("He go .", ("He goes .", "He go go ."), {"worse": 1, "better": 0}),
        {"1": "bad", "2": "good"},
        {"1": "good", "2": "bad"},
        "not find these changes good: 1",
    ),
    "correct": (
        Design(kind="correct", instructions=("minimal", "fluency")),
        Example("He go .", ("He goes .", "He went ."), {}, instruction="fluency"),
        {"text": "He  went ."},
        {"unchanged": True},
        "For example: He goes .",
    ),
    "review": (
        Design(kind="review"),
        Example("He go .", ("He gone .",), {"accept": False}),
        {"text": "He goes ."},
        {"accept": True},
        "needs a better one",
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_every_kind_has_a_tutorial(make_sqlite: Make, kind: str) -> None:
    design, example, right, wrong, words = CASES[kind]
    design = replace(design, judges=2, pass_mark=1.0, attempts=1)
    call = Client(make_sqlite(design, material(30, 3), examples=(example_for(design, example),)))
    for judge, answer in ((1, right), (2, wrong)):
        task = call.task(judge)
        assert "why" not in task
        assert kind != "correct" or task["instruction"] == "fluency"
        found = call.answer(task, answer or better_key(task), who=judge).json()  # a drawn letter
        assert found["feedback"]["passed"] is (judge == 1)
        assert words in found["feedback"]["blocks"][0]["inline"][0][1]
        assert found["state"] == ("working" if judge == 1 else "failed")


def test_examples_are_only_in_details(make_sqlite: Make) -> None:
    texts = CampaignTexts(("a b", "c d"), {})
    design = Design(kind="correct", repeats=0)
    own = example_for(design, Example("He go .", ("He goes .",), {"why": WHY}))
    made = make_sqlite(design, texts, examples=(own,))
    for answer in ({"text": "He goes ."}, {"unchanged": True}, {"unchanged": True}):
        made.submit(1, made.claim(), answer)
    ((_, lines),) = text_files(made.database)
    assert list(lines()) == ["a b", "c d"]
    first, *others = map(json.loads, export_lines(made.database, "details"))
    assert (first["purpose"], first["passed"], first["expected"]["why"]) == ("tutorial", True, WHY)
    assert [each["purpose"] for each in others] == ["main", "main"]


def test_why_of_a_control_is_kept(make_sqlite: Make) -> None:
    expected = {"worse": 1, "better": 0, "why": WHY}
    made = make_sqlite(
        Design(), examples=(Example("Go .", ("Goes .", "Go go ."), expected, "control"),)
    )
    kept = made.scalars(select(items.c.expected).where(items.c.policy == "own"))
    assert [*kept] == [expected]


def test_examples_that_do_not_fit_are_refused() -> None:
    score, correct = Design(kind="score"), Design(kind="correct")
    for design, example, problem in (
        (Design(), Example("a", ("b",), {"worse": 0, "better": 1}), "has 1 outputs"),
        (Design(), Example("a", ("b", "c"), {}), "worse than which"),
        (Design(kind="pair"), Example("a", ("b", "c", "d"), {}), "has 3 outputs"),
        (score, Example("a", ("b",), {}), "which scores"),
        (score, Example("a", ("b",), {"between": {"x": [0, 1]}}), "no scale 'x'"),
        (score, Example("a", ("b",), {"between": {"quality": [9, 1]}}), "does not have"),
        (Design(kind="review"), Example("a", ("b",), {}), "whether a text is right"),
        (correct, Example("a", ("b",), {}, "control"), "what is written"),
        (correct, Example("a", ("b",), {}, instruction="fluency"), "is for"),
        (correct, Example("a", (), {}), "no texts"),
    ):
        with pytest.raises(InputError, match=problem):
            example_for(design, example)
