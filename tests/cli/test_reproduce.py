"""``errata reproduce`` as a user runs it."""

from __future__ import annotations

from pathlib import Path

from command import Done, errata
from small_experiment import SMALL


def reproduce(*arguments: str, data: Path | None = None) -> Done:
    env = {"ERRATA_DATA": None if data is None else str(data), "ERRATA_DATA_URL": None}
    return errata("reproduce", *arguments, env=env, code=None)


def write(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_exit_code_both_ways(tmp_path: Path) -> None:
    done = reproduce(write(tmp_path, SMALL))
    assert done.returncode == 0, done.stderr
    assert "exact" in done.stdout
    assert done.stderr == ""
    done = reproduce(write(tmp_path, SMALL.replace("0.429", "0.430")))
    assert done.returncode == 1
    assert "MISMATCH" in done.stdout
    assert done.stderr.startswith("errata: 1 figure")
