"""Tutorial and qualification: what is told after an answer, when it is passed, and when not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select

from campaigns import material
from errata.collect.assigning import Holding
from errata.collect.design import Design, Scale
from errata.collect.items import CampaignTexts, Example
from errata.collect.lessons import example_for
from errata.errors import InputError
from errata.web.answering import SentAnswer
from errata.web.dashboard import Dashboard
from errata.web.exports import export_lines, text_files
from errata.web.schema import items
from errata.web.store import ForbiddenError
from served import Server, served
from stored_campaigns import LESSONS as EXAMPLES
from stored_campaigns import WHY, Made, Make


def answered(server: Server, token: str, *, right: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Claim a task of two outputs of the tutorial, answer it, and give both."""
    status, body = server.call("POST", "tasks", {"ahead": 2}, token=token)
    assert (status, len(body["tasks"])) == (200, 1)
    (task,) = body["tasks"]
    assert body["state"] == "tutorial"
    good = next(o["key"] for o in task["outputs"] if ["new", "goes"] in o["segments"])
    ranks = {o["key"]: 1 if (o["key"] == good) is right else 2 for o in task["outputs"]}
    sent = {"revision": 1, "answer": ranks}
    status, found = server.call("PUT", f"tasks/{task['id']}/judgment", sent, token=token)
    assert status == 201
    return task, found


def test_after_an_answer_it_is_told_what_was_expected_and_why(make_sqlite: Make) -> None:
    made = make_sqlite(Design(judges=2), examples=EXAMPLES)
    with served(str(made.database.path)) as server:
        token = server.token(1)
        assert server.call("GET", "me", token=token)[1]["progress"] == {"done": 0, "quota": 2}
        task, found = answered(server, token, right=True)
        assert "twice" not in json.dumps(task)
        assert "expected" not in json.dumps(task)
        assert found["feedback"]["passed"] is True
        assert found["progress"] == {"done": 1, "quota": 2}
        told, why = found["feedback"]["blocks"]
        better = next(o["key"] for o in task["outputs"] if ["new", "goes"] in o["segments"])
        assert told["inline"][0][1].startswith(f"We find text {better} better")
        assert why["inline"][1:] == [["em", "word"], ["text", " stands there twice <b>."]]
        sent = {"revision": 1, "answer": found["stored"]["answer"]}  # a retry is told the same
        path = f"tasks/{task['id']}/judgment"
        assert server.call("PUT", path, sent, token=token) == (200, found)
        _, found = answered(server, token, right=False)
        assert (found["feedback"]["passed"], found["state"]) == (False, "working")
        assert server.call("GET", "tasks?last=5", token=token)[1]["tasks"] == []
        _, body = server.call("POST", "tasks", {"ahead": 1}, token=token)
        (task,) = body["tasks"]
        sent = {"revision": 1, "answer": {o["key"]: 1 for o in task["outputs"]}}
        _, found = server.call("PUT", f"tasks/{task['id']}/judgment", sent, token=token)
        assert "feedback" not in found


def test_two_attempts_and_then_no_task(make_sqlite: Make) -> None:
    made = make_sqlite(Design(judges=2, pass_mark=1.0), examples=EXAMPLES)
    with served(str(made.database.path)) as server:
        token, other = server.token(1), server.token(2)
        answered(server, token, right=True)
        _, found = answered(server, token, right=False)
        assert (found["state"], found["progress"]) == ("tutorial", {"done": 0, "quota": 2})
        last = found["feedback"]["blocks"][-1]["inline"][0][1]
        assert last.startswith("You saw 1 of 2 as we do, and 2 are needed")
        answered(server, token, right=True)
        _, found = answered(server, token, right=False)
        assert found["state"] == "failed"
        assert len(found["feedback"]["blocks"]) == 2
        _, body = server.call("POST", "tasks", {"ahead": 1}, token=token)
        assert (body["tasks"], body["state"]) == ([], "failed")
        assert server.call("GET", "me", token=token)[1]["state"] == "failed"
        answered(server, other, right=False)
        answered(server, other, right=False)
        answered(server, other, right=True)
        _, found = answered(server, other, right=True)  # the second attempt alone counts
        assert found["state"] == "working"
        assert server.call("POST", "tasks", {"ahead": 2}, token=other)[1]["state"] == "working"


def _answer(made: Made, judge: int, answer: Any, revision: int = 1) -> int:
    held = made.store.claim(judge)
    assert isinstance(held, Holding)
    skip = "undecided" if answer is None else None
    made.store.submit(judge, held.assignment, SentAnswer(revision, answer, skip))
    return held.assignment


def test_what_was_changed_after_the_feedback_does_not_pass(make: Make) -> None:
    made = make(Design(pass_mark=1.0, attempts=1), examples=EXAMPLES)
    wrong = {"A": 1, "B": 1}
    for _ in range(2):
        task = _answer(made, 1, wrong)
        for revision, answer in ((2, {"A": 1, "B": 2}), (3, {"A": 2, "B": 1})):
            made.store.submit(1, task, SentAnswer(revision, answer))
    assert getattr(made.store.claim(1), "reason", "") == "failed"


def test_skipped_and_returned_examples_do_not_pass_and_stay_for_others(make: Make) -> None:
    made = make(Design(judges=4, pass_mark=0.5, attempts=1), examples=EXAMPLES)
    for judge in (1, 2, 3):
        _answer(made, judge, None)
        held = made.store.claim(judge)
        assert isinstance(held, Holding)
        made.store.give_back(judge, held.assignment)
        assert getattr(made.store.claim(judge), "reason", "") == "failed"
    with made.database.reading() as connection:  # three skips park no example
        assert not any(connection.execute(select(items.c.parked)).scalars())
    assert isinstance(made.store.claim(4), Holding)
    figures = Dashboard(made.store).status()["figures"]
    assert ["Tutorial", "0 passed", "3 failed, 1 not through it yet"] in figures


SCORE = Example("He go .", ("He goes .",), {"between": {"fluency": [60, 100]}, "why": "x"})
CASES: list[tuple[Design, Example, Any, Any, str]] = [
    (Design(kind="pair"), EXAMPLES[0], None, "equal", "better than"),
    (
        Design(kind="score", scales=(Scale("fluency"),)),
        SCORE,
        {"fluency": 60},
        {"fluency": 59},
        "fluency: we would give from 60 to 100.",
    ),
    (
        Design(kind="edits"),
        Example("He go .", ("He goes .", "He go go ."), {"worse": 1, "better": 0}),
        {"1": "bad", "2": "good"},
        {"1": "good", "2": "bad"},
        "not find these changes good: 1",
    ),
    (
        Design(kind="correct", instructions=("minimal", "fluency")),
        Example("He go .", ("He goes .", "He went ."), {}, instruction="fluency"),
        {"text": "He  went ."},
        {"unchanged": True},
        "For example: He goes .",
    ),
    (
        Design(kind="review"),
        Example("He go .", ("He gone .",), {"accept": False}),
        {"text": "He goes ."},
        {"accept": True},
        "needs a better one",
    ),
]


@pytest.mark.parametrize(
    ("design", "example", "right", "wrong", "words"), CASES, ids=lambda x: getattr(x, "kind", "")
)
def test_every_kind_has_a_tutorial(
    make_sqlite: Make, design: Design, example: Example, right: Any, wrong: Any, words: str
) -> None:
    from dataclasses import replace

    design = replace(design, judges=2, pass_mark=1.0, attempts=1)
    made = make_sqlite(design, material(30, 3), examples=(example_for(design, example),))
    with served(str(made.database.path)) as server:
        for judge, answer in ((1, right), (2, wrong)):
            token = server.token(judge)
            (task,) = server.call("POST", "tasks", {}, token=token)[1]["tasks"]
            assert "why" not in task
            assert design.kind != "correct" or task["instruction"] == "fluency"
            if answer is None:  # the letter is drawn
                answer = next(o["key"] for o in task["outputs"] if ["new", "goes"] in o["segments"])
            sent = {"revision": 1, "answer": answer}
            _, found = server.call("PUT", f"tasks/{task['id']}/judgment", sent, token=token)
            assert found["feedback"]["passed"] is (judge == 1)
            assert words in found["feedback"]["blocks"][0]["inline"][0][1]
            assert found["state"] == ("working" if judge == 1 else "failed")


def test_examples_are_in_no_export_but_details(make_sqlite: Make) -> None:
    texts = CampaignTexts(("a b", "c d"), {})
    design = Design(kind="correct", repeats=0)
    own = example_for(design, Example("He go .", ("He goes .",), {"why": WHY}))
    made = make_sqlite(design, texts, examples=(own,))
    _answer(made, 1, {"text": "He goes ."})
    for _ in range(2):
        _answer(made, 1, {"unchanged": True})
    ((_, lines),) = text_files(made.database)
    assert list(lines()) == ["a b", "c d"]
    first, *others = map(json.loads, export_lines(made.database, "details"))
    assert (first["purpose"], first["passed"], first["expected"]["why"]) == ("tutorial", True, WHY)
    assert [each["purpose"] for each in others] == ["main", "main"]


def test_the_why_of_a_control_is_kept(make_sqlite: Make) -> None:
    own = Example("Go .", ("Goes .", "Go go ."), {"worse": 1, "better": 0, "why": WHY}, "control")
    made = make_sqlite(Design(), examples=(own,))
    with made.database.reading() as connection:
        kept = [
            json.loads(text)
            for text in connection.execute(
                select(items.c.expected).where(items.c.policy == "own")
            ).scalars()
        ]
    assert kept == [{"worse": 1, "better": 0, "why": WHY}]


@pytest.mark.parametrize(
    ("design", "example", "problem"),
    [
        (Design(), Example("a", ("b",), {"worse": 0, "better": 1}), "has 1 outputs"),
        (Design(), Example("a", ("b", "c"), {}), "worse than which"),
        (Design(kind="pair"), Example("a", ("b", "c", "d"), {}), "has 3 outputs"),
        (Design(kind="score"), Example("a", ("b",), {}), "which scores"),
        (Design(kind="score"), Example("a", ("b",), {"between": {"x": [0, 1]}}), "no scale 'x'"),
        (
            Design(kind="score"),
            Example("a", ("b",), {"between": {"quality": [9, 1]}}),
            "does not have",
        ),
        (Design(kind="review"), Example("a", ("b",), {}), "whether a text is right"),
        (Design(kind="correct"), Example("a", ("b",), {}, "control"), "what is written"),
        (Design(kind="correct"), Example("a", ("b",), {}, instruction="fluency"), "is for"),
        (Design(kind="correct"), Example("a", (), {}), "no texts"),
    ],
)
def test_examples_that_do_not_fit_are_refused(
    design: Design, example: Example, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        example_for(design, example)


def test_nothing_is_told_of_another_judges_example(make: Make) -> None:
    made = make(Design(judges=2), examples=EXAMPLES)
    task = _answer(made, 1, {"A": 1, "B": 2})
    with pytest.raises(ForbiddenError):
        made.store.submit(2, task, SentAnswer(1, {"A": 1, "B": 2}))
