"""``errata collect`` as users run it: processes, links, answers over HTTP, files."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from collecting import SYSTEMS, TEXTS, collect, judge, links, running
from command import errata, python_process, refused, run
from processes import free_port

COMMANDS_OF_A_CAMPAIGN = ("status", "serve", "run", "export")


@pytest.mark.slow
def test_from_texts_to_a_ranking(folder: Path) -> None:
    """Run, judge, export; the other commands read it, without those who are blocked."""
    with running(folder, "run", "p.db", *TEXTS, "--judges", 2) as (server, tokens):
        assert set(tokens) == {"organiser", "judge1", "judge2"}
        for k, name in enumerate(("judge1", "judge2")):
            assert judge(server, tokens[name], 10, seed=k) == 10
        assert not refused(
            f"""
            collect serve p.db --port {free_port()} | another process
            collect try --port {server.port} | 127.0.0.1, port {server.port}
            """,
            folder,
        )
    assert "j.jsonl" in collect(folder, "export", "p.db", "-o", "j.jsonl").stdout
    for name in ("rank", "agree", "check"):
        assert errata(name, "j.jsonl", cwd=folder).stderr == "", name
    collect(folder, "judges", "block", "p.db", "judge1")
    for words, names in ("", {"judge2"}), ("--with-blocked", {"judge1", "judge2"}):
        exported = run(f"collect export p.db {words}", cwd=folder).stdout.splitlines()
        assert {json.loads(line)["judge"] for line in exported} == names


@pytest.mark.slow
def test_killed_and_started_again(folder: Path) -> None:
    with running(folder, "run", "p.db", *TEXTS) as (server, said):
        judge(server, said["judge1"], 3)
        server.kill()
    with running(folder, "run", "p.db", *TEXTS) as (server, again):
        assert again == said
        judge(server, again["judge1"], 2, seed=1)
    assert len(collect(folder, "export", "p.db").stdout.splitlines()) == 5
    with running(folder, "serve", "p.db") as (_, third):
        assert third == said


@pytest.mark.slow
def test_the_sample_can_be_tried(tmp_path: Path) -> None:
    with running(tmp_path, "try") as (server, said):
        assert judge(server, said["judge2"], 2) == 2
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_work_is_refused(folder: Path) -> None:
    lines = (folder / "fluent.txt").read_text("utf-8").splitlines(keepends=True)
    (folder / "x").mkdir()
    for name, text in {
        "x/eager.txt": "".join(lines),
        "shifted.txt": "".join([*lines[1:], lines[0]]),
        "short.txt": "".join(lines[:-1]),
        "nul.txt": "".join([lines[0], "\0" + lines[1], *lines[2:]]),
        "empty.md": "\n",
        "bad.toml": "kind = 'rank'\njudge = 3\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    cases = """
        NEW eager.txt | one system
        NEW eager.txt x/eager.txt | eager
        NEW eager.txt b=eager.txt | different outputs
        NEW eager.txt shifted.txt | shifted.txt
        NEW eager.txt short.txt | short.txt:72
        NEW eager.txt nul.txt | nul, line 2 ... U+0000
        NEW eager.txt caf\udce9=fluent.txt | 'caf\\udce9'
        ALL --outputs-per-item 1 | 2 to 9
        ALL --outputs-per-item 10 | 2 to 9
        ALL --quota 5 | quota of 5
        ALL --refs reference0.txt | references
        ALL --documents short.txt | short.txt:72
        ALL --instructions none.md | none.md
        ALL --consent empty.md | empty.md
        ALL --campaign bad.toml | bad.toml:2: judge: unknown key ... 'judges'
        ALL --policy adaptive | policy='adaptive' ... pairs
        ALL --hours 2 --rankings 5 | rankings and hours
        ALL --url example.org | example.org
        ALL --url https://example.org/#study | #study
    """
    new = "collect new p.db --source source.txt"
    cases = cases.replace("ALL", f"{new} {' '.join(SYSTEMS)}").replace("NEW", new)
    wrong = refused(cases, folder)
    assert not wrong, "\n".join(wrong)
    assert not (folder / "p.db").exists()


def test_places_that_are_no_campaigns(folder: Path) -> None:
    new = f"collect new eager.txt {' '.join(TEXTS)}"
    assert not refused(f"collect status p.db | p.db\n{new} | eager.txt ... SQLite", folder)
    collect(folder, "new", "p.db", *TEXTS)
    assert not refused(
        f"""
        {new.replace("eager.txt", "p.db", 1)} | database
        collect status ERRATA_DATABASE_URL | ERRATA_DATABASE_URL
        collect status mysql://u@h/d | mysql
        """,
        folder,
    )
    for line in ("collect status", "collect links ERRATA_DATABASE_URL judge1"):
        run(line, cwd=folder, env={"ERRATA_DATABASE_URL": "p.db"})
    (folder / "p.db.key").chmod(0o644)
    assert not refused("collect links p.db | key", folder)


@pytest.mark.skipif(sys.platform == "win32", reason="a file system of Unix")
def test_where_no_log_can_be_had_nothing_is_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without shared memory SQLite has no write-ahead log, as on network file systems."""
    from errata.collect.web import database

    real, file = database.create_engine, f"file:{folder / 'p.db'}?vfs=unix-dotfile"

    def without_memory(url: Any, **options: Any) -> Any:
        connect = lambda: sqlite3.connect(file, uri=True, check_same_thread=False)  # noqa: E731
        return real(url, creator=connect, **options)

    monkeypatch.setattr(database, "create_engine", without_memory)
    line = f"collect new p.db {' '.join(TEXTS)}"
    assert not refused(f"{line} | journal mode delete ... PostgreSQL", folder)


def test_a_second_run_needs_the_same_inputs(folder: Path) -> None:
    collect(folder, "new", "p.db", *TEXTS)
    line = f"collect run p.db --port {free_port()} {' '.join(TEXTS)}"
    assert not refused(
        f"""
        {line.replace(" noisy.txt", "")} | noisy: missing
        {line} nothing.txt | nothing: new
        {line} --judges 3 | judges=1, not 3
        """,
        folder,
    )
    (folder / "noisy.txt").write_bytes((folder / "fluent.txt").read_bytes())
    assert not refused(f"{line} | noisy: changed", folder)


def test_where_nobody_can_be_served(folder: Path) -> None:
    collect(folder, "new", "p.db", *TEXTS)
    assert not refused(
        """
        collect serve p.db --host 0.0.0.0 | encryption
        collect serve p.db --certificate c.pem | --certificate ... --key
        collect serve p.db --certificate c.pem --key k.pem | c.pem
        collect serve p.db --behind-proxy nowhere | 'nowhere'
        collect serve p.db --plain-http --host 203.0.113.7 | 203.0.113.7
        collect serve p.db --url ftp://x | ftp://x
        """,
        folder,
    )


def test_judges_come_and_go(folder: Path) -> None:
    collect(folder, "new", "p.db", *TEXTS)
    collect(folder, "judges", "add", "p.db", "ana", "--count", 2)
    before = links(folder)
    assert list(before) == ["organiser", "judge1", "ana", "judge2", "judge3"]
    assert not collect(folder, "judges", "rotate", "p.db", "ana").stderr
    after = links(folder)
    assert {who for who in before if before[who] != after[who]} == {"ana"}
    assert "(blocked)" in collect(folder, "judges", "block", "p.db", "ana").stdout
    assert "(blocked)" not in collect(folder, "judges", "unblock", "p.db", "ana").stdout
    done = collect(folder, "judges", "forget", "p.db", "ana", "--erase")
    assert "forgotten: 1" in done.stderr
    assert "ana" not in links(folder)
    assert b"ana" not in b"".join(p.read_bytes() for p in folder.glob("p.db*"))
    assert not refused(
        """
        collect judges block p.db ana | 'ana'
        collect judges block p.db judge1 ana | 'ana'
        collect judges forget p.db judge1 ana | 'ana'
        collect judges add p.db judge1 | 'judge1'
        collect judges add p.db caf\udce9 | 'caf\\udce9'
        collect judges rotate p.db | no judge
        collect judges rotate p.db judge1 --count 2 | --count ... add
        collect judges add p.db bo --erase | --erase ... forget
        """,
        folder,
    )
    assert list(links(folder)) == ["organiser", "judge1", "judge2", "judge3"]
    assert "blocked" not in collect(folder, "links", "p.db").stdout


def test_states_and_copies(folder: Path) -> None:
    collect(folder, "new", "p.db", *TEXTS)
    for name, state in (("open", "open"), ("pause", "paused"), ("open", "open")):
        assert re.search(rf"State +{state}\b", collect(folder, name, "p.db").stdout)
    collect(folder, "backup", "p.db", "copy.db")
    assert "the file exists" in collect(folder, "backup", "p.db", "copy.db", code=2).stderr
    collect(folder, "backup", "p.db", "copy.db", "--force")
    assert "closed" in collect(folder, "close", "p.db").stdout
    assert "open" in collect(folder, "status", "copy.db").stdout
    assert "closed cannot become open" in collect(folder, "open", "p.db", code=2).stderr


def test_a_campaign_file_names_everything(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "how.md").write_text("# Rank them\n")
    outputs = ", ".join(f'"../{name}"' for name in SYSTEMS)
    (folder / "sub" / "c.toml").write_text(
        f'judges = 3\nrate = 20\nreference_is_system = true\n[inputs]\nname = "Pilot"\n'
        f'source = "../source.txt"\noutputs = [{outputs}]\nreferences = "../reference0.txt"\n'
        'instructions = "../how.md"\n[[tutorial]]\nsource = "He go ."\n'
        'outputs = ["He goes .", "He go go ."]\nworse = 2\nbetter = 1\nwhy = "One go too many"\n'
    )
    done = collect(folder, "new", "p.db", "--campaign", "sub/c.toml", "--judges", 2)
    assert "Pilot: what will happen" in done.stdout
    assert "cost" in done.stdout
    assert list(links(folder)) == ["organiser", "judge1", "judge2"]
    with contextlib.closing(sqlite3.connect(folder / "p.db")) as database:
        rows = database.execute("SELECT expected FROM item WHERE purpose = 'tutorial'").fetchall()
    assert [json.loads(row[0]) for row in rows] == [
        {"worse": 1, "better": 0, "attempt": 1, "why": "One go too many"}
    ]


def test_without_the_extra_it_says_how_to_get_it() -> None:
    program = (
        "import sys\n"
        "class Away:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('sqlalchemy', 'starlette', 'uvicorn'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Away())\n"
        "from errata.cli.main import main\n"
        "main(sys.argv[1:] or ['collect', 'status', 'p.db'])\n"
    )
    done = python_process(program, code=2)
    assert (
        done.stderr == "errata: sqlalchemy is not installed; run: pip install 'errata-gec[web]'\n"
    )


def test_help_needs_no_web_package() -> None:
    program = (
        "import sys\nfrom errata.cli.main import main\ntry:\n main(['collect', 'new', '--help'])\n"
    )
    program += "except SystemExit: pass\nprint(*sys.modules)"
    found = set(python_process(program).stdout.splitlines()[-1].split())
    assert not found & {"sqlalchemy", "starlette", "uvicorn", "jinja2"}


def stored(folder: Path, *words: object) -> dict[str, Any]:
    """What a new campaign holds, but for what is drawn anew in each: times and keys."""
    collect(folder, "new", "n.db", *TEXTS, *words)
    found = {}
    with contextlib.closing(sqlite3.connect(folder / "n.db")) as database:
        for table in ("campaign", "sentence", "item", "item_output"):
            found[table] = database.execute(f"SELECT * FROM {table}").fetchall()
        found["judge"] = database.execute("SELECT name, quota FROM judge").fetchall()
    for path in folder.glob("n.db*"):
        path.unlink()
    return found


def test_the_same_words_design_the_same_campaign(folder: Path) -> None:
    for name in ("how.md", "agree.md"):
        (folder / name).write_text(f"Read {name}.\n")
    source = (folder / "source.txt").read_text("utf-8")
    documents = [f"d{k // 9}" for k, _ in enumerate(source.splitlines())]
    (folder / "documents.txt").write_text("\n".join(documents) + "\n")
    plain = stored(folder)
    assert stored(folder) == plain
    for words, tables in (
        (("--design-seed", 1), {"campaign", "sentence", "item", "item_output"}),
        (("--policy", "random"), {"campaign", "item", "item_output"}),
        (("--quota", 150), {"campaign", "sentence", "item", "item_output"}),  # more controls
        (("--instructions", "how.md"), {"campaign"}),
        (("--consent", "agree.md"), {"campaign"}),
        (("--documents", "documents.txt"), {"campaign", "sentence"}),
        (("--url", "https://example.org/study"), set()),
    ):
        other = stored(folder, *words)
        assert {name for name in plain if plain[name] != other[name]} == tables, words


def test_links_begin_with_the_public_address(folder: Path) -> None:
    url = ("--url", "https://example.org/study")
    collect(folder, "new", "p.db", *TEXTS, *url)
    shown = [collect(folder, "links", "p.db", *url)]
    shown.append(collect(folder, "judges", "rotate", "p.db", "judge1", *url))
    for done in shown:
        assert "judge1: https://example.org/study/judge#j1." in done.stdout


@pytest.mark.slow
def test_participants_of_a_panel_join_and_are_forgotten(folder: Path) -> None:
    (folder / "c.toml").write_text(
        "quota = 2\nrepeats = 0\ncontrols = 0\nsample = 4\n[panel]\n"
        'provider = "sona"\nplaces = 3\ncode = "C0DE"\nreturn = "https://x.org/?id={participant}"\n'
    )
    url = ("--url", "https://example.org/study")
    collect(folder, "new", "p.db", "--campaign", "c.toml", *TEXTS, *url)
    done = collect(folder, "links", "p.db", *url)
    assert "judge1" not in done.stdout  # whoever joins is a judge
    (link,) = re.findall(r"^panel sona: (\S+)$", done.stdout, re.M)
    assert re.fullmatch(r"https://example\.org/study/join/[\w-]{22}", link)
    with running(folder, "run", "p.db", "--campaign", "c.toml", *TEXTS) as (server, _):
        sent = {"key": link.rpartition("/")[2], "parameters": {"survey_code": "secret1"}}
        status, body = server.call("POST", "join", sent)
        assert status == 201
        for _ in range(2):
            (task,) = server.call("POST", "tasks", {}, token=body["token"])[1]["tasks"]
            ranks = {"revision": 1, "answer": {o["key"]: 1 for o in task["outputs"]}}
            path = f"tasks/{task['id']}/judgment"
            assert server.call("PUT", path, ranks, token=body["token"])[0] == 201
        _, me = server.call("GET", "me", token=body["token"])
        assert (me["code"], me["back"]) == ("C0DE", "https://x.org/?id=secret1")
    (folder / "other.toml").write_text((folder / "c.toml").read_text().replace("C0DE", "D0DE"))
    line = ("run", "p.db", "--campaign", "other.toml", *TEXTS)
    assert "the panel: changed" in collect(folder, *line, code=2).stderr
    people = collect(folder, "export", "p.db", "--form", "people").stdout
    assert "sona,secret1,active,2,2,yes,C0DE" in people
    done = collect(folder, "close", "p.db", "--forget")
    assert "external ids forgotten: 1" in done.stderr
    assert "secret1" not in collect(folder, "export", "p.db", "--form", "people").stdout
    for path in folder.glob("p.db*"):
        assert b"secret1" not in path.read_bytes()


def test_campaign_files_that_cannot_work(folder: Path) -> None:
    panel = "[panel]\nprovider = 'sona'\n"
    for text, words in (
        (f"{panel}places = 3\n", "quota"),
        (f"quota = 2\n{panel}", "panel: there is no 'places'"),
        ("quota = 2\npanel = 3\n", "panel"),
        (f"quota = 2\njudges = 7\n{panel}places = 3\n", "3 places"),
        ("pass_mark = 0.5\n", "no tutorial"),
        ("pass_mark = 7\n", "share"),
        ("kind = 'pair'\n[[tutorial]]\nsource = 'a'\noutputs = ['b']\n", "1 outputs"),
        (
            "[[tutorial]]\nsource = 'a'\noutputs = ['b']\nwhy = 3\n",
            "c.toml:4: tutorial[1].why: 3 is not a text",
        ),
    ):
        (folder / "c.toml").write_text(text)
        line = f"collect new p.db --campaign c.toml {' '.join(TEXTS)}"
        assert not refused(f"{line} | {words}", folder), text


def test_judges_come_from_a_table(folder: Path) -> None:
    collect(folder, "new", "p.db", *TEXTS)
    (folder / "j.csv").write_text("name,quota,provider,external id\nana,7,panel,secret1\nbo,,,\n")
    done = collect(folder, "import", "p.db", "j.csv", "--url", "https://example.org/")
    assert "ana: https://example.org/judge#j2." in done.stdout
    assert "secret1" not in done.stdout
    with running(folder, "run", "p.db") as (server, said):
        assert list(said) == ["organiser", "judge1", "ana", "bo"]
        _, body = server.call("GET", "me", token=said["ana"])
        assert body["progress"] == {"done": 0, "quota": 7}
    assert "secret1" in collect(folder, "export", "p.db", "--form", "people").stdout
    (folder / "k.csv").write_text("name,provider,external id\ncleo,panel,secret1\n")
    (folder / "l.csv").write_text("name,quota\ndia,many\n")
    lines = "collect import p.db k.csv | 'cleo'\ncollect import p.db l.csv | l.csv:2 ... 'many'"
    assert not refused(lines, folder)
    assert "cleo" not in links(folder)
