"""The table of calls, line by line: every status that it names is answered.

What it says of joining is in `test_panels`, of answers in `test_app`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from called import Client
from errata.collect.design import Design
from errata.web import app as web
from stored_campaigns import LESSONS, Made, Make


@pytest.fixture
def campaign(make_sqlite: Make) -> Made:
    return make_sqlite(Design(judges=2, quota=12, repeats=0, controls=0))


def test_tasks_are_given_one_or_two_ahead(campaign: Made) -> None:
    call = Client(campaign)
    for ahead, status in ((0, 422), (3, 422), ("1", 422), (True, 422), (1, 200), (2, 200)):
        answer = call("POST", "tasks", {"ahead": ahead})
        assert answer.status_code == status
        assert status == 422 or len(answer.json()["tasks"]) == ahead
    (first, second) = call("POST", "tasks", {"ahead": 2}).json()["tasks"]
    assert first["id"] != second["id"]
    assert set(first) == {
        "id", "kind", "source", "before", "after", "outputs", "revision", "expires", "language"
    }  # fmt: skip


def test_leases_are_renewed_and_given_back(campaign: Made) -> None:
    call = Client(campaign)
    (task,) = call("POST", "tasks", {}).json()["tasks"]
    campaign.clock.now += 60_000
    answer = call("POST", f"tasks/{task['id']}/ping", {})
    assert (answer.status_code, answer.json()["expires"] - task["expires"]) == (200, 60_000)
    assert call("POST", f"tasks/{task['id']}/return", {}).status_code == 200
    (following,) = call("POST", "tasks", {}).json()["tasks"]
    assert following["id"] != task["id"]
    (other,) = call("POST", "tasks", {}, who=2).json()["tasks"]
    assert other["source"] == task["source"]


def test_the_last_five_answers_are_ones_own(campaign: Made) -> None:
    call = Client(campaign)
    for who in (1, 2):
        for _ in range(7 if who == 1 else 1):
            (task,) = call("POST", "tasks", {}, who=who).json()["tasks"]
            sent = {"revision": 1, "skip": "undecided", "comment": f"of {who}"}
            path = f"tasks/{task['id']}/judgment"
            assert call("PUT", path, sent, who=who).status_code == 201
    found = call("GET", "tasks?last=5").json()["tasks"]
    assert [each["comment"] for each in found] == ["of 1"] * 5
    assert found[-1]["skip"] == "undecided"


def test_who_withdraws_is_out_at_once(campaign: Made) -> None:
    call = Client(campaign)
    assert call("DELETE", "me").json() == {"state": "withdrawn"}
    assert call("GET", "me").json()["state"] == "withdrawn"
    assert call("POST", "tasks", {}).json()["tasks"] == []


def test_the_organiser_is_answered(make_sqlite: Make) -> None:
    call = Client(make_sqlite(Design(judges=1), examples=LESSONS))
    call.dashboard.refresh()
    for part in ("status", "ranking", "judges", "items", "export?form=details"):
        answer = call("GET", f"admin/{part}", who=0)
        assert answer.status_code == 200, part
        assert call("GET", f"admin/{part}").status_code == 401
    assert call("GET", "admin/nothing", who=0).status_code == 404
    assert call("GET", "admin/export?form=x", who=0).status_code == 422
    assert call("PATCH", "admin/campaign", {"state": "draft"}, who=0).status_code == 422
    assert call("PATCH", "admin/campaign", {"texts": {"x": "y"}}, who=0).status_code == 422
    assert call("PATCH", "admin/campaign", {"state": "paused"}, who=0).status_code == 200
    assert call("GET", "me").json()["state"] == "paused"
    assert call("POST", "admin/judges", {"names": ["new"]}, who=0).status_code == 200
    assert call("POST", "admin/judges", {"names": ["new"]}, who=0).status_code == 422
    assert call("POST", "admin/judges", {"names": 3}, who=0).status_code == 422
    assert call("POST", "admin/judges/rotate", {"names": ["j0"]}, who=0).status_code == 200
    assert call("GET", "me").status_code == 401
    assert call("POST", "admin/judges/dance", {"names": ["j0"]}, who=0).status_code == 404


def test_health_is_told_and_remembered(campaign: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    call = Client(campaign)
    ailing: list[str] = []
    whole = type(campaign.database).writing

    @contextmanager
    def writing(self: Any) -> Iterator[Connection]:
        if ailing == ["slow"]:
            time.sleep(2)
        elif ailing:
            raise OperationalError("x", None, Exception("database or disk is full"))
        with whole(self) as connection:
            yield connection

    monkeypatch.setattr(type(campaign.database), "writing", writing)
    assert call("GET", "health").status_code == 200
    ailing.append("full")
    assert call("GET", "health").status_code == 200  # remembered
    then, well = call.served.health
    call.served.health = (then - web.HEALTH_REMEMBERED, well)
    assert call("GET", "health").status_code == 503
    answer = call("POST", "tasks", {})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["error"]["remedy"] == "the organiser must make room on the disk"
    ailing.clear()
    assert call("GET", "health").status_code == 503  # remembered too
    call.served.health = (0.0, False)
    ailing.append("slow")
    assert call("GET", "health").status_code == 503
    ailing.clear()
    call.served.health = (0.0, False)
    assert call("GET", "health").status_code == 200
    assert call("POST", "tasks", {}).status_code == 200
