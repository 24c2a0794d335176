"""``errata collect`` as users run it: processes, links, answers over HTTP, files, settings."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from collecting import SYSTEMS, TEXTS, collect, judge, links, running
from command import errata, python_process, refused, run
from errata.cli.collect_options import AddressOptions, DesignSettings
from errata.collect.design import Design, design_of
from errata.collect.files import InputEntries, ServeEntries
from processes import free_port


def kept(folder: Path, what: str, place: str = "p.db") -> list[Any]:
    with contextlib.closing(sqlite3.connect(folder / place)) as database:
        return database.execute(what).fetchall()


def design_in(folder: Path, place: str = "p.db") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(kept(folder, "SELECT design FROM campaign", place)[0][0])
    return found


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


def test_without_the_extra_it_says_how_to_get_it() -> None:
    program = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        "from errata.cli.main import main; main(['collect', 'status', 'p.db'])"
    )
    said = "errata: sqlalchemy is not installed; run: pip install 'errata-gec[web]'\n"
    assert python_process(program, code=2).stderr == said


def test_participants_of_a_panel_join_by_one_link(folder: Path) -> None:
    (folder / "c.toml").write_text(
        "quota = 2\nrepeats = 0\ncontrols = 0\nsample = 4\n[panel]\n"
        'provider = "sona"\nplaces = 3\ncode = "C0DE"\nreturn = "https://x.org/?id={participant}"\n'
    )
    url = ("--url", "https://example.org/study")
    collect(folder, "new", "p.db", "--campaign", "c.toml", *TEXTS, *url)
    shown = collect(folder, "links", "p.db", *url).stdout
    assert "judge1" not in shown  # whoever joins is a judge
    assert re.search(r"^panel sona: https://example\.org/study/join/[\w-]{22}$", shown, re.M)
    (folder / "other.toml").write_text((folder / "c.toml").read_text().replace("C0DE", "D0DE"))
    line = f"collect run p.db --campaign other.toml {' '.join(TEXTS)}"
    assert not refused(f"{line} | the panel: changed", folder)
    done = collect(folder, "close", "p.db", "--forget")
    assert "external ids forgotten: 0" in done.stderr


def test_judges_come_from_a_table(folder: Path) -> None:
    collect(folder, "new", "p.db", *TEXTS)
    (folder / "j.csv").write_text("name,quota,provider,external id\nana,7,panel,secret1\nbo,,,\n")
    url = ("--url", "https://example.org/study")
    done = collect(folder, "import", "p.db", "j.csv", *url)
    assert "ana: https://example.org/study/judge#j2." in done.stdout
    assert "secret1" not in done.stdout
    done = collect(folder, "judges", "rotate", "p.db", "judge1", *url)
    assert "judge1: https://example.org/study/judge#j1." in done.stdout
    assert kept(folder, "SELECT quota FROM judge WHERE name = 'ana'") == [(7,)]
    assert "secret1" in collect(folder, "export", "p.db", "--form", "people").stdout
    (folder / "k.csv").write_text("name,provider,external id\ncleo,panel,secret1\n")
    (folder / "l.csv").write_text("name,quota\ndia,many\n")
    lines = "collect import p.db k.csv | 'cleo'\ncollect import p.db l.csv | l.csv:2 ... 'many'"
    assert not refused(lines, folder)
    assert "cleo" not in links(folder)


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


# --- settings: on the command line, in the campaign file, and what may change later

TUTORIAL = """
[[tutorial]]
source = "He go ."
outputs = ["He goes .", "He go go ."]
worse = 2
better = 1
"""
# A setting, its option, the value in a campaign file and the options that it needs.
SETTING_CASES = """
kind | --kind pair | "pair"
outputs | --outputs-per-item 3 | 3
sentences | --sampling uniform | "uniform"
sample | --items 20 | 20
strata | --strata equal | "equal" | --sampling strata
judges | --judges 3 | 3
quota | --quota 200 | 200
overlap | --overlap 0.5 | 0.5
judges_per_item | --judges-per-item 3 | 3 | --judges 4
repeats | --repeats 0.1 | 0.1
distance | --distance 25 | 25
controls | --controls 0.1 | 0.1
margin | --margin 7 | 7 | --kind score
block | --block '3 of 5' | "3 of 5"
policy | --policy random | "random"
other_outputs | --other-outputs | true
rankings | --rankings 30 | 30
hours | --hours 0.5 | 0.5
money | --money 9.5 | 9.5 | --rate 20
rate | --rate 20.0 | 20.0
seconds | --seconds 9.0 | 9.0
until | --until eager>noisy --until clusters=3 | ["eager>noisy", "clusters=3"]
looks | --looks 2 | 2 | --until clusters=3
alpha | --alpha 0.1 | 0.1 | --until clusters=3
scales | --scale fluency:0-4:bad,good | [{name = "fluency", high = 4, labels = ["bad", "good"]}]\
 | --kind score
side_by_side | --side-by-side | true | --kind score
instructions | --write minimal --write fluency | ["minimal", "fluency"] | --kind correct --judges 2
slots | --slots 2 | 2 | --kind correct --judges 2
marks | --no-marks | false
marks_may_change | --no-marks-may-change | false
context | --context 2 | 2 | --documents source.txt
attempts | --attempts 3 | 3
pass_mark | --pass-mark 0.5 | 0.5
blind | --blind | true
lease | --lease 600 | 600
reference_is_system | --reference-is-system | true | --refs reference0.txt
show_reference | --show-reference | true | --refs reference0.txt
seed | --design-seed 5 | 5
"""
SETTINGS_IN_BOTH = {
    name: (option, value, *beside)
    for line in SETTING_CASES.strip().splitlines()
    for name, option, value, *beside in [line.split(" | ")]
}


def test_every_setting_has_an_option_and_a_case() -> None:
    names = {field.name for field in fields(Design)}
    assert {field.name for field in fields(DesignSettings)} == names
    assert set(SETTINGS_IN_BOTH) == names


@pytest.mark.parametrize("name", SETTINGS_IN_BOTH)
def test_settings_are_the_same_in_both_places(folder: Path, name: str) -> None:
    option, value, *beside = SETTINGS_IN_BOTH[name]
    more = TUTORIAL if name in ("attempts", "pass_mark") else ""
    (folder / "a.toml").write_text(more)
    (folder / "c.toml").write_text(f"{name} = {value}\n{more}")
    line = " ".join((*TEXTS, *beside))
    run(f"collect new a.db {line} {option} --campaign a.toml", cwd=folder)
    run(f"collect new b.db {line} --campaign c.toml", cwd=folder)
    assert design_in(folder, "a.db") == design_in(folder, "b.db")
    plain = json.loads(json.dumps(design_of({}).to_json()))
    assert design_in(folder, "a.db")[name] != plain[name]


def test_inputs_and_addresses_may_stand_in_the_file(folder: Path) -> None:
    """All that a campaign file may name does what the option does."""
    (folder / "in").mkdir()
    (folder / "in" / "e.md").write_text("Rank them.\n")
    (folder / "in" / "d.md").write_text("Ordne sie.\n")
    port = free_port()
    outputs = ", ".join(f'"../{name}"' for name in SYSTEMS)
    (folder / "in" / "c.toml").write_text(
        f'[inputs]\nname = "Pilot"\nsource = "../source.txt"\noutputs = [{outputs}]\n'
        'instructions = {en = "e.md", de = "d.md"}\nlanguage = "de"\ntext_language = "fr"\n'
        f'no_guard = true\n[serve]\nport = {port}\nurl = "https://example.org/s/"\n'
    )
    done = collect(folder, "new", "p.db", "--campaign", "in/c.toml")
    assert "links p.db --url https://example.org/s/" in done.stderr
    ((name, languages, texts),) = kept(folder, "SELECT name, languages, texts FROM campaign")
    assert (name, json.loads(languages)) == ("Pilot", ["de", "en"])
    assert json.loads(texts) == {
        "language": "de",
        "text_language": "fr",
        "instructions": "Ordne sie.\n",
        "translations": {"en": {"instructions": "Rank them.\n"}},
    }
    again = collect(folder, "new", "q.db", "--campaign", "in/c.toml", "--url", "https://x.org")
    assert "links q.db --url https://x.org/" in again.stderr
    (folder / "s.toml").write_text("[inputs]\nsample = true\n")
    collect(folder, "new", "s.db", "--campaign", "s.toml")
    known = {"references", "documents", "consent", "pilot", "separate", "writers"}  # in other tests
    said = {"name", "source", "outputs", "instructions", "language", "text_language", "no_guard"}
    assert set(InputEntries.__annotations__) == known | said | {"sample"}
    assert set(ServeEntries.__annotations__) <= {field.name for field in fields(AddressOptions)}


def test_the_file_says_where_to_listen(folder: Path) -> None:
    (folder / "c.toml").write_text('[serve]\nhost = "203.0.113.7"\n')
    given = ("run", "p.db", *TEXTS, "--campaign", "c.toml")
    assert "203.0.113.7 can be reached by others" in collect(folder, *given, code=2).stderr
    assert not (folder / "p.db").exists()


def write_pilot(folder: Path, rankings: int = 60) -> None:
    """Earlier rankings in which eager is better than noisy more often than not."""
    with open(folder / "pilot.jsonl", "w") as file:
        for k in range(rankings):
            ranks = [1, 2, 3, 4] if k % 3 else [4, 3, 2, 1]
            groups = [[name.removesuffix(".txt")] for name in SYSTEMS]
            row = {"item": f"i{k}", "judge": "z", "sentence": k, "groups": groups, "ranks": ranks}
            file.write(json.dumps(row) + "\n")


@pytest.mark.slow
def test_a_pilot_sets_the_budget(folder: Path) -> None:
    write_pilot(folder)
    planned = json.loads(
        errata("plan", "pilot.jsonl", "--systems", "eager", "noisy", "--json", cwd=folder).stdout
    )
    rows = {row["figure"]: row["value"] for row in planned["tables"][0]["rows"]}
    pilot = ("--pilot", "pilot.jsonl", "--separate", "eager", "noisy", "--judges", 2)
    four = ("--outputs-per-item", 4)
    done = collect(folder, "new", "p.db", *TEXTS, *pilot, *four)
    asked = design_in(folder)["rankings"]
    assert asked in rows.values(), rows
    assert f"the budget is {asked} rankings, as errata plan estimates" in done.stderr
    less = collect(folder, "new", "q.db", *TEXTS, *pilot, *four, "--rankings", asked - 1)
    assert f"allows {asked - 1} judgments, and errata plan estimates {asked}" in less.stderr
    assert design_in(folder, "q.db")["rankings"] == asked - 1
    enough = collect(folder, "new", "r.db", *TEXTS, *pilot, *four, "--rankings", asked)
    assert "errata plan asks" not in enough.stderr
    three = collect(folder, "new", "s.db", *TEXTS, *pilot, "--outputs-per-item", 3)
    assert "the pilot ranked 4 outputs at a time and the campaign shows 3" in three.stderr
    assert "the pilot ranked" not in collect(folder, "new", "u.db", *TEXTS, *pilot).stderr
    (folder / "c.toml").write_text(
        "outputs = 4\njudges = 2\n[inputs]\npilot = 'pilot.jsonl'\nseparate = ['eager', 'noisy']\n"
    )
    collect(folder, "new", "t.db", *TEXTS, "--campaign", "c.toml")
    assert design_in(folder, "t.db") == design_in(folder)


def test_what_makes_no_design_is_refused(folder: Path) -> None:
    write_pilot(folder)
    pilot = (folder / "pilot.jsonl").read_text()
    other = pilot.replace("eager", "e").replace("noisy", "n").replace("fluent", "f")
    (folder / "other.jsonl").write_text(other)
    even = [json.loads(line) | {"ranks": [1, 1, 1, 1]} for line in pilot.splitlines()]
    (folder / "even.jsonl").write_text("".join(json.dumps(row) + "\n" for row in even))
    (folder / "how.md").write_text("Words.\n")
    cases = """
        --separate eager noisy | --separate ... --pilot
        --pilot pilot.jsonl | pilot
        --pilot pilot.jsonl --separate eager X | 'X'
        --pilot other.jsonl --separate eager noisy | other.jsonl
        --pilot even.jsonl --separate eager noisy | pilot
        --strata equal | --strata ... --sampling strata
        --looks 3 | --looks ... --until
        --alpha 0.1 | --alpha ... --until
        --margin 3 | --margin ... --kind score
        --side-by-side | --side-by-side ... --kind score
        --distance 30 --repeats 0 | --distance ... --repeats
        --judges-per-item 3 --overlap 0 | --judges-per-item ... --overlap
        --block '3 of 5' --controls 0 | --block ... --controls
        --context 2 | --context ... --documents
        --attempts 3 | --attempts ... [[tutorial]]
        --show-reference | show_reference
        --until eager>X | 'X'
        --until eager | until='eager'
        --money 20 | rate
        --block often | block='often'
        --scale a:4-0 --kind score | from 4 to 0
        --instructions de=how.md --instructions de=how.md | two files
        --instructions de=how.md --language en | instructions ... en
        --instructions de=how.md --instructions en=how.md --consent how.md | consent ... en
    """
    new = f"collect new p.db {' '.join(TEXTS)}"
    wrong = refused("\n".join(f"{new} {each}" for each in cases.strip().splitlines()), folder)
    assert not wrong, "\n".join(wrong)
    assert not (folder / "p.db").exists()


@pytest.mark.slow
def test_adaptive_pairs_start_from_earlier_judgments(folder: Path) -> None:
    write_pilot(folder)
    adaptive = (*TEXTS, "--kind", "pair", "--policy", "adaptive", "--pilot", "pilot.jsonl")
    collect(folder, "new", "p.db", *adaptive)
    ((detail,),) = kept(folder, "SELECT detail FROM event WHERE kind = 'earlier'")
    names = sorted(name.removesuffix(".txt") for name in SYSTEMS)
    wins = json.loads(detail)["wins"]
    assert wins[names.index("eager")][names.index("noisy")] == 40
    assert wins[names.index("noisy")][names.index("eager")] == 20
    collect(folder, "import", "p.db", "pilot.jsonl", "--earlier")
    assert not collect(folder, "export", "p.db").stdout  # never merged
    collect(folder, "new", "q.db", *TEXTS)
    assert not refused(
        f"""
        collect run p.db {" ".join(adaptive[:-2])} --port {free_port()} | pilot: missing
        collect import q.db pilot.jsonl --earlier | adaptive
        """,
        folder,
    )


@pytest.mark.slow
def test_what_is_not_frozen_can_change(folder: Path) -> None:
    """Texts, quotas and budget, while it is served, by command and by the organiser's page."""
    (folder / "how.md").write_text("First.\n")
    (folder / "then.md").write_text("Then.\n")
    with running(folder, "run", "p.db", *TEXTS, "--instructions", "how.md", "--judges", 2) as (
        server,
        said,
    ):
        me = lambda name: server.call("GET", "me", token=said[name])[1]  # noqa: E731
        before = design_in(folder)
        collect(folder, "change", "p.db", "--quota", 4, "judge1")
        assert me("judge1")["progress"]["quota"] == 4
        collect(folder, "change", "p.db", "--quota", 6)
        assert [me(name)["progress"]["quota"] for name in ("judge1", "judge2")] == [6, 6]
        collect(folder, "change", "p.db", "--instructions", "then.md")
        assert me("judge1")["instructions"][0]["inline"] == [["text", "Then."]]
        assert "allows 3 judgments" in collect(folder, "change", "p.db", "--rankings", 3).stderr
        assert judge(server, said["judge1"], 9) == 3
        much = collect(folder, "change", "p.db", "--hours", 90)
        assert "more need another campaign" in much.stderr
        organiser = said["organiser"]
        for body, status in (
            ({"quota": {"tasks": 8, "names": ["judge2"]}, "budget": {"rankings": 5}}, 200),
            ({"texts": {"instructions": "Last."}}, 200),
            ({"quota": {"tasks": 3, "names": ["nobody"]}}, 422),
            ({"budget": {"money": 3}}, 422),
            ({"hours": 8}, 422),  # which stands below budget: not taken silently for nothing
            ({"quota": {"tasks": 10**18}}, 422),
            ({"budget": {"rankings": 10**30}}, 422),
            ({"budget": {"hours": 1e300}}, 422),
        ):
            assert server.call("PATCH", "admin/campaign", body, token=organiser)[0] == status, body
        assert me("judge2")["progress"]["quota"] == 8
        assert judge(server, said["judge2"], 9) == 2
        assert design_in(folder) == before
    events = [
        (kind, json.loads(detail))
        for kind, detail in kept(
            folder, "SELECT kind, detail FROM event WHERE kind IN ('quota', 'budget', 'texts')"
        )
    ]
    wanted = "quota quota quota texts budget budget quota budget texts"
    assert [kind for kind, _ in events] == wanted.split()
    assert events[3][1]["before"]["instructions"] == "First.\n"
    assert not refused(
        """
        collect change p.db | nothing to change
        collect change p.db --hours 2 --rankings 3 | hours and rankings
        collect change p.db --rankings 3 judge1 | quota
        collect change p.db --quota 3 nobody | 'nobody'
        collect change p.db --quota 77 --money 3 | rate
        collect change p.db --quota 77 --instructions none.md | none.md
        """,
        folder,
    )
    assert kept(folder, "SELECT count(*) FROM judge WHERE quota = 77") == [(0,)]  # all or nothing


def test_what_is_worth_a_word_is_said(folder: Path) -> None:
    """Warnings: sentences without a difference, long texts, few common pairs, HTML."""
    lines = (folder / "source.txt").read_text("utf-8").splitlines()
    for name in ("source.txt", *SYSTEMS):
        own = (folder / name).read_text("utf-8").splitlines()
        own[4] = lines[4]
        own[6] = f"{own[6]} " + "very " * 300
        (folder / name).write_text("\n".join(own) + "\n", encoding="utf-8")
    (folder / "how.md").write_text("Rank\n<b>all</b> of <https://example.org>\n")
    named = ("my system=eager.txt", "a,b=cautious.txt", *SYSTEMS[2:])
    given = ("--source", "source.txt", *named, "--instructions", "how.md", "--judges", 9)
    done = collect(folder, "new", "p.db", *given)
    left_out = kept(folder, "SELECT count(*) FROM sentence WHERE stratum LIKE '%, 1 output'")[0][0]
    assert f"{left_out} sentences left out: nothing to judge" in done.stderr
    assert "5 texts of more than 1000 characters, the first in the sources, line 7" in done.stderr
    assert "pairs of outputs in common, and a κ needs 50" in done.stderr
    for name in ("my system", "a,b"):
        assert f"{name!r} is no name in Appraise's XML" in done.stderr
    assert "how.md:2: <b> is shown as text" in done.stderr


@pytest.mark.slow
def test_judges_read_texts_in_their_language(folder: Path) -> None:
    for name, text in {"e": "Rank.", "d": "Ordne.", "ce": "Agree?", "cd": "Ja?"}.items():
        (folder / f"{name}.md").write_text(text + "\n")
    given = ("--instructions", "en=e.md", "--instructions", "de=d.md")
    given += ("--consent", "en=ce.md", "--consent", "de=cd.md")
    collect(folder, "new", "p.db", *TEXTS, *given)
    (folder / "j.csv").write_text("name,language\nana,de\nbo,\n")
    collect(folder, "import", "p.db", "j.csv")
    (folder / "k.csv").write_text("name,language\ncleo,fr\n")
    refused = collect(folder, "import", "p.db", "k.csv", code=2)
    assert "no texts in 'fr'" in refused.stderr
    with running(folder, "run", "p.db") as (server, said):

        def shown(name: str) -> tuple[str, str, str, str]:
            me = server.call("GET", "me", token=said[name])[1]
            words = [me[key] for key in ("instructions",)] + [me["consent"]["blocks"]]
            first, second = (each[0]["inline"][0][1] for each in words)
            assert me["languages"] == ["en", "de"]
            return me["language"], me["strings"]["submit"], first, second

        german, english = ("de", "Abschicken", "Ordne.", "Ja?"), ("en", "Submit", "Rank.", "Agree?")
        assert (shown("ana"), shown("bo")) == (german, english)
        body = {"language": "de"}
        assert server.call("POST", "language", body, token=said["bo"]) == (200, body)
        assert shown("bo") == german
        status, wrong = server.call("POST", "language", {"language": "fr"}, token=said["bo"])
        assert (status, wrong["error"]["field"]) == (422, "language")
        # Who agreed has agreed in any language, until the text of one changes.
        version = server.call("GET", "me", token=said["bo"])[1]["consent"]["version"]
        agreed = {"version": version, "agreed": True}
        assert server.call("POST", "consent", agreed, token=said["bo"])[1]["state"] == "working"
        server.call("POST", "language", {"language": "en"}, token=said["bo"])
        assert server.call("GET", "me", token=said["bo"])[1]["state"] == "working"
        collect(folder, "change", "p.db", "--consent", "en=ce.md", "--consent", "de=d.md")
        assert server.call("GET", "me", token=said["bo"])[1]["state"] == "consent"


@pytest.mark.parametrize(("set_", "own"), [("true", ""), ("false", "reference = 'He goes.'\n")])
def test_examples_look_like_other_tasks(folder: Path, set_: str, own: str) -> None:
    (folder / "c.toml").write_text(
        f"show_reference = {set_}\nreference_is_system = true\n[[control]]\nsource = 'He go .'\n"
        f"outputs = ['He goes .', 'He go go .']\nworse = 2\nbetter = 1\n{own}"
    )
    given = ("new", "p.db", *TEXTS, "--refs", "reference0.txt", "--campaign", "c.toml")
    done = collect(folder, *given, code=2)
    assert "the control 'He go .' has" in done.stderr
