"""From corrections to their reviews: nobody is given an own text, whatever the files are called."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from collecting import collect, running
from command import tables
from errata.collect.files import read_writers
from processes import free_port
from served import Server

SOURCES = [f"he go to the {word} ." for word in ("sea", "wood", "town", "shop", "farm", "mill")]
WRITING = ("--kind", "correct", "--slots", 2, "--repeats", 0, "--source", "src.txt")
REVIEW = ("--kind", "review", "--overlap", 0, "--repeats", 0, "--source", "src.txt")
SLOTS = ("refs/new.minimal.0", "refs/new.minimal.1")
WRITERS = "refs/new.writers.jsonl"


def tasks_of(server: Server, token: str) -> list[dict[str, Any]]:
    status, body = server.call("POST", "tasks", {"ahead": 1}, token=token)
    assert status == 200, body
    found: list[dict[str, Any]] = body["tasks"]
    return found


def answer(server: Server, token: str, task: dict[str, Any], said: dict[str, Any]) -> None:
    sent = {"revision": task["revision"], "answer": said}
    assert server.call("PUT", f"tasks/{task['id']}/judgment", sent, token=token)[0] == 201


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of corrections that is done, with its texts; of the first sentence all alike."""
    folder = tmp_path_factory.mktemp("writing")
    (folder / "refs").mkdir()
    (folder / "src.txt").write_text("".join(f"{line}\n" for line in SOURCES), encoding="utf-8")
    with running(folder, "run", "writing.db", *WRITING, "--judges", 3) as (server, said):
        for k in (1, 2, 3):
            while tasks := tasks_of(server, said[f"judge{k}"]):
                (task,) = tasks
                own = "" if task["source"] == SOURCES[0] else f" by {k}"
                text = task["source"].replace("go", "goes") + own
                answer(server, said[f"judge{k}"], task, {"text": text})
    line = "collect export writing.db --form texts -o refs/new"
    ((_, table),) = tables(line, cwd=folder).items()
    rows = table["rows"]
    assert [(row["file"], row["lines"]) for row in rows] == [
        *((slot, 6) for slot in SLOTS),
        (WRITERS, 12),
    ]
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """What that campaign left: sources, texts, and who wrote them."""
    (tmp_path / "refs").mkdir()
    for name in ("src.txt", *SLOTS, WRITERS):
        (tmp_path / name).write_bytes((written / name).read_bytes())
    return tmp_path


def reviewed(folder: Path, place: str, judges: int) -> dict[str, Counter[str]]:
    """Everybody reviews until there is nothing left: how often each met texts of whom."""
    own = {
        text: {each.judge for each in read_writers(folder / WRITERS) if each.text == text}
        for text in {each.text for each in read_writers(folder / WRITERS)}
    }
    met: dict[str, Counter[str]] = {}
    with running(folder, "run", place) as (server, said):
        for k in range(1, judges + 1):
            name = f"judge{k}"
            met[name] = Counter()
            while tasks := tasks_of(server, said[name]):
                (task,) = tasks
                segments = task["outputs"][0]["segments"]
                text = " ".join(t for kind, t in segments if kind not in ("old", "del"))
                met[name].update(own[text])
                answer(server, said[name], task, {"accept": True})
    return met


@pytest.mark.slow
def test_nobody_reviews_an_own_correction(folder: Path) -> None:
    """Files are known by their place, a pattern, a folder, a name or, as copies, by their texts."""
    (folder / "out").mkdir()
    for k, slot in enumerate(SLOTS):
        (folder / "out" / f"s{k}.txt").write_bytes((folder / slot).read_bytes())
    for given in (
        SLOTS,  # found beside them
        (*SLOTS, WRITERS),  # as a pattern has it
        ("refs",),
        ("a=" + SLOTS[0], "b=" + SLOTS[1], "--writers", WRITERS),
        ("out/s0.txt", "out/s1.txt", "--writers", WRITERS),
    ):
        for file in folder.glob("r.db*"):
            file.unlink()
        done = collect(folder, "new", "r.db", *REVIEW, "--judges", 3, *given)
        # One of the 11 different texts is by two people.
        assert done.stderr.count(f"{WRITERS} names the writers of 11 of 11 texts") == 1
    met = reviewed(folder, "r.db", 3)
    assert sum(met[name][name] for name in met) == 0
    assert sum(counted.total() for counted in met.values()) == 12


@pytest.mark.slow
def test_a_campaign_file_names_the_writers(folder: Path) -> None:
    (folder / "out").mkdir()
    for k, slot in enumerate(SLOTS):
        (folder / slot).rename(folder / "out" / f"s{k}.txt")
    (folder / "c.toml").write_text(
        'kind = "review"\njudges = 3\noverlap = 0\n[inputs]\nsource = "src.txt"\n'
        f'outputs = ["out/s0.txt", "out/s1.txt"]\nwriters = "{WRITERS}"\n'
    )
    done = collect(folder, "new", "r.db", "--campaign", "c.toml")
    assert "11 of 11 texts" in done.stderr
    with contextlib.closing(sqlite3.connect(folder / "r.db")) as database:
        ((digests,),) = database.execute("SELECT digests FROM campaign").fetchall()
    assert "the writers" in json.loads(digests)
    # The same line goes on; without the writers it would be another campaign.
    (folder / "d.toml").write_text((folder / "c.toml").read_text().rpartition("\nwriters")[0])
    other = ("--campaign", "d.toml", "--port", free_port())
    refused = collect(folder, "run", "r.db", *other, code=2).stderr
    assert "the writers: missing since the campaign was made" in refused


@pytest.mark.slow
def test_without_writers_texts_are_reviewed_by_anybody(folder: Path) -> None:
    """The file of writers is missing, or empty where all of them are forgotten."""
    (folder / WRITERS).write_text("")
    done = collect(folder, "new", "q.db", *REVIEW, "--judges", 3, *SLOTS)
    assert f"{WRITERS} names the writers of 0 of 11 texts" in done.stderr
    (folder / WRITERS).unlink()
    assert (
        "names the writers"
        not in collect(folder, "new", "r.db", *REVIEW, "--judges", 3, *SLOTS).stderr
    )
    with running(folder, "run", "r.db") as (server, tokens):
        (task,) = tasks_of(server, tokens["judge1"])
        answer(server, tokens["judge1"], task, {"accept": True})


def changed(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_what_does_not_fit_is_refused(folder: Path) -> None:
    def refused(*words: object) -> str:
        found = collect(folder, "new", "r.db", *words, code=2).stderr
        assert not (folder / "r.db").exists()
        assert found.count("\n") == 1
        return found

    other = ("--kind", "rank", "--source", "src.txt")
    assert "matter only to reviews, and the kind is 'rank'" in refused(*other, *SLOTS, WRITERS)
    whole = (folder / WRITERS).read_text("utf-8")
    changed(folder, WRITERS, '"sentence": 5', '"sentence": 6')
    said = refused(*REVIEW, *SLOTS)
    assert f"{WRITERS}:11: sentence 6, and there are 6" in said
    (folder / WRITERS).write_text(whole, encoding="utf-8")
    changed(folder, SLOTS[1], "he goes to the wood", "He goes to the wood")
    said = refused(*REVIEW, *SLOTS)
    assert f"{WRITERS}:4: new.minimal.1, line 2, is another text than was written" in said
    assert "export the texts again, or delete this line" in said
    # As it says: then nobody is its writer.
    lines = whole.splitlines(keepends=True)
    (folder / WRITERS).write_text("".join(lines[:3] + lines[4:]), encoding="utf-8")
    assert "10 of 11 texts" in collect(folder, "new", "x.db", *REVIEW, *SLOTS).stderr
    (folder / WRITERS).unlink()
    row = {"sentence": 0, "judge": "ann", "text": "nothing of this"}
    (folder / "x.writers.jsonl").write_text(json.dumps(row) + "\n")
    given = ("--writers", "x.writers.jsonl", *SLOTS)
    assert "x.writers.jsonl: the file names no writer of these texts" in refused(*REVIEW, *given)


def test_reviews_that_nobody_can_give_are_said(folder: Path) -> None:
    """One judge, who wrote some of the texts: it is said when it is made, and by status."""
    done = collect(folder, "new", "r.db", *REVIEW, *SLOTS)
    own = len({e.text for e in read_writers(folder / WRITERS) if e.judge == "judge1"})
    assert 0 < own < 11
    assert (
        f"{own} of 11 reviews can be given by none of 1 judge, who wrote the texts" in done.stderr
    )
    assert f"Nobody can review  {own}" in collect(folder, "status", "r.db").stdout
    collect(folder, "judges", "add", "r.db", "ann")
    assert "Nobody can review" not in collect(folder, "status", "r.db").stdout
