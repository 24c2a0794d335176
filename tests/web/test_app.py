"""The API of judges and organiser: what is answered to whom.

Joining is in `test_panels`, refused requests and headers in `test_threats`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, select
from sqlalchemy.exc import OperationalError

from called import KEY, Client
from campaigns import material
from collecting import TEXTS, collect, fill_with_sample, links, running
from errata.collect.design import Design, Panel
from errata.collect.web import app as web
from errata.collect.web.api import Limiter
from errata.collect.web.campaign import change_texts
from errata.collect.web.database import open_database
from errata.collect.web.i18n import LANGUAGES, load_texts, parse_markdown
from errata.collect.web.judges import change_state, rotate_judges
from errata.collect.web.panel import join_panel
from errata.collect.web.schema import events, judges, judgments, metadata
from errata.collect.web.server import Address, _config
from errata.collect.web.tokens import LinkSigner
from errata.core.errors import InputError
from served import served
from stored_campaigns import LESSONS, Made, Make, join_key_of, signer_of, token_of

PLAIN = Design(judges=2, quota=12, repeats=0, controls=0)


@pytest.fixture
def campaign(make_sqlite: Make) -> Made:
    return make_sqlite(PLAIN)


@pytest.fixture
def call(campaign: Made) -> Client:
    return Client(campaign)


def test_tasks_are_given_one_or_two_ahead(call: Client) -> None:
    for ahead, status in ((0, 422), (3, 422), ("1", 422), (True, 422), (1, 200), (2, 200)):
        answer = call("POST", "tasks", {"ahead": ahead})
        assert answer.status_code == status
        assert status == 422 or len(answer.json()["tasks"]) == ahead
    assert call("GET", "tasks?last=500").status_code == 422
    (first, second) = call("POST", "tasks", {"ahead": 2}).json()["tasks"]
    assert first["id"] != second["id"]
    assert set(first) == {
        "id", "kind", "source", "before", "after", "outputs", "revision", "expires", "language"
    }  # fmt: skip


def test_task_of_another_judge_is_not_found(call: Client) -> None:
    task = call.task()
    for method, path in (
        ("PUT", f"tasks/{task['id']}/judgment"),
        ("POST", f"tasks/{task['id']}/ping"),
        ("POST", f"tasks/{task['id']}/return"),
        ("PUT", "tasks/999999/judgment"),
        ("PUT", "tasks/x%27--/judgment"),
    ):
        sent = {"revision": 1, "answer": {o["key"]: 1 for o in task["outputs"]}}
        assert call(method, path, sent, who=2).status_code == 404


def test_calling_too_often_is_slowed_down(campaign: Made) -> None:
    call = Client(campaign, calls=5)
    found = [call("GET", "me").status_code for _ in range(7)]
    assert found == [200] * 5 + [429] * 2
    assert call("GET", "me", who=2).status_code == 200
    answer = call("GET", "me")
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too_many")


def test_limits_end_with_their_minute() -> None:
    for kind, most in (("join", 10), ("failure", 20), ("call", 240)):
        now = [0.0]
        limiter = Limiter(clock=lambda now=now: now[0])
        assert [limiter.allowed(kind, "one") for _ in range(most + 2)] == [True] * most + [
            False
        ] * 2
        assert limiter.allowed(kind, "another")
        now[0] = 61.0
        assert limiter.allowed(kind, "one")


def test_consent_comes_first_and_again_with_another_text(make_sqlite: Make) -> None:
    made = make_sqlite(PLAIN, words={"consent": "You take part **freely**."})
    call = Client(made)
    me = call("GET", "me").json()
    assert me["state"] == "consent"
    assert me["consent"]["blocks"][0]["inline"][1] == ["strong", "freely"]
    assert call("POST", "tasks", {}).json()["tasks"] == []
    version = me["consent"]["version"]
    made.clock.now += 5

    def agree(agreed: bool, version: str = version, who: int = 1) -> Any:
        return call("POST", "consent", {"version": version, "agreed": agreed}, who=who)

    assert agree(True, "old").status_code == 422
    assert agree(True).json() == {"state": "working"}
    assert agree(False, who=2).json() == {"state": "withdrawn"}
    assert call.state(2) == "withdrawn"
    (row,) = made.rows(select(judges).where(judges.c.id == 1))
    assert (row.consent_version, row.consent_time) == (version, made.clock.now)
    change_texts(made.database, {"consent": "You take part, and are paid."})
    me = call("GET", "me").json()
    assert me["state"] == "consent"
    assert me["consent"]["version"] != version
    found = made.scalars(select(events.c.detail).where(events.c.kind == "texts"))
    assert "You take part **freely**." in str(found)  # what was agreed to is known


def test_leases_are_renewed_and_given_back(campaign: Made, call: Client) -> None:
    task = call.task()
    campaign.clock.now += 60_000
    answer = call("POST", f"tasks/{task['id']}/ping", {})
    assert (answer.status_code, answer.json()["expires"] - task["expires"]) == (200, 60_000)
    assert call("POST", f"tasks/{task['id']}/return", {}).status_code == 200
    assert call.task()["id"] != task["id"]
    assert call.task(2)["source"] == task["source"]


def test_task_of_a_withdrawn_judge_goes_to_others(call: Client) -> None:
    task = call.task()
    assert call("DELETE", "me").json() == {"state": "withdrawn"}
    assert call("GET", "me").json()["state"] == "withdrawn"
    assert call("POST", "tasks", {}).json()["tasks"] == []
    others = call("POST", "tasks", {"ahead": 2}, who=2).json()["tasks"]
    assert task["source"] in [each["source"] for each in others]


def test_judge_waits_while_more_may_come_and_is_finished_otherwise(make_sqlite: Make) -> None:
    """One sentence: another holds it, then has done it; nobody can get it any more."""
    design = Design(judges=2, overlap=0.0, repeats=0, controls=0)
    call = Client(make_sqlite(design, material(1, 4, sharing=0.0)))
    task = call.task(2)
    assert call.state(1) == "waiting"
    assert call.answer(task, who=2).status_code == 201
    assert (call.state(1), call.state(2)) == ("finished", "finished")


def test_display_is_kept_if_it_is_short(campaign: Made, call: Client) -> None:
    """A page says how it showed a task in a few words; nobody stores a kilobyte of anything."""
    for long in (10, 1000):
        sent = {"skip": "broken", "display": {"marks": "x" * long}, "pasted": 2}
        assert call.answer(call.task(), **sent).status_code == 201
    found = campaign.scalars(select(judgments.c.display).order_by(judgments.c.id))
    assert [*found] == [{"marks": "x" * 10, "pasted": 2}, {"pasted": 2}]


def test_organiser_calls(make_sqlite: Make) -> None:
    call = Client(make_sqlite(Design(judges=1), examples=LESSONS))
    call.dashboard.refresh()
    for part in ("status", "ranking", "judges", "items", "export?form=details"):
        assert call("GET", f"admin/{part}", who=0).status_code == 200, part
        assert call("GET", f"admin/{part}").status_code == 401
    for method, path, body, status in (
        ("GET", "nothing", None, 404),
        ("GET", "export?form=x", None, 422),
        ("PATCH", "campaign", {"state": "draft"}, 422),
        ("PATCH", "campaign", {"texts": {"x": "y"}}, 422),
        ("PATCH", "campaign", {"state": "paused"}, 200),
        ("POST", "judges", {"names": ["new"]}, 200),
        ("POST", "judges", {"names": ["new"]}, 422),
        ("POST", "judges", {"names": 3}, 422),
        ("POST", "judges/dance", {"names": ["j0"]}, 404),
        ("PATCH", "campaign", {"colour": "red"}, 422),
        ("PATCH", "campaign", {"budget": {"rankings": 9}}, 200),
        ("PATCH", "campaign", {"budget": {"rankings": 9, "hours": 1}}, 422),
        ("PATCH", "campaign", {"quota": {"tasks": 0}}, 422),
    ):
        assert call(method, f"admin/{path}", body, who=0).status_code == status, (path, body)
    assert call("GET", "me").json()["state"] == "paused"
    before = token_of(call.served.store.database, KEY, 1)
    assert call("POST", "admin/judges/rotate", {"names": ["j0"]}, who=0).status_code == 200
    assert call("GET", "me", token=before).status_code == 401


def test_organiser_gets_texts_and_the_link_of_a_panel(make_sqlite: Make) -> None:
    panel = Panel("sona", 2).to_json()
    call = Client(make_sqlite(Design(kind="correct", judges=1), words={"panel": panel}))
    answer = call("GET", "admin/export?form=texts", who=0)
    assert (answer.status_code, answer.content[:2]) == (200, b"PK")
    door, *judges = call("POST", "admin/links", {"names": []}, who=0).json()["links"]
    assert door["link"].endswith(f"join/{join_key_of(call.served.store.database, KEY)}")
    assert len(judges) == 1


def test_pages_are_not_sent_again_unchanged(call: Client) -> None:
    first = call("GET", "http://x/static/judge.js")
    again = call("GET", "http://x/static/judge.js", if_none_match=first.headers["etag"])
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


def test_blind_campaign_names_no_system_until_it_is_closed(make_sqlite: Make) -> None:
    made = make_sqlite(Design(judges=2, quota=4, blind=True))
    call = Client(made)
    for who in (1, 2):
        while task := call.claim(who):
            assert call.answer(task, who=who).status_code == 201

    def shown(part: str) -> str:
        call.dashboard.refresh()
        return call("GET", f"admin/{part}", who=0).text

    for part in ("status", "ranking", "judges", "items"):
        assert not any(f'"S{k}"' in shown(part) for k in range(5))
    assert "Blind" in shown("ranking")
    change_state(made.database, "closed")
    assert '"S0"' in shown("ranking")


def test_several_changes_are_made_together_or_not_at_all(call: Client) -> None:
    def change(**sent: Any) -> int:
        return call("PATCH", "admin/campaign", sent, who=0).status_code

    def quota() -> int:
        return int(call("GET", "me").json()["progress"]["quota"])

    assert change(quota={"tasks": 7}, texts={"consent": ""}, state="paused") == 200
    assert quota() == 7
    assert change(state="closed") == 200
    assert change(quota={"tasks": 9}, state="open") == 422  # what is closed stays so
    assert quota() == 7
    assert [change(texts={"consent": "x" * many}) for many in (20_000, 20_001)] == [200, 422]


def test_health_is_measured(campaign: Made, call: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    ailing: list[str] = []
    over = threading.Event()
    whole = type(campaign.database).writing

    @contextmanager
    def writing(self: Any) -> Iterator[Connection]:
        if ailing == ["slow"]:
            over.wait(60)
        elif ailing:
            raise OperationalError("x", None, Exception("database or disk is full"))
        with whole(self) as connection:
            yield connection

    def health() -> int:
        return call("GET", "health").status_code

    monkeypatch.setattr(type(campaign.database), "writing", writing)
    assert health() == 200
    ailing.append("full")
    assert health() == 200  # remembered
    then, well = call.served.health
    call.served.health = (then - web.HEALTH_REMEMBERED, well)
    assert health() == 503
    answer = call("POST", "tasks", {})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["error"]["remedy"] == "the organiser must make room on the disk"
    ailing.clear()
    assert health() == 503  # remembered too
    call.served.health = (0.0, False)
    ailing.append("slow")
    with monkeypatch.context() as patched:
        patched.setattr(web, "HEALTH_PATIENCE", 0.01)
        assert health() == 503
    ailing.clear()
    over.set()
    call.served.health = (0.0, False)
    with monkeypatch.context() as patched:  # a page may fit where an answer does not
        patched.setattr(web.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
        assert health() == 503
    call.served.health = (0.0, False)
    assert health() == 200
    assert call("POST", "tasks", {}).status_code == 200


def test_opening_a_link_changes_nothing(make_sqlite: Make) -> None:
    """As mail scanners and previews do."""
    made = make_sqlite(PLAIN, words={"consent": "Freely."})
    call = Client(made)
    before = {table.name: made.rows(table) for table in metadata.sorted_tables}
    for path in ("/judge", "/admin", "/join/x?PROLIFIC_PID=y", "/api/v1/me"):
        assert call("GET", f"http://x{path}").status_code == 200
    for path in ("status", "ranking", "judges", "items"):
        assert call("GET", f"admin/{path}", who=0).status_code == 200
    assert {table.name: made.rows(table) for table in metadata.sorted_tables} == before


def test_server_logs_no_address_and_keeps_connections() -> None:
    config = _config(None, Address())
    assert not config.access_log  # query strings hold ids of participants
    assert config.timeout_keep_alive == 75  # longer than the pause between tasks


SIGNER = LinkSigner(KEY, "campaign")
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "campaigns"
SALTS = st.text("aZ0-_", min_size=1, max_size=16)


@given(st.sampled_from(["judge", "admin"]), st.integers(0, 10**9), SALTS)
def test_a_token_says_whose_it_is(role: str, judge: int, salt: str) -> None:
    token = SIGNER.token(role, judge, salt)  # type: ignore[arg-type]
    assert SIGNER.read(token) == (role, judge, salt)
    assert LinkSigner(b"x" * 32, "campaign").read(token) is None
    old = salt.isdecimal() and len(salt) < 10
    assert (LinkSigner(KEY, "another").read(token) is None) != old


@given(st.text(max_size=40), st.integers(0, 35), st.characters())
def test_no_other_text_is_a_token(words: str, place: int, character: str) -> None:
    token = SIGNER.token("judge", 12, "abc")
    assert SIGNER.read(words) is None
    changed = token[:place] + character + token[place + 1 :]
    assert changed == token or SIGNER.read(changed) is None
    assert len(token.rpartition(".")[2]) == 22  # 16 bytes in base64
    admin = SIGNER.token("admin", 12, "abc")
    spellings = (token.replace("j12", "j012"), token.replace(".abc.", ".abd."), f"{token}=")
    for other in (*spellings, f"{token}\n", "j" + admin[1:]):
        assert SIGNER.read(other) is None


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[str, str]] = []

    def compare(one: str, other: str) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", compare)
    good = SIGNER.token("judge", 7, "abc")
    other = good[:-4] + ("AAAA" if good[-4:] != "AAAA" else "BBBB")
    assert (SIGNER.read(good) is None, SIGNER.read(other) is None) == (False, True)
    assert [pair[1] for pair in compared] == [good.split(".")[2], other.split(".")[2]]


def test_only_current_links_are_accepted(campaign: Made) -> None:
    database, call = campaign.database, Client(campaign)
    good, admin, signer = token_of(database, KEY, 1), token_of(database, KEY, 0), call.served.signer
    second = token_of(database, KEY, 2)
    rotate_judges(database, ["j1"])
    bad = [
        *("", "x", good[:-1] + ("A" if good[-1] != "A" else "B"), good.replace("j1", "j2")),
        *(signer.token("judge", 1, "other"), second, admin),
        *(
            LinkSigner(b"x" * 32, signer.campaign).token("judge", 1, "1"),
            join_key_of(database, KEY),
        ),
    ]
    assert {call("GET", "me", token=each).status_code for each in bad} == {401}
    assert call("GET", "me", who=2).status_code == 200
    forged = signer.token("admin", 0, "other")
    assert {call("GET", "admin/status", token=t).status_code for t in (good, forged)} == {401}
    assert call("GET", "admin/status", token=admin).status_code == 200


def test_guessing_does_not_lock_out_a_genuine_link(campaign: Made) -> None:
    call = Client(campaign)
    found = [call("GET", "me", token=f"j1.1.{'A' * 20}{k:02}").status_code for k in range(25)]
    assert found == [401] * 20 + [429] * 5
    assert call("GET", "me").status_code == 200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill_with_sample(tmp_path)


@pytest.mark.slow
def test_no_link_is_printed_to_a_log(folder: Path) -> None:
    made = collect(folder, "new", "p.db", *TEXTS, "--judges", 1)
    assert "#" not in made.stdout + made.stderr
    assert "errata collect links p.db" in made.stderr
    with running(folder, "serve", "p.db") as (server, tokens):
        assert server.call("GET", "me", token=tokens["judge1"])[0] == 200


def test_one_key_opens_one_campaign(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "ab" * 32
    monkeypatch.setenv("ERRATA_COLLECT_KEY", key)
    for place in ("x.db", "y.db"):
        collect(folder, "new", place, *TEXTS, "--judges", 1)
    one, other = links(folder, "x.db"), links(folder, "y.db")
    with served(str(folder / "y.db"), key=key) as server:
        for who, path in (("organiser", "admin/status"), ("judge1", "me")):
            assert server.call("GET", path, token=other[who])[0] == 200
            assert server.call("GET", path, token=one[who])[0] == 401


def test_a_restored_copy_revives_no_link(folder: Path) -> None:
    collect(folder, "new", "p.db", *TEXTS, "--judges", 2)
    collect(folder, "backup", "p.db", "copy.db")
    before = links(folder)
    collect(folder, "judges", "add", "p.db", "mallory")
    mallory = links(folder)["mallory"]
    collect(folder, "judges", "rotate", "p.db", "judge1")
    collect(folder, "links", "p.db", "--replace", "organiser")
    for log in folder.glob("p.db-*"):
        log.unlink()
    shutil.copy(folder / "copy.db", folder / "p.db")
    collect(folder, "judges", "add", "p.db", "alice")
    with running(folder, "serve", "p.db") as (server, now):
        assert now["alice"] != mallory
        ended = (before["judge1"], mallory)
        assert {server.call("GET", "me", token=each)[0] for each in ended} == {401}
        assert server.call("GET", "admin/status", token=before["organiser"])[0] == 401
        assert server.call("GET", "me", token=before["judge2"])[0] == 200
        assert server.call("GET", "me", token=now["judge1"])[0] == 200


@pytest.mark.parametrize(("whose", "kept"), [("organiser", 2), ("panel", 2), ("everybody", 0)])
def test_links_can_be_replaced(make_sqlite: Make, tmp_path: Path, whose: str, kept: int) -> None:
    panel = Panel("prolific", 2, code="C0DE").to_json()
    campaign = make_sqlite(Design(judges=1, quota=2), words={"panel": panel})
    database, call = campaign.database, Client(campaign)
    sent = {"PROLIFIC_PID": "p1", "SESSION_ID": "s1"}
    (tmp_path / "campaign.db.key").write_bytes(KEY)
    (tmp_path / "campaign.db.key").chmod(0o600)
    tokens, join = [token_of(database, KEY, who) for who in (0, 1)], join_key_of(database, KEY)
    collect(tmp_path, "links", "campaign.db", "--replace", whose)
    found = [
        call("GET", "admin/status", token=tokens[0]).status_code == 200,
        call("GET", "me", token=tokens[1]).status_code == 200,
        call("POST", "join", {"key": join, "parameters": sent}, token="").status_code == 201,
    ]
    assert sum(found) == kept
    assert found[0] == (whose == "panel")
    assert call("GET", "admin/status", who=0).status_code == 200
    new = {"key": join_key_of(database, KEY), "parameters": sent}
    assert call("POST", "join", new, token="").status_code == 201


def test_a_participants_ended_link_stays_ended_in_a_copy(make_sqlite: Make) -> None:
    panel = Panel("prolific", 2, code="C0DE", idle=1).to_json()
    campaign = make_sqlite(Design(judges=1, quota=2), words={"panel": panel})
    first = join_panel(campaign.store, {"PROLIFIC_PID": "p1", "SESSION_ID": "s1"})
    campaign.clock.now += 3_600_000
    second = join_panel(campaign.store, {"PROLIFIC_PID": "p1", "SESSION_ID": "s2"})
    assert (first.id, first.salt != second.salt) == (second.id, True)
    path = campaign.database.path
    assert path is not None
    assert len(path.with_name("campaign.db.ended").read_text().split()) == 1


def test_links_of_an_earlier_version_work_until_replaced(tmp_path: Path) -> None:
    place = tmp_path / "old.db"
    with closing(sqlite3.connect(place)) as connection:
        connection.executescript((GOLDEN / "schema-2.sql").read_text(encoding="utf-8"))
    (tmp_path / "old.db.key").write_bytes(KEY)
    (tmp_path / "old.db.key").chmod(0o600)

    def old_token(role: str, judge: int) -> str:
        words = f"errata collect {role} {judge} 1".encode()
        tag = base64.urlsafe_b64encode(hmac.new(KEY, words, hashlib.sha256).digest()[:16])
        return f"{role[0]}{judge}.1.{tag.decode().rstrip('=')}"

    with closing(open_database(str(place))) as database:
        assert token_of(database, KEY, 1) == old_token("judge", 1)
        assert signer_of(database, KEY).campaign == ""
    said = collect(tmp_path, "links", "old.db").stderr
    assert "--replace everybody" in said
    collect(tmp_path, "links", "old.db", "--replace", "everybody")
    with served(str(place), key=KEY.hex()) as server:
        for token, path in ((old_token("judge", 1), "me"), (old_token("admin", 0), "admin/status")):
            assert server.call("GET", path, token=token)[0] == 401
        assert server.call("GET", "me", token=server.token(1))[0] == 200


WEB = Path(str(resources.files("errata.collect.web")))


def test_all_languages_say_the_same() -> None:
    english = load_texts("en")
    for language in LANGUAGES:
        other = load_texts(language)
        assert other.keys() == english.keys()
        for key, text in other.items():
            names = re.findall(r"\{(\w+)\}", english[key])
            assert sorted(re.findall(r"\{(\w+)\}", text)) == sorted(names), key


def test_scripts_say_only_what_the_catalogue_has() -> None:
    said = set()
    for script in (WEB / "static").rglob("*.js"):
        said |= set(re.findall(r'say\("([\w.]+)"', script.read_text("utf-8")))
    assert said
    assert said <= load_texts("en").keys()


def test_scripts_make_no_markup_and_ask_nobody_else() -> None:
    for script in (WEB / "static").rglob("*.js"):
        text = script.read_text("utf-8")
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("):
            assert forbidden not in text, script
        assert not re.findall(r"https?://(?!www\.w3\.org)", text), script


def test_a_string_that_does_not_exist_cannot_be_replaced() -> None:
    with pytest.raises(InputError, match="did you mean 'submit'"):
        load_texts("en", {"submitt": "x"})


@given(st.text(max_size=300))
def test_prose_keeps_every_word_as_text(text: str) -> None:
    blocks = parse_markdown(text)
    assert json.dumps(blocks)
    for block in blocks:
        for parts in block.get("items", [block.get("inline", [])]):
            for part in parts:
                assert part[0] in ("text", "em", "strong", "code", "link")
                if part[0] == "link":
                    assert part[2].startswith(("http://", "https://", "mailto:"))


def test_prose_of_a_list_and_a_dangerous_link() -> None:
    (block,) = parse_markdown("- one\n- [x](javascript:alert(1))")
    assert block["items"] == [[["text", "one"]], [["text", "[x](javascript:alert(1))"]]]


NO_PAGES = ("example.org", "https://", "ftp://e.org", "https://e.org/?q=1", "https://me@e.org")


def test_unsafe_addresses_are_refused() -> None:
    for settings, problem in (
        ({"host": "0.0.0.0"}, "without encryption"),
        ({"host": "192.0.2.1"}, "without encryption"),
        ({"certificate": "c.pem"}, "go together"),
        ({"host": "0.0.0.0", "behind_proxy": "proxy"}, "no address or network"),
        *(({"url": each}, "no address of a page") for each in NO_PAGES),
        ({"port": 70000}, "no port"),
    ):
        with pytest.raises(InputError, match=problem):
            Address(**settings)  # type: ignore[arg-type]


def test_addresses_that_are_taken() -> None:
    assert Address(host="0.0.0.0", plain_http=True).links == "http://127.0.0.1:8765/"
    proxied = Address(host="0.0.0.0", behind_proxy="10.0.0.0/8", url="https://e.org/study")
    assert (proxied.links, proxied.secure) == ("https://e.org/study/", True)
    assert Address(host="::1", port=80).links == "http://[::1]:80/"
    encrypted = Address(host="0.0.0.0", certificate="c.pem", key="k.pem")
    assert (encrypted.links, encrypted.secure) == ("https://127.0.0.1:8765/", True)
    for address, wanted in ((encrypted, ("c.pem", "k.pem", False)), (proxied, (None, None, True))):
        made = _config(None, address)
        assert (made.ssl_certfile, made.ssl_keyfile, made.proxy_headers) == wanted
        assert (made.host, made.port) == ("0.0.0.0", 8765)
        assert not made.access_log
        assert not made.server_header
    assert _config(None, proxied).forwarded_allow_ips == "10.0.0.0/8"
