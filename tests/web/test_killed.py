"""Whatever the server called stored is stored, once: after kills, and on a full disk."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

import postgres
from campaigns import material
from command import errata
from errata.collect.design import Design
from errata.collect.web.database import open_database
from errata.collect.web.schema import assignments, items, judgments
from processes import children, free_port, lives, wait_until
from served import PROGRAM, Server, eventually, served_by_process
from simulated_judges import Noted, SimulatedJudge, all_at_work
from stored_campaigns import made

SEVERAL = PROGRAM.replace("adjust=adjust", "workers=3").replace(
    "serve(place", 'if __name__ == "__main__": serve(place'
)


def broken_promises(place: str, noted: Noted) -> list[str]:
    """What was called stored and is not, or is stored twice; items above wanted."""
    database = open_database(place)
    try:
        with database.reading() as connection:
            rows = connection.execute(select(judgments)).all()
            given = connection.execute(select(assignments)).all()
            wanted = connection.execute(select(items.c.id, items.c.wanted, items.c.given)).all()
    finally:
        database.close()
    return [*_lost_or_twice(rows, noted), *_miscounted(given, wanted)]


def _lost_or_twice(rows: Any, noted: Noted) -> list[str]:
    stored: dict[tuple[str, int], Any] = {}
    found = [f"{key} was acknowledged, lost and asked for again" for key in noted.forgotten]
    for row in rows:
        key = (str(row.assignment), row.revision)
        if key in stored:
            found.append(f"{key} is stored twice")
        stored[key] = {"skip": row.skip} if row.skip is not None else {"answer": row.answer}
    for key, sent in noted.stored.items():
        if key not in stored:
            found.append(f"{key} was acknowledged and is lost")
        elif stored[key] != sent:
            found.append(f"{key} is stored with other content")
    return found


def _miscounted(given: Any, wanted: Any) -> list[str]:
    counting = [row for row in given if row.state in ("open", "done")]
    counted = Counter(row.item for row in counting)
    late = Counter(row.item for row in counting if row.late)
    found = [
        f"judge {judge} has item {item} twice"
        for (item, judge), many in Counter((row.item, row.judge) for row in given).items()
        if many > 1
    ]
    for row in wanted:
        if row.given != counted[row.id]:
            found.append(f"item {row.id}: given is {row.given}, and {counted[row.id]} have it")
        if row.wanted is not None and counted[row.id] - late[row.id] > row.wanted:
            found.append(
                f"item {row.id} is wanted {row.wanted} times, and {counted[row.id]} have it"
            )
    return found


def at_work(
    server: Server,
    judges: int,
    times: int,
    interrupt: Callable[[], None],
    *,
    pause: float = 0.5,
    between: int = 10,
) -> Noted:
    """Judges at work, interrupted again and again by what takes the server from them.

    Before each time ``between`` to twice as many answers are stored. Gives what the judges know.
    """
    noted = Noted()
    rng = random.Random(5)
    people = [
        SimulatedJudge(server.port, server.token(k + 1), k, noted, pause=pause)
        for k in range(judges)
    ]

    async def stored(more: int, working: asyncio.Task[None]) -> None:
        wanted = len(noted.stored) + more
        while len(noted.stored) < wanted:
            assert not working.done(), f"all judges have gone: {noted.statuses}"
            await asyncio.sleep(0.01)

    async def everything() -> None:
        over = False
        working = asyncio.create_task(all_at_work(people, lambda: over))
        try:
            for _ in range(times):
                await stored(between + rng.randrange(between), working)
                await asyncio.sleep(rng.random() / 10)
                await asyncio.to_thread(interrupt)
            await stored(20, working)
        finally:
            over = True
            await working

    asyncio.run(everything())
    return noted


def campaign(place: str, judges: int, sentences: int) -> None:
    """A campaign with more sentences than its judges get through."""
    design = Design(judges=judges, judges_per_item=2, overlap=0.5)
    made(place, design, material(sentences, 5)).database.close()


def killed(
    place: str, judges: int, kills: int, program: str = PROGRAM, *, pause: float = 0.5
) -> Noted:
    """Let judges work with a server that is killed and started again; return what they noted."""
    with served_by_process(place, program=program) as server:

        def kill() -> None:
            server.kill()
            server.start()

        return at_work(server, judges, kills, kill, pause=pause)


@pytest.mark.slow
def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    place = str(tmp_path / "campaign.db")
    campaign(place, 20, 200)
    noted = killed(place, 20, 3, pause=0.0)
    assert len(noted.stored) > 30
    assert noted.lost > 0  # else nothing was killed under anybody's hands
    assert broken_promises(place, noted) == []
    assert not {status for status in noted.statuses if status >= 500}


@pytest.mark.long
def test_nothing_acknowledged_is_lost_in_many_kills(place: str) -> None:
    campaign(place, 200, 4000)
    noted = killed(place, 200, 20)
    assert len(noted.stored) > 200
    assert noted.lost > 0
    assert broken_promises(place, noted) == []
    assert not {status for status in noted.statuses if status >= 500}


@pytest.mark.long
@pytest.mark.postgres
def test_nothing_is_lost_when_the_database_is_killed() -> None:
    if postgres.why_not():
        pytest.skip(postgres.why_not())
    with postgres.cluster() as cluster:
        place = cluster.new_database("campaign")
        campaign(place, 200, 4000)
        with served_by_process(place) as server:
            token = server.token(1)
            status, body = server.call("GET", "me", token=token)
            assert (status, body["state"]) == (200, "working")
            reported = False

            def kill() -> None:
                nonlocal reported
                cluster.kill()
                status, body = server.call("GET", "me", token=token)
                assert status == 503, body
                assert body["error"]["remedy"] == "the page tries again by itself"
                if not reported:  # once: it takes the seconds for which health is remembered
                    eventually(server, 503)
                    reported = True
                cluster.start()

            noted = at_work(server, 200, 5, kill)
            assert noted.statuses[503] > 0
            assert set(noted.statuses) <= {200, 201, 503}
            eventually(server, 200)
        assert broken_promises(place, noted) == []


@pytest.mark.long
@pytest.mark.postgres
def test_several_processes_give_nothing_twice(postgres_place: str) -> None:
    campaign(postgres_place, 30, 400)
    server = Server(postgres_place, free_port(), program=SEVERAL).start()
    assert server.process is not None
    main = server.process.pid

    def serving() -> list[int]:
        return children(main, b"spawn_main")

    def end_one() -> None:
        wait_until(lambda: len(serving()) == 3)
        killed = serving()[0]
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: killed not in serving() and len(serving()) == 3)

    try:
        noted = at_work(server, 30, 2, end_one)
    finally:
        several = serving()
        server.stop()
    wait_until(lambda: not any(map(lives, several)))
    assert broken_promises(postgres_place, noted) == []
    assert not {status for status in noted.statuses if status >= 500}


@pytest.mark.parametrize(
    ("workers", "words"),
    [("2", "one process serves a SQLite file"), ("0", "0 is not in the range x>=1")],
)
def test_workers_that_cannot_be_are_refused(tmp_path: Path, workers: str, words: str) -> None:
    place = str(tmp_path / "campaign.db")
    made(place, Design(judges=1)).database.close()
    done = errata("collect", "serve", place, "--workers", workers, code=2)
    assert words in done.stderr
    assert "leave out --workers" in done.stderr or workers == "0"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, in memory: the file, its log, snapshots, and some room."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.name == "nt" or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    words = [mount, "-t", "tmpfs", "-o", f"size={24 << 20}", "tmpfs", str(place)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(disk: Path) -> Path:
    """Write a file that takes all the room there is."""
    path = disk / "filler"
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            return path


@pytest.mark.long
def test_full_disk_is_reported_and_survived(small_disk: Path) -> None:
    place = str(small_disk / "campaign.db")
    campaign(place, 10, 1000)
    with served_by_process(place) as server:
        held = server.call("POST", "tasks", {"ahead": 1}, token=server.token(10))[1]["tasks"][0]
        ranks = {each["key"]: 1 for each in held["outputs"]}
        path = f"tasks/{held['id']}/judgment"
        own, told = Noted(), []

        def change_mind() -> tuple[int, Any]:
            """Send the next revision, with a long comment."""
            revision = len(own.stored) + 1
            sent = {"revision": revision, "answer": ranks, "comment": "x" * 2000}
            status, body = server.call("PUT", path, sent, token=server.token(10))
            if status == 201:
                own.stored[held["id"], revision] = {"answer": ranks}
            return status, body

        def run_full() -> None:
            filler = fill(small_disk)
            eventually(server, 503)
            status, body = change_mind()
            while status == 201:  # a little may still fit
                status, body = change_mind()
            told.append((status, body["error"]["remedy"]))
            filler.unlink()
            assert change_mind()[0] == 201
            eventually(server, 200)

        noted = at_work(server, 9, 2, run_full)
    assert told == [(503, "the organiser must make room on the disk")] * 2
    assert set(noted.statuses) <= {200, 201, 503}
    assert noted.statuses[503] > 0
    assert broken_promises(place, noted) == []
    assert broken_promises(place, own) == []
