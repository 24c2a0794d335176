"""A disk that is full: nothing is called stored that is not, and it goes on when there is room."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from campaigns import material
from errata.collect.design import Design
from kept_promises import at_work, broken_promises
from served import eventually, served
from simulated_judges import Noted
from stored_campaigns import made

SIZE = 24 << 20  # bytes of the disk: the file, its log, snapshots, and some room


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, in memory, with little room."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.name == "nt" or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    words = [mount, "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(disk: Path) -> Path:
    """A file that takes all the room there is."""
    path = disk / "filler"
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            return path


@pytest.mark.slow
def test_a_full_disk_is_said_and_survived(small_disk: Path) -> None:
    place = str(small_disk / "campaign.db")
    campaign = made(place, Design(judges=10, judges_per_item=2, overlap=0.5), material(1000, 5))
    campaign.database.close()
    with served(place) as server:
        held = server.call("POST", "tasks", {"ahead": 1}, token=server.token(10))[1]["tasks"][0]
        ranks = {each["key"]: 1 for each in held["outputs"]}
        path = f"tasks/{held['id']}/judgment"
        own, said = Noted(), []

        def change_mind() -> tuple[int, Any]:
            """The next revision, with a long comment."""
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
            said.append((status, body["error"]["message"], body["error"]["remedy"]))
            filler.unlink()
            assert change_mind()[0] == 201
            assert eventually(server, 200)

        noted = at_work(server, 9, 2, run_full)
    full = "there is no room to store anything", "the organiser must make room on the disk"
    assert said == [(503, *full)] * 2
    assert set(noted.statuses) <= {200, 201, 503}
    assert noted.statuses[503] > 0
    assert broken_promises(place, noted) == []
    assert broken_promises(place, own) == []
