"""A small chat server on this machine that misbehaves as it is told to."""

import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from zlib import crc32

import pytest

SECRET = "sk-errata-test-0123456789"


def shown_targets(prompt: str) -> list[str]:
    listed = prompt.partition("# targets\n")[2].partition("\n\n")[0]
    return [json.loads(line.partition(": ")[2]) for line in listed.splitlines()]


def by_length(target: str, place: int) -> int:
    """A judge of no taste: the score is the number of words, from 1 to 5."""
    return min(5, max(1, len(target.split())))


class FakeChat:
    """What the server was asked, and what it does next (``plan``, a deed for each request)."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.listed = 0
        self.shy = 0  # how often it will not name its models
        self.plan: deque[str] = deque()
        self.models = ["fake-1"]
        self.reports: str | None = None
        self.score: Callable[[str, int], int] = by_length
        self.always = ""
        self.moody = False  # scores that follow from source and target, and from nothing else
        self.slow = 1.0
        self.refusal = 400
        self.busy = self.busiest = 0
        self.lock = threading.Lock()

    def prompts(self) -> list[str]:
        """What was asked, as texts: the last message of each request."""
        return [body["messages"][0]["content"] for body in self.asked]

    def scores(self, body: dict[str, Any]) -> dict[str, int]:
        prompt = body["messages"][0]["content"]
        targets = shown_targets(prompt)
        if self.moody:
            source = prompt.partition("# source\n")[2].partition("\n")[0]
            self.score = lambda t, _: 1 + crc32((source + t).encode()) % 5
        return {f"target{i}_score": self.score(t, i) for i, t in enumerate(targets, 1)}

    def written(self, body: dict[str, Any], deed: str) -> str:
        scores = self.scores(body)
        if deed == "prose":
            return "I would rather not say."
        if deed == "fenced":
            return f"Here you are:\n```json\n{json.dumps(scores)}\n```\nGood luck!"
        if deed == "other keys":
            return json.dumps(
                {f"target_score{i}": str(s) for i, s in enumerate(scores.values(), 1)}
            )
        if deed == "one missing":
            return json.dumps(dict(list(scores.items())[1:]))
        if deed == "six":
            return json.dumps(dict.fromkeys(scores, 6))
        return json.dumps(scores)

    def completion(self, body: dict[str, Any], deed: str) -> dict[str, Any]:
        text = self.written(body, deed)
        choice: dict[str, Any] = {"message": {"role": "assistant", "content": text}}
        if body.get("logprobs") and deed != "no logprobs":
            choice["logprobs"] = {"content": list(map(_token, re.findall(r"\d|\D+", text)))}
        return {
            "model": self.reports or body["model"],
            "choices": [choice],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10},
        }


def _token(text: str) -> dict[str, Any]:
    """A token; of a digit the next one is as likely as itself is thrice over."""
    if not text.isdigit():
        return {"token": text, "logprob": 0.0, "top_logprobs": [{"token": text, "logprob": 0.0}]}
    other = str(int(text) + 1)
    return {
        "token": text,
        "logprob": -0.2876820724517809,
        "top_logprobs": [
            {"token": text, "logprob": -0.2876820724517809},
            {"token": other, "logprob": -1.3862943611198906},
            {"token": "x", "logprob": -9.0},
        ],
    }


class _Handler(BaseHTTPRequestHandler):
    fake: FakeChat

    def log_message(self, *_: object) -> None:
        pass

    def answer(self, status: int, data: bytes | str | dict[str, Any], **headers: str) -> None:
        if isinstance(data, dict):
            data = json.dumps(data)
        data = data.encode() if isinstance(data, str) else data
        self.send_response(status)
        headers.setdefault("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.fake.listed += 1
        if self.fake.shy:
            self.fake.shy -= 1
            self.answer(503, "")
            return
        self.answer(200, {"object": "list", "data": [{"id": name} for name in self.fake.models]})

    def do_POST(self) -> None:
        fake = self.fake
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with fake.lock:
            fake.asked.append(body)
            fake.keys.append(self.headers.get("Authorization"))
            deed = fake.plan.popleft() if fake.plan else fake.always
            fake.busy += 1
            fake.busiest = max(fake.busiest, fake.busy)
        try:
            self.do(deed, body)
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            with fake.lock:
                fake.busy -= 1

    def do(self, deed: str, body: dict[str, Any]) -> None:
        fake = self.fake
        if deed in ("429", "500", "503", "400", "401", "404"):
            more = {"Retry_After": "0.05"} if deed == "429" else {}
            said = {"error": {"message": f"sorry {self.headers.get('Authorization')}"}}
            self.answer(int(deed), said, **more)
        elif deed in ("wait a minute", "wait an hour"):
            seconds = "60" if deed == "wait a minute" else "3600"
            self.answer(429, {"error": "busy"}, Retry_After=seconds)
        elif deed == "spent":
            self.answer(429, {"error": {"code": "insufficient_quota", "message": "no money"}})
        elif deed in ("200 that is 429", "200 that is none"):
            code = 429 if deed.endswith("429") else "upstream"
            said = {
                "error": {"message": f"sorry {self.headers.get('Authorization')}", "code": code}
            }
            self.answer(200, said)
        elif deed == "escapes":
            key = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            escaped = "".join(f"\\u{ord(letter):04x}" for letter in key)
            said = fake.completion(body, deed)
            said["choices"][0]["message"]["content"] += " KEY"
            self.answer(200, json.dumps({**said, "model": "KEY"}).replace("KEY", escaped))
        elif deed == "html":
            self.answer(200, "<!doctype html><title>Sign in</title>", Content_Type="text/html")
        elif deed == "elsewhere":
            self.answer(307, "", Location="http://other.example/v1")
        elif deed == "gone":
            self.close_connection = True
            self.connection.close()
        elif deed == "drops":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            for _ in range(100):
                self.wfile.write(b" ")
                time.sleep(fake.slow)
        elif deed == "huge":
            self.answer(200, b" " * 5_000_000)
        elif deed == "no chat":
            self.answer(200, {"hello": "world"})
        elif deed == "refuses schema" and "response_format" in body:
            said = {"error": {"message": "response_format is not supported"}}
            self.answer(self.fake.refusal, said)
        else:
            if deed == "slow":
                time.sleep(fake.slow)
            data = json.dumps(fake.completion(body, deed)).encode()
            if deed == "truncated":
                self.answer(200, data[: len(data) // 2])
            elif deed in ("broken off", "not the last byte"):
                whole = data + b" " if deed == "not the last byte" else data
                there = data if deed == "not the last byte" else data[: len(data) // 2]
                self.answer(200, there, Content_Length=str(len(whole)))
                self.close_connection = True
            else:
                self.answer(200, data)


@contextmanager
def fake_chat() -> Iterator[FakeChat]:
    """A server that runs for as long as it is used."""
    fake = FakeChat()
    handler = type("Handler", (_Handler,), {"fake": fake})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        fake.url = f"http://127.0.0.1:{running.server_port}/v1"
        yield fake
        running.shutdown()


@pytest.fixture(scope="module")
def chat_server() -> Iterator[FakeChat]:
    """A server that OPENAI_BASE_URL names, for the commands of a module."""
    with fake_chat() as fake, pytest.MonkeyPatch.context() as patch:
        fake.moody = True
        patch.setenv("OPENAI_BASE_URL", fake.url)
        yield fake


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeChat]:
    monkeypatch.setattr("errata.models.servers.FIRST_WAIT", 0.001)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with fake_chat() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running
