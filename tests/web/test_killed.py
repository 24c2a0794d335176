"""Whatever the server called stored is stored, once: after kills, and on a full disk."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
import tracemalloc
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sqlalchemy import insert, select, update

import postgres
from campaigns import material
from command import refused
from errata.cli.collect import command
from errata.collect.answers import content_digest
from errata.collect.design import Design
from errata.collect.items import build_items
from errata.collect.web.database import create_database, open_database
from errata.collect.web.judges import add_judges, change_state, fill_campaign
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
    with closing(open_database(place)) as database, database.reading() as connection:
        rows = connection.execute(select(judgments)).all()
        given = connection.execute(select(assignments)).all()
        wanted = connection.execute(select(items)).all()
    stored: dict[tuple[str, int], Any] = {}
    found = [f"{key} was acknowledged, lost and asked for again" for key in noted.forgotten]
    for row in rows:
        key = (str(row.assignment), row.revision)
        if key in stored:
            found.append(f"{key} is stored twice")
        stored[key] = {"skip": row.skip} if row.skip is not None else {"answer": row.answer}
    for key, sent in noted.stored.items():
        if stored.get(key) != sent:
            found.append(f"{key} was acknowledged and is {stored.get(key, 'lost')}")
    met = Counter((row.item, row.judge) for row in given)
    found += [f"judge {judge} has item {item} twice" for (item, judge), n in met.items() if n > 1]
    counting = [row for row in given if row.state in ("open", "done")]
    counted = Counter(row.item for row in counting)
    late = Counter(row.item for row in counting if row.late)
    for row in wanted:
        if row.given != counted[row.id]:
            found.append(f"item {row.id}: given is {row.given}, and {counted[row.id]} have it")
        if row.wanted is not None and counted[row.id] - late[row.id] > row.wanted:
            found.append(f"item {row.id} is wanted {row.wanted} times; {counted[row.id]} have it")
    return found


def at_work(
    server: Server, judges: int, times: int, interrupt: Callable[[], None], *, pause: float = 0.5
) -> Noted:
    """Judges at work, interrupted again and again after 10 to 20 answers; what they know then."""
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
                await stored(10 + rng.randrange(10), working)
                await asyncio.sleep(rng.random() / 10)
                await asyncio.to_thread(interrupt)
            await stored(20, working)
        finally:
            over = True
            await working

    asyncio.run(everything())
    return noted


def campaign(place: str, judges: int, sentences: int) -> None:
    design = Design(judges=judges, judges_per_item=2, overlap=0.5)
    made(place, design, material(sentences, 5)).database.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judges", "sentences", "kills", "pause"),
    [(20, 200, 3, 0.0), pytest.param(200, 4000, 20, 0.5, marks=pytest.mark.long)],
)
def test_nothing_is_lost(place: str, judges: int, sentences: int, kills: int, pause: float) -> None:
    campaign(place, judges, sentences)
    with served_by_process(place) as server:

        def kill() -> None:
            server.kill()
            server.start()

        noted = at_work(server, judges, kills, kill, pause=pause)
    assert len(noted.stored) > 10 * kills
    assert noted.lost > 0  # else nothing was killed under anybody's hands
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


def test_workers_that_cannot_be_are_refused(tmp_path: Path) -> None:
    made(str(tmp_path / "x.db"), Design(judges=1)).database.close()
    cases = """
        collect serve x.db --workers 2 | one process serves a SQLite file ... leave out --workers
        collect serve x.db --workers 0 | 0 is not in the range x>=1
    """
    assert refused(cases, tmp_path) == []


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


REQUEST_MS = 100  # of processor time: many times what it takes on a quick machine
MEGABYTES = 280  # that a server may take
EXPORT = "api/v1/admin/export?form=jsonl"


def processor_ms(server: Server) -> float:
    assert server.process is not None
    words = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def large_campaign(path: Path, most: int, systems: int, judges: int) -> None:
    """Make a campaign with nine tenths of its items judged; no judge sees a sentence twice."""
    design = Design(judges=judges, rankings=round(most / 0.9), seed=1)
    texts = material(max(200, most // 40), systems, 1, sharing=0.1)
    built = build_items(design, texts, design.rankings)
    database = create_database(str(path))
    fill_campaign(database, design, texts, built, name="large")
    people = [each.id for each in add_judges(database, [f"judge {k}" for k in range(judges)])]
    rng = np.random.default_rng(0)
    seen: set[tuple[int, int]] = set()
    given, answers = [], []
    for k, item in enumerate(built.items, 1):
        if item.purpose != "main":
            continue
        for nth in range(item.wanted or 0):
            number = len(given) + 1
            if number > most or (nth and rng.random() < 0.1):  # some wait for a second
                break
            judge = next(j for j in rng.choice(people, 200) if (j, item.sentence) not in seen)
            seen.add((judge, item.sentence))
            order = rng.permutation(len(item.outputs)).tolist()
            letters = "ABCDE"[: len(order)]
            answer = {letter: int(rng.integers(1, 6)) for letter in letters}
            row = {"id": number, "item": k, "judge": int(judge), "shown": order, "letters": letters}
            given.append({**row, "state": "done", "opened": number, "expires": number})
            row = {"assignment": number, "revision": 1, "answer": answer, "comment": ""}
            times = {"active_ms": 5000 + number % 50_000, "server_time": 1_700_000_000_000 + number}
            answers.append({**row, **times, "digest": content_digest(answer, None, "")})
    with database.writing() as connection:
        connection.execute(insert(assignments), given)
        connection.execute(insert(judgments), answers)
        for k, done in Counter(each["item"] for each in given).items():
            connection.execute(update(items).where(items.c.id == k).values(given=done))
    change_state(database, "open")
    database.close()


@pytest.mark.long
def test_large_campaign_is_served_soon_and_in_little_memory(tmp_path: Path) -> None:
    large = tmp_path / "large.db"
    large_campaign(large, 100_000, 15, 300)
    with served_by_process(str(large)) as server:
        wait_until(lambda: server.call("GET", "admin/ranking", token=server.admin)[1]["tables"])
        judges = server.call("GET", "admin/judges", token=server.admin)[1]
        assert len(judges["tables"][0]["rows"]) == 300
        before = processor_ms(server)
        for k in range(1, 101):
            for part in ("status", "ranking", "judges", "items"):
                assert server.call("GET", f"admin/{part}", token=server.admin)[0] == 200
            token = server.token(k)
            task = server.call("POST", "tasks", {"ahead": 1}, token=token)[1]["tasks"][0]
            ranks = {output["key"]: 1 for output in task["outputs"]}
            sent = {"revision": task["revision"], "answer": ranks}
            assert server.call("PUT", f"tasks/{task['id']}/judgment", sent, token=token)[0] == 201
        cost = (processor_ms(server) - before) / 600
        print(f"{cost:.1f} ms of processor time for a request")
        assert cost < REQUEST_MS
        headers = {"Authorization": f"Bearer {server.admin}"}
        asked = urllib.request.Request(f"{server.address}{EXPORT}", headers=headers)
        with urllib.request.urlopen(asked, timeout=300) as answer:  # read as it comes
            assert sum(1 for _ in answer) >= 100_000
        assert server.process is not None
        lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
        held = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
        print(f"{held:.0f} MB with figures and an export")
        assert held <= MEGABYTES


@pytest.mark.long
@pytest.mark.parametrize("form", ["jsonl", "details"])
def test_form_is_written_without_being_held(tmp_path: Path, form: str) -> None:
    """The export command keeps batches of rows in memory, whatever the size of the form."""
    large_campaign(tmp_path / "x.db", 10_000, 12, 60)
    path = tmp_path / "out.jsonl"
    wanted = ["export", str(tmp_path / "x.db"), "--form", form, "-o", str(path)]
    CliRunner().invoke(command, [*wanted[:-1], str(tmp_path / "first.jsonl")])  # imports aside
    tracemalloc.start()
    try:
        result = CliRunner().invoke(command, wanted)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.exit_code == 0, result.output
    written = path.read_bytes()
    assert written.count(b"\n") > 5_000
    print(f"{form}: {len(written) / 1e6:.1f} MB written, {most / 1e6:.1f} MB held")
    assert most < 3.6e6
    assert (tmp_path / "first.jsonl").read_bytes() == written
