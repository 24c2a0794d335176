"""Several processes on one database: nothing is given twice, and who ends is replaced."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from campaigns import material
from command import errata
from errata.collect.design import Design
from kept_promises import at_work, broken_promises
from postgres import children
from served import Server, free_port
from stored_campaigns import made

PATIENCE = 60  # seconds; no test fails by the clock
SEVERAL = """
import sys
from errata.web.address import Address
from errata.web.serving import serve
from errata.web.tokens import key_from_words
if __name__ == "__main__":
    serve(sys.argv[1], key_from_words(sys.argv[3]), Address(port=int(sys.argv[2])), workers=3)
"""


@pytest.mark.slow
@pytest.mark.postgres
def test_several_processes_give_nothing_twice(place: str) -> None:
    if "://" not in place:
        pytest.skip("one process serves a SQLite file")
    made(
        place, Design(judges=30, judges_per_item=2, overlap=0.5), material(400, 5)
    ).database.close()
    server = Server(place, free_port(), program=SEVERAL).start()
    assert server.process is not None
    main = server.process.pid

    def end_one() -> None:
        before = serving_in(main)
        assert len(before) == 3
        os.kill(before[0], signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while before[0] in serving_in(main) or len(serving_in(main)) < 3:
            assert time.monotonic() < end, "nobody took its place"
            time.sleep(0.1)

    try:
        noted = at_work(server, 30, 2, end_one)
    finally:
        several = serving_in(main)
        server.stop()
    assert not [each for each in several if Path(f"/proc/{each}").exists()]
    assert broken_promises(place, noted) == []
    assert not {status for status in noted.statuses if status >= 500}


def serving_in(main: int) -> list[int]:
    """The processes that serve: children of the first that are no helper of the language's."""
    found = []
    for each in children(main):
        words = Path(f"/proc/{each}/cmdline").read_bytes()
        if b"spawn_main" in words:
            found.append(each)
    return sorted(found)


@pytest.mark.parametrize(
    ("workers", "words"),
    [("2", "one process serves a SQLite file"), ("0", "0 is not in the range x>=1")],
)
def test_workers_that_cannot_be(tmp_path: Path, workers: str, words: str) -> None:
    place = str(tmp_path / "campaign.db")
    made(place, Design(judges=1)).database.close()
    done = errata("collect", "serve", place, "--workers", workers, code=2)
    assert words in done.stderr
    assert "leave out --workers" in done.stderr or workers == "0"
