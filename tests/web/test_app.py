"""The API of judges and organiser, over HTTP on loopback: what is answered to whom."""

from __future__ import annotations

import http.client
import json
from typing import Any

from sqlalchemy import select

from campaigns import material
from errata.collect.design import Design
from errata.web.changing import change_budget
from errata.web.people import change_state, set_state_of_judge
from errata.web.schema import judgments
from served import Server, served
from stored_campaigns import Made, Make

WORDS = {"instructions": "# Rank\n\nAll of *them*.", "consent": "You take part **freely**."}


def _first(server: Server, judge: int = 1) -> dict[str, Any]:
    status, body = server.call("POST", "tasks", {"ahead": 1}, token=server.token(judge))
    assert status == 200
    task: dict[str, Any] = body["tasks"][0]
    return task


def _ranks(task: dict[str, Any], rank: int = 1) -> dict[str, Any]:
    return {"revision": 1, "answer": {o["key"]: rank for o in task["outputs"]}}


def test_a_ranking_is_stored_once_and_may_be_changed(server: Server) -> None:
    task = _first(server)
    path, own = f"tasks/{task['id']}/judgment", server.token(1)
    status, body = server.call("PUT", path, _ranks(task), token=own)
    assert (status, body["progress"]) == (201, {"done": 1, "quota": 12})
    assert server.call("PUT", path, _ranks(task), token=own)[0] == 200  # a retry is a retry
    status, body = server.call("PUT", path, _ranks(task, 2), token=own)
    assert status == 409
    assert body["stored"]["answer"] == _ranks(task)["answer"]
    changed = _ranks(task, 2) | {"revision": 2}
    assert server.call("PUT", path, changed, token=own)[0] == 201
    _, body = server.call("GET", "tasks?last=5", token=own)
    (last,) = body["tasks"]
    assert (last["revision"], last["answer"]) == (2, changed["answer"])
    assert last["outputs"] == task["outputs"]


def test_what_is_wrong_is_said_with_its_field(server: Server) -> None:
    task = _first(server)
    path, own = f"tasks/{task['id']}/judgment", server.token(1)
    for body, field in (
        ({"revision": 1, "answer": {}}, "answer.A"),
        ({"revision": 1, "answer": {"Z": 1}}, "answer"),
        ({"revision": 1}, "answer"),
        ({"revision": 1, "skip": "bored"}, "skip"),
        (_ranks(task) | {"revision": 0}, "revision"),
        (_ranks(task) | {"active": "long"}, "active"),
    ):
        status, found = server.call("PUT", path, body, token=own)
        assert (status, found["error"]["field"]) == (422, field)
        assert found["error"]["remedy"]
    assert server.call("POST", "tasks", {"ahead": 9}, token=own)[0] == 422
    assert server.call("GET", "tasks?last=500", token=own)[0] == 422


def test_nothing_of_another_judge_is_reached(server: Server) -> None:
    task = _first(server, 1)
    other = server.token(2)
    for method, path, body in (
        ("PUT", f"tasks/{task['id']}/judgment", _ranks(task)),
        ("POST", f"tasks/{task['id']}/ping", {}),
        ("POST", f"tasks/{task['id']}/return", {}),
        ("PUT", "tasks/999999/judgment", _ranks(task)),
        ("PUT", "tasks/x%27--/judgment", _ranks(task)),
    ):
        assert server.call(method, path, body, token=other)[0] == 404


def test_links_that_do_not_hold_are_refused(server: Server) -> None:
    good = server.token(1)
    for token in (
        "",
        "x",
        good[:-1] + "A",
        good.replace("j1", "j2"),
        server.token(1, 2),
        server.admin,
    ):
        assert server.call("GET", "me", token=token)[0] == 401
    assert server.call("GET", "me")[0] == 401
    assert server.call("GET", "admin/status", token=good)[0] == 401
    assert server.call("GET", "me", token=good)[0] == 200


def test_guessing_links_is_slowed_down(server: Server) -> None:
    found = [server.call("GET", "me", token=f"j1.1.{'A' * 20}{k:02}")[0] for k in range(25)]
    assert found == [401] * 20 + [429] * 5
    status, body = server.call("GET", "me", token=server.token(1))
    assert (status, body["error"]["code"]) == (429, "too_many")


def test_a_judge_may_make_only_so_many_calls(campaign: Made) -> None:
    with served(str(campaign.database.path), calls=5) as server:
        found = [server.call("GET", "me", token=server.token(1))[0] for _ in range(7)]
        assert found == [200] * 5 + [429] * 2
        assert server.call("GET", "me", token=server.token(2))[0] == 200


def test_consent_comes_first(make_sqlite: Make) -> None:
    campaign = make_sqlite(Design(judges=2), words=WORDS)
    with served(str(campaign.database.path)) as server:
        own = server.token(1)
        _, me = server.call("GET", "me", token=own)
        assert me["state"] == "consent"
        assert me["consent"]["blocks"][0]["inline"][1] == ["strong", "freely"]
        assert server.call("POST", "tasks", {}, token=own)[1]["tasks"] == []
        version = me["consent"]["version"]
        old = {"version": "old", "agreed": True}
        assert server.call("POST", "consent", old, token=own)[0] == 422
        yes = {"version": version, "agreed": True}
        assert server.call("POST", "consent", yes, token=own) == (200, {"state": "working"})
        no = {"version": version, "agreed": False}
        assert server.call("POST", "consent", no, token=server.token(2))[1] == {
            "state": "withdrawn"
        }
        assert server.call("POST", "tasks", {}, token=server.token(2))[1]["state"] == "withdrawn"


def test_states_of_campaign_and_judge_are_told(campaign: Made, server: Server) -> None:
    task = _first(server)
    database = campaign.database
    change_state(database, "paused", now=1)
    assert server.call("GET", "me", token=server.token(1))[1]["state"] == "paused"
    change_state(database, "open", now=2)
    set_state_of_judge(database, "j1", "blocked", now=3)
    assert server.call("GET", "me", token=server.token(2))[1]["state"] == "blocked"
    change_state(database, "closed", now=4)
    assert server.call("GET", "me", token=server.token(1))[1]["state"] == "closed"
    path = f"tasks/{task['id']}/judgment"
    assert server.call("PUT", path, _ranks(task), token=server.token(1))[0] == 410


def test_withdrawing_ends_the_work(server: Server) -> None:
    task = _first(server)
    assert server.call("DELETE", "me", token=server.token(1)) == (200, {"state": "withdrawn"})
    assert server.call("POST", "tasks", {}, token=server.token(1))[1]["state"] == "withdrawn"
    others = server.call("POST", "tasks", {"ahead": 2}, token=server.token(2))[1]["tasks"]
    assert task["source"] in [each["source"] for each in others]  # it went to somebody else


def test_tasks_look_alike_whatever_they_are_for(make_sqlite: Make) -> None:
    design = Design(judges=1, quota=60, controls=0.2, repeats=0.1, other_outputs=True)
    campaign = make_sqlite(design)
    shapes = set()
    with served(str(campaign.database.path)) as server:
        for _ in range(40):
            _, body = server.call("POST", "tasks", {"ahead": 1}, token=server.token(1))
            if not body["tasks"]:
                break
            (task,) = body["tasks"]
            text = json.dumps(task)
            assert not any(f'"S{k}"' in text for k in range(5))  # no name of a system
            shapes.add((*task, *task["outputs"][0]))
            path = f"tasks/{task['id']}/judgment"
            status, _ = server.call("PUT", path, _ranks(task), token=server.token(1))
            assert status == 201
    from sqlalchemy import select

    from errata.web.schema import items

    with campaign.database.reading() as connection:
        given = set(connection.execute(select(items.c.purpose).where(items.c.given > 0)).scalars())
    assert {"main", "control"} <= given
    assert len(shapes) == 1


def _raw(server: Server, head: str, body: bytes = b"") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        method, path = head.split()
        own = {"Authorization": f"Bearer {server.token(1)}"}
        connection.request(method, f"/api/v1/{path}", body, own)
        return connection.getresponse().status
    finally:
        connection.close()


def test_broken_requests_are_refused(server: Server) -> None:
    assert _raw(server, "POST tasks", b"{" * 9 + b"}" * 9) == 400
    assert _raw(server, "POST tasks", b'{"a": 1, "a": 2}') == 400
    assert _raw(server, "POST tasks", b'{"ahead": NaN}') == 400
    assert _raw(server, "POST tasks", b"\xff\xfe") == 400
    assert _raw(server, "POST tasks", b"[1]") == 400
    assert _raw(server, "POST tasks", b" " * 70_000) == 413
    assert _raw(server, "GET nothing") == 404
    assert _raw(server, "POST me", b"{}") == 405


def test_every_answer_has_its_headers(server: Server) -> None:
    for path in ("/judge", "/admin", "/static/judge.js", "/api/v1/me", "/api/v1/health", "/none"):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        policy = answer.getheader("content-security-policy", "")
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "trusted-types 'none'" in policy
        assert answer.getheader("cache-control") == "no-store"
        assert answer.getheader("x-content-type-options") == "nosniff"
        assert answer.getheader("referrer-policy") == "no-referrer"
        assert answer.getheader("server") is None
        assert answer.getheader("set-cookie") is None
        connection.close()


def test_only_the_files_of_pages_are_served(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/"):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 404
    connection.close()


def test_who_has_nothing_left_is_thanked_and_who_may_get_more_waits(make_sqlite: Make) -> None:
    """One sentence: another holds it, then has done it; nobody can get it any more."""
    design = Design(judges=2, overlap=0.0, repeats=0, controls=0)
    made = make_sqlite(design, material(1, 4, sharing=0.0))
    with served(str(made.database.path)) as server:
        one, other = server.token(1), server.token(2)
        (task,) = server.call("POST", "tasks", {"ahead": 2}, token=other)[1]["tasks"]
        _, body = server.call("POST", "tasks", {"ahead": 1}, token=one)
        assert (body["tasks"], body["state"]) == ([], "waiting")
        path = f"tasks/{task['id']}/judgment"
        assert server.call("PUT", path, _ranks(task), token=other)[0] == 201
        for token in (one, other):
            _, body = server.call("POST", "tasks", {"ahead": 1}, token=token)
            assert (body["tasks"], body["state"]) == ([], "finished")


def test_who_wrote_all_that_is_left_is_thanked(make_sqlite: Make) -> None:
    """Also while another reviews it: it will never come to its writer."""
    texts = material(2, 1, sharing=0.0)
    wrote = dict.fromkeys(enumerate(texts.systems["S0"]), ("j0",))
    design = Design(kind="review", judges=2, overlap=0.0, repeats=0)
    made = make_sqlite(design, texts._replace(writers=wrote))
    with served(str(made.database.path)) as server:
        writer, other = server.token(1), server.token(2)
        for _ in range(2):
            (task,) = server.call("POST", "tasks", {"ahead": 1}, token=other)[1]["tasks"]
            _, body = server.call("POST", "tasks", {"ahead": 1}, token=writer)
            assert (body["tasks"], body["state"]) == ([], "finished")
            path, sent = f"tasks/{task['id']}/judgment", {"revision": 1, "answer": {"accept": True}}
            assert server.call("PUT", path, sent, token=other)[0] == 201
        _, shown = server.call("GET", "admin/status", token=server.admin)
        assert "Nobody can review" not in json.dumps(shown)


def test_a_budget_that_is_used_up_is_the_end(make_sqlite: Make) -> None:
    design = Design(judges=2, rankings=1, repeats=0, controls=0, overlap=0)
    made = make_sqlite(design, wanted=3)
    change_budget(made.database, "rankings", 1, now=1)
    with served(str(made.database.path)) as server:
        task = _first(server)
        path, own = f"tasks/{task['id']}/judgment", server.token(1)
        assert server.call("PUT", path, _ranks(task), token=own)[0] == 201
        for token in (own, server.token(2)):
            _, body = server.call("POST", "tasks", {"ahead": 1}, token=token)
            assert (body["tasks"], body["state"]) == ([], "finished")


def test_of_several_changes_all_are_made_or_none(server: Server) -> None:
    def change(**sent: Any) -> int:
        return server.call("PATCH", "admin/campaign", sent, token=server.admin)[0]

    def quota() -> int:
        found = server.call("GET", "me", token=server.token(1))[1]
        return int(found["progress"]["quota"])

    assert change(quota={"tasks": 7}, texts={"consent": ""}, state="paused") == 200
    assert quota() == 7
    assert change(state="closed") == 200
    assert change(quota={"tasks": 9}, state="open") == 422  # what is closed stays so
    assert quota() == 7


def test_what_is_done_to_several_judges_is_done_to_all_or_to_none(server: Server) -> None:
    def act(action: str, *names: str) -> int:
        sent = {"names": list(names)}
        return server.call("POST", f"admin/judges/{action}", sent, token=server.admin)[0]

    before = server.call("POST", "admin/links", {"names": []}, token=server.admin)[1]
    names = [each["name"] for each in before["links"]]
    for action in ("block", "rotate", "forget"):
        assert act(action, *names, "nobody") == 422
        assert server.call("GET", "me", token=server.token(1))[1]["state"] == "working"
    assert server.call("POST", "admin/links", {"names": []}, token=server.admin)[1] == before
    assert act("block", *names) == 200
    assert server.call("GET", "me", token=server.token(1))[1]["state"] == "blocked"


def test_what_was_displayed_is_kept_if_it_is_short(campaign: Made, server: Server) -> None:
    """A page says how it showed a task in a few words; nobody stores a kilobyte of anything."""
    for long in (10, 1000):
        _, body = server.call("POST", "tasks", {"ahead": 1}, token=server.token(1))
        sent = {"revision": 1, "skip": "broken", "display": {"marks": "x" * long}, "pasted": 2}
        task = body["tasks"][0]["id"]
        assert server.call("PUT", f"tasks/{task}/judgment", sent, token=server.token(1))[0] == 201
    with campaign.database.reading() as connection:
        found = connection.execute(select(judgments.c.display).order_by(judgments.c.id)).scalars()
        assert [json.loads(each) for each in found] == [
            {"marks": "x" * 10, "pasted": 2},
            {"pasted": 2},
        ]
