"""What the pages on collecting tell people to do, done: commands, campaign files, the unit."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collecting import collect, fill_with_sample, judge, running
from command import tables
from errata.cli.collect import command
from errata.collect import files as on_file
from errata.collect.design import Design
from errata.collect.files import read_writers
from errata.collect.items import CampaignTexts, build_items, different_outputs
from errata.core.errors import InputError
from errata.io.judgments import read_judgments
from processes import free_port
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
def files(tmp_path: Path) -> Path:
    folder = fill_with_sample(tmp_path)
    for name, own in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes((folder / own).read_bytes())
    for name in re.findall(r'"(\w+\.md)"', PAGE):
        (folder / name).write_text(f"Read {name}.\n")
    return folder


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


SOURCES = [f"he go to the {word} ." for word in ("sea", "wood", "town", "shop", "farm", "mill")]
WRITE = ("--kind", "correct", "--slots", 2, "--repeats", 0, "--source", "src.txt")
REVIEW = ("--kind", "review", "--overlap", 0, "--repeats", 0, "--source", "src.txt")
SLOTS = ("refs/new.minimal.0", "refs/new.minimal.1")
WRITERS = "refs/new.writers.jsonl"


def answer(server: Server, token: str, task: dict[str, Any], said: dict[str, Any]) -> None:
    sent = {"revision": task["revision"], "answer": said}
    assert server.call("PUT", f"tasks/{task['id']}/judgment", sent, token=token)[0] == 201


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of corrections that is done, with its texts; of the first sentence all alike."""
    folder = tmp_path_factory.mktemp("writing")
    (folder / "refs").mkdir()
    (folder / "src.txt").write_text("".join(f"{line}\n" for line in SOURCES), encoding="utf-8")
    with running(folder, "run", "writing.db", *WRITE, "--judges", 3) as (server, said):
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
    for outputs in (
        SLOTS,  # found beside them
        (*SLOTS, WRITERS),  # as a pattern has it
        ("refs",),
        ("a=" + SLOTS[0], "b=" + SLOTS[1], "--writers", WRITERS),
        ("out/s0.txt", "out/s1.txt", "--writers", WRITERS),
    ):
        for file in folder.glob("r.db*"):
            file.unlink()
        done = collect(folder, "new", "r.db", *REVIEW, "--judges", 3, *outputs)
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


TEXTS = {"m.0": ("He goes .", "She likes it ."), "m.1": ("He  goes .", "She loved it .")}
LINES = [
    on_file.WrittenLine(0, "ann", "He goes .", "m.0", 1),
    on_file.WrittenLine(0, "bo", "He  goes .", "m.1", 2),
    on_file.WrittenLine(1, "bo", "She likes it .", "m.0", 3),
    on_file.WrittenLine(1, "cy", "She loved it .", "m.1", 4),
    on_file.WrittenLine(1, "di", "She likes  it .", "", 5),  # came late
]


def test_whoever_wrote_the_same_text_wrote_it() -> None:
    known = on_file.match_writers(LINES, TEXTS, 2, "w")
    assert known == {
        (0, "He goes ."): ("ann", "bo"),
        (1, "She likes it ."): ("bo", "di"),
        (1, "She loved it ."): ("cy",),
    }
    texts = CampaignTexts(("He go .", "She like it ."), {"a": TEXTS["m.0"]}, writers=known)
    assert [each.writers for n in (0, 1) for each in different_outputs(texts, n)] == [
        ("ann", "bo"),
        ("bo", "di"),
    ]
    assert on_file.texts_of_known_writers(texts) == (2, 2)
    assert on_file.texts_of_known_writers(texts._replace(systems={"a": ("He goes .", "x")})) == (
        1,
        2,
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (LINES[0]._replace(sentence=2), "sentence 2, and there are 2"),
        (LINES[0]._replace(text="He went ."), "m.0, line 1, is another text than was written"),
        (LINES[0]._replace(sentence=1), "m.0, line 2, is another text"),  # shifted
        (LINES[0]._replace(judge="a\0b"), "cannot be stored"),
    ],
)
def test_lines_that_do_not_fit_are_refused(line: on_file.WrittenLine, problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)) as refused:
        on_file.match_writers([line._replace(number=7)], TEXTS, 2, "x.writers.jsonl")
    assert (refused.value.path, refused.value.line) == ("x.writers.jsonl", 7)
    assert refused.value.remedy
    # A file that is not reviewed may say what it likes.
    assert on_file.match_writers([LINES[0]._replace(file="other", text="x")], TEXTS, 2, "w")


PEOPLE = ("ann", "bo", "cy")


@given(st.data())
def test_reviews_that_nobody_can_give_are_counted(data: Any) -> None:
    many = data.draw(st.integers(1, 6))
    sources = tuple(f"s {k}" for k in range(many))
    names = data.draw(st.lists(st.sampled_from((*PEOPLE, "zoe")), min_size=many, max_size=many))
    written = tuple(f"{source} by" for source in sources)
    writers = {
        (k, text): tuple(sorted({name, data.draw(st.sampled_from(PEOPLE))}))
        for k, (text, name) in enumerate(zip(written, names, strict=True))
    }
    invited = data.draw(st.sets(st.sampled_from(PEOPLE), min_size=1))
    design = Design(kind="review", judges=len(invited), overlap=data.draw(st.sampled_from((0, 1))))
    texts = CampaignTexts(sources, {"bo": written}, writers=writers)
    built = build_items(design, texts)
    expected = 0
    for item in built.items:
        if item.purpose == "main":
            own = {"bo", *writers[item.sentence, written[item.sentence]]}
            expected += max(0, (item.wanted or 0) - sum(name not in own for name in invited))
    assert on_file.reviews_without_judge(built, invited) == expected


WORDS = st.text(st.characters(codec="utf-8"), max_size=20)
FIELDS = (st.integers(0, 10**6), WORDS.filter(bool), WORDS, st.sampled_from(["", "m.0"]))
WRITTEN = st.builds(on_file.WrittenLine, *FIELDS, st.just(0))


@given(st.lists(WRITTEN, max_size=8))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, lines: list[on_file.WrittenLine]
) -> None:
    path = tmp_path_factory.mktemp("w") / "new.writers.jsonl"
    path.write_bytes("".join(f"{line}\n" for line in on_file.render_writers(lines)).encode())
    found = list(on_file.read_writers(path))
    assert [each._replace(number=0) for each in found] == lines
    assert [each.number for each in found] == list(range(1, len(lines) + 1))


GOOD = '{"sentence": 0, "judge": "ann", "text": "He goes .", "file": "m.0"}'


def test_what_is_no_writer_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.writers.jsonl"
    for line, problem in (
        ("ann", "not JSON"),
        ("[]", "not a JSON object"),
        (GOOD.replace("0,", "-1,"), "sentence: -1"),
        (GOOD.replace("0,", "true,"), "sentence: True"),
        (GOOD.replace('"ann"', "7"), "judge: 7"),
        (GOOD.replace('"He goes ."', "7"), "text: 7"),
        (GOOD.replace('"ann"', '""'), "by ''"),
        (GOOD.replace('"m.0"', "null"), "file: None"),
        (GOOD.replace("judge", "jugde"), "jugde: unknown key.*'judge'"),
    ):
        path.write_text(f"{GOOD}\n\n{line}\n", encoding="utf-8")
        with pytest.raises(InputError, match=problem) as refused:
            list(on_file.read_writers(path))
        assert (refused.value.path, refused.value.line) == (str(path), 3)
        assert refused.value.remedy


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("new.minimal.0", "new.writers.jsonl"),
        ("new.minimal.0.txt", "new.writers.jsonl"),  # renamed
        ("a.b.reviewed.x.y.1", "a.b.writers.jsonl"),
        ("minimal.0", "writers.jsonl"),  # in a folder of their own
        ("new.minimal.0", "old.writers.jsonl"),
        ("new.minimal.0", "newer.writers.jsonl"),
    ],
)
def test_the_writers_of_a_text_are_beside_it(tmp_path: Path, text: str, beside: str) -> None:
    (tmp_path / beside).touch()
    fits = not beside.startswith(("old", "newer"))
    assert on_file.find_writers_file(tmp_path / text) == (str(tmp_path / beside) if fits else None)
    assert on_file.is_writers(tmp_path / beside)
    assert not on_file.is_writers(tmp_path / text)


def test_the_nearest_of_several_counts(tmp_path: Path) -> None:
    for name in ("writers.jsonl", "a.writers.jsonl", "a.b.writers.jsonl"):
        (tmp_path / name).touch()
    assert on_file.find_writers_file(tmp_path / "a.b.minimal.0") == str(
        tmp_path / "a.b.writers.jsonl"
    )
    assert on_file.find_writers_file(tmp_path / "a.minimal.0") == str(tmp_path / "a.writers.jsonl")
