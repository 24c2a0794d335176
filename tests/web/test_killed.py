"""Whatever the server called stored is stored, once: after kills, and on a full disk."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import postgres
from campaigns import material
from command import errata
from errata.collect.design import Design
from kept_promises import at_work, broken_promises
from postgres import children
from served import PATIENCE, PROGRAM, Server, eventually, free_port, served_by_process
from simulated_judges import Noted
from stored_campaigns import made

# A store that answers first, and commits a little later.
HASTY = """
import copy, threading
from contextlib import contextmanager
from errata.collect.web.database import Database
from errata.collect.web.store import AssignmentStore
class Later(Database):
    @contextmanager
    def writing(self):
        queues = self.path is not None  # as writers of SQLite do
        if queues:
            self.turn.acquire()
        connection = self.engine.connect()
        transaction = connection.begin()
        def end(done):
            (transaction.commit if done else transaction.rollback)()
            connection.close()
            if queues:
                self.turn.release()
        try:
            yield connection
        except BaseException:
            end(False)
            raise
        threading.Timer(0.1, end, [True]).start()
true_retried = AssignmentStore.retried
def retried(self, work):
    hasty = copy.copy(self)
    if work.__name__ == "store_in":  # an answer is stored, and nothing else
        hasty.database = Later(self.database.engine, self.database.path, self.database.turn)
    return true_retried(hasty, work)
AssignmentStore.retried = retried
"""
SEVERAL = PROGRAM.replace("adjust=adjust", "workers=3").replace(
    "serve(place", 'if __name__ == "__main__": serve(place'
)


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
def test_store_that_answers_before_it_commits_is_noticed(place: str) -> None:
    campaign(place, 10, 300)
    found = broken_promises(place, killed(place, 10, 6, HASTY + PROGRAM, pause=0.0))
    assert [each for each in found if "was acknowledged" in each]


@pytest.mark.long
@pytest.mark.postgres
def test_nothing_is_lost_when_the_database_is_killed() -> None:
    if postgres.why_not():
        pytest.skip(postgres.why_not())
    with postgres.cluster() as cluster:
        place = cluster.new_database("campaign")
        campaign(place, 200, 4000)
        with served_by_process(place) as server:
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

            noted = at_work(server, 200, 5, kill)
            assert sick == [True]
            assert noted.statuses[503] > 0
            assert set(noted.statuses) <= {200, 201, 503}
            assert eventually(server, 200)
        assert broken_promises(place, noted) == []


@pytest.mark.long
@pytest.mark.postgres
def test_several_processes_give_nothing_twice(postgres_place: str) -> None:
    campaign(postgres_place, 30, 400)
    server = Server(postgres_place, free_port(), program=SEVERAL).start()
    assert server.process is not None
    main = server.process.pid

    def serving() -> list[int]:
        """The processes that serve: children that are no helper of the language's."""
        found = {each: Path(f"/proc/{each}/cmdline").read_bytes() for each in children(main)}
        return sorted(each for each, words in found.items() if b"spawn_main" in words)

    def end_one() -> None:
        before = serving()
        assert len(before) == 3
        os.kill(before[0], signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while before[0] in serving() or len(serving()) < 3:
            assert time.monotonic() < end, "no process took its place"
            time.sleep(0.1)

    try:
        noted = at_work(server, 30, 2, end_one)
    finally:
        several = serving()
        server.stop()
    assert not [each for each in several if Path(f"/proc/{each}").exists()]
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
            assert eventually(server, 503)
            status, body = change_mind()
            while status == 201:  # a little may still fit
                status, body = change_mind()
            told.append((status, body["error"]["remedy"]))
            filler.unlink()
            assert change_mind()[0] == 201
            assert eventually(server, 200)

        noted = at_work(server, 9, 2, run_full)
    assert told == [(503, "the organiser must make room on the disk")] * 2
    assert set(noted.statuses) <= {200, 201, 503}
    assert noted.statuses[503] > 0
    assert broken_promises(place, noted) == []
    assert broken_promises(place, own) == []
