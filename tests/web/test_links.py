"""Links: whom they let in, how they end, and that nothing revives or prints them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from called import KEY, Client
from collecting import TEXTS, collect, fill_with_sample, links, running
from errata.collect.design import Design, Panel
from errata.collect.web.database import open_database
from errata.collect.web.judges import rotate_judges
from errata.collect.web.panel import join_panel
from errata.collect.web.tokens import LinkSigner
from served import served
from stored_campaigns import Made, Make, join_key_of, signer_of, token_of

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
