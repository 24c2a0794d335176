"""What is kept between runs can be seen and deleted, and nothing else is."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from command import errata
from errata.datasets.catalogue import catalogue


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cache with something in all its parts, and with files of the user's own."""
    here = tmp_path / "cache"
    run = ("score", "--sample", "-m", "fluency(model=trigram)", "--resamples", 0)
    errata(*run, env={"ERRATA_CACHE": str(here)})
    (here / "edits.sqlite3").write_bytes(b"broken")
    chosen = next(iter(catalogue().values()))
    path = here / "data" / chosen.address(chosen.files[0])
    path.parent.mkdir(parents=True)
    path.write_text("12345")
    (here / "data" / "mine.txt").write_text("mine")
    (here / "mine.txt").write_text("mine")
    return here


def cache(folder: Path, *arguments: str, code: int = 0) -> Any:
    done = errata("cache", *arguments, "--json", env={"ERRATA_CACHE": str(folder)}, code=code)
    if code:
        return done.stderr
    [table] = json.loads(done.stdout)["tables"]
    return {row["part"]: row for row in table["rows"]}


def test_what_is_kept_is_shown(folder: Path) -> None:
    shown = cache(folder, "show")
    assert list(shown) == ["edits", "sentences", "answers", "checksums", "data"]
    assert shown["sentences"]["entries"] > 100
    assert shown["sentences"]["bytes"] == (folder / "sentences.sqlite3").stat().st_size
    assert stat.S_IMODE((folder / "sentences.sqlite3").stat().st_mode) == 0o600
    assert (shown["edits"]["files"], shown["edits"]["entries"]) == (1, None)
    assert (shown["data"]["files"], shown["data"]["bytes"]) == (1, 5)
    empty = cache(folder / "no-such", "show")
    assert [row["files"] for row in empty.values()] == [0, 0, 0, 0, 0]
    assert not (folder / "no-such").exists()


def test_only_what_errata_made_is_deleted(folder: Path) -> None:
    cleared = cache(folder, "clear", "edits")
    assert list(cleared) == ["edits"]
    assert not (folder / "edits.sqlite3").exists()
    assert (folder / "sentences.sqlite3").exists()
    cache(folder, "clear", "all")
    left = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert left == [Path("data/mine.txt"), Path("mine.txt")]
    assert [path.name for path in (folder / "data").iterdir()] == ["mine.txt"]
    assert [row["files"] for row in cache(folder, "show").values()] == [0, 0, 0, 0, 0]


def test_what_to_clear_must_be_said(folder: Path) -> None:
    said = cache(folder, "clear", code=2)
    assert "name one or more of edits, sentences, answers, checksums, data, or all" in said
    assert "no 'things' to clear" in cache(folder, "clear", "edits", "things", code=2)
    assert (folder / "edits.sqlite3").exists()
