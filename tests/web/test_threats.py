"""The threats that a campaign must stand: each has a test that bears its name."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
import re
import socket
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from called import KEY, Client
from campaigns import material
from command import errata
from errata.collect.design import FORMS_OUT, Design, Panel, Scale
from errata.collect.items import CampaignTexts, Example
from errata.collect.web import api
from errata.collect.web import server as web_server
from errata.collect.web.app import answer_headers
from errata.collect.web.exports import export_lines
from errata.collect.web.i18n import load_texts
from errata.collect.web.panel import join_panel
from errata.collect.web.schema import assignments, items, judgments, metadata
from errata.io import read_judgments
from errata.io.judgments.sheets import read_ratings
from processes import wait_until
from served import Server
from stored_campaigns import LESSONS, Made, Make, answer_to, join_key_of, made, token_of

NASTY = "<img src=x onerror=alert(1)> </script> &amp; &lt; ]]> \" ' {{ 7 * 7 }} =1+1 \u202e\u2028x"


# --- markup in sentences, names, comments


def nasty_campaign(make: Make, design: Design) -> Made:
    sources = tuple(f"{start}{NASTY} {k} go" for k, start in enumerate(["", "=", "@", "", "-", ""]))
    systems = {f"<b>{name}": tuple(f"{s} {name}" for s in sources) for name in "AB"}
    lesson = Example(NASTY, ("a b", "a a b"), {"worse": 1, "better": 0, "why": NASTY})
    return make(
        design,
        CampaignTexts(sources, systems, tuple("<i>doc" for _ in sources)),
        examples=(lesson,) if design.kind == "rank" else (),
        words={"instructions": NASTY, "consent": NASTY, "panel": Panel("sona", 2).to_json()},
    )


def test_markup_in_sentences_names_and_comments(make_sqlite: Make) -> None:
    made = nasty_campaign(make_sqlite, Design(judges=1, controls=0, repeats=0))
    call = Client(made)
    for path in ("/judge", "/admin", "/join/x"):
        page = call("GET", f"http://x{path}").text
        assert "<img" not in page
        assert page.count("<script") <= 2  # ours
    me = call("GET", "me").json()
    text = json.dumps([me["consent"], me["instructions"]])
    assert "img src" in text
    assert '"link"' not in text
    sent = {"version": me["consent"]["version"], "agreed": True}
    assert call("POST", "consent", sent).status_code == 200
    while task := call.claim():
        answer = call.answer(task, comment=NASTY)
        assert answer.status_code == 201
        assert answer.json()["stored"]["comment"] == NASTY
    call.dashboard.refresh()
    for part in ("status", "ranking", "judges", "items"):
        assert call("GET", f"admin/{part}", who=0).status_code == 200
    details = [json.loads(line) for line in export_lines(made.database, "details")]
    assert len(details) == 7
    assert all(each["revisions"][0]["comment"] == NASTY for each in details)
    assert all(NASTY in each["source"] for each in details)


@pytest.mark.parametrize("kind", ["rank", "score", "edits"])
def test_nasty_texts_through_every_form(make_sqlite: Make, kind: Any, tmp_path: Path) -> None:
    forms = {"score": ("scores", "scores-csv"), "edits": ("edits",)}
    others = {"edits-m2", *forms["score"], *forms["edits"]}
    scales = (Scale("fluency"),) if kind == "score" else ()
    design = Design(kind=kind, judges=1, controls=0, repeats=0, scales=scales)
    made = nasty_campaign(make_sqlite, design)
    for task, body in made.tasks():
        made.submit(1, task, answer_to(body, design, made.store.rng), comment=NASTY)
    for form in forms.get(kind, [form for form in FORMS_OUT if form not in others]):
        lines = list(export_lines(made.database, form))  # type: ignore[arg-type]
        assert lines, form
        path = tmp_path / f"out.{form}"
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        if form in ("jsonl", "details", "scores", "edits"):
            assert not [line for line in lines if "\n" in line]
            [json.loads(line) for line in lines]
        elif form in ("scores-csv", "people", "pairwise"):
            rows = list(csv.reader("\n".join(lines).splitlines(keepends=True)))
            assert len({len(row) for row in rows}) == 1
        else:
            ElementTree.fromstring("\n".join(lines))
        if form in ("jsonl", "appraise", "pairwise"):
            names = {name for j in read_judgments(path) for group in j.groups for name in group}
            assert names == {"<b>A", "<b>B"}


def test_spreadsheet_formulas_in_csv(make_sqlite: Make, tmp_path: Path) -> None:
    design = Design(kind="score", judges=1, controls=0, repeats=0, scales=(Scale("fluency"),))
    made = nasty_campaign(make_sqlite, design)
    for task, _ in made.tasks():
        made.submit(1, task, {"fluency": 3})
    path = tmp_path / "x.csv"
    line = ("collect", "export", made.database.path, "--form", "scores-csv", "--force", "-o", path)
    for option, formulas in ((("--safe-cells",), False), ((), True)):
        errata(*line, *option)
        rows = list(csv.reader(path.read_text("utf-8").splitlines()))
        assert any(cell[:1] in "=@-" for row in rows for cell in row if cell) is formulas
    assert {row.source for row in read_ratings(path).rows} == set(made.texts.sources)


ENTITIES = """<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">
<!ENTITY x SYSTEM "file:///etc/passwd">]><appraise-results><ranking-item>&b;&x;</ranking-item>
</appraise-results>"""


def test_entities_in_xml_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text(ENTITIES, encoding="utf-8")
    done = errata("rank", "x.xml", cwd=tmp_path, code=None)
    assert done.returncode == 2
    assert "root:" not in done.stdout + done.stderr


# --- unblinding


def test_unblinding(make_sqlite: Make) -> None:
    """Tasks of all purposes have the same fields, and similar sizes."""
    lessons = tuple(
        Example(f"word{k} " * 8 + "go .", (f"word{k} " * 8 + "goes .", f"word{k} " * 8 + "gone ."),
                {"worse": 1, "better": 0, "why": "because"}) for k in range(3)
    )  # fmt: skip
    design = Design(judges=1, quota=70, controls=0.15, repeats=0.1, outputs=2)
    campaign = make_sqlite(design, material(120, 4, sharing=0), examples=lessons)
    purposes = select(items.c.purpose).join(assignments, assignments.c.item == items.c.id)
    shapes: dict[str, set[str]] = defaultdict(set)
    sizes: dict[str, list[int]] = defaultdict(list)
    answers: dict[str, set[str]] = defaultdict(set)
    call = Client(campaign)
    while task := call.claim():
        (purpose,) = campaign.scalars(purposes.where(assignments.c.id == int(task["id"])))
        shapes[purpose].add(json.dumps([list(task), [list(o) for o in task["outputs"]]]))
        sizes[purpose].append(len(json.dumps({**task, "id": "0"})))
        text = json.dumps(task)
        for word in ("because", "worse", "expected", "system", "S0", "S1", "control", "own"):
            assert f'"{word}' not in text
        answer = call.answer(task)
        assert answer.status_code == 201
        answers[purpose].add(json.dumps(sorted(answer.json())))
    assert set(shapes) == {"main", "repeat", "control", "tutorial"}
    assert len({shape for found in shapes.values() for shape in found}) == 1
    assert answers["control"] == answers["repeat"] == answers["main"]
    low, high = min(sizes["main"]), max(sizes["main"])
    for purpose in ("repeat", "control"):
        assert all(0.8 * low <= size <= 1.2 * high for size in sizes[purpose]), purpose


def test_writer_of_a_text_reaches_no_browser(make_sqlite: Make) -> None:
    """Neither of judges nor of the organiser; and it is in no export but that of texts."""
    texts = material(6, 2, sharing=0)
    wrote = {
        (k, text): ("Wilhelmina", "j1") for t in texts.systems.values() for k, text in enumerate(t)
    }
    design = Design(kind="review", judges=1, overlap=0, repeats=0)
    campaign = make_sqlite(design, texts._replace(writers=wrote))
    call, sent = Client(campaign), []
    while task := call.claim():
        sent += [str(task), call.answer(task, {"accept": True}).text]
    sent += [call("GET", path).text for path in ("me", "tasks?last=5")]
    call.dashboard.refresh()
    for part in ("status", "ranking", "judges", "items"):
        sent.append(call("GET", f"admin/{part}", who=0).text)
    assert len(sent) > 24
    sent += [
        *export_lines(campaign.database, "details"),
        *export_lines(campaign.database, "people"),
    ]
    assert "Wilhelmina" not in repr(sent)
    assert "S0" in repr(sent)  # which the organiser may know


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
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Made, Client]]:
    place = str(tmp_path_factory.mktemp("forged") / "campaign.db")
    campaign = made(place, Design(repeats=0, controls=0), material(300, 4, sharing=0))
    yield campaign, Client(campaign)
    campaign.database.close()


def kept(campaign: Made) -> list[Any]:
    return campaign.rows(select(judgments).order_by(judgments.c.id))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6))
def test_forged_answers_or_times(standing: tuple[Made, Client], body: dict[str, Any]) -> None:
    """Whatever is sent: stored whole and within limits, or refused; never an error of ours."""
    campaign, call = standing
    task = call.task()
    before = kept(campaign)
    answer = call("PUT", f"tasks/{task['id']}/judgment", body)
    after, status = kept(campaign), answer.status_code
    assert status in (200, 201, 409, 422, 400)
    if status != 201:
        assert after == before
        assert status == 200 or {"code", "message", "remedy", "field"} == set(
            answer.json()["error"]
        )
        return
    (new,) = after[len(before) :]
    keys = {o["key"] for o in task["outputs"]}
    assert (new.answer is None) == (new.skip is not None)
    if new.answer is not None:
        ranks = new.answer
        assert set(ranks) == keys
        assert all(type(r) is int and 1 <= r <= len(keys) for r in ranks.values())
    assert len(new.comment) <= 2000
    assert new.client_time is None or new.client_time.isprintable()
    for value in (new.active_ms, new.total_ms):
        assert value is None or 0 <= value <= 60 * 60 * 1000


# --- huge, slow, broken requests


def raw(server: Server, text: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        heard = b""
        with contextlib.suppress(OSError):
            client.sendall(text)
        with contextlib.suppress(OSError):
            while part := client.recv(65536):
                heard += part
                if b"\r\n\r\n" in heard and (b'"error"' in heard or b"Invalid" in heard):
                    break
        return heard


def head(server: Server, *lines: str) -> bytes:
    own = f"Authorization: Bearer {server.token(1)}"
    return "\r\n".join(["POST /api/v1/tasks HTTP/1.1", "Host: x", own, *lines, "", ""]).encode()


def test_huge_requests(server: Server) -> None:
    assert b" 413 " in raw(server, head(server, "Content-Length: 99999999"))
    chunk = b"ffff\r\n" + b"x" * 65535 + b"\r\n"
    chunked = head(server, "Transfer-Encoding: chunked") + 2 * chunk
    assert b" 413 " in raw(server, chunked + b"0\r\n\r\n")
    assert b" 400 " in raw(server, b"NONSENSE\r\n\r\n")
    assert b" 400 " in raw(server, head(server, "Content-Length: 5", "Content-Length: 6") + b"{}")
    assert b" 200 " not in raw(server, head(server, "X: " + "y" * 200_000))
    assert b" 200 " not in raw(server, head(server, *(f"X-{k}: {k}" for k in range(5000))))
    assert server.call("GET", "health")[0] == 200  # and it goes on


def test_broken_requests(campaign: Made) -> None:
    call = Client(campaign)
    deep = json.dumps({"a": [[[[[[[[[1]]]]]]]]]})
    for broken in (
        *("{", "[" * 20, "{" * 9 + "}" * 9, '{"a": 1e999}', '{"ahead": NaN}', '"x"', "[1]"),
        *('{"ahead": 1}}', "\x00", '{"a":1,"a":2}', deep, b"\xff\xfe"),
    ):
        body = broken if isinstance(broken, bytes) else broken.encode()
        assert call("POST", "tasks", body).status_code == 400, broken
    assert call("POST", "tasks", b" " * 70_000).status_code == 413
    assert call("GET", "nothing").status_code == 404
    assert call("POST", "me", b"{}").status_code == 405
    for path in ("../app.py", "%2e%2e/app.py", "/etc/passwd", ""):
        assert call("GET", f"http://x/static/{path}").status_code == 404


def test_slow_bodies_end(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "SLOWEST", 0.05)
    heard = raw(server, head(server, "Content-Length: 10", "Accept-Language: de") + b"{")
    assert b" 408 " in heard
    assert "zu langsam" in heard.decode()
    assert server.call("GET", "me", token=server.token(1))[0] == 200


# --- database file stolen

PERSONAL = "5f3a-participant"


def test_database_file_stolen(make_sqlite: Make) -> None:
    """No token follows from the file, and ids of participants are in one table alone."""
    panel = Panel("prolific", 2, code="C0DE")
    campaign = make_sqlite(Design(judges=2, quota=2), words={"panel": panel.to_json()})
    joined = join_panel(campaign.store, {"PROLIFIC_PID": PERSONAL, "SESSION_ID": "session-9"})
    assert campaign.database.path is not None
    database = campaign.database
    genuine = [token_of(database, KEY, k) for k in (0, 1, 2, joined.id)]
    genuine.append(join_key_of(database, KEY))
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
                    assert KEY.hex() not in text
                    assert "session-9" not in text
    assert where == {"identity"}
    for cell in cells:  # what is stored, taken as the key
        for key in (hashlib.sha256(cell).digest(), cell.ljust(32, b"\0")[:32]):
            assert token_of(database, key, 0) not in genuine


# --- framed or cached page


def test_framed_or_cached_page(make_sqlite: Make) -> None:
    panel = Panel("sona", 2, frame="https://study.example.org")
    call = Client(make_sqlite(Design(judges=2, quota=3), words={"panel": panel.to_json()}))
    asked = [
        *(("GET", f"http://x/{name}") for name in ("judge", "admin", "join/x", "static/judge.js")),
        *(("GET", name) for name in ("me", "tasks?last=5", "health", "x", "http://x/none")),
        *(("POST", name) for name in ("tasks", "consent", "join", "me")),
        *(("GET", f"admin/{name}") for name in ("status", "ranking", "judges", "items")),
        ("GET", "admin/export?form=jsonl"),
        ("PATCH", "admin/campaign"),
        ("PUT", "tasks/1/judgment"),
        ("DELETE", "me"),
    ]
    for method, path in asked:
        body = None if method == "GET" else {}
        found = call(method, path, body, who="admin" not in path).headers
        policy = found["content-security-policy"]
        assert policy.startswith("default-src 'none'"), path
        assert "frame-ancestors https://study.example.org;" in policy
        assert "trusted-types 'none'" in policy
        assert found["cache-control"] == "no-store"
        assert found["x-content-type-options"] == "nosniff"
        assert found["referrer-policy"] == "no-referrer"
        assert not {"x-frame-options", "set-cookie", "server"} & set(found)


def test_no_page_is_framed_unless_the_campaign_names_the_origin() -> None:
    found = answer_headers()
    assert "frame-ancestors 'none'" in found["content-security-policy"]
    assert found["x-frame-options"] == "DENY"


# --- every error in the judge's language


def test_errors_are_in_the_judges_language(make_sqlite: Make) -> None:
    design = Design(judges=2, quota=3)
    call = Client(make_sqlite(design, words={"language": "de"}, examples=LESSONS))
    task = call.task()
    error = call.answer(task, {}).json()["error"]
    assert error["message"] == "Das kann so nicht angenommen werden: answer.A."
    assert error["field"] == "answer.A"
    body = call.answer(task).json()
    assert body["feedback"]["blocks"][0]["inline"][0][1].startswith("Wir finden Text")
    found = call.answer(task, comment="x")
    assert (found.status_code, found.json()["stored"]["comment"]) == (409, "")
    assert found.json()["error"]["message"].startswith("Eine andere Antwort")
    assert "Dieser Link gilt nicht" in call("GET", "me", token="", accept_language="de").text


def test_every_code_of_an_error_is_in_the_catalogue() -> None:
    folder = Path(__file__).parents[2] / "src" / "errata" / "collect" / "web"
    text = "".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    found = set(re.findall(r'ApiError\(\s*\d+,\s*"(\w+)"', text))
    found |= set(re.findall(r'\d+: "(\w+)"[,}]', text)) | {"full", "active", "closed", "paused"}
    assert {"link", "invalid", "too_large", "not_yours"} <= found
    assert {f"error.{code}" for code in found} <= load_texts("en").keys()


# --- slow headers, and more connections than there are descriptors


HALF, WHOLE = b"GET / HTTP/1.1\r\nX-a: ", b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n"


def opened(server: Server, many: int, text: bytes) -> list[socket.socket]:
    sockets = [socket.create_connection(("127.0.0.1", server.port), 60) for _ in range(many)]
    for each in sockets:
        with contextlib.suppress(OSError):
            each.sendall(text)
    return sockets


def closed_by_server(sockets: list[socket.socket]) -> int:
    many = 0
    for each in sockets:
        each.settimeout(0)
        with contextlib.suppress(BlockingIOError):
            try:
                while each.recv(65536):
                    pass
                many += 1
            except ConnectionError:
                many += 1
    return many


def test_slow_headers_end(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a first request, and of a later one on the same connection."""
    monkeypatch.setattr(web_server, "HEAD_SECONDS", 0.2)
    slow = opened(server, 3, HALF) + opened(server, 3, WHOLE + HALF)
    resting = opened(server, 1, WHOLE)
    wait_until(lambda: closed_by_server(slow) == 6)
    assert closed_by_server(resting) == 0
    for each in slow + resting:
        each.close()


@pytest.mark.parametrize("text", [HALF, WHOLE])
def test_idle_connections_end(server: Server, monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    monkeypatch.setattr(web_server, "MOST_CONNECTIONS", 8)
    busy = opened(server, 1, b"GET /api/v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n")
    assert server.call("GET", "health")[0] == 200  # so that it has seen the other request
    several = opened(server, 30, text)
    for each in several if text == WHOLE else ():
        with contextlib.suppress(ConnectionError):
            each.recv(1)  # until it is answered, or ended
    for _ in range(3):
        assert server.call("GET", "me", token=server.token(1))[0] == 200
    wait_until(lambda: closed_by_server(several) >= 22)
    assert closed_by_server(busy) == 0
    for each in several + busy:
        each.close()


# --- a database file that is moved, deleted or replaced


@pytest.mark.parametrize("instead", [True, False])
def test_nothing_is_stored_in_a_file_that_is_gone(make_sqlite: Make, instead: bool) -> None:
    campaign = make_sqlite(Design(repeats=0, controls=0))
    call, path = Client(campaign), campaign.database.path
    assert path is not None
    task = call.task()

    def health() -> int:
        call.served.health = (0.0, False)
        return call("GET", "health").status_code

    assert health() == 200
    path.rename(path.with_name("moved.db"))
    if instead:
        path.write_bytes(b"another file")
    answer = call.answer(task)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    assert health() == 503
    path.with_name("moved.db").replace(path)
    assert (health(), call.answer(task).status_code) == (200, 201)
