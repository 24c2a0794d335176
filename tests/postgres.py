"""A PostgreSQL server for tests: started in a temporary folder, as another user when root."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from processes import children, free_port, lives, wait_until

PLACES = ("/usr/lib/postgresql", "/usr/local/lib/postgresql", "/opt/homebrew/opt")
OTHER_USERS = ("postgres", "nobody")


def programs() -> Path | None:
    """The folder with initdb and postgres; None where there is none."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    several = [path for place in PLACES for path in Path(place).glob("*/bin/initdb")]
    if not several and (spec := find_spec("pgserver")) and spec.origin:  # a wheel with programs
        several = list(Path(spec.origin).parent.glob("pginstall/bin/initdb"))
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


@dataclass
class Cluster:
    """A server over an empty cluster; it can be killed, and started on the same port."""

    place: Path
    port: int
    settings: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        """Where it listens, without a database."""
        return f"postgresql://errata@127.0.0.1:{self.port}"

    @property
    def data(self) -> Path:
        return self.place / "data"

    def run(self, program: str, *words: str, check: bool = True) -> None:
        folder, before = programs(), as_other_user()
        subprocess.run(
            [*before, folder / program, "-D", self.data, *words],
            check=check,
            capture_output=True,
            cwd="/tmp",
        )

    def start(self) -> None:
        options = [
            f"-p {self.port}",
            "-c listen_addresses=127.0.0.1",
            "-c unix_socket_directories=",
        ]
        said = " ".join([*options, *self.settings])
        self.run("pg_ctl", "-w", "-l", str(self.place / "log"), "-o", said, "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-w", "-m", "immediate", "stop", check=False)

    def kill(self) -> None:
        """As a power cut does: the postmaster and all its children, at once."""
        main = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(main, signal.SIGSTOP)  # so that it starts no others meanwhile
        several = [main, *children(main)]
        for each in several:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        wait_until(lambda: not any(map(lives, several)))
        # Where nobody reaps it, its number stays taken, and the next one would think that it lives.
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def new_database(self, name: str) -> str:
        self.execute(f"CREATE DATABASE {name}")
        return f"{self.address}/{name}"

    def execute(self, *statements: str) -> None:
        import psycopg

        with psycopg.connect(f"{self.address}/postgres", autocommit=True) as connection:
            for each in statements:
                connection.execute(each)  # type: ignore[call-overload]

    def change(self, setting: str, value: str) -> None:
        """Change a setting of the running server, and wait until new connections have it."""
        import psycopg

        self.execute(f"ALTER SYSTEM SET {setting} = {value}", "SELECT pg_reload_conf()")

        def changed() -> bool:
            with psycopg.connect(f"{self.address}/postgres", autocommit=True) as connection:
                return connection.execute(f"SHOW {setting}").fetchone() == (value,)  # type: ignore[call-overload]

        wait_until(changed)


@contextmanager
def cluster(*settings: str) -> Iterator[Cluster]:
    """A server of one's own, to be killed."""
    before = as_other_user()
    place = Path(tempfile.mkdtemp(prefix="errata-pg-", dir="/tmp"))
    if before:
        shutil.chown(place, before[2])
    found = Cluster(place, free_port(), settings)
    try:
        found.run("initdb", "-U", "errata", "--auth=trust", "-E", "UTF8", "--no-sync")
        found.start()
        yield found
    finally:
        found.stop()
        shutil.rmtree(place, ignore_errors=True)
