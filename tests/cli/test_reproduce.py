"""``errata reproduce`` as a user runs it."""

from __future__ import annotations

import json
from importlib.resources import files
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


def test_list() -> None:
    done = reproduce("--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["tables"][0]["rows"]
    names = "chollampatt18 gotou20 grundkiewicz15 islam21 napoles15 sakaguchi16"
    assert [row["experiment"] for row in rows] == names.split()
    assert all(row["cells"] > 0 for row in rows)


def test_exit_code_both_ways(tmp_path: Path) -> None:
    done = reproduce(write(tmp_path, SMALL))
    assert done.returncode == 0, done.stderr
    assert "exact" in done.stdout
    assert done.stderr == ""
    done = reproduce(write(tmp_path, SMALL.replace("0.429", "0.430")))
    assert done.returncode == 1
    assert "MISMATCH" in done.stdout
    assert done.stderr.startswith("errata: 1 figure")


def test_summary(tmp_path: Path) -> None:
    done = reproduce(write(tmp_path, SMALL), "--summary")
    assert done.returncode == 0, done.stderr
    assert "Finding, small: A slip" in done.stdout
    assert "Table 3" not in done.stdout


def test_real_data_tampered(tmp_path: Path, data_sets: Path) -> None:
    """A shipped file with one printed cell changed, on the real data."""
    text = (files("errata.reproduce") / "experiments" / "grundkiewicz15.toml").read_text("utf-8")
    first = text.index("[[table]]")
    table = text[first : text.index("[[table]]", first + 1)]
    head = text[:first]
    done = reproduce(write(tmp_path, head + table), data=data_sets)
    assert done.returncode == 0, done.stderr
    assert "20516" in table
    done = reproduce(write(tmp_path, head + table.replace("20516", "20517")), data=data_sets)
    assert done.returncode == 1
    assert "MISMATCH" in done.stdout
