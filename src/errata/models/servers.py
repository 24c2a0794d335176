"""How servers are asked here: in bounded time and size, and following nobody elsewhere."""

from __future__ import annotations

import re
import time
from http.client import HTTPException
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPErrorProcessor, OpenerDirector, ProxyHandler, Request, build_opener

from errata.errors import CONTROLS, InputError

__all__ = [
    "AGAIN",
    "Received",
    "Trouble",
    "as_signed",
    "checked_address",
    "exchange",
    "on_this_machine",
    "opener_for",
]

LONGEST_ANSWER = 4_000_000  # bytes; what is asked for here has a few hundred to some thousand
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


def as_signed(name: str) -> str:
    """What a server says of itself, which must not pose as another part of a signature.

    >>> as_signed("m | schema:yes\\n")
    'm_schema:yes'
    """
    return _ODD.sub("_", name.strip())[:LONGEST_NAME]


def on_this_machine(address: str) -> bool:
    """Whether a server runs on this machine.

    >>> on_this_machine("http://127.0.0.2:80"), on_this_machine("http://localhost"), on_this_machine("http://a.example")
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
