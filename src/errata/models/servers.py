"""Bounded HTTP requests; chat models behind OpenAI-compatible servers."""

from __future__ import annotations

import json
import os
import random
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cached_property
from http.client import HTTPException
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPErrorProcessor, OpenerDirector, ProxyHandler, Request, build_opener

from errata import __version__
from errata.core.errors import CONTROLS, InputError

LONGEST_ANSWER = 4_000_000  # bytes; real answers have a few hundred to some thousand
LONGEST_NAME = 200  # characters
AGAIN = "run it again: what was answered is kept"
_ODD = re.compile(rf"[\s|{CONTROLS}]+")


class Received(NamedTuple):
    """All of an answer: its status, kind, Retry-After and bytes."""

    status: int
    kind: str
    retry_after: str
    data: bytes


class Trouble(NamedTuple):
    """What may be over in a moment, and how long the server asks to wait."""

    problem: str
    wait: float = 0.0
    absent: bool = False


class _AsItIs(HTTPErrorProcessor):
    """Every answer is one, whatever its status; so no redirect is followed either."""

    def http_response(self, request: Request, response: Any) -> Any:
        return response

    https_response = http_response


def checked_address(given: str, where: str, what: str, *, start: str, secrets: str) -> str:
    """An address that can be shown to anybody: one that holds a secret is refused unseen.

    ``where`` it stands, ``what`` answers there, how one ``start``s such a server, and where
    ``secrets`` belong are for messages.

    >>> checked_address("http://localhost:8080/v1/", "url", "chat server", start="", secrets="")
    'http://localhost:8080/v1'
    """
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if "@" in parts.netloc:
        raise InputError(
            f"the address of the {what} holds a user name or password",
            remedy=f"leave them out{secrets}",
        )
    if parts.query or parts.fragment:
        raise InputError(
            f"the address of the {what} has a query (?...), which may hold a secret",
            remedy=f"give the address without it{secrets}",
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        # Not shown: who mixes two settings up has put a key here.
        raise InputError(f"what {where} holds is no address of a {what}", remedy=start)
    return given.rstrip("/")


def address_for_signature(name: str) -> str:
    """What a server says of itself, which must not pose as another part of a signature.

    >>> address_for_signature("m | schema:yes\\n")
    'm_schema:yes'
    """
    return _ODD.sub("_", name.strip())[:LONGEST_NAME]


def is_local(address: str) -> bool:
    """Whether a server runs on this machine.

    >>> is_local("http://127.0.0.2:80"), is_local("http://localhost"), is_local("http://a.example")
    (True, True, False)
    """
    name = urlsplit(address).hostname or ""
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def opener_for(here: bool) -> OpenerDirector:
    """What sends requests: through the proxy of the environment, but to this machine directly."""
    return build_opener(_AsItIs, ProxyHandler({} if here else None))


def exchange(opener: OpenerDirector, request: Request, timeout: float) -> Received | Trouble:
    """Send a request and receive all of the answer, in time and of bounded size."""
    until = time.monotonic() + timeout
    try:
        with opener.open(request, timeout=timeout) as answer:
            data = bytearray()
            while part := answer.read1(65536):
                data += part
                if len(data) > LONGEST_ANSWER:
                    return Trouble(f"its answer has more than {LONGEST_ANSWER:,} bytes")
                if time.monotonic() > until:
                    raise TimeoutError
            whole = answer.headers.get("Content-Length")
            if whole is not None and whole.isdigit() and len(data) < int(whole):
                return Trouble("its answer is cut off")
            kind = (answer.headers.get("Content-Type") or "").lower()
            retry_after = answer.headers.get("Retry-After") or ""
            return Received(answer.status, kind, retry_after, bytes(data))
    except (URLError, HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, TimeoutError):
            return Trouble(f"it took more than {timeout:g} s")
        said = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        absent = isinstance(error, URLError)  # before anything was received
        return Trouble(str(said), absent=absent)


# ---- A chat model behind an OpenAI-compatible server (vLLM, llama.cpp, ollama, OpenAI), over
# HTTP.

ADDRESS, KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"
START = (
    f"start one (llama-server, vllm serve, ollama serve), and set {ADDRESS} or url= to its "
    "address, as http://localhost:8080/v1"
)
LONGEST_WAIT = 120  # seconds before a request is tried again
FIRST_WAIT = 0.5  # doubled each time, more or less by half so that many do not return together
LATER = {408, 425, 429, 500, 502, 503, 504, 529}  # statuses after which the same may succeed
SHORTEST_SECRET = 8  # of fewer characters a key is a word like "none", and no secret


class ServerRefusal(InputError):
    """A request that the server refuses unless it is changed; ``status`` is the HTTP status.

    ``question`` is for those who asked: which of their questions it was.
    """

    question: object = None

    def __init__(self, status: int, problem: str, remedy: str | None = None) -> None:
        self.status = status
        super().__init__(problem, remedy=remedy)


class Choice(NamedTuple):
    """A token of an answer, and the log-probabilities of what might have stood there."""

    text: str
    likely: tuple[tuple[str, float], ...]


class Reply(NamedTuple):
    """An answer: its text, who gave it, what it cost, and its tokens where they were asked for."""

    text: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    tokens: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class ChatServer:
    """Where chat models answer; '' is the address in OPENAI_BASE_URL.

    ``timeout`` is how many seconds an answer may take, ``attempts`` how often a request is made
    whose answer fails to come (429, 500, a timeout, an answer cut off). ``insecure`` lets the key
    go over plain HTTP to another machine. Setting ``stopped`` ends all waiting.

    >>> ChatServer("http://localhost:8080/v1/").base
    'http://localhost:8080/v1'
    """

    url: str = ""
    timeout: float = 120.0
    attempts: int = 5
    insecure: bool = False
    stopped: threading.Event = field(default_factory=threading.Event, repr=False, compare=False)

    @cached_property
    def base(self) -> str:
        """The address, which holds no secret."""
        given = self.url or os.environ.get(ADDRESS, "")
        if not given:
            raise InputError("no address of a chat server is given", remedy=START)
        return checked_address(
            given,
            "url" if self.url else ADDRESS,
            "chat server",
            start=START,
            secrets=f", and put the key into {KEY}",
        )

    @property
    def host(self) -> str:
        """The machine, as messages name it."""
        return urlsplit(self.base).netloc

    def models(self) -> tuple[str, ...]:
        """The models the server has, by the names it gives them; none where it does not say."""
        try:
            said = self._call("models", None)
        except ServerRefusal:
            return ()
        listed = said.get("data")
        several = listed if isinstance(listed, list) else []
        each = [one.get("id") for one in several if isinstance(one, dict)]
        return tuple(name for name in each if isinstance(name, str) and name)

    def ask(self, body: Mapping[str, Any], before: Callable[[], None] | None = None) -> Reply:
        """The answer to a chat request (``POST /chat/completions``).

        ``before`` is called ahead of every attempt, and may refuse it.
        """
        said = self._call("chat/completions", body, before)
        try:
            first = said["choices"][0]
            text = first["message"].get("content") or ""
            tokens = _answer_tokens(first.get("logprobs"))
        except (KeyError, IndexError, TypeError, AttributeError, ValueError):
            text, tokens = None, ()
        if not isinstance(text, str):
            raise InputError(f"what answers at {self.host} is no chat model", remedy=START)
        usage = said.get("usage")
        spent = usage if isinstance(usage, dict) else {}
        return Reply(
            text,
            str(said.get("model") or body.get("model") or ""),
            _count_or_zero(spent.get("prompt_tokens")),
            _count_or_zero(spent.get("completion_tokens")),
            tokens,
        )

    def _call(
        self, path: str, body: Mapping[str, Any] | None, before: Callable[[], None] | None = None
    ) -> dict[str, Any]:
        """What the server says, as JSON; tried again where that may help.

        Who asks for the models has had no answer yet: a missing server is reported at once.
        """
        trouble, attempts = Trouble("it was not asked"), self.attempts
        for attempt in range(attempts):
            if before is not None:
                before()
            outcome = self._try_once(path, body)
            if isinstance(outcome, dict):
                return outcome
            trouble = outcome
            wait = max(outcome.wait, min(LONGEST_WAIT, FIRST_WAIT * 2**attempt) * _jitter())
            if outcome.wait > LONGEST_WAIT:
                raise InputError(
                    f"the server at {self.host} asks to wait {outcome.wait:.0f} s "
                    f"({outcome.problem})",
                    remedy=f"then {AGAIN}",
                )
            if trouble.absent and body is None:
                break
            if attempt + 1 < attempts and self.stopped.wait(wait):
                break
        if trouble.absent:
            raise InputError(f"no chat server at {self.host}: {trouble.problem}", remedy=START)
        raise InputError(
            f"no answer from the server at {self.host} ({trouble.problem}"
            + (f", {attempts} times)" if attempts > 1 else ")"),
            remedy=AGAIN,
        )

    def _try_once(self, path: str, body: Mapping[str, Any] | None) -> dict[str, Any] | Trouble:
        """One attempt: what the server says, or what stood in the way and may be over soon."""
        # The exception of the library, whose frames hold the headers, has gone when ours is raised.
        outcome = exchange(self._opener, self._request(path, body), self.timeout)
        if isinstance(outcome, Trouble):
            return outcome._replace(problem=_without_key(outcome.problem))
        status, failed = _http_status(outcome)
        if status in LATER and not _is_spent(outcome.data):
            said = _error_message(outcome.data)
            wait = _retry_seconds(outcome.retry_after)
            return Trouble(f"it answers {status}" + (f": {said}" if said else ""), wait)
        if 300 <= status < 400:
            raise InputError(
                f"the server at {self.host} answers {status}: it is elsewhere",
                remedy="give its own address: no redirect is followed, so that no key goes astray",
            )
        if status in (401, 403):
            wrong = f"refuses the key in {KEY}" if _api_key() else "wants a key"
            raise InputError(
                f"the server at {self.host} {wrong} ({status})",
                remedy=f"set {KEY} to one that it knows",
            )
        if failed:
            said = _error_message(outcome.data)
            raise ServerRefusal(
                status,
                f"the server at {self.host} answers {status}" + (f": {said}" if said else ""),
                "check url, which often ends in /v1, and model" if status == 404 else None,
            )
        if outcome.data.lstrip()[:1] == b"<" or "html" in outcome.kind:
            raise InputError(
                f"at {self.host} is a web page, and no chat server",
                remedy="check the address, which often ends in /v1",
            )
        try:
            said = _without_key_in(json.loads(outcome.data))
        except (ValueError, RecursionError):
            return Trouble("its answer is cut off, or no JSON")
        if not isinstance(said, dict):
            raise InputError(f"what answers at {self.host} is no chat server", remedy=START)
        return said

    def _request(self, path: str, body: Mapping[str, Any] | None) -> Request:
        headers = {"User-Agent": f"errata/{__version__}", "Accept": "application/json"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if _api_key():
            if not (urlsplit(self.base).scheme == "https" or self._is_here or self.insecure):
                raise InputError(
                    f"the key in {KEY} would go to {self.host} over plain HTTP, for all to read",
                    remedy=f"use https://, unset {KEY} if it needs none, or say insecure=True",
                )
            headers["Authorization"] = f"Bearer {_api_key()}"
        return Request(f"{self.base}/{path}", data, headers)

    @cached_property
    def _opener(self) -> OpenerDirector:
        return opener_for(self._is_here)

    @cached_property
    def _is_here(self) -> bool:
        return is_local(self.base)


def model_name(reported: str) -> str:
    """A model as signatures name it: llama.cpp reports the path of its file.

    >>> model_name("/home/ann/models/tiny.gguf"), model_name("org/model")
    ('tiny.gguf', 'org/model')
    """
    path = reported.replace("\\", "/")
    absolute = path.startswith(("/", "~", "./", "../")) or path[1:3] == ":/"
    name = path.rstrip("/").rpartition("/")[2] if absolute else reported
    return address_for_signature(name)


def _api_key() -> str:
    """Return the key, if any; refuse one that a header cannot carry, without showing it."""
    key = os.environ.get(KEY, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InputError(f"{KEY} does not hold a valid key", remedy="set it again, or unset it")
    return key


def _without_key(text: str) -> str:
    """A text of the server, which may repeat what it was sent."""
    key = _api_key()
    return text.replace(key, "[key]") if len(key) >= SHORTEST_SECRET else text


def _without_key_in(said: Any) -> Any:
    """The same of all texts in what was read: before that, escapes (``\\/``) would hide the key."""
    if isinstance(said, str):
        return _without_key(said)
    if isinstance(said, list):
        return [_without_key_in(each) for each in said]
    if isinstance(said, dict):
        return {_without_key(name): _without_key_in(each) for name, each in said.items()}
    return said


def _jitter() -> float:
    return 0.5 + random.random()  # decides when something is asked, not what comes out


def _retry_seconds(retry_after: str) -> float:
    """What the header Retry-After says: seconds, or a date.

    >>> past = "Wed, 21 Oct 2015 07:28:00 GMT"
    >>> [_retry_seconds(text) for text in ("2", "soon", "-1", "NaN", past)]
    [2.0, 0.0, 0.0, 0.0, 0.0]
    """
    try:
        return max(0.0, min(float(retry_after), 1e9))  # of "nan", too, that is 0
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _error_of(data: bytes) -> Any:
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return said.get("error", said) if isinstance(said, dict) else None


def _http_status(outcome: Received) -> tuple[int, bool]:
    """What HTTP says, and whether it is a failure; some servers say 200, and the truth inside."""
    status = outcome.status
    if not 200 <= status < 300:
        return status, True
    try:
        said = json.loads(outcome.data)
    except (ValueError, RecursionError):
        return status, False
    if not isinstance(said, dict) or not said.get("error") or "choices" in said:
        return status, False
    code = said["error"].get("code") if isinstance(said["error"], dict) else None
    return (code if type(code) is int and 400 <= code < 600 else status), True


def _is_spent(data: bytes) -> bool:
    """Whether a 429 says that no money is left, which waiting does not mend."""
    said = _error_of(data)
    return isinstance(said, dict) and "insufficient_quota" in (said.get("code"), said.get("type"))


def _error_message(data: bytes) -> str:
    """What the server says of an error, in one line and without the key."""
    said = _error_of(data)
    if isinstance(said, dict):
        said = said.get("message") or said.get("detail")
    if not isinstance(said, str):
        text = data.decode("utf-8", "replace").strip()
        said = "" if text.startswith("<") else text
    return " ".join(_without_key(said).split())[:300]


def _count_or_zero(value: object) -> int:
    return value if type(value) is int and 0 <= value < 2**53 else 0


def _answer_tokens(logprobs: Any) -> tuple[Choice, ...]:
    """The tokens of an answer with their log-probabilities, where the server gives them."""
    if not isinstance(logprobs, dict) or not isinstance(logprobs.get("content"), list):
        return ()
    return tuple(
        Choice(
            str(one["token"]),
            tuple(
                (str(other["token"]), float(other["logprob"]))
                for other in (one.get("top_logprobs") or [one])
            ),
        )
        for one in logprobs["content"]
    )
