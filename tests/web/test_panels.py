"""Participants of panels: places, sessions, codes, and what is left of them when it is over."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from called import Client
from errata.collect.assigning import Holding
from errata.collect.design import Design
from errata.collect.panel import Panel, panel_of
from errata.errors import InputError
from errata.web.answering import SentAnswer
from errata.web.dashboard import Dashboard
from errata.web.exports import export_lines
from errata.web.participants import forget_identities, join_panel, lost_place
from errata.web.people import change_state, forget_judge, set_state_of_judge
from errata.web.schema import events, judges
from errata.web.snapshots import Snapshots
from errata.web.store import ForbiddenError
from errata.web.tokens import join_key
from served import KEY, served
from stored_campaigns import LESSONS, Made, Make

PANEL = Panel("prolific", 2, code="C0DE", back="https://example.org/done?cc={code}")
DESIGN = Design(judges=2, quota=2, repeats=0, controls=0)
MINUTE = 60_000


def panelled(make: Make, panel: Panel = PANEL, design: Design = DESIGN, **options: Any) -> Made:
    return make(design, words={"panel": panel.to_json()}, **options)


def came(made: Made, who: str, session: str = "s1") -> tuple[int, int]:
    return tuple(join_panel(made.store, {"PROLIFIC_PID": who, "SESSION_ID": session}))


def refused(made: Made, who: str, session: str = "s1") -> tuple[int, str]:
    with pytest.raises(ForbiddenError) as found:
        came(made, who, session)
    return found.value.status, found.value.code


def worked(made: Made, judge: int, many: int = 2) -> None:
    for _ in range(many):
        held = made.store.claim(judge)
        assert isinstance(held, Holding)
        made.store.submit(judge, held.assignment, SentAnswer(1, skip="undecided"))


def test_places_are_reserved_on_joining(make: Make) -> None:
    made = panelled(make)
    first, second = came(made, "p-one"), came(made, "p-two")
    assert first[0] != second[0]
    assert refused(made, "p-three") == (409, "full")
    assert came(made, "p-one") == first  # the same session again: the same link


def test_of_many_who_come_at_once_as_many_get_in_as_there_are_places(make: Make) -> None:
    from concurrent.futures import ThreadPoolExecutor

    made = panelled(make, Panel("prolific", 3))

    def come(k: int) -> str:
        try:
            return f"judge {came(made, f'p-{k}')[0]}"
        except ForbiddenError as error:
            return error.code

    with ThreadPoolExecutor(12) as threads:
        found = list(threads.map(come, range(12)))
    assert found.count("full") == 9
    assert len({*found} - {"full"}) == 3


def test_a_place_without_a_sign_of_life_is_free_again(make: Make) -> None:
    made = panelled(make)
    (idle, _), (busy, _) = came(made, "p-one"), came(made, "p-two")
    made.clock.now += 59 * MINUTE
    made.store.claim(busy)
    assert refused(made, "p-three") == (409, "full")
    made.clock.now += 2 * MINUTE
    assert ["Places", "1 of 2", "taken"] in Dashboard(made.store).status()["figures"]
    came(made, "p-three")
    assert ["Places", "2 of 2", "taken"] in Dashboard(made.store).status()["figures"]
    campaign = made.store.campaign()
    with made.database.reading() as connection:
        rows = {row.id: row for row in connection.execute(select(judges))}
        assert lost_place(connection, campaign, rows[idle], made.clock.now)
        assert not lost_place(connection, campaign, rows[busy], made.clock.now)
    assert refused(made, "p-one") == (409, "full")  # who comes back finds it taken
    made.clock.now += 61 * MINUTE
    assert came(made, "p-one")[0] == idle


def test_who_answers_after_a_rest_has_a_place_again(make_sqlite: Make) -> None:
    """An answer is a sign of life: what the page is told afterwards must know of it."""
    made = panelled(make_sqlite)
    slow, _ = came(made, "p-one")
    held = made.store.claim(slow)
    assert isinstance(held, Holding)
    came(made, "p-two")
    made.clock.now += 61 * MINUTE
    came(made, "p-three")
    came(made, "p-four")
    call = Client(made)

    def state(method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, str]:
        answer = call(method, path, body, who=slow)
        return answer.status_code, answer.json()["state"]

    assert state("GET", "me") == (200, "full")
    answer = {"revision": 1, "skip": "undecided"}
    assert state("PUT", f"tasks/{held.assignment}/judgment", answer) == (201, "working")
    assert state("POST", "tasks", {"ahead": 1}) == (200, "working")


def test_who_finished_keeps_the_place_and_who_withdrew_does_not(make: Make) -> None:
    made = panelled(make)
    (done, _), (gone, _) = came(made, "p-one"), came(made, "p-two")
    worked(made, done)
    with made.database.reading() as connection:
        names = {row.id: row.name for row in connection.execute(select(judges))}
    set_state_of_judge(made.database, names[gone], "withdrawn", now=0)
    came(made, "p-three")
    made.clock.now += 100 * MINUTE
    came(made, "p-four")
    assert refused(made, "p-five") == (409, "full")


def test_who_failed_the_tutorial_gives_the_place_up(make: Make) -> None:
    design = Design(judges=1, quota=2, pass_mark=1.0, attempts=1)
    made = panelled(make, Panel("prolific", 1), design, examples=LESSONS)
    (first, _) = came(made, "p-one")
    assert refused(made, "p-two") == (409, "full")
    worked(made, first)
    came(made, "p-two")
    rows = csv.DictReader(export_lines(made.database, "people"))
    found = {row["external id"]: row["state"] for row in rows if row["external id"]}
    assert found == {"p-one": "failed", "p-two": "active"}


def test_another_session_gets_a_new_link_unless_the_first_is_at_work(make: Make) -> None:
    made = panelled(make)
    judge, generation = came(made, "p-one")
    made.store.claim(judge)
    made.clock.now += 20 * MINUTE
    assert refused(made, "p-one", "s2") == (409, "active")
    made.clock.now += 11 * MINUTE
    assert came(made, "p-one", "s2") == (judge, generation + 1)
    assert made.store.generation(judge) == generation + 1  # the first link is over


@pytest.mark.parametrize(
    ("panel", "sent"),
    [
        (Panel("sona", 1), {"survey_code": "1234"}),
        (Panel("cloudresearch", 1), {"participantId": "a", "assignmentId": "b", "x": "y"}),
        (Panel("ours", 1, participant="who", session="visit"), {"who": "a", "visit": "b"}),
    ],
    ids=lambda x: getattr(x, "provider", ""),
)
def test_parameters_have_the_names_of_the_provider(
    make_sqlite: Make, panel: Panel, sent: dict[str, str]
) -> None:
    made = panelled(make_sqlite, panel)
    assert join_panel(made.store, sent) == join_panel(made.store, sent)


def test_over_http_from_the_link_to_the_code(make_sqlite: Make) -> None:
    made = panelled(make_sqlite)
    key = join_key(bytes.fromhex(KEY))
    with served(str(made.database.path)) as server:

        def join(who: Any, key: str = key) -> tuple[int, Any]:
            sent = {"PROLIFIC_PID": who, "SESSION_ID": "s1"}
            return server.call("POST", "join", {"key": key, "parameters": sent})

        status, body = join("p-one")
        assert status == 201
        token = body["token"]
        assert server.call("GET", "me", token=token)[1]["state"] == "working"
        for k in range(2):
            (task, *_) = server.call("POST", "tasks", {}, token=token)[1]["tasks"]
            answer = {"revision": 1, "skip": "undecided"}
            _, body = server.call("PUT", f"tasks/{task['id']}/judgment", answer, token=token)
            assert ("code" in body) == (k == 1)
        _, me = server.call("GET", "me", token=token)
        assert (me["state"], me["code"]) == ("finished", "C0DE")
        assert me["back"] == "https://example.org/done?cc=C0DE"
        assert join("x", key[:-1] + "x")[0] == 404
        status, body = join("")
        assert (status, body["error"]["field"]) == (422, "parameters.PROLIFIC_PID")
        assert join(["x"])[0] == 422
        assert join("y" * 300)[0] == 422
        assert server.call("POST", "join", {"key": key})[0] == 422
        assert join("p-two")[0] == 201
        status, body = join("p-three")
        assert (status, body["error"]["code"]) == (409, "full")
        change_state(made.database, "closed", now=1)
        status, body = join("p-three")
        assert (status, body["error"]["code"]) == (403, "closed")
        assert join("p-three")[0] == 403
        assert join("p-three")[0] == 429  # ten a minute from an address


def test_a_campaign_that_is_not_open_lets_nobody_in(make: Make) -> None:
    made = panelled(make)
    change_state(made.database, "paused", now=1)
    assert refused(made, "p-one") == (403, "paused")


def test_who_finds_nothing_left_gets_the_code_too(make_sqlite: Make) -> None:
    from campaigns import material

    design = Design(judges=2, quota=50, repeats=0, controls=0, overlap=0)
    made = panelled(make_sqlite, design=design, texts=material(4, 3, sharing=0))
    with served(str(made.database.path)) as server:
        sent = {"PROLIFIC_PID": "p-one", "SESSION_ID": "s1"}
        key = join_key(bytes.fromhex(KEY))
        token = server.call("POST", "join", {"key": key, "parameters": sent})[1]["token"]
        while found := server.call("POST", "tasks", {}, token=token)[1]["tasks"]:
            path = f"tasks/{found[0]['id']}/judgment"
            server.call("PUT", path, {"revision": 1, "skip": "undecided"}, token=token)
        _, body = server.call("POST", "tasks", {}, token=token)
        assert (body["state"], body["code"]) == ("finished", "C0DE")
    (row,) = (
        row for row in csv.DictReader(export_lines(made.database, "people")) if row["external id"]
    )
    assert (row["external id"], row["finished"], row["code"]) == ("p-one", "yes", "C0DE")


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
    with made.database.reading() as connection:
        details = list(connection.execute(select(events.c.detail)).scalars())
        (name,) = connection.execute(select(judges.c.name).where(judges.c.id == judge)).scalars()
        assert not any("5f3a" in detail for detail in details)
        assert "5f3a" not in name
    for form in ("jsonl", "details"):
        assert not any("5f3a" in line for line in export_lines(made.database, form))  # type: ignore[arg-type]
    assert any("5f3a" in line for line in export_lines(made.database, "people"))
    if how == "close":
        change_state(made.database, "closed", now=1)
        assert forget_identities(made.database, now=2) == 1
    else:
        forget_judge(made.database, name, now=2)
    assert b"5f3a-participant" not in _bytes(made.database.path)
    assert len(list(export_lines(made.database, "details"))) == 2  # what was judged stays


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"provider": "prolific"}, "without provider and places"),
        ({"provider": "mturk", "places": 3}, "nothing is known of the panel 'mturk'"),
        ({"provider": "sona", "places": 0}, "whole number from 1"),
        ({"provider": "sona", "places": "9"}, "should be int"),
        ({"provider": "sona", "places": 9, "return": "javascript:x"}, "no address"),
        ({"provider": "sona", "places": 9, "frame": "https://a.org/x; script-src *"}, "no origin"),
        ({"provider": "sona", "places": 9, "plases": 1}, "did you mean 'places'"),
        ({"provider": "sona", "places": 9, "session": "a b"}, "no name of a parameter"),
    ],
)
def test_panels_that_cannot_be_are_refused(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        panel_of(settings)


def test_a_panel_is_read_back(make_sqlite: Make) -> None:
    assert panel_of(json.loads(json.dumps(PANEL.to_json()))) == PANEL
