"""A chat server that is slow, busy, broken or not there, and a key that nobody gets to see."""

import socket
import traceback
from collections.abc import Iterator
from urllib.request import HTTPErrorProcessor, Request

import pytest

from errata.core.errors import InputError
from errata.models import servers
from errata.models.servers import ChatServer, ServerRefusal, opener_for
from fake_chat import SECRET, FakeChat, fake_chat

ASKED = {
    "model": "fake-1",
    "messages": [{"role": "user", "content": '# targets\n1: "a b"\n2: "a b c"\n\n'}],
}
SAID = '{"target1_score": 2, "target2_score": 3}'


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeChat]:
    monkeypatch.setattr(servers, "FIRST_WAIT", 0.001)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with fake_chat() as running:
        yield running


def test_an_answer_with_what_it_cost(fake: FakeChat, monkeypatch: pytest.MonkeyPatch) -> None:
    reply = ChatServer(fake.url).ask(ASKED)
    assert reply == (SAID, "fake-1", 100, 10, ())
    assert fake.keys == [f"Bearer {SECRET}"]
    tokens = ChatServer(fake.url).ask({**ASKED, "logprobs": True}).tokens
    assert "".join(token.text for token in tokens) == SAID
    assert [token.likely[1][0] for token in tokens if token.text.isdigit()] == ["2", "3", "3", "4"]
    # The address may come from the environment, and no key is sent where there is none.
    monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/")
    monkeypatch.delenv("OPENAI_API_KEY")
    assert ChatServer().models() == ("fake-1",)
    ChatServer().ask(ASKED)
    assert fake.keys[-1] is None
    fake.shy = 2
    assert ChatServer().models() == ("fake-1",)


@pytest.mark.parametrize(
    "deed",
    ["429", "500", "503", "200 that is 429", "truncated", "broken off", "not the last byte"]
    + ["gone", "slow", "huge"],
)
def test_what_may_be_over_soon_is_tried_again(fake: FakeChat, deed: str) -> None:
    fake.plan.extend([deed, deed])
    fake.slow = 0.8
    assert ChatServer(fake.url, timeout=0.4 if deed == "slow" else 10).ask(ASKED).text == SAID
    assert len(fake.asked) == 3


def test_a_server_is_waited_for_as_long_as_it_says(
    fake: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    server = ChatServer(fake.url)
    monkeypatch.setattr(server.stopped, "wait", lambda seconds: waited.append(seconds))
    fake.plan.extend(["429", "500", "500"])
    server.ask(ASKED)
    assert waited[0] >= 0.05  # Retry-After; then longer each time, by chance more or less
    assert 0.001 <= waited[1] <= 0.003
    assert 0.002 <= waited[2] <= 0.006
    assert len({servers._jitter() for _ in range(5)}) > 1
    server.stopped.set()


@pytest.mark.parametrize(
    ("deed", "problem"),
    [
        ("401", "refuses the key in OPENAI_API_KEY (401); set OPENAI_API_KEY to one that it knows"),
        ("html", "is a web page, and no chat server; check the address, which often ends in /v1"),
        ("elsewhere", "answers 307: it is elsewhere; give its own address: no redirect is"),
        ("wait an hour", "asks to wait 3600 s"),
        ("spent", "answers 429: no money"),
        ("no chat", "is no chat model; start one"),
        ("404", "answers 404: sorry Bearer [key]; check url, which often ends in /v1, and model"),
        ("400", "answers 400: sorry Bearer [key]"),
        ("200 that is none", "answers 200: sorry Bearer [key]"),
    ],
)
def test_what_will_not_pass_is_said_in_one_line(fake: FakeChat, deed: str, problem: str) -> None:
    fake.always = deed
    with pytest.raises(InputError) as caught:
        ChatServer(fake.url).ask(ASKED)
    said = "".join(traceback.format_exception(caught.value))
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
    assert SECRET not in said
    assert SECRET not in repr(caught.value.__dict__)
    assert len(fake.asked) == 1
    assert isinstance(caught.value, ServerRefusal) == (
        deed in ("400", "404", "spent", "200 that is none")
    )


def test_a_key_that_comes_back_in_disguise_is_known(fake: FakeChat) -> None:
    """JSON may write any letter as an escape, and some servers do so with a slash."""
    fake.always = "escapes"
    reply = ChatServer(fake.url).ask(ASKED)
    assert (reply.text, reply.model) == (f"{SAID} [key]", "[key]")


@pytest.mark.parametrize(
    ("reported", "named"),
    [
        ("/home/ann/tiny.gguf", "tiny.gguf"),
        ("C:\\models\\tiny.gguf", "tiny.gguf"),
        ("org/model:7b", "org/model:7b"),
        ("m | schema:no\n\x1b[31m\u202e", "m_schema:no_[31m_"),
        ("m" * 5000, "m" * 200),
    ],
)
def test_what_a_server_calls_its_model_is_one_word(reported: str, named: str) -> None:
    assert servers.model_name(reported) == named


def test_no_attempt_is_left(fake: FakeChat) -> None:
    fake.always = "500"
    with pytest.raises(InputError, match=r"500: sorry Bearer \[key\], 3 times\); run it again"):
        ChatServer(fake.url, attempts=3).ask(ASKED)
    assert len(fake.asked) == 3


def test_nobody_is_there() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    with pytest.raises(InputError, match=rf"no chat server at 127.0.0.1:{port}: .*refused; start"):
        ChatServer(f"http://127.0.0.1:{port}/v1").models()


def test_a_server_that_is_not_there_is_not_waited_for_before_the_first_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Afterwards it is: it may be started again."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server = ChatServer("http://127.0.0.1:9/v1")
    waited: list[float] = []
    monkeypatch.setattr(server.stopped, "wait", lambda seconds: waited.append(seconds))
    with pytest.raises(InputError, match="no chat server"):
        server.models()
    assert waited == []
    with pytest.raises(InputError, match="no chat server"):
        server.ask(ASKED)
    assert len(waited) == 4


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_redirect_is_followed_over_either_protocol(scheme: str) -> None:
    """It would take the key along."""

    class Elsewhere:
        status = code = 302
        msg = "elsewhere"

    answer = Elsewhere()
    (handler,) = (
        each for each in opener_for(False).handlers if isinstance(each, HTTPErrorProcessor)
    )
    asked = Request(f"{scheme}://api.example/v1")
    assert getattr(handler, f"{scheme}_response")(asked, answer) is answer


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", "no address of a chat server is given; start one"),
        ("localhost:8080", "what url holds is no address of a chat server; start one"),
        (SECRET, "what url holds is no address of a chat server; start one"),
        ("ftp://localhost/v1", "no address of a chat server"),
        ("http://[::1/v1", "no address of a chat server"),
        (f"https://user:{SECRET}@api.example/v1", "holds a user name or password; leave them out"),
        (f"https://api.example/v1?key={SECRET}", "has a query"),
        ("http://api.example/v1", "would go to api.example over plain HTTP"),
    ],
)
def test_addresses_that_are_refused(
    url: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InputError) as caught:
        ChatServer(url).ask(ASKED)
    assert problem in str(caught.value)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_key_in_place_of_the_address_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", SECRET)
    with pytest.raises(InputError, match="what OPENAI_BASE_URL holds is no address") as caught:
        ChatServer().models()
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("listed", [5, "fake-1", {"id": "fake-1"}, None, [5, {"id": 5}]])
def test_a_list_of_models_that_is_none(
    fake: FakeChat, monkeypatch: pytest.MonkeyPatch, listed: object
) -> None:
    monkeypatch.setattr(ChatServer, "_call", lambda *_: {"data": listed})
    assert ChatServer(fake.url).models() == ()


def test_every_attempt_is_announced(fake: FakeChat) -> None:
    fake.plan.extend(["500", "429"])
    made: list[int] = []
    ChatServer(fake.url).ask(ASKED, lambda: made.append(len(fake.asked)))
    assert made == [0, 1, 2]


def test_where_a_key_may_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    for url in (
        "https://api.example/v1",
        "HTTPS://api.example/v1",
        "http://localhost:1/v1",
        "http://[::1]:1/v1",
    ):
        assert ChatServer(url)._request("models", None).get_header("Authorization")
    plain = "http://192.168.0.7:8000/v1"
    assert ChatServer(plain, insecure=True)._request("models", None).get_header("Authorization")
    assert SECRET not in repr(ChatServer(plain)) + repr(vars(ChatServer(plain)))
    monkeypatch.delenv("OPENAI_API_KEY")
    assert not ChatServer(plain)._request("models", None).get_header("Authorization")


@pytest.mark.parametrize("key", ["sk-a\nX-Injected: 1", "sk-schlüssel", "two words"])
def test_what_is_no_key_is_not_shown(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(InputError, match="OPENAI_API_KEY") as no:
        ChatServer("http://localhost:1/v1").ask(ASKED)
    assert key not in "".join(traceback.format_exception(no.value))


def test_what_runs_on_this_machine_is_reached_past_the_proxy(
    fake: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy elsewhere has no such server, and would see the key."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ChatServer(fake.url, attempts=1).ask(ASKED).text == SAID
    monkeypatch.setattr(ChatServer, "_is_here", False)
    with pytest.raises(InputError, match="no chat server"):
        ChatServer(fake.url, attempts=1, insecure=True).ask(ASKED)


def test_an_answer_that_comes_drop_by_drop_is_not_waited_for(fake: FakeChat) -> None:
    """Every byte comes in time, and the whole does not."""
    fake.always, fake.slow = "drops", 0.05
    with pytest.raises(InputError, match=r"it took more than 0.2 s"):
        ChatServer(fake.url, timeout=0.2, attempts=1).ask(ASKED)
