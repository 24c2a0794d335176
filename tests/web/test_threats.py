"""The threats that a campaign must stand: each has a test that bears its name."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import http.client
import json
import re
import socket
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from campaigns import material
from command import errata
from errata.collect.design import Design, Scale
from errata.collect.items import CampaignTexts, Example
from errata.collect.panel import Panel
from errata.io import read_judgments
from errata.web.exports import export_lines
from errata.web.forms import FORMS_OUT
from errata.web.headers import answer_headers
from errata.web.participants import join_panel
from errata.web.people import change_state, rotate_judge
from errata.web.schema import assignments, items, judgments, metadata
from errata.web.tokens import join_key, read_token, token_for
from served import KEY, Server, served
from stored_campaigns import LESSONS, Made, Make, made

NASTY = "<img src=x onerror=alert(1)> </script> &amp; &lt; ]]> \" ' {{ 7 * 7 }} =1+1 \u202e\u2028x"
SECRET = bytes.fromhex(KEY)


def claimed(server: Server, token: str) -> dict[str, Any] | None:
    status, body = server.call("POST", "tasks", {"ahead": 1}, token=token)
    assert status == 200
    return body["tasks"][0] if body["tasks"] else None


def ranked(task: dict[str, Any]) -> dict[str, Any]:
    return {"revision": 1, "answer": {o["key"]: 1 for o in task["outputs"]}}


def page(server: Server, path: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode("utf-8")
    finally:
        connection.close()


# --- markup in sentences, names, comments


def nasty_campaign(make: Make, design: Design) -> Made:
    sources = tuple(f"{NASTY} {k} go" for k in range(6))
    systems = {f"<b>{name}": tuple(f"{s} {name}" for s in sources) for name in "AB"}
    lesson = Example(NASTY, ("a b", "a a b"), {"worse": 1, "better": 0, "why": NASTY})
    return make(
        design,
        CampaignTexts(sources, systems, tuple("<i>doc" for _ in sources)),
        examples=(lesson,) if design.kind == "rank" else (),
        words={"instructions": NASTY, "consent": NASTY, "panel": Panel("sona", 2).to_json()},
    )


def test_markup_in_sentences_names_and_comments(make_sqlite: Make, tmp_path: Path) -> None:
    made = nasty_campaign(make_sqlite, Design(judges=1, controls=0, repeats=0))
    with served(str(made.database.path)) as server:
        token = server.token(1)
        for path in ("/judge", "/admin", "/join/x"):
            assert "<img" not in page(server, path)
            assert page(server, path).count("<script") <= 2  # ours
        _, me = server.call("GET", "me", token=token)
        sent = {"version": me["consent"]["version"], "agreed": True}
        text = json.dumps([me["consent"], me["instructions"]])
        assert "img src" in text
        assert '"link"' not in text
        assert server.call("POST", "consent", sent, token=token)[0] == 200
        while task := claimed(server, token):
            answer = ranked(task) | {"comment": NASTY}
            status, body = server.call("PUT", f"tasks/{task['id']}/judgment", answer, token=token)
            assert status == 201
            assert body["stored"]["comment"] == NASTY
        for part in ("status", "ranking", "judges", "items"):
            assert server.call("GET", f"admin/{part}", token=server.admin)[0] == 200
    details = [json.loads(line) for line in export_lines(made.database, "details")]
    assert len(details) == 7
    assert all(each["revisions"][0]["comment"] == NASTY for each in details)
    assert all(NASTY in each["source"] for each in details)
    for form in ("jsonl", "appraise", "pairwise"):
        path = (
            tmp_path
            / f"out.{'xml' if form == 'appraise' else 'csv' if form == 'pairwise' else form}"
        )
        lines = export_lines(made.database, form)  # type: ignore[arg-type]
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        found = read_judgments(path)
        assert {name for j in found for group in j.groups for name in group} == {"<b>A", "<b>B"}


@pytest.mark.parametrize("form", [f for f in FORMS_OUT if f not in ("edits-m2",)])
def test_nasty_texts_through_every_form(make_sqlite: Make, form: str) -> None:
    kinds = {"scores": "score", "scores-csv": "score", "edits": "edits"}
    scales = (Scale("fluency"),) if kinds.get(form) == "score" else ()
    kind: Any = kinds.get(form, "rank")
    design = Design(kind=kind, judges=1, controls=0, repeats=0, scales=scales)
    made = nasty_campaign(make_sqlite, design)
    from errata.collect.assigning import Holding
    from errata.web.answering import SentAnswer

    while isinstance(held := made.store.claim(1), Holding):
        body = made.store.task(1, held.assignment).body
        answer: Any = {o["key"]: 1 for o in body["outputs"]}
        if kind == "score":
            answer = {"fluency": 7}
        elif kind == "edits":
            answer = {e["key"]: "good" for e in body["edits"]}
        made.store.submit(1, held.assignment, SentAnswer(1, answer, None, NASTY))
    lines = list(export_lines(made.database, form))  # type: ignore[arg-type]
    assert lines
    if form in ("jsonl", "details", "scores", "edits"):
        for line in lines:
            assert "\n" not in line
            json.loads(line)
    elif form in ("scores-csv", "people", "pairwise"):
        rows = list(csv.reader("\n".join(lines).splitlines(keepends=True)))
        assert len({len(row) for row in rows}) == 1
    else:
        from xml.etree import ElementTree

        ElementTree.fromstring("\n".join(lines))


# --- guessing or reusing tokens


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80) | st.from_regex(r"[ja]\d{1,3}\.\d{1,3}\.[\w-]{22}", fullmatch=True))
def test_guessed_tokens_are_none(text: str) -> None:
    assert read_token(SECRET, text) is None


def test_guessing_or_reusing_tokens(campaign: Made) -> None:
    with served(str(campaign.database.path)) as server:
        own, other = server.token(1), server.token(2)
        task = claimed(server, own)
        assert task is not None
        for path, method in (
            (f"tasks/{task['id']}/judgment", "PUT"),
            (f"tasks/{task['id']}/ping", "POST"),
        ):
            assert server.call(method, path, ranked(task), token=other)[0] == 404
        rotate_judge(campaign.database, "j0", now=1)
        assert server.call("GET", "me", token=own)[0] == 401
        assert server.call("PUT", f"tasks/{task['id']}/judgment", ranked(task), token=own)[0] == 401
        assert server.call("GET", "me", token=server.token(1, 2))[0] == 200
        for role, judge in (("judge", 1), ("admin", 0)):
            forged = token_for(b"x" * 32, role, judge)  # type: ignore[arg-type]
            path = "me" if role == "judge" else "admin/status"
            assert server.call("GET", path, token=forged)[0] == 401
        assert server.call("GET", "me", token=join_key(SECRET))[0] == 401
        found = [server.call("GET", "me", token=f"j1.1.{k:022}")[0] for k in range(25)]
        assert found[-1] == 429


# --- unblinding


def test_unblinding(make_sqlite: Make) -> None:
    """Tasks of all purposes have the same fields, and sizes that do not tell them apart."""
    lessons = tuple(
        Example(f"word{k} " * 8 + "go .", (f"word{k} " * 8 + "goes .", f"word{k} " * 8 + "gone ."),
                {"worse": 1, "better": 0, "why": "because"}) for k in range(3)
    )  # fmt: skip
    design = Design(judges=1, quota=100, controls=0.15, repeats=0.1, outputs=2)
    campaign = make_sqlite(design, material(160, 4, sharing=0), examples=lessons)
    shapes: dict[str, set[str]] = defaultdict(set)
    sizes: dict[str, list[int]] = defaultdict(list)
    answers: dict[str, set[str]] = defaultdict(set)
    with served(str(campaign.database.path)) as server:
        token = server.token(1)
        while task := claimed(server, token):
            with campaign.database.reading() as connection:
                purpose = connection.execute(
                    select(items.c.purpose)
                    .join(assignments, assignments.c.item == items.c.id)
                    .where(assignments.c.id == int(task["id"]))
                ).scalar_one()
            shapes[purpose].add(json.dumps([list(task), [list(o) for o in task["outputs"]]]))
            sizes[purpose].append(len(json.dumps({**task, "id": "0"})))
            text = json.dumps(task)
            for word in ("because", "worse", "expected", "system", "S0", "S1", "control", "own"):
                assert f'"{word}' not in text
            path = f"tasks/{task['id']}/judgment"
            status, body = server.call("PUT", path, ranked(task), token=token)
            assert status == 201
            answers[purpose].add(json.dumps(sorted(body)))
    assert set(shapes) == {"main", "repeat", "control", "tutorial"}
    assert len({shape for found in shapes.values() for shape in found}) == 1
    assert answers["control"] == answers["repeat"] == answers["main"]
    low, high = min(sizes["main"]), max(sizes["main"])
    for purpose in ("repeat", "control"):
        assert all(0.8 * low <= size <= 1.2 * high for size in sizes[purpose]), purpose


def test_who_wrote_a_text_reaches_no_browser(make_sqlite: Make) -> None:
    """Neither of judges nor of the organiser; and it is in no export but that of texts."""
    texts = material(6, 2, sharing=0)
    wrote = {
        (k, text): ("Wilhelmina", "j1") for t in texts.systems.values() for k, text in enumerate(t)
    }
    design = Design(kind="review", judges=1, overlap=0, repeats=0)
    campaign = make_sqlite(design, texts._replace(writers=wrote))
    said = []
    with served(str(campaign.database.path)) as server:
        token = server.token(1)
        while task := claimed(server, token):
            sent = {"revision": 1, "answer": {"accept": True}}
            said += [task, server.call("PUT", f"tasks/{task['id']}/judgment", sent, token=token)]
        said += [server.call("GET", path, token=token) for path in ("me", "tasks?last=5")]
        for part in ("status", "ranking", "judges", "items"):
            said.append(server.call("GET", f"admin/{part}", token=server.admin))
    assert len(said) > 24
    said += [list(export_lines(campaign.database, "details"))]
    said += [list(export_lines(campaign.database, "people"))]
    assert "Wilhelmina" not in repr(said)
    assert "S0" in repr(said)  # which the organiser may know


# --- forged answers or times

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = ("revision", "answer", "skip", "comment", "active", "total", "display", "pasted", "time")


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Made, Server]]:
    place = str(tmp_path_factory.mktemp("forged") / "campaign.db")
    campaign = made(place, Design(repeats=0, controls=0), material(600, 4, sharing=0))
    with served(place) as server:
        server.call("POST", "tasks", {"ahead": 1}, token=server.token(1))
        yield campaign, server
    campaign.database.close()


def kept(campaign: Made) -> list[Any]:
    with campaign.database.reading() as connection:
        return list(connection.execute(select(judgments).order_by(judgments.c.id)).all())


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(body=st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6))
def test_forged_answers_or_times(standing: tuple[Made, Server], body: dict[str, Any]) -> None:
    """Whatever is sent: stored whole and within limits, or refused; never an error of ours."""
    campaign, server = standing
    token = server.token(1)
    task = claimed(server, token)
    assert task is not None
    before = kept(campaign)
    status, answer = server.call("PUT", f"tasks/{task['id']}/judgment", body, token=token)
    after = kept(campaign)
    assert status in (200, 201, 409, 422, 400)
    if status != 201:
        assert after == before
        assert status == 200 or {"code", "message", "remedy", "field"} == set(answer["error"])
        return
    (new,) = after[len(before) :]
    keys = {o["key"] for o in task["outputs"]}
    assert (new.answer is None) == (new.skip is not None)
    if new.answer is not None:
        ranks = json.loads(new.answer)
        assert set(ranks) == keys
        assert all(type(r) is int and 1 <= r <= len(keys) for r in ranks.values())
    assert len(new.comment) <= 2000
    assert new.client_time is None or new.client_time.isprintable()
    for value in (new.active_ms, new.total_ms):
        assert value is None or 0 <= value <= 60 * 60 * 1000


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    way=st.sampled_from(["fair", "fair", "odd", "short", "long"]),
    ranks=st.lists(st.integers(0, 8), min_size=9, max_size=9),
    odd=st.sampled_from([0, -1, 10, True, 1.0, "1", None, [1]]),
    revision=st.sampled_from([1, 1, 1, 0, 2]),
    active=st.sampled_from([0, 10**11, 10**12, -1, 1e300, None]),
)
def test_answers_made_of_almost_good_parts(
    standing: tuple[Made, Server], way: str, ranks: list[int], odd: Any, revision: int, active: Any
) -> None:
    campaign, server = standing
    token = server.token(1)
    task = claimed(server, token)
    assert task is not None
    keys = [o["key"] for o in task["outputs"]]
    answer: dict[str, Any] = {
        key: 1 + rank % len(keys) for key, rank in zip(keys, ranks, strict=False)
    }
    if way == "odd":
        answer[keys[ranks[0] % len(keys)]] = odd
    elif way == "short":
        del answer[keys[0]]
    elif way == "long":
        answer["Z"] = 1
    sent = {"revision": revision, "answer": answer, "active": active}
    good = way == "fair" and revision == 1
    good = good and (active is None or 0 <= active < 10**12)
    status, _ = server.call("PUT", f"tasks/{task['id']}/judgment", sent, token=token)
    assert status == (201 if good else 422)
    if good:
        new = kept(campaign)[-1]
        assert new.flagged == (active == 10**11)
        assert new.active_ms is None or new.active_ms < 10**11  # cut to what is possible


# --- huge, slow, broken requests


def raw(server: Server, text: bytes, *, wait: float = 30, then: bytes = b"") -> bytes:
    """What a client hears who sends these bytes, and some more a little later."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=wait) as client:
        client.sendall(text)
        if then:
            time.sleep(0.2)
            with contextlib.suppress(OSError):
                client.sendall(then)
        client.settimeout(wait)
        heard = b""
        with contextlib.suppress(OSError):
            while part := client.recv(65536):
                heard += part
                if b"\r\n\r\n" in heard and (b'"error"' in heard or b"Invalid" in heard):
                    break
        return heard


def head(server: Server, *lines: str, path: str = "/api/v1/tasks", method: str = "POST") -> bytes:
    own = f"Authorization: Bearer {server.token(1)}"
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", own, *lines, "", ""]).encode()


def test_huge_slow_and_broken_requests(server: Server) -> None:
    assert b" 413 " in raw(server, head(server, "Content-Length: 99999999"))
    chunked = head(server, "Transfer-Encoding: chunked") + b"ffff\r\n" + b"x" * 65535 + b"\r\n"
    assert b" 413 " in raw(server, chunked, then=b"ffff\r\n" + b"x" * 65535 + b"\r\n0\r\n\r\n")
    for broken in ("{", "[" * 20, '{"a": 1e999}', '"x"', '{"ahead": 1}}', "\x00", '{"a":1,"a":2}'):
        body = broken.encode()
        sent = head(server, f"Content-Length: {len(body)}") + body
        assert b" 400 " in raw(server, sent), broken
    deep = json.dumps({"a": [[[[[[[[[1]]]]]]]]]}).encode()
    assert b" 400 " in raw(server, head(server, f"Content-Length: {len(deep)}") + deep)
    assert b" 400 " in raw(server, b"NONSENSE\r\n\r\n")
    huge = head(server, "X: " + "y" * 200_000)
    heard = raw(server, huge, wait=5)
    assert b" 200 " not in heard
    assert b" 400 " in raw(server, head(server, "Content-Length: 5", "Content-Length: 6") + b"{}")
    many = head(server, *(f"X-{k}: {k}" for k in range(5000)))
    assert b" 200 " not in raw(server, many, wait=5)
    assert server.call("GET", "health")[0] == 200  # and it goes on


def test_slow_bodies_end(campaign: Made) -> None:
    from served import PROGRAM

    quick = PROGRAM.replace(
        "import sys\n", "import sys\nimport errata.web.headers as h\nh.SLOWEST = 0.5\n", 1
    )
    with served(str(campaign.database.path), program=quick) as server:
        begun = time.monotonic()
        heard = raw(server, head(server, "Content-Length: 10", "Accept-Language: de") + b"{")
        assert b" 408 " in heard
        assert "zu langsam" in heard.decode()
        assert time.monotonic() - begun < 20
        assert server.call("GET", "me", token=server.token(1))[0] == 200


# --- spreadsheet formulas in CSV, entities in XML


def test_spreadsheet_formulas_and_entities(tmp_path: Path) -> None:
    for name, lines in {"s.txt": ["=1+1 go", "@x go"], "a.txt": ["=1+1 goes", "@x goes"]}.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    line = ("collect", "new", "c.db", "--source", "s.txt", "--kind", "score", "a.txt")
    errata(*line, "--controls", 0, "--repeats", 0, cwd=tmp_path)
    from errata.collect.assigning import Holding
    from errata.web.answering import SentAnswer
    from errata.web.database import open_database
    from errata.web.store import Store

    database = open_database(str(tmp_path / "c.db"))
    change_state(database, "open", now=0)
    store = Store(database)
    while isinstance(held := store.claim(1), Holding):
        store.submit(1, held.assignment, SentAnswer(1, {"quality": 5}))
    database.close()
    for option, formulas in (((), True), (("--safe-cells",), False)):
        errata(
            "collect",
            "export",
            "c.db",
            "--form",
            "scores-csv",
            *option,
            "-o",
            "x.csv",
            cwd=tmp_path,
        )
        rows = list(csv.reader((tmp_path / "x.csv").read_text("utf-8").splitlines()))
        assert any(cell[:1] in "=@" for row in rows for cell in row if cell) is formulas
        assert any(cell.lstrip("'") == "=1+1 goes" for row in rows for cell in row)
        (tmp_path / "x.csv").unlink()


ENTITIES = """<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">
<!ENTITY x SYSTEM "file:///etc/passwd">]><appraise-results><ranking-item>&b;&x;</ranking-item>
</appraise-results>"""


def test_entities_in_xml_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text(ENTITIES, encoding="utf-8")
    done = errata("rank", "x.xml", cwd=tmp_path, code=None)
    assert done.returncode == 2
    assert "root:" not in done.stdout + done.stderr


# --- database file stolen

PERSONAL = "5f3a-participant"


def test_database_file_stolen(make_sqlite: Make) -> None:
    """No token follows from the file, and ids of participants are in one table alone."""
    panel = Panel("prolific", 2, code="C0DE")
    campaign = make_sqlite(Design(judges=2, quota=2), words={"panel": panel.to_json()})
    joined = join_panel(campaign.store, {"PROLIFIC_PID": PERSONAL, "SESSION_ID": "session-9"})
    assert campaign.database.path is not None
    genuine = [token_for(SECRET, "judge", k, 1) for k in (1, 2, joined.id)]
    genuine += [token_for(SECRET, "admin"), join_key(SECRET)]
    with contextlib.closing(sqlite3.connect(campaign.database.path)) as stolen:
        where = set()
        cells: set[bytes] = set()
        for table in metadata.tables:
            for row in stolen.execute(f'SELECT * FROM "{table}"'):
                for cell in row:
                    text = str(cell)
                    cells.add(text.encode())
                    if PERSONAL in text:
                        where.add(table)
                    assert not any(token[-22:] in text for token in genuine)
                    assert KEY not in text
                    assert "session-9" not in text
    assert where == {"identity"}
    for cell in cells:  # what is stored, taken as the key
        assert token_for(hashlib.sha256(cell).digest(), "admin") not in genuine
        assert token_for(cell.ljust(32, b"\0")[:32], "admin") not in genuine


# --- framed or cached page


def test_framed_or_cached_page(make_sqlite: Make) -> None:
    panel = Panel("sona", 2, frame="https://study.example.org")
    campaign = make_sqlite(Design(judges=2, quota=3), words={"panel": panel.to_json()})
    with served(str(campaign.database.path)) as server:
        own = {"Authorization": f"Bearer {server.token(1)}"}
        admin = {"Authorization": f"Bearer {server.admin}"}
        asked: list[tuple[str, str, dict[str, str]]] = [
            *(("GET", f"/{name}", {}) for name in ("judge", "admin", "join/x", "static/judge.js")),
            *(("GET", f"/api/v1/{name}", own) for name in ("me", "tasks?last=5", "health", "x")),
            *(("POST", f"/api/v1/{name}", own) for name in ("tasks", "consent", "join", "me")),
            *(("GET", f"/api/v1/admin/{name}", admin) for name in ("status", "ranking", "judges")),
            ("GET", "/api/v1/admin/items", admin),
            ("GET", "/api/v1/admin/export?form=jsonl", admin),
            ("PATCH", "/api/v1/admin/campaign", admin),
            ("PUT", "/api/v1/tasks/1/judgment", own),
            ("DELETE", "/api/v1/me", own),
        ]
        for method, path, headers in asked:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request(method, path, b"{}" if method != "GET" else None, headers)
            answer = connection.getresponse()
            answer.read()
            policy = answer.getheader("content-security-policy", "")
            assert policy.startswith("default-src 'none'"), path
            assert "frame-ancestors https://study.example.org;" in policy
            assert answer.getheader("x-frame-options") is None
            assert answer.getheader("cache-control") == "no-store"
            assert answer.getheader("x-content-type-options") == "nosniff"
            assert answer.getheader("referrer-policy") == "no-referrer"
            assert answer.getheader("set-cookie") is None
            connection.close()


def test_nobody_frames_a_page_unless_the_campaign_says_who() -> None:
    found = {name.decode(): value.decode() for name, value in answer_headers()}
    assert "frame-ancestors 'none'" in found["content-security-policy"]
    assert found["x-frame-options"] == "DENY"


# --- every error in the judge's language


def test_errors_are_in_the_judges_language(make_sqlite: Make) -> None:
    campaign = make_sqlite(Design(judges=2, quota=3), words={"language": "de"}, examples=LESSONS)
    with served(str(campaign.database.path)) as server:
        token = server.token(1)
        task = claimed(server, token)
        assert task is not None
        path = f"tasks/{task['id']}/judgment"
        sent = {"revision": 1, "answer": {}}
        _, body = server.call("PUT", path, sent, token=token)
        assert body["error"]["message"] == "Das kann so nicht angenommen werden: answer.A."
        assert body["error"]["field"] == "answer.A"
        _, body = server.call("PUT", path, ranked(task), token=token)
        assert body["feedback"]["blocks"][0]["inline"][0][1].startswith("Wir finden Text")
        _, body = server.call("PUT", path, ranked(task) | {"comment": "x"}, token=token)
        assert body["error"]["message"].startswith("Eine andere Antwort")
        assert body["stored"]["answer"] == ranked(task)["answer"]
        heard = raw(server, b"GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAccept-Language: de\r\n\r\n")
        assert "Dieser Link gilt nicht" in heard.decode()


def test_every_code_of_an_error_is_in_the_catalogue() -> None:
    from errata.web.wording import wording

    folder = Path(__file__).parents[2] / "src" / "errata" / "web"
    text = "".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    found = set(re.findall(r'(?:ApiError|_Refused)\(\s*\d+,\s*"(\w+)"', text))
    found |= set(re.findall(r'\d+: "(\w+)"[,}]', text)) | {"full", "active", "closed", "paused"}
    assert {"link", "invalid", "too_large", "not_yours"} <= found
    assert {f"error.{code}" for code in found} <= wording("en").keys()
