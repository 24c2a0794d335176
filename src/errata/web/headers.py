"""What every answer carries, and what no request may be: an ASGI layer around the application.

Scripts and styles come from the server alone, nothing is framed, cached or guessed, and no address
is handed on. A body above the limit is 413, one that does not come within the time is 408; both are
answered before the application sees them.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from errata.web.limits import LARGEST_BODY
from errata.web.wording import error_in, preferred

__all__ = ["Guarded", "answer_headers"]

NOBODY = "'none'"
SLOWEST = 15.0  # seconds until a body must be there
Message = dict[str, Any]


def answer_headers(frame: str = "", secure: bool = False) -> list[tuple[bytes, bytes]]:
    """The headers of every answer; ``frame`` is the one page that may frame ours, if any.

    >>> dict(answer_headers())[b"x-content-type-options"]
    b'nosniff'
    """
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'none'; base-uri 'none'; "
        f"frame-ancestors {frame or NOBODY}; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    headers = {
        "content-security-policy": policy,
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "x-robots-tag": "noindex",
    }
    if not frame:
        headers["x-frame-options"] = "DENY"
    if secure:
        headers["strict-transport-security"] = "max-age=31536000"
    return [(name.encode(), value.encode()) for name, value in headers.items()]


class Guarded:
    """The application behind limits of size and time, with the headers on every answer."""

    def __init__(self, app: Any, headers: list[tuple[bytes, bytes]]) -> None:
        self.app = app
        self.headers = headers
        self.names = {name for name, _ in headers}

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [pair for pair in message.get("headers", []) if pair[0] not in self.names]
                message = {**message, "headers": [*own, *self.headers]}
            await send(message)

        try:
            body = await _whole_body(scope, receive)
        except _Refused as refused:
            await _answer(scope, sent, refused)
            return
        given = False

        async def received() -> Message:
            nonlocal given
            if given:
                found: Message = await receive()
                return found
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, received, sent)


class _Refused(Exception):
    def __init__(self, status: int, code: str, message: str, remedy: str) -> None:
        self.status, self.code, self.message, self.remedy = status, code, message, remedy


async def _whole_body(scope: Message, receive: Any) -> bytes:
    """The body of a request, or why it is not taken."""
    large = _Refused(
        413, "too_large", f"the request is larger than {LARGEST_BODY} bytes", "send less"
    )
    for name, value in scope["headers"]:
        if name == b"content-length" and (not value.isdigit() or int(value) > LARGEST_BODY):
            raise large
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(SLOWEST):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise _Refused(400, "gone", "the request broke off", "send it again")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > LARGEST_BODY:
                    raise large
                if not message.get("more_body"):
                    return b"".join(parts)
    except TimeoutError:
        raise _Refused(408, "too_slow", "the request came too slowly", "send it again") from None


async def _answer(scope: Message, send: Any, refused: _Refused) -> None:
    said = {"code": refused.code, "message": refused.message, "remedy": refused.remedy}
    accepted = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
    error = error_in(preferred(accepted), said | {"field": None})
    body = json.dumps({"error": error}, ensure_ascii=False).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
