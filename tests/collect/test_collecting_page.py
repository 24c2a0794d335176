"""What the pages on collecting tell people to do, done: commands, campaign files, the unit."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from collecting import collect, fill_with_sample, judge, ranking_after, running
from command import errata
from errata.cli.collect import command
from errata.io.judgments import read_judgments
from served import Server

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "collecting.md").read_text("utf-8")
# What stands in for the files that the page names.
FILES = {
    "src.txt": "source.txt",
    "ref.txt": "reference0.txt",
    "out/a.txt": "eager.txt",
    "out/b.txt": "cautious.txt",
    "out/c.txt": "fluent.txt",
    "out/d.txt": "noisy.txt",
    "refs/official.txt": "reference0.txt",
    "refs/expert-minimal.txt": "reference1.txt",
    "refs/expert-fluency.txt": "fluent.txt",
    "refs/lay-minimal.txt": "cautious.txt",
    "refs/lay-fluency.txt": "eager.txt",
}


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.M | re.S)


NAPOLES, SIX_TEXTS, WRITING, _, *OTHERS = blocks(PAGE, "toml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of the sample."""
    return fill_with_sample(tmp_path)


@pytest.fixture
def files(folder: Path) -> Path:
    for name, own in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes((folder / own).read_bytes())
    for name in re.findall(r'"(\w+\.md)"', PAGE):
        (folder / name).write_text(f"Read {name}.\n")
    return folder


def processes(folder: Path, line: str) -> str:
    """What a command of the page prints, as a process of its own."""
    words = [sys.executable, "-m", *shlex.split(line)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.mark.slow
def test_five_minutes_are_enough(tmp_path: Path) -> None:
    """The commands of the first section, as they stand, with two judges who answer by HTTP."""
    section = PAGE.partition("## In five minutes")[2].partition("With files of your own")[0]
    lines = [line for block in blocks(section, "sh") for line in block.splitlines()]
    assert lines[0] == "pip install 'errata-gec[web]'"
    assert lines[1].startswith("errata collect run ")
    with running(tmp_path, *shlex.split(lines[1])[2:]) as (server, said):
        assert list(said) == ["organiser", "judge1", "judge2"]
        for k, name in enumerate(("judge1", "judge2")):
            assert judge(server, said[name], 25, seed=k) == 25
        printed = [processes(tmp_path, line) for line in lines[2:]]
        body = {"state": "paused"}  # figures are worked out when it changes
        server.call("PATCH", "admin/campaign", body, token=said["organiser"])
        shown = ranking_after(50, server, said["organiser"])
    assert re.search(r"Done +\d+ of \d+", printed[0])
    table = json.loads(errata("rank", "judgments.jsonl", "--json", cwd=tmp_path).stdout)["tables"]
    assert [row["system"] for row in table[0]["rows"]] == [
        row["system"] for row in shown["values"][0]["rows"]
    ]
    assert table[0]["rows"] == shown["values"][0]["rows"]
    assert "κ between judges" in printed[3]


def test_other_campaign_files_make_campaigns(files: Path) -> None:
    for k, text in enumerate([NAPOLES, SIX_TEXTS, WRITING, *OTHERS]):
        (files / "c.toml").write_text(text, encoding="utf-8")
        done = collect(files, "new", f"page{k}.db", "--campaign", "c.toml")
        assert "what will happen" in done.stdout


def tasks_of(server: Server, token: str) -> list[dict[str, Any]]:
    status, body = server.call("POST", "tasks", {"ahead": 1}, token=token)
    assert status == 200, body
    found: list[dict[str, Any]] = body["tasks"]
    return found


@pytest.mark.slow
def test_napoles_kind_shows_source_and_reference(files: Path) -> None:
    (files / "c.toml").write_text(NAPOLES, encoding="utf-8")
    sources, references = (
        (files / name).read_text("utf-8").splitlines() for name in ("src.txt", "ref.txt")
    )
    with running(files, "run", "p.db", "--campaign", "c.toml") as (server, said):
        for _ in range(10):
            (task,) = tasks_of(server, said["judge1"])
            place = sources.index(task["source"])
            shown = [text for kind, text in task["reference"] if kind in ("same", "ins", "new")]
            assert " ".join(shown) == references[place]
            assert judge(server, said["judge1"], 1) == 1
    collect(files, "export", "p.db", "-o", "j.jsonl")
    systems = {
        name for each in read_judgments(files / "j.jsonl") for g in each.groups for name in g
    }
    assert systems == {"a", "b", "c", "d", "reference"}


@pytest.mark.slow
def test_the_unit_starts_what_there_is(files: Path) -> None:
    """The line of the service unit is one that the command takes, behind a proxy."""
    page = (DOCS / "hosting.md").read_text("utf-8")
    (unit,) = blocks(page, "ini")
    (line,) = re.findall(r"^ExecStart=(.*)$", unit, re.M)
    words = shlex.split(line)
    assert [Path(words[0]).name, *words[1:3]] == ["errata", "collect", "serve"]
    context = command.commands["serve"].make_context("serve", words[3:])
    port, url = context.params["address_port"], context.params["address_url"]
    assert f"proxy_pass http://127.0.0.1:{port}/;" in page
    assert url == "https://example.org/study/"
    collect(files, "new", "study.db", "--sample", "--url", url)
    with running(files, "serve", "study.db", "--behind-proxy", "127.0.0.1") as (server, said):
        assert server.call("GET", "me", token=said["judge1"])[0] == 200


def test_every_test_that_the_page_names_is_there() -> None:
    """A file of tests that holds a promise may not be renamed or deleted unnoticed."""
    tests = Path(__file__).resolve().parents[1]
    _, _, part = PAGE.partition("## Promises")
    rows = [line for line in part.splitlines() if ".py`" in line]
    assert len(rows) > 15
    for word in re.findall("`([^`]+\\.py)`", "".join(rows)):
        assert (tests / word).is_file(), word
