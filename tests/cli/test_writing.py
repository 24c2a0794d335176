"""What commands write: over no input, over nothing that exists unasked, all of it or nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import errata

TWO = "--gold gold.m2 eager.txt noisy.txt"
# Every command that writes files: its arguments, and the option that names a file of this form.
WRITERS: dict[str, tuple[str, str, str]] = {
    "convert": ("gold.m2 --annotator 0 --copy-missing", "-o", "o.txt"),
    "convert M2": ("--source source.txt --refs reference0.txt", "-o", "o.m2"),
    "difficulty": (f"{TWO} --annotator 0", "--write-weights", "w.txt"),
    "difficulty map": (f"{TWO} --resamples 20", "--figure", "m.html"),
    "difficulty figure": (f"{TWO} --resamples 20 --sentences 1-2", "--figure", "f.svg"),
    "judge": ("--source source.txt eager.txt noisy.txt", "-o", "j.jsonl"),
    "rank": ("judgments.jsonl --resamples 20", "--figure", "r.svg"),
    "stress": (
        "gleu --source source.txt --refs reference0.txt --resamples 20",
        "--figure",
        "s.svg",
    ),
    "meta": (
        "--judgments judgments.jsonl --gold gold.m2 -m gleu --resamples 20 --level system"
        " nothing.txt eager.txt noisy.txt cautious.txt fluent.txt",
        "--figure",
        "scatter=c.svg",
    ),
}
MANY = pytest.mark.parametrize("name", WRITERS)


pytestmark = pytest.mark.usefixtures("chat_server")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@MANY
def test_no_input_is_overwritten(folder: Path, name: str) -> None:
    arguments, option, given = WRITERS[name]
    kind, equals, usual = given.rpartition("=")
    form = Path(usual).suffix if option == "--figure" else ""
    before = contents(folder)
    inputs = [word for word in arguments.split() if (folder / word).is_file()]
    assert inputs
    for number, file in enumerate(inputs):
        soft, hard = f"soft{number}{form}", f"hard{number}{form}"
        (folder / soft).symlink_to(file)
        os.link(folder / file, folder / hard)
        for target in (soft, hard) if form else (file, soft, hard):
            run = (name.split()[0], *arguments.split(), option, kind + equals + target, "--force")
            done = errata(*run, code=2, cwd=folder)
            assert f"errata: {target}: the file is an input" in done.stderr, done.stderr
            assert not done.stdout
        (folder / soft).unlink()
        (folder / hard).unlink()
    assert contents(folder) == before


@MANY
def test_what_exists_is_overwritten_only_by_force(folder: Path, name: str) -> None:
    arguments, option, given = WRITERS[name]
    target = given.rpartition("=")[2]
    run = (name.split()[0], *arguments.split(), option, given)
    errata(*run, cwd=folder)
    made = (folder / target).read_bytes()
    (folder / target).write_bytes(b"precious")
    done = errata(*run, code=2, cwd=folder)
    assert f"errata: {target}: the file exists; give --force" in done.stderr
    assert (folder / target).read_bytes() == b"precious"
    errata(*run, "--force", cwd=folder)
    assert (folder / target).read_bytes() == made
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_an_input_on_standard_input_is_an_input(folder: Path) -> None:
    with (folder / "gold.m2").open("rb") as stdin:
        done = subprocess.run(
            [sys.executable, "-m", "errata", "convert", "-", "--annotator", "0"]
            + ["--copy-missing", "-o", "gold.m2", "--force"],
            stdin=stdin,
            capture_output=True,
            text=True,
            cwd=folder,
            check=False,
        )
    assert done.returncode == 2
    assert "gold.m2: the file is an input" in done.stderr
