"""``errata data`` with a real server on loopback, and ``errata cache``, as a user runs them."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from command import Done, errata
from data_server import DataServer, make_folder, serve
from errata.datasets.catalogue import catalogue


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DataServer]:
    with serve(tmp_path / "origin") as running:
        yield running


@pytest.fixture
def data(tmp_path: Path, server: DataServer) -> Callable[..., Done]:
    """Run ``errata data`` on a made-up catalogue, with a cache of its own."""
    catalogue = make_folder(tmp_path / "origin")
    usual = {"ERRATA_DATA": None, "ERRATA_CACHE": str(tmp_path / "cache")}
    usual |= {"NO_PROXY": "127.0.0.1", "ERRATA_DATA_URL": server.url}

    def run(*arguments: str, **settings: str) -> Done:
        given = ("data", "--catalogue", catalogue, *arguments)
        return errata(*given, env=usual | settings, code=None)

    return run


def rows(text: str) -> list[dict[str, object]]:
    (table,) = json.loads(text)["tables"]
    found: list[dict[str, object]] = table["rows"]
    return found


def test_list_shows_what_is_on_disk(data: Callable[..., Done], tmp_path: Path) -> None:
    def state(**settings: str) -> object:
        return rows(data("list", "--json", **settings).stdout)[0]["on disk"]

    assert state() == "no"
    assert data("path", "toy", "small.txt").returncode == 0
    assert state() == "partly"
    assert data("get", "--all").returncode == 0
    assert state() == "cache"
    assert state(ERRATA_DATA=str(tmp_path / "origin")) == "ERRATA_DATA"


def test_path_is_one_line_for_the_shell(data: Callable[..., Done], server: DataServer) -> None:
    done = data("path", "toy", "small.txt")
    assert Path(done.stdout.removesuffix("\n")).read_text("utf-8") == "café\n"
    assert "large.bin" in data("path", "toy", "large.bin").stdout
    assert len(server.requests) == 2
    assert len(data("path", "toy").stdout.splitlines()) == 2
    assert len(server.requests) == 2


def test_base_url_comes_before_the_environment(
    data: Callable[..., Done], server: DataServer
) -> None:
    done = data("get", "toy", "--base-url", server.url + "/", ERRATA_DATA_URL="http://127.0.0.1:9")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(server.requests) == 2


def test_check_finds_a_spoilt_file(data: Callable[..., Done]) -> None:
    assert data("check").returncode == 0
    path = Path(data("path", "toy", "small.txt").stdout.strip())
    assert {row["content"] for row in rows(data("check", "--json").stdout)} == {"ok", "missing"}
    path.write_bytes(b"spoilt")
    done = data("check", "toy", "--json")
    assert done.returncode == 1
    assert [row["content"] for row in rows(done.stdout) if row["file"] == "small.txt"] == ["wrong"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("get nothing", "'nothing' ... toy"),
        ("path toy none", "'none' ... small.txt, deep #1/large.bin"),
        ("get", "--all"),
        ("get toy --all", "--all"),
        ("path sample none", "'none' ... source.txt"),
        (
            "get toy --base-url http://127.0.0.1:9",
            "small.txt ... http://127.0.0.1:9 ... ERRATA_DATA",
        ),
    ],
)
def test_errors_are_one_line_with_a_remedy(
    data: Callable[..., Done], line: str, words: str
) -> None:
    done = data(*line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert all(word in done.stderr for word in words.split(" ... "))
    assert done.stderr.count("\n") == 1


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
