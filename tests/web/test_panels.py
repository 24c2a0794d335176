"""Participants of panels: places, sessions, codes, and what is left of them when it is over."""

from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from called import KEY, Client
from campaigns import material
from errata.collect.design import Design, Panel, Scale, panel_of
from errata.collect.items import CampaignTexts, Example
from errata.collect.qualification import example_for
from errata.collect.web.dashboard import Dashboard
from errata.collect.web.database import Snapshots
from errata.collect.web.exports import export_lines, text_files
from errata.collect.web.judges import change_state, forget_judges, set_state_of_judge
from errata.collect.web.panel import forget_identities, join_panel, lost_place
from errata.collect.web.schema import events, items, judges
from errata.collect.web.store import ApiError
from errata.core.errors import InputError
from stored_campaigns import BOTH_DATABASES, LESSONS, WHY, Made, Make, join_key_of, next_task
from stored_campaigns import LESSONS as EXAMPLES

PANEL = Panel("prolific", 2, code="C0DE", back="https://example.org/done?cc={code}")
DESIGN = Design(judges=2, quota=2, repeats=0, controls=0)
MINUTE = 60_000


def panelled(make: Make, panel: Panel = PANEL, design: Design = DESIGN, **options: Any) -> Made:
    return make(design, words={"panel": panel.to_json()}, **options)


def came(made: Made, who: str, session: str = "s1") -> tuple[int, int]:
    return tuple(join_panel(made.store, {"PROLIFIC_PID": who, "SESSION_ID": session}))


def refused(made: Made, who: str, session: str = "s1") -> tuple[int, str]:
    with pytest.raises(ApiError) as found:
        came(made, who, session)
    return found.value.status, found.value.code


def worked(made: Made, judge: int, many: int = 2) -> None:
    for _ in range(many):
        made.submit(judge, made.claim(judge))


def people(made: Made) -> list[dict[str, str]]:
    rows = csv.DictReader(export_lines(made.database, "people"))
    return [row for row in rows if row["external id"]]


def name_of(made: Made, judge: int) -> str:
    return str(made.scalars(select(judges.c.name).where(judges.c.id == judge))[0])


@BOTH_DATABASES
def test_as_many_of_those_who_come_at_once_get_in_as_there_are_places(make: Make) -> None:
    made = panelled(make, Panel("prolific", 3))

    def come(k: int) -> str:
        try:
            return f"judge {came(made, f'p-{k}')[0]}"
        except ApiError as error:
            return error.code

    with ThreadPoolExecutor(12) as threads:
        found = list(threads.map(come, range(12)))
    assert found.count("full") == 9
    assert len({*found} - {"full"}) == 3


def test_place_without_a_sign_of_life_is_free_again(make: Make) -> None:
    made = panelled(make)
    (idle, _), (busy, _) = came(made, "p-one"), came(made, "p-two")

    def places() -> list[str]:
        figures = Dashboard(made.store).status()["figures"]
        return [value for label, value, _ in figures if label == "Places"]

    made.clock.now += 59 * MINUTE
    next_task(made.store, busy)
    assert refused(made, "p-three") == (409, "full")
    made.clock.now += 2 * MINUTE
    assert places() == ["1 of 2"]
    came(made, "p-three")
    assert places() == ["2 of 2"]
    campaign = made.store.campaign()
    with made.database.reading() as connection:
        rows = {row.id: row for row in connection.execute(select(judges))}
        assert lost_place(connection, campaign, rows[idle], made.clock.now)
        assert not lost_place(connection, campaign, rows[busy], made.clock.now)
    assert refused(made, "p-one") == (409, "full")  # a participant who comes back finds it taken
    made.clock.now += 61 * MINUTE
    assert came(made, "p-one")[0] == idle


def test_answer_after_a_rest_gives_the_place_back(make_sqlite: Make) -> None:
    """An answer is a sign of life: what the page hears afterwards must know of it."""
    made = panelled(make_sqlite)
    slow, _ = came(made, "p-one")
    held = made.claim(slow)
    came(made, "p-two")
    made.clock.now += 61 * MINUTE
    came(made, "p-three")
    came(made, "p-four")
    call = Client(made)
    assert call("GET", "me", who=slow).json()["state"] == "full"
    answer = call.answer({"id": held}, skip="undecided", who=slow)
    assert (answer.status_code, answer.json()["state"]) == (201, "working")
    assert call.state(slow) == "working"


def test_finished_participant_keeps_the_place_and_a_withdrawn_one_does_not(make: Make) -> None:
    made = panelled(make)
    (done, _), (gone, _) = came(made, "p-one"), came(made, "p-two")
    worked(made, done)
    set_state_of_judge(made.database, name_of(made, gone), "withdrawn")
    came(made, "p-three")
    made.clock.now += 100 * MINUTE
    came(made, "p-four")
    assert refused(made, "p-five") == (409, "full")
    assert came(made, "p-one")[0] == done
    assert [row["code"] for row in people(made)][:2] == ["C0DE", ""]


def test_participant_who_failed_the_tutorial_gives_the_place_up(make: Make) -> None:
    design = Design(judges=1, quota=2, pass_mark=1.0, attempts=1)
    made = panelled(make, Panel("prolific", 1), design, examples=LESSONS)
    (first, _) = came(made, "p-one")
    assert refused(made, "p-two") == (409, "full")
    worked(made, first)
    came(made, "p-two")
    found = {row["external id"]: row["state"] for row in people(made)}
    assert found == {"p-one": "failed", "p-two": "active"}


def test_another_session_gets_a_new_link_unless_the_first_is_at_work(make: Make) -> None:
    made = panelled(make)
    judge, salt = came(made, "p-one")
    next_task(made.store, judge)
    made.clock.now += 20 * MINUTE
    assert refused(made, "p-one", "s2") == (409, "active")
    made.clock.now += 11 * MINUTE
    again, new = came(made, "p-one", "s2")
    assert (again, new != salt) == (judge, True)
    assert made.store.salt_of_judge(judge) == new  # the first link is over


@pytest.mark.parametrize(
    ("panel", "sent"),
    [
        (Panel("sona", 1), {"survey_code": "1234"}),
        (Panel("cloudresearch", 1), {"participantId": "a", "assignmentId": "b", "x": "y"}),
        (Panel("ours", 1, participant="who", session="visit"), {"who": "a", "visit": "b"}),
    ],
    ids=lambda x: getattr(x, "provider", ""),
)
def test_parameters_of_providers(make_sqlite: Make, panel: Panel, sent: dict[str, str]) -> None:
    made = panelled(make_sqlite, panel)
    assert join_panel(made.store, sent) == join_panel(made.store, sent)


def test_from_the_link_to_the_code(make_sqlite: Make) -> None:
    """The code comes with the last task, whether it is that of the quota or there is none left."""
    design = Design(judges=2, quota=3, repeats=0, controls=0, overlap=0)
    made = panelled(make_sqlite, design=design, texts=material(5, 3, sharing=0))
    call, key = Client(made), join_key_of(made.database, KEY)

    def join(who: Any, key: str = key) -> tuple[int, Any]:
        sent = {"PROLIFIC_PID": who, "SESSION_ID": "s1"}
        answer = call("POST", "join", {"key": key, "parameters": sent}, token="")
        return answer.status_code, answer.json()

    for who, many in (("p-one", 3), ("p-two", 2)):
        status, body = join(who)
        assert status == 201
        judge, token = int(body["token"][1:].split(".")[0]), body["token"]
        assert call("GET", "me", token=token).json()["state"] == "working"
        for k in range(many):
            body = call.answer(call.task(judge), who=judge).json()
            assert ("code" in body) == (k == 2)
        body = call("POST", "tasks", {}, token=token).json()
        assert (body["state"], body.get("code", "C0DE")) == ("finished", "C0DE")
        me = call("GET", "me", token=token).json()
        assert (me["state"], me["code"]) == ("finished", "C0DE")
        assert me["back"] == "https://example.org/done?cc=C0DE"
    assert body["code"] == "C0DE"  # no answer had it
    assert [(row["external id"], row["finished"], row["code"]) for row in people(made)] == [
        ("p-one", "yes", "C0DE"),
        ("p-two", "yes", "C0DE"),
    ]
    assert join("x", key[:-1] + "x")[0] == 404
    status, body = join("")
    assert (status, body["error"]["field"]) == (422, "parameters.PROLIFIC_PID")
    assert join(["x"])[0] == 422
    assert join("y" * 300)[0] == 422
    assert call("POST", "join", {"key": key}, token="").status_code == 422
    status, body = join("p-three")
    assert (status, body["error"]["code"]) == (409, "full")
    change_state(made.database, "closed")
    status, body = join("p-three")
    assert (status, body["error"]["code"]) == (403, "closed")
    assert join("p-three")[0] == 403
    assert join("p-three")[0] == 429  # ten a minute from an address


def _bytes(place: Path) -> bytes:
    return b"".join(path.read_bytes() for path in place.parent.iterdir() if path.is_file())


@pytest.mark.parametrize("how", ["close", "judge"])
def test_ids_are_in_one_table_and_in_no_file_afterwards(make_sqlite: Make, how: str) -> None:
    made = panelled(make_sqlite)
    (judge, _) = came(made, "5f3a-participant", "session-77")
    worked(made, judge)
    assert made.database.path is not None
    Snapshots(made.database).take_if_due(10**12)
    assert b"5f3a-participant" in _bytes(made.database.path)
    assert b"session-77" not in _bytes(made.database.path)
    name = name_of(made, judge)
    assert "5f3a" not in str([name, *made.scalars(select(events.c.detail))])
    for form in ("jsonl", "details"):
        assert not any("5f3a" in line for line in export_lines(made.database, form))  # type: ignore[arg-type]
    assert people(made)[0]["external id"] == "5f3a-participant"
    if how == "close":
        change_state(made.database, "closed")
        assert forget_identities(made.database) == 1
    else:
        forget_judges(made.database, [name])
    assert b"5f3a-participant" not in _bytes(made.database.path)
    assert len(list(export_lines(made.database, "details"))) == 2  # what was judged stays


def test_panels_are_read_back_and_bad_ones_refused() -> None:
    assert panel_of(json.loads(json.dumps(PANEL.to_json()))) == PANEL
    nine = {"provider": "sona", "places": 9}
    for settings, problem in (
        ({"provider": "prolific"}, "there is no 'places'"),
        ({"provider": "mturk", "places": 3}, "nothing is known of the panel 'mturk'"),
        (nine | {"places": 0}, "whole number from 1"),
        (nine | {"places": "9"}, "not a whole number"),
        (nine | {"return": "javascript:x"}, "no address"),
        (nine | {"frame": "https://a.org/x; script-src *"}, "without a path"),
        (nine | {"plases": 1}, "did you mean 'places'"),
        (nine | {"session": "a b"}, "no name of a parameter"),
    ):
        with pytest.raises(InputError, match=problem):
            panel_of(settings)


def better_key(task: dict[str, Any]) -> str:
    return next(o["key"] for o in task["outputs"] if ["new", "goes"] in o["segments"])


def answered(call: Client, *, right: bool, who: int = 1) -> tuple[dict[str, Any], dict[str, Any]]:
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


TWO = ("He goes .", "He go go .")
BETWEEN = {"between": {"fluency": [60, 100]}, "why": "x"}
KINDS = {
    "pair": (Design(kind="pair"), EXAMPLES[0]),
    "score": (
        Design(kind="score", scales=(Scale("fluency"),)),
        Example("He go .", TWO[:1], BETWEEN),
    ),
    "edits": (Design(kind="edits"), Example("He go .", TWO, {"worse": 1, "better": 0})),
    "correct": (
        Design(kind="correct", instructions=("minimal", "fluency")),
        Example("He go .", ("He goes .", "He went ."), {}, instruction="fluency"),
    ),
    "review": (Design(kind="review"), Example("He go .", ("He gone .",), {"accept": False})),
}
SAID: list[tuple[str, Any, Any, str]] = [
    ("pair", None, "equal", "better than"),
    ("score", {"fluency": 60}, {"fluency": 59}, "fluency: we would give from 60 to 100."),
    ("edits", {"1": "bad", "2": "good"}, {"1": "good", "2": "bad"}, "these changes good: 1"),
    ("correct", {"text": "He  went ."}, {"unchanged": True}, "For example: He goes ."),
    ("review", {"text": "He goes ."}, {"accept": True}, "needs a better one"),
]


@pytest.mark.parametrize(("kind", "right", "wrong", "words"), SAID)
def test_every_kind_has_a_tutorial(
    make_sqlite: Make, kind: str, right: Any, wrong: Any, words: str
) -> None:
    design, example = KINDS[kind]
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
