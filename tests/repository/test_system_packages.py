"""`requirements/system.sh` says what it installs, does so where it may, and never ends a run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "requirements" / "system.sh"
COMPILER = "gcc libc6-dev (a C compiler for the kernels)"
BROWSER = "chromium chromium-driver (a browser for the tests of pages)"
WORDS = "wordnet-base (synonyms for METEOR)"
DATABASE = "postgresql (a database for the tests of campaigns)"
CLUSTER = "slurm-wlm munge iproute2 (a cluster for the tests of runs)"
OTHERS = ("data.noun", "initdb", "sbatch", "ip")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell script")


class Machine:
    """A folder that is the whole PATH, with programs that note how they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "log"
        self.log.touch()
        self.program("env", 'shift\nexec "$@"')
        self.program("id", "echo 0")

    def program(self, name: str, body: str = ":") -> None:
        path = self.folder / name
        path.write_text(f'#!/bin/sh\necho {name} "$@" >> {self.log}\n{body}\n')
        path.chmod(0o755)

    def run(self, **settings: str) -> tuple[list[str], list[str], list[str]]:
        """Lines of output, lines of notes, calls of apt-get."""
        shell = shutil.which("sh")
        assert shell
        done = subprocess.run(
            [shell, str(SCRIPT)],
            capture_output=True,
            text=True,
            check=False,
            env={
                "PATH": str(self.folder),
                "WORDNET": str(self.folder),
                "POSTGRES": str(self.folder),
                "IP": str(self.folder / "ip"),
                **settings,
            },
        )
        assert done.returncode == 0, done.stderr
        calls = [line for line in self.log.read_text().splitlines() if line.startswith("apt-get")]
        return done.stdout.splitlines(), done.stderr.splitlines(), calls


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_it_says_what_it_installs_group_by_group(machine: Machine) -> None:
    machine.program("apt-get")
    said, notes, calls = machine.run()
    groups = (COMPILER, BROWSER, WORDS, DATABASE, CLUSTER)
    assert said == [f"installing system packages: {group}" for group in groups]
    assert notes == []
    assert calls == [
        "apt-get -qq update",
        "apt-get -qq install -y --no-install-recommends gcc libc6-dev",
        "apt-get -qq install -y --no-install-recommends chromium chromium-driver",
        "apt-get -qq install -y --no-install-recommends wordnet-base",
        "apt-get -qq install -y --no-install-recommends postgresql",
        "apt-get -qq install -y --no-install-recommends slurm-wlm munge iproute2",
    ]


def test_it_is_silent_where_nothing_is_missing(machine: Machine) -> None:
    for name in ("cc", "chromium", "chromedriver", "apt-get", *OTHERS):
        machine.program(name)
    assert machine.run() == ([], [], [])


def test_only_what_is_missing_is_installed(machine: Machine) -> None:
    for name in ("cc", "chromium", "apt-get", *OTHERS):
        machine.program(name)
    said, _, calls = machine.run()
    assert len(said) == 1
    assert calls[-1].endswith("--no-install-recommends chromium-driver")


def test_programs_of_a_version_are_found_where_they_are_not_on_the_path(machine: Machine) -> None:
    for name in ("cc", "chromium", "chromedriver", "apt-get", "data.noun", "sbatch", "ip"):
        machine.program(name)
    (machine.folder / "15" / "bin").mkdir(parents=True)
    assert machine.run()[0] == [f"installing system packages: {DATABASE}"]
    machine.program("15/bin/initdb")
    assert machine.run()[0] == []


def test_it_says_so_before_it_does(machine: Machine) -> None:
    machine.program("apt-get", "echo apt-get speaks")
    said, _, _ = machine.run()
    assert said.index("apt-get speaks") == 5


@pytest.mark.parametrize(
    ("programs", "settings", "why"),
    [
        ({}, {}, "there is no apt-get here"),
        ({"apt-get": ":"}, {"SYSTEM": "0"}, "SYSTEM=0 says so"),
        ({"apt-get": ":", "id": "echo 1000"}, {}, "that needs root, or sudo without a password"),
        (
            {"apt-get": ":", "id": "echo 1000", "sudo": "exit 1"},
            {},
            "that needs root, or sudo without a password",
        ),
    ],
)
def test_where_it_may_not_install_it_notes_and_goes_on(
    machine: Machine, programs: dict[str, str], settings: dict[str, str], why: str
) -> None:
    for name, body in programs.items():
        machine.program(name, body)
    said, notes, calls = machine.run(**settings)
    assert (said, calls) == ([], [])
    assert notes == [
        f"note: not installing {COMPILER}: {why}; without, they run as plain Python, slowly",
        f"note: not installing {BROWSER}: {why}; without, those tests are skipped",
        f"note: not installing {WORDS}: {why}; without, its tests with synonyms are skipped",
        f"note: not installing {DATABASE}: {why}; without, those on PostgreSQL are skipped",
        f"note: not installing {CLUSTER}: {why}; without, those on SLURM or several hosts are "
        "skipped",
    ]


def test_with_sudo_it_installs(machine: Machine) -> None:
    machine.program("apt-get")
    machine.program("id", "echo 1000")
    machine.program("sudo", 'shift\nexec "$@"')
    machine.program("true")
    said, notes, calls = machine.run()
    assert (len(said), notes, len(calls)) == (5, [], 6)
    asked = [line for line in machine.log.read_text().splitlines() if line.startswith("sudo -n")]
    assert len(asked) == 7, "may we, update, and five groups"


def test_what_cannot_be_installed_is_noted_and_the_rest_is_installed(machine: Machine) -> None:
    machine.program("apt-get", 'case "$*" in *gcc*|*update*) exit 100;; esac')
    said, notes, calls = machine.run()
    assert len(said) == 5
    assert notes == [
        "note: apt-get update failed; trying to install all the same",
        "note: could not install gcc libc6-dev; going on without",
    ]
    assert len(calls) == 6
