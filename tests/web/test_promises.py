"""What is promised and no other test would notice: logs, links that are only opened, limits."""

from __future__ import annotations

import hmac
import subprocess
import sys
import urllib.request
from typing import Any

import pytest
from sqlalchemy import select

from called import KEY, Client
from errata.collect.design import Design
from errata.web.address import Address
from errata.web.changing import change_texts
from errata.web.limits import Limiter
from errata.web.schema import events, judges, metadata
from errata.web.serving import _config
from errata.web.tokens import read_token, token_for
from served import Server, free_port
from stored_campaigns import Made, Make

DESIGN = Design(judges=2, quota=12)


def contents(made: Made) -> dict[str, list[Any]]:
    """Everything that is stored."""
    with made.database.reading() as connection:
        return {
            table.name: connection.execute(select(table)).all() for table in metadata.sorted_tables
        }


def test_opening_a_link_changes_nothing(make_sqlite: Make) -> None:
    """As mail scanners and previews do."""
    made = make_sqlite(DESIGN, words={"consent": "Freely."})
    call, before = Client(made), contents(made)
    for path in ("/judge", "/admin", "/join/x?PROLIFIC_PID=y", "/api/v1/me"):
        assert call("GET", f"http://x{path}").status_code == 200
    for path in ("status", "ranking", "judges", "items"):
        assert call("GET", f"admin/{path}", who=0).status_code == 200
    assert contents(made) == before


def test_the_log_has_no_query_string(make_sqlite: Make) -> None:
    made = make_sqlite(DESIGN)
    server = Server(str(made.database.path), free_port())
    heard: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    words = [server.place, str(server.port), server.key, "1000"]
    with subprocess.Popen([sys.executable, "-c", server.program, *words], **heard) as process:
        try:
            _ready(server, process)
            link = f"{server.address}join/KEY?PROLIFIC_PID=5f3a-participant"
            with urllib.request.urlopen(link, timeout=60) as answer:
                assert answer.status == 200
        finally:
            process.terminate()
            said = process.communicate(timeout=60)[0]
    assert b"5f3a" not in said
    assert b"KEY" not in said


def _ready(server: Server, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        try:
            if server.call("GET", "health")[0] == 200:
                return
        except OSError:
            continue
    raise AssertionError("the server ended")


def test_calls_have_the_limits_that_are_said() -> None:
    for kind, most in (("join", 10), ("failure", 20), ("call", 240)):
        limiter = Limiter(clock=lambda: 0.0)
        found = [limiter.allowed(kind, "one") for _ in range(most + 2)]
        assert found == [True] * most + [False] * 2
        assert limiter.allowed(kind, "another")


def test_connections_outlive_the_pause_between_tasks() -> None:
    assert _config(None, Address()).timeout_keep_alive == 75


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[str, str]] = []

    def noted(one: str, other: str) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", noted)
    good = token_for(KEY, "judge", 7)
    other = good[:-4] + ("AAAA" if good[-4:] != "AAAA" else "BBBB")
    assert read_token(KEY, good) is not None
    assert read_token(KEY, other) is None
    assert [pair[1] for pair in compared] == [good.split(".")[2], other.split(".")[2]]


def test_consent_is_kept_with_its_version_and_asked_again_for_another_text(
    make_sqlite: Make,
) -> None:
    made = make_sqlite(DESIGN, words={"consent": "You take part freely."})
    call = Client(made)
    first = call("GET", "me").json()["consent"]["version"]
    made.clock.now += 5
    agreed = call("POST", "consent", {"version": first, "agreed": True})
    assert agreed.json() == {"state": "working"}
    with made.database.reading() as connection:
        row = connection.execute(select(judges).where(judges.c.id == 1)).one()
    assert (row.consent_version, row.consent_time) == (first, made.clock.now)
    change_texts(made.database, {"consent": "You take part, and are paid."}, now=9)
    me = call("GET", "me").json()
    assert me["state"] == "consent"
    assert me["consent"]["version"] != first
    with made.database.reading() as connection:
        found = connection.execute(select(events.c.detail).where(events.c.kind == "texts")).scalar()
    assert "You take part freely." in str(found)  # what was agreed to is known
