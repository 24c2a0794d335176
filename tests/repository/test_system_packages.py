"""`requirements/system.sh` says what it installs, does so where it may, and never ends a run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "requirements" / "system.sh"
# What each group of packages is for, in the order of their installation.
GROUPS = {
    "gcc libc6-dev": "compiler",
    "chromium chromium-driver": "browser",
    "wordnet-base": "METEOR",
    "postgresql": "database",
    "slurm-wlm munge iproute2": "cluster",
}
OTHERS = ("data.noun", "initdb", "sbatch", "ip")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell script")


class Machine:
    """A folder that is the whole PATH, with programs that note how they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "log"
        self.log.touch()
        self.add(env='shift\nexec "$@"', id="echo 0")

    def add(self, *names: str, **programs: str) -> None:
        for name, body in (dict.fromkeys(names, ":") | programs).items():
            path = self.folder / name.replace("_", "-")
            path.write_text(f'#!/bin/sh\necho {path.name} "$@" >> {self.log}\n{body}\n')
            path.chmod(0o755)

    def run(self, **settings: str) -> tuple[list[str], list[str], list[str]]:
        """Lines of output, lines of notes, calls of apt-get."""
        shell = shutil.which("sh")
        assert shell
        places = dict.fromkeys(("PATH", "WORDNET", "POSTGRES"), str(self.folder))
        done = subprocess.run(
            [shell, str(SCRIPT)],
            capture_output=True,
            text=True,
            check=False,
            env={**places, "IP": str(self.folder / "ip"), **settings},
        )
        assert done.returncode == 0, done.stderr
        calls = [line for line in self.log.read_text().splitlines() if line.startswith("apt-get")]
        return done.stdout.splitlines(), done.stderr.splitlines(), calls


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("sudo", [False, True])
def test_it_says_what_it_installs_group_by_group(machine: Machine, sudo: bool) -> None:
    machine.add("true", apt_get="echo apt-get speaks")
    if sudo:
        machine.add(id="echo 1000", sudo='shift\nexec "$@"')
    said, notes, calls = machine.run()
    assert said.index("apt-get speaks") == len(GROUPS)  # it says so before it does
    for line, (packages, purpose) in zip(said, GROUPS.items(), strict=False):
        assert line.startswith(f"installing system packages: {packages} ")
        assert purpose in line
    assert notes == []
    install = "apt-get -qq install -y --no-install-recommends"
    assert calls == ["apt-get -qq update", *(f"{install} {packages}" for packages in GROUPS)]


def test_only_what_is_missing_is_installed(machine: Machine) -> None:
    machine.add("cc", "chromium", "apt-get", *OTHERS)
    said, _, calls = machine.run()
    assert len(said) == 1
    assert calls[-1].endswith("--no-install-recommends chromium-driver")
    machine.log.write_text("")
    (machine.folder / "initdb").unlink()
    (machine.folder / "15" / "bin").mkdir(parents=True)
    machine.add("chromedriver", "15/bin/initdb")  # a PostgreSQL that is not on the path
    assert machine.run() == ([], [], [])


@pytest.mark.parametrize(
    ("programs", "settings", "why"),
    [
        ({}, {}, "apt-get"),
        ({"apt_get": ":"}, {"SYSTEM": "0"}, "SYSTEM=0"),
        ({"apt_get": ":", "id": "echo 1000"}, {}, "sudo"),
        ({"apt_get": ":", "id": "echo 1000", "sudo": "exit 1"}, {}, "sudo"),
    ],
)
def test_where_it_may_not_install_it_notes_and_goes_on(
    machine: Machine, programs: dict[str, str], settings: dict[str, str], why: str
) -> None:
    machine.add(**programs)
    said, notes, calls = machine.run(**settings)
    assert (said, calls) == ([], [])
    for note, packages in zip(notes, GROUPS, strict=True):
        assert note.startswith(f"note: not installing {packages} ")
        assert why in note


def test_what_cannot_be_installed_is_noted_and_the_rest_is_installed(machine: Machine) -> None:
    machine.add(apt_get='case "$*" in *gcc*|*update*) exit 100;; esac')
    said, notes, calls = machine.run()
    assert (len(said), len(notes), len(calls)) == (5, 2, 6)
    assert "update" in notes[0]
    assert "gcc libc6-dev" in notes[1]
