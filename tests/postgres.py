"""A PostgreSQL server for tests: started in a temporary folder, as another user when root."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PLACES = ("/usr/lib/postgresql", "/usr/local/lib/postgresql", "/opt/homebrew/opt")
OTHER_USERS = ("postgres", "nobody")


def programs() -> Path | None:
    """The folder with initdb and postgres; None where there is none."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    several = [path for place in PLACES for path in Path(place).glob("*/bin/initdb")]
    return max(several).parent if several else None


def as_other_user() -> list[str] | None:
    """What goes before a command so that root does not run it; None where nobody else can."""
    if os.geteuid() != 0:
        return []
    runuser = shutil.which("runuser")
    for user in OTHER_USERS:
        if (
            runuser
            and subprocess.run(["id", user], capture_output=True, check=False).returncode == 0
        ):
            return [runuser, "-u", user, "--"]
    return None


def why_not() -> str:
    """Why no server can be had; empty where one can."""
    if programs() is None:
        return "no PostgreSQL on this machine (apt install postgresql)"
    return "" if as_other_user() is not None else "root, and nobody else to run PostgreSQL as"


@contextmanager
def server(*settings: str) -> Iterator[str]:
    """A server with an empty cluster; gives its address, without a database."""
    folder, before = programs(), as_other_user()
    assert folder is not None
    assert before is not None
    place = Path(tempfile.mkdtemp(prefix="errata-pg-", dir="/tmp"))
    if before:
        shutil.chown(place, before[2])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = place / "data"
    run = {"check": True, "capture_output": True, "cwd": "/tmp"}
    subprocess.run(  # type: ignore[call-overload]
        [*before, folder / "initdb", "-D", data, "-U", "errata", "--auth=trust", "-E", "UTF8"],
        **run,
    )
    options = [f"-p {port}", "-c listen_addresses=127.0.0.1", f"-k {place}", *settings]
    control = [*before, folder / "pg_ctl", "-D", data, "-w", "-l", place / "log"]
    subprocess.run([*control, "-o", " ".join(options), "start"], **run)  # type: ignore[call-overload]
    try:
        yield f"postgresql://errata@127.0.0.1:{port}"
    finally:
        subprocess.run(
            [*control, "-m", "immediate", "stop"], check=False, capture_output=True, cwd="/tmp"
        )
        time.sleep(0.1)
        shutil.rmtree(place, ignore_errors=True)
