"""Whatever the server called stored is stored, once, however often it is killed at work."""

from __future__ import annotations

import pytest

import postgres
from campaigns import material
from errata.collect.design import Design
from kept_promises import at_work, broken_promises
from served import Server, eventually, free_port, served
from stored_campaigns import made

JUDGES, KILLS = 200, 20
DATABASE_KILLS = 5


def campaign(place: str, judges: int = JUDGES) -> None:
    design = Design(judges=judges, judges_per_item=2, overlap=0.5)
    made(place, design, material(4000, 5)).database.close()  # more than anybody gets through


@pytest.mark.slow
def test_nothing_acknowledged_is_lost(place: str) -> None:
    campaign(place)
    server = Server(place, free_port()).start()

    def kill() -> None:
        server.kill()
        server.start()

    try:
        noted = at_work(server, JUDGES, KILLS, kill)
    finally:
        server.stop()
    assert len(noted.stored) > 10 * KILLS
    assert noted.lost > 0  # else nothing was killed under anybody's hands
    assert broken_promises(place, noted) == []
    assert not {status for status in noted.statuses if status >= 500}


@pytest.mark.slow
@pytest.mark.postgres
def test_nothing_is_lost_when_the_database_is_killed() -> None:
    if postgres.why_not():
        pytest.skip(postgres.why_not())
    with postgres.cluster() as cluster:
        place = cluster.new_database("campaign")
        campaign(place)
        with served(place) as server:
            status, body = server.call("GET", "me", token=server.token(1))
            assert (status, body["state"]) == (200, "working")

            sick: list[bool] = []

            def kill() -> None:
                cluster.kill()
                status, body = server.call("GET", "me", token=server.token(1))
                assert status == 503, body
                assert body["error"]["remedy"] == "the page tries again by itself"
                if not sick:  # once: it takes the seconds for which health is remembered
                    sick.append(eventually(server, 503))
                cluster.start()

            noted = at_work(server, JUDGES, DATABASE_KILLS, kill)
            assert sick == [True]
            assert noted.statuses[503] > 0
            assert set(noted.statuses) <= {200, 201, 503}
            assert eventually(server, 200)
        assert broken_promises(place, noted) == []
