"""``errata data`` as a user runs it, with a real server on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import command
from command import Done
from data_server import DataServer, make_folder, serve


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DataServer]:
    with serve(tmp_path / "origin") as running:
        yield running


@pytest.fixture
def errata(tmp_path: Path, server: DataServer) -> Callable[..., Done]:
    """Run ``errata data`` on a made-up catalogue, with a cache of its own."""
    catalogue = make_folder(tmp_path / "origin")
    usual = {"ERRATA_DATA": None, "ERRATA_CACHE": str(tmp_path / "cache")}
    usual |= {"NO_PROXY": "127.0.0.1", "ERRATA_DATA_URL": server.url}

    def run(*arguments: str, **settings: str) -> Done:
        given = ("data", "--catalogue", catalogue, *arguments)
        return command.errata(*given, env=usual | settings, code=None)

    return run


def rows(text: str) -> list[dict[str, object]]:
    (table,) = json.loads(text)["tables"]
    found: list[dict[str, object]] = table["rows"]
    return found


def test_list_shows_what_is_on_disk(errata: Callable[..., Done], tmp_path: Path) -> None:
    def state(**settings: str) -> object:
        return rows(errata("list", "--json", **settings).stdout)[0]["on disk"]

    assert state() == "no"
    assert errata("path", "toy", "small.txt").returncode == 0
    assert state() == "partly"
    assert errata("get", "--all").returncode == 0
    assert state() == "cache"
    assert state(ERRATA_DATA=str(tmp_path / "origin")) == "ERRATA_DATA"


def test_path_is_one_line_for_the_shell(errata: Callable[..., Done], server: DataServer) -> None:
    done = errata("path", "toy", "small.txt")
    assert Path(done.stdout.removesuffix("\n")).read_text("utf-8") == "café\n"
    assert "large.bin" in errata("path", "toy", "large.bin").stdout
    assert len(server.requests) == 2
    assert len(errata("path", "toy").stdout.splitlines()) == 2
    assert len(server.requests) == 2


def test_base_url_comes_before_the_environment(
    errata: Callable[..., Done], server: DataServer
) -> None:
    done = errata(
        "get", "toy", "--base-url", server.url + "/", ERRATA_DATA_URL="http://127.0.0.1:9"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(server.requests) == 2


def test_check_finds_a_spoilt_file(errata: Callable[..., Done]) -> None:
    assert errata("check").returncode == 0
    path = Path(errata("path", "toy", "small.txt").stdout.strip())
    assert {row["content"] for row in rows(errata("check", "--json").stdout)} == {"ok", "missing"}
    path.write_bytes(b"spoilt")
    done = errata("check", "toy", "--json")
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
    errata: Callable[..., Done], line: str, words: str
) -> None:
    done = errata(*line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert all(word in done.stderr for word in words.split(" ... "))
    assert done.stderr.count("\n") == 1
