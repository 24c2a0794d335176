"""``errata collect`` as tests run it: commands, a server as a process, and judges who answer."""

import contextlib
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import Done, errata
from errata.datasets.load import SAMPLE_FILES, sample_file
from processes import free_port
from served import Server
from simulated_judges import ranked

SYSTEMS = ("eager.txt", "cautious.txt", "fluent.txt", "noisy.txt")
TEXTS = ("--source", "source.txt", *SYSTEMS)


def fill_with_sample(folder: Path) -> Path:
    for name in SAMPLE_FILES:
        with sample_file(name) as path:
            (folder / name).write_bytes(path.read_bytes())
    return folder


def collect(folder: Path, *words: object, code: int | None = 0, **options: Any) -> Done:
    return errata("collect", *words, cwd=folder, code=code, **options)


def links(folder: Path, place: str = "p.db", *names: str) -> dict[str, str]:
    found = json.loads(collect(folder, "links", place, *names, "--json").stdout)
    return {row["who"]: row["link"].partition("#")[2] for row in found["tables"][0]["rows"]}


@contextlib.contextmanager
def running(folder: Path, *words: object) -> Iterator[tuple[Server, dict[str, str]]]:
    """A command that serves, once it has said so, and the tokens of its links."""
    port = free_port()
    line = [sys.executable, "-m", "errata", "collect", *map(str, words), "--port", str(port)]
    process = subprocess.Popen(
        line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    found: dict[str, str] = {}
    for text in process.stdout:
        who, _, link = text.strip().partition(f": http://127.0.0.1:{port}/")
        if link:
            assert words[0] == "try", "a link in a log"
            found[who] = link.partition("#")[2]
        if text.startswith("serving"):
            break
    else:
        pytest.fail(process.stderr.read())
    server = Server("p.db", port, process=process)
    try:
        yield server, found or links(folder, str(words[1]))
    finally:
        server.stop()
        process.stdout.close()
        process.stderr.close()


def judge(server: Server, token: str, most: int, seed: int = 0) -> int:
    """Answer tasks until there are none, or so many were answered."""
    rng = random.Random(seed)
    for done in range(most):
        status, body = server.call("POST", "tasks", {"ahead": 1}, token=token)
        assert status == 200, body
        if not body["tasks"]:
            return done
        task = body["tasks"][0]
        sent = {"revision": task["revision"], "answer": ranked(task, rng), "active": 9, "total": 9}
        status, body = server.call("PUT", f"tasks/{task['id']}/judgment", sent, token=token)
        assert status == 201, body
    return most
